//! All generated functions of a system at one state, by whatever path: a [`Question`] and its [`Results`].
//!
//! The paths are the emitted code ([`emitted`]), its programs by an interpreter of the tests' own ([`interpreted`]), dual
//! numbers on the declared functions ([`Oracle::results`](crate::oracle::Oracle::results)) and stored values. [`disagreement`]
//! is the one check that holds one path against another: tests of the models and tests with injected faults share it.

use fbint_macros_core::program::{Program, Programs};
use fbint_runtime::{FeedbackLaw, FeedbackSystem, PreparedSystem, Scalar};
use nalgebra::{SMatrix, SVector};

use crate::compiler::{NOISE, normalised, run, variance};
use crate::{Random, relative_error};

/// The functions, in the order of [`Results`].
pub const FUNCTIONS: [&str; 11] = [
    "vector_field",
    "integrals",
    "integrals_jacobian",
    "multipliers",
    "outputs",
    "potential_gradient",
    "feedback_field",
    "correction",
    "squared_gradients",
    "euler_step",
    "rk4_step",
];

/// What each of [`FUNCTIONS`] returns, matrices column by column; empty where a path does not give it.
#[derive(Clone, Debug)]
pub struct Results(pub [Vec<f64>; FUNCTIONS.len()]);

/// What to evaluate the functions at.
#[derive(Clone, Debug)]
pub struct Question<const N: usize, const M: usize> {
    /// The state.
    pub x: SVector<f64, N>,
    /// The feedback.
    pub law: Law<N, M>,
    /// A step.
    pub h: f64,
    /// z; the violation to correct is DF z, because where integrals are dependent no other one has a correction that rounding
    /// leaves alone.
    pub direction: SVector<f64, N>,
}

/// The kinds of matrices that gains come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A multiple of the identity; for L the identity itself.
    Uniform,
    /// A diagonal.
    Diagonal,
    /// A diagonal and the product of a vector with itself.
    Full,
}

/// y = K (F - F_target) and L, each diag(d) + v v^T.
#[derive(Clone, Debug)]
pub struct Law<const N: usize, const M: usize> {
    /// F_target
    pub targets: SVector<f64, M>,
    gains: (SVector<f64, M>, SVector<f64, M>),
    metric: (SVector<f64, N>, SVector<f64, N>),
    has_metric: bool,
}

/// A [`Law`] as generated code wants it: that there is a metric is part of its type.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'a, const METRIC: bool, const N: usize, const M: usize>(pub &'a Law<N, M>);

/// y = F - F_target + DF z
struct Violation<const M: usize>(SVector<f64, M>);

impl<const N: usize, const M: usize> Law<N, M> {
    /// Targets between -1 and 1; gains and a metric of the given kinds.
    pub fn random(random: &mut Random, gains: Kind, metric: Kind) -> Self {
        let targets = SVector::from_fn(|_, _| random.between(-1.0, 1.0));
        let metric_matrix = match metric {
            Kind::Uniform => (SVector::repeat(1.0), SVector::zeros()),
            other => matrix(random, other),
        };
        Self { targets, gains: matrix(random, gains), metric: metric_matrix, has_metric: metric != Kind::Uniform }
    }

    /// K = diag(gains), without a metric.
    pub fn diagonal(targets: [f64; M], gains: [f64; M]) -> Self {
        let identity = (SVector::repeat(1.0), SVector::zeros());
        Self { targets: targets.into(), gains: (gains.into(), SVector::zeros()), metric: identity, has_metric: false }
    }

    fn weigh<T: Scalar>(&self, integrals: [T; M]) -> [T; M] {
        let changes = std::array::from_fn(|i| integrals[i] - T::from_f64(self.targets[i]));
        product(&self.gains, changes)
    }
}

/// d between 0.5 and 5, v between -1 and 1.
fn matrix<const D: usize>(random: &mut Random, kind: Kind) -> (SVector<f64, D>, SVector<f64, D>) {
    let same = random.between(0.5, 5.0);
    let diagonal = SVector::from_fn(|_, _| if kind == Kind::Uniform { same } else { random.between(0.5, 5.0) });
    let vector = SVector::from_fn(|_, _| if kind == Kind::Full { random.between(-1.0, 1.0) } else { 0.0 });
    (diagonal, vector)
}

