//! Linear systems and rates, and the parts of a frame, in shorter forms.

use super::simplify::Simplify;
use super::written::Written;
use crate::derivation::{Dynamics, Field, Hamel, Problem};
use crate::expression::Expression;

/// `None` where something in it is not a finite real expression.
pub(super) fn field(mut field: Field, written: &Written, simplify: &dyn Simplify) -> Option<Field> {
    for expression in field.expressions_mut() {
        *expression = simplest(expression, written, simplify)?;
    }
    Some(field)
}

/// `None` where something in it is not a finite real expression.
pub(super) fn hamel(mut hamel: Hamel, written: &Written, simplify: &dyn Simplify) -> Option<Hamel> {
    let Hamel { momenta, forces, brackets, .. } = &mut hamel;
    let coefficients = brackets.iter_mut().flat_map(|bracket| &mut bracket.coefficients);
    for (_, expression) in momenta.iter_mut().chain(forces).chain(coefficients) {
        *expression = simplest(expression, written, simplify)?;
    }
    Some(hamel)
}

/// The problem with the brackets of its frame in their lowest terms. Cramer's rule divides by determinants that cancel, and what is not
/// cancelled here is expanded with every momentum. `None` where one is not a finite real expression.
pub(super) fn in_lowest_terms(problem: &Problem, simplify: &dyn Simplify) -> Option<Problem> {
    let mut problem = problem.clone();
    if let Dynamics::Lagrangian(lagrangian) = &mut problem.dynamics {
        for (_, coefficient) in lagrangian.brackets.iter_mut().flat_map(|bracket| &mut bracket.coefficients) {
            *coefficient = simplify.cancelled(coefficient)?;
        }
    }
    Some(problem)
}

/// Unchanged, unless the simplified form takes fewer operations.
fn simplest(expression: &Expression, written: &Written, simplify: &dyn Simplify) -> Option<Expression> {
    Some(written.form(expression, &simplify.simplified(expression)?))
}
