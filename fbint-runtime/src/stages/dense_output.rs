//! A step of an integration as a polynomial in time (HNW II.6).

use crate::numbers::entries::Entries;
use crate::numbers::linear::{difference, filled};
use crate::numbers::scalar::Scalar;
use crate::stages::tableau::{Pair, advanced};

/// A step as a polynomial in time, of states of the type `V`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DenseOutput<V> {
    time: f64,
    h: f64,
    polynomial: Interpolant<V>,
}

/// A polynomial in the fraction s of a step: start + s (c_0 + (1 - s) (c_1 + s (c_2 + (1 - s) (c_3 + ..)))).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Interpolant<V> {
    start: V,
    coefficients: [V; 7],
}

impl<V: Entries<f64>> DenseOutput<V> {
    /// The state of a step that was not made.
    pub(crate) fn constant(time: f64, start: V) -> Self {
        Self { time, h: 0.0, polynomial: Interpolant { start, coefficients: [filled(0.0); 7] } }
    }

    pub(crate) fn new(pair: &Pair, time: f64, h: f64, start: V, end: &V, stages: &[V]) -> Self {
        Self { time, h, polynomial: Interpolant::new(pair, h, start, end, stages) }
    }

    /// The cubic polynomial with these states and rates at both ends of a step.
    #[cfg(feature = "std")]
    pub(crate) fn cubic(time: f64, h: f64, [start, end]: [V; 2], rates: &[V; 2]) -> Self {
        Self { time, h, polynomial: Interpolant::cubic(h, start, &end, rates) }
    }

    /// The step with these polynomials of its entries, at least one.
    #[cfg(feature = "std")]
    pub(crate) fn of_entries(entries: &[DenseOutput<[f64; 1]>]) -> Self {
        let vector = |number: &dyn Fn(&Interpolant<[f64; 1]>) -> f64| {
            V::from_fn(|i| entries.get(i).map_or(0.0, |entry| number(&entry.polynomial)))
        };
        let start = vector(&|polynomial| polynomial.start[0]);
        let coefficients = core::array::from_fn(|power| vector(&|polynomial| polynomial.coefficients[power][0]));
        Self { time: entries[0].time, h: entries[0].h, polynomial: Interpolant { start, coefficients } }
    }

    /// The time at the beginning of the step.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// One entry of the states.
    ///
    /// # Panics
    ///
    /// If the entry does not exist.
    pub fn entry(&self, index: usize) -> DenseOutput<[f64; 1]> {
        let mut polynomial = Interpolant { start: [self.polynomial.start[index]], coefficients: [[0.0]; 7] };
        for (of_entry, coefficient) in polynomial.coefficients.iter_mut().zip(&self.polynomial.coefficients) {
            *of_entry = [coefficient[index]];
        }
        DenseOutput { time: self.time, h: self.h, polynomial }
    }

    /// The state at a time in the step; beyond its ends the polynomial soon leaves the solution.
    pub fn at(&self, time: f64) -> V {
        self.polynomial.at(if self.h == 0.0 { 0.0 } else { (time - self.time) / self.h })
    }
}

#[cfg(feature = "std")]
impl DenseOutput<[f64; 1]> {
    /// A Taylor series from `from` on, as a polynomial of degree 7 from `after` later on, for as long as `h`: what is left out is of the
    /// order of (h / rho)^8, where rho is the radius of convergence.
    pub(crate) fn of_series(coefficients: impl DoubleEndedIterator<Item = f64>, from: f64, after: f64, h: f64) -> Self {
        // The series about the beginning, in the fraction of the piece.
        let mut about = [0.0; 8];
        for coefficient in coefficients.rev() {
            for power in (1..about.len()).rev() {
                about[power] = about[power] * after + about[power - 1] * h;
            }
            about[0] = about[0] * after + coefficient;
        }
        Self { time: from + after, h, polynomial: Interpolant::of_powers(about) }
    }
}

#[cfg(feature = "std")]
impl Interpolant<[f64; 1]> {
    /// The polynomial with these coefficients of 1, s, s^2 and so on: its value at 0 is taken off and the rest divided by s, then the value
    /// at 1 and the rest divided by 1 - s, by turns.
    fn of_powers([start, mut left @ ..]: [f64; 8]) -> Self {
        let mut coefficients = [[0.0]; 7];
        for (number, coefficient) in coefficients.iter_mut().enumerate() {
            let rest = &mut left[..7 - number];
            if number % 2 == 0 {
                // (1 - s) (r_0 + r_1 s + ..) has r_i - r_{i-1} at s^i.
                for i in (1..rest.len()).rev() {
                    rest[i] += rest.get(i + 1).copied().unwrap_or(0.0);
                }
                *coefficient = [rest[0] + rest.get(1).copied().unwrap_or(0.0)];
                for i in 0..rest.len() - 1 {
                    rest[i] = -rest[i + 1];
                }
            } else {
                *coefficient = [rest[0]];
                rest.copy_within(1.., 0);
            }
        }
        Self { start: [start], coefficients }
    }
}

impl<V> Interpolant<V> {
    /// The interpolant of a step of size `h` with these stages.
    pub(crate) fn new<T: Scalar>(pair: &Pair, h: T, start: V, end: &V, stages: &[V]) -> Self
    where
        V: Entries<T>,
    {
        let zero = filled(T::from_f64(0.0));
        let factor = if pair.is_implicit() { T::from_f64(1.0) } else { h };
        let mut further = [zero; 4];
        for (coefficient, weights) in further.iter_mut().zip(&pair.dense) {
            *coefficient = advanced(&zero, factor, stages, weights);
        }
        let [a, b, c, d] = further;
        if pair.is_implicit() {
            return Self { start, coefficients: [difference(end, &start), a, b, c, d, zero, zero] };
        }
        // The compiler does not see that a pair has these stages.
        let rates = [0, pair.last].map(|stage| stages.get(stage).copied().unwrap_or(zero));
        let mut polynomial = Self::cubic(h, start, end, &rates);
        polynomial.coefficients[3..].copy_from_slice(&further);
        polynomial
    }

    /// The cubic polynomial with these states and rates at both ends of a step of size `h` (Hermite).
    fn cubic<T: Scalar>(h: T, start: V, end: &V, rates: &[V; 2]) -> Self
    where
        V: Entries<T>,
    {
        let rise = difference(end, &start);
        let bend = V::from_fn(|i| rates[0][i] * h - rise[i]);
        let last = V::from_fn(|i| rise[i] - rates[1][i] * h - bend[i]);
        let zero = filled(T::from_f64(0.0));
        Self { start, coefficients: [rise, bend, last, zero, zero, zero, zero] }
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
