//! What people type who come from Python, MATLAB, Mathematica and C++.

use fbint_runtime::{Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p @ p / (2 * m) + m * g * q[1],
    constraint(length = pow(q.norm(), 2) == l.powi(2)),
    output(height = np.cos(q[0]), angle = 90deg, speed = Sin[q[0]]),
    start(q = vector[l, 0], p = vector![0, 0]),
)]
struct Pendulum {
    m: f64,
    g: f64,
    l: f64,
}

fn main() {
    let pendulum = Pendulum { m: 1.0, g: 9.81, l: 1.0 };
    let start = PendulumState { q: vector![1.0, 0.0], p: vector![0.0, 0.0] };
    let run = Simulation::new(&pendulum, start).unwrap().run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{}", run.drift());
}
