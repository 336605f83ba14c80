//! The spherical pendulum of CPV22, typed in by hand from the formulas, with the phase constraints |q|^2 - l^2 and q.p.
//!
//! The integrals' weights are a parameter of the type, so that a test can pretend that entries occur more than once.

use fbint_runtime::nalgebra::{ArrayStorage, SMatrix, SVector};
use fbint_runtime::{
    Conservation, Constant, FeedbackLaw, FeedbackSystem, IntegralKind, KineticEnergy, Operations, Pass, PreparedSystem,
    Scalar,
};

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

impl From<SVector<f64, 6>> for State {
    fn from(x: SVector<f64, 6>) -> Self {
        Self { q: [x[0], x[1], x[2]], p: [x[3], x[4], x[5]] }
    }
}

impl From<State> for SVector<f64, 6> {
    fn from(State { q, p }: State) -> Self {
        Self::from([q[0], q[1], q[2], p[0], p[1], p[2]])
    }
}

fn vector<T, const D: usize>(entries: [T; D]) -> SVector<T, D> {
    SVector::from_array_storage(ArrayStorage([entries]))
}

fn dot<T: Scalar>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn split<T: Scalar>(x: &SVector<T, 6>) -> ([T; 3], [T; 3]) {
    let [[q0, q1, q2, p0, p1, p2]] = x.data.0;
    ([q0, q1, q2], [p0, p1, p2])
}

/// x + d h, entry by entry.
fn advance<T: Scalar>(x: &SVector<T, 6>, d: &SVector<T, 6>, h: T) -> SVector<T, 6> {
    vector(core::array::from_fn(|i| x[i] + d[i] * h))
}

impl<const WEIGHTED: bool> FeedbackSystem<6, 4> for Pendulum<WEIGHTED> {
    type State = State;
    type Prepared = Self;

    const NAME: &'static str = "Pendulum";
    const STATE_NAMES: [&'static str; 6] = ["q[0]", "q[1]", "q[2]", "p[0]", "p[1]", "p[2]"];
    const INTEGRAL_NAMES: [&'static str; 4] = ["length", "tangency", "energy", "vertical_momentum"];
    const INTEGRAL_KINDS: [IntegralKind; 4] =
        [IntegralKind::Constraint, IntegralKind::Constraint, IntegralKind::Energy, IntegralKind::Invariant];
    const INTEGRAL_WEIGHTS: [f64; 4] = if WEIGHTED { [3.0, 1.0, 1.0, 2.0] } else { [1.0; 4] };
    const CONSERVATION: [Conservation; 4] = [Conservation::Undecided; 4];
    const PARAMETER_NAMES: &'static [&'static str] = &["m", "g", "l"];
    const OUTPUT_NAMES: &'static [&'static str] = &[];
    const HOLONOMIC_CONSTRAINTS: usize = 0;
    const KINETIC_ENERGY: KineticEnergy = KineticEnergy::Quadratic;
    const VECTOR_FIELD_OPERATIONS: Operations =
        Operations { additions: 0, multiplications: 0, fused: 0, divisions: 0, functions: 0 };
    const FEEDBACK_FIELD_OPERATIONS: Operations = Self::VECTOR_FIELD_OPERATIONS;
    const PASSES: &'static [Pass] = &[];
    const SOURCE: &'static str = "";
    const DERIVATION: &'static str = "";
    const EQUATIONS: &'static str = "";

    fn parameter(&self, index: usize) -> Option<f64> {
        [self.m, self.g, self.l].get(index).copied()
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        [&mut self.m, &mut self.g, &mut self.l].into_iter().nth(index)
    }

    fn prepare(&self) -> Self {
        *self
    }

    type Gathered<C: Constant> = Self;

    /// Of one system alone: none of the tests has others.
    fn gather<'a, C: Constant>(member: impl Fn(usize) -> &'a Self) -> Self {
        *member(0)
    }
}

impl<const WEIGHTED: bool> PreparedSystem<6, 4> for Pendulum<WEIGHTED> {
    fn vector_field<T: Scalar>(&self, x: &SVector<T, 6>) -> SVector<T, 6> {
        let (q, p) = split(x);
        let (m, g) = (T::from_f64(self.m), T::from_f64(self.g));
        let f1 = dot(q, q);
        let f2 = dot(q, p);
        let radial = f2 / (m * f1);
        let reaction = (dot(p, p) / m - m * g * q[2]) / f1;
        let [q_dot, p_dot] =
            [[0, 1, 2].map(|i| p[i] / m - radial * q[i]), [0, 1, 2].map(|i| radial * p[i] - reaction * q[i])];
        vector([q_dot[0], q_dot[1], q_dot[2], p_dot[0], p_dot[1], p_dot[2] - m * g])
    }

