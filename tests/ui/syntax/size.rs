//! A size that is no literal.

use fbint_runtime::{FeedbackSystem, feedback_system};

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
    println!("{:?} {}", Pendulum { m: 1.0, g: 1.0, l: 1.0 }.parameter(0), Pendulum::EQUATIONS);
}
