//! The results of runs in the command. They are made without the type of their system, so that they are compiled once.

use fbint_runtime::{Error, FeedbackSystem, FlatEnsembleRun, FlatRun, FlatSamples, SampleRow, Storage};

use super::{EnsembleRun, Occurrence, Run, Sample, Statistics, Summary};

impl Run {
    /// The result of a run, unless memory does not hold it.
    pub(super) fn of(run: FlatRun) -> Result<Self, Error> {
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
    pub(super) fn of(run: FlatEnsembleRun) -> Result<Self, Error> {
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
    pub(super) fn all(samples: &FlatSamples) -> Result<Vec<Self>, Error> {
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
