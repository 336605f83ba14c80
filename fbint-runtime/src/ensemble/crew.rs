//! Members of an ensemble under error control, which share lanes.

use std::boxed::Box;
use std::vec::Vec;

use super::gains::LaneFields;
use super::samples::Track;
use super::seat::{Numbers, Seat};
use super::side_by_side::SideBySide;
use crate::entries::Entries;
use crate::error::Error;
use crate::field::Field;
use crate::integrator::Integrator;
use crate::lanes::Lanes;
use crate::method::ErrorControl;
use crate::system::{FeedbackSystem, Integrals, Vector};
use crate::tolerance::Tolerance;

/// Members of an ensemble, of which as many as there are lanes have one, and the others wait for one.
pub(super) struct Crew<'c, 'm, S: FeedbackSystem, const V: usize> {
    runs: &'c SideBySide<'c, 'm, S, V>,
    method: ErrorControl,
    tolerance: Tolerance,
    members: &'c [usize],
    /// What became of those that have or had a lane, or could not start, in the order of the members.
    tracks: Vec<Track>,
    /// Who has each lane, or had it last, and the place of its track.
    seats: Vec<(usize, Seat<S>)>,
    fields: Box<dyn LaneFields<S, V> + 'c>,
}

/// Why a member leaves its lane.
pub(super) enum Leave {
    /// It has ended.
    Ended,
    /// It has to run alone.
    Lost,
    /// The runs are over.
    Interrupted,
}

/// How a member begins.
pub(super) struct Beginning<S: FeedbackSystem> {
    pub(super) start: Vector<S>,
    /// f there.
    pub(super) derivative: Vector<S>,
    /// The size of the first step.
    pub(super) size: f64,
}

impl<'c, 'm, S: FeedbackSystem, const V: usize> Crew<'c, 'm, S, V> {
    /// A crew of members, none of whom has a lane yet.
    pub(super) fn new(
        runs: &'c SideBySide<'c, 'm, S, V>,
        method: ErrorControl,
        tolerance: Tolerance,
        members: &'c [usize],
    ) -> Self {
        let tracks = Vec::with_capacity(members.len());
        let seats = Vec::with_capacity(Lanes::<V>::COUNT);
        Self { runs, method, tolerance, members, tracks, seats, fields: runs.gains.fields() }
    }

    /// What became of the members. Those that have had no lane when the runs were over were interrupted.
    pub(super) fn into_tracks(mut self) -> Vec<Track> {
        self.tracks.resize_with(self.members.len(), || Err(Error::Interrupted));
        self.tracks
    }

    /// Evaluates f of the members that have a lane.
    pub(super) fn field(&self, x: &Vector<S, Lanes<V>>, value: &mut Vector<S, Lanes<V>>) {
        self.fields.value(x, value);
    }

    /// Gives a lane to the next member that can start, if there is one.
    pub(super) fn board(&mut self, lane: usize) -> Option<Beginning<S>> {
        let settings = &self.runs.plan.settings;
        while let Some(&member) = self.members.get(self.tracks.len()) {
            match Seat::new(self.runs.members, settings, member, lane, &mut *self.fields) {
                Ok((seat, field)) => {
                    let (start, from, until) = (seat.start, settings.from, settings.until);
                    let (derivative, size) = first_step(self.method, field, start, self.tolerance, [from, until]);
                    let track = seat.track(from, self.runs.plan.times.len());
                    let seat = (self.tracks.len(), seat);
                    match self.seats.get_mut(lane) {
                        Some(before) => *before = seat,
                        None => self.seats.push(seat),
                    }
                    self.tracks.push(Ok(track));
                    return Some(Beginning { start, derivative, size });
                }
                Err(error) => {
                    self.tracks.push(Err(error));
                    self.runs.members.progress.advance(1);
                }
            }
        }
        None
    }

    /// The numbers of the members that have a lane, or had it last; at least one has had one.
    pub(super) fn gather(&mut self) -> Numbers<S, V> {
        self.fields.gather();
        let seats = &self.seats;
        // Lanes that nobody ever took repeat the first.
        Numbers::gather(&|lane| &seats.get(lane).unwrap_or(&seats[0]).1)
    }

    /// Adds a sample of the member in a lane; returns how many it has.
    pub(super) fn sample(&mut self, lane: usize, time: f64, state: &Vector<S>, change: &Integrals<S>) -> usize {
        match &mut self.tracks[self.seats[lane].0] {
            Ok(track) => {
                track.push(time, state.as_ref(), change.as_ref());
                track.len()
            }
            Err(_) => 0,
        }
    }

    /// The member in a lane leaves it.
    pub(super) fn leave(&mut self, lane: usize, why: Leave) {
        let (place, seat) = &self.seats[lane];
        match why {
            Leave::Ended => {}
            // The run of this member alone knows when and why.
            Leave::Lost => self.tracks[*place] = (self.runs.alone)(seat.member),
            Leave::Interrupted => self.tracks[*place] = Err(Error::Interrupted),
        }
        self.runs.members.progress.advance(1);
    }

    /// Whether the runs go on.
    pub(super) fn goes_on(&self) -> bool {
        self.runs.members.progress.goes_on()
    }
}

/// f at the start, and the size of the first step.
fn first_step<V: Entries<f64>>(
    method: ErrorControl,
    field: &dyn Field<Vector = V>,
    start: V,
    tolerance: Tolerance,
    [from, until]: [f64; 2],
) -> (V, f64) {
    match method {
        ErrorControl::DormandPrince => Integrator::dormand_prince(field, start, tolerance).from_time(from).begin(until),
        ErrorControl::Dop853 => Integrator::dop853(field, start, tolerance).from_time(from).begin(until),
    }
}
