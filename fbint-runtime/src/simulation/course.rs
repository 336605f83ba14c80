//! A run under way: what happens after each step, whatever the method.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::lookout::{Lookout, Stop, Stretch};
use super::record::Record;
use super::run::{Run, Sample};
use super::sampling::{Agenda, SampleTimes, Sampling};
use super::schedule::{Schedule, Span};
use super::snapshot::{Control, Moment, Origin, Past, Snapshot};
use crate::consistent_start::projected_start;
use crate::dense_output::DenseOutput;
use crate::driver::Driver;
use crate::error::Error;
use crate::event::Event;
use crate::failure::{Cause, StepError, StepFailure};
use crate::field::Field;
use crate::hamel::Carried;
use crate::integrator::{Integrator, Resumption};
use crate::linear::{filled, from_slice, is_finite};
use crate::projection::{Landing, Projection, Projector};
use crate::step_size::LEAST_LOG_ERROR;
use crate::system::{FeedbackSystem, Integrals, Vector, set_clock};

/// A function that watches a run, and may interrupt it.
pub(super) type Watch<'a> = Box<dyn FnMut(&Moment<'_>) -> ControlFlow<()> + 'a>;

/// A run under way.
pub(super) struct Course<'a, S: FeedbackSystem> {
    record: Record<S>,
    /// If the state is projected after every step.
    projector: Option<Projector<S>>,
    watch: Watch<'a>,
    lookout: Lookout<'a, S>,
    origin: Origin,
    /// Where to go on instead of at the start.
    from: Option<Position>,
}

/// Where a run goes on, besides its record.
struct Position {
    time: f64,
    steps: u64,
    derivative: Option<Vec<f64>>,
    momenta: Option<[Vec<f64>; 2]>,
    control: Option<Control>,
}

/// A run to its end, or to a reset, after which it goes on with another field.
pub(super) enum Leg {
    /// The number of steps, and of evaluations of the field.
    Ended {
        steps: u64,
        evaluations: u64,
    },
    Reset,
}

/// Whether a feedback that decays at some rate is stable with steps of a fixed size.
pub(crate) struct Audit<'f, V> {
    /// Where the method's real stability interval ends.
    pub(crate) interval: f64,
    /// The largest rate of decay in a state.
    pub(crate) decay_rate: &'f dyn Fn(&V) -> f64,
}

impl<V> Audit<'_, V> {
    pub(crate) fn check(&self, schedule: &Schedule, time: f64, x: &V) -> Result<(), Error> {
        let rate = (self.decay_rate)(x);
        if schedule.h * rate <= self.interval {
            return Ok(());
        }
        Err(Error::UnstableGains { time, h: schedule.h, rate, interval: self.interval })
    }
}

/// What [`Course::new`] takes.
pub(super) struct Plan<'a, S: FeedbackSystem> {
    pub(super) system: &'a S,
    pub(super) time: f64,
    pub(super) start: Vector<S>,
    pub(super) targets: Integrals<S>,
    pub(super) projection: Option<Projection>,
    pub(super) watch: Watch<'a>,
    /// Whether every step is kept as a polynomial.
    pub(super) is_dense: bool,
    pub(super) events: Vec<Event<'a, S::State>>,
    pub(super) from: Option<Snapshot>,
    pub(super) origin: Origin,
}

/// A step of a fixed size.
type Step<'f, S> = &'f dyn Fn(&mut Vector<S>, f64) -> Result<(), StepFailure>;

/// A step of a fixed size to a time, and its projection; see [`Projector::step`].
type ProjectedStep<'f, S> = &'f dyn Fn(&mut Projector<S>, &mut Vector<S>, f64, f64) -> Result<Landing<S>, StepFailure>;

