//! Fewer velocities than coordinates, and nothing that says what they do.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y, theta),
    velocities(omega, v),
    lagrangian = m * v.powi(2) / 2 + j * omega.powi(2) / 2 - x - y - theta,
)]
struct Sleigh {
    m: f64,
    j: f64,
}

fn main() {
    let system = Sleigh { m: 1.0, j: 1.0 };
    let start = SleighState { x: 0.0, y: 0.0, theta: 0.0, omega: 1.0, v: 1.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Sleigh::FACTS.equations);
}
