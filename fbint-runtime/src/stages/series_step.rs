//! The size and the end of a step of Taylor's method, from the coefficients.
//!
//! The last two coefficients say how far from the start the series converges: rho is the smaller one of (s / |x_P|)^(1/P) and
//! (s / |x_{P-1}|)^(1/(P-1)), where s is the size of a variable. A step of h = tolerance^(1/P) rho has a last term of the tolerance times s.
//! The order P follows from the tolerance so that h is about a sixth of rho, near the 1 / e^2 that takes the least work (Jorba and Zou,
//! Experimental Mathematics 14, 2005, where the factor e^(-0.7 / (P - 1)) for safety comes from). No step is rejected.

use std::vec::Vec;

use crate::error::{Error, positive};
use crate::numbers::entries::Entries;
use crate::numbers::larger::Larger;
use crate::numbers::scalar::Scalar;
use crate::stages::step_size::{REST, StepLimits};
use crate::stages::tolerance::FADING;
use crate::system::SystemFacts;
use crate::system::taylor::order_of;

/// The largest part of rho that a step takes, by its logarithm to the base 2.
const LARGEST_SHARE: f64 = -core::f64::consts::LOG2_E;

/// A step keeps to the field if the difference of their rates changes it by at most this many tolerances. Truncation explains a few.
const APART: f64 = 1e4;
/// The places at which a step is compared with the field: of one that its series ends, and of one with a last term that is shorter than this
/// part of the tolerance.
const PLACES: [u32; 2] = [2, 64];
const SHORT: f64 = 1e-3;

/// The slope of a polynomial with these coefficients.
pub(crate) fn slope<T: Scalar>(order: usize, coefficient: impl Fn(usize) -> T, at: T) -> T {
    let add = |sum: T, n: usize| sum.mul_add(at, T::from_f64(n as f64) * coefficient(n));
    (1..=order).rev().fold(T::from_f64(0.0), add)
}

/// The rule for the steps of one solution, with a number for each entry in a vector or in a list.
#[derive(Clone, Debug)]
pub(crate) struct StepRule<V> {
    facts: &'static SystemFacts,
    pub(crate) tolerance: f64,
    pub(crate) order: usize,
    /// 1 / P and 1 / (P - 1).
    roots: [f64; 2],
    /// The part of rho that a step takes, by its logarithm.
    log_share: f64,
    limits: StepLimits,
    /// The size of the variable of each entry, in the last steps, unless it is given.
    sizes: V,
    are_sizes_given: bool,
    /// The reciprocals, with 0 for a variable without a size, which counts for nothing.
    weights: V,
    /// `true` if a variable has no size, because it was 0 so far.
    has_new: bool,
}

impl<V: Clone + AsRef<[f64]> + AsMut<[f64]>> StepRule<V> {
    /// `zeros` is as long as a state.
    ///
    /// # Errors
    ///
    /// If the tolerance or a scale is not positive or not finite.
    pub(crate) fn new(
        facts: &'static SystemFacts,
        tolerance: f64,
        zeros: V,
        scales: Option<&[f64]>,
        limits: StepLimits,
    ) -> Result<Self, Error> {
        let tolerance = positive("the tolerance", tolerance)?;
        for &scale in scales.unwrap_or_default() {
            positive("the scale of an entry", scale)?;
        }
        let order = order_of(tolerance);
        let roots = [1.0 / order as f64, 1.0 / (order - 1) as f64];
        let (of_tolerance, safety) = (log2(tolerance) * roots[0], 0.7 * core::f64::consts::LOG2_E * roots[1]);
        let mut rule = Self {
            facts,
            tolerance,
            order,
            roots,
            log_share: of_tolerance.min(LARGEST_SHARE) - safety,
            limits,
            sizes: zeros.clone(),
            are_sizes_given: scales.is_some(),
            weights: zeros,
            has_new: true,
        };
        if let Some(scales) = scales {
            rule.take_sizes(scales);
        }
        Ok(rule)
    }

    /// The size of the variable of each entry.
    pub(crate) fn sizes(&self) -> &[f64] {
        self.sizes.as_ref()
    }

    /// Takes sizes of variables.
    pub(crate) fn take_sizes(&mut self, sizes: &[f64]) {
        self.sizes.as_mut().copy_from_slice(sizes);
        self.weigh();
    }

    #[inline(always)]
    fn weigh(&mut self) {
        self.has_new = false;
        for (weight, size) in self.weights.as_mut().iter_mut().zip(self.sizes.as_ref()) {
            self.has_new |= *size == 0.0;
            *weight = if *size >= f64::MIN_POSITIVE { 1.0 / size } else { 0.0 };
        }
    }

