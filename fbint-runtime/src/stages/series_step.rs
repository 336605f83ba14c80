//! The size and the end of a step of Taylor's method, from the coefficients.
//!
//! The last two coefficients say how far from the start the series converges: rho is the smaller one of (s / |x_P|)^(1/P) and
//! (s / |x_{P-1}|)^(1/(P-1)), where s is the size of a variable. A step of h = tolerance^(1/P) rho has a last term of the tolerance times s.
//! The order P follows from the tolerance so that h is about a sixth of rho, near the 1 / e^2 that takes the least work (Jorba and Zou,
//! Experimental Mathematics 14, 2005, where the factor e^(-0.7 / (P - 1)) for safety comes from). No step is rejected.

use std::vec::Vec;

use crate::error::{Error, positive};
use crate::numbers::blocks::{Blocks, LENGTH};
use crate::numbers::entries::{Entries, Numbers};
use crate::numbers::larger::Larger;
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::stages::step_size::{REST, StepLimits};
use crate::stages::tolerance::FADING;
use crate::system::SystemFacts;
use crate::system::taylor::order_of;

/// The largest part of rho that a step takes, by its logarithm to the base 2.
const LARGEST_SHARE: f64 = -core::f64::consts::LOG2_E;

/// The number of tolerances by which the rates of a field and those of its series may change a step: truncation explains some.
const APART: f64 = 1e4;

/// The slope of a polynomial with these coefficients.
pub(crate) fn slope<T: Scalar>(order: usize, coefficient: impl Fn(usize) -> T, at: T) -> T {
    let add = |sum: T, n: usize| sum.mul_add(at, T::from_f64(n as f64) * coefficient(n));
    (1..=order).rev().fold(T::from_f64(0.0), add)
}

/// The rule for the steps of one solution.
#[derive(Clone, Copy, Debug)]
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

impl<V: Numbers> StepRule<V> {
    /// `zeros` is as long as a state.
    ///
    /// # Errors
    ///
    /// If the tolerance or a scale is not positive or not finite.
    pub(crate) fn new(
        facts: &'static SystemFacts,
        tolerance: f64,
        zeros: V,
        scales: Option<V>,
        limits: StepLimits,
    ) -> Result<Self, Error> {
        let tolerance = positive("the tolerance", tolerance)?;
        for &scale in scales.iter().flat_map(|scales| &scales.as_ref()[..facts.state.len()]) {
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
            weights: zeros.clone(),
            has_new: false,
        };
        rule.take_sizes(scales.unwrap_or(zeros));
        Ok(rule)
    }

    /// The size of the variable of each entry.
    pub(crate) fn sizes(&self) -> &V {
        &self.sizes
    }

    /// Takes sizes of variables.
    #[inline(always)]
    pub(crate) fn take_sizes(&mut self, sizes: V) {
        let entries = self.facts.state.len();
        let of_entries = sizes.as_ref().iter().enumerate();
        self.has_new = of_entries.fold(false, |has_new, (i, size)| has_new | (*size == 0.0 && i < entries));
        self.weights = sizes.like(|i| weight(sizes.as_ref()[i]));
        self.sizes = sizes;
    }

    /// Lets sizes fade, but not below the size of the state, unless they are given.
    #[inline]
    pub(crate) fn remember(&mut self, state: &V) {
        if !self.are_sizes_given {
            self.resize(state, FADING);
        }
    }

    /// Lets each variable keep a part of its size, but have no less than its largest entry.
    #[inline(always)]
    fn resize(&mut self, entries: &V, kept: f64) {
        let (entries, known) = (entries.as_ref(), self.sizes.as_ref());
        let mut sizes = self.sizes.like(|i| entries[i].abs().larger(kept * known[i]));
        for variable in self.facts.variables.iter().filter(|variable| variable.indices.len() > 1) {
            if let Some(of_variable) = sizes.as_mut().get_mut(variable.entries()) {
                let (fours, rest) = of_variable.as_chunks();
                of_variable.fill(largest(fours.iter().copied(), rest.iter().copied()));
            }
        }
        self.take_sizes(sizes);
    }

