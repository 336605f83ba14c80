//! Models as a user declares them, with starts.

use fbint_runtime::feedback_system;

pub(crate) const PLANAR_PENDULUM: PlanarPendulum = PlanarPendulum { g: 1.0 };
pub(crate) const SPHERICAL_PENDULUM: SphericalPendulum = SphericalPendulum { g: 1.0 };
pub(crate) const FOUR_BAR: FourBar = FourBar { g: 9.81 };
pub(crate) const PARALLELOGRAM: Parallelogram = Parallelogram { g: 9.81 };
pub(crate) const KEPLER: Kepler = Kepler { mu: 1.0 };

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + g * q[1],
    constraint(length = q.norm_squared() - 1),
)]
#[derive(Clone, Copy)]
pub(crate) struct PlanarPendulum {
    pub(crate) g: f64,
}

impl PlanarPendulum {
    /// At rest at the height of the pivot.
    pub(crate) fn start() -> [f64; 4] {
        [1.0, 0.0, 0.0, 0.0]
    }
}

#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / 2 + g * q[2],
    constraint(length = q.norm_squared() - 1),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
)]
#[derive(Clone, Copy)]
pub(crate) struct SphericalPendulum {
    pub(crate) g: f64,
}

impl SphericalPendulum {
    /// The start of CPV22.
    pub(crate) fn start() -> [f64; 6] {
        [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    }
}

/// A pendulum in its angle: elementary functions, and the energy alone to be kept.
#[feedback_system(
    coordinates(angle),
    momenta(momentum),
    hamiltonian = momentum.powi(2) / 2 - g * angle.cos(),
)]
pub(crate) struct Angle {
    pub(crate) g: f64,
}

/// Crank, coupler and rocker of lengths 0.8, 2 and 1 between pivots at a distance of 2, with unit masses at the pins.
#[feedback_system(
    coordinates(a: [2], b: [2]),
    momenta(pa: [2], pb: [2]),
    hamiltonian = (pa.norm_squared() + pb.norm_squared()) / 2 + g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - 0.64,
        coupler = (b - a).norm_squared() - 4,
        rocker = (b - vector![2, 0]).norm_squared() - 1,
    ),
)]
#[derive(Clone, Copy)]
pub(crate) struct FourBar {
    pub(crate) g: f64,
}

impl FourBar {
    /// At rest with the crank at 10 degrees.
    pub(crate) fn start() -> [f64; 8] {
        let [a, b] = [[0.7878462024097664, 0.1389185421335443], [2.7047378325572815, 0.709467819821636]];
        [a[0], a[1], b[0], b[1], 0.0, 0.0, 0.0, 0.0]
    }
}

/// Crank and rocker of one length, coupler and pivots of another: in line at the dead centre, where every rod is free to turn.
#[feedback_system(
    coordinates(a: [2], b: [2]),
    momenta(pa: [2], pb: [2]),
    hamiltonian = (pa.norm_squared() + pb.norm_squared()) / 2 + g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - 1,
        coupler = (b - a).norm_squared() - 4,
        rocker = (b - vector![2, 0]).norm_squared() - 1,
    ),
)]
#[derive(Clone, Copy)]
pub(crate) struct Parallelogram {
    pub(crate) g: f64,
}

impl Parallelogram {
    /// At rest with the crank at an angle.
    pub(crate) fn at_rest(angle: f64) -> [f64; 8] {
        let (sin, cos) = angle.sin_cos();
        [cos, sin, 2.0 + cos, sin, 0.0, 0.0, 0.0, 0.0]
    }
}

#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / 2 - mu / q.norm(),
    invariant(angular_momentum = q.cross(&p), laplace = p.cross(&q.cross(&p)) - mu * q / q.norm()),
)]
#[derive(Clone, Copy)]
pub(crate) struct Kepler {
    pub(crate) mu: f64,
}

impl Kepler {
    /// At the pericentre of an orbit of this eccentricity and semi-major axis 1.
    pub(crate) fn start(eccentricity: f64) -> [f64; 6] {
        let speed = ((1.0 + eccentricity) / (1.0 - eccentricity)).sqrt();
        [1.0 - eccentricity, 0.0, 0.0, 0.0, 0.6 * speed, 0.8 * speed]
    }
}
