//! Parts of expressions that are defined nowhere: ln(-1 - x^2) is not a number, whatever x is.

use num_rational::BigRational;
use num_traits::{One, Signed};

use super::identities::Vanishing;
use crate::derivation::{Declared, IntegralId, Problem, Symbols};
use crate::expression::parts::Results;
use crate::expression::{Expression, Function};
use crate::numbers::points::{Point, search_points};
use crate::numbers::precise::Real;
use crate::numbers::signs::Signs;

/// The number of points at which the arguments must be defined before the function is judged.
const ENOUGH: usize = 50;
/// An argument in 256 bits that is this far beyond the domain is not there by rounding.
const BEYOND: f64 = 1e-40;

/// A part of an expression that is undefined wherever it was tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undefined<'a> {
    /// The innermost such part.
    pub(crate) part: &'a Expression,
    /// Set if it is proved to be undefined in every state, but for isolated ones.
    pub(crate) is_certain: bool,
}

/// The innermost root, logarithm, arcsine, arccosine or power that is undefined at every point that was tried, though its
/// arguments are not, or quotient by 0.
pub(crate) fn undefined_part<'a>(expression: &'a Expression, symbols: &Symbols) -> Option<Undefined<'a>> {
    innermost(expression, symbols, &Results::default(), &Vanishing::default())
}

/// The same, where some parts are known to be defined.
fn innermost<'a>(
    expression: &'a Expression,
    symbols: &Symbols,
    known: &Results<()>,
    values: &Vanishing,
) -> Option<Undefined<'a>> {
    if known.get(expression).is_some() {
        return None;
    }
    let undefined = expression.children().find_map(|part| innermost(part, symbols, known, values));
    known.insert(expression, &());
    undefined.or_else(|| undefined_itself(expression, symbols, values))
}

/// The expression, if it is undefined though its parts are not.
fn undefined_itself<'a>(expression: &'a Expression, symbols: &Symbols, values: &Vanishing) -> Option<Undefined<'a>> {
    if let Expression::Power(base, exponent) = expression
        && exponent.is_negative()
        && values.vanishes(base)
    {
        return Some(Undefined { part: expression, is_certain: true });
    }
    let is_suspicious = is_partial(expression) && !is_defined_somewhere(expression, symbols);
    is_suspicious.then(|| Undefined { part: expression, is_certain: is_undefined_everywhere(expression, symbols) })
}

/// Returns `true` if its signs keep the argument out of the open domain, and it is beyond the closed one in some state. Then it is on the
/// boundary in exceptional states at most, and there the function has no derivative. For a number, one precise value decides.
fn is_undefined_everywhere(expression: &Expression, symbols: &Symbols) -> bool {
    let Some(argument) = expression.children().next() else { return false };
    // The exponent may be a whole number.
    if matches!(expression, Expression::Call(Function::Powf, _)) {
        return false;
    }
    let in_interval = matches!(expression, Expression::Call(Function::Asin | Function::Acos, _));
    let distance_from = |end: i64| Signs::of(&(argument.clone() - Expression::integer(end)));
    let is_kept_out = match in_interval {
        true => !distance_from(1).negative || !distance_from(-1).positive,
        false => !distance_from(0).positive,
    };
    let is_beyond = |point: Point| {
        let value = Real::evaluate(argument, &|symbol| Real::from(point.symbol(symbol)))?;
        let distance = if in_interval { &value.abs() - &Real::from(1.0) } else { -&value };
        Some(distance.to_f64() > BEYOND)
    };
    (argument.symbols().is_empty() || is_kept_out) && search_points(symbols).find_map(is_beyond).unwrap_or(false)
}

fn is_partial(expression: &Expression) -> bool {
    match expression {
        Expression::Power(_, exponent) => !exponent.is_integer(),
        Expression::Call(Function::Asin | Function::Acos | Function::Ln | Function::Powf, _) => true,
        _ => false,
    }
}

fn is_defined_somewhere(expression: &Expression, symbols: &Symbols) -> bool {
    let defined = |part: &Expression, point: &Point| point.evaluate(part).is_finite();
    let mut tried = 0;
    for point in search_points(symbols) {
        if defined(expression, &point) {
            return true;
        }
        tried += usize::from(expression.children().all(|argument| defined(argument, &point)));
    }
    tried < ENOUGH
}

/// Returns `true` if the expression is, up to factors, a root or an absolute value of something that depends on the state. Such an
/// expression has no derivative where it vanishes.
pub(crate) fn is_root(expression: &Expression, symbols: &Symbols) -> bool {
    let fractional = |exponent: &BigRational| exponent.is_positive() && *exponent < BigRational::one();
    match expression {
        Expression::Power(base, exponent) => fractional(exponent) && varies(base, symbols),
        Expression::Call(Function::Abs, arguments) => varies(&arguments[0], symbols),
        Expression::Product(factors) => factors.iter().any(|factor| is_root(factor, symbols)),
        _ => false,
    }
}

/// The roots among the constraints, such as |q| - l, which could be written with the squares of both sides.
pub(crate) fn constraints_that_are_roots(problem: &Problem) -> Vec<IntegralId> {
    let constraints = problem.integrals.iter().filter(|(_, integral)| integral.kind.is_constraint());
    // A root of something that depends on the state, plus something that does not.
    let is_difference = |constraint: &Declared| {
        let Some(Expression::Sum(terms)) = &constraint.value else { return false };
        let varying: Vec<&Expression> = terms.iter().filter(|term| varies(term, &problem.symbols)).collect();
        matches!(varying[..], [term] if is_root(term, &problem.symbols))
    };
    constraints.filter(|(_, constraint)| is_difference(constraint)).map(|(id, _)| id).collect()
}

fn varies(expression: &Expression, symbols: &Symbols) -> bool {
    expression.symbols().into_iter().any(|symbol| symbols.is_state(symbol))
}
