//! The iteration of a step.
//!
//! Steps are made on slices, so that they are compiled once with this crate: of a model, only its field is compiled for them.

use core::array;

use super::coefficients::{Coefficients, MOST_STAGES};
use crate::error::failure::StepFailure;
use crate::field::StageRates;
#[cfg(feature = "lanes")]
use crate::numbers::lanes::Lanes;
use crate::numbers::linear::largest;
use crate::numbers::scalar::Scalar;
use crate::stages::tolerance::{nudged_entry, spread_largest};

/// Iterations that a step may take.
const MOST_ITERATIONS: u32 = 50;
/// An entry that still changes by this fraction of the size of its variable has not converged,
const ROUNDING: f64 = 1e-9;
/// unless that is at most as many times the rounding of its rate in the step: the entry hovers about 0.
const ROUNDINGS: f64 = 1e3;

/// Steps by collocation, of states that are slices. Arrays of stages have for each entry of the state the numbers of all stages, side by
/// side, so that a compiler takes several at once.
pub(crate) struct Collocation {
    pub(super) coefficients: Coefficients,
    shares: Vec<f64>,
    extrapolation: Vec<f64>,
    /// The size of steps that follow one another.
    pub(super) h: f64,
    /// h b_i of this step.
    weights: [f64; MOST_STAGES],
    /// Where the last step ended, and what rounding has left out of that.
    end: Vec<f64>,
    remainder: Vec<f64>,
    /// `true` if `increments` belong to a step of size `h` that ended there.
    pub(super) is_known: bool,
    phase: Phase,
    /// The number of coordinates whose rates are linear in the momenta, and how these follow.
    coordinates: usize,
    velocities: Vec<VelocityTerm>,
    /// L_i, Y_i and f(Y_i).
    increments: Vec<f64>,
    pub(crate) stages: Vec<f64>,
    pub(crate) rates: Vec<f64>,
    /// For each entry of the state, the largest of the last changes of the Y_i, and the least that this has been.
    changes: Vec<f64>,
    least_changes: Vec<f64>,
    /// The entries that belong to the variable of the one before, and the time.
    continues: Vec<bool>,
    clock: Option<usize>,
    /// The size of the variable of each entry in the stages.
    sizes: Vec<f64>,
    /// f near the stages, and how far it was from f in them, for each entry: its rounding, as far as it was measured in a step.
    nudged_rates: Vec<f64>,
    roundings: Vec<f64>,
    /// The evaluations of the field in the last step.
    pub(super) evaluations: u64,
}

/// Numbers of several stages for one entry of the state, with which computations are made at once.
trait Part: Scalar {
    /// The number of these.
    const WIDTH: usize;

    /// The first numbers of a slice.
    fn load(numbers: &[f64]) -> Self;
    /// Puts them where a slice begins.
    fn store(self, numbers: &mut [f64]);
}

impl Part for f64 {
    const WIDTH: usize = 1;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        numbers[0]
    }

    #[inline(always)]
    fn store(self, numbers: &mut [f64]) {
        numbers[0] = self;
    }
}

#[cfg(feature = "lanes")]
impl Part for Lanes<1> {
    const WIDTH: usize = Self::COUNT;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        Self::load(&numbers[..Self::COUNT])
    }

    #[inline(always)]
    fn store(self, numbers: &mut [f64]) {
        Self::store(&self, &mut numbers[..Self::COUNT]);
    }
}

#[cfg(feature = "lanes")]
type PartOfEight = Lanes<1>;
#[cfg(not(feature = "lanes"))]
type PartOfEight = f64;
#[cfg(all(feature = "lanes", not(target_feature = "avx512f")))]
type PartOfFour = Lanes<1>;
#[cfg(any(not(feature = "lanes"), target_feature = "avx512f"))]
type PartOfFour = f64;
const PARTS_OF_EIGHT: usize = 8 / PartOfEight::WIDTH;
const PARTS_OF_FOUR: usize = 4 / PartOfFour::WIDTH;

