//! The record of a run: taken after each step, and evaluated at the end.

use super::run::{IntegralJump, LargestProjection, RunFindings};
use super::samples::{FlatSamples, SampleRow};
use super::schedule::DEFAULT_INTERVALS;
use super::snapshot::{Jump, Largest, Origin, Snapshot};
use super::stepper::{Memory, Stepper};
use crate::error::dependence::Dependence;
use crate::error::extremes::Extremes;
use crate::error::failure::StepFailure;
use crate::error::{Cause, Error, Failure};
use crate::hold::consistent_start::{StartMove, scales, undetermined_reactions};
use crate::hold::projection::Landed;
use crate::hold::projection::{LeftOutReason, Move, Omission, furthest, is_within};
use crate::hold::rounding::UNBOUNDED;
use crate::numbers::linear::{Four, are_finite, fours};
use crate::simulation::drift::Drift;
use crate::system::Integral;
use crate::system::dynamical_system::DynamicalSystem;

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

/// A state at one time of a run, flat, with F - F_target there, padded with zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct FlatSample {
    pub(super) time: f64,
    pub(super) state: Vec<f64>,
    pub(super) change: Vec<Four>,
}

/// The record of a run so far. Data used after each step hold the integrals in fours, padded with zeros.
pub(super) struct Record<'a> {
    system: &'a dyn DynamicalSystem,
    extremes: Extremes,
    /// The number of integrals.
    integrals: usize,
    targets: Vec<Four>,
    bounds: Vec<Four>,
    /// The reciprocals of the sizes of the integrals at the start.
    inverse_sizes: Vec<Four>,
    drift: Drift,
    pub(super) trajectory: FlatSamples,
    /// The last good state.
    pub(super) last: FlatSample,
    /// The state after it, while it is examined.
    next: FlatSample,
    /// F - F_target at the end of the last step before it was projected.
    unprojected: Vec<Four>,
    /// The largest change of an integral in one step so far.
    jump: Jump,
    /// Where constraints were nearest to dependence, of the places where integrals jumped.
    dependence: Option<(Vec<f64>, Dependence)>,
    largest_projection: Option<Largest>,
    /// `true` if the mass matrix at the start is not nearly singular, as it may be where constraints determine what has no mass.
    has_regular_masses: bool,
    /// The distance from its target at which each integral is held, because projections were left out.
    level: Vec<Four>,
    /// `true` if the projection has left F - F_target of the next state.
    knows_change: bool,
    /// `true` if a reset has changed the targets, so that the targets of earlier samples are unknown.
    has_new_targets: bool,
}

impl FlatSample {
    /// Takes F - F_target from its state.
    fn change_from(&mut self, targets: &[Four], integrals: usize, system: &dyn DynamicalSystem) {
        system.integrals_at(&self.state, &mut self.change.as_flattened_mut()[..integrals]);
        for (change, target) in self.change.iter_mut().zip(targets) {
            for i in 0..4 {
                change[i] -= target[i];
            }
        }
    }
}

/// The size of the terms and the target of each integral in a state, and 1 more, since both may be 0.
fn sizes(system: &dyn DynamicalSystem, state: &[f64], targets: &[f64]) -> Vec<f64> {
    let mut sizes = vec![0.0; targets.len()];
    system.with_scratch(&mut |scratch| scales(system, state, &mut sizes, scratch));
    sizes.iter().zip(targets).map(|(scale, target)| 1.0 + scale + target.abs()).collect()
}

/// The distance from its target that an integral of this size at the start may have, unless its terms grow.
pub(crate) fn bound(integral: &Integral, size: f64) -> f64 {
    size * if integral.kind.is_constraint() { OFF_CONSTRAINT } else { BLOW_UP }
}

