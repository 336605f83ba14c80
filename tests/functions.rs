//! All generated functions of a system at one state, by whatever path: a [`Question`] and its [`Results`].
//!
//! The paths are the emitted code ([`emitted`]), its programs by an interpreter of the tests' own ([`interpreted`]), dual
//! numbers on the declared functions ([`Oracle::results`](crate::oracle::Oracle::results)) and stored values. [`disagreement`]
//! is the one check that holds one path against another: tests of the models and tests with injected faults share it.

use fbint_macros_core::program::{FEEDBACK_FIELD, FUNCTIONS, Form, INTEGRALS, JACOBIAN, Program, Programs};
use fbint_runtime::tableau::{EULER, RK4};
use fbint_runtime::{Entries, FeedbackLaw, GeneratedSystem, Integrals, PreparedSystem, Scalar, Vector};
use nalgebra::DMatrix;

use crate::compiler::{NOISE, normalised, run, variance};
use crate::{Random, relative_error};

/// What each generated function returns, by its name, matrices row by row; and two steps with the feedback field.
#[derive(Clone, Debug)]
pub struct Results(Vec<(&'static str, Vec<f64>)>);

impl Results {
    /// The results of all functions, in any order.
    pub fn new(all: impl IntoIterator<Item = (&'static str, Vec<f64>)>) -> Self {
        let results = Self(all.into_iter().collect());
        for function in FUNCTIONS {
            assert!(results.get(function.name).is_some(), "a path does not give `{}`", function.name);
        }
        results
    }

    fn get(&self, name: &str) -> Option<&[f64]> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, values)| &values[..])
    }

    /// What two paths give for each function that both give.
    pub fn pairs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'static str, &'a [f64], &'a [f64])> {
        self.0.iter().filter_map(|(name, values)| Some((*name, &values[..], other.get(name)?)))
    }
}

/// What to evaluate the functions of the system `S` at.
#[derive(Clone, Debug)]
pub struct Question<S: GeneratedSystem> {
    /// The state.
    pub x: Vector<S>,
    /// The feedback.
    pub law: Law<S>,
    /// A step.
    pub h: f64,
    /// z; the violation to project away is DF z, because where integrals are dependent no other one has a projection that
    /// rounding leaves alone.
    pub direction: Vector<S>,
}

/// The kinds of matrices that gains come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A multiple of the identity.
    Uniform,
    /// A diagonal.
    Diagonal,
    /// A diagonal and the product of a vector with itself.
    Full,
}

/// y = K (F - F_target), K = diag(d) + v v^T.
#[derive(Clone, Debug)]
pub struct Law<S: GeneratedSystem> {
    /// F_target
    pub targets: Integrals<S>,
    diagonal: Integrals<S>,
    vector: Integrals<S>,
}

/// y = F - F_target + DF z
struct Violation<S: GeneratedSystem>(Integrals<S>);

impl<S: GeneratedSystem> Law<S> {
    /// Targets between -1 and 1; gains of the given kind, d between 0.5 and 5, v between -1 and 1.
    pub fn random(random: &mut Random, gains: Kind) -> Self {
        let targets = Entries::from_fn(|_| random.between(-1.0, 1.0));
        let same = random.between(0.5, 5.0);
        let diagonal = Entries::from_fn(|_| if gains == Kind::Uniform { same } else { random.between(0.5, 5.0) });
        let vector = Entries::from_fn(|_| if gains == Kind::Full { random.between(-1.0, 1.0) } else { 0.0 });
        Self { targets, diagonal, vector }
    }

    /// K = diag(gains).
    pub fn diagonal(targets: Integrals<S>, gains: Integrals<S>) -> Self {
        Self { targets, diagonal: gains, vector: Entries::from_fn(|_| 0.0) }
    }

    /// K
    pub fn gains(&self) -> DMatrix<f64> {
        let count = Integrals::<S>::LEN;
        let product = |i: usize, j: usize| self.vector[i] * self.vector[j];
        DMatrix::from_fn(count, count, |i, j| if i == j { self.diagonal[i] } else { 0.0 } + product(i, j))
    }
}

impl<S: GeneratedSystem, T: Scalar> FeedbackLaw<S, T> for Law<S> {
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        let [targets, d, v] =
            [&self.targets, &self.diagonal, &self.vector].map(|numbers| move |i: usize| T::from_f64(numbers[i]));
        let changes = Integrals::<S, T>::from_fn(|i| integrals[i] - targets(i));
        let along = (0..Integrals::<S>::LEN).fold(T::from_f64(0.0), |sum, i| sum + v(i) * changes[i]);
        Entries::from_fn(|i| d(i) * changes[i] + v(i) * along)
    }
}

impl<S: GeneratedSystem> FeedbackLaw<S, f64> for Violation<S> {
    fn weigh(&self, integrals: Integrals<S>) -> Integrals<S> {
        Entries::from_fn(|i| integrals[i] + self.0[i])
    }
}

impl<S: GeneratedSystem> Question<S> {
    /// A question about `x` with gains of the kind whose turn it is.
    pub fn random(x: Vector<S>, random: &mut Random, turn: usize) -> Self {
        const KINDS: [Kind; 3] = [Kind::Uniform, Kind::Diagonal, Kind::Full];
        let law = Law::random(random, KINDS[turn % 3]);
        // As many numbers as a law had with its metric, so that the states that follow are the states that the tolerances of the
        // tests were judged at.
        random.pass_over([0, 1 + S::FACTS.state.len(), 1 + 2 * S::FACTS.state.len()][turn / 3 % 3]);
        let direction = Entries::from_fn(|_| random.between(-1.0, 1.0));
        Self { x, law, h: random.between(1e-4, 1e-2), direction }
    }

