//! Members of an ensemble side by side, in blocks. All of it is compiled once for all kinds of gains.

use std::vec::Vec;

use super::assignment::{LaneAssignment, SideBySide};
use super::controlled::ControlledLaneSteps;
use super::fixed::{FixedLaneSteps, FixedMethod};
use super::lane_loop::{self, LaneStepper};
use super::samples::{FlatEnsembleRun, Track};
use super::series::SeriesLaneSteps;
use super::setup::EnsembleStepping;
use crate::error::Error;
use crate::method::settings::Settings;
use crate::numbers::lanes::Lanes;
use crate::simulation::Span;
use crate::system::FeedbackSystem;

/// The number of members that take a lane of a block under error control, one after the other, where there are enough: the last of them
/// leave lanes empty.
const MEMBERS_PER_LANE: usize = 32;
/// The least number of blocks under error control for every thread, if lanes can be filled.
const BLOCKS_PER_THREAD: usize = 4;

impl<S: FeedbackSystem + Sync, const V: usize> SideBySide<'_, '_, S, V> {
    pub(super) fn run(&self) -> Result<FlatEnsembleRun, Error> {
        let lanes = Lanes::<V>::COUNT;
        let block_size = match self.settings.stepping {
            // Enough for lanes to be taken again and again, and few enough for all threads.
            EnsembleStepping::Controlled { .. } | EnsembleStepping::Series { .. } => {
                let share = self.setup.starts.len() / (BLOCKS_PER_THREAD * rayon::current_num_threads());
                (share / lanes).clamp(1, MEMBERS_PER_LANE) * lanes
            }
            _ => lanes,
        };
        self.setup.sum_up(self.settings, block_size, &|members| self.tracks(members))
    }

    /// The outcomes of the members of a block.
    fn tracks(&self, members: &[usize]) -> Vec<Track> {
        let Settings { from, until, projection, .. } = self.settings.given;
        match &self.settings.stepping {
            EnsembleStepping::Fixed { method, schedule } => {
                let method = FixedMethod::RungeKutta { method: *method, projection, projector: None };
                self.integrate(members, &mut FixedLaneSteps::new(method, schedule))
            }
            EnsembleStepping::Gauss { coefficients, schedule } => {
                let method = FixedMethod::Gauss { coefficients: *coefficients, collocations: None };
                self.integrate(members, &mut FixedLaneSteps::new(method, schedule))
            }
            EnsembleStepping::Controlled { pair, tolerance } if !pair.is_implicit() || self.has_jacobian(members) => {
                let span = Span { from, until };
                let limits = self.settings.limits;
                self.integrate(members, &mut ControlledLaneSteps::new(pair, *tolerance, projection, span, limits))
            }
            EnsembleStepping::Series { tolerance } => {
                let (span, facts) = (Span { from, until }, self.setup.facts());
                // The first condition is a constant, so that the steps are compiled for systems that can have them alone.
                if const { S::LANE_COLUMNS > 0 } && !facts.has_laws() {
                    let limits = self.settings.limits;
                    self.integrate(members, &mut SeriesLaneSteps::new(facts, *tolerance, projection, span, limits))
                } else {
                    self.one_by_one(members)
                }
            }
            EnsembleStepping::Controlled { .. } | EnsembleStepping::OneByOne => self.one_by_one(members),
        }
    }

    fn one_by_one(&self, members: &[usize]) -> Vec<Track> {
        members.iter().map(|&member| self.track_alone(member)).collect()
    }

    /// Returns `true` if the Jacobian of these members' fields is known in lanes.
    fn has_jacobian(&self, members: &[usize]) -> bool {
        let has_jacobian = |&member: &usize| self.setup.system(member).facts().has_jacobian;
        self.gains.are_constant() && members.first().is_some_and(has_jacobian)
    }

    fn track_alone(&self, member: usize) -> Track {
        let track = (self.alone)(member);
        self.setup.progress.advance(1);
        track
    }

    /// Integrates members in lanes by these steps.
    fn integrate(&self, members: &[usize], steps: &mut dyn LaneStepper<S, V>) -> Vec<Track> {
        let (mut assignment, mut fields) = (LaneAssignment::new(self, members), self.gains.fields());
        lane_loop::integrate(&mut assignment, &mut *fields, steps, &self.settings.times);
        assignment.into_tracks()
    }
}
