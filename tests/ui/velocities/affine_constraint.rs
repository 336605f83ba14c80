//! A velocity constraint that moves does work, whose name is taken.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y),
    velocities(v, w),
    lagrangian = m * (v.powi(2) + w.powi(2)) / 2 - y,
    velocity_constraint(belt = v - work),
)]
struct Particle {
    m: f64,
    work: f64,
}

fn main() {
    let system = Particle { m: 1.0, work: 1.0 };
    let start = ParticleState { x: 1.0, y: 0.0, v: 1.0, w: 0.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Particle::FACTS.equations);
}
