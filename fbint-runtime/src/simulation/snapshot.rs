//! A run under way, as its watcher sees it, and all that it takes to resume it.
//!
//! A run that resumes from a [`Snapshot`] makes the very steps that the run made from which it was taken, bit-identical: the snapshot holds
//! the state, the control of the step size with the derivative that it would not evaluate again, the record of the drift and the samples so
//! far. It holds as much of the simulation's ingredients as it takes to recognise another run.

use super::schedule::Span;
use super::stepper::Memory;
use crate::error::Error;
use crate::field::sides::Side;
use crate::hold::consistent_start::Parameters;
use crate::method::settings::Method;
use crate::simulation::drift::DriftRecord;
use crate::system::dynamical_system::DynamicalSystem;

/// The most steps, or evaluations, that a run can make: beyond, times no longer differ from step to step.
const MOST: u64 = 1 << 53;

/// A moment of a run, shown to [`Simulation::watched`](crate::Simulation::watched).
pub struct Moment<'a> {
    pub(crate) time: f64,
    pub(crate) span: Span,
    pub(crate) snapshot: &'a dyn Fn() -> Snapshot,
}

impl Moment<'_> {
    /// The time that was reached.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The fraction of the run that is done.
    pub fn fraction(&self) -> f64 {
        (self.time - self.span.from) / self.span.length()
    }

    /// The data from which the run resumes here; see [`Simulation::from_snapshot`](crate::Simulation::from_snapshot).
    pub fn snapshot(&self) -> Snapshot {
        (self.snapshot)()
    }
}

/// All that it takes to resume a run from a moment of it. With the feature `serde` it can be written to a file.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot {
    pub(crate) origin: Origin,
    pub(crate) time: f64,
    pub(crate) state: Vec<f64>,
    /// The number of whole steps of a fixed size.
    pub(crate) steps: u64,
    pub(crate) memory: Memory,
    /// The number of steps from one sample to the next, under error control.
    pub(crate) stride: u64,
    pub(crate) drift: DriftRecord,
    /// Time and state of every sample.
    pub(crate) trajectory: Vec<Vec<f64>>,
    /// The largest change of an integral in one step.
    pub(crate) jump: Jump,
    /// The largest projection in units of the error of its step.
    pub(crate) largest_projection: Option<Largest>,
    /// Time and state where constraints were nearest to dependence.
    pub(crate) dependence: Option<(f64, Vec<f64>)>,
    /// The state of the events, if the run has events.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) events: Option<Past>,
    /// The states of the last samples of the laws of inputs, if these are sampled.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) laws: Vec<Vec<f64>>,
    /// The state whose integrals are the targets, in a run that [continues](Self::onward) another one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(crate) reference: Option<Vec<f64>>,
}

/// The settings of a run, in addition to its start, its step and its events.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Origin {
    pub(crate) parameters: Vec<f64>,
    pub(crate) method: Method,
    pub(crate) is_projected: bool,
    /// The largest rate of decay at the start, which shows the gains, unless it is not a number.
    pub(crate) decay_rate: Option<f64>,
}

impl Origin {
    /// The settings of a run whose feedback decays at a rate at the start.
    pub(crate) fn of(parameters: &Parameters<'_>, method: Method, is_projected: bool, decay_rate: f64) -> Self {
        Self {
            parameters: (0..).map_while(parameters.value).collect(),
            method,
            is_projected,
            decay_rate: Some(decay_rate).filter(|rate| rate.is_finite()),
        }
    }

    /// Refuses another run than the one from which a snapshot was taken.
    fn check(&self, system: &dyn DynamicalSystem, now: &Self) -> Result<(), Error> {
        let parameters = system.facts().parameter_names.iter().enumerate().map(|(index, name)| {
            let value = |of: &Self| of.parameters.get(index).map_or("missing".to_owned(), |value| format!("{value:?}"));
            (format!("the parameter `{name}`"), value(self), value(now))
        });
        let setting = |what: &str, show: fn(&Self) -> String| (what.to_owned(), show(self), show(now));
        let settings = [
            setting("the method", |of| format!("{:?}", of.method)),
            setting("the projection", |of| if of.is_projected { "after each step" } else { "none" }.to_owned()),
            setting("the largest rate of decay of the feedback at the start", |of| {
                of.decay_rate.map_or("not a number".to_owned(), |rate| format!("{rate:?}"))
            }),
        ];
        match parameters.chain(settings).find(|(_, then, now)| then != now) {
            None => Ok(()),
            Some((what, then, now)) => Err(Error::ResumedOtherwise { what, then, now }),
        }
    }
}

/// The state of the events of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Past {
    pub(crate) occurrences: Vec<PastOccurrence>,
    /// How many of them, the first ones, are of runs that this one continues.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) earlier: usize,
    /// For each event, the number of its occurrences in those runs that are not listed.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) unlisted: Vec<u64>,
    /// For each event that has just been met: the rate of its function before.
    pub(crate) left: Vec<Option<f64>>,
    /// F - F_target of every sample, if the targets have changed.
    pub(crate) changes: Vec<Vec<f64>>,
    /// The sides of the field's switches.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(crate) sides: Vec<Side>,
}

impl Past {
    /// The state of the events where another run continues this one: it lists the last two occurrences of each event, by which a run knows
    /// resets that follow one another ever faster, and counts the others.
    fn onward(mut self) -> Self {
        self.unlisted.resize(self.left.len(), 0);
        let mut kept = vec![0; self.left.len()];
        let mut last = Vec::new();
        for occurrence in self.occurrences.into_iter().rev() {
            let event = occurrence.event;
            if kept[event] < 2 {
                kept[event] += 1;
                last.push(occurrence);
            } else {
                self.unlisted[event] += 1;
            }
        }
        last.reverse();
        Self { earlier: last.len(), occurrences: last, changes: Vec::new(), ..self }
    }
}

