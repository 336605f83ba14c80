//! The systems that tests run on: the shipped models, and others that exercise what those do not.
//!
//! Each is declared for the compiler, and again for the oracle as functions of the flat state, x = (q, p) where it is canonical,
//! matrices column by column. The two are typed separately on purpose.

use fbint_runtime::feedback_system;
pub use models::{
    Chain4, Chain8, Chain16, Chain32, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum,
    SphericalPendulum, SphericalPendulumCpv22,
};
use nalgebra::{Matrix3, SMatrix, Vector3};

use crate::oracle::{Declared, Real};

/// A point mass on a circle with the constraint functions of CPV22.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    phase_constraint(f1 = q.norm_squared() - l.powi(2), f2 = q.dot(&p)),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarPendulumCpv22 {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

/// Masses on a tree of rods in a plane: an A whose graph branches, and reactions as outputs.
#[feedback_system(
    coordinates(q: [2, 5]),
    momenta(p: [2, 5]),
    hamiltonian = (0..5).map(|i| p.column(i).norm_squared() / (2 * (i + m)) + (i + m) * g * q[(1, i)]).sum(),
    constraint(
        root = q.column(0).norm_squared() - l.powi(2),
        trunk[i in 1..3] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
        branch = (q.column(3) - q.column(1)).norm_squared() - l.powi(2),
        twig = (q.column(4) - q.column(3)).norm_squared() - l.powi(2),
    ),
    output(
        reaction = 2 * multiplier(root) * q.column(0),
        tension[i in 1..3] = -2 * l * multiplier(trunk[i]),
        imbalance = multiplier(branch) * q[(0, 3)] - multiplier(twig) + p[(1, 4)],
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The first mass; each of the others is heavier by 1.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length of each rod.
    pub l: f64,
}

/// A kinetic energy of either sign, and constraints between whose momenta it alone couples: A is indefinite.
#[feedback_system(
    coordinates(u, v, w),
    momenta(pu, pv, pw),
    hamiltonian = pu * pv + pw.powi(2) / 2 + u.powi(2) * w / 3 + k * v * w,
    constraint(first = u + w.powi(2) / 8, second = v - w.sin() / 4 + k * u / 5),
    output(force = multiplier(second) + multiplier(first) * w),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Indefinite {
    /// A stiffness.
    pub k: f64,
}

/// A rigid body on a pivot: a Lie-Poisson system on se(3)*, its vertical a unit vector.
#[feedback_system(
    state(pi: [3], gamma: [3]),
    poisson = matrix![
        0, -pi.z, pi.y, 0, -gamma.z, gamma.y;
        pi.z, 0, -pi.x, gamma.z, 0, -gamma.x;
        -pi.y, pi.x, 0, -gamma.y, gamma.x, 0;
        0, -gamma.z, gamma.y, 0, 0, 0;
        gamma.z, 0, -gamma.x, 0, 0, 0;
        -gamma.y, gamma.x, 0, 0, 0, 0
    ],
    hamiltonian = pi.dot(&pi.component_div(&inertia)) / 2 + load.dot(&gamma),
    constraint(unit = gamma.norm_squared() - 1),
    invariant(vertical_momentum = pi.dot(&gamma)),
    output(rate = pi.component_div(&inertia)),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct HeavyTop {
    /// The principal moments of inertia.
    pub inertia: Vector3<f64>,
    /// The weight times the lever of the centre of mass.
    pub load: Vector3<f64>,
}

/// A double pendulum in its angles: scalar coordinates, a mass matrix that varies, no constraint.
#[feedback_system(
    coordinates(a, b),
    momenta(pa, pb),
    define(mass = matrix![
        (m1 + m2) * l1.powi(2), m2 * l1 * l2 * (a - b).cos();
        m2 * l1 * l2 * (a - b).cos(), m2 * l2.powi(2)
    ]),
    define(height = -(m1 + m2) * l1 * a.cos() - m2 * l2 * b.cos()),
    hamiltonian = (mass[(1, 1)] * pa.powi(2) - 2 * mass[(0, 1)] * pa * pb + mass[(0, 0)] * pb.powi(2))
        / (2 * mass.determinant()) + g * height,
)]
#[derive(Clone, Debug, PartialEq)]
pub struct DoublePendulum {
    /// The upper mass.
    pub m1: f64,
    /// The lower mass.
    pub m2: f64,
    /// The upper length.
    pub l1: f64,
    /// The lower length.
    pub l2: f64,
    /// The acceleration of gravity.
    pub g: f64,
}

