//! The generated fields obey the equations of Lagrange and d'Alembert, d/dt L_q' - L_q = A^T lambda with A q' = 0.
//!
//! Each Lagrangian is typed a second time, as a function of coordinates and their rates, with the kinematics and the rows A of all
//! that restricts the rates. Derivatives are dual numbers': q'' is the derivative of the generated q' along the generated field. No
//! symbols, no brackets, no quasi-velocities.

use fbint_runtime::{Entries, FeedbackSystem, GeneratedSystem, PreparedSystem, Vector};
use fbint_tests::Random;
use fbint_tests::oracle::Real;
use nalgebra::{DMatrix, DVector, vector};
use num_dual::{Dual, Dual64};

use super::systems::*;

const STATES: usize = 1_000;
/// What is left of the equations, relative to the largest term in them.
const TOLERANCE: f64 = 1e-11;

/// A curve at one time: configuration, velocity, acceleration.
pub(crate) struct Curve {
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

/// What a model says, in coordinates and their rates.
pub(crate) trait Mechanics: GeneratedSystem {
    /// Of the state's first entries, which are the coordinates.
    const COORDINATES: usize;
    /// Whether the outputs are the multipliers of the first rows.
    const HAS_REACTIONS: bool = true;

    /// Moves coordinates to the set that they keep to.
    fn place(&self, _q: &mut [f64]) {}
    /// The rates of the coordinates, from the rest of the state.
    fn rates<D: Real>(&self, q: &[D], rest: &[D]) -> Vec<D>;
    fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D;
    /// Everything that restricts rates, linear in them: held, put to zero, or the rate of a constraint.
    fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D>;

