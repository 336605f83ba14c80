//! A function.

use fbint_runtime::feedback_system;

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
)]
fn pendulum() {}

fn main() {
    pendulum();
}
