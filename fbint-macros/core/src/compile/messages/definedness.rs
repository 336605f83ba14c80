//! The wording for functions that are defined nowhere, or have no derivative where one is needed.

use proc_macro2::Span;

use super::Messages;
use crate::derivation::{Doubt, Dynamics, Lagrangian};
use crate::diagnostics::Errors;
use crate::elaborate::{Undefined, is_root, undefined_part};
use crate::expression::{Expression, Function};
use crate::notation;

impl<'a> Messages<'a> {
    /// Reports functions that are undefined in every state, and constraints that are roots. Returns doubts about functions that were
    /// undefined in every state that was tried, and may be defined in others.
    pub(in crate::compile) fn undefined(&self, errors: &Errors) -> Vec<Doubt> {
        let model = self.model;
        let symbols = &model.problem.symbols;
        let mut doubts = Vec::new();
        for (value, what, span) in self.declared() {
            let Some(Undefined { part, is_certain }) = undefined_part(value, symbols) else { continue };
            let reason = reason(part);
            if is_certain {
                let text = notation::short(part, symbols);
                let text =
                    format!("{what} is defined nowhere: {reason} in every state, as in `{text}`; check its signs");
                errors.push(span, text);
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

    /// Everything that is declared as a function of the state, with a name for it and its place.
    fn declared(&self) -> Vec<(&'a Expression, String, Span)> {
        let problem = &self.model.problem;
        let mut all: Vec<(&Expression, String, Span)> = Vec::new();
        if let Some(hamiltonian) = problem.dynamics.hamiltonian() {
            all.push((hamiltonian, "the Hamiltonian".to_owned(), self.place(&self.declaration.hamiltonian)));
        }
        match &problem.dynamics {
            Dynamics::Canonical { .. } => {}
            Dynamics::Lagrangian(Lagrangian { lagrangian, kinematics, .. }) => {
                all.push((lagrangian, "the Lagrangian".to_owned(), self.place(&self.declaration.lagrangian)));
                all.extend(kinematics.iter().map(|(coordinate, rate)| {
                    let (what, span) = self.rate(*coordinate);
                    (rate, what, span)
                }));
            }
            Dynamics::Poisson { matrix, .. } => {
                let span = self.place(&self.declaration.poisson);
                all.extend(matrix.iter().flatten().map(|entry| (entry, "the Poisson matrix".to_owned(), span)));
            }
            Dynamics::Given { rates } => {
                let rate = |(state, rate)| {
                    let (what, span) = self.rate(state);
                    (rate, what, span)
                };
                all.extend(problem.symbols.states().zip(rates).map(rate));
            }
        }
        let integrals = problem.integrals.iter().filter_map(|(id, integral)| Some((id, integral.value.as_ref()?)));
        all.extend(integrals.map(|(id, value)| (value, self.name(id), self.model.spans[id])));
        let outputs = problem.outputs.iter().zip(&self.model.output_spans);
        all.extend(outputs.map(|(output, span)| (&output.value, format!("`{}`", output.name), *span)));
        all
    }
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
