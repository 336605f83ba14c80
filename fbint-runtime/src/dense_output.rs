//! A step of an integration as a polynomial in time (HNW II.6).

use crate::entries::Entries;
use crate::linear::{difference, filled};
use crate::scalar::Scalar;
use crate::tableau::{Pair, advanced};

/// A step as a polynomial in time, of states of the type `V`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseOutput<V> {
    time: f64,
    h: f64,
    polynomial: Polynomial<V>,
}

/// A polynomial in the fraction s of a step: start + s (c_0 + (1 - s) (c_1 + s (c_2 + (1 - s) (c_3 + ..)))).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Polynomial<V> {
    start: V,
    coefficients: [V; 7],
}

impl<V: Entries<f64>> DenseOutput<V> {
    /// The state of a step that was not made.
    pub(crate) fn constant(time: f64, start: V) -> Self {
        Self { time, h: 0.0, polynomial: Polynomial { start, coefficients: [filled(0.0); 7] } }
    }

    pub(crate) fn new<const STAGES: usize>(
        pair: &Pair<STAGES>,
        time: f64,
        h: f64,
        start: V,
        end: &V,
        stages: &[V; STAGES],
    ) -> Self {
        Self { time, h, polynomial: Polynomial::new(pair, h, start, end, stages) }
    }

    /// The state at a time in the step; beyond its ends the polynomial soon leaves the solution.
    pub fn at(&self, time: f64) -> V {
        self.polynomial.at(if self.h == 0.0 { 0.0 } else { (time - self.time) / self.h })
    }
}

impl<V> Polynomial<V> {
    /// Of a step of size `h` with these stages.
    pub(crate) fn new<T: Scalar, const STAGES: usize>(
        pair: &Pair<STAGES>,
        h: T,
        start: V,
        end: &V,
        stages: &[V; STAGES],
    ) -> Self
    where
        V: Entries<T>,
    {
        let rise = difference(end, &start);
        let bend = V::from_fn(|i| stages[0][i] * h - rise[i]);
        let last = V::from_fn(|i| rise[i] - stages[pair.last()][i] * h - bend[i]);
        let zero = filled(T::from_f64(0.0));
        let [c3, c4, c5, c6] = pair.dense.map(|weights| advanced(&zero, h, stages, &weights));
        Self { start, coefficients: [rise, bend, last, c3, c4, c5, c6] }
    }

    /// The state after the fraction `s` of the step.
    pub(crate) fn at<T: Scalar>(&self, s: T) -> V
    where
        V: Entries<T>,
    {
        let mut sum: V = filled(T::from_f64(0.0));
        for (number, coefficient) in self.coefficients.iter().enumerate().rev() {
            let factor = if number.is_multiple_of(2) { s } else { T::from_f64(1.0) - s };
            sum = V::from_fn(|i| (sum[i] + coefficient[i]) * factor);
        }
        V::from_fn(|i| self.start[i] + sum[i])
    }
}
