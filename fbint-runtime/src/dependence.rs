//! Constraints that are nearly dependent on one another, found from the generated Jacobian where a run cannot start or go on.
//!
//! The generated code factors A_ij = {g_i, g'_j} of holonomic constraints, or C_ij = {f_i, f_j} of others, without looking at
//! its pivots. Here the same matrix is formed from DF, scaled so that the units of the constraints do not matter, and
//! eliminated with complete pivoting. The pivot ratio is that of the smallest pivot to the largest: it says how many digits
//! multipliers lose. Constraints take part in a dependence if they have a share in the near-null vector.

use core::{array, fmt};

use nalgebra::{SMatrix, SVector};

use crate::{FeedbackSystem, IntegralKind, PreparedSystem};

/// So many constraints of a dependence are named, at most.
const NAMED: usize = 4;
/// A constraint takes part from this share of the largest on.
const SHARE: f64 = 0.05;

/// Constraints that are nearly dependent on one another in some state, so that their multipliers are not determined there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    time: f64,
    names: [&'static str; NAMED],
    involved: usize,
    pivot_ratio: f64,
}

impl Dependence {
    /// The constraints whose matrix has a pivot below `limit` times the largest in state `x` at some time, if there are such.
    pub(crate) fn find<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
        system: &S::Prepared,
        time: f64,
        x: &SVector<f64, N>,
        limit: f64,
    ) -> Option<Self> {
        let (matrix, rows, count) = constraint_matrix::<S, N, M>(system, x)?;
        let (pivot_ratio, shares) = near_null_vector(matrix, count, limit)?;
        let mut names = [""; NAMED];
        let mut involved = 0;
        for i in (0..count).filter(|&i| shares[i].abs() >= SHARE * shares.amax()) {
            if let Some(name) = names.get_mut(involved) {
                *name = S::INTEGRAL_NAMES[rows[i]];
            }
            involved += 1;
        }
        Some(Self { time, names, involved, pivot_ratio })
    }

    /// When that was.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The constraints that take part, the first four at most.
    pub fn constraints(&self) -> &[&'static str] {
        &self.names[..self.involved.min(NAMED)]
    }

    /// How many take part.
    pub fn involved(&self) -> usize {
        self.involved
    }

    /// The smallest pivot of their matrix over the largest.
    pub fn pivot_ratio(&self) -> f64 {
        self.pivot_ratio
    }
}

impl fmt::Display for Dependence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [name] = self.constraints() {
            return write!(out, "the constraint `{name}` is degenerate (its row of the constraint matrix vanishes)");
        }
        out.write_str("the constraints ")?;
        let last = self.constraints().len() - 1;
        for (index, name) in self.constraints().iter().enumerate() {
            let before = match index {
                0 => "",
                _ if index == last && self.involved <= NAMED => " and ",
                _ => ", ",
            };
            write!(out, "{before}`{name}`")?;
        }
        if self.involved > NAMED {
            write!(out, " and {} more", self.involved - NAMED)?;
        }
        write!(out, " are nearly dependent on one another (pivot ratio {:.1e})", self.pivot_ratio)
    }
}

/// A or C in the corner of an M x M matrix, the integrals that its rows stand for, and how many these are. A system without
/// multipliers inverts no matrix: then there is none.
fn constraint_matrix<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S::Prepared,
    x: &SVector<f64, N>,
) -> Option<(SMatrix<f64, M, M>, [usize; M], usize)> {
    let (n, k) = (N / 2, S::HOLONOMIC_CONSTRAINTS);
    let df = system.integrals_jacobian(x);
    let half_bracket = |i: usize, j: usize| (0..n).map(|l| df[(i, l)] * df[(j, n + l)]).sum::<f64>();
    let is_constraint = |i: &usize| S::INTEGRAL_KINDS[*i] == IntegralKind::Constraint;
    let constraints = || (0..M).filter(is_constraint);
    let count = constraints().count();
    if k > 0 && count == 2 * k {
        let a = SMatrix::from_fn(|i, j| if i < k && j < k { half_bracket(i, k + j) } else { 0.0 });
        return Some((a, array::from_fn(|i| i), k));
    }
    let multipliers = system.multipliers(x);
    if constraints().all(|i| multipliers[i] == 0.0) {
        return None;
    }
    let mut rows = [0; M];
    for (row, i) in rows.iter_mut().zip(constraints()) {
        *row = i;
    }
    let bracket = |i: usize, j: usize| half_bracket(i, j) - half_bracket(j, i);
    let c = SMatrix::from_fn(|i, j| if i < count && j < count { bracket(rows[i], rows[j]) } else { 0.0 });
    Some((c, rows, count))
}

