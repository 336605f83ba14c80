//! What looks for events after each step.
//!
//! An event function has a side, the sign of its value, where a step begins, and one where it ends. Where it is 0 at the beginning,
//! or the event has just been met there and the state was reset, its side is the one that it leaves to: leaving is not an
//! occurrence, coming back is. That side is looked for at fractions of the step, from one half downwards, so that a flight is
//! found which is over long before the step is.

use super::snapshot::{Past, PastOccurrence};
use crate::consistent_start::{Parameters, find_start};
use crate::dynamical_system::DynamicalSystem;
use crate::error::Error;
use crate::event::{BracketingInterval, Event, locate, resolution};
use crate::failure::Cause;
use crate::system::StateRole;

/// What is nearer to a reset than this fraction of the time is not told from it.
const INDISTINCT: f64 = 1.0 / (1_u64 << 36) as f64;
/// Resets of one event that follow one another within this fraction of the time accumulate.
const ACCUMULATED: f64 = 1.0 / (1_u64 << 28) as f64;
/// An event function that goes on after a reset in the direction in which it came, but at less than this part of the rate, rests.
const RESTING: f64 = 0.01;

/// A state at a time within a step.
pub(super) type StateAt<'f> = &'f mut dyn FnMut(f64) -> Result<Vec<f64>, Cause>;

/// The events of a run, and which of them have occurred. States are flat.
pub(super) struct EventSearch<'a> {
    system: &'a dyn DynamicalSystem,
    parameters: Parameters<'a>,
    events: Vec<Event<'a, Vec<f64>>>,
    /// The function of each event where the next step begins.
    values: Vec<f64>,
    /// Of each event that has just been met where the next step begins: the rate of its function before.
    left: Vec<Option<f64>>,
    pub(super) occurrences: Vec<PastOccurrence>,
    /// The occurrence that ended the run.
    pub(super) end: Option<usize>,
}

/// A step as its ends.
pub(super) struct Stretch {
    pub(super) from: f64,
    pub(super) until: f64,
    /// The state at its end.
    pub(super) end: Vec<f64>,
}

/// Where a run does not simply go on.
pub(super) struct Stop {
    pub(super) time: f64,
    pub(super) state: Vec<f64>,
    /// The first of the events there, by its occurrence.
    first: usize,
}

/// An event within a step.
struct Met {
    event: usize,
    time: f64,
}

impl<'a> EventSearch<'a> {
    pub(super) fn new(
        system: &'a dyn DynamicalSystem,
        parameters: Parameters<'a>,
        events: Vec<Event<'a, Vec<f64>>>,
    ) -> Self {
        let (left, values) = (vec![None; events.len()], vec![0.0; events.len()]);
        Self { system, parameters, events, values, left, occurrences: Vec::new(), end: None }
    }

    pub(super) fn is_needed(&self) -> bool {
        !self.events.is_empty()
    }

    /// Begins at a state.
    pub(super) fn begin(&mut self, time: f64, state: &Vec<f64>) -> Result<(), Cause> {
        self.values = self.values_at(time, state)?;
        Ok(())
    }

