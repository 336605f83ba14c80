//! The results of runs and ensembles.

use fbint_runtime::{
    DenseOutput, Dependence, Error, FeedbackSystem, FlatEnsembleRun, FlatRun, FlatSamples, IntegralDrift, IntegralJump,
    LargestProjection, SampleRow, StartMove, Storage,
};
use serde::{Deserialize, Serialize};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The drift of each integral.
    pub drift: Vec<IntegralDrift>,
    /// The drift as a table.
    pub report: String,
    /// Samples of the trajectory, including start and end.
    pub trajectory: Vec<Sample>,
    /// The steps as polynomials in time, one for each entry of the state, if they were kept.
    pub dense_output: Vec<Vec<DenseOutput<[f64; 1]>>>,
    /// The time at the end, earlier than planned if the run was ended by its observer or by an event.
    pub time: f64,
    /// The name of the event that ended the run, if one did.
    pub ended_by: Option<String>,
    /// Every occurrence of every event, in the order of time.
    pub events: Vec<Occurrence>,
    /// The state at the end.
    pub state: Vec<f64>,
    /// By how much the start was moved onto the constraints, if it was.
    pub start_move: Option<StartMove>,
    /// The place where constraints were nearly dependent, if there was one.
    pub dependence: Option<Dependence>,
    /// The largest change of an integral in one step, if it is out of the ordinary.
    pub integral_jump: Option<IntegralJump>,
    /// The projection that was largest in units of the error of its step, if states were projected.
    pub largest_projection: Option<LargestProjection>,
    /// The number of steps.
    pub steps: u64,
    /// The number of evaluations of the field.
    pub evaluations: u64,
    /// The number of steps from one sample to the next, where a method with error control is sampled at its steps.
    pub stride: u64,
}

/// An occurrence of an event.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The name of the event.
    pub name: String,
    /// The time.
    pub time: f64,
    /// The state, before any reset.
    pub state: Vec<f64>,
    /// The state after the reset, if the event has one.
    pub reset: Option<Vec<f64>>,
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

/// Statistics of one quantity.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The variance of the sample, with n - 1 in its denominator.
    pub variance: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Run {
    /// The result of a run, unless memory does not hold it.
    pub(crate) fn of(run: FlatRun) -> Result<Self, Error> {
        let occurrence = |(name, of): (String, fbint_runtime::PastOccurrence)| Occurrence {
            name,
            time: of.time,
            state: of.state,
            reset: of.reset,
        };
        let events: Vec<Occurrence> = run.events.into_iter().map(occurrence).collect();
        let (found, entries) = (run.findings, run.state.len());
        let steps = run.dense_output.chunks_exact(entries);
        Ok(Self {
            report: found.drift.to_string(),
            drift: found.drift.integrals().collect(),
            trajectory: Sample::all(&run.trajectory)?,
            dense_output: Storage::STEPS.try_collect(steps.map(|step| Storage::STEPS.collect(step.iter().copied())))?,
            time: run.time,
            ended_by: run.ended_by.map(|end| events[end].name.clone()),
            events,
            state: run.state,
            start_move: found.drift.start_move().copied(),
            dependence: found.dependence,
            integral_jump: found.jump,
            largest_projection: found.largest_projection,
            steps: run.steps,
            evaluations: run.evaluations,
            stride: run.stride,
        })
    }
}

impl EnsembleRun {
    /// The result of an ensemble, unless memory does not hold it.
    pub(crate) fn of(run: FlatEnsembleRun) -> Result<Self, Error> {
        let statistics = run.times.iter().zip(&run.moments).map(|(time, [state, change])| {
            let quantities = state.summaries().chain(change.summaries()).map(Summary::from);
            let quantities = Storage::STATISTICS.collect(quantities)?;
            Ok(Statistics { time: *time, members: state.count(), quantities })
        });
        let statistics = Storage::STATISTICS.try_collect(statistics)?;
        // Of each member that does not fail there is one sample, its last.
        let end = |end: Result<FlatSamples, Error>| Ok(Sample::all(&end?)?.swap_remove(0));
        Ok(Self { statistics, ends: Storage::MEMBERS.collect(run.ends.into_iter().map(end))? })
    }
}

impl From<fbint_runtime::Summary<f64>> for Summary {
    fn from(of: fbint_runtime::Summary<f64>) -> Self {
        Self { mean: of.mean, variance: of.variance, min: of.min, max: of.max }
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
