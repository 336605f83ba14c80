//! An independent evaluation of CPV22: dual numbers for derivatives, a dense solve for C, no symbols, no generated code.
//!
//! A system under test states its H, constraints and invariants a second time, as Rust functions generic over the number
//! ([`Declared`]). Gradients are dual numbers' derivative parts; the partner g' = {g, H} takes dual numbers once and its
//! gradient takes them twice (dual numbers of dual numbers). Then, with C_ij = {f_i, f_j}, b_i = {H, f_i} and C^T c = b,
//!
//!   X = J (grad H - Df^T c)                                    CPV22 eq. (4)
//!   grad V = DF^T K (F - F_target), feedback = X - grad V      CPV22 eq. (6) with L = 1
//!   projection = S DF^T (DF S DF^T + e D + R)^-1 y             HLW06 IV.4, by eigenvalues
//!
//! Where a system is not canonical, X is typed by hand.
//!
//! No result can be more accurate than the condition of C allows, so random states at which C is ill-conditioned are passed
//! over: see [`random_state`].

use std::ops::Range;

use fbint_runtime::{Entries, Entry, GeneratedSystem, IntegralKind, Vector};
use nalgebra::{DMatrix, DVector};
use num_dual::{Dual, DualNum, DualSVec};

use crate::Random;
use crate::compiler::{NOISE, variance};
use crate::functions::{Question, Results};

/// A number that can be differentiated: a double, a dual number, a dual number of dual numbers.
pub trait Real: DualNum<Primitive = f64> + Entry {}

impl<T: DualNum<Primitive = f64> + Entry> Real for T {}

/// A system whose declaration is also given as plain functions of the flat state.
pub trait Declared: GeneratedSystem {
    /// The interval of every entry of a random state.
    const RANGE: [f64; 2] = [-1.5, 1.5];

    /// A random state.
    fn state(&self, random: &mut Random) -> Vector<Self> {
        Entries::from_fn(|_| random.between(Self::RANGE[0], Self::RANGE[1]))
    }

    /// X where the system is not canonical.
    fn given(&self, _x: &Vector<Self>) -> Option<Vector<Self>> {
        None
    }

    /// H; not asked for where X is given by `dynamics`.
    fn hamiltonian<D: Real>(&self, _x: &Vector<Self, D>) -> D {
        D::zero()
    }

    /// Holonomic constraints g(q).
    fn holonomic<D: Real>(&self, _x: &Vector<Self, D>) -> Vec<D> {
        Vec::new()
    }

    /// Constraints taken as they stand: f(q, p), or any beside a given X.
    fn phase<D: Real>(&self, _x: &Vector<Self, D>) -> Vec<D> {
        Vec::new()
    }

    /// First integrals besides the energy.
    fn invariants<D: Real>(&self, _x: &Vector<Self, D>) -> Vec<D> {
        Vec::new()
    }

    /// The declared outputs, from the multipliers.
    fn outputs(&self, _x: &Vector<Self>, _c: &[f64]) -> Vec<f64> {
        Vec::new()
    }
}

/// What a system's functions should give at one state.
#[derive(Debug)]
pub struct Oracle {
    /// F
    pub integrals: DVector<f64>,
    /// DF
    pub jacobian: DMatrix<f64>,
    /// C, empty where X is given.
    pub constraint_matrix: DMatrix<f64>,
    /// X
    pub field: DVector<f64>,
    /// c, and 0 for each integral that is not a constraint.
    pub multipliers: DVector<f64>,
    /// The declared outputs.
    pub outputs: Vec<f64>,
}

impl Oracle {
    /// Evaluates `system` at `x`; `None` where C is singular to working precision.
    pub fn at<S: Declared>(system: &S, x: &Vector<S>) -> Option<Self> {
        let values = integrals(system, x);
        assert_eq!(values.len(), S::FACTS.integrals.len(), "{}: the oracle knows other integrals", S::FACTS.name);
        let rows = derivatives(|x| integrals(system, &Entries::from_fn(|i| x[i])), x.as_ref(), 0..x.as_ref().len());
        let jacobian = DMatrix::from_fn(values.len(), x.as_ref().len(), |i, j| rows[i][j]);
        let motion = match system.given(x) {
            Some(field) => Motion {
                constraint_matrix: DMatrix::zeros(0, 0),
                c: DVector::zeros(0),
                field: DVector::from_column_slice(field.as_ref()),
            },
            None => Motion::canonical(&jacobian, values.len() - 1 - system.invariants(x).len())?,
        };
        let multiplier = |row: usize, _| motion.c.get(row).copied().unwrap_or_default();
        let multipliers = DVector::from_fn(values.len(), multiplier);
        Some(Self {
            integrals: DVector::from_vec(values),
            jacobian,
            constraint_matrix: motion.constraint_matrix,
            field: motion.field,
            outputs: system.outputs(x, multipliers.as_slice()),
            multipliers,
        })
    }

