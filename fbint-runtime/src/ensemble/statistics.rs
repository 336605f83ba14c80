//! Means, variances and extremes over the members, one member at a time and in their order (Welford 1962).

use nalgebra::SVector;

/// The members together, at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics<const N: usize, const M: usize> {
    /// The time.
    pub time: f64,
    /// How many members there are: all that did not fail, now or later.
    pub members: u64,
    /// Of the state, flat.
    pub state: Summary<N>,
    /// Of F - F_target.
    pub change: Summary<M>,
}

/// What D quantities are over all members, each by itself. Everything is NaN where there is no member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary<const D: usize> {
    /// The mean.
    pub mean: SVector<f64, D>,
    /// The sum of squared distances from the mean over the number of members less one; NaN where there is one member.
    pub variance: SVector<f64, D>,
    /// The least.
    pub min: SVector<f64, D>,
    /// The largest.
    pub max: SVector<f64, D>,
}

/// What of the members so far a [`Summary`] needs.
#[derive(Clone, Copy)]
pub(super) struct Moments<const D: usize> {
    count: u64,
    mean: SVector<f64, D>,
    squares: SVector<f64, D>,
    min: SVector<f64, D>,
    max: SVector<f64, D>,
}

impl<const D: usize> Default for Moments<D> {
    fn default() -> Self {
        let zero = SVector::zeros();
        let infinity = SVector::repeat(f64::INFINITY);
        Self { count: 0, mean: zero, squares: zero, min: infinity, max: -infinity }
    }
}

impl<const D: usize> Moments<D> {
    pub(super) fn add(&mut self, quantities: &SVector<f64, D>) {
        self.count += 1;
        let ahead = quantities - self.mean;
        self.mean += ahead * (1.0 / self.count as f64);
        self.squares += ahead.component_mul(&(quantities - self.mean));
        self.min = self.min.inf(quantities);
        self.max = self.max.sup(quantities);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn summary(&self) -> Summary<D> {
        let nothing = SVector::repeat(f64::NAN);
        if self.count == 0 {
            return Summary { mean: nothing, variance: nothing, min: nothing, max: nothing };
        }
        // 0 / 0 for one member.
        let variance = self.squares / (self.count - 1) as f64;
        Summary { mean: self.mean, variance, min: self.min, max: self.max }
    }
}