/// Steps of a fixed size, as pointers, so that what is around them is compiled once for all methods.
pub(super) struct Steps<'f, S: FeedbackSystem> {
    /// A step.
    pub(super) alone: Step<'f, S>,
    /// A step and its projection.
    pub(super) projected: ProjectedStep<'f, S>,
    /// A step that no other follows, to a time between the ends of steps.
    pub(super) between: Step<'f, S>,
    /// The field in a state.
    pub(super) rates: &'f dyn Fn(&Vector<S>) -> Vector<S>,
    /// The number of evaluations of the field in a step.
    pub(super) evaluations: u64,
    /// What the discrete Hamel integrator carries from step to step.
    pub(super) carried: Option<&'f Cell<Carried<Vector<S>>>>,
    /// What gives inputs to the field.
    pub(super) driver: Option<&'f dyn Driver>,
}

/// How often inputs jump between two times.
fn jumps_within(driver: &dyn Driver, from: f64, until: f64) -> u64 {
    let mut time = from;
    let jumps = core::iter::from_fn(|| {
        time = driver.hold(time);
        (time < until).then_some(())
    });
    jumps.count() as u64
}

impl<'a, S: FeedbackSystem> Course<'a, S> {
    pub(super) fn new(plan: Plan<'a, S>) -> Result<Self, Error> {
        let Plan { system, time, start, targets, projection, watch, is_dense, events, from, origin } = plan;
        let given = start;
        let (start, targets) = if projection.is_some() { projected_start(system, &given)? } else { (given, targets) };
        let mut record = Record::new(system, time, start, targets);
        if projection.is_some() {
            record.moved_from(&given);
            record.name_singular_gradients();
        }
        if is_dense {
            record.keep_steps();
        }
        let projector = projection.map(|projection| Projector::new(system, &start, targets, projection));
        let lookout = Lookout::new(system, events);
        let mut course = Self { record, projector, watch, lookout, origin, from: None };
        if let Some(snapshot) = from {
            course.restore(snapshot)?;
        }
        let Sample { time, state, .. } = course.record.last;
        course.lookout.begin(time, &state).map_err(|cause| course.record.failed(time, cause))?;
        Ok(course)
    }

    fn restore(&mut self, snapshot: Snapshot) -> Result<(), Error> {
        if snapshot.events.is_some() != self.lookout.is_needed() {
            return Err(Error::ForeignSnapshot { reason: "only one of both has events" });
        }
        snapshot.check::<S>(&self.origin)?;
        snapshot.events.iter().try_for_each(|past| self.lookout.restore(past))?;
        let reset = self.last_reset();
        self.record.restore(&snapshot, reset)?;
        let vector = |entries: Option<&Vec<f64>>| entries.map(|entries| from_slice(entries));
        if let Some(projector) = &mut self.projector {
            if let Some(state) = reset {
                projector.start_at(&state, *self.record.targets());
            }
            // With error control the derivative is the integrator's to remember.
            let derivative = snapshot.derivative.as_ref().filter(|_| snapshot.control.is_none());
            projector.remember(vector(snapshot.mean.as_ref()).unwrap_or(filled(0.0)), vector(derivative));
            if let Some(held) = &snapshot.held {
                projector.hold(held.each_ref().map(|entries| from_slice(entries)));
                self.record.set_level(projector.onto()[0]);
            }
        }
        let Snapshot { time, steps, derivative, momenta, control, .. } = snapshot;
        self.from = Some(Position { time, steps, derivative, momenta, control });
        Ok(())
    }

    /// The state at which the run begins, or resumes.
    pub(super) fn state(&self) -> Vector<S> {
        self.record.last.state
    }

    /// Where the run began, if the start that was given was moved.
    pub(super) fn moved_start(&self) -> Option<Vector<S>> {
        self.record.start_move().and_then(|_| self.record.trajectory.first()).map(|sample| sample.state)
    }

    /// The state after the last reset, from which the run goes on as from a start.
    pub(super) fn last_reset(&self) -> Option<Vector<S>> {
        let mut latest = self.lookout.occurrences.iter().rev();
        latest.find_map(|occurrence| occurrence.reset.clone().map(Into::into))
    }

    /// What the discrete Hamel integrator carried where the run resumes.
    pub(super) fn momenta(&self) -> Option<&[Vec<f64>; 2]> {
        self.from.as_ref()?.momenta.as_ref()
    }

