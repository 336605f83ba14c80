//! Arithmetic modulo primes of 61 bits.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// Primes that were drawn at random, so that nothing which a declaration contains is a multiple of several by accident.
pub(super) const PRIMES: [u64; 12] = [
    1_252_066_142_632_684_399,
    1_456_514_108_370_962_441,
    1_404_095_030_073_777_707,
    2_215_354_603_288_264_279,
    2_068_604_776_339_083_401,
    2_160_676_757_655_349_859,
    2_031_132_802_773_467_117,
    1_311_083_655_502_885_543,
    1_410_399_430_860_759_481,
    1_172_339_280_958_893_167,
    1_186_516_777_447_320_199,
    1_609_449_296_892_609_859,
];

/// The residues modulo a prime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field(pub(super) u64);

impl Field {
    pub(super) fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.0 { sum - self.0 } else { sum }
    }

    pub(super) fn negative(self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.0 - a }
    }

    pub(super) fn multiply(self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.0)) as u64
    }

    pub(super) fn raise(self, base: u64, mut exponent: u64) -> u64 {
        let (mut square, mut power) = (base, 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = self.multiply(power, square);
            }
            square = self.multiply(square, square);
            exponent >>= 1;
        }
        power
    }

    /// By Fermat's little theorem.
    pub(super) fn inverse(self, residue: u64) -> Option<u64> {
        (residue != 0).then(|| self.raise(residue, self.0 - 2))
    }

    /// `None` where the denominator vanishes.
    pub(super) fn residue(self, number: &BigRational) -> Option<u64> {
        let residue = |part: &BigInt| part.mod_floor(&BigInt::from(self.0)).to_u64();
        let numerator = residue(number.numer())?;
        if number.is_integer() {
            return Some(numerator);
        }
        Some(self.multiply(numerator, self.inverse(residue(number.denom())?)?))
    }

    /// A residue that depends on nothing but the seed (SplitMix64).
    pub(super) fn random(self, seed: u64) -> u64 {
        let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % self.0
    }
}
