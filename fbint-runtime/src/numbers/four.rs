//! FourLanes numbers side by side, for sums of a Taylor series.

use core::ops::Add;

#[cfg(not(feature = "lanes"))]
use crate::numbers::scalar::Scalar;

#[cfg(feature = "lanes")]
type Numbers = wide::f64x4;
#[cfg(not(feature = "lanes"))]
type Numbers = [f64; 4];

/// FourLanes numbers side by side.
///
/// With the feature `lanes` they are a vector of the processor. The numbers are the same bit by bit without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FourLanes(Numbers);

impl FourLanes {
    /// 0 in each.
    pub const ZERO: Self = Self::splat_zero();

    #[cfg(feature = "lanes")]
    const fn splat_zero() -> Self {
        Self(Numbers::ZERO)
    }

    #[cfg(not(feature = "lanes"))]
    const fn splat_zero() -> Self {
        Self([0.0; 4])
    }

    /// These numbers.
    ///
    /// They are put together in a register: what is written number by number and read as a vector has to wait until it is in memory.
    #[inline(always)]
    pub fn new(numbers: [f64; 4]) -> Self {
        #[cfg(feature = "lanes")]
        {
            const ALL: f64 = f64::from_bits(u64::MAX);
            let [a, b, c, d] = numbers.map(Numbers::splat);
            let first_two = Numbers::new([0.0, ALL, 0.0, ALL]).select(b, a);
            let last_two = Numbers::new([0.0, ALL, 0.0, ALL]).select(d, c);
            Self(Numbers::new([0.0, 0.0, ALL, ALL]).select(last_two, first_two))
        }
        #[cfg(not(feature = "lanes"))]
        Self(numbers)
    }

    /// One of the numbers.
    ///
    /// # Panics
    ///
    /// If the index is not below 4.
    #[inline(always)]
    pub fn lane(self, lane: usize) -> f64 {
        self.numbers()[lane]
    }

    #[cfg(feature = "lanes")]
    #[inline(always)]
    fn numbers(self) -> [f64; 4] {
        self.0.into()
    }

    #[cfg(not(feature = "lanes"))]
    #[inline(always)]
    fn numbers(self) -> [f64; 4] {
        self.0
    }

    /// `self * factor + summand` in each lane: fused where the target has the instruction, two roundings elsewhere.
    #[inline(always)]
    pub fn mul_add(self, factor: Self, summand: Self) -> Self {
        #[cfg(feature = "lanes")]
        return Self(if cfg!(target_feature = "fma") {
            self.0.mul_add(factor.0, summand.0)
        } else {
            self.0 * factor.0 + summand.0
        });
        #[cfg(not(feature = "lanes"))]
        Self(core::array::from_fn(|lane| Scalar::mul_add(self.0[lane], factor.0[lane], summand.0[lane])))
    }
}

impl Add for FourLanes {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        #[cfg(feature = "lanes")]
        return Self(self.0 + other.0);
        #[cfg(not(feature = "lanes"))]
        Self(core::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }
}
