//! What a run records after each step, and what becomes of it at the end.

use super::run::{IntegralJump, LargestProjection, Occurrence, Run, Sample};
use super::sampling::Agenda;
use super::schedule::DEFAULT_INTERVALS;
use super::snapshot::{Jump, Largest, Origin, Snapshot};
use crate::consistent_start::{StartMove, scales, targets};
use crate::dense_output::DenseOutput;
use crate::dependence::Dependence;
use crate::drift::Drift;
use crate::entries::Entries;
use crate::error::Error;
use crate::extremes::Extremes;
use crate::failure::{Cause, Failure, StepError};
use crate::field::Field;
use crate::integrator::Integrator;
use crate::linear::{self, difference, filled, from_slice, sum};
use crate::projection::{Landing, LeftOutReason, Move, Omission, Projected, furthest};
use crate::system::{FeedbackSystem, Integrals, PreparedSystem, StateEntry, Vector};

/// A change beyond this many times the size of an integral's terms and target at the start is a blow-up. Plain Euler, which may
/// lose all of an integral over a long run, stays far below.
const BLOW_UP: f64 = 1e6;
/// This many times for a constraint: a state this far off, such as several radii from a sphere, is not a state of the system.
const OFF_CONSTRAINT: f64 = 10.0;
/// A change below this fraction of the terms of an integral before and after the step is never a blow-up: terms may grow by far from
/// a start at rest, or from one in the origin.
const NOTICEABLE: f64 = 0.1;
/// Constraints whose pivot ratio is below this where a run fails, or where integrals jump, are mentioned as a likely cause: a
/// step of a fixed size does not resolve what happens there.
const SUSPICIOUS: f64 = 1e-4;
/// A change of an integral in one step by more than this many times its size at the start is out of the ordinary.
const SUDDEN: f64 = 0.1;

/// What a run has seen so far.
pub(super) struct Record<S: FeedbackSystem> {
    system: S::Prepared<f64>,
    targets: Integrals<S>,
    bounds: Integrals<S>,
    /// Parameters whose squares are out of the range of doubles.
    extremes: Extremes,
    /// The reciprocals of the sizes of the integrals at the start.
    inverse_sizes: Integrals<S>,
    drift: Drift<S>,
    pub(super) trajectory: Vec<Sample<S>>,
    /// The steps as polynomials, if they are kept.
    dense_output: Option<Vec<DenseOutput<Vector<S>>>>,
    /// The last good state.
    pub(super) last: Sample<S>,
    /// The largest change of an integral in one step so far.
    jump: Jump,
    /// Where constraints were nearest to dependence, of the places where integrals jumped.
    dependence: Option<(Vector<S>, Dependence)>,
    pub(super) largest_projection: Option<Largest>,
    /// How far from its target each integral is held, because projections were left out.
    level: Integrals<S>,
    /// Whether a reset has changed the targets, so that those of earlier samples are not known any more.
    has_new_targets: bool,
}

/// How large the terms and the target of each integral are in a state, and 1 more, since there may be neither.
fn sizes<S: FeedbackSystem>(system: &S::Prepared<f64>, state: &Vector<S>, targets: &Integrals<S>) -> Integrals<S> {
    let scales = scales::<S>(system, state);
    Entries::from_fn(|i| 1.0 + scales[i] + targets[i].abs())
}

/// How far from its target each integral may be, unless its terms grow.
pub(crate) fn bounds<S: FeedbackSystem>(
    system: &S::Prepared<f64>,
    start: &Vector<S>,
    targets: &Integrals<S>,
) -> Integrals<S> {
    let sizes = sizes::<S>(system, start, targets);
    let factor = |i: usize| if S::INTEGRALS[i].kind.is_constraint() { OFF_CONSTRAINT } else { BLOW_UP };
    Entries::from_fn(|i| factor(i) * sizes[i])
}