    /// Returns `true` if the rates of the field in a state are the slopes of the polynomial of a step of this size there.
    pub(crate) fn keeps_to_the_field(&self, [state, rates, slopes]: [&V; 3], size: f64) -> bool {
        let (state, rates, slopes, sizes) = (state.as_ref(), rates.as_ref(), slopes.as_ref(), self.sizes.as_ref());
        (0..self.facts.state.len())
            .all(|i| (rates[i] - slopes[i]).abs() * size <= APART * self.tolerance * sizes[i].max(state[i].abs()))
    }

    /// The size of the step with these coefficients where `remaining` is left of the run, and whether it is the last one.
    #[inline(always)]
    pub(crate) fn size<R: AsRef<[f64]>>(&mut self, row: impl Fn(usize) -> R, remaining: f64) -> (f64, bool) {
        let mut size = self.proposed(&row, remaining).min(self.limits.most);
        if let Some(at_rest) = self.limits.at_rest.filter(|at_rest| size > *at_rest)
            && self.rests(row(1).as_ref(), at_rest)
        {
            size = at_rest;
        }
        let is_last = 1.01 * size >= remaining && remaining <= self.limits.most;
        (if is_last { remaining } else { size }, is_last)
    }

    /// The size that the coefficients suggest for a step of at most `remaining`.
    #[inline(always)]
    fn proposed<R: AsRef<[f64]>>(&mut self, row: &impl Fn(usize) -> R, remaining: f64) -> f64 {
        let ends = [row(self.order), row(self.order - 1)];
        let ends = [ends[0].as_ref(), ends[1].as_ref()];
        let size = self.converging(ends, remaining);
        if !self.has_new {
            return size;
        }
        self.proposed_of_new(ends, [row(1).as_ref(), row(2).as_ref()], remaining)
    }

