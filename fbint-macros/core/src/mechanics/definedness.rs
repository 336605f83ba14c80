//! Parts of expressions that are defined nowhere: ln(-1 - x^2) is not a number, whatever x is.

use num_rational::BigRational;
use num_traits::{One, Signed};

use super::bounds::Range;
use crate::expression::{Expression, Function};
use crate::precise::Real;
use crate::sample::{Point, search_points};

/// Points at which the arguments must be defined before anything is said of the function.
const ENOUGH: usize = 50;
/// A precise argument this far beyond the domain is not there by rounding.
const BEYOND: f64 = 1e-40;

/// A part of an expression that is undefined wherever it was tried.
#[derive(Clone, Copy, Debug)]
pub struct Undefined<'a> {
    /// The innermost such part.
    pub part: &'a Expression,
    /// Whether it is proved to be undefined in every state, but for some that have no others around them.
    pub is_certain: bool,
}

/// The innermost root, logarithm, arcsine, arccosine or power that is undefined at every point that was tried, though its
/// arguments are not. Symbols below `dimension` take both signs.
pub fn undefined_part(expression: &Expression, dimension: usize) -> Option<Undefined<'_>> {
    if let Some(inner) = expression.children().find_map(|child| undefined_part(child, dimension)) {
        return Some(inner);
    }
    let is_suspicious = is_partial(expression) && !is_defined_somewhere(expression, dimension);
    is_suspicious.then(|| Undefined { part: expression, is_certain: is_undefined_everywhere(expression, dimension) })
}

/// Whether bounds keep the argument out of the open domain, and it is beyond the closed one in some state: then it is on the
/// boundary in exceptional states at most, and there the function has no derivative. One precise value decides for a number.
fn is_undefined_everywhere(expression: &Expression, dimension: usize) -> bool {
    let Some(argument) = expression.children().next() else { return false };
    let in_interval = matches!(expression, Expression::Call(Function::Asin | Function::Acos, _));
    let range = Range::of(argument);
    let is_kept_out = match in_interval {
        true => range.is_above(1, false) || range.is_below(-1, false),
        false => range.is_below(0, false),
    };
    let is_beyond = |point: Point| {
        let value = Real::evaluate(argument, &|symbol| Real::from(point.symbol(symbol)))?;
        let distance = if in_interval { &value.abs() - &Real::from(1.0) } else { -&value };
        Some(distance.to_f64() > BEYOND)
    };
    let is_number = argument.symbols().is_empty();
    (is_number || is_kept_out) && search_points(dimension).find_map(is_beyond).unwrap_or(false)
}

fn is_partial(expression: &Expression) -> bool {
    match expression {
        Expression::Power(_, exponent) => !exponent.is_integer(),
        Expression::Call(Function::Asin | Function::Acos | Function::Ln | Function::Powf, _) => true,
        _ => false,
    }
}

fn is_defined_somewhere(expression: &Expression, dimension: usize) -> bool {
    let defined = |part: &Expression, point: &Point| point.evaluate(part).is_finite();
    let mut tried = 0;
    for point in search_points(dimension) {
        if defined(expression, &point) {
            return true;
        }
        tried += usize::from(expression.children().all(|argument| defined(argument, &point)));
    }
    tried < ENOUGH
}

/// Whether the expression is a root or an absolute value, up to factors, of something that depends on the first `dimension`
/// symbols: it has no derivative where it vanishes.
pub fn is_root(expression: &Expression, dimension: usize) -> bool {
    let fractional = |exponent: &BigRational| exponent.is_positive() && *exponent < BigRational::one();
    match expression {
        Expression::Power(base, exponent) => fractional(exponent) && varies(base, dimension),
        Expression::Call(Function::Abs, arguments) => varies(&arguments[0], dimension),
        Expression::Product(factors) => factors.iter().any(|factor| is_root(factor, dimension)),
        _ => false,
    }
}

/// Whether the expression is a root of something that depends on the first `dimension` symbols, plus something that does
/// not: |q| - l.
pub fn is_difference_of_roots(expression: &Expression, dimension: usize) -> bool {
    let Expression::Sum(terms) = expression else { return false };
    let varying: Vec<&Expression> = terms.iter().filter(|term| varies(term, dimension)).collect();
    matches!(varying[..], [term] if is_root(term, dimension))
}

fn varies(expression: &Expression, dimension: usize) -> bool {
    expression.symbols().first().is_some_and(|symbol| (symbol.0 as usize) < dimension)
}
