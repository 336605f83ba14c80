//! The results of runs in the command. They are made without the type of their system, so that they are compiled once.

use fbint_runtime::{FeedbackSystem, FlatEnsembleRun, FlatRun, FlatSamples, SampleRow};

use super::{EnsembleRun, Occurrence, Run, Sample, Statistics, Summary};

impl From<FlatRun> for Run {
    fn from(run: FlatRun) -> Self {
        let occurrence = |(name, of): (String, fbint_runtime::PastOccurrence)| Occurrence {
            name,
            time: of.time,
            state: of.state,
            reset: of.reset,
        };
        let events: Vec<Occurrence> = run.events.into_iter().map(occurrence).collect();
        let (found, entries) = (run.findings, run.state.len());
        Self {
            report: found.drift.to_string(),
            drift: found.drift.integrals().collect(),
            trajectory: Sample::all(&run.trajectory),
            dense_output: run.dense_output.chunks_exact(entries).map(<[_]>::to_vec).collect(),
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
        }
    }
}

impl From<FlatEnsembleRun> for EnsembleRun {
    fn from(run: FlatEnsembleRun) -> Self {
        let statistics = run.times.iter().zip(&run.moments).map(|(time, [state, change])| Statistics {
            time: *time,
            members: state.count(),
            quantities: state.summaries().into_iter().chain(change.summaries()).map(Summary::from).collect(),
        });
        // Of each member that does not fail there is one sample, its last.
        let ends = run.ends.into_iter().map(|end| Ok(Sample::all(&end?).swap_remove(0)));
        Self { statistics: statistics.collect(), ends: ends.collect() }
    }
}

impl From<fbint_runtime::Summary<f64>> for Summary {
    fn from(of: fbint_runtime::Summary<f64>) -> Self {
        Self { mean: of.mean, variance: of.variance, min: of.min, max: of.max }
    }
}

impl Sample {
    /// All samples of a run.
    pub(super) fn all(samples: &FlatSamples) -> Vec<Self> {
        samples.iter().map(Self::from).collect()
    }
}

impl From<SampleRow<'_>> for Sample {
    fn from(row: SampleRow<'_>) -> Self {
        Self { time: row.time, state: row.state.to_vec(), change: row.change.to_vec() }
    }
}

impl<S: FeedbackSystem> From<&fbint_runtime::Sample<S>> for Sample {
    fn from(sample: &fbint_runtime::Sample<S>) -> Self {
        let (state, change) = (sample.state.as_ref(), sample.change.as_ref());
        SampleRow { time: sample.time, state, change }.into()
    }
}
