//! The state at the end of a run, and nothing else.

use super::schedule::{Schedule, Span};
use super::{Simulation, StepControl, check_driving};
use crate::consistent_start::projected_start;
use crate::error::Error;
use crate::extremes::Extremes;
use crate::failure::{Failure, StepError};
use crate::field::Field;
use crate::hamel::HamelSteps;
use crate::integrator::Integrator;
use crate::linear::filled;
use crate::method::{ErrorControl, FixedStep, Settings, Stepping};
use crate::projection::Projector;
use crate::system::{FeedbackSystem, Vector, set_clock};

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Simulation<'_, S, F> {
    /// The state at the end of the steps of [`run_with`](Self::run_with), and nothing else: no drift is recorded, no sample taken, no
    /// gain audited, nobody watches, and a blow-up is not noticed. The result is bit-identical to the end of the run. With events it is
    /// that run.
    ///
    /// # Errors
    ///
    /// If the gains, the method or the end are out of range, or if no further step can be made.
    pub fn final_state(mut self, settings: &Settings) -> Result<S::State, Error> {
        if !self.events.is_empty() {
            return self.run_with(settings).map(|run| run.state());
        }
        let mut field = self.field?;
        let Settings { method, from, until, projection, .. } = *settings;
        let span = Span::new(from, until)?;
        check_driving::<S>(field.driver(), &self.start, span)?;
        let control = StepControl { time: from, scales: self.scales, max_steps: self.max_steps };
        let projector = match projection {
            Some(projection) => {
                let (start, targets) = projected_start(self.system, &self.start)?;
                self.start = start;
                field.start_at(&start);
                Some(Projector::new(self.system, &start, targets, projection))
            }
            None => None,
        };
        let extremes = Extremes::of(self.system);
        let end = match method.stepping()? {
            Stepping::Fixed { method, h } => {
                follow_fixed_steps(&field, method, &Schedule::new(h, span, None)?, self.start, projector)?
            }
            Stepping::Hamel { h } => {
                let schedule = Schedule::new(h, span, None)?;
                follow_hamel_steps(self.system, &schedule, self.start, projector, extremes)?
            }
            Stepping::Controlled { method: ErrorControl::DormandPrince, tolerance } => {
                let integrator = control.set(Integrator::dormand_prince(&field, self.start, tolerance))?;
                follow_error_control(integrator, until, projector, extremes)?
            }
            Stepping::Controlled { method: ErrorControl::Dop853, tolerance } => {
                let integrator = control.set(Integrator::dop853(&field, self.start, tolerance))?;
                follow_error_control(integrator, until, projector, extremes)?
            }
        };
        Ok(end.into())
    }
}

/// The state after all steps of a schedule.
fn follow_fixed_steps<S: FeedbackSystem>(
    field: &impl Field<Vector = Vector<S>>,
    method: FixedStep,
    schedule: &Schedule,
    mut x: Vector<S>,
    mut projector: Option<Projector<S>>,
) -> Result<Vector<S>, Error> {
    for number in 1..=schedule.steps {
        if schedule.hold(field.driver(), number - 1)? {
            projector.iter_mut().for_each(Projector::begin_anew);
        }
        let h = schedule.step_size(number);
        match &mut projector {
            Some(projector) => {
                method.projected_step(projector, |x| field.value(x), &mut x, h, schedule.time(number));
            }
            None => method.step(|x| field.value(x), &mut x, h),
        }
        set_clock::<S, f64>(&mut x, schedule.time(number));
    }
    Ok(x)
}

/// The state after all steps of the discrete Hamel integrator.
fn follow_hamel_steps<S: FeedbackSystem>(
    system: &S,
    schedule: &Schedule,
    start: Vector<S>,
    mut projector: Option<Projector<S>>,
    extremes: Extremes,
) -> Result<Vector<S>, Error> {
    let HamelSteps { begin, advance } = HamelSteps::<S>::of_any()?;
    let (mut state, system) = (start, system.prepare());
    let mut carried = begin(&system, &state);
    for number in 1..=schedule.steps {
        let end = advance(&system, &state, &carried, schedule.step_size(number)).map_err(|reason| {
            let error = StepError { reason, time: schedule.time(number - 1), state };
            Failure::of_step::<S>(error, None, extremes, Vec::new())
        })?;
        let start = state;
        (state, carried) = (end.state, end.carried);
        if let Some(projector) = &mut projector {
            projector.land(&start, &filled(1.0), &mut state);
            if state != end.state {
                carried = begin(&system, &state);
            }
        }
    }
    Ok(state)
}

/// The state to which an integrator steps.
fn follow_error_control<S: FeedbackSystem, F: Field<Vector = Vector<S>>, const STAGES: usize>(
    mut integrator: Integrator<'_, F, STAGES>,
    until: f64,
    mut projector: Option<Projector<S>>,
    extremes: Extremes,
) -> Result<Vector<S>, Error> {
    while integrator.time() < until {
        let step = match &mut projector {
            Some(projector) => integrator.projected_step(until, projector).map(|_| ()),
            None => integrator.step(until),
        };
        step.map_err(|error| Failure::of_step::<S>(error, None, extremes, Vec::new()))?;
    }
    Ok(*integrator.state())
}
