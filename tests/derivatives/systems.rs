//! The shipped models with the key `derivatives`, and driven systems with it.

use fbint_runtime::feedback_system;
use nalgebra::{Matrix3, Vector3};

/// A point mass on a sphere of radius `l` under gravity.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2)),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
    output(tension = -2 * l * multiplier(length)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct SphericalPendulum {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// A spherical pendulum with the constraint functions |q|^2 - l^2 and q . p of CPV22.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    phase_constraint(f1 = q.norm_squared() - l.powi(2), f2 = q.dot(&p)),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct SphericalPendulumCpv22 {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

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

/// Crank, coupler and rocker: two point masses, three rods, one degree of freedom.
#[feedback_system(
    coordinates(a: [2], b: [2]),
    momenta(pa: [2], pb: [2]),
    hamiltonian = (pa.norm_squared() + pb.norm_squared()) / (2 * m) + m * g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - la.powi(2),
        coupler = (b - a).norm_squared() - lb.powi(2),
        rocker = (b - vector![ln, 0]).norm_squared() - lc.powi(2),
    ),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct FourBar {
    pub la: f64,
    pub lb: f64,
    pub lc: f64,
    pub ln: f64,
    pub m: f64,
    pub g: f64,
}

/// Attitude and angular velocity of a rigid body without forces.
#[feedback_system(
    state(r: [3, 3], omega: [3]),
    define(momentum = inertia.component_mul(&omega)),
    dynamics(r = r * hat(omega), omega = momentum.cross(&omega).component_div(&inertia)),
    constraint(orthonormality = r.transpose() * r - identity(3)),
    invariant(energy = omega.dot(&momentum) / 2, spatial_momentum = r * momentum),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct FreeRigidBody {
    pub inertia: Vector3<f64>,
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

/// A planet about a fixed sun, with the Laplace-Runge-Lenz vector.
#[feedback_system(
    state(x: [3], v: [3]),
    define(l = x.cross(&v)),
    dynamics(x = v, v = -mu * x / x.norm().powi(3)),
    invariant(angular_momentum = l, laplace_runge_lenz = v.cross(&l) - mu * x / x.norm()),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct Kepler {
    pub mu: f64,
}

/// A planet about a fixed sun with an additional attraction that makes its perihelion advance.
#[feedback_system(
    coordinates(x: [3]),
    momenta(v: [3]),
    hamiltonian = v.norm_squared() / 2 - mu / x.norm() - eps / (2 * x.norm().powi(3)),
    invariant(angular_momentum = x.cross(&v)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct PerturbedKepler {
    pub mu: f64,
    pub eps: f64,
}

/// A pendulum that hangs from a cart on a rail.
#[feedback_system(
    coordinates(s, theta),
    velocities(v, omega),
    define(bob = vector![v + l * omega * theta.cos(), l * omega * theta.sin()]),
    lagrangian = cart * v.powi(2) / 2 + m * bob.norm_squared() / 2 + m * g * l * theta.cos(),
    invariant(horizontal_momentum = momentum(v)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct CartPendulum {
    pub cart: f64,
    pub m: f64,
    pub l: f64,
    pub g: f64,
}

/// The Chaplygin sleigh in the frame of its blade.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(omega, v, slip),
    kinematics(
        x = v * theta.cos() - slip * theta.sin(),
        y = v * theta.sin() + slip * theta.cos(),
        theta = omega,
    ),
    lagrangian = m * (v.powi(2) + (slip + a * omega).powi(2)) / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = slip),
    output(side_force = multiplier(blade)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct ChaplyginSleigh {
    pub m: f64,
    pub j: f64,
    pub a: f64,
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

/// The balanced sleigh in the frame of its blade: it skates in circles.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(omega, v, slip),
    kinematics(
        x = v * theta.cos() - slip * theta.sin(),
        y = v * theta.sin() + slip * theta.cos(),
        theta = omega,
    ),
    lagrangian = m * (v.powi(2) + slip.powi(2)) / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = slip),
    invariant(
        turning = omega,
        speed = v,
        centre_x = omega * x - v * theta.sin(),
        centre_y = omega * y + v * theta.cos(),
    ),
    output(side_force = multiplier(blade)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct BalancedSleigh {
    pub m: f64,
    pub j: f64,
}

/// A spherical pendulum as a rigid body without inertia about its rod.
#[feedback_system(
    coordinates(gamma: [3]),
    velocities(xi: [2], spin),
    kinematics(gamma = gamma.cross(&vector![xi[0], xi[1], spin])),
    lagrangian = m * r.powi(2) * xi.norm_squared() / 2 - m * g * r * gamma[2],
    velocity_constraint(no_spin = spin),
    constraint(length = gamma.norm_squared() - 1),
    invariant(vertical_momentum = m * r.powi(2) * (xi[0] * gamma[0] + xi[1] * gamma[1])),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct DegeneratePendulum {
    pub m: f64,
    pub g: f64,
    pub r: f64,
}

/// A planar pendulum in a frame that turns and stretches with its rod.
#[feedback_system(
    coordinates(x, y),
    velocities(turn, stretch),
    kinematics(x = -y * turn + x * stretch, y = x * turn + y * stretch),
    lagrangian = m * (rate(x).powi(2) + rate(y).powi(2)) / 2 - m * g * y,
    velocity_constraint(rod = stretch),
    constraint(length = x.powi(2) + y.powi(2) - l.powi(2)),
    output(tension = -multiplier(rod) / l),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct HamelPendulum {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// A free particle that rises as it goes round the vertical axis.
#[feedback_system(
    coordinates(x, y, z),
    velocities(vx, vy, vz),
    lagrangian = m * (vx.powi(2) + vy.powi(2) + vz.powi(2)) / 2,
    velocity_constraint(rise = vz - y * vx + x * vy),
    invariant(speed_x = vx, speed_y = vy),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct HeisenbergSystem {
    pub m: f64,
}

/// A knife edge on an inclined plane.
#[feedback_system(
    coordinates(x, y, phi),
    velocities(vx, vy, omega),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + j * omega.powi(2) / 2 + m * g * slope.sin() * x,
    velocity_constraint(edge = phi.sin() * vx - phi.cos() * vy),
    invariant(turning = omega),
    output(side_force = multiplier(edge)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct KnifeEdge {
    pub m: f64,
    pub j: f64,
    pub g: f64,
    pub slope: f64,
}

/// A particle in a harmonic potential that rises with x in proportion to y.
#[feedback_system(
    coordinates(x, y, z),
    velocities(vx, vy, vz),
    lagrangian = (vx.powi(2) + vy.powi(2) + vz.powi(2)) / 2 - k * (x.powi(2) + y.powi(2)) / 2,
    velocity_constraint(contact = vz - y * vx),
    invariant(energy_of_y = (vy.powi(2) + k * y.powi(2)) / 2),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct NonholonomicOscillator {
    pub k: f64,
}

/// A roller racer without a rider.
#[feedback_system(
    coordinates(x, y, theta, phi),
    velocities(vx, vy, turn, steer),
    define(heading = theta + phi),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + i1 * turn.powi(2) / 2 + i2 * (turn + steer).powi(2) / 2,
    velocity_constraint(
        seat = theta.cos() * vy - theta.sin() * vx,
        arm = heading.cos() * vy - heading.sin() * vx + d1 * phi.cos() * turn + d2 * (turn + steer),
    ),
    output(seat_force = multiplier(seat), arm_force = multiplier(arm)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct RollerRacer {
    pub m: f64,
    pub i1: f64,
    pub i2: f64,
    pub d1: f64,
    pub d2: f64,
}

/// A disk that stays upright and rolls without slipping.
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
    output(grip = (multiplier(slip_x).powi(2) + multiplier(slip_y).powi(2)).sqrt()),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct RollingDisk {
    pub m: f64,
    pub i: f64,
    pub j: f64,
    pub radius: f64,
}

/// A rigid body that cannot turn about an axis of its own.
#[feedback_system(
    coordinates(r: [3, 3]),
    velocities(omega: [3]),
    kinematics(r = r * hat(omega)),
    lagrangian = omega.dot(&(inertia * omega)) / 2,
    constraint(orthonormality = r.transpose() * r - identity(3)),
    velocity_constraint(twist = axis.dot(&omega)),
    output(torque = multiplier(twist)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct SuslovProblem {
    pub inertia: Matrix3<f64>,
    pub axis: Vector3<f64>,
}

/// Four point masses on massless links.
#[feedback_system(
    coordinates(q: [3, 4]),
    momenta(p: [3, 4]),
    hamiltonian = (0..4).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
    constraint(
        anchor = q.column(0).norm_squared() - l.powi(2),
        link[i in 1..4] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
    ),
    output(
        anchor_tension = -2 * l * multiplier(anchor),
        tension[i in 1..4] = -2 * l * multiplier(link[i]),
    ),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct Chain4 {
    pub m: f64,
    pub g: f64,
    pub l: f64,
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

/// The pendulum in Cartesian coordinates, whose pivot moves up and down, with drag and a wind.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    time(t),
    input(wind: [2]),
    define(pivot = vector![0, a * (omega * t).sin()]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = (q - pivot).norm_squared() - l.powi(2)),
    force(p = -c * (rate(q) - wind) * (rate(q) - wind).norm()),
    output(tension = 2 * l * multiplier(length)),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct MovingPivot {
    pub m: f64,
    pub l: f64,
    pub g: f64,
    pub c: f64,
    pub a: f64,
    pub omega: f64,
}

/// Every elementary function.
#[feedback_system(
    state(u, v, w),
    dynamics(
        u = v.powf(a) * (u * w).tan() + (v / 3).asin() - (w / 4).acos() + (u - 3).abs(),
        v = v.atan2(w) + (u * v).atan() + u.sinh() - a * v.cosh() * w.powf(u),
        w = (v * w).tanh() + (u - v).exp() / (2 + w.ln()) + a.ln() * w.sqrt() + u.sin() * v.cos(),
    ),
    output(ratio = u / v),
    derivatives,
)]
#[derive(Clone, Debug)]
pub struct Functions {
    pub a: f64,
}
