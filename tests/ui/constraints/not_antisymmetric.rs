//! A Poisson matrix with a sign that is wrong.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::{Vector3, vector};

#[feedback_system(
    state(pi: [3]),
    poisson = matrix![0, -pi.z, pi.y; pi.z, 0, pi.x; -pi.y, pi.x, 0],
    hamiltonian = pi.dot(&pi.component_div(&inertia)) / 2,
    invariant(casimir = pi.norm_squared()),
)]
struct Top {
    inertia: Vector3<f64>,
}

fn main() {
    let top = Top { inertia: vector![3.0, 2.0, 1.0] };
    let start = TopState { pi: vector![1.0, 1.0, 1.0] };
    let simulation = Simulation::new(&top, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state().pi, run.drift(), Top::FACTS.equations);
}
