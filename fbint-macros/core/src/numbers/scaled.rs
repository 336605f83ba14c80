//! Sizes of rational numbers that are too large or too small for doubles.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

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
