//! Failures of a run before its end: a step that cannot be made, a solution that blows up.

use core::fmt;

#[cfg(feature = "std")]
use crate::error::Error;
#[cfg(feature = "std")]
use crate::error::dependence::Dependence;
#[cfg(feature = "std")]
use crate::error::extremes::Extremes;
use crate::numbers::entries::Entries;
#[cfg(feature = "std")]
use crate::system::StateEntry;

/// A run that ended before its end: why, and where.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// Why the run ended.
    pub cause: Cause,
    /// The time after the step that failed, or of the last good state where no step could be made.
    pub time: f64,
    /// The time of the last good state.
    pub last_time: f64,
    /// The last state in which everything was finite and within its bound, flat.
    pub last_state: Vec<f64>,
    /// Its entries.
    pub entries: &'static [StateEntry],
    /// The constraints that are nearly dependent there, or were on the way, if there are such.
    pub dependence: Option<Dependence>,
    /// Parameters that may be the reason, because their squares are out of the range of doubles.
    pub extremes: Extremes,
    /// The time and the flat state of every sample until then, and of the last good state.
    pub trajectory: Vec<(f64, Vec<f64>)>,
}

/// Why a run ended before its end.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// No further step can be made.
    #[error("{}", Reason(.reason, .entry))]
    Step {
        /// Why not.
        reason: StepFailure,
        /// The entry of the state that is not finite beyond, or whose rate is not.
        entry: Option<&'static str>,
    },
    /// An input is not a finite number.
    #[error("the input `{}` is {:?} at t = {:?}: inputs must be finite numbers at all times of the run", .0.name, .0.value, .0.time)]
    Input(UndefinedInput),
    /// An event function is not a finite number.
    #[error(
        "the event `{event}` is {value:?} at t = {time:?}: event functions must be finite numbers at all times of the run"
    )]
    Event {
        /// The name of the event.
        event: String,
        /// The value of its function.
        value: f64,
        /// When.
        time: f64,
    },
    /// A run cannot start from the state after a reset.
    #[error("the reset of the event `{event}` gives a state from which no run can start: {refusal}")]
    Reset {
        /// The name of the event.
        event: String,
        /// Why this start is refused.
        refusal: Box<Error>,
    },
    /// Resets of an event follow one another at once, or the event function rests at 0 after one.
    #[error(
        "the event `{event}` accumulates at t = {time:?}, after it has occurred {resets} times: its resets no longer lead away from it; \
         make it terminal before the motion comes to rest there, or go on with a model of the motion that rests"
    )]
    Accumulation {
        /// The name of the event.
        event: String,
        /// The number of its occurrences.
        resets: u64,
        /// When.
        time: f64,
    },
    /// A switch of the field is met again and again.
    #[error(
        "the field switches at `{switch}` = 0 again and again at t = {time:?}, and goes on neither on one side nor between them: make \
         what switches there smooth, as `(x / 1e-3).tanh()` in place of `x.signum()`"
    )]
    Chattering {
        /// The function at whose zeros the field switches.
        switch: String,
        /// When.
        time: f64,
    },
    /// The field was not finite before the step.
    #[error("the rate of `{name}` is {value:?} in the state before; the field is not defined there")]
    Rate {
        /// The entry of the state.
        name: &'static str,
        /// Its rate.
        value: f64,
    },
    /// An entry of the state is not finite.
    #[error(
        "`{name}` is {value:?}; take a smaller step or smaller gains, or end before the solution leaves the field's domain"
    )]
    Entry {
        /// The entry, the first of several.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// An integral is not finite, though the state is.
    #[error("the integral `{name}` is {value:?}; take a smaller step or smaller gains, or end where it is defined")]
    Integral {
        /// The integral, the first of several.
        name: &'static str,
        /// Its change.
        value: f64,
    },
    /// An integral is far from its target.
    #[error(
        "of all integrals `{integral}` grew most, by {change:.2e}; take a smaller step, smaller gains or a method with error control"
    )]
    Growth {
        /// The integral whose change is largest against its bound.
        integral: &'static str,
        /// That change, F - F_target.
        change: f64,
    },
}

#[cfg(feature = "std")]
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

#[cfg(feature = "std")]
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

