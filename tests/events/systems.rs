//! Systems whose events are known in closed form, and one whose are not.

use fbint_runtime::{Method, feedback_system};

/// A mass on a spring: from (1, 0) it is (cos t, -sin t).
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
pub struct Oscillator;

/// A ball in free fall.
#[feedback_system(coordinates(height), momenta(p), hamiltonian = p.powi(2) / (2 * m) + m * g * height)]
pub struct Ball {
    pub m: f64,
    pub g: f64,
}

/// A particle without forces in a plane.
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2)]
pub struct Particle;

/// A pendulum in its angle.
#[feedback_system(coordinates(angle), momenta(p), hamiltonian = p.powi(2) / 2 - angle.cos())]
pub struct Pendulum;

/// A pendulum in Cartesian coordinates.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + q[1],
    constraint(length = q.norm_squared() - 1),
)]
pub struct CartesianPendulum;

/// Two pendulums of length 1, one on the other, in angles from the downward vertical.
#[feedback_system(
    coordinates(upper, lower),
    velocities(v, w),
    lagrangian = v.powi(2) + w.powi(2) / 2 + v * w * (upper - lower).cos() + 2 * g * upper.cos() + g * lower.cos(),
)]
pub struct DoublePendulum {
    pub g: f64,
}

/// A pendulum with friction, whose state has the time and the work.
#[feedback_system(
    coordinates(angle),
    momenta(p),
    time(t),
    hamiltonian = p.powi(2) / 2 - angle.cos(),
    input(torque),
    force(p = torque - c * p),
)]
pub struct DampedPendulum {
    pub c: f64,
}

pub const FINE: Method = Method::Dop853 { rtol: 1e-14, atol: Some(1e-14) };

/// Every method, with steps fine enough that free fall, or an oscillation, is nearly exact by those of high order.
pub const METHODS: [Method; 6] = [
    Method::Euler { h: 1e-3 },
    Method::Midpoint { h: 1e-3 },
    Method::Heun { h: 1e-3 },
    Method::Rk4 { h: 1e-3 },
    Method::DormandPrince { rtol: 1e-12, atol: Some(1e-12) },
    FINE,
];
