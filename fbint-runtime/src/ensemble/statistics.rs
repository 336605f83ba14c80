//! Means, variances and extremes over the members, one member at a time and in their order (Welford 1962).

use derive_where::derive_where;

use crate::entries::Entries;
use crate::linear::filled;
use crate::system::{FeedbackSystem, Integrals, Vector};

/// Statistics over the members of an ensemble of the system `S`, at one time.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Statistics<S: FeedbackSystem> {
    /// The time.
    pub time: f64,
    /// The number of members that did not fail, then or later, and whose runs have not ended before.
    pub members: u64,
    /// Statistics of the state, flat.
    pub state: Summary<Vector<S>>,
    /// Statistics of F - F_target.
    pub change: Summary<Integrals<S>>,
}

/// Statistics over all members of the entries of a vector, each entry by itself. Everything is NaN if there is no member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary<V> {
    /// The mean.
    pub mean: V,
    /// The sum of squared distances from the mean over the number of members less one; NaN if there is one member.
    pub variance: V,
    /// The least.
    pub min: V,
    /// The largest.
    pub max: V,
}

/// What a [`Summary`] needs of the members so far.
#[derive(Clone, Copy)]
pub(super) struct Moments<V> {
    count: u64,
    mean: V,
    squares: V,
    min: V,
    max: V,
}

impl<V: Entries<f64>> Default for Moments<V> {
    fn default() -> Self {
        let zero = filled(0.0);
        Self { count: 0, mean: zero, squares: zero, min: filled(f64::INFINITY), max: filled(f64::NEG_INFINITY) }
    }
}

impl<V: Entries<f64>> Moments<V> {
    pub(super) fn add(&mut self, quantities: &V) {
        self.count += 1;
        for i in 0..V::LEN {
            let ahead = quantities[i] - self.mean[i];
            self.mean[i] += ahead * (1.0 / self.count as f64);
            self.squares[i] += ahead * (quantities[i] - self.mean[i]);
            self.min[i] = self.min[i].min(quantities[i]);
            self.max[i] = self.max[i].max(quantities[i]);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn summary(&self) -> Summary<V> {
        let nothing = filled(f64::NAN);
        if self.count == 0 {
            return Summary { mean: nothing, variance: nothing, min: nothing, max: nothing };
        }
        // 0 / 0 for one member.
        let variance = V::from_fn(|i| self.squares[i] / (self.count - 1) as f64);
        Summary { mean: self.mean, variance, min: self.min, max: self.max }
    }
}
