//! Real numbers of 256 bits, and expressions evaluated in them.
//!
//! What vanishes identically comes out as a rounding error of 1e-70 or so, what does not as a number: in between there are
//! more than fifty decimal digits, so that no choice of a tolerance decides. Values whose size leaves the range of a
//! double count as undefined, which also bounds the time that elementary functions take.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use astro_float::{BigFloat, Consts, Radix, RoundingMode, Sign};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};

use crate::expression::{Expression, Function, Symbol};

/// Bits of the mantissa.
const PRECISION: usize = 256;
/// The unit of rounding: ties to even.
const ROUNDING: RoundingMode = RoundingMode::ToEven;
/// Binary exponents beyond this in size are out of range.
const LARGEST_EXPONENT: i32 = 1000;

thread_local! {
    /// Digits of pi and of logarithms, computed once.
    static CONSTANTS: RefCell<Consts> = RefCell::new(Consts::new().expect("there is memory for a few digits"));
}

/// A number of 256 bits.
#[derive(Clone, Debug)]
pub(crate) struct Real(BigFloat);

impl Real {
    pub(crate) fn zero() -> Self {
        Self::from(0.0)
    }

    pub(crate) fn abs(&self) -> Self {
        Self(self.0.abs())
    }

    /// The nearest double, up to its last bits.
    pub(crate) fn to_f64(&self) -> f64 {
        let Some((words, _, sign, exponent, _)) = self.0.as_raw_parts() else { return f64::NAN };
        // The mantissa is a fraction in [1/2, 1), its most significant word last.
        let fraction = words.last().map_or(0.0, |&word| word as f64 * 0.5_f64.powi(64));
        let size = fraction * 2_f64.powi(exponent.clamp(-1070, 1023));
        if sign == Sign::Neg { -size } else { size }
    }

    /// The nearest number of 256 bits.
    pub(crate) fn rational(number: &BigRational) -> Self {
        CONSTANTS.with_borrow_mut(|constants| rational(number, constants))
    }

    pub(crate) fn pi() -> Self {
        CONSTANTS.with_borrow_mut(|constants| Self(constants.pi(PRECISION, ROUNDING)))
    }

    /// The power, unless it is undefined or out of range.
    pub(crate) fn power(&self, exponent: &BigRational) -> Option<Self> {
        CONSTANTS.with_borrow_mut(|constants| power(self, exponent, constants))?.in_range()
    }

    /// The value of a function, unless it is undefined or out of range.
    pub(crate) fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        CONSTANTS.with_borrow_mut(|constants| call(function, arguments, constants))?.in_range()
    }

    /// The value of an expression, unless some part of it is undefined or out of range.
    pub(crate) fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Option<Self> {
        CONSTANTS.with_borrow_mut(|constants| evaluate(expression, value, constants))
    }

    fn in_range(self) -> Option<Self> {
        let small = self.0.is_zero() || self.0.exponent().is_some_and(|exponent| exponent.abs() <= LARGEST_EXPONENT);
        small.then_some(self)
    }
}

fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Real, constants: &mut Consts) -> Option<Real> {
    let result = match expression {
        Expression::Number(number) => rational(number, constants),
        Expression::Pi => Real(constants.pi(PRECISION, ROUNDING)),
        Expression::Symbol(symbol) => value(*symbol),
        Expression::Sum(terms) => {
            let mut sum = Real::zero();
            for term in terms.iter() {
                sum = &sum + &evaluate(term, value, constants)?;
            }
            sum
        }
        Expression::Product(factors) => {
            let mut product = Real::from(1.0);
            for factor in factors.iter() {
                product = &product * &evaluate(factor, value, constants)?;
            }
            product
        }
        Expression::Power(base, exponent) => power(&evaluate(base, value, constants)?, exponent, constants)?,
        Expression::Call(function, arguments) => {
            let arguments: Option<Vec<Real>> =
                arguments.iter().map(|argument| evaluate(argument, value, constants)).collect();
            call(*function, &arguments?, constants)?
        }
    };
    result.in_range()
}

fn rational(number: &BigRational, constants: &mut Consts) -> Real {
    let mut integer = |part: &BigInt| match part.to_i64() {
        Some(small) => BigFloat::from_i64(small, PRECISION),
        None => BigFloat::parse(&part.to_string(), Radix::Dec, PRECISION, ROUNDING, constants),
    };
    let numerator = integer(number.numer());
    if number.denom().is_one() { Real(numerator) } else { &Real(numerator) / &Real(integer(number.denom())) }
}

fn power(base: &Real, exponent: &BigRational, constants: &mut Consts) -> Option<Real> {
    let denominator = exponent.denom().to_u32();
    let size = match denominator {
        Some(1 | 2) => {
            let base = if denominator == Some(1) { base.clone() } else { Real(base.0.sqrt(PRECISION, ROUNDING)) };
            Real(base.0.powi(exponent.numer().abs().to_usize()?, PRECISION, ROUNDING))
        }
        _ => real_power(base, &rational(&exponent.abs(), constants), constants)?,
    };
    let size = size.in_range()?;
    Some(if exponent.is_negative() { &Real::from(1.0) / &size } else { size })
}

/// e^(exponent ln base), where the base is positive.
fn real_power(base: &Real, exponent: &Real, constants: &mut Consts) -> Option<Real> {
    if !base.0.is_positive() || base.0.is_zero() {
        return None;
    }
    let logarithm = Real(base.0.ln(PRECISION, ROUNDING, constants));
    call(Function::Exp, &[&logarithm * exponent], constants)
}

