//! Doubles with an estimate of what rounding has done to them, which tells numbers from 0 in a moment.

use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::derivative::slope;
use super::number::Number;
use crate::expression::{Function, to_f64};

/// A double, and about how far rounding may have taken it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    value: f64,
    error: f64,
}

impl Bounded {
    /// A value whose only error is its own rounding.
    pub(crate) fn rounded(value: f64) -> Self {
        Self { value, error: f64::EPSILON * value.abs() }
    }

    /// Returns `true` if the number differs from 0 by far more than rounding explains.
    pub(crate) fn is_nonzero(self) -> bool {
        self.value.is_finite() && self.value.abs() > 1e3 * self.error
    }

    /// A result, from what the errors of its arguments make of it.
    fn with(value: f64, propagated: f64) -> Self {
        Self { value, error: propagated + f64::EPSILON * value.abs() }
    }
}

impl Number for Bounded {
    fn rational(number: &BigRational) -> Self {
        Self::rounded(to_f64(number))
    }

    fn pi() -> Self {
        Self::rounded(std::f64::consts::PI)
    }

    fn is_zero(&self) -> bool {
        self.value == 0.0 && self.error == 0.0
    }

    fn plus(&self, other: &Self) -> Self {
        Self::with(self.value + other.value, self.error + other.error)
    }

    fn times(&self, other: &Self) -> Self {
        let propagated = self.value.abs() * other.error + other.value.abs() * self.error;
        Self::with(self.value * other.value, propagated)
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        let value = self.value.power(exponent)?;
        let relative = exponent.to_f64()? * self.error / self.value;
        Some(Self::with(value, (value * relative).abs()))
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        let values: Vec<f64> = arguments.iter().map(|argument| argument.value).collect();
        let propagated = |(place, argument): (usize, &Self)| {
            slope(function, &values, place).map(|slope| (slope * argument.error).abs())
        };
        let propagated = arguments.iter().enumerate().map(propagated).sum::<Option<f64>>()?;
        Some(Self::with(function.evaluate(&values), propagated))
    }

    fn in_range(self) -> Option<Self> {
        (self.value.is_finite() && self.error.is_finite()).then_some(self)
    }
}