/// The change of the stages in an iteration.
struct IterationChange {
    /// The sum of the changes of all entries.
    total: f64,
    /// `true` if the change of an entry was smaller than all before.
    is_less: bool,
}

/// The rate of a coordinate per unit of a momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct VelocityTerm {
    coordinate: usize,
    momentum: usize,
    factor: f64,
}

/// The purpose of the rates in the stages.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// For the first increments: all stages are where the step begins.
    Start,
    /// For the next iteration.
    Iteration { number: u32, was_less: bool },
    /// For the rounding of the rates: the stages are off by a few roundings.
    Nudged { number: u32 },
    /// For the next iteration, and to be compared with those before.
    Compared { number: u32 },
    /// For the increments of the step.
    End,
    /// For the reason why the iteration leads nowhere: all stages are where the step begins.
    Failure,
}

impl Collocation {
    /// Steps of size `h` from a state. `continues` marks the entries that belong to the variable of the one before; the clock is the time.
    pub(crate) fn new(
        coefficients: Coefficients,
        h: f64,
        x: &[f64],
        continues: impl Fn(usize) -> bool,
        clock: Option<usize>,
    ) -> Self {
        let (entries, of_stages) = (vec![0.0; x.len()], vec![0.0; coefficients.stages() * x.len()]);
        Self {
            coefficients,
            shares: coefficients.shares(),
            extrapolation: coefficients.extrapolation(),
            h,
            weights: [0.0; MOST_STAGES],
            end: x.to_vec(),
            remainder: entries.clone(),
            is_known: false,
            phase: Phase::Start,
            coordinates: 0,
            velocities: Vec::new(),
            increments: of_stages.clone(),
            stages: of_stages.clone(),
            nudged_rates: of_stages.clone(),
            rates: of_stages,
            changes: entries.clone(),
            least_changes: entries.clone(),
            continues: (0..x.len()).map(continues).collect(),
            clock,
            sizes: entries.clone(),
            roundings: entries,
            evaluations: 0,
        }
    }

    /// This method at another state, which knows nothing of the step before.
    pub(super) fn anew(&self, x: &[f64]) -> Self {
        let Self { coefficients, coordinates, h, clock, .. } = *self;
        let anew = Self::new(coefficients, h, x, |entry| self.continues[entry], clock);
        Self { coordinates, velocities: self.velocities.clone(), ..anew }
    }

    /// Learns how the rates of the first entries follow from the momenta after them, where they are linear in these and depend on nothing
    /// else: then an iteration has the new momenta in the new coordinates, and half of the iterations will do.
    pub(crate) fn learn_velocities(&mut self, coordinates: usize, rates: impl Fn(&[f64]) -> Vec<f64>) {
        let mut state = self.end.clone();
        state[coordinates..2 * coordinates].fill(0.0);
        for momentum in coordinates..2 * coordinates {
            state[momentum] = 1.0;
            let terms = rates(&state).into_iter().enumerate().take(coordinates).filter(|(_, factor)| *factor != 0.0);
            self.velocities.extend(terms.map(|(coordinate, factor)| VelocityTerm { coordinate, momentum, factor }));
            state[momentum] = 0.0;
        }
        self.coordinates = coordinates;
    }

    /// The number of entries of a state.
    pub(super) fn entries(&self) -> usize {
        self.end.len()
    }

    /// The number of stages.
    pub(crate) fn count(&self) -> usize {
        self.coefficients.stages()
    }

    /// Makes a step of size `h`.
    pub(super) fn step(&mut self, rates: &StageRates<'_>, x: &mut [f64], h: f64) -> Result<(), StepFailure> {
        let count = self.count();
        self.begin(x, h);
        loop {
            rates(&self.stages, &mut self.rates, count);
            if let Some(end) = self.proceed(x, h) {
                return end;
            }
        }
    }

