//! A run under way: what happens after each step, whatever the method.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::record::Record;
use super::run::{Run, Sample};
use super::sampling::{Agenda, SampleTimes, Sampling};
use super::schedule::{Schedule, Span};
use super::snapshot::{Control, Moment, Snapshot};
use crate::consistent_start::check_distinct;
use crate::driver::Driver;
use crate::error::Error;
use crate::failure::{StepError, StepFailure};
use crate::field::Field;
use crate::hamel::Carried;
use crate::integrator::{Integrator, Resumption};
use crate::linear::from_slice;
use crate::projection::{Projected, Projection, Projector};
use crate::system::{FeedbackSystem, Integrals, Vector, clock};

/// A function that watches a run, and may interrupt it.
pub(super) type Watch<'a> = Box<dyn FnMut(&Moment<'_>) -> ControlFlow<()> + 'a>;

/// A run under way.
pub(super) struct Course<'a, S: FeedbackSystem> {
    record: Record<S>,
    /// If the state is projected after every step.
    projector: Option<Projector<S>>,
    watch: Watch<'a>,
    /// Where to resume instead of at the start.
    from: Option<Snapshot>,
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

/// A step of a fixed size.
type Step<'f, S> = &'f dyn Fn(&mut Vector<S>, f64) -> Result<(), StepFailure>;

/// A step of a fixed size and its projection; see [`Projector::step`].
type ProjectedStep<'f, S> = &'f dyn Fn(&mut Projector<S>, &mut Vector<S>, f64) -> Result<Projected<S>, StepFailure>;