    fn integrals<T: Scalar>(&self, x: &SVector<T, 6>) -> SVector<T, 4> {
        let (q, p) = split(x);
        let (m, g, l) = (T::from_f64(self.m), T::from_f64(self.g), T::from_f64(self.l));
        let energy = dot(p, p) / (m + m) + m * g * q[2];
        vector([dot(q, q) - l * l, dot(q, p), energy, q[0] * p[1] - q[1] * p[0]])
    }

    fn integrals_jacobian<T: Scalar>(&self, x: &SVector<T, 6>) -> SMatrix<T, 4, 6> {
        let (q, p) = split(x);
        let (m, g, zero) = (T::from_f64(self.m), T::from_f64(self.g), T::from_f64(0.0));
        let columns = [
            [q[0] + q[0], p[0], zero, p[1]],
            [q[1] + q[1], p[1], zero, -p[0]],
            [q[2] + q[2], p[2], m * g, zero],
            [zero, q[0], p[0] / m, -q[1]],
            [zero, q[1], p[1] / m, q[0]],
            [zero, q[2], p[2] / m, zero],
        ];
        SMatrix::from_array_storage(ArrayStorage(columns))
    }

    /// c of C^T c = b with {f1, f2} = 2 |q|^2.
    fn multipliers<T: Scalar>(&self, x: &SVector<T, 6>) -> SVector<T, 4> {
        let (q, p) = split(x);
        let (m, g, zero) = (T::from_f64(self.m), T::from_f64(self.g), T::from_f64(0.0));
        let bracket = dot(q, q) + dot(q, q);
        vector([(m * g * q[2] - dot(p, p) / m) / bracket, (dot(q, p) + dot(q, p)) / (m * bracket), zero, zero])
    }

    type Outputs<T: Scalar> = [T; 0];

    fn outputs<T: Scalar>(&self, _: &SVector<T, 6>) -> [T; 0] {
        []
    }

    const ZERO_TARGETS: [bool; 4] = [false; 4];

    fn normalisation<T: Scalar>(&self) -> [[T; 3]; 4] {
        [[1.0, 1.0, 0.0].map(T::from_f64); 4]
    }

    fn potential_gradient<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &SVector<T, 6>, law: &G) -> SVector<T, 6> {
        let y = law.weigh(PreparedSystem::integrals(self, x).data.0[0]);
        let jacobian = PreparedSystem::integrals_jacobian(self, x);
        vector(core::array::from_fn(|j| (0..4).fold(T::from_f64(0.0), |sum, i| sum + jacobian[(i, j)] * y[i])))
    }

    fn feedback_field<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &SVector<T, 6>, law: &G) -> SVector<T, 6> {
        let correction = law.precondition(self.potential_gradient(x, law).data.0[0]);
        advance(&PreparedSystem::vector_field(self, x), &vector(correction), T::from_f64(-1.0))
    }

    /// By Gaussian elimination of the full matrix, without damping: the rows of DF are independent.
    fn correction<T: Scalar, G: FeedbackLaw<T, 6, 4>>(
        &self,
        x: &SVector<T, 6>,
        variances: &SVector<T, 6>,
        _: &SVector<T, 4>,
        law: &G,
    ) -> SVector<T, 6> {
        let jacobian = PreparedSystem::integrals_jacobian(self, x);
        let zero = T::from_f64(0.0);
        let mut y = law.weigh(PreparedSystem::integrals(self, x).data.0[0]);
        let mut a: [[T; 4]; 4] = core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                (0..6).fold(zero, |sum, l| sum + jacobian[(i, l)] * variances[l] * jacobian[(j, l)])
            })
        });
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
        let step = |l: usize| (0..4).fold(zero, |sum, i| sum + jacobian[(i, l)] * y[i]);
        vector(core::array::from_fn(|l| variances[l] * step(l)))
    }

    fn squared_gradients<T: Scalar>(&self, x: &SVector<T, 6>) -> SVector<T, 4> {
        let jacobian = PreparedSystem::integrals_jacobian(self, x);
        let zero = T::from_f64(0.0);
        vector(core::array::from_fn(|i| (0..6).fold(zero, |sum, l| sum + jacobian[(i, l)] * jacobian[(i, l)])))
    }

    fn euler_step<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &mut SVector<T, 6>, h: T, law: &G) {
        *x = advance(x, &self.feedback_field(x, law), h);
    }

    fn rk4_step<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &mut SVector<T, 6>, h: T, law: &G) {
        let half = h * T::from_f64(0.5);
        let k1 = self.feedback_field(x, law);
        let k2 = self.feedback_field(&advance(x, &k1, half), law);
        let k3 = self.feedback_field(&advance(x, &k2, half), law);
        let k4 = self.feedback_field(&advance(x, &k3, h), law);
        let two = T::from_f64(2.0);
        let slope = vector(core::array::from_fn(|i| (k1[i] + two * (k2[i] + k3[i]) + k4[i]) / T::from_f64(6.0)));
        *x = advance(x, &slope, h);
    }
}
