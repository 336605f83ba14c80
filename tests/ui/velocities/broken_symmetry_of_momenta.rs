//! The same in momenta.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y, theta),
    momenta(px, py, pt),
    hamiltonian = (px.powi(2) + py.powi(2)) / (2 * m) + pt.powi(2) / (2 * j),
    velocity_constraint(blade = -theta.sin() * rate(x) + theta.cos() * rate(y)),
    invariant(momentum_x = px),
)]
struct Sleigh {
    m: f64,
    j: f64,
}

fn main() {
    let system = Sleigh { m: 1.0, j: 1.0 };
    let start = SleighState { x: 0.0, y: 0.0, theta: 0.0, px: 1.0, py: 0.0, pt: 1.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Sleigh::FACTS.equations);
}
