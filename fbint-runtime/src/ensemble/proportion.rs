//! Whether projections are corrections of the errors of their steps, lane by lane.

use crate::entries::Entries;
use crate::lanes::{Lanes, Mask};
use crate::projection::Landing;
use crate::scalar::Scalar;
use crate::system::{FeedbackSystem, Vector};

/// The lanes in which a simulation would look more closely at the projection of the end of a step, because the square of what it
/// moved an entry by is more than `most` times the variance.
#[inline(always)]
pub(super) fn out_of_proportion<S: FeedbackSystem, const V: usize>(
    landing: &Landing<S, Lanes<V>>,
    most: f64,
) -> Mask<V> {
    let correction = &landing.projected.correction;
    let is_small = |i: usize| (correction[i] * correction[i]).is_at_most(Lanes::from_f64(most) * landing.variances[i]);
    let small = (0..Vector::<S, Lanes<V>>::LEN).fold(Mask::all(), |small, i| small.and(is_small(i)));
    Mask::all().and_not(small)
}