    /// What every function should return; an RK4 step where `stages` gives the field at its stages.
    pub fn results<S: GeneratedSystem>(
        &self,
        question: &Question<S>,
        stages: Option<impl Fn(&Vector<S>) -> Self>,
    ) -> (Results, Tolerances) {
        let feedback = self.feedback(question);
        let (x, h) = (DVector::from_column_slice(question.x.as_ref()), question.h);
        let rk4 = stages.map(|oracle| {
            let at = |x: DVector<f64>| oracle(&Entries::from_fn(|i| x[i])).feedback(question);
            let k1 = &feedback;
            let k2 = at(&x + k1 * (h / 2.0));
            let k3 = at(&x + &k2 * (h / 2.0));
            let k4 = at(&x + &k3 * h);
            &x + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0)
        });
        let (projection, gram_condition) = self.projection(question);
        let functions = [
            ("vector_field", self.field.as_slice().to_vec()),
            ("integrals", self.integrals.as_slice().to_vec()),
            ("integrals_jacobian", self.jacobian.transpose().as_slice().to_vec()),
            ("multipliers", self.multipliers.as_slice().to_vec()),
            ("outputs", self.outputs.clone()),
            ("potential_gradient", self.potential_gradient(question).as_slice().to_vec()),
            ("feedback_field", feedback.as_slice().to_vec()),
            ("projection", projection.as_slice().to_vec()),
            ("euler_step", (x + feedback * h).as_slice().to_vec()),
        ];
        let rk4 = rk4.map(|x| ("rk4_step", x.as_slice().to_vec()));
        let results = Results::new(functions.into_iter().chain(rk4));
        let condition = condition(&self.constraint_matrix);
        let other = 2e-13 + 3e-15 * condition * condition;
        (results, Tolerances { projection: other + 1e-14 * gram_condition, other })
    }

    /// DF^T K (F - F_target)
    fn potential_gradient<S: GeneratedSystem>(&self, question: &Question<S>) -> DVector<f64> {
        let targets = DVector::from_column_slice(question.law.targets.as_ref());
        self.jacobian.tr_mul(&(question.law.gains() * (&self.integrals - targets)))
    }

    /// A step that moves no entry of the state by more than a hundredth.
    pub fn step<S: GeneratedSystem>(&self, question: &Question<S>) -> f64 {
        0.01 / (1.0 + self.feedback(question).amax())
    }

    /// X - DF^T K (F - F_target)
    fn feedback<S: GeneratedSystem>(&self, question: &Question<S>) -> DVector<f64> {
        &self.field - self.potential_gradient(question)
    }

    /// S DF^T (DF S DF^T + e D + R)^-1 DF z and the condition of the matrix. If A is DF S^1/2 with rows of length 1, and
    /// A A^T + e + D^-1 R = U L U^T, it is S^1/2 A^T U L^-1 U^T A S^-1/2 z.
    fn projection<S: GeneratedSystem>(&self, question: &Question<S>) -> (DVector<f64>, f64) {
        let (m, n) = self.jacobian.shape();
        let root = |column| variance(column).sqrt();
        let moved = DMatrix::from_fn(m, n, |i, j| self.jacobian[(i, j)] * root(j));
        let rows = DMatrix::from_fn(m, n, |i, j| moved[(i, j)] / moved.row(i).norm().max(1e-70));
        let direction = DVector::from_fn(n, |j, _| question.direction[j] / root(j));
        let added = DVector::from_fn(m, |i, _| DAMPING + NOISE / moved.row(i).norm_squared().max(1e-140));
        let eigen = (&rows * rows.transpose() + DMatrix::from_diagonal(&added)).symmetric_eigen();
        let squares = &eigen.eigenvalues;
        let coordinates = eigen.eigenvectors.tr_mul(&(&rows * direction)).component_div(squares);
        let step = rows.tr_mul(&(eigen.eigenvectors * coordinates));
        (DVector::from_fn(n, |j, _| root(j) * step[j]), squares.max() / squares.min())
    }
}

/// How far rounding may take a function from the oracle, as a [`relative_error`](crate::relative_error).
///
/// A C of condition k costs k of 16 digits, and the block form, A c2 = g' and then A c1 = b2 + B c2, is two solves in a row: 3e-15 k^2.
/// A projection takes its pivots in pairs, by Cramer's rule, so that it loses what the condition of DF S DF^T + e D + R says.
#[derive(Clone, Copy, Debug)]
pub struct Tolerances {
    /// Of the projection.
    pub projection: f64,
    /// Of the others.
    pub other: f64,
}

