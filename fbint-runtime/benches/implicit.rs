//! What implicit methods of this crate take, and where they end: one line for each run, with its time in seconds and its end.
//!
//! `implicit.py` beside it runs this program, other packages on the same problems, and makes the tables of BENCHMARKS.md of both.
//!
//! `cargo bench -p fbint-runtime --bench implicit --no-default-features --features std,lanes`, with the name of a problem behind `--` for one.

#[path = "problems/henon_heiles.rs"]
mod henon_heiles;
#[path = "problems/outer_planets.rs"]
mod outer_planets;
#[path = "problems/stiff.rs"]
mod stiff;

use std::hint::black_box;
use std::time::Instant;
use std::{env, fs};

use fbint_runtime::{
    Error, FeedbackSystem, Field, Gains, GaussStages, Method, Settings, Simulation, Vector, feedback_system,
};

use henon_heiles::HenonHeiles;
use outer_planets::OUTER_PLANETS;
use stiff::{Hires, Pendulum, Robertson, SpringPendulum, VanDerPol};

/// A planet.
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm(), taylor)]
struct Kepler;

/// Masses in a row between springs that are not linear (Fermi, Pasta, Ulam and Tsingou).
#[feedback_system(
    coordinates(q: [32]),
    momenta(p: [32]),
    define(stretch = (0..31).map(|i| (q[i + 1] - q[i]).powi(2) / 2 + (q[i + 1] - q[i]).powi(3) / 12).sum()),
    hamiltonian = p.norm_squared() / 2 + stretch + (q[0].powi(2) + q[31].powi(2)) / 2
        + (q[0].powi(3) - q[31].powi(3)) / 12,
    taylor,
)]
struct Fput;

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
    let start = outer_planets::state(outer_planets::ephemeris);
    gauss("planets", &OUTER_PLANETS, start, 200_000.0, &[400, 420, 450, 500, 800])?;
    let start = HenonHeiles::start(1.0 / 12.0, 0.1, 0.0);
    gauss("henon-heiles", &HenonHeiles, start, 1000.0, &[1000, 1125, 1250, 1600, 2000])?;
    let until = 1000.0 * std::f64::consts::TAU;
    let kepler = [0.9, 0.0, 0.0, (1.1_f64 / 0.9).sqrt()];
    gauss("kepler", &Kepler, kepler, until, &[8_000, 9_000, 10_000, 12_000, 16_000])?;
    let mode = std::array::from_fn(|i| if i < 32 { (std::f64::consts::PI * (i + 1) as f64 / 33.0).sin() } else { 0.0 });
    gauss("fput", &Fput, mode, 1000.0, &[600, 700, 800, 1000, 1600])?;

    for (name, k) in [("spring 1e4", 1e4), ("spring 1e6", 1e6), ("spring 1e8", 1e8)] {
        rodas(name, &SpringPendulum { k, g: 9.81 }, SpringPendulum::START, 2.0, 1.0)?;
    }
    rodas("robertson", &Robertson, Robertson::START, Robertson::UNTIL, 1e-10)?;
    rodas("hires", &Hires, Hires::START, Hires::UNTIL, 1e-3)?;
    rodas("van der pol", &VanDerPol { mu: 1e6 }, VanDerPol::START, VanDerPol::UNTIL, 1.0)?;
    let held = || Ok(Simulation::new(&Pendulum, Pendulum::START)?.gains(Gains::uniform(1e4)));
    rodas_along("feedback 1e4", held, Pendulum::START, 5.0, 1.0)?;
    rodas("cart-pole", &CartPole, [0.1, 0.3, 0.0, 0.0, 0.0], 2.0, 1.0)
}

fn gauss<S: FeedbackSystem>(name: &str, system: &S, start: Vector<S>, until: f64, steps: &[u32]) -> Result<(), Error> {
    if is_left_out(name) {
        return Ok(());
    }
    println!("{name}\tstart\t{until:?}\t0\t0\t{start:?}");
    for (stages, key) in [(GaussStages::Four, "gauss8"), (GaussStages::Eight, "gauss16")] {
        for steps in steps.iter().map(|steps| f64::from(*steps) * if stages == GaussStages::Four { 5.0 } else { 1.0 }) {
            let h = until / steps;
            let run = |method| {
                let settings = Settings::new(method, until);
                Simulation::new(system, start)?.final_state(black_box(&settings))
            };
            report(name, key, h, steps, || run(Method::Gauss { stages, h }).map(Into::<Vector<S>>::into))?;
        }
    }
    for tolerance in [1e-9, 1e-13, 1e-14, 1e-15] {
        let method = Method::Taylor { tolerance };
        let steps = Simulation::new(system, start)?.without_feedback().run(method, until)?.steps() as f64;
        let settings = Settings::new(method, until);
        let run = || Simulation::new(system, start)?.without_feedback().final_state(black_box(&settings));
        report(name, "taylor", tolerance, steps, || run().map(Into::<Vector<S>>::into))?;
    }
    for tolerance in [1e-12, 1e-13, 1e-14, 1e-15] {
        let settings = Settings::new(Method::Dop853 { rtol: tolerance, atol: Some(tolerance) }, until);
        let run = || Simulation::new(system, start)?.final_state(black_box(&settings));
        report(name, "dop853", tolerance, 0.0, || run().map(Into::<Vector<S>>::into))?;
    }
    Ok(())
}

/// Rodas5P without feedback with tolerances from 1e-3 on; the absolute tolerance is `scale` times the relative one.
fn rodas<S: FeedbackSystem>(name: &str, system: &S, start: Vector<S>, until: f64, scale: f64) -> Result<(), Error> {
    rodas_along(name, || Ok(Simulation::new(system, start)?.without_feedback()), start, until, scale)
}

fn rodas_along<'s, S: FeedbackSystem + 's, F: Field<Vector = Vector<S>>>(
    name: &str,
    simulation: impl Fn() -> Result<Simulation<'s, S, F>, Error>,
    start: Vector<S>,
    until: f64,
    scale: f64,
) -> Result<(), Error> {
    if is_left_out(name) {
        return Ok(());
    }
    println!("{name}\tstart\t{until:?}\t0\t0\t{start:?}");
    for digits in 6..=22 {
        let rtol = 10_f64.powf(-0.5 * f64::from(digits));
        let method = Method::Rodas5P { rtol, atol: Some(scale * rtol) };
        let steps = simulation()?.run(method, until)?.steps() as f64;
        let settings = Settings::new(method, until);
        let end = || simulation()?.final_state(black_box(&settings));
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
