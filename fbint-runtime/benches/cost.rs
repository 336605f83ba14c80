//! What steps cost: a projection against the RK4 step before it, and error control against the evaluations.
//!
//! `cargo bench -p fbint-runtime --bench cost`

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use fbint_runtime::nalgebra::{Vector6, vector};
use fbint_runtime::tableau::{DOP853, EULER, RK4};
use fbint_runtime::{
    FeedbackSystem, Field, Integrator, Method, PlainField, PreparedSystem, Projection, Projector, Settings, Simulation,
    Tolerance, feedback_system,
};

/// A point mass on a sphere of radius `l` under gravity.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2)),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
)]
struct SphericalPendulum {
    m: f64,
    g: f64,
    l: f64,
}

/// A round is short, so that one of many is undisturbed by whatever else runs.
const STEPS: u32 = 10_000;
const ROUNDS: u32 = 300;
const H: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    // Parameters that the compiler cannot fold into the code.
    let pendulum = black_box(SphericalPendulum { m: 1.0, g: 1.0, l: 1.0 });
    let start = SphericalPendulumState { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] };
    projection(&pendulum, &start)?;
    error_control(&pendulum, start.into())
}

fn projection(pendulum: &SphericalPendulum, start: &SphericalPendulumState) -> Result<(), Box<dyn Error>> {
    let truth = run(pendulum, start, Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }, None)?.0;
    let (plain, plain_drift) = run(pendulum, start, Method::Rk4 { h: H }, None)?;
    let (projected, projected_drift) = run(pendulum, start, Method::Rk4 { h: H }, Some(Projection::default()))?;
    println!("RK4, h = {H}, t = 20                integrals    trajectory");
    println!("plain                            {plain_drift:12.1e}  {:12.1e}", (plain - truth).norm());
    println!("projected once after each step   {projected_drift:12.1e}  {:12.1e}", (projected - truth).norm());

    let (field, start) = (PlainField::new(pendulum), (*start).into());
    let [_, _, energy, vertical_momentum] = pendulum.prepare().integrals(&start);
    let plain = nanoseconds(start, |x| RK4.step(|x| field.value(x), x, H));
    let targets = [0.0, 0.0, energy, vertical_momentum];
    let mut projector = Projector::new(pendulum, &start, targets, Projection::default());
    let projected = nanoseconds(start, |x| {
        projector.step(&RK4, |x| field.value(x), x, H);
    });
    println!("a step takes {plain:.1} ns, with a projection {projected:.1} ns: {:.2} x\n", projected / plain);
    Ok(())
}

/// The state at t = 20 and the largest change of an integral.
fn run(
    pendulum: &SphericalPendulum,
    start: &SphericalPendulumState,
    method: Method,
    projection: Option<Projection>,
) -> Result<(Vector6<f64>, f64), fbint_runtime::Error> {
    let settings = Settings { projection, ..Settings::new(method, 20.0) };
    let run = Simulation::new(pendulum, *start)?.run_with(&settings)?;
    let drift = run.drift().integrals().fold(0.0, |largest: f64, integral| largest.max(integral.max));
    Ok((<[f64; 6]>::from(run.state()).into(), drift))
}

fn error_control(pendulum: &SphericalPendulum, start: [f64; 6]) -> Result<(), Box<dyn Error>> {
    let field = PlainField::new(pendulum);
    let evaluation = nanoseconds(start, |x| EULER.step(|x| field.value(x), x, 1e-6));
    println!("an evaluation, one after the other, takes {evaluation:.1} ns");
    let fixed = nanoseconds(start, |x| DOP853.step(|x| field.value(x), x, 0.08)) / 12.0;
    println!("DOP853 in steps of a fixed size: {fixed:.1} ns per evaluation");
    let tolerance = Tolerance::new(1e-12, 1e-12)?;
    report("DOP853", Integrator::dop853(&field, start, tolerance))?;
    report("Dormand-Prince 5(4)", Integrator::dormand_prince(&field, start, tolerance))
}

fn report<F: Field, const STAGES: usize>(
    name: &str,
    mut integrator: Integrator<'_, F, STAGES>,
) -> Result<(), Box<dyn Error>> {
    let mut time = f64::INFINITY;
    for round in 1..=ROUNDS {
        let (clock, before) = (Instant::now(), integrator.evaluations());
        integrator.advance_to(50.0 * f64::from(round))?;
        time = time.min(clock.elapsed().as_nanos() as f64 / (integrator.evaluations() - before) as f64);
    }
    println!("{name}: {time:.1} ns per evaluation, everything included");
    Ok(())
}

/// Of one step, in the best of many rounds.
fn nanoseconds(start: [f64; 6], mut step: impl FnMut(&mut [f64; 6])) -> f64 {
    let mut round = || {
        let mut x = start;
        let clock = Instant::now();
        for _ in 0..STEPS {
            step(&mut x);
        }
        black_box(x);
        clock.elapsed().as_nanos() as f64 / f64::from(STEPS)
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}
