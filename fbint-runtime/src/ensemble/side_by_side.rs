//! Members of an ensemble side by side, in blocks. All of it is compiled once for all kinds of gains.

use std::vec::Vec;

use super::assignment::LaneAssignment;
use super::block::FixedStepLoop;
use super::collocation;
use super::control::{self, Route};
use super::gains::{AloneField, InLanes, LaneFields};
use super::samples::{FlatEnsembleRun, Track};
use super::{EnsembleSetup, EnsembleStepping, ResolvedSettings};
use crate::lanes::Lanes;
use crate::simulation::{Schedule, check_stability};
use crate::system::{FeedbackSystem, Vector};
use crate::tableau::Pair;
use crate::tolerance::Tolerance;

/// How many members take a lane of a block under error control, one after the other, where there are enough: the last of them leave
/// lanes empty.
const MEMBERS_PER_LANE: usize = 32;
/// How many blocks under error control every thread has at least, if lanes can be filled.
const BLOCKS_PER_THREAD: usize = 4;

/// Makes the steps of members that have lanes.
type Follow<'a, S, const V: usize> =
    &'a dyn Fn(&dyn LaneFields<S, V>, &mut FixedStepLoop<'_, '_, '_, S, V>, Vector<S, Lanes<V>>);

/// The runs of members in lanes.
pub(super) struct SideBySide<'a, 'm, S: FeedbackSystem, const V: usize> {
    pub(super) setup: &'a EnsembleSetup<'m, S>,
    pub(super) settings: &'a ResolvedSettings,
    pub(super) gains: &'a (dyn InLanes<S, V> + Sync),
    /// Runs a member alone, which knows when and why something is wrong with it.
    pub(super) alone: &'a (dyn Fn(usize) -> Track + Sync),
}

impl<S: FeedbackSystem + Sync, const V: usize> SideBySide<'_, '_, S, V> {
    pub(super) fn run(&self) -> FlatEnsembleRun {
        let lanes = Lanes::<V>::COUNT;
        let block_size = match self.settings.stepping {
            // Enough for lanes to be taken again and again, and few enough for all threads.
            EnsembleStepping::Controlled { .. } => {
                let share = self.setup.starts.len() / (BLOCKS_PER_THREAD * rayon::current_num_threads());
                (share / lanes).clamp(1, MEMBERS_PER_LANE) * lanes
            }
            _ => lanes,
        };
        self.setup.sum_up(self.settings, block_size, &|members| self.tracks(members))
    }

    /// What becomes of the members of a block.
    fn tracks(&self, members: &[usize]) -> Vec<Track> {
        match &self.settings.stepping {
            EnsembleStepping::Fixed { method, schedule } => {
                let projection = self.settings.given.projection;
                self.integrate(method.stability_interval(), schedule, members, &|fields, step_loop, start| {
                    fields.integrate(step_loop, start, *method, projection);
                })
            }
            EnsembleStepping::Gauss { coefficients, schedule } => {
                self.integrate(f64::INFINITY, schedule, members, &|fields, step_loop, start| {
                    collocation::integrate(step_loop, fields, start, *coefficients, schedule.h);
                })
            }
            EnsembleStepping::Controlled { pair, tolerance } if !pair.is_implicit() || self.has_jacobian(members) => {
                self.control(pair, *tolerance, members)
            }
            EnsembleStepping::Controlled { .. } | EnsembleStepping::OneByOne => {
                members.iter().map(|&member| self.track_alone(member)).collect()
            }
        }
    }

    /// Whether the Jacobian of these members' fields is known in lanes.
    fn has_jacobian(&self, members: &[usize]) -> bool {
        let has_jacobian = |&member: &usize| self.setup.system(member).facts().has_jacobian;
        self.gains.are_constant() && members.first().is_some_and(has_jacobian)
    }

    fn track_alone(&self, member: usize) -> Track {
        let track = (self.alone)(member);
        self.setup.progress.advance(1);
        track
    }

    /// Integrates members under error control; each takes a lane where another has ended.
    fn control(&self, pair: &'static Pair, tolerance: Tolerance, members: &[usize]) -> Vec<Track> {
        let (mut assignment, mut fields) = (LaneAssignment::new(self, members), self.gains.fields());
        let route = Route { pair, times: &self.settings.times, tolerance, projection: self.settings.given.projection };
        control::integrate(&mut assignment, &mut *fields, &route);
        assignment.into_tracks()
    }

    /// Integrates as many members as there are lanes, by steps of one size, for a feedback within a stability interval.
    fn integrate(&self, interval: f64, schedule: &Schedule, members: &[usize], follow: Follow<'_, S, V>) -> Vec<Track> {
        let (mut assignment, mut fields) = (LaneAssignment::new(self, members), self.gains.fields());
        let mut check = |field: AloneField<'_, S>, start: &Vector<S>| {
            check_stability(schedule.span.from, schedule.h, field.decay_rate(start), interval)
        };
        let mut lanes = 0..Lanes::<V>::COUNT;
        while lanes.next().is_some_and(|lane| assignment.assign(lane, &mut *fields, &mut check)) {}
        if assignment.lanes() > 0 {
            let (numbers, starts) = (assignment.gather(&mut *fields), assignment.starts());
            let mut step_loop = FixedStepLoop::new(&numbers, schedule, &mut assignment);
            follow(&*fields, &mut step_loop, starts);
            step_loop.end();
        }
        assignment.into_tracks()
    }
}
