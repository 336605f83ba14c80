//! The rate of a velocity.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, theta),
    velocities(v, omega),
    lagrangian = m * (v.powi(2) + omega.powi(2)) / 2 - x,
    output(acceleration = rate(omega)),
)]
struct Particle {
    m: f64,
}

fn main() {
    let system = Particle { m: 1.0 };
    let start = ParticleState { x: 0.0, theta: 0.0, v: 1.0, omega: 1.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Particle::FACTS.equations);
}
