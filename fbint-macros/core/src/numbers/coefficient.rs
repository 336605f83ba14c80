//! Exact coefficients, whose arithmetic needs no common divisors as long as they are decimals, as those that people write are.
//!
//! Reducing fractions takes most of the time of exact arithmetic. Here powers of 2 and 5 are kept apart, so that a decimal has no other
//! denominator, a product of decimals is reduced as it is, and a sum is after a few divisions by 5.

use std::rc::Rc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::scaled::magnitude;

/// The largest power of 5 by which a division is one of a digit.
const FIVES: (u32, i64) = (1_220_703_125, 13);
/// Binary logarithms of coefficients that are moderate for certain, although they are estimated.
const MODERATE: i64 = 490;

thread_local! {
    /// 1 / 1, which most coefficients share.
    static ONE: Rc<Fraction> = Rc::new(Fraction { numerator: BigInt::one(), denominator: BigInt::one() });
}

/// Without a common divisor, and with none with 10. The numerator is not negative, the denominator is positive.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Fraction {
    numerator: BigInt,
    denominator: BigInt,
}

/// A fraction times 2^twos 5^fives, with a sign, which 0 has not. Copies are cheap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Coefficient {
    is_negative: bool,
    fraction: Rc<Fraction>,
    twos: i64,
    fives: i64,
}

impl Coefficient {
    pub(crate) fn zero() -> Self {
        Self::new(BigInt::zero(), BigInt::one(), 0, 0)
    }

    pub(crate) fn one() -> Self {
        Self { is_negative: false, fraction: ONE.with(Rc::clone), twos: 0, fives: 0 }
    }

    /// From parts without a common divisor, which have none with 10.
    fn new(numerator: BigInt, denominator: BigInt, twos: i64, fives: i64) -> Self {
        let is_negative = numerator.is_negative();
        let numerator = if is_negative { -numerator } else { numerator };
        let is_one = numerator.is_one() && denominator.is_one();
        let fraction = if is_one { ONE.with(Rc::clone) } else { Rc::new(Fraction { numerator, denominator }) };
        Self { is_negative, fraction, twos, fives }
    }

    /// From parts without a common divisor, which may have some with 10.
    fn reduced(mut numerator: BigInt, mut denominator: BigInt, twos: i64, fives: i64) -> Self {
        if numerator.is_zero() {
            return Self::zero();
        }
        let twos = twos + take_twos(&mut numerator) - take_twos(&mut denominator);
        let fives = fives + take_fives(&mut numerator) - take_fives(&mut denominator);
        Self::new(numerator, denominator, twos, fives)
    }

    /// The numerator with the sign.
    fn numerator(&self) -> BigInt {
        if self.is_negative { -&self.fraction.numerator } else { self.fraction.numerator.clone() }
    }

    /// The fraction with its sign.
    fn signed(&self) -> BigRational {
        BigRational::new_raw(self.numerator(), self.fraction.denominator.clone())
    }

    /// The number as a fraction.
    pub(crate) fn rational(&self) -> BigRational {
        let power = |positive: bool| {
            let part = |exponent: i64| if positive { exponent.max(0) } else { (-exponent).max(0) };
            power_of_five(part(self.fives)) << part(self.twos)
        };
        BigRational::new_raw(self.numerator() * power(true), &self.fraction.denominator * power(false))
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.fraction.numerator.is_zero()
    }

    /// Returns `true` if there is nothing but powers of 2 and 5, and a sign.
    fn is_unit(&self) -> bool {
        self.fraction.numerator.is_one() && self.fraction.denominator.is_one()
    }

    pub(crate) fn is_one(&self) -> bool {
        self.twos == 0 && self.fives == 0 && !self.is_negative && self.is_unit()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.is_negative
    }

    pub(crate) fn abs(&self) -> Self {
        Self { is_negative: false, ..self.clone() }
    }

