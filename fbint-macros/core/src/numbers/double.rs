//! Doubles, and expressions evaluated in them.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::derivative::slope;
use super::number::{Number, Numeric};
use super::scaled::Scaled;
use crate::expression::{Expression, Function, Symbol, to_f64};
use crate::work::{EVALUATION, spend};

impl Expression {
    /// The value in double precision, where `value` gives the value of each symbol.
    pub fn evaluate(&self, value: &impl Fn(Symbol) -> f64) -> f64 {
        spend(EVALUATION);
        match self {
            Self::Number(number) => to_f64(number),
            Self::Pi => std::f64::consts::PI,
            Self::Symbol(symbol) => value(*symbol),
            Self::Sum(terms) => terms.iter().map(|term| term.evaluate(value)).sum(),
            Self::Product(factors) => {
                let (mut product, mut in_range) = (1.0, true);
                for factor in factors.iter() {
                    product *= factor.evaluate(value);
                    in_range &= product.is_normal();
                }
                // The value may be a double though some of its factors are none.
                if in_range { product } else { self.scaled(value).to_f64() }
            }
            Self::Power(base, exponent) => power_f64(base.evaluate(value), exponent),
            Self::Call(function, arguments) => {
                let arguments: Vec<f64> = arguments.iter().map(|argument| argument.evaluate(value)).collect();
                function.evaluate(&arguments)
            }
        }
    }

    /// The value, although the value of a factor may leave the range of a double.
    fn scaled(&self, value: &impl Fn(Symbol) -> f64) -> Scaled {
        spend(EVALUATION);
        match self {
            Self::Number(number) => Scaled::rational(number),
            Self::Product(factors) => {
                factors.iter().fold(Scaled::from(1.0), |product, factor| product.times(factor.scaled(value)))
            }
            Self::Power(base, exponent) => match (exponent.numer().to_i32(), exponent.denom().to_i32()) {
                (Some(power), Some(1)) => base.scaled(value).powi(power),
                (Some(power), Some(2)) => base.scaled(value).sqrt().powi(power),
                _ => Scaled::from(self.evaluate(value)),
            },
            other => Scaled::from(other.evaluate(value)),
        }
    }

    /// The value in double precision, and how large the terms are whose rounding it may have: of a sum, that of all its terms,
    /// though they cancel.
    pub fn evaluate_with_size(&self, value: &impl Fn(Symbol) -> f64) -> (f64, f64) {
        let result = self.evaluate(value);
        let relative = |part: &Self| {
            let (value, size) = part.evaluate_with_size(value);
            if value == 0.0 { 1.0 } else { size / value.abs() }
        };
        let size = match self {
            Self::Number(_) | Self::Pi | Self::Symbol(_) => result.abs(),
            Self::Sum(terms) => terms.iter().map(|term| term.evaluate_with_size(value).1).sum(),
            Self::Product(factors) if result == 0.0 => {
                factors.iter().map(|factor| factor.evaluate_with_size(value).1).product()
            }
            Self::Product(factors) => result.abs() * factors.iter().map(relative).sum::<f64>(),
            Self::Power(base, exponent) => result.abs() * (1.0 + to_f64(&exponent.abs()) * relative(base)),
            Self::Call(function, arguments) => {
                let parts: Vec<(f64, f64)> = arguments.iter().map(|part| part.evaluate_with_size(value)).collect();
                let values: Vec<f64> = parts.iter().map(|(value, _)| *value).collect();
                let passed_on = parts
                    .iter()
                    .enumerate()
                    .map(|(place, (_, size))| slope(*function, &values, place).map_or(0.0, |slope| slope.abs() * size));
                result.abs() + passed_on.filter(|size| size.is_finite()).sum::<f64>()
            }
        };
        (result, size)
    }
}

fn power_f64(base: f64, exponent: &BigRational) -> f64 {
    match exponent.is_integer().then(|| exponent.to_integer().to_i32()).flatten() {
        Some(integer) => base.powi(integer),
        None if *exponent.denom() == BigInt::from(2) => base.sqrt().powi(exponent.numer().to_i32().unwrap_or(i32::MAX)),
        None => base.powf(to_f64(exponent)),
    }
}

impl Number for f64 {
    fn rational(number: &BigRational) -> Self {
        to_f64(number)
    }

    fn pi() -> Self {
        std::f64::consts::PI
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        Some(power_f64(*self, exponent))
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        Some(function.evaluate(arguments))
    }

    fn negated(&self) -> Self {
        -self
    }

    fn reciprocal(&self) -> Option<Self> {
        Some(self.recip()).filter(|reciprocal| reciprocal.is_normal())
    }
}

impl Numeric for f64 {
    const NEGLIGIBLE: f64 = 1e-10;
    const SMALLEST_SHARE: f64 = 1e-6;

    fn exactly(value: f64) -> Self {
        value
    }

    fn to_f64(&self) -> f64 {
        *self
    }

    fn over(&self, other: &Self) -> Self {
        self / other
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        expression.evaluate(value)
    }
}
