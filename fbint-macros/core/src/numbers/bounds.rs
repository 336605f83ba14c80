//! Exact bounds on what an expression can be, whatever values its symbols have.
//!
//! This is interval arithmetic with rational ends. It is coarse: a symbol may have any value, two occurrences of a symbol
//! count as two symbols, and of a function only its range is used. What it does say is true in every state in which the
//! expression is defined, so it may back an error, which what a search did not find may not.

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::expression::{Expression, Function};

/// Bits of a bound beyond which it is dropped, so that powers of powers stay small.
const MOST_BITS: u64 = 4096;

/// Whether an expression is proved to be 0 in no state.
pub(crate) fn is_never_zero(expression: &Expression) -> bool {
    let range = Range::of(expression);
    range.is_above(0, true) || range.is_below(0, true)
}

/// The values of an expression lie between two bounds, where there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Range {
    low: Option<Bound>,
    high: Option<Bound>,
}

/// The end of a range.
#[derive(Clone, Debug, PartialEq)]
struct Bound {
    value: BigRational,
    /// Whether the value itself is not reached.
    strict: bool,
}

impl Bound {
    /// Nothing where the number is long.
    fn new(value: BigRational, strict: bool) -> Option<Self> {
        (value.numer().bits() + value.denom().bits() <= MOST_BITS).then_some(Self { value, strict })
    }

    /// The power, if it is not long.
    fn to_power(&self, times: u32) -> Option<Self> {
        let bits = self.value.numer().bits().max(self.value.denom().bits());
        let is_short = bits.saturating_mul(times.into()) <= MOST_BITS;
        is_short.then(|| Self::new(self.value.pow(times as i32), self.strict)).flatten()
    }
}

impl Range {
    /// The bounds of an expression.
    pub(crate) fn of(expression: &Expression) -> Self {
        match expression {
            Expression::Number(number) => Self::between(number.clone(), number.clone(), false),
            Expression::Pi => Self::between(ratio(3, 1), ratio(22, 7), true),
            Expression::Symbol(_) => Self::default(),
            Expression::Sum(terms) => {
                terms.iter().map(Self::of).reduce(|sum, term| sum.plus(&term)).unwrap_or_default()
            }
            Expression::Product(factors) => {
                // A factor that occurs twice is a square.
                let first = factors.iter().enumerate().filter(|(index, factor)| !factors[..*index].contains(factor));
                let power = |factor: &Expression| {
                    let times = factors.iter().filter(|other| *other == factor).count();
                    Self::of(factor).to_power(times as u32)
                };
                first
                    .map(|(_, factor)| power(factor))
                    .reduce(|product, factor| product.times(&factor))
                    .unwrap_or_default()
            }
            Expression::Power(base, exponent) => Self::of(base).power(exponent),
            Expression::Call(function, arguments) => Self::of_call(*function, &Self::of(&arguments[0])),
        }
    }

    /// Whether all values are at least this number, and whether the number itself is excluded.
    pub(crate) fn is_above(&self, number: i64, strictly: bool) -> bool {
        let number = ratio(number, 1);
        self.low.as_ref().is_some_and(|low| low.value > number || low.value == number && (low.strict || !strictly))
    }

    /// Whether all values are at most this number, and whether the number itself is excluded.
    pub(crate) fn is_below(&self, number: i64, strictly: bool) -> bool {
        self.negated().is_above(-number, strictly)
    }

    fn between(low: BigRational, high: BigRational, strict: bool) -> Self {
        Self { low: Bound::new(low, strict), high: Bound::new(high, strict) }
    }

    fn at_least(low: i64, strict: bool) -> Self {
        Self { low: Bound::new(ratio(low, 1), strict), high: None }
    }

    fn negated(&self) -> Self {
        let negative = |bound: &Option<Bound>| bound.as_ref().and_then(|bound| Bound::new(-&bound.value, bound.strict));
        Self { low: negative(&self.high), high: negative(&self.low) }
    }

    fn abs(&self) -> Self {
        if self.is_above(0, false) {
            self.clone()
        } else if self.is_below(0, false) {
            self.negated()
        } else {
            Self { high: self.size().and_then(|size| Bound::new(size, false)), ..Self::at_least(0, false) }
        }
    }

