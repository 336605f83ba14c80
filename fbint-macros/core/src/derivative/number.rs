//! Numbers in which expressions and their derivatives are evaluated.

use num_rational::BigRational;
use num_traits::One;

use crate::expression::{Expression, Function};
use crate::precise::Real;

/// What an expression and its derivatives can be evaluated in.
pub(crate) trait Number: Clone {
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

impl Number for Real {
    fn rational(number: &BigRational) -> Self {
        Self::rational(number)
    }

    fn pi() -> Self {
        Self::pi()
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        self.power(exponent)
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        Self::call(function, arguments)
    }
}

impl Number for Expression {
    fn rational(number: &BigRational) -> Self {
        Self::Number(number.clone())
    }

    fn pi() -> Self {
        Self::Pi
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

/// A number with its derivative along one direction.
#[derive(Clone, Debug)]
pub(crate) struct Jet {
    pub(crate) value: Real,
    /// The derivative, unless it vanishes because nothing depends on the direction.
    pub(crate) tangent: Option<Real>,
}

impl Jet {
    fn constant(value: Real) -> Self {
        Self { value, tangent: None }
    }
}

/// The sum of what exists.
fn sum(one: Option<Real>, other: Option<Real>) -> Option<Real> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.plus(&other)),
        (one, other) => one.or(other),
    }
}

impl Number for Jet {
    fn rational(number: &BigRational) -> Self {
        Self::constant(Real::rational(number))
    }

    fn pi() -> Self {
        Self::constant(Real::pi())
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
        let values: Vec<Real> = arguments.iter().map(|argument| argument.value.clone()).collect();
        let value = Real::call(function, &values)?;
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
    let square = |x: &T| x.power(&BigRational::from_integer(2.into()));
    Some(match function {
        Function::Abs => x.times(&call(Function::Abs)?.reciprocal()?),
        Function::Sin => call(Function::Cos)?,
        Function::Cos => call(Function::Sin)?.negated(),
        Function::Tan => one().plus(&square(&call(Function::Tan)?)?),
        Function::Asin => inverse_root(&one().plus(&square(x)?.negated()))?,
        Function::Acos => inverse_root(&one().plus(&square(x)?.negated()))?.negated(),
        Function::Atan => one().plus(&square(x)?).reciprocal()?,
        Function::Sinh => call(Function::Cosh)?,
        Function::Cosh => call(Function::Sinh)?,
        Function::Tanh => one().plus(&square(&call(Function::Tanh)?)?.negated()),
        Function::Exp => call(Function::Exp)?,
        Function::Ln => x.reciprocal()?,
        Function::Atan2 => {
            let (y, x) = (&arguments[0], &arguments[1]);
            let weight = square(x)?.plus(&square(y)?).reciprocal()?;
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
