//! A run from a start to an end, which reports what it did to the integrals.
//!
//! With a fixed step, step n ends at t = n h, computed and not accumulated; with error control steps end where the controller
//! says. The last step is shortened to end exactly where asked. After every step the state is corrected if that was asked
//! for, and the integrals are evaluated, recorded and compared with a generous bound: a run that leaves it, or whose state is
//! no longer finite, has blown up and is an error, not a result.

use core::fmt;

use nalgebra::SVector;

use crate::consistent_start::{check_start, scales};
use crate::error::positive;
use crate::integrator::MAX_STEPS;
use crate::tableau::{HEUN, MIDPOINT};
use crate::{
    BlowUp, Correction, Drift, Error, Feedback, FeedbackSystem, Field, GainMatrix, Gains, Halted, Integrator, OneStep,
    PlainField, PreparedSystem, StepError, Tolerance,
};

/// How many intervals the trajectory has unless told otherwise, at most; twice as many with error control.
const DEFAULT_INTERVALS: u64 = 1000;
/// How many times progress is reported.
const PROGRESS_REPORTS: u64 = 200;
/// A remainder of this fraction of a step is rounding, not a step; so is what `until / h` may be off by itself.
const ROUNDING: f64 = 1e-9;
/// A change beyond this many times the size of an integral's terms and target is a blow-up. Plain Euler, which may lose all
/// of an integral over a long run, stays far below.
const BLOW_UP: f64 = 1e6;

/// A run to be made: a system, a start, a method and an end, with feedback or without.
pub struct Simulation<'a, S, F, const N: usize, const M: usize> {
    system: &'a S,
    start: SVector<f64, N>,
    targets: SVector<f64, M>,
    field: Result<F, Error>,
    method: Option<Method>,
    until: Option<f64>,
    interval: Option<f64>,
    correction: Correction,
    max_steps: u64,
}

/// An explicit Runge-Kutta method, with a fixed step `h` or with error control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The explicit Euler method, of order 1.
    Euler {
        /// The step.
        h: f64,
    },
    /// The explicit midpoint rule, of order 2.
    Midpoint {
        /// The step.
        h: f64,
    },
    /// The explicit trapezoidal rule, of order 2, known as Heun's method.
    Heun {
        /// The step.
        h: f64,
    },
    /// The classical Runge-Kutta method, of order 4.
    Rk4 {
        /// The step.
        h: f64,
    },
    /// Dormand and Prince's method of order 5(4) with error control; see [`Integrator`].
    DormandPrince {
        /// The relative tolerance of a step.
        rtol: f64,
        /// The absolute tolerance of a step.
        atol: f64,
    },
    /// Dormand and Prince's method of order 8(5, 3) with error control; see [`Integrator`].
    Dop853 {
        /// The relative tolerance of a step.
        rtol: f64,
        /// The absolute tolerance of a step.
        atol: f64,
    },
}

impl<'a, S, const N: usize, const M: usize> Simulation<'a, S, PlainField<S::Prepared, M>, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// A simulation of `system` from `start`, which is its state type or a flat vector; without feedback until
    /// [`gains`](Self::gains) are given.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the start is not finite, or if the start is off the constraint set; the tolerance is that
    /// of [`Feedback::new`].
    pub fn new(system: &'a S, start: impl Into<SVector<f64, N>>) -> Result<Self, Error> {
        let start = start.into();
        let targets = check_start(system, &start)?;
        Ok(Self {
            system,
            start,
            targets,
            field: Ok(PlainField::new(system)),
            method: None,
            until: None,
            interval: None,
            correction: Correction::times(0),
            max_steps: MAX_STEPS,
        })
    }
}

