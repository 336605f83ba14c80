//! Parts of expressions that are defined nowhere: ln(-1 - x^2) is no number, whatever x is.

use num_rational::BigRational;
use num_traits::{One, Signed};

use crate::expression::{Expression, Function};
use crate::sample::{Point, search_points};

/// Points at which the arguments must be defined before anything is said of the function.
const ENOUGH: usize = 50;

/// The innermost root, logarithm, arcsine, arccosine or power that is undefined at every point that was tried, though its
/// arguments are not. Symbols below `dimension` take both signs.
pub fn undefined_part(expression: &Expression, dimension: usize) -> Option<&Expression> {
    if let Some(inner) = expression.children().find_map(|child| undefined_part(child, dimension)) {
        return Some(inner);
    }
    (is_partial(expression) && !is_defined_somewhere(expression, dimension)).then_some(expression)
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
