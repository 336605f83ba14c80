//! A run under way: what happens after each step, whatever the method.

use std::ops::ControlFlow;

use nalgebra::SVector;

use super::schedule::{DEFAULT_INTERVALS, Sampling, Schedule};
use super::snapshot::{Control, Largest, Moment, Snapshot};
use super::{LargestProjection, Run, Sample};
use crate::consistent_start::scales;
use crate::correction::Move;
use crate::dependence::Dependence;
use crate::error::{Symptom, positive};
use crate::integrator::Resumption;
use crate::{
    BlowUp, Correction, Drift, Error, FeedbackSystem, Field, Halted, Integrator, OutOfProportion, PreparedSystem,
    Projected, Projector, StepError, StepFailure,
};

/// A change beyond this many times the size of an integral's terms and target is a blow-up. Plain Euler, which may lose all
/// of an integral over a long run, stays far below.
const BLOW_UP: f64 = 1e6;
/// Constraints whose pivot ratio is below this where a run fails, or where integrals jump, are mentioned as a likely cause: a
/// step of a fixed size does not resolve what happens there.
const SUSPICIOUS: f64 = 1e-4;

/// Whoever watches a run, and may break it off.
pub(super) type Watch<'a> = Box<dyn FnMut(&Moment<'_>) -> ControlFlow<()> + 'a>;

/// A run under way.
pub(super) struct Course<'a, S: FeedbackSystem<N, M>, const N: usize, const M: usize> {
    record: Record<S, N, M>,
    /// If the state is projected after every step.
    projector: Option<Projector<S::Prepared, f64, N, M>>,
    watch: Watch<'a>,
    /// Where to go on instead of at the start.
    from: Option<Snapshot>,
}

/// Whether a feedback that decays at some rate is stable with steps of a fixed size.
pub(crate) struct Audit<'f, const N: usize> {
    /// Where the method's real stability interval ends.
    pub(crate) interval: f64,
    /// The largest rate of decay in a state.
    pub(crate) decay_rate: &'f dyn Fn(&SVector<f64, N>) -> f64,
}

impl<const N: usize> Audit<'_, N> {
    pub(crate) fn check(&self, schedule: &Schedule, time: f64, x: &SVector<f64, N>) -> Result<(), Error> {
        let rate = (self.decay_rate)(x);
        if schedule.h * rate <= self.interval {
            return Ok(());
        }
        Err(Error::UnstableGains { time, h: schedule.h, rate, interval: self.interval })
    }
}

/// Steps of a fixed size, as pointers, so that what is around them is compiled once for all methods.
pub(super) struct Steps<'f, P, const N: usize, const M: usize> {
    /// A step.
    pub(super) alone: &'f dyn Fn(&mut SVector<f64, N>, f64),
    /// A step and its projection; see [`Projector::step`].
    pub(super) projected: &'f ProjectedStep<'f, P, N, M>,
}

type ProjectedStep<'f, P, const N: usize, const M: usize> =
    dyn Fn(&mut Projector<P, f64, N, M>, &mut SVector<f64, N>, f64) -> Projected<f64, N, M> + 'f;

/// What a run has seen so far.
struct Record<S: FeedbackSystem<N, M>, const N: usize, const M: usize> {
    system: S::Prepared,
    targets: SVector<f64, M>,
    bounds: SVector<f64, M>,
    inverse_bounds: SVector<f64, M>,
    drift: Drift<M>,
    trajectory: Vec<Sample<N, M>>,
    /// The last good state.
    last: Sample<N, M>,
    /// The largest change of an integral in one step so far, in units of the bounds.
    jump: f64,
    /// Where constraints were nearest to dependence, of the places where integrals jumped.
    dependence: Option<(SVector<f64, N>, Dependence)>,
    largest_projection: Option<Largest>,
}

