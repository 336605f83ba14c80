//! A run from a start to an end by a method with a fixed step, which reports what it did to the integrals.
//!
//! Step n ends at t = n h, computed and not accumulated; the last step is shortened to end exactly where asked. After every
//! step the integrals are evaluated, recorded and compared with a generous bound: a run that leaves it, or whose state is no
//! longer finite, has blown up and is an error, not a result.

use core::fmt;

use nalgebra::SVector;

use crate::consistent_start::{check_start, scales};
use crate::{BlowUp, Drift, Error, Feedback, FeedbackSystem, Field, GainMatrix, Gains, PlainField};

/// How many intervals the trajectory has unless told otherwise, at most.
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
}

/// An explicit method with a fixed step `h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The explicit Euler method, of order 1.
    Euler {
        /// The step.
        h: f64,
    },
    /// The classical Runge-Kutta method, of order 4.
    Rk4 {
        /// The step.
        h: f64,
    },
}

impl<'a, S, const N: usize, const M: usize> Simulation<'a, S, PlainField<'a, S, M>, N, M>
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
        Ok(Self { system, start, targets, field: Ok(PlainField(system)), method: None, until: None, interval: None })
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
    pub fn without_feedback(self) -> Simulation<'a, S, PlainField<'a, S, M>, N, M> {
        let field = Ok(PlainField(self.system));
        self.with_field(field)
    }

    /// The method and its step. There is no default, because no step suits every system.
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// The time at which the run ends; it starts at 0. There is no default.
    pub fn until(mut self, time: f64) -> Self {
        self.until = Some(time);
        self
    }

    /// The time between two samples of the trajectory, rounded to whole steps; unless given, such that there are about 1000.
    ///
    /// The start and the end are always sampled. The drift is recorded at every step, whatever this is.
    pub fn record_every(mut self, interval: f64) -> Self {
        self.interval = Some(interval);
        self
    }

    fn with_field<G>(self, field: Result<G, Error>) -> Simulation<'a, S, G, N, M> {
        let Self { system, start, targets, method, until, interval, .. } = self;
        Simulation { system, start, targets, field, method, until, interval }
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
    /// If the gains, the method, the end or the interval will not do, or if the solution blows up: its state is no longer
    /// finite, or an integral is further from its target than 10^6 (1 + |target| + sum_j |dF/dx_j| |x_j|) of the start.
    pub fn run(self) -> Result<Run<S::State, N, M>, Error> {
        self.run_with(|_| ())
    }

    /// Makes the run and reports the fraction that is done from time to time, some 200 times in all.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn run_with(self, mut progress: impl FnMut(f64)) -> Result<Run<S::State, N, M>, Error> {
        let field = self.field?;
        let method = self.method.ok_or(Error::NotSet { what: "method", call: "method(Method::Rk4 { h: 1e-3 })" })?;
        let until = self.until.ok_or(Error::NotSet { what: "end", call: "until(100.0)" })?;
        let schedule = Schedule::new(method, until, self.interval)?;
        let bounds = (scales(self.system, &self.start) + self.targets.abs()) * BLOW_UP;

        let mut x = self.start;
        let integrals = self.system.integrals(&x);
        let mut drift = Drift::new(S::INTEGRAL_NAMES, self.targets);
        drift.record(0.0, &integrals);
        let mut sample = Sample { time: 0.0, state: x, change: integrals - self.targets };
        let mut trajectory = vec![sample];
        for step in 1..=schedule.steps {
            let (time, h) = (schedule.time(step), schedule.step_size(step));
            let last_good = sample;
            method.step(&field, &mut x, h);

            let integrals = self.system.integrals(&x);
            sample = Sample { time, state: x, change: integrals - self.targets };
            if !sample.is_good(&bounds) {
                return Err(blow_up::<S, N, M>(&sample, &last_good, &bounds));
            }
            drift.record(time, &integrals);
            if schedule.is_sampled(step) {
                trajectory.push(sample);
            }
            if schedule.is_reported(step) {
                progress(time / schedule.until);
            }
        }
        let evaluations = schedule.steps * method.evaluations_per_step();
        Ok(Run { time: schedule.until, state: x.into(), drift, trajectory, steps: schedule.steps, evaluations })
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

impl Method {
    /// The step.
    pub const fn h(&self) -> f64 {
        let (Self::Euler { h } | Self::Rk4 { h }) = self;
        *h
    }

    /// How often a step evaluates the field.
    pub const fn evaluations_per_step(&self) -> u64 {
        match self {
            Self::Euler { .. } => 1,
            Self::Rk4 { .. } => 4,
        }
    }

    /// One step of size `h`, which differs from the method's own where the last step is shortened.
    #[inline]
    fn step<const N: usize>(self, field: &impl Field<N>, x: &mut SVector<f64, N>, h: f64) {
        match self {
            Self::Euler { .. } => field.euler_step(x, h),
            Self::Rk4 { .. } => field.rk4_step(x, h),
        }
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

/// When steps end, and which are sampled and reported.
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
    fn new(method: Method, until: f64, interval: Option<f64>) -> Result<Self, Error> {
        let h = positive("the step h", method.h())?;
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

fn positive(what: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(Error::Setting { what, value }) }
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
