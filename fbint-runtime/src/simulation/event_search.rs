//! The search for events in each step.
//!
//! An event function has a side, the sign of its value, where a step begins, and one where it ends. Between them it is sampled along a
//! sketch of the step: its dense output, or a polynomial through the states and rates of a step of a fixed size. Where the sketch does
//! not settle how often the side changes, [`SignChanges`] looks at the states that the run would have there.
//!
//! Where an event function is 0 at the beginning, or the event has just been met there, its side is the one that it leaves to: leaving is
//! not an occurrence, coming back is. The search for that side tries fractions of the step, down to the first that is distinct from the
//! beginning, so that it finds a flight which is over long before the step is.

use super::polynomial::separators;
use super::sign_changes::{FRACTIONS, SAMPLES, Series, SignChanges};
use super::snapshot::{Past, PastOccurrence};
use super::stepper::Stepper;
use super::switching::{AppendSwitches, Switching, sides_from, switch_events};
use crate::error::{Cause, Error};
use crate::field::sides::Side;
use crate::hold::consistent_start::{Parameters, find_start};
use crate::simulation::event::{BracketingInterval, Event, locate, resolution};
use crate::system::SystemFacts;
use crate::system::dynamical_system::DynamicalSystem;

/// A time that is nearer to a reset than this fraction of the time since the run began is not distinct from it,
const INDISTINCT: f64 = 1.0 / (1_u64 << 36) as f64;
/// nor is what is nearer than this fraction of the time itself, which is 256 spacings of doubles.
const ROUNDING: f64 = 1.0 / (1_u64 << 44) as f64;
/// Resets of one event that follow one another within this many times the least distinct time accumulate.
const ACCUMULATED: f64 = 256.0;
/// A statement of a sketch about an event function counts if it holds for variations this many times as large.
const SKETCHED: f64 = 2.0;
/// The part of a step below which a flight from a zero is checked only at its end.
const SHORT: f64 = 1.0 / 1024.0;
/// A flight from one reset of an event to the next is low if its function stays within this many times the rounding of its terms. It falls
/// by less than this from one flight to the next, so that none is lost in rounding before one was low.
const LOW: f64 = 1e4;
/// The part of its size by which an entry is changed to see how an event function rounds, and the spacing of doubles in units of that.
const NUDGE: f64 = 1.0 / (1_u64 << 40) as f64;
const SPACING: f64 = f64::EPSILON / NUDGE;
/// An event function rests if it continues after a reset in the same direction at less than this part of the rate.
const RESTING: f64 = 0.01;
/// A switch that is met more often than this in a row within indistinct times chatters.
const MOST_SWITCHES: u32 = 8;

/// The order of a state within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Detail {
    /// On a polynomial, and not projected.
    Sketch,
    /// As the run would have it there.
    Exact,
}

/// A state at a time within a step.
type StateAt<'f> = &'f mut dyn FnMut(f64, Detail) -> Result<Vec<f64>, Cause>;

/// The events of a run, and which of them have occurred. States are flat.
pub(super) struct EventSearch<'a> {
    facts: &'static SystemFacts,
    events: Vec<Event<'a, Vec<f64>>>,
    /// The time at the start of the run.
    begun: f64,
    /// The function of each event where the next step begins.
    values: Vec<f64>,
    /// For each event that may have just been met where the next step begins, as at the start of a run: the rate of its function before, or
    /// 0 where it is not needed.
    left: Vec<Option<f64>>,
    pub(super) occurrences: Vec<PastOccurrence>,
    /// How many of them, the first ones, are of runs that this one continues, and how many of each event are not listed.
    earlier: usize,
    unlisted: Vec<u64>,
    /// The occurrence that ended the run.
    pub(super) end: Option<usize>,
    /// The sides of the field's switches, once they are chosen.
    sides: Option<Vec<Side>>,
    /// The switches that were met where the last step ended.
    switched: Vec<usize>,
    /// For each switch, when it was met last, and how often in a row at once.
    meetings: Vec<(f64, u32)>,
}

/// A step as its ends.
struct Stretch {
    from: f64,
    until: f64,
    /// The state at its end.
    end: Vec<f64>,
    /// For each event what is known of its function.
    known: Vec<Known>,
}

/// What is known of an event function in a step.
enum Known {
    Nothing,
    /// It is a polynomial of the part of the step.
    Polynomial(Vec<f64>),
    /// It parts from its polynomial: a root in it vanishes, for instance.
    Apart,
}

