//! The projection after each step of a system on slices of any length: the work of [`Projector`](super::Projector), in lists.

use core::cell::RefCell;
use core::num::NonZeroU32;

use super::landing::{
    LEAST_PART, LeftOutReason, MOST, MOST_DAMPED, Move, Omission, ROUNDING, USUAL, comes_closer, find_jumps, furthest,
    worst,
};
use super::{LAST, Land, Landed, LandingMemory, Projection, SPIKE, mean_with, with_spikes};
use crate::hold::consistent_start::{flat_targets, onto_flat_constraints};
use crate::hold::rounding::{UNBOUNDED, squares_of_field, squares_of_rounding};
use crate::numbers::blocks::{Block, Blocks, LENGTH};
use crate::numbers::larger::Larger;
use crate::numbers::linear::{difference, not_finite};
use crate::numbers::scalar::Scalar;
use crate::stages::dense_output::DenseOutput;
use crate::system::SystemFacts;
use crate::system::dynamical_system::FlatSystem;

/// The steps of a run of a system on slices that projects the state after each.
pub(crate) struct FlatProjector<'s> {
    system: &'s dyn FlatSystem,
    projection: Projection,
    /// The variances of entries that do not depend on errors.
    fixed: Vec<Option<f64>>,
    targets: Blocks,
    /// R but for what the field adds to it, and that for a step of size 1.
    noise: Blocks,
    noise_by_field: Blocks,
    /// The part of the rounding of the field in the square of an error, in a step of size 1.
    entries_by_field: Blocks,
    /// The running mean of e^2, 0 before the first step.
    mean: Blocks,
    /// f where the last step ended, before its end was projected.
    pub(crate) derivative: Option<Blocks>,
    /// The end of the last step.
    landing: FlatLanding,
    /// Memory for R in a step, and for squares of errors.
    noise_in_step: Blocks,
    squares: Blocks,
}

/// The end of a step and its projection: see [`Landing`](super::Landing).
#[derive(Clone, Debug)]
struct FlatLanding {
    end: Blocks,
    variances: Blocks,
    found: Found,
    /// F - F_target after the projection.
    left: Blocks,
}

/// The findings of a projection: see [`Projected`](super::Projected).
#[derive(Clone, Debug)]
struct Found {
    violation: Blocks,
    correction: Blocks,
    left_out: Option<Omission>,
}

impl Found {
    fn nothing(system: &dyn FlatSystem) -> Self {
        let facts = system.facts();
        let (violation, correction) = (Blocks::zeros(facts.integrals.len()), Blocks::zeros(facts.state.len()));
        Self { violation, correction, left_out: None }
    }
}

/// The end of a step, and the level at which the integrals are held from there.
#[derive(Clone)]
struct Settled {
    state: Blocks,
    targets: Blocks,
    noise: Blocks,
    found: Found,
    variances: Blocks,
    left: Blocks,
}

impl Settled {
    fn is_closer(&self, noise: &Blocks) -> bool {
        is_closer(&self.found.violation, &self.left, noise)
    }
}

/// Whether a projection has left a tenth of each violation at most, or rounding.
fn is_closer(found: &Blocks, left: &Blocks, noise: &Blocks) -> bool {
    (0..found.len()).all(|i| comes_closer(found[i], left[i], noise[i]))
}

/// Whether every violation is rounding.
fn is_rounding(found: &Blocks, noise: &Blocks) -> bool {
    (0..found.len()).all(|i| found[i] * found[i] <= ROUNDING * noise[i])
}