/// The double pendulum with its angles geared to one another: the partner depends on the mass matrix.
#[feedback_system(
    coordinates(a, b),
    momenta(pa, pb),
    define(coupling = m2 * l1 * l2 * (a - b).cos(), upper = (m1 + m2) * l1.powi(2), lower = m2 * l2.powi(2)),
    hamiltonian = (lower * pa.powi(2) - 2 * coupling * pa * pb + upper * pb.powi(2))
        / (2 * (upper * lower - coupling.powi(2))) - g * ((m1 + m2) * l1 * a.cos() + m2 * l2 * b.cos()),
    constraint(gear = b - ratio * a - a.sin() / 4),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct GearedPendulum {
    /// The upper mass.
    pub m1: f64,
    /// The lower mass.
    pub m2: f64,
    /// The upper length.
    pub l1: f64,
    /// The lower length.
    pub l2: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The transmission.
    pub ratio: f64,
}

/// A bead on an ellipsoid, held by springs: parameters that are vectors, arrays and matrices.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    define(stretch = q - rest, load = wind * vector![q[0], q[1] * q[2]]),
    hamiltonian = p.dot(&p.component_div(&mass)) / 2 + stretch.dot(&(stiffness * stretch)) / 2 + load.norm_squared() / 3,
    constraint(ellipsoid = q.component_div(&axes).norm_squared() - 1),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Bead {
    /// The mass along each axis.
    pub mass: Vector3<f64>,
    /// Not symmetric: only its symmetric part acts.
    pub stiffness: Matrix3<f64>,
    /// Where the springs are at rest.
    pub rest: [f64; 3],
    /// The semi-axes.
    pub axes: [f64; 3],
    /// A matrix that is not square.
    pub wind: SMatrix<f64, 3, 2>,
}

/// Six phase constraints whose C has a connected 6 x 6 graph and zeros next to its diagonal.
#[feedback_system(
    coordinates(q: [4]),
    momenta(p: [4]),
    hamiltonian = p.norm_squared() / (2 * m) + k * q.norm_squared() / 2 + q[3].powi(4) / 4 + q[0] * q[3],
    phase_constraint(
        a = q[0] + q[1] * q[2] / 4,
        b = q[1] + q[3] * q[0] / 5,
        c = q[2] + q[3].powi(2) / 4 + p[0] / 7,
        d = p[0] + q[3] * p[1] / 3,
        e = p[1] + q[0] * q[2] / 3 - k / 2,
        f = p[2] - q[0] * p[3] / 5 + q[1] / 6,
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct SixPhaseConstraints {
    /// The mass.
    pub m: f64,
    /// The stiffness.
    pub k: f64,
}

/// A pendulum on a sphere and on a cylinder that turns: a holonomic constraint next to two phase constraints.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2)),
    phase_constraint(plane = q[0] + q[1] / 3, transverse = p[0] + p[1] / 3 + q[2] * q[0] / 8),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct MixedPendulum {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

/// An isotropic oscillator: no constraint, vector and matrix invariants, the latter symmetric.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + k * q.norm_squared() / 2,
    invariant(angular_momentum = q.cross(&p), fradkin = p * p.transpose() / m + q * q.transpose() * k),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Oscillator {
    /// The mass.
    pub m: f64,
    /// The stiffness.
    pub k: f64,
}

/// Every function of the expression language, on surfaces given by some of them. Means nothing.
#[feedback_system(
    coordinates(u, v, w),
    momenta(pu, pv, pw),
    hamiltonian = pu.powi(2) / (2 + u.sin()) + (pv * u.cos() + 2).recip() + pw.powf(a) * (1 + w).ln()
        + pv.powi(2) + pw.powi(2) + pu * pw * v.exp() / 3
        + (u.powi(2) + v.powi(2) + w.powi(2)).sqrt() * (u * v / 2).tan() + (v / 3).asin() + (w / 3).acos() * u
        + v.atan2(w) + (u * w).atan() + u.sinh() - v.cosh() * w + (v * w).tanh() + (u - 3).abs() * PI
        + u.powi(-3) / 50 + w.powf(5 / 2),
    constraint(
        cone = (u.powi(2) + v.powi(2)).sqrt() - a * w.powf(a) - (u * v).exp() / 4,
        surface = v.atan2(w) + a * u.sinh() - (u * v).tanh(),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Functions {
    /// An exponent, a slope and a factor.
    pub a: f64,
}

fn squared_norm<D: Real>(v: &[D]) -> D {
    v.iter().map(|&entry| entry * entry).sum()
}

fn dot<D: Real>(v: &[D], w: &[D]) -> D {
    v.iter().zip(w).map(|(&v, &w)| v * w).sum()
}

impl Declared for SphericalPendulum {
    fn hamiltonian<D: Real>(&self, x: &[D; 6]) -> D {
        squared_norm(&x[3..]) / (2.0 * self.m) + x[2] * (self.m * self.g)
    }
    fn holonomic<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![squared_norm(&x[..3]) - self.l * self.l]
    }
    fn invariants<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![x[0] * x[4] - x[1] * x[3]]
    }
    fn outputs(&self, _: &[f64; 6], c: &[f64]) -> Vec<f64> {
        vec![-2.0 * self.l * c[0]]
    }
}

impl Declared for SphericalPendulumCpv22 {
    fn hamiltonian<D: Real>(&self, x: &[D; 6]) -> D {
        squared_norm(&x[3..]) / (2.0 * self.m) + x[2] * (self.m * self.g)
    }
    fn phase<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![squared_norm(&x[..3]) - self.l * self.l, dot(&x[..3], &x[3..])]
    }
    fn invariants<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![x[0] * x[4] - x[1] * x[3]]
    }
}

