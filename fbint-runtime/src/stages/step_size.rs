//! The rule that sets the next step's size from the error of a step, in units of the tolerance (HNW II.4).

use crate::error::{Error, positive};
#[cfg(feature = "ensemble")]
use crate::numbers::lanes::{Lanes, Mask};
#[cfg(feature = "ensemble")]
use crate::numbers::larger::Larger;
use crate::numbers::scalar::Scalar;
use crate::stages::tableau::{ControlConstants, Response};
#[cfg(feature = "std")]
use crate::stages::tolerance::OF_RUN;

/// The safety factor of a step below the size that just meets the tolerance.
const SAFETY: f64 = 0.9;
/// The natural logarithm of the least error that the stabilised control remembers, which is 1e-4.
pub(crate) const LEAST_LOG_ERROR: f64 = -4.0 * core::f64::consts::LN_10;

/// A step that moves nothing by more than this part of the tolerance has seen nothing, or the beginning of something.
pub(crate) const REST: f64 = 1e-3;

/// The longest step, whatever the error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLimits {
    /// The longest of all steps.
    pub(crate) most: f64,
    /// The longest step after one that moved nothing, if that counts: a motion that sets in later must not fall between the stages of a
    /// step.
    pub(crate) at_rest: Option<f64>,
}

impl StepLimits {
    /// Steps of any size.
    pub(crate) const NONE: Self = Self { most: f64::INFINITY, at_rest: None };

    /// Those that are given; else a system that depends on the time has short steps, against a run of this length, while nothing moves.
    #[cfg(feature = "std")]
    pub(crate) fn of_run(given: Option<f64>, depends_on_time: bool, length: f64) -> Result<Self, Error> {
        match given {
            Some(given) => Self::at_most(given),
            None => Ok(Self { at_rest: depends_on_time.then_some(OF_RUN * length), ..Self::NONE }),
        }
    }

    /// Steps of at most this size.
    pub(crate) fn at_most(size: f64) -> Result<Self, Error> {
        Ok(Self { most: positive("the largest step", size)?, at_rest: None })
    }
}

impl ControlConstants {
    /// The growth of the step after one of this error. The logarithm of the error is kept for the step after that.
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

    /// The factor by which a step must be shorter than one with this error, which may be infinite or NaN.
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
