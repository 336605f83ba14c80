//! Members that can start.

use super::gains::{AloneField, LaneFields};
use super::members::AssignedMember;
use super::setup::EnsembleSetup;
use crate::error::Error;
use crate::hold::consistent_start::{check_start, projected_start, scales};
use crate::hold::rounding::Rounding;
use crate::method::settings::Settings;
use crate::numbers::entries::Entries;
use crate::numbers::linear::filled;
use crate::simulation::{Span, bound, check_driving};
use crate::system::dynamical_system::DynamicalSystem;
use crate::system::{FeedbackSystem, Integrals, PreparedSystem};

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
        check_driving(system.facts(), None, start.as_ref(), Span::new(settings.from, settings.until)?)?;
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
}