    /// The run, which has ended.
    pub(super) fn end(self, steps: u64, evaluations: u64) -> Run<S> {
        self.record.end(steps, evaluations, self.lookout.occurrences, self.lookout.end)
    }

    pub(super) fn with_fixed_steps(
        &mut self,
        schedule: &Schedule,
        times: Option<&SampleTimes>,
        audit: Audit<'_, Vector<S>>,
        steps: &Steps<'_, S>,
    ) -> Result<Leg, Error> {
        let mut number = self.first_step(schedule)?;
        let mut agenda = Agenda::of_list(schedule.span, times, self.record.trajectory.len() as u64)?;
        let mut x = self.record.last.state;
        audit.check(schedule, self.record.last.time, &x)?;
        // After a reset within a step, the rest of it comes first, and nobody watches before.
        let mut rest = Some(schedule.time(number + 1) - self.record.last.time)
            .filter(|_| self.record.last.time != schedule.time(number));
        loop {
            if rest.is_none()
                && schedule.is_watched(number)
                && self.is_interrupted(schedule.span, number, steps.carried, || None)
                || number == schedule.steps
            {
                return Ok(self.ended(schedule, number, agenda.as_ref(), steps));
            }
            if schedule.hold(steps.driver, number)? {
                self.projector.iter_mut().for_each(Projector::begin_anew);
            }
            number += 1;
            let largest = if self.lookout.is_needed() { self.record.largest_projection } else { None };
            let h = rest.take().unwrap_or_else(|| schedule.step_size(number));
            let change = self.step(schedule.time(number), h, &mut x, steps)?;
            set_clock::<S, f64>(&mut x, schedule.time(number));
            if self.lookout.is_needed()
                && let Some(stop) = self.look(schedule.time(number), &x, steps)?
            {
                self.record.largest_projection = largest;
                return self.stop_in_step(&stop, schedule, number, agenda, steps);
            }
            // Before the step is recorded: the last good state is where it begins.
            let due = match &mut agenda {
                Some(agenda) => self.states_due(agenda, schedule, schedule.reach(number), &x, steps)?,
                None => Vec::new(),
            };
            self.keep_cubic(schedule.time(number), x, steps);
            self.record.add(schedule.time(number), x, change)?;
            due.into_iter().for_each(|(time, state)| self.record.sample_at(time, state));
            if schedule.is_sampled(number) {
                if agenda.is_none() {
                    self.record.sample();
                }
                audit.check(schedule, self.record.last.time, &x)?;
            }
        }
    }

    /// Keeps a step of a fixed size to a state as a polynomial, if steps are kept. Apart from the steps, as all that few runs do.
    #[inline(never)]
    fn keep_cubic(&mut self, time: f64, end: Vector<S>, steps: &Steps<'_, S>) {
        self.record.keep(|begin| {
            let ends = [begin.state, end];
            DenseOutput::cubic(begin.time, time - begin.time, ends, &ends.each_ref().map(steps.rates))
        });
    }

    /// Ends or resets a run within a step of a fixed size. Apart from the steps, which it would slow down.
    #[cold]
    #[inline(never)]
    fn stop_in_step(
        &mut self,
        stop: &Stop<S>,
        schedule: &Schedule,
        number: u64,
        mut agenda: Option<Agenda>,
        steps: &Steps<'_, S>,
    ) -> Result<Leg, Error> {
        let due = match &mut agenda {
            Some(agenda) => self.states_due(agenda, schedule, stop.time, &stop.state, steps)?,
            None => Vec::new(),
        };
        self.keep_cubic(stop.time, stop.state, steps);
        self.record.add(stop.time, stop.state, None)?;
        due.into_iter().for_each(|(time, state)| self.record.sample_at(time, state));
        let is_whole = stop.time == schedule.time(number);
        if is_whole && schedule.is_sampled(number) && agenda.is_none() {
            self.record.sample();
        }
        if self.stop(stop)? {
            return Ok(self.ended(schedule, number, agenda.as_ref(), steps));
        }
        self.count_reset(is_whole, steps);
        let steps = if is_whole { number } else { number - 1 };
        let time = schedule.time(steps);
        self.from = Some(Position { time, steps, derivative: None, momenta: None, control: None });
        Ok(Leg::Reset)
    }

