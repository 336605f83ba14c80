//! The step that brings derived expressions into shorter forms: exact differentiation writes every term, and some terms of its sums cancel.

use super::factored::collected;
use crate::expression::Expression;
use crate::expression::circle;
use crate::expression::parts::Results;
use crate::proofs::Vanishing;

/// Expressions with more operations are left as they are: what is made of them is refused as too long, or would be after minutes.
const MOST_OPERATIONS: usize = 50_000;

/// Whether an expression has more operations than that when it is written out.
pub fn is_long(expression: &Expression) -> bool {
    expression.operations() > MOST_OPERATIONS
}

/// Brings expressions into shorter forms.
pub trait Simplify {
    /// A shorter, equal expression: 0 if the expression vanishes identically; `None` if it is not a finite real expression.
    fn shortened(&self, expression: &Expression) -> Option<Expression>;

    /// The same, unless the expression is too long for that.
    fn simplified(&self, expression: &Expression) -> Option<Expression> {
        if is_long(expression) { Some(expression.clone()) } else { self.shortened(expression) }
    }

    /// An equal quotient in its lowest terms, where that is shorter; `None` if it is not a finite real expression.
    fn cancelled(&self, expression: &Expression) -> Option<Expression> {
        self.simplified(expression)
    }

    /// Returns `true` if an expression is shown to vanish wherever all constraints do.
    fn vanishes_where(&self, _expression: &Expression, _constraints: &[&Expression]) -> bool {
        false
    }
}

/// Simplifies without algebra: equal terms and equal factors become one, and a part that vanishes by a proof at points modulo primes is 0.
/// Common parts are simplified once.
#[derive(Default)]
pub struct Collect {
    collected: Results<Expression>,
    without_squares: Results<Expression>,
    vanishing: Vanishing,
}

impl Simplify for Collect {
    /// Each distinct part is visited once, so that no expression is too long.
    fn simplified(&self, expression: &Expression) -> Option<Expression> {
        self.shortened(expression)
    }

    fn shortened(&self, expression: &Expression) -> Option<Expression> {
        let collected = circle::simplified(&collected(expression, &self.collected), &self.without_squares);
        let shorter = if collected.operations() <= expression.operations() { collected } else { expression.clone() };
        Some(if self.vanishing.vanishes(&shorter) { Expression::zero() } else { shorter })
    }
}
