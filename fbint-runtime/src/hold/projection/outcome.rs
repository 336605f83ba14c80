//! The outcome of a projection, and of a step whose end is projected.

use derive_where::derive_where;

use super::proportion::Omission;
use crate::numbers::entries::Entries;
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::system::{FeedbackSystem, Integrals, Vector};

/// The findings and the effect of projecting a state of the system `S`.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Projected<S: FeedbackSystem, T: Scalar = f64> {
    /// F - F_target before the projection.
    pub violation: Integrals<S, T>,
    /// The vector that the projection subtracted from the state.
    pub correction: Vector<S, T>,
    /// The part that was left out of the projection, if any.
    pub left_out: Option<Omission>,
}

impl<S: FeedbackSystem, T: Scalar> Projected<S, T> {
    /// A projection that found and moved nothing.
    pub(crate) fn nothing() -> Self {
        let zero = T::from_f64(0.0);
        Self { violation: filled(zero), correction: filled(zero), left_out: None }
    }
}

/// Where a step ended, and how that end was projected.
#[derive_where(Clone, Copy)]
pub(crate) struct Landing<S: FeedbackSystem, T: Scalar = f64> {
    /// Where the step ended before its end was projected.
    pub(crate) end: Vector<S, T>,
    /// The diagonal of S in the projection.
    pub(crate) variances: Vector<S, T>,
    pub(crate) projected: Projected<S, T>,
    /// F - F_target after the projection, where it was evaluated.
    pub(crate) left: Integrals<S, T>,
}

impl<S: FeedbackSystem> Landing<S> {
    /// The landing before the first step.
    pub(crate) fn nothing() -> Self {
        Self { end: filled(0.0), variances: filled(0.0), projected: Projected::nothing(), left: filled(0.0) }
    }

    /// Returns `true` if the square of what the projection moved an entry by is at most `most` times its variance, for every entry.
    #[inline(always)]
    pub(super) fn is_within(&self, most: f64) -> bool {
        let correction = &self.projected.correction;
        (0..Vector::<S>::LEN).fold(true, |all, i| all & (correction[i] * correction[i] <= most * self.variances[i]))
    }
}

/// A step after which an entry of the error is out of the ordinary, or the projection by the errors before is out of proportion.
#[derive_where(Clone, Copy)]
pub(super) struct DoubtfulStep<S: FeedbackSystem> {
    pub(super) end: Vector<S>,
    /// The diagonal of S with the error of this step.
    pub(super) variances: Vector<S>,
    /// The variances if forces switch within the step.
    pub(super) switching: Vector<S>,
    /// R.
    pub(super) noise: Integrals<S>,
    /// The size of the step.
    pub(super) h: f64,
}