    /// A variable that begins at 0 gets a size from how far the step takes it.
    #[cold]
    fn proposed_of_new(&mut self, ends: [&[f64]; 2], [first, second]: [&[f64]; 2], remaining: f64) -> f64 {
        let mut size = self.converging(ends, remaining);
        let has_none = |(size, last): (&f64, &f64)| *size == 0.0 && *last != 0.0;
        if !ends.iter().any(|row| self.sizes.as_ref().iter().zip(*row).any(has_none)) {
            return size;
        }
        let known = self.sizes.clone();
        // Sizes matter by their roots of high order.
        for _ in 0..4 {
            let moved = known.like(|i| (first[i] * size).abs().max((second[i] * size * size).abs()));
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
        let (fours, rest) = row.as_chunks::<4>();
        let (weights, last_weights) = self.weights.as_ref().as_chunks::<4>();
        let fours = fours.iter().zip(weights).map(|(row, weights)| core::array::from_fn(|i| row[i] * weights[i]));
        largest(fours, rest.iter().zip(last_weights).map(|(entry, weight)| entry * weight))
    }

    /// Returns `true` if nothing but the time moves in a step of this size.
    fn rests(&self, rates: &[f64], size: f64) -> bool {
        let (clock, sizes) = (self.facts.clock, self.sizes.as_ref());
        let moves = |i: usize| Some(i) != clock && rates[i].abs() * size > REST * self.tolerance * sizes[i];
        !(0..sizes.len()).any(moves)
    }
}

/// 1 / size, if there is one.
#[inline(always)]
fn weight(size: f64) -> f64 {
    if size >= f64::MIN_POSITIVE { 1.0 / size } else { 0.0 }
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

    /// All coefficients.
    #[inline(always)]
    pub(crate) fn list(&self) -> &[f64] {
        &self.list
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
}

/// The number of entries whose change is computed side by side.
const BLOCK: usize = 8;
/// This number where a state has fewer entries than its vector, which are followed by zeros.
const PART: usize = 4;

/// The change of a state of some entries in a step of size h, by the coefficients up to an order.
#[inline(always)]
pub(crate) fn change<'c, T: Scalar, V: Entries<T> + 'c>(
    order: usize,
    entries: usize,
    row: impl Fn(usize) -> &'c V,
    h: T,
) -> V {
    if V::LEN <= BLOCK && entries + PART > V::LEN {
        return sum(order, |n| *row(n), h);
    }
    // What is under way stays in registers.
    if V::LEN <= BLOCK {
        in_blocks::<PART, _, _>(order, entries, row, h)
    } else {
        in_blocks::<BLOCK, _, _>(order, entries, row, h)
    }
}

#[inline(always)]
fn in_blocks<'c, const B: usize, T: Scalar, V: Entries<T> + 'c>(
    order: usize,
    entries: usize,
    row: impl Fn(usize) -> &'c V,
    h: T,
) -> V {
    let mut change: V = filled(T::from_f64(0.0));
    let (blocks, rest) = change.as_mut().as_chunks_mut::<B>();
    for (place, block) in blocks.iter_mut().enumerate().take(entries.div_ceil(B)) {
        *block = sum(order, |n| row(n).as_ref().as_chunks().0[place], h);
    }
    for (place, entry) in rest.iter_mut().enumerate() {
        [*entry] = sum(order, |n| [row(n).as_ref().as_chunks::<B>().1[place]], h);
    }
    change
}

/// [`change`] of a list, by rows of whole blocks.
pub(crate) fn change_in_lists<'c>(order: usize, entries: usize, row: impl Fn(usize) -> &'c [f64], h: f64) -> Blocks {
    let mut change = Blocks::zeros(entries);
    for (place, block) in change.blocks_mut().iter_mut().enumerate() {
        *block = sum(order, |n| row(n).as_chunks::<LENGTH>().0[place], h);
    }
    change
}

/// The sum of the terms of the orders from 1 on. Even and odd powers are added up side by side.
#[inline(always)]
fn sum<T: Scalar, A: Entries<T>>(order: usize, row: impl Fn(usize) -> A, h: T) -> A {
    let square = h * h;
    let [mut high, mut low] = [row(order), row(order - 1)];
    let mut next = order - 1;
    while next > 2 {
        next -= 2;
        let (above, below) = (row(next + 1), row(next));
        for i in 0..A::LEN {
            high[i] = Scalar::mul_add(high[i], square, above[i]);
            low[i] = Scalar::mul_add(low[i], square, below[i]);
        }
    }
    // The rest begins with h, or with h^2.
    if next == 1 {
        return Entries::from_fn(|i| Scalar::mul_add(high[i], square, low[i] * h));
    }
    let first = row(1);
    Entries::from_fn(|i| Scalar::mul_add(Scalar::mul_add(high[i], h, low[i]), square, first[i] * h))
}

/// Where a change and what was carried lead from a state, and what rounding takes from that. The time takes nothing, because every step ends
/// at a double, and is as long as the difference of two of them.
#[inline(always)]
pub(crate) fn carried<T: Scalar, V: Clone + AsRef<[T]> + AsMut<[T]>>(
    begin: &V,
    change: &V,
    carry: &mut V,
    clock: Option<usize>,
) -> V {
    let mut next = begin.clone();
    let entries = next.as_mut().iter_mut().zip(begin.as_ref()).zip(change.as_ref().iter().zip(carry.as_mut()));
    for ((next, begin), (change, carry)) in entries {
        let added = *change + *carry;
        *next = *begin + added;
        *carry = added - (*next - *begin);
    }
    if let Some(clock) = clock {
        carry.as_mut()[clock] = T::from_f64(0.0);
    }
    next
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
                let row = |n| std::array::from_fn(|i| 1.0 / (n + i) as f64);
                let rows: Vec<[f64; N]> = (1..=order + 1).map(row).collect();
                for entries in [N, N.div_ceil(3)] {
                    // What is beyond the entries may be computed, or 0, as all of it is where the coefficients are 0.
                    let change = change(order, entries, |n| &rows[n], 0.3);
                    for (i, change) in change.iter().enumerate() {
                        let expected: f64 = (1..=order).map(|n| rows[n][i] * 0.3_f64.powi(n as i32)).sum();
                        let is_beyond = i >= entries && *change == 0.0;
                        assert!((change - expected).abs() < 1e-15 || is_beyond, "{order}: {change} {expected}");
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
