//! What brings derived expressions into shorter forms: exact differentiation writes everything that is needed, and sums of what it writes
//! have terms that cancel.

use crate::expression::Expression;
use crate::expression::circle;
use crate::expression::factored::collected;
use crate::proofs::vanishes_identically;

/// Brings expressions into shorter forms.
pub trait Simplify {
    /// An equal expression, 0 if it is found to vanish identically; `None` if it is not a finite real expression.
    fn simplified(&self, expression: &Expression) -> Option<Expression>;

    /// An equal quotient in its lowest terms, where that is shorter; `None` if it is not a finite real expression.
    fn cancelled(&self, expression: &Expression) -> Option<Expression> {
        self.simplified(expression)
    }
}

/// Simplifies without algebra: equal terms and equal factors become one, and what points modulo primes prove to vanish is 0.
pub struct Collect;

impl Simplify for Collect {
    fn simplified(&self, expression: &Expression) -> Option<Expression> {
        let collected = circle::simplified(&collected(expression));
        let shorter = if collected.operations() <= expression.operations() { collected } else { expression.clone() };
        Some(if vanishes_identically(&shorter) { Expression::zero() } else { shorter })
    }
}
