//! How the error of a step, in units of the tolerance, changes the size of the next (HNW II.4).

use crate::scalar::Scalar;
use crate::tableau::{Control, Response};

/// How much shorter a step is than what just meets the tolerance.
const SAFETY: f64 = 0.9;
/// The natural logarithm of the least error that the stabilised control remembers, which is 1e-4.
pub(crate) const LEAST_LOG_ERROR: f64 = -4.0 * core::f64::consts::LN_10;

impl Control {
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
}

fn eighth_root(x: f64) -> f64 {
    Scalar::sqrt(Scalar::sqrt(Scalar::sqrt(x)))
}