    /// The end of a run after a number of steps of a fixed size.
    fn ended(&self, schedule: &Schedule, number: u64, agenda: Option<&Agenda>, steps: &Steps<'_, S>) -> Leg {
        let between = agenda.into_iter().flat_map(Agenda::past).filter(|time| !schedule.ends_step_at(*time)).count();
        // The first projected step takes one evaluation more; see `Projector::step`.
        let first = if self.projector.is_some() { 1 } else { 0 };
        // And so does the first one after a jump of the inputs.
        let jumps = steps.driver.filter(|_| self.projector.is_some());
        let jumps = jumps.map_or(0, |driver| jumps_within(driver, schedule.span.from, schedule.time(number)));
        let evaluations = (number + between as u64) * steps.evaluations + first + jumps + 2 * self.record.kept();
        Leg::Ended { steps: number + self.lookout.steps, evaluations: evaluations + self.lookout.evaluations }
    }

    /// Looks for events in a step of a fixed size to the state `end`. Within the step, a state is the end of a shorter one.
    #[inline(never)]
    fn look(&mut self, until: f64, end: &Vector<S>, steps: &Steps<'_, S>) -> Result<Option<Stop<S>>, Error> {
        let (begin, projector) = (self.record.last, self.projector.as_ref());
        let mut evaluations = 0;
        let mut state_at = |time: f64| {
            evaluations += steps.evaluations;
            let mut state = begin.state;
            (steps.between)(&mut state, time - begin.time).map_err(Cause::of_step::<S>)?;
            Ok(within(projector, time, state))
        };
        let step = Stretch { from: begin.time, until, end: *end };
        let stop = look(&mut self.lookout, &mut self.record, &step, &mut state_at);
        self.lookout.evaluations += evaluations;
        stop
    }

    /// Ends the run where it stops, or resets its state; returns whether it has ended.
    fn stop(&mut self, stop: &Stop<S>) -> Result<bool, Error> {
        let reset = self.lookout.take(stop).map_err(|cause| self.record.failed(stop.time, cause))?;
        if let Some(state) = reset {
            let targets = self.record.start_at(stop.time, state);
            self.projector.iter_mut().for_each(|projector| projector.start_at(&state, targets));
        }
        Ok(self.lookout.end.is_some())
    }

    /// Counts what a reset adds to the steps of a fixed size: the rest of its step, and f where a projected step begins.
    fn count_reset(&mut self, is_whole: bool, steps: &Steps<'_, S>) {
        if !is_whole {
            self.lookout.steps += 1;
            self.lookout.evaluations += steps.evaluations;
        }
        if self.projector.is_some() {
            self.lookout.evaluations += 1;
        }
    }

    /// Makes a step of size `h` to `time`; returns F - F_target before the projection, if there is one.
    fn step(
        &mut self,
        time: f64,
        h: f64,
        x: &mut Vector<S>,
        steps: &Steps<'_, S>,
    ) -> Result<Option<Integrals<S>>, Error> {
        let Some(projector) = &mut self.projector else {
            return match (steps.alone)(x, h) {
                Ok(()) => Ok(None),
                Err(reason) => Err(self.halted(reason)),
            };
        };
        match (steps.projected)(projector, x, h, time) {
            Ok(landing) => self.record.landed(time, &landing, projector.onto()[0], |_| None).map(Some),
            Err(reason) => Err(self.halted(reason)),
        }
    }

    /// The error of a run in which a step cannot be made.
    fn halted(&mut self, reason: StepFailure) -> Error {
        let Sample { time, state, .. } = self.record.last;
        self.record.halted(StepError { reason, time, state })
    }

