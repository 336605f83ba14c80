//! Stands in for the macro until it derives: the models with integrals and gradients typed by hand, and the Dirac-extended
//! field solved numerically. Goes as a whole, with its one `mod` line, when `#[feedback_system]` is there.
#![allow(missing_docs, clippy::needless_range_loop)]

use fbint_runtime::{ConsistentStart, Error, FeedbackLaw, FeedbackSystem, IntegralKind, Operations, Scalar};
use nalgebra::{ArrayStorage, SMatrix, SVector, Vector2, Vector3, vector};

use IntegralKind::{Constraint, Energy, Invariant};

macro_rules! system {
    ($system:ident, $state:ident { $($part:ident: $shape:ty),* }, N = $n:literal, M = $m:literal, constraints = $k:literal,
     states $states:expr, integrals $integrals:expr, kinds $kinds:expr, parameters [$($parameter:ident = $default:expr),*],
     F $f:expr, DF $df:expr) => {
        #[derive(Clone, Debug, PartialEq)]
        pub struct $system { $(pub $parameter: f64),* }

        impl Default for $system {
            fn default() -> Self {
                Self { $($parameter: $default),* }
            }
        }

        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $state { $(pub $part: $shape),* }

        impl From<SVector<f64, $n>> for $state {
            fn from(x: SVector<f64, $n>) -> Self {
                let mut entries = x.iter().copied();
                Self { $($part: <$shape>::from_fn(|_, _| entries.next().unwrap_or(0.0))),* }
            }
        }

        impl From<$state> for SVector<f64, $n> {
            fn from(state: $state) -> Self {
                let mut entries = Vec::new();
                $(entries.extend_from_slice(state.$part.as_slice());)*
                SVector::from_column_slice(&entries)
            }
        }

        impl FeedbackSystem<$n, $m> for $system {
            type State = $state;
            const NAME: &'static str = stringify!($system);
            const STATE_NAMES: [&'static str; $n] = $states;
            const INTEGRAL_NAMES: [&'static str; $m] = $integrals;
            const INTEGRAL_KINDS: [IntegralKind; $m] = $kinds;
            const INTEGRAL_WEIGHTS: [f64; $m] = [1.0; $m];
            const PARAMETER_NAMES: &'static [&'static str] = &[$(stringify!($parameter)),*];
            const VECTOR_FIELD_OPERATIONS: Operations =
                Operations { additions: 0, multiplications: 0, fused: 0, divisions: 0, functions: 0 };
            const FEEDBACK_FIELD_OPERATIONS: Operations = Self::VECTOR_FIELD_OPERATIONS;
            const SOURCE: &'static str = "// typed by hand\n";
            const DERIVATION: &'static str = "% typed by hand\n";
            const EQUATIONS: &'static str = "typed by hand\n";

            fn parameter(&self, index: usize) -> Option<f64> {
                [$(self.$parameter),*].get(index).copied()
            }

            fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
                [$(&mut self.$parameter),*].into_iter().nth(index)
            }

            fn vector_field<T: Scalar>(&self, x: &SVector<T, $n>) -> SVector<T, $n> {
                column(dirac_field::<T, $n, $k>(&rows(&self.integrals_jacobian(x))[..], $k))
            }

            fn integrals<T: Scalar>(&self, x: &SVector<T, $n>) -> SVector<T, $m> {
                let f: fn(&Self, [T; $n]) -> [T; $m] = $f;
                column(f(self, entries(x)))
            }

            fn integrals_jacobian<T: Scalar>(&self, x: &SVector<T, $n>) -> SMatrix<T, $m, $n> {
                let df: fn(&Self, [T; $n]) -> [[T; $n]; $m] = $df;
                let rows = df(self, entries(x));
                let columns = core::array::from_fn(|j| core::array::from_fn(|i| rows[i][j]));
                SMatrix::from_array_storage(ArrayStorage(columns))
            }

            fn potential_gradient<T: Scalar, G: FeedbackLaw<T, $n, $m>>(
                &self,
                x: &SVector<T, $n>,
                law: &G,
            ) -> SVector<T, $n> {
                let y = law.weigh(entries(&self.integrals(x)));
                let d = self.integrals_jacobian(x);
                column(core::array::from_fn(|j| (0..$m).fold(T::from_f64(0.0), |sum, i| sum + d[(i, j)] * y[i])))
            }

            fn feedback_field<T: Scalar, G: FeedbackLaw<T, $n, $m>>(&self, x: &SVector<T, $n>, law: &G) -> SVector<T, $n> {
                let v = law.precondition(entries(&self.potential_gradient(x, law)));
                let field = self.vector_field(x);
                column(core::array::from_fn(|i| field[i] - v[i]))
            }

            fn euler_step<T: Scalar, G: FeedbackLaw<T, $n, $m>>(&self, x: &mut SVector<T, $n>, h: T, law: &G) {
                let k = self.feedback_field(x, law);
                *x = along(x, h, &k);
            }

            fn rk4_step<T: Scalar, G: FeedbackLaw<T, $n, $m>>(&self, x: &mut SVector<T, $n>, h: T, law: &G) {
                let (half, two) = (h * T::from_f64(0.5), T::from_f64(2.0));
                let k1 = self.feedback_field(x, law);
                let k2 = self.feedback_field(&along(x, half, &k1), law);
                let k3 = self.feedback_field(&along(x, half, &k2), law);
                let k4 = self.feedback_field(&along(x, h, &k3), law);
                let mean = column(core::array::from_fn(|i| (k1[i] + two * (k2[i] + k3[i]) + k4[i]) / T::from_f64(6.0)));
                *x = along(x, h, &mean);
            }
        }
    };
}