/// A function that differs from its polynomial by more than this part of the polynomial's size parts from it.
const APART: f64 = 1e-6;
/// The pieces of a step in which a function is searched that parts from its polynomial.
const PIECES: u32 = 64;

/// Where a run does not simply go on.
pub(super) struct Stop {
    pub(super) time: f64,
    pub(super) state: Vec<f64>,
    /// The numbers that events take besides the state.
    appended: Vec<f64>,
    /// The first of the events there, by its occurrence.
    first: usize,
}

/// An event within a step.
struct Met {
    event: usize,
    time: f64,
}

impl<'a> EventSearch<'a> {
    /// The events of a run that begins at a time.
    pub(super) fn new(facts: &'static SystemFacts, mut events: Vec<Event<'a, Vec<f64>>>, begun: f64) -> Self {
        let switches = facts.switches.len();
        events.extend(switch_events(facts));
        let (left, values, unlisted) = (vec![Some(0.0); events.len()], vec![0.0; events.len()], vec![0; events.len()]);
        Self {
            facts,
            events,
            begun,
            values,
            left,
            occurrences: Vec::new(),
            earlier: 0,
            unlisted,
            end: None,
            sides: None,
            switched: Vec::new(),
            meetings: vec![(f64::NEG_INFINITY, 0); switches],
        }
    }

    /// Chooses the sides of the field's switches on which the run continues.
    pub(super) fn choose_sides(&mut self, time: f64, state: &[f64], field: &mut dyn Switching) {
        let sides = sides_from(field, (time, state), self.sides.as_deref(), &self.switched);
        self.switched.clear();
        self.sides = Some(sides);
    }

    /// The sides of the field's switches.
    pub(super) fn sides(&self) -> &[Side] {
        self.sides.as_deref().unwrap_or_default()
    }

    pub(super) fn is_needed(&self) -> bool {
        !self.events.is_empty()
    }

    /// Begins at a state, to which the functions of the switches and the inputs are appended.
    pub(super) fn begin(&mut self, time: f64, state: &Vec<f64>) -> Result<(), Cause> {
        self.values = self.values_at(time, state)?;
        Ok(())
    }

    /// Begins at a state as a run that begins there does, with what is known of earlier ones.
    pub(super) fn continue_from(&mut self, time: f64, state: &Vec<f64>) -> Result<(), Cause> {
        self.begun = time;
        self.begin(time, state)
    }

    /// Returns `true` if it is certain that nothing occurs in the last step of a stepper.
    pub(super) fn is_quiet(&mut self, from: f64, stepper: &mut dyn Stepper, append: AppendSwitches<'_>) -> bool {
        let before = self.occurrences.len();
        matches!(self.look(from, stepper, append), Ok(None)) && self.occurrences.len() == before
    }

    /// Records what occurs in the last step of a stepper, unless that has left the doubles; returns where the run stops in it, if it does.
    #[inline(never)]
    pub(super) fn look(
        &mut self,
        from: f64,
        stepper: &mut dyn Stepper,
        append: AppendSwitches<'_>,
    ) -> Result<Option<Stop>, Cause> {
        let (until, end) = stepper.end();
        let polynomials = (0..self.events.len()).map(|event| stepper.event_series(event));
        let known = polynomials.map(|polynomial| polynomial.map_or(Known::Nothing, Known::Polynomial)).collect();
        let mut step = Stretch { from, until, end: end.to_vec(), known };
        if step.end.iter().any(|entry| !entry.is_finite()) {
            return Ok(None);
        }
        append(&mut step.end);
        let entries = self.facts.state;
        let mut state_at = |time: f64, detail: Detail| {
            let mut state = vec![0.0; entries.len()];
            if detail == Detail::Sketch {
                stepper.sketch(time, &mut state);
            } else {
                stepper.within(time, &mut state).map_err(|reason| Cause::of_step(reason, entries))?;
                stepper.project_within(time, &mut state);
            }
            append(&mut state);
            Ok(state)
        };
        self.look_in(&mut step, &mut state_at)
    }

