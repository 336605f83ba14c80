//! Which signs an expression can have, whatever values its symbols have.
//!
//! This is coarse: a symbol may have any value, two occurrences of a symbol count as two symbols, and of a function only the sign is used,
//! but for sines and cosines, which are at most 1. Its statements are true in every state in which the expression is defined, so they may
//! back an error, unlike a search that found nothing.

use num_rational::BigRational;
use num_traits::Signed;

use crate::expression::parts::Results;
use crate::expression::{Expression, Function};
use crate::numbers::coefficient::Coefficient;

/// Returns `true` if an expression is proved to be 0 in no state.
pub(crate) fn is_never_zero(expression: &Expression) -> bool {
    !Signs::of(expression).zero
}

/// The possible values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Signs {
    pub(crate) negative: bool,
    pub(crate) zero: bool,
    pub(crate) positive: bool,
}

impl Signs {
    const ANY: Self = Self { negative: true, zero: true, positive: true };
    const POSITIVE: Self = Self { negative: false, zero: false, positive: true };

    /// The signs of an expression.
    pub(crate) fn of(expression: &Expression) -> Self {
        Self::of_part(expression, &Results::default())
    }

    /// The signs of an expression, where the signs of some parts are known.
    fn of_part(expression: &Expression, known: &Results<Self>) -> Self {
        known.of(expression, || match expression {
            Expression::Number(number) => {
                let number = Coefficient::from(number);
                Self::between(&number, &number)
            }
            Expression::Pi => Self::POSITIVE,
            Expression::Symbol(_) => Self::ANY,
            Expression::Sum(terms) => Self::of_sum(terms, known),
            Expression::Product(factors) => {
                // A factor that occurs twice is a square.
                let first = factors.iter().enumerate().filter(|(place, factor)| !factors[..*place].contains(factor));
                let power = |factor: &Expression| {
                    let times = factors.iter().filter(|other| *other == factor).count();
                    Self::of_part(factor, known).power(&BigRational::from_integer(times.into()))
                };
                first.fold(Self::POSITIVE, |product, (_, factor)| product.times(power(factor)))
            }
            Expression::Power(base, exponent) => Self::of_part(base, known).power(exponent),
            Expression::Call(function, arguments) => Self::of_call(*function, Self::of_part(&arguments[0], known)),
        })
    }

    /// The signs of all terms, also where sines and cosines add no more than their size to a number.
    fn of_sum(terms: &[Expression], known: &Results<Self>) -> Self {
        let zero = Coefficient::zero;
        let (mut number, mut size, mut rest) = (zero(), zero(), Self::between(&zero(), &zero()));
        let all: Vec<Self> = terms.iter().map(|term| Self::of_part(term, known)).collect();
        for (term, signs) in terms.iter().zip(&all) {
            match (term, largest(term)) {
                (Expression::Number(term), _) => number = number.plus(&Coefficient::from(term)),
                (_, Some(largest)) => size = size.plus(&largest),
                (_, None) => rest = rest.plus(*signs),
            }
        }
        let bounded = rest.plus(Self::between(&number.plus(&size.clone().negated()), &number.plus(&size)));
        let signs = all.into_iter().reduce(Self::plus).unwrap_or(Self::ANY);
        Self {
            negative: signs.negative && bounded.negative,
            zero: signs.zero && bounded.zero,
            positive: signs.positive && bounded.positive,
        }
    }

    fn between(low: &Coefficient, high: &Coefficient) -> Self {
        let is_positive = |number: &Coefficient| !number.is_negative() && !number.is_zero();
        let (negative, positive) = (low.is_negative(), is_positive(high));
        Self { negative, zero: !is_positive(low) && !high.is_negative(), positive }
    }

    fn plus(self, other: Self) -> Self {
        let cancel = self.negative && other.positive || self.positive && other.negative;
        Self {
            negative: self.negative || other.negative,
            zero: self.zero && other.zero || cancel,
            positive: self.positive || other.positive,
        }
    }

    fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative && other.positive || self.positive && other.negative,
            zero: self.zero || other.zero,
            positive: self.positive && other.positive || self.negative && other.negative,
        }
    }

    fn abs(self) -> Self {
        Self { negative: false, positive: self.positive || self.negative, ..self }
    }

    /// Roots are taken of numbers that are not negative, and are not negative themselves.
    fn power(self, exponent: &BigRational) -> Self {
        let is_odd = exponent.is_integer() && exponent.numer().bit(0);
        let power = if is_odd { self } else { self.abs() };
        Self { zero: self.zero && exponent.is_positive(), ..power }
    }

    /// A power with an exponent that is not known. It may be a whole number: a negative number has such powers, with either sign. A power
    /// of 0 is 0 or 1.
    fn to_any_power(self) -> Self {
        Self { negative: self.negative, zero: self.zero, positive: true }
    }

    fn of_call(function: Function, argument: Self) -> Self {
        match function {
            Function::Abs => argument.abs(),
            Function::Sign | Function::Asin | Function::Atan | Function::Sinh | Function::Tanh => argument,
            Function::Step => {
                let (zero, positive) = (argument.negative, argument.zero || argument.positive);
                Self { negative: false, zero, positive }
            }
            Function::Acos => Self { negative: false, ..Self::ANY },
            Function::Powf => argument.to_any_power(),
            Function::Cosh | Function::Exp => Self::POSITIVE,
            Function::Sin | Function::Cos | Function::Tan | Function::Atan2 | Function::Ln => Self::ANY,
        }
    }
}