impl<'s> FlatProjector<'s> {
    /// Steps of a run that starts at `start`, with projections onto F = `targets`.
    pub(crate) fn new(system: &'s dyn FlatSystem, start: &[f64], targets: &[f64], projection: Projection) -> Self {
        let (facts, zeros) = (system.facts(), Blocks::zeros(start.len()));
        let (mut noise, mut noise_by_field, mut entries_by_field) =
            (Blocks::of(targets), Blocks::zeros(targets.len()), zeros.clone());
        squares_of_field(system, start, entries_by_field.own_mut(), noise_by_field.own_mut());
        squares_of_rounding(system, start, noise.own_mut());
        let found = Found::nothing(system);
        let landing =
            FlatLanding { end: zeros.clone(), variances: zeros.clone(), left: found.violation.clone(), found };
        Self {
            fixed: facts.state.iter().map(|entry| projection.fixed_variance(entry.role)).collect(),
            targets: Blocks::of(targets),
            mean: zeros.clone(),
            derivative: None,
            noise_in_step: noise.clone(),
            squares: zeros,
            system,
            projection,
            noise,
            noise_by_field,
            entries_by_field,
            landing,
        }
    }

    /// Moves the end of a step of size `h` to `time`, by errors like the ones of earlier steps; `derivative` puts f there into a list.
    pub(crate) fn land_fixed(
        &mut self,
        begin: &Blocks,
        x: &mut Blocks,
        h: f64,
        derivative: &mut dyn FnMut(&[f64], &mut [f64]),
        errors: &dyn Fn(&Blocks, usize, bool) -> Block,
    ) {
        self.landing.end.copy(x);
        let mean = self.mean.clone();
        self.landing.variances.copy(&mean);
        self.find_noise(h);
        let is_held = self.move_landing(x);
        let end = self.landing.end.clone();
        let mut rates = self.derivative.take().unwrap_or_else(|| Blocks::zeros(end.len()));
        derivative(end.all(), rates.all_mut());
        self.find_squares(&|block| errors(&rates, block, false), &end, h);
        for ((mean, before), squares) in self.mean.blocks_mut().iter_mut().zip(mean.blocks()).zip(self.squares.blocks())
        {
            *mean = core::array::from_fn(|i| Scalar::mul_add(LAST, squares[i] - before[i], before[i]));
        }
        let is_usual = (0..end.len()).all(|i| self.squares[i] <= SPIKE * mean[i]);
        if is_usual && is_held && self.is_within(USUAL) {
            self.derivative = Some(rates);
            return;
        }
        let squares = self.squares.clone();
        let variances = spikes(&mean, &squares);
        self.find_squares(&|block| errors(&rates, block, true), &end, h);
        let switching = |i: usize| Larger::larger(Larger::larger(self.squares[i], squares[i]), mean[i]);
        let switching = Blocks::from_fn(end.len(), switching);
        if not_finite(rates.own()).is_none() {
            self.mean = running_mean(&mean, &squares);
            self.derivative = Some(rates);
        } else {
            // Of the next step, which begins with f where it begins, and so has the blame.
            self.mean = mean;
        }
        self.settle(begin, &variances, &switching, h, x);
    }

    /// Projects the state `x` that a step of size `h` from `begin` ended at with this error.
    pub(crate) fn land(&mut self, begin: &Blocks, error: &dyn Fn(usize) -> Block, h: f64, x: &mut Blocks) {
        self.landing.end.copy(x);
        self.find_squares(error, &x.clone(), h);
        let mean = running_mean(&self.mean, &self.squares);
        self.landing.variances = spikes(&self.mean, &self.squares);
        self.mean = mean;
        self.find_noise(h);
        let is_held = self.move_landing(x);
        if !(is_held && self.is_within(MOST)) {
            let variances = self.landing.variances.clone();
            self.settle(begin, &variances, &variances, h, x);
        }
    }

    /// Puts R after a step of size `h` into its place.
    fn find_noise(&mut self, h: f64) {
        self.noise_in_step = self.noise_of(h);
    }

    fn noise_of(&self, h: f64) -> Blocks {
        Blocks::from_fn(self.noise.len(), |i| Scalar::mul_add(h * h, self.noise_by_field[i], self.noise[i]))
    }

