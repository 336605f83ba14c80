//! An integrator of your own: the implicit midpoint rule, which keeps quadratic integrals.
//!
//! A method is a map of the state, `OneStep`. A simulation drives it like a method of fbint, with the same samples, events and reports, and
//! leaves the states as they are unless you choose a projection. The energy and the momentum of a free rigid body are quadratic.
//!
//! `cargo run -p fbint-examples --bin integrator`

use fbint_runtime::{FeedbackSystem, Field, Method, OneStep, PlainField, Simulation, feedback_system};
use nalgebra::{Vector3, vector};

/// A free rigid body by its angular momentum, as the body sees it.
#[feedback_system(
    state(momentum: [3]),
    poisson = hat(momentum),
    hamiltonian = momentum.dot(&momentum.component_div(&inertia)) / 2,
    invariant(length = momentum.norm_squared()),
)]
struct Body {
    inertia: Vector3<f64>,
}

/// y = x + h f((x + y) / 2), solved by fixed-point iteration.
struct ImplicitMidpoint<S: FeedbackSystem>(PlainField<S>);

const ITERATIONS: u64 = 12;

impl<S: FeedbackSystem<Vector<f64> = [f64; N]>, const N: usize> OneStep<[f64; N]> for ImplicitMidpoint<S> {
    fn step(&self, x: &mut [f64; N], h: f64) {
        let start = *x;
        for _ in 0..ITERATIONS {
            let middle = std::array::from_fn(|i| (start[i] + x[i]) / 2.0);
            let rate = self.0.value(&middle);
            *x = std::array::from_fn(|i| start[i] + h * rate[i]);
        }
    }

    fn evaluations_per_step(&self) -> u64 {
        ITERATIONS
    }
}

fn main() -> Result<(), fbint_runtime::Error> {
    let body = Body { inertia: vector![1.0, 2.0, 3.0] };
    let midpoint = ImplicitMidpoint(PlainField::new(&body));
    let start = BodyState { momentum: vector![0.1, 1.0, 0.1] };
    let run = Simulation::new(&body, start)?.one_step(&midpoint).run(Method::OneStep { h: 0.05 }, 1_000.0)?;
    let drift = run.drift().integrals().map(|integral| integral.max).fold(0.0, f64::max);
    assert!(drift < 1e-12, "{}", run.drift());
    println!("after {} steps of the implicit midpoint rule no integral is off by 1e-12", run.steps());
    Ok(())
}
