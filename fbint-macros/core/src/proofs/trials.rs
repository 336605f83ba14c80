//! States at which an attempt is made to refute a claim: close to where functions change.

use std::collections::BTreeMap;

use super::states::{self, Values, VanishingFunction};
use crate::derivation::{Derivation, SparseRow};
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;

/// Parts of expressions whose zeros are looked for.
const MOST_PARTS: usize = 24;
/// Distances from a zero, relative to its size or to 1. Where few states are tried, the largest ones are.
const DISTANCES: [f64; 4] = [0.1, 1e-4, 1e-9, 4e-15];

/// States close to zeros of what functions and powers are applied to, of one such part at a time or of all of them at once.
pub(super) fn critical(derivation: &Derivation, expressions: &[&Expression], most: usize) -> Vec<Values> {
    let (mut parts, seen) = (Vec::new(), Default::default());
    expressions.iter().for_each(|expression| collect(expression, false, &mut parts, &seen));
    let sets = parts.iter().map(std::slice::from_ref).chain([&parts[..]]).filter(|set| !set.is_empty()).cycle();
    let starts = states::general(&derivation.symbols)
        .zip(sets)
        .take(most)
        .flat_map(|(source, set)| across(derivation, set, source));
    starts.take(most).collect()
}

/// Sums and symbols within functions and powers that are not natural.
fn collect<'a>(expression: &'a Expression, inside: bool, parts: &mut Vec<&'a Expression>, seen: &[Results<()>; 2]) {
    let seen_here = &seen[usize::from(inside)];
    if seen_here.get(expression).is_some() {
        return;
    }
    seen_here.insert(expression, &());
    let is_part = matches!(expression, Expression::Sum(_) | Expression::Symbol(_));
    if inside && is_part && !parts.contains(&expression) && parts.len() < MOST_PARTS {
        parts.push(expression);
    }
    let is_function = match expression {
        Expression::Call(..) => true,
        Expression::Power(_, exponent) => !exponent.is_integer() || *exponent.numer() < 0.into(),
        _ => false,
    };
    expression.children().for_each(|child| collect(child, inside || is_function, parts, seen));
}

/// States on either side of the zero of some parts to which Newton's steps lead, on the constraint set: where a force begins to act, say,
/// which depends on several coordinates together.
fn across(derivation: &Derivation, parts: &[&Expression], source: Values) -> Vec<Values> {
    // What depends on parameters alone is 0 for some of these.
    let symbols = &derivation.symbols;
    let gradient = |part: &&Expression| {
        let is_given = !part.symbols().iter().any(|symbol| symbols.is_state(*symbol));
        derivative::gradient(part, |symbol| is_given || symbols.is_state(symbol)).unwrap_or_default()
    };
    let gradients: Vec<SparseRow> = parts.iter().map(gradient).collect();
    let mut equations = states::constraints(derivation);
    equations.extend(parts.iter().zip(&gradients).map(|(value, gradient)| VanishingFunction { value, gradient }));
    let Some(zero) = states::solve(&equations, source) else { return Vec::new() };
    let mut direction: BTreeMap<Symbol, f64> = BTreeMap::new();
    for (symbol, slope) in gradients.iter().flatten() {
        derivative::add(&mut direction, *symbol, states::evaluate(slope, &zero));
    }
    let length = derivative::dot(&direction, &direction).sqrt();
    let scale = direction.keys().map(|symbol| zero[*symbol].abs()).fold(1.0, f64::max) / length;
    let moved = |distance: f64| {
        let mut state = zero.clone();
        direction.iter().for_each(|(symbol, slope)| state[*symbol] += distance * scale * slope);
        state
    };
    let distances = DISTANCES.iter().flat_map(|distance| [*distance, -distance]);
    if scale.is_finite() { distances.map(moved).collect() } else { Vec::new() }
}
