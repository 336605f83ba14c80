//! The numbers in which expressions are evaluated: doubles, with an estimate of their rounding or without, numbers of 256 bits, with
//! derivatives or without, signs, residues modulo primes; the points at which they are evaluated; and linear systems in all of them.

pub(crate) mod bounded;
pub(crate) mod coefficient;
pub(crate) mod derivative;
pub(crate) mod determinant;
mod double;
pub(crate) mod dual;
pub(crate) mod field;
pub(crate) mod linear;
pub(crate) mod number;
pub mod points;
pub(crate) mod precise;
pub(crate) mod random;
pub(crate) mod rational;
pub(crate) mod scaled;
pub(crate) mod signs;

/// A power, by squaring; `None` where the exponent is 0.
pub(crate) fn power<T: Clone>(base: T, mut exponent: u64, mut times: impl FnMut(&T, &T) -> T) -> Option<T> {
    let (mut square, mut power) = (base, None);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = Some(power.map_or_else(|| square.clone(), |power| times(&power, &square)));
        }
        exponent >>= 1;
        if exponent > 0 {
            square = times(&square, &square);
        }
    }
    power
}