system!(
    SphericalPendulum, SphericalPendulumState { q: Vector3<f64>, p: Vector3<f64> }, N = 6, M = 4, constraints = 2,
    states ["q[0]", "q[1]", "q[2]", "p[0]", "p[1]", "p[2]"],
    integrals ["length", "length_rate", "energy", "vertical_momentum"],
    kinds [Constraint, Constraint, Energy, Invariant],
    parameters [m = 1.0, g = 1.0, l = 1.0],
    F |s, x| spherical(s.m, s.g, s.l, 2.0 / s.m, x),
    DF |s, x| spherical_gradients(s.m, s.g, 2.0 / s.m, x)
);

system!(
    SphericalPendulumCpv22, SphericalPendulumCpv22State { q: Vector3<f64>, p: Vector3<f64> }, N = 6, M = 4, constraints = 2,
    states ["q[0]", "q[1]", "q[2]", "p[0]", "p[1]", "p[2]"],
    integrals ["f1", "f2", "energy", "vertical_momentum"],
    kinds [Constraint, Constraint, Energy, Invariant],
    parameters [m = 1.0, g = 1.0, l = 1.0],
    F |s, x| spherical(s.m, s.g, s.l, 1.0, x),
    DF |s, x| spherical_gradients(s.m, s.g, 1.0, x)
);

fn spherical<T: Scalar>(m: f64, g: f64, l: f64, w: f64, [a, b, c, u, v, z]: [T; 6]) -> [T; 4] {
    let [m, g, l, w] = [m, g, l, w].map(T::from_f64);
    let half = T::from_f64(0.5);
    [
        a * a + b * b + c * c - l * l,
        w * (a * u + b * v + c * z),
        half * (u * u + v * v + z * z) / m + m * g * c,
        a * v - b * u,
    ]
}

fn spherical_gradients<T: Scalar>(m: f64, g: f64, w: f64, [a, b, c, u, v, z]: [T; 6]) -> [[T; 6]; 4] {
    let [m, g, w, o] = [m, g, w, 0.0].map(T::from_f64);
    [
        [a + a, b + b, c + c, o, o, o],
        [w * u, w * v, w * z, w * a, w * b, w * c],
        [o, o, m * g, u / m, v / m, z / m],
        [v, -u, o, -b, a, o],
    ]
}

system!(
    PlanarPendulum, PlanarPendulumState { q: Vector2<f64>, p: Vector2<f64> }, N = 4, M = 3, constraints = 2,
    states ["q[0]", "q[1]", "p[0]", "p[1]"],
    integrals ["length", "length_rate", "energy"],
    kinds [Constraint, Constraint, Energy],
    parameters [m = 1.0, g = 1.0, l = 1.0],
    F |s, [a, b, u, v]| {
        let [m, g, l, two] = [s.m, s.g, s.l, 2.0].map(T::from_f64);
        [a * a + b * b - l * l, two * (a * u + b * v) / m, (u * u + v * v) / (two * m) + m * g * b]
    },
    DF |s, [a, b, u, v]| {
        let [m, g, two, o] = [s.m, s.g, 2.0, 0.0].map(T::from_f64);
        let w = two / m;
        [[a + a, b + b, o, o], [w * u, w * v, w * a, w * b], [o, m * g, u / m, v / m]]
    }
);

