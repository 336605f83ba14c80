//! A size that is not a literal.

use fbint_runtime::{GeneratedSystem, feedback_system};

#[feedback_system(
    coordinates(q: [n]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
)]
struct Pendulum {
    m: f64,
    g: f64,
    l: f64,
}

fn main() {
    println!("{}", Pendulum::FACTS.equations);
}