fn call(function: Function, arguments: &[Real], constants: &mut Consts) -> Option<Real> {
    let x = &arguments[0].0;
    let exponent = if x.is_zero() { 0 } else { x.exponent()? };
    let (p, rm) = (PRECISION, ROUNDING);
    let bounded = |limit: i32| (exponent <= limit).then_some(());
    Some(Real(match function {
        Function::Abs => x.abs(),
        Function::Sin => bounded(64).map(|()| x.sin(p, rm, constants))?,
        Function::Cos => bounded(64).map(|()| x.cos(p, rm, constants))?,
        Function::Tan => bounded(64).map(|()| x.tan(p, rm, constants))?,
        Function::Asin => x.asin(p, rm, constants),
        Function::Acos => x.acos(p, rm, constants),
        Function::Atan => x.atan(p, rm, constants),
        Function::Sinh => bounded(10).map(|()| x.sinh(p, rm, constants))?,
        Function::Cosh => bounded(10).map(|()| x.cosh(p, rm, constants))?,
        Function::Tanh => bounded(10).map(|()| x.tanh(p, rm, constants))?,
        Function::Exp => bounded(10).map(|()| x.exp(p, rm, constants))?,
        Function::Ln => x.ln(p, rm, constants),
        Function::Atan2 => return Some(angle(&arguments[0], &arguments[1], constants)),
        Function::Powf => return real_power(&arguments[0], &arguments[1], constants),
    }))
}

/// atan2(y, x)
fn angle(y: &Real, x: &Real, constants: &mut Consts) -> Real {
    let pi = Real(constants.pi(PRECISION, ROUNDING));
    let mut arctangent = |quotient: Real| Real(quotient.0.atan(PRECISION, ROUNDING, constants));
    if x.abs().to_f64() >= y.abs().to_f64() {
        let near = arctangent(y / x);
        match (x.0.is_negative(), y.0.is_negative()) {
            (false, _) => near,
            (true, false) => &near + &pi,
            (true, true) => &near - &pi,
        }
    } else {
        let quarter = &pi / &Real::from(if y.0.is_negative() { -2.0 } else { 2.0 });
        &quarter - &arctangent(x / y)
    }
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        Self(BigFloat::from_f64(value, PRECISION))
    }
}

/// Forwards an operator.
macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl $trait for &Real {
            type Output = Real;
            fn $method(self, other: &Real) -> Real {
                Real(self.0.$method(&other.0, PRECISION, ROUNDING))
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real(self.0.clone().neg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function at points of its domain agrees with the standard library's.
    #[test]
    fn values_agree_with_doubles() {
        let symbols = [0.6, -0.3];
        let v = |index: u32| Expression::from(Symbol(index));
        for function in Function::ALL {
            for [x, y] in [[0.6, -0.3], [0.25, 0.75], [-0.5, -0.25], [-0.25, 0.5], [1e-3, -0.9]] {
                let arguments =
                    if matches!(function, Function::Atan2 | Function::Powf) { vec![v(0), v(1)] } else { vec![v(0)] };
                let call = Expression::call(function, arguments);
                let expected = call.evaluate(&|symbol| [x, y][symbol.0 as usize]);
                let obtained = Real::evaluate(&call, &|symbol| Real::from([x, y][symbol.0 as usize]));
                match obtained.map(|value| value.to_f64()).filter(|value| value.is_finite()) {
                    Some(value) => {
                        assert!((value - expected).abs() < 1e-14, "{function:?} {x} {y}: {value} {expected}")
                    }
                    None => assert!(!expected.is_finite(), "{function:?} {x} {y}: {expected}"),
                }
            }
        }
        let third = BigRational::new(BigInt::from(-5), BigInt::from(3));
        let power = (v(0) * v(0)).power(third).unwrap();
        let value = Real::evaluate(&power, &|symbol| Real::from(symbols[symbol.0 as usize])).unwrap().to_f64();
        assert!((value - 0.36_f64.powf(-5.0 / 3.0)).abs() < 1e-13);
    }

    #[test]
    fn what_vanishes_leaves_seventy_digits() {
        let v = Expression::from(Symbol(0));
        let square = |function| Expression::call(function, [v.clone()]) * Expression::call(function, [v.clone()]);
        let sum = square(Function::Sin) + square(Function::Cos) - Expression::one();
        let value = Real::evaluate(&sum, &|_| Real::from(0.7)).unwrap();
        assert!(value.to_f64().abs() < 1e-70, "{value:?}");
    }

    #[test]
    fn what_is_out_of_range_is_undefined() {
        let v = || Expression::from(Symbol(0));
        let huge = v().power(BigRational::from_integer(BigInt::from(1_000_000_000))).unwrap();
        assert!(Real::evaluate(&huge, &|_| Real::from(1.5)).is_none());
        let tower = Expression::call(Function::Exp, [Expression::call(Function::Exp, [v()])]);
        assert!(Real::evaluate(&tower, &|_| Real::from(20.0)).is_none());
        assert!(Real::evaluate(&v().power(-BigRational::one()).unwrap(), &|_| Real::zero()).is_none());
        assert!(Real::evaluate(&v().sqrt(), &|_| Real::from(-1.0)).is_none());
        assert!(Real::evaluate(&Expression::call(Function::Ln, [v()]), &|_| Real::from(-1.0)).is_none());
    }
}