    /// Records what occurs in a step; returns where the run stops in it, if it does.
    pub(super) fn look(&mut self, step: &Stretch, state_at: StateAt<'_>) -> Result<Option<Stop>, Cause> {
        let values = self.values_at(step.until, &step.end)?;
        let mut met = Vec::new();
        for event in 0..self.events.len() {
            let bracket = self.bracket(event, values[event], step, state_at)?;
            if let Some(bracket) = bracket {
                let time = locate(bracket, |time| self.value(event, time, &state_at(time)?))?;
                met.push(Met { event, time });
            }
        }
        let stops = met.iter().filter(|met| self.events[met.event].stops()).map(|met| met.time);
        let stop = stops.reduce(f64::min);
        // Events that are as near to the stop as it is located are met at once with it.
        let reach = stop.map_or(step.until, |time| time + resolution(step.from, step.until));
        met.retain(|met| met.time <= reach);
        for Met { time, .. } in &mut met {
            *time = stop.filter(|stop| (*time - stop).abs() <= resolution(step.from, step.until)).unwrap_or(*time);
        }
        met.sort_by(|one, other| one.time.total_cmp(&other.time));
        let mut last = None;
        for Met { event, time } in &met {
            let state = if *time == step.until { step.end.clone() } else { state_at(*time)? };
            self.record(*event, *time, &state);
            last = Some(state);
        }
        self.depart(step.from, stop.unwrap_or(step.until));
        let (Some(time), Some(state)) = (stop, last) else {
            self.values = values;
            return Ok(None);
        };
        let at_once = met.iter().filter(|met| met.time == time);
        let first = self.occurrences.len() - at_once.clone().count();
        for met in at_once {
            self.left[met.event] = Some(self.rate_before(met.event, time, &state, step, state_at)?);
        }
        Ok(Some(Stop { time, state, first }))
    }

    /// Where in a step an event function changes its side in the direction of the event, if it does.
    fn bracket(
        &self,
        event: usize,
        last: f64,
        step: &Stretch,
        state_at: StateAt<'_>,
    ) -> Result<Option<BracketingInterval>, Cause> {
        let Stretch { from, until, .. } = *step;
        let (first, left) = (self.values[event], self.left[event]);
        if first != 0.0 && left.is_none() {
            let occurs = self.events[event].occurs(first, last);
            return Ok(occurs.then_some(BracketingInterval { from, until, first, last }));
        }
        let (length, least) = (until - from, indistinct(from, until));
        if length <= least {
            return Ok(None);
        }
        let mut offset = length;
        while offset > least {
            offset = (0.5 * offset).max(least);
            let first = self.value(event, from + offset, &state_at(from + offset)?)?;
            if offset == least {
                self.check_rest(event, first, offset, from)?;
            }
            if self.events[event].occurs(first, last) {
                return Ok(Some(BracketingInterval { from: from + offset, until, first, last }));
            }
        }
        Ok(None)
    }

    /// Refuses a reset after which the event function rests at 0, or the motion is over before it can be told from the reset.
    fn check_rest(&self, event: usize, value: f64, offset: f64, time: f64) -> Result<(), Cause> {
        let Some(before) = self.left[event].filter(|_| self.events[event].reset.is_some()) else { return Ok(()) };
        let after = (value - self.values[event]) / offset;
        let has_turned = value != 0.0 && (value > 0.0) != (before > 0.0);
        if !has_turned && (after / before).abs() < RESTING {
            return Err(self.accumulated(event, time));
        }
        Ok(())
    }

    /// The rate of an event function just before it is met; 0 where it jumps, or nobody will ask.
    fn rate_before(
        &self,
        event: usize,
        time: f64,
        state: &Vec<f64>,
        step: &Stretch,
        state_at: StateAt<'_>,
    ) -> Result<f64, Cause> {
        if self.events[event].reset.is_none() {
            return Ok(0.0);
        }
        let earlier = (time - indistinct(step.from, step.until)).max(step.from);
        let before = self.value(event, earlier, &state_at(earlier)?)?;
        let value = self.value(event, time, state)?;
        let rate = (value - before) / (time - earlier);
        let is_smooth = value.abs() <= RESTING * before.abs();
        Ok(if rate.is_finite() && is_smooth { rate } else { 0.0 })
    }

    fn record(&mut self, event: usize, time: f64, state: &[f64]) {
        self.occurrences.push(PastOccurrence { event, time, state: state.to_vec(), reset: None });
    }

    /// Leaves what was met where a step began, if it went far enough to be told from there.
    fn depart(&mut self, from: f64, until: f64) {
        if until - from > indistinct(from, until) {
            self.left.fill(None);
        }
    }

