//! The size and the end of a step of Taylor's method, from the coefficients.
//!
//! The last two coefficients say how far from the start the series converges: rho is the smaller one of (s / |x_P|)^(1/P) and
//! (s / |x_{P-1}|)^(1/(P-1)), where s is the size of a variable. A step of h = tolerance^(1/P) rho has a last term of the tolerance times s.
//! The order P follows from the tolerance so that h is about a sixth of rho, near the 1 / e^2 that takes the least work (Jorba and Zou,
//! Experimental Mathematics 14, 2005, where the factor e^(-0.7 / (P - 1)) for safety comes from). No step is rejected.

use crate::error::{Error, positive};
use crate::numbers::entries::Entries;
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::stages::step_size::{REST, StepLimits};
use crate::stages::tolerance::{FADING, largest_of_variables};
use crate::system::taylor::order_of;
use crate::system::{StateEntry, SystemFacts};

/// The largest part of rho that a step takes, by its logarithm to the base 2.
const LARGEST_SHARE: f64 = -core::f64::consts::LOG2_E;

/// The rule for the steps of one solution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepRule<V> {
    facts: &'static SystemFacts,
    pub(crate) tolerance: f64,
    pub(crate) order: usize,
    /// The part of rho that a step takes, by its logarithm.
    log_share: f64,
    limits: StepLimits,
    /// The size of the variable of each entry, in the last steps, unless it is given.
    pub(crate) sizes: V,
    are_sizes_given: bool,
}

impl<V: Entries<f64>> StepRule<V> {
    /// # Errors
    ///
    /// If the tolerance or a scale is not positive or not finite.
    pub(crate) fn new(
        facts: &'static SystemFacts,
        tolerance: f64,
        scales: Option<V>,
        limits: StepLimits,
    ) -> Result<Self, Error> {
        let tolerance = positive("the tolerance", tolerance)?;
        for &scale in scales.iter().flat_map(|scales| &scales.as_ref()[..facts.state.len()]) {
            positive("the scale of an entry", scale)?;
        }
        let order = order_of(tolerance);
        let (of_tolerance, safety) =
            (log2(tolerance) / order as f64, 0.7 * core::f64::consts::LOG2_E / (order - 1) as f64);
        Ok(Self {
            facts,
            tolerance,
            order,
            log_share: of_tolerance.min(LARGEST_SHARE) - safety,
            limits,
            sizes: scales.unwrap_or(filled(0.0)),
            are_sizes_given: scales.is_some(),
        })
    }

    /// Lets sizes fade, but not below the size of the state, unless they are given.
    pub(crate) fn remember(&mut self, state: &V) {
        if self.are_sizes_given {
            return;
        }
        let sizes = self.largest(state);
        self.sizes = Entries::from_fn(|i| sizes[i].max(FADING * self.sizes[i]));
    }

    /// The largest entry of the variable of each entry.
    fn largest(&self, x: &V) -> V {
        largest_of_variables(x, |entry| StateEntry::continues(self.facts.state, entry))
    }

    /// The size of the step with these coefficients where `remaining` is left of the run, and whether it is the last one.
    pub(crate) fn size(&mut self, row: impl Fn(usize) -> V, remaining: f64) -> (f64, bool) {
        let mut size = self.proposed(&row, remaining).min(self.limits.most);
        if let Some(at_rest) = self.limits.at_rest.filter(|at_rest| size > *at_rest)
            && self.rests(&row(1), at_rest)
        {
            size = at_rest;
        }
        let is_last = 1.01 * size >= remaining && remaining <= self.limits.most;
        (if is_last { remaining } else { size }, is_last)
    }

    /// The size that the coefficients suggest for a step of at most `remaining`.
    fn proposed(&mut self, row: &impl Fn(usize) -> V, remaining: f64) -> f64 {
        let ends = [row(self.order - 1), row(self.order)];
        let size = self.converging(&ends, remaining);
        // A variable that begins at 0 gets a size from how far the step takes it.
        let has_none = |(size, last): (&f64, &f64)| *size == 0.0 && *last != 0.0;
        let is_new = ends.iter().any(|row| self.sizes.as_ref().iter().zip(row.as_ref()).any(has_none));
        if !is_new {
            return size;
        }
        let (known, mut size, [first, second]) = (self.sizes, size, [row(1), row(2)]);
        // Sizes matter by their roots of high order.
        for _ in 0..4 {
            let moved = V::from_fn(|i| (first[i] * size).abs().max((second[i] * size * size).abs()));
            let moved = self.largest(&moved);
            self.sizes = Entries::from_fn(|i| known[i].max(moved[i]));
            size = self.converging(&ends, remaining);
        }
        size
    }