    /// DF z - F, which makes of F the violation to project away. Given F and DF by rows.
    fn violation(&self, integrals: &[f64], jacobian: impl Fn(usize, usize) -> f64) -> Violation<S> {
        let columns = 0..Vector::<S>::LEN;
        let along =
            |row: usize| columns.clone().map(|column| jacobian(row, column) * self.direction[column]).sum::<f64>();
        Violation(Entries::from_fn(|row| along(row) - integrals[row]))
    }
}

/// By the code that the macro emitted, with the steps of the runtime.
pub fn emitted<S: GeneratedSystem>(system: &S, question: &Question<S>) -> Results {
    let prepared = system.prepare();
    let Question { x, law, h, .. } = question;
    let (integrals, jacobian) = (prepared.integrals(x), prepared.integrals_jacobian(x));
    let violation = question.violation(integrals.as_ref(), |row, column| jacobian[row][column]);
    let (variances, noise) = (Entries::from_fn(variance), Entries::from_fn(|_| NOISE));
    let feedback = |x: &Vector<S>| prepared.feedback_field(x, law);
    let (mut euler, mut rk4) = (*x, *x);
    EULER.step(feedback, &mut euler, *h);
    RK4.step(feedback, &mut rk4, *h);
    Results::new([
        ("vector_field", prepared.vector_field(x).as_ref().to_vec()),
        ("integrals", integrals.as_ref().to_vec()),
        ("integrals_jacobian", jacobian.as_ref().iter().flat_map(|row| row.as_ref()).copied().collect()),
        ("multipliers", prepared.multipliers(x).as_ref().to_vec()),
        ("outputs", prepared.outputs(x).as_ref().to_vec()),
        ("potential_gradient", prepared.potential_gradient(x, law).as_ref().to_vec()),
        ("feedback_field", feedback(x).as_ref().to_vec()),
        ("projection", prepared.projection(x, &variances, &noise, &violation).as_ref().to_vec()),
        ("euler_step", euler.as_ref().to_vec()),
        ("rk4_step", rk4.as_ref().to_vec()),
    ])
}

/// By interpreting programs, with steps written out here.
pub fn interpreted<S: GeneratedSystem>(programs: &Programs, parameters: &[f64], question: &Question<S>) -> Results {
    let columns = Vector::<S>::LEN;
    let machine = Machine { prepared: run(&programs.prepare, &[], |i| parameters[i - columns], |_| Vec::new()) };
    let weigh = |integrals: &[f64]| weighed(&question.law, integrals);
    let law = normalised(programs, &machine.prepared, weigh);
    let at = |program: &Program, x: &[f64]| machine.run(program, x, &law);
    let feedback = |x: &[f64]| at(&programs[&FEEDBACK_FIELD], x);
    let x = question.x.as_ref();
    let (integrals, jacobian) = (at(&programs[&INTEGRALS], x), at(&programs[&JACOBIAN], x));
    let violation = question.violation(&integrals, |row, column| jacobian[row * columns + column]);
    let functions = programs.functions().map(|(function, program)| {
        let results = match function.law() {
            Some(Form::Declared) => machine.run(program, x, |integrals| weighed(&violation, integrals)),
            Some(Form::Normalised) | None => at(program, x),
        };
        (function.name, results)
    });
    let (euler, rk4) = steps(&feedback, x, question.h);
    Results::new(functions.chain([("euler_step", euler), ("rk4_step", rk4)]))
}

fn weighed<S: GeneratedSystem>(law: &impl FeedbackLaw<S, f64>, integrals: &[f64]) -> Vec<f64> {
    law.weigh(Entries::from_fn(|i| integrals[i])).as_ref().to_vec()
}

struct Machine {
    prepared: Vec<f64>,
}

impl Machine {
    fn run(&self, program: &Program, x: &[f64], law: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        run(program, &self.prepared, |index| x[index], law)
    }
}

/// x + h f(x), and the classical method of order 4.
fn steps(field: &impl Fn(&[f64]) -> Vec<f64>, x: &[f64], h: f64) -> (Vec<f64>, Vec<f64>) {
    let along = |factor: f64, k: &[f64]| -> Vec<f64> {
        x.iter().zip(k).map(|(&x, &k)| Scalar::mul_add(h * factor, k, x)).collect()
    };
    let k1 = field(x);
    let k2 = field(&along(0.5, &k1));
    let k3 = field(&along(0.5, &k2));
    let k4 = field(&along(1.0, &k3));
    // (k1 + 2 (k2 + k3) + k4) / 6
    let sum: Vec<f64> = (0..x.len()).map(|i| Scalar::mul_add(2.0, k2[i] + k3[i], k1[i]) + k4[i]).collect();
    (along(1.0, &k1), along(1.0 / 6.0, &sum))
}

/// The first function whose results on two paths differ by more than its tolerance allows, and by how much.
pub fn disagreement(
    obtained: &Results,
    expected: &Results,
    tolerance: impl Fn(&str) -> f64,
) -> Option<(&'static str, f64)> {
    obtained
        .pairs(expected)
        .map(|(name, obtained, expected)| (name, relative_error(obtained, expected)))
        .find(|&(name, error)| error.is_nan() || error > tolerance(name))
}