impl Declared for PlanarPendulum {
    fn hamiltonian<D: Real>(&self, x: &[D; 4]) -> D {
        squared_norm(&x[2..]) / (2.0 * self.m) + x[1] * (self.m * self.g)
    }
    fn holonomic<D: Real>(&self, x: &[D; 4]) -> Vec<D> {
        vec![squared_norm(&x[..2]) - self.l * self.l]
    }
}

impl Default for PlanarPendulumCpv22 {
    fn default() -> Self {
        Self { m: 1.0, g: 1.0, l: 1.0 }
    }
}

impl Declared for PlanarPendulumCpv22 {
    fn hamiltonian<D: Real>(&self, x: &[D; 4]) -> D {
        squared_norm(&x[2..]) / (2.0 * self.m) + x[1] * (self.m * self.g)
    }
    fn phase<D: Real>(&self, x: &[D; 4]) -> Vec<D> {
        vec![squared_norm(&x[..2]) - self.l * self.l, dot(&x[..2], &x[2..])]
    }
}

impl Declared for FourBar {
    fn hamiltonian<D: Real>(&self, x: &[D; 8]) -> D {
        squared_norm(&x[4..]) / (2.0 * self.m) + (x[1] + x[3]) * (self.m * self.g)
    }
    fn holonomic<D: Real>(&self, x: &[D; 8]) -> Vec<D> {
        vec![
            squared_norm(&x[..2]) - self.la * self.la,
            squared_norm(&[x[2] - x[0], x[3] - x[1]]) - self.lb * self.lb,
            squared_norm(&[x[2] - self.ln, x[3]]) - self.lc * self.lc,
        ]
    }
}

macro_rules! declared_chain {
    ($chain:ident, $n:literal) => {
        impl Declared for $chain {
            fn hamiltonian<D: Real>(&self, x: &[D; 6 * $n]) -> D {
                let heights: D = (0..$n).map(|i| x[3 * i + 2]).sum();
                squared_norm(&x[3 * $n..]) / (2.0 * self.m) + heights * (self.m * self.g)
            }
            fn holonomic<D: Real>(&self, x: &[D; 6 * $n]) -> Vec<D> {
                let end = |i: usize, j: usize| if i == 0 { D::zero() } else { x[3 * i - 3 + j] };
                let link = |i: usize| squared_norm(&[0, 1, 2].map(|j| end(i + 1, j) - end(i, j)));
                (0..$n).map(|i| link(i) - self.l * self.l).collect()
            }
            fn outputs(&self, _: &[f64; 6 * $n], c: &[f64]) -> Vec<f64> {
                c[..$n].iter().map(|c| -2.0 * self.l * c).collect()
            }
        }
    };
}

declared_chain!(Chain4, 4);
declared_chain!(Chain8, 8);
declared_chain!(Chain16, 16);
declared_chain!(Chain32, 32);

