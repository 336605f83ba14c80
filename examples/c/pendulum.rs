/// A point mass on a circle under gravity.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    default(m = 1, g = 9.81, l = 1),
    start(q = vector![l, 0], p = vector![0, 0]),
)]
pub struct Pendulum { pub m: f64, pub g: f64, pub l: f64 }
