//! A run that continues at each call, by steps of one size of an explicit method.
//!
//! Everything that depends on the start alone is computed once: a call makes its steps, and nothing else. Integrals are held where they were
//! at the start.

use super::run_loop::{Pace, follow_alone};
use super::stepper::{FixedSteps, StepEnds, Stepper};
use super::{GivenLimits, Schedule, Setup, Simulation, Span, check_driving};
use crate::error::Error;
use crate::field::Field;
use crate::hold::consistent_start::Parameters;
use crate::hold::projection::{Lander, Projector};
use crate::method::advance::Explicit;
use crate::method::settings::{FixedStep, Method, Settings, Stepping};
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
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Simulation<'_, S, F> {
    /// The run as one that continues at each call, if it has steps of one size of an explicit method, and neither events nor switches nor
    /// sampled laws, at which it would have to stop. It has no samples, no watcher and no record.
    ///
    /// # Errors
    ///
    /// If the run could not begin.
    #[doc(hidden)]
    pub fn into_continuation(mut self, settings: &Settings) -> Result<Option<Continuation<S, F>>, Error> {
        let (facts, method) = (self.facts(), settings.method);
        let Stepping::Fixed { method: step, .. } = method.stepping() else { return Ok(None) };
        if !self.setup.course.events.is_empty() || facts.has_switches() || facts.law_delay.is_some() {
            return Ok(None);
        }
        self.setup.apply(settings);
        let Self { setup, field } = self;
        let mut field = field?;
        let Setup { system, time, max_step, max_steps, hold, .. } = setup;
        check_driving(facts, field.driver(), setup.start.as_ref(), Span::new(time, settings.until)?)?;
        let given = GivenLimits { max_step, max_steps };
        let projection = method.projection(facts, hold);
        let (state, targets) = setup.start_of_run(projection)?;
        if projection.is_some() {
            field.start_at(&state);
        }
        let lander = projection.map(|of| Lander::new(Projector::new(system, &state, targets, of)));
        let parameters = (0..facts.parameter_names.len()).filter_map(|index| system.parameter(index)).collect();
        Ok(Some(Continuation { facts, parameters, field, method, step, given, lander, time, state }))
    }
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Continuation<S, F> {
    /// Makes the steps to a time, and returns the state there. With `has_jumped`, the inputs have other values from here on. After an
    /// error the run cannot continue.
    ///
    /// # Errors
    ///
    /// If no further step can be made.
    pub fn advance(&mut self, until: f64, has_jumped: bool) -> Result<&[f64], Error> {
        let Self { facts, parameters, field, method, step, given, lander, time, state } = self;
        let (span, facts) = (Span::new(*time, until)?, *facts);
        let schedule = Schedule::of_method(*method, span, None, *given, facts)?;
        let pace = Pace::new(schedule.as_ref(), field.driver(), f64::INFINITY);
        let mut kept = None;
        let ends = StepEnds { facts, lander: lander.take(), kept: &mut kept };
        let mut stepper = FixedSteps::new(Explicit { method: *step, field: &*field }, *time, *state, ends);
        if has_jumped {
            stepper.begin_anew();
        }
        let value = |index: usize| parameters.get(index).copied();
        let parameters = Parameters { names: facts.parameter_names, value: &value };
        follow_alone(facts.state, &parameters, &mut stepper, &pace, span)?;
        (*time, *state, *lander) = stepper.into_end();
        Ok(facts.of_state::<S, _>(state))
    }
}