    /// Begins a step of size `h`: it needs the rates in the stages.
    pub(crate) fn begin(&mut self, x: &[f64], h: f64) {
        match self.count() {
            2 => self.begin_in::<f64, 2, 2>(x, h),
            4 => self.begin_in::<PartOfFour, { PARTS_OF_FOUR }, 4>(x, h),
            _ => self.begin_in::<PartOfEight, { PARTS_OF_EIGHT }, 8>(x, h),
        }
    }

    /// Continues a step whose rates in the stages are there, until it needs others or ends.
    pub(crate) fn proceed(&mut self, x: &mut [f64], h: f64) -> Option<Result<(), StepFailure>> {
        match self.count() {
            2 => self.proceed_in::<f64, 2, 2>(x, h),
            4 => self.proceed_in::<PartOfFour, { PARTS_OF_FOUR }, 4>(x, h),
            _ => self.proceed_in::<PartOfEight, { PARTS_OF_EIGHT }, 8>(x, h),
        }
    }

    fn begin_in<T: Part, const PARTS: usize, const STAGES: usize>(&mut self, x: &[f64], h: f64) {
        // What is left of a sum belongs to that sum: a projection makes it another number, and so does the time that is set.
        for ((remainder, end), x) in self.remainder.iter_mut().zip(&self.end).zip(x) {
            if end != x {
                *remainder = 0.0;
            }
        }
        self.weights = self.coefficients.weights(h);
        self.evaluations = 0;
        if self.is_known && h == self.h {
            self.extrapolate::<T, PARTS, STAGES>();
            self.begin_iteration::<T, PARTS, STAGES>(x);
        } else {
            self.stay_at::<STAGES>(x);
            self.phase = Phase::Start;
        }
        self.is_known = false;
    }

    /// Puts all stages where the step begins.
    fn stay_at<const STAGES: usize>(&mut self, x: &[f64]) {
        rows_mut::<STAGES>(&mut self.stages).iter_mut().zip(x).for_each(|(stages, x)| stages.fill(*x));
    }

    /// Guesses increments by the last step's.
    fn extrapolate<T: Part, const PARTS: usize, const STAGES: usize>(&mut self) {
        let Some(extrapolation) = rows(&self.extrapolation).first_chunk() else { return };
        for increments in rows_mut::<STAGES>(&mut self.increments) {
            let guess: [T; PARTS] = combine(extrapolation, increments);
            parts_of::<T, STAGES>(increments).zip(guess).for_each(|(part, guess)| guess.store(part));
        }
    }

    fn begin_iteration<T: Part, const PARTS: usize, const STAGES: usize>(&mut self, x: &[f64]) {
        self.place_stages::<T, PARTS, STAGES>(x);
        self.least_changes.fill(f64::INFINITY);
        self.roundings.fill(0.0);
        self.phase = Phase::Iteration { number: 0, was_less: true };
    }

    /// Iterates until nothing changes, or no change of any entry gets smaller, twice in a row: then rounding is all that is left.
    fn proceed_in<T: Part, const PARTS: usize, const STAGES: usize>(
        &mut self,
        x: &mut [f64],
        h: f64,
    ) -> Option<Result<(), StepFailure>> {
        if let Phase::Nudged { number } = self.phase {
            self.evaluations += STAGES as u64;
            std::mem::swap(&mut self.nudged_rates, &mut self.rates);
            self.place_stages::<T, PARTS, STAGES>(x);
            self.phase = Phase::Compared { number };
            return None;
        }
        self.take_rates::<T, PARTS, STAGES>();
        let (number, was_less) = match self.phase {
            Phase::Start => {
                self.begin_iteration::<T, PARTS, STAGES>(x);
                return None;
            }
            Phase::End => return Some(self.finish::<STAGES>(x, h)),
            Phase::Failure => return Some(Err(self.failure())),
            Phase::Iteration { number, was_less } => (number, was_less),
            Phase::Nudged { number } | Phase::Compared { number } => {
                self.measure::<STAGES>();
                (number, false)
            }
        };
        let IterationChange { total, is_less } = self.place_stages::<T, PARTS, STAGES>(x);
        if total == 0.0 {
            return Some(self.finish::<STAGES>(x, h));
        }
        let has_time = number < MOST_ITERATIONS && total.is_finite();
        let may_end = !has_time || !is_less && !was_less;
        self.phase = if may_end && self.has_converged::<STAGES>(h) {
            Phase::End
        } else if may_end && has_time {
            self.nudge::<STAGES>(number);
            Phase::Nudged { number: number + 1 }
        } else if has_time {
            Phase::Iteration { number: number + 1, was_less: is_less }
        } else {
            self.stay_at::<STAGES>(x);
            Phase::Failure
        };
        None
    }

