//! Error control: steps are tried until their error is small enough, however states are stored.

use crate::error::failure::StepFailure;
use crate::field::{ALWAYS, Driver, Field};
#[cfg(feature = "std")]
use crate::hold::projection::Land;
use crate::numbers::entries::Entries;
use crate::numbers::linear::{difference, sum};
use crate::numbers::scalar::Scalar;
use crate::stages::step_size::{LEAST_LOG_ERROR, StepLimits};
use crate::stages::tableau::{ErrorEstimate, Pair};
use crate::stages::tolerance::{ErrorScale, largest_of_variables, norm, relative};

/// The default of the maximum number of steps that are tried.
pub(crate) const MAX_STEPS: u64 = 10_000_000;
/// The shortest first step, in roundings of the time at the start: no step can be shorter than ten.
const SHORTEST: f64 = 64.0;
/// The first step from rest, as a part of the run.
const AT_REST: f64 = 0.01;

/// Where an integration under error control is, besides its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) time: f64,
    /// Where the last step began.
    pub(crate) previous_time: f64,
    pub(crate) max_steps: u64,
    pub(crate) limits: StepLimits,
    /// `true` if f at the state is the last stage of the last step.
    pub(crate) knows_derivative: bool,
    /// When a step has to end at the latest, because inputs of the field jump.
    pub(crate) jump: f64,
    /// The size of the next step, unless none was made yet.
    pub(crate) size: Option<f64>,
    /// The natural logarithm of the last step's error, where the next step depends on it.
    pub(crate) last_log_error: f64,
    pub(crate) steps: u64,
    pub(crate) rejected: u64,
    pub(crate) evaluations: u64,
}

impl Progress {
    /// Nothing, at a time.
    pub(crate) fn at(time: f64) -> Self {
        Self {
            time,
            previous_time: time,
            max_steps: MAX_STEPS,
            limits: StepLimits::NONE,
            knows_derivative: false,
            jump: f64::INFINITY,
            size: None,
            last_log_error: LEAST_LOG_ERROR,
            steps: 0,
            rejected: 0,
            evaluations: 0,
        }
    }

    /// Returns `true` if inputs of the field jump where the next step begins.
    pub(crate) fn is_at_jump(&self) -> bool {
        self.time >= self.jump
    }

    /// A size within the limits, of a step after one that moved nothing, or another one.
    #[inline]
    fn limited(&self, size: f64, rests: bool) -> f64 {
        let at_rest = self.limits.at_rest.filter(|_| rests);
        size.min(at_rest.unwrap_or(f64::INFINITY)).min(self.limits.most)
    }

    /// Refuses another attempt after too many or when it would be too short, which has a reason when others were rejected.
    #[inline]
    fn check(&self, size: f64, shrinking: Option<StepFailure>) -> Result<(), StepFailure> {
        if self.steps + self.rejected >= self.max_steps {
            return Err(StepFailure::TooManySteps { limit: self.max_steps });
        }
        if 0.1 * size <= self.time.abs() * f64::EPSILON || size < f64::MIN_POSITIVE {
            return Err(shrinking.unwrap_or(StepFailure::Underflow));
        }
        Ok(())
    }
}

/// Moves the end of a step, given its start, the estimate of its error and its size. It is called through a pointer, once a step, so that steps are
/// compiled once and not for each kind of end.
pub(crate) type EndProjection<'p, V> = dyn FnMut(&V, &V, f64, &mut V) + 'p;

/// The operations that error control needs, however states are stored.
pub(crate) trait Attempts {
    /// A state.
    type State;
    /// Known when a step is compiled: what is not called is not even made.
    const IS_IMPLICIT: bool;

    /// The method.
    fn pair(&self) -> &'static Pair;
    /// The source of the inputs of the field.
    fn driver(&self) -> Option<&dyn Driver>;
    fn progress(&self) -> &Progress;
    fn progress_mut(&mut self) -> &mut Progress;
    /// The state, and the error of the last attempt.
    fn begin_and_error(&self) -> [&Self::State; 2];
    /// Puts f at the state into the first stage.
    fn find_derivative(&mut self);
    /// The size of the first step, given the first stage.
    fn first_size(&mut self, direction: f64, remaining: f64) -> f64;
    /// Takes the Jacobian at the state for all attempts at the next step.
    fn linearise(&mut self) -> Result<(), StepFailure> {
        Ok(())
    }
    /// The state after a step of size h and the error of that step, which is NaN where a stage is. The stages before the `first` are known.
    fn attempt(&mut self, h: f64, first: usize) -> (Self::State, f64);
    /// The first entry of a state that is not finite.
    fn not_finite_at(next: &Self::State) -> Option<usize>;
    /// The first entry of the state, or of f there, that is not finite.
    fn not_finite(&self) -> Option<usize>;
    /// Measures the rounding of the rates, below which errors say nothing, and the sizes of variables that are 0, after attempts that became
    /// shorter without becoming better, the last one of size `h` to `next`.
    fn look_closer(&mut self, next: &Self::State, h: f64);
    /// Why an attempt failed, which becomes the reason of a failure if all shorter ones fail, too.
    fn rejection(&self, next: &Self::State, error: f64) -> StepFailure;
    /// Returns `true` if the step from the state to this one moves nothing but the time.
    fn rests_until(&mut self, next: &Self::State) -> bool;
    /// Takes the state at the time that was reached.
    fn accept(&mut self, next: Self::State);