/// Steps of a fixed size, as pointers, so that what is around them is compiled once for all methods.
pub(super) struct Steps<'f, S: FeedbackSystem> {
    /// A step.
    pub(super) alone: Step<'f, S>,
    /// A step and its projection.
    pub(super) projected: ProjectedStep<'f, S>,
    /// A step that no other follows, to a time between the ends of steps.
    pub(super) between: Step<'f, S>,
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
    pub(super) fn new(
        system: &S,
        time: f64,
        start: Vector<S>,
        targets: Integrals<S>,
        projection: Option<Projection>,
        watch: Watch<'a>,
        from: Option<Snapshot>,
    ) -> Result<Self, Error> {
        if projection.is_some() {
            check_distinct(system, &start, true)?;
        }
        let mut record = Record::new(system, time, start, targets, projection.is_some());
        let mut projector = projection.map(|projection| Projector::new(system, &start, targets, projection));
        if let Some(snapshot) = &from {
            record.restore(snapshot)?;
            let vector = |entries: Option<&Vec<f64>>| entries.map(|entries| from_slice(entries));
            if let Some(projector) = &mut projector {
                // With error control the derivative is the integrator's to remember.
                let derivative = snapshot.derivative.as_ref().filter(|_| snapshot.control.is_none());
                projector.remember([snapshot.variances.as_ref(), derivative].map(vector));
            }
        }
        Ok(Self { record, projector, watch, from })
    }

    /// The state at which the run begins, or resumes.
    pub(super) fn state(&self) -> Vector<S> {
        self.record.last.state
    }

    /// What the discrete Hamel integrator carried where the run resumes.
    pub(super) fn momenta(&self) -> Option<&[Vec<f64>; 2]> {
        self.from.as_ref()?.momenta.as_ref()
    }

    pub(super) fn with_fixed_steps(
        mut self,
        schedule: Schedule,
        times: Option<&SampleTimes>,
        audit: Audit<'_, Vector<S>>,
        steps: Steps<'_, S>,
    ) -> Result<Run<S>, Error> {
        let mut number = self.first_step(&schedule)?;
        let mut agenda = Agenda::of_list(schedule.span, times, self.record.trajectory.len() as u64)?;
        let mut x = self.record.last.state;
        audit.check(&schedule, self.record.last.time, &x)?;
        loop {
            if schedule.is_watched(number) && self.is_interrupted(schedule.span, number, steps.carried, || None)
                || number == schedule.steps
            {
                let between = agenda.iter().flat_map(Agenda::past).filter(|time| !schedule.ends_step_at(*time)).count();
                // The first projected step takes two evaluations more; see `Projector::step`.
                let first = if self.projector.is_some() { 2 } else { 0 };
                // And the first one after a jump of the inputs takes one more.
                let jumps = steps.driver.filter(|_| self.projector.is_some());
                let jumps = jumps.map_or(0, |driver| jumps_within(driver, schedule.span.from, schedule.time(number)));
                let evaluations = (number + between as u64) * steps.evaluations + first + jumps;
                return Ok(self.record.end(number, evaluations));
            }
            if schedule.hold(steps.driver, number)? {
                self.projector.iter_mut().for_each(Projector::forget_derivative);
            }
            number += 1;
            let change = self.step(&schedule, number, &mut x, &steps)?;
            if let Some(index) = clock::<S>() {
                // Computed and not added up.
                x[index] = schedule.time(number);
            }
            // Before the step is recorded: the last good state is where it begins.
            let due = match &mut agenda {
                Some(agenda) => self.states_due(agenda, &schedule, number, &x, &steps)?,
                None => Vec::new(),
            };
            self.record.add(schedule.time(number), x, change)?;
            due.into_iter().for_each(|(time, state)| self.record.sample_at(time, state));
            if schedule.is_sampled(number) {
                if agenda.is_none() {
                    self.record.sample();
                }
                audit.check(&schedule, self.record.last.time, &x)?;
            }
        }
    }

    /// Makes a step of a fixed size; returns F - F_target before the projection, if there is one.
    fn step(
        &mut self,
        schedule: &Schedule,
        number: u64,
        x: &mut Vector<S>,
        steps: &Steps<'_, S>,
    ) -> Result<Option<Integrals<S>>, Error> {
        let (time, h) = (schedule.time(number), schedule.step_size(number));
        let Some(projector) = &mut self.projector else {
            return match (steps.alone)(x, h) {
                Ok(()) => Ok(None),
                Err(reason) => Err(self.halted(reason)),
            };
        };
        let projected = match (steps.projected)(projector, x, h) {
            Ok(projected) => projected,
            Err(reason) => return Err(self.halted(reason)),
        };
        let furthest = projector.furthest(&projected, x);
        self.record.measure(time, furthest, None);
        if furthest.is_in_proportion() {
            Ok(Some(projected.violation))
        } else {
            Err(self.record.out_of_proportion(time, furthest))
        }
    }

    /// The error of a run in which a step cannot be made.
    fn halted(&mut self, reason: StepFailure) -> Error {
        let Sample { time, state, .. } = self.record.last;
        self.record.halted(StepError { reason, time, state })
    }

    /// The states at the times of a list that are due after a step which ends at `end`. Between the ends of steps a state is the end of
    /// a shorter step, so that it is as exact as they are, and the steps are the same whatever is sampled.
    fn states_due(
        &mut self,
        agenda: &mut Agenda,
        schedule: &Schedule,
        number: u64,
        end: &Vector<S>,
        steps: &Steps<'_, S>,
    ) -> Result<Vec<(f64, Vector<S>)>, Error> {
        let begin = self.record.last;
        let times = std::iter::from_fn(|| agenda.next_until(schedule.reach(number)));
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
        mut self,
        mut integrator: Integrator<'_, F, STAGES>,
        span: Span,
        times: Option<&SampleTimes>,
    ) -> Result<Run<S>, Error> {
        let until = span.until;
        let stride = self.resume(&mut integrator, span)?;
        let mut sampling = Sampling::new(span, times, stride, self.record.trajectory.len() as u64)?;
        loop {
            let control = || Some((Control::of(&integrator, sampling.stride()), integrator.resumption().derivative));
            if self.is_interrupted(span, integrator.steps(), None, control) || integrator.time() >= until {
                return Ok(self.record.end(integrator.steps(), integrator.evaluations()));
            }
            let mut change = None;
            let step = match &mut self.projector {
                Some(projector) => integrator.measured_step(until, projector).map(|(projected, furthest)| {
                    change = Some(projected.violation);
                    self.record.measure(integrator.time(), furthest, Some(integrator.tolerance(furthest.entry)));
                }),
                None => integrator.step(until),
            };
            step.map_err(|error| self.record.halted(error))?;
            self.record.add(integrator.time(), *integrator.state(), change)?;
            match &mut sampling {
                Sampling::Steps { stride } => self.record.sample_step(integrator.steps(), stride),
                Sampling::Times(agenda) => self.record.sample_times(&mut integrator, agenda),
            }
        }
    }

    /// The number of steps of a fixed size that were made before the snapshot.
    fn first_step(&self, schedule: &Schedule) -> Result<u64, Error> {
        match &self.from {
            None => Ok(0),
            Some(Snapshot { control: Some(_), .. }) => {
                Err(Error::ForeignSnapshot { reason: "its method chooses its steps" })
            }
            Some(Snapshot { time, steps, .. }) if *steps > schedule.steps || *time != schedule.time(*steps) => {
                Err(Error::ForeignSnapshot { reason: "its step or its end is another one" })
            }
            Some(Snapshot { steps, .. }) => Ok(*steps),
        }
    }

    /// Brings an integrator to where the snapshot was taken, if there is one; returns the stride of its samples.
    fn resume<F: Field<Vector = Vector<S>>, const STAGES: usize>(
        &self,
        integrator: &mut Integrator<'_, F, STAGES>,
        span: Span,
    ) -> Result<u64, Error> {
        let Some(Snapshot { time, steps, control, derivative, .. }) = &self.from else { return Ok(1) };
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
        control: impl Fn() -> Option<(Control, Option<Vector<S>>)>,
    ) -> bool {
        let Self { record, watch, projector, .. } = self;
        let [variances, own] = projector.as_ref().map_or([None; 2], Projector::memory);
        let entries = |vector: Option<&Vector<S>>| vector.map(|vector| vector.as_ref().to_vec());
        let snapshot = || {
            let (control, derivative) = control().unzip();
            let derivative = derivative.flatten();
            Snapshot {
                derivative: entries(derivative.as_ref().or(own)),
                variances: entries(variances),
                momenta: carried.map(|carried| {
                    let Carried { node, excess } = carried.get();
                    [node, excess].map(|vector| vector.as_ref().to_vec())
                }),
                control,
                ..record.snapshot(steps)
            }
        };
        watch(&Moment { time: record.last.time, span, snapshot: &snapshot }).is_break()
    }
}

impl Control {
    fn of<F: Field, const STAGES: usize>(integrator: &Integrator<'_, F, STAGES>, stride: u64) -> Self {
        let Resumption { size, last_log_error, rejected, evaluations, .. } = integrator.resumption();
        Self { size, last_log_error, rejected, evaluations, stride }
    }
}