    /// L_i from the rates.
    fn take_rates<T: Part, const PARTS: usize, const STAGES: usize>(&mut self) {
        let weights: [T; PARTS] = array::from_fn(|part| T::load(&self.weights[part * T::WIDTH..]));
        self.evaluations += STAGES as u64;
        for (increments, rates) in rows_mut::<STAGES>(&mut self.increments).iter_mut().zip(rows::<STAGES>(&self.rates))
        {
            let rates = rates.chunks_exact(T::WIDTH).zip(weights);
            let products = rates.map(|(part, weight)| weight * T::load(part));
            parts_of::<T, STAGES>(increments).zip(products).for_each(|(part, product)| product.store(part));
        }
    }

    /// Y_i from the L_j: coordinates last, because their L_j follow from the momenta that are there by then. They change where momenta do.
    fn place_stages<T: Part, const PARTS: usize, const STAGES: usize>(&mut self, x: &[f64]) -> IterationChange {
        let mut change = IterationChange { total: 0.0, is_less: false };
        let Some(shares) = rows(&self.shares).first_chunk() else { return change };
        let of_entries = rows::<STAGES>(&self.increments).iter().zip(rows_mut::<STAGES>(&mut self.stages));
        let last_and_least = self.changes.iter_mut().zip(&mut self.least_changes);
        let begins = x.iter().zip(&self.remainder);
        let entries = of_entries.zip(last_and_least).zip(begins).skip(self.coordinates);
        for (((increments, stages), (last, least)), (x, remainder)) in entries {
            let mut distances = [0.0; STAGES];
            for (part, (new, place)) in
                placed::<T, PARTS, STAGES>(shares, increments, stages, [*x, *remainder]).enumerate()
            {
                (new - T::load(place)).abs().store(&mut distances[part * T::WIDTH..]);
                new.store(place);
            }
            *last = largest_of(distances);
            change.total += *last;
            if *last > 0.0 && *last < *least {
                *least = *last;
                change.is_less = true;
            }
        }
        self.place_coordinates::<T, PARTS, STAGES>(x);
        change
    }

    /// L_i and Y_i of coordinates, from the momenta in the stages.
    fn place_coordinates<T: Part, const PARTS: usize, const STAGES: usize>(&mut self, x: &[f64]) {
        let Some(shares) = rows(&self.shares).first_chunk() else { return };
        let weights: [T; PARTS] = array::from_fn(|part| T::load(&self.weights[part * T::WIDTH..]));
        let (increments, stages) = (rows_mut::<STAGES>(&mut self.increments), rows_mut::<STAGES>(&mut self.stages));
        increments[..self.coordinates].fill([0.0; STAGES]);
        for VelocityTerm { coordinate, momentum, factor } in &self.velocities {
            let momenta = stages[*momentum].chunks_exact(T::WIDTH).zip(weights);
            let places = parts_of::<T, STAGES>(&mut increments[*coordinate]);
            for (place, (momenta, weight)) in places.zip(momenta) {
                (T::load(place) + weight * (T::from_f64(*factor) * T::load(momenta))).store(place);
            }
        }
        let begins = x.iter().zip(&self.remainder).take(self.coordinates);
        for ((x, remainder), (increments, stages)) in begins.zip(increments.iter().zip(stages)) {
            let placed = placed::<T, PARTS, STAGES>(shares, increments, stages, [*x, *remainder]);
            placed.for_each(|(new, place)| new.store(place));
        }
    }

