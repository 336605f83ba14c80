//! Declared starts in numbers: what is undefined there, and which constraints they violate.

use std::collections::BTreeMap;

use crate::derivation::{Derivation, Dynamics, Integral, IntegralId, Problem, Quantity, Symbols};
use crate::expression::parts::Results;
use crate::expression::{Expression, Function, Symbol};

/// A constraint counts as violated where its value is more than this part of the terms that cancel in it. Runs are stricter.
const VIOLATED: f64 = 1e-6;

/// The values of the parameters by default, as far as they are declared, and of the entries of the start.
fn numbers(symbols: &Symbols, defaults: &[Expression], start: &[Expression]) -> BTreeMap<Symbol, f64> {
    let defaults = defaults.iter().map(|value| value.evaluate(&|_| f64::NAN));
    let mut numbers: BTreeMap<Symbol, f64> = symbols.parameters().zip(defaults).collect();
    let entries: Vec<f64> = start.iter().map(|entry| evaluate(entry, &numbers)).collect();
    numbers.extend(symbols.states().zip(entries));
    numbers
}

/// The value of an expression, NaN where something is not known.
fn evaluate(expression: &Expression, numbers: &BTreeMap<Symbol, f64>) -> f64 {
    expression.evaluate(&|symbol| numbers.get(&symbol).copied().unwrap_or(f64::NAN))
}

/// The first force or rate that is not defined at the start although all that it depends on has a value, with the innermost part that is
/// undefined.
pub(crate) fn undefined_at_start(
    problem: &Problem,
    defaults: &[Expression],
    start: &[Expression],
) -> Option<(Quantity, Expression)> {
    if defaults.len() != problem.symbols.parameters().count() {
        return None;
    }
    let numbers = numbers(&problem.symbols, defaults, start);
    let value = |expression: &Expression| evaluate(expression, &numbers);
    let is_known = |expression: &Expression| expression.symbols().iter().all(|symbol| numbers.contains_key(symbol));
    let rates = if let Dynamics::Given { rates } = &problem.dynamics { &rates[..] } else { &[] };
    let rates = problem.symbols.states().zip(rates).map(|(state, rate)| (Quantity::Rate(state), rate));
    let forces = problem.forces.iter().map(|(along, force)| (Quantity::Force(*along), force));
    let mut undefined = forces.chain(rates).filter(|(_, function)| is_known(function) && !value(function).is_finite());
    undefined.next().map(|(quantity, function)| (quantity, innermost(function, &value).clone()))
}

/// The entries of the state that start beyond a full turn and occur only in sines, cosines and tangents of themselves or of their sums.
pub(crate) fn beyond_a_turn(problem: &Problem, defaults: &[Expression], start: &[Expression]) -> Vec<Symbol> {
    let numbers = numbers(&problem.symbols, defaults, start);
    let is_beyond = |symbol: &Symbol| numbers.get(symbol).is_some_and(|value| value.abs() > std::f64::consts::TAU);
    let functions = || problem.functions().into_iter().map(|(_, function)| function);
    let forces = || problem.forces.iter().map(|(_, force)| force);
    let is_angle = |symbol: &Symbol| {
        let known = Results::default();
        let uses = functions().chain(forces()).map(|function| Use::of(*symbol, function, &known));
        uses.max() == Some(Use::Angle)
    };
    problem.symbols.states().filter(is_beyond).filter(is_angle).collect()
}

/// The way in which an expression contains a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Absent,
    /// In arguments of the sine, cosine and tangent, with the factor 1 or -1.
    Angle,
    Other,
}

impl Use {
    fn of(symbol: Symbol, expression: &Expression, known: &Results<Self>) -> Self {
        known.of(expression, || match expression {
            Expression::Symbol(own) if *own == symbol => Self::Other,
            Expression::Call(Function::Sin | Function::Cos | Function::Tan, arguments) => {
                let argument = &arguments[0];
                if !argument.symbols().contains(&symbol) {
                    Self::Absent
                } else if is_turned_by(symbol, argument) {
                    Self::Angle
                } else {
                    Self::Other
                }
            }
            _ => expression.children().map(|child| Self::of(symbol, child, known)).max().unwrap_or(Self::Absent),
        })
    }
}

/// Returns `true` if the symbol is a term, up to its sign.
fn is_turned_by(symbol: Symbol, argument: &Expression) -> bool {
    let value = |term: &Expression, at: f64| term.evaluate(&|own| if own == symbol { at } else { f64::NAN }).abs();
    let is_term = |term: &Expression| value(term, 1.0) == 1.0 && value(term, 3.0) == 3.0;
    is_term(argument) || matches!(argument, Expression::Sum(_)) && argument.children().any(is_term)
}

/// The smallest part without a finite value: all parts below it have one.
fn innermost<'e>(expression: &'e Expression, value: &impl Fn(&Expression) -> f64) -> &'e Expression {
    let part = expression.children().find(|child| !value(child).is_finite());
    part.map_or(expression, |part| innermost(part, value))
}

/// The first constraint that the start violates, with its value there.
pub(crate) fn violated_at_start(
    derivation: &Derivation,
    defaults: &[Expression],
    start: &[Expression],
) -> Option<(IntegralId, f64)> {
    let numbers = numbers(&derivation.symbols, defaults, start);
    let constraints = derivation.integrals.iter().filter(|(_, integral)| integral.kind.is_constraint());
    let mut violations = constraints.filter_map(|(id, integral)| Some((id, violation(integral, &numbers)?)));
    violations.next()
}

/// The value of a constraint that is not 0 in numbers that are all known.
fn violation(integral: &Integral, numbers: &BTreeMap<Symbol, f64>) -> Option<f64> {
    let value = evaluate(&integral.value, numbers);
    let terms = integral.gradient.iter().map(|(symbol, slope)| {
        let size = numbers.get(symbol).copied().unwrap_or(f64::NAN);
        (evaluate(slope, numbers) * size).abs()
    });
    (value.abs() > VIOLATED * terms.sum::<f64>()).then_some(value)
}
