//! A key that stands alone, with a list; the derivatives are there all the same.

use fbint_runtime::{DifferentiableSystem, Direction, FeedbackSystem, Sensitivity, feedback_system, tableau::RK4};

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    derivatives(vector_field),
)]
struct Pendulum {
    m: f64,
    g: f64,
    l: f64,
}

fn main() {
    let pendulum = Pendulum { m: 1.0, g: 1.0, l: 1.0 }.prepare();
    let x = [0.0, -1.0, 1.0, 0.0];
    let direction = Direction::of_state([1.0, 0.0, 0.0, 0.0]).prepare(&pendulum);
    let (field, change) = Pendulum::vector_field_tangent(&pendulum, &x, &direction);
    let gradient = Pendulum::vector_field_adjoint(&pendulum, &x, &change);
    println!("{field:?} {:?} {:?}", gradient.parameters, Pendulum::VECTOR_FIELD_PATTERN);
    println!("{:?}", Sensitivity::<Pendulum>::new(pendulum).gradient(&RK4, x, 1e-3, 100, 4, |x| *x));
}
