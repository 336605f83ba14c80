//! Members that can start, and their numbers side by side.

use super::EnsembleSetup;
use super::gains::{AloneField, LaneFields};
use super::samples::Track;
use crate::consistent_start::{check_start, projected_start, scales};
use crate::dynamical_system::DynamicalSystem;
use crate::entries::Entries;
use crate::error::Error;
use crate::facts::SystemFacts;
use crate::lanes::{Lanes, Mask};
use crate::linear::{difference, filled};
use crate::method::Settings;
use crate::projection::{Projection, Projector};
use crate::rounding::Rounding;
use crate::scalar::Scalar;
use crate::simulation::samples::FlatSamples;
use crate::simulation::{Span, bound, check_driving};
use crate::system::{FeedbackSystem, Integrals, PreparedSystem, Vector};

/// A member that takes a lane.
pub(super) struct AssignedMember<S: FeedbackSystem> {
    pub(super) member: usize,
    system: S::Prepared<f64>,
    pub(super) start: Vector<S>,
    targets: Integrals<S>,
    /// How far from its target each integral may be.
    bounds: Integrals<S>,
    rounding: Rounding<S>,
}

impl<S: FeedbackSystem> AssignedMember<S> {
    /// A member that can start and takes a lane, with its field there, or the error of its simulation.
    pub(super) fn new<'f, const V: usize>(
        setup: &EnsembleSetup<'_, S>,
        settings: &Settings,
        member: usize,
        lane: usize,
        fields: &'f mut dyn LaneFields<S, V>,
    ) -> Result<(Self, AloneField<'f, S>), Error> {
        let (system, mut start) = (setup.system(member), setup.starts[member]);
        // In the order in which a simulation refuses them.
        let mut targets = check_start(system, &start)?;
        let field = fields.assign(lane, system, &start, member)?;
        check_driving(system, None, &start, Span::new(settings.from, settings.until)?)?;
        if settings.projection.is_some() {
            (start, targets) = projected_start(system, &start)?;
            field.start_at(&start);
        }
        let system = system.prepare();
        let mut sizes: Integrals<S> = filled(0.0);
        let facts = PreparedSystem::facts(&system);
        system.with_scratch(&mut |scratch| scales(&system, facts.of_state::<S, _>(&start), sizes.as_mut(), scratch));
        let bounds = Entries::from_fn(|i| match facts.integrals.get(i) {
            Some(integral) => bound(integral, 1.0 + sizes[i] + targets[i].abs()),
            None => 0.0,
        });
        let rounding = Rounding::at(&system, &start, &targets);
        Ok((Self { member, system, start, targets, bounds, rounding }, field))
    }

    /// The facts about the system.
    pub(super) fn facts(&self) -> &'static SystemFacts {
        PreparedSystem::facts(&self.system)
    }

    /// The samples of a member that begins at a time and will have so many.
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
        Projector::of(self.system, self.targets, self.rounding, projection)
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
