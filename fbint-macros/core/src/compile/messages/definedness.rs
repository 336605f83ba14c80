//! The wording for functions that are defined nowhere, or have no derivative where one is needed.

use num_traits::Signed;

use super::Messages;
use crate::derivation::{Doubt, IntegralId, Quantity};
use crate::expression::{Expression, Function};
use crate::notation::{self, reason};
use crate::soundness::UndefinedFunction;
use crate::syntax::diagnostics::Errors;

impl Messages<'_> {
    /// Reports functions that are undefined in every state. Returns doubts about those that may be defined in others than were tried.
    pub(in crate::compile) fn undefined(&self, undefined: Vec<UndefinedFunction>, errors: &Errors) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for UndefinedFunction { quantity, part, is_certain } in undefined {
            if !is_certain {
                doubts.push(Doubt::Undefined { quantity, part });
                continue;
            }
            let (what, span) = self.quantity(quantity);
            let text = format!("{what} is defined nowhere: {} in every state, as in", reason(&part));
            let part = notation::short(&part, &self.model.problem.symbols);
            errors.push(span, format_args!("{text} `{part}`\nhelp: check its signs"));
        }
        doubts
    }

    /// Reports constraints that are roots.
    pub(in crate::compile) fn roots(&self, roots: &[IntegralId], errors: &Errors) {
        for id in roots {
            let text = format!(
                "{} is a root, which has no derivative where it vanishes\nhelp: drop the root; instead of a `norm`, constrain \
                 the vector itself, entry by entry",
                self.name(*id)
            );
            errors.push(self.model.spans[*id], text);
        }
    }

    /// Reports a force or rate that is not defined at the declared start.
    pub(in crate::compile) fn undefined_at_start(&self, quantity: Quantity, part: &Expression, errors: &Errors) {
        let (what, span) = self.quantity(quantity);
        let remedy = if is_reciprocal_length(part) {
            "for the sign of x write `x.signum()`, or `(x / eps).tanh()` with a small `eps`, which a step of any length can follow"
        } else {
            "start elsewhere"
        };
        let (reason, part) = (reason(part), notation::short(part, &self.model.problem.symbols));
        errors.push(span, format_args!("{what} is not defined at the start: {reason} in `{part}`\nhelp: {remedy}"));
    }
}

/// Returns `true` for 1 / |x|, also for a vector.
fn is_reciprocal_length(part: &Expression) -> bool {
    match part {
        Expression::Power(base, exponent) if exponent.is_negative() => match &**base {
            Expression::Call(Function::Abs, _) => true,
            Expression::Power(_, root) => !root.is_integer(),
            Expression::Sum(_) => !exponent.is_integer(),
            _ => false,
        },
        _ => false,
    }
}