impl<S: FeedbackSystem> Record<S> {
    pub(super) fn new(system: &S, time: f64, start: Vector<S>, targets: Integrals<S>) -> Self {
        let extremes = Extremes::of(system);
        let system = system.prepare();
        let bounds = bounds::<S>(&system, &start, &targets);
        let integrals = system.integrals(&start);
        let mut drift = Drift::new(targets);
        drift.record(time, &integrals);
        let last = Sample { time, state: start, change: difference(&integrals, &targets) };
        let sizes = sizes::<S>(&system, &start, &targets);
        let inverse_sizes = Entries::from_fn(|i| sizes[i].recip());
        Self {
            system,
            extremes,
            targets,
            bounds,
            inverse_sizes,
            drift,
            trajectory: vec![last],
            dense_output: None,
            last,
            jump: Jump::default(),
            dependence: None,
            largest_projection: None,
            level: filled(0.0),
            has_new_targets: false,
        }
    }

    /// Keeps every step from now on as a polynomial.
    pub(super) fn keep_steps(&mut self) {
        self.dense_output = Some(Vec::new());
    }

    /// Keeps the step that comes next, if steps are kept.
    pub(super) fn keep(&mut self, step: impl FnOnce(&Sample<S>) -> DenseOutput<Vector<S>>) {
        if let Some(steps) = &mut self.dense_output {
            steps.push(step(&self.last));
        }
    }

    /// Keeps the last step of an integrator, if steps are kept.
    #[inline(never)]
    pub(super) fn keep_dense<F: Field<Vector = Vector<S>>, const STAGES: usize>(
        &mut self,
        integrator: &mut Integrator<'_, F, STAGES>,
    ) {
        self.keep(|_| integrator.dense_output());
    }

    /// The number of steps that were kept.
    pub(super) fn kept(&self) -> u64 {
        self.dense_output.as_ref().map_or(0, Vec::len) as u64
    }

    /// Begins anew at a state, which sets targets and bounds; returns the targets.
    pub(super) fn start_at(&mut self, time: f64, state: Vector<S>) -> Integrals<S> {
        self.targets = targets::<S, f64>(&self.system, &state);
        self.bounds = bounds::<S>(&self.system, &state, &self.targets);
        self.level = filled(0.0);
        let sizes = sizes::<S>(&self.system, &state, &self.targets);
        self.inverse_sizes = Entries::from_fn(|i| sizes[i].recip());
        self.drift.set_targets(self.targets);
        self.has_new_targets = true;
        self.last = self.at(time, state);
        self.targets
    }

    pub(super) fn snapshot(&self, origin: Origin, steps: u64) -> Snapshot {
        let row = |sample: &Sample<S>| [&[sample.time], sample.state.as_ref()].concat();
        Snapshot {
            origin,
            time: self.last.time,
            state: self.last.state.as_ref().to_vec(),
            steps,
            derivative: None,
            mean: None,
            held: None,
            momenta: None,
            control: None,
            drift: self.drift.to_record(),
            trajectory: self.trajectory.iter().map(row).collect(),
            jump: self.jump,
            largest_projection: self.largest_projection,
            dependence: self.dependence.map(|(state, dependence)| (dependence.time, state.as_ref().to_vec())),
            events: None,
        }
    }

    /// F - F_target of every sample, if that does not follow from the state any more.
    pub(super) fn changes(&self) -> Vec<Vec<f64>> {
        let samples = self.trajectory.iter().filter(|_| self.has_new_targets);
        samples.map(|sample| sample.change.as_ref().to_vec()).collect()
    }

    /// Resumes from a snapshot, which must be of a run from this start, with the state after the last reset if there was one.
    pub(super) fn restore(&mut self, snapshot: &Snapshot, reset: Option<Vector<S>>) -> Result<(), Error> {
        let start = self.last;
        let trajectory = snapshot.trajectory.iter().map(|row| self.at(row[0], from_slice(&row[1..])));
        let trajectory: Vec<_> = trajectory.collect();
        let is_start = |sample: &Sample<S>| sample.time == start.time && sample.state == start.state;
        if !trajectory.first().is_some_and(is_start) {
            return Err(Error::ForeignSnapshot { reason: "its start is another one" });
        }
        self.trajectory = trajectory;
        if let (Some(state), Some(past)) = (reset, &snapshot.events) {
            self.restore_changes(&past.changes)?;
            self.start_at(snapshot.time, state);
        }
        self.last = self.at(snapshot.time, from_slice(&snapshot.state));
        self.drift.restore(&snapshot.drift);
        self.jump = snapshot.jump;
        self.largest_projection = snapshot.largest_projection;
        if let Some((time, state)) = &snapshot.dependence {
            self.look_for_dependence(*time, &from_slice(state));
        }
        Ok(())
    }

