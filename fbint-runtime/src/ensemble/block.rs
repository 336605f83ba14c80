//! The members of one block, integrated side by side.
//!
//! Steps are those of a [`Simulation`](crate::Simulation), with lanes for numbers; nothing is looked at between samples.

use nalgebra::SVector;

use super::Numbers;
use crate::simulation::Schedule;
use crate::tableau::{EULER, HEUN, MIDPOINT, RK4};
use crate::{Correction, Method, PreparedSystem, Scalar};

/// A right-hand side of lanes.
pub trait LanesField<const N: usize> {
    /// f(x).
    fn value(&self, x: &SVector<Numbers, N>) -> SVector<Numbers, N>;

    /// One step of the explicit Euler method.
    #[inline]
    fn euler_step(&self, x: &mut SVector<Numbers, N>, h: Numbers) {
        EULER.step(|x| self.value(x), x, h);
    }

    /// One step of the classical Runge-Kutta method of order 4.
    #[inline]
    fn rk4_step(&self, x: &mut SVector<Numbers, N>, h: Numbers) {
        RK4.step(|x| self.value(x), x, h);
    }
}

/// The states on the way, at one time.
pub(super) struct Sample<const N: usize, const M: usize> {
    time: f64,
    state: SVector<Numbers, N>,
    change: SVector<Numbers, M>,
}

impl<const N: usize, const M: usize> Sample<N, M> {
    pub(super) fn of_lane(&self, lane: usize) -> crate::Sample<N, M> {
        let (state, change) = (self.state.map(|entry| entry.lane(lane)), self.change.map(|entry| entry.lane(lane)));
        crate::Sample { time: self.time, state, change }
    }
}

/// Integrates from `start` by a method with a fixed step; one with error control makes no step.
pub(super) fn integrate<P, F, const N: usize, const M: usize>(
    system: &P,
    field: &F,
    start: SVector<Numbers, N>,
    targets: &SVector<Numbers, M>,
    method: Method,
    correction: Correction,
    schedule: &Schedule,
) -> Vec<Sample<N, M>>
where
    P: PreparedSystem<N, M>,
    F: LanesField<N>,
{
    let course = Course { system, targets, correction, schedule };
    match method {
        Method::Euler { .. } => course.follow(start, &|x, h, steps| repeat(steps, || field.euler_step(x, h))),
        Method::Midpoint { .. } => {
            course.follow(start, &|x, h, steps| repeat(steps, || MIDPOINT.step(|x| field.value(x), x, h)))
        }
        Method::Heun { .. } => {
            course.follow(start, &|x, h, steps| repeat(steps, || HEUN.step(|x| field.value(x), x, h)))
        }
        Method::Rk4 { .. } => course.follow(start, &|x, h, steps| repeat(steps, || field.rk4_step(x, h))),
        Method::DormandPrince { .. } | Method::Dop853 { .. } => Vec::new(),
    }
}

/// The innermost loop.
#[inline(always)]
fn repeat(steps: u64, mut step: impl FnMut()) {
    for _ in 0..steps {
        step();
    }
}

struct Course<'a, P, const M: usize> {
    system: &'a P,
    targets: &'a SVector<Numbers, M>,
    correction: Correction,
    schedule: &'a Schedule,
}

impl<P, const M: usize> Course<'_, P, M> {
    /// Advances by many steps at once where nothing comes between them. This is one function for all methods, so that the
    /// generated code in it is compiled but once.
    fn follow<const N: usize>(
        &self,
        mut x: SVector<Numbers, N>,
        advance: &dyn Fn(&mut SVector<Numbers, N>, Numbers, u64),
    ) -> Vec<Sample<N, M>>
    where
        P: PreparedSystem<N, M>,
    {
        let mut samples = vec![self.sample(0.0, x)];
        let mut number = 0;
        while number < self.schedule.steps {
            let steps = if self.correction == Correction::times(0) { self.schedule.alike_from(number) } else { 1 };
            number += steps;
            advance(&mut x, Scalar::from_f64(self.schedule.step_size(number)), steps);
            self.correction.apply_to(self.system, self.targets, &mut x);
            if self.schedule.is_sampled(number) || number == self.schedule.steps {
                samples.push(self.sample(self.schedule.time(number), x));
            }
        }
        samples
    }

    fn sample<const N: usize>(&self, time: f64, state: SVector<Numbers, N>) -> Sample<N, M>
    where
        P: PreparedSystem<N, M>,
    {
        let integrals = self.system.integrals(&state);
        Sample { time, state, change: integrals.zip_map(self.targets, |value, target| value - target) }
    }
}
