//! A state, and nothing that says how it changes.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    state(pi: [3]),
    invariant(energy = pi.dot(&vector![pi.x / inertia[0], pi.y / inertia[1], pi.z / inertia[2]]) / 2),
)]
struct Top {
    inertia: [f64; 3],
}

fn main() {
    let top = Top { inertia: [1.0, 2.0, 3.0] };
    let start = TopState { pi: vector![0.1, 1.0, 0.0] };
    let simulation = Simulation::new(&top, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state().pi, run.drift(), Top::FACTS.equations);
}
