//! Two models on one struct.

use fbint_runtime::{Method, Simulation, feedback_system};

#[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / (2 * m))]
#[feedback_system(state(x), dynamics(x = -m * x))]
struct Particle {
    m: f64,
}

fn main() {
    let particle = Particle { m: 1.0 };
    let run = Simulation::new(&particle, ParticleState { q: 1.0, p: 0.0 }).unwrap().run(Method::Rk4 { h: 1e-3 }, 1.0);
    println!("{}", run.unwrap().drift());
}
