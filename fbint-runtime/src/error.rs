//! What can be wrong with what a caller hands in, and what can go wrong in a run.
//!
//! Every message names the culprit and its value, and says what would do instead. Names are those of the declaration, as in
//! [`FeedbackSystem`](crate::FeedbackSystem)'s constants.

use core::fmt;

use crate::{Dependence, StateEntry};
#[cfg(feature = "std")]
use crate::{FeedbackSystem, StepError, StepFailure, Vector};

/// Why a field, a start or a run was refused.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is NaN or infinite.
    #[error("parameter `{name}` is {value:?}: every parameter must be a finite number")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// An entry of the start is NaN or infinite.
    #[error("the start has `{name}` = {value:?}: every entry must be a finite number")]
    Start {
        /// The entry of the state.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// An integral cannot be evaluated at the start.
    #[error(
        "`{name}` is {value:?} at the start: start where every constraint, the energy and every invariant are finite"
    )]
    Integral {
        /// The integral.
        name: &'static str,
        /// Its value at the start.
        value: f64,
    },
    /// Constraints are dependent on one another at the start.
    #[error(
        "at the start {dependence}, so that the constraint forces are not determined; start elsewhere, change the \
         parameters, or drop a constraint that others imply"
    )]
    DependentConstraints {
        /// Which, and how nearly.
        dependence: Dependence,
    },
    /// The field cannot be evaluated at the start.
    #[error(
        "the rate of `{name}` is {value:?} at the start: the field is not defined there; start elsewhere or change the \
         parameters"
    )]
    Rate {
        /// The entry of the state.
        name: &'static str,
        /// Its rate.
        value: f64,
    },
    /// The start is off the constraint set.
    #[error(
        "the start violates the constraint `{name}`: its value there is {value:?}, but must be 0 (tolerance \
         {tolerance:.1e}); correct the start, or let `ConsistentStart` find one near it"
    )]
    OffConstraint {
        /// The constraint.
        name: &'static str,
        /// Its value at the start.
        value: f64,
        /// How far from 0 it may be.
        tolerance: f64,
    },
    /// A name that is not that of an entry of the state.
    #[error("`{name}` is not an entry of the state: the entries are {}", Listed(.known))]
    UnknownEntry {
        /// The name.
        name: &'static str,
        /// The entries that there are.
        known: &'static [StateEntry],
    },
    /// No consistent start was found near the guess.
    #[error(
        "no consistent start was found: the constraint `{name}` is still {value:?} after {iterations} iterations; guess \
         nearer to the constraint set, or hold fewer entries"
    )]
    NoConsistentStart {
        /// The constraint that is violated most.
        name: &'static str,
        /// Its value where the search ended.
        value: f64,
        /// How many iterations were made.
        iterations: u32,
    },
    /// The number given to [`Gains::uniform`](crate::Gains::uniform) is not positive or not finite.
    #[error("the uniform gain is {value:?}: it must be positive and finite")]
    UniformGain {
        /// The number.
        value: f64,
    },
    /// A gain given to [`Gains::diagonal`](crate::Gains::diagonal) is not positive or not finite.
    #[error("the gain of `{integral}` is {value:?}: it must be positive and finite")]
    Gain {
        /// The integral.
        integral: &'static str,
        /// Its gain.
        value: f64,
    },
    /// The feedback decays too fast for a method's fixed step.
    #[error(
        "the gains are too large for steps of h = {h:?}: at t = {time:?} the feedback decays at the rate {rate:.4}, and h times \
         that is {:.3}, beyond {interval:?}, where the real stability interval of the method ends; take steps of at most {:.2e}, \
         gains at most {:.2e} times these, or `Gains::relaxation` with a time of a few steps",
        .h * .rate, .interval / .rate, .interval / (.h * .rate)
    )]
    UnstableGains {
        /// The time of the audit.
        time: f64,
        /// The step.
        h: f64,
        /// The largest eigenvalue of DF^T K DF.
        rate: f64,
        /// The largest h times rate that is stable.
        interval: f64,
    },
    /// A geometric integrator was asked of a system that does not have the structure it needs.
    #[error("{method} cannot integrate `{system}`: {reason}")]
    NotApplicable {
        /// The method.
        method: &'static str,
        /// The system.
        system: &'static str,
        /// Why not, and what would do instead.
        reason: &'static str,
    },
    /// An ensemble has more or fewer of something than it has starts.
    #[cfg(feature = "ensemble")]
    #[error("there are {given} {what} for {starts} starts: give one for each start, or one for all")]
    MemberCount {
        /// What there are too many or too few of.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many starts there are.
        starts: usize,
    },
    /// A step, a tolerance, an end or an interval that is not positive or not finite.
    #[error("{what} is {value:?}: it must be positive and finite")]
    Setting {
        /// What was set.
        what: &'static str,
        /// To which value.
        value: f64,
    },
    /// The step is so small against the end that times would no longer differ from step to step.
    #[cfg(feature = "std")]
    #[error("the step h = {h:?} is too small to reach t = {until:?}: take at most 1e15 steps")]
    TooManySteps {
        /// The step.
        h: f64,
        /// The end.
        until: f64,
    },
    /// So many samples are asked for that they would fill the memory.
    #[cfg(feature = "std")]
    #[error("the interval {interval:?} is too small to sample until t = {until:?}: ask for at most 1e8 samples")]
    TooManySamples {
        /// The time between two samples.
        interval: f64,
        /// The end.
        until: f64,
    },
    /// The snapshot to resume from was taken from another run.
    #[cfg(feature = "std")]
    #[error(
        "the run cannot resume from this snapshot: {reason}; build the simulation as it was when the snapshot was taken"
    )]
    ForeignSnapshot {
        /// What differs.
        reason: &'static str,
    },
    /// No further step could be made.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Halted(#[from] Box<Halted>),
    /// A projection moved the state by far more than the step before it erred.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Projection(#[from] Box<OutOfProportion>),
    /// The solution left every bound.
    #[cfg(feature = "std")]
    #[error(transparent)]
    BlowUp(#[from] Box<BlowUp>),
}

