//! States at which an attempt is made to refute a claim: of many sizes and both signs, and close to where functions change.

use super::states::{self, Values, VanishingFunction};
use crate::derivation::{Derivation, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;
use crate::numbers::random::Random;

/// Parts of expressions whose zeros are looked for.
const MOST_PARTS: usize = 24;
/// How often a zero of a part and the constraint set are approached in turns.
const TURNS: usize = 4;
/// Steps by which an interval is made smaller.
const STEPS: usize = 100;
/// Distances from a zero, relative to its size or to 1. Where few states are tried, the largest ones are.
const DISTANCES: [f64; 4] = [0.1, 1e-4, 1e-9, 4e-15];

impl Random {
    /// A state nearby; the distance is smaller the more steps were taken before.
    pub(super) fn step(&mut self, start: &Values, before: usize) -> Values {
        let width = 2_f64.powi(-(before as i32 % 20));
        start.map(|value| {
            let factor = 1.0 + width * (2.0 * self.number() - 1.0);
            value * factor + width * 1e-3 * (2.0 * self.number() - 1.0)
        })
    }
}

/// States of many sizes: of one size for all symbols or one for each, and with signs for no symbol, for the
/// symbols of the state or for all.
pub(super) fn wide(symbols: &Symbols) -> impl Iterator<Item = Values> {
    let mut random = Random(1);
    (0..).map(move |place| {
        let common = 10_f64.powf(24.0 * random.number() - 12.0);
        let exponent = [0.0, 3.0, 12.0][place / 3 % 3];
        let value = |symbol: Symbol| {
            let own = 10_f64.powf(exponent * (2.0 * random.number() - 1.0)) * (0.5 + random.number());
            let size = if place / 9 % 2 == 0 { own } else { own * common };
            let may_be_negative = place % 3 == 2 || place % 3 == 1 && symbols.is_state(symbol);
            if random.number() < 0.5 && may_be_negative { -size } else { size }
        };
        symbols.unknowns().map(value).collect()
    })
}

/// States close to zeros of what functions and powers are applied to.
pub(super) fn critical(derivation: &Derivation, expressions: &[&Expression], most: usize) -> Vec<Values> {
    let mut parts = Vec::new();
    expressions.iter().for_each(|expression| collect(expression, false, &mut parts));
    parts.truncate(MOST_PARTS);
    let mut starts = Vec::new();
    let mut sources = states::general(&derivation.symbols).take(STEPS).chain(wide(&derivation.symbols));
    'all: while !parts.is_empty() && starts.len() < most {
        for part in &parts {
            let Some(source) = sources.next() else { break 'all };
            starts.extend(across(derivation, part, &source));
            let symbols = part.symbols();
            let (own, given): (Vec<Symbol>, Vec<Symbol>) =
                symbols.into_iter().partition(|symbol| derivation.symbols.is_state(*symbol));
            for symbol in own.into_iter().chain(given).take(3) {
                for zero in zeros(derivation, part, symbol, &source) {
                    starts.extend(around(&zero, &[symbol]));
                }
            }
            if starts.len() >= most {
                break 'all;
            }
        }
        parts.rotate_left(1);
        starts.extend(sources.next().into_iter().flat_map(|source| joint(derivation, &parts, &source)));
        if starts.is_empty() {
            break;
        }
    }
    starts.truncate(most);
    starts
}

/// States on either side of the zero of a part to which Newton's steps lead, on the constraint set: where a force begins to act, say,
/// which depends on several coordinates together.
fn across(derivation: &Derivation, part: &Expression, source: &Values) -> Vec<Values> {
    let gradient = derivative::gradient(part, |symbol| derivation.symbols.is_state(symbol));
    let gradient = gradient.unwrap_or_default();
    let mut equations = states::constraints(derivation);
    equations.push(VanishingFunction { value: part, gradient: &gradient });
    let Some(zero) = states::solve(&equations, source.clone()) else { return Vec::new() };
    let slopes: Vec<(Symbol, f64)> =
        gradient.iter().map(|(symbol, entry)| (*symbol, states::evaluate(entry, &zero))).collect();
    let length = slopes.iter().map(|(_, slope)| slope * slope).sum::<f64>().sqrt();
    let scale = slopes.iter().map(|(symbol, _)| zero[*symbol].abs()).fold(1.0, f64::max) / length;
    let moved = |distance: f64| {
        let mut state = zero.clone();
        slopes.iter().for_each(|(symbol, slope)| state[*symbol] += distance * scale * slope);
        state
    };
    if scale.is_finite() { on_either_side(moved) } else { Vec::new() }
}

/// A state in which several parts are 0, each because of a symbol of its own, and states around it.
fn joint(derivation: &Derivation, parts: &[&Expression], source: &Values) -> Vec<Values> {
    let (mut state, mut settled) = (source.clone(), Vec::new());
    for part in parts {
        let symbols = part.symbols();
        let is_free = |symbol: &Symbol| derivation.symbols.is_state(*symbol) && !settled.contains(symbol);
        let Some(symbol) = symbols.iter().copied().find(is_free) else { continue };
        let Some(zero) = zeros_along(part, symbol, &state).into_iter().next() else { continue };
        state = zero;
        settled.push(symbol);
    }
    if settled.len() < 2 { Vec::new() } else { around(&state, &settled) }
}

/// Sums and symbols within functions and powers that are not natural.
fn collect<'a>(expression: &'a Expression, inside: bool, parts: &mut Vec<&'a Expression>) {
    let is_part = matches!(expression, Expression::Sum(_) | Expression::Symbol(_));
    if inside && is_part && !parts.contains(&expression) && parts.len() < MOST_PARTS {
        parts.push(expression);
    }
    let is_function = match expression {
        Expression::Call(..) => true,
        Expression::Power(_, exponent) => !exponent.is_integer() || *exponent.numer() < 0.into(),
        _ => false,
    };
    expression.children().for_each(|child| collect(child, inside || is_function, parts));
}