impl<'a> Record<'a> {
    pub(super) fn new(
        system: &'a dyn DynamicalSystem,
        extremes: Extremes,
        time: f64,
        start: &[f64],
        targets: &[f64],
    ) -> Result<Self, Error> {
        let zero = fours(targets.len());
        let mut record = Self {
            system,
            extremes,
            integrals: targets.len(),
            targets: zero.clone(),
            bounds: zero.clone(),
            inverse_sizes: zero.clone(),
            drift: Drift::new(system.facts().integrals, system.facts().undeclared, targets.to_vec()),
            trajectory: FlatSamples::none(start.len(), targets.len()),
            last: FlatSample::default(),
            next: FlatSample { time, state: start.to_vec(), change: zero.clone() },
            unprojected: zero.clone(),
            jump: Jump::default(),
            dependence: None,
            largest_projection: None,
            has_regular_masses: Dependence::of_velocities(system, time, start, SUSPICIOUS).is_none(),
            level: zero,
            knows_change: false,
            has_new_targets: false,
        };
        record.targets.as_flattened_mut()[..targets.len()].copy_from_slice(targets);
        record.set_bounds(start);
        record.last = record.at(time, start);
        record.drift.record(time, &record.last.change);
        record.drift.set_undetermined_reactions(undetermined_reactions(system, start));
        record.sample()?;
        Ok(record)
    }

    /// Sets the bounds by the sizes of the integrals in a state.
    fn set_bounds(&mut self, state: &[f64]) {
        let sizes = sizes(self.system, state, self.targets());
        let (bounds, inverse_sizes) = (self.bounds.as_flattened_mut(), self.inverse_sizes.as_flattened_mut());
        for (i, (integral, size)) in self.system.facts().integrals.iter().zip(sizes).enumerate() {
            (bounds[i], inverse_sizes[i]) = (bound(integral, size), size.recip());
        }
    }

    /// Begins anew at a state, which sets targets and bounds.
    pub(super) fn start_at(&mut self, time: f64, state: &[f64]) {
        let targets = &mut self.targets.as_flattened_mut()[..self.integrals];
        self.system.integrals_at(state, targets);
        let integrals = self.system.facts().integrals.iter().zip(targets.iter_mut());
        integrals.filter(|(integral, _)| integral.kind.is_constraint()).for_each(|(_, target)| *target = 0.0);
        self.drift.set_targets(targets);
        self.set_bounds(state);
        self.level.fill([0.0; 4]);
        self.has_new_targets = true;
        self.last = self.at(time, state);
    }

    pub(super) fn snapshot(&self, origin: Origin, steps: u64, stride: u64, memory: Memory) -> Snapshot {
        let row = |sample: SampleRow<'_>| [&[sample.time], sample.state].concat();
        Snapshot {
            origin,
            time: self.last.time,
            state: self.last.state.clone(),
            steps,
            memory,
            stride,
            drift: self.drift.changes().clone(),
            trajectory: self.trajectory.iter().map(row).collect(),
            jump: self.jump,
            largest_projection: self.largest_projection,
            dependence: self.dependence.as_ref().map(|(state, dependence)| (dependence.time, state.clone())),
            events: None,
            laws: Vec::new(),
            reference: None,
        }
    }

    /// F - F_target of every sample, if that does not follow from the state any more.
    pub(super) fn changes(&self) -> Vec<Vec<f64>> {
        let samples = self.trajectory.iter().filter(|_| self.has_new_targets);
        samples.map(|sample| sample.change.to_vec()).collect()
    }

    /// Resumes from a snapshot, which must be of a run from this start, with the state after the last reset if there was one.
    pub(super) fn restore(&mut self, snapshot: &Snapshot, reset: Option<&[f64]>) -> Result<(), Error> {
        let is_start = |row: &Vec<f64>| row[0] == self.last.time && row[1..] == self.last.state;
        if !snapshot.trajectory.first().is_some_and(is_start) {
            return Err(Error::ForeignSnapshot { reason: "its start is another one" });
        }
        snapshot.trajectory[1..].iter().try_for_each(|row| self.sample_at(row[0], &row[1..]))?;
        if let Some(state) = &snapshot.reference {
            self.start_at(snapshot.time, state);
        } else if let (Some(state), Some(past)) = (reset, &snapshot.events) {
            self.restore_changes(&past.changes)?;
            self.start_at(snapshot.time, state);
        }
        self.last = self.at(snapshot.time, &snapshot.state);
        self.drift.restore(&snapshot.drift);
        self.jump = snapshot.jump;
        self.largest_projection = snapshot.largest_projection;
        if let Some((time, state)) = &snapshot.dependence {
            self.look_for_dependence(*time, state);
        }
        if let Some([targets, _]) = &snapshot.memory.held {
            self.set_level(targets);
        }
        Ok(())
    }

