//! A definition whose expression is mistaken has a name, which is used; two other mistakes and a name that is taken are reported, too.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    define(turn = q[0] * p[1] -, length),
    hamiltonian = p.norm_squared() / 2,
    constraint(length = q.norm_squared() - l.powi(2)),
    invariant(turn),
    output(turn, p[0]),
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
