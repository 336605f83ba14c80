//! The results of runs and ensembles.

pub use fbint_runtime::FlatOccurrence as Occurrence;
use fbint_runtime::{Error, FeedbackSystem, FlatEnsembleRun, FlatRun, FlatSamples, SampleRow, Storage};
use serde::{Deserialize, Serialize};

/// The result of a run.
pub type Run = FlatRun<Vec<Sample>>;

/// Statistics of one quantity.
pub type Summary = fbint_runtime::Summary<f64>;

/// The result of a run with samples of their own, unless memory does not hold them.
pub(crate) fn result(run: FlatRun) -> Result<Run, Error> {
    run.with_samples(|samples| Sample::all(&samples))
}

/// A state at one time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The time.
    pub time: f64,
    /// The state.
    pub state: Vec<f64>,
    /// F - F_target.
    pub change: Vec<f64>,
}

/// The result of an ensemble.
#[derive(Clone, Debug)]
pub struct EnsembleRun {
    /// Statistics over all members at each time that was sampled.
    pub statistics: Vec<Statistics>,
    /// Each member at the end, or why it did not get there.
    pub ends: Vec<Result<Sample, Error>>,
}

/// Statistics over the members at one time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Statistics {
    /// The time.
    pub time: f64,
    /// The number of members that did not fail, and whose runs have not ended before.
    pub members: u64,
    /// Statistics of each entry of the state, then of F - F_target of each integral.
    pub quantities: Vec<Summary>,
}

impl EnsembleRun {
    /// The result of an ensemble, unless memory does not hold it.
    pub(crate) fn of(run: FlatEnsembleRun) -> Result<Self, Error> {
        let statistics = run.times.iter().zip(&run.moments).map(|(time, [state, change])| {
            let quantities = state.summaries().chain(change.summaries());
            let quantities = Storage::STATISTICS.collect(quantities)?;
            Ok(Statistics { time: *time, members: state.count(), quantities })
        });
        let statistics = Storage::STATISTICS.try_collect(statistics)?;
        // Of each member that does not fail there is one sample, its last.
        let end = |end: Result<FlatSamples, Error>| Ok(Sample::all(&end?)?.swap_remove(0));
        Ok(Self { statistics, ends: Storage::MEMBERS.collect(run.ends.into_iter().map(end))? })
    }
}

impl Sample {
    /// All samples of a run, unless memory does not hold them.
    pub(crate) fn all(samples: &FlatSamples) -> Result<Vec<Self>, Error> {
        Storage::SAMPLES.try_collect(samples.iter().map(Self::of))
    }

    fn of(SampleRow { time, state, change }: SampleRow<'_>) -> Result<Self, Error> {
        let [state, change] = [state, change].map(|numbers| Storage::SAMPLES.collect(numbers.iter().copied()));
        Ok(Self { time, state: state?, change: change? })
    }
}

impl<S: FeedbackSystem> From<&fbint_runtime::Sample<S>> for Sample {
    fn from(sample: &fbint_runtime::Sample<S>) -> Self {
        Self { time: sample.time, state: sample.state.as_ref().to_vec(), change: sample.change.as_ref().to_vec() }
    }
}