    /// Takes F - F_target of every sample from a snapshot, because its targets are not known any more.
    fn restore_changes(&mut self, changes: &[Vec<f64>]) -> Result<(), Error> {
        if changes.len() != self.trajectory.len() {
            return Err(Error::ForeignSnapshot { reason: "its samples are not those of its events" });
        }
        self.trajectory.changes_mut().zip(changes).for_each(|(own, change)| own.copy_from_slice(change));
        Ok(())
    }

    pub(super) fn targets(&self) -> &[f64] {
        &self.targets.as_flattened()[..self.integrals]
    }

    fn at(&self, time: f64, state: &[f64]) -> FlatSample {
        let mut sample = FlatSample { time, state: state.to_vec(), change: fours(self.integrals) };
        sample.change_from(&self.targets, self.integrals, self.system);
        sample
    }

    /// Records the state after a step, which becomes the last good one unless it is not good. Where it `is_projected`, integrals may have
    /// changed by more before that.
    pub(super) fn add(&mut self, time: f64, state: &[f64], is_projected: bool) -> Result<(), Error> {
        self.next.time = time;
        self.next.state.copy_from_slice(state);
        if !(is_projected && self.knows_change) {
            self.next.change_from(&self.targets, self.integrals, self.system);
        }
        if !self.is_good(&self.next) {
            self.check(&self.next.clone())?;
        }
        self.drift.record(time, &self.next.change);
        if self.is_jump(&self.next.change) || (is_projected && self.is_jump(&self.unprojected)) {
            self.look_where_integrals_jump(is_projected);
        }
        core::mem::swap(&mut self.last, &mut self.next);
        Ok(())
    }

    /// Refuses a state that ends the run.
    #[cold]
    fn check(&mut self, sample: &FlatSample) -> Result<(), Error> {
        if !self.is_good(sample) && self.is_lost(sample) { Err(self.blow_up(sample)) } else { Ok(()) }
    }

    /// Returns `true` if a state is finite, and every integral is within its bound.
    #[inline]
    fn is_good(&self, sample: &FlatSample) -> bool {
        let mut beyond = [0; 4];
        for (change, bound) in sample.change.iter().zip(&self.bounds) {
            for i in 0..4 {
                let is_within = change[i].abs() <= bound[i];
                beyond[i] |= u64::from(!is_within);
            }
        }
        beyond == [0; 4] && are_finite(&sample.state)
    }

    /// Returns `true` if a state is not finite, or an integral is out of its bound and not because its terms have grown.
    fn is_lost(&self, sample: &FlatSample) -> bool {
        let is_finite = |entries: &[f64]| entries.iter().all(|entry| entry.is_finite());
        !is_finite(&sample.state) || !is_finite(sample.change.as_flattened()) || self.most_changed(sample).is_some()
    }

    /// The integral that is furthest out of its bound, and not because its terms have grown.
    fn most_changed(&self, sample: &FlatSample) -> Option<usize> {
        let (change, bounds) = (sample.change.as_flattened(), self.bounds.as_flattened());
        let against_bound = |i: &usize| change[*i].abs() / bounds[*i];
        let mut out_of_bound = (0..self.integrals).filter(|i| against_bound(i) > 1.0).peekable();
        // Sizes take two Jacobians, which hardly any step needs.
        out_of_bound.peek()?;
        let [before, after] = [&self.last, sample].map(|sample| sizes(self.system, &sample.state, self.targets()));
        // Their geometric mean: a step across a singularity may lead to where terms are so large that any change is small.
        let noticeable = |i: usize| NOTICEABLE * before[i].sqrt() * after[i].sqrt();
        let changed = out_of_bound.filter(|&i| change[i].abs() > noticeable(i));
        changed.max_by(|i, j| against_bound(i).total_cmp(&against_bound(j)))
    }

