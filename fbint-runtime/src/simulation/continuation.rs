//! A run that continues at each call, by steps of one size of an explicit method.
//!
//! Everything that depends on the start alone is computed once: a call makes its steps, looks for events in them, and nothing else. Where an
//! event occurs, a run with a record has to go on from the snapshot before the call.

use super::declared::declared_events;
use super::event_search::EventSearch;
use super::run_loop::{Pace, follow_alone};
use super::snapshot::Snapshot;
use super::stepper::{FixedSteps, Memory, StepEnds, Stepper};
use super::switching::{append, switches};
use super::{GivenLimits, Schedule, Setup, Simulation, Span, check_driving};
use crate::error::Error;
use crate::field::Field;
use crate::hold::consistent_start::{Parameters, flat_targets};
use crate::hold::projection::{Land, Lander, Projector};
use crate::method::advance::Explicit;
use crate::method::settings::{FixedStep, Method, Settings, Stepping};
use crate::numbers::linear::from_slice;
use crate::system::{FeedbackSystem, SystemFacts, Vector};

/// A run that continues at each call; see [`Simulation::into_continuation`].
#[doc(hidden)]
pub struct Continuation<S: FeedbackSystem, F> {
    facts: &'static SystemFacts,
    parameters: Vec<f64>,
    field: F,
    method: Method,
    step: FixedStep,
    given: GivenLimits,
    lander: Option<Lander<S>>,
    time: f64,
    state: Vector<S>,
    search: EventSearch<'static>,
    /// Where it began to continue.
    origin: Snapshot,
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Simulation<'_, S, F> {
    /// The run as one that continues at each call from its snapshot, which is [`Snapshot::onward`], if it has steps of one size of an explicit
    /// method, neither switches nor sampled laws, and no events but the declared ones. It has no samples, no watcher and no record.
    /// `own` makes a copy of the system.
    ///
    /// # Errors
    ///
    /// If the run could not begin.
    #[doc(hidden)]
    pub fn into_continuation(
        mut self,
        settings: &Settings,
        own: impl FnOnce() -> S,
    ) -> Result<Option<Continuation<S, F>>, Error> {
        let (facts, method) = (self.facts(), settings.method);
        let Stepping::Fixed { method: step, .. } = method.stepping() else { return Ok(None) };
        let has_stops = facts.has_switches() || facts.law_delay.is_some();
        if has_stops || self.setup.course.events.len() != facts.events.len() {
            return Ok(None);
        }
        let Some(origin) = self.setup.course.from.take() else { return Ok(None) };
        self.setup.apply(settings);
        let Self { setup, field } = self;
        let mut field = field?;
        let Setup { system, max_step, max_steps, hold, .. } = setup;
        let (time, state) = (origin.time, from_slice::<Vector<S>>(&origin.state));
        check_driving(facts, field.driver(), state.as_ref(), Span::new(time, settings.until)?)?;
        let reference = origin.reference.as_deref().unwrap_or(&origin.state);
        field.start_at(&from_slice(reference));
        let lander = method.projection(facts, hold).map(|of| {
            let targets = from_slice(&flat_targets(&system.prepare(), reference));
            let mut lander = Lander::<S>::new(Projector::new(system, &from_slice(reference), targets, of));
            let Memory { mean, derivative, held, .. } = &origin.memory;
            lander.resume(mean.as_deref(), derivative.as_deref(), held.as_ref());
            lander
        });
        let mut search = EventSearch::new(facts, declared_events(Box::new(own())), time);
        origin.events.iter().try_for_each(|past| search.restore(past))?;
        let parameters = (0..facts.parameter_names.len()).filter_map(|index| system.parameter(index)).collect();
        let given = GivenLimits { max_step, max_steps };
        Ok(Some(Continuation { facts, parameters, field, method, step, given, lander, time, state, search, origin }))
    }
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Continuation<S, F> {
    /// Makes the steps to a time, and returns a snapshot of the run there; nothing where an event occurs. With `has_jumped`, the inputs have
    /// other values from here on. After an event or an error, the run cannot continue.
    ///
    /// # Errors
    ///
    /// If no further step can be made.
    pub fn advance(&mut self, until: f64, has_jumped: bool) -> Result<Option<Snapshot>, Error> {
        let Self { facts, parameters, field, method, step, given, lander, time, state, search, .. } = self;
        let (span, facts, field) = (Span::new(*time, until)?, *facts, &*field);
        let schedule = Schedule::of_method(*method, span, None, *given, facts)?;
        let pace = Pace::new(schedule.as_ref(), field.driver(), f64::INFINITY);
        let mut kept = None;
        let ends = StepEnds { facts, lander: lander.take(), kept: &mut kept };
        let mut stepper = FixedSteps::new(Explicit { method: *step, field }, *time, *state, ends);
        if has_jumped {
            stepper.begin_anew();
        }
        let value = |index: usize| parameters.get(index).copied();
        let parameters = Parameters { names: facts.parameter_names, value: &value };
        let append = |state: &mut Vec<f64>| append(facts, &[], |state| switches::<S, F>(facts, field, state), state);
        let looks = search.is_needed();
        if looks {
            let mut begin = stepper.end().1.to_vec();
            append(&mut begin);
            if search.continue_from(span.from, &begin).is_err() {
                return Ok(None);
            }
        }
        let (mut from, mut is_quiet) = (span.from, true);
        follow_alone(facts.state, &parameters, &mut stepper, &pace, span, |stepper| {
            is_quiet = !looks || search.is_quiet(from, stepper, &append);
            from = stepper.end().0;
            !is_quiet
        })?;
        (*time, *state, *lander) = stepper.into_end();
        Ok(is_quiet.then(|| self.snapshot()))
    }

    /// A snapshot of the run.
    fn snapshot(&self) -> Snapshot {
        let memory = self.lander.as_ref().map(|lander| lander.memory().into()).unwrap_or_default();
        let events = self.search.is_needed().then(|| self.search.past());
        let state = self.facts.of_state::<S, _>(&self.state).to_vec();
        Snapshot { time: self.time, state, memory, events, ..self.origin.clone() }
    }
}
