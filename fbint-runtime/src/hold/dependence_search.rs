//! Constraints that are nearly dependent on one another, found from the generated Jacobian where a run cannot start or continue.
//!
//! The generated code factors A_ij = {g_i, g'_j} of holonomic constraints, C_ij = {f_i, f_j} of others, or A M^-1 A^T of constraints whose
//! reactions act along rows A of velocities, and ignores its pivots. A A^T represents the last, and is singular in the same states. Here
//! the same matrix is formed from DF, scaled so that the units of the constraints do not matter, and eliminated with complete pivoting. The
//! pivot ratio, of the smallest pivot to the largest, says how many digits multipliers lose. Where the code solves more than four equations
//! with C, it does so by the normal equations, whose condition number is the square of C's: there it loses them much earlier. Constraints
//! take part in a dependence if they have a share in the near-null vector.

use crate::error::dependence::Dependence;
use crate::numbers::linear::largest;
use crate::system::dynamical_system::{DynamicalSystem, Scratch};
use crate::system::{Integral, IntegralKind, StateEntry, StateRole};

/// The number of constraints up to which C has a closed inverse.
const CLOSED: usize = 4;
/// The pivot ratio at which the normal equations with their refinement leave about four digits.
const SQUARED: f64 = 1e-7;
/// The pivot ratio of the products of gradients above which these are independent.
const DISTINCT: f64 = 1e-3;

impl Dependence {
    /// The constraints whose matrix has a pivot below `limit` times the largest in state `x` at some time, if there are such.
    pub(crate) fn find(
        system: &dyn DynamicalSystem,
        time: f64,
        x: &[f64],
        limit: f64,
        mut scratch: Scratch<'_>,
    ) -> Option<Self> {
        let (df, columns) = (scratch.rows(), scratch.indices());
        system.jacobian_at(x, df);
        columns.iter_mut().enumerate().for_each(|(j, column)| *column = j);
        let gradients = Gradients { state: system.facts().state, integrals: system.facts().integrals, df };
        let (rows, shares, solution) = (scratch.indices(), scratch.values(), scratch.values());
        gradients.dependence(time, limit, scratch.square(), Workspace { rows, columns, shares, solution })
    }

    /// The velocities of a Lagrangian system that the mass matrix M hardly tells apart: it has a pivot below `limit` times the largest, as
    /// at gimbal lock. M v is the derivative of the energy by the velocities v.
    #[cfg(feature = "std")]
    pub(crate) fn of_velocities(system: &dyn DynamicalSystem, time: f64, x: &[f64], limit: f64) -> Option<Self> {
        let facts = system.facts();
        let energy = facts.integrals.iter().position(|integral| integral.kind == IntegralKind::Energy)?;
        let is_velocity = |i: &usize| facts.state[*i].role == StateRole::Velocity;
        let velocities: std::vec::Vec<usize> = (0..x.len()).filter(is_velocity).collect();
        let count = velocities.len();
        let (mut point, mut rows) = (x.to_vec(), std::vec![0.0; facts.integrals.len() * x.len()]);
        velocities.iter().for_each(|velocity| point[*velocity] = 0.0);
        let mut masses = std::vec::Vec::with_capacity(count * count);
        for velocity in &velocities {
            point[*velocity] = 1.0;
            system.jacobian_at(&point, &mut rows);
            point[*velocity] = 0.0;
            masses.extend(velocities.iter().map(|other| rows[energy * x.len() + other]));
        }
        let mut columns: std::vec::Vec<usize> = (0..count).collect();
        let (mut solution, mut shares) = (std::vec![0.0; count], std::vec![0.0; count]);
        let pivot_ratio = near_null_vector(&mut masses, &mut columns, limit, &mut solution, &mut shares)?;
        let named = velocities.iter().map(|velocity| facts.state[*velocity].name).zip(shares.iter().copied());
        let mut found = Self::of_shares(time, pivot_ratio, named);
        found.is_of_velocities = true;
        Some(found)
    }
}

/// The gradients of all integrals in some state, flat.
struct Gradients<'a> {
    state: &'static [StateEntry],
    integrals: &'static [Integral],
    df: &'a [f64],
}

/// Room for what is found, with an entry for each integral.
struct Workspace<'w> {
    /// The integrals that the rows of the matrix stand for.
    rows: &'w mut [usize],
    /// 0, 1, ...
    columns: &'w mut [usize],
    shares: &'w mut [f64],
    solution: &'w mut [f64],
}

/// The matrix that the generated code inverts, or one that is singular where it is: A of holonomic constraints, C of any others, A A^T of
/// rows of velocities.
struct InvertedMatrix<'w> {
    /// The matrix, row by row.
    entries: &'w mut [f64],
    /// The number of rows.
    count: usize,
    /// `true` if the generated code solves by the normal equations.
    is_squared: bool,
    /// `true` if masses take part.
    has_masses: bool,
}

