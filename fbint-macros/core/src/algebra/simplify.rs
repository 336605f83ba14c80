//! Simplification by computer algebra. Works within a session.

use std::collections::BTreeSet;

use super::expansion::{expanded, in_lowest_terms};
use super::vanishing;
use crate::algebra::symbolic::Expr;
use crate::expression::circle;
use crate::expression::parts::Results;
use crate::expression::{Expression, Function};
use crate::mechanics::factored::factored;
use crate::mechanics::{Simplify, is_long};
use crate::proofs::vanishes_identically;

/// The computer-algebra system.
pub struct Algebra;

impl Simplify for Algebra {
    /// Among the present form and the one that is multiplied out, the one with fewer operations, or, where there are angles, with fewer
    /// calls in the end. Vanishing is decided exactly for rational expressions; of others, some that vanish may be missed.
    fn shortened(&self, expression: &Expression) -> Option<Expression> {
        let own = Expr::read(expression).write()?;
        let finished = |form: &Expression| circle::simplified(&factored(form), &Results::default());
        let Some(expanded) = expanded(&own) else { return Some(finished(&own)) };
        if has(&expanded, is_power_of_sum) && vanishes_identically(&expanded) {
            return Some(Expression::zero());
        }
        let (present, other) = (finished(&own), finished(&expanded));
        let is_better =
            expanded.operations() < own.operations() || has(&own, is_angle) && cost(&other) < cost(&present);
        Some(if is_better { other } else { present })
    }

    fn cancelled(&self, expression: &Expression) -> Option<Expression> {
        if is_long(expression) {
            return Some(expression.clone());
        }
        let own = Expr::read(expression).write()?;
        let shorter = in_lowest_terms(&own).filter(|quotient| quotient.operations() < own.operations());
        Some(factored(&shorter.unwrap_or(own)))
    }

    fn vanishes_where(&self, expression: &Expression, constraints: &[&Expression]) -> bool {
        vanishing::vanishes_where(expression, constraints)
    }
}

fn has(expression: &Expression, is_meant: impl Fn(&Expression) -> bool) -> bool {
    expression.nodes().any(is_meant)
}

/// Expansion alone may not bring terms with such powers together.
fn is_power_of_sum(node: &Expression) -> bool {
    matches!(node, Expression::Power(base, _) if matches!(**base, Expression::Sum(_)))
}

fn is_angle(node: &Expression) -> bool {
    matches!(node, Expression::Call(Function::Sin | Function::Cos, _))
}

/// The number of different calls of functions, which cost as much as tens of other operations each, and the number of other operations.
fn cost(expression: &Expression) -> (usize, usize) {
    let calls = expression.nodes().filter(|node| matches!(node, Expression::Call(..)));
    (calls.collect::<BTreeSet<_>>().len(), expression.operations())
}
