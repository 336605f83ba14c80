//! A driven system of every kind.

use fbint_runtime::feedback_system;

/// A pendulum with friction and a periodic torque.
#[feedback_system(
    coordinates(theta),
    momenta(p),
    time(t),
    hamiltonian = p.powi(2) / (2 * m * l.powi(2)) - m * g * l * theta.cos(),
    force(p = -c * rate(theta) + torque * (omega * t).cos()),
    output(energy = p.powi(2) / (2 * m * l.powi(2)) - m * g * l * theta.cos()),
)]
pub struct Pendulum {
    pub m: f64,
    pub l: f64,
    pub g: f64,
    pub c: f64,
    pub torque: f64,
    pub omega: f64,
}

/// The pendulum in Cartesian coordinates, whose pivot moves up and down, with air drag.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    time(t),
    define(pivot = vector![0, a * (omega * t).sin()]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = (q - pivot).norm_squared() - l.powi(2)),
    force(p = -c * rate(q)),
    output(tension = 2 * l * multiplier(length)),
)]
pub struct MovingPivot {
    pub m: f64,
    pub l: f64,
    pub g: f64,
    pub c: f64,
    pub a: f64,
    pub omega: f64,
}

/// The same in the language of Lagrange.
#[feedback_system(
    coordinates(q: [2]),
    velocities(v: [2]),
    time(t),
    define(pivot = vector![0, a * (omega * t).sin()]),
    lagrangian = m * v.norm_squared() / 2 - m * g * q[1],
    constraint(length = (q - pivot).norm_squared() - l.powi(2)),
    force(v = -c * v),
    output(tension = 2 * l * multiplier(length)),
)]
pub struct MovingPivotVelocities {
    pub m: f64,
    pub l: f64,
    pub g: f64,
    pub c: f64,
    pub a: f64,
    pub omega: f64,
}

/// The same in its angle, from the upward vertical: the pivot is in the Lagrangian.
#[feedback_system(
    coordinates(theta),
    velocities(w),
    time(t),
    define(
        height = a * (omega * t).sin() + l * theta.cos(),
        climb = a * omega * (omega * t).cos() - l * theta.sin() * w,
        slide = l * theta.cos() * w,
    ),
    lagrangian = m * (climb.powi(2) + slide.powi(2)) / 2 - m * g * height,
    force(w = -c * (l.powi(2) * w - l * theta.sin() * a * omega * (omega * t).cos())),
)]
pub struct Kapitza {
    pub m: f64,
    pub l: f64,
    pub g: f64,
    pub c: f64,
    pub a: f64,
    pub omega: f64,
}

/// A cart with a motor, and a pole.
#[feedback_system(
    coordinates(x, theta),
    velocities(v, w),
    input(thrust),
    lagrangian = (cart + m) * v.powi(2) / 2 + m * l * v * w * theta.cos() + m * l.powi(2) * w.powi(2) / 2
        - m * g * l * theta.cos(),
    force(v = thrust - c * v),
    output(power = thrust * v),
)]
pub struct CartPole {
    pub cart: f64,
    pub m: f64,
    pub l: f64,
    pub g: f64,
    pub c: f64,
}

/// A particle whose mass grows, in a field that turns, on a surface that moves; reactions in velocities.
#[feedback_system(
    coordinates(q: [3]),
    velocities(v: [3]),
    time(t),
    input(u: [3]),
    lagrangian = (m + (t / 3).sin() / 2) * v.norm_squared() / 2 - q.dot(vector![t.cos(), t.sin(), g]),
    constraint(surface = q[2] - (q[0] * q[1]) / 3 - t.sin() / 5),
    velocity_constraint(blade = rate(q[0]) * t.sin() - rate(q[1]) * (2 + t.cos())),
    force(v = u - q / 7),
)]
pub struct Particle {
    pub m: f64,
    pub g: f64,
}

/// The same without the velocity constraint, so that the balance holds in every state.
#[feedback_system(
    coordinates(q: [3]),
    velocities(v: [3]),
    time(t),
    input(u: [3]),
    lagrangian = (m + (t / 3).sin() / 2) * v.norm_squared() / 2 - q.dot(vector![t.cos(), t.sin(), g]),
    constraint(surface = q[2] - (q[0] * q[1]) / 3 - t.sin() / 5),
    force(v = u - q / 7),
)]
pub struct ParticleOnSurface {
    pub m: f64,
    pub g: f64,
}

/// The same in momenta.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    time(t),
    input(u: [3]),
    hamiltonian = p.norm_squared() / (2 * m + (t / 3).sin()) + q.dot(vector![t.cos(), t.sin(), g]),
    constraint(surface = q[2] - (q[0] * q[1]) / 3 - t.sin() / 5),
    velocity_constraint(blade = rate(q[0]) * t.sin() - rate(q[1]) * (2 + t.cos())),
    force(p = u - q / 7),
)]
pub struct CanonicalParticle {
    pub m: f64,
    pub g: f64,
}

/// A sleigh with a motor along its blade, which is put to zero.
#[feedback_system(
    coordinates(x: [2], theta),
    velocities(u, v, w),
    kinematics(x = vector![u * theta.cos() - v * theta.sin(), u * theta.sin() + v * theta.cos()], theta = w),
    input(motor: [2]),
    lagrangian = m * (u.powi(2) + (v + a * w).powi(2)) / 2 + j * w.powi(2) / 2,
    velocity_constraint(blade = v),
    force(u = motor[0], v = -u * w / 3, w = motor[1] - w / 2),
    output(side = multiplier(blade)),
)]
pub struct Sleigh {
    pub m: f64,
    pub a: f64,
    pub j: f64,
}

/// A particle on a surface by two phase constraints, in a field that turns.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    time(t),
    hamiltonian = (p.norm_squared() + q.norm_squared()) / 2 + q[0] * t.sin(),
    phase_constraint(height = q[1] - q[0].powi(2) / 5 - t.cos() / 7, climb = p[1] - q[0] * p[0] / 2 + t.sin() / 9),
    force(p = vector![-p[0] / 4, t.cos()]),
)]
pub struct PhaseConstrained;

/// Four phase constraints.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = (p.norm_squared() + q.norm_squared()) / 2 + q[0] * q[1],
    phase_constraint(
        a = q[1] - q[0].powi(2) / 5,
        b = p[1] - q[0] * p[0] / 2,
        c = q[2] - q[0] / 3,
        d = p[2] - p[0] / 3 + q[1] / 5,
    ),
    input(u),
    force(p = vector![u - p[0] / 4, 0, 0]),
)]
pub struct ManyPhaseConstraints;

/// A rigid body with a moment of inertia that changes, in its angular momentum.
#[feedback_system(
    state(l: [3]),
    poisson = hat(l),
    time(t),
    hamiltonian = l[0].powi(2) / (2 * i1) + l[1].powi(2) / (2 * i2) + l[2].powi(2) * (2 + t.sin()) / 4,
    invariant(momentum = l.norm_squared()),
)]
pub struct Top {
    pub i1: f64,
    pub i2: f64,
}

/// A field that is given, with an input.
#[feedback_system(
    state(x: [2]),
    input(u),
    time(t),
    dynamics(x = vector![x[1], -x[0]] * (u + t.sin())),
    invariant(radius = x.norm_squared()),
)]
pub struct Rotor;
