//! Times of two ways to compute one thing, taken in turns in one run: the generated field against the kernel written by hand,
//! Euler steps with feedback against RATTLE, and DOP853 with error control against bare steps of a fixed size. Build for the
//! machine at hand; `--target` leaves the compiler's own dependencies as they are:
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=native" cargo bench -p fbint-speed --bench wall_clock --target x86_64-unknown-linux-gnu
//! ```
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use fbint_runtime::tableau::DOP853;
use fbint_runtime::{
    Entries, Error, Field, Integrator, Method, OneStep, PlainField, Rattle, Simulation, Tolerance, Vector,
};
use fbint_speed::HandwrittenField;
use fbint_speed::rivals::{Contested, Generated, rivals};
use models::{CartPendulum, Chain4, Chain8, Chain16, FourBar, PlanarPendulum, SphericalPendulum};

/// The number of turns, of which the fastest counts, because everything else on the machine only makes them slower.
const TURNS: usize = 200;
/// So short that the state stays near its start.
const STEP: f64 = 1e-5;
/// Of DOP853, relative and absolute.
const RTOL: f64 = 1e-12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:<32} {:>12} {:>12} {:>7}", "ns per evaluation, Euler steps", "generated", "by hand", "ratio");
    by_hand::<SphericalPendulum>()?;
    by_hand::<PlanarPendulum>()?;
    by_hand::<CartPendulum>()?;
    by_hand::<FourBar>()?;
    by_hand::<Chain4>()?;
    by_hand::<Chain8>()?;
    by_hand::<Chain16>()?;
    println!("\n{:<32} {:>12} {:>12} {:>7}", "ns per step", "feedback", "RATTLE", "ratio");
    rattle()?;
    println!("\n{:<32} {:>12} {:>12} {:>7}", "ns per evaluation, DOP853", "driver", "bare steps", "ratio");
    error_control()
}

fn by_hand<S: Contested>() -> Result<(), Error> {
    let (generated, by_hand, start) = rivals::<S>()?;
    let steps = 200_000 / Vector::<S>::LEN;
    compare(
        S::FACTS.name,
        steps as f64,
        || run_generated(black_box(&generated), black_box(start), steps),
        || run_by_hand(black_box(&by_hand), black_box(start), steps),
    );
    Ok(())
}

/// The spherical pendulum in Euler steps with feedback, and by the integrator that keeps constraints and is symplectic.
fn rattle() -> Result<(), Error> {
    const STEPS: usize = 100_000;
    let (generated, _, start) = rivals::<SphericalPendulum>()?;
    let method = Rattle::new(&SphericalPendulum::default())?;
    let by_rattle = |mut x: [f64; 6]| {
        for _ in 0..STEPS {
            method.step(&mut x, 1e-3);
        }
        x
    };
    let euler = || run_generated(black_box(&generated), black_box(start), STEPS);
    compare("SphericalPendulum, Euler steps", STEPS as f64, euler, || by_rattle(black_box(start)));
    Ok(())
}

/// The four-bar linkage for 30 s: the integrator and the whole simulation against bare steps, for each evaluation.
fn error_control() -> Result<(), Box<dyn std::error::Error>> {
    const UNTIL: f64 = 30.0;
    let linkage = FourBar::default();
    let start = linkage.first_state();
    let field = PlainField::new(&linkage);
    let tolerance = Tolerance::new(RTOL, RTOL)?;
    let mut integrator = Integrator::dop853(&field, start, tolerance);
    integrator.advance_to(UNTIL)?;
    let steps = integrator.steps() as usize;
    let (evaluations, bare_evaluations) = (integrator.evaluations() as f64, 12.0 * steps as f64);
    let simulation = || Simulation::new(&linkage, start)?.run(Method::Dop853 { rtol: RTOL, atol: Some(RTOL) }, UNTIL);
    let residual = simulation()?.drift().integrals().map(|integral| integral.max).fold(0.0, f64::max);
    println!("largest change of an integral with a projection after each step: {residual:.1e}");

    let bare = || run_bare(black_box(&field), black_box(start), steps, UNTIL / steps as f64);
    let driver = || {
        let mut integrator = Integrator::dop853(black_box(&field), black_box(start), tolerance);
        let outcome = integrator.advance_to(UNTIL);
        (outcome.is_ok(), *integrator.state())
    };
    compare_each("FourBar, Integrator", (evaluations, driver), (bare_evaluations, &bare));
    let run = || simulation().map(|run| Vector::<FourBar>::from(run.state()));
    compare_each("FourBar, Simulation", (simulation()?.evaluations() as f64, run), (bare_evaluations, &bare));
    Ok(())
}

fn compare<T, R>(name: &str, number: f64, own: impl Fn() -> T, rival: impl Fn() -> R) {
    compare_each(name, (number, own), (number, rival));
}

/// Compares two runs by the time that each takes for one of the number of things it does.
fn compare_each<T, R>(name: &str, own: (f64, impl Fn() -> T), rival: (f64, impl Fn() -> R)) {
    let (mut best, mut best_of_rival) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        best = best.min(seconds(&own.1));
        best_of_rival = best_of_rival.min(seconds(&rival.1));
    }
    let (own, rival) = (best / own.0 * 1e9, best_of_rival / rival.0 * 1e9);
    println!("{name:<32} {own:>12.2} {rival:>12.2} {:>7.3}", own / rival);
}

fn seconds<T>(run: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    black_box(run());
    start.elapsed().as_secs_f64()
}

#[inline(never)]
fn run_bare<F: Field>(field: &F, mut x: F::Vector, steps: usize, h: f64) -> F::Vector {
    for _ in 0..steps {
        DOP853.step(|x| field.value(x), &mut x, h);
    }
    x
}

#[inline(never)]
fn run_generated<S: Contested>(generated: &Generated<S>, mut x: Vector<S>, steps: usize) -> Vector<S> {
    for _ in 0..steps {
        generated.euler_step(&mut x, STEP);
    }
    x
}

#[inline(never)]
fn run_by_hand<K: HandwrittenField<V>, V: Entries<f64>>(by_hand: &K, mut x: V, steps: usize) -> V {
    for _ in 0..steps {
        by_hand.euler_step(&mut x, STEP);
    }
    x
}
