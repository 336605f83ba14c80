//! A Poisson matrix with an entry on its diagonal.

use fbint_runtime::{FeedbackSystem, Gains, Simulation, feedback_system};

#[feedback_system(
    state(q, p),
    poisson = matrix![0, 1; -1, -friction],
    hamiltonian = (p.powi(2) + q.powi(2)) / 2,
)]
struct Oscillator {
    friction: f64,
}

fn main() {
    let oscillator = Oscillator { friction: 0.1 };
    let start = OscillatorState { q: 1.0, p: 0.0 };
    let run = Simulation::new(&oscillator, start).unwrap().gains(Gains::uniform(50.0)).until(1.0).run().unwrap();
    println!("{:?} {} {}", run.state().q, run.drift(), Oscillator::EQUATIONS);
}