/// The first pivot below `limit` times the largest, as a ratio, and a vector that the scaled matrix takes to nearly 0.
/// Apart from its caller: it runs once a start, or when a run has failed.
#[inline(never)]
fn near_null_vector<const M: usize>(mut a: SMatrix<f64, M, M>, k: usize, limit: f64) -> Option<(f64, SVector<f64, M>)> {
    if a.iter().any(|entry| !entry.is_finite()) {
        return None;
    }
    for i in 0..k {
        let largest = a.row(i).amax();
        if largest == 0.0 {
            return Some((0.0, unit(i)));
        }
        a.row_mut(i).unscale_mut(largest);
    }
    for j in 0..k {
        let largest = a.column(j).amax();
        if largest == 0.0 {
            return Some((0.0, unit(j)));
        }
        a.column_mut(j).unscale_mut(largest);
    }
    let mut columns: [usize; M] = array::from_fn(|j| j);
    for step in 0..k {
        pivot(&mut a, &mut columns, step, k);
        let ratio = (a[(step, step)] / a[(0, 0)]).abs();
        if ratio < limit {
            return Some((ratio, null_vector(&a, &columns, step)));
        }
        for i in step + 1..k {
            let factor = a[(i, step)] / a[(step, step)];
            for j in step..k {
                a[(i, j)] -= factor * a[(step, j)];
            }
        }
    }
    None
}

/// Brings the largest entry that is left to the diagonal.
fn pivot<const M: usize>(a: &mut SMatrix<f64, M, M>, columns: &mut [usize; M], step: usize, k: usize) {
    let (mut row, mut column) = (step, step);
    for i in step..k {
        for j in step..k {
            if a[(i, j)].abs() > a[(row, column)].abs() {
                (row, column) = (i, j);
            }
        }
    }
    a.swap_rows(step, row);
    a.swap_columns(step, column);
    columns.swap(step, column);
}

/// The solution of U v = 0 with v = 1 at the pivot that is left out, where U is upper triangular above it.
fn null_vector<const M: usize>(u: &SMatrix<f64, M, M>, columns: &[usize; M], left_out: usize) -> SVector<f64, M> {
    let mut v = unit::<M>(left_out);
    for i in (0..left_out).rev() {
        let known: f64 = (i + 1..=left_out).map(|j| u[(i, j)] * v[j]).sum();
        v[i] = -known / u[(i, i)];
    }
    let mut shares = SVector::zeros();
    for (i, &column) in columns.iter().enumerate() {
        shares[column] = v[i];
    }
    shares
}

fn unit<const M: usize>(i: usize) -> SVector<f64, M> {
    SVector::from_fn(|j, _| if j == i { 1.0 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use nalgebra::{SMatrix, SVector, matrix, vector};

    use super::near_null_vector;

    /// Rows and columns have entries of largest size 1 as they are, so that scaling changes nothing.
    #[test]
    fn the_shares_solve_the_singular_system() {
        let independent: SMatrix<f64, 3, 4> = matrix![
            1.0, 0.5, -0.25, 0.125;
            -0.25, 1.0, 0.5, -1.0;
            0.5, -0.25, 1.0, 0.75
        ];
        let dependent = independent.transpose() * vector![0.5, -0.5, 0.25];
        let a = independent.insert_row(3, 0.0)
            + SMatrix::from_fn(|i, j| if i == 3 { dependent[j] / dependent.amax() } else { 0.0 });
        let (ratio, shares): (f64, SVector<f64, 4>) = near_null_vector(a, 4, 1e-12).unwrap();
        assert!(ratio < 1e-15 && shares.amax() > 0.5, "{ratio}, {shares}");
        assert!((a * shares).amax() < 1e-14 * shares.amax(), "{shares}");
        assert_eq!(near_null_vector(independent.insert_row(3, 0.0) + SMatrix::identity() * 0.1, 4, 1e-12), None);
    }

    /// Two constraints, each of which is conjugate to the other: the diagonal is zero.
    #[test]
    fn zeros_on_the_diagonal_are_no_dependence() {
        assert_eq!(near_null_vector(matrix![0.0, 1.0; 1.0, 0.0], 2, 1e-12), None);
        let singular = matrix![0.0, 1.0, 0.5; 1.0, 0.0, 0.0; 0.0, 1.0, 0.5];
        let (ratio, shares) = near_null_vector(singular, 3, 1e-12).unwrap();
        assert!(ratio < 1e-15 && shares[0].abs() < 1e-15 && shares[1].abs() > 0.5, "{ratio}, {shares}");
    }
}