    pub(crate) fn negated(self) -> Self {
        Self { is_negative: !self.is_negative && !self.is_zero(), ..self }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::zero();
        }
        let (twos, fives) = (self.twos + other.twos, self.fives + other.fives);
        let is_negative = self.is_negative != other.is_negative;
        if self.is_unit() || other.is_unit() {
            let fraction = if self.is_unit() { &other.fraction } else { &self.fraction };
            return Self { is_negative, fraction: fraction.clone(), twos, fives };
        }
        let (numerator, denominator) = if self.fraction.denominator.is_one() && other.fraction.denominator.is_one() {
            (&self.fraction.numerator * &other.fraction.numerator, BigInt::one())
        } else {
            (self.abs().signed() * other.abs().signed()).into()
        };
        Self { is_negative, ..Self::new(numerator, denominator, twos, fives) }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other.clone() } else { self.clone() };
        }
        let (twos, fives) = (self.twos.min(other.twos), self.fives.min(other.fives));
        let scaled = |of: &Self| (of.numerator() * power_of_five(of.fives - fives)) << (of.twos - twos);
        let (first, second) = (scaled(self), scaled(other));
        let [below, below_other] = [self, other].map(|of| &of.fraction.denominator);
        if below.is_one() && below_other.is_one() {
            return Self::reduced(first + second, BigInt::one(), twos, fives);
        }
        let sum = BigRational::new_raw(first, below.clone()) + BigRational::new_raw(second, below_other.clone());
        let (numerator, denominator) = sum.into();
        Self::reduced(numerator, denominator, twos, fives)
    }

    /// A power; of 0 only one whose exponent is positive.
    pub(crate) fn power(&self, exponent: i32) -> Self {
        let times = exponent.unsigned_abs();
        let is_negative = self.is_negative && times % 2 == 1;
        let (twos, fives) = (self.twos * i64::from(exponent), self.fives * i64::from(exponent));
        if self.is_unit() {
            return Self { is_negative, fraction: self.fraction.clone(), twos, fives };
        }
        let Fraction { numerator, denominator } = &*self.fraction;
        let (numerator, denominator) = (numerator.pow(times), denominator.pow(times));
        let (above, below) = if exponent < 0 { (denominator, numerator) } else { (numerator, denominator) };
        Self { is_negative, ..Self::new(above, below, twos, fives) }
    }

    /// The greatest common divisor of the numerators over the one of the denominators. Neither number is 0.
    pub(crate) fn shared(&self, other: &Self) -> Self {
        let exponent = |one: i64, other: i64| {
            if one.signum() == other.signum() { one.signum() * one.abs().min(other.abs()) } else { 0 }
        };
        Self::new(
            self.fraction.numerator.gcd(&other.fraction.numerator),
            self.fraction.denominator.gcd(&other.fraction.denominator),
            exponent(self.twos, other.twos),
            exponent(self.fives, other.fives),
        )
    }

    /// The number times a power of 2.
    pub(crate) fn shifted(self, by: i64) -> Self {
        Self { twos: self.twos + by, ..self }
    }

    /// Returns `true` if the number and its square are well within the range of a double.
    pub(crate) fn is_moderate(&self) -> bool {
        let bits = |part: &BigInt| i64::try_from(part.bits()).unwrap_or(i64::MAX / 4);
        // 5 is 2^2.321928.
        let estimate = bits(&self.fraction.numerator) - bits(&self.fraction.denominator)
            + self.twos
            + self.fives * 2_321_928 / 1_000_000;
        estimate.abs() < MODERATE || magnitude(&self.rational()).abs() < 500
    }
}

impl From<&BigRational> for Coefficient {
    fn from(number: &BigRational) -> Self {
        Self::reduced(number.numer().clone(), number.denom().clone(), 0, 0)
    }
}

fn power_of_five(exponent: i64) -> BigInt {
    BigInt::from(5).pow(exponent as u32)
}

/// Divides a number that is not 0 by its powers of 2, and returns how many they are.
fn take_twos(number: &mut BigInt) -> i64 {
    let twos = number.trailing_zeros().unwrap_or(0);
    if twos > 0 {
        *number >>= twos;
    }
    twos as i64
}

/// Divides a number that is not 0 by its powers of 5, and returns how many they are.
fn take_fives(number: &mut BigInt) -> i64 {
    let mut fives = 0;
    for (power, count) in [FIVES, (5, 1)] {
        while !number.is_one() && (&*number % power).is_zero() {
            *number /= power;
            fives += count;
        }
    }
    fives
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    /// Decimals, fractions and numbers out of the range of doubles.
    fn samples() -> Vec<BigRational> {
        let mut random = Random(5);
        let mut number = |most: u64| BigInt::from((random.next() % most) as i64 - (most / 2) as i64);
        let powers =
            [BigInt::one(), BigInt::from(10).pow(16), BigInt::from(3), BigInt::from(4) * 7, BigInt::from(10).pow(400)];
        let samples = powers
            .iter()
            .flat_map(|power| (0..6).map(|_| BigRational::new(number(1 << 55), power.clone())).collect::<Vec<_>>());
        let mut samples: Vec<BigRational> = samples.collect();
        samples.extend([0, 1, -1, 5, 250].map(|small| BigRational::from_integer(small.into())));
        samples.extend([3, -7].map(|small| BigRational::from_integer(BigInt::from(small) << 3000)));
        samples
    }

    #[test]
    fn arithmetic_is_that_of_fractions() {
        let samples = samples();
        for a in &samples {
            let x = Coefficient::from(a);
            assert_eq!(x.rational(), *a);
            assert_eq!(x.is_moderate(), magnitude(a).abs() < 500, "{a}");
            assert_eq!((x.is_zero(), x.is_one(), x.is_negative()), (a.is_zero(), a.is_one(), a.is_negative()));
            for exponent in [-2, -1, 0, 1, 3].into_iter().filter(|exponent| !a.is_zero() || *exponent > 0) {
                assert_eq!(x.power(exponent), Coefficient::from(&a.pow(exponent)), "{a}, {exponent}");
            }
            for b in &samples {
                let y = Coefficient::from(b);
                assert_eq!(x.plus(&y), Coefficient::from(&(a + b)), "{a} + {b}");
                assert_eq!(x.times(&y), Coefficient::from(&(a * b)), "{a} {b}");
                if !a.is_zero() && !b.is_zero() {
                    let shared = BigRational::new(a.numer().gcd(b.numer()), a.denom().gcd(b.denom()));
                    assert_eq!(x.shared(&y), Coefficient::from(&shared), "{a}, {b}");
                }
            }
        }
    }
}