    /// Puts the squares of the error of a step of size `h` to `end` and of rounding into their place.
    fn find_squares(&mut self, error: &dyn Fn(usize) -> Block, end: &Blocks, h: f64) {
        let Self { squares, entries_by_field, fixed, .. } = self;
        let blocks = squares.blocks_mut().iter_mut().zip(end.blocks()).zip(entries_by_field.blocks());
        for (block, ((squares, end), by_field)) in blocks.enumerate() {
            let error = error(block);
            for i in 0..squares.len() {
                let rounding = f64::EPSILON * end[i];
                let by_field = (h * h) * by_field[i];
                squares[i] = Scalar::mul_add(error[i], error[i], Scalar::mul_add(rounding, rounding, by_field));
            }
        }
        for (square, fixed) in squares.own_mut().iter_mut().zip(fixed) {
            fixed.iter().for_each(|variance| *square = *variance);
        }
        let length = squares.len();
        squares.all_mut()[length..].fill(0.0);
    }

    /// Projects `x` by the variances of the landing, and records what that did; says whether the integrals come closer.
    fn move_landing(&mut self, x: &mut Blocks) -> bool {
        let mut found = self.landing.found.clone();
        found.left_out = None;
        self.move_back(&self.landing.variances, &self.noise_in_step, x, &mut found);
        let (left, is_held) = self.look(&self.noise_in_step, &self.landing.end, x, &mut found);
        (self.landing.found, self.landing.left) = (found, left);
        is_held
    }

    /// Moves `x` back by the iterations that were chosen, with this S and R.
    fn move_back(&self, variances: &Blocks, noise: &Blocks, x: &mut Blocks, found: &mut Found) {
        self.iterate(variances, noise, x, found);
        if self.projection.iterations == NonZeroU32::MIN {
            return;
        }
        let (mut further, mut sum) = (found.clone(), Blocks::zeros(x.len()));
        for _ in 1..self.projection.iterations.get() {
            self.iterate(variances, noise, x, &mut further);
            let more = sum.own_mut().iter_mut().zip(further.correction.own());
            more.for_each(|(sum, more)| *sum += more);
        }
        let all = found.correction.own_mut().iter_mut().zip(sum.own());
        all.for_each(|(correction, further)| *correction += further);
    }

    fn iterate(&self, variances: &Blocks, noise: &Blocks, x: &mut Blocks, found: &mut Found) {
        self.correct(variances, noise, x, found);
        for (x, correction) in x.blocks_mut().iter_mut().zip(found.correction.blocks()) {
            *x = difference(x, correction);
        }
    }

    /// One iteration from `x`: what it finds, and what is to be subtracted.
    fn correct(&self, variances: &Blocks, noise: &Blocks, x: &Blocks, found: &mut Found) {
        let violation = RefCell::new(&mut found.violation);
        let weigh = |integrals: &mut [f64]| {
            for (integral, target) in integrals.iter_mut().zip(self.targets.own()) {
                *integral -= target;
            }
            let mut violation = violation.borrow_mut();
            let count = violation.len().min(integrals.len());
            violation.own_mut()[..count].copy_from_slice(&integrals[..count]);
        };
        self.system.projection_at(x.all(), [variances.all(), noise.all()], &weigh, found.correction.all_mut());
    }

    /// The violations that a projection has left, and whether that is a tenth, or rounding. Where all that there was is rounding, the end
    /// stays where it is.
    fn look(&self, noise: &Blocks, end: &Blocks, x: &mut Blocks, found: &mut Found) -> (Blocks, bool) {
        if is_rounding(&found.violation, noise) {
            x.copy(end);
            found.correction.own_mut().fill(0.0);
            return (found.violation.clone(), true);
        }
        let left = self.violation(&self.targets, x);
        let is_held = is_closer(&found.violation, &left, noise);
        (left, is_held)
    }

    /// F - F_target.
    fn violation(&self, targets: &Blocks, x: &Blocks) -> Blocks {
        let mut violation = Blocks::zeros(targets.len());
        self.system.integrals_at(x.own(), violation.own_mut());
        violation.own_mut().iter_mut().zip(targets.own()).for_each(|(value, target)| *value -= target);
        violation
    }

