//! Failures of a run: how they follow from failures of a step, and their wording.

use core::fmt;

use crate::error::extremes::Extremes;
use crate::error::failure::StepFailure;
use crate::error::{Cause, Failure};
use crate::system::StateEntry;

impl Cause {
    /// That no further step of a run of the system `S` can be made.
    pub(crate) fn of_step(reason: StepFailure, state: &[StateEntry]) -> Self {
        let entry = match reason {
            StepFailure::NotFinite { entry } | StepFailure::Jacobian { entry } => {
                state.get(entry).map(|entry| entry.name)
            }
            _ => None,
        };
        Self::Step { reason, entry }
    }
}

impl Failure {
    /// The failure of a run of a system in which no step can be made from the last state.
    pub(crate) fn of_step(
        reason: StepFailure,
        time: f64,
        last_state: Vec<f64>,
        entries: &'static [StateEntry],
        extremes: Extremes,
    ) -> Self {
        let cause = Cause::of_step(reason, entries);
        let trajectory = Vec::new();
        Self { cause, time, last_time: time, last_state, entries, dependence: None, extremes, trajectory }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, time, last_time, .. } = self;
        let (suspected, last) = (Suspected(self), Assigned(self.entries, &self.last_state));
        match cause {
            Cause::Step { .. } | Cause::Input(_) => {
                return write!(out, "the run stopped at t = {time:?}, where {last}: {cause}{suspected}");
            }
            Cause::Event { .. } | Cause::Reset { .. } | Cause::Accumulation { .. } => {
                return write!(out, "the run stopped at t = {last_time:?}, where {last}: {cause}{suspected}");
            }
            _ => write!(out, "the solution blew up at t = {time:?}: {cause}{suspected}")?,
        }
        write!(out, ". The last good state, at t = {last_time:?}, was {last}")
    }
}

impl core::error::Error for Failure {}

/// Names with values: a = 1.0, b = 2.0.
struct Assigned<'a>(&'a [StateEntry], &'a [f64]);

impl fmt::Display for Assigned<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (StateEntry { name, .. }, value)) in self.0.iter().zip(self.1).enumerate() {
            write!(out, "{}{name} = {value:?}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Likely causes.
struct Suspected<'a>(&'a Failure);

impl fmt::Display for Suspected<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { dependence, extremes, .. } = self.0;
        if let Some(dependence) = dependence {
            write!(
                out,
                "; at t = {:?} {dependence}: the field is singular where they are, and a run that passes near needs error \
                 control or shorter steps",
                dependence.time,
            )?;
        }
        extremes.fmt(out)
    }
}