impl Gradients<'_> {
    /// The constraints whose matrix, for which there is room in `entries`, has a pivot below `limit` times the largest.
    fn dependence(&self, time: f64, limit: f64, entries: &mut [f64], workspace: Workspace<'_>) -> Option<Dependence> {
        let Workspace { rows, columns, shares, solution } = workspace;
        let InvertedMatrix { entries, count, is_squared, has_masses } = self.matrix(entries, rows)?;
        let limit = if is_squared { limit.max(SQUARED) } else { limit };
        let pivot_ratio = near_null_vector(entries, &mut columns[..count], limit, solution, shares)?;
        let involved = rows.iter().zip(shares.iter()).take(count).map(|(row, share)| (*row, *share));
        let mut found = Dependence::among(self.integrals, time, pivot_ratio, involved);
        if has_masses {
            for (place, entry) in entries.iter_mut().enumerate() {
                let [f, g] = [rows[place / count], rows[place % count]];
                *entry = (0..self.state.len()).map(|x| self.at(f, x) * self.at(g, x)).sum();
            }
            columns.iter_mut().enumerate().for_each(|(j, column)| *column = j);
            found.is_by_masses = near_null_vector(entries, &mut columns[..count], DISTINCT, solution, shares).is_none();
        }
        Some(found)
    }

    /// The derivative of integral `i` by entry `j` of the state.
    fn at(&self, i: usize, j: usize) -> f64 {
        self.df[i * self.state.len() + j]
    }

    /// The matrix, and the integrals that its rows stand for. A system without multipliers inverts no matrix: then there is none.
    fn matrix<'w>(&self, entries: &'w mut [f64], rows: &mut [usize]) -> Option<InvertedMatrix<'w>> {
        let conjugates = self.state.iter().enumerate().filter_map(|(q, entry)| match entry.role {
            StateRole::Coordinate { momentum } => Some((q, momentum)),
            _ => None,
        });
        if self.has_rows_of_velocities() {
            // What is linear in velocities has its row A as gradient by velocities, or A H_pp as that by momenta.
            let columns = self.state.iter().enumerate().filter_map(|(column, entry)| match entry.role {
                StateRole::Velocity | StateRole::Momentum { .. } => Some(column),
                _ => None,
            });
            let constraints = self.integrals.iter().enumerate().filter_map(|(i, integral)| match integral.kind {
                IntegralKind::HolonomicConstraint { rate } => Some((i, rate)),
                IntegralKind::VelocityConstraint => Some((i, i)),
                _ => None,
            });
            let product = |(_, f): (usize, usize), (_, g): (usize, usize)| {
                columns.clone().map(|x| self.at(f, x) * self.at(g, x)).sum()
            };
            return InvertedMatrix::new(entries, rows, constraints, product);
        }
        // f_q . g_p, of which the bracket is the difference.
        let half_bracket =
            |f: usize, g: usize| conjugates.clone().map(|(q, p)| self.at(f, q) * self.at(g, p)).sum::<f64>();
        let is_held = |kind: IntegralKind| kind.is_constraint() && kind != IntegralKind::RedundantConstraint;
        let constraints = self.integrals.iter().enumerate().filter(|(_, integral)| is_held(integral.kind));
        if constraints.clone().all(|(_, integral)| integral.kind != IntegralKind::Constraint) {
            let holonomic = constraints.filter_map(|(i, integral)| match integral.kind {
                IntegralKind::HolonomicConstraint { rate } => Some((i, rate)),
                _ => None,
            });
            let matrix = InvertedMatrix::new(entries, rows, holonomic, |(g, _), (_, rate)| half_bracket(g, rate))?;
            return Some(InvertedMatrix { has_masses: true, ..matrix });
        }
        // Where there are none, constraints are invariant sets of a field that is given, or derived from a Poisson matrix.
        conjugates.clone().next()?;
        let bracket = |(f, _): (usize, usize), (g, _): (usize, usize)| half_bracket(f, g) - half_bracket(g, f);
        let matrix = InvertedMatrix::new(entries, rows, constraints.map(|(i, _)| (i, i)), bracket)?;
        Some(InvertedMatrix { is_squared: matrix.count > CLOSED, ..matrix })
    }

    /// Returns `true` if reactions act along rows of velocities, as in velocity constraints and Lagrangian systems.
    fn has_rows_of_velocities(&self) -> bool {
        self.state.iter().any(|entry| entry.role == StateRole::Velocity)
            || self.integrals.iter().any(|integral| integral.kind == IntegralKind::VelocityConstraint)
    }
}

