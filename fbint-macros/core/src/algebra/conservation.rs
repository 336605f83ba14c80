//! Proofs of conservation that take algebra: brackets that vanish when they are expanded, and rates that vanish where the
//! constraints do.
//!
//! For the latter, c is eliminated by Cramer's rule where there are few constraints, and [`vanishing`](super::vanishing) divides the
//! numerator by the constraints.

use std::cell::OnceCell;

use super::LARGEST_DETERMINANT;
use super::vanishing::vanishes_where;
use crate::derivation::{Claim, Conservation, Constraints, Derivation, Evidence, Field, Implicit, IntegralId};
use crate::expression::{Expression, Symbol};
use crate::mechanics::{Observable, PhaseSpace};
use crate::numbers::determinant::determinant;
use crate::proofs::grades;
use crate::symbolic::Expr;
use crate::table::Table;

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
        (None, Field::Given(rates)) => claim_of_given(derivation, rates, integral),
        (None, Field::Implicit(Implicit { rates, .. })) => claim_of_given(derivation, rates, integral),
        (None, Field::Dirac(constraints)) => {
            brackets.get_or_init(|| Brackets::new(derivation, constraints)).claim(integral)
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
fn claim_of_given(derivation: &Derivation, rates: &Table<Symbol, Expression>, integral: IntegralId) -> Claim {
    let mut rate = Expr::zero();
    for (symbol, slope) in &derivation.integrals[integral].gradient {
        rate = &rate + &(&Expr::read(slope) * &Expr::read(&rates[*symbol]));
    }
    let rate = written(&rate.simplest());
    let constraints = constraints(derivation);
    let is_proved = !constraints.is_empty() && vanishes_where(&rate, &constraints);
    claim(is_proved, || rate)
}

/// What is not real anywhere stands as a number that is not 0: nothing is proved of it, and no state will be found for it.
fn written(rate: &Expr) -> Expression {
    rate.write().unwrap_or(Expression::one())
}

/// The brackets of a Dirac field.
struct Brackets<'a> {
    derivation: &'a Derivation,
    constraints: &'a Constraints,
    observables: Table<IntegralId, Observable>,
}

impl<'a> Brackets<'a> {
    fn new(derivation: &'a Derivation, constraints: &'a Constraints) -> Self {
        Self { derivation, constraints, observables: derivation.integrals.map(Observable::read) }
    }

    /// {f, g}
    fn bracket(&self, f: IntegralId, g: IntegralId) -> Expression {
        let space = PhaseSpace::new(&self.derivation.symbols, &self.derivation.structure);
        written(&space.bracket(&self.observables[f], &self.observables[g]))
    }

    fn claim(&self, integral: IntegralId) -> Claim {
        let with_energy = self.derivation.integrals.energy();
        let with_energy = with_energy.map_or_else(Expression::zero, |energy| self.bracket(integral, energy));
        let row: Vec<Expression> =
            self.constraints.members().into_iter().map(|other| self.bracket(integral, other)).collect();
        // There may be too many roots for points modulo primes, such as the distances of many bodies, where terms cancel by expansion.
        if with_energy.is_zero() && row.iter().all(Expression::is_zero) {
            return Claim::Proved(Conservation::Everywhere(Evidence::Algebra));
        }
        let is_proved = self.vanishes_on_constraints(&with_energy, &row) == Some(true);
        claim(is_proved, || self.rate(integral, with_energy))
    }

    /// dI.X where the constraints hold: there, the multipliers of the rates of holonomic constraints vanish.
    fn rate(&self, integral: IntegralId, with_energy: Expression) -> Expression {
        let acting = match self.constraints {
            Constraints::Holonomic { pairs, .. } => pairs.iter().map(|(constraint, _)| *constraint).collect(),
            Constraints::General { members, .. } => members.clone(),
        };
        let reactions = acting.into_iter().filter_map(|constraint| {
            let multiplier = Expression::from(self.derivation.symbols.multiplier(constraint)?);
            Some(multiplier * self.bracket(constraint, integral))
        });
        Expression::sum([with_energy].into_iter().chain(reactions))
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