    /// Returns `true` if integrals that have changed so since the last good state jump: by more than twice as much as ever before.
    #[inline]
    fn is_jump(&self, change: &[Four]) -> bool {
        let most = 2.0 * self.jump.per_size;
        let mut beyond = [0; 4];
        for ((after, before), inverse) in change.iter().zip(&self.last.change).zip(&self.inverse_sizes) {
            for i in 0..4 {
                beyond[i] |= u64::from(((after[i] - before[i]) * inverse[i]).abs() > most);
            }
        }
        beyond != [0; 4]
    }

    /// Integrals jump where a step to the next state passes a singular point of the field. Only a jump twice as large as any before is
    /// examined, which happens a few dozen times in a run, however long.
    #[cold]
    fn look_where_integrals_jump(&mut self, is_projected: bool) {
        let mut jump = Jump { time: self.next.time, ..Jump::default() };
        // Over the whole step, and before its end was projected.
        for change in [Some(&self.next.change), is_projected.then_some(&self.unprojected)].into_iter().flatten() {
            let pairs = change.as_flattened().iter().zip(self.last.change.as_flattened());
            let changes = pairs.map(|(after, before)| after - before).zip(self.inverse_sizes.as_flattened());
            for (integral, (change, inverse)) in changes.enumerate() {
                let per_size = (change * inverse).abs();
                if per_size > jump.per_size {
                    jump = Jump { integral, change, per_size, ..jump };
                }
            }
        }
        // Where the terms have grown since, a change by their rounding is not one.
        if jump.per_size > SUDDEN && !self.is_noticeable(&jump) {
            jump.change = 0.0;
        }
        self.jump = jump;
        self.look_for_dependence(self.last.time, &self.last.state.clone());
        self.look_for_dependence(self.next.time, &self.next.state.clone());
    }

    /// Returns `true` if an integral changes by a part of its terms before and after a step.
    fn is_noticeable(&self, jump: &Jump) -> bool {
        let states = [&self.last.state, &self.next.state];
        let [before, after] = states.map(|state| sizes(self.system, state, self.targets())[jump.integral]);
        jump.change.abs() > NOTICEABLE * before.sqrt() * after.sqrt()
    }

    fn look_for_dependence(&mut self, time: f64, state: &[f64]) {
        let limit = self.dependence.as_ref().map_or(SUSPICIOUS, |(_, dependence)| dependence.pivot_ratio);
        let (system, mut found) = (self.system, None);
        system.with_scratch(&mut |scratch| found = Dependence::find(system, time, state, limit, scratch));
        if found.is_none() && self.has_regular_masses {
            found = Dependence::of_velocities(system, time, state, limit);
        }
        self.dependence = found.map(|found| (state.to_vec(), found)).or(self.dependence.take());
    }

    /// Names the energies and invariants whose gradients are not finite at the start.
    pub(super) fn name_singular_gradients(&mut self) {
        let entries = self.last.state.len();
        let mut rows = vec![0.0; self.integrals * entries];
        self.system.jacobian_at(&self.last.state, &mut rows);
        for (integral, row) in rows.chunks_exact(entries).enumerate() {
            if row.iter().any(|entry| !entry.is_finite()) {
                self.drift.leave_out(self.last.time, Omission { integral, reason: LeftOutReason::NotFinite }, 0);
            }
        }
    }

    /// Records how far the start was moved from `given` onto the constraints.
    pub(super) fn moved_from(&mut self, given: &[f64]) {
        self.drift.set_start_move(StartMove::between(self.system, given, &self.last.state));
    }