    /// The share of the radius of convergence of all variables that have a size.
    fn converging(&self, [before, last]: &[V; 2], remaining: f64) -> f64 {
        // A variable without a size counts for nothing. Side by side these are a few divisions.
        let inverses = V::from_fn(|i| if self.sizes[i] >= f64::MIN_POSITIVE { 1.0 / self.sizes[i] } else { 0.0 });
        let largest = |row: &V| {
            let larger = |largest: f64, ratio: f64| if ratio > largest { ratio } else { largest };
            (0..V::LEN).map(|i| row[i].abs() * inverses[i]).fold(0.0, larger)
        };
        let order = self.order as f64;
        let log_rate = (log2(largest(last)) / order).max(log2(largest(before)) / (order - 1.0));
        // Of a polynomial solution these coefficients vanish.
        if log_rate == f64::NEG_INFINITY { remaining } else { exp2(self.log_share - log_rate) }
    }

    /// Whether nothing but the time moves in a step of this size.
    fn rests(&self, rates: &V, size: f64) -> bool {
        let clock = self.facts.clock;
        let moves = |i: usize| Some(i) != clock && rates[i].abs() * size > REST * self.tolerance * self.sizes[i];
        !(0..V::LEN).any(moves)
    }
}

/// Whether no step of this size is possible. A solution that is not a number suggests no size at all, and is told by its entries.
pub(crate) fn is_too_short(size: f64, time: f64) -> bool {
    0.1 * size <= time.abs() * f64::EPSILON || size < f64::MIN_POSITIVE
}

/// The change of a state in a step of size h, by the coefficients up to an order. Even and odd powers are added up side by side.
#[inline(always)]
pub(crate) fn change<'c, T: Scalar, V: Entries<T> + 'c>(order: usize, row: impl Fn(usize) -> &'c V, h: T) -> V {
    let square = h * h;
    let [mut high, mut low] = [*row(order), *row(order - 1)];
    let mut next = order - 1;
    while next > 2 {
        next -= 2;
        for i in 0..V::LEN {
            high[i] = Scalar::mul_add(high[i], square, row(next + 1)[i]);
            low[i] = Scalar::mul_add(low[i], square, row(next)[i]);
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
pub(crate) fn carried<T: Scalar, V: Entries<T>>(begin: &V, change: &V, carry: &mut V, clock: Option<usize>) -> V {
    let mut next = *begin;
    for i in 0..V::LEN {
        let added = change[i] + carry[i];
        next[i] = begin[i] + added;
        carry[i] = added - (next[i] - begin[i]);
    }
    if let Some(clock) = clock {
        carry[clock] = T::from_f64(0.0);
    }
    next
}

const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;

/// The logarithm to the base 2, to 1.5e-5: the size of a step needs no more.
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
    let square = part * part;
    exponent + (a + b * part + square * (c + d * part + square * (e + f * part)))
}

/// 2^x, to 4e-6.
fn exp2(x: f64) -> f64 {
    if !(-1022.0..1023.0).contains(&x) {
        return if x > 0.0 { f64::INFINITY } else { 0.0 };
    }
    // Not `floor`, which is a function of the standard library.
    let shifted = x + 1023.0;
    let exponent = shifted as u64;
    let part = shifted - exponent as f64;
    let square = part * part;
    let [a, b, c, d, e] = [
        1.000_003_597_144_564,
        0.692_969_550_931_913,
        0.241_621_322_662_925_44,
        0.051_717_735_460_203_99,
        0.013_683_982_893_832_95,
    ];
    f64::from_bits(exponent << 52) * (a + b * part + square * (c + d * part + square * e))
}

#[cfg(test)]
mod tests {
    use super::{change, exp2, log2};

    #[test]
    fn changes_are_those_of_polynomials() {
        for order in 4..=9 {
            let rows: Vec<[f64; 1]> = (0..=order).map(|n| [1.0 / (n as f64 + 1.0)]).collect();
            let expected: f64 = (1..=order).map(|n| rows[n][0] * 0.3_f64.powi(n as i32)).sum();
            let change = change(order, |n| &rows[n], 0.3);
            assert!((change[0] - expected).abs() < 1e-15, "{order}: {change:?} {expected}");
        }
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