    /// Makes one step towards `until`, and projects where it ends.
    fn step_and(&mut self, until: f64, project: &mut EndProjection<'_, Self::State>) -> Result<(), StepFailure> {
        if until.is_nan() {
            return Err(StepFailure::End);
        }
        let remaining = (until - self.progress().time).abs();
        if remaining == 0.0 {
            return Ok(());
        }
        let until = self.before_jump(until)?;
        let Progress { time: begin, limits, size, knows_derivative, .. } = *self.progress();
        let remaining = (until - begin).abs();
        let direction = (until - begin).signum();
        // The first stage is f(state): of the step before, or for a first size, or else left to the first attempt.
        let mut first = 0;
        if knows_derivative || size.is_none() || Self::IS_IMPLICIT {
            self.find_derivative();
            first = 1;
        }
        let mut proposed = match size {
            Some(size) => size,
            None => {
                let size = self.first_size(direction, remaining);
                self.progress().limited(size, true)
            }
        };
        self.progress_mut().knows_derivative = false;
        if const { Self::IS_IMPLICIT } {
            self.linearise()?;
        }
        let Pair { control, error, .. } = self.pair();
        let knows_end = matches!(error, ErrorEstimate::Embedded(_));
        let mut shrinking = None;
        loop {
            self.progress().check(proposed, shrinking)?;
            // A slight overshoot is harmless; a slight undershoot would cost one more tiny step.
            let is_shortened = 1.01 * proposed >= remaining && remaining <= limits.most;
            let size = if is_shortened { remaining } else { proposed };
            let (mut next, error) = self.attempt(direction * size, first);
            let is_finite = Self::not_finite_at(&next).is_none();
            if error <= 1.0 && is_finite {
                let [state, error_of_step] = self.begin_and_error();
                project(state, error_of_step, size, &mut next);
                let grown = size * control.growth(error, &mut self.progress_mut().last_log_error);
                let grown = match shrinking {
                    Some(_) => grown.min(size),
                    None if is_shortened => grown.max(proposed),
                    None => grown,
                };
                let rests = limits.at_rest.is_some() && self.rests_until(&next);
                let progress = self.progress_mut();
                progress.size = Some(progress.limited(grown, rests));
                progress.previous_time = begin;
                progress.time = if is_shortened { until } else { begin + direction * size };
                progress.knows_derivative = knows_end;
                progress.steps += 1;
                self.accept(next);
                return Ok(());
            }
            if let Some(entry) = self.not_finite() {
                return Err(StepFailure::NotFinite { entry });
            }
            let error = if is_finite { error } else { f64::INFINITY };
            self.progress_mut().rejected += 1;
            if shrinking.is_some() {
                self.look_closer(&next, size);
            }
            shrinking = Some(self.rejection(&next, error));
            proposed = size * control.shrinkage(error);
            first = 1;
        }
    }

    /// Where a step towards `until` ends at the latest. Beyond a jump of the inputs, what is known of the field holds no more. A table is
    /// read forwards alone.
    fn before_jump(&mut self, until: f64) -> Result<f64, StepFailure> {
        let time = self.progress().time;
        let Some(driver) = self.driver() else { return Ok(until) };
        if until < time && driver.range() != ALWAYS {
            return Err(StepFailure::Backwards);
        }
        let jump = driver.hold(time);
        let progress = self.progress_mut();
        progress.knows_derivative &= !progress.is_at_jump();
        progress.jump = jump;
        Ok(if time < until { until.min(jump) } else { until })
    }
}

/// Steps under error control whose ends are projected, with all that the next steps depend on.
#[cfg(feature = "std")]
pub(crate) trait Controlled<L: Land>: Attempts<State = L::State> {
    /// Makes one step as [`Attempts::step_and`] does, and projects where it ends if states are projected.
    fn step_and_land(&mut self, until: f64, lander: Option<&mut L>) -> Result<(), StepFailure>;
    /// The last step as a polynomial.
    fn polynomial(&mut self) -> L::Polynomial;
    /// The tolerance of an entry of the state, atol_i + rtol |x_i|.
    fn tolerance(&self, entry: usize) -> f64;
    /// The last stage of the last step.
    fn last_rates(&self) -> L::State;
    /// The sizes from which absolute tolerances follow, where none are given, and the roundings of rates.
    fn sizes(&self) -> Option<[L::State; 2]>;
    /// Takes a state, the last stage of a step that ended there, and sizes.
    fn take(&mut self, state: L::State, last_rates: Option<L::State>, sizes: Option<[L::State; 2]>);
}