    /// The curve through a state, from the generated field.
    fn curve(&self, x: &[f64], rates: &[f64], accelerations: &[f64], _random: &mut Random) -> Curve {
        Curve { q: x[..Self::COORDINATES].to_vec(), v: rates.to_vec(), a: accelerations.to_vec() }
    }
}

fn real<D: Real>(numbers: &[f64]) -> Vec<D> {
    numbers.iter().map(|&number| D::from(number)).collect()
}

/// The columns of what is linear in `v`.
fn matrix(rows: impl Fn(&[Dual64]) -> Vec<Dual64>, width: usize) -> DMatrix<f64> {
    let column = |j: usize| {
        let unit: Vec<Dual64> = (0..width).map(|i| Dual::new(0.0, f64::from(u8::from(i == j)))).collect();
        rows(&unit).into_iter().map(|value| value.eps).collect::<Vec<f64>>()
    };
    let columns: Vec<Vec<f64>> = (0..width).map(column).collect();
    DMatrix::from_fn(columns[0].len(), width, |i, j| columns[j][i])
}

/// The solution of A A^T w = b.
pub(crate) fn weights(rows: &DMatrix<f64>, right: &DVector<f64>) -> DVector<f64> {
    if rows.nrows() == 0 {
        return DVector::zeros(0);
    }
    (rows * rows.transpose()).lu().solve(right).expect("independent rows")
}

/// What restricts the velocities, but for what the kinematics keep by themselves, which holds nothing.
fn acting<S: Mechanics>(system: &S, q: &[f64], velocities: usize) -> DMatrix<f64> {
    let q: Vec<Dual64> = real(q);
    let held = matrix(|velocities| system.rows(&q, &system.rates(&q, velocities)), velocities);
    let acting: Vec<usize> = (0..held.nrows()).filter(|&row| held.row(row).amax() > 1e-9).collect();
    held.select_rows(&acting)
}

/// The same in a state.
pub(crate) fn acting_rows<S: Mechanics>(system: &S, x: &Vector<S>) -> DMatrix<f64> {
    let (q, velocities) = x.as_ref().split_at(S::COORDINATES);
    acting(system, q, velocities.len())
}

/// A random state that satisfies the constraints.
pub(crate) fn state<S: Mechanics>(system: &S, random: &mut Random) -> Vector<S> {
    let mut x: Vec<f64> = S::FACTS.state.iter().map(|_| random.between(-1.5, 1.5)).collect();
    let (q, rest) = x.split_at_mut(S::COORDINATES);
    system.place(q);
    let held = acting(system, q, rest.len());
    let velocity = DVector::from_column_slice(rest);
    let shift = held.transpose() * weights(&held, &(&held * &velocity));
    rest.iter_mut().zip(shift.iter()).for_each(|(entry, shift)| *entry -= shift);
    Entries::from_fn(|i| x[i])
}

/// d/dt L_q' - L_q along a curve, and the largest of its terms.
fn equations<S: Mechanics>(system: &S, curve: &Curve) -> (DVector<f64>, f64) {
    let n = curve.q.len();
    let along = |value: &[f64], rate: &[f64]| -> Vec<Dual64> {
        value.iter().zip(rate).map(|(value, rate)| Dual::new(*value, *rate)).collect()
    };
    let (q, v) = (along(&curve.q, &curve.v), along(&curve.v, &curve.a));
    // The derivative by one entry, as a function of time.
    let slope = |by: usize| {
        let seeded = |values: &[Dual64], first: usize| -> Vec<Dual<Dual64>> {
            let unit = |i: usize| Dual64::from(f64::from(u8::from(first + i == by)));
            values.iter().enumerate().map(|(i, value)| Dual::new(*value, unit(i))).collect()
        };
        system.lagrangian::<Dual<Dual64>>(&seeded(&q, 0), &seeded(&v, n)).eps
    };
    let mut size: f64 = 0.0;
    let left = (0..n).map(|j| {
        let (force, momentum) = (slope(j).re, slope(n + j));
        size = size.max(force.abs()).max(momentum.eps.abs());
        momentum.eps - force
    });
    let left: Vec<f64> = left.collect();
    (DVector::from_vec(left), size)
}

pub(crate) fn obeys<S: Mechanics>(system: &S) {
    let prepared = system.prepare();
    let generated = S::gather::<Dual64>(&|_| &prepared);
    let mut random = Random::new(1);
    for _ in 0..STATES {
        let x = state(system, &mut random);
        let field = prepared.vector_field(&x);
        let moving = Vector::<S, Dual64>::from_fn(|i| Dual::new(x[i], field[i]));
        let moved = generated.vector_field(&moving);
        let n = S::COORDINATES;
        let rates: Vec<f64> = field.as_ref()[..n].to_vec();
        let accelerations: Vec<f64> = moved.as_ref()[..n].iter().map(|entry| entry.eps).collect();

        let (q, rest) = x.as_ref().split_at(n);
        for (rate, typed) in rates.iter().zip(system.rates(&real::<f64>(q), &real::<f64>(rest))) {
            assert!((rate - typed).abs() < TOLERANCE, "{}: {rates:?} at {x:?}", S::FACTS.name);
        }

        let curve = system.curve(x.as_ref(), &rates, &accelerations, &mut random);
        let (left, size) = equations(system, &curve);
        let q: Vec<Dual64> = real(&curve.q);
        let rows = matrix(|v| system.rows(&q, v), curve.q.len());
        let multipliers = weights(&rows, &(&rows * &left));
        let rest = &left - rows.transpose() * &multipliers;
        let scale = size.max(1.0);
        assert!(rest.amax() < TOLERANCE * scale, "{}: {:e} of {size} is left at {x:?}", S::FACTS.name, rest.amax());

        let held = &rows * DVector::from_column_slice(&curve.v);
        assert!(held.iter().all(|rate| rate.abs() < 1e-11), "{}: {held} at {x:?}", S::FACTS.name);
        if S::HAS_REACTIONS {
            for (reaction, expected) in prepared.outputs(&x).as_ref().iter().zip(multipliers.iter()) {
                let error = (reaction - expected).abs();
                assert!(error < 1e-10 * scale, "{}: {reaction} for {expected} at {x:?}", S::FACTS.name);
            }
        }
    }
}

#[test]
fn pendulums() {
    obeys(&HamelPendulum { m: 1.3, g: 0.9, l: 0.8 });
    obeys(&UnitFramePendulum { m: 1.3, g: 0.9, l: 0.8 });
    obeys(&ConstrainedPendulum { m: 1.3, g: 0.9, l: 0.8 });
    obeys(&DegeneratePendulum { m: 1.3, g: 0.9, r: 0.8 });
    obeys(&CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 });
}

#[test]
fn sleighs() {
    let (m, j, a) = (2.0, 0.7, 0.3);
    obeys(&ChaplyginSleigh { m, j, a });
    obeys(&SleighByRates { m, j, a });
    obeys(&SleighByMomenta { m, j, a });
    obeys(&BalancedSleigh { m, j });
    obeys(&BalancedSleighByRates { m, j });
    obeys(&BalancedSleighByMomenta { m, j });
}

#[test]
fn disks_and_bodies() {
    let (m, i, j, radius) = (2.0, 0.25, 0.125, 0.5);
    obeys(&DiskWithoutSlip { m, i, j, radius });
    obeys(&RollingDisk { m, i, j, radius });
    obeys(&DiskByRates { m, i, j, radius });
    obeys(&DiskByMomenta { m, i, j, radius });
    obeys(&RotatingBody { inertia: vector![3.0, 2.0, 1.5] });
}

