//! The spherical pendulum of CPV22, typed in by hand from the formulas, with the phase constraints |q|^2 - l^2 and q.p.
//!
//! The integrals' weights are a parameter of the type, so that a test can pretend that entries occur more than once.

use core::array;

use fbint_runtime::{
    Conservation, Declared, Entry, Evidence, FeedbackLaw, FeedbackSystem, Integral, IntegralKind, KineticEnergy,
    PreparedSystem, Scalar, StateEntry, StateRole, SystemFacts,
};

/// An amount that tests can do with, or the one that they were made for where `FBINT_THOROUGH` is set, as `.ci/thorough` sets it.
pub(crate) fn amount<T>(usual: T, thorough: T) -> T {
    if std::env::var_os("FBINT_THOROUGH").is_some() { thorough } else { usual }
}

/// A point mass on a sphere of radius `l`. With `WEIGHTED`, the first integral counts three times and the last twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pendulum<const WEIGHTED: bool = false> {
    pub(crate) m: f64,
    pub(crate) g: f64,
    pub(crate) l: f64,
}

pub(crate) const PENDULUM: Pendulum = Pendulum { m: 1.0, g: 1.0, l: 1.0 };

/// The start of CPV22: q = (0, 1, 0), p = (1, 0, 1).
pub(crate) fn start() -> State {
    State { q: [0.0, 1.0, 0.0], p: [1.0, 0.0, 1.0] }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) q: [f64; 3],
    pub(crate) p: [f64; 3],
}

impl From<[f64; 6]> for State {
    fn from([q0, q1, q2, p0, p1, p2]: [f64; 6]) -> Self {
        Self { q: [q0, q1, q2], p: [p0, p1, p2] }
    }
}

impl From<State> for [f64; 6] {
    fn from(State { q, p }: State) -> Self {
        [q[0], q[1], q[2], p[0], p[1], p[2]]
    }
}

fn dot<T: Scalar>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn split<T: Scalar>(&[q0, q1, q2, p0, p1, p2]: &[T; 6]) -> ([T; 3], [T; 3]) {
    ([q0, q1, q2], [p0, p1, p2])
}

/// The pendulum with its parameters as numbers of type `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prepared<T, const WEIGHTED: bool> {
    m: T,
    g: T,
    l: T,
}

const fn entry(name: &'static str, variable: usize, role: StateRole) -> StateEntry {
    StateEntry { name, variable, role }
}

const fn vector(name: &'static str, first: usize) -> Declared {
    Declared { name, first, indices: &[&[0], &[1], &[2]] }
}

const fn integral(name: &'static str, kind: IntegralKind, weight: f64) -> Integral {
    Integral { name, kind, weight, conservation: Conservation::Everywhere(Evidence::Construction) }
}

const fn facts(is_weighted: bool) -> SystemFacts {
    SystemFacts {
        name: "Pendulum",
        state: STATE,
        integrals: if is_weighted { WEIGHTED } else { UNWEIGHTED },
        variables: const { &[vector("q", 0), vector("p", 3)] },
        parameter_names: &["m", "g", "l"],
        kinetic_energy: KineticEnergy::Quadratic,
        ..SystemFacts::EMPTY
    }
}

const STATE: &[StateEntry] = &[
    entry("q[0]", 0, StateRole::Coordinate { momentum: 3 }),
    entry("q[1]", 0, StateRole::Coordinate { momentum: 4 }),
    entry("q[2]", 0, StateRole::Coordinate { momentum: 5 }),
    entry("p[0]", 1, StateRole::Momentum { coordinate: 0 }),
    entry("p[1]", 1, StateRole::Momentum { coordinate: 1 }),
    entry("p[2]", 1, StateRole::Momentum { coordinate: 2 }),
];

const WEIGHTED: &[Integral] = &integrals([3.0, 1.0, 1.0, 2.0]);
const UNWEIGHTED: &[Integral] = &integrals([1.0; 4]);

const fn integrals([length, tangency, energy, vertical_momentum]: [f64; 4]) -> [Integral; 4] {
    [
        integral("length", IntegralKind::Constraint, length),
        integral("tangency", IntegralKind::Constraint, tangency),
        integral("energy", IntegralKind::Energy, energy),
        integral("vertical_momentum", IntegralKind::Invariant, vertical_momentum),
    ]
}

impl<const WEIGHTED: bool> FeedbackSystem for Pendulum<WEIGHTED> {
    type Vector<T: Entry> = [T; 6];
    type Integrals<T: Entry> = [T; 4];
    type Outputs<T: Entry> = [T; 0];
    type State = State;
    type Prepared<T: Scalar> = Prepared<T, WEIGHTED>;

    fn facts(&self) -> &'static SystemFacts {
        const { &facts(WEIGHTED) }
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        [self.m, self.g, self.l].get(index).copied()
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        [&mut self.m, &mut self.g, &mut self.l].into_iter().nth(index)
    }

    fn prepare(&self) -> Self::Prepared<f64> {
        Prepared { m: self.m, g: self.g, l: self.l }
    }

    fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a Self::Prepared<f64>) -> Self::Prepared<T> {
        Prepared {
            m: T::from_lanes(&|lane| member(lane).m),
            g: T::from_lanes(&|lane| member(lane).g),
            l: T::from_lanes(&|lane| member(lane).l),
        }
    }
}

