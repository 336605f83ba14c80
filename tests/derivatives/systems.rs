//! A system with each kind of field, with the key `derivatives`: canonical, Poisson, with a velocity constraint, driven.

use fbint_runtime::feedback_system;
use nalgebra::Vector3;

/// A point mass on a circle of radius `l` under gravity.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct PlanarPendulum {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// A free rigid body reduced to its momentum, a Lie-Poisson system.
#[feedback_system(
    state(pi: [3]),
    poisson = hat(pi),
    hamiltonian = pi.dot(&pi.component_div(&inertia)) / 2,
    invariant(casimir = pi.norm_squared()),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct EulerTop {
    pub inertia: Vector3<f64>,
}

/// The Chaplygin sleigh in the rates of its coordinates, held by the reaction of its blade.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(vx, vy, omega),
    define(centre = vector![vx - a * omega * theta.sin(), vy + a * omega * theta.cos()]),
    lagrangian = m * centre.norm_squared() / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = theta.cos() * vy - theta.sin() * vx),
    output(side_force = multiplier(blade)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct HeldSleigh {
    pub m: f64,
    pub j: f64,
    pub a: f64,
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
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct CartPole {
    pub cart: f64,
    pub m: f64,
    pub l: f64,
    pub g: f64,
    pub c: f64,
}
