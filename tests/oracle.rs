//! An independent evaluation of CPV22: dual numbers for derivatives, a dense solve for C, no symbols, no generated code.
//!
//! A system under test states its H, constraints and invariants a second time, as Rust functions generic over the number
//! ([`Declared`]). Gradients are dual numbers' derivative parts; the partner g' = {g, H} takes dual numbers once and its
//! gradient takes them twice (dual numbers of dual numbers). Then, with C_ij = {f_i, f_j}, b_i = {H, f_i} and C^T c = b,
//!
//!   X = J (grad H - Df^T c)                                    CPV22 eq. (4)
//!   grad V = DF^T K (F - F_target), feedback = X - L grad V    CPV22 eq. (6)
//!   correction = S DF^T (DF S DF^T + e D + R)^-1 y             HLW06 IV.4, by eigenvalues
//!
//! Where a system is not canonical, X is typed by hand.
//!
//! No result can be more accurate than the condition of C allows, so random states at which C is ill-conditioned are passed
//! over: see [`random_state`].

use std::ops::Range;

use fbint_runtime::{FeedbackSystem, IntegralKind};
use nalgebra::{DMatrix, DVector, SMatrix, SVector};
use num_dual::{Dual, DualNum, DualSVec};

use crate::Random;
use crate::compiler::{NOISE, variance};
use crate::functions::{Question, Results};

/// A number that can be differentiated: a double, a dual number, a dual number of dual numbers.
pub trait Real: DualNum<Primitive = f64> + Copy {}

impl<T: DualNum<Primitive = f64> + Copy> Real for T {}

/// A system whose declaration is also given as plain functions of the flat state.
pub trait Declared<const N: usize, const M: usize>: FeedbackSystem<N, M> {
    /// The interval of every entry of a random state.
    const RANGE: [f64; 2] = [-1.5, 1.5];

    /// A random state.
    fn state(&self, random: &mut Random) -> SVector<f64, N> {
        SVector::from_fn(|_, _| random.between(Self::RANGE[0], Self::RANGE[1]))
    }

    /// X where the system is not canonical.
    fn given(&self, _x: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    /// H; not asked for where X is given by `dynamics`.
    fn hamiltonian<D: Real>(&self, _x: &[D; N]) -> D {
        D::zero()
    }

    /// Holonomic constraints g(q).
    fn holonomic<D: Real>(&self, _x: &[D; N]) -> Vec<D> {
        Vec::new()
    }

    /// Constraints taken as they stand: f(q, p), or any constraint of a given X.
    fn phase<D: Real>(&self, _x: &[D; N]) -> Vec<D> {
        Vec::new()
    }

    /// First integrals other than the energy.
    fn invariants<D: Real>(&self, _x: &[D; N]) -> Vec<D> {
        Vec::new()
    }

    /// The declared outputs, from the multipliers.
    fn outputs(&self, _x: &[f64; N], _c: &[f64]) -> Vec<f64> {
        Vec::new()
    }
}

/// What a system's functions should give at one state.
#[derive(Debug)]
pub struct Oracle<const N: usize, const M: usize> {
    /// F
    pub integrals: SVector<f64, M>,
    /// DF
    pub jacobian: SMatrix<f64, M, N>,
    /// C, empty where X is given.
    pub constraint_matrix: DMatrix<f64>,
    /// X
    pub field: SVector<f64, N>,
    /// c, and 0 for each integral that is not a constraint.
    pub multipliers: SVector<f64, M>,
    /// The declared outputs.
    pub outputs: Vec<f64>,
}

impl<const N: usize, const M: usize> Oracle<N, M> {
    /// Evaluates `system` at `x`; `None` where C is singular to working precision.
    pub fn at<S: Declared<N, M>>(system: &S, x: &SVector<f64, N>) -> Option<Self> {
        let [state] = x.data.0;
        let values = integrals(system, &state);
        assert_eq!(values.len(), M, "{}: the oracle knows other integrals", S::NAME);
        let rows = jacobian(|x| integrals(system, x), &state);
        let jacobian = SMatrix::<f64, M, N>::from_fn(|i, j| rows[i][j]);
        let given = system.given(&state);
        let motion = match given {
            Some(field) => {
                Motion { constraint_matrix: DMatrix::zeros(0, 0), c: DVector::zeros(0), field: field.into() }
            }
            None => Motion::canonical(&jacobian, M - 1 - system.invariants(&state).len())?,
        };
        let multipliers = SVector::from_fn(|row, _| motion.c.get(row).copied().unwrap_or_default());
        Some(Self {
            integrals: SVector::from_vec(values),
            jacobian,
            constraint_matrix: motion.constraint_matrix,
            field: motion.field,
            multipliers,
            outputs: system.outputs(&state, multipliers.as_slice()),
        })
    }

