//! Means, variances and extremes over the members, one member at a time and in their order (Welford 1962).

use derive_where::derive_where;

use crate::error::Error;
use crate::error::memory::Storage;
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    of_entries: Vec<MomentsOfEntry>,
}

#[derive(Clone, Copy, Debug)]
struct MomentsOfEntry {
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Moments {
    /// For vectors of this length.
    pub(super) fn new(entries: usize) -> Result<Self, Error> {
        let none = MomentsOfEntry { mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };
        Ok(Self { count: 0, of_entries: Storage::STATISTICS.collect((0..entries).map(|_| none))? })
    }

    pub(super) fn add(&mut self, quantities: &[f64]) {
        self.count += 1;
        let share = 1.0 / self.count as f64;
        for (MomentsOfEntry { mean, squares, min, max }, &quantity) in self.of_entries.iter_mut().zip(quantities) {
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
    pub fn summaries(&self) -> impl Iterator<Item = Summary<f64>> {
        self.of_entries.iter().map(|&MomentsOfEntry { mean, squares, min, max }| {
            // 0 / 0 for one member.
            let numbers = [mean, squares / (self.count as f64 - 1.0), min, max];
            let [mean, variance, min, max] = if self.count == 0 { [f64::NAN; 4] } else { numbers };
            Summary { mean, variance, min, max }
        })
    }

    pub(super) fn summary<V: Entries<f64>>(&self) -> Summary<V> {
        let of: Vec<Summary<f64>> = self.summaries().collect();
        let shaped = |entry: fn(&Summary<f64>) -> f64| V::from_fn(|i| of.get(i).map_or(0.0, entry));
        Summary {
            mean: shaped(|of| of.mean),
            variance: shaped(|of| of.variance),
            min: shaped(|of| of.min),
            max: shaped(|of| of.max),
        }
    }
}
