//! The members of one block, integrated side by side with steps of one size.
//!
//! Steps are those of a [`Simulation`](crate::Simulation), with lanes for numbers, and what comes of them is looked at as it
//! is there: in which lanes a state is not good, or a projection is out of proportion.

use std::hint::black_box;

use super::assigned_member::{Numbers, in_lane};
use super::assignment::{LaneAssignment, Leave};
use super::progress::UNWATCHED;
use super::proportion::out_of_proportion;
use crate::facts::SystemFacts;
use crate::field::Field;
use crate::lanes::{Lanes, Mask};
use crate::method::FixedStep;
use crate::projection::{Landing, Projection, Projector, USUAL};
use crate::scalar::Scalar;
use crate::simulation::Schedule;
use crate::system::{FeedbackSystem, PreparedSystem, Vector};

/// Integrates from `start` by a method with a fixed step.
pub(super) fn integrate<S, F, const V: usize>(
    step_loop: &mut FixedStepLoop<'_, '_, '_, S, V>,
    field: &F,
    start: Vector<S, Lanes<V>>,
    method: FixedStep,
    projection: Option<Projection>,
) where
    S: FeedbackSystem,
    F: Field<Lanes<V>, Vector = Vector<S, Lanes<V>>> + ?Sized,
{
    let value = |x: &_| field.value(x);
    if let Some(projection) = projection {
        return step_loop.follow_projected(projection, start, &|projector, x, h, time| {
            method.advance(projector, value, x, h, time)
        });
    }
    let mut follow = |advance: TakeSteps<'_, S, V>| step_loop.follow(start, advance);
    // One loop for each method, so that none is chosen anew in every step.
    match method {
        FixedStep::Euler => {
            follow(&|check, x, h, steps| check.repeat(steps, x, |x| FixedStep::Euler.step(value, x, h)))
        }
        FixedStep::Midpoint => {
            follow(&|check, x, h, steps| check.repeat(steps, x, |x| FixedStep::Midpoint.step(value, x, h)));
        }
        FixedStep::Heun => follow(&|check, x, h, steps| check.repeat(steps, x, |x| FixedStep::Heun.step(value, x, h))),
        FixedStep::Rk4 => follow(&|check, x, h, steps| check.repeat(steps, x, |x| FixedStep::Rk4.step(value, x, h))),
    }
}

/// Integrates from `start` by steps that a function makes.
pub(super) fn follow<S: FeedbackSystem, const V: usize>(
    step_loop: &mut FixedStepLoop<'_, '_, '_, S, V>,
    start: Vector<S, Lanes<V>>,
    step: &dyn Fn(&mut Vector<S, Lanes<V>>, Lanes<V>),
) {
    step_loop.follow(start, &|check, x, h, steps| check.repeat(steps, x, |x| step(x, h)));
}

/// One step to a time, and its projection.
type TakeProjectedStep<'a, S, const V: usize> =
    &'a dyn Fn(&mut Projector<S, Lanes<V>>, &mut Vector<S, Lanes<V>>, Lanes<V>, f64) -> Landing<S, Lanes<V>>;

/// Many steps of one size.
type TakeSteps<'a, S, const V: usize> = &'a dyn Fn(&mut StepCheck<'_, S, V>, &mut Vector<S, Lanes<V>>, Lanes<V>, u64);

/// What looks for trouble after each step.
struct StepCheck<'a, S: FeedbackSystem, const V: usize> {
    numbers: &'a Numbers<S, V>,
    /// The lanes in which a simulation would have looked more closely, or stopped.
    lost: Mask<V>,
}

impl<S: FeedbackSystem, const V: usize> StepCheck<'_, S, V> {
    /// The innermost loop. The state passes through memory once before it, because only a stack frame with a vector in it is aligned
    /// as vectors are: in any other, LLVM puts the registers that it runs out of wherever, across cache lines too.
    #[inline(always)]
    fn repeat(&mut self, steps: u64, x: &mut Vector<S, Lanes<V>>, mut step: impl FnMut(&mut Vector<S, Lanes<V>>)) {
        *x = black_box(*x);
        for number in 1..=steps {
            step(x);
            // The last state is looked at when its time is known.
            if number < steps {
                self.look(x);
            }
        }
    }

    /// Looks for lanes in which the state is not good.
    #[inline(always)]
    fn look(&mut self, x: &Vector<S, Lanes<V>>) {
        let good = self.numbers.is_good(x, &self.numbers.change(x));
        self.lost = self.lost.or(Mask::all().and_not(good));
    }

    /// Looks for lanes in which the projection is out of proportion.
    #[inline(always)]
    fn look_at_projection(&mut self, landing: &Landing<S, Lanes<V>>) {
        self.lost = self.lost.or(out_of_proportion::<S, V>(landing, USUAL));
    }
}