    /// Records what occurs in a step; returns where the run stops in it, if it does.
    fn look_in(&mut self, step: &mut Stretch, state_at: StateAt<'_>) -> Result<Option<Stop>, Cause> {
        let values = self.values_at(step.until, &step.end)?;
        self.compare(step, &values, state_at)?;
        let step = &*step;
        let mut met = self.meetings(step, &values, state_at)?;
        let stop = self.stop(&met);
        // Events that are as near to the stop as it is located are met at once with it.
        let reach = stop.map_or(step.until, |time| time + resolution(step.from, step.until));
        met.retain(|met| met.time <= reach);
        for Met { time, .. } in &mut met {
            *time = stop.filter(|stop| (*time - stop).abs() <= resolution(step.from, step.until)).unwrap_or(*time);
        }
        met.sort_by(|one, other| one.time.total_cmp(&other.time));
        let mut last = None;
        for Met { event, time } in &met {
            let state = if *time == step.until { step.end.clone() } else { state_at(*time, Detail::Exact)? };
            if !self.events[*event].is_switch {
                self.record(*event, *time, &state);
            }
            last = Some(state);
        }
        self.depart(step.from, stop.unwrap_or(step.until));
        let (Some(time), Some(mut state)) = (stop, last) else {
            self.values = values;
            return Ok(None);
        };
        let at_once: Vec<usize> = met.iter().filter(|met| met.time == time).map(|met| met.event).collect();
        let (switches, events): (Vec<usize>, Vec<usize>) =
            at_once.iter().partition(|event| self.events[**event].is_switch);
        let first = self.occurrences.len() - events.len();
        for event in at_once {
            self.check_flight(event, time, &state, step, state_at)?;
            self.left[event] = Some(self.rate_before(event, time, &state, step, state_at)?);
        }
        self.switch(&switches, time)?;
        let appended = state.split_off(self.entries());
        Ok(Some(Stop { time, state, appended, first }))
    }

    /// Finds the functions that part from their polynomials in a step, at whose end they have these values.
    fn compare(&self, step: &mut Stretch, values: &[f64], state_at: StateAt<'_>) -> Result<(), Cause> {
        if step.known.iter().all(|known| matches!(known, Known::Nothing)) {
            return Ok(());
        }
        let on_the_way = [0.25, 0.5, 0.75].map(|part| {
            let time = step.from + part * (step.until - step.from);
            Ok((part, time, state_at(time, Detail::Sketch)?))
        });
        let on_the_way = on_the_way.into_iter().collect::<Result<Vec<_>, Cause>>()?;
        for (event, known) in step.known.iter_mut().enumerate() {
            let Known::Polynomial(polynomial) = &*known else { continue };
            let size: f64 = polynomial.iter().map(|coefficient| coefficient.abs()).sum();
            let keeps = |part: f64, value: f64| {
                let expected = polynomial.iter().rev().fold(0.0, |sum, coefficient| sum * part + coefficient);
                (value - expected).abs() <= APART * size
            };
            let value = &self.events[event].value;
            let mut on_the_way = on_the_way.iter();
            if !(keeps(1.0, values[event]) && on_the_way.all(|(part, time, state)| keeps(*part, value(*time, state)))) {
                *known = Known::Apart;
            }
        }
        Ok(())
    }

    /// Every event that is met in a step, at whose end the functions have these values.
    fn meetings(&self, step: &Stretch, values: &[f64], state_at: StateAt<'_>) -> Result<Vec<Met>, Cause> {
        let are_known = !step.known.iter().any(|known| matches!(known, Known::Nothing));
        let sketch = if are_known { Vec::new() } else { self.sketched(step, state_at)? };
        let mut met: Vec<Met> = Vec::new();
        for event in 0..self.events.len() {
            let mut samples = [values[event]; SAMPLES];
            samples[0] = self.values[event];
            samples[1..].iter_mut().zip(&sketch).for_each(|(sample, values)| *sample = values[event]);
            for bracket in self.brackets(event, &samples, step, state_at)? {
                let time = locate(bracket, |time| self.value(event, time, &state_at(time, Detail::Exact)?))?;
                if self.counts(event, time, step, state_at)? {
                    met.push(Met { event, time });
                }
            }
            // On the other side without a place where it passed, which is a matter of rounding.
            let is_beyond = self.events[event].is_switch && values[event] < 0.0;
            if is_beyond && met.last().is_none_or(|last| last.event != event) {
                met.push(Met { event, time: step.until });
            }
        }
        Ok(met)
    }

