//! Constraints that are nearly dependent on one another, found from the generated Jacobian where a run cannot start or continue.
//!
//! The generated code factors A_ij = {g_i, g'_j} of holonomic constraints, C_ij = {f_i, f_j} of others, or A M^-1 A^T of those whose
//! reactions act along rows A of velocities, without looking at its pivots. For the last, A A^T stands, which is singular where
//! it is. Here the same matrix is formed from DF, scaled so that the units of the constraints do not matter, and
//! eliminated with complete pivoting. The pivot ratio is that of the smallest pivot to the largest: it says how many digits
//! multipliers lose. Where the code solves more than four equations with C, it does so by the normal equations, whose condition
//! number is the square of that of C: there it loses them much earlier. Constraints take part in a dependence if they have a
//! share in the near-null vector.

use core::fmt;

use crate::entries::Entries;
use crate::linear::{filled, largest};
use crate::system::{FeedbackSystem, IntegralKind, Integrals, PreparedSystem, StateRole, Vector};

/// Maximum number of constraints that a message names.
const NAMED: usize = 4;
/// The least share, relative to the largest, with which a constraint takes part.
const SHARE: f64 = 0.05;
/// The number of constraints up to which C has a closed inverse.
const CLOSED: usize = 4;
/// The pivot ratio at which the normal equations with their refinement leave about four digits.
const SQUARED: f64 = 1e-7;

/// Constraints that are nearly dependent on one another in some state, so that their multipliers are not determined there.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dependence {
    /// The time of the state.
    pub time: f64,
    names: [&'static str; NAMED],
    /// How many constraints take part.
    pub involved: usize,
    /// The smallest pivot of their matrix over the largest.
    pub pivot_ratio: f64,
}

impl Dependence {
    /// The constraints whose matrix has a pivot below `limit` times the largest in state `x` at some time, if there are such.
    pub(crate) fn find<S: FeedbackSystem>(
        system: &S::Prepared<f64>,
        time: f64,
        x: &Vector<S>,
        limit: f64,
    ) -> Option<Self> {
        let ConstraintMatrix { entries, rows, count, is_squared } = ConstraintMatrix::<S>::at(system, x)?;
        let limit = if is_squared { limit.max(SQUARED) } else { limit };
        let (pivot_ratio, shares): (f64, Integrals<S>) =
            near_null_vector(entries, Integrals::<S, usize>::from_fn(|j| j), count, limit)?;
        Some(Self::among::<S>(time, pivot_ratio, (0..count).map(|i| (rows[i], shares[i]))))
    }

    /// A dependence of the integrals with these shares in it.
    pub(crate) fn among<S: FeedbackSystem>(
        time: f64,
        pivot_ratio: f64,
        shares: impl Iterator<Item = (usize, f64)> + Clone,
    ) -> Self {
        let least = SHARE * shares.clone().fold(0.0, |largest: f64, (_, share)| largest.max(share.abs()));
        let mut names = [""; NAMED];
        let mut involved = 0;
        for (integral, _) in shares.filter(|(_, share)| share.abs() >= least) {
            if let Some(name) = names.get_mut(involved) {
                *name = S::INTEGRALS[integral].name;
            }
            involved += 1;
        }
        Self { time, names, involved, pivot_ratio }
    }