impl Default for DoublePendulum {
    fn default() -> Self {
        Self { m1: 1.0, m2: 1.0, l1: 1.0, l2: 1.0, g: 1.0 }
    }
}

/// The energy of two point masses on two rods, in the angles from the vertical and their momenta.
fn double_pendulum<D: Real>([m1, m2, l1, l2, g]: [f64; 5], &[a, b, pa, pb]: &[D; 4]) -> D {
    let (sin, cos) = (a - b).sin_cos();
    let upper = pa * pa * (m2 * l2 * l2) + pb * pb * ((m1 + m2) * l1 * l1);
    let kinetic =
        (upper - pa * pb * cos * (2.0 * m2 * l1 * l2)) / ((sin * sin * m2 + m1) * (2.0 * m2 * l1 * l1 * l2 * l2));
    kinetic - (a.cos() * ((m1 + m2) * l1) + b.cos() * (m2 * l2)) * g
}

impl Declared for DoublePendulum {
    fn hamiltonian<D: Real>(&self, x: &[D; 4]) -> D {
        double_pendulum([self.m1, self.m2, self.l1, self.l2, self.g], x)
    }
}

impl Default for GearedPendulum {
    fn default() -> Self {
        Self { m1: 1.0, m2: 1.0, l1: 1.0, l2: 1.0, g: 1.0, ratio: 2.0 }
    }
}

impl Declared for GearedPendulum {
    fn hamiltonian<D: Real>(&self, x: &[D; 4]) -> D {
        double_pendulum([self.m1, self.m2, self.l1, self.l2, self.g], x)
    }
    fn holonomic<D: Real>(&self, x: &[D; 4]) -> Vec<D> {
        vec![x[1] - x[0] * self.ratio - x[0].sin() / 4.0]
    }
}

impl Default for Bead {
    fn default() -> Self {
        Self {
            mass: Vector3::new(1.0, 2.0, 3.0),
            stiffness: Matrix3::new(2.0, 0.5, 0.0, 0.1, 1.0, 0.2, 0.3, 0.0, 1.5),
            rest: [0.1, 0.2, 0.3],
            axes: [1.0, 2.0, 1.5],
            wind: SMatrix::<f64, 3, 2>::new(0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
        }
    }
}

impl Declared for Bead {
    fn hamiltonian<D: Real>(&self, x: &[D; 6]) -> D {
        let stretch = [0, 1, 2].map(|i| x[i] - self.rest[i]);
        let mut energy = D::zero();
        for i in 0..3 {
            energy += x[3 + i] * x[3 + i] / (2.0 * self.mass[i]);
            for j in 0..3 {
                energy += stretch[i] * stretch[j] * (self.stiffness[(i, j)] / 2.0);
            }
            let load = x[0] * self.wind[(i, 0)] + x[1] * x[2] * self.wind[(i, 1)];
            energy += load * load / 3.0;
        }
        energy
    }
    fn holonomic<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![squared_norm(&[0, 1, 2].map(|i| x[i] / self.axes[i])) - 1.0]
    }
}

impl Default for SixPhaseConstraints {
    fn default() -> Self {
        Self { m: 1.0, k: 1.0 }
    }
}

impl Declared for SixPhaseConstraints {
    fn hamiltonian<D: Real>(&self, x: &[D; 8]) -> D {
        squared_norm(&x[4..]) / (2.0 * self.m)
            + squared_norm(&x[..4]) * (self.k / 2.0)
            + x[3].powi(4) / 4.0
            + x[0] * x[3]
    }
    fn phase<D: Real>(&self, &[q0, q1, q2, q3, p0, p1, p2, p3]: &[D; 8]) -> Vec<D> {
        vec![
            q0 + q1 * q2 / 4.0,
            q1 + q3 * q0 / 5.0,
            q2 + q3 * q3 / 4.0 + p0 / 7.0,
            p0 + q3 * p1 / 3.0,
            p1 + q0 * q2 / 3.0 - self.k / 2.0,
            p2 - q0 * p3 / 5.0 + q1 / 6.0,
        ]
    }
}

impl Default for MixedPendulum {
    fn default() -> Self {
        Self { m: 1.0, g: 1.0, l: 1.0 }
    }
}

