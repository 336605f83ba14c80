//! Arithmetic modulo primes of 62 bits.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::linear::Arithmetic;
use super::power;
use super::random::Random;

/// Witnesses that tell every composite number below 2^64 from a prime (Sorenson and Webster).
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Random primes between 2^61 and 2^62 modulo which -1 is not a square, and every residue has exactly one root of index 3, 5 and 7: so
/// [`PrimeField::root`] finds roots of indices without prime factors above 7.
pub(crate) fn primes(seed: u64) -> impl Iterator<Item = PrimeField> {
    let mut random = Random(seed);
    let numbers = std::iter::from_fn(move || Some(random.next() >> 3 | 1 << 61 | 3));
    let has_roots = |number: &u64| ![3, 5, 7].iter().any(|factor| (number - 1).is_multiple_of(*factor));
    numbers.filter(has_roots).filter(|number| is_prime(*number)).map(PrimeField::new)
}

/// By Miller and Rabin.
fn is_prime(number: u64) -> bool {
    if WITNESSES.iter().any(|witness| number.is_multiple_of(*witness)) {
        return WITNESSES.contains(&number);
    }
    let field = PrimeField::new(number);
    let twos = (number - 1).trailing_zeros();
    WITNESSES.iter().all(|witness| {
        let mut power = field.raise(*witness, (number - 1) >> twos);
        power == 1
            || (0..twos).any(|_| {
                let is_minus_one = power == number - 1;
                power = field.multiply(power, power);
                is_minus_one
            })
    })
}

/// The residues modulo a prime below 2^62.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimeField {
    pub(crate) prime: u64,
    /// The number of bits of the prime.
    bits: u32,
    /// 4^bits / prime, rounded down.
    reciprocal: u64,
}

impl PrimeField {
    pub(crate) const fn new(prime: u64) -> Self {
        let bits = u64::BITS - prime.leading_zeros();
        Self { prime, bits, reciprocal: ((1_u128 << (2 * bits)) / prime as u128) as u64 }
    }

    /// The residue of a sum of at most four products of residues, by Barrett's reduction: dividing 128 bits by 64 takes several times as
    /// long. The estimated quotient is at most six too small.
    pub(crate) fn reduce(self, number: u128) -> u64 {
        let leading = number >> (self.bits - 1);
        let quotient = leading.wrapping_mul(u128::from(self.reciprocal)) >> (self.bits + 1);
        let mut rest = number.wrapping_sub(quotient.wrapping_mul(u128::from(self.prime)));
        while rest >= u128::from(self.prime) {
            rest = rest.wrapping_sub(u128::from(self.prime));
        }
        rest as u64
    }

    pub(crate) fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    pub(crate) fn subtract(self, a: u64, b: u64) -> u64 {
        self.add(a, self.negative(b))
    }

    pub(crate) fn negative(self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.prime - a }
    }

    pub(crate) fn multiply(self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    pub(crate) fn raise(self, base: u64, exponent: u64) -> u64 {
        power(base, exponent, |a, b| self.multiply(*a, *b)).unwrap_or(1)
    }

    /// `None` of too large an exponent, and where 0 is divided by.
    pub(crate) fn integer_power(self, base: u64, exponent: &BigInt) -> Option<u64> {
        let power = self.raise(base, exponent.abs().to_u64()?);
        if exponent.is_negative() { self.inverse(power) } else { Some(power) }
    }

    /// `None` where 0 is divided by.
    pub(crate) fn quotient(self, dividend: u64, divisor: u64) -> Option<u64> {
        Some(self.multiply(dividend, self.inverse(divisor)?))
    }

    /// By Fermat's little theorem.
    pub(crate) fn inverse(self, residue: u64) -> Option<u64> {
        (residue != 0).then(|| self.raise(residue, self.prime - 2))
    }

    /// One of the roots of this index, if there are any: where it is prime to (p - 1) / 2, which is odd, a power of the residue, or minus
    /// that.
    pub(crate) fn root(self, residue: u64, index: u64) -> Option<u64> {
        let half = u128::from((self.prime - 1) / 2);
        let multiple = (0..u128::from(index)).map(|factor| 1 + factor * half).find(|n| n % u128::from(index) == 0)?;
        let root = self.raise(residue, (multiple / u128::from(index)) as u64);
        [root, self.negative(root)].into_iter().find(|root| self.raise(*root, index) == residue)
    }

    /// `None` where the denominator vanishes.
    pub(crate) fn residue(self, number: &BigRational) -> Option<u64> {
        if let Some(integer) = number.numer().to_i64().filter(|_| number.is_integer()) {
            return Some(integer.rem_euclid(self.prime as i64) as u64);
        }
        let residue = |part: &BigInt| part.mod_floor(&BigInt::from(self.prime)).to_u64();
        let numerator = residue(number.numer())?;
        Some(self.multiply(numerator, self.inverse(residue(number.denom())?)?))
    }
}

impl Arithmetic for PrimeField {
    type Entry = u64;

    fn is_zero(&self, residue: &u64) -> bool {
        *residue == 0
    }

    fn product(&self, a: &u64, b: &u64) -> u64 {
        self.multiply(*a, *b)
    }

    fn difference(&self, a: &u64, b: &u64) -> u64 {
        self.subtract(*a, *b)
    }

    fn reciprocal(&self, residue: &u64) -> Option<u64> {
        self.inverse(*residue)
    }

    /// Few entries are best: C is sparse.
    fn merit(&self, row: &[u64], column: usize) -> f64 {
        let entries = row[column..].iter().filter(|entry| **entry != 0).count();
        if row[column] == 0 { 0.0 } else { 1.0 / entries as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Primes, Carmichael numbers and strong pseudoprimes to the first witnesses.
    #[test]
    fn primes_are_told_from_what_looks_like_them() {
        for prime in [2, 37, 41, 1_000_000_007, (1 << 61) - 1, 1_252_066_142_632_684_399] {
            assert!(is_prime(prime), "{prime}");
        }
        for composite in [1 << 61, 561, 2_047, 1_373_653, 3_215_031_751, 3_474_749_660_383, 341_550_071_728_321] {
            assert!(!is_prime(composite), "{composite}");
        }
        let drawn: Vec<u64> = primes(1).take(20).map(|field| field.prime).collect();
        assert!(drawn.iter().all(|prime| prime.ilog2() == 61 && (2..2_000).all(|divisor| prime % divisor != 0)));
        assert!(primes(2).take(20).all(|field| !drawn.contains(&field.prime)));
    }

    /// The largest residues and sums, except in division.
    #[test]
    fn reduction_is_division() {
        let mut random = Random(3);
        for field in [2, 3, 37, (1 << 61) - 1, (1 << 62) - 57].map(PrimeField::new).into_iter().chain(primes(4).take(8))
        {
            let largest = u128::from(field.prime - 1);
            let edges = [0, 1, largest, largest * largest, 4 * largest * largest];
            let products = std::iter::repeat_with(|| {
                let [a, b] = [random.next(), random.next()].map(|number| u128::from(number % field.prime));
                a * b + (largest - a) * (largest - b)
            });
            for number in edges.into_iter().chain(products.take(1_000)) {
                assert_eq!(u128::from(field.reduce(number)), number % u128::from(field.prime), "{number} in {field:?}");
            }
        }
    }
}