    /// The states at the times of a list until `reach`, in a step which ends at `end`. Between the ends of steps a state is the end of
    /// a shorter step, so that it is as exact as they are, and the steps are the same whatever is sampled.
    fn states_due(
        &mut self,
        agenda: &mut Agenda,
        schedule: &Schedule,
        reach: f64,
        end: &Vector<S>,
        steps: &Steps<'_, S>,
    ) -> Result<Vec<(f64, Vector<S>)>, Error> {
        let begin = self.record.last;
        let times = std::iter::from_fn(|| agenda.next_until(reach));
        let state = |time: f64| {
            let mut state = *end;
            if !schedule.ends_step_at(time) {
                state = begin.state;
                (steps.between)(&mut state, time - begin.time)?;
            }
            Ok((time, state))
        };
        let states: Result<_, StepFailure> = times.map(state).collect();
        states.map_err(|reason| self.halted(reason))
    }

    pub(super) fn with_error_control<F: Field<Vector = Vector<S>>, const STAGES: usize>(
        &mut self,
        mut integrator: Integrator<'_, F, STAGES>,
        span: Span,
        times: Option<&SampleTimes>,
    ) -> Result<Leg, Error> {
        let until = span.until;
        let stride = self.resume(&mut integrator, span)?;
        let mut sampling = Sampling::new(span, times, stride, self.record.trajectory.len() as u64)?;
        loop {
            let control = || {
                let begins_anew = integrator.is_at_jump();
                Some((Control::of(&integrator, sampling.stride()), integrator.resumption().derivative, begins_anew))
            };
            if self.is_interrupted(span, integrator.steps(), None, control) || integrator.time() >= until {
                return Ok(Leg::Ended { steps: integrator.steps(), evaluations: integrator.evaluations() });
            }
            let (mut change, largest) = (None, self.record.largest_projection);
            let step = match &mut self.projector {
                Some(projector) => integrator.landing_step(until, projector),
                None => integrator.step(until).map(|()| None),
            };
            let landing = step.map_err(|error| self.record.halted(error))?;
            if let (Some(landing), Some(projector)) = (landing, &self.projector) {
                let tolerance = |entry: usize| Some(integrator.tolerance(entry));
                change = Some(self.record.landed(integrator.time(), &landing, projector.onto()[0], tolerance)?);
            }
            let stop = if self.lookout.is_needed() { self.look_densely(&mut integrator)? } else { None };
            self.record.keep_dense(&mut integrator);
            match &stop {
                Some(Stop { time, state, .. }) => {
                    self.record.largest_projection = largest;
                    self.record.add(*time, *state, None)?;
                }
                None => self.record.add(integrator.time(), *integrator.state(), change)?,
            }
            match &mut sampling {
                Sampling::Steps { stride } => self.record.sample_step(integrator.steps(), stride),
                Sampling::Times(agenda) => self.record.sample_times(&mut integrator, agenda),
            }
            if let Some(stop) = stop {
                let (steps, evaluations) = (integrator.steps(), integrator.evaluations());
                if self.stop(&stop)? {
                    return Ok(Leg::Ended { steps, evaluations });
                }
                // The next step may be as long as after any other, or it is rejected.
                let control =
                    Control { last_log_error: LEAST_LOG_ERROR, ..Control::of(&integrator, sampling.stride()) };
                let (time, control) = (stop.time, Some(control));
                self.from = Some(Position { time, steps, derivative: None, momenta: None, control });
                return Ok(Leg::Reset);
            }
        }
    }

    /// Looks for events in the last step of an integrator, on its dense output.
    fn look_densely<F: Field<Vector = Vector<S>>, const STAGES: usize>(
        &mut self,
        integrator: &mut Integrator<'_, F, STAGES>,
    ) -> Result<Option<Stop<S>>, Error> {
        let step = Stretch { from: self.record.last.time, until: integrator.time(), end: *integrator.state() };
        let (projector, mut dense_output) = (self.projector.as_ref(), None);
        let mut state_at = |time: f64| {
            let state = dense_output.get_or_insert_with(|| integrator.dense_output()).at(time);
            Ok(within(projector, time, state))
        };
        look(&mut self.lookout, &mut self.record, &step, &mut state_at)
    }