impl<T: Scalar, const WEIGHTED: bool> PreparedSystem<T> for Prepared<T, WEIGHTED> {
    type System = Pendulum<WEIGHTED>;

    fn facts(&self) -> &'static SystemFacts {
        const { &facts(WEIGHTED) }
    }

    fn vector_field(&self, x: &[T; 6]) -> [T; 6] {
        let (q, p) = split(x);
        let (m, g) = (self.m, self.g);
        let f1 = dot(q, q);
        let f2 = dot(q, p);
        let radial = f2 / (m * f1);
        let reaction = (dot(p, p) / m - m * g * q[2]) / f1;
        let [q_dot, p_dot] =
            [[0, 1, 2].map(|i| p[i] / m - radial * q[i]), [0, 1, 2].map(|i| radial * p[i] - reaction * q[i])];
        [q_dot[0], q_dot[1], q_dot[2], p_dot[0], p_dot[1], p_dot[2] - m * g]
    }

    fn integrals(&self, x: &[T; 6]) -> [T; 4] {
        let (q, p) = split(x);
        let (m, g, l) = (self.m, self.g, self.l);
        let energy = dot(p, p) / (m + m) + m * g * q[2];
        [dot(q, q) - l * l, dot(q, p), energy, q[0] * p[1] - q[1] * p[0]]
    }

    fn integrals_jacobian(&self, x: &[T; 6]) -> [[T; 6]; 4] {
        let (q, p) = split(x);
        let (m, g, zero) = (self.m, self.g, T::from_f64(0.0));
        [
            [q[0] + q[0], q[1] + q[1], q[2] + q[2], zero, zero, zero],
            [p[0], p[1], p[2], q[0], q[1], q[2]],
            [zero, zero, m * g, p[0] / m, p[1] / m, p[2] / m],
            [p[1], -p[0], zero, -q[1], q[0], zero],
        ]
    }

    /// c of C^T c = b with {f1, f2} = 2 |q|^2.
    fn multipliers(&self, x: &[T; 6]) -> [T; 4] {
        let (q, p) = split(x);
        let (m, g, zero) = (self.m, self.g, T::from_f64(0.0));
        let bracket = dot(q, q) + dot(q, q);
        [(m * g * q[2] - dot(p, p) / m) / bracket, (dot(q, p) + dot(q, p)) / (m * bracket), zero, zero]
    }

    fn outputs(&self, _: &[T; 6]) -> [T; 0] {
        []
    }

    fn zero_targets(&self) -> [bool; 4] {
        [false; 4]
    }

    fn normalisation(&self) -> [[T; 3]; 4] {
        [[1.0, 1.0, 0.0].map(T::from_f64); 4]
    }

    fn potential_gradient<L: FeedbackLaw<Pendulum<WEIGHTED>, T>>(&self, x: &[T; 6], law: &L) -> [T; 6] {
        let (y, jacobian) = (law.weigh(self.integrals(x)), self.integrals_jacobian(x));
        array::from_fn(|j| (0..4).fold(T::from_f64(0.0), |sum, i| sum + jacobian[i][j] * y[i]))
    }

    fn feedback_field<L: FeedbackLaw<Pendulum<WEIGHTED>, T>>(&self, x: &[T; 6], law: &L) -> [T; 6] {
        let (field, gradient) = (self.vector_field(x), self.potential_gradient(x, law));
        array::from_fn(|i| field[i] - gradient[i])
    }

    /// By Gaussian elimination of the full matrix, without damping: the rows of DF are independent.
    fn projection<L: FeedbackLaw<Pendulum<WEIGHTED>, T>>(
        &self,
        x: &[T; 6],
        variances: &[T; 6],
        _: &[T; 4],
        law: &L,
    ) -> [T; 6] {
        let jacobian = self.integrals_jacobian(x);
        let zero = T::from_f64(0.0);
        let mut y = law.weigh(self.integrals(x));
        let product =
            |i: usize, j: usize| (0..6).fold(zero, |sum, l| sum + jacobian[i][l] * variances[l] * jacobian[j][l]);
        let mut a: [[T; 4]; 4] = array::from_fn(|i| array::from_fn(|j| product(i, j)));
        for j in 0..4 {
            for i in j + 1..4 {
                let factor = a[i][j] / a[j][j];
                for l in j..4 {
                    a[i][l] = a[i][l] - factor * a[j][l];
                }
                y[i] = y[i] - factor * y[j];
            }
        }
        for j in (0..4).rev() {
            y[j] = (j + 1..4).fold(y[j], |sum, l| sum - a[j][l] * y[l]) / a[j][j];
        }
        let step = |l: usize| (0..4).fold(zero, |sum, i| sum + jacobian[i][l] * y[i]);
        array::from_fn(|l| variances[l] * step(l))
    }
}
