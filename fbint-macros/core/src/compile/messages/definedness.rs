//! The wording for functions that are defined nowhere, or have no derivative where one is needed.

use std::collections::BTreeMap;

use num_traits::Signed;
use proc_macro2::Span;
use syn::spanned::Spanned;

use super::Messages;
use crate::derivation::{Doubt, Dynamics, Problem};
use crate::elaborate::{Elaborated, StartValues};
use crate::expression::{Expression, Function, Symbol};
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

impl Messages<'_> {
    /// Reports the first force or rate that is not defined where the declaration says that a run starts.
    pub(in crate::compile) fn undefined_at_start(&self, errors: &Errors) {
        let Some(values) = self.start_values() else { return };
        let at_start =
            |expression: &Expression| expression.evaluate(&|symbol| values.get(&symbol).copied().unwrap_or(f64::NAN));
        let is_known = |expression: &Expression| expression.symbols().iter().all(|symbol| values.contains_key(symbol));
        let rates = match &self.model.problem.dynamics {
            Dynamics::Given { rates } => &rates[..],
            _ => &[],
        };
        let rates = self.model.problem.symbols.states().zip(rates).map(|(state, rate)| (self.rate(state), rate));
        let forces = self.model.problem.forces.iter().map(|(along, force)| (self.force(*along), force));
        let mut undefined = forces.chain(rates).filter(|(_, value)| is_known(value) && !at_start(value).is_finite());
        let Some(((what, span), value)) = undefined.next() else { return };
        let part = innermost(value, &at_start);
        let remedy = if is_reciprocal_length(part) {
            "for the sign of x write `x.signum()`, or `(x / eps).tanh()` with a small `eps`, which a step of any length can follow"
        } else {
            "start elsewhere"
        };
        let (reason, part) = (reason(part), notation::short(part, &self.model.problem.symbols));
        errors.push(span, format_args!("{what} is not defined at the start: {reason} in `{part}`; {remedy}"));
    }

    /// The parameters by default and the entries of the start, if the declaration has both.
    fn start_values(&self) -> Option<BTreeMap<Symbol, f64>> {
        let Elaborated { problem: Problem { symbols, .. }, beginning: StartValues { defaults, start }, .. } =
            self.model;
        let defaults = match defaults {
            Some(defaults) => &defaults[..],
            None if symbols.parameters().next().is_none() => &[],
            None => return None,
        };
        let number = |(symbol, value): (Symbol, &Expression)| (symbol, value.evaluate(&|_| f64::NAN));
        let mut values: BTreeMap<Symbol, f64> = symbols.parameters().zip(defaults).map(number).collect();
        for (symbol, value) in symbols.states().zip(start.as_ref()?) {
            let value = value.evaluate(&|symbol| values.get(&symbol).copied().unwrap_or(f64::NAN));
            values.insert(symbol, value);
        }
        Some(values)
    }

    /// `the force along ..`, and its place.
    fn force(&self, along: Symbol) -> (String, Span) {
        let variable = &self.model.places[along].variable;
        let force = self.declaration.forces.iter().find(|force| force.name == *variable);
        let span = force.map_or_else(|| self.declaration.item.ident.span(), |force| force.value.span());
        (format!("the force along {}", self.state(along)), span)
    }
}

/// The smallest part without a finite value: all parts below it have one.
fn innermost<'e>(expression: &'e Expression, value: &impl Fn(&Expression) -> f64) -> &'e Expression {
    let part = expression.children().find(|child| !value(child).is_finite());
    part.map_or(expression, |part| innermost(part, value))
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

fn reason(part: &Expression) -> &'static str {
    match part {
        Expression::Call(Function::Ln, _) => "it takes the logarithm of a number that is not positive",
        Expression::Call(Function::Asin | Function::Acos, _) => {
            "it takes the arcsine or arccosine of a number beyond 1"
        }
        Expression::Power(_, exponent) if exponent.is_integer() => "it divides by 0",
        Expression::Power(_, exponent) if exponent.is_negative() => {
            "it divides by 0, or takes a root of a negative number,"
        }
        _ => "it takes a root or a real power of a negative number",
    }
}
