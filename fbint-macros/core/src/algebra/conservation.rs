//! Proofs of conservation that take algebra: brackets that vanish when they are expanded, and rates that vanish where the
//! constraints do.
//!
//! For the latter, c is eliminated by Cramer's rule where there are at most four constraints,
//!
//! dI.X = det [[C^T, b], [{I, f}, {I, H}]] / det C
//!
//! and [`vanishing`](super::vanishing) divides the numerator by the constraints.

use std::cell::OnceCell;

use super::LARGEST_DETERMINANT;
use super::simplify::Algebra;
use super::vanishing::vanishes_where;
use crate::derivation::table::Table;
use crate::derivation::{Claim, Conservation, Constraints, Derivation, Evidence, Field, IntegralId};
use crate::expression::Expression;
use crate::mechanics::phase_space::{Observable, PhaseSpace};
use crate::mechanics::rate;
use crate::numbers::determinant::determinant;
use crate::proofs::grades;

/// What algebra says to every integral. Runs within a session.
pub fn claims(derivation: &Derivation) -> Table<IntegralId, Claim> {
    claims_beside(derivation, &grades(derivation))
}

/// What algebra says to every integral of which numbers prove nothing. Runs within a session.
pub(super) fn claims_beside(
    derivation: &Derivation,
    grades: &Table<IntegralId, Option<Conservation>>,
) -> Table<IntegralId, Claim> {
    let brackets = OnceCell::new();
    let claim = |integral| match (grades[integral], &derivation.field) {
        (Some(grade), _) => Claim::Proved(grade),
        (None, Field::Given(_) | Field::Implicit(_)) => claim_of_given(derivation, integral),
        (None, Field::Dirac(constraints)) => {
            brackets.get_or_init(|| Elimination::new(derivation, constraints)).claim(integral)
        }
    };
    derivation.integrals.ids().map(claim).collect()
}

fn claim(is_proved: bool, rate: impl FnOnce() -> Expression) -> Claim {
    if is_proved { Claim::Proved(Conservation::OnConstraints(Evidence::Algebra)) } else { Claim::Open { rate: rate() } }
}

/// The functions that vanish on the constraint set.
fn constraints(derivation: &Derivation) -> Vec<&Expression> {
    derivation.integrals.constraints().map(|(_, constraint)| &constraint.value).collect()
}

/// dI.X = sum_i dI/dx_i x'_i
fn claim_of_given(derivation: &Derivation, integral: IntegralId) -> Claim {
    let rate = rate(derivation, integral, &Algebra);
    let constraints = constraints(derivation);
    let is_proved = !constraints.is_empty() && vanishes_where(&rate, &constraints);
    claim(is_proved, || rate)
}

/// The brackets of a Dirac field.
struct Elimination<'a> {
    derivation: &'a Derivation,
    constraints: &'a Constraints,
    observables: Table<IntegralId, Observable>,
}

impl<'a> Elimination<'a> {
    fn new(derivation: &'a Derivation, constraints: &'a Constraints) -> Self {
        Self { derivation, constraints, observables: derivation.integrals.map(Observable::of) }
    }

    fn claim(&self, integral: IntegralId) -> Claim {
        let space = PhaseSpace::of(self.derivation, &Algebra);
        // What is not finite and real stands as a number that is not 0.
        let real = |expression: Option<Expression>| expression.unwrap_or_else(Expression::one);
        let own = &self.observables[integral];
        let with_energy = self.derivation.integrals.energy();
        let with_energy =
            with_energy.map_or_else(Expression::zero, |energy| real(space.free_rate(own, &self.observables[energy])));
        let members = self.constraints.members().into_iter();
        let row: Vec<Expression> =
            members.map(|member| -real(space.response(own, &self.observables[member]))).collect();
        // There may be too many roots for points modulo primes, such as the distances of many bodies, where terms cancel by expansion.
        if with_energy.is_zero() && row.iter().all(Expression::is_zero) {
            return Claim::Proved(Conservation::Everywhere(Evidence::Algebra));
        }
        let is_proved = self.vanishes_on_constraints(&with_energy, &row) == Some(true);
        claim(is_proved, || rate(self.derivation, integral, &Algebra))
    }

    /// `None` where there are too many constraints, or C is singular everywhere.
    fn vanishes_on_constraints(&self, with_energy: &Expression, row: &[Expression]) -> Option<bool> {
        let all = constraints(self.derivation);
        let (rows, right_side, own) = match self.constraints {
            Constraints::Holonomic { a, energy_brackets, .. } => (a.clone(), energy_brackets.clone(), &row[..a.len()]),
            Constraints::General { c, .. } => {
                (transposed(c), self.constraints.right_side(&self.derivation.integrals), row)
            }
        };
        let is_zero = |expression: &Expression| expression.is_zero() || vanishes_where(expression, &all);
        if all.is_empty() || rows.len() >= LARGEST_DETERMINANT {
            return None;
        }
        let whole = determinant(&rows);
        // Where all brackets vanish nothing has to be eliminated, which makes high degrees.
        let vanishes = [with_energy].into_iter().chain(own).all(is_zero) || {
            let rate = bordered(rows.iter().cloned().zip(right_side), own, with_energy);
            is_zero(&rate.divide(whole.clone()).ok()?)
        };
        Some(vanishes && self.multipliers_of_rates(&rows, &whole)?.iter().all(is_zero))
    }

    /// The multipliers A^-1 g' of the rates of holonomic constraints, which have to vanish where A has an inverse, and where it
    /// does not, too: there, a common factor of A and g' may have been divided out.
    fn multipliers_of_rates(&self, a: &[Vec<Expression>], whole: &Expression) -> Option<Vec<Expression>> {
        let Constraints::Holonomic { pairs, .. } = self.constraints else { return Some(Vec::new()) };
        let replaced = |column: usize| {
            let rows = a.iter().zip(pairs).map(|(row, (_, rate))| {
                let mut row = row.clone();
                row[column] = self.derivation.integrals[*rate].value.clone();
                row
            });
            determinant(&rows.collect::<Vec<_>>()).divide(whole.clone()).ok()
        };
        (0..a.len()).map(replaced).collect()
    }
}

fn transposed(matrix: &[Vec<Expression>]) -> Vec<Vec<Expression>> {
    (0..matrix.len()).map(|j| matrix.iter().map(|row| row[j].clone()).collect()).collect()
}

/// det [[M, b], [r, h]], from the rows of M and b.
fn bordered(
    rows: impl Iterator<Item = (Vec<Expression>, Expression)>,
    last: &[Expression],
    corner: &Expression,
) -> Expression {
    let with = |mut row: Vec<Expression>, entry: Expression| {
        row.push(entry);
        row
    };
    let mut matrix: Vec<Vec<Expression>> = rows.map(|(row, entry)| with(row, entry)).collect();
    matrix.push(with(last.to_vec(), corner.clone()));
    determinant(&matrix)
}
