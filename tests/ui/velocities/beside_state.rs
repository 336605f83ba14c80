//! A velocity constraint of a state.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    state(x, v),
    dynamics(x = v, v = -k * x),
    velocity_constraint(still = v),
)]
struct Oscillator {
    k: f64,
}

fn main() {
    let system = Oscillator { k: 1.0 };
    let start = OscillatorState { x: 1.0, v: 0.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Oscillator::FACTS.equations);
}
