//! Lagrangian systems, and canonical ones with velocity constraints.

use fbint_runtime::feedback_system;
pub use models::{
    BalancedSleigh, BalancedSleighState, CartPendulum, CartPendulumState, ChaplyginSleigh, ChaplyginSleighState,
};
use nalgebra::Vector3;

/// The planar pendulum in redundant coordinates: the frame turns and stretches with the rod, and stretching is put to zero.
#[feedback_system(
    coordinates(x, y),
    velocities(turn, stretch),
    kinematics(x = -y * turn + x * stretch, y = x * turn + y * stretch),
    lagrangian = m * (rate(x).powi(2) + rate(y).powi(2)) / 2 - m * g * y,
    velocity_constraint(rod = stretch),
    constraint(length = x.powi(2) + y.powi(2) - l.powi(2)),
    output(tension = multiplier(rod)),
)]
pub struct HamelPendulum {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// The same in a frame of unit length, whose brackets are functions.
#[feedback_system(
    coordinates(x, y),
    velocities(turn, stretch),
    define(r = (x.powi(2) + y.powi(2)).sqrt()),
    kinematics(x = (-y * turn + x * stretch) / r, y = (x * turn + y * stretch) / r),
    lagrangian = m * (turn.powi(2) + stretch.powi(2)) / 2 - m * g * y,
    velocity_constraint(rod = stretch),
    constraint(length = x.powi(2) + y.powi(2) - l.powi(2)),
    output(tension = multiplier(rod)),
)]
pub struct UnitFramePendulum {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// The same with the rates of the coordinates as velocities, and a holonomic constraint.
#[feedback_system(
    coordinates(x, y),
    velocities(vx, vy),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 - m * g * y,
    constraint(length = x.powi(2) + y.powi(2) - l.powi(2)),
    output(tension = multiplier(length)),
)]
pub struct ConstrainedPendulum {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// The degenerate rigid body: without inertia about its third axis, seen through the vertical alone.
#[feedback_system(
    coordinates(gamma: [3]),
    velocities(xi: [2], spin),
    kinematics(gamma = gamma.cross(&vector![xi[0], xi[1], spin])),
    lagrangian = m * r.powi(2) * xi.norm_squared() / 2 - m * g * r * gamma[2],
    velocity_constraint(no_spin = spin),
    constraint(length = gamma.norm_squared() - 1),
    invariant(vertical_momentum = m * r.powi(2) * (xi[0] * gamma[0] + xi[1] * gamma[1])),
    output(torque = multiplier(no_spin)),
)]
pub struct DegeneratePendulum {
    pub m: f64,
    pub g: f64,
    pub r: f64,
}

/// The Chaplygin sleigh in the rates of its coordinates.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(vx, vy, omega),
    define(centre = vector![vx - a * omega * theta.sin(), vy + a * omega * theta.cos()]),
    lagrangian = m * centre.norm_squared() / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = -theta.sin() * rate(x) + theta.cos() * rate(y)),
    output(side_force = multiplier(blade)),
)]
pub struct SleighByRates {
    pub m: f64,
    pub j: f64,
    pub a: f64,
}

/// The Chaplygin sleigh on its phase space.
#[feedback_system(
    coordinates(x, y, theta),
    momenta(px, py, pt),
    hamiltonian = (px.powi(2) + py.powi(2)) / (2 * m) + (pt + a * (theta.sin() * px - theta.cos() * py)).powi(2) / (2 * j),
    velocity_constraint(blade = -theta.sin() * rate(x) + theta.cos() * rate(y)),
    output(side_force = multiplier(blade)),
)]
pub struct SleighByMomenta {
    pub m: f64,
    pub j: f64,
    pub a: f64,
}

/// The balanced sleigh in the rates of its coordinates.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(vx, vy, omega),
    define(speed = vx * theta.cos() + vy * theta.sin()),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = -theta.sin() * vx + theta.cos() * vy),
    invariant(
        turning = omega,
        centre_x = omega * x - speed * theta.sin(),
        centre_y = omega * y + speed * theta.cos(),
    ),
    output(side_force = multiplier(blade)),
)]
pub struct BalancedSleighByRates {
    pub m: f64,
    pub j: f64,
}