/// (diag(d) + v v^T) a
fn product<T: Scalar, const D: usize>((d, v): &(SVector<f64, D>, SVector<f64, D>), a: [T; D]) -> [T; D] {
    let projection = (0..D).fold(T::from_f64(0.0), |sum, i| sum + T::from_f64(v[i]) * a[i]);
    std::array::from_fn(|i| T::from_f64(d[i]) * a[i] + T::from_f64(v[i]) * projection)
}

impl<const METRIC: bool, T: Scalar, const N: usize, const M: usize> FeedbackLaw<T, N, M> for Applied<'_, METRIC, N, M> {
    const HAS_METRIC: bool = METRIC;

    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        self.0.weigh(integrals)
    }

    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        product(&self.0.metric, gradient)
    }
}

impl<T: Scalar, const N: usize, const M: usize> FeedbackLaw<T, N, M> for Violation<M> {
    const HAS_METRIC: bool = false;

    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        std::array::from_fn(|i| integrals[i] + T::from_f64(self.0[i]))
    }

    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        gradient
    }
}

impl<const N: usize, const M: usize> Question<N, M> {
    /// A question about `x` with gains and a metric of the kinds whose turn it is.
    pub fn random(x: SVector<f64, N>, random: &mut Random, turn: usize) -> Self {
        const KINDS: [Kind; 3] = [Kind::Uniform, Kind::Diagonal, Kind::Full];
        let law = Law::random(random, KINDS[turn % 3], KINDS[turn / 3 % 3]);
        let direction = SVector::from_fn(|_, _| random.between(-1.0, 1.0));
        Self { x, law, h: random.between(1e-4, 1e-2), direction }
    }

    /// K
    pub fn gains(&self) -> SMatrix<f64, M, M> {
        let (diagonal, vector) = &self.law.gains;
        SMatrix::from_diagonal(diagonal) + vector * vector.transpose()
    }

    /// L v
    pub fn metric(&self, v: &SVector<f64, N>) -> SVector<f64, N> {
        let (diagonal, vector) = &self.law.metric;
        diagonal.component_mul(v) + vector * vector.dot(v)
    }

    /// DF z - F, which makes of F the violation to correct. Given F and DF by rows.
    fn violation(&self, integrals: &[f64], jacobian: impl Fn(usize, usize) -> f64) -> Violation<M> {
        let along = |row: usize| (0..N).map(|column| jacobian(row, column) * self.direction[column]).sum::<f64>();
        Violation(SVector::from_fn(|row, _| along(row) - integrals[row]))
    }
}

/// By the code that the macro emitted.
pub fn emitted<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S,
    question: &Question<N, M>,
) -> Results {
    let prepared = system.prepare();
    let (x, law) = (&question.x, &question.law);
    let (integrals, jacobian) = (prepared.integrals(x), prepared.integrals_jacobian(x));
    let violation = question.violation(integrals.as_slice(), |row, column| jacobian[(row, column)]);
    let variances = SVector::from_fn(|column, _| variance(column));
    let [potential_gradient, feedback, euler, rk4] = match law.has_metric {
        true => with_feedback(&prepared, question, &Applied::<true, N, M>(law)),
        false => with_feedback(&prepared, question, &Applied::<false, N, M>(law)),
    };
    Results([
        prepared.vector_field(x).as_slice().to_vec(),
        integrals.as_slice().to_vec(),
        jacobian.as_slice().to_vec(),
        prepared.multipliers(x).as_slice().to_vec(),
        prepared.outputs(x).as_ref().to_vec(),
        potential_gradient,
        feedback,
        prepared.correction(x, &variances, &SVector::repeat(NOISE), &violation).as_slice().to_vec(),
        prepared.squared_gradients(x).as_slice().to_vec(),
        euler,
        rk4,
    ])
}

