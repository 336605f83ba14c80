//! Numbers in which expressions and their derivatives are evaluated.

use num_rational::BigRational;
use num_traits::One;

use crate::expression::{Function, to_f64};
use crate::precise::Real;

/// What an expression and its derivatives can be evaluated in.
pub(super) trait Number: Clone {
    fn rational(number: &BigRational) -> Self;
    fn pi() -> Self;
    fn plus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    /// The power, where it is defined.
    fn power(&self, exponent: &BigRational) -> Option<Self>;
    /// The value of a function, where it is defined.
    fn call(function: Function, arguments: &[Self]) -> Option<Self>;

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

/// A number of 256 bits that knows how large its error can be.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    value: Real,
    /// What the value would be if no terms cancelled: errors of rounding are small multiples of 2^-256 times this.
    size: f64,
}

/// Two results differ where their difference is beyond this part of their sizes. Rounding leaves 1e-70, and a mistake more
/// than this.
const DISTINGUISHABLE: f64 = 1e-40;

impl Measured {
    pub(super) fn zero() -> Self {
        Self::from(0.0)
    }

    /// Whether rounding does not explain a difference.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let difference = (&self.value - &other.value).abs().to_f64();
        let is_small = difference <= DISTINGUISHABLE * (self.size + other.size);
        !is_small
    }

    /// The number, unless it is so large that its error is unknown.
    fn bounded(self) -> Option<Self> {
        self.size.is_finite().then_some(self)
    }
}

impl From<f64> for Measured {
    fn from(value: f64) -> Self {
        Self { value: Real::from(value), size: value.abs() }
    }
}

impl Number for Measured {
    fn rational(number: &BigRational) -> Self {
        Self { value: Real::rational(number), size: to_f64(number).abs() }
    }

    fn pi() -> Self {
        Self { value: Real::pi(), size: std::f64::consts::PI }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { value: &self.value + &other.value, size: self.size + other.size }
    }

    fn times(&self, other: &Self) -> Self {
        Self { value: &self.value * &other.value, size: self.size * other.size }
    }

    /// An error e of the base makes one of |r b^(r - 1)| e.
    fn power(&self, exponent: &BigRational) -> Option<Self> {
        let value = self.value.power(exponent)?;
        let of_value = value.to_f64().abs();
        let of_base = self.size / self.value.to_f64().abs();
        let amplified = if of_value == 0.0 { 0.0 } else { of_value * to_f64(exponent).abs() * of_base };
        Self { value, size: of_value + amplified }.bounded()
    }

    /// Errors e of the arguments make one of |df/dx| e each.
    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        let values: Vec<Real> = arguments.iter().map(|argument| argument.value.clone()).collect();
        let value = Real::call(function, &values)?;
        let exact: Vec<Self> = arguments.iter().map(|argument| Self::from(argument.value.to_f64())).collect();
        let slopes = slopes_in_doubles(function, &exact);
        let amplified: f64 = slopes.iter().zip(arguments).map(|(slope, argument)| slope.abs() * argument.size).sum();
        Self { size: value.to_f64().abs() + amplified, value }.bounded()
    }
}

/// The partial derivatives as doubles; where one does not exist the error is unbounded.
fn slopes_in_doubles(function: Function, arguments: &[Measured]) -> Vec<f64> {
    let x = arguments[0].value.to_f64();
    let y = || arguments[1].value.to_f64();
    match function {
        Function::Abs | Function::Sin | Function::Cos | Function::Atan | Function::Tanh => vec![1.0],
        Function::Tan => vec![1.0 + x.tan().powi(2)],
        Function::Asin | Function::Acos => vec![(1.0 - x * x).sqrt().recip()],
        Function::Sinh | Function::Cosh => vec![x.cosh()],
        Function::Exp => vec![x.exp()],
        Function::Ln => vec![x.recip()],
        Function::Atan2 => {
            let distance = x.hypot(y());
            vec![distance.recip(), distance.recip()]
        }
        Function::Powf => vec![y() * x.powf(y() - 1.0), x.powf(y()) * x.ln()],
    }
}

