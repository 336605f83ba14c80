//! Gains that would forget the inputs.

use fbint_runtime::{Gains, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = p.powi(2) / (2 * m),
    input(thrust),
    force(p = thrust),
)]
struct Trolley {
    m: f64,
}

fn main() {
    let trolley = Trolley { m: 1.0 };
    let start = TrolleyState { x: 0.0, p: 0.0, time: 0.0, work: 0.0 };
    let simulation = Simulation::new(&trolley, start).unwrap();
    let simulation = simulation.input(|_: f64, _: &TrolleyState| TrolleyInput { thrust: 1.0 });
    let run = simulation.gains(Gains::uniform(1.0)).run(Method::Rk4 { h: 1e-3 }, 1.0);
    println!("{:?}", run.unwrap().state());
}
