//! Geometric integrators, the rivals of feedback: maps that keep some of the structure by construction.
//!
//! [`Rattle`] keeps every holonomic constraint and is symplectic on the constraint manifold (HLW06 VII.1.4);
//! [`StormerVerlet`] is the same without constraints (HLW06 I.1.4); [`Composition`] raises a symmetric method of order 2 to
//! order 4 (HLW06 II.4.2). All are general: they take the generated Jacobian DF and know the model by nothing else. Steps
//! allocate nothing.

use nalgebra::{ArrayStorage, SMatrix, SVector};

use crate::{Error, FeedbackSystem, IntegralKind, KineticEnergy, PreparedSystem};

/// A map x -> Phi_h(x) that approximates the flow of a system.
pub trait OneStep<const N: usize> {
    /// Replaces `x` by Phi_h(x).
    fn step(&self, x: &mut SVector<f64, N>, h: f64);
    /// How many times a step evaluates the field, or as much of the system.
    fn evaluations_per_step(&self) -> u64;
}

/// How often RATTLE's Newton iteration for the position is repeated: it gains some six digits each time at sensible steps.
const NEWTON_ITERATIONS: usize = 5;

/// RATTLE (Andersen 1983) for holonomic constraints and H = p^T M^-1 p / 2 + U(q) with a constant mass matrix M. The system,
/// as it is prepared, is of type `P` and has `M` integrals.
#[derive(Clone, Copy, Debug)]
pub struct Rattle<P, const M: usize> {
    system: P,
    constraints: usize,
}

impl<P, const M: usize> Rattle<P, M> {
    /// RATTLE for `system`.
    ///
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if the system is not canonical, its kinetic energy is not quadratic with a constant mass matrix,
    /// or it has phase constraints.
    pub fn new<S, const N: usize>(system: &S) -> Result<Self, Error>
    where
        S: FeedbackSystem<N, M, Prepared = P>,
    {
        let refusal = |reason| Err(Error::NotApplicable { method: "RATTLE", system: S::NAME, reason });
        if S::KINETIC_ENERGY != KineticEnergy::Quadratic {
            return refusal("its Hamiltonian is not p^T M^-1 p / 2 + U(q) with a constant mass matrix M");
        }
        if number_of_constraints::<S, N, M>() != 2 * S::HOLONOMIC_CONSTRAINTS {
            return refusal("it has phase constraints, and only holonomic ones can be kept");
        }
        Ok(Self { system: system.prepare(), constraints: S::HOLONOMIC_CONSTRAINTS })
    }
}

fn number_of_constraints<S: FeedbackSystem<N, M>, const N: usize, const M: usize>() -> usize {
    S::INTEGRAL_KINDS.iter().filter(|&&kind| kind == IntegralKind::Constraint).count()
}

impl<P: PreparedSystem<N, M>, const N: usize, const M: usize> OneStep<N> for Rattle<P, M> {
    /// With w_i = M^-1 dg_i/dq, which is dg'_i/dp:
    ///
    ///   p_1/2 = p - h/2 (U_q(q) + G(q)^T lambda),  q_1 = q + h M^-1 p_1/2,  g(q_1) = 0
    ///   p_1   = p_1/2 - h/2 (U_q(q_1) + G(q_1)^T mu),  G(q_1) M^-1 p_1 = 0
    fn step(&self, x: &mut SVector<f64, N>, h: f64) {
        let k = in_range::<M>(self.constraints);
        let start = *x;
        let before = self.system.integrals_jacobian(x);
        kick(x, &before, k, 0.5 * h);
        let kicked = *x;
        let velocity = self.system.integrals_jacobian(x);
        let gram = Gram::new(&before, k);
        let mut lambda = SVector::<f64, M>::zeros();
        // Position and momentum are made from the same sums, so that rounding does not separate them.
        let mut advance = |lambda: &SVector<f64, M>| {
            let energy = 2 * in_range::<M>(k);
            for (i, j) in (0..N / 2).map(|i| (i, N / 2 + i)) {
                x[j] = kicked[j] - pull(&before, 0, i, lambda, k);
                x[i] = start[i] + h * (velocity[(energy, j)] - pull(&before, k, j, lambda, k));
            }
            self.system.integrals(x)
        };
        for _ in 0..NEWTON_ITERATIONS {
            // A simplified Newton step: the matrix is that of the step's beginning.
            let violation = advance(&lambda);
            lambda += gram.solve(&(violation / h));
        }
        advance(&lambda);
        let after = self.system.integrals_jacobian(x);
        kick(x, &after, k, 0.5 * h);
        let rates = self.system.integrals(x);
        let mu = Gram::new(&after, k).solve(&SVector::from_fn(|r, _| rates.get(k + r).copied().unwrap_or_default()));
        for i in 0..N / 2 {
            x[N / 2 + i] -= pull(&after, 0, i, &mu, k);
        }
    }

