//! The size that the error of a step may have, and the norm that measures it.

use crate::error::{Error, positive};
#[cfg(feature = "std")]
use crate::numbers::blocks::Blocks;
use crate::numbers::entries::{Entries, Numbers};
#[cfg(feature = "ensemble")]
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::larger::Larger;
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;

/// The longest step of a system that depends on the time after a step that moved nothing, as a fraction of the run.
pub(crate) const OF_RUN: f64 = 1.0 / 250.0;

/// An error estimate counts where it is this many times the rounding of the rates.
const ROUNDINGS: f64 = 8.0;
/// The share of its size that a variable keeps after a step to a smaller one. A number that oscillates keeps most of its size where it
/// passes 0; a momentum that was large at a pericentre has its usual tolerance back after some twenty steps.
pub(crate) const FADING: f64 = 0.75;

/// The largest error of a step: atol + rtol |x_i| for entry i of the state.
///
/// Without an absolute tolerance, atol is rtol times the size of the variable that the entry belongs to: the largest entry of that
/// scalar, vector or matrix in the last steps, where an entry counts a quarter less after each step. Such a tolerance has no unit, so
/// that a run takes the same steps in every system of units. See [`Integrator::with_scales`](crate::Integrator::with_scales) for sizes that are known in advance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    rtol: f64,
    atol: Option<f64>,
}

impl Tolerance {
    /// A relative tolerance, and an absolute one or `None`.
    ///
    /// ```
    /// # use fbint_runtime::Tolerance;
    /// let by_size = Tolerance::new(1e-9, None)?;
    /// let absolute = Tolerance::new(1e-9, 1e-12)?;
    /// # assert_ne!(by_size, absolute);
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If one of them is not positive or not finite.
    pub fn new(rtol: f64, atol: impl Into<Option<f64>>) -> Result<Self, Error> {
        let rtol = positive("the relative tolerance rtol", rtol)?;
        let atol = match atol.into() {
            Some(atol) => Some(positive("the absolute tolerance atol", atol)?),
            None => None,
        };
        Ok(Self { rtol, atol })
    }
}

/// The weights of errors of a state's entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorScale<V> {
    rtol: f64,
    atol: Absolute<V>,
}

/// The absolute tolerances of the entries of a state.
#[derive(Clone, Copy, Debug)]
enum Absolute<V> {
    Given(V),
    BySize(Sizes<V>),
}

/// The sizes from which absolute tolerances follow where none are given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes<V> {
    /// The largest entry, in the last steps, of the variable that each entry belongs to.
    pub(crate) largest: V,
    /// The rounding of the rates, as far as it was measured.
    pub(crate) roundings: V,
}

impl<V> ErrorScale<V> {
    /// The scale of a run from a start. `continues` marks the entries that belong to the variable of the one before.
    pub(crate) fn new<T: Larger>(tolerance: &Tolerance, start: &V, continues: impl Fn(usize) -> bool) -> Self
    where
        V: Entries<T>,
    {
        let Tolerance { rtol, atol } = *tolerance;
        let atol = match atol {
            Some(atol) => Absolute::Given(filled(T::from_f64(atol))),
            None => {
                let largest = largest_of_variables(start, continues);
                Absolute::BySize(Sizes { largest, roundings: filled(T::from_f64(0.0)) })
            }
        };
        Self { rtol, atol }
    }

    /// The relative tolerance, and the sizes where these make the absolute ones.
    pub(crate) fn by_size(&self) -> Option<(f64, &Sizes<V>)> {
        match &self.atol {
            Absolute::Given(_) => None,
            Absolute::BySize(sizes) => Some((self.rtol, sizes)),
        }
    }

    /// The sizes where these make the absolute tolerances, to be changed.
    pub(crate) fn sizes_mut(&mut self) -> Option<&mut Sizes<V>> {
        match &mut self.atol {
            Absolute::Given(_) => None,
            Absolute::BySize(sizes) => Some(sizes),
        }
    }

    /// The scale after a step that ends in a state.
    #[inline]
    pub(crate) fn reaching<T: Larger>(&self, end: &V, continues: impl Fn(usize) -> bool) -> Self
    where
        V: Entries<T>,
    {
        let mut reached = *self;
        if let Absolute::BySize(sizes) = &mut reached.atol {
            let sizes_there = largest_of_variables(end, continues);
            fade(sizes.largest.as_mut(), sizes_there.as_ref());
        }
        reached
    }