    /// Returns `true` if the last changes were as small as rounding.
    fn has_converged<const STAGES: usize>(&mut self, h: f64) -> bool {
        let Self { sizes, stages, continues, changes, roundings, .. } = self;
        sizes.iter_mut().zip(rows::<STAGES>(stages)).for_each(|(size, stages)| *size = largest(stages));
        spread_largest(sizes, |entry| continues[entry]);
        let mut entries = changes.iter().zip(sizes).zip(roundings);
        entries.all(|((change, size), rounding)| *change <= (ROUNDING * *size).max(ROUNDINGS * h.abs() * *rounding))
    }

    /// Moves the stages by a few roundings, each by other ones, and each time.
    #[cold]
    fn nudge<const STAGES: usize>(&mut self, times: u32) {
        for (entry, stages) in rows_mut::<STAGES>(&mut self.stages).iter_mut().enumerate() {
            let places = u64::from(times)..;
            places.zip(stages).for_each(|(place, stage)| *stage = nudged_entry(*stage, entry, self.clock, place));
        }
    }

    /// Takes the rounding of the rates, which are those beside the stages and in them.
    #[cold]
    fn measure<const STAGES: usize>(&mut self) {
        let rates = rows::<STAGES>(&self.rates).iter().zip(rows::<STAGES>(&self.nudged_rates));
        for ((rates, nudged), rounding) in rates.zip(&mut self.roundings) {
            let mut changes = *rates;
            changes.iter_mut().zip(nudged).for_each(|(change, nudged)| *change = (*change - nudged).abs());
            *rounding = rounding.max(largest_of(changes));
        }
    }

    /// Why the iteration has led nowhere.
    #[cold]
    fn failure(&self) -> StepFailure {
        let mut entries = self.rates.iter().step_by(self.count());
        match entries.position(|rate| !rate.is_finite()) {
            Some(entry) => StepFailure::NotFinite { entry },
            None => StepFailure::NotIterated { change: largest(&self.changes) },
        }
    }

    /// Adds the increments to the state and to what rounding has left out of it (Neumaier).
    fn finish<const STAGES: usize>(&mut self, x: &mut [f64], h: f64) -> Result<(), StepFailure> {
        self.is_known = h == self.h;
        let ends = self.end.iter_mut().zip(&mut self.remainder);
        for ((x, increments), (end, remainder)) in x.iter_mut().zip(rows::<STAGES>(&self.increments)).zip(ends) {
            let increment = increments.iter().fold(*remainder, |sum, increment| sum + increment);
            let sum = *x + increment;
            let (larger, smaller) = if x.abs() < increment.abs() { (increment, *x) } else { (*x, increment) };
            *remainder = (larger - sum) + smaller;
            (*end, *x) = (sum, sum);
        }
        Ok(())
    }

    /// The polynomial of the last step, which began at `begin`, after a fraction of it. With two stages it is of a lower order than the
    /// cubic polynomial through states and rates, and there is none.
    pub(super) fn between(&self, begin: &[f64], fraction: f64) -> Option<Vec<f64>> {
        let count = self.count();
        if count < 4 {
            return None;
        }
        let nodes = [vec![0.0], self.coefficients.nodes()].concat();
        let weight = |j: usize| {
            let others = nodes.iter().enumerate().filter(|(other, _)| *other != j);
            others.map(|(_, node)| (fraction - node) / (nodes[j] - node)).product::<f64>()
        };
        let weights: Vec<f64> = (0..=count).map(weight).collect();
        let entry = |(begin, stages): (&f64, &[f64])| {
            let weighted = weights[1..].iter().zip(stages).map(|(weight, stage)| weight * stage);
            weights[0] * begin + weighted.sum::<f64>()
        };
        Some(begin.iter().zip(self.stages.chunks_exact(count)).map(entry).collect())
    }