    /// Both ends' gradients of the potential, of which the second is the next step's first.
    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// The number k of constraints, or the index of one of them, unchanged: among M integrals there is room for their rates and
/// the energy. Where the compiler sees that, it proves that no index is out of range (tests/no_panic).
fn in_range<const M: usize>(k: usize) -> usize {
    k.min(M.saturating_sub(1) / 2)
}

/// The sum of the k entries of a column of the Jacobian that begin in a row, each times its multiplier.
fn pull<const N: usize, const M: usize>(
    jacobian: &SMatrix<f64, M, N>,
    row: usize,
    column: usize,
    multipliers: &SVector<f64, M>,
    k: usize,
) -> f64 {
    let entries = jacobian.data.0[column].iter().skip(row);
    entries.zip(&multipliers.data.0[0]).take(k).map(|(entry, multiplier)| entry * multiplier).sum()
}

/// p -= h U_q, from the Jacobian's row of the energy, which comes after k constraints and their rates.
fn kick<const N: usize, const M: usize>(x: &mut SVector<f64, N>, jacobian: &SMatrix<f64, M, N>, k: usize, h: f64) {
    let energy = 2 * in_range::<M>(k);
    for i in 0..N / 2 {
        x[N / 2 + i] -= h * jacobian[(energy, i)];
    }
}

/// q += h T_p, likewise.
fn drift<const N: usize, const M: usize>(x: &mut SVector<f64, N>, jacobian: &SMatrix<f64, M, N>, k: usize, h: f64) {
    let energy = 2 * in_range::<M>(k);
    for i in 0..N / 2 {
        x[i] += h * jacobian[(energy, N / 2 + i)];
    }
}

/// The Stormer-Verlet method, kick, drift, kick, for H = T(p) + U(q) without constraints.
#[derive(Clone, Copy, Debug)]
pub struct StormerVerlet<P, const M: usize> {
    system: P,
}

impl<P, const M: usize> StormerVerlet<P, M> {
    /// The method for `system`.
    ///
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if the system is not canonical, its Hamiltonian is not separable, or it has constraints.
    pub fn new<S, const N: usize>(system: &S) -> Result<Self, Error>
    where
        S: FeedbackSystem<N, M, Prepared = P>,
    {
        let refusal = |reason| Err(Error::NotApplicable { method: "Stormer-Verlet", system: S::NAME, reason });
        if S::KINETIC_ENERGY == KineticEnergy::General {
            return refusal("its Hamiltonian is not T(p) + U(q)");
        }
        if number_of_constraints::<S, N, M>() > 0 {
            return refusal("it has constraints: take RATTLE");
        }
        Ok(Self { system: system.prepare() })
    }
}

impl<P: PreparedSystem<N, M>, const N: usize, const M: usize> OneStep<N> for StormerVerlet<P, M> {
    fn step(&self, x: &mut SVector<f64, N>, h: f64) {
        kick(x, &self.system.integrals_jacobian(x), 0, 0.5 * h);
        drift(x, &self.system.integrals_jacobian(x), 0, h);
        kick(x, &self.system.integrals_jacobian(x), 0, 0.5 * h);
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// The triple jump of a symmetric method of order 2, which is of order 4: steps of gamma h, (1 - 2 gamma) h, gamma h with
/// gamma = 1 / (2 - 2^(1/3)), the middle one backwards.
#[derive(Clone, Copy, Debug)]
pub struct Composition<O>(pub O);

impl<O: OneStep<N>, const N: usize> OneStep<N> for Composition<O> {
    fn step(&self, x: &mut SVector<f64, N>, h: f64) {
        const GAMMA: f64 = 1.351_207_191_959_657_7;
        self.0.step(x, GAMMA * h);
        self.0.step(x, (1.0 - 2.0 * GAMMA) * h);
        self.0.step(x, GAMMA * h);
    }

    fn evaluations_per_step(&self) -> u64 {
        3 * self.0.evaluations_per_step()
    }
}

/// The Cholesky factor of A_ij = dg_i/dq . dg'_j/dp = G M^-1 G^T, k x k in the corner of an M x M matrix, by rows.
struct Gram<const M: usize> {
    rows: [[f64; M]; M],
    k: usize,
}

impl<const M: usize> Gram<M> {
    fn new<const N: usize>(jacobian: &SMatrix<f64, M, N>, k: usize) -> Self {
        let (n, k) = (N / 2, in_range::<M>(k));
        let mut rows = [[0.0; M]; M];
        for i in 0..k {
            for j in 0..i + 1 {
                let product: f64 = (0..n).map(|l| jacobian[(i, l)] * jacobian[(k + j, n + l)]).sum();
                let rest = product - dot(&rows[i], &rows[j], j);
                rows[i][j] = if i == j { nalgebra::ComplexField::sqrt(rest) } else { rest / rows[j][j] };
            }
        }
        Self { rows, k }
    }

    /// A x = b for the first k entries; the others stand for nothing.
    fn solve(&self, b: &SVector<f64, M>) -> SVector<f64, M> {
        let (rows, k) = (&self.rows, in_range::<M>(self.k));
        let [mut x] = b.data.0;
        for i in 0..k {
            x[i] = (x[i] - dot(&rows[i], &x, i)) / rows[i][i];
        }
        for i in (0..k).rev().map(in_range::<M>) {
            x[i] /= rows[i][i];
            let solved = x[i];
            for (x, entry) in x.iter_mut().zip(&rows[i]).take(i) {
                *x -= entry * solved;
            }
        }
        SVector::from_array_storage(ArrayStorage([x]))
    }
}

/// The product of the first `count` entries.
fn dot<const M: usize>(a: &[f64; M], b: &[f64; M], count: usize) -> f64 {
    a.iter().zip(b).take(count).map(|(a, b)| a * b).sum()
}