    /// Takes F - F_target of every sample from a snapshot, because its targets are not known any more.
    fn restore_changes(&mut self, changes: &[Vec<f64>]) -> Result<(), Error> {
        if changes.len() != self.trajectory.len() {
            return Err(Error::ForeignSnapshot { reason: "its samples are not those of its events" });
        }
        for (sample, change) in self.trajectory.iter_mut().zip(changes) {
            sample.change = from_slice(change);
        }
        Ok(())
    }

    pub(super) fn targets(&self) -> &Integrals<S> {
        &self.targets
    }

    fn at(&self, time: f64, state: Vector<S>) -> Sample<S> {
        Sample { time, state, change: difference(&self.system.integrals(&state), &self.targets) }
    }

    /// Records the state after a step, which becomes the last good one unless it is not good. `unprojected` is the change of the
    /// integrals before the state was projected, if it was.
    pub(super) fn add(&mut self, time: f64, state: Vector<S>, unprojected: Option<Integrals<S>>) -> Result<(), Error> {
        let integrals = self.system.integrals(&state);
        let sample = Sample { time, state, change: difference(&integrals, &self.targets) };
        self.check(&sample)?;
        self.drift.record(time, &integrals);
        self.look_where_integrals_jump(&sample, &unprojected.unwrap_or(sample.change));
        self.last = sample;
        Ok(())
    }

    /// Refuses a state that ends the run.
    fn check(&mut self, sample: &Sample<S>) -> Result<(), Error> {
        if !sample.is_good(&self.bounds) && self.is_lost(sample) { Err(self.blow_up(sample)) } else { Ok(()) }
    }

    /// Whether a state is not finite, or an integral is out of its bound and not because its terms have grown.
    fn is_lost(&self, sample: &Sample<S>) -> bool {
        let is_finite = |entries: &[f64]| entries.iter().all(|entry| entry.is_finite());
        !is_finite(sample.state.as_ref()) || !is_finite(sample.change.as_ref()) || self.most_changed(sample).is_some()
    }

    /// The integral that is furthest out of its bound, and not because its terms have grown.
    fn most_changed(&self, sample: &Sample<S>) -> Option<usize> {
        let against_bound = |i: &usize| sample.change[*i].abs() / self.bounds[*i];
        let mut out_of_bound = (0..S::INTEGRALS.len()).filter(|i| against_bound(i) > 1.0).peekable();
        // Sizes take two Jacobians, which hardly any step needs.
        out_of_bound.peek()?;
        let [before, after] = [&self.last, sample].map(|sample| sizes::<S>(&self.system, &sample.state, &self.targets));
        // Their geometric mean: a step across a singularity may lead to where terms are so large that any change is small.
        let noticeable = |i: usize| NOTICEABLE * before[i].sqrt() * after[i].sqrt();
        let changed = out_of_bound.filter(|&i| sample.change[i].abs() > noticeable(i));
        changed.max_by(|i, j| against_bound(i).total_cmp(&against_bound(j)))
    }

    /// Integrals jump where a step passes a singular point of the field. Only a jump twice as large as any before is looked at,
    /// which happens a few dozen times in a run, however long.
    fn look_where_integrals_jump(&mut self, next: &Sample<S>, change: &Integrals<S>) {
        let per_size = |i: usize| ((change[i] - self.last.change[i]) * self.inverse_sizes[i]).abs();
        let largest = (0..S::INTEGRALS.len()).map(per_size).fold(0.0, f64::max);
        if largest > 2.0 * self.jump.per_size {
            let integral = (0..S::INTEGRALS.len()).find(|&i| per_size(i) == largest).unwrap_or_default();
            let change = change[integral] - self.last.change[integral];
            self.jump = Jump { time: next.time, integral, change, per_size: largest };
            self.look_for_dependence(self.last.time, &self.last.state.clone());
            self.look_for_dependence(next.time, &next.state);
        }
    }

