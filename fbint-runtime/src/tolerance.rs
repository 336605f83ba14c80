//! How large the error of a step may be, and the norm that it is measured in.

use crate::entries::Entries;
use crate::error::{Error, positive};
use crate::scalar::Scalar;

/// The largest error of a step, rtol |x_i| + atol for entry i of the state; see [`Integrator::with_scales`](crate::Integrator::with_scales)
/// for entries of different sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    rtol: f64,
    atol: f64,
}

impl Tolerance {
    /// A relative and an absolute tolerance.
    ///
    /// # Errors
    ///
    /// If one of them is not positive or not finite.
    pub fn new(rtol: f64, atol: f64) -> Result<Self, Error> {
        let rtol = positive("the relative tolerance rtol", rtol)?;
        let atol = positive("the absolute tolerance atol", atol)?;
        Ok(Self { rtol, atol })
    }

    /// The absolute tolerance of an entry of this scale.
    pub(crate) fn absolute(&self, scale: f64) -> f64 {
        self.atol * scale
    }

    /// What an entry of an error is to be multiplied with: 1 / (atol_i + rtol max(|x_i|, |y_i|)).
    #[inline]
    pub(crate) fn weights<V: Entries<T>, T: Larger>(&self, atol: &V, x: &V, y: &V) -> V {
        let (mut weights, rtol) = (*atol, T::from_f64(self.rtol));
        // A loop, which LLVM vectorises among the sums of a step, where each entry of `from_fn` became a branch and a division.
        for ((weight, x), y) in weights.as_mut().iter_mut().zip(x.as_ref()).zip(y.as_ref()) {
            *weight = (*weight + rtol * x.abs().larger(y.abs())).recip();
        }
        weights
    }

    /// The tolerance of an entry of the state, rtol |x| + atol.
    #[cfg(feature = "std")]
    pub(crate) fn of(&self, x: f64, atol: f64) -> f64 {
        atol + self.rtol * x.abs()
    }
}

/// A number of which the larger of two can be told, or several side by side, each by itself.
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

/// The root mean square of the weighed entries, of which a state has so many.
#[inline]
pub(crate) fn norm<V: Entries<T>, T: Scalar>(v: &V, weights: &V, dimension: usize) -> T {
    mean_square(v, weights, dimension).sqrt()
}

/// The mean of the squares of the weighed entries, of which a state has so many.
#[inline]
pub(crate) fn mean_square<V: Entries<T>, T: Scalar>(v: &V, weights: &V, dimension: usize) -> T {
    // Four sums, because the next step's size waits for this one.
    let mut sums = [T::from_f64(0.0); 4];
    for i in 0..V::LEN {
        let weighed = v[i] * weights[i];
        sums[i % 4] = sums[i % 4] + weighed * weighed;
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) / T::from_f64(dimension as f64)
}