/// A pendulum in the plane: the rod is one row, whatever holds it.
macro_rules! pendulum {
    ($name:ident, |$q:ident, $u:ident| $rates:expr, $reaction:expr) => {
        impl Mechanics for $name {
            const COORDINATES: usize = 2;

            fn place(&self, q: &mut [f64]) {
                let length = q[0].hypot(q[1]);
                q.iter_mut().for_each(|entry| *entry *= self.l / length);
            }

            fn rates<D: Real>(&self, $q: &[D], $u: &[D]) -> Vec<D> {
                $rates
            }

            fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
                (v[0] * v[0] + v[1] * v[1]) * (0.5 * self.m) - q[1] * (self.m * self.g)
            }

            fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
                let reaction: fn(f64) -> f64 = $reaction;
                vec![(q[0] * v[0] + q[1] * v[1]) * reaction(self.l)]
            }
        }
    };
}

// The rows are those that the reactions belong to: stretching is (q . v) / |q|^2, or (q . v) / |q|, and the rate of |q|^2 is 2 q . v.
pendulum!(HamelPendulum, |q, u| vec![-q[1] * u[0], q[0] * u[0]], |l| 1.0 / (l * l));
pendulum!(
    UnitFramePendulum,
    |q, u| {
        let r = (q[0] * q[0] + q[1] * q[1]).sqrt();
        vec![-q[1] * u[0] / r, q[0] * u[0] / r]
    },
    |l| 1.0 / l
);
pendulum!(ConstrainedPendulum, |_q, u| u.to_vec(), |_| 2.0);

/// Its configuration is a rotation R, of which it knows the vertical gamma = R^T e3 alone.
impl Mechanics for DegeneratePendulum {
    const COORDINATES: usize = 3;
    /// The torque is that of a rotation, and rows are those of nine coordinates.
    const HAS_REACTIONS: bool = false;

    fn place(&self, q: &mut [f64]) {
        let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]).sqrt();
        q.iter_mut().for_each(|entry| *entry /= length);
    }

    fn rates<D: Real>(&self, q: &[D], u: &[D]) -> Vec<D> {
        // gamma x (xi, 0)
        vec![-q[2] * u[1], q[2] * u[0], q[0] * u[1] - q[1] * u[0]]
    }

    fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
        // gamma is the last row of R.
        let omega = body_rate(q, v);
        (omega[0] * omega[0] + omega[1] * omega[1]) * (0.5 * self.m * self.r * self.r)
            - q[8] * (self.m * self.g * self.r)
    }

    fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
        if q.len() == 3 {
            return Vec::new();
        }
        let mut rows = vec![body_rate(q, v)[2]];
        rows.extend(orthonormality_rate(q, v));
        rows
    }

    fn curve(&self, x: &[f64], _: &[f64], _: &[f64], random: &mut Random) -> Curve {
        let prepared = self.prepare();
        let field = prepared.vector_field(&Entries::from_fn(|i| x[i]));
        // A rotation whose last row is gamma.
        let gamma = nalgebra::Vector3::from_column_slice(&x[..3]);
        let other = nalgebra::Vector3::from_fn(|_, _| random.between(-1.0, 1.0));
        let first = gamma.cross(&other).normalize();
        let second = gamma.cross(&first);
        let r = nalgebra::Matrix3::from_rows(&[first.transpose(), second.transpose(), gamma.transpose()]);
        let turning = vector![x[3], x[4], 0.0].cross_matrix();
        let turned = vector![field[3], field[4], 0.0].cross_matrix();
        let (v, a) = (r * turning, r * (turning * turning + turned));
        Curve { q: r.as_slice().to_vec(), v: v.as_slice().to_vec(), a: a.as_slice().to_vec() }
    }
}

/// R^T R', whose antisymmetric part is the body's angular velocity.
fn turning<D: Real>(r: &[D], v: &[D]) -> [[D; 3]; 3] {
    let entry = |i: usize, j: usize| r[3 * i] * v[3 * j] + r[3 * i + 1] * v[3 * j + 1] + r[3 * i + 2] * v[3 * j + 2];
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

fn body_rate<D: Real>(r: &[D], v: &[D]) -> [D; 3] {
    let w = turning(r, v);
    [(w[2][1] - w[1][2]) * 0.5, (w[0][2] - w[2][0]) * 0.5, (w[1][0] - w[0][1]) * 0.5]
}

fn orthonormality_rate<D: Real>(r: &[D], v: &[D]) -> Vec<D> {
    let w = turning(r, v);
    (0..3).flat_map(|i| (0..=i).map(move |j| w[i][j] + w[j][i])).collect()
}

impl Mechanics for RotatingBody {
    const COORDINATES: usize = 9;
    const HAS_REACTIONS: bool = false;

    fn place(&self, q: &mut [f64]) {
        let r = nalgebra::Matrix3::from_column_slice(q).qr().q();
        q.copy_from_slice(r.as_slice());
    }

    fn rates<D: Real>(&self, q: &[D], u: &[D]) -> Vec<D> {
        let column = |a: usize, x: D, b: usize, y: D| (0..3).map(move |i| q[3 * a + i] * x - q[3 * b + i] * y);
        // R hat(omega), column by column.
        let columns = column(1, u[2], 2, u[1]).chain(column(2, u[0], 0, u[2])).chain(column(0, u[1], 1, u[0]));
        columns.collect()
    }

    fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
        let omega = body_rate(q, v);
        (0..3).map(|i| omega[i] * omega[i] * (0.5 * self.inertia[i])).fold(D::zero(), |sum, term| sum + term)
    }

    fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
        orthonormality_rate(q, v)
    }
}

