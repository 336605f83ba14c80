//! What is integrated: declarations, parameters of the literature, and starts.

#[path = "../../fbint-runtime/benches/problems/henon_heiles.rs"]
mod henon_heiles;
#[path = "../../fbint-runtime/benches/problems/outer_planets.rs"]
mod outer_planets;

use fbint_runtime::feedback_system;
use nalgebra::{Matrix2, Matrix2x3, Matrix3, SVector, Vector3, vector};

pub(crate) use henon_heiles::HenonHeiles;
pub(crate) use outer_planets::{OUTER_PLANETS, OuterPlanets};

/// Point masses that attract one another, with the integrals that are named in addition to the energy.
macro_rules! n_body {
    ($name:ident, $dimensions:tt, $bodies:tt, $summary:literal $(, $invariants:tt)?) => {
        #[doc = $summary]
        #[feedback_system(
            coordinates(q: [$dimensions, $bodies]),
            momenta(p: [$dimensions, $bodies]),
            hamiltonian = (0..$bodies).map(|i| p.column(i).norm_squared() / (2 * m[i])).sum()
                - g * (1..$bodies).map(|i| {
                    (0..i).map(|j| m[i] * m[j] / (q.column(i) - q.column(j)).norm()).sum()
                }).sum(),
            $(invariant $invariants,)?
        )]
        #[derive(Clone, Debug)]
        pub(crate) struct $name {
            /// The constant of gravitation.
            pub(crate) g: f64,
            /// The masses.
            pub(crate) m: [f64; $bodies],
        }
    };
}

n_body!(
    OuterSolarSystemWithInvariants,
    3,
    6,
    "The sun and five planets, with all their integrals.",
    (
        momentum = (0..6).map(|i| p.column(i)).sum(),
        angular_momentum = (0..6).map(|i| q.column(i).cross(&p.column(i))).sum(),
    )
);
n_body!(ThreeBodies, 2, 3, "Three bodies in a plane.");
n_body!(
    ThreeBodiesWithInvariants,
    2,
    3,
    "Three bodies in a plane, with all their integrals.",
    (
        momentum = (0..3).map(|i| p.column(i)).sum(),
        angular_momentum = (0..3).map(|i| q[(0, i)] * p[(1, i)] - q[(1, i)] * p[(0, i)]).sum(),
    )
);
n_body!(
    SunEarthMoon,
    3,
    3,
    "Sun, earth and moon.",
    (
        momentum = (0..3).map(|i| p.column(i)).sum(),
        angular_momentum = (0..3).map(|i| q.column(i).cross(&p.column(i))).sum(),
    )
);

/// The outer planets at their start.
pub(crate) fn outer_planets() -> [f64; 36] {
    outer_planets::state(outer_planets::ephemeris)
}

/// The figure of eight that three equal masses chase one another along (Chenciner and Montgomery 2000).
pub(crate) fn figure_eight() -> [f64; 12] {
    let (x, v) = (vector![0.970_004_36, -0.243_087_53], vector![0.466_203_685, 0.432_365_73]);
    ThreeBodiesState {
        q: Matrix2x3::from_columns(&[x, -x, vector![0.0, 0.0]]),
        p: Matrix2x3::from_columns(&[v, v, -2.0 * v]),
    }
    .into()
}

impl SunEarthMoon {
    /// The distance of the moon.
    pub(crate) const LUNAR_DISTANCE: f64 = 0.002_569_555;

    /// In AU, days and masses of the sun.
    pub(crate) fn of_nature() -> Self {
        let earth = 1.0 / 332_946.05;
        Self { g: OUTER_PLANETS.g, m: [1.0, earth, 0.012_300_037 * earth] }
    }

    /// The earth with the moon in its perihelion, the moon in its perigee, above the ecliptic by its inclination.
    pub(crate) fn start(&self) -> [f64; 18] {
        let [sun, earth, moon] = self.m;
        let (distance, speed) = self.pericentre(1.000_000_11, 0.016_710_22, sun + earth + moon);
        let (x, v) = (vector![distance, 0.0, 0.0], vector![0.0, speed, 0.0]);
        let (distance, speed) = self.pericentre(Self::LUNAR_DISTANCE, 0.054_9, earth + moon);
        let (sin, cos) = 5.145_f64.to_radians().sin_cos();
        let (dx, dv) = (distance * vector![cos, 0.0, sin], vector![0.0, speed, 0.0]);
        let share = moon / (earth + moon);
        let (x, v) = ([x - share * dx, x + (1.0 - share) * dx], [v - share * dv, v + (1.0 - share) * dv]);
        // Their common centre of mass is at rest at the origin.
        SunEarthMoonState {
            q: Matrix3::from_columns(&[-(earth * x[0] + moon * x[1]) / sun, x[0], x[1]]),
            p: Matrix3::from_columns(&[-(earth * v[0] + moon * v[1]), earth * v[0], moon * v[1]]),
        }
        .into()
    }

