//! Two velocities that do the same.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y),
    velocities(u, v),
    kinematics(x = u + v, y = u + v),
    lagrangian = m * (u.powi(2) + v.powi(2)) / 2 - y,
)]
struct Particle {
    m: f64,
}

fn main() {
    let system = Particle { m: 1.0 };
    let start = ParticleState { x: 1.0, y: 0.0, u: 1.0, v: 0.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Particle::FACTS.equations);
}