    /// What every function should return; an RK4 step where `stages` gives the field at its stages.
    pub fn results(
        &self,
        question: &Question<N, M>,
        stages: Option<impl Fn(&SVector<f64, N>) -> Self>,
    ) -> (Results, Tolerances) {
        let feedback = self.feedback(question);
        let rk4 = stages.map(|oracle| {
            let (x, h) = (&question.x, question.h);
            let k1 = feedback;
            let k2 = oracle(&(x + k1 * (h / 2.0))).feedback(question);
            let k3 = oracle(&(x + k2 * (h / 2.0))).feedback(question);
            let k4 = oracle(&(x + k3 * h)).feedback(question);
            x + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0)
        });
        let (correction, gram_condition) = self.correction(question);
        let results = Results([
            self.field.as_slice().to_vec(),
            self.integrals.as_slice().to_vec(),
            self.jacobian.as_slice().to_vec(),
            self.multipliers.as_slice().to_vec(),
            self.outputs.clone(),
            self.potential_gradient(question).as_slice().to_vec(),
            feedback.as_slice().to_vec(),
            correction.as_slice().to_vec(),
            self.jacobian.row_iter().map(|row| row.norm_squared()).collect(),
            (question.x + feedback * question.h).as_slice().to_vec(),
            rk4.map_or_else(Vec::new, |x| x.as_slice().to_vec()),
        ]);
        let condition = condition(&self.constraint_matrix);
        let other = 2e-13 + 3e-15 * condition * condition;
        (results, Tolerances { correction: other + 1e-14 * gram_condition, other })
    }

    /// DF^T K (F - F_target)
    fn potential_gradient(&self, question: &Question<N, M>) -> SVector<f64, N> {
        self.jacobian.tr_mul(&(question.gains() * (self.integrals - question.law.targets)))
    }

    /// A step that moves no entry of the state by more than a hundredth.
    pub fn step(&self, question: &Question<N, M>) -> f64 {
        0.01 / (1.0 + self.feedback(question).amax())
    }

    /// X - L DF^T K (F - F_target)
    fn feedback(&self, question: &Question<N, M>) -> SVector<f64, N> {
        self.field - question.metric(&self.potential_gradient(question))
    }

    /// S DF^T (DF S DF^T + e D + R)^-1 DF z and the condition of the matrix. If A is DF S^1/2 with rows of length 1, and
    /// A A^T + e + D^-1 R = U L U^T, it is S^1/2 A^T U L^-1 U^T A S^-1/2 z.
    fn correction(&self, question: &Question<N, M>) -> (SVector<f64, N>, f64) {
        let root = |column| variance(column).sqrt();
        let moved = DMatrix::from_fn(M, N, |i, j| self.jacobian[(i, j)] * root(j));
        let rows = DMatrix::from_fn(M, N, |i, j| moved[(i, j)] / moved.row(i).norm().max(1e-70));
        let direction = DVector::from_fn(N, |j, _| question.direction[j] / root(j));
        let added = DVector::from_fn(M, |i, _| DAMPING + NOISE / moved.row(i).norm_squared().max(1e-140));
        let eigen = (&rows * rows.transpose() + DMatrix::from_diagonal(&added)).symmetric_eigen();
        let squares = &eigen.eigenvalues;
        let coordinates = eigen.eigenvectors.tr_mul(&(&rows * direction)).component_div(squares);
        let step = rows.tr_mul(&(eigen.eigenvectors * coordinates));
        (SVector::from_fn(|j, _| root(j) * step[j]), squares.max() / squares.min())
    }
}

/// How far rounding may take a function from the oracle, as a [`relative_error`](crate::relative_error).
///
/// A C of condition k costs k of 16 digits, and the block form, A c2 = g' and then A c1 = b2 + B c2, is two solves in a row:
/// 3e-15 k^2. A correction takes its pivots in pairs, by Cramer's rule, so that it loses what the condition of DF S DF^T + e D
/// + R says.
#[derive(Clone, Copy, Debug)]
pub struct Tolerances {
    /// Of the correction.
    pub correction: f64,
    /// Of the others.
    pub other: f64,
}

impl Tolerances {
    /// That of a function by its name.
    pub fn of(&self, function: &str) -> f64 {
        if function == "correction" { self.correction } else { self.other }
    }
}

/// e, as the runtime documents it.
const DAMPING: f64 = 1e-10;

/// X and what it takes to get there.
struct Motion<const N: usize> {
    constraint_matrix: DMatrix<f64>,
    c: DVector<f64>,
    field: SVector<f64, N>,
}

impl<const N: usize> Motion<N> {
    /// From the gradients of the constraints, which are the first rows of DF, and of H, which is row `energy`.
    fn canonical<const M: usize>(jacobian: &SMatrix<f64, M, N>, energy: usize) -> Option<Self> {
        let gradient = jacobian.transpose();
        let df = DMatrix::from_fn(energy, N, |i, j| jacobian[(i, j)]);
        let df_j = DMatrix::from_fn(energy, N, |i, j| rotated(gradient.column(i).as_slice())[j]);
        let constraint_matrix = -(&df_j * df.transpose());
        let grad_h: SVector<f64, N> = gradient.column(energy).into();
        let brackets: DVector<f64> = &df_j * grad_h;
        let c = match energy {
            0 => brackets,
            _ => constraint_matrix.transpose().lu().solve(&brackets)?,
        };
        let covector = grad_h - df.transpose() * &c;
        let field = SVector::from_column_slice(&rotated(covector.as_slice()));
        Some(Self { constraint_matrix, c, field })
    }
}

