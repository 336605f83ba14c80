//! What programs and derivations are evaluated in: doubles, and numbers of 256 bits in which no rounding counts.

use crate::expression::{Expression, Function, Symbol};
use crate::numbers::linear::{Balanced, Entry};
use crate::points::{Point, Unknown};
use crate::precise::Real;

/// A number of either kind. What is undefined is not a number, and as a double NaN.
pub(super) trait Number: Clone {
    /// The double as it is.
    fn exactly(value: f64) -> Self;
    fn plus(&self, other: &Self) -> Self;
    fn minus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    fn over(&self, other: &Self) -> Self;
    fn negated(&self) -> Self;
    fn root(&self) -> Self;
    fn call(function: Function, arguments: &[Self]) -> Self;
    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self;
    /// Whether the number is certainly 0.
    fn is_zero(&self) -> bool;
    fn to_f64(&self) -> f64;
    /// The number of this kind next to a precise one.
    fn rounded(value: &Real) -> Self;

    fn zero() -> Self {
        Self::exactly(0.0)
    }

    /// The value of a symbol at a point.
    fn of_symbol(point: &Point, symbol: Symbol) -> Self {
        Self::exactly(point.symbol(symbol))
    }

    /// An unknown with this value.
    fn varying(_unknown: Unknown, value: f64) -> Self {
        Self::exactly(value)
    }

    /// The solution of A x = b; not a number where A is singular or leaves the range of a double.
    fn solve(a: Vec<Vec<Self>>, b: &[Self]) -> Vec<Self>;
}

impl Number for f64 {
    fn exactly(value: f64) -> Self {
        value
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn over(&self, other: &Self) -> Self {
        self / other
    }

    fn negated(&self) -> Self {
        -self
    }

    fn root(&self) -> Self {
        self.sqrt()
    }

    fn call(function: Function, arguments: &[Self]) -> Self {
        function.evaluate(arguments)
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        expression.evaluate(value)
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }

    fn to_f64(&self) -> f64 {
        *self
    }

    fn rounded(value: &Real) -> Self {
        value.to_f64()
    }

    fn solve(a: Vec<Vec<Self>>, b: &[Self]) -> Vec<Self> {
        solve(a, b)
    }
}

impl Number for Real {
    fn exactly(value: f64) -> Self {
        if value.is_finite() { Self::from(value) } else { Self::undefined() }
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn over(&self, other: &Self) -> Self {
        self / other
    }

    fn negated(&self) -> Self {
        -self
    }

    fn root(&self) -> Self {
        let half = num_rational::BigRational::new(1.into(), 2.into());
        self.power(&half).unwrap_or_else(Self::undefined)
    }

    fn call(function: Function, arguments: &[Self]) -> Self {
        Self::call(function, arguments).unwrap_or_else(Self::undefined)
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        Self::evaluate(expression, value).unwrap_or_else(Self::undefined)
    }

    fn is_zero(&self) -> bool {
        self.is_zero()
    }

    fn to_f64(&self) -> f64 {
        self.to_f64()
    }

    fn rounded(value: &Real) -> Self {
        value.clone()
    }

    fn solve(a: Vec<Vec<Self>>, b: &[Self]) -> Vec<Self> {
        solve(a, b)
    }
}

fn solve<N: Number + Entry>(a: Vec<Vec<N>>, b: &[N]) -> Vec<N> {
    let is_in_range = a.iter().flatten().all(|entry| Number::is_zero(entry) || entry.to_f64().is_normal());
    let factors = if is_in_range { Balanced::of(a).and_then(|a| a.factored(0.0)) } else { None };
    factors.map_or_else(|| vec![Number::exactly(f64::NAN); b.len()], |factors| factors.solve(b))
}
