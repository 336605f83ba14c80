//! The size that the error of a step may have, and the norm that measures it.

use crate::error::{Error, positive};
use crate::numbers::entries::Entries;
#[cfg(feature = "ensemble")]
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::larger::Larger;
use crate::numbers::linear::{difference, filled};
use crate::numbers::scalar::Scalar;
use crate::stages::step_size::OF_RUN;

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
            for (size, there) in sizes.largest.as_mut().iter_mut().zip(sizes_there.as_ref()) {
                *size = there.larger(T::from_f64(FADING) * *size);
            }
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
        // Loops, which LLVM vectorises among the sums of a step, where each entry of `from_fn` became a branch and a division.
        match &self.atol {
            Absolute::Given(atol) => {
                let mut weights = *atol;
                for ((weight, x), y) in weights.as_mut().iter_mut().zip(x.as_ref()).zip(y.as_ref()) {
                    *weight = (*weight + rtol * x.abs().larger(y.abs())).recip();
                }
                weights
            }
            Absolute::BySize(Sizes { largest, roundings }) => {
                let mut weights = *largest;
                let (rounding, never) = (T::from_f64(ROUNDINGS) * h.abs(), T::from_f64(f64::INFINITY));
                let entries = weights.as_mut().iter_mut().zip(roundings.as_ref());
                for (((weight, of_rate), x), y) in entries.zip(x.as_ref()).zip(y.as_ref()) {
                    let atol = (rtol * *weight).larger(rounding * *of_rate);
                    let tolerance = atol + rtol * x.abs().larger(y.abs());
                    *weight = tolerance.if_larger(T::from_f64(f64::MIN_POSITIVE), never).recip();
                }
                weights
            }
        }
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
        self.measure(&difference(near, rates));
        self.estimate([state, rates, next], (h, at_rest), continues, |entry| clock == Some(entry));
    }

    /// Takes a change of the rates that is made of roundings, if it is finite.
    fn measure(&mut self, change: &V) {
        for (rounding, change) in self.roundings.as_mut().iter_mut().zip(change.as_ref()) {
            if change.is_finite() {
                *rounding = rounding.max(change.abs());
            }
        }
    }

    /// Gives variables that are 0 a size after an attempt at a step of size `h` to `next` that was rejected: what they would reach at that
    /// pace in the time in which the other variables change by their sizes, or where nothing else moves, in the run.
    /// Where a contact or a force that sets in moves a body at rest, the error of its motion has the size of that motion, however short
    /// the step.
    fn estimate(
        &mut self,
        [state, rates, next]: [&V; 3],
        (h, at_rest): (f64, Option<f64>),
        continues: impl Fn(usize) -> bool,
        is_clock: impl Fn(usize) -> bool,
    ) {
        let at_state = largest_of_variables(state, &continues);
        let is_moving = |i: usize| !is_clock(i) && at_state.as_ref().get(i).is_some_and(|size| *size > 0.0);
        let speed = match relative(rates, &self.largest, is_moving) {
            speed if speed > 0.0 => speed,
            _ => at_rest.map_or(0.0, |longest| OF_RUN / longest),
        };
        let reached = largest_of_variables(next, continues);
        for ((largest, at_state), reached) in
            self.largest.as_mut().iter_mut().zip(at_state.as_ref()).zip(reached.as_ref())
        {
            let size = reached / (speed * h.abs());
            if *at_state == 0.0 && size.is_finite() {
                *largest = size;
            }
        }
    }
}

/// The root mean square of the entries that count, each in units of its size; those without a size are left out.
pub(crate) fn relative<V: Entries<f64>>(v: &V, sizes: &V, is_counted: impl Fn(usize) -> bool) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (i, (entry, size)) in v.as_ref().iter().zip(sizes.as_ref()).enumerate() {
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
pub(crate) fn largest_of_variables<V: Entries<T>, T: Larger>(x: &V, continues: impl Fn(usize) -> bool) -> V {
    let mut sizes = *x;
    let entries = sizes.as_mut();
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
    sizes
}

/// A state with every entry but the time changed by a few roundings. Each number of attempts gives other ones.
pub(crate) fn nudged<V: Entries<f64>>(state: &V, clock: Option<usize>, attempts: u64) -> V {
    V::from_fn(|i| {
        let roundings = 2 + (attempts.wrapping_add(i as u64)) % 7;
        if clock == Some(i) { state[i] } else { state[i] * (1.0 + roundings as f64 * f64::EPSILON) }
    })
}

/// The root mean square of the weighed entries of a state with `dimension` entries.
#[inline]
pub(crate) fn norm<V: Entries<T>, T: Scalar>(v: &V, weights: &V, dimension: usize) -> T {
    mean_square(v, weights, dimension).sqrt()
}

/// The mean of the squares of the weighed entries of a state with `dimension` entries.
#[inline]
pub(crate) fn mean_square<V: Entries<T>, T: Scalar>(v: &V, weights: &V, dimension: usize) -> T {
    // Four sums, because the next step's size waits for this one.
    let mut sums = [T::from_f64(0.0); 4];
    for i in 0..V::LEN {
        let weighed = v[i] * weights[i];
        sums[i % 4] = sums[i % 4] + weighed * weighed;
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) / T::from_f64(dimension as f64)
}