    /// Lets sizes fade, but not below the size of the state, unless they are given.
    #[inline]
    pub(crate) fn remember(&mut self, state: &[f64]) {
        if !self.are_sizes_given {
            self.resize(state, FADING);
        }
    }

    /// Lets each variable keep a part of its size, but have no less than its largest entry.
    #[inline(always)]
    fn resize(&mut self, entries: &[f64], kept: f64) {
        let sizes = self.sizes.as_mut();
        for (size, entry) in sizes.iter_mut().zip(entries) {
            *size = entry.abs().larger(kept * *size);
        }
        for variable in self.facts.variables.iter().filter(|variable| variable.indices.len() > 1) {
            if let Some(of_variable) = sizes.get_mut(variable.entries()) {
                let (fours, rest) = of_variable.as_chunks();
                of_variable.fill(largest(fours.iter().copied(), rest.iter().copied()));
            }
        }
        self.weigh();
    }

    /// The number of places at which a step of this size, by the last coefficients, has to be compared with the field: many where the series
    /// would go on beyond it, and may not know what comes.
    pub(crate) fn places(&self, last: &[f64], size: f64) -> u32 {
        let (power, [usual, many]) = (Scalar::powi(size, self.order as i32), PLACES);
        let is_short = |(last, own): (&f64, &f64)| last.abs() * power <= SHORT * self.tolerance * own;
        if last.iter().zip(self.sizes.as_ref()).all(is_short) { many } else { usual }
    }

    /// Returns `true` if the rates of the field in a state are the slopes of the polynomial of a step of this size there.
    pub(crate) fn keeps_to_the_field(&self, [state, rates, slopes]: [&V; 3], size: f64) -> bool {
        let (state, rates, slopes, sizes) = (state.as_ref(), rates.as_ref(), slopes.as_ref(), self.sizes.as_ref());
        (0..self.facts.state.len())
            .all(|i| (rates[i] - slopes[i]).abs() * size <= APART * self.tolerance * sizes[i].max(state[i].abs()))
    }

    /// The size of the step with these coefficients where `remaining` is left of the run, and whether it is the last one.
    #[inline]
    pub(crate) fn size<R: AsRef<[f64]>>(&mut self, row: impl Fn(usize) -> R, remaining: f64) -> (f64, bool) {
        let ends = [row(self.order), row(self.order - 1)];
        let ends = [ends[0].as_ref(), ends[1].as_ref()];
        let mut size = self.converging(ends, remaining);
        if self.has_new {
            size = self.converging_of_new(size, ends, [row(1).as_ref(), row(2).as_ref()], remaining);
        }
        size = size.min(self.limits.most);
        if let Some(at_rest) = self.limits.at_rest.filter(|at_rest| size > *at_rest)
            && self.rests(row(1).as_ref(), at_rest)
        {
            size = at_rest;
        }
        let is_last = 1.01 * size >= remaining && remaining <= self.limits.most;
        (if is_last { remaining } else { size }, is_last)
    }

    /// A variable that begins at 0 gets a size from how far the step takes it.
    #[cold]
    fn converging_of_new(
        &mut self,
        mut size: f64,
        ends: [&[f64]; 2],
        [first, second]: [&[f64]; 2],
        remaining: f64,
    ) -> f64 {
        let has_none = |(size, last): (&f64, &f64)| *size == 0.0 && *last != 0.0;
        if !ends.iter().any(|row| self.sizes().iter().zip(*row).any(has_none)) {
            return size;
        }
        let known = self.sizes.clone();
        // Sizes matter by their roots of high order.
        for _ in 0..4 {
            let moved = |(first, second): (&f64, &f64)| (first * size).abs().max((second * size * size).abs());
            let moved: Vec<f64> = first.iter().zip(second).map(moved).collect();
            self.sizes = known.clone();
            self.resize(&moved, 1.0);
            size = self.converging(ends, remaining);
        }
        size
    }

    /// The share of the radius of convergence of all variables that have a size.
    #[inline(always)]
    fn converging(&self, ends: [&[f64]; 2], remaining: f64) -> f64 {
        let [last, before] = [self.largest_part(ends[0]), self.largest_part(ends[1])];
        let log_rate = (log2(last) * self.roots[0]).larger(log2(before) * self.roots[1]);
        // Of a polynomial solution these coefficients vanish.
        if log_rate == f64::NEG_INFINITY { remaining } else { exp2(self.log_share - log_rate) }
    }

