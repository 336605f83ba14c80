//! Numbers with their derivatives.
//!
//! In 256 bits they are the reference for derivatives of programs, and no rule by which programs are differentiated takes part: linear
//! systems are solved in them as in all other numbers.

use std::collections::BTreeMap;

use num_rational::BigRational;

use super::derivative::{Differentiated, add, slope, slope_of_power};
use super::number::{Number, Numeric};
use super::points::Unknown;
use super::precise::Real;
use crate::expression::Function;

/// A number of 256 bits, and its derivatives by unknowns, or along directions, that do not vanish because nothing depends on them.
pub(crate) type Dual<K> = Differentiated<Real, K>;

impl<T: Number, K: Ord + Copy> Differentiated<T, K> {
    fn constant(value: T) -> Self {
        Self { value, gradient: BTreeMap::new() }
    }

    /// A function of `parts`, by its value and its derivatives by them.
    fn composed<'a>(value: T, parts: impl IntoIterator<Item = (&'a Self, T)>) -> Self
    where
        Self: 'a,
    {
        let mut gradient = BTreeMap::new();
        for (part, slope) in parts {
            part.gradient.iter().for_each(|(unknown, inner)| add(&mut gradient, *unknown, slope.times(inner)));
        }
        Self { value, gradient }
    }
}

impl<T: Number, K: Ord + Copy> Number for Differentiated<T, K> {
    fn rational(number: &BigRational) -> Self {
        Self::constant(T::rational(number))
    }

    fn pi() -> Self {
        Self::constant(T::pi())
    }

    /// Returns `true` if the number is 0 wherever it is taken, as most entries of a Jacobian are.
    fn is_zero(&self) -> bool {
        self.value.is_zero() && self.gradient.values().all(T::is_zero)
    }

    fn plus(&self, other: &Self) -> Self {
        if self.is_zero() {
            return other.clone();
        }
        let mut sum = Self { value: self.value.plus(&other.value), gradient: self.gradient.clone() };
        other.gradient.iter().for_each(|(unknown, slope)| add(&mut sum.gradient, *unknown, slope.clone()));
        sum
    }

    fn times(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::integer(0);
        }
        let value = self.value.times(&other.value);
        Self::composed(value, [(self, other.value.clone()), (other, self.value.clone())])
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        let value = self.value.power(exponent)?;
        // A square root has the derivative 0 where its radicand is 0 and has one: it is a norm there.
        let is_root = *exponent == BigRational::new(1.into(), 2.into());
        if self.gradient.is_empty() || is_root && self.is_zero() {
            return Some(Self::constant(value));
        }
        Some(Self::composed(value, [(self, slope_of_power(&self.value, exponent)?)]))
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        let values: Vec<T> = arguments.iter().map(|argument| argument.value.clone()).collect();
        let varying = arguments.iter().enumerate().filter(|(_, argument)| !argument.gradient.is_empty());
        let parts = varying.map(|(place, argument)| Some((argument, slope(function, &values, place)?)));
        Some(Self::composed(T::call(function, &values)?, parts.collect::<Option<Vec<_>>>()?))
    }
}

impl<K: Ord + Copy> From<Real> for Dual<K> {
    fn from(value: Real) -> Self {
        Self::constant(value)
    }
}

impl Numeric for Dual<Unknown> {
    const NEGLIGIBLE: f64 = Real::NEGLIGIBLE;
    const SMALLEST_SHARE: f64 = Real::SMALLEST_SHARE;

    fn exactly(value: f64) -> Self {
        Self::from(Real::exactly(value))
    }

    fn to_f64(&self) -> f64 {
        self.value.to_f64()
    }

    fn known_to(self, relative: f64) -> Self {
        Self { value: self.value.known_to(relative), ..self }
    }

    fn varying(unknown: Unknown, value: f64) -> Self {
        Self { value: Real::from(value), gradient: BTreeMap::from([(unknown, Real::integer(1))]) }
    }
}