/// A number with its derivative along one direction.
#[derive(Clone, Debug)]
pub(super) struct Jet {
    pub(super) value: Measured,
    /// The derivative, unless it vanishes because nothing depends on the direction.
    pub(super) tangent: Option<Measured>,
}

impl Jet {
    fn constant(value: Measured) -> Self {
        Self { value, tangent: None }
    }
}

/// The sum of what exists.
fn sum(one: Option<Measured>, other: Option<Measured>) -> Option<Measured> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.plus(&other)),
        (one, other) => one.or(other),
    }
}

impl Number for Jet {
    fn rational(number: &BigRational) -> Self {
        Self::constant(Measured::rational(number))
    }

    fn pi() -> Self {
        Self::constant(Measured::pi())
    }

    fn plus(&self, other: &Self) -> Self {
        Self { value: self.value.plus(&other.value), tangent: sum(self.tangent.clone(), other.tangent.clone()) }
    }

    fn times(&self, other: &Self) -> Self {
        let of_self = self.tangent.as_ref().map(|tangent| tangent.times(&other.value));
        let of_other = other.tangent.as_ref().map(|tangent| self.value.times(tangent));
        Self { value: self.value.times(&other.value), tangent: sum(of_self, of_other) }
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        let value = self.value.power(exponent)?;
        let tangent = match &self.tangent {
            Some(tangent) => Some(tangent.times(&slope_of_power(&self.value, exponent)?)),
            None => None,
        };
        Some(Self { value, tangent })
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        let values: Vec<Measured> = arguments.iter().map(|argument| argument.value.clone()).collect();
        let value = Measured::call(function, &values)?;
        let mut tangent = None;
        for (place, argument) in arguments.iter().enumerate() {
            if let Some(direction) = &argument.tangent {
                tangent = sum(tangent, Some(direction.times(&slope(function, &values, place)?)));
            }
        }
        Some(Self { value, tangent })
    }
}

/// d(b^r)/db = r b^(r - 1)
pub(super) fn slope_of_power<T: Number>(base: &T, exponent: &BigRational) -> Option<T> {
    let lower = exponent - BigRational::one();
    let power = if lower == BigRational::from_integer(0.into()) { T::integer(1) } else { base.power(&lower)? };
    Some(T::rational(exponent).times(&power))
}

/// The partial derivative of a function by the argument at `place`.
pub(super) fn slope<T: Number>(function: Function, arguments: &[T], place: usize) -> Option<T> {
    let x = &arguments[0];
    let call = |function| T::call(function, std::slice::from_ref(x));
    let one = || T::integer(1);
    let square = |x: &T| x.times(x);
    Some(match function {
        Function::Abs => x.times(&call(Function::Abs)?.reciprocal()?),
        Function::Sin => call(Function::Cos)?,
        Function::Cos => call(Function::Sin)?.negated(),
        Function::Tan => square(&call(Function::Cos)?).reciprocal()?,
        Function::Asin => inverse_root(&one().plus(&square(x).negated()))?,
        Function::Acos => inverse_root(&one().plus(&square(x).negated()))?.negated(),
        Function::Atan => one().plus(&square(x)).reciprocal()?,
        Function::Sinh => call(Function::Cosh)?,
        Function::Cosh => call(Function::Sinh)?,
        Function::Tanh => square(&call(Function::Cosh)?).reciprocal()?,
        Function::Exp => call(Function::Exp)?,
        Function::Ln => x.reciprocal()?,
        Function::Atan2 => {
            let (y, x) = (&arguments[0], &arguments[1]);
            let weight = square(x).plus(&square(y)).reciprocal()?;
            if place == 0 { x.times(&weight) } else { y.times(&weight).negated() }
        }
        Function::Powf => {
            let power = T::call(Function::Powf, arguments)?;
            let factor = if place == 0 { arguments[1].times(&x.reciprocal()?) } else { call(Function::Ln)? };
            power.times(&factor)
        }
    })
}

/// x^(-1/2)
fn inverse_root<T: Number>(x: &T) -> Option<T> {
    x.power(&BigRational::new((-1).into(), 2.into()))
}