/// Where an integration of x' = f(x) by a method of some order begins.
pub(crate) struct StepStart<'b, V: ?Sized> {
    pub(crate) time: f64,
    pub(crate) x: &'b V,
    /// f(x).
    pub(crate) rates: &'b V,
    pub(crate) order: f64,
}

/// The measure of errors where an integration begins.
pub(crate) enum Measure<'b> {
    /// The weight of each entry.
    Weights(&'b [f64]),
    /// The relative tolerance, and the sizes of the variables of each entry and of its rate.
    Sizes { rtol: f64, sizes: &'b [f64], of_rates: &'b [f64] },
}

impl<V: Entries<f64>> StepStart<'_, V> {
    /// [`first_size`](StepStart::first_size) along a field, whose values a function gives.
    pub(crate) fn first_size_on<F: Field<Vector = V> + ?Sized>(
        &self,
        field: &F,
        scale: &ErrorScale<V>,
        direction: f64,
        remaining: f64,
        mut value: impl FnMut(&V) -> V,
    ) -> f64 {
        let Self { time, x, rates, order } = *self;
        let change = |step: f64| difference(&value(&sum(x, direction * step, rates)), rates);
        let step_start = StepStart { time, x: x.as_ref(), rates: rates.as_ref(), order };
        let entries = (field.dimension(), field.clock());
        match scale.by_size() {
            Some((rtol, sizes)) => {
                let of_rates = largest_of_variables(rates, |entry| field.continues_variable(entry));
                let measure = Measure::Sizes { rtol, sizes: sizes.largest.as_ref(), of_rates: of_rates.as_ref() };
                step_start.first_size(&measure, entries, remaining, change)
            }
            None => {
                let weights = scale.weights(x, x, 0.0);
                step_start.first_size(&Measure::Weights(weights.as_ref()), entries, remaining, change)
            }
        }
    }
}

impl StepStart<'_, [f64]> {
    /// A first step for an error of about 0.01, if the field and its change along an Euler step say enough about its higher derivatives.
    /// `change` gives that change of the field; a state has as many entries as are given, one of which may be the time.
    pub(crate) fn first_size<C: AsRef<[f64]>>(
        &self,
        measure: &Measure<'_>,
        (dimension, clock): (usize, Option<usize>),
        remaining: f64,
        change: impl FnOnce(f64) -> C,
    ) -> f64 {
        let size = match measure {
            Measure::Weights(weights) => self.size_by_weights(weights, dimension, remaining, change),
            Measure::Sizes { .. } => {
                let is_counted = |i: usize| i < dimension && clock != Some(i);
                self.size_by_motion(measure, is_counted, remaining, change)
            }
        };
        size.max(SHORTEST * f64::EPSILON * self.time.abs()).min(remaining)
    }

    /// HNW II.4, in units of the tolerance.
    fn size_by_weights<C: AsRef<[f64]>>(
        &self,
        weights: &[f64],
        dimension: usize,
        remaining: f64,
        change: impl FnOnce(f64) -> C,
    ) -> f64 {
        let size_of = |v: &[f64]| norm(v, weights, dimension);
        let (size_of_x, size_of_f) = (size_of(self.x), size_of(self.rates));
        let guess = if size_of_x <= 1e-5 || size_of_f <= 1e-5 {
            // What comes of it is at most a hundred times as long.
            (1e-4 * remaining).min(1e-6)
        } else {
            0.01 * size_of_x / size_of_f
        };
        let guess = guess.min(remaining);
        let largest = size_of_f.max(size_of(change(guess).as_ref()) / guess);
        let size =
            if largest <= 1e-15 { (guess * 1e-3).max(1e-6) } else { Scalar::powf(0.01 / largest, 1.0 / self.order) };
        size.min(100.0 * guess)
    }

    /// The first size without a unit: the time in which variables change by their sizes replaces the unit of time. A variable that begins
    /// at 0 has no size yet, and counts by the change of its rate.
    fn size_by_motion<C: AsRef<[f64]>>(
        &self,
        measure: &Measure<'_>,
        is_counted: impl Fn(usize) -> bool,
        remaining: f64,
        change: impl FnOnce(f64) -> C,
    ) -> f64 {
        let Measure::Sizes { rtol, sizes, of_rates } = *measure else { return remaining };
        let speed = relative(self.rates, sizes, &is_counted);
        let at_rest = if remaining.is_finite() { AT_REST * remaining } else { 1.0 };
        let probe = if speed > 0.0 { (0.01 / speed).min(remaining) } else { 0.01 * at_rest };
        let change = change(probe);
        let change = change.as_ref();
        let turning = relative(change, of_rates, |i| is_counted(i) && sizes.get(i) == Some(&0.0)) / probe;
        let bending = Scalar::sqrt(relative(change, sizes, is_counted) / probe);
        let fastest = speed.max(bending).max(turning);
        if !(fastest > 0.0 && fastest.is_finite()) {
            return at_rest;
        }
        let size = Scalar::powf(0.01 * rtol, 1.0 / self.order) / fastest;
        if fastest * remaining < 1.0 { size.min(at_rest) } else { size }
    }
}