    /// Whether the square of what the landing moved an entry by is at most `most` times its variance, for every entry.
    fn is_within(&self, most: f64) -> bool {
        let FlatLanding { found, variances, .. } = &self.landing;
        let moved = found.correction.own().iter().zip(variances.own());
        moved.fold(true, |all, (correction, variance)| all & (correction * correction <= most * variance))
    }

    /// Puts `x` where a step ends about whose projection there is a doubt, and holds the integrals where they can be held from there.
    #[cold]
    fn settle(&mut self, begin: &Blocks, variances: &Blocks, switching: &Blocks, h: f64, x: &mut Blocks) {
        let end = self.landing.end.clone();
        let Settled { state, targets, noise, found, variances, left } =
            self.settled(begin, &end, variances, switching, h);
        (*x, self.targets, self.noise) = (state, targets, noise);
        self.landing = FlatLanding { end, variances, found, left };
    }

    /// See the method of this name of [`Projector`](super::Projector).
    fn settled(&mut self, begin: &Blocks, end: &Blocks, variances: &Blocks, switching: &Blocks, h: f64) -> Settled {
        let noise = self.noise_of(h);
        let as_held = self.held(variances, &noise, end);
        if self.furthest(&as_held).is_usual() && as_held.is_closer(&noise) {
            return as_held;
        }
        // Terms, and with them their rounding, may have grown since the start.
        let own = self.rounding_at(end, &self.targets);
        let before = self.noise.clone();
        self.noise =
            Blocks::from_fn(
                own.len(),
                |i| {
                    if own[i] < UNBOUNDED { Larger::larger(own[i], before[i]) } else { before[i] }
                },
            );
        let noise = self.noise_of(h);
        let as_held = self.held(switching, &noise, end);
        let is_in_proportion = self.furthest(&as_held).is_in_proportion();
        if is_in_proportion && as_held.is_closer(&noise) {
            return as_held;
        }
        if not_finite(end.own()).is_some() {
            return Settled { state: end.clone(), found: Found::nothing(self.system), ..as_held };
        }
        let damped = is_in_proportion.then(|| self.damped(&as_held, &noise, end)).flatten();
        let without_some = || {
            let mut jumped = vec![false; self.targets.len()];
            find_jumps(self.system, begin.own(), end.own(), &mut jumped);
            let jumped = self.without(&jumped, LeftOutReason::Jump, &as_held, &noise, end);
            let is_far = || {
                let far = self.not_closer(&as_held, &noise);
                self.without(&far, LeftOutReason::NotCloser, &as_held, &noise, end)
            };
            jumped.or_else(|| is_in_proportion.then(is_far).flatten())
        };
        damped.or_else(without_some).unwrap_or_else(|| self.on_constraints(&as_held, is_in_proportion, &noise, end))
    }

    fn rounding_at(&self, x: &Blocks, targets: &Blocks) -> Blocks {
        let mut noise = targets.clone();
        squares_of_rounding(self.system, x.own(), noise.own_mut());
        noise
    }

    /// The end of a step, projected with this S and R whatever comes of it.
    fn held(&self, variances: &Blocks, noise: &Blocks, end: &Blocks) -> Settled {
        let (mut state, mut found) = (end.clone(), Found::nothing(self.system));
        self.move_back(variances, noise, &mut state, &mut found);
        let (left, _) = self.look(noise, end, &mut state, &mut found);
        let (targets, noise, variances) = (self.targets.clone(), self.noise.clone(), variances.clone());
        Settled { state, targets, noise, found, variances, left }
    }