impl Mechanics for CartPendulum {
    const COORDINATES: usize = 2;

    fn rates<D: Real>(&self, _: &[D], u: &[D]) -> Vec<D> {
        u.to_vec()
    }

    fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
        let (x, y) = (v[0] + q[1].cos() * v[1] * self.l, q[1].sin() * v[1] * self.l);
        v[0] * v[0] * (0.5 * self.cart) + (x * x + y * y) * (0.5 * self.m) + q[1].cos() * (self.m * self.g * self.l)
    }

    fn rows<D: Real>(&self, _: &[D], _: &[D]) -> Vec<D> {
        Vec::new()
    }
}

/// A sleigh at (x, y, theta), whose centre of mass is `a` ahead of the blade.
macro_rules! sleigh {
    ($name:ident, |$system:ident| $a:expr, |$self:ident, $q:ident, $u:ident| $rates:expr) => {
        impl Mechanics for $name {
            const COORDINATES: usize = 3;

            fn rates<D: Real>(&$self, $q: &[D], $u: &[D]) -> Vec<D> {
                $rates
            }

            fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
                let a = (|$system: &Self| -> f64 { $a })(self);
                let (x, y) = (v[0] - q[2].sin() * v[2] * a, v[1] + q[2].cos() * v[2] * a);
                (x * x + y * y) * (0.5 * self.m) + v[2] * v[2] * (0.5 * self.j)
            }

            fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
                vec![q[2].cos() * v[1] - q[2].sin() * v[0]]
            }
        }
    };
}

sleigh!(ChaplyginSleigh, |s| s.a, |self, q, u| vec![q[2].cos() * u[1], q[2].sin() * u[1], u[0]]);
sleigh!(SleighByRates, |s| s.a, |self, _q, u| u.to_vec());
sleigh!(SleighByMomenta, |s| s.a, |self, q, u| {
    let (sin, cos) = (q[2].sin(), q[2].cos());
    let spin = (u[2] + (sin * u[0] - cos * u[1]) * self.a) / self.j;
    vec![u[0] / self.m + spin * sin * self.a, u[1] / self.m - spin * cos * self.a, spin]
});
sleigh!(BalancedSleigh, |_s| 0.0, |self, q, u| vec![q[2].cos() * u[1], q[2].sin() * u[1], u[0]]);
sleigh!(BalancedSleighByRates, |_s| 0.0, |self, _q, u| u.to_vec());
sleigh!(BalancedSleighByMomenta, |_s| 0.0, |self, _q, u| vec![u[0] / self.m, u[1] / self.m, u[2] / self.j]);

/// An upright disk at (x, y) that has rolled by psi with the heading phi.
macro_rules! disk {
    ($name:ident, $has_reactions:literal, |$self:ident, $q:ident, $u:ident| $rates:expr) => {
        impl Mechanics for $name {
            const COORDINATES: usize = 4;
            const HAS_REACTIONS: bool = $has_reactions;

            fn rates<D: Real>(&$self, $q: &[D], $u: &[D]) -> Vec<D> {
                $rates
            }

            fn lagrangian<D: Real>(&self, _: &[D], v: &[D]) -> D {
                (v[0] * v[0] + v[1] * v[1]) * (0.5 * self.m) + v[2] * v[2] * (0.5 * self.i) + v[3] * v[3] * (0.5 * self.j)
            }

            fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
                vec![v[0] - q[3].cos() * v[2] * self.radius, v[1] - q[3].sin() * v[2] * self.radius]
            }
        }
    };
}

disk!(DiskWithoutSlip, true, |self, q, u| {
    vec![q[3].cos() * u[0] * self.radius, q[3].sin() * u[0] * self.radius, u[0], u[1]]
});
disk!(RollingDisk, false, |self, _q, u| u.to_vec());
disk!(DiskByRates, true, |self, _q, u| u.to_vec());
disk!(DiskByMomenta, true, |self, _q, u| vec![u[0] / self.m, u[1] / self.m, u[2] / self.i, u[3] / self.j]);
