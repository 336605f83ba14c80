//! Steps of one size side by side. They are a [`Simulation`](crate::Simulation)'s steps, with lanes for numbers.
//!
//! All members of a block begin at once, and all steps end at the same times.

use std::hint::black_box;

use super::assigned_member::Numbers;
use super::collocation::Collocations;
use super::gains::{AloneField, LaneFields};
use super::lane_loop::{LaneStepper, LaneSteps};
use super::progress::UNWATCHED;
use super::proportion::{leave_rounding, out_of_proportion};
use crate::error::Error;
use crate::field::Field;
use crate::gauss::Coefficients;
use crate::lanes::{Lanes, Mask};
use crate::linear::filled;
use crate::method::FixedStep;
use crate::projection::{Projection, Projector, USUAL};
use crate::scalar::Scalar;
use crate::simulation::{Schedule, check_stability};
use crate::system::{FeedbackSystem, Integrals, PreparedSystem, Vector};

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
                *projector = projector.or_else(|| projection.map(|projection| numbers.projector(projection)));
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

/// Steps of one size that follow one another, and what is found in them.
pub(super) struct AlikeSteps<'a, S: FeedbackSystem, const V: usize> {
    number: u64,
    h: Lanes<V>,
    /// When the last one ends.
    time: f64,
    numbers: &'a Numbers<S, V>,
    /// The lanes in which a simulation would have looked more closely, or stopped.
    lost: Mask<V>,
    /// The squares of what the projection may leave of the violations.
    may_be_left: Option<Integrals<S, Lanes<V>>>,
}

impl<S: FeedbackSystem, const V: usize> AlikeSteps<'_, S, V> {
    /// Makes the steps along x' = `field`(x), or the one step whose end is projected.
    pub(super) fn make<F>(
        &mut self,
        method: FixedStep,
        projector: Option<&mut Projector<S, Lanes<V>>>,
        field: &F,
        x: &mut Vector<S, Lanes<V>>,
    ) where
        F: Field<Lanes<V>, Vector = Vector<S, Lanes<V>>> + ?Sized,
    {
        let (value, h) = (|x: &_| field.value(x), self.h);
        if let Some(projector) = projector {
            let mut landing = method.advance(projector, value, x, h, self.time);
            self.may_be_left = Some(leave_rounding(&projector.noise(h), &mut landing, x));
            self.lost = out_of_proportion::<S, V>(&landing, USUAL);
            return;
        }
        // One loop for each method, so that none is chosen anew in every step.
        match method {
            FixedStep::Euler => self.repeat(x, |x| FixedStep::Euler.step(value, x, h)),
            FixedStep::Midpoint => self.repeat(x, |x| FixedStep::Midpoint.step(value, x, h)),
            FixedStep::Heun => self.repeat(x, |x| FixedStep::Heun.step(value, x, h)),
            FixedStep::Rk4 => self.repeat(x, |x| FixedStep::Rk4.step(value, x, h)),
        }
    }

    /// The innermost loop. The state passes through memory once before it, because only a stack frame with a vector in it is aligned
    /// as vectors are: in any other, LLVM puts the registers that it runs out of wherever, across cache lines too.
    #[inline(always)]
    fn repeat(&mut self, x: &mut Vector<S, Lanes<V>>, mut step: impl FnMut(&mut Vector<S, Lanes<V>>)) {
        *x = black_box(*x);
        for number in 1..=self.number {
            step(x);
            // The last state is looked at when its time is known.
            if number < self.number {
                let good = self.numbers.is_good(x, &self.numbers.change(x));
                self.lost = self.lost.or(Mask::all().and_not(good));
            }
        }
    }
}
