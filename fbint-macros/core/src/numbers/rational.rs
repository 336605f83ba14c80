//! Rational numbers with small denominators, found in doubles. Callers have to prove that they are right.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// Denominators up to this are found.
const LARGEST_DENOMINATOR: i64 = 720;
/// Doubles that differ by less, relative to their size, may be equal.
const CLOSE: f64 = 1e-9;

/// The number with a small denominator that a double is, but for rounding.
pub(crate) fn rational(number: f64) -> Option<BigRational> {
    let mut denominators = 1..=LARGEST_DENOMINATOR;
    let (denominator, numerator) =
        denominators.find_map(|denominator| Some((denominator, whole(number, denominator)?)))?;
    Some(BigRational::new(BigInt::from(numerator), BigInt::from(denominator)))
}

/// The smallest multiple of a vector whose entries are whole numbers, but for rounding.
pub(crate) fn whole_multiple(vector: &[f64]) -> Option<Vec<i64>> {
    (1..=LARGEST_DENOMINATOR).find_map(|scale| vector.iter().map(|entry| whole(*entry, scale)).collect())
}

/// This multiple of a double, if it is whole.
fn whole(number: f64, scale: i64) -> Option<i64> {
    let multiple = number * scale as f64;
    let is_whole = (multiple - multiple.round()).abs() < CLOSE * multiple.abs().max(1.0);
    is_whole.then(|| multiple.round().to_i64())?
}