    /// The least distance and the speed there.
    fn pericentre(&self, semi_major_axis: f64, eccentricity: f64, mass: f64) -> (f64, f64) {
        let distance = semi_major_axis * (1.0 - eccentricity);
        (distance, (self.g * mass * (1.0 + eccentricity) / distance).sqrt())
    }
}

/// A planet in a plane.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 - mu / q.norm(),
    invariant(angular_momentum = q[0] * p[1] - q[1] * p[0]),
)]
#[derive(Clone, Debug)]
pub(crate) struct PlanarKepler {
    /// The strength of the attraction.
    pub(crate) mu: f64,
}

/// Kepler's problem with its Laplace-Runge-Lenz vector, which makes DF dependent.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    define(l = q[0] * p[1] - q[1] * p[0]),
    hamiltonian = p.norm_squared() / 2 - mu / q.norm(),
    invariant(angular_momentum = l, laplace_runge_lenz = l * vector![p[1], -p[0]] - mu * q / q.norm()),
)]
#[derive(Clone, Debug)]
pub(crate) struct PlanarKeplerWithAxis {
    /// The strength of the attraction.
    pub(crate) mu: f64,
}

/// In the perihelion of an ellipse with semi-major axis 1, for an attraction of 1.
pub(crate) fn perihelion(eccentricity: f64) -> [f64; 4] {
    let speed = ((1.0 + eccentricity) / (1.0 - eccentricity)).sqrt();
    PlanarKeplerState { q: vector![1.0 - eccentricity, 0.0], p: vector![0.0, speed] }.into()
}

/// A pendulum on its circle.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + g * q[1],
    constraint(length = q.norm_squared() - 1),
)]
#[derive(Clone, Debug)]
pub(crate) struct CartesianPendulum {
    /// The acceleration of gravity.
    pub(crate) g: f64,
}

/// A pendulum that hangs on a pendulum, both points in a plane.
#[feedback_system(
    coordinates(q: [2, 2]),
    momenta(p: [2, 2]),
    hamiltonian = (0..2).map(|i| p.column(i).norm_squared() / (2 * m[i]) + m[i] * g * q[(1, i)]).sum(),
    constraint(
        upper = q.column(0).norm_squared() - l[0].powi(2),
        lower = (q.column(1) - q.column(0)).norm_squared() - l[1].powi(2),
    ),
)]
#[derive(Clone, Debug)]
pub(crate) struct CartesianDoublePendulum {
    /// The masses.
    pub(crate) m: [f64; 2],
    /// The lengths.
    pub(crate) l: [f64; 2],
    /// The acceleration of gravity.
    pub(crate) g: f64,
}

impl CartesianDoublePendulum {
    /// At rest, at angles from the vertical.
    pub(crate) fn start(&self, [a, b]: [f64; 2]) -> [f64; 8] {
        let upper = self.l[0] * vector![a.sin(), -a.cos()];
        let lower = upper + self.l[1] * vector![b.sin(), -b.cos()];
        CartesianDoublePendulumState { q: Matrix2::from_columns(&[upper, lower]), p: Matrix2::zeros() }.into()
    }
}

/// A pendulum whose length is driven, with the time as a coordinate: t' = 1.
#[feedback_system(
    coordinates(q, t),
    momenta(p, pt),
    hamiltonian = p.powi(2) / 2 - (1 + a * (w * t).cos()) * q.cos() + pt,
)]
#[derive(Clone, Debug)]
pub(crate) struct DrivenPendulum {
    /// The amplitude.
    pub(crate) a: f64,
    /// The frequency.
    pub(crate) w: f64,
}

impl DrivenPendulum {
    pub(crate) fn start() -> [f64; 4] {
        DrivenPendulumState { q: 1.0, t: 0.0, p: 0.0, pt: 0.0 }.into()
    }
}