    /// The constraints that take part, the first four at most.
    pub fn constraints(&self) -> &[&'static str] {
        &self.names[..self.involved.min(NAMED)]
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

/// The matrix that the generated code inverts, or one that is singular where it is: A of holonomic constraints, C of any others, A A^T of
/// rows of velocities.
struct ConstraintMatrix<S: FeedbackSystem> {
    /// The matrix, in the first rows and columns.
    entries: Integrals<S, Integrals<S>>,
    /// The integrals that the rows stand for.
    rows: Integrals<S, usize>,
    /// The number of rows.
    count: usize,
    /// Whether the generated code solves by the normal equations.
    is_squared: bool,
}

impl<S: FeedbackSystem> ConstraintMatrix<S> {
    /// The matrix in the state `x`. A system without multipliers inverts no matrix: then there is none.
    fn at(system: &S::Prepared<f64>, x: &Vector<S>) -> Option<Self> {
        let df = system.integrals_jacobian(x);
        let conjugates = S::STATE.iter().enumerate().filter_map(|(q, entry)| match entry.role {
            StateRole::Coordinate { momentum } => Some((q, momentum)),
            _ => None,
        });
        if has_rows_of_velocities::<S>() {
            // What is linear in velocities has its row A as gradient by velocities, or A H_pp as that by momenta.
            let columns = S::STATE.iter().enumerate().filter_map(|(column, entry)| match entry.role {
                StateRole::Velocity | StateRole::Momentum { .. } => Some(column),
                _ => None,
            });
            let rows = S::INTEGRALS.iter().enumerate().filter_map(|(i, integral)| match integral.kind {
                IntegralKind::HolonomicConstraint { rate } => Some((i, rate)),
                IntegralKind::VelocityConstraint => Some((i, i)),
                _ => None,
            });
            let product =
                |(_, f): (usize, usize), (_, g): (usize, usize)| columns.clone().map(|x| df[f][x] * df[g][x]).sum();
            return Self::new(rows, product);
        }
        // f_q . g_p, of which the bracket is the difference.
        let half_bracket = |f: usize, g: usize| conjugates.clone().map(|(q, p)| df[f][q] * df[g][p]).sum::<f64>();
        let constraints = S::INTEGRALS.iter().enumerate().filter(|(_, integral)| integral.kind.is_constraint());
        if constraints.clone().all(|(_, integral)| integral.kind != IntegralKind::Constraint) {
            let holonomic = constraints.filter_map(|(i, integral)| match integral.kind {
                IntegralKind::HolonomicConstraint { rate } => Some((i, rate)),
                _ => None,
            });
            return Self::new(holonomic, |(g, _), (_, rate)| half_bracket(g, rate));
        }
        // Where there are none, constraints are invariant sets of a field that is given, or derived from a Poisson matrix.
        conjugates.clone().next()?;
        let bracket = |(f, _): (usize, usize), (g, _): (usize, usize)| half_bracket(f, g) - half_bracket(g, f);
        let matrix = Self::new(constraints.map(|(i, _)| (i, i)), bracket)?;
        Some(Self { is_squared: matrix.count > CLOSED, ..matrix })
    }

    /// The matrix with a row and a column for each of `constraints`, unless there are none.
    fn new(
        constraints: impl Iterator<Item = (usize, usize)> + Clone,
        entry: impl Fn((usize, usize), (usize, usize)) -> f64,
    ) -> Option<Self> {
        let entries = Entries::from_fn(|_| filled(0.0));
        let mut matrix = Self { entries, rows: Entries::from_fn(|_| 0), count: 0, is_squared: false };
        for (i, row) in constraints.clone().enumerate() {
            matrix.rows[i] = row.0;
            matrix.count += 1;
            for (j, column) in constraints.clone().enumerate() {
                matrix.entries[i][j] = entry(row, column);
            }
        }
        (matrix.count > 0).then_some(matrix)
    }
}

/// Whether reactions act along rows of velocities, those of velocity constraints or of a Lagrangian system.
fn has_rows_of_velocities<S: FeedbackSystem>() -> bool {
    S::STATE.iter().any(|entry| entry.role == StateRole::Velocity)
        || S::INTEGRALS.iter().any(|integral| integral.kind == IntegralKind::VelocityConstraint)
}

/// The first pivot below `limit` times the largest, as a ratio, and a vector that the scaled matrix takes to nearly 0. The matrix is
/// in the first `k` rows and columns of `a`, whose columns are numbered by `columns`. Apart from its caller: it runs once a start,
/// or when a run has failed.
#[inline(never)]
fn near_null_vector<R: Entries<V>, V: Entries<f64>, C: Entries<usize>>(
    mut a: R,
    mut columns: C,
    k: usize,
    limit: f64,
) -> Option<(f64, V)> {
    if a.as_ref().iter().any(|row| row.as_ref().iter().any(|entry| !entry.is_finite())) {
        return None;
    }
    for i in 0..k {
        let scale = largest(&a[i]);
        if scale == 0.0 {
            return Some((0.0, unit(i)));
        }
        for entry in a[i].as_mut() {
            *entry /= scale;
        }
    }
    for j in 0..k {
        let scale = a.as_ref().iter().fold(0.0, |largest: f64, row| largest.max(row[j].abs()));
        if scale == 0.0 {
            return Some((0.0, unit(j)));
        }
        for row in a.as_mut() {
            row[j] /= scale;
        }
    }
    for step in 0..k {
        pivot(&mut a, &mut columns, step, k);
        let ratio = (a[step][step] / a[0][0]).abs();
        if ratio < limit {
            return Some((ratio, null_vector(&a, &columns, step)));
        }
        for i in step + 1..k {
            let factor = a[i][step] / a[step][step];
            for j in step..k {
                let entry = a[step][j];
                a[i][j] -= factor * entry;
            }
        }
    }
    None
}

/// Brings the largest entry that is left to the diagonal.
fn pivot<R: Entries<V>, V: Entries<f64>, C: Entries<usize>>(a: &mut R, columns: &mut C, step: usize, k: usize) {
    let (mut row, mut column) = (step, step);
    for i in step..k {
        for j in step..k {
            if a[i][j].abs() > a[row][column].abs() {
                (row, column) = (i, j);
            }
        }
    }
    a.as_mut().swap(step, row);
    for row in a.as_mut() {
        row.as_mut().swap(step, column);
    }
    columns.as_mut().swap(step, column);
}

/// The solution of U v = 0 with v = 1 at the pivot that is left out, where U is upper triangular above it.
fn null_vector<R: Entries<V>, V: Entries<f64>, C: Entries<usize>>(u: &R, columns: &C, left_out: usize) -> V {
    let mut v: V = unit(left_out);
    for i in (0..left_out).rev() {
        let known: f64 = (i + 1..=left_out).map(|j| u[i][j] * v[j]).sum();
        v[i] = -known / u[i][i];
    }
    let mut shares: V = filled(0.0);
    for (i, &column) in columns.as_ref().iter().enumerate() {
        shares[column] = v[i];
    }
    shares
}

fn unit<V: Entries<f64>>(i: usize) -> V {
    V::from_fn(|j| if j == i { 1.0 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use core::array;

    use super::near_null_vector;
    use crate::linear::{largest, times};

    fn search<const M: usize>(a: [[f64; M]; M]) -> Option<(f64, [f64; M])> {
        near_null_vector(a, array::from_fn::<usize, M, _>(|j| j), M, 1e-12)
    }

    /// Rows and columns have entries of largest size 1 as they are, so that scaling changes nothing.
    #[test]
    fn the_shares_solve_the_singular_system() {
        let independent = [[1.0, 0.5, -0.25, 0.125], [-0.25, 1.0, 0.5, -1.0], [0.5, -0.25, 1.0, 0.75]];
        let with = |last: [f64; 4]| [independent[0], independent[1], independent[2], last];
        let factors = [0.5, -0.5, 0.25];
        let sum: [f64; 4] = array::from_fn(|j| (0..3).map(|i| factors[i] * independent[i][j]).sum());
        let a = with(sum.map(|entry| entry / largest(&sum)));
        let (ratio, shares) = search(a).unwrap();
        assert!(ratio < 1e-15 && largest(&shares) > 0.5, "{ratio}, {shares:?}");
        let product: [f64; 4] = times(&a, &shares);
        assert!(largest(&product) < 1e-14 * largest(&shares), "{shares:?}");
        let mut regular = with([0.0; 4]);
        (0..4).for_each(|i| regular[i][i] += 0.1);
        assert_eq!(search(regular), None);
    }

    /// Two constraints, each of which is conjugate to the other: the diagonal is zero.
    #[test]
    fn zeros_on_the_diagonal_are_not_a_dependence() {
        assert_eq!(search([[0.0, 1.0], [1.0, 0.0]]), None);
        let (ratio, shares) = search([[0.0, 1.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]).unwrap();
        assert!(ratio < 1e-15 && shares[0].abs() < 1e-15 && shares[1].abs() > 0.5, "{ratio}, {shares:?}");
    }
}
