//! What implicit methods of this crate take, and where they end: one line for each run, with its time in seconds and its end.
//!
//! `implicit.py` beside it runs this program, other packages on the same problems, and makes the tables of BENCHMARKS.md of both.
//!
//! `cargo run --release --example implicit --no-default-features --features std,lanes`, with the name of a problem behind `--` for one.

use std::hint::black_box;
use std::time::Instant;
use std::{env, fs};

use fbint_runtime::{Error, FeedbackSystem, Method, Settings, Simulation, Vector, feedback_system};

/// The sun with the inner planets, and five planets; AU, days and masses of the sun (HLW06 I.2.4).
#[feedback_system(
    coordinates(q: [3, 6]),
    momenta(p: [3, 6]),
    hamiltonian = (0..6).map(|i| p.column(i).norm_squared() / (2 * m[i])).sum()
        - g * (1..6).map(|i| (0..i).map(|j| m[i] * m[j] / (q.column(i) - q.column(j)).norm()).sum()).sum(),
)]
struct OuterPlanets {
    g: f64,
    m: [f64; 6],
}

/// A star in a galaxy (Henon and Heiles 1964).
#[feedback_system(
    coordinates(x, y),
    momenta(px, py),
    hamiltonian = (px.powi(2) + py.powi(2)) / 2 + (x.powi(2) + y.powi(2)) / 2 + x.powi(2) * y - y.powi(3) / 3,
)]
struct HenonHeiles;

/// A planet.
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm())]
struct Kepler;

/// Masses in a row between springs that are not linear (Fermi, Pasta, Ulam and Tsingou).
#[feedback_system(
    coordinates(q: [32]),
    momenta(p: [32]),
    define(stretch = (0..31).map(|i| (q[i + 1] - q[i]).powi(2) / 2 + (q[i + 1] - q[i]).powi(3) / 12).sum()),
    hamiltonian = p.norm_squared() / 2 + stretch + (q[0].powi(2) + q[31].powi(2)) / 2
        + (q[0].powi(3) - q[31].powi(3)) / 12,
)]
struct Fput;

/// A point mass on a spring of length 1 that swings under gravity.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + 9.81 * q[1] + k * (q.norm() - 1).powi(2) / 2,
    derivatives,
)]
struct Spring {
    k: f64,
}

/// Robertson's chemical reactions.
#[feedback_system(
    state(a, b, c),
    dynamics(
        a = -0.04 * a + 1e4 * b * c,
        b = 0.04 * a - 1e4 * b * c - 3e7 * b.powi(2),
        c = 3e7 * b.powi(2),
    ),
    derivatives,
)]
struct Robertson;

/// Responses of a plant to light.
#[feedback_system(
    state(y: [8]),
    dynamics(y = vector![
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -280 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        280 * y[5] * y[7] - 1.81 * y[6],
        -280 * y[5] * y[7] + 1.81 * y[6],
    ]),
    derivatives,
)]
struct Hires;

/// Van der Pol's oscillator in its slow time.
#[feedback_system(state(x, v), dynamics(x = v, v = 1e6 * ((1 - x.powi(2)) * v - x)), derivatives)]
struct VanDerPol;

/// A cart with a damper and a controller that holds it, and a pole.
#[feedback_system(
    coordinates(x, theta),
    velocities(v, w),
    lagrangian = (v.powi(2) + w.powi(2)) / 2 + v * w * theta.cos() / 2 - theta.cos(),
    force(v = -1e5 * v - 1e5 * x, w = -w),
    derivatives,
)]
struct CartPole;

fn main() -> Result<(), Error> {
    let planets = OuterPlanets {
        g: 2.959_122_082_86e-4,
        m: [
            1.000_005_976_82,
            0.000_954_786_104_043,
            0.000_285_583_733_151,
            0.000_043_727_316_454_6,
            0.000_051_775_913_844_9,
            1.0 / 1.3e8,
        ],
    };
    gauss("planets", &planets, planets.start(), 200_000.0, &[400, 420, 450, 500, 800])?;
    let px = (1.0_f64 / 6.0 - 0.1_f64.powi(2) * (1.0 - 0.2 / 3.0)).sqrt();
    gauss("henon-heiles", &HenonHeiles, [0.0, 0.1, px, 0.0], 1000.0, &[1000, 1125, 1250, 1600, 2000])?;
    let until = 1000.0 * std::f64::consts::TAU;
    let kepler = [0.9, 0.0, 0.0, (1.1_f64 / 0.9).sqrt()];
    gauss("kepler", &Kepler, kepler, until, &[8_000, 9_000, 10_000, 12_000, 16_000])?;
    let mode = std::array::from_fn(|i| if i < 32 { (std::f64::consts::PI * (i + 1) as f64 / 33.0).sin() } else { 0.0 });
    gauss("fput", &Fput, mode, 1000.0, &[600, 700, 800, 1000, 1600])?;

    for (name, k) in [("spring 1e4", 1e4), ("spring 1e6", 1e6), ("spring 1e8", 1e8)] {
        rodas(name, &Spring { k }, [1.0, 0.0, 0.0, 0.0], 2.0, 1.0)?;
    }
    rodas("robertson", &Robertson, [1.0, 0.0, 0.0], 1e11, 1e-10)?;
    rodas("hires", &Hires, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057], 321.8122, 1e-3)?;
    rodas("van der pol", &VanDerPol, [2.0, 0.0], 2.0, 1.0)?;
    rodas("cart-pole", &CartPole, [0.1, 0.3, 0.0, 0.0, 0.0], 2.0, 1.0)
}

