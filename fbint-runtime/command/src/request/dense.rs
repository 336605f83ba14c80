//! A run as a function of time.

use std::mem::take;

use fbint_runtime::DenseOutput;
use serde::{Deserialize, Serialize};

use fbint_catalogue::Run;

/// The states of a run at every time of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dense {
    /// Each step as polynomials in time, one for each entry of the state.
    steps: Vec<Vec<DenseOutput<[f64; 1]>>>,
    /// The time at the end.
    until: f64,
}

impl Dense {
    /// Takes the steps of a run, if they were kept.
    pub(crate) fn take(run: &mut Run) -> Option<Self> {
        let steps = take(&mut run.dense_output);
        let steps: Vec<Vec<_>> = steps.chunks_exact(run.state.len()).map(<[_]>::to_vec).collect();
        (!steps.is_empty()).then_some(Self { steps, until: run.time })
    }

    /// The times at the start and at the end.
    pub fn range(&self) -> [f64; 2] {
        let start = self.steps.first().and_then(|step| step.first()).map_or(self.until, DenseOutput::time);
        [start, self.until]
    }

    /// The state at a time, or `None` if that is not in the run. Where a reset moves the state, it is the one after it.
    pub fn at(&self, time: f64) -> Option<Vec<f64>> {
        let begins = |step: &Vec<DenseOutput<[f64; 1]>>| step.first().is_some_and(|entry| entry.time() <= time);
        let number = self.steps.partition_point(begins).checked_sub(1)?;
        (time <= self.until).then(|| self.steps[number].iter().map(|entry| entry.at(time)[0]).collect())
    }

    /// The states as bytes, from which [`from_bytes`](Self::from_bytes) makes them again.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        postcard::to_stdvec(self).map_err(|error| error.to_string())
    }

    /// The states with these bytes.
    ///
    /// # Errors
    ///
    /// If the bytes are not states.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        postcard::from_bytes(bytes).map_err(|error| error.to_string())
    }
}
