//! Statistics and failures of all members of an ensemble, block by block.
//!
//! Blocks have the same members whatever integrates them, and are added in their order (Chan, Golub and LeVeque 1979), so that no digit
//! depends on it.

use std::error::Error;

use serde::{Deserialize, Serialize};

use fbint_catalogue::{AnyModel, Statistics, Summary};

/// Maximum number of failed members that are named.
const NAMED: usize = 5;

/// The statistics of the members so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Statistics at each time that was sampled.
    pub(crate) statistics: Vec<Statistics>,
    pub(crate) members: u64,
    pub(crate) failed: u64,
    /// The first members that failed, and why.
    pub(crate) failures: Vec<(u32, String)>,
}

impl Tally {
    /// The record of these members, from their statistics and from the failed ones.
    pub(crate) fn of<'a>(
        statistics: Vec<Statistics>,
        members: usize,
        failures: impl Iterator<Item = (u32, &'a String)>,
    ) -> Self {
        let mut tally = Self { statistics, members: members as u64, ..Self::default() };
        for (member, error) in failures {
            tally.failed += 1;
            if tally.failures.len() < NAMED {
                tally.failures.push((member, error.clone()));
            }
        }
        tally
    }

    /// Adds the members of the block that comes next.
    pub(crate) fn add(&mut self, block: &Self) {
        self.members += block.members;
        self.failed += block.failed;
        self.failures.extend(block.failures.iter().take(NAMED - self.failures.len()).cloned());
        if self.statistics.is_empty() {
            self.statistics.clone_from(&block.statistics);
            return;
        }
        for (sum, more) in self.statistics.iter_mut().zip(&block.statistics) {
            add(sum, more);
        }
    }

    /// Returns `true` if a member came to its end.
    pub(crate) fn has_ends(&self) -> bool {
        self.failed < self.members
    }

    /// Refuses an ensemble without results, because no member came to its end.
    pub(crate) fn check(&self) -> Result<(), Box<dyn Error>> {
        match self.failures.first() {
            Some((_, first)) if !self.has_ends() => {
                Err(format!("all {} members failed; the first: {first}", self.members).into())
            }
            _ => Ok(()),
        }
    }

    /// Statistics of each quantity at the end.
    pub(crate) fn end(&self) -> &[Summary] {
        self.statistics.last().map_or(&[], |at| &at.quantities)
    }

    /// The largest |F - F_target| of any member at any time that was sampled, of each integral; NaN without members.
    pub(crate) fn largest_changes(&self, model: &dyn AnyModel) -> Vec<f64> {
        let entries = model.state_names().len();
        let largest = |integral: usize| {
            let changes = self.statistics.iter().filter_map(|at| at.quantities.get(entries + integral));
            changes.flat_map(|change| [change.min, change.max]).map(f64::abs).fold(f64::NAN, f64::max)
        };
        (0..model.integral_names().len()).map(largest).collect()
    }
}

/// Adds other members at the same time (Chan, Golub and LeVeque 1979).
fn add(statistics: &mut Statistics, other: &Statistics) {
    let members = (statistics.members, other.members);
    for (sum, more) in statistics.quantities.iter_mut().zip(&other.quantities) {
        *sum = match members {
            (_, 0) => *sum,
            (0, _) => *more,
            _ => together(members, sum, more),
        };
    }
    statistics.members += other.members;
}

/// The summary of two sets of members; neither may be empty.
fn together((members, others): (u64, u64), summary: &Summary, other: &Summary) -> Summary {
    let (n, m) = (members as f64, others as f64);
    let distance = other.mean - summary.mean;
    let squares = |members: f64, of: &Summary| if members > 1.0 { of.variance * (members - 1.0) } else { 0.0 };
    let all = squares(n, summary) + squares(m, other) + distance * distance * (n * m / (n + m));
    Summary {
        mean: summary.mean + distance * (m / (n + m)),
        variance: all / (n + m - 1.0),
        min: summary.min.min(other.min),
        max: summary.max.max(other.max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Statistics {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let min = values.iter().copied().fold(f64::NAN, f64::min);
        let max = values.iter().copied().fold(f64::NAN, f64::max);
        Statistics { time: 0.0, members: values.len() as u64, quantities: vec![Summary { mean, variance, min, max }] }
    }

    /// However members are split into blocks, those without any and those with one among them.
    #[test]
    fn blocks_sum_up_to_all_members() {
        let values: Vec<f64> = (0..40_u32).map(|i| f64::from(i * i % 17) - 3.5).collect();
        let all = of(&values).quantities[0];
        for sizes in [&[40][..], &[0, 40], &[1, 39], &[20, 0, 20], &[1, 1, 1, 30, 7]] {
            let (mut sum, mut rest) = (of(&values[..0]), &values[..]);
            for &size in sizes {
                let (block, after) = rest.split_at(size);
                add(&mut sum, &of(block));
                rest = after;
            }
            let Summary { mean, variance, min, max } = sum.quantities[0];
            assert_eq!((sum.members, min, max), (40, all.min, all.max));
            assert!((mean - all.mean).abs() < 1e-14 && (variance - all.variance).abs() < 1e-13, "{sizes:?}");
        }
        let mut one = of(&values[..1]);
        assert!(one.quantities[0].variance.is_nan());
        add(&mut one, &of(&values[1..2]));
        assert_eq!(one.quantities[0].variance, (values[0] - values[1]).powi(2) / 2.0);
    }
}