/// A light cart on a heavy cart on a spring.
#[feedback_system(
    coordinates(x, y),
    momenta(p, r),
    hamiltonian = p.powi(2) / 2 + r.powi(2) / (2 * light) + x.powi(2) / 2 + k * (y - x).powi(2) / 2,
)]
#[derive(Clone, Debug)]
pub(crate) struct Carts {
    /// The light mass.
    pub(crate) light: f64,
    /// The stiffness between the two.
    pub(crate) k: f64,
}

/// Oxygen and two hydrogens without a force from outside, in the potential of Toukan and Rahman (1985): Morse bonds, a spring
/// between the hydrogens, and what couples them.
///
/// Momentum and angular momentum are conserved, and not declared. In Angstroms, atomic masses and kcal/mol, which makes the unit
/// of time 48.888 fs.
#[feedback_system(
    coordinates(q: [3, 3]),
    momenta(p: [3, 3]),
    define(
        first = (q.column(1) - q.column(0)).norm() - bond,
        second = (q.column(2) - q.column(0)).norm() - bond,
        across = (q.column(2) - q.column(1)).norm() - base,
    ),
    hamiltonian = (0..3).map(|i| p.column(i).norm_squared() / (2 * m[i])).sum()
        + depth * ((1 - (-width * first).exp()).powi(2) + (1 - (-width * second).exp()).powi(2))
        + b * across.powi(2) / 2 + c * across * (first + second) + d * first * second,
)]
#[derive(Clone, Debug)]
pub(crate) struct Water {
    /// The masses.
    pub(crate) m: [f64; 3],
    /// The length of a bond at rest.
    pub(crate) bond: f64,
    /// The distance of the hydrogens at rest.
    pub(crate) base: f64,
    /// The depth of the Morse potential.
    pub(crate) depth: f64,
    /// Its inverse width.
    pub(crate) width: f64,
    /// The stiffness between the hydrogens.
    pub(crate) b: f64,
    /// What couples that to the bonds.
    pub(crate) c: f64,
    /// What couples the bonds.
    pub(crate) d: f64,
}

/// Water with rigid bonds, which keep their lengths at the start.
#[feedback_system(
    coordinates(q: [3, 3]),
    momenta(p: [3, 3]),
    hamiltonian = (0..3).map(|i| p.column(i).norm_squared() / (2 * m[i])).sum(),
    constraint(
        bond[i in 1..3] = (q.column(i) - q.column(0)).norm_squared() - bond_length.powi(2),
        base = (q.column(2) - q.column(1)).norm_squared() - base_length.powi(2),
    ),
)]
#[derive(Clone, Debug)]
pub(crate) struct RigidWater {
    /// The masses.
    pub(crate) m: [f64; 3],
    /// The length of a bond.
    pub(crate) bond_length: f64,
    /// The distance of the hydrogens.
    pub(crate) base_length: f64,
}

pub(crate) mod water {
    use super::*;

    const MASSES: [f64; 3] = [15.999, 1.008, 1.008];
    const BOND: f64 = 1.0;
    const BASE: f64 = 1.633;

    pub(crate) fn flexible() -> Water {
        Water {
            m: MASSES,
            bond: BOND,
            base: BASE,
            depth: 101.918_8,
            width: 2.567,
            b: 328.645_606,
            c: -211.467_2,
            d: 111.707_65,
        }
    }

    pub(crate) fn rigid() -> RigidWater {
        RigidWater { m: MASSES, bond_length: BOND, base_length: BASE }
    }

    fn positions() -> Matrix3<f64> {
        let height = (BOND.powi(2) - BASE.powi(2) / 4.0).sqrt();
        let [oxygen, left, right] = [[0.3, -0.2, 0.5], [-BASE / 2.0, -height, 0.0], [BASE / 2.0, -height, 0.0]];
        let oxygen = Vector3::from(oxygen);
        Matrix3::from_columns(&[oxygen, oxygen + Vector3::from(left), oxygen + Vector3::from(right)])
    }

    /// Momenta of about 300 K.
    pub(crate) fn warm() -> [f64; 18] {
        let p = Matrix3::from_columns(&[vector![2.1, -1.4, 3.2], vector![-0.6, 0.9, 0.5], vector![0.4, 0.7, -0.8]]);
        WaterState { q: positions(), p }.into()
    }