    fn look_for_dependence(&mut self, time: f64, state: &Vector<S>) {
        let limit = self.dependence.map_or(SUSPICIOUS, |(_, dependence)| dependence.pivot_ratio);
        if let Some(dependence) = Dependence::find::<S>(&self.system, time, state, limit) {
            self.dependence = Some((*state, dependence));
        }
    }

    /// Names the energies and invariants whose gradients are not finite at the start.
    pub(super) fn name_singular_gradients(&mut self) {
        let jacobian = self.system.integrals_jacobian(&self.last.state);
        for integral in (0..S::INTEGRALS.len()).filter(|&i| linear::not_finite(&jacobian[i]).is_some()) {
            self.drift.leave_out(self.last.time, Omission { integral, reason: LeftOutReason::NotFinite }, 0);
        }
    }

    /// Says that the start was moved onto the constraints from `given`.
    pub(super) fn moved_from(&mut self, given: &Vector<S>) {
        self.drift.set_start_move(StartMove::between::<S>(given, &self.last.state));
    }

    /// Reports what became of the projection after a step of a run whose integrals are held at `targets` from then on. Returns the
    /// changes of the integrals before it, which end the run where they would end a plain run and no projection can mend them.
    pub(super) fn landed(
        &mut self,
        time: f64,
        landing: &Landing<S>,
        targets: &Integrals<S>,
        tolerance: impl FnOnce(usize) -> Option<f64>,
    ) -> Result<Integrals<S>, Error> {
        let Projected { violation, correction, left_out } = &landing.projected;
        let unprojected = sum(violation, 1.0, &self.level);
        match left_out {
            Some(omission) => {
                self.check(&Sample { time, state: landing.end, change: unprojected })?;
                self.drift.leave_out(time, *omission, 1);
                self.level = difference(targets, &self.targets);
            }
            None => {
                let furthest = furthest::<S>(correction, &landing.variances, &landing.end);
                self.measure(time, furthest, tolerance(furthest.entry));
            }
        }
        Ok(unprojected)
    }

    pub(super) fn start_move(&self) -> Option<&StartMove> {
        self.drift.start_move()
    }

    /// Says where the integrals are held of a run that is resumed.
    pub(super) fn set_level(&mut self, targets: &Integrals<S>) {
        self.level = difference(targets, &self.targets);
    }

    /// Keeps a projection if it is the largest so far.
    fn measure(&mut self, time: f64, furthest: Move, tolerance: Option<f64>) {
        let Move { entry, distance, per_error } = furthest;
        if self.largest_projection.is_none_or(|largest| per_error > largest.per_error) {
            let per_tolerance = tolerance.map(|tolerance| distance / tolerance);
            self.largest_projection = Some(Largest { time, entry, distance, per_error, per_tolerance });
        }
    }

    pub(super) fn sample(&mut self) {
        self.trajectory.push(self.last);
    }

