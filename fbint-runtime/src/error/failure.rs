//! Failures of a step: inputs that are not finite, methods that find no end.

use core::fmt;

use crate::numbers::entries::Entries;

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

/// Why no step can be made, with the name of an entry that is not finite.
#[cfg(feature = "std")]
pub(super) struct Reason<'a>(pub(super) &'a StepFailure, pub(super) &'a Option<&'static str>);

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
