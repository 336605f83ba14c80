//! Second-class constraints: partners of holonomic constraints and the matrix C (CPV22 section 2.1).

use super::phase_space::{Observable, PhaseSpace};
use crate::derivation::table::Table;
use crate::derivation::{Constraints, IntegralId, Problem};
use crate::expression::Expression;
use crate::numbers::linear::Balanced;
use crate::numbers::number::Numeric;
use crate::numbers::points::sample_points;

/// The blocks A and B where all constraints are holonomic and A is definite, else the whole of C; `None` where a bracket is not a finite
/// real expression.
pub(super) fn constraints(
    space: &PhaseSpace<'_>,
    hamiltonian: &Observable,
    problem: &Problem,
    observables: &Table<IntegralId, Observable>,
) -> Option<Constraints> {
    let (members, pairs) = (problem.constraints(), problem.holonomic_pairs());
    let observed = |ids: &[IntegralId]| ids.iter().map(|id| &observables[*id]).collect::<Vec<_>>();
    let bracket = |f: &Observable, g: &Observable| space.bracket(f, g);
    if members.len() == 2 * pairs.len() {
        let (positions, rates): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let (positions, rates) = (observed(&positions), observed(&rates));
        let a = symmetric(&positions, &rates, bracket)?;
        if is_definite(&a) {
            let b = antisymmetric(&rates, bracket)?;
            return Some(Constraints::Holonomic {
                pairs,
                a,
                b,
                energy_brackets: with_energy(space, hamiltonian, &rates)?,
            });
        }
    }
    let observed = observed(&members);
    let c = antisymmetric(&observed, bracket)?;
    let energy_brackets = with_energy(space, hamiltonian, &observed)?;
    Some(Constraints::General { members, c, energy_brackets })
}

/// A_ij = {g_i, g'_j}, which is symmetric.
fn symmetric(
    positions: &[&Observable],
    rates: &[&Observable],
    bracket: impl Fn(&Observable, &Observable) -> Option<Expression>,
) -> Option<Vec<Vec<Expression>>> {
    let k = positions.len();
    let mut matrix = vec![vec![Expression::zero(); k]; k];
    for i in 0..k {
        for j in i..k {
            matrix[i][j] = bracket(positions[i], rates[j])?;
            matrix[j][i] = matrix[i][j].clone();
        }
    }
    Some(matrix)
}

fn with_energy(space: &PhaseSpace<'_>, hamiltonian: &Observable, members: &[&Observable]) -> Option<Vec<Expression>> {
    members.iter().map(|member| space.negative_free_rate(member, hamiltonian)).collect()
}

fn antisymmetric(
    members: &[&Observable],
    bracket: impl Fn(&Observable, &Observable) -> Option<Expression>,
) -> Option<Vec<Vec<Expression>>> {
    let mut matrix = vec![vec![Expression::zero(); members.len()]; members.len()];
    for i in 0..members.len() {
        for j in i + 1..members.len() {
            let entry = bracket(members[i], members[j])?;
            matrix[j][i] = -entry.clone();
            matrix[i][j] = entry;
        }
    }
    Some(matrix)
}

/// Whether A has pivots of one sign, as it does where H_pp is definite: only then does L D L^T need no exchange of rows.
/// Where A is singular at every point the answer is yes, and `regularity` says what is wrong.
fn is_definite(a: &[Vec<Expression>]) -> bool {
    sample_points().all(|point| {
        let values = a.iter().map(|row| row.iter().map(|entry| point.evaluate(entry)).collect()).collect();
        has_pivots_of_one_sign(values)
    })
}

fn has_pivots_of_one_sign(a: Vec<Vec<f64>>) -> bool {
    let n = a.len();
    let Some(mut matrix) = Balanced::of(a) else { return true };
    let mut sign = 0.0;
    (0..n).all(|step| {
        let pivot = *matrix.entry(step, step);
        if pivot.abs() <= f64::NEGLIGIBLE {
            return (step + 1..n).all(|row| matrix.entry(row, step).abs() <= f64::NEGLIGIBLE);
        }
        let is_other = sign * pivot < 0.0;
        sign = pivot;
        !is_other && matrix.eliminate(step, step)
    })
}