impl<'w> InvertedMatrix<'w> {
    /// The matrix with a row and a column for each of `constraints`, unless there are none.
    fn new(
        entries: &'w mut [f64],
        rows: &mut [usize],
        constraints: impl Iterator<Item = (usize, usize)> + Clone,
        entry: impl Fn((usize, usize), (usize, usize)) -> f64,
    ) -> Option<Self> {
        let count = constraints.clone().count();
        rows.iter_mut().zip(constraints.clone()).for_each(|(row, constraint)| *row = constraint.0);
        let pairs = constraints.clone().flat_map(|row| constraints.clone().map(move |column| (row, column)));
        entries.iter_mut().zip(pairs).for_each(|(slot, (row, column))| *slot = entry(row, column));
        (count > 0).then_some(Self {
            entries: &mut entries[..count * count],
            count,
            is_squared: false,
            has_masses: false,
        })
    }
}

/// The first pivot below `limit` times the largest, as a ratio; then `shares` is a vector that the scaled matrix takes to nearly 0. The
/// matrix is in `a`, row by row, and its columns are numbered by `columns`; `solution` is room for a vector.
fn near_null_vector(
    a: &mut [f64],
    columns: &mut [usize],
    limit: f64,
    solution: &mut [f64],
    shares: &mut [f64],
) -> Option<f64> {
    let k = columns.len();
    if a.iter().any(|entry| !entry.is_finite()) {
        return None;
    }
    let unit = |shares: &mut [f64], i: usize| {
        shares[i] = 1.0;
        Some(0.0)
    };
    for i in 0..k {
        let row = &mut a[i * k..(i + 1) * k];
        let scale = largest(row);
        if scale == 0.0 {
            return unit(shares, i);
        }
        row.iter_mut().for_each(|entry| *entry /= scale);
    }
    for j in 0..k {
        let scale = a.iter().skip(j).step_by(k).fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        if scale == 0.0 {
            return unit(shares, j);
        }
        a.iter_mut().skip(j).step_by(k).for_each(|entry| *entry /= scale);
    }
    for step in 0..k {
        pivot(a, columns, step);
        let ratio = (a[step * k + step] / a[0]).abs();
        if ratio < limit {
            null_vector(a, columns, step, solution, shares);
            return Some(ratio);
        }
        for i in step + 1..k {
            let factor = a[i * k + step] / a[step * k + step];
            for j in step..k {
                a[i * k + j] -= factor * a[step * k + j];
            }
        }
    }
    None
}

/// Brings the largest entry that is left to the diagonal.
fn pivot(a: &mut [f64], columns: &mut [usize], step: usize) {
    let k = columns.len();
    let (mut row, mut column) = (step, step);
    for i in step..k {
        for j in step..k {
            if a[i * k + j].abs() > a[row * k + column].abs() {
                (row, column) = (i, j);
            }
        }
    }
    for j in 0..k {
        a.swap(step * k + j, row * k + j);
    }
    for i in 0..k {
        a.swap(i * k + step, i * k + column);
    }
    columns.swap(step, column);
}

/// The solution of U v = 0 with v = 1 at the pivot that is left out, where U is upper triangular above it.
fn null_vector(u: &[f64], columns: &[usize], left_out: usize, v: &mut [f64], shares: &mut [f64]) {
    let k = columns.len();
    v[left_out] = 1.0;
    for i in (0..left_out).rev() {
        let known: f64 = (i + 1..=left_out).map(|j| u[i * k + j] * v[j]).sum();
        v[i] = -known / u[i * k + i];
    }
    for (column, value) in columns.iter().zip(v) {
        shares[*column] = *value;
    }
}

#[cfg(test)]
mod tests {
    use core::array;

    use super::near_null_vector;
    use crate::numbers::linear::{inner, largest};

    fn search<const M: usize>(mut a: [[f64; M]; M]) -> Option<(f64, [f64; M])> {
        let (mut columns, mut solution, mut shares) = (array::from_fn::<usize, M, _>(|j| j), [0.0; M], [0.0; M]);
        let ratio = near_null_vector(a.as_flattened_mut(), &mut columns, 1e-12, &mut solution, &mut shares)?;
        Some((ratio, shares))
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
        let product = a.map(|row| inner(&row, &shares));
        assert!(largest(&product) < 1e-14 * largest(&shares), "{shares:?}");
        let mut regular = with([0.0; 4]);
        (0..4).for_each(|i| regular[i][i] += 0.1);
        assert_eq!(search(regular), None);
    }

    /// Two constraints that are conjugate to one another: the diagonal is zero.
    #[test]
    fn zeros_on_the_diagonal_are_not_a_dependence() {
        assert_eq!(search([[0.0, 1.0], [1.0, 0.0]]), None);
        let (ratio, shares) = search([[0.0, 1.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]).unwrap();
        assert!(ratio < 1e-15 && shares[0].abs() < 1e-15 && shares[1].abs() > 0.5, "{ratio}, {shares:?}");
    }
}
