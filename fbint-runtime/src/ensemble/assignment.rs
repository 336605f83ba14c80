//! The lanes that members of an ensemble share, and who has them.

use std::vec::Vec;

use super::gains::{AloneField, InLanes, LaneFields};
use super::members::{AssignedMember, Numbers};
use super::samples::Track;
use super::setup::{EnsembleSetup, ResolvedSettings};
use crate::error::Error;
use crate::numbers::lanes::Lanes;
use crate::system::{FeedbackSystem, Integrals, Vector};

/// The runs of members in lanes.
pub(super) struct SideBySide<'a, 'm, S: FeedbackSystem, const V: usize> {
    pub(super) setup: &'a EnsembleSetup<'m, S>,
    pub(super) settings: &'a ResolvedSettings,
    pub(super) gains: &'a (dyn InLanes<S, V> + Sync),
    /// Runs a member alone, which knows when and why something is wrong with it.
    pub(super) alone: &'a (dyn Fn(usize) -> Track + Sync),
}

/// Which members of an ensemble have the lanes: as many as there are lanes have one, and the others wait for one.
pub(super) struct LaneAssignment<'c, 'm, S: FeedbackSystem, const V: usize> {
    runs: &'c SideBySide<'c, 'm, S, V>,
    members: &'c [usize],
    /// The outcomes of members that have or had a lane, or could not start, in the order of the members.
    tracks: Vec<Track>,
    /// Who has each lane, or had it last, and the place of its track.
    assigned: Vec<(usize, AssignedMember<S>)>,
}

/// Receives the field and the start of a member that takes a lane, and may refuse it.
type StartMember<'b, S> = dyn FnMut(AloneField<'_, S>, &Vector<S>) -> Result<(), Error> + 'b;

/// Why a member leaves its lane.
#[derive(Clone, Copy)]
pub(super) enum Leave {
    /// It has ended.
    Ended,
    /// It has to run alone.
    Lost,
    /// The runs are over.
    Interrupted,
}

impl<'c, 'm, S: FeedbackSystem, const V: usize> LaneAssignment<'c, 'm, S, V> {
    /// The members, none of whom has a lane yet.
    pub(super) fn new(runs: &'c SideBySide<'c, 'm, S, V>, members: &'c [usize]) -> Self {
        let tracks = Vec::with_capacity(members.len());
        Self { runs, members, tracks, assigned: Vec::with_capacity(Lanes::<V>::COUNT) }
    }

    /// The outcomes of the members. Members without a lane when the runs were over were interrupted.
    pub(super) fn into_tracks(mut self) -> Vec<Track> {
        self.tracks.resize_with(self.members.len(), || Err(Error::Interrupted));
        self.tracks
    }

    /// Gives a lane to the next member that can start; false if there is none. Lanes are taken in order at first.
    pub(super) fn assign(
        &mut self,
        lane: usize,
        fields: &mut dyn LaneFields<S, V>,
        begin: &mut StartMember<'_, S>,
    ) -> bool {
        let settings = &self.runs.settings.given;
        while let Some(&member) = self.members.get(self.tracks.len()) {
            let begun = AssignedMember::new(self.runs.setup, settings, member, lane, fields);
            let begun = begun.and_then(|(member, field)| begin(field, &member.start).map(|()| member));
            let samples = self.runs.settings.times.len();
            match begun.and_then(|member| Ok((member.track(settings.from, samples)?, member))) {
                Ok((track, member)) => {
                    let assigned = (self.tracks.len(), member);
                    match self.assigned.get_mut(lane) {
                        Some(before) => *before = assigned,
                        None => self.assigned.push(assigned),
                    }
                    self.tracks.push(Ok(track));
                    return true;
                }
                Err(error) => {
                    self.tracks.push(Err(error));
                    self.runs.setup.progress.advance(1);
                }
            }
        }
        false
    }

    /// The member that has a lane, or had it last. At least one lane was taken, and lanes that never were repeat the first.
    fn member_in(&self, lane: usize) -> &AssignedMember<S> {
        &self.assigned.get(lane).unwrap_or(&self.assigned[0]).1
    }

    /// Puts the numbers of the members that have a lane, or had it last, and of their fields side by side.
    pub(super) fn gather(&self, fields: &mut dyn LaneFields<S, V>) -> Numbers<S, V> {
        fields.gather();
        Numbers::gather(&|lane| self.member_in(lane))
    }

    /// Adds a sample of the member in a lane; returns how many it has, or how many it would have if there were memory for them.
    pub(super) fn sample(&mut self, lane: usize, time: f64, state: &Vector<S>, change: &Integrals<S>) -> usize {
        let (place, member) = &self.assigned[lane];
        let (facts, all) = (member.facts(), self.runs.settings.times.len());
        match &mut self.tracks[*place] {
            Ok(track) => {
                let pushed = track.push_of::<S>(facts, time, state, change).map(|()| track.len());
                pushed.unwrap_or_else(|error| {
                    self.tracks[*place] = Err(error);
                    all
                })
            }
            Err(_) => all,
        }
    }

    /// The member in a lane leaves it.
    pub(super) fn leave(&mut self, lane: usize, why: Leave) {
        let (place, assigned) = &self.assigned[lane];
        match why {
            Leave::Ended => {}
            // The run of this member alone knows when and why.
            Leave::Lost => self.tracks[*place] = (self.runs.alone)(assigned.member),
            Leave::Interrupted => self.tracks[*place] = Err(Error::Interrupted),
        }
        self.runs.setup.progress.advance(1);
    }

    /// Returns `true` if the runs go on.
    pub(super) fn goes_on(&self) -> bool {
        self.runs.setup.progress.goes_on()
    }
}
