//! The wording for functions that are defined nowhere, or have no derivative where one is needed.

use super::Messages;
use crate::derivation::Doubt;
use crate::expression::{Expression, Function};
use crate::notation;
use crate::proofs::{Undefined, is_root, undefined_part};
use crate::syntax::diagnostics::Errors;

impl Messages<'_> {
    /// Reports functions that are undefined in every state, and constraints that are roots. Returns doubts about functions that were
    /// undefined in every state that was tried, and may be defined in others.
    pub(in crate::compile) fn undefined(&self, errors: &Errors) -> Vec<Doubt> {
        let model = self.model;
        let symbols = &model.problem.symbols;
        let mut doubts = Vec::new();
        for (quantity, value) in model.problem.functions() {
            let Some(Undefined { part, is_certain }) = undefined_part(value, symbols) else { continue };
            let (what, span) = self.quantity(quantity);
            let reason = reason(part);
            if is_certain {
                let text = format!("{what} is defined nowhere: {reason} in every state, as in");
                errors.push(span, format_args!("{text} `{}`; check its signs", notation::short(part, symbols)));
            } else {
                doubts.push(Doubt::Undefined { what, reason, part: part.clone() });
            }
        }
        for (id, integral) in model.problem.integrals.iter() {
            let is_root = integral.value.as_ref().is_some_and(|value| is_root(value, symbols));
            if integral.kind.is_constraint() && is_root {
                let text = format!(
                    "`{}` is a root, which has no derivative where it vanishes: drop the root; instead of a `norm`, constrain \
                     the vector itself, entry by entry",
                    integral.name
                );
                errors.push(model.spans[id], text);
            }
        }
        doubts
    }
}

fn reason(part: &Expression) -> &'static str {
    match part {
        Expression::Call(Function::Ln, _) => "it takes the logarithm of a number that is not positive",
        Expression::Call(Function::Asin | Function::Acos, _) => {
            "it takes the arcsine or arccosine of a number beyond 1"
        }
        Expression::Power(_, exponent) if exponent.is_integer() => "it divides by 0",
        _ => "it takes a root or a real power of a negative number",
    }
}
