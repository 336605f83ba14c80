//! The surface of a mistaken model respects lints that nobody may allow.
#![forbid(unused)]

use fbint_runtime::feedback_system;

#[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k^2)]
pub struct Oscillator {
    /// The stiffness.
    pub k: f64,
}

fn main() {
    println!("{}", Oscillator { k: 1.0 }.k);
}