/// J v with J = [[0, I], [-I, 0]].
fn rotated(v: &[f64]) -> Vec<f64> {
    let (positions, momenta) = v.split_at(v.len() / 2);
    momenta.iter().copied().chain(positions.iter().map(|entry| -entry)).collect()
}

/// F = (g.., g'.., f.., H, I..), without H where none is declared.
fn integrals<S: Declared<N, M>, D: Real, const N: usize, const M: usize>(system: &S, x: &[D; N]) -> Vec<D> {
    let constraints = system.holonomic(x).into_iter().chain(rates(system, x)).chain(system.phase(x));
    let energy = S::INTEGRAL_KINDS.contains(&IntegralKind::Energy).then(|| system.hamiltonian(x));
    constraints.chain(energy).chain(system.invariants(x)).collect()
}

/// g' = {g, H} = g_q . H_p, the derivative of g along the velocity.
fn rates<S: Declared<N, M>, D: Real, const N: usize, const M: usize>(system: &S, x: &[D; N]) -> Vec<D> {
    if S::HOLONOMIC_CONSTRAINTS == 0 && system.holonomic(x).is_empty() {
        return Vec::new();
    }
    let energy = |x: &[Lanes<D>; N]| vec![system.hamiltonian(x)];
    let velocities = derivatives(energy, x, N / 2..N).remove(0);
    let point: [Dual<D>; N] =
        std::array::from_fn(|i| Dual::new(x[i], if i < N / 2 { velocities[i] } else { D::zero() }));
    system.holonomic(&point).into_iter().map(|rate| rate.eps).collect()
}

/// The derivatives of several functions, row by row.
fn jacobian<const N: usize>(f: impl Fn(&[Lanes<f64>; N]) -> Vec<Lanes<f64>>, x: &[f64; N]) -> Vec<[f64; N]> {
    derivatives(f, x, 0..N).into_iter().map(|row| std::array::from_fn(|column| row[column])).collect()
}

/// A dual number with several derivative parts: as many as are computed at a time.
type Lanes<D> = DualSVec<D, LANES>;
const LANES: usize = 8;

/// The derivatives of several functions by some of their variables, row by row.
fn derivatives<D: Real, const N: usize>(
    f: impl Fn(&[Lanes<D>; N]) -> Vec<Lanes<D>>,
    x: &[D; N],
    variables: Range<usize>,
) -> Vec<Vec<D>> {
    let mut rows: Vec<Vec<D>> = Vec::new();
    let mut point = x.map(Lanes::from_re);
    for first in variables.clone().step_by(LANES) {
        let block = first..variables.end.min(first + LANES);
        for index in block.clone() {
            point[index] = Lanes::from_re(x[index]).derivative(index - first);
        }
        let values = f(&point);
        rows.resize(values.len(), Vec::new());
        for (row, value) in rows.iter_mut().zip(values) {
            match value.eps.0 {
                Some(derivatives) => row.extend(derivatives.iter().take(block.len())),
                None => row.extend(block.clone().map(|_| D::zero())),
            }
        }
        for index in block {
            point[index] = Lanes::from_re(x[index]);
        }
    }
    rows
}

/// The condition number of C beyond which a random state is passed over. Up to there a solve costs at most two of sixteen
/// digits; the block form, A c2 = g' and then A c1 = b2 + B c2, is two solves in a row and may lose them twice.
pub const WORST_CONDITION: f64 = 100.0;

/// Gives the system random parameters and draws a state, until C is well conditioned there.
pub fn random_state<S: Declared<N, M>, const N: usize, const M: usize>(
    system: &mut S,
    random: &mut Random,
) -> (SVector<f64, N>, Oracle<N, M>) {
    for _ in 0..1000 {
        random_parameters(system, random);
        let x = system.state(random);
        if let Some(oracle) =
            Oracle::at(system, &x).filter(|oracle| condition(&oracle.constraint_matrix) < WORST_CONDITION)
        {
            return (x, oracle);
        }
    }
    panic!("{}: no state with a well-conditioned C in a thousand", S::NAME)
}

/// Gives the system random parameters between 0.5 and 2, and returns them.
pub fn random_parameters<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &mut S,
    random: &mut Random,
) -> Vec<f64> {
    let parameters = (0..S::PARAMETER_NAMES.len()).map(|index| {
        let parameter = system.parameter_mut(index).expect("a parameter for every name");
        *parameter = random.between(0.5, 2.0);
        *parameter
    });
    parameters.collect()
}

fn condition(matrix: &DMatrix<f64>) -> f64 {
    if matrix.is_empty() {
        return 1.0;
    }
    let values = matrix.singular_values();
    values.max() / values.min()
}
