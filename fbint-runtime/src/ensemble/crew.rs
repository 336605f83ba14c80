//! Members of an ensemble under error control, which share lanes.

use std::vec::Vec;

use super::control::{self, Beginning, Crew, Leave, Route};
use super::gains::EnsembleGains;
use super::samples::Track;
use super::seat::{Numbers, Seat};
use super::{Ensemble, Plan};
use crate::error::Error;
use crate::field::Field;
use crate::integrator::Integrator;
use crate::lanes::Lanes;
use crate::method::{ErrorControl, Settings};
use crate::system::{FeedbackSystem, Integrals, Vector};
use crate::tolerance::Tolerance;

impl<S: FeedbackSystem + Sync, G: EnsembleGains<S>> Ensemble<'_, S, G> {
    /// Integrates members under error control, each of which takes a lane where another has ended.
    pub(super) fn control<const V: usize>(
        &self,
        plan: &Plan,
        method: ErrorControl,
        tolerance: Tolerance,
        members: &[usize],
    ) -> Vec<Track> {
        let mut crew = BlockCrew::<S, G, V> {
            ensemble: self,
            plan,
            method,
            tolerance,
            members,
            tracks: Vec::with_capacity(members.len()),
            seats: Vec::with_capacity(Lanes::<V>::COUNT),
            fields: Vec::with_capacity(Lanes::<V>::COUNT),
            field: None,
        };
        let route = Route { times: &plan.times, tolerance, projection: plan.settings.projection };
        // By a pointer, so that the methods are compiled once for all kinds of gains.
        let members: &mut dyn Crew<S, V> = &mut crew;
        match method {
            ErrorControl::DormandPrince => control::integrate::<S, _, V, 7>(members, &route),
            ErrorControl::Dop853 => control::integrate::<S, _, V, 16>(members, &route),
        }
        // Those that have had no lane when the runs were over.
        crew.tracks.resize_with(crew.members.len(), || Err(Error::Interrupted));
        crew.tracks
    }
}

/// Members of an ensemble, of which as many as there are lanes have one.
struct BlockCrew<'a, 'e, S: FeedbackSystem, G: EnsembleGains<S>, const V: usize> {
    ensemble: &'a Ensemble<'e, S, G>,
    plan: &'a Plan,
    method: ErrorControl,
    tolerance: Tolerance,
    members: &'a [usize],
    /// What became of those that have or had a lane, or could not start, in the order of the members.
    tracks: Vec<Track>,
    /// Who has each lane, or had it last, and the place of its track.
    seats: Vec<(usize, Seat<S>)>,
    fields: Vec<G::Alone>,
    field: Option<G::Block<V>>,
}

impl<S: FeedbackSystem, G: EnsembleGains<S>, const V: usize> BlockCrew<'_, '_, S, G, V> {
    /// How a member begins that can start.
    fn beginning(&self, seat: &Seat<S>, field: &G::Alone) -> Beginning<S> {
        let Settings { from, until, .. } = self.plan.settings;
        let start = seat.start;
        let (derivative, size) = match self.method {
            ErrorControl::DormandPrince => {
                Integrator::dormand_prince(field, start, self.tolerance).from_time(from).begin(until)
            }
            ErrorControl::Dop853 => Integrator::dop853(field, start, self.tolerance).from_time(from).begin(until),
        };
        Beginning { start, derivative, size }
    }
}

impl<S: FeedbackSystem + Sync, G: EnsembleGains<S>, const V: usize> Crew<S, V> for BlockCrew<'_, '_, S, G, V> {
    fn field(&self, x: &Vector<S, Lanes<V>>, value: &mut Vector<S, Lanes<V>>) {
        if let Some(field) = &self.field {
            *value = field.value(x);
        }
    }

    fn board(&mut self, lane: usize) -> Option<Beginning<S>> {
        while let Some(&member) = self.members.get(self.tracks.len()) {
            match Seat::new(self.ensemble, &self.plan.settings, member) {
                Ok((seat, field)) => {
                    let beginning = self.beginning(&seat, &field);
                    let track = seat.track(self.plan.settings.from, self.plan.times.len());
                    let seat = (self.tracks.len(), seat);
                    match self.seats.get_mut(lane).zip(self.fields.get_mut(lane)) {
                        Some((before, field_before)) => (*before, *field_before) = (seat, field),
                        None => {
                            self.seats.push(seat);
                            self.fields.push(field);
                        }
                    }
                    self.tracks.push(Ok(track));
                    return Some(beginning);
                }
                Err(error) => {
                    self.tracks.push(Err(error));
                    self.ensemble.members.progress.advance(1);
                }
            }
        }
        None
    }

    fn gather(&mut self) -> Numbers<S, V> {
        let (seats, fields) = (&self.seats, &self.fields);
        // Lanes that nobody ever took repeat the first.
        self.field = Some(G::block::<V>(&|lane| fields.get(lane).unwrap_or(&fields[0])));
        Numbers::gather(&|lane| &seats.get(lane).unwrap_or(&seats[0]).1)
    }

    fn sample(&mut self, lane: usize, time: f64, state: &Vector<S>, change: &Integrals<S>) -> usize {
        match &mut self.tracks[self.seats[lane].0] {
            Ok(track) => {
                track.push(time, state.as_ref(), change.as_ref());
                track.len()
            }
            Err(_) => 0,
        }
    }

    fn leave(&mut self, lane: usize, why: Leave) {
        let (place, seat) = &self.seats[lane];
        match why {
            Leave::Ended => {}
            // The run of this member alone knows when and why.
            Leave::Lost => self.tracks[*place] = self.ensemble.simulate(self.plan, seat.member),
            Leave::Interrupted => self.tracks[*place] = Err(Error::Interrupted),
        }
        self.ensemble.members.progress.advance(1);
    }

    fn goes_on(&self) -> bool {
        self.ensemble.members.progress.goes_on()
    }
}