impl<'a, S, F, const N: usize, const M: usize> Simulation<'a, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// Integrates the feedback field with these gains. Gains that will not do are reported by [`run`](Self::run).
    pub fn gains<K: GainMatrix<M>, L: GainMatrix<N>>(
        self,
        gains: Gains<K, L>,
    ) -> Simulation<'a, S, Feedback<S, K, L, N, M>, N, M> {
        let field = Feedback::new(self.system, &self.start, gains);
        self.with_field(field)
    }

    /// Integrates the Dirac-extended field X alone, which is what happens unless gains are given.
    pub fn without_feedback(self) -> Simulation<'a, S, PlainField<S::Prepared, M>, N, M> {
        let field = Ok(PlainField::new(self.system));
        self.with_field(field)
    }

    /// Corrects the state after each step onto all integrals, whatever the method, with feedback or without.
    pub fn corrected(mut self, correction: Correction) -> Self {
        self.correction = correction;
        self
    }

    /// The method and its step or tolerances. There is no default, because no step suits every system.
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// The time at which the run ends; it starts at 0. There is no default.
    pub fn until(mut self, time: f64) -> Self {
        self.until = Some(time);
        self
    }

    /// The time between two samples of the trajectory.
    ///
    /// With a fixed step it is rounded to whole steps, and such that there are about 1000 samples unless given. With error
    /// control samples between steps are dense output, which is not corrected and costs DOP853 three evaluations in each step
    /// that has one; unless an interval is given, samples are steps, all of them up to 2000 or, beyond, every second, fourth and
    /// so on. The start and the end are always sampled. The drift is recorded at every step, whatever this is.
    pub fn record_every(mut self, interval: f64) -> Self {
        self.interval = Some(interval);
        self
    }

    /// The limit to the number of steps, accepted and rejected, of a method with error control; ten million unless given.
    pub fn max_steps(mut self, limit: u64) -> Self {
        self.max_steps = limit;
        self
    }

    fn with_field<G>(self, field: Result<G, Error>) -> Simulation<'a, S, G, N, M> {
        let Self { system, start, targets, method, until, interval, correction, max_steps, .. } = self;
        Simulation { system, start, targets, field, method, until, interval, correction, max_steps }
    }
}

impl<S, F, const N: usize, const M: usize> Simulation<'_, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
    F: Field<N>,
{
    /// Makes the run.
    ///
    /// # Errors
    ///
    /// If the gains, the method, the end or the interval will not do; if no further step can be made, see
    /// [`Integrator::step`]; or if the solution blows up: its state is no longer finite, or an integral is further from its
    /// target than 10^6 (1 + |target| + sum_j |dF/dx_j| |x_j|) of the start.
    pub fn run(self) -> Result<Run<S::State, N, M>, Error> {
        self.run_with(|_| ())
    }

    /// Makes the run and reports the fraction that is done from time to time, at most some 200 times in all.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn run_with(self, progress: impl FnMut(f64)) -> Result<Run<S::State, N, M>, Error> {
        let field = self.field?;
        let method = self.method.ok_or(Error::NotSet { what: "method", call: "method(Method::Rk4 { h: 1e-3 })" })?;
        let until = self.until.ok_or(Error::NotSet { what: "end", call: "until(100.0)" })?;
        let (start, interval) = (self.start, self.interval);
        let course = Course::new(self.system, start, self.targets, self.correction, progress);
        match method {
            Method::Euler { h } => {
                course.with_fixed_steps(Schedule::new(h, until, interval)?, 1, |x, h| field.euler_step(x, h))
            }
            Method::Midpoint { h } => course.with_fixed_steps(Schedule::new(h, until, interval)?, 2, |x, h| {
                MIDPOINT.step(|x| field.value(x), x, h);
            }),
            Method::Heun { h } => course.with_fixed_steps(Schedule::new(h, until, interval)?, 2, |x, h| {
                HEUN.step(|x| field.value(x), x, h);
            }),
            Method::Rk4 { h } => {
                course.with_fixed_steps(Schedule::new(h, until, interval)?, 4, |x, h| field.rk4_step(x, h))
            }
            Method::DormandPrince { rtol, atol } => {
                let integrator = Integrator::dormand_prince(&field, start, Tolerance::new(rtol, atol)?);
                course.with_error_control(integrator.with_max_steps(self.max_steps), until, interval)
            }
            Method::Dop853 { rtol, atol } => {
                let integrator = Integrator::dop853(&field, start, Tolerance::new(rtol, atol)?);
                course.with_error_control(integrator.with_max_steps(self.max_steps), until, interval)
            }
        }
    }
}