/// An occurrence of an event; see [`Occurrence`](crate::Occurrence).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PastOccurrence {
    pub(crate) event: usize,
    /// The time.
    pub(crate) time: f64,
    /// The state, before any reset.
    pub(crate) state: Vec<f64>,
    /// The state after the reset, if there was one.
    pub(crate) reset: Option<Vec<f64>>,
}

/// The largest projection of a run so far; see [`LargestProjection`](crate::LargestProjection).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Largest {
    pub(crate) time: f64,
    /// The index of the entry of the state.
    pub(crate) entry: usize,
    pub(crate) distance: f64,
    pub(crate) per_error: f64,
    pub(crate) per_tolerance: Option<f64>,
}

/// The largest change of an integral in one step of a run so far; see [`IntegralJump`](crate::IntegralJump).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Jump {
    pub(crate) time: f64,
    /// The index of the integral.
    pub(crate) integral: usize,
    pub(crate) change: f64,
    /// The change in units of the size of the integral at the start.
    pub(crate) per_size: f64,
}

impl Snapshot {
    /// The time at which it was taken.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The state at that time, flat.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The snapshot as the start of a separate run, which goes on from here to another end: with the control of the step size, the
    /// samples of laws, the sides of switches, the numbers of occurrences and the targets of the integrals of this one, but without its
    /// samples, steps and occurrences. With `has_jumped`, the inputs have other values from here on.
    #[doc(hidden)]
    #[must_use]
    pub fn onward(self, has_jumped: bool) -> Self {
        let resets = |past: &Past| past.occurrences.iter().rev().find_map(|occurrence| occurrence.reset.clone());
        let start = || self.trajectory.first().map(|row| row[1..].to_vec());
        let reference = self.reference.or_else(|| self.events.as_ref().and_then(resets)).or_else(start);
        let Memory { held, carried, control, .. } = self.memory.clone();
        let memory = if has_jumped { Memory { held, carried, control, ..Memory::default() } } else { self.memory };
        Self {
            steps: 0,
            memory: Memory { steps: 0, evaluations: 0, ..memory },
            stride: 1,
            trajectory: vec![[&[self.time], self.state.as_slice()].concat()],
            events: self.events.map(Past::onward),
            reference,
            ..self
        }
    }

    /// The state whose integrals the run holds, if it continues another one: the start of the first, or the end of a reset.
    #[doc(hidden)]
    pub fn reference(&self) -> Option<&[f64]> {
        self.reference.as_deref()
    }

    /// Returns `true` if the run continues another one, whose targets it keeps.
    pub(crate) fn is_onward(&self) -> bool {
        self.reference.is_some()
    }

    /// Refuses a snapshot of another run than one of a system with this origin, or with values that no run has.
    pub(crate) fn check(&self, system: &dyn DynamicalSystem, origin: &Origin) -> Result<(), Error> {
        let (entries, integrals) = (system.facts().state.len(), system.facts().integrals.len());
        let Memory { derivative, end_rates, mean, held, carried, control, .. } = &self.memory;
        let dependent = self.dependence.iter().map(|(_, state)| state);
        let states = derivative.iter().chain(end_rates).chain(mean).chain(dependent).chain([&self.state]);
        let occurrences = || self.events.iter().flat_map(|past| &past.occurrences);
        let met = occurrences().map(|occurrence| &occurrence.state);
        let reset = occurrences().filter_map(|occurrence| occurrence.reset.as_ref());
        let sizes = control.iter().filter_map(|control| control.sizes.as_ref()).flatten();
        let mut states = states
            .chain(carried.iter().flatten())
            .chain(sizes)
            .chain(met)
            .chain(reset)
            .chain(&self.laws)
            .chain(&self.reference);
        if !states.all(|state| state.len() == entries) || !self.trajectory.iter().all(|row| row.len() == entries + 1) {
            return Err(Error::ForeignSnapshot { reason: "its state has another number of entries" });
        }
        let changes = self.events.iter().flat_map(|past| &past.changes);
        let mut of_integrals = held.iter().flatten().chain(changes);
        if !self.drift.has_length(integrals) || !of_integrals.all(|entries| entries.len() == integrals) {
            return Err(Error::ForeignSnapshot { reason: "it has another number of integrals" });
        }
        if self.trajectory.is_empty() {
            return Err(Error::ForeignSnapshot { reason: "it has no start" });
        }
        let rejected = control.iter().map(|control| control.rejected);
        let unlisted = self.events.iter().flat_map(|past| past.unlisted.iter().copied());
        let mut counters =
            rejected.chain(unlisted).chain([self.steps, self.stride, self.memory.steps, self.memory.evaluations]);
        if counters.any(|counter| counter > MOST) {
            return Err(Error::ForeignSnapshot { reason: "it has counted more than any run can" });
        }
        let size = control.as_ref().and_then(|control| control.size);
        if size.is_some_and(|size| !(size > 0.0 && size.is_finite())) {
            return Err(Error::ForeignSnapshot { reason: "its step is not positive and finite" });
        }
        if self.is_onward() {
            // Its start, and so the rate there, is another one.
            return Origin { decay_rate: origin.decay_rate, ..self.origin.clone() }.check(system, origin);
        }
        self.origin.check(system, origin)
    }
}
