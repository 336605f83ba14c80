//! A step of an integration as a polynomial in time (HNW II.6).

use crate::entries::Entries;
use crate::linear::{difference, filled};
use crate::tableau::{Pair, advanced};

/// A step as a polynomial in time, of states of the type `V`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseOutput<V> {
    time: f64,
    h: f64,
    start: V,
    /// With s = (t - time) / h: start + s (c_0 + (1 - s) (c_1 + s (c_2 + (1 - s) (c_3 + ..)))).
    coefficients: [V; 7],
}

impl<V: Entries<f64>> DenseOutput<V> {
    /// The state of a step that was not made.
    pub(crate) fn constant(time: f64, start: V) -> Self {
        Self { time, h: 0.0, start, coefficients: [filled(0.0); 7] }
    }

    pub(crate) fn new<const STAGES: usize>(
        pair: &Pair<STAGES>,
        time: f64,
        h: f64,
        start: V,
        end: &V,
        stages: &[V; STAGES],
    ) -> Self {
        let rise = difference(end, &start);
        let bend = V::from_fn(|i| stages[0][i] * h - rise[i]);
        let last = V::from_fn(|i| rise[i] - stages[pair.last()][i] * h - bend[i]);
        let zero = filled(0.0);
        let [c3, c4, c5, c6] = pair.dense.map(|weights| advanced(&zero, h, stages, &weights));
        Self { time, h, start, coefficients: [rise, bend, last, c3, c4, c5, c6] }
    }

    /// The state at a time in the step; beyond its ends the polynomial soon leaves the solution.
    pub fn at(&self, time: f64) -> V {
        let s = if self.h == 0.0 { 0.0 } else { (time - self.time) / self.h };
        let mut sum: V = filled(0.0);
        for (number, coefficient) in self.coefficients.iter().enumerate().rev() {
            let factor = if number.is_multiple_of(2) { s } else { 1.0 - s };
            sum = V::from_fn(|i| (sum[i] + coefficient[i]) * factor);
        }
        V::from_fn(|i| self.start[i] + sum[i])
    }
}