impl<S, F, const N: usize, const M: usize> Simulation<'_, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// Makes the run by a geometric integrator with step `h` instead of an explicit Runge-Kutta method. It integrates the
    /// system itself: gains have no part in it.
    ///
    /// # Errors
    ///
    /// If the step, the end or the interval will not do, or if the solution blows up, as in [`run`](Self::run).
    pub fn run_by(self, method: &impl OneStep<N>, h: f64) -> Result<Run<S::State, N, M>, Error> {
        let until = self.until.ok_or(Error::NotSet { what: "end", call: "until(100.0)" })?;
        let schedule = Schedule::new(h, until, self.interval)?;
        let course = Course::new(self.system, self.start, self.targets, self.correction, |_| ());
        course.with_fixed_steps(schedule, method.evaluations_per_step(), |x, h| method.step(x, h))
    }
}

// By hand, because a derived one would ask that the system implement it too.
impl<S, F, const N: usize, const M: usize> fmt::Debug for Simulation<'_, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Simulation")
            .field("system", &S::NAME)
            .field("start", &self.start)
            .field("method", &self.method)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// What a run gave. `X` is the state type of the system.
#[derive(Clone, Debug)]
pub struct Run<X, const N: usize, const M: usize> {
    time: f64,
    state: X,
    drift: Drift<M>,
    trajectory: Vec<Sample<N, M>>,
    steps: u64,
    evaluations: u64,
}

/// A state on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<const N: usize, const M: usize> {
    /// The time.
    pub time: f64,
    /// The state, flat.
    pub state: SVector<f64, N>,
    /// F - F_target there.
    pub change: SVector<f64, M>,
}

impl<X: Clone, const N: usize, const M: usize> Run<X, N, M> {
    /// The time at the end, exactly the one that was asked for.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The state at the end.
    pub fn state(&self) -> X {
        self.state.clone()
    }

    /// What the run did to every integral, recorded at every step.
    pub fn drift(&self) -> &Drift<M> {
        &self.drift
    }

