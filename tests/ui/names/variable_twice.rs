//! Variables of one name, two of which generated code adds: code that uses the model causes no further errors.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    coordinates(x: [2], work),
    momenta(p: [2], time),
    hamiltonian = (p.norm_squared() + time.powi(2)) / (2 * m) + x[0] + work,
    input(u, u),
    force(p = vector![u, 0]),
)]
struct Cart {
    m: f64,
}

#[feedback_system(state(x, x), dynamics(x = -k * x))]
struct Decay {
    k: f64,
}

fn main() {
    let cart = Cart { m: 1.0 };
    println!("{}", Cart::FACTS.name);
    let start = CartState { x: vector![0.0, 1.0], work: 0.0, p: vector![0.0, 0.0], time: 0.0 };
    let simulation = Simulation::new(&Decay { k: 1.0 }, DecayState { x: 1.0 }).unwrap().gains(Gains::uniform(1.0));
    let run = simulation.run(Method::Rk4 { h: 0.1 }, 1.0).unwrap();
    println!("{} {start:?} {}", cart.m, run.time());
}
