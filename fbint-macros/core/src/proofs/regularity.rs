//! Whether C is invertible anywhere: a set of constraints whose C is singular in every state is not second class.
//!
//! Doubles find the suspects, at a few points in general position. Constraints that are merely close to one another look
//! dependent in doubles, so numbers of 256 bits look again.

use super::elimination::solve;
use super::modular::are_dependent;
use super::states::{State, Values};
use crate::derivation::{Constraints, Derivation, IntegralId};
use crate::expression::Expression;
use crate::points::{Point, sample_points};
use crate::precise::Real;

/// Entries of a normalised null vector below this count as zero.
const NEGLIGIBLE: f64 = 1e-6;
/// Pivots below this vanish, relative to rows of size one.
const SMALLEST_PIVOT: f64 = 1e-10;

/// The constraints that a vector of the null space of C involves, if C is singular at all points in general position.
pub(super) fn find_singularity(derivation: &Derivation) -> Option<Vec<IntegralId>> {
    let mut singularity = None;
    for point in sample_points() {
        match regularity(derivation, &|expression| point.evaluate(expression)) {
            Regularity::Full => return None,
            Regularity::Undefined => {}
            Regularity::Deficient(members) => {
                let state = State::new(&values_at(&point, derivation));
                if is_regular(derivation, &state) {
                    return None;
                }
                if !has_lost_entries(derivation, &state) || is_singular(derivation, &members) {
                    singularity = Some(members);
                }
            }
        }
    }
    singularity
}

/// Whether the columns of C that belong to these constraints are proved to be dependent in every state.
pub(crate) fn is_singular(derivation: &Derivation, members: &[IntegralId]) -> bool {
    derivation.constraints().is_some_and(|constraints| {
        let all = constraints.members();
        let columns: Vec<usize> = (0..all.len()).filter(|&column| members.contains(&all[column])).collect();
        are_dependent(&constraints.matrix(), &columns)
    })
}

/// The rank of C in one state.
pub(super) enum Regularity {
    Full,
    /// The constraints that a vector of the null space involves.
    Deficient(Vec<IntegralId>),
    /// Some entry is not finite.
    Undefined,
}

impl Regularity {
    pub(super) fn deficient(self) -> Option<Vec<IntegralId>> {
        match self {
            Self::Deficient(members) => Some(members),
            Self::Full | Self::Undefined => None,
        }
    }
}

/// The rank of C where expressions have these values.
pub(super) fn regularity(derivation: &Derivation, value: &impl Fn(&Expression) -> f64) -> Regularity {
    let c = derivation.constraint_matrix(value);
    if c.iter().flatten().any(|entry| !entry.is_finite()) {
        return Regularity::Undefined;
    }
    let members = derivation.constraints().map_or_else(Vec::new, Constraints::members);
    match null_vector(c) {
        Some(columns) => Regularity::Deficient(columns.into_iter().map(|column| members[column]).collect()),
        None => Regularity::Full,
    }
}

fn values_at(point: &Point, derivation: &Derivation) -> Values {
    derivation.symbols.unknowns().map(|symbol| point.symbol(symbol)).collect()
}

/// Whether precise numbers show that C is invertible in a state.
pub(super) fn is_regular(derivation: &Derivation, state: &State) -> bool {
    let Some(constraints) = derivation.constraints() else { return false };
    let matrix = constraints.matrix();
    let zeros = vec![Real::zero(); matrix.len()];
    let rows = matrix.iter().map(|row| row.iter().map(|entry| state.evaluate(entry)).collect());
    let rows: Option<Vec<Vec<Real>>> = rows.collect();
    rows.is_some_and(|rows| solve(rows, zeros).is_some())
}

/// Whether precise numbers have lost an entry of C, as that of (x / 10)^400 at x = 1, which is below their range: then they do not
/// tell whether it vanishes.
fn has_lost_entries(derivation: &Derivation, state: &State) -> bool {
    let matrix = derivation.constraints().map_or_else(Vec::new, Constraints::matrix);
    let mut entries = matrix.iter().flatten().filter_map(|entry| state.evaluate(entry));
    entries.any(|entry| entry.is_lost())
}

/// The columns that a vector of the null space involves, if there is one: Gaussian elimination with complete pivoting on rows
/// scaled to one.
fn null_vector(mut c: Vec<Vec<f64>>) -> Option<Vec<usize>> {
    let m = c.len();
    for row in &mut c {
        let largest = row.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        row.iter_mut().for_each(|entry| *entry /= if largest > 0.0 { largest } else { 1.0 });
    }
    let mut columns: Vec<usize> = (0..m).collect();
    for step in 0..m {
        let (mut pivot, mut at) = (0.0, (step, step));
        for i in step..m {
            for j in step..m {
                if c[i][j].abs() > pivot {
                    (pivot, at) = (c[i][j].abs(), (i, j));
                }
            }
        }
        if pivot < SMALLEST_PIVOT {
            return Some(support(&c, step, &columns));
        }
        c.swap(step, at.0);
        c.iter_mut().for_each(|row| row.swap(step, at.1));
        columns.swap(step, at.1);
        for i in step + 1..m {
            let factor = c[i][step] / c[step][step];
            for j in step..m {
                c[i][j] -= factor * c[step][j];
            }
        }
    }
    None
}

/// The columns that take part in the null vector whose free entry is column `rank`, from the upper triangle.
fn support(c: &[Vec<f64>], rank: usize, columns: &[usize]) -> Vec<usize> {
    let mut null = vec![0.0; rank + 1];
    null[rank] = 1.0;
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..=rank).map(|j| c[i][j] * null[j]).sum();
        null[i] = -sum / c[i][i];
    }
    let mut members: Vec<usize> = (0..=rank).filter(|&i| null[i].abs() > NEGLIGIBLE).map(|i| columns[i]).collect();
    members.sort_unstable();
    members
}