#[cfg(feature = "std")]
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

#[cfg(feature = "std")]
impl core::error::Error for Failure {}

/// An input that is not a finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UndefinedInput {
    /// The input.
    pub name: &'static str,
    /// The value that was given for it.
    pub value: f64,
    /// When.
    pub time: f64,
}

/// A step that failed, and where: at a state of the type `V`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepError<V> {
    /// The part that failed.
    pub reason: StepFailure,
    /// The end of the last step that succeeded.
    pub time: f64,
    /// The state there.
    pub state: V,
}

/// Why no further step can be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepFailure {
    /// The time to step to is NaN.
    #[error("the time to step to is NaN: it must be a number")]
    End,
    /// The time to step to is before the time that was reached, and inputs come from a table.
    #[error(
        "the inputs come from a table, in which steps backwards in time would pass jumps: integrate forwards, or give inputs that \
         are a function of the time"
    )]
    Backwards,
    /// The tolerance is not met however short the step.
    #[error(
        "no step is short enough to meet the tolerance: the field may be singular here, or the tolerance too small"
    )]
    Underflow,
    /// The limit to the number of steps is reached.
    #[error(
        "{limit} steps were tried: raise the limit, `max_steps`, or take a larger tolerance; a field this slow to integrate may be stiff"
    )]
    TooManySteps {
        /// The limit.
        limit: u64,
    },
    /// Newton's method does not find the end of an implicit step.
    #[error(
        "Newton's method does not converge, its residual is {residual:.1e}: the step is too long for the motion here; take a shorter \
         one"
    )]
    NotConverged {
        /// The largest entry of what the last iteration left of the equations of the step.
        residual: f64,
    },
    /// The matrix of an implicit step is singular.
    #[error(
        "the matrix of an implicit step, I / (gamma h) - J with the Jacobian J of the field, is singular however short the step: start \
         elsewhere, or take an explicit method"
    )]
    Singular,
    /// The Jacobian of the field is not finite.
    #[error("the Jacobian of the field is not finite: end before, or take an explicit method, which needs none")]
    Jacobian {
        /// The first entry of the field whose derivatives are not.
        entry: usize,
    },
    /// The iteration of the stages of an implicit step leads nowhere.
    #[error(
        "the stages of the step do not converge, they still change by {change:.1e}: the step is too long for the motion here, or the \
         field is stiff; take a shorter step, or Rodas5P for what is stiff"
    )]
    NotIterated {
        /// The largest change of an entry of a stage in the last iteration.
        change: f64,
    },
    /// The field or the state is not finite, however short the step.
    #[error("the field is not finite however short the step: the solution has reached the edge of its domain")]
    NotFinite {
        /// The first entry of the field, or of the state, that is not.
        entry: usize,
    },
}

impl<V: Entries<f64>> fmt::Display for StepError<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "at t = {:?}, x = {:?}: {}", self.time, self.state, self.reason)
    }
}

impl<V: Entries<f64>> core::error::Error for StepError<V> {}

/// Names with values: a = 1.0, b = 2.0.
#[cfg(feature = "std")]
struct Assigned<'a>(&'a [StateEntry], &'a [f64]);

#[cfg(feature = "std")]
impl fmt::Display for Assigned<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (StateEntry { name, .. }, value)) in self.0.iter().zip(self.1).enumerate() {
            write!(out, "{}{name} = {value:?}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Why no step can be made, with the name of an entry that is not finite.
#[cfg(feature = "std")]
struct Reason<'a>(&'a StepFailure, &'a Option<&'static str>);

#[cfg(feature = "std")]
impl fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.1, self.0) {
            (Some(name), StepFailure::Jacobian { .. }) => write!(
                out,
                "the rate of `{name}` has a derivative that is not finite: end before, or take an explicit method, which needs none"
            ),
            (Some(name), _) => write!(
                out,
                "`{name}` or its rate is not finite however short the step: the solution has reached the edge of the field's \
                 domain; end before it"
            ),
            (None, _) => self.0.fmt(out),
        }
    }
}

/// Likely causes.
#[cfg(feature = "std")]
struct Suspected<'a>(&'a Failure);

#[cfg(feature = "std")]
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