    /// The number of steps of a fixed size that were made before the snapshot.
    fn first_step(&self, schedule: &Schedule) -> Result<u64, Error> {
        match &self.from {
            None => Ok(0),
            Some(Position { time, steps, .. }) if *steps > schedule.steps || *time != schedule.time(*steps) => {
                Err(Error::ForeignSnapshot { reason: "its step or its end is another one" })
            }
            Some(Position { steps, .. }) => Ok(*steps),
        }
    }

    /// Brings an integrator to where the snapshot was taken, if there is one; returns the stride of its samples.
    fn resume<F: Field<Vector = Vector<S>>, const STAGES: usize>(
        &self,
        integrator: &mut Integrator<'_, F, STAGES>,
        span: Span,
    ) -> Result<u64, Error> {
        let Some(Position { time, steps, control, derivative, .. }) = &self.from else { return Ok(1) };
        let Some(control) = control else {
            return Err(Error::ForeignSnapshot { reason: "its method takes steps of one size" });
        };
        if !(span.from..=span.until).contains(time) || control.stride == 0 {
            return Err(Error::ForeignSnapshot { reason: "its time is not in this run" });
        }
        integrator.resume(Resumption {
            time: *time,
            state: self.record.last.state,
            derivative: derivative.as_deref().map(from_slice),
            size: control.size,
            last_log_error: control.last_log_error,
            steps: *steps,
            rejected: control.rejected,
            evaluations: control.evaluations,
        });
        Ok(control.stride)
    }

    /// Shows the moment to the watcher.
    fn is_interrupted(
        &mut self,
        span: Span,
        steps: u64,
        carried: Option<&Cell<Carried<Vector<S>>>>,
        control: impl Fn() -> Option<(Control, Option<Vector<S>>, bool)>,
    ) -> bool {
        let Self { record, watch, projector, lookout, origin, .. } = self;
        let memory = projector.as_ref().map(Projector::memory);
        let (mean, own) = (memory.map(|(mean, _)| mean), memory.and_then(|(_, derivative)| derivative));
        let entries = |vector: Option<&Vector<S>>| vector.map(|vector| vector.as_ref().to_vec());
        let snapshot = || {
            let (control, derivative, begins_anew) = match control() {
                Some((control, derivative, begins_anew)) => (Some(control), derivative, begins_anew),
                None => (None, None, false),
            };
            Snapshot {
                derivative: entries(derivative.as_ref().or(own)),
                mean: entries(mean.filter(|_| !begins_anew)),
                held: projector.as_ref().map(|projector| projector.onto().map(|integrals| integrals.as_ref().to_vec())),
                momenta: carried.map(|carried| {
                    let Carried { node, excess } = carried.get();
                    [node, excess].map(|vector| vector.as_ref().to_vec())
                }),
                control,
                events: lookout.is_needed().then(|| Past { changes: record.changes(), ..lookout.past() }),
                ..record.snapshot(origin.clone(), steps)
            }
        };
        watch(&Moment { time: record.last.time, span, snapshot: &snapshot }).is_break()
    }
}

/// Looks for events in a step, unless it has left the doubles, which is told when it is recorded.
fn look<S: FeedbackSystem>(
    lookout: &mut Lookout<'_, S>,
    record: &mut Record<S>,
    step: &Stretch<S>,
    state_at: &mut dyn FnMut(f64) -> Result<Vector<S>, Cause>,
) -> Result<Option<Stop<S>>, Error> {
    if !is_finite(&step.end) {
        return Ok(None);
    }
    lookout.look(step, state_at).map_err(|cause| record.failed(step.until, cause))
}

/// A state within a step, with its time where that is part of it, and projected if the ends of steps are.
fn within<S: FeedbackSystem>(projector: Option<&Projector<S>>, time: f64, mut state: Vector<S>) -> Vector<S> {
    set_clock::<S, f64>(&mut state, time);
    if let Some(projector) = projector {
        projector.project_within(&mut state);
    }
    state
}

impl Control {
    fn of<F: Field, const STAGES: usize>(integrator: &Integrator<'_, F, STAGES>, stride: u64) -> Self {
        let Resumption { size, last_log_error, rejected, evaluations, .. } = integrator.resumption();
        Self { size, last_log_error, rejected, evaluations, stride }
    }
}