    /// The largest entry as a part of the size of its variable.
    #[inline(always)]
    fn largest_part(&self, row: &[f64]) -> f64 {
        let weights = self.weights.as_ref();
        let (fours, rest) = row[..weights.len()].as_chunks::<4>();
        let (weights, last_weights) = weights.as_chunks::<4>();
        let fours = fours.iter().zip(weights).map(|(row, weights)| core::array::from_fn(|i| row[i] * weights[i]));
        largest(fours, rest.iter().zip(last_weights).map(|(entry, weight)| entry * weight))
    }

    /// Returns `true` if nothing but the time moves in a step of this size.
    fn rests(&self, rates: &[f64], size: f64) -> bool {
        let (clock, sizes) = (self.facts.clock, self.sizes());
        let moves = |i: usize| Some(i) != clock && rates[i].abs() * size > REST * self.tolerance * sizes[i];
        !(0..sizes.len()).any(moves)
    }
}

/// The largest size of these numbers, which come in fours and one by one. What is not a number is none.
#[inline(always)]
fn largest(fours: impl Iterator<Item = [f64; 4]>, rest: impl Iterator<Item = f64>) -> f64 {
    let larger = |largest: [f64; 4], four: [f64; 4]| core::array::from_fn(|i| four[i].abs().larger(largest[i]));
    rest.chain(fours.fold([0.0; 4], larger)).fold(0.0, |largest, number| number.abs().larger(largest))
}

/// Returns `true` if no step of this size is possible. A solution that is not a number suggests no size at all, and is told by its entries.
pub(crate) fn is_too_short(size: f64, time: f64) -> bool {
    0.1 * size <= time.abs() * f64::EPSILON || size < f64::MIN_POSITIVE
}

/// The coefficients of a series one after the other, of the order 0 first. Rows may be longer than a state.
pub(crate) struct SeriesRows {
    list: Vec<f64>,
    stride: usize,
}

impl SeriesRows {
    /// Room for the orders up to this one.
    pub(crate) fn zeros(order: usize, stride: usize) -> Self {
        Self { list: vec![0.0; (order + 1) * stride], stride }
    }

    /// The highest order.
    pub(crate) fn order(&self) -> usize {
        self.list.len() / self.stride - 1
    }

    /// The coefficients of an order.
    #[inline(always)]
    pub(crate) fn row(&self, order: usize) -> &[f64] {
        &self.list[order * self.stride..][..self.stride]
    }

    /// All coefficients of a series that begins at this state.
    pub(crate) fn from(&mut self, x: &[f64]) -> &mut [f64] {
        self.list[..x.len()].copy_from_slice(x);
        &mut self.list
    }

    /// The change of a state in a step of size h.
    pub(crate) fn change(&self, h: f64, change: &mut [f64]) {
        self::change(&self.list, self.stride, h, change);
    }
}

/// The change of a state in a step of size h, by coefficients that follow one another at a distance, of the order 0 first.
pub(crate) fn change<T: Scalar>(coefficients: &[T], distance: usize, h: T, change: &mut [T]) {
    // As many entries side by side as registers hold.
    let (eights, rest) = change.as_chunks_mut::<8>();
    let (fours, rest_of_fours) = rest.as_chunks_mut::<4>();
    let (twos, ones) = rest_of_fours.as_chunks_mut::<2>();
    let mut entry = 0;
    sums(eights, coefficients, distance, h, &mut entry);
    sums(fours, coefficients, distance, h, &mut entry);
    sums(twos, coefficients, distance, h, &mut entry);
    sums(ones.as_chunks_mut::<1>().0, coefficients, distance, h, &mut entry);
}

/// The sums of the terms of the orders from 1 on, of entries from one on. Even and odd powers are added up side by side.
#[inline(always)]
fn sums<T: Scalar, const B: usize>(
    blocks: &mut [[T; B]],
    coefficients: &[T],
    distance: usize,
    h: T,
    entry: &mut usize,
) {
    let (order, square) = (coefficients.len().div_ceil(distance) - 1, h * h);
    for block in blocks {
        let (rows, ends) = coefficients[distance + *entry..].split_at((order - 2) * distance);
        let [mut low, mut high]: [[T; B]; 2] = [of_block(ends), of_block(&ends[distance..])];
        // All pairs of rows are of one length, so that they are compared with a block's once.
        let pairs = rows.rchunks_exact(2 * distance);
        let first = pairs.remainder();
        for pair in pairs {
            let [below, above]: [[T; B]; 2] = [of_block(pair), of_block(&pair[distance..])];
            for i in 0..B {
                high[i] = Scalar::mul_add(high[i], square, above[i]);
                low[i] = Scalar::mul_add(low[i], square, below[i]);
            }
        }
        // The rest begins with h, or with h^2.
        *block = if first.is_empty() {
            Entries::from_fn(|i| Scalar::mul_add(high[i], square, low[i] * h))
        } else {
            let first: [T; B] = of_block(first);
            Entries::from_fn(|i| Scalar::mul_add(Scalar::mul_add(high[i], h, low[i]), square, first[i] * h))
        };
        *entry += B;
    }
}

