//! What is named alone must be a definition, and may be one thing only.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    define(speed = p.norm_squared(), turn = q[0] * p[1] - q[1] * p[0], length = q.norm_squared() - l.powi(2)),
    hamiltonian = speed / 2,
    constraint(length),
    invariant(turn, tern, p, l = l, power, squared = squared),
    output(turn, multiplier, double = 2 * turn),
)]
struct Rotor {
    l: f64,
}

fn main() {
    let rotor = Rotor { l: 1.0 };
    let start = RotorState { q: vector![0.0, -1.0], p: vector![1.0, 0.0] };
    let simulation = Simulation::new(&rotor, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state().q, run.drift(), Rotor::FACTS.equations);
}
