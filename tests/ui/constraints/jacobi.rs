//! An antisymmetric matrix that is not a Poisson matrix.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    state(x, y, z, w),
    poisson = matrix![0, 1, 0, w; -1, 0, 0, 0; 0, 0, 0, 1; -w, 0, -1, 0],
    hamiltonian = (x.powi(2) + y.powi(2) + z.powi(2) + k * w.powi(2)) / 2,
)]
struct Skew {
    k: f64,
}

fn main() {
    let skew = Skew { k: 1.0 };
    let start = SkewState { x: 1.0, y: 0.0, z: 0.0, w: 0.0 };
    let simulation = Simulation::new(&skew, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state().x, run.drift(), Skew::FACTS.equations);
}