    /// The values on which the next step depends: the end of the last one, the rest of that sum, and its L_i, if they are known.
    pub(super) fn carried(&self) -> Vec<Vec<f64>> {
        let of_stage = |i: usize| self.increments.iter().skip(i).step_by(self.count()).copied().collect();
        let increments = (0..self.count()).filter(|_| self.is_known).map(of_stage);
        [self.end.clone(), self.remainder.clone()].into_iter().chain(increments).collect()
    }

    pub(super) fn carry(&mut self, carried: &[Vec<f64>]) {
        let stages = self.count();
        let [end, remainder, increments @ ..] = carried else { return };
        self.end.copy_from_slice(end);
        self.remainder.copy_from_slice(remainder);
        self.is_known = increments.len() == stages;
        for (i, of_stage) in increments.iter().enumerate() {
            let places = self.increments.iter_mut().skip(i).step_by(stages);
            places.zip(of_stage).for_each(|(place, increment)| *place = *increment);
        }
    }
}

/// The numbers of all stages, for each entry of the state.
fn rows<const STAGES: usize>(flat: &[f64]) -> &[[f64; STAGES]] {
    flat.as_chunks().0
}

fn rows_mut<const STAGES: usize>(flat: &mut [f64]) -> &mut [[f64; STAGES]] {
    flat.as_chunks_mut().0
}

/// The stages of one entry in parts.
#[inline(always)]
fn parts_of<T: Part, const STAGES: usize>(row: &mut [f64; STAGES]) -> impl Iterator<Item = &mut [f64]> {
    row.chunks_exact_mut(T::WIDTH)
}

/// sum_j factor_j column_j.
#[inline(always)]
fn combine<T: Part, const PARTS: usize, const STAGES: usize>(
    columns: &[[f64; STAGES]; STAGES],
    factors: &[f64; STAGES],
) -> [T; PARTS] {
    // Two sums, neither of which waits for the other.
    let mut sums = [[T::from_f64(0.0); PARTS]; 2];
    for (j, (column, factor)) in columns.iter().zip(factors).enumerate() {
        let factor = T::from_f64(*factor);
        for (sum, part) in sums[j % 2].iter_mut().zip(column.chunks_exact(T::WIDTH)) {
            *sum = T::load(part).mul_add(factor, *sum);
        }
    }
    array::from_fn(|part| sums[0][part] + sums[1][part])
}

/// The parts of Y_i of one entry, from the L_j and from what the step begins with, and where they belong.
#[inline(always)]
fn placed<'s, T: Part, const PARTS: usize, const STAGES: usize>(
    shares: &[[f64; STAGES]; STAGES],
    increments: &[f64; STAGES],
    stages: &'s mut [f64; STAGES],
    begin: [f64; 2],
) -> impl Iterator<Item = (T, &'s mut [f64])> {
    let ([x, remainder], sums) = (begin.map(T::from_f64), combine::<T, PARTS, STAGES>(shares, increments));
    sums.map(|sum| x + (remainder + sum)).into_iter().zip(parts_of::<T, STAGES>(stages))
}

/// The largest of numbers that are not negative, or are all not numbers.
#[inline(always)]
fn largest_of<const STAGES: usize>(mut numbers: [f64; STAGES]) -> f64 {
    let mut count = STAGES;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            numbers[i] = if numbers[i] > numbers[i + count] { numbers[i] } else { numbers[i + count] };
        }
    }
    numbers[0]
}
