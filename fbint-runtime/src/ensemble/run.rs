//! The result of an ensemble.

use derive_where::derive_where;

use super::samples::{FlatEnsembleRun, Track};
use super::statistics::Statistics;
use crate::error::Error;
use crate::error::memory::Storage;
use crate::numbers::entries::Entries;
use crate::numbers::linear::filled;
use crate::simulation::Sample;
use crate::simulation::samples::FlatSamples;
use crate::system::{FeedbackSystem, Integrals};

/// The result of the runs of an ensemble of the system `S`.
#[derive_where(Clone, Debug)]
pub struct EnsembleRun<S: FeedbackSystem> {
    pub(super) statistics: Vec<Statistics<S>>,
    pub(super) ends: Vec<Result<Sample<S>, Error>>,
    pub(super) trajectories: Vec<Vec<Sample<S>>>,
}

impl<S: FeedbackSystem> EnsembleRun<S> {
    pub(super) fn shaped(run: FlatEnsembleRun) -> Result<Self, Error> {
        let FlatEnsembleRun { times, moments, ends, trajectories } = run;
        let statistics = times.iter().zip(&moments).map(|(&time, [state, change])| Statistics {
            time,
            members: state.count(),
            state: state.summary(),
            change: change.summary(),
        });
        let end = |end: Track| end.and_then(|samples| Ok(samples.try_shaped()?[0]));
        let samples = |of: &Option<FlatSamples>| of.as_ref().map_or(Ok(Vec::new()), FlatSamples::try_shaped);
        Ok(Self {
            statistics: Storage::STATISTICS.collect(statistics)?,
            ends: Storage::MEMBERS.collect(ends.into_iter().map(end))?,
            trajectories: Storage::MEMBERS.try_collect(trajectories.iter().map(samples))?,
        })
    }

    /// Statistics over the members, at each time that was sampled, from the start to the end.
    pub fn statistics(&self) -> &[Statistics<S>] {
        &self.statistics
    }

    /// Each member at the end, or why it did not get there.
    pub fn ends(&self) -> &[Result<Sample<S>, Error>] {
        &self.ends
    }

    /// The members that failed, by their indices.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &Error)> {
        self.ends.iter().enumerate().filter_map(|(member, end)| Some((member, end.as_ref().err()?)))
    }

    /// The samples of a member, if trajectories were [kept](crate::Ensemble::keep_trajectories) and the member did not fail.
    pub fn trajectory(&self, member: usize) -> Option<&[Sample<S>]> {
        self.trajectories.get(member).filter(|samples| !samples.is_empty()).map(Vec::as_slice)
    }

    /// The largest |F - F_target| of any member at any time that was sampled, of each integral; NaN without members.
    pub fn largest_changes(&self) -> Integrals<S> {
        if self.statistics.is_empty() {
            return filled(f64::NAN);
        }
        Entries::from_fn(|i| {
            let extremes = self.statistics.iter().flat_map(|at| [at.change.min[i], at.change.max[i]]);
            extremes.map(f64::abs).fold(f64::NAN, f64::max)
        })
    }
}