    /// The end of a step after damped Gauss-Newton steps, if they bring every integral closer in proportion.
    fn damped(&self, as_held: &Settled, noise: &Blocks, end: &Blocks) -> Option<Settled> {
        let distance = |left: &Blocks| -> f64 { (0..left.len()).map(|i| left[i] * left[i] / noise[i]).sum() };
        let (mut state, mut left) = (end.clone(), as_held.found.violation.clone());
        let mut way = as_held.found.clone();
        for _ in 0..MOST_DAMPED {
            self.correct(&as_held.variances, noise, &state, &mut way);
            let here = distance(&left);
            let parts =
                core::iter::successors(Some(1.0), |part| Some(0.5 * part)).take_while(|part| *part >= LEAST_PART);
            let mut ends = parts.map(|part| {
                let next = Blocks::from_fn(state.len(), |i| state[i] - part * way.correction[i]);
                let left = self.violation(&self.targets, &next);
                (next, left)
            });
            let Some(closer) = ends.find(|(_, left)| distance(left) < here) else { break };
            (state, left) = closer;
        }
        let correction = Blocks::from_fn(end.len(), |i| end[i] - state[i]);
        let found = Found { correction, ..as_held.found.clone() };
        let damped = Settled { state, found, left, ..as_held.clone() };
        (damped.is_closer(noise) && self.furthest(&damped).is_in_proportion()).then_some(damped)
    }

    /// The energies and invariants that a projection does not bring closer, if constraints come closer.
    fn not_closer(&self, settled: &Settled, noise: &Blocks) -> Vec<bool> {
        let found = &settled.found.violation;
        let is_far = |i: usize| !comes_closer(found[i], settled.left[i], noise[i]);
        let integrals = self.system.facts().integrals.iter().enumerate();
        let are_some_constraints = integrals.clone().any(|(i, of)| is_far(i) && of.kind.is_constraint());
        integrals.map(|(i, _)| is_far(i) && !are_some_constraints).collect()
    }

    /// The end of a step, projected onto all but some integrals, which are held where they are there, if that is in proportion and brings
    /// the others closer.
    fn without(
        &self,
        some: &[bool],
        reason: LeftOutReason,
        as_held: &Settled,
        noise: &Blocks,
        end: &Blocks,
    ) -> Option<Settled> {
        let integral = some.iter().position(|is_left_out| *is_left_out)?;
        let noise = Blocks::from_fn(noise.len(), |i| if some[i] { UNBOUNDED } else { noise[i] });
        let mut settled = self.held(&as_held.variances, &noise, end);
        if !(self.furthest(&settled).is_in_proportion() && settled.is_closer(&noise)) {
            return None;
        }
        let violation = &settled.found.violation;
        let target = |i: usize| self.targets[i] + if some[i] { violation[i] } else { 0.0 };
        settled.targets = Blocks::from_fn(self.targets.len(), target);
        settled.left = self.violation(&settled.targets, &settled.state);
        settled.found.left_out = Some(Omission { integral, reason });
        Some(settled)
    }

    /// The end of a step on the constraint set, where energies and invariants are held at the level that they have there.
    fn on_constraints(&self, as_held: &Settled, is_in_proportion: bool, noise: &Blocks, end: &Blocks) -> Settled {
        let state = onto_flat_constraints(self.system, end.own()).map_or_else(|| end.clone(), |x| Blocks::of(&x));
        let targets = Blocks::of(&flat_targets(self.system, state.own()));
        let own = self.rounding_at(&state, &targets);
        let own = Blocks::from_fn(own.len(), |i| if self.noise[i] >= UNBOUNDED { UNBOUNDED } else { own[i] });
        let worst = worst(self.system, [self.targets.own(), noise.own()], as_held.variances.own(), end.own());
        let not_closer = self.not_closer(as_held, noise);
        let integral = not_closer.iter().position(|is_far| *is_far).unwrap_or(worst.integral);
        let reason = match worst.reason {
            LeftOutReason::OutOfProportion if is_in_proportion => {
                Omission { integral, reason: LeftOutReason::NotCloser }
            }
            _ => worst,
        };
        let correction = Blocks::from_fn(end.len(), |i| end[i] - state[i]);
        let left = self.violation(&targets, &state);
        let found = Found { correction, left_out: Some(reason), violation: as_held.found.violation.clone() };
        Settled { state, targets, noise: own, found, left, variances: as_held.variances.clone() }
    }

