//! Dual numbers: a value with its derivative along a direction, with which generated code computes derivatives without rounding of a
//! difference.

use std::ops::{Add, Div, Mul, Neg, Sub};

use fbint_runtime::Scalar;

/// A number and its derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dual {
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

impl Dual {
    pub(crate) fn new(value: f64, slope: f64) -> Self {
        Self { value, slope }
    }

    /// A function of this number, from its value and its derivative there.
    fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, slope: derivative * self.slope }
    }
}

impl Add for Dual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
    }
}

impl Div for Dual {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, slope: (self.slope - value * other.slope) / other.value }
    }
}

impl Neg for Dual {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl Scalar for Dual {
    fn from_f64(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }

    fn recip(self) -> Self {
        Self::from_f64(1.0) / self
    }

    fn mul_add(self, factor: Self, summand: Self) -> Self {
        self * factor + summand
    }

    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }

    fn abs(self) -> Self {
        self.chain(self.value.abs(), self.value.signum())
    }

    fn powi(self, exponent: i32) -> Self {
        let derivative = if exponent == 0 { 0.0 } else { f64::from(exponent) * self.value.powi(exponent - 1) };
        self.chain(self.value.powi(exponent), derivative)
    }

    fn powf(self, exponent: Self) -> Self {
        let power = self.chain(self.value.powf(exponent.value), exponent.value * self.value.powf(exponent.value - 1.0));
        // The logarithm of a base that is not positive has no part in a power that is constant.
        match exponent.slope {
            0.0 => power,
            slope => Self { slope: power.slope + power.value * self.value.ln() * slope, ..power },
        }
    }

    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }

    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }

    fn tan(self) -> Self {
        let tangent = self.value.tan();
        self.chain(tangent, 1.0 + tangent * tangent)
    }

    fn asin(self) -> Self {
        self.chain(self.value.asin(), (1.0 - self.value * self.value).sqrt().recip())
    }

    fn acos(self) -> Self {
        self.chain(self.value.acos(), -(1.0 - self.value * self.value).sqrt().recip())
    }

    fn atan(self) -> Self {
        self.chain(self.value.atan(), (1.0 + self.value * self.value).recip())
    }

    fn atan2(self, x: Self) -> Self {
        let slope = (self.slope * x.value - self.value * x.slope) / (self.value * self.value + x.value * x.value);
        Self { value: self.value.atan2(x.value), slope }
    }

    fn sinh(self) -> Self {
        self.chain(self.value.sinh(), self.value.cosh())
    }

    fn cosh(self) -> Self {
        self.chain(self.value.cosh(), self.value.sinh())
    }

    fn tanh(self) -> Self {
        let tangent = self.value.tanh();
        self.chain(tangent, 1.0 - tangent * tangent)
    }

    fn exp(self) -> Self {
        let power = self.value.exp();
        self.chain(power, power)
    }

    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = fn(Dual) -> Dual;

    /// Each function against a difference quotient of its values.
    #[test]
    fn derivatives_are_those_of_the_functions() {
        let of = Dual::from_f64;
        let functions: [Function; 22] = [
            |x| x * x + x,
            |x| Dual::from_f64(2.0) / x - x,
            |x| -x.recip(),
            |x| x.mul_add(x, x),
            Scalar::sqrt,
            |x| (-x).abs(),
            |x| x.powi(3),
            |x| x.powi(-2),
            |x| x.powf(Dual::from_f64(1.5)),
            |x| x.powf(x),
            Scalar::sin,
            Scalar::cos,
            Scalar::tan,
            Scalar::asin,
            Scalar::acos,
            Scalar::atan,
            |x| x.atan2(Dual::from_f64(-2.0) * x + Dual::from_f64(1.0)),
            Scalar::sinh,
            Scalar::cosh,
            Scalar::tanh,
            Scalar::exp,
            Scalar::ln,
        ];
        for (number, function) in functions.into_iter().enumerate() {
            let (x, h) = (0.3, 1e-6);
            let quotient = (function(of(x + h)).value - function(of(x - h)).value) / (2.0 * h);
            let slope = function(Dual::new(x, 2.0)).slope / 2.0;
            assert!((slope - quotient).abs() < 1e-7 * quotient.abs().max(1.0), "{number}: {slope} {quotient}");
        }
    }

    #[test]
    fn constant_powers_have_derivatives_at_zero() {
        let zero = Dual::new(0.0, 1.0);
        assert_eq!([zero.powi(0).slope, zero.powi(1).slope, zero.powi(2).slope], [0.0, 1.0, 0.0]);
        assert_eq!(zero.powf(Dual::from_f64(2.0)), Dual::new(0.0, 0.0));
    }
}
