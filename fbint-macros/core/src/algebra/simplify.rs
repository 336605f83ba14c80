//! Simplification by computer algebra. Works within a session.

use std::collections::BTreeSet;

use crate::algebra::symbolic::Expr;
use crate::expression::Expression;
use crate::expression::circle;
use crate::mechanics::Simplify;

/// The computer-algebra system.
pub struct Algebra;

impl Simplify for Algebra {
    fn shortened(&self, expression: &Expression) -> Option<Expression> {
        let expression = Expr::read(expression);
        let simplest = circle::simplified(&expression.simplest().write().ok()?);
        let expanded = expression.expanded().and_then(|expanded| expanded.write().ok());
        let expanded = expanded.map(|expanded| circle::simplified(&expanded));
        Some(expanded.filter(|expanded| cost(expanded) < cost(&simplest)).unwrap_or(simplest))
    }

    fn cancelled(&self, expression: &Expression) -> Option<Expression> {
        Expr::read(expression).cancelled().write().ok()
    }
}

/// Different calls of functions, each of which costs as much as tens of other operations, and those.
fn cost(expression: &Expression) -> (usize, usize) {
    let calls = expression.nodes().filter(|node| matches!(node, Expression::Call(..)));
    (calls.collect::<BTreeSet<_>>().len(), expression.operations())
}
