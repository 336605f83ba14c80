//! A rate with a part of its own.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y),
    velocities(v, w),
    kinematics(x = v + wind, y = w),
    lagrangian = m * (v.powi(2) + w.powi(2)) / 2 - y,
)]
struct Boat {
    m: f64,
    wind: f64,
}

fn main() {
    let system = Boat { m: 1.0, wind: 1.0 };
    let start = BoatState { x: 1.0, y: 0.0, v: 1.0, w: 0.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Boat::FACTS.equations);
}