    /// Reports what became of the projection after a step, and keeps the changes of the integrals before it, which end the run where
    /// they would end a plain run and no projection can mend them.
    #[inline]
    pub(super) fn landed(&mut self, landed: &Landed<'_>, stepper: &dyn Stepper) -> Result<(), Error> {
        let Landed { variances, violation, correction, left_out, left, .. } = *landed;
        // The time may be rounded after the projection, and another level is not a target.
        self.knows_change = self.system.facts().clock.is_none() && self.level.iter().all(|level| *level == [0.0; 4]);
        self.next.change.as_flattened_mut().iter_mut().zip(left).for_each(|(change, left)| *change = *left);
        let levels = violation.iter().zip(self.level.as_flattened());
        let changes = self.unprojected.as_flattened_mut().iter_mut().zip(levels);
        changes.for_each(|(change, (violation, level))| *change = violation + level);
        let is_usual = |largest: &Largest| is_within(correction, variances, largest.per_error);
        match left_out {
            None if self.largest_projection.as_ref().is_some_and(is_usual) => Ok(()),
            _ => self.look_at_projection(landed, stepper),
        }
    }

    /// Keeps a projection that may be the largest so far, or counts one that was left out.
    #[cold]
    fn look_at_projection(&mut self, landed: &Landed<'_>, stepper: &dyn Stepper) -> Result<(), Error> {
        let Landed { end, variances, correction, left_out, targets, .. } = *landed;
        let (time, _) = stepper.end();
        match left_out {
            Some(omission) => {
                self.check(&FlatSample { time, state: end.to_vec(), change: self.unprojected.clone() })?;
                self.drift.leave_out(time, omission, 1);
                self.set_level(targets);
                self.knows_change = false;
            }
            None => {
                let furthest = furthest(self.system.facts().state, correction, variances, end);
                self.measure(time, furthest, |entry| stepper.tolerance(entry));
            }
        }
        Ok(())
    }

    /// Returns `true` if the start was moved onto the constraints.
    pub(super) fn has_moved_start(&self) -> bool {
        self.drift.start_move().is_some()
    }

    /// Says where the integrals are held.
    fn set_level(&mut self, targets: &[f64]) {
        let pairs = targets.iter().zip(self.targets.as_flattened());
        let levels = self.level.as_flattened_mut().iter_mut().zip(pairs);
        levels.for_each(|(level, (held, target))| *level = held - target);
    }

    /// Keeps a projection if it is the largest so far.
    fn measure(&mut self, time: f64, furthest: Move, tolerance: impl FnOnce(usize) -> Option<f64>) {
        let Move { entry, distance, per_error } = furthest;
        if self.largest_projection.is_none_or(|largest| per_error > largest.per_error) {
            let per_tolerance = tolerance(entry).map(|tolerance| distance / tolerance);
            self.largest_projection = Some(Largest { time, entry, distance, per_error, per_tolerance });
        }
    }

    #[inline]
    pub(super) fn sample(&mut self) -> Result<(), Error> {
        self.trajectory.push(self.last.time, &self.last.state, &self.last.change.as_flattened()[..self.integrals])
    }

    /// Samples every `stride`-th step, and doubles the stride when there are too many samples, unless it `keeps_all`.
    pub(super) fn sample_step(&mut self, step: u64, stride: &mut u64, keeps_all: bool) -> Result<(), Error> {
        if step.is_multiple_of(*stride) {
            self.sample()?;
        }
        if !keeps_all && self.trajectory.are_more_than(2 * DEFAULT_INTERVALS as usize) {
            self.trajectory.keep_every_other();
            *stride *= 2;
        }
        Ok(())
    }

    /// Samples a state between two steps.
    pub(super) fn sample_at(&mut self, time: f64, state: &[f64]) -> Result<(), Error> {
        let FlatSample { state, change, .. } = self.at(time, state);
        self.trajectory.push(time, &state, &change.as_flattened()[..self.integrals])
    }

