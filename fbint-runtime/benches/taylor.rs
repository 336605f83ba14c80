//! What runs by Taylor's method take, and where they end: one line for each, with its time in seconds and its end.
//!
//! `taylor.py` beside it runs this program and heyoka in turns, and makes the table of BENCHMARKS.md.
//!
//! `cargo bench -p fbint-runtime --bench taylor --no-default-features --features std,lanes,ensemble`, with the name of a problem behind `--`
//! for one.

#[path = "problems/henon_heiles.rs"]
mod henon_heiles;
#[path = "problems/outer_planets.rs"]
mod outer_planets;

use std::f64::consts::{PI, TAU};
use std::hint::black_box;
use std::time::Instant;
use std::{env, fs};

use fbint_runtime::{
    Direction, Ensemble, Error, FeedbackSystem, Method, Sensitivity, Settings, Simulation, Vector, feedback_system,
};

use henon_heiles::HenonHeiles;
use outer_planets::OUTER_PLANETS;

/// A pendulum.
#[feedback_system(coordinates(a), momenta(p), hamiltonian = p.powi(2) / 2 - 9.81 * a.cos(), taylor)]
struct Pendulum;

/// A planet.
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm(), taylor)]
struct Kepler;

/// Two rods.
#[feedback_system(
    coordinates(a, b),
    momenta(p, r),
    hamiltonian = (p.powi(2) + 2 * r.powi(2) - 2 * p * r * (a - b).cos()) / (2 * (1 + (a - b).sin().powi(2)))
        - 2 * 9.81 * a.cos() - 9.81 * b.cos(),
    taylor,
)]
struct DoublePendulum;

/// A bob on a sphere.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / 2 + q.z,
    constraint(length = q.norm_squared() - 1),
    taylor,
)]
struct Spherical;

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

/// The potential of Hénon and Heiles once more, with directions.
#[feedback_system(
    coordinates(x, y),
    momenta(px, py),
    hamiltonian = (px.powi(2) + py.powi(2)) / 2 + (x.powi(2) + y.powi(2)) / 2 + x.powi(2) * y - y.powi(3) / 3,
    derivatives,
    taylor,
)]
struct Varied;

/// The members of an ensemble: they fill lanes of any width.
const MEMBERS: usize = 96;

fn main() -> Result<(), Error> {
    let star = HenonHeiles::start(1.0 / 8.0, 0.1, 0.0);
    let ellipse = [0.5, 0.0, 0.0, 3.0_f64.sqrt()];
    runs("pendulum", &Pendulum, [2.0, 0.0], 100.0)?;
    runs("henon-heiles", &HenonHeiles, star, 1000.0)?;
    runs("kepler", &Kepler, ellipse, 100.0 * TAU)?;
    runs("double pendulum", &DoublePendulum, [1.0, 0.5, 0.0, 0.0], 20.0)?;
    runs("spherical", &Spherical, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], 100.0)?;
    runs("planets", &OUTER_PLANETS, outer_planets::state(outer_planets::ephemeris), 200_000.0)?;
    let mode = std::array::from_fn(|i| if i < 32 { (PI * (i + 1) as f64 / 33.0).sin() } else { 0.0 });
    runs("fput", &Fput, mode, 1000.0)?;
    variations(star)?;
    members("pendulum", &Pendulum, [2.0, 0.0], 100.0)?;
    members("henon-heiles", &HenonHeiles, star, 1000.0)?;
    members("kepler", &Kepler, ellipse, 100.0 * TAU)
}

fn runs<S: FeedbackSystem>(name: &str, system: &S, start: Vector<S>, until: f64) -> Result<(), Error> {
    if is_left_out(name) {
        return Ok(());
    }
    println!("{name}\tstart\t0\t{until:?}\t{:?}", start.as_ref());
    // The second one errs by no more than heyoka does at the third, which takes shorter steps.
    for tolerance in [1e-15, 3e-11, 1e-9] {
        let method = Method::Taylor { tolerance };
        let steps = Simulation::new(system, start)?.without_feedback().run(method, until)?.steps();
        let settings = Settings::new(method, until);
        let run = || Simulation::new(system, start)?.without_feedback().final_state(black_box(&settings));
        report(name, tolerance, steps, 1, || run().map(|end| Into::<Vector<S>>::into(end).as_ref().to_vec()))?;
    }
    Ok(())
}

/// All first derivatives by the start.
fn variations(start: [f64; 4]) -> Result<(), Error> {
    if is_left_out("variations") {
        return Ok(());
    }
    let sensitivity = Sensitivity::<Varied>::new(Varied.prepare());
    let directions: [Direction<Varied>; 4] =
        std::array::from_fn(|i| Direction::of_state(std::array::from_fn(|j| f64::from(u8::from(i == j)))));
    let run = || {
        let mut run = sensitivity.series(1e-15, start, black_box(&directions))?;
        // The problem has no singularity.
        let _ = run.advance(100.0);
        Ok(run)
    };
    report("variations", 1e-15, run()?.steps(), 1, || {
        run().map(|run| [run.state().to_vec(), run.derivatives().concat()].concat())
    })
}

/// The time of a member.
fn members<S: FeedbackSystem + Sync>(name: &str, system: &S, start: Vector<S>, until: f64) -> Result<(), Error> {
    if is_left_out(&format!("{name}, members")) {
        return Ok(());
    }
    let settings = Settings { every: Some(until), ..Settings::new(Method::Taylor { tolerance: 1e-15 }, until) };
    // All begin nearly alike, as members of one ensemble do.
    let starts: Vec<Vector<S>> = (0..MEMBERS)
        .map(|member| {
            let mut start = start;
            start[0] += 1e-3 * member as f64 / MEMBERS as f64;
            start
        })
        .collect();
    let run = || {
        let run = Ensemble::new(system, starts.clone()).without_feedback().run_with(black_box(&settings))?;
        let end: Vec<f64> = match run.ends().first() {
            Some(Ok(end)) => {
                let state: Vector<S> = end.state;
                state.as_ref().to_vec()
            }
            _ => Vec::new(),
        };
        Ok(end)
    };
    report(&format!("{name}, members"), 1e-15, 0, MEMBERS, run)
}

/// The time of a run of so many members: the least by the clock, or the mean of what the thread has had of a processor, if that is less.
fn report(
    name: &str,
    tolerance: f64,
    steps: u64,
    members: usize,
    run: impl Fn() -> Result<Vec<f64>, Error>,
) -> Result<(), Error> {
    let (mut least, mut turns, mut end, before) = (f64::INFINITY, 0, run()?, processor_time());
    let mut taken = 0.0;
    while turns < 5 || taken < 0.1 {
        let turn = Instant::now();
        end = run()?;
        let time = turn.elapsed().as_secs_f64();
        (least, taken, turns) = (least.min(time), taken + time, turns + 1);
    }
    let mean = (processor_time() - before) / f64::from(turns);
    let seconds = if members == 1 { least.min(mean) } else { least } / members as f64;
    println!("{name}\t{tolerance:e}\t{steps}\t{seconds:e}\t{end:?}");
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
