//! sin^2 + cos^2 = 1, wherever two terms of a sum differ in nothing but these squares: frames that turn are full of it.

use std::collections::{BTreeSet, HashMap};

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
    let mut sum = Squares::default();
    for term in terms.iter() {
        sum.places.push(None);
        sum.put(sum.places.len() - 1, term.clone());
    }
    while let Some((place, other, rest)) = sum.pair() {
        sum.remove(place.max(other));
        sum.remove(place.min(other));
        sum.put(place.min(other), rest);
    }
    Expression::sum(sum.places.into_iter().flatten().map(|(term, _)| term))
}

/// The argument of a square, and the product of the other factors of its term.
type Square = (Expression, Expression);

/// The terms of a sum, each in its place with its squares of sines, and where the squares of cosines are.
#[derive(Default)]
struct Squares {
    places: Vec<Option<(Expression, Vec<Square>)>>,
    cosines: HashMap<Square, BTreeSet<usize>>,
}

impl Squares {
    fn put(&mut self, place: usize, term: Expression) {
        for square in squares(&term, Function::Cos) {
            self.cosines.entry(square).or_default().insert(place);
        }
        let sines = squares(&term, Function::Sin);
        self.places[place] = Some((term, sines));
    }

    fn remove(&mut self, place: usize) {
        let Some((term, _)) = self.places[place].take() else { return };
        for square in squares(&term, Function::Cos) {
            self.cosines.get_mut(&square).into_iter().for_each(|places| {
                places.remove(&place);
            });
        }
    }

    /// The first places of a sin^2 and a cos^2 that have the same argument and factor, and the factor.
    fn pair(&self) -> Option<(usize, usize, Expression)> {
        let terms = self.places.iter().enumerate().filter_map(|(place, term)| Some((place, &term.as_ref()?.1)));
        terms.flat_map(|(place, sines)| sines.iter().map(move |square| (place, square))).find_map(|(place, square)| {
            let other = self.cosines.get(square)?.first()?;
            Some((place, *other, square.1.clone()))
        })
    }
}

/// The arguments of the squares of a function among the factors of a term, each with the product of the other factors.
fn squares(term: &Expression, function: Function) -> Vec<Square> {
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
