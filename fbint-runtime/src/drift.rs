//! What a run did to every integral: the largest change, the final one, and the trend.
//!
//! The change is F - F_target. Its secular slope is that of the least-squares line through all (t, change) that were
//! recorded: an oscillation that stays bounded has slope near 0, a loss that goes on has not. The record is streamed
//! (running means and co-moments), so that it costs the same memory however long the run.

use core::fmt;

use nalgebra::SVector;

/// The record of M integrals over a run. Displays as a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift<const M: usize> {
    names: [&'static str; M],
    targets: SVector<f64, M>,
    largest: SVector<f64, M>,
    last: SVector<f64, M>,
    mean: SVector<f64, M>,
    mean_time: f64,
    /// sum (t - mean t)^2.
    time_moment: f64,
    /// sum (t - mean t) (change - mean change).
    moment: SVector<f64, M>,
    count: f64,
}

/// What a run did to one integral.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntegralDrift {
    /// The name of the integral.
    pub name: &'static str,
    /// The value it should keep.
    pub target: f64,
    /// The largest |F - F_target|.
    pub max: f64,
    /// The last F - F_target.
    pub last: f64,
    /// The slope of the least-squares line through F - F_target over time: the secular drift per unit of time.
    pub slope: f64,
}

impl<const M: usize> Drift<M> {
    /// An empty record of integrals with these names, which should keep these values.
    pub fn new(names: [&'static str; M], targets: SVector<f64, M>) -> Self {
        let zero = SVector::zeros();
        Self {
            names,
            targets,
            largest: zero,
            last: zero,
            mean: zero,
            mean_time: 0.0,
            time_moment: 0.0,
            moment: zero,
            count: 0.0,
        }
    }

    /// Adds the integrals F at time t.
    pub fn record(&mut self, time: f64, integrals: &SVector<f64, M>) {
        let change = integrals - self.targets;
        self.count += 1.0;
        let ahead = time - self.mean_time;
        self.mean_time += ahead / self.count;
        self.mean += (change - self.mean) / self.count;
        self.time_moment += ahead * (time - self.mean_time);
        self.moment += (change - self.mean) * ahead;
        self.largest = self.largest.sup(&change.abs());
        self.last = change;
    }

    /// What the run did to each integral, in the order of `INTEGRAL_NAMES`.
    pub fn integrals(&self) -> [IntegralDrift; M] {
        core::array::from_fn(|i| IntegralDrift {
            name: self.names[i],
            target: self.targets[i],
            max: self.largest[i],
            last: self.last[i],
            slope: if self.time_moment > 0.0 { self.moment[i] / self.time_moment } else { 0.0 },
        })
    }

    /// What the run did to the integral of that name, if there is one.
    pub fn get(&self, name: &str) -> Option<IntegralDrift> {
        self.integrals().into_iter().find(|integral| integral.name == name)
    }
}

/// A [`Drift`] without its names and targets, which come from the system and the start.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct DriftRecord {
    largest: Vec<f64>,
    last: Vec<f64>,
    mean: Vec<f64>,
    mean_time: f64,
    time_moment: f64,
    moment: Vec<f64>,
    count: f64,
}

#[cfg(feature = "std")]
impl DriftRecord {
    /// Whether it is of so many integrals.
    pub(crate) fn has_length(&self, length: usize) -> bool {
        [&self.largest, &self.last, &self.mean, &self.moment].iter().all(|entries| entries.len() == length)
    }
}

#[cfg(feature = "std")]
impl<const M: usize> Drift<M> {
    pub(crate) fn to_record(self) -> DriftRecord {
        let [largest, last, mean, moment] =
            [self.largest, self.last, self.mean, self.moment].map(|entries| entries.as_slice().to_vec());
        let Self { mean_time, time_moment, count, .. } = self;
        DriftRecord { largest, last, mean, mean_time, time_moment, moment, count }
    }

    /// Goes on from a record of as many integrals.
    pub(crate) fn restore(&mut self, record: &DriftRecord) {
        [self.largest, self.last, self.mean, self.moment] =
            [&record.largest, &record.last, &record.mean, &record.moment]
                .map(|entries| SVector::from_column_slice(entries));
        (self.mean_time, self.time_moment, self.count) = (record.mean_time, record.time_moment, record.count);
    }
}

impl<const M: usize> fmt::Display for Drift<M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.names.iter().map(|name| name.chars().count()).fold("integral".len(), usize::max);
        write!(
            out,
            "{:width$}  {:>10}  {:>12}  {:>12}  {:>13}",
            "integral", "target", "max |change|", "final change", "secular slope"
        )?;
        for IntegralDrift { name, target, max, last, slope } in self.integrals() {
            // Adding zero turns -0 into 0.
            let [target, last, slope] = [target, last, slope].map(|number| number + 0.0);
            write!(out, "\n{name:width$}  {target:>10.2e}  {max:>12.2e}  {last:>12.2e}  {slope:>13.2e}")?;
        }
        Ok(())
    }
}
