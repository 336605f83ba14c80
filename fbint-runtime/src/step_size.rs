//! How the error of a step, in units of the tolerance, changes the size of the next (HNW II.4).

#[cfg(feature = "ensemble")]
use crate::lanes::{Lanes, Mask};
use crate::scalar::Scalar;
use crate::tableau::{ControlConstants, Response};
#[cfg(feature = "ensemble")]
use crate::tolerance::Larger;

/// How much shorter a step is than what just meets the tolerance.
const SAFETY: f64 = 0.9;
/// The natural logarithm of the least error that the stabilised control remembers, which is 1e-4.
pub(crate) const LEAST_LOG_ERROR: f64 = -4.0 * core::f64::consts::LN_10;

impl ControlConstants {
    /// How much longer the step after one of this error can be. The logarithm of the error is kept for the step after that.
    #[inline]
    pub(crate) fn growth(&self, error: f64, last_log_error: &mut f64) -> f64 {
        let (least, most) = self.range;
        let factor = match self.response {
            Response::EighthRoot => eighth_root(error.recip()),
            Response::Stabilised { exponent, beta } => {
                let log_error = Scalar::ln(error);
                let factor = Scalar::exp(beta * *last_log_error - exponent * log_error);
                *last_log_error = log_error.max(LEAST_LOG_ERROR);
                factor
            }
        };
        // Not `clamp`, which panics for limits in the wrong order, for all that the compiler knows.
        (SAFETY * factor).max(least).min(most)
    }

    /// How much shorter a step must be than one that had this error, which may be infinite or NaN.
    pub(crate) fn shrinkage(&self, error: f64) -> f64 {
        let (least, _) = self.range;
        let factor = match self.response {
            Response::EighthRoot => eighth_root(error.recip()),
            Response::Stabilised { exponent, .. } => Scalar::exp(-exponent * Scalar::ln(error)),
        };
        (SAFETY * factor).max(least)
    }

    /// [`growth`](Self::growth) in the lanes that are accepted, and [`shrinkage`](Self::shrinkage) in all others.
    #[cfg(feature = "ensemble")]
    #[inline(always)]
    pub(crate) fn change<const V: usize>(
        &self,
        accepted: Mask<V>,
        error: Lanes<V>,
        last_log_error: &mut Lanes<V>,
    ) -> Lanes<V> {
        let (least, most) = (Lanes::from_f64(self.range.0), Lanes::from_f64(self.range.1));
        let factor = match self.response {
            Response::EighthRoot => eighth_root(error.recip()),
            Response::Stabilised { exponent, beta } => {
                let log_error = error.ln();
                let shrinkage = Lanes::from_f64(-exponent) * log_error;
                let growth = Lanes::from_f64(beta) * *last_log_error + shrinkage;
                let remembered = log_error.larger(Lanes::from_f64(LEAST_LOG_ERROR));
                *last_log_error = accepted.select(remembered, *last_log_error);
                accepted.select(growth, shrinkage).exp()
            }
        };
        let change = (Lanes::from_f64(SAFETY) * factor).larger(least);
        accepted.select(change.min(most), change)
    }
}

#[inline(always)]
fn eighth_root<T: Scalar>(x: T) -> T {
    x.sqrt().sqrt().sqrt()
}