    fn plus(&self, other: &Self) -> Self {
        let sum = |a: &Option<Bound>, b: &Option<Bound>| {
            let (a, b) = (a.as_ref()?, b.as_ref()?);
            Bound::new(&a.value + &b.value, a.strict || b.strict)
        };
        Self { low: sum(&self.low, &other.low), high: sum(&self.high, &other.high) }
    }

    fn times(&self, other: &Self) -> Self {
        if self.is_below(0, false) {
            return self.negated().times(other).negated();
        }
        if other.is_below(0, false) {
            return self.times(&other.negated()).negated();
        }
        match (&self.low, &other.low) {
            (Some(a), Some(b)) if !a.value.is_negative() && !b.value.is_negative() => {
                let low = &a.value * &b.value;
                let strict = low.is_zero() && self.is_above(0, true) && other.is_above(0, true);
                let high = self.high.as_ref().zip(other.high.as_ref());
                let high = high.and_then(|(a, b)| Bound::new(&a.value * &b.value, false));
                Self { low: Bound::new(low, strict), high }
            }
            _ => match (self.size(), other.size()) {
                (Some(a), Some(b)) => Self::between(-(&a * &b), a * b, false),
                _ => Self::default(),
            },
        }
    }

    /// The largest absolute value.
    fn size(&self) -> Option<BigRational> {
        Some(self.low.as_ref()?.value.abs().max(self.high.as_ref()?.value.abs()))
    }

    fn power(&self, exponent: &BigRational) -> Self {
        if !exponent.is_integer() {
            // Roots are taken of numbers that are not negative, and are not negative themselves.
            return Self::at_least(0, self.is_above(0, true) || exponent.is_negative());
        }
        let power = match exponent.to_integer().abs().to_u32() {
            Some(times) => self.to_power(times),
            None => Self::default(),
        };
        if exponent.is_negative() { power.reciprocal() } else { power }
    }

    /// Even powers grow with the size, odd ones with the number itself. What becomes too long keeps its sign.
    fn to_power(&self, times: u32) -> Self {
        let base = if times.is_multiple_of(2) { self.abs() } else { self.clone() };
        let raised = |bound: &Option<Bound>, has_sign: bool| {
            bound.as_ref()?.to_power(times).or_else(|| Bound::new(BigRational::zero(), true).filter(|_| has_sign))
        };
        Self { low: raised(&base.low, base.is_above(0, false)), high: raised(&base.high, base.is_below(0, false)) }
    }

    /// Of 1 / x, which is not defined where x is 0.
    fn reciprocal(&self) -> Self {
        if self.is_below(0, false) {
            return self.negated().reciprocal().negated();
        }
        if !self.is_above(0, false) {
            return Self::default();
        }
        let inverse = |bound: &Option<Bound>| {
            let bound = bound.as_ref().filter(|bound| !bound.value.is_zero())?;
            Bound::new(bound.value.recip(), bound.strict)
        };
        let zero = || Bound::new(BigRational::zero(), true);
        Self { low: inverse(&self.high).or_else(zero), high: inverse(&self.low) }
    }

    fn of_call(function: Function, argument: &Self) -> Self {
        let one = BigRational::one;
        match function {
            Function::Abs => argument.abs(),
            Function::Sin | Function::Cos => Self::between(-one(), one(), false),
            Function::Tanh => Self::between(-one(), one(), true),
            Function::Asin | Function::Atan => Self::between(ratio(-11, 7), ratio(11, 7), true),
            Function::Acos => Self { high: Bound::new(ratio(22, 7), true), ..Self::at_least(0, false) },
            Function::Atan2 => Self::between(ratio(-22, 7), ratio(22, 7), true),
            Function::Cosh => Self::at_least(1, false),
            Function::Exp | Function::Powf => Self::at_least(0, function == Function::Exp),
            Function::Tan | Function::Sinh | Function::Ln => Self::default(),
        }
    }
}

fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Symbol;

    fn x() -> Expression {
        Expression::from(Symbol(0))
    }

    fn power(base: Expression, numerator: i64, denominator: i64) -> Expression {
        base.power(ratio(numerator, denominator)).expect("the base is not 0")
    }

    fn call(function: Function, argument: Expression) -> Expression {
        Expression::call(function, [argument])
    }

    /// Each with whether it is proved to be positive, not negative, not positive and negative.
    #[test]
    fn signs_are_those_of_every_value() {
        let y = || Expression::from(Symbol(1));
        let n = Expression::integer;
        let cases = [
            (x(), [false; 4]),
            (x() * x(), [false, true, false, false]),
            (x() * x() * y() * y(), [false, true, false, false]),
            (x() * y(), [false; 4]),
            (power(x(), 2, 1) + n(1), [true, true, false, false]),
            (-power(x(), 2, 1) - power(y(), 2, 1), [false, false, true, false]),
            (power(x(), 3, 1), [false; 4]),
            (power(-power(x(), 2, 1) - n(1), 3, 1), [false, false, true, true]),
            (power(-power(x(), 2, 1) - n(1), -1, 1), [false, false, true, true]),
            (power(x(), -2, 1), [true, true, false, false]),
            (power(x(), 1, 2), [false, true, false, false]),
            (power(x(), -1, 2), [true, true, false, false]),
            (-call(Function::Exp, x() * y()) - n(1), [false, false, true, true]),
            (call(Function::Exp, x()) * call(Function::Sin, x()), [false; 4]),
            (call(Function::Cos, x()) + n(2), [true, true, false, false]),
            (call(Function::Cos, x()) + n(1), [false, true, false, false]),
            (call(Function::Tanh, x()) + n(1), [true, true, false, false]),
            (call(Function::Sin, x()) * call(Function::Cos, x()) - n(2), [false, false, true, true]),
            (call(Function::Abs, -power(x(), 2, 1) - n(3)) - n(3), [false, true, false, false]),
            (power(call(Function::Sin, x()), 4, 1) - n(1), [false, false, true, false]),
            (call(Function::Ln, x()), [false; 4]),
            (Expression::Pi - n(3), [true, true, false, false]),
        ];
        for (expression, expected) in cases {
            let range = Range::of(&expression);
            let found =
                [range.is_above(0, true), range.is_above(0, false), range.is_below(0, false), range.is_below(0, true)];
            assert_eq!(found, expected, "{expression:?}: {range:?}");
        }
    }

    /// Ends grow with the exponents: they are dropped in time, and the sign stays.
    #[test]
    fn towers_of_powers_stay_small() {
        let tower = (0..40)
            .fold(power(x(), 2, 1) + Expression::integer(2), |inner, _| power(inner, 1000, 1) + Expression::one());
        assert!(Range::of(&tower).is_above(0, true));
    }

    /// What is proved of an expression is true of its values.
    #[test]
    fn bounds_enclose_values() {
        let functions = Function::ALL.into_iter().filter(|function| *function != Function::Powf);
        for function in functions {
            let arguments = |argument: Expression| match function {
                Function::Atan2 => vec![argument, Expression::one()],
                _ => vec![argument],
            };
            for inner in [x(), power(x(), 2, 1), -power(x(), 2, 1), power(x(), 3, 1) + Expression::one()] {
                let expression = Expression::call(function, arguments(inner));
                for expression in [
                    expression.clone(),
                    expression.clone() * expression.clone() - expression.clone(),
                    power(expression.clone(), -3, 1),
                    power(expression, 3, 2),
                ] {
                    let range = Range::of(&expression);
                    for value in (-30..=30).map(|tenths| f64::from(tenths) / 10.0) {
                        let value = expression.evaluate(&|_| value);
                        let number = |bound: &Bound| bound.value.to_f64().expect("a small number");
                        let is_low = range.low.as_ref().is_some_and(|low| value < number(low) - 1e-12);
                        let is_high = range.high.as_ref().is_some_and(|high| value > number(high) + 1e-12);
                        assert!(!value.is_finite() || !is_low && !is_high, "{expression:?}: {value} {range:?}");
                    }
                }
            }
        }
    }
}