impl Declared for MixedPendulum {
    fn hamiltonian<D: Real>(&self, x: &[D; 6]) -> D {
        squared_norm(&x[3..]) / (2.0 * self.m) + x[2] * (self.m * self.g)
    }
    fn holonomic<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![squared_norm(&x[..3]) - self.l * self.l]
    }
    fn phase<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![x[0] + x[1] / 3.0, x[3] + x[4] / 3.0 + x[2] * x[0] / 8.0]
    }
}

impl Default for Oscillator {
    fn default() -> Self {
        Self { m: 1.0, k: 1.0 }
    }
}

impl Declared for Oscillator {
    fn hamiltonian<D: Real>(&self, x: &[D; 6]) -> D {
        squared_norm(&x[3..]) / (2.0 * self.m) + squared_norm(&x[..3]) * (self.k / 2.0)
    }
    fn invariants<D: Real>(&self, &[q0, q1, q2, p0, p1, p2]: &[D; 6]) -> Vec<D> {
        let (q, p) = ([q0, q1, q2], [p0, p1, p2]);
        let fradkin = |i: usize, j: usize| p[i] * p[j] / self.m + q[i] * q[j] * self.k;
        let momentum = [q1 * p2 - q2 * p1, q2 * p0 - q0 * p2, q0 * p1 - q1 * p0];
        let tensor = [fradkin(0, 0), fradkin(1, 0), fradkin(2, 0), fradkin(1, 1), fradkin(2, 1), fradkin(2, 2)];
        momentum.into_iter().chain(tensor).collect()
    }
}

impl Default for Functions {
    fn default() -> Self {
        Self { a: 1.5 }
    }
}

impl Declared for Functions {
    const RANGE: [f64; 2] = [0.3, 1.2];

    fn hamiltonian<D: Real>(&self, &[u, v, w, pu, pv, pw]: &[D; 6]) -> D {
        pu * pu / (u.sin() + 2.0)
            + (pv * u.cos() + 2.0).recip()
            + pw.powf(self.a) * (w + 1.0).ln()
            + pv * pv
            + pw * pw
            + pu * pw * v.exp() / 3.0
            + squared_norm(&[u, v, w]).sqrt() * (u * v / 2.0).tan()
            + (v / 3.0).asin()
            + (w / 3.0).acos() * u
            + v.atan2(w)
            + (u * w).atan()
            + u.sinh()
            - v.cosh() * w
            + (v * w).tanh()
            + (u - 3.0).abs() * std::f64::consts::PI
            + (u * u * u * 50.0).recip()
            + w.powf(2.5)
    }
    fn holonomic<D: Real>(&self, &[u, v, w, ..]: &[D; 6]) -> Vec<D> {
        vec![
            squared_norm(&[u, v]).sqrt() - w.powf(self.a) * self.a - (u * v).exp() / 4.0,
            v.atan2(w) + u.sinh() * self.a - (u * v).tanh(),
        ]
    }
}

impl Declared for FreeRigidBody {
    fn given(&self, x: &[f64; 12]) -> Option<[f64; 12]> {
        let &[.., wx, wy, wz] = x;
        let mut rate = [0.0; 12];
        for i in 0..3 {
            let row = [x[i], x[3 + i], x[6 + i]];
            rate[i] = wz * row[1] - wy * row[2];
            rate[3 + i] = wx * row[2] - wz * row[0];
            rate[6 + i] = wy * row[0] - wx * row[1];
        }
        let [i, j, k] = self.inertia.data.0[0];
        rate[9..].copy_from_slice(&[(j - k) * wy * wz / i, (k - i) * wz * wx / j, (i - j) * wx * wy / k]);
        Some(rate)
    }
    fn phase<D: Real>(&self, x: &[D; 12]) -> Vec<D> {
        let gram = |i: usize, j: usize| dot(&x[3 * i..3 * i + 3], &x[3 * j..3 * j + 3]);
        vec![gram(0, 0) - 1.0, gram(1, 0), gram(2, 0), gram(1, 1) - 1.0, gram(2, 1), gram(2, 2) - 1.0]
    }
    fn invariants<D: Real>(&self, x: &[D; 12]) -> Vec<D> {
        let momentum = [0, 1, 2].map(|i| x[9 + i] * self.inertia[i]);
        let spatial = |i: usize| x[i] * momentum[0] + x[3 + i] * momentum[1] + x[6 + i] * momentum[2];
        vec![dot(&x[9..], &momentum) / 2.0, spatial(0), spatial(1), spatial(2)]
    }
}

