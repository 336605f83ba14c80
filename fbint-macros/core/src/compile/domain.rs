//! What is said of functions that are defined nowhere, or have no derivative where it is needed.

use proc_macro2::Span;
use syn::spanned::Spanned;

use super::names;
use crate::derivation::Doubt;
use crate::diagnostics::Errors;
use crate::elaborate::{Dynamics, Model, Quantity};
use crate::expression::{Expression, Function};
use crate::mechanics::{Undefined, is_root, undefined_part};
use crate::notation;
use crate::syntax::Declaration;

/// Reports what is undefined in every state, and constraints that are roots. Gives what was found undefined in every state
/// that was tried, and may be defined in others.
pub(super) fn report(declaration: &Declaration, model: &Model, errors: &mut Errors) -> Vec<Doubt> {
    let names = names(declaration, model, &[]);
    let mut doubts = Vec::new();
    for (value, what, span) in declared(declaration, model) {
        let Some(Undefined { part, is_certain }) = undefined_part(value, model.dimension) else { continue };
        let reason = reason(part);
        if is_certain {
            let text = notation::short(part, &names);
            let text = format!("{what} is defined nowhere: {reason} in every state, as in `{text}`; check its signs");
            errors.push(span, text);
        } else {
            doubts.push(Doubt::Undefined { what, reason, part: part.clone() });
        }
    }
    for Quantity { name, value, span, .. } in model.constraints.iter().chain(&model.phase_constraints) {
        if is_root(value, model.dimension) {
            let text = format!(
                "`{name}` is a root, which has no derivative where it vanishes: drop the root; instead of a `norm`, \
                 constrain the vector itself, entry by entry"
            );
            errors.push(*span, text);
        }
    }
    doubts
}

/// Everything that is declared as a function of the state, with a name for it and its place.
fn declared<'a>(declaration: &Declaration, model: &'a Model) -> Vec<(&'a Expression, String, Span)> {
    let mut all: Vec<(&Expression, String, Span)> = Vec::new();
    let place = |expression: &Option<syn::Expr>| expression.as_ref().map_or_else(Span::call_site, Spanned::span);
    let hamiltonian = |value| (value, "the Hamiltonian".to_owned(), place(&declaration.hamiltonian));
    match &model.dynamics {
        Dynamics::Canonical { hamiltonian: energy } => all.push(hamiltonian(energy)),
        Dynamics::Poisson { matrix, hamiltonian: energy } => {
            all.push(hamiltonian(energy));
            let entries = matrix.iter().flatten();
            all.extend(entries.map(|entry| (entry, "the Poisson matrix".to_owned(), place(&declaration.poisson))));
        }
        Dynamics::Given { rates } => {
            let rate = |(index, rate): (usize, &'a Expression)| {
                let symbol = &model.symbols[index];
                let declared = declaration.dynamics.iter().find(|rate| rate.name == symbol.variable);
                let span = declared.map_or_else(Span::call_site, |rate| rate.name.span());
                (rate, format!("the rate of `{}`", symbol.name), span)
            };
            all.extend(rates.iter().enumerate().map(rate));
        }
    }
    let quantities = model.constraints.iter().chain(&model.phase_constraints).chain(&model.invariants);
    all.extend(quantities.map(|quantity| (&quantity.value, format!("`{}`", quantity.name), quantity.span)));
    all.extend(model.outputs.iter().map(|output| (&output.value, format!("`{}`", output.name), output.span)));
    all
}

fn reason(part: &Expression) -> &'static str {
    match part {
        Expression::Call(Function::Ln, _) => "it takes the logarithm of a number that is not positive",
        Expression::Call(Function::Asin | Function::Acos, _) => {
            "it takes the arcsine or arccosine of a number beyond 1"
        }
        _ => "it takes a root or a real power of a negative number",
    }
}
