//! Steps of one size that follow one another, in lanes.

use std::hint::black_box;

use super::members::Numbers;
use super::proportion::{leave_rounding, out_of_proportion};
use crate::field::Field;
use crate::hold::projection::{Projector, USUAL};
use crate::method::settings::FixedStep;
use crate::numbers::lanes::{Lanes, Mask};
use crate::system::{FeedbackSystem, Integrals, Vector};

/// Steps of one size that follow one another, and what is found in them.
pub(super) struct AlikeSteps<'a, S: FeedbackSystem, const V: usize> {
    pub(super) number: u64,
    pub(super) h: Lanes<V>,
    /// When the last one ends.
    pub(super) time: f64,
    pub(super) numbers: &'a Numbers<S, V>,
    /// The lanes in which a simulation would have looked more closely, or stopped.
    pub(super) lost: Mask<V>,
    /// The squares of what the projection may leave of the violations.
    pub(super) may_be_left: Option<Integrals<S, Lanes<V>>>,
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