fn with_feedback<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
    prepared: &P,
    question: &Question<N, M>,
    law: &impl FeedbackLaw<f64, N, M>,
) -> [Vec<f64>; 4] {
    let (mut euler, mut rk4) = (question.x, question.x);
    prepared.euler_step(&mut euler, question.h, law);
    prepared.rk4_step(&mut rk4, question.h, law);
    let (gradient, field) = (prepared.potential_gradient(&question.x, law), prepared.feedback_field(&question.x, law));
    [gradient, field, euler, rk4].map(|vector| vector.as_slice().to_vec())
}

/// By interpreting programs, with steps written out here.
pub fn interpreted<const N: usize, const M: usize>(
    programs: &Programs,
    parameters: &[f64],
    question: &Question<N, M>,
) -> Results {
    let machine = Machine { prepared: run(&programs.prepare, &[], |i| parameters[i - N], |_| Vec::new()) };
    let weigh = |integrals: &[f64]| question.law.weigh::<f64>(array(integrals)).to_vec();
    let law = normalised(programs, &machine.prepared, weigh);
    let at = |program: &Program, x: &[f64]| machine.run(program, x, &law);
    let potential_gradient = |x: &[f64]| at(&programs.potential_gradient, x);
    let feedback = |x: &[f64]| match question.law.has_metric {
        false => at(&programs.feedback_field, x),
        true => {
            let gradient = product(&question.law.metric, array::<N>(&potential_gradient(x)));
            at(&programs.vector_field, x).iter().zip(gradient).map(|(x, v)| x - v).collect()
        }
    };
    let x = question.x.as_slice();
    let (integrals, jacobian) = (at(&programs.integrals, x), at(&programs.jacobian, x));
    let violation = question.violation(&integrals, |row, column| jacobian[row * N + column]);
    let correction = machine.run(&programs.correction, x, |integrals| {
        FeedbackLaw::<f64, N, M>::weigh(&violation, array(integrals)).to_vec()
    });
    let (euler, rk4) = steps(&feedback, x, question.h);
    Results([
        at(&programs.vector_field, x),
        integrals,
        (0..N * M).map(|index| jacobian[index % M * N + index / M]).collect(),
        at(&programs.multipliers, x),
        at(&programs.outputs, x),
        potential_gradient(x),
        feedback(x),
        correction,
        at(&programs.squared_gradients, x),
        euler,
        rk4,
    ])
}

struct Machine {
    prepared: Vec<f64>,
}

impl Machine {
    fn run(&self, program: &Program, x: &[f64], law: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        run(program, &self.prepared, |index| x[index], law)
    }
}

fn array<const D: usize>(values: &[f64]) -> [f64; D] {
    std::array::from_fn(|index| values[index])
}

/// x + h f(x), and the classical method of order 4.
fn steps(field: &impl Fn(&[f64]) -> Vec<f64>, x: &[f64], h: f64) -> (Vec<f64>, Vec<f64>) {
    let along = |step: f64, slope: &[f64]| -> Vec<f64> {
        slope.iter().zip(x).map(|(&slope, &x)| Scalar::mul_add(step, slope, x)).collect()
    };
    let k1 = field(x);
    let k2 = field(&along(h / 2.0, &k1));
    let k3 = field(&along(h / 2.0, &k2));
    let k4 = field(&along(h, &k3));
    let slope: Vec<f64> = (0..x.len()).map(|i| Scalar::mul_add(2.0, k2[i] + k3[i], k1[i] + k4[i])).collect();
    (along(h, &k1), along(h / 6.0, &slope))
}

/// The first function whose results on two paths differ by more than its tolerance allows, and by how much.
pub fn disagreement(
    obtained: &Results,
    expected: &Results,
    tolerance: impl Fn(&str) -> f64,
) -> Option<(&'static str, f64)> {
    let pairs = obtained.0.iter().zip(&expected.0).zip(FUNCTIONS);
    let asked = pairs.filter(|((obtained, expected), _)| !obtained.is_empty() && !expected.is_empty());
    asked
        .map(|((obtained, expected), name)| (name, relative_error(obtained, expected)))
        .find(|&(name, error)| error.is_nan() || error > tolerance(name))
}
