//! Whether projections are corrections of the errors of their steps, lane by lane.

use crate::hold::projection::{LEFT, Landing, ROUNDING};
use crate::numbers::entries::Entries;
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::larger::Larger;
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::system::{FeedbackSystem, Integrals, Vector};

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

/// Leaves ends of steps where they are in lanes in which every violation is rounding; returns the squares of what projections may leave.
#[inline(always)]
pub(super) fn leave_rounding<S: FeedbackSystem, const V: usize>(
    noise: &Integrals<S, Lanes<V>>,
    landing: &mut Landing<S, Lanes<V>>,
    x: &mut Vector<S, Lanes<V>>,
) -> Integrals<S, Lanes<V>> {
    let found = landing.projected.violation;
    let noise: Integrals<S, Lanes<V>> = Entries::from_fn(|i| Lanes::from_f64(ROUNDING) * noise[i]);
    let is_rounding = |i: usize| (found[i] * found[i]).is_at_most(noise[i]);
    let rounding = (0..Integrals::<S, Lanes<V>>::LEN).fold(Mask::all(), |all, i| all.and(is_rounding(i)));
    if rounding.any() {
        rounding.replace_each(x, &landing.end);
        rounding.replace_each(&mut landing.projected.correction, &filled(Lanes::from_f64(0.0)));
    }
    Entries::from_fn(|i| (Lanes::from_f64(LEFT) * found[i] * found[i]).larger(noise[i]))
}