/// States in which a part is 0, or as small as it becomes, on the constraint set or close to it.
fn zeros(derivation: &Derivation, part: &Expression, symbol: Symbol, source: &Values) -> Vec<Values> {
    let constraints = states::constraints(derivation);
    let along = |state: &Values| zeros_along(part, symbol, state);
    let mut found = along(source);
    if constraints.is_empty() {
        return found;
    }
    for _ in 0..TURNS {
        found.truncate(1);
        let near = found.into_iter().filter_map(|state| states::solve(&constraints, state));
        found = near.collect::<Vec<_>>().iter().flat_map(|state| along(state).into_iter().take(1)).collect();
    }
    found
}

/// The zeros that are found when one symbol is moved: where its sign changes between numbers of many sizes, or close to where it is
/// smallest.
fn zeros_along(part: &Expression, symbol: Symbol, state: &Values) -> Vec<Values> {
    let at = |value: f64| {
        let mut state = state.clone();
        state[symbol] = value;
        state
    };
    let value = |x: f64| states::evaluate(part, &at(x));
    let sizes = (-12..=12).map(|exponent| 10_f64.powi(exponent));
    let positive: Vec<f64> = sizes.flat_map(|size| [size, 2.0 * size, 5.0 * size]).collect();
    let negative = positive.iter().rev().map(|size| -size);
    let nodes: Vec<f64> = negative.chain([0.0]).chain(positive.iter().copied()).collect();
    let values: Vec<f64> = nodes.iter().map(|node| value(*node)).collect();
    let changes = (1..nodes.len()).filter(|&place| values[place - 1] * values[place] <= 0.0);
    let mut zeros: Vec<f64> = changes.map(|place| bisect(&value, nodes[place - 1], nodes[place])).take(3).collect();
    if zeros.is_empty() {
        let smallest = (1..nodes.len() - 1).filter(|&place| values[place].is_finite());
        let smallest = smallest.min_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs()));
        zeros.extend(smallest.map(|place| smallest_between(&value, nodes[place - 1], nodes[place + 1])));
    }
    zeros.into_iter().map(at).collect()
}

fn bisect(value: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let below = value(low) < 0.0;
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if (value(middle) < 0.0) == below { low = middle } else { high = middle }
    }
    high
}

/// By thirds.
fn smallest_between(value: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        let (a, b) = (low + third, high - third);
        if value(a).abs() < value(b).abs() { high = b } else { low = a }
    }
    0.5 * (low + high)
}

/// States that differ from one in these symbols, by several distances on either side of it.
fn around(zero: &Values, symbols: &[Symbol]) -> Vec<Values> {
    on_either_side(|distance| {
        let mut state = zero.clone();
        symbols.iter().for_each(|symbol| state[*symbol] += distance * zero[*symbol].abs().max(1.0));
        state
    })
}

fn on_either_side(moved: impl Fn(f64) -> Values) -> Vec<Values> {
    DISTANCES.iter().flat_map(|distance| [moved(*distance), moved(-distance)]).collect()
}
