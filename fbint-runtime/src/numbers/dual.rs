//! Numbers with a derivative, by which the derivative of a generated derivative is taken.

use core::ops::{Add, Div, Mul, Neg, Sub};

use crate::numbers::scalar::Scalar;

/// value + slope e, with e^2 = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The value.
    pub value: f64,
    /// The derivative.
    pub slope: f64,
}

impl Dual {
    /// A function of this number, from its value and its derivative there.
    #[inline(always)]
    fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, slope: derivative * self.slope }
    }
}

impl Add for Dual {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.value * other.slope + self.slope * other.value }
    }
}

impl Div for Dual {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, slope: (self.slope - value * other.slope) / other.value }
    }
}

impl Neg for Dual {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl Scalar for Dual {
    fn from_f64(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }

    fn recip(self) -> Self {
        let value = self.value.recip();
        self.chain(value, -value * value)
    }

    fn mul_add(self, factor: Self, summand: Self) -> Self {
        self * factor + summand
    }

    /// A square root has the derivative 0 where its radicand is 0 and has one: it is a norm there.
    fn sqrt(self) -> Self {
        let value = Scalar::sqrt(self.value);
        if self.value == 0.0 && self.slope == 0.0 { Self::from_f64(value) } else { self.chain(value, 0.5 / value) }
    }

    fn abs(self) -> Self {
        self.chain(self.value.abs(), Scalar::sign(self.value))
    }

    fn sign(self) -> Self {
        Self::from_f64(Scalar::sign(self.value))
    }

    fn powi(self, exponent: i32) -> Self {
        let slope = f64::from(exponent) * Scalar::powi(self.value, exponent.saturating_sub(1));
        self.chain(Scalar::powi(self.value, exponent), slope)
    }

    fn powf(self, exponent: Self) -> Self {
        let value = Scalar::powf(self.value, exponent.value);
        let of_base = self.chain(value, exponent.value * Scalar::powf(self.value, exponent.value - 1.0));
        // The logarithm of what is not positive is only asked for where it takes part.
        let of_exponent = if exponent.slope == 0.0 { 0.0 } else { value * Scalar::ln(self.value) * exponent.slope };
        Self { slope: of_base.slope + of_exponent, ..of_base }
    }

    fn sin(self) -> Self {
        self.chain(Scalar::sin(self.value), Scalar::cos(self.value))
    }

    fn cos(self) -> Self {
        self.chain(Scalar::cos(self.value), -Scalar::sin(self.value))
    }

    fn tan(self) -> Self {
        let value = Scalar::tan(self.value);
        self.chain(value, 1.0 + value * value)
    }

    fn asin(self) -> Self {
        self.chain(Scalar::asin(self.value), Scalar::sqrt(1.0 - self.value * self.value).recip())
    }

    fn acos(self) -> Self {
        self.chain(Scalar::acos(self.value), -Scalar::sqrt(1.0 - self.value * self.value).recip())
    }

    fn atan(self) -> Self {
        self.chain(Scalar::atan(self.value), (1.0 + self.value * self.value).recip())
    }

    fn atan2(self, x: Self) -> Self {
        let squares = self.value * self.value + x.value * x.value;
        let slope = (x.value * self.slope - self.value * x.slope) / squares;
        Self { value: Scalar::atan2(self.value, x.value), slope }
    }

    fn sinh(self) -> Self {
        self.chain(Scalar::sinh(self.value), Scalar::cosh(self.value))
    }

    fn cosh(self) -> Self {
        self.chain(Scalar::cosh(self.value), Scalar::sinh(self.value))
    }

    fn tanh(self) -> Self {
        let value = Scalar::tanh(self.value);
        self.chain(value, 1.0 - value * value)
    }

    fn exp(self) -> Self {
        let value = Scalar::exp(self.value);
        self.chain(value, value)
    }

    fn ln(self) -> Self {
        self.chain(Scalar::ln(self.value), self.value.recip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// |x| x and norms have derivatives at 0; roots of anything else do not.
    #[test]
    fn sizes_have_slopes_at_zero() {
        let zero = Dual { value: 0.0, slope: 2.0 };
        assert_eq!((zero.abs().slope, (zero.abs() * zero).slope), (0.0, 0.0));
        assert_eq!(((zero * zero).sqrt().slope, ((zero * zero).sqrt() * zero).slope), (0.0, 0.0));
        assert_eq!(Scalar::sqrt(zero).slope, f64::INFINITY);
    }

    #[test]
    fn slopes_are_those_of_difference_quotients() {
        let functions: [fn(Dual) -> Dual; 22] = [
            |x| x + x * x,
            |x| x - Dual::from_f64(2.0) / x,
            |x| -x.mul_add(x, x),
            Scalar::recip,
            Scalar::sqrt,
            |x| (-x).abs(),
            |x| x.powi(-3),
            |x| x.powf(Dual::from_f64(2.5)),
            |x| Dual::from_f64(1.5).powf(x),
            Scalar::sin,
            Scalar::cos,
            Scalar::tan,
            Scalar::asin,
            Scalar::acos,
            Scalar::atan,
            |x| x.sin().atan2(x.exp()),
            Scalar::sinh,
            Scalar::cosh,
            Scalar::tanh,
            Scalar::exp,
            Scalar::ln,
            |x| Dual::from_f64(0.2).atan2(x),
        ];
        for (number, function) in functions.iter().enumerate() {
            let at = |value: f64| function(Dual { value, slope: 2.0 });
            let quotient = (at(0.7 + 1e-5).value - at(0.7 - 1e-5).value) / 1e-5;
            // The quotient errs by the square of its step, relative to the slope.
            let most = 1e-8 * (1.0 + quotient.abs());
            assert!((at(0.7).slope - quotient).abs() < most, "{number}: {} {quotient}", at(0.7).slope);
        }
    }
}
