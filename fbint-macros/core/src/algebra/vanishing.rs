//! Whether a rational function vanishes where others do, decided by division of polynomials.
//!
//! The function is brought over one denominator and into lowest terms, P / Q, and division of P by the constraints decides: no remainder is
//! a proof. A remainder proves nothing, because only a Groebner basis has unique ones; nor is anything tried that contains roots or other
//! functions, or whose expansion may have more than a fixed number of terms, so that time is bounded by counts.
//!
//! Lowest terms matter, because what is divided by may vanish wherever the constraints hold: (x - z) / (z - x) is not 0 where
//! x = z. Generated code may have divided such factors out, and then it has a value there. That value is P / Q, and Q is not 0: it
//! divides whatever the code still divides by. So P = 0 is what has to be shown, and where a constraint is 0, its own P is.

use std::collections::BTreeSet;

use super::expansion::{numerator, terms, terms_of_power};
use crate::algebra::symbolic::Dividend;
use crate::expression::{Expression, Symbol};
use crate::mechanics::is_long;
use crate::proofs::Degrees;

/// Terms of an expansion beyond which it is not tried.
const MOST_TERMS: usize = 4000;
/// The degree of numerators beyond which nothing is tried.
const HIGHEST_DEGREE: f64 = 12.0;
/// Symbolica's exponents have 16 bits.
const HIGHEST_DEGREE_OF_ALL: f64 = 65_535.0;
/// Terms of all polynomials together beyond which no Groebner basis is tried, and their number, and their degree.
const MOST_TERMS_OF_BASIS: usize = 24;
const MOST_MEMBERS_OF_BASIS: usize = 5;
const HIGHEST_DEGREE_OF_BASIS: f64 = 4.0;

/// Returns `true` if `expression` was shown to vanish wherever all of `constraints` do and it is defined.
pub(super) fn vanishes_where(expression: &Expression, constraints: &[&Expression]) -> bool {
    is_shown_to_vanish(expression, constraints).unwrap_or(false)
}

/// `None` where something is too long, or not rational.
fn is_shown_to_vanish(expression: &Expression, constraints: &[&Expression]) -> Option<bool> {
    let dividend = polynomial(expression)?;
    let constraints: Vec<Expression> =
        constraints.iter().map(|constraint| polynomial(constraint)).collect::<Option<_>>()?;
    // A constraint of degree 2 is used as often as the degree allows, and multiplies the terms each time.
    let times = degree(&dividend) as usize / 2;
    let multiples = constraints.iter().map(|constraint| terms_of_power(terms(constraint), times)).max();
    let is_short = terms(&dividend).saturating_mul(multiples.unwrap_or(1)) <= MOST_TERMS
        && degree(&dividend) <= HIGHEST_DEGREE
        && constraints.iter().all(|constraint| terms(constraint) <= MOST_TERMS);
    is_short.then(|| {
        let dividend = Dividend::new(&dividend, &constraints, &order(constraints.iter().chain([&dividend])));
        dividend.is_divided_by_all() || is_basis_small(&constraints) && dividend.is_in_ideal()
    })
}

/// Returns `true` if it was shown that not all of `expressions` can vanish together, not even at complex values.
pub(super) fn contradict(expressions: &[Expression]) -> bool {
    let polynomials = expressions.iter().map(polynomial).collect::<Option<Vec<_>>>();
    polynomials.is_some_and(|polynomials| {
        is_basis_small(&polynomials)
            && Dividend::new(&Expression::one(), &polynomials, &order(polynomials.iter())).is_in_ideal()
    })
}

fn is_basis_small(members: &[Expression]) -> bool {
    members.len() <= MOST_MEMBERS_OF_BASIS
        && members.iter().map(terms).fold(0, usize::saturating_add) <= MOST_TERMS_OF_BASIS
        && members.iter().all(|member| degree(member) <= HIGHEST_DEGREE_OF_BASIS)
}

/// All symbols that occur, the last ones first: division eliminates these.
fn order<'a>(expressions: impl Iterator<Item = &'a Expression>) -> Vec<Symbol> {
    let symbols: BTreeSet<Symbol> = expressions.flat_map(Expression::symbols).collect();
    symbols.into_iter().rev().collect()
}

fn degree(polynomial: &Expression) -> f64 {
    Degrees::default().of(polynomial).total()
}

/// A polynomial that vanishes where a rational function does.
fn polynomial(expression: &Expression) -> Option<Expression> {
    let is_rational = |node: &Expression| match node {
        Expression::Power(_, exponent) => exponent.is_integer(),
        Expression::Pi | Expression::Call(..) => false,
        _ => true,
    };
    let is_tried =
        !is_long(expression) && expression.nodes().all(is_rational) && degree(expression) <= HIGHEST_DEGREE_OF_ALL;
    if is_tried { numerator(expression) } else { None }
}

#[cfg(test)]
mod tests {
    use super::vanishes_where;
    use crate::algebra::symbolic::session;
    use crate::expression::{Expression, Function, Symbol};

    fn powers(base: Expression, numerator: i64, denominator: i64) -> Expression {
        base.power(num_rational::BigRational::new(numerator.into(), denominator.into())).expect("the base is not 0")
    }

    #[test]
    fn constraints_are_used_as_they_are() {
        let x = || Expression::from(Symbol(0));
        let y = || Expression::from(Symbol(1));
        let circle = powers(x(), 2, 1) + powers(y(), 2, 1) - Expression::integer(2);
        let cases = [
            (powers(x(), 4, 1) - powers(Expression::integer(2) - powers(y(), 2, 1), 2, 1), true),
            (x() - y(), false),
            (powers(x(), 2, 1) - Expression::one(), false),
        ];
        let decided = session(|| {
            cases.map(|(expression, expected)| (vanishes_where(&expression, &[&circle]), expected, expression))
        });
        for (decided, expected, expression) in decided.expect("a session") {
            assert_eq!(decided, expected, "{expression:?}");
        }
    }

    /// The divisor vanishes as well: the quotient has a value, which is not 0, or it has none.
    #[test]
    fn what_vanishes_is_not_cleared() {
        let x = || Expression::from(Symbol(0));
        let y = || Expression::from(Symbol(1));
        let difference = || x() - y();
        let over = |dividend: Expression, divisor: Expression| dividend * powers(divisor, -1, 1);
        let cases = [
            (over(difference(), y() - x()), false),
            (over(powers(x(), 2, 1) - powers(y(), 2, 1), difference()), false),
            (over(difference() * x(), powers(x(), 2, 1) - x() * y()), false),
            (over(powers(difference(), 2, 1), difference()), true),
            (over(difference(), x() + y()), true),
            // Functions have relations that division does not know.
            (over(difference(), powers(difference(), 1, 2)), false),
            (over(difference(), Expression::call(Function::Abs, [difference()])), false),
            (over(Expression::call(Function::Sin, [difference()]), difference()), false),
        ];
        let decided = session(|| {
            cases.map(|(expression, expected)| (vanishes_where(&expression, &[&difference()]), expected, expression))
        });
        for (decided, expected, expression) in decided.expect("a session") {
            assert_eq!(decided, expected, "{expression:?}");
        }
    }
}
