//! A matrix that is antisymmetric, and a Poisson matrix only for the right parameters.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::{Vector3, vector};

#[feedback_system(
    state(pi: [3]),
    poisson = hat(pi + a * vector![pi.y, -pi.x, 0]),
    hamiltonian = pi.dot(&pi.component_div(&inertia)) / 2,
)]
struct Top {
    inertia: Vector3<f64>,
    a: f64,
}

fn main() {
    let top = Top { inertia: vector![3.0, 2.0, 1.0], a: 0.0 };
    let start = TopState { pi: vector![1.0, 1.0, 1.0] };
    let simulation = Simulation::new(&top, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state().pi, run.drift(), Top::FACTS.equations);
}