    /// The factor of each entry of an error of a step of size `h` from x to y: 1 / (atol_i + rtol max(|x_i|, |y_i|)), or 0 where a variable
    /// stays 0.
    #[inline]
    pub(crate) fn weights<T: Larger>(&self, x: &V, y: &V, h: T) -> V
    where
        V: Entries<T>,
    {
        let rtol = T::from_f64(self.rtol);
        match &self.atol {
            Absolute::Given(atol) => {
                let mut weights = *atol;
                weigh_given(weights.as_mut(), rtol, x.as_ref(), y.as_ref());
                weights
            }
            Absolute::BySize(Sizes { largest, roundings }) => {
                let mut weights = *largest;
                weigh_by_size(weights.as_mut(), roundings.as_ref(), rtol, [x.as_ref(), y.as_ref()], h);
                weights
            }
        }
    }
}

// Loops, which LLVM vectorises among the sums of a step, where each entry of `from_fn` became a branch and a division.

/// Lets sizes fade, and be those that were reached where these are larger.
#[inline(always)]
fn fade<T: Larger>(sizes: &mut [T], reached: &[T]) {
    for (size, there) in sizes.iter_mut().zip(reached) {
        *size = there.larger(T::from_f64(FADING) * *size);
    }
}

/// Replaces absolute tolerances by the weights of errors of a step from x to y.
#[inline(always)]
fn weigh_given<T: Larger>(weights: &mut [T], rtol: T, x: &[T], y: &[T]) {
    for ((weight, x), y) in weights.iter_mut().zip(x).zip(y) {
        *weight = (*weight + rtol * x.abs().larger(y.abs())).recip();
    }
}

/// Replaces sizes by the weights of errors of a step of size `h` from x to y.
#[inline(always)]
fn weigh_by_size<T: Larger>(weights: &mut [T], roundings: &[T], rtol: T, [x, y]: [&[T]; 2], h: T) {
    let (rounding, never) = (T::from_f64(ROUNDINGS) * h.abs(), T::from_f64(f64::INFINITY));
    for (((weight, of_rate), x), y) in weights.iter_mut().zip(roundings).zip(x).zip(y) {
        let atol = (rtol * *weight).larger(rounding * *of_rate);
        let tolerance = atol + rtol * x.abs().larger(y.abs());
        *weight = tolerance.if_larger(T::from_f64(f64::MIN_POSITIVE), never).recip();
    }
}

#[cfg(feature = "ensemble")]
impl<E> ErrorScale<E> {
    /// Takes the scale of a member that begins in a lane.
    pub(crate) fn begin<X, const V: usize>(&mut self, lane: usize, of: &ErrorScale<X>)
    where
        X: Entries<f64>,
        E: Entries<Lanes<V>>,
    {
        if let (Some(sizes), Absolute::BySize(of)) = (self.sizes_mut(), &of.atol) {
            for i in 0..X::LEN {
                sizes.largest[i].set(lane, of.largest[i]);
                sizes.roundings[i].set(lane, of.roundings[i]);
            }
        }
    }

    /// Takes the sizes that were reached in these lanes.
    pub(crate) fn reach<const V: usize>(&mut self, lanes: Mask<V>, reached: &Self)
    where
        E: Entries<Lanes<V>>,
    {
        if let (Some(sizes), Absolute::BySize(reached)) = (self.sizes_mut(), &reached.atol) {
            lanes.replace_each(&mut sizes.largest, &reached.largest);
        }
    }
}

impl<V: Entries<f64>> Sizes<V> {
    /// Learns from an attempt at a step of size `h` to `next` that was rejected again: the rounding of the rates, below which errors say
    /// nothing, from the rates `near` the state, at the state [`nudged`]; and the sizes of variables that are 0.
    pub(crate) fn look_closer(
        &mut self,
        near: &V,
        [state, rates, next]: [&V; 3],
        h: f64,
        continues: impl Fn(usize) -> bool,
        (clock, at_rest): (Option<usize>, Option<f64>),
    ) {
        measure(self.roundings.as_mut(), near.as_ref(), rates.as_ref());
        let (at_state, reached) = (largest_of_variables(state, &continues), largest_of_variables(next, continues));
        let of_variables = [at_state.as_ref(), reached.as_ref()];
        estimate(self.largest.as_mut(), of_variables, rates.as_ref(), (h, at_rest), |entry| clock == Some(entry));
    }
}

/// Takes the change of the rates between two places, which is made of roundings, where it is finite.
// Inlined, because `no_panic` sees only what is compiled in its own crate.
#[inline]
fn measure(roundings: &mut [f64], near: &[f64], rates: &[f64]) {
    for ((rounding, near), rate) in roundings.iter_mut().zip(near).zip(rates) {
        let change = near - rate;
        if change.is_finite() {
            *rounding = rounding.max(change.abs());
        }
    }
}

