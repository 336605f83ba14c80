//! What is assumed is searched for a state that refutes it: here a wall, far to the left.

use fbint_runtime::{GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y),
    momenta(px, py),
    hamiltonian = (px.powi(2) + py.powi(2)) / (2 * m) + (-50 * (x + 5)).exp() + y,
    invariant(assume momentum = px),
)]
struct Wall {
    m: f64,
}

fn main() {
    let wall = Wall { m: 1.0 };
    let start = WallState { x: 0.0, y: 0.0, px: -1.0, py: 0.0 };
    let run = Simulation::new(&wall, start).unwrap().run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{} {} {}", run.state().px, run.drift(), Wall::FACTS.equations);
}
