//! A run under way: what happens after each step, whatever the method.

use std::ops::ControlFlow;

use super::record::Record;
use super::run::Run;
use super::schedule::{Sampling, Schedule, Span};
use super::snapshot::{Control, Moment, Snapshot};
use crate::error::Error;
use crate::field::Field;
use crate::integrator::{Integrator, Resumption};
use crate::linear::from_slice;
use crate::projection::{Projected, Projection, Projector};
use crate::system::{FeedbackSystem, Integrals, Vector};

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

/// A step of a fixed size and its projection; see [`Projector::step`].
type ProjectedStep<'f, S> = &'f dyn Fn(&mut Projector<S>, &mut Vector<S>, f64) -> Projected<S>;

/// Steps of a fixed size, as pointers, so that what is around them is compiled once for all methods.
pub(super) struct Steps<'f, S: FeedbackSystem> {
    /// A step.
    pub(super) alone: &'f dyn Fn(&mut Vector<S>, f64),
    /// A step and its projection.
    pub(super) projected: ProjectedStep<'f, S>,
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
        let mut record = Record::new(system, time, start, targets);
        let mut projector = projection.map(|projection| Projector::new(system, &start, targets, projection));
        if let Some(snapshot) = &from {
            record.restore(snapshot)?;
            let vector = |entries: &Option<Vec<f64>>| entries.as_deref().map(from_slice);
            if let Some(projector) = &mut projector {
                projector.remember([vector(&snapshot.variances), vector(&snapshot.derivative)]);
            }
        }
        Ok(Self { record, projector, watch, from })
    }

    pub(super) fn with_fixed_steps(
        mut self,
        schedule: Schedule,
        evaluations_per_step: u64,
        audit: Audit<'_, Vector<S>>,
        steps: Steps<'_, S>,
    ) -> Result<Run<S>, Error> {
        let mut number = self.first_step(&schedule)?;
        let mut x = self.record.last.state;
        audit.check(&schedule, self.record.last.time, &x)?;
        loop {
            if schedule.is_watched(number) && self.is_interrupted(schedule.span, number, || None)
                || number == schedule.steps
            {
                // The first projected step takes two evaluations more; see `Projector::step`.
                let evaluations = number * evaluations_per_step + if self.projector.is_some() { 2 } else { 0 };
                return Ok(self.record.end(number, evaluations));
            }
            number += 1;
            let h = schedule.step_size(number);
            let change = match &mut self.projector {
                Some(projector) => {
                    let projected = (steps.projected)(projector, &mut x, h);
                    let furthest = projector.furthest(&projected, &x);
                    self.record.measure(schedule.time(number), furthest, None);
                    if !furthest.is_in_proportion() {
                        return Err(self.record.out_of_proportion(schedule.time(number), furthest));
                    }
                    Some(projected.violation)
                }
                None => {
                    (steps.alone)(&mut x, h);
                    None
                }
            };
            self.record.add(schedule.time(number), x, change)?;
            if schedule.is_sampled(number) {
                self.record.sample();
                audit.check(&schedule, self.record.last.time, &x)?;
            }
        }
    }

    pub(super) fn with_error_control<F: Field<Vector = Vector<S>>, const STAGES: usize>(
        mut self,
        mut integrator: Integrator<'_, F, STAGES>,
        span: Span,
        interval: Option<f64>,
    ) -> Result<Run<S>, Error> {
        let until = span.until;
        let stride = self.resume(&mut integrator, span)?;
        let mut sampling = Sampling::new(span, interval, stride, self.record.trajectory.len() as u64)?;
        loop {
            let control = || Some((Control::of(&integrator, sampling.stride()), integrator.resumption().derivative));
            if self.is_interrupted(span, integrator.steps(), control) || integrator.time() >= until {
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
                Sampling::Times { interval, next, last } => {
                    self.record.sample_times(&mut integrator, span.from, *interval, next, *last);
                }
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
