//! Errors: wrong arguments of a caller, and failures of a run.
//!
//! Every message names the culprit and its value, and says what would do instead. Names are the declaration's, as in
//! [`FeedbackSystem`](crate::FeedbackSystem)'s constants.

pub(crate) mod dependence;
pub(crate) mod extremes;
pub(crate) mod failure;
#[cfg(feature = "std")]
pub(crate) mod memory;
pub(crate) mod names;
#[cfg(feature = "std")]
mod report;

use core::fmt;

use crate::error::dependence::Dependence;
use crate::error::extremes::Extremes;
#[cfg(feature = "std")]
use crate::error::failure::{Reason, StepFailure, UndefinedInput};
use crate::error::names::{GivenName, Listed};
#[cfg(feature = "std")]
use crate::error::names::{HeldTimes, InputRange};
use crate::system::StateEntry;

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
    /// A model does not say where a run starts.
    #[error("nothing says where a run of `{model}` starts: add `start(..)` to its attribute")]
    NoStart {
        /// The model.
        model: &'static str,
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
        "`{name}` is {value:?} at the start{extremes}: start where every constraint, the energy and every invariant are finite, or \
         change the parameters"
    )]
    Integral {
        /// The integral.
        name: &'static str,
        /// Its value at the start.
        value: f64,
        /// Parameters that may be the reason.
        extremes: Extremes,
    },
    /// Constraints are dependent on one another at the start.
    #[error(
        "at the start {dependence}, so that the constraint forces are not determined; start elsewhere, change the \
         parameters, or drop a constraint that others imply, or mark it, as in `constraint(redundant name = ..)`"
    )]
    DependentConstraints {
        /// Which, and how nearly.
        dependence: Dependence,
    },
    /// A constraint that is declared to be redundant is not implied by the others at the start.
    #[error(
        "at the start the constraint `{name}` is not redundant: {across:.1e} of its gradient is across those of the other constraints, and \
         without a reaction nothing would hold it; remove `redundant`, or start elsewhere"
    )]
    NotRedundant {
        /// The constraint.
        name: &'static str,
        /// The part of its gradient that is independent of the others', in units of the sizes of entries.
        across: f64,
    },
    /// The constraints of a field that is given are too nearly dependent at the start for a projection or a relaxation to hold each
    /// of them.
    #[error(
        "at the start {dependence}, so that a projection or a relaxation cannot tell them apart; declare what they differ by instead of \
         one of them, or run without either"
    )]
    IndistinctConstraints {
        /// Which, and how nearly.
        dependence: Dependence,
    },
    /// The field cannot be evaluated at the start.
    #[error(
        "the rate of `{name}` is {value:?} at the start{extremes}: the field is not defined there; start elsewhere or change the \
         parameters"
    )]
    Rate {
        /// The entry of the state.
        name: &'static str,
        /// Its rate.
        value: f64,
        /// Parameters that may be the reason.
        extremes: Extremes,
    },
    /// Velocities have no inertia because a parameter is 0, and the field was derived for one that is not.
    #[cfg(feature = "std")]
    #[error(
        "at the start {dependence}, because of `{parameter}` = 0.0; where constraints determine such a motion, declare it without \
         inertia, by `default({parameter} = 0)`"
    )]
    NoInertia {
        /// The velocities.
        dependence: Dependence,
        /// The parameter.
        parameter: &'static str,
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
        /// The distance from 0 that it may have.
        tolerance: f64,
    },
    /// A name that no entry of the state has.
    #[error("`{name}` is not an entry of the state: the entries are {}", Listed(.known))]
    UnknownEntry {
        /// The name.
        name: GivenName,
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
        /// The number of iterations that were made.
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
    /// The function that watches an ensemble ended it before this member was done.
    #[cfg(feature = "ensemble")]
    #[error("the ensemble was interrupted before this member was done: run it again")]
    Interrupted,
    /// An ensemble has more or fewer of something than it has starts.
    #[cfg(feature = "ensemble")]
    #[error("there are {given} {what} for {starts} starts: give one for each start, or one for all")]
    MemberCount {
        /// The things whose number is wrong.
        what: &'static str,
        /// The number that was given.
        given: usize,
        /// The number of starts.
        starts: usize,
    },
    /// A step, a tolerance, an end or an interval that is not positive or not finite.
    #[error("{what} is {value:?}: it must be positive and finite")]
    Setting {
        /// The setting.
        what: &'static str,
        /// To which value.
        value: f64,
    },
    /// A run would not end after its start.
    #[cfg(feature = "std")]
    #[error(
        "the run starts at t = {from:?} and ends at t = {until:?}: both must be finite, and the end later than the start"
    )]
    EndBeforeStart {
        /// The time at the start.
        from: f64,
        /// The time at the end.
        until: f64,
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
    /// A run with a fixed step takes more steps than are allowed.
    #[cfg(feature = "std")]
    #[error(
        "the run takes {steps} steps of h = {h:?}, more than the limit of {limit}: take longer steps or an earlier end, or raise the \
         limit"
    )]
    StepLimit {
        /// The number of steps.
        steps: u64,
        /// The step.
        h: f64,
        /// The most steps that are allowed.
        limit: u64,
    },
    /// The samples that a run asks for would fill the memory.
    #[cfg(feature = "std")]
    #[error("the interval {interval:?} is too small to sample until t = {until:?}: ask for at most 1e8 samples")]
    TooManySamples {
        /// The time between two samples.
        interval: f64,
        /// The end.
        until: f64,
    },
    /// The requested data do not fit into memory.
    #[cfg(feature = "std")]
    #[error("there is no memory for {what}: {bytes} bytes were asked for; {remedy}")]
    Memory {
        /// The data that did not fit.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// A smaller request.
        remedy: &'static str,
    },
    /// The times of a table of inputs do not increase, or there is none.
    #[cfg(feature = "std")]
    #[error("{}", HeldTimes(.index, .time, .before))]
    HeldTimes {
        /// The index of the time that is out of order; the end comes last.
        index: usize,
        /// The time.
        time: f64,
        /// The time before it, if there is one.
        before: Option<f64>,
    },
    /// A run goes beyond the times at which its inputs are known.
    #[cfg(feature = "std")]
    #[error("{}", InputRange([.first, .last], [.from, .until]))]
    InputRange {
        /// The first time at which the inputs are known.
        first: f64,
        /// The last time at which the inputs are known.
        last: f64,
        /// The time at the start of the run.
        from: f64,
        /// The time at the end of the run.
        until: f64,
    },
    /// The start has another time than that at which the run begins.
    #[cfg(feature = "std")]
    #[error("the start has `{name}` = {time:?}, and the run begins at t = {from:?}: both must be the same")]
    OtherTime {
        /// The name of the time in the state.
        name: &'static str,
        /// The time in the state.
        time: f64,
        /// The time at the start of the run.
        from: f64,
    },
    /// The inputs jump within a step of a fixed size.
    #[cfg(feature = "std")]
    #[error(
        "the inputs jump at t = {time:?}, within a step of h = {h:?}: take a step of which the times of the table are multiples, or a \
         method with error control"
    )]
    JumpWithinStep {
        /// When the inputs jump.
        time: f64,
        /// The step.
        h: f64,
    },
    /// A time at which no sample can be taken.
    #[cfg(feature = "std")]
    #[error("the list of times to sample has {time:?} at index {index}: {reason}")]
    SampleTime {
        /// Its index in the list.
        index: usize,
        /// The time.
        time: f64,
        /// The condition that it must meet.
        reason: &'static str,
    },
    /// The snapshot to resume from was taken from another run.
    #[cfg(feature = "std")]
    #[error(
        "the run cannot resume from this snapshot: {reason}; build the simulation as it was when the snapshot was taken"
    )]
    ForeignSnapshot {
        /// The part that differs.
        reason: &'static str,
    },
    /// The snapshot to resume from was taken from a run with other settings.
    #[cfg(feature = "std")]
    #[error(
        "the run cannot resume from this snapshot: {what} was {then}, and is {now}; build the simulation as it was when the snapshot was \
         taken"
    )]
    ResumedOtherwise {
        /// The setting.
        what: String,
        /// Its value in the run from which the snapshot was taken.
        then: String,
        /// Its value now.
        now: String,
    },
    /// The run ended before its end.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Failed(Box<Failure>),
}

#[cfg(feature = "std")]
impl Error {
    /// The error with an input as its cause, if one was not a finite number in the step that failed.
    pub(crate) fn blaming(self, undefined: Option<UndefinedInput>) -> Self {
        match (self, undefined) {
            (Self::Failed(failure), Some(input)) => Failure { cause: Cause::Input(input), ..*failure }.into(),
            (other, _) => other,
        }
    }
}

#[cfg(feature = "std")]
impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

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

/// The message, not the variant: this is what a `main` that returns an error prints.
impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(Error::Setting { what, value }) }
}
