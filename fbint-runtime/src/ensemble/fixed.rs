//! Steps of one size side by side. They are a [`Simulation`](crate::Simulation)'s steps, with lanes for numbers.
//!
//! All members of a block begin at once, and all steps end at the same times.

use super::alike::AlikeSteps;
use super::collocation::Collocations;
use super::gains::{AloneField, LaneFields};
use super::lane_loop::{LaneStepper, LaneSteps};
use super::members::Numbers;
use super::progress::UNWATCHED;
use crate::error::Error;
use crate::hold::projection::{Projection, Projector};
use crate::method::gauss::Coefficients;
use crate::method::settings::FixedStep;
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::simulation::{Schedule, check_stability};
use crate::system::{FeedbackSystem, PreparedSystem, Vector};

/// The steps of one size.
pub(super) enum FixedMethod<S: FeedbackSystem, const V: usize> {
    /// By an explicit Runge-Kutta method, with projections or without.
    RungeKutta { method: FixedStep, projection: Option<Projection>, projector: Option<Projector<S, Lanes<V>>> },
    /// By collocation.
    Gauss { coefficients: Coefficients, collocations: Option<Collocations<S>> },
}

/// Steps of one size, and how far they are.
pub(super) struct FixedLaneSteps<'a, S: FeedbackSystem, const V: usize> {
    method: FixedMethod<S, V>,
    schedule: &'a Schedule,
    /// The number of steps so far.
    number: u64,
    state: Vector<S, Lanes<V>>,
}

impl<'a, S: FeedbackSystem, const V: usize> FixedLaneSteps<'a, S, V> {
    pub(super) fn new(method: FixedMethod<S, V>, schedule: &'a Schedule) -> Self {
        Self { method, schedule, number: 0, state: filled(Scalar::from_f64(0.0)) }
    }
}

impl<S: FeedbackSystem, const V: usize> LaneStepper<S, V> for FixedLaneSteps<'_, S, V> {
    fn begin(&mut self, lane: usize, field: AloneField<'_, S>, start: &Vector<S>) -> Result<(), Error> {
        let rate = field.decay_rate(start);
        check_stability(self.schedule.span.from, self.schedule.h, rate, self.stability_interval())?;
        for (entry, &number) in self.state.as_mut().iter_mut().zip(start.as_ref()) {
            match lane {
                // Lanes that nobody takes repeat the first.
                0 => *entry = Scalar::from_f64(number),
                _ => entry.set(lane, number),
            }
        }
        Ok(())
    }

    /// No member takes a lane after the start, so the fields made there stay.
    fn gather(&mut self, numbers: &Numbers<S, V>, fields: &dyn LaneFields<S, V>) {
        match &mut self.method {
            FixedMethod::RungeKutta { projection, projector, .. } => {
                *projector = projector.take().or_else(|| projection.map(|projection| numbers.projector(projection)));
            }
            FixedMethod::Gauss { coefficients, collocations } => {
                let facts = numbers.system.facts();
                collocations.get_or_insert_with(|| {
                    Collocations::new(*coefficients, self.schedule.h, facts, &self.state, fields)
                });
            }
        }
    }

    fn advance(
        &mut self,
        under_way: Mask<V>,
        numbers: &Numbers<S, V>,
        fields: &dyn LaneFields<S, V>,
    ) -> LaneSteps<S, V> {
        let (schedule, facts) = (self.schedule, numbers.system.facts());
        let alike = match &self.method {
            FixedMethod::RungeKutta { projection: None, .. } if facts.clock.is_none() => {
                schedule.alike_from(self.number).min(UNWATCHED)
            }
            _ => 1,
        };
        self.number += alike;
        let (h, time) = (schedule.step_size(self.number), schedule.time(self.number));
        let mut steps =
            AlikeSteps { number: alike, h: Scalar::from_f64(h), time, numbers, lost: Mask::none(), may_be_left: None };
        match &mut self.method {
            FixedMethod::RungeKutta { method, projector, .. } => {
                fields.make_steps(*method, projector.as_mut(), &mut steps, &mut self.state);
            }
            FixedMethod::Gauss { collocations, .. } => {
                collocations.iter_mut().for_each(|members| members.step(under_way, facts, fields, &mut self.state, h));
            }
        }
        facts.set_clock(&mut self.state, time);
        let may_be_left = steps.may_be_left;
        let lost = steps.lost.or(self.unstable(fields));
        let ended = if self.number == schedule.steps { Mask::all() } else { Mask::none() };
        LaneSteps { number: alike, times: Scalar::from_f64(time), arrived: Mask::all(), lost, may_be_left, ended }
    }

    fn end(&self) -> &Vector<S, Lanes<V>> {
        &self.state
    }

    /// Samples are taken where steps end.
    fn within(&mut self, _: Lanes<V>, _: &dyn LaneFields<S, V>) -> Vector<S, Lanes<V>> {
        self.state
    }

    fn accept(&mut self, _: Mask<V>) {}
}

impl<S: FeedbackSystem, const V: usize> FixedLaneSteps<'_, S, V> {
    /// The end of the real stability interval within which a feedback has to be.
    fn stability_interval(&self) -> f64 {
        match self.method {
            FixedMethod::RungeKutta { method, .. } => method.stability_interval(),
            FixedMethod::Gauss { .. } => f64::INFINITY,
        }
    }

    /// The lanes whose simulations find at a sample that their feedback is too fast for the steps, and refuse it.
    fn unstable(&self, fields: &dyn LaneFields<S, V>) -> Mask<V> {
        let interval = self.stability_interval();
        if interval.is_infinite() || !self.schedule.is_sampled(self.number) {
            return Mask::none();
        }
        let rates = Lanes::from_f64(self.schedule.h) * fields.decay_rate(&self.state);
        Mask::all().and_not(rates.is_at_most(Lanes::from_f64(interval)))
    }
}