    /// Remembers which switches are met at once; refuses one that is met again and again.
    fn switch(&mut self, met: &[usize], time: f64) -> Result<(), Cause> {
        let first = self.events.len() - self.meetings.len();
        for &event in met {
            let (last, times) = self.meetings[event - first];
            let times = if time - last < ACCUMULATED * self.indistinct(time) { times + 1 } else { 0 };
            if times > MOST_SWITCHES {
                return Err(Cause::Chattering { switch: self.events[event].name.clone(), time });
            }
            self.meetings[event - first] = (time, times);
            self.switched.push(event - first);
        }
        Ok(())
    }

    /// The number of entries of a state.
    fn entries(&self) -> usize {
        self.facts.state.len()
    }

    /// Whether the condition of an event holds where it is met.
    fn counts(&self, event: usize, time: f64, step: &Stretch, state_at: StateAt<'_>) -> Result<bool, Cause> {
        let Some(condition) = &self.events[event].condition else { return Ok(true) };
        let state = if time == step.until { step.end.clone() } else { state_at(time, Detail::Exact)? };
        Ok(condition(time, &state))
    }

    /// The time at which the first of these events stops the run. Occurrences of one event follow one another.
    fn stop(&self, met: &[Met]) -> Option<f64> {
        let number = |index: usize| {
            let event = met[index].event;
            let before = met[..index].iter().filter(|before| before.event == event).count() as u64;
            self.number_of(event) + before + 1
        };
        let stops = (0..met.len()).filter(|&index| self.events[met[index].event].stops(number(index)));
        stops.map(|index| met[index].time).reduce(f64::min)
    }

    /// The number of occurrences of an event so far.
    fn number_of(&self, event: usize) -> u64 {
        self.unlisted[event] + number_in(&self.occurrences, event)
    }

    /// The occurrences of this run, without the earlier ones of runs that it continues.
    pub(super) fn own_occurrences(&self) -> &[PastOccurrence] {
        &self.occurrences[self.earlier..]
    }

    /// The functions of all events where a sketch of a step is sampled between its ends, one state after the other.
    fn sketched(&self, step: &Stretch, state_at: StateAt<'_>) -> Result<Vec<Vec<f64>>, Cause> {
        let values = |fraction: &f64| {
            let time = step.from + fraction * (step.until - step.from);
            let state = state_at(time, Detail::Sketch)?;
            Ok(self.events.iter().map(|event| (event.value)(time, &state)).collect())
        };
        FRACTIONS[1..SAMPLES - 1].iter().map(values).collect()
    }

    /// Where in a step an event function with these samples changes its side in the direction of the event: only the first time if that
    /// stops the run. No zero of a polynomial is missed, pairs included.
    fn brackets(
        &self,
        event: usize,
        samples: &[f64; SAMPLES],
        step: &Stretch,
        state_at: StateAt<'_>,
    ) -> Result<Vec<BracketingInterval>, Cause> {
        let Stretch { from, until, .. } = *step;
        let (of, [first, .., last]) = (&self.events[event], *samples);
        // Between these parts of the step, a monotonic function has one zero at most.
        let (parts, is_monotonic) = match &step.known[event] {
            Known::Nothing => {
                let series = Series::through(samples);
                let rests = self.left[event].is_some_and(|before| before != 0.0);
                if !rests && first != 0.0 && series.has_no_zero(SKETCHED) {
                    return Ok(Vec::new());
                }
                (Vec::new(), series.is_monotonic(SKETCHED))
            }
            Known::Polynomial(polynomial) => (separators(polynomial), true),
            Known::Apart => ((1..PIECES).map(|piece| f64::from(piece) / f64::from(PIECES)).collect(), false),
        };
        let mut value = |time: f64| self.value(event, time, &state_at(time, Detail::Exact)?);
        if self.is_left(event, from, until, &mut value)? {
            return self.brackets_from_zero(event, last, step, &mut value);
        }
        let times = parts.into_iter().map(|part| from + part * (until - from));
        let points: Vec<(f64, f64)> = times.map(|time| Ok((time, value(time)?))).collect::<Result<_, Cause>>()?;
        let counts = |first, last| of.occurs(first, last);
        let mut search = SignChanges::new(&mut value, &counts, of.always_stops(), (from, first));
        if is_monotonic {
            points.into_iter().for_each(|point| search.pass_unless_zero(point));
        } else {
            let mut before = (from, first);
            for point in points.into_iter().chain([(until, last)]) {
                search.look(before, point)?;
                before = point;
            }
        }
        // An occurrence at the very end is one.
        search.pass((until, last));
        Ok(search.found())
    }

