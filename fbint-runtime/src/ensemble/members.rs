//! Members that take lanes, and their numbers side by side.

use super::samples::Track;
use crate::hold::projection::{Projection, Projector};
use crate::hold::rounding::Rounding;
use crate::numbers::entries::Entries;
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::linear::difference;
use crate::numbers::scalar::Scalar;
use crate::simulation::samples::FlatSamples;
use crate::system::SystemFacts;
use crate::system::{FeedbackSystem, Integrals, PreparedSystem, Vector};

/// A member that takes a lane.
pub(super) struct AssignedMember<S: FeedbackSystem> {
    pub(super) member: usize,
    pub(super) system: S::Prepared<f64>,
    pub(super) start: Vector<S>,
    pub(super) targets: Integrals<S>,
    /// The distance from its target that each integral may have.
    pub(super) bounds: Integrals<S>,
    pub(super) rounding: Rounding<S>,
}

impl<S: FeedbackSystem> AssignedMember<S> {
    /// The facts about the system.
    pub(super) fn facts(&self) -> &'static SystemFacts {
        PreparedSystem::facts(&self.system)
    }

    /// The samples of a member that begins at a time, with room for a number of them.
    pub(super) fn track(&self, time: f64, samples: usize) -> Track {
        let mut track = FlatSamples::of(self.facts(), samples)?;
        let change: Integrals<S> = difference(&self.system.integrals(&self.start), &self.targets);
        track.push_of::<S>(self.facts(), time, &self.start, &change)?;
        Ok(track)
    }
}

/// The numbers of the members in the lanes of `V` vectors.
pub(super) struct Numbers<S: FeedbackSystem, const V: usize> {
    pub(super) system: S::Prepared<Lanes<V>>,
    targets: Integrals<S, Lanes<V>>,
    bounds: Integrals<S, Lanes<V>>,
    rounding: Rounding<S, Lanes<V>>,
}

impl<S: FeedbackSystem, const V: usize> Numbers<S, V> {
    /// The numbers of the members that have lanes.
    pub(super) fn gather<'a>(member_in: &dyn Fn(usize) -> &'a AssignedMember<S>) -> Self {
        Self {
            system: S::gather(&|lane| &member_in(lane).system),
            targets: Entries::from_fn(|i| Lanes::from_lanes(&|lane| member_in(lane).targets[i])),
            bounds: Entries::from_fn(|i| Lanes::from_lanes(&|lane| member_in(lane).bounds[i])),
            rounding: Rounding::gather(&|lane| &member_in(lane).rounding),
        }
    }

    pub(super) fn projector(&self, projection: Projection) -> Projector<S, Lanes<V>> {
        Projector::of(self.system.clone(), self.targets, self.rounding, projection)
    }

    /// F - F_target.
    #[inline(always)]
    pub(super) fn change(&self, x: &Vector<S, Lanes<V>>) -> Integrals<S, Lanes<V>> {
        difference(&self.system.integrals(x), &self.targets)
    }

    /// The lanes in which a state is finite, and every integral within its bound.
    #[inline(always)]
    pub(super) fn is_good(&self, x: &Vector<S, Lanes<V>>, change: &Integrals<S, Lanes<V>>) -> Mask<V> {
        (0..Integrals::<S>::LEN).fold(is_finite(x), |good, i| good.and(change[i].abs().is_at_most(self.bounds[i])))
    }
}

/// The lanes in which every entry is finite.
#[inline(always)]
pub(super) fn is_finite<E: Entries<Lanes<V>>, const V: usize>(x: &E) -> Mask<V> {
    (0..E::LEN).fold(Mask::all(), |finite, i| finite.and(x[i].is_finite()))
}

/// The vector in one lane.
#[inline(always)]
pub(super) fn in_lane<E: Entries<f64>, L: Entries<Lanes<V>>, const V: usize>(v: &L, lane: usize) -> E {
    E::from_fn(|i| v[i].lane(lane))
}