    /// Drifting and turning, about no axis of symmetry.
    pub(crate) fn turning() -> [f64; 18] {
        let (drift, turn) = (vector![0.15, -0.1, 0.2], vector![0.7, -0.4, 0.9]);
        let q = positions();
        let columns = [0, 1, 2].map(|i| MASSES[i] * (drift + turn.cross(&(q.column(i) - q.column(0)))));
        RigidWaterState { q, p: Matrix3::from_columns(&columns) }.into()
    }

    pub(crate) fn momentum(x: &[f64; 18]) -> Vector3<f64> {
        WaterState::from(*x).p.column_sum()
    }

    pub(crate) fn angular_momentum(x: &[f64; 18]) -> Vector3<f64> {
        let WaterState { q, p } = WaterState::from(*x);
        [0, 1, 2].map(|i| q.column(i).cross(&p.column(i))).into_iter().sum()
    }
}

/// Masses on springs that stiffen, between walls (Fermi, Pasta, Ulam and Tsingou 1955, with cubic forces).
#[feedback_system(
    coordinates(q: [32]),
    momenta(p: [32]),
    hamiltonian = (0..32).map(|i| p[i].powi(2) / (2 * m[i])).sum()
        + (q[0].powi(2) + q[31].powi(2) + (1..32).map(|i| (q[i] - q[i - 1]).powi(2)).sum()) / 2
        + beta / 4 * (q[0].powi(4) + q[31].powi(4) + (1..32).map(|i| (q[i] - q[i - 1]).powi(4)).sum()),
)]
#[derive(Clone, Debug)]
pub(crate) struct FermiPastaUlamTsingou {
    /// The masses.
    pub(crate) m: [f64; 32],
    /// How much the springs stiffen.
    pub(crate) beta: f64,
}

impl FermiPastaUlamTsingou {
    /// The mass that is a hundred times the others.
    pub(crate) const HEAVY: usize = 10;

    pub(crate) fn with_a_heavy_mass() -> Self {
        Self { m: std::array::from_fn(|i| if i == Self::HEAVY { 100.0 } else { 1.0 }), beta: 8.0 }
    }

    /// Half a wave, at rest.
    pub(crate) fn start() -> [f64; 64] {
        let q = SVector::from_fn(|i, _| (std::f64::consts::PI * (i + 1) as f64 / 33.0).sin());
        FermiPastaUlamTsingouState { q, p: SVector::zeros() }.into()
    }
}

/// Systems whose variables are in units of the caller's choice: a coordinate is `unit` times the number it is in the usual units,
/// its momentum that number divided by `unit`.
pub(crate) mod units {
    use super::*;

    /// The spherical pendulum, its height in another unit.
    #[feedback_system(
        coordinates(q: [3]),
        momenta(p: [3]),
        define(x = vector![q[0], q[1], q[2] / unit], v = vector![p[0], p[1], unit * p[2]]),
        hamiltonian = v.norm_squared() / 2 + x[2],
        constraint(length = x.norm_squared() - 1),
        invariant(vertical_momentum = x[0] * v[1] - x[1] * v[0]),
    )]
    #[derive(Clone, Debug)]
    pub(crate) struct SphericalPendulumInUnits {
        /// The unit.
        pub(crate) unit: f64,
    }

    /// A planet in a plane, its position in another unit.
    #[feedback_system(
        coordinates(q: [2]),
        momenta(p: [2]),
        define(x = q / unit, v = unit * p),
        hamiltonian = v.norm_squared() / 2 - 1 / x.norm(),
        invariant(angular_momentum = x[0] * v[1] - x[1] * v[0]),
    )]
    #[derive(Clone, Debug)]
    pub(crate) struct KeplerInUnits {
        /// The unit.
        pub(crate) unit: f64,
    }

    /// The star of Henon and Heiles, one of its coordinates in another unit.
    #[feedback_system(
        coordinates(x, y),
        momenta(px, py),
        define(z = y / unit, vz = unit * py),
        hamiltonian = (px.powi(2) + vz.powi(2)) / 2 + (x.powi(2) + z.powi(2)) / 2 + x.powi(2) * z - z.powi(3) / 3,
    )]
    #[derive(Clone, Debug)]
    pub(crate) struct HenonHeilesInUnits {
        /// The unit.
        pub(crate) unit: f64,
    }
}
