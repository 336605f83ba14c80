//! The projection after each step of a system on slices of any length: the work of [`Projector`](super::Projector), in lists.

use super::doubt::{Doubt, Level, Onto, Projection as Projected};
use super::proportion::{MOST, Omission, USUAL};
use super::{LAST, Land, Landed, LandingMemory, Projection, SPIKE, mean_with, with_spikes};
use crate::hold::rounding::{squares_of_field, squares_of_rounding};
use crate::numbers::blocks::{Block, Blocks};
use crate::numbers::larger::Larger;
use crate::numbers::linear::not_finite;
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
struct FlatLanding {
    end: Blocks,
    variances: Blocks,
    violation: Blocks,
    correction: Blocks,
    left_out: Option<Omission>,
    /// F - F_target after the projection.
    left: Blocks,
}

impl<'s> FlatProjector<'s> {
    /// Steps of a run that starts at `start`, with projections onto F = `targets`.
    pub(crate) fn new(system: &'s dyn FlatSystem, start: &[f64], targets: &[f64], projection: Projection) -> Self {
        let (facts, zeros) = (system.facts(), Blocks::zeros(start.len()));
        let (mut noise, mut noise_by_field, mut entries_by_field) =
            (Blocks::of(targets), Blocks::zeros(targets.len()), zeros.clone());
        squares_of_field(system, start, entries_by_field.own_mut(), noise_by_field.own_mut());
        squares_of_rounding(system, start, noise.own_mut());
        let violation = Blocks::zeros(targets.len());
        let landing = FlatLanding {
            end: zeros.clone(),
            variances: zeros.clone(),
            left: violation.clone(),
            violation,
            correction: zeros.clone(),
            left_out: None,
        };
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
        self.resolve(begin, &variances, &switching, h, x);
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
        let Self { landing, targets, noise_in_step, .. } = self;
        let FlatLanding { end, variances, violation, correction, left, left_out } = landing;
        let onto = Onto {
            system: self.system,
            iterations: self.projection.iterations,
            targets: targets.own(),
            variances: variances.all(),
            noise: noise_in_step.all(),
        };
        *left_out = None;
        let mut to = Projected {
            state: x.all_mut(),
            violation: violation.own_mut(),
            left: left.own_mut(),
            correction: correction.all_mut(),
        };
        onto.project(end.all(), &mut to);
        onto.brings_closer(&to)
    }

    /// Returns `true` if the square of what the landing moved an entry by is at most `most` times its variance, for every entry.
    fn is_within(&self, most: f64) -> bool {
        let FlatLanding { correction, variances, .. } = &self.landing;
        let moved = correction.own().iter().zip(variances.own());
        moved.fold(true, |all, (correction, variance)| all & (correction * correction <= most * variance))
    }

    /// Puts `x` where a step ends about whose projection there is a doubt, and holds the integrals where they can be held from there.
    #[cold]
    fn resolve(&mut self, begin: &Blocks, variances: &Blocks, switching: &Blocks, h: f64, x: &mut Blocks) {
        let FlatLanding { end, variances: of_landing, violation, correction, left, left_out } = &mut self.landing;
        let doubt = Doubt {
            system: self.system,
            iterations: self.projection.iterations,
            begin: begin.own(),
            end: end.own(),
            variances: variances.own(),
            switching: switching.own(),
            noise_by_field: self.noise_by_field.own(),
            h,
        };
        let mut level = Level { targets: self.targets.own_mut(), noise: self.noise.own_mut() };
        let mut to = Projected {
            state: x.own_mut(),
            violation: violation.own_mut(),
            left: left.own_mut(),
            correction: correction.own_mut(),
        };
        *left_out = doubt.resolve(&mut level, of_landing.own_mut(), &mut to);
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

    fn of_entries(entries: Vec<DenseOutput<[f64; 1]>>) -> Self::Polynomial {
        entries
    }

    fn land(&mut self, begin: &Blocks, error: &Blocks, h: f64, x: &mut Blocks) {
        self.landing.end.copy(x);
        self.find_squares(&|block| error.blocks()[block], &x.clone(), h);
        let mean = running_mean(&self.mean, &self.squares);
        self.landing.variances = spikes(&self.mean, &self.squares);
        self.mean = mean;
        self.find_noise(h);
        let is_held = self.move_landing(x);
        if !(is_held && self.is_within(MOST)) {
            let variances = self.landing.variances.clone();
            self.resolve(begin, &variances, &variances, h, x);
        }
    }

    fn project_within(&self, x: &mut Blocks) {
        let onto = Onto {
            system: self.system,
            iterations: self.projection.iterations,
            targets: self.targets.own(),
            variances: self.mean.own(),
            noise: self.noise.own(),
        };
        onto.project_within(x.own_mut());
    }

    fn begin_anew(&mut self) {
        self.mean = Blocks::zeros(self.mean.len());
        self.derivative = None;
    }

    fn landed(&self) -> Landed<'_> {
        let FlatLanding { end, variances, violation, correction, left_out, left } = &self.landing;
        Landed {
            end: end.own(),
            variances: variances.own(),
            violation: violation.own(),
            correction: correction.own(),
            left_out: *left_out,
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