    /// Ends the run, or resets the state, by the events of a stop in the order in which they were given. Returns the state after it,
    /// if there was a reset.
    pub(super) fn take(&mut self, stop: &Stop) -> Result<Option<Vec<f64>>, Cause> {
        let mut state = None;
        for number in stop.first..self.occurrences.len() {
            let event = self.occurrences[number].event;
            if let Some(reset) = &self.events[event].reset {
                self.check_accumulation(number)?;
                let next = reset(stop.time, state.as_ref().unwrap_or(&stop.state));
                let next = self.consistent(event, stop.time, next)?;
                self.occurrences[number].reset = Some(next.clone());
                state = Some(next);
            }
            if self.events[event].is_terminal && self.end.is_none() {
                self.end = Some(number);
            }
        }
        self.begin(stop.time, state.as_ref().unwrap_or(&stop.state))?;
        Ok(state)
    }

    /// Refuses a reset that follows the last one of its event at once.
    fn check_accumulation(&self, number: usize) -> Result<(), Cause> {
        let PastOccurrence { event, time, .. } = self.occurrences[number];
        let before = self.occurrences[..number].iter().rev().find(|before| before.event == event);
        match before {
            Some(before) if time - before.time < ACCUMULATED * time.abs() => Err(self.accumulated(event, time)),
            _ => Ok(()),
        }
    }

    fn accumulated(&self, event: usize, time: f64) -> Cause {
        let resets = self.occurrences.iter().filter(|occurrence| occurrence.event == event).count() as u64;
        Cause::Accumulation { event: self.events[event].name.clone(), resets, time }
    }

    /// The state that a reset gave, moved onto the constraints.
    fn consistent(&self, event: usize, time: f64, mut state: Vec<f64>) -> Result<Vec<f64>, Cause> {
        let is_time: Vec<bool> = self.system.facts().state.iter().map(|entry| entry.role == StateRole::Time).collect();
        if let Some(clock) = is_time.iter().position(|is_time| *is_time) {
            state[clock] = time;
        }
        find_start(self.system, &self.parameters, &is_time, &mut state).map_err(|refusal| {
            let event = self.events[event].name.clone();
            Cause::Reset { event, refusal: Box::new(refusal) }
        })?;
        Ok(state)
    }

    fn values_at(&self, time: f64, state: &Vec<f64>) -> Result<Vec<f64>, Cause> {
        (0..self.events.len()).map(|event| self.value(event, time, state)).collect()
    }

    /// The function of an event, which has to be finite.
    fn value(&self, event: usize, time: f64, state: &Vec<f64>) -> Result<f64, Cause> {
        let Event { name, value, .. } = &self.events[event];
        let value = value(time, state);
        if value.is_finite() { Ok(value) } else { Err(Cause::Event { event: name.clone(), value, time }) }
    }

    /// What it takes to go on from here.
    pub(super) fn past(&self) -> Past {
        Past { occurrences: self.occurrences.clone(), left: self.left.clone(), changes: Vec::new() }
    }

    /// Goes on from where a snapshot was taken.
    pub(super) fn restore(&mut self, past: &Past) -> Result<(), Error> {
        let is_known = |occurrence: &PastOccurrence| occurrence.event < self.events.len();
        if past.left.len() != self.events.len() || !past.occurrences.iter().all(is_known) {
            return Err(Error::ForeignSnapshot { reason: "it has another number of events" });
        }
        self.occurrences.clone_from(&past.occurrences);
        self.left.clone_from(&past.left);
        Ok(())
    }

    /// The state after the last reset.
    pub(super) fn last_reset(&self) -> Option<&[f64]> {
        self.occurrences.iter().rev().find_map(|occurrence| occurrence.reset.as_deref())
    }

    /// The name of an event.
    pub(super) fn name(&self, event: usize) -> &str {
        &self.events[event].name
    }
}

/// What is not told from the beginning of a step, or from an event in it.
fn indistinct(from: f64, until: f64) -> f64 {
    INDISTINCT * from.abs().max(until.abs())
}
