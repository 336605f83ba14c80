//! The members of one block, integrated side by side.
//!
//! Steps are those of a [`Simulation`](crate::Simulation), with lanes for numbers; nothing is looked at between samples.

use std::hint::black_box;
use std::vec::Vec;

use crate::entries::Entries;
use crate::field::Field;
use crate::lanes::Lanes;
use crate::linear::difference;
use crate::method::FixedStep;
use crate::projection::Projector;
use crate::scalar::Scalar;
use crate::simulation::{Sample, Schedule};
use crate::system::{FeedbackSystem, Integrals, PreparedSystem, Vector, clock, set_clock};

/// Integrates from `start` by a method with a fixed step, and adds the samples of the first lanes to `tracks`, one for each.
pub(super) fn integrate<S, F, const V: usize>(
    course: &Course<'_, S, V>,
    field: &F,
    start: Vector<S, Lanes<V>>,
    method: FixedStep,
    tracks: &mut [Vec<Sample<S>>],
) where
    S: FeedbackSystem,
    F: Field<Lanes<V>, Vector = Vector<S, Lanes<V>>> + ?Sized,
{
    let value = |x: &_| field.value(x);
    if let Some(projector) = course.projector {
        return course.follow_projected(projector, start, tracks, &|projector, x, h| {
            method.projected_step(projector, value, x, h);
        });
    }
    let mut follow = |advance: Advance<'_, S, V>| course.follow(start, tracks, advance);
    // One loop for each method, so that none is chosen anew in every step.
    match method {
        FixedStep::Euler => follow(&|x, h, steps| repeat(steps, x, |x| FixedStep::Euler.step(value, x, h))),
        FixedStep::Midpoint => follow(&|x, h, steps| repeat(steps, x, |x| FixedStep::Midpoint.step(value, x, h))),
        FixedStep::Heun => follow(&|x, h, steps| repeat(steps, x, |x| FixedStep::Heun.step(value, x, h))),
        FixedStep::Rk4 => follow(&|x, h, steps| repeat(steps, x, |x| FixedStep::Rk4.step(value, x, h))),
    }
}

/// One step and its projection; see [`Projector::step`].
type ProjectedStep<'a, S, const V: usize> = &'a dyn Fn(&mut Projector<S, Lanes<V>>, &mut Vector<S, Lanes<V>>, Lanes<V>);

/// Many steps of one size.
type Advance<'a, S, const V: usize> = &'a dyn Fn(&mut Vector<S, Lanes<V>>, Lanes<V>, u64);

/// The innermost loop. The state passes through memory once before it, because only a stack frame with a vector in it is aligned
/// as vectors are: in any other, LLVM puts the registers that it runs out of wherever, across cache lines too.
#[inline(always)]
fn repeat<X: Copy>(steps: u64, x: &mut X, mut step: impl FnMut(&mut X)) {
    *x = black_box(*x);
    for _ in 0..steps {
        step(x);
    }
}

/// What comes after each step, and when.
pub(super) struct Course<'a, S: FeedbackSystem, const V: usize> {
    pub(super) system: &'a S::Prepared<Lanes<V>>,
    pub(super) targets: &'a Integrals<S, Lanes<V>>,
    /// If states are projected after every step.
    pub(super) projector: Option<Projector<S, Lanes<V>>>,
    pub(super) schedule: &'a Schedule,
}

impl<S: FeedbackSystem, const V: usize> Course<'_, S, V> {
    /// Advances by many steps at once where nothing comes between them. This is one function for all methods, so that the
    /// generated code in it is compiled but once.
    fn follow(&self, mut x: Vector<S, Lanes<V>>, tracks: &mut [Vec<Sample<S>>], advance: Advance<'_, S, V>) {
        self.sample(self.schedule.time(0), &x, tracks);
        let mut number = 0;
        while number < self.schedule.steps {
            let steps = if clock::<S>().is_some() { 1 } else { self.schedule.alike_from(number) };
            number += steps;
            advance(&mut x, Scalar::from_f64(self.schedule.step_size(number)), steps);
            set_clock::<S, _>(&mut x, self.schedule.time(number));
            if self.schedule.is_sampled(number) || number == self.schedule.steps {
                self.sample(self.schedule.time(number), &x, tracks);
            }
        }
    }

    /// Projects the states after every step.
    fn follow_projected(
        &self,
        mut projector: Projector<S, Lanes<V>>,
        mut x: Vector<S, Lanes<V>>,
        tracks: &mut [Vec<Sample<S>>],
        step: ProjectedStep<'_, S, V>,
    ) {
        self.sample(self.schedule.time(0), &x, tracks);
        for number in 1..=self.schedule.steps {
            step(&mut projector, &mut x, Scalar::from_f64(self.schedule.step_size(number)));
            set_clock::<S, _>(&mut x, self.schedule.time(number));
            if self.schedule.is_sampled(number) || number == self.schedule.steps {
                self.sample(self.schedule.time(number), &x, tracks);
            }
        }
    }

    fn sample(&self, time: f64, x: &Vector<S, Lanes<V>>, tracks: &mut [Vec<Sample<S>>]) {
        let changes = difference(&self.system.integrals(x), self.targets);
        for (lane, track) in tracks.iter_mut().enumerate() {
            let state = Entries::from_fn(|i| x[i].lane(lane));
            let change = Entries::from_fn(|i| changes[i].lane(lane));
            track.push(Sample { time, state, change });
        }
    }
}
