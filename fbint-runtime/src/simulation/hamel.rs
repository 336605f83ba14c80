//! Runs of the discrete Hamel integrator.

use std::cell::Cell;

use super::course::{Audit, Course, Leg, Steps};
use super::sampling::SampleTimes;
use super::schedule::Schedule;
use crate::error::Error;
use crate::failure::StepFailure;
use crate::hamel::{Advanced, Carried, HamelSteps};
use crate::linear::{filled, from_slice};
use crate::system::{FeedbackSystem, PreparedSystem, Vector};

impl<S: FeedbackSystem> Course<'_, S> {
    /// A run by steps of one size of the discrete Hamel integrator.
    pub(super) fn with_hamel_steps(
        &mut self,
        system: &S,
        schedule: &Schedule,
        times: Option<&SampleTimes>,
    ) -> Result<Leg, Error> {
        let HamelSteps { begin, advance } = HamelSteps::<S>::of_any()?;
        let (state, system) = (self.state(), system.prepare());
        let carried = match self.momenta() {
            Some([node, excess]) => Carried { node: from_slice(node), excess: from_slice(excess) },
            None => begin(&system, &state),
        };
        let (carried, end) = (Cell::new(carried), Cell::new(state));
        let step = |x: &mut Vector<S>, h: f64| -> Result<(), StepFailure> {
            // What is carried belongs to the end of the last step: a projection makes it another state.
            let own = if *x == end.get() { carried.get() } else { begin(&system, x) };
            let Advanced { state, carried: next, .. } = advance(&system, x, &own, h)?;
            carried.set(next);
            end.set(state);
            *x = state;
            Ok(())
        };
        let audit = Audit { interval: f64::INFINITY, decay_rate: &|_| 0.0 };
        self.with_fixed_steps(
            schedule,
            times,
            audit,
            &Steps {
                alone: &step,
                // It estimates no error: every entry counts alike.
                projected: &|projector, x, h, _| {
                    let begin = *x;
                    step(x, h)?;
                    Ok(projector.land(&begin, &filled(1.0), x))
                },
                between: &|x, h| {
                    *x = advance(&system, x, &begin(&system, x), h)?.state;
                    Ok(())
                },
                rates: &|x| system.vector_field(x),
                evaluations: 1,
                carried: Some(&carried),
                driver: None,
            },
        )
    }
}