impl<'a, S: FeedbackSystem<N, M>, const N: usize, const M: usize> Course<'a, S, N, M> {
    pub(super) fn new(
        system: &S,
        start: SVector<f64, N>,
        targets: SVector<f64, M>,
        correction: Correction,
        watch: Watch<'a>,
        from: Option<Snapshot>,
    ) -> Result<Self, Error> {
        let mut record = Record::new(system, start, targets);
        let is_projected = correction != Correction::times(0);
        let mut projector = is_projected.then(|| Projector::new(system, &start, targets, correction));
        if let Some(snapshot) = &from {
            record.restore(snapshot)?;
            let vector = |entries: &Option<Vec<f64>>| entries.as_deref().map(SVector::from_column_slice);
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
        audit: Audit<'_, N>,
        steps: Steps<'_, S::Prepared, N, M>,
    ) -> Result<Run<S::State, N, M>, Error> {
        let mut number = self.first_step(&schedule)?;
        let mut x = self.record.last.state;
        audit.check(&schedule, self.record.last.time, &x)?;
        loop {
            if schedule.is_watched(number) && self.is_broken_off(schedule.until, number, || None)
                || number == schedule.steps
            {
                // A projection has begun with an evaluation more.
                let evaluations = number * evaluations_per_step + u64::from(self.projector.is_some());
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

    pub(super) fn with_error_control<F: Field<N>, const STAGES: usize>(
        mut self,
        mut integrator: Integrator<'_, F, N, STAGES>,
        until: f64,
        interval: Option<f64>,
    ) -> Result<Run<S::State, N, M>, Error> {
        let until = positive("the end of the simulation", until)?;
        let stride = self.resume(&mut integrator, until)?;
        let mut sampling = Sampling::new(until, interval, stride, self.record.trajectory.len() as u64)?;
        loop {
            let control = || Some((Control::of(&integrator, sampling.stride()), integrator.resumption().derivative));
            if self.is_broken_off(until, integrator.steps(), control) || integrator.time() >= until {
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
                    self.record.sample_times(&mut integrator, *interval, next, *last);
                }
            }
        }
    }

    /// How many steps of a fixed size were made already.
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

    /// Brings an integrator to where the snapshot was taken, if there is one; gives the stride of its samples.
    fn resume<F: Field<N>, const STAGES: usize>(
        &self,
        integrator: &mut Integrator<'_, F, N, STAGES>,
        until: f64,
    ) -> Result<u64, Error> {
        let Some(Snapshot { time, steps, control, derivative, .. }) = &self.from else { return Ok(1) };
        let Some(control) = control else {
            return Err(Error::ForeignSnapshot { reason: "its method takes steps of one size" });
        };
        if !(0.0..=until).contains(time) || control.stride == 0 {
            return Err(Error::ForeignSnapshot { reason: "its time is not in this run" });
        }
        integrator.resume(Resumption {
            time: *time,
            state: self.record.last.state,
            derivative: derivative.as_deref().map(SVector::from_column_slice),
            size: control.size,
            last_log_error: control.last_log_error,
            steps: *steps,
            rejected: control.rejected,
            evaluations: control.evaluations,
        });
        Ok(control.stride)
    }

    /// Shows the moment to whoever watches.
    fn is_broken_off(
        &mut self,
        until: f64,
        steps: u64,
        control: impl Fn() -> Option<(Control, Option<SVector<f64, N>>)>,
    ) -> bool {
        let Self { record, watch, projector, .. } = self;
        let [variances, own] = projector.as_ref().map_or([None; 2], Projector::memory);
        let entries = |vector: Option<&SVector<f64, N>>| vector.map(|vector| vector.as_slice().to_vec());
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
        watch(&Moment { time: record.last.time, until, snapshot: &snapshot }).is_break()
    }
}

impl Control {
    fn of<F: Field<N>, const N: usize, const STAGES: usize>(
        integrator: &Integrator<'_, F, N, STAGES>,
        stride: u64,
    ) -> Self {
        let Resumption { size, last_log_error, rejected, evaluations, .. } = integrator.resumption();
        Self { size, last_log_error, rejected, evaluations, stride }
    }
}

/// How far from its target each integral may be.
pub(crate) fn bounds<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S,
    start: &SVector<f64, N>,
    targets: &SVector<f64, M>,
) -> SVector<f64, M> {
    (scales(system, start) + targets.abs()) * BLOW_UP
}

impl<S: FeedbackSystem<N, M>, const N: usize, const M: usize> Record<S, N, M> {
    fn new(system: &S, start: SVector<f64, N>, targets: SVector<f64, M>) -> Self {
        let bounds = bounds(system, &start, &targets);
        let integrals = system.integrals(&start);
        let mut drift = Drift::new(S::INTEGRAL_NAMES, targets);
        drift.record(0.0, &integrals);
        let last = Sample { time: 0.0, state: start, change: integrals - targets };
        let system = system.prepare();
        let inverse_bounds = bounds.map(f64::recip);
        Self {
            system,
            targets,
            bounds,
            inverse_bounds,
            drift,
            trajectory: vec![last],
            last,
            jump: 0.0,
            dependence: None,
            largest_projection: None,
        }
    }

    fn snapshot(&self, steps: u64) -> Snapshot {
        let row = |sample: &Sample<N, M>| [&[sample.time], sample.state.as_slice()].concat();
        Snapshot {
            time: self.last.time,
            state: self.last.state.as_slice().to_vec(),
            steps,
            derivative: None,
            variances: None,
            control: None,
            drift: self.drift.to_record(),
            trajectory: self.trajectory.iter().map(row).collect(),
            jump: self.jump,
            largest_projection: self.largest_projection,
            dependence: self.dependence.map(|(state, dependence)| (dependence.time(), state.as_slice().to_vec())),
        }
    }

    /// Goes on from a snapshot, which must be of a run from this start.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        snapshot.check::<N, M>()?;
        let start = self.last.state;
        let trajectory = snapshot.trajectory.iter().map(|row| self.at(row[0], SVector::from_column_slice(&row[1..])));
        let trajectory: Vec<_> = trajectory.collect();
        let is_start = |sample: &Sample<N, M>| sample.time == 0.0 && sample.state == start;
        if !trajectory.first().is_some_and(is_start) {
            return Err(Error::ForeignSnapshot { reason: "its start is another one" });
        }
        self.last = self.at(snapshot.time, SVector::from_column_slice(&snapshot.state));
        self.trajectory = trajectory;
        self.drift.restore(&snapshot.drift);
        self.jump = snapshot.jump;
        self.largest_projection = snapshot.largest_projection;
        if let Some((time, state)) = &snapshot.dependence {
            self.look_for_dependence(*time, &SVector::from_column_slice(state));
        }
        Ok(())
    }

    fn at(&self, time: f64, state: SVector<f64, N>) -> Sample<N, M> {
        Sample { time, state, change: self.system.integrals(&state) - self.targets }
    }

    /// Records the state after a step, which becomes the last good one unless it is not good. `uncorrected` is the change of the
    /// integrals before the state was corrected, if it was.
    fn add(&mut self, time: f64, state: SVector<f64, N>, uncorrected: Option<SVector<f64, M>>) -> Result<(), Error> {
        let integrals = self.system.integrals(&state);
        let sample = Sample { time, state, change: integrals - self.targets };
        if !sample.is_good(&self.bounds) {
            return Err(self.blow_up(&sample));
        }
        self.drift.record(time, &integrals);
        self.look_where_integrals_jump(&sample, &uncorrected.unwrap_or(sample.change));
        self.last = sample;
        Ok(())
    }

    /// Integrals jump where a step passes a singular point of the field. Only a jump twice as large as any before is looked at,
    /// which happens a few dozen times in a run, however long.
    fn look_where_integrals_jump(&mut self, next: &Sample<N, M>, change: &SVector<f64, M>) {
        let jump = (change - self.last.change).component_mul(&self.inverse_bounds).amax();
        if jump > 2.0 * self.jump {
            self.jump = jump;
            self.look_for_dependence(self.last.time, &self.last.state.clone());
            self.look_for_dependence(next.time, &next.state);
        }
    }

    fn look_for_dependence(&mut self, time: f64, state: &SVector<f64, N>) {
        let limit = self.dependence.map_or(SUSPICIOUS, |(_, dependence)| dependence.pivot_ratio());
        if let Some(dependence) = Dependence::find::<S, N, M>(&self.system, time, state, limit) {
            self.dependence = Some((*state, dependence));
        }
    }

    /// Keeps a projection if it is the largest so far.
    fn measure(&mut self, time: f64, furthest: Move, tolerance: Option<f64>) {
        let Move { entry, distance, per_error } = furthest;
        if self.largest_projection.is_none_or(|largest| per_error > largest.per_error) {
            let per_tolerance = tolerance.map(|tolerance| distance / tolerance);
            self.largest_projection = Some(Largest { time, entry, distance, per_error, per_tolerance });
        }
    }

    fn sample(&mut self) {
        self.trajectory.push(self.last);
    }

    /// Samples every `stride`-th step, and doubles the stride when there are too many samples.
    fn sample_step(&mut self, step: u64, stride: &mut u64) {
        if step.is_multiple_of(*stride) {
            self.sample();
        }
        if self.trajectory.len() as u64 > 2 * DEFAULT_INTERVALS {
            let mut index = 0;
            self.trajectory.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            *stride *= 2;
        }
    }

    /// Samples at the multiples of `interval` that lie in the last step, from number `next` on.
    fn sample_times<F: Field<N>, const STAGES: usize>(
        &mut self,
        integrator: &mut Integrator<'_, F, N, STAGES>,
        interval: f64,
        next: &mut u64,
        last: u64,
    ) {
        let mut dense_output = None;
        while *next <= last && *next as f64 * interval <= integrator.time() {
            let time = *next as f64 * interval;
            let state = dense_output.get_or_insert_with(|| integrator.dense_output()).at(time);
            self.trajectory.push(self.at(time, state));
            *next += 1;
        }
    }

    /// The run up to the last good state, which is always sampled.
    fn end(mut self, steps: u64, evaluations: u64) -> Run<S::State, N, M> {
        if self.trajectory.last().is_none_or(|sample| sample.time != self.last.time) {
            self.sample();
        }
        let dependence = self.dependence.map(|(_, dependence)| dependence);
        let Self { last, drift, trajectory, largest_projection, .. } = self;
        let largest_projection =
            largest_projection.map(|Largest { time, entry, distance, per_error, per_tolerance }| {
                let entry = S::STATE_NAMES.get(entry).copied().unwrap_or_default();
                LargestProjection { time, entry, distance, per_error, per_tolerance }
            });
        let (time, state) = (last.time, last.state.into());
        Run { time, state, drift, trajectory, steps, evaluations, dependence, largest_projection }
    }

    fn halted(&mut self, error: StepError<N>) -> Error {
        let StepError { reason, time, state } = error;
        let entry = match reason {
            StepFailure::NotFinite { entry } => S::STATE_NAMES.get(entry).copied(),
            _ => None,
        };
        let names = const { &S::STATE_NAMES };
        self.look_for_dependence(time, &state);
        let dependence = self.dependence.map(|(_, dependence)| dependence);
        let (state, trajectory) = (state.as_slice().to_vec(), self.states());
        Error::Halted(Box::new(Halted { reason, entry, time, state, names, dependence, trajectory }))
    }

    /// The error of a run whose last projection was too large.
    fn out_of_proportion(&mut self, time: f64, furthest: Move) -> Error {
        self.look_for_dependence(self.last.time, &self.last.state.clone());
        let Move { entry, distance, per_error } = furthest;
        let entry = S::STATE_NAMES.get(entry).copied().unwrap_or_default();
        Error::Projection(Box::new(OutOfProportion {
            time,
            entry,
            distance,
            per_error,
            last_time: self.last.time,
            last_state: self.last.state.as_slice().to_vec(),
            names: const { &S::STATE_NAMES },
            dependence: self.dependence.map(|(_, dependence)| dependence),
            trajectory: self.states(),
        }))
    }

    /// The samples so far and the last good state, for an error that ends the run.
    fn states(&self) -> Vec<(f64, Vec<f64>)> {
        let last = self.trajectory.last().is_none_or(|sample| sample.time != self.last.time).then_some(&self.last);
        let samples = self.trajectory.iter().chain(last);
        samples.map(|sample| (sample.time, sample.state.as_slice().to_vec())).collect()
    }

    fn blow_up(&mut self, failed: &Sample<N, M>) -> Error {
        self.look_for_dependence(self.last.time, &self.last.state.clone());
        self.look_for_dependence(failed.time, &failed.state);
        Error::BlowUp(Box::new(BlowUp {
            time: failed.time,
            symptom: self.symptom(failed),
            last_time: self.last.time,
            last_state: self.last.state.as_slice().to_vec(),
            names: const { &S::STATE_NAMES },
            dependence: self.dependence.map(|(_, dependence)| dependence),
            trajectory: self.states(),
        }))
    }

    /// What is wrong with a state, by its cause as far as it can be told: a rate before the step that was not finite, an
    /// entry of the state, an integral, or the growth of one.
    fn symptom(&self, failed: &Sample<N, M>) -> Symptom {
        let rates = self.system.vector_field(&self.last.state);
        if let Some((name, value)) = not_finite(&rates, &S::STATE_NAMES) {
            return Symptom::Rate { name, value };
        }
        if let Some((name, value)) = not_finite(&failed.state, &S::STATE_NAMES) {
            return Symptom::Entry { name, value };
        }
        if let Some((name, value)) = not_finite(&failed.change, &S::INTEGRAL_NAMES) {
            return Symptom::Integral { name, value };
        }
        let against_bound = |i: usize| failed.change[i].abs() / self.bounds[i];
        let index = (0..M).max_by(|&i, &j| against_bound(i).total_cmp(&against_bound(j))).unwrap_or(0);
        let integral = S::INTEGRAL_NAMES.get(index).copied().unwrap_or_default();
        Symptom::Growth { integral, change: failed.change.get(index).copied().unwrap_or_default() }
    }
}

impl<const N: usize, const M: usize> Sample<N, M> {
    pub(crate) fn is_good(&self, bounds: &SVector<f64, M>) -> bool {
        let is_bounded = |(change, bound): (&f64, &f64)| change.abs() <= *bound;
        self.state.iter().all(|entry| entry.is_finite()) && self.change.iter().zip(bounds).all(is_bounded)
    }
}

/// The first entry that is not finite, by name.
fn not_finite<const D: usize>(entries: &SVector<f64, D>, names: &[&'static str; D]) -> Option<(&'static str, f64)> {
    let mut named = names.iter().zip(entries);
    named.find(|(_, value)| !value.is_finite()).map(|(&name, &value)| (name, value))
}