/// Gives variables that are 0 a size after an attempt at a step of size `h` that was rejected, given the largest entry of each entry's
/// variable before and after it: what they would reach at that pace in the time in which the other variables change by their sizes, or
/// where nothing else moves, in the run. Where a contact or a force that sets in moves a body at rest, the error of its motion has the
/// size of that motion, however short the step.
fn estimate(
    largest: &mut [f64],
    [at_state, reached]: [&[f64]; 2],
    rates: &[f64],
    (h, at_rest): (f64, Option<f64>),
    is_clock: impl Fn(usize) -> bool,
) {
    let is_moving = |i: usize| !is_clock(i) && at_state.get(i).is_some_and(|size| *size > 0.0);
    let speed = match relative(rates, largest, is_moving) {
        speed if speed > 0.0 => speed,
        _ => at_rest.map_or(0.0, |longest| OF_RUN / longest),
    };
    for ((largest, at_state), reached) in largest.iter_mut().zip(at_state).zip(reached) {
        let size = reached / (speed * h.abs());
        if *at_state == 0.0 && size.is_finite() {
            *largest = size;
        }
    }
}

/// The root mean square of the entries that count, each in units of its size; those without a size are left out.
pub(crate) fn relative(v: &[f64], sizes: &[f64], is_counted: impl Fn(usize) -> bool) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (i, (entry, size)) in v.iter().zip(sizes).enumerate() {
        if is_counted(i) && *size > 0.0 {
            let entry = entry / size;
            (sum, count) = (sum + entry * entry, count + 1.0);
        }
    }
    if count > 0.0 { Scalar::sqrt(sum / count) } else { 0.0 }
}

impl<V: Entries<f64>> ErrorScale<V> {
    /// This relative tolerance with absolute ones for entries of typical sizes.
    pub(crate) fn with_scales(&self, tolerance: &Tolerance, scales: &V, dimension: usize) -> Result<Self, Error> {
        let atol = tolerance.atol.unwrap_or(tolerance.rtol);
        let mut given: V = filled(atol);
        for (given, &scale) in given.as_mut().iter_mut().zip(scales.as_ref()).take(dimension) {
            *given = atol * positive("the scale of an entry", scale)?;
        }
        Ok(Self { rtol: self.rtol, atol: Absolute::Given(given) })
    }

    /// The tolerance of an entry i of a state, atol_i + rtol |x_i|.
    #[cfg(feature = "std")]
    pub(crate) fn tolerance(&self, x: &V, i: usize) -> f64 {
        let atol = match &self.atol {
            Absolute::Given(atol) => atol[i],
            Absolute::BySize(sizes) => self.rtol * sizes.largest[i],
        };
        atol + self.rtol * x[i].abs()
    }
}

/// The largest entry of the variable that each entry of a state belongs to.
#[inline]
pub(crate) fn largest_of_variables<V: Clone + AsMut<[T]>, T: Larger>(x: &V, continues: impl Fn(usize) -> bool) -> V {
    let mut sizes = x.clone();
    spread_largest(sizes.as_mut(), continues);
    sizes
}

/// Replaces each entry by the largest of its variable.
#[inline(always)]
pub(crate) fn spread_largest<T: Larger>(entries: &mut [T], continues: impl Fn(usize) -> bool) {
    entries.iter_mut().for_each(|entry| *entry = entry.abs());
    let mut before = None;
    for (i, entry) in entries.iter_mut().enumerate() {
        if let Some(before) = before.filter(|_| continues(i)) {
            *entry = entry.larger(before);
        }
        before = Some(*entry);
    }
    let mut after = None;
    for (i, entry) in entries.iter_mut().enumerate().rev() {
        if let Some(after) = after.filter(|_| continues(i + 1)) {
            *entry = after;
        }
        after = Some(*entry);
    }
}

/// A state with every entry but the time changed by a few roundings. Each number of attempts gives other ones.
pub(crate) fn nudged<V: Numbers>(state: &V, clock: Option<usize>, attempts: u64) -> V {
    let entries = state.as_ref();
    state.like(|i| nudged_entry(entries[i], i, clock, attempts))
}

pub(crate) fn nudged_entry(entry: f64, i: usize, clock: Option<usize>, attempts: u64) -> f64 {
    let roundings = 2 + (attempts.wrapping_add(i as u64)) % 7;
    if clock == Some(i) { entry } else { entry * (1.0 + roundings as f64 * f64::EPSILON) }
}

