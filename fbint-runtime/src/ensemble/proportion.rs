//! Whether projections are corrections of the errors of their steps, lane by lane.

use super::seat::in_lane;
use crate::entries::Entries;
use crate::lanes::{Lanes, Mask};
use crate::projection::{ROUNDINGS, furthest};
use crate::scalar::Scalar;
use crate::system::{FeedbackSystem, Vector};

/// The square of half of what is [out of proportion](crate::projection::Move::is_in_proportion), in units of the error of a step.
const HALF: f64 = 500.0 * 500.0;

/// Those of the lanes in which a projection to `x` is out of proportion to the errors of steps, whose squares are `variances`.
///
/// Quotients are computed where a move is more than half of that, which hardly any is.
#[inline(always)]
pub(super) fn out_of_proportion<S: FeedbackSystem, const V: usize>(
    lanes: Mask<V>,
    correction: &Vector<S, Lanes<V>>,
    variances: &Vector<S, Lanes<V>>,
    x: &Vector<S, Lanes<V>>,
) -> Mask<V> {
    let rounding = ROUNDINGS * f64::EPSILON;
    let [half, rounding] = [HALF, HALF * rounding * rounding].map(Lanes::from_f64);
    let mut small = lanes;
    for i in 0..Vector::<S, Lanes<V>>::LEN {
        let limit = half.mul_add(variances[i], rounding * (x[i] * x[i]));
        small = small.and((correction[i] * correction[i]).is_at_most(limit));
    }
    let suspicious = lanes.and_not(small);
    if suspicious.any() { look_closely::<S, V>(suspicious, correction, variances, x) } else { suspicious }
}

#[cold]
#[inline(never)]
fn look_closely<S: FeedbackSystem, const V: usize>(
    suspicious: Mask<V>,
    correction: &Vector<S, Lanes<V>>,
    variances: &Vector<S, Lanes<V>>,
    x: &Vector<S, Lanes<V>>,
) -> Mask<V> {
    let is_out = |lane: usize| {
        let [correction, variances, x] = [correction, variances, x].map(|v| in_lane(v, lane));
        !furthest::<S>(&correction, &variances, &x).is_in_proportion()
    };
    suspicious.filter(is_out)
}
