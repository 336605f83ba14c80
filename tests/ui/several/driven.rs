//! Mistakes of a driven system, whose inputs have a type all the same.

use fbint_runtime::{Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    coordinates(x, theta),
    velocities(v, w),
    input(thrust, torque: [2]),
    lagrangian = cart * v.powi(2) / 2 + m * w.powi(2) / 2 + m * thrust * theta,
    force(x = thrust, w = torque),
    invariant(speed = v + drag),
)]
struct CartPole {
    cart: f64,
    m: f64,
}

fn main() {
    let system = CartPole { cart: 1.0, m: 0.1 };
    let start = CartPoleState { x: 0.0, theta: 0.1, v: 0.0, w: 0.0, time: 0.0, work: 0.0 };
    let controller = |t: f64, _: &CartPoleState| CartPoleInput { thrust: t.sin(), torque: vector![1.0, 2.0] };
    let simulation = Simulation::new(&system, start).unwrap().input(controller);
    println!("{}", simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap().drift());
}