impl Tolerances {
    /// That of a function by its name.
    pub fn of(&self, function: &str) -> f64 {
        if function == "projection" { self.projection } else { self.other }
    }
}

/// e, as the runtime documents it.
const DAMPING: f64 = 1e-10;

/// X and what it takes to get there.
struct Motion {
    constraint_matrix: DMatrix<f64>,
    c: DVector<f64>,
    field: DVector<f64>,
}

impl Motion {
    /// From the gradients of the constraints, which are the first rows of DF, and of H, which is row `energy`.
    fn canonical(jacobian: &DMatrix<f64>, energy: usize) -> Option<Self> {
        let gradient = jacobian.transpose();
        let df = jacobian.rows(0, energy);
        let df_j = DMatrix::from_fn(energy, jacobian.ncols(), |i, j| rotated(gradient.column(i).as_slice())[j]);
        let constraint_matrix = -(&df_j * df.transpose());
        let grad_h = gradient.column(energy);
        let brackets: DVector<f64> = &df_j * grad_h;
        let c = match energy {
            0 => brackets,
            _ => constraint_matrix.transpose().lu().solve(&brackets)?,
        };
        let covector = grad_h - df.transpose() * &c;
        let field = DVector::from_vec(rotated(covector.as_slice()));
        Some(Self { constraint_matrix, c, field })
    }
}

/// J v with J = [[0, I], [-I, 0]].
fn rotated(v: &[f64]) -> Vec<f64> {
    let (positions, momenta) = v.split_at(v.len() / 2);
    momenta.iter().copied().chain(positions.iter().map(|entry| -entry)).collect()
}

/// F = (g.., g'.., f.., H, I..), without H where none is declared.
fn integrals<S: Declared, D: Real>(system: &S, x: &Vector<S, D>) -> Vec<D> {
    let constraints = system.holonomic(x).into_iter().chain(rates(system, x)).chain(system.phase(x));
    let has_energy = S::FACTS.integrals.iter().any(|integral| integral.kind == IntegralKind::Energy);
    let energy = has_energy.then(|| system.hamiltonian(x));
    constraints.chain(energy).chain(system.invariants(x)).collect()
}

/// g' = {g, H} = g_q . H_p, the derivative of g along the velocity.
fn rates<S: Declared, D: Real>(system: &S, x: &Vector<S, D>) -> Vec<D> {
    if system.holonomic(x).is_empty() {
        return Vec::new();
    }
    let n = x.as_ref().len();
    let energy = |x: &[Lanes<D>]| vec![system.hamiltonian::<Lanes<D>>(&Entries::from_fn(|i| x[i]))];
    let velocities = derivatives(energy, x.as_ref(), n / 2..n).remove(0);
    let along = |i: usize| Dual::new(x[i], if i < n / 2 { velocities[i] } else { D::zero() });
    system.holonomic::<Dual<D>>(&Entries::from_fn(along)).into_iter().map(|rate| rate.eps).collect()
}

/// A dual number with several derivative parts: as many as are computed at a time.
type Lanes<D> = DualSVec<D, LANES>;
const LANES: usize = 8;

/// The derivatives of several functions by some of their variables, row by row.
fn derivatives<D: Real>(f: impl Fn(&[Lanes<D>]) -> Vec<Lanes<D>>, x: &[D], variables: Range<usize>) -> Vec<Vec<D>> {
    let mut rows: Vec<Vec<D>> = Vec::new();
    let mut point: Vec<Lanes<D>> = x.iter().map(|&entry| Lanes::from_re(entry)).collect();
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
pub fn random_state<S: Declared>(system: &mut S, random: &mut Random) -> (Vector<S>, Oracle) {
    for _ in 0..1000 {
        random_parameters(system, random);
        let x = system.state(random);
        if let Some(oracle) =
            Oracle::at(system, &x).filter(|oracle| condition(&oracle.constraint_matrix) < WORST_CONDITION)
        {
            return (x, oracle);
        }
    }
    panic!("{}: no state with a well-conditioned C in a thousand", S::FACTS.name)
}

/// Gives the system random parameters between 0.5 and 2, and returns them.
pub fn random_parameters<S: GeneratedSystem>(system: &mut S, random: &mut Random) -> Vec<f64> {
    let parameters = (0..S::FACTS.parameter_names.len()).map(|index| {
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
