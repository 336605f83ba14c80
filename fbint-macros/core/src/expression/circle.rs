//! sin^2 + cos^2 = 1, wherever two terms of a sum differ in nothing but these squares: frames that turn are full of it.

use num_bigint::BigInt;
use num_rational::BigRational;

use crate::expression::parts::Results;
use crate::expression::{Expression, Function};

/// The expression with 1 for sin^2 + cos^2 in its sums.
pub(crate) fn simplified(expression: &Expression, known: &Results<Expression>) -> Expression {
    expression.transformed_once(known, &|part, simplified| with_one_for_squares(part.mapped(simplified)))
}

fn with_one_for_squares(expression: Expression) -> Expression {
    let Expression::Sum(terms) = &expression else { return expression };
    let mut terms: Vec<Expression> = terms.to_vec();
    while let Some((place, other, rest)) = pair(&terms) {
        terms.remove(other.max(place));
        terms.remove(other.min(place));
        terms.insert(place.min(other), rest);
    }
    Expression::sum(terms)
}

/// The places of a sin^2 and a cos^2 that have the same argument and factor, and the factor.
fn pair(terms: &[Expression]) -> Option<(usize, usize, Expression)> {
    terms.iter().enumerate().find_map(|(place, term)| {
        squares(term, Function::Sin).into_iter().find_map(|(argument, rest)| {
            let is_other = |term: &Expression| {
                squares(term, Function::Cos).into_iter().any(|(other, factor)| other == argument && factor == rest)
            };
            let other = terms.iter().position(is_other)?;
            Some((place, other, rest))
        })
    })
}

/// The arguments of the squares of a function among the factors of a term, each with the product of the other factors.
fn squares(term: &Expression, function: Function) -> Vec<(Expression, Expression)> {
    let factors = term.factors();
    let two = BigRational::from_integer(BigInt::from(2));
    let square = |(place, factor): (usize, &Expression)| {
        let Expression::Power(base, exponent) = factor else { return None };
        let Expression::Call(called, arguments) = &**base else { return None };
        if *called != function || *exponent != two {
            return None;
        }
        let others = factors.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, factor)| factor.clone());
        Some((arguments[0].clone(), Expression::product(others)))
    };
    factors.iter().enumerate().filter_map(square).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Symbol;

    #[test]
    fn squares_of_sine_and_cosine_add_up_to_one() {
        let [a, b, x, y] = [0, 1, 2, 3].map(|symbol| move || Expression::from(Symbol(symbol)));
        let square = |function, argument| {
            let two = BigRational::from_integer(BigInt::from(2));
            Expression::call(function, [argument]).power(two).expect("two is positive")
        };
        let (sin, cos) = (|x| square(Function::Sin, x), |x| square(Function::Cos, x));
        let cases = [
            (sin(x()) + cos(x()), Expression::one()),
            (a() * sin(x()) + b() + a() * cos(x()), a() + b()),
            (a() * sin(x()) + a() * cos(y()), a() * sin(x()) + a() * cos(y())),
            (a() * sin(x()) + b() * cos(x()), a() * sin(x()) + b() * cos(x())),
            (sin(x()) * sin(y()) + cos(x()) * sin(y()) + cos(y()), Expression::one()),
        ];
        for (sum, expected) in cases {
            assert_eq!(simplified(&sum, &Results::default()), expected, "{sum:?}");
        }
    }
}
