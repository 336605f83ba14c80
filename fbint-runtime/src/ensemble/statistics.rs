//! Means, variances and extremes over the members, one member at a time and in their order (Welford 1962).

use derive_where::derive_where;

use crate::numbers::entries::Entries;
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

/// Statistics over all members of the entries of a vector, entry by entry. Everything is NaN if there are no members.
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

/// The sums over members so far, from which a [`Summary`] follows.
#[derive(Clone, Debug)]
pub struct Moments {
    count: u64,
    mean: Vec<f64>,
    squares: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
}

impl Moments {
    /// For vectors of this length.
    pub(super) fn new(entries: usize) -> Self {
        let zero = vec![0.0; entries];
        let (min, max) = (vec![f64::INFINITY; entries], vec![f64::NEG_INFINITY; entries]);
        Self { count: 0, mean: zero.clone(), squares: zero, min, max }
    }

    pub(super) fn add(&mut self, quantities: &[f64]) {
        self.count += 1;
        let share = 1.0 / self.count as f64;
        let means = self.mean.iter_mut().zip(&mut self.squares);
        let extremes = self.min.iter_mut().zip(&mut self.max);
        for (((mean, squares), (min, max)), &quantity) in means.zip(extremes).zip(quantities) {
            let ahead = quantity - *mean;
            *mean += ahead * share;
            *squares += ahead * (quantity - *mean);
            *min = min.min(quantity);
            *max = max.max(quantity);
        }
    }

    /// The number of members.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The statistics of each quantity.
    pub fn summaries(&self) -> Vec<Summary<f64>> {
        let of = |i: usize| {
            // 0 / 0 for one member.
            let variance = self.squares[i] / (self.count as f64 - 1.0);
            let numbers = [self.mean[i], variance, self.min[i], self.max[i]];
            let [mean, variance, min, max] = if self.count == 0 { [f64::NAN; 4] } else { numbers };
            Summary { mean, variance, min, max }
        };
        (0..self.mean.len()).map(of).collect()
    }

    pub(super) fn summary<V: Entries<f64>>(&self) -> Summary<V> {
        let of = self.summaries();
        let shaped = |entry: fn(&Summary<f64>) -> f64| V::from_fn(|i| of.get(i).map_or(0.0, entry));
        Summary {
            mean: shaped(|of| of.mean),
            variance: shaped(|of| of.variance),
            min: shaped(|of| of.min),
            max: shaped(|of| of.max),
        }
    }
}
