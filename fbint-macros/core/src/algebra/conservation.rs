//! Proofs of conservation that take algebra: brackets that vanish when they are expanded, and rates that vanish where the
//! constraints do.
//!
//! For the latter, c is eliminated by Cramer's rule where there are at most four constraints,
//!
//! dI.X = det [[C^T, b], [{I, f}, {I, H}]] / det C
//!
//! and [`vanishing`](super::vanishing) divides the numerator by the constraints.

use super::LARGEST_DETERMINANT;
use super::simplify::Algebra;
use super::vanishing::vanishes_where;
use crate::derivation::table::Table;
use crate::derivation::{Claim, Conservation, Derivation, Evidence, IntegralId, LinearSystem};
use crate::expression::{Expression, Symbol};
use crate::mechanics::RateParts;
use crate::numbers::determinant::{determinant, determinant_with};

/// What algebra says to every integral of which numbers prove no grade. Runs within a session.
pub fn claims(derivation: &Derivation, grades: &Table<IntegralId, Option<Conservation>>) -> Table<IntegralId, Claim> {
    let claim = |integral| grades[integral].map_or_else(|| claim(derivation, integral), Claim::Proved);
    derivation.integrals.ids().map(claim).collect()
}

fn claim(derivation: &Derivation, integral: IntegralId) -> Claim {
    let parts = RateParts::of(derivation, integral, &Algebra);
    // There may be too many roots for points modulo primes, such as the distances of many bodies, where terms cancel by expansion.
    if parts.free.is_zero() && parts.responses.iter().all(|(_, response)| response.is_zero()) {
        return Claim::Proved(Conservation::Everywhere(Evidence::Algebra));
    }
    let set: Vec<&Expression> = derivation.integrals.constraints().map(|(_, constraint)| &constraint.value).collect();
    let is_eliminated = derivation.hamel.is_none() && !derivation.field.systems.is_empty();
    let eliminated = is_eliminated && vanishes_without_multipliers(derivation, &parts, &set) == Some(true);
    let rate = parts.on_constraints(derivation);
    if eliminated || !is_eliminated && !set.is_empty() && vanishes_where(&rate, &set) {
        return Claim::Proved(Conservation::OnConstraints(Evidence::Algebra));
    }
    Claim::Open { rate }
}

/// `None` where there are too many constraints, or their matrix is singular everywhere.
fn vanishes_without_multipliers(derivation: &Derivation, parts: &RateParts, set: &[&Expression]) -> Option<bool> {
    let (system, before) = derivation.field.systems.split_last()?;
    let is_zero = |expression: &Expression| expression.is_zero() || vanishes_where(expression, set);
    if set.is_empty() || system.matrix.len() >= LARGEST_DETERMINANT {
        return None;
    }
    let response = |unknown: &Symbol| parts.responses.iter().find(|(multiplier, _)| multiplier == unknown);
    let row = |unknown| response(unknown).map_or_else(Expression::zero, |(_, response)| -response.clone());
    let own: Vec<Expression> = system.unknowns.iter().map(row).collect();
    let whole = determinant(&system.matrix);
    // Where all brackets vanish nothing has to be eliminated, which makes high degrees.
    let vanishes = [&parts.free].into_iter().chain(&own).all(is_zero) || {
        // What the systems before are solved for vanishes where the constraints hold.
        let is_solved = |symbol| before.iter().any(|system| system.unknowns.contains(&symbol));
        let on_set = |symbol| if is_solved(symbol) { Expression::zero() } else { Expression::from(symbol) };
        let right_side = system.right_side.iter().map(|entry| entry.substituted(&on_set));
        let above = system.matrix.iter().zip(right_side).map(|(row, entry)| [&row[..], &[entry]].concat());
        let last = own.iter().chain([&parts.free]).cloned().collect();
        let bordered: Vec<Vec<Expression>> = above.chain([last]).collect();
        is_zero(&determinant(&bordered).divide(whole.clone()).ok()?)
    };
    let mut solutions = Vec::new();
    for system in before {
        solutions.extend((0..system.unknowns.len()).map(|place| solution(system, place)).collect::<Option<Vec<_>>>()?);
    }
    Some(vanishes && solutions.iter().all(is_zero))
}

/// What a system is solved for, by Cramer's rule. The multipliers A^-1 g' of the rates of holonomic constraints have to vanish where A
/// has an inverse, and where it does not, too: there, a common factor of A and g' may have been divided out.
fn solution(system: &LinearSystem, place: usize) -> Option<Expression> {
    determinant_with(&system.matrix, place, &system.right_side).divide(determinant(&system.matrix)).ok()
}