system!(
    FourBar, FourBarState { a: Vector2<f64>, b: Vector2<f64>, pa: Vector2<f64>, pb: Vector2<f64> },
    N = 8, M = 7, constraints = 6,
    states ["a[0]", "a[1]", "b[0]", "b[1]", "pa[0]", "pa[1]", "pb[0]", "pb[1]"],
    integrals ["crank", "coupler", "rocker", "crank_rate", "coupler_rate", "rocker_rate", "energy"],
    kinds [Constraint, Constraint, Constraint, Constraint, Constraint, Constraint, Energy],
    parameters [la = 0.8, lb = 2.0, lc = 1.0, ln = 2.0, m = 1.0, g = 9.81],
    F |s, [a, b, c, d, u, v, y, z]| {
        let [la, lb, lc, ln, m, g, two] = [s.la, s.lb, s.lc, s.ln, s.m, s.g, 2.0].map(T::from_f64);
        let (e, f, n, w) = (c - a, d - b, c - ln, two / m);
        [
            a * a + b * b - la * la,
            e * e + f * f - lb * lb,
            n * n + d * d - lc * lc,
            w * (a * u + b * v),
            w * (e * (y - u) + f * (z - v)),
            w * (n * y + d * z),
            (u * u + v * v + y * y + z * z) / (two * m) + m * g * (b + d),
        ]
    },
    DF |s, [a, b, c, d, u, v, y, z]| {
        let [ln, m, g, two, o] = [s.ln, s.m, s.g, 2.0, 0.0].map(T::from_f64);
        let (n, w) = (c - ln, two / m);
        let (e, f, r, t) = (two * (c - a), two * (d - b), w * (y - u), w * (z - v));
        let (i, j) = (e / m, f / m);
        [
            [two * a, two * b, o, o, o, o, o, o],
            [-e, -f, e, f, o, o, o, o],
            [o, o, two * n, two * d, o, o, o, o],
            [w * u, w * v, o, o, w * a, w * b, o, o],
            [-r, -t, r, t, -i, -j, i, j],
            [o, o, w * y, w * z, o, o, w * n, w * d],
            [o, m * g, o, m * g, u / m, v / m, y / m, z / m],
        ]
    }
);

impl SphericalPendulum {
    pub fn start(&self) -> SphericalPendulumState {
        SphericalPendulumState { q: vector![0.0, self.l, 0.0], p: vector![1.0, 0.0, 1.0] }
    }
}

impl SphericalPendulumCpv22 {
    pub fn start(&self) -> SphericalPendulumCpv22State {
        SphericalPendulumCpv22State { q: vector![0.0, self.l, 0.0], p: vector![1.0, 0.0, 1.0] }
    }
}

impl PlanarPendulum {
    pub fn start(&self) -> PlanarPendulumState {
        PlanarPendulumState { q: vector![self.l, 0.0], p: vector![0.0, 0.0] }
    }
}

impl FourBar {
    pub fn start(&self) -> Result<FourBarState, Error> {
        let (sin, cos) = 10_f64.to_radians().sin_cos();
        let leaning = std::f64::consts::FRAC_1_SQRT_2 * self.lc;
        let a = vector![self.la * cos, self.la * sin];
        let b = vector![self.ln + leaning, leaning];
        let guess = FourBarState { a, b, pa: Vector2::zeros(), pb: Vector2::zeros() };
        ConsistentStart::new(self).hold(&["a"])?.solve(guess)
    }
}

/// X = J (grad H - Df^T c), C^T c = b by the normal equations; the row after the K constraints is grad H.
fn dirac_field<T: Scalar, const N: usize, const K: usize>(d: &[[T; N]], energy: usize) -> [T; N] {
    let n = N / 2;
    let zero = T::from_f64(0.0);
    let bracket = |u: &[T; N], v: &[T; N]| (0..n).fold(zero, |sum, i| sum + u[i] * v[n + i] - u[n + i] * v[i]);
    let c: [[T; K]; K] = core::array::from_fn(|i| core::array::from_fn(|j| bracket(&d[i], &d[j])));
    let b: [T; K] = core::array::from_fn(|i| bracket(&d[energy], &d[i]));
    let mut normal: [[T; K]; K] =
        core::array::from_fn(|i| core::array::from_fn(|j| (0..K).fold(zero, |sum, l| sum + c[i][l] * c[j][l])));
    let mut y: [T; K] = core::array::from_fn(|i| (0..K).fold(zero, |sum, l| sum + c[i][l] * b[l]));
    for pivot in 0..K {
        for row in pivot + 1..K {
            let factor = normal[row][pivot] / normal[pivot][pivot];
            for j in pivot..K {
                normal[row][j] = normal[row][j] - factor * normal[pivot][j];
            }
            y[row] = y[row] - factor * y[pivot];
        }
    }
    for row in (0..K).rev() {
        let known = (row + 1..K).fold(zero, |sum, j| sum + normal[row][j] * y[j]);
        y[row] = (y[row] - known) / normal[row][row];
    }
    let v: [T; N] = core::array::from_fn(|j| (0..K).fold(d[energy][j], |sum, i| sum - y[i] * d[i][j]));
    core::array::from_fn(|j| if j < n { v[n + j] } else { -v[j - n] })
}

fn rows<T: Scalar, const N: usize, const M: usize>(d: &SMatrix<T, M, N>) -> [[T; N]; M] {
    core::array::from_fn(|i| core::array::from_fn(|j| d[(i, j)]))
}

fn along<T: Scalar, const N: usize>(x: &SVector<T, N>, h: T, k: &SVector<T, N>) -> SVector<T, N> {
    column(core::array::from_fn(|i| x[i] + h * k[i]))
}

fn entries<T: Scalar, const D: usize>(x: &SVector<T, D>) -> [T; D] {
    core::array::from_fn(|i| x[i])
}

fn column<T, const D: usize>(entries: [T; D]) -> SVector<T, D> {
    SVector::from_array_storage(ArrayStorage([entries]))
}