    /// The record at the end of the run, which is the last good state and always sampled.
    pub(super) fn end(mut self) -> Result<(FlatSamples, RunFindings), Error> {
        if !self.is_last_sampled() {
            self.sample()?;
        }
        let Jump { time, integral, change, per_size } = self.jump;
        let jump = (per_size > SUDDEN && change != 0.0).then(|| {
            let integral = self.system.facts().integrals[integral].name;
            IntegralJump { time, integral, change }
        });
        // The work is determined by the balance of energy, unless it takes part in projections, and has no error of its own.
        let corrects_error = |largest: &Largest| (largest.distance / largest.per_error).powi(2) < 0.5 * UNBOUNDED;
        let projection = |Largest { time, entry, distance, per_error, per_tolerance }| {
            let entry = self.system.facts().state[entry].name;
            LargestProjection { time, entry, distance, per_error, per_tolerance }
        };
        let findings = RunFindings {
            jump,
            largest_projection: self.largest_projection.filter(corrects_error).map(projection),
            dependence: self.dependence.map(|(_, dependence)| dependence),
            drift: self.drift,
        };
        Ok((self.trajectory, findings))
    }

    /// The error of a run whose last state is one from which no step can be made.
    pub(super) fn halted(&mut self, reason: StepFailure) -> Error {
        let FlatSample { time, state, .. } = self.last.clone();
        self.look_for_dependence(time, &state);
        let failure = Failure::of_step(reason, time, state, self.system.facts().state, self.extremes);
        Failure { dependence: self.dependence.as_ref().map(|(_, found)| *found), trajectory: self.states(), ..failure }
            .into()
    }

    /// The error of a run whose step to this time failed.
    pub(super) fn failed(&mut self, time: f64, cause: Cause) -> Error {
        self.look_for_dependence(self.last.time, &self.last.state.clone());
        let failure = Failure {
            cause,
            time,
            last_time: self.last.time,
            last_state: self.last.state.clone(),
            entries: self.system.facts().state,
            dependence: self.dependence.as_ref().map(|(_, dependence)| *dependence),
            extremes: self.extremes,
            trajectory: self.states(),
        };
        failure.into()
    }

    /// The samples so far and the last good state, for an error that ends the run.
    fn states(&self) -> Vec<(f64, Vec<f64>)> {
        let last = (!self.is_last_sampled()).then(|| (self.last.time, self.last.state.clone()));
        self.trajectory.iter().map(|sample| (sample.time, sample.state.to_vec())).chain(last).collect()
    }

    /// Returns `true` if the last sample is the last good state.
    fn is_last_sampled(&self) -> bool {
        let is_last = |sample: SampleRow<'_>| sample.time == self.last.time && *sample.state == *self.last.state;
        self.trajectory.iter().next_back().is_some_and(is_last)
    }

    fn blow_up(&mut self, failed: &FlatSample) -> Error {
        self.look_for_dependence(failed.time, &failed.state);
        self.failed(failed.time, self.cause(failed))
    }

    /// The fault of a state, by its cause as far as that shows: a rate before the step that was not finite, an entry of the state, an
    /// integral, or the growth of one.
    fn cause(&self, failed: &FlatSample) -> Cause {
        let (state, integrals) = (self.system.facts().state, self.system.facts().integrals);
        let entry = |index: usize| state[index].name;
        let mut rates = self.last.state.clone();
        self.system.vector_field_at(&self.last.state, &mut rates);
        if let Some((name, value)) = not_finite(&rates, entry) {
            return Cause::Rate { name, value };
        }
        if let Some((name, value)) = not_finite(&failed.state, entry) {
            return Cause::Entry { name, value };
        }
        let change = failed.change.as_flattened();
        if let Some((name, value)) = not_finite(change, |index| integrals[index].name) {
            return Cause::Integral { name, value };
        }
        let index = self.most_changed(failed).unwrap_or(0);
        let integral = integrals.get(index).map_or("", |integral| integral.name);
        Cause::Growth { integral, change: change.get(index).copied().unwrap_or_default() }
    }
}

/// The first entry that is not finite, by name.
fn not_finite(entries: &[f64], name: impl Fn(usize) -> &'static str) -> Option<(&'static str, f64)> {
    let index = entries.iter().position(|entry| !entry.is_finite())?;
    Some((name(index), entries[index]))
}
