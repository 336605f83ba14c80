//! The members of one block, integrated side by side.
//!
//! Steps are those of a [`Simulation`](crate::Simulation), with lanes for numbers; nothing is looked at between samples.

use std::hint::black_box;

use nalgebra::SVector;

use crate::simulation::Schedule;
use crate::tableau::{EULER, HEUN, MIDPOINT, RK4};
use crate::{Lanes, Method, PreparedSystem, Projector, Sample, Scalar};

/// A right-hand side of lanes.
pub trait LanesField<const V: usize, const N: usize> {
    /// f(x).
    fn value(&self, x: &SVector<Lanes<V>, N>) -> SVector<Lanes<V>, N>;

    /// One step of the explicit Euler method.
    #[inline]
    fn euler_step(&self, x: &mut SVector<Lanes<V>, N>, h: Lanes<V>) {
        EULER.step(|x| self.value(x), x, h);
    }

    /// One step of the classical Runge-Kutta method of order 4.
    #[inline]
    fn rk4_step(&self, x: &mut SVector<Lanes<V>, N>, h: Lanes<V>) {
        RK4.step(|x| self.value(x), x, h);
    }
}

/// Integrates from `start` by a method with a fixed step, and adds the samples of the first lanes to `tracks`, one for each; a method
/// with error control makes no step.
pub(super) fn integrate<P, F, const V: usize, const N: usize, const M: usize>(
    course: &Course<'_, P, V, N, M>,
    field: &F,
    start: SVector<Lanes<V>, N>,
    method: Method,
    tracks: &mut [Vec<Sample<N, M>>],
) where
    P: PreparedSystem<N, M>,
    F: LanesField<V, N>,
{
    let value = |x: &_| field.value(x);
    if let Some(projector) = course.projector {
        return course.follow_projected(projector, start, tracks, &|projector, x, h| {
            method.projected_step(projector, value, x, h);
        });
    }
    let mut follow = |advance: Advance<'_, V, N>| course.follow(start, tracks, advance);
    match method {
        Method::Euler { .. } => follow(&|x, h, steps| repeat(steps, x, |x| field.euler_step(x, h))),
        Method::Midpoint { .. } => follow(&|x, h, steps| repeat(steps, x, |x| MIDPOINT.step(value, x, h))),
        Method::Heun { .. } => follow(&|x, h, steps| repeat(steps, x, |x| HEUN.step(value, x, h))),
        Method::Rk4 { .. } => follow(&|x, h, steps| repeat(steps, x, |x| field.rk4_step(x, h))),
        Method::DormandPrince { .. } | Method::Dop853 { .. } => {}
    }
}

/// One step and its projection; see [`Projector::step`].
type ProjectedStep<'a, P, const V: usize, const N: usize, const M: usize> =
    &'a dyn Fn(&mut Projector<P, Lanes<V>, N, M>, &mut SVector<Lanes<V>, N>, Lanes<V>);

/// Many steps of one size.
type Advance<'a, const V: usize, const N: usize> = &'a dyn Fn(&mut SVector<Lanes<V>, N>, Lanes<V>, u64);

/// The innermost loop. The state passes through memory once before it, because only a stack frame with a vector in it is aligned
/// as vectors are: in any other, LLVM puts the registers that it runs out of wherever, across cache lines too.
#[inline(always)]
fn repeat<const V: usize, const N: usize>(
    steps: u64,
    x: &mut SVector<Lanes<V>, N>,
    mut step: impl FnMut(&mut SVector<Lanes<V>, N>),
) {
    *x = black_box(*x);
    for _ in 0..steps {
        step(x);
    }
}

/// What comes after each step, and when.
pub(super) struct Course<'a, P, const V: usize, const N: usize, const M: usize> {
    pub(super) system: &'a P,
    pub(super) targets: &'a SVector<Lanes<V>, M>,
    /// If states are projected after every step.
    pub(super) projector: Option<Projector<P, Lanes<V>, N, M>>,
    pub(super) schedule: &'a Schedule,
}

impl<P, const V: usize, const N: usize, const M: usize> Course<'_, P, V, N, M> {
    /// Advances by many steps at once where nothing comes between them. This is one function for all methods, so that the
    /// generated code in it is compiled but once.
    fn follow(&self, mut x: SVector<Lanes<V>, N>, tracks: &mut [Vec<Sample<N, M>>], advance: Advance<'_, V, N>)
    where
        P: PreparedSystem<N, M>,
    {
        self.sample(0.0, &x, tracks);
        let mut number = 0;
        while number < self.schedule.steps {
            let steps = self.schedule.alike_from(number);
            number += steps;
            advance(&mut x, Scalar::from_f64(self.schedule.step_size(number)), steps);
            if self.schedule.is_sampled(number) || number == self.schedule.steps {
                self.sample(self.schedule.time(number), &x, tracks);
            }
        }
    }

    /// Projects the states after every step.
    fn follow_projected(
        &self,
        mut projector: Projector<P, Lanes<V>, N, M>,
        mut x: SVector<Lanes<V>, N>,
        tracks: &mut [Vec<Sample<N, M>>],
        step: ProjectedStep<'_, P, V, N, M>,
    ) where
        P: PreparedSystem<N, M>,
    {
        self.sample(0.0, &x, tracks);
        for number in 1..=self.schedule.steps {
            step(&mut projector, &mut x, Scalar::from_f64(self.schedule.step_size(number)));
            if self.schedule.is_sampled(number) || number == self.schedule.steps {
                self.sample(self.schedule.time(number), &x, tracks);
            }
        }
    }

    fn sample(&self, time: f64, x: &SVector<Lanes<V>, N>, tracks: &mut [Vec<Sample<N, M>>])
    where
        P: PreparedSystem<N, M>,
    {
        let changes = self.system.integrals(x).zip_map(self.targets, |value, target| value - target);
        for (lane, track) in tracks.iter_mut().enumerate() {
            let (state, change) = (x.map(|entry| entry.lane(lane)), changes.map(|entry| entry.lane(lane)));
            track.push(Sample { time, state, change });
        }
    }
}
