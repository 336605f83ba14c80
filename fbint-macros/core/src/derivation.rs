//! The mathematics of one model as plain data: what `mechanics` derives, `program` lowers and `notation` prints.
//!
//! The state x = (q, p) has dimension 2n, canonical J = [[0, I], [-I, 0]], bracket {f, g} = f_q . g_p - f_p . g_q. The
//! integrals are F = (g_1.., g'_1.., phase constraints.., H, invariants..), and X = J (grad H - Df^T c) where c solves
//! C^T c = b with C_ij = {f_i, f_j}, b_i = {H, f_i} over the constraints f alone (CPV22 eq. 4).

use crate::expression::Expression;

/// What is declared, in symbols 0..n for q, n..2n for p, parameters above.
#[derive(Clone, Debug)]
pub struct Problem {
    /// n
    pub degrees_of_freedom: usize,
    /// H
    pub hamiltonian: Expression,
    /// Holonomic constraints g(q) = 0.
    pub holonomic: Vec<Expression>,
    /// Constraints f(q, p) = 0 taken as they stand.
    pub phase: Vec<Expression>,
    /// First integrals besides the energy.
    pub invariants: Vec<Expression>,
}

/// What follows from a [`Problem`].
#[derive(Clone, Debug)]
pub struct Derivation {
    /// n
    pub degrees_of_freedom: usize,
    /// F, in the order of the module's head.
    pub integrals: Vec<Expression>,
    /// DF: the non-zero entries (index of the state, derivative) of each integral's gradient, indices increasing.
    pub gradients: Vec<Vec<(usize, Expression)>>,
    /// The brackets among constraints and with H.
    pub constraints: Constraints,
    /// The index of H in `integrals`, which is also the number of constraints f.
    pub energy: usize,
}

/// The linear system for the covector coefficients c.
#[derive(Clone, Debug)]
pub enum Constraints {
    /// k holonomic constraints and their k rates: C = [[0, A], [-A, B]], so that A c2 = g', A c1 = {H, g'} + B c2.
    Holonomic {
        /// A_ij = {g_i, g'_j}, symmetric k x k.
        a: Vec<Vec<Expression>>,
        /// B_ij = {g'_i, g'_j}, antisymmetric k x k.
        b: Vec<Vec<Expression>>,
        /// {H, g'_i}
        energy_brackets: Vec<Expression>,
    },
    /// Any even set of constraints.
    Phase {
        /// C_ij = {f_i, f_j}, antisymmetric.
        c: Vec<Vec<Expression>>,
        /// {H, f_i}
        energy_brackets: Vec<Expression>,
    },
}

impl Derivation {
    /// 2n, the dimension of the state.
    pub fn dimension(&self) -> usize {
        2 * self.degrees_of_freedom
    }

    /// The entry of DF in row `integral` and column `state`, unless it vanishes.
    pub fn entry(&self, integral: usize, state: usize) -> Option<&Expression> {
        let gradient = &self.gradients[integral];
        gradient.iter().find(|(column, _)| *column == state).map(|(_, entry)| entry)
    }

    /// The full matrix C at a point, row by row, from the blocks.
    pub fn constraint_matrix(&self, value: &impl Fn(&Expression) -> f64) -> Vec<Vec<f64>> {
        let values = |matrix: &[Vec<Expression>]| -> Vec<Vec<f64>> {
            matrix.iter().map(|row| row.iter().map(value).collect()).collect()
        };
        match &self.constraints {
            Constraints::Phase { c, .. } => values(c),
            Constraints::Holonomic { a, b, .. } => {
                let (a, b, k) = (values(a), values(b), a.len());
                let mut c = vec![vec![0.0; 2 * k]; 2 * k];
                for i in 0..k {
                    for j in 0..k {
                        c[i][k + j] = a[i][j];
                        c[k + i][j] = -a[i][j];
                        c[k + i][k + j] = b[i][j];
                    }
                }
                c
            }
        }
    }

    /// b_i = {H, f_i} for every constraint, in the order of `integrals`; {H, g_i} is -g'_i.
    pub fn energy_brackets(&self, value: &impl Fn(&Expression) -> f64) -> Vec<f64> {
        match &self.constraints {
            Constraints::Phase { energy_brackets, .. } => energy_brackets.iter().map(value).collect(),
            Constraints::Holonomic { energy_brackets, .. } => {
                let k = energy_brackets.len();
                let of_positions = self.integrals[k..2 * k].iter().map(|rate| -value(rate));
                of_positions.chain(energy_brackets.iter().map(value)).collect()
            }
        }
    }
}
