//! A method of Rust's that is written out here.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.hypot(g)),
)]
struct Pendulum {
    m: f64,
    g: f64,
    l: f64,
}

fn main() {
    let pendulum = Pendulum { m: 1.0, g: 1.0, l: 1.0 };
    let start = PendulumState { q: vector![0.0, -1.0], p: vector![1.0, 0.0] };
    let simulation = Simulation::new(&pendulum, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state().q, run.drift(), Pendulum::FACTS.equations);
}