/// The message, not the variant: this is what a `main` that returns an error prints.
impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(feature = "std")]
impl Error {
    /// The error of a run of the system `S` in which no further step can be made.
    pub(crate) fn halted<S: FeedbackSystem>(
        error: StepError<Vector<S>>,
        dependence: Option<Dependence>,
        trajectory: Vec<(f64, Vec<f64>)>,
    ) -> Self {
        let StepError { reason, time, state } = error;
        let entry = match reason {
            StepFailure::NotFinite { entry } => S::STATE.get(entry).map(|entry| entry.name),
            _ => None,
        };
        let state = state.as_ref().to_vec();
        Self::Halted(Box::new(Halted { reason, entry, time, state, entries: S::STATE, dependence, trajectory }))
    }
}

/// A run that could not be continued, and where.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the run stopped at t = {time:?}, where {}: {}{}",
    Assigned(.entries, .state),
    Reason(.reason, .entry),
    Suspected(.dependence)
)]
#[non_exhaustive]
pub struct Halted {
    /// Why no further step can be made.
    pub reason: StepFailure,
    /// The entry of the state that is not finite beyond, or whose rate is not.
    pub entry: Option<&'static str>,
    /// The end of the last step that succeeded.
    pub time: f64,
    /// The state there, flat.
    pub state: Vec<f64>,
    /// What its entries are.
    pub entries: &'static [StateEntry],
    /// The constraints that are nearly dependent there, or were on the way, if there are such.
    pub dependence: Option<Dependence>,
    /// The time and the flat state of every sample until then, and of the last good state.
    pub trajectory: Vec<(f64, Vec<f64>)>,
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(Error::Setting { what, value }) }
}

/// A solution that left every bound, and where it was before.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the solution blew up at t = {time:?}: {symptom}{}. The last good state, at t = {last_time:?}, was {}",
    Suspected(.dependence),
    Assigned(.entries, .last_state)
)]
#[non_exhaustive]
pub struct BlowUp {
    /// The time after the step that failed.
    pub time: f64,
    /// What was wrong then.
    pub symptom: Symptom,
    /// The time of the last good state.
    pub last_time: f64,
    /// The last state in which everything was finite and within its bound, flat.
    pub last_state: Vec<f64>,
    /// What its entries are.
    pub entries: &'static [StateEntry],
    /// The constraints that are nearly dependent there, or were on the way, if there are such.
    pub dependence: Option<Dependence>,
    /// The time and the flat state of every sample until then, and of the last good state.
    pub trajectory: Vec<(f64, Vec<f64>)>,
}

/// A projection that moved the state by far more than the step before it erred, and where the run was before.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the projection onto the integrals after the step to t = {time:?} moves `{entry}` by {distance:.1e}, {per_error:.1e} times \
     the error of the step{}: the step has passed a collision or another singularity, or is too long to follow the motion; \
     take shorter steps or error control, or end before. The last good state, at t = {last_time:?}, was {}",
    Suspected(.dependence),
    Assigned(.entries, .last_state)
)]
#[non_exhaustive]
pub struct OutOfProportion {
    /// The time after the step.
    pub time: f64,
    /// The entry of the state that was moved furthest in units of its error.
    pub entry: &'static str,
    /// By how much it was moved.
    pub distance: f64,
    /// That distance in units of the error that the method estimates for this entry.
    pub per_error: f64,
    /// The time of the last good state.
    pub last_time: f64,
    /// The last state that a projection in proportion led to, flat.
    pub last_state: Vec<f64>,
    /// What its entries are.
    pub entries: &'static [StateEntry],
    /// The constraints that are nearly dependent there, or were on the way, if there are such.
    pub dependence: Option<Dependence>,
    /// The time and the flat state of every sample until then, and of the last good state.
    pub trajectory: Vec<(f64, Vec<f64>)>,
}

/// What is wrong with the state after a step.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Symptom {
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
    #[error("of all integrals `{integral}` grew most, by {change:.2e}; take a smaller step or smaller gains")]
    Growth {
        /// The integral whose change is largest against its bound.
        integral: &'static str,
        /// That change, F - F_target.
        change: f64,
    },
}

/// Names in a row: `a`, `b`, `c`.
struct Listed<'a>(&'a [StateEntry]);

impl core::fmt::Display for Listed<'_> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (index, entry) in self.0.iter().enumerate() {
            write!(out, "{}`{}`", if index == 0 { "" } else { ", " }, entry.name)?;
        }
        Ok(())
    }
}

/// Names with values: a = 1.0, b = 2.0.
#[cfg(feature = "std")]
struct Assigned<'a>(&'a [StateEntry], &'a [f64]);

#[cfg(feature = "std")]
impl core::fmt::Display for Assigned<'_> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
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
impl core::fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.1 {
            Some(name) => write!(
                out,
                "`{name}` or its rate is not finite however short the step: the solution has reached the edge of the field's \
                 domain; end before it"
            ),
            None => self.0.fmt(out),
        }
    }
}

/// A likely cause.
#[cfg(feature = "std")]
struct Suspected<'a>(&'a Option<Dependence>);

#[cfg(feature = "std")]
impl core::fmt::Display for Suspected<'_> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            Some(dependence) => write!(
                out,
                "; at t = {:?} {dependence}: the field is singular where they are, and a run that passes near needs error \
                 control or shorter steps",
                dependence.time(),
            ),
            None => Ok(()),
        }
    }
}
