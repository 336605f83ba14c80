//! Stands in for the macro: the spherical pendulum of CPV22, derived by hand. Goes as soon as `#[feedback_system]` derives.
use fbint_runtime::{FeedbackLaw, FeedbackSystem, IntegralKind, Operations, Scalar};
use nalgebra::{ArrayStorage, SMatrix, SVector, Vector3, vector};

/// A point mass on a sphere, with the functions of CPV22.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct SphericalPendulumCpv22 {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

impl Default for SphericalPendulumCpv22 {
    fn default() -> Self {
        Self { m: 1.0, g: 1.0, l: 1.0 }
    }
}

impl SphericalPendulumCpv22 {
    /// The start of CPV22.
    pub fn start(&self) -> SphericalPendulumCpv22State {
        SphericalPendulumCpv22State { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] }
    }
}

#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct SphericalPendulumCpv22State {
    pub q: Vector3<f64>,
    pub p: Vector3<f64>,
}

impl From<SVector<f64, 6>> for SphericalPendulumCpv22State {
    fn from(x: SVector<f64, 6>) -> Self {
        Self { q: vector![x[0], x[1], x[2]], p: vector![x[3], x[4], x[5]] }
    }
}

impl From<SphericalPendulumCpv22State> for SVector<f64, 6> {
    fn from(s: SphericalPendulumCpv22State) -> Self {
        vector![s.q[0], s.q[1], s.q[2], s.p[0], s.p[1], s.p[2]]
    }
}

impl FeedbackSystem<6, 4> for SphericalPendulumCpv22 {
    type State = SphericalPendulumCpv22State;
    const NAME: &'static str = "SphericalPendulumCpv22";
    const STATE_NAMES: [&'static str; 6] = ["q[0]", "q[1]", "q[2]", "p[0]", "p[1]", "p[2]"];
    const INTEGRAL_NAMES: [&'static str; 4] = ["f1", "f2", "energy", "vertical_momentum"];
    const INTEGRAL_KINDS: [IntegralKind; 4] =
        [IntegralKind::Constraint, IntegralKind::Constraint, IntegralKind::Energy, IntegralKind::Invariant];
    const INTEGRAL_WEIGHTS: [f64; 4] = [1.0; 4];
    const PARAMETER_NAMES: &'static [&'static str] = &["m", "g", "l"];
    const VECTOR_FIELD_OPERATIONS: Operations =
        Operations { additions: 0, multiplications: 0, fused: 0, divisions: 0, functions: 0 };
    const FEEDBACK_FIELD_OPERATIONS: Operations = Self::VECTOR_FIELD_OPERATIONS;
    const SOURCE: &'static str = "// handwritten\n";
    const DERIVATION: &'static str = "% handwritten\n";
    const EQUATIONS: &'static str = "handwritten\n";

    fn parameter(&self, index: usize) -> Option<f64> {
        [self.m, self.g, self.l].get(index).copied()
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        match index {
            0 => Some(&mut self.m),
            1 => Some(&mut self.g),
            2 => Some(&mut self.l),
            _ => None,
        }
    }

    fn vector_field<T: Scalar>(&self, x: &SVector<T, 6>) -> SVector<T, 6> {
        let [m, g] = [self.m, self.g].map(T::from_f64);
        let [q1, q2, q3, p1, p2, p3] = [x[0], x[1], x[2], x[3], x[4], x[5]];
        let r = q1 * q1 + q2 * q2 + q3 * q3;
        let f2 = q1 * p1 + q2 * p2 + q3 * p3;
        let radial = f2 / (m * r);
        let reaction = ((p1 * p1 + p2 * p2 + p3 * p3) / m - m * g * q3) / r;
        column([
            p1 / m - radial * q1,
            p2 / m - radial * q2,
            p3 / m - radial * q3,
            radial * p1 - reaction * q1,
            radial * p2 - reaction * q2,
            radial * p3 - reaction * q3 - m * g,
        ])
    }

    fn integrals<T: Scalar>(&self, x: &SVector<T, 6>) -> SVector<T, 4> {
        let [m, g, l] = [self.m, self.g, self.l].map(T::from_f64);
        let [q1, q2, q3, p1, p2, p3] = [x[0], x[1], x[2], x[3], x[4], x[5]];
        column([
            q1 * q1 + q2 * q2 + q3 * q3 - l * l,
            q1 * p1 + q2 * p2 + q3 * p3,
            (p1 * p1 + p2 * p2 + p3 * p3) / (m + m) + m * g * q3,
            q1 * p2 - q2 * p1,
        ])
    }

    fn integrals_jacobian<T: Scalar>(&self, x: &SVector<T, 6>) -> SMatrix<T, 4, 6> {
        let [m, g] = [self.m, self.g].map(T::from_f64);
        let [q1, q2, q3, p1, p2, p3] = [x[0], x[1], x[2], x[3], x[4], x[5]];
        let zero = T::from_f64(0.0);
        SMatrix::from_array_storage(ArrayStorage([
            [q1 + q1, p1, zero, p2],
            [q2 + q2, p2, zero, -p1],
            [q3 + q3, p3, m * g, zero],
            [zero, q1, p1 / m, -q2],
            [zero, q2, p2 / m, q1],
            [zero, q3, p3 / m, zero],
        ]))
    }

    fn potential_gradient<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &SVector<T, 6>, law: &G) -> SVector<T, 6> {
        let f = self.integrals(x);
        let y = law.weigh([f[0], f[1], f[2], f[3]]);
        let d = self.integrals_jacobian(x);
        column(core::array::from_fn::<T, 6, _>(|j| {
            d[(0, j)] * y[0] + d[(1, j)] * y[1] + d[(2, j)] * y[2] + d[(3, j)] * y[3]
        }))
    }

    fn feedback_field<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &SVector<T, 6>, law: &G) -> SVector<T, 6> {
        let field = self.vector_field(x);
        let v = self.potential_gradient(x, law);
        let v = law.precondition([v[0], v[1], v[2], v[3], v[4], v[5]]);
        column(core::array::from_fn::<T, 6, _>(|i| field[i] - v[i]))
    }

    fn euler_step<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &mut SVector<T, 6>, h: T, law: &G) {
        let k = self.feedback_field(x, law);
        *x = along(x, h, &k);
    }

    fn rk4_step<T: Scalar, G: FeedbackLaw<T, 6, 4>>(&self, x: &mut SVector<T, 6>, h: T, law: &G) {
        let half = h * T::from_f64(0.5);
        let k1 = self.feedback_field(x, law);
        let k2 = self.feedback_field(&along(x, half, &k1), law);
        let k3 = self.feedback_field(&along(x, half, &k2), law);
        let k4 = self.feedback_field(&along(x, h, &k3), law);
        let two = T::from_f64(2.0);
        let sixth = h / T::from_f64(6.0);
        *x = column(core::array::from_fn::<T, 6, _>(|i| x[i] + sixth * (k1[i] + two * (k2[i] + k3[i]) + k4[i])));
    }
}

fn along<T: Scalar>(x: &SVector<T, 6>, h: T, k: &SVector<T, 6>) -> SVector<T, 6> {
    column(core::array::from_fn::<T, 6, _>(|i| x[i] + h * k[i]))
}

fn column<T, const D: usize>(entries: [T; D]) -> SVector<T, D> {
    SVector::from_array_storage(ArrayStorage([entries]))
}