    /// Whether a step begins at a zero of an event function, so that the sign of its value is not its side: the value is 0, or the rest
    /// that a stop has left, and the function gets another sign as soon as a time is distinct from there.
    fn is_left(
        &self,
        event: usize,
        from: f64,
        until: f64,
        value: &mut dyn FnMut(f64) -> Result<f64, Cause>,
    ) -> Result<bool, Cause> {
        let (first, least) = (self.values[event], self.indistinct(until));
        if self.left[event].is_none() || until - from <= least {
            return Ok(first == 0.0 || self.left[event].is_some());
        }
        let value = value(from + least)?;
        self.check_rest(event, value, least, from)?;
        Ok(first == 0.0 || value == 0.0 || (value > 0.0) != (first > 0.0))
    }

    /// The brackets of a step that begins at a zero of the event function.
    fn brackets_from_zero(
        &self,
        event: usize,
        last: f64,
        step: &Stretch,
        value: &mut dyn FnMut(f64) -> Result<f64, Cause>,
    ) -> Result<Vec<BracketingInterval>, Cause> {
        let Stretch { from, until, .. } = *step;
        let (length, least) = (until - from, self.indistinct(until));
        if length <= least {
            return Ok(Vec::new());
        }
        let mut points = vec![(until, last)];
        let mut offset = length;
        while offset > least {
            offset = (0.5 * offset).max(least);
            points.push((from + offset, value(from + offset)?));
        }
        let of = &self.events[event];
        let counts = |first, last| of.occurs(first, last);
        let mut search = SignChanges::new(value, &counts, of.always_stops(), (from, 0.0));
        // What the zero at the beginning is off by has no side.
        let noise = 2.0 * self.values[event].abs();
        let mut before: Option<(f64, f64)> = None;
        for point in points.into_iter().rev() {
            let is_short = point.0 - from <= SHORT * length;
            if is_short && point.1.abs() <= noise {
                continue;
            }
            match before {
                Some(before) if !is_short => search.look(before, point)?,
                _ => search.pass_unless_zero(point),
            }
            before = Some(point);
        }
        search.pass((until, last));
        Ok(search.found())
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

    /// Refuses a reset at the end of a flight that was low, and shorter than the one before: the next ones would be lost in rounding, and
    /// the motion would pass through.
    fn check_flight(
        &self,
        event: usize,
        time: f64,
        state: &[f64],
        step: &Stretch,
        state_at: StateAt<'_>,
    ) -> Result<(), Cause> {
        let own = self.occurrences.iter().rev().filter(|occurrence| occurrence.event == event);
        let mut earlier = own.map(|occurrence| occurrence.time).skip(1);
        let (Some(last), Some(before)) = (earlier.next(), earlier.next()) else { return Ok(()) };
        let is_resetting = self.events[event].reset.is_some();
        if !is_resetting || last != step.from || time - last >= last - before {
            return Ok(());
        }
        let middle = 0.5 * (last + time);
        let height = self.value(event, middle, &state_at(middle, Detail::Exact)?)?.abs();
        if height <= LOW * self.rounding(event, time, state) {
            return Err(self.accumulated(event, time));
        }
        Ok(())
    }

    /// The rounding of the terms of an event function in a state: what it changes by if each entry is another double.
    fn rounding(&self, event: usize, time: f64, state: &[f64]) -> f64 {
        let value = &self.events[event].value;
        let (here, mut near) = (state.to_vec(), state.to_vec());
        let at = value(time, &here);
        let changes = (0..state.len()).map(|entry| {
            near[entry] = state[entry] * (1.0 + NUDGE);
            let change = value(time, &near) - at;
            near[entry] = state[entry];
            SPACING * change.abs()
        });
        changes.filter(|change| change.is_finite()).sum()
    }

    /// The rate of an event function just before it is met; 0 where it jumps, or where the rate is not needed.
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
        let earlier = (time - self.indistinct(step.until)).max(step.from);
        let before = self.value(event, earlier, &state_at(earlier, Detail::Exact)?)?;
        let value = self.value(event, time, state)?;
        let rate = (value - before) / (time - earlier);
        let is_smooth = value.abs() <= RESTING * before.abs();
        Ok(if rate.is_finite() && is_smooth { rate } else { 0.0 })
    }

    /// The distance within which a time is not distinct from the beginning of a step, or from an event.
    fn indistinct(&self, time: f64) -> f64 {
        (INDISTINCT * (time - self.begun)).max(ROUNDING * time.abs())
    }