    /// The entry that the projection of the end of a step moved furthest.
    fn furthest(&self, settled: &Settled) -> Move {
        let Settled { state, found, variances, .. } = settled;
        furthest(self.system.facts().state, found.correction.own(), variances.own(), state.own())
    }
}

impl Land for FlatProjector<'_> {
    type State = Blocks;
    /// Each entry.
    type Polynomial = Vec<DenseOutput<[f64; 1]>>;

    fn state(entries: &[f64]) -> Blocks {
        Blocks::of(entries)
    }

    fn entries<'x>(_facts: &'static SystemFacts, x: &'x Blocks) -> &'x [f64] {
        x.own()
    }

    fn set_clock(facts: &'static SystemFacts, x: &mut Blocks, time: f64) {
        facts.clock.into_iter().for_each(|clock| x.own_mut()[clock] = time);
    }

    fn cubic(time: f64, h: f64, [start, end]: [&Blocks; 2], rates: [&Blocks; 2]) -> Self::Polynomial {
        let polynomial = |i: usize| DenseOutput::cubic(time, h, [[start[i]], [end[i]]], &rates.map(|rates| [rates[i]]));
        (0..end.len()).map(polynomial).collect()
    }

    fn at(polynomial: &Self::Polynomial, time: f64) -> Blocks {
        Blocks::from_fn(polynomial.len(), |i| polynomial[i].at(time)[0])
    }

    fn land_alike(&mut self, begin: &Blocks, h: f64, x: &mut Blocks) {
        self.land(begin, &|_| [1.0; LENGTH], h, x);
    }

    fn project_within(&self, x: &mut Blocks) {
        let noise = self.noise_of(0.0);
        let held = self.held(&self.mean, &noise, x);
        if self.furthest(&held).is_in_proportion() && held.is_closer(&noise) {
            *x = held.state;
        }
    }

    fn begin_anew(&mut self) {
        self.mean = Blocks::zeros(self.mean.len());
        self.derivative = None;
    }

    fn landed(&self) -> Landed<'_> {
        let FlatLanding { end, variances, found, left } = &self.landing;
        Landed {
            end: end.own(),
            variances: variances.own(),
            violation: found.violation.own(),
            correction: found.correction.own(),
            left_out: found.left_out,
            targets: self.targets.own(),
            left: left.own(),
        }
    }

    fn memory(&self) -> LandingMemory {
        let own = |of: &Blocks| of.own().to_vec();
        LandingMemory {
            mean: own(&self.mean),
            derivative: self.derivative.as_ref().map(own),
            held: [&self.targets, &self.noise].map(own),
        }
    }

    fn resume(&mut self, mean: Option<&[f64]>, derivative: Option<&[f64]>, held: Option<&[Vec<f64>; 2]>) {
        self.mean = mean.map_or_else(|| Blocks::zeros(self.mean.len()), Blocks::of);
        self.derivative = derivative.map(Blocks::of);
        if let Some([targets, noise]) = held {
            (self.targets, self.noise) = (Blocks::of(targets), Blocks::of(noise));
        }
    }

    fn knows_derivative(&self) -> bool {
        self.derivative.is_some()
    }
}

/// [`with_spikes`] of lists.
fn spikes(mean: &Blocks, squares: &Blocks) -> Blocks {
    block_by_block(mean, squares, with_spikes)
}

/// [`mean_with`] of lists.
fn running_mean(mean: &Blocks, squares: &Blocks) -> Blocks {
    block_by_block(mean, squares, mean_with)
}

fn block_by_block(a: &Blocks, b: &Blocks, result: fn(&Block, &Block) -> Block) -> Blocks {
    let mut results = Blocks::zeros(a.len());
    for ((own, a), b) in results.blocks_mut().iter_mut().zip(a.blocks()).zip(b.blocks()) {
        *own = result(a, b);
    }
    results
}
