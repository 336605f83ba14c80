//! What is said of integrals that are not conserved.

use proc_macro2::Span;

use super::{constraints, integrals, names};
use crate::derivation::Derivation;
use crate::diagnostics::Errors;
use crate::elaborate::Model;
use crate::mechanics::Violation;
use crate::notation::{self, Names};
use crate::syntax::{Declaration, ENERGY};

/// Values that a witness lists at most.
const MOST_VALUES: usize = 16;

/// One message for each declared name: entries of a vector that fail together are one mistake.
pub(super) fn explain(
    declaration: &Declaration,
    model: &Model,
    derivation: &Derivation,
    violations: &[Violation],
) -> syn::Error {
    let names = names(declaration, model, &integrals(model, derivation));
    let mut errors = Errors::new();
    let mut rest = violations;
    while let Some(first) = rest.first() {
        let stem = |violation: &Violation| names.integrals[violation.integral].split('[').next().map(str::to_owned);
        let count = rest.iter().take_while(|violation| stem(violation) == stem(first)).count();
        let message = message(derivation, &names, first, &rest[1..count]);
        errors.push(place(model, derivation, first.integral), message);
        rest = &rest[count..];
    }
    let unknown = || syn::Error::new(Span::call_site(), "internal error: integrals are not conserved, and none is");
    errors.flush().err().unwrap_or_else(unknown)
}

fn message(derivation: &Derivation, names: &Names, violation: &Violation, others: &[Violation]) -> String {
    let name = |violation: &Violation| format!("`{}`", names.integrals[violation.integral]);
    let is_set = violation.integral < derivation.constraint_count;
    let restricted = derivation.constraint_count > 0;
    let what = match (is_set, restricted) {
        (true, _) => "is no invariant set of the field: where all constraints hold,",
        (false, true) => "is not conserved: where the constraints hold,",
        (false, false) => "is not conserved:",
    };
    let rate = notation::short(&violation.rate, names);
    let value = number(violation.value);
    let witness = witness(derivation, names, violation);
    let also = match others {
        [] => String::new(),
        [other] => format!("; {} is not conserved either", name(other)),
        _ => format!("; {} are not conserved either", others.iter().map(name).collect::<Vec<_>>().join(", ")),
    };
    let remedy =
        if is_set { "; correct it or the field, or remove it" } else { "; correct its expression, or remove it" };
    let has_multipliers = violation.rate.symbols().iter().any(|symbol| symbol.0 >= derivation.first_multiplier);
    let legend = if has_multipliers { " (c: the multipliers of the constraints)" } else { "" };
    format!("{} {what} d/dt = {rate}{legend}, which is {value} at {witness}{also}{remedy}", name(violation))
}

/// The values of the symbols that the rate depends on; of all, where it contains multipliers.
fn witness(derivation: &Derivation, names: &Names, violation: &Violation) -> String {
    let symbols = violation.rate.symbols();
    let has_multipliers = symbols.iter().any(|symbol| symbol.0 >= derivation.first_multiplier);
    let of_model = 0..derivation.first_multiplier as usize;
    let relevant: Vec<usize> = if has_multipliers && of_model.len() <= MOST_VALUES {
        of_model.collect()
    } else {
        symbols.iter().map(|symbol| symbol.0 as usize).filter(|index| of_model.contains(index)).collect()
    };
    let value = |&index: &usize| format!("{} = {}", names.symbols[index].0, number(violation.state[index]));
    let mut values: Vec<String> = relevant.iter().take(MOST_VALUES).map(value).collect();
    if relevant.len() > MOST_VALUES {
        values.push("..".to_owned());
    }
    values.join(", ")
}

/// Three digits.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e4).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = if size < 1.0 {
        3
    } else if size < 100.0 {
        2
    } else {
        0
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Where an integral is declared.
fn place(model: &Model, derivation: &Derivation, integral: usize) -> Span {
    let energy = derivation.energy.map(|_| (ENERGY.to_owned(), Span::call_site()));
    let invariants = model.invariants.iter().map(|quantity| (quantity.name.clone(), quantity.span));
    let mut all = constraints(model).into_iter().chain(energy).chain(invariants);
    all.nth(integral).map_or_else(Span::call_site, |(_, span)| span)
}
