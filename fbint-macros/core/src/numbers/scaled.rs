//! Doubles with an exponent of any size, for values that leave the range of a double on the way to one within it.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

use super::power;

/// fraction 2^exponent, where the fraction is in [1, 2) up to its sign, or 0, or not finite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled {
    fraction: f64,
    exponent: i64,
}

impl Scaled {
    /// The number, to the precision of a double.
    pub(crate) fn rational(number: &BigRational) -> Self {
        let exponent = magnitude(number);
        let fraction = (number / power_of_two(exponent)).to_f64().unwrap_or(f64::NAN);
        Self { fraction, exponent }.normalised()
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self { fraction: self.fraction * other.fraction, exponent: self.exponent.saturating_add(other.exponent) }
            .normalised()
    }

    pub(crate) fn powi(self, exponent: i32) -> Self {
        let size = power(self, exponent.unsigned_abs().into(), |a, b| a.times(*b)).unwrap_or(Self::from(1.0));
        if exponent < 0 { size.recip() } else { size }
    }

    pub(crate) fn sqrt(self) -> Self {
        let odd = self.exponent.rem_euclid(2);
        let fraction = (self.fraction * if odd == 1 { 2.0 } else { 1.0 }).sqrt();
        Self { fraction, exponent: (self.exponent - odd) / 2 }.normalised()
    }

    /// The nearest double; infinite or 0 where it is out of range.
    pub(crate) fn to_f64(self) -> f64 {
        let half = self.exponent.clamp(-1100, 1100) as i32 / 2;
        self.fraction * 2.0_f64.powi(half) * 2.0_f64.powi(self.exponent.clamp(-1100, 1100) as i32 - half)
    }

    fn recip(self) -> Self {
        Self { fraction: 1.0 / self.fraction, exponent: self.exponent.saturating_neg() }.normalised()
    }

    fn normalised(self) -> Self {
        if self.fraction == 0.0 || !self.fraction.is_finite() {
            return self;
        }
        if !self.fraction.is_normal() {
            let fraction = self.fraction * 2.0_f64.powi(64);
            return Self { fraction, exponent: self.exponent.saturating_sub(64) }.normalised();
        }
        let exponent = (self.fraction.to_bits() >> 52 & 0x7ff) as i64 - 1023;
        let fraction = f64::from_bits(self.fraction.to_bits() & !(0x7ff << 52) | 1023 << 52);
        Self { fraction, exponent: self.exponent.saturating_add(exponent) }
    }
}

impl From<f64> for Scaled {
    fn from(value: f64) -> Self {
        Self { fraction: value, exponent: 0 }.normalised()
    }
}

/// The binary logarithm of the size of a number, up to one; 0 of 0.
pub(crate) fn magnitude(number: &BigRational) -> i64 {
    let bits = |part: &BigInt| i64::try_from(part.bits()).unwrap_or(i64::MAX / 2);
    if number.is_zero() { 0 } else { bits(number.numer()) - bits(number.denom()) }
}

/// 2^exponent
pub(crate) fn power_of_two(exponent: i64) -> BigRational {
    let power = BigRational::from_integer(BigInt::one() << exponent.unsigned_abs().min(1 << 24));
    if exponent.is_negative() { power.recip() } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a double can hold comes out as it is computed in doubles.
    #[test]
    fn values_agree_with_doubles() {
        for x in [1.0, -1.5, 3e-7, 6.02e23, 5e-324, 1.7e308, 0.0] {
            assert_eq!(Scaled::from(x).to_f64(), x);
            assert_eq!(Scaled::from(x).times(Scaled::from(0.5)).to_f64(), 0.5 * x);
            assert!((Scaled::from(x.abs()).sqrt().to_f64() - x.abs().sqrt()).abs() <= 1e-15 * x.abs().sqrt());
        }
        for exponent in [-3, -1, 0, 1, 2, 7] {
            let power = 1.7_f64.powi(exponent);
            assert!((Scaled::from(1.7).powi(exponent).to_f64() - power).abs() <= 1e-15 * power);
        }
        let third = BigRational::new(1.into(), 3.into());
        assert_eq!(Scaled::rational(&third).to_f64(), 1.0 / 3.0);
    }

    #[test]
    fn what_leaves_the_range_comes_back() {
        let far = Scaled::rational(&power_of_two(-4000)).times(Scaled::from(1e10).powi(120));
        let expected = 1e10_f64.log2() * 120.0 - 4000.0;
        assert!((far.to_f64().log2() - expected).abs() < 1e-9, "{far:?}");
        assert_eq!(Scaled::from(2.0).powi(3000).sqrt().times(Scaled::from(2.0).powi(-1500)).to_f64(), 1.0);
        assert_eq!(Scaled::from(2.0).powi(3000).to_f64(), f64::INFINITY);
    }
}
