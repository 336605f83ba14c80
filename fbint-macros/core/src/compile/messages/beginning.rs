//! A declared start that is off the constraints.

use std::collections::BTreeMap;

use syn::spanned::Spanned;

use super::Messages;
use crate::derivation::{Derivation, Integral};
use crate::expression::{Expression, Symbol};
use crate::syntax::plain;

/// A constraint counts as violated where its value is more than this part of the terms that cancel in it. Runs are stricter.
const VIOLATED: f64 = 1e-6;

impl Messages<'_> {
    /// Refuses a start that violates a constraint, where the numbers of both are known: by the defaults of the parameters, if at all.
    pub(in crate::compile) fn start(&self, derivation: &Derivation) -> syn::Result<()> {
        let Some(start) = self.start_in_numbers(derivation) else { return Ok(()) };
        let constraints = derivation.integrals.rows().filter(|integral| integral.kind.is_constraint());
        let mut violations = constraints.filter_map(|integral| Some((integral, violation(integral, &start)?)));
        violations.next().map_or(Ok(()), |(integral, value)| Err(self.violated(derivation, integral, value)))
    }

    /// The start and the parameters that have defaults.
    fn start_in_numbers(&self, derivation: &Derivation) -> Option<BTreeMap<Symbol, f64>> {
        let (beginning, symbols) = (&self.model.beginning, &derivation.symbols);
        let defaults = beginning.defaults.iter().flatten().map(|value| value.evaluate(&|_| f64::NAN));
        let mut numbers: BTreeMap<Symbol, f64> = symbols.parameters().zip(defaults).collect();
        let of_parameters = |entry: &Expression| evaluate(entry, &numbers);
        let entries: Vec<f64> = beginning.start.as_ref()?.iter().map(of_parameters).collect();
        numbers.extend(symbols.states().zip(entries));
        Some(numbers)
    }

    /// The error, at the value of the last variable of the state that the constraint depends on: a rate is mended by its momenta.
    fn violated(&self, derivation: &Derivation, integral: &Integral, value: f64) -> syn::Error {
        let variables = derivation.symbols.variables();
        let is_involved = |entries: &[Symbol]| entries.iter().any(|entry| integral.gradient.contains_key(entry));
        let last = variables.iter().rfind(|(_, entries)| is_involved(entries)).map(|(name, _)| *name);
        let culprit = self.declaration.start.iter().find(|named| last == Some(&*plain(&named.name)));
        let span = culprit.map_or_else(|| self.declaration.item.ident.span(), |named| named.value.span());
        let name = &integral.name;
        let of = if self.model.beginning.defaults.is_some() { ", for the default parameters" } else { "" };
        let text = format!("the start violates the constraint `{name}`: its value there is {value:.3e}{of}");
        syn::Error::new(span, format!("{text}, but must be 0; correct the start"))
    }
}

/// The value of a constraint that is not 0 in numbers that are all known.
fn violation(integral: &Integral, start: &BTreeMap<Symbol, f64>) -> Option<f64> {
    let value = evaluate(&integral.value, start);
    let terms = integral.gradient.iter().map(|(symbol, slope)| {
        let size = start.get(symbol).copied().unwrap_or(f64::NAN);
        (evaluate(slope, start) * size).abs()
    });
    (value.abs() > VIOLATED * terms.sum::<f64>()).then_some(value)
}

/// The value of an expression, NaN where something is not known.
fn evaluate(expression: &Expression, numbers: &BTreeMap<Symbol, f64>) -> f64 {
    expression.evaluate(&|symbol| numbers.get(&symbol).copied().unwrap_or(f64::NAN))
}
