//! Comparison of numbers, lane by lane where they are several.

use crate::numbers::scalar::Scalar;

/// A number, or several side by side, with the larger of two in each lane.
pub trait Larger: Scalar {
    /// `self` where it is larger than `other`, else `other`. Not `max`, which takes four instructions to pass over NaN.
    fn larger(self, other: Self) -> Self;
    /// `self` where it is larger than `limit`, else `other`.
    fn if_larger(self, limit: Self, other: Self) -> Self;
    /// `then` where `self` is positive, else `self`.
    fn if_positive(self, then: impl FnOnce() -> Self) -> Self;
}

impl Larger for f64 {
    #[inline(always)]
    fn larger(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }

    #[inline(always)]
    fn if_larger(self, limit: f64, other: f64) -> f64 {
        if self > limit { self } else { other }
    }

    #[inline(always)]
    fn if_positive(self, then: impl FnOnce() -> f64) -> f64 {
        if self > 0.0 { then() } else { self }
    }
}