impl OuterPlanets {
    /// On September 5, 1994.
    fn start(&self) -> [f64; 36] {
        let positions = [
            [0.0; 3],
            [-3.502_365_3, -3.816_984_7, -1.550_796_3],
            [9.075_531_4, -3.045_835_3, -1.648_370_8],
            [8.310_142_0, -16.290_108_6, -7.252_127_8],
            [11.470_766_6, -25.729_482_9, -10.816_945_6],
            [-15.538_735_7, -25.222_559_4, -3.190_238_2],
        ];
        let velocities = [
            [0.0; 3],
            [0.005_654_29, -0.004_124_90, -0.001_905_89],
            [0.001_683_18, 0.004_835_25, 0.001_924_62],
            [0.003_541_78, 0.001_371_02, 0.000_550_29],
            [0.002_889_30, 0.001_145_27, 0.000_396_77],
            [0.002_767_25, -0.001_707_02, -0.001_365_04],
        ];
        std::array::from_fn(|i| match i.checked_sub(18) {
            None => positions[i / 3][i % 3],
            Some(i) => self.m[i / 3] * velocities[i / 3][i % 3],
        })
    }
}

fn gauss<S: FeedbackSystem>(name: &str, system: &S, start: Vector<S>, until: f64, steps: &[u32]) -> Result<(), Error> {
    if is_left_out(name) {
        return Ok(());
    }
    println!("{name}\tstart\t{until:?}\t0\t0\t{start:?}");
    for (stages, key) in [(4, "gauss8"), (8, "gauss16")] {
        for steps in steps.iter().map(|steps| f64::from(*steps) * if stages == 4 { 5.0 } else { 1.0 }) {
            let h = until / steps;
            let run = |method| {
                let settings = Settings::new(method, until);
                Simulation::new(system, start)?.final_state(black_box(&settings))
            };
            report(name, key, h, steps, || run(Method::Gauss { stages, h }).map(Into::<Vector<S>>::into))?;
        }
    }
    for tolerance in [1e-12, 1e-13, 1e-14, 1e-15] {
        let settings = Settings::new(Method::Dop853 { rtol: tolerance, atol: tolerance }, until);
        let run = || Simulation::new(system, start)?.final_state(black_box(&settings));
        report(name, "dop853", tolerance, 0.0, || run().map(Into::<Vector<S>>::into))?;
    }
    Ok(())
}

/// Rodas5P with tolerances from 1e-3 on; the absolute tolerance is `scale` times the relative one.
fn rodas<S: FeedbackSystem>(name: &str, system: &S, start: Vector<S>, until: f64, scale: f64) -> Result<(), Error> {
    if is_left_out(name) {
        return Ok(());
    }
    println!("{name}\tstart\t{until:?}\t0\t0\t{start:?}");
    for digits in 6..=22 {
        let rtol = 10_f64.powf(-0.5 * f64::from(digits));
        let method = Method::Rodas5P { rtol, atol: scale * rtol };
        let run = || Simulation::new(system, start)?.without_feedback().run(method, until);
        let steps = run()?.steps() as f64;
        let settings = Settings::new(method, until);
        let end = || Simulation::new(system, start)?.final_state(black_box(&settings));
        report(name, "rodas5p", rtol, steps, || end().map(Into::<Vector<S>>::into))?;
    }
    Ok(())
}

/// The time of a run: the least by the clock, or the mean of what the thread has had of a processor, if that is less.
fn report<V: std::fmt::Debug>(
    name: &str,
    method: &str,
    setting: f64,
    steps: f64,
    run: impl Fn() -> Result<V, Error>,
) -> Result<(), Error> {
    let (mut least, mut turns, mut end, before) = (f64::INFINITY, 0, run()?, processor_time());
    let mut taken = 0.0;
    while turns < 3 || taken < 0.25 {
        let turn = Instant::now();
        end = run()?;
        let time = turn.elapsed().as_secs_f64();
        (least, taken, turns) = (least.min(time), taken + time, turns + 1);
    }
    let mean = (processor_time() - before) / f64::from(turns);
    println!("{name}\t{method}\t{setting:e}\t{steps}\t{:e}\t{end:?}", least.min(mean));
    Ok(())
}

fn is_left_out(name: &str) -> bool {
    env::args().skip(1).find(|argument| !argument.starts_with('-')).is_some_and(|chosen| chosen != name)
}

/// How long this thread has had a processor, in seconds.
fn processor_time() -> f64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split_whitespace().next().and_then(|time| time.parse().ok()).map_or(f64::NAN, |time: f64| 1e-9 * time)
}