    /// Samples every `stride`-th step, and doubles the stride when there are too many samples.
    pub(super) fn sample_step(&mut self, step: u64, stride: &mut u64) {
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

    /// Samples a state between two steps.
    pub(super) fn sample_at(&mut self, time: f64, state: Vector<S>) {
        self.trajectory.push(self.at(time, state));
    }

    /// Samples at the times that lie in the last step, as far as it was recorded.
    pub(super) fn sample_times<F: Field<Vector = Vector<S>>, const STAGES: usize>(
        &mut self,
        integrator: &mut Integrator<'_, F, STAGES>,
        agenda: &mut Agenda,
    ) {
        let mut dense_output = None;
        while let Some(time) = agenda.next_until(self.last.time) {
            let state = dense_output.get_or_insert_with(|| integrator.dense_output()).at(time);
            self.sample_at(time, state);
        }
    }

    /// The run up to the last good state, which is always sampled.
    pub(super) fn end(
        mut self,
        steps: u64,
        evaluations: u64,
        events: Vec<Occurrence<S>>,
        end: Option<usize>,
    ) -> Run<S> {
        if self.trajectory.last().is_none_or(|sample| sample.time != self.last.time) {
            self.sample();
        }
        let dependence = self.dependence.map(|(_, dependence)| dependence);
        let Self { last, drift, trajectory, jump, largest_projection, .. } = self;
        let dense_output = self.dense_output.unwrap_or_default();
        let largest_projection =
            largest_projection.map(|Largest { time, entry, distance, per_error, per_tolerance }| {
                let entry = name(S::STATE, entry);
                LargestProjection { time, entry, distance, per_error, per_tolerance }
            });
        let (time, state) = (last.time, last.state);
        let jump = Some(jump).filter(|jump| jump.per_size > SUDDEN).map(|Jump { time, integral, change, .. }| {
            IntegralJump { time, integral: S::INTEGRALS[integral].name, change }
        });
        Run {
            time,
            state,
            drift,
            trajectory,
            steps,
            evaluations,
            dependence,
            jump,
            largest_projection,
            events,
            dense_output,
            end,
        }
    }

    pub(super) fn halted(&mut self, error: StepError<Vector<S>>) -> Error {
        self.look_for_dependence(error.time, &error.state);
        let dependence = self.dependence.map(|(_, dependence)| dependence);
        Failure::of_step::<S>(error, dependence, self.extremes, self.states()).into()
    }

    /// The error of a run whose step to this time failed.
    pub(super) fn failed(&mut self, time: f64, cause: Cause) -> Error {
        self.look_for_dependence(self.last.time, &self.last.state.clone());
        let failure = Failure {
            cause,
            time,
            last_time: self.last.time,
            last_state: self.last.state.as_ref().to_vec(),
            entries: S::STATE,
            dependence: self.dependence.map(|(_, dependence)| dependence),
            extremes: self.extremes,
            trajectory: self.states(),
        };
        failure.into()
    }

    /// The samples so far and the last good state, for an error that ends the run.
    fn states(&self) -> Vec<(f64, Vec<f64>)> {
        let last = self.trajectory.last().is_none_or(|sample| sample.time != self.last.time).then_some(&self.last);
        let samples = self.trajectory.iter().chain(last);
        samples.map(|sample| (sample.time, sample.state.as_ref().to_vec())).collect()
    }

    fn blow_up(&mut self, failed: &Sample<S>) -> Error {
        self.look_for_dependence(failed.time, &failed.state);
        self.failed(failed.time, self.cause(failed))
    }

    /// What is wrong with a state, by its cause as far as it can be told: a rate before the step that was not finite, an
    /// entry of the state, an integral, or the growth of one.
    fn cause(&self, failed: &Sample<S>) -> Cause {
        let rates = self.system.vector_field(&self.last.state);
        if let Some((name, value)) = not_finite(&rates, |i| S::STATE[i].name) {
            return Cause::Rate { name, value };
        }
        if let Some((name, value)) = not_finite(&failed.state, |i| S::STATE[i].name) {
            return Cause::Entry { name, value };
        }
        if let Some((name, value)) = not_finite(&failed.change, |i| S::INTEGRALS[i].name) {
            return Cause::Integral { name, value };
        }
        let index = self.most_changed(failed).unwrap_or(0);
        let integral = S::INTEGRALS.get(index).map_or("", |integral| integral.name);
        Cause::Growth { integral, change: failed.change.as_ref().get(index).copied().unwrap_or_default() }
    }
}

impl<S: FeedbackSystem> Sample<S> {
    pub(crate) fn is_good(&self, bounds: &Integrals<S>) -> bool {
        let is_bounded = |(change, bound): (&f64, &f64)| change.abs() <= *bound;
        let changes = self.change.as_ref().iter().zip(bounds.as_ref());
        self.state.as_ref().iter().all(|entry| entry.is_finite()) && changes.into_iter().all(is_bounded)
    }
}

/// The name of an entry of the state.
fn name(state: &'static [StateEntry], index: usize) -> &'static str {
    state.get(index).map_or("", |entry| entry.name)
}

/// The first entry that is not finite, by name.
fn not_finite<V: Entries<f64>>(entries: &V, name: impl Fn(usize) -> &'static str) -> Option<(&'static str, f64)> {
    linear::not_finite(entries).map(|index| (name(index), entries[index]))
}
