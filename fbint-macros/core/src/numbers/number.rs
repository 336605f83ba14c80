//! Numbers for evaluating expressions, derivations and programs.

use num_rational::BigRational;
use num_traits::One;

use super::linear::Balanced;
use super::points::{Point, Unknown};
use crate::expression::{Expression, Function, Symbol};

/// Numbers that an expression and its derivatives can be evaluated in.
pub(crate) trait Number: Clone {
    fn rational(number: &BigRational) -> Self;
    fn pi() -> Self;
    /// Returns `true` if the number is certainly 0.
    fn is_zero(&self) -> bool;
    fn plus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    /// The power, where it is defined.
    fn power(&self, exponent: &BigRational) -> Option<Self>;
    /// The value of a function, where it is defined.
    fn call(function: Function, arguments: &[Self]) -> Option<Self>;

    /// The number, if it is within the range of its kind.
    fn in_range(self) -> Option<Self> {
        Some(self)
    }

    fn integer(number: i32) -> Self {
        Self::rational(&BigRational::from_integer(number.into()))
    }

    fn negated(&self) -> Self {
        self.times(&Self::integer(-1))
    }

    fn reciprocal(&self) -> Option<Self> {
        self.power(&-BigRational::one())
    }
}

/// A number with a size. An undefined value is not a number, and as a double NaN.
pub(crate) trait Numeric: Number {
    /// Elimination takes a pivot for 0 if it is not larger than this in a matrix whose rows and columns are of size one.
    ///
    /// Where a column depends on others, rounding leaves some units in the last place, times what elimination multiplies them with; where
    /// it does not, the pivot is about the reciprocal of the condition. So negligible is what has lost three fifths of the digits:
    /// conditions up to 1e10 in doubles, and 1e45 in 256 bits, are told from infinite ones.
    const NEGLIGIBLE: f64;
    /// Factors by which columns depend on one another are then known to two fifths of the digits: smaller shares are none.
    const SMALLEST_SHARE: f64;

    /// The double itself.
    fn exactly(value: f64) -> Self;
    fn to_f64(&self) -> f64;

    /// The solution of A x = b; not a number where A is singular or leaves the range of a double.
    fn solve(a: Vec<Vec<Self>>, b: &[Self]) -> Vec<Self> {
        let is_in_range = !a.iter().flatten().any(|entry| entry.to_f64().is_subnormal());
        let factors = if is_in_range { Balanced::of(a).and_then(Balanced::factored) } else { None };
        factors.map_or_else(|| vec![Self::undefined(); b.len()], |factors| factors.solve(b))
    }

    /// The number with its bound widened to this error, relative to its size, where numbers have bounds.
    fn known_to(self, _relative: f64) -> Self {
        self
    }

    fn minus(&self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    fn over(&self, other: &Self) -> Self {
        other.reciprocal().map_or_else(Self::undefined, |reciprocal| self.times(&reciprocal))
    }

    fn zero() -> Self {
        Self::exactly(0.0)
    }

    fn undefined() -> Self {
        Self::exactly(f64::NAN)
    }

    fn size(&self) -> f64 {
        self.to_f64().abs()
    }

    fn root(&self) -> Self {
        self.power(&BigRational::new(1.into(), 2.into())).unwrap_or_else(Self::undefined)
    }

    /// The value of a symbol at a point.
    fn of_symbol(point: &Point, symbol: Symbol) -> Self {
        Self::varying(Unknown::Symbol(symbol), point.symbol(symbol))
    }

    /// An unknown with this value.
    fn varying(_unknown: Unknown, value: f64) -> Self {
        Self::exactly(value)
    }
}

impl Number for Expression {
    fn rational(number: &BigRational) -> Self {
        Self::Number(number.clone())
    }

    fn pi() -> Self {
        Self::Pi
    }

    fn is_zero(&self) -> bool {
        self.is_zero()
    }

    fn plus(&self, other: &Self) -> Self {
        self.clone() + other.clone()
    }

    fn times(&self, other: &Self) -> Self {
        self.clone() * other.clone()
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        self.clone().power(exponent.clone()).ok()
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        Some(Self::call(function, arguments.iter().cloned()))
    }
}