impl Declared for EulerTop {
    fn given(&self, &[x, y, z]: &[f64; 3]) -> Option<[f64; 3]> {
        let [i, j, k] = self.inertia.data.0[0];
        Some([(1.0 / k - 1.0 / j) * y * z, (1.0 / i - 1.0 / k) * z * x, (1.0 / j - 1.0 / i) * x * y])
    }
    fn hamiltonian<D: Real>(&self, x: &[D; 3]) -> D {
        [0, 1, 2].map(|i| x[i] * x[i] / (2.0 * self.inertia[i])).into_iter().sum()
    }
    fn invariants<D: Real>(&self, x: &[D; 3]) -> Vec<D> {
        vec![squared_norm(x)]
    }
}

impl Default for HeavyTop {
    fn default() -> Self {
        Self { inertia: Vector3::new(3.0, 2.0, 1.0), load: Vector3::new(0.0, 0.0, 1.0) }
    }
}

impl Declared for HeavyTop {
    fn given(&self, x: &[f64; 6]) -> Option<[f64; 6]> {
        let (pi, gamma) = (Vector3::from_column_slice(&x[..3]), Vector3::from_column_slice(&x[3..]));
        let rate = pi.component_div(&self.inertia);
        let (torque, turn) = (pi.cross(&rate) + gamma.cross(&self.load), gamma.cross(&rate));
        Some([torque.x, torque.y, torque.z, turn.x, turn.y, turn.z])
    }
    fn hamiltonian<D: Real>(&self, x: &[D; 6]) -> D {
        [0, 1, 2].map(|i| x[i] * x[i] / (2.0 * self.inertia[i]) + x[3 + i] * self.load[i]).into_iter().sum()
    }
    fn phase<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![squared_norm(&x[3..]) - 1.0]
    }
    fn invariants<D: Real>(&self, x: &[D; 6]) -> Vec<D> {
        vec![dot(&x[..3], &x[3..])]
    }
    fn outputs(&self, x: &[f64; 6], _: &[f64]) -> Vec<f64> {
        vec![x[0] / self.inertia[0], x[1] / self.inertia[1], x[2] / self.inertia[2]]
    }
}

fn cross<D: Real>([a, b, c]: [D; 3], [x, y, z]: [D; 3]) -> [D; 3] {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

impl Declared for Kepler {
    fn given(&self, &[x, y, z, vx, vy, vz]: &[f64; 6]) -> Option<[f64; 6]> {
        let attraction = -self.mu / (x * x + y * y + z * z).powf(1.5);
        Some([vx, vy, vz, attraction * x, attraction * y, attraction * z])
    }
    fn invariants<D: Real>(&self, &[x0, x1, x2, v0, v1, v2]: &[D; 6]) -> Vec<D> {
        let (x, v) = ([x0, x1, x2], [v0, v1, v2]);
        let momentum = cross(x, v);
        let (turned, distance) = (cross(v, momentum), squared_norm(&x).sqrt());
        let axis = [0, 1, 2].map(|i| turned[i] - x[i] * self.mu / distance);
        momentum.into_iter().chain(axis).collect()
    }
}

impl Declared for PerturbedKepler {
    fn hamiltonian<D: Real>(&self, x: &[D; 6]) -> D {
        let distance = squared_norm(&x[..3]).sqrt();
        squared_norm(&x[3..]) / 2.0 - distance.recip() * self.mu - distance.powi(-3) * (self.eps / 2.0)
    }
    fn invariants<D: Real>(&self, &[x0, x1, x2, v0, v1, v2]: &[D; 6]) -> Vec<D> {
        cross([x0, x1, x2], [v0, v1, v2]).into_iter().collect()
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self { m: 1.0, g: 1.0, l: 1.0 }
    }
}

impl Declared for Tree {
    fn hamiltonian<D: Real>(&self, x: &[D; 20]) -> D {
        let mass = |i: usize| self.m + i as f64;
        (0..5)
            .map(|i| squared_norm(&x[10 + 2 * i..12 + 2 * i]) / (2.0 * mass(i)) + x[2 * i + 1] * (mass(i) * self.g))
            .sum()
    }
    fn holonomic<D: Real>(&self, x: &[D; 20]) -> Vec<D> {
        let rod =
            |i: usize, j: usize| squared_norm(&[x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]]) - self.l * self.l;
        vec![squared_norm(&x[..2]) - self.l * self.l, rod(1, 0), rod(2, 1), rod(3, 1), rod(4, 3)]
    }
    fn outputs(&self, x: &[f64; 20], c: &[f64]) -> Vec<f64> {
        let tension = |c: f64| -2.0 * self.l * c;
        vec![2.0 * c[0] * x[0], 2.0 * c[0] * x[1], tension(c[1]), tension(c[2]), c[3] * x[6] - c[4] + x[19]]
    }
}

