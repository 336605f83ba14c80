//! Numbers of 256 bits with their derivatives.
//!
//! A linear system C^T c = b is differentiated as a whole, C^T dc = db - dC^T c. No rule by which programs are differentiated takes part.

use std::collections::BTreeMap;

use num_rational::BigRational;

use super::derivative::{add, differentiate, slope, slope_of_power};
use super::linear::Balanced;
use super::number::{Number, Numeric};
use super::points::Unknown;
use super::precise::Real;
use crate::expression::{Expression, Function, Symbol};

/// A number, and its derivatives by each of some unknowns, or along directions, that do not vanish because nothing depends on it.
#[derive(Clone, Debug)]
pub(crate) struct Dual<K> {
    pub(crate) value: Real,
    pub(crate) gradient: BTreeMap<K, Real>,
}

impl<K: Ord + Copy> Dual<K> {
    /// Whether the number is 0 wherever it is taken, as most entries of a Jacobian are.
    fn is_nothing(&self) -> bool {
        self.gradient.is_empty() && self.value.is_zero()
    }

    /// A function of `parts`, by its value and its derivatives by them.
    fn composed<'a>(value: Real, parts: impl IntoIterator<Item = (&'a Self, Real)>) -> Self
    where
        K: 'a,
    {
        let mut gradient = BTreeMap::new();
        for (part, slope) in parts {
            part.gradient.iter().for_each(|(unknown, inner)| add(&mut gradient, *unknown, &slope * inner));
        }
        Self { value, gradient }
    }
}

impl<K: Ord + Copy> From<Real> for Dual<K> {
    fn from(value: Real) -> Self {
        Self { value, gradient: BTreeMap::new() }
    }
}

impl<K: Ord + Copy> Number for Dual<K> {
    fn rational(number: &BigRational) -> Self {
        Self::from(Real::rational(number))
    }

    fn pi() -> Self {
        Self::from(Real::pi())
    }

    fn plus(&self, other: &Self) -> Self {
        if self.is_nothing() {
            return other.clone();
        }
        let mut sum = Self { value: &self.value + &other.value, gradient: self.gradient.clone() };
        other.gradient.iter().for_each(|(unknown, slope)| add(&mut sum.gradient, *unknown, slope.clone()));
        sum
    }

    fn times(&self, other: &Self) -> Self {
        if self.is_nothing() || other.is_nothing() {
            return Self::from(Real::zero());
        }
        Self::composed(&self.value * &other.value, [(self, other.value.clone()), (other, self.value.clone())])
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        let value = self.value.power(exponent)?;
        if self.gradient.is_empty() {
            return Some(Self::from(value));
        }
        Some(Self::composed(value, [(self, slope_of_power(&self.value, exponent)?)]))
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        let values: Vec<Real> = arguments.iter().map(|argument| argument.value.clone()).collect();
        let varying = arguments.iter().enumerate().filter(|(_, argument)| !argument.gradient.is_empty());
        let parts = varying.map(|(place, argument)| Some((argument, slope(function, &values, place)?)));
        Some(Self::composed(Real::call(function, &values)?, parts.collect::<Option<Vec<_>>>()?))
    }

    fn negated(&self) -> Self {
        let gradient = self.gradient.iter().map(|(unknown, slope)| (*unknown, -slope)).collect();
        Self { value: -&self.value, gradient }
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

    fn is_zero(&self) -> bool {
        self.value.is_zero() && self.gradient.values().all(Real::is_zero)
    }

    // d(a/b) = (da - (a/b) db)/b
    fn over(&self, other: &Self) -> Self {
        let value = &self.value / &other.value;
        let by_divisor = -&(&value / &other.value);
        Self::composed(value, [(self, &Real::from(1.0) / &other.value), (other, by_divisor)])
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        let differentiated = differentiate(expression, &|symbol| value(symbol).value, &|_| true);
        let Some(differentiated) = differentiated else { return Self::undefined() };
        let parts: Vec<(Self, Real)> =
            differentiated.gradient.into_iter().map(|(symbol, slope)| (value(symbol), slope)).collect();
        Self::composed(differentiated.value, parts.iter().map(|(part, slope)| (part, slope.clone())))
    }

    fn varying(unknown: Unknown, value: f64) -> Self {
        Self { value: Real::from(value), gradient: BTreeMap::from([(unknown, Real::integer(1))]) }
    }

    // A dx = db - dA x
    fn solve(a: Vec<Vec<Self>>, b: &[Self]) -> Vec<Self> {
        let values = |entries: &[Self]| -> Vec<Real> { entries.iter().map(|entry| entry.value.clone()).collect() };
        let Some(factors) = Balanced::of(a.iter().map(|row| values(row)).collect()).and_then(|a| a.factored(0.0))
        else {
            return vec![Self::undefined(); b.len()];
        };
        let solution = factors.solve(&values(b));
        let mut right_sides: BTreeMap<Unknown, Vec<Real>> = BTreeMap::new();
        let mut subtract = |row: usize, entry: &Self, factor: &Real| {
            for (unknown, slope) in &entry.gradient {
                let right = right_sides.entry(*unknown).or_insert_with(|| vec![Real::zero(); b.len()]);
                right[row] = &right[row] - &(slope * factor);
            }
        };
        b.iter().enumerate().for_each(|(row, entry)| subtract(row, entry, &Real::from(-1.0)));
        for (place, row) in a.iter().enumerate() {
            row.iter().zip(&solution).for_each(|(entry, x)| subtract(place, entry, x));
        }
        let mut solution: Vec<Self> = solution.into_iter().map(Self::from).collect();
        for (unknown, right) in right_sides {
            for (entry, slope) in solution.iter_mut().zip(factors.solve(&right)) {
                entry.gradient.insert(unknown, slope);
            }
        }
        solution
    }
}
