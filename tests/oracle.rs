//! An independent evaluation of CPV22: dual numbers for derivatives, a dense solve for C, no symbols, no generated code.
//!
//! A system under test states its H, constraints and invariants a second time, as Rust functions generic over the number
//! ([`Declared`]). Gradients are dual numbers' derivative parts; the partner g' = {g, H} takes dual numbers once and its
//! gradient takes them twice (dual numbers of dual numbers). Then, with C_ij = {f_i, f_j}, b_i = {H, f_i} and C^T c = b,
//!
//!   X = J (grad H - Df^T c)                 CPV22 eq. (4)
//!   grad V = DF^T K (F - F_target)          CPV22 eq. (6)
//!
//! Where a system is not canonical, X is typed by hand.
//!
//! No result can be more accurate than the condition of C allows, so random states at which C is ill-conditioned are passed
//! over: see [`random_state`].

use fbint_runtime::{FeedbackLaw, FeedbackSystem, IntegralKind, Scalar};
use nalgebra::{DMatrix, DVector, SMatrix, SVector};
use num_dual::{Dual, DualNum};

use crate::Random;

/// A number that can be differentiated: a double, a dual number, a dual number of dual numbers.
pub trait Real: DualNum<Primitive = f64> + Copy {}

impl<T: DualNum<Primitive = f64> + Copy> Real for T {}

/// A system whose declaration is also given as plain functions of the flat state.
pub trait Declared<const N: usize, const M: usize>: FeedbackSystem<N, M> {
    /// The interval of every entry of a random state.
    const RANGE: [f64; 2] = [-1.5, 1.5];

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

    /// Constraints taken as they stand: f(q, p), or any beside a given X.
    fn phase<D: Real>(&self, _x: &[D; N]) -> Vec<D> {
        Vec::new()
    }

    /// First integrals besides the energy.
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
    /// c, and 0 for each integral that is no constraint.
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
        let motion = match system.given(&state) {
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

    /// DF^T K (F - F_target)
    pub fn potential_gradient(&self, law: &DiagonalLaw<M>) -> SVector<f64, N> {
        let difference = self.integrals - SVector::from(law.targets);
        self.jacobian.transpose() * SVector::from(law.gains).component_mul(&difference)
    }
}

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

/// g' = {g, H} = g_q . H_p
fn rates<S: Declared<N, M>, D: Real, const N: usize, const M: usize>(system: &S, x: &[D; N]) -> Vec<D> {
    let energy = jacobian(|x| vec![system.hamiltonian(x)], x);
    let positions = jacobian(|x| system.holonomic(x), x);
    positions.iter().map(|row| (0..N / 2).map(|i| row[i] * energy[0][N / 2 + i]).sum()).collect()
}

/// The derivatives of several functions, row by row.
fn jacobian<D: Real, const N: usize>(f: impl Fn(&[Dual<D>; N]) -> Vec<Dual<D>>, x: &[D; N]) -> Vec<[D; N]> {
    let mut rows: Vec<[D; N]> = Vec::new();
    for column in 0..N {
        let point: [Dual<D>; N] =
            std::array::from_fn(|i| Dual::new(x[i], if i == column { D::one() } else { D::zero() }));
        let values = f(&point);
        rows.resize(values.len(), [D::zero(); N]);
        for (row, value) in rows.iter_mut().zip(values) {
            row[column] = value.eps;
        }
    }
    rows
}

/// y = diag(gains) (F - targets), L = I.
#[derive(Clone, Copy, Debug)]
pub struct DiagonalLaw<const M: usize> {
    /// F_target
    pub targets: [f64; M],
    /// K
    pub gains: [f64; M],
}

impl<const M: usize> DiagonalLaw<M> {
    /// Targets between -1 and 1, gains between 0.5 and 5.
    pub fn random(random: &mut Random) -> Self {
        let targets = std::array::from_fn(|_| random.between(-1.0, 1.0));
        Self { targets, gains: std::array::from_fn(|_| random.between(0.5, 5.0)) }
    }
}

impl<T: Scalar, const N: usize, const M: usize> FeedbackLaw<T, N, M> for DiagonalLaw<M> {
    const HAS_METRIC: bool = false;

    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        std::array::from_fn(|i| T::from_f64(self.gains[i]) * (integrals[i] - T::from_f64(self.targets[i])))
    }

    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        gradient
    }
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
        for index in 0..S::PARAMETER_NAMES.len() {
            *system.parameter_mut(index).expect("a parameter for every name") = random.between(0.5, 2.0);
        }
        let x = SVector::from_fn(|_, _| random.between(S::RANGE[0], S::RANGE[1]));
        if let Some(oracle) =
            Oracle::at(system, &x).filter(|oracle| condition(&oracle.constraint_matrix) < WORST_CONDITION)
        {
            return (x, oracle);
        }
    }
    panic!("{}: no state with a well-conditioned C in a thousand", S::NAME)
}

fn condition(matrix: &DMatrix<f64>) -> f64 {
    if matrix.is_empty() {
        return 1.0;
    }
    let values = matrix.singular_values();
    values.max() / values.min()
}