/// The root mean square of the weighed entries of a state with `dimension` entries.
#[inline]
pub(crate) fn norm<T: Scalar>(v: &[T], weights: &[T], dimension: usize) -> T {
    mean_square(v, weights, dimension).sqrt()
}

/// The mean of the squares of the weighed entries of a state with `dimension` entries.
#[inline]
pub(crate) fn mean_square<T: Scalar>(v: &[T], weights: &[T], dimension: usize) -> T {
    // Four sums, because the next step's size waits for this one.
    let mut sums = [T::from_f64(0.0); 4];
    for (i, (entry, weight)) in v.iter().zip(weights).enumerate() {
        let weighed = *entry * *weight;
        sums[i % 4] = sums[i % 4] + weighed * weighed;
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) / T::from_f64(dimension as f64)
}

/// The weights of errors of a state that is a list.
#[cfg(feature = "std")]
#[derive(Clone, Debug)]
pub(crate) struct FlatScale {
    rtol: f64,
    /// Absolute tolerances that are given, or else sizes.
    atol: Blocks,
    /// The rounding of the rates, as far as it was measured, where absolute tolerances follow from sizes.
    roundings: Option<Blocks>,
}

#[cfg(feature = "std")]
impl FlatScale {
    /// The scale of a run from a start.
    pub(crate) fn new(tolerance: &Tolerance, start: &Blocks, continues: impl Fn(usize) -> bool) -> Self {
        let Tolerance { rtol, atol } = *tolerance;
        match atol {
            Some(atol) => Self { rtol, atol: Blocks::from_fn(start.len(), |_| atol), roundings: None },
            None => {
                Self { rtol, atol: largest_of_variables(start, continues), roundings: Some(Blocks::zeros(start.len())) }
            }
        }
    }

    /// The relative tolerance, and the sizes where these make the absolute ones.
    pub(crate) fn by_size(&self) -> Option<(f64, [&Blocks; 2])> {
        self.roundings.as_ref().map(|roundings| (self.rtol, [&self.atol, roundings]))
    }

    /// Takes sizes and roundings, where sizes make the absolute tolerances.
    pub(crate) fn set_sizes(&mut self, [sizes, roundings]: [Blocks; 2]) {
        if self.roundings.is_some() {
            (self.atol, self.roundings) = (sizes, Some(roundings));
        }
    }

    /// Becomes what `before` is after a step that ends in a state. `sizes` is memory.
    pub(crate) fn reach(&mut self, before: &Self, end: &Blocks, sizes: &mut Blocks, continues: impl Fn(usize) -> bool) {
        self.atol.copy(&before.atol);
        if let (Some(own), Some(before)) = (&mut self.roundings, &before.roundings) {
            own.copy(before);
            sizes.copy(end);
            spread_largest(sizes.own_mut(), continues);
            fade(self.atol.own_mut(), sizes.own());
        }
    }

    /// Puts the factor of each entry of an error of a step of size `h` from x to y into `weights`.
    pub(crate) fn weigh(&self, x: &Blocks, y: &Blocks, h: f64, weights: &mut Blocks) {
        weights.copy(&self.atol);
        match &self.roundings {
            None => weigh_given(weights.own_mut(), self.rtol, x.own(), y.own()),
            Some(roundings) => {
                weigh_by_size(weights.own_mut(), roundings.own(), self.rtol, [x.own(), y.own()], h);
            }
        }
    }

    /// See [`Sizes::look_closer`].
    pub(crate) fn look_closer(
        &mut self,
        near: &Blocks,
        [state, rates, next]: [&Blocks; 3],
        h: f64,
        continues: impl Fn(usize) -> bool,
        (clock, at_rest): (Option<usize>, Option<f64>),
    ) {
        let Some(roundings) = &mut self.roundings else { return };
        measure(roundings.own_mut(), near.own(), rates.own());
        let [at_state, reached] = [state, next].map(|at| largest_of_variables(at, &continues));
        let of_variables = [at_state.own(), reached.own()];
        estimate(self.atol.own_mut(), of_variables, rates.own(), (h, at_rest), |entry| clock == Some(entry));
    }

    /// The tolerance of an entry i of a state.
    pub(crate) fn tolerance(&self, x: &Blocks, i: usize) -> f64 {
        let atol = if self.roundings.is_some() { self.rtol * self.atol[i] } else { self.atol[i] };
        atol + self.rtol * x[i].abs()
    }
}
