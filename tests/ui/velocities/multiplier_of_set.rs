//! The multiplier of a set that the velocities keep.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y),
    velocities(turn, stretch),
    kinematics(x = -y * turn + x * stretch, y = x * turn + y * stretch),
    lagrangian = m * (rate(x).powi(2) + rate(y).powi(2)) / 2 - y,
    velocity_constraint(rod = stretch),
    constraint(length = x.powi(2) + y.powi(2) - 1),
    output(tension = multiplier(length)),
)]
struct Pendulum {
    m: f64,
}

fn main() {
    let system = Pendulum { m: 1.0 };
    let start = PendulumState { x: 1.0, y: 0.0, turn: 1.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Pendulum::FACTS.equations);
}