/// The balanced sleigh on its phase space.
#[feedback_system(
    coordinates(x, y, theta),
    momenta(px, py, pt),
    define(speed = (px * theta.cos() + py * theta.sin()) / m),
    hamiltonian = (px.powi(2) + py.powi(2)) / (2 * m) + pt.powi(2) / (2 * j),
    velocity_constraint(blade = -theta.sin() * rate(x) + theta.cos() * rate(y)),
    invariant(
        turning = pt,
        centre_x = pt / j * x - speed * theta.sin(),
        centre_y = pt / j * y + speed * theta.cos(),
    ),
    output(side_force = multiplier(blade)),
)]
pub struct BalancedSleighByMomenta {
    pub m: f64,
    pub j: f64,
}

/// The free rigid body by the equations of Euler and Poincare.
#[feedback_system(
    coordinates(r: [3, 3]),
    velocities(omega: [3]),
    kinematics(r = r * hat(omega)),
    lagrangian = omega.dot(&inertia.component_mul(&omega)) / 2,
    constraint(orthonormality = r.transpose() * r - identity(3)),
    invariant(spatial_momentum = r * momentum(omega)),
)]
pub struct RotatingBody {
    pub inertia: Vector3<f64>,
}

/// The rolling disk with the rates themselves as velocities, and the grip of the tyre.
#[feedback_system(
    coordinates(x, y, psi, phi),
    velocities(vx, vy, roll, turn),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + i * roll.powi(2) / 2 + j * turn.powi(2) / 2,
    velocity_constraint(
        slip_x = vx - radius * phi.cos() * roll,
        slip_y = vy - radius * phi.sin() * roll,
    ),
    output(grip = (multiplier(slip_x).powi(2) + multiplier(slip_y).powi(2)).sqrt()),
)]
pub struct RollingDisk {
    pub m: f64,
    pub i: f64,
    pub j: f64,
    pub radius: f64,
}

/// The rolling disk with what stays constant, and its reactions.
#[feedback_system(
    coordinates(x, y, psi, phi),
    velocities(vx, vy, roll, turn),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + i * roll.powi(2) / 2 + j * turn.powi(2) / 2,
    velocity_constraint(
        slip_x = vx - radius * phi.cos() * roll,
        slip_y = vy - radius * phi.sin() * roll,
    ),
    invariant(
        roll_momentum = i * roll + radius * m * (vx * phi.cos() + vy * phi.sin()),
        turn_momentum = j * turn,
    ),
    output(force_x = multiplier(slip_x), force_y = multiplier(slip_y)),
)]
pub struct DiskByRates {
    pub m: f64,
    pub i: f64,
    pub j: f64,
    pub radius: f64,
}

/// The rolling disk on its phase space.
#[feedback_system(
    coordinates(x, y, psi, phi),
    momenta(px, py, p_psi, p_phi),
    hamiltonian = (px.powi(2) + py.powi(2)) / (2 * m) + p_psi.powi(2) / (2 * i) + p_phi.powi(2) / (2 * j),
    velocity_constraint(
        slip_x = rate(x) - radius * phi.cos() * rate(psi),
        slip_y = rate(y) - radius * phi.sin() * rate(psi),
    ),
    invariant(
        roll_momentum = p_psi + radius * (px * phi.cos() + py * phi.sin()),
        turn_momentum = p_phi,
    ),
    output(force_x = multiplier(slip_x), force_y = multiplier(slip_y)),
)]
pub struct DiskByMomenta {
    pub m: f64,
    pub i: f64,
    pub j: f64,
    pub radius: f64,
}

/// The rolling disk in a frame that slips along the axes: its brackets are functions.
#[feedback_system(
    coordinates(x, y, psi, phi),
    velocities(roll, turn, slip_x, slip_y),
    kinematics(
        x = radius * roll * phi.cos() + slip_x,
        y = radius * roll * phi.sin() + slip_y,
        psi = roll,
        phi = turn,
    ),
    lagrangian = m * (rate(x).powi(2) + rate(y).powi(2)) / 2 + i * roll.powi(2) / 2 + j * turn.powi(2) / 2,
    velocity_constraint(grip_x = slip_x, grip_y = slip_y),
    invariant(roll_momentum = (i + m * radius.powi(2)) * roll, turn_momentum = j * turn),
    output(force_x = multiplier(grip_x), force_y = multiplier(grip_y)),
)]
pub struct DiskWithoutSlip {
    pub m: f64,
    pub i: f64,
    pub j: f64,
    pub radius: f64,
}
