//! A velocity constraint that is written in momenta.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y),
    momenta(p, r),
    hamiltonian = (p.powi(2) + r.powi(2)) / (2 * m) + y,
    velocity_constraint(blade = p - r),
)]
struct Particle {
    m: f64,
}

fn main() {
    let system = Particle { m: 1.0 };
    let start = ParticleState { x: 1.0, y: 0.0, p: 1.0, r: 1.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Particle::FACTS.equations);
}
