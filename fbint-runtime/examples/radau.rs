//! A stiff feedback by an implicit method of the crate `differential-equations`.
//!
//! With K = 10^4 I violations decay at rates above 10^4. An explicit method must resolve them and takes as many steps however
//! large the tolerance; Radau IIA need not. (That of version 0.7 ends far above its tolerance on systems of equations: look at
//! the errors, not only at the steps.)
//!
//! `cargo run --release --example radau --features differential-equations`

use std::error::Error;

use differential_equations::prelude::*;
use fbint_runtime::nalgebra::{Vector4, Vector6, vector};
use fbint_runtime::{Feedback, Gains, Integrator, PlainField, feedback_system};

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

const UNTIL: f64 = 10.0;
const TOLERANCE: f64 = 1e-8;

fn main() -> Result<(), Box<dyn Error>> {
    let pendulum = SphericalPendulum { m: 1.0, g: 1.0, l: 1.0 };
    let start: [f64; 6] = SphericalPendulumState { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] }.into();
    let feedback = Feedback::new(&pendulum, &start, Gains::uniform(1e4))?;

    let plain = PlainField::new(&pendulum);
    let mut truth = Integrator::dop853(&plain, start, fbint_runtime::Tolerance::new(1e-13, 1e-13)?);
    truth.advance_to(UNTIL)?;
    let truth = Vector6::from(*truth.state());
    let report = |name: &str, end: Vector6<f64>, steps: u64, evaluations: u64| {
        let violation = Vector4::from(feedback.violations(&end.into())).amax();
        let error = (end - truth).norm();
        println!("{name:18}{steps:10}{evaluations:14}{violation:14.1e}{error:14.1e}");
    };
    println!("{:18}{:>10}{:>14}{:>14}{:>14}", "method", "steps", "evaluations", "violation", "error");

    let radau = IVP::ode(&feedback, 0.0, UNTIL, Vector6::from(start))
        .method(ImplicitRungeKutta::radau5().rtol(TOLERANCE).atol(TOLERANCE))
        .solve()
        .map_err(|error| format!("Radau: {error}"))?;
    let end = radau.y.last().ok_or("Radau gave no solution")?;
    report("Radau IIA 5", *end, radau.steps.accepted as u64, radau.evals.function as u64);

    let mut dop853 = Integrator::dop853(&feedback, start, fbint_runtime::Tolerance::new(TOLERANCE, TOLERANCE)?);
    dop853.advance_to(UNTIL)?;
    report("DOP853", Vector6::from(*dop853.state()), dop853.steps(), dop853.evaluations());
    Ok(())
}
