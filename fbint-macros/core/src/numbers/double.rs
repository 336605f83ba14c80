//! Doubles, and expressions evaluated in them.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::derivative::known_value;
use super::number::{Number, Numeric};
use crate::expression::parts::Results;
use crate::expression::{Expression, Function, Symbol, to_f64};

impl Expression {
    /// The value in double precision, where `value` gives the value of each symbol.
    pub fn evaluate(&self, value: &impl Fn(Symbol) -> f64) -> f64 {
        known_value(self, value, &Results::default()).unwrap_or(f64::NAN)
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
}