/// What comes after each step, and when.
pub(super) struct FixedStepLoop<'a, 'c, 'm, S: FeedbackSystem, const V: usize> {
    schedule: &'a Schedule,
    assignment: &'a mut LaneAssignment<'c, 'm, S, V>,
    check: StepCheck<'a, S, V>,
    /// The number of steps since it was asked whether the runs go on.
    unwatched: u64,
    is_interrupted: bool,
}

impl<'a, 'c, 'm, S: FeedbackSystem, const V: usize> FixedStepLoop<'a, 'c, 'm, S, V> {
    /// The loop of the members in the lanes, who have these numbers.
    pub(super) fn new(
        numbers: &'a Numbers<S, V>,
        schedule: &'a Schedule,
        assignment: &'a mut LaneAssignment<'c, 'm, S, V>,
    ) -> Self {
        Self {
            schedule,
            assignment,
            check: StepCheck { numbers, lost: Mask::none() },
            unwatched: 0,
            is_interrupted: false,
        }
    }

    /// Every member leaves its lane.
    pub(super) fn end(self) {
        for lane in 0..self.assignment.lanes() {
            self.assignment.leave(
                lane,
                match self.is_interrupted {
                    true => Leave::Interrupted,
                    false if self.check.lost.has(lane) => Leave::Lost,
                    false => Leave::Ended,
                },
            );
        }
    }

    /// What the system of the members is.
    #[inline(always)]
    pub(super) fn facts(&self) -> &'static SystemFacts {
        self.check.numbers.system.facts()
    }

    /// Advances by many steps at once where nothing comes between them. This is one function for all methods, so that the
    /// generated code in it is compiled but once.
    fn follow(&mut self, mut x: Vector<S, Lanes<V>>, advance: TakeSteps<'_, S, V>) {
        let mut number = 0;
        while number < self.schedule.steps && !self.is_interrupted {
            let steps = if self.facts().clock.is_some() { 1 } else { self.schedule.alike_from(number).min(UNWATCHED) };
            number += steps;
            advance(&mut self.check, &mut x, Scalar::from_f64(self.schedule.step_size(number)), steps);
            self.finish_steps(number, steps, &mut x);
        }
    }

    /// Projects the states after every step.
    fn follow_projected(
        &mut self,
        projection: Projection,
        mut x: Vector<S, Lanes<V>>,
        step: TakeProjectedStep<'_, S, V>,
    ) {
        let mut projector = self.check.numbers.projector(projection);
        for number in 1..=self.schedule.steps {
            if self.is_interrupted {
                return;
            }
            let h = Scalar::from_f64(self.schedule.step_size(number));
            let landing = step(&mut projector, &mut x, h, self.schedule.time(number));
            self.check.look_at_projection(&landing);
            self.finish_steps(number, 1, &mut x);
        }
    }

    /// What comes after so many steps, of which the last one has that number.
    fn finish_steps(&mut self, number: u64, steps: u64, x: &mut Vector<S, Lanes<V>>) {
        self.facts().set_clock(x, self.schedule.time(number));
        self.check.look(x);
        if self.schedule.is_sampled(number) || number == self.schedule.steps {
            self.sample(number, x);
        }
        self.unwatched += steps;
        if self.unwatched >= UNWATCHED && number < self.schedule.steps {
            self.unwatched = 0;
            self.is_interrupted = !self.assignment.goes_on();
        }
    }

    fn sample(&mut self, number: u64, x: &Vector<S, Lanes<V>>) {
        let changes = self.check.numbers.change(x);
        for lane in 0..self.assignment.lanes() {
            self.assignment.sample(lane, self.schedule.time(number), &in_lane(x, lane), &in_lane(&changes, lane));
        }
    }
}