#[inline(always)]
fn of_block<T: Scalar, const B: usize>(row: &[T]) -> [T; B] {
    let row = &row[..B];
    Entries::from_fn(|i| row[i])
}

/// Turns a change and what was carried into the next state, and the carry into what rounding takes from that state. The time takes nothing,
/// because every step ends at a double, and is as long as the difference of two of them.
#[inline(always)]
pub(crate) fn carry_on<T: Scalar>(begin: &[T], change: &mut [T], carry: &mut [T], clock: Option<usize>) {
    for ((begin, change), carry) in begin.iter().zip(change).zip(&mut *carry) {
        let added = *change + *carry;
        *change = *begin + added;
        *carry = added - (*change - *begin);
    }
    if let Some(clock) = clock {
        carry[clock] = T::from_f64(0.0);
    }
}

const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;

/// The logarithm to the base 2, to 1.5e-5: the size of a step needs no more.
#[inline(always)]
fn log2(x: f64) -> f64 {
    if !x.is_normal() {
        return if x < f64::MIN_POSITIVE { f64::NEG_INFINITY } else { x };
    }
    let (bits, [a, b, c, d, e, f]) = (
        x.to_bits(),
        [
            1.439_093e-5,
            1.441_592_077_206_544_3,
            -0.707_253_433_574_342_2,
            0.411_561_482_310_451_86,
            -0.189_832_446_526_681_35,
            0.043_928_627_847_954_65,
        ],
    );
    let exponent = (bits >> 52) as f64 - 1023.0;
    let part = f64::from_bits(bits & MANTISSA | ONE) - 1.0;
    exponent + polynomial([[a, b], [c, d], [e, f]], part)
}

/// 2^x, to 4e-6.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    if !(-1022.0..1023.0).contains(&x) {
        return if x > 0.0 { f64::INFINITY } else { 0.0 };
    }
    // Not `floor`, which is a function of the standard library.
    let shifted = x + 1023.0;
    let exponent = shifted as u64;
    let part = shifted - exponent as f64;
    let [a, b, c, d, e] = [
        1.000_003_597_144_564,
        0.692_969_550_931_913,
        0.241_621_322_662_925_44,
        0.051_717_735_460_203_99,
        0.013_683_982_893_832_95,
    ];
    f64::from_bits(exponent << 52) * polynomial([[a, b], [c, d], [e, 0.0]], part)
}

/// a + b x + c x^2 + ..
#[inline(always)]
fn polynomial(pairs: [[f64; 2]; 3], x: f64) -> f64 {
    let square = x * x;
    let [low, middle, high] = pairs.map(|[even, odd]| Scalar::mul_add(odd, x, even));
    Scalar::mul_add(Scalar::mul_add(high, square, middle), square, low)
}

#[cfg(test)]
mod tests {
    use super::{change, exp2, log2};

    #[test]
    fn changes_are_those_of_polynomials() {
        fn assert_of<const N: usize>() {
            for order in 4..=9 {
                let rows: Vec<[f64; N]> = (0..=order).map(|n| std::array::from_fn(|i| 1.0 / (n + i) as f64)).collect();
                // Rows may be longer than what is asked for.
                for entries in [N, N.div_ceil(3)] {
                    let mut changes = vec![0.0; entries];
                    change(rows.as_flattened(), N, 0.3, &mut changes);
                    for (i, change) in changes.iter().enumerate() {
                        let expected: f64 = (1..=order).map(|n| rows[n][i] * 0.3_f64.powi(n as i32)).sum();
                        assert!((change - expected).abs() < 1e-15, "{order}: {change} {expected}");
                    }
                }
            }
        }
        assert_of::<1>();
        assert_of::<8>();
        assert_of::<19>();
    }

    #[test]
    fn logarithms_and_powers_are_as_near_as_steps_need() {
        for step in -3000..3000 {
            let x = f64::from(step) / 3.0;
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 4e-6, "{x}");
            assert!((log2(x.exp2()) - x).abs() < 1.5e-5, "{x}");
        }
        assert_eq!((log2(0.0), log2(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((exp2(f64::NEG_INFINITY), exp2(2000.0)), (0.0, f64::INFINITY));
        assert_eq!(exp2(f64::NAN), 0.0);
    }
}
