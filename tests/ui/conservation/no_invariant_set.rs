//! A constraint that the field leaves.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    state(pi: [3]),
    define(rate = vector![pi.x / inertia[0], pi.y / inertia[1], pi.z / inertia[2]]),
    dynamics(pi = pi.cross(&rate)),
    constraint(plane = pi.z - 1),
)]
struct Top {
    inertia: [f64; 3],
}

fn main() {
    let top = Top { inertia: [1.0, 2.0, 3.0] };
    let start = TopState { pi: vector![0.0, 1.0, 0.5] };
    let simulation = Simulation::new(&top, start).unwrap().gains(Gains::uniform(1.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state().pi, run.drift(), Top::FACTS.equations);
}