    fn record(&mut self, event: usize, time: f64, state: &[f64]) {
        self.occurrences.push(PastOccurrence { event, time, state: state[..self.entries()].to_vec(), reset: None });
    }

    /// Leaves what was met where a step began, if it went far enough to be told from there.
    fn depart(&mut self, from: f64, until: f64) {
        if until - from > self.indistinct(until) {
            self.left.fill(None);
        }
    }

    /// Ends the run, or resets the state, by the events of a stop in the order in which they were given. Returns the state after it,
    /// if there was a reset, on the constraints of the system.
    pub(super) fn take(
        &mut self,
        stop: &Stop,
        system: &dyn DynamicalSystem,
        parameters: &Parameters<'_>,
    ) -> Result<Option<Vec<f64>>, Cause> {
        let mut state = None;
        for number in stop.first..self.occurrences.len() {
            let event = self.occurrences[number].event;
            if let Some(reset) = &self.events[event].reset {
                self.check_accumulation(number)?;
                let before = state.as_ref().unwrap_or(&stop.state);
                let next = reset(stop.time, &[before.as_slice(), &stop.appended].concat());
                let next = self.consistent(event, stop.time, next, (system, parameters))?;
                self.occurrences[number].reset = Some(next.clone());
                state = Some(next);
            }
            let so_far = self.unlisted[event] + number_in(&self.occurrences[..=number], event);
            if self.events[event].ends(so_far) && self.end.is_none() {
                self.end = Some(number - self.earlier);
            }
        }
        if state.is_some() {
            self.sides = None;
        }
        Ok(state)
    }

    /// Refuses a reset that follows the last one of its event at once.
    fn check_accumulation(&self, number: usize) -> Result<(), Cause> {
        let PastOccurrence { event, time, .. } = self.occurrences[number];
        let before = self.occurrences[..number].iter().rev().find(|before| before.event == event);
        match before {
            Some(before) if time - before.time < ACCUMULATED * self.indistinct(time) => {
                Err(self.accumulated(event, time))
            }
            _ => Ok(()),
        }
    }

    fn accumulated(&self, event: usize, time: f64) -> Cause {
        Cause::Accumulation { event: self.events[event].name.clone(), resets: self.number_of(event), time }
    }

    /// The state that a reset gave, moved onto the constraints.
    fn consistent(
        &self,
        event: usize,
        time: f64,
        mut state: Vec<f64>,
        (system, parameters): (&dyn DynamicalSystem, &Parameters<'_>),
    ) -> Result<Vec<f64>, Cause> {
        self.facts.clock.into_iter().for_each(|clock| state[clock] = time);
        let is_time: Vec<bool> = (0..state.len()).map(|entry| self.facts.clock == Some(entry)).collect();
        find_start(system, parameters, &is_time, &mut state).map_err(|refusal| {
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

    /// The data from which a run continues here.
    pub(super) fn past(&self) -> Past {
        Past {
            occurrences: self.occurrences.clone(),
            earlier: self.earlier,
            unlisted: self.unlisted.clone(),
            left: self.left.clone(),
            changes: Vec::new(),
            sides: self.sides().to_vec(),
        }
    }

    /// Continues from a snapshot.
    pub(super) fn restore(&mut self, past: &Past) -> Result<(), Error> {
        let is_known = |occurrence: &PastOccurrence| occurrence.event < self.events.len();
        let fits = |count: usize| count == self.events.len();
        if !fits(past.left.len())
            || !(past.unlisted.is_empty() || fits(past.unlisted.len()))
            || !past.occurrences.iter().all(is_known)
        {
            return Err(Error::ForeignSnapshot { reason: "it has another number of events" });
        }
        if past.sides.len() != self.meetings.len() {
            return Err(Error::ForeignSnapshot { reason: "its field has another number of switches" });
        }
        self.sides = (!past.sides.is_empty()).then(|| past.sides.clone());
        self.occurrences.clone_from(&past.occurrences);
        self.earlier = past.earlier.min(past.occurrences.len());
        self.unlisted = past.unlisted.clone();
        self.unlisted.resize(self.events.len(), 0);
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

/// The number of occurrences of an event among these.
fn number_in(occurrences: &[PastOccurrence], event: usize) -> u64 {
    occurrences.iter().filter(|occurrence| occurrence.event == event).count() as u64
}