impl Default for Indefinite {
    fn default() -> Self {
        Self { k: 1.0 }
    }
}

impl Declared for Indefinite {
    fn hamiltonian<D: Real>(&self, &[u, v, w, pu, pv, pw]: &[D; 6]) -> D {
        pu * pv + pw * pw / 2.0 + u * u * w / 3.0 + v * w * self.k
    }
    fn holonomic<D: Real>(&self, &[u, v, w, ..]: &[D; 6]) -> Vec<D> {
        vec![u + w * w / 8.0, v - w.sin() / 4.0 + u * (self.k / 5.0)]
    }
    fn outputs(&self, x: &[f64; 6], c: &[f64]) -> Vec<f64> {
        vec![c[1] + c[0] * x[2]]
    }
}

/// One test for each shipped model: `check` takes a mutable system.
#[macro_export]
macro_rules! test_every_model {
    ($check:ident) => {
        $crate::test_every_model_but_the_longest! { $check }
        $crate::test_each! { $check, chain32 Chain32, }
    };
}

/// One test for each shipped model but the longest chain, as [`test_every_model`].
#[macro_export]
macro_rules! test_every_model_but_the_longest {
    ($check:ident) => {
        $crate::test_each! { $check,
            spherical_pendulum SphericalPendulum, spherical_pendulum_cpv22 SphericalPendulumCpv22,
            planar_pendulum PlanarPendulum, four_bar FourBar, chain4 Chain4, chain8 Chain8, chain16 Chain16,
            free_rigid_body FreeRigidBody, euler_top EulerTop, kepler Kepler, perturbed_kepler PerturbedKepler,
        }
    };
}

/// One test for each system that is not shipped, as [`test_every_model`].
#[macro_export]
macro_rules! test_every_other_system {
    ($check:ident) => {
        $crate::test_each! { $check,
            planar_pendulum_cpv22 PlanarPendulumCpv22, tree Tree, indefinite Indefinite, double_pendulum DoublePendulum,
            geared_pendulum GearedPendulum, bead Bead, six_phase_constraints SixPhaseConstraints,
            mixed_pendulum MixedPendulum, oscillator Oscillator, functions Functions, heavy_top HeavyTop,
        }
    };
}

/// One test for each of these systems.
#[macro_export]
macro_rules! test_each {
    ($check:ident, $($name:ident $system:ident,)*) => {
        $(#[test] fn $name() { $check(&mut $crate::systems::$system::default()) })*
    };
}

/// One test for a system with each kind of field, as [`test_every_model`]; with the feature `thorough`, for each system but the longest
/// chains. In several kinds of numbers all of them take the compiler long.
#[cfg(not(feature = "thorough"))]
#[macro_export]
macro_rules! test_every_kind {
    ($check:ident) => {
        $crate::test_each! { $check,
            spherical_pendulum_cpv22 SphericalPendulumCpv22, four_bar FourBar, functions Functions,
            free_rigid_body FreeRigidBody, euler_top EulerTop, perturbed_kepler PerturbedKepler,
        }
    };
}

/// One test for each system but the longest chains.
#[cfg(feature = "thorough")]
#[macro_export]
macro_rules! test_every_kind {
    ($check:ident) => {
        $crate::test_each! { $check,
            spherical_pendulum SphericalPendulum, spherical_pendulum_cpv22 SphericalPendulumCpv22,
            planar_pendulum PlanarPendulum, planar_pendulum_cpv22 PlanarPendulumCpv22, four_bar FourBar, chain4 Chain4,
            chain8 Chain8, tree Tree, indefinite Indefinite, double_pendulum DoublePendulum, geared_pendulum GearedPendulum, bead Bead,
            six_phase_constraints SixPhaseConstraints, mixed_pendulum MixedPendulum, oscillator Oscillator,
            functions Functions, free_rigid_body FreeRigidBody, euler_top EulerTop, heavy_top HeavyTop, kepler Kepler,
            perturbed_kepler PerturbedKepler,
        }
    };
}