    /// The samples, from the start to the end.
    pub fn trajectory(&self) -> &[Sample<N, M>] {
        &self.trajectory
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The number of evaluations of the field.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

impl<const N: usize, const M: usize> Sample<N, M> {
    fn is_good(&self, bounds: &SVector<f64, M>) -> bool {
        let is_bounded = |(change, bound): (&f64, &f64)| change.abs() <= *bound;
        self.state.iter().all(|entry| entry.is_finite()) && self.change.iter().zip(bounds).all(is_bounded)
    }
}

/// A run under way: what happens after each step, whatever the method.
struct Course<S: FeedbackSystem<N, M>, P, const N: usize, const M: usize> {
    system: S::Prepared,
    targets: SVector<f64, M>,
    bounds: SVector<f64, M>,
    correction: Correction,
    progress: P,
    drift: Drift<M>,
    trajectory: Vec<Sample<N, M>>,
    last: Sample<N, M>,
}

impl<S: FeedbackSystem<N, M>, P: FnMut(f64), const N: usize, const M: usize> Course<S, P, N, M> {
    fn new(system: &S, start: SVector<f64, N>, targets: SVector<f64, M>, correction: Correction, progress: P) -> Self {
        let bounds = (scales(system, &start) + targets.abs()) * BLOW_UP;
        let integrals = system.integrals(&start);
        let mut drift = Drift::new(S::INTEGRAL_NAMES, targets);
        drift.record(0.0, &integrals);
        let last = Sample { time: 0.0, state: start, change: integrals - targets };
        let system = system.prepare();
        Self { system, targets, bounds, correction, progress, drift, trajectory: vec![last], last }
    }

    fn with_fixed_steps(
        mut self,
        schedule: Schedule,
        evaluations_per_step: u64,
        mut step: impl FnMut(&mut SVector<f64, N>, f64),
    ) -> Result<Run<S::State, N, M>, Error> {
        let mut x = self.last.state;
        for number in 1..=schedule.steps {
            let time = schedule.time(number);
            step(&mut x, schedule.step_size(number));
            self.correction.apply(&self.system, &self.targets, &mut x);
            self.record(time, x)?;
            if schedule.is_sampled(number) {
                self.trajectory.push(self.last);
            }
            if schedule.is_reported(number) {
                (self.progress)(time / schedule.until);
            }
        }
        Ok(self.end(schedule.steps, schedule.steps * evaluations_per_step))
    }

    fn with_error_control<F: Field<N>, const STAGES: usize>(
        mut self,
        mut integrator: Integrator<'_, F, N, STAGES>,
        until: f64,
        interval: Option<f64>,
    ) -> Result<Run<S::State, N, M>, Error> {
        let until = positive("the end of the simulation", until)?;
        let mut sampling = Sampling::new(until, interval)?;
        let mut reports = 0.0;
        while integrator.time() < until {
            integrator.step(until).map_err(halted::<S, N, M>)?;
            if self.correction != Correction::times(0) {
                let mut x = *integrator.state();
                self.correction.apply(&self.system, &self.targets, &mut x);
                integrator.set_state(x);
            }
            self.record(integrator.time(), *integrator.state())?;
            match &mut sampling {
                Sampling::Steps { stride } => self.sample_step(integrator.steps(), stride),
                Sampling::Times { interval, next, last } => self.sample_times(&mut integrator, *interval, next, *last),
            }
            let fraction = integrator.time() / until;
            if fraction * PROGRESS_REPORTS as f64 >= reports + 1.0 || fraction == 1.0 {
                reports = (fraction * PROGRESS_REPORTS as f64).floor();
                (self.progress)(fraction);
            }
        }
        if self.trajectory.last().is_none_or(|sample| sample.time != until) {
            self.trajectory.push(self.last);
        }
        Ok(self.end(integrator.steps(), integrator.evaluations()))
    }

    /// Records the state after a step, which becomes the last good one unless it is not good.
    fn record(&mut self, time: f64, state: SVector<f64, N>) -> Result<(), Error> {
        let integrals = self.system.integrals(&state);
        let sample = Sample { time, state, change: integrals - self.targets };
        if !sample.is_good(&self.bounds) {
            return Err(blow_up::<S, N, M>(&sample, &self.last, &self.bounds));
        }
        self.drift.record(time, &integrals);
        self.last = sample;
        Ok(())
    }

    /// Samples every `stride`-th step, and doubles the stride when there are too many samples.
    fn sample_step(&mut self, step: u64, stride: &mut u64) {
        if step.is_multiple_of(*stride) {
            self.trajectory.push(self.last);
        }
        if self.trajectory.len() as u64 > 2 * DEFAULT_INTERVALS {
            let mut index = 0;
            self.trajectory.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            *stride *= 2;
        }
    }

    /// Samples at the multiples of `interval` that lie in the last step, from number `next` on.
    fn sample_times<F: Field<N>, const STAGES: usize>(
        &mut self,
        integrator: &mut Integrator<'_, F, N, STAGES>,
        interval: f64,
        next: &mut u64,
        last: u64,
    ) {
        let mut dense_output = None;
        while *next <= last && *next as f64 * interval <= integrator.time() {
            let time = *next as f64 * interval;
            let state = dense_output.get_or_insert_with(|| integrator.dense_output()).at(time);
            let change = self.system.integrals(&state) - self.targets;
            self.trajectory.push(Sample { time, state, change });
            *next += 1;
        }
    }

    fn end(self, steps: u64, evaluations: u64) -> Run<S::State, N, M> {
        let Self { last, drift, trajectory, .. } = self;
        Run { time: last.time, state: last.state.into(), drift, trajectory, steps, evaluations }
    }
}

/// Which states of a run with error control are sampled, besides the start and the end.
enum Sampling {
    /// Every so many steps.
    Steps { stride: u64 },
    /// The multiples of an interval, from number `next` to number `last`.
    Times { interval: f64, next: u64, last: u64 },
}

impl Sampling {
    fn new(until: f64, interval: Option<f64>) -> Result<Self, Error> {
        let Some(interval) = interval else { return Ok(Self::Steps { stride: 1 }) };
        let interval = positive("the interval between samples", interval)?;
        if until / interval > 1e8 {
            return Err(Error::TooManySamples { interval, until });
        }
        let last = ((until / interval) * (1.0 - ROUNDING)).floor() as u64;
        Ok(Self::Times { interval, next: 1, last })
    }
}

/// When steps of a fixed size end, and which are sampled and reported.
struct Schedule {
    h: f64,
    until: f64,
    steps: u64,
    /// The size of the last step where it is not h.
    last: Option<f64>,
    sampled: u64,
    reported: u64,
}

impl Schedule {
    fn new(h: f64, until: f64, interval: Option<f64>) -> Result<Self, Error> {
        let h = positive("the step h", h)?;
        let until = positive("the end of the simulation", until)?;
        let ratio = until / h;
        if ratio > 1e15 {
            return Err(Error::TooManySteps { h, until });
        }
        let whole = ratio.round();
        let (steps, last) = if (ratio - whole).abs() <= ROUNDING + 2.0 * f64::EPSILON * ratio && whole > 0.0 {
            (whole as u64, None)
        } else {
            (ratio.ceil() as u64, Some(until - ratio.floor() * h))
        };
        let sampled = match interval {
            Some(interval) => (positive("the interval between samples", interval)? / h).round() as u64,
            None => steps.div_ceil(DEFAULT_INTERVALS),
        };
        Ok(Self { h, until, steps, last, sampled: sampled.max(1), reported: steps.div_ceil(PROGRESS_REPORTS) })
    }

    /// The time after a number of steps.
    fn time(&self, step: u64) -> f64 {
        if step == self.steps { self.until } else { step as f64 * self.h }
    }

    fn step_size(&self, step: u64) -> f64 {
        if step == self.steps { self.last.unwrap_or(self.h) } else { self.h }
    }

    fn is_sampled(&self, step: u64) -> bool {
        step.is_multiple_of(self.sampled) || step == self.steps
    }

    fn is_reported(&self, step: u64) -> bool {
        step.is_multiple_of(self.reported) || step == self.steps
    }
}

fn halted<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(error: StepError<N>) -> Error {
    let StepError { reason, time, state } = error;
    Error::Halted(Box::new(Halted { reason, time, state: state.as_slice().to_vec(), names: const { &S::STATE_NAMES } }))
}

fn blow_up<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    failed: &Sample<N, M>,
    last_good: &Sample<N, M>,
    bounds: &SVector<f64, M>,
) -> Error {
    let (index, change) = fastest_growing(&failed.change, &last_good.change, bounds).unwrap_or((0, 0.0));
    Error::BlowUp(Box::new(BlowUp {
        time: failed.time,
        integral: S::INTEGRAL_NAMES.get(index).copied().unwrap_or_default(),
        change,
        last_time: last_good.time,
        last_state: last_good.state.as_slice().to_vec(),
        names: const { &S::STATE_NAMES },
    }))
}

/// The integral whose change is largest against its bound, and that change: after the step that failed, or before it where
/// nothing could be evaluated after.
fn fastest_growing<const M: usize>(
    after: &SVector<f64, M>,
    before: &SVector<f64, M>,
    bounds: &SVector<f64, M>,
) -> Option<(usize, f64)> {
    let largest = |change: &SVector<f64, M>| {
        (0..M).filter(|&i| !change[i].is_nan()).max_by(|&i, &j| {
            let against_bound = |i: usize| change[i].abs() / bounds[i];
            against_bound(i).total_cmp(&against_bound(j))
        })
    };
    match largest(after) {
        Some(index) => Some((index, after[index])),
        None => largest(before).map(|index| (index, before[index])),
    }
}
