//! The rate of a constraint, declared again.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y),
    velocities(v, w),
    lagrangian = m * (v.powi(2) + w.powi(2)) / 2 - y,
    constraint(rod = x.powi(2) + y.powi(2) - 1),
    velocity_constraint(rod_rate = x * v + y * w),
)]
struct Pendulum {
    m: f64,
}

fn main() {
    let system = Pendulum { m: 1.0 };
    let start = PendulumState { x: 1.0, y: 0.0, v: 0.0, w: 1.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Pendulum::FACTS.equations);
}