/// The largest absolute value of a product of numbers and powers of sines and cosines.
fn largest(expression: &Expression) -> Option<Coefficient> {
    match expression {
        Expression::Number(number) => Some(Coefficient::from(&number.abs())),
        // Most products end with an unknown.
        Expression::Product(factors) => {
            factors.iter().rev().try_fold(Coefficient::one(), |product, factor| Some(product.times(&largest(factor)?)))
        }
        Expression::Power(base, exponent) if exponent.is_positive() => largest(base).filter(Coefficient::is_one),
        Expression::Call(Function::Sign | Function::Step | Function::Sin | Function::Cos | Function::Tanh, _) => {
            Some(Coefficient::one())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use num_traits::One;

    use super::*;
    use crate::expression::Symbol;

    fn x() -> Expression {
        Expression::from(Symbol(0))
    }

    fn power(base: Expression, numerator: i64, denominator: i64) -> Expression {
        base.power(BigRational::new(numerator.into(), denominator.into())).expect("the base is not 0")
    }

    fn call(function: Function, argument: Expression) -> Expression {
        Expression::call(function, [argument])
    }

    /// Each with whether it can be negative, zero and positive.
    #[test]
    fn signs_are_those_of_every_value() {
        let y = || Expression::from(Symbol(1));
        let n = Expression::integer;
        let powf = |base, exponent| Expression::call(Function::Powf, [base, exponent]);
        let [any, positive, not_negative, not_positive, negative] =
            [[true; 3], [false, false, true], [false, true, true], [true, true, false], [true, false, false]];
        let cases = [
            (x(), any),
            (x() * x(), not_negative),
            (x() * x() * y() * y(), not_negative),
            (x() * y(), any),
            (power(x(), 2, 1) + n(1), positive),
            (-power(x(), 2, 1) - power(y(), 2, 1), not_positive),
            (power(x(), 3, 1), any),
            (power(-power(x(), 2, 1) - n(1), 3, 1), negative),
            (power(-power(x(), 2, 1) - n(1), -1, 1), negative),
            (power(x(), -2, 1), positive),
            (power(x(), 1, 2), not_negative),
            (power(x(), -1, 2), positive),
            (-call(Function::Exp, x() * y()) - n(1), negative),
            (call(Function::Exp, x()) * call(Function::Sin, x()), any),
            (call(Function::Cos, x()) + n(2), positive),
            (call(Function::Cos, x()) + n(1), not_negative),
            (call(Function::Tanh, -call(Function::Cosh, x())), negative),
            (call(Function::Sin, x()) * call(Function::Cos, x()) - n(2), negative),
            (call(Function::Sin, x()) * call(Function::Cos, x()) - n(2) + power(x(), 2, 1), any),
            (power(call(Function::Sin, x()), 2, 1) + power(x(), 2, 1), not_negative),
            (call(Function::Abs, -power(x(), 2, 1) - n(3)) + n(3), positive),
            (power(call(Function::Sin, x()), 4, 1) - n(1), not_positive),
            (n(2) * power(call(Function::Sin, x()), 4, 1) - n(1), any),
            (call(Function::Ln, x()), any),
            (Expression::Pi + n(3), positive),
            (powf(x(), y()), any),
            (powf(x(), y()) + n(1), any),
            (powf(power(x(), 2, 1), y()), not_negative),
            (powf(call(Function::Exp, x()), y()), positive),
            (powf(-call(Function::Exp, x()), y()), [true, false, true]),
            (powf(-call(Function::Exp, x()), y()) + n(1), any),
        ];
        for (expression, expected) in cases {
            let Signs { negative, zero, positive } = Signs::of(&expression);
            assert_eq!([negative, zero, positive], expected, "{expression:?}");
        }
    }

    /// Every proved property of an expression holds for its values.
    #[test]
    fn values_have_their_signs() {
        let exponents = [-3, -1, 0, 1, 2].map(|exponent| (Function::Powf, Some(Expression::integer(exponent))));
        let half =
            (Function::Powf, Some(Expression::one() * Expression::integer(2).power(-BigRational::one()).unwrap()));
        let functions = Function::ALL.into_iter().filter(|function| *function != Function::Powf);
        let functions = functions.map(|function| (function, (function.arguments() == 2).then(Expression::one)));
        for (function, other) in functions.chain(exponents).chain([half]) {
            let arguments = |argument: Expression| std::iter::once(argument).chain(other.clone());
            for inner in [x(), power(x(), 2, 1), -power(x(), 2, 1), power(x(), 3, 1) + Expression::one()] {
                let expression = Expression::call(function, arguments(inner));
                for expression in [
                    expression.clone(),
                    expression.clone() * expression.clone() - expression.clone(),
                    expression.clone() - Expression::one(),
                    power(expression.clone(), -3, 1),
                    power(expression, 3, 2),
                ] {
                    let signs = Signs::of(&expression);
                    for value in (-30..=30).map(|tenths| f64::from(tenths) / 10.0) {
                        let value = expression.evaluate(&|_| value);
                        let is_possible = if value < -1e-12 {
                            signs.negative
                        } else if value > 1e-12 {
                            signs.positive
                        } else {
                            true
                        };
                        assert!(is_possible || !value.is_finite(), "{expression:?}: {value} {signs:?}");
                    }
                }
            }
        }
    }

    /// Sums within sums take no longer than their length.
    #[test]
    fn nested_sums_are_looked_at_once() {
        let horner = (0..60).fold(x(), |inner, _| Expression::one() + power(inner, 2, 1));
        assert!(is_never_zero(&horner));
        let nested = (0..60).fold(power(x(), 2, 1), |inner, _| Expression::one() + inner.sqrt());
        assert!(is_never_zero(&nested));
    }
}
