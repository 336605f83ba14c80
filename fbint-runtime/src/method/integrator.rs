//! Explicit Runge-Kutta integration with error control and dense output, one step at a time, on any [`Field`].
//!
//! The controller follows HNW's authors' DOPRI5 and DOP853 (HNW II.4): a step of error err, in units of the tolerance and as root mean
//! square over the entries of the state, is accepted where err <= 1, and the next is 0.9 err^(-1/order) times as long; DOPRI5 also looks at
//! the error before. The first step is guessed from the field and its change along an Euler step. A stage or state that is not finite
//! counts as an error too large, so that a trial beyond the domain of the field shortens the step. Stiffness is not detected. A first step
//! from rest, whose size nothing suggests, is at most a hundredth of the way to its end.
//!
//! Nothing allocates; bad tolerances are refused when an integrator is made, and a step that fails leaves the integrator
//! where it was.

use derive_where::derive_where;

use crate::error::Error;
use crate::error::failure::{StepError, StepFailure};
use crate::field::{ALWAYS, Field};
use crate::hold::projection::{Landing, Projected, Projector};
use crate::numbers::entries::Entries;
use crate::numbers::linear::{difference, filled, is_finite, not_finite, sum};
use crate::numbers::scalar::Scalar;
use crate::stages::dense_output::DenseOutput;
#[cfg(feature = "std")]
use crate::stages::rodas5p::{self, StepMatrix};
use crate::stages::step_size::{LEAST_LOG_ERROR, REST, StepLimits};
use crate::stages::tableau::{DOP853_PAIR, DORMAND_PRINCE_PAIR, ErrorEstimate, Pair, advanced, extended};
#[cfg(feature = "std")]
use crate::stages::tolerance::Sizes;
use crate::stages::tolerance::{ErrorScale, Tolerance, largest_of_variables, norm, nudged, relative};
use crate::system::{FeedbackSystem, Vector};

/// The default of the maximum number of steps that are tried.
pub(crate) const MAX_STEPS: u64 = 10_000_000;
/// The shortest first step, in roundings of the time at the start: no step can be shorter than ten.
const SHORTEST: f64 = 64.0;
/// The first step from rest, as a part of the run.
const AT_REST: f64 = 0.01;

/// An integration of x' = f(x), by a method with `STAGES` stages.
///
/// ```
/// use fbint_runtime::{Field, Integrator, Tolerance};
///
/// struct Oscillator;
/// impl Field for Oscillator {
///     type Vector = [f64; 2];
///
///     fn value(&self, x: &[f64; 2]) -> [f64; 2] {
///         [x[1], -x[0]]
///     }
/// }
///
/// let mut integrator = Integrator::dop853(&Oscillator, [1.0, 0.0], Tolerance::new(1e-10, 1e-10)?);
/// while integrator.time() < 10.0 {
///     let before = integrator.time();
///     integrator.step(10.0)?;
///     let middle = 0.5 * (before + integrator.time());
///     assert!((integrator.dense_output().at(middle)[0] - middle.cos()).abs() < 1e-8);
/// }
/// assert_eq!(integrator.time(), 10.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive_where(Debug)]
pub struct Integrator<'f, F: Field + ?Sized, const STAGES: usize> {
    #[derive_where(skip)]
    field: &'f F,
    tolerance: Tolerance,
    /// The number of entries of a state.
    dimension: usize,
    /// The weights of errors where the next step begins.
    scale: ErrorScale<F::Vector>,
    /// The scale of the error where the last attempt ended.
    reached: ErrorScale<F::Vector>,
    max_steps: u64,
    limits: StepLimits,
    time: f64,
    state: F::Vector,
    previous_time: f64,
    previous_state: F::Vector,
    /// The stages of the last step. Stage `last` is f(state) where `knows_derivative`.
    #[derive_where(skip)]
    stages: [F::Vector; STAGES],
    knows_derivative: bool,
    /// When a step has to end at the latest, because inputs of the field jump.
    jump: f64,
    /// The error of the last step, as the method estimates it.
    error: F::Vector,
    /// The matrix of the steps of an implicit method.
    #[cfg(feature = "std")]
    matrix: StepMatrix,
    /// The size of the next step, unless none was made yet.
    size: Option<f64>,
    /// The natural logarithm of the last step's error, where the next step depends on it.
    last_log_error: f64,
    steps: u64,
    rejected: u64,
    evaluations: u64,
}

/// Moves the end of a step, given its start, the estimate of its error and its size. It is called through a pointer, once a step, so that steps are
/// compiled once and not for each kind of end.
type EndProjection<'p, V> = dyn FnMut(&V, &V, f64, &mut V) + 'p;

impl<'f, F: Field + ?Sized> Integrator<'f, F, 7> {
    /// An integration by Dormand and Prince's pair of order 5(4), with dense output of order 4.
    pub fn dormand_prince(field: &'f F, start: F::Vector, tolerance: Tolerance) -> Self {
        Self::new(field, start, tolerance)
    }
}

impl<'f, F: Field + ?Sized> Integrator<'f, F, 16> {
    /// An integration by Dormand and Prince's method of order 8(5, 3), with dense output of order 7.
    pub fn dop853(field: &'f F, start: F::Vector, tolerance: Tolerance) -> Self {
        Self::new(field, start, tolerance)
    }
}

#[cfg(feature = "std")]
impl<'f, F: Field + ?Sized> Integrator<'f, F, { rodas5p::STAGES }> {
    /// An integration by Rodas5P, for what is stiff, with dense output of order 4. The field needs a [Jacobian](Field::jacobian).
    ///
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if the field has none.
    pub fn rodas5p(field: &'f F, start: F::Vector, tolerance: Tolerance) -> Result<Self, Error> {
        if !field.jacobian(&start, &mut |_, _, _| ()) {
            let reason = "its Jacobian is not known: choose constant gains or a projection instead of gains that follow from the \
                          state, or implement `Field::jacobian` of your own field";
            return Err(Error::NotApplicable { method: "Rodas5P", system: "the field", reason });
        }
        Ok(Self { matrix: StepMatrix::new(field.dimension()), ..Self::new(field, start, tolerance) })
    }
}

impl<'f, F: Field + ?Sized, const STAGES: usize> Integrator<'f, F, STAGES> {
    const PAIR: &'static Pair = match STAGES {
        7 => &DORMAND_PRINCE_PAIR,
        #[cfg(feature = "std")]
        9 => &rodas5p::RODAS5P,
        _ => &DOP853_PAIR,
    };
    /// Known when a step is compiled: what is not called is not even made.
    const IS_IMPLICIT: bool = Self::PAIR.is_implicit();

    pub(crate) fn new(field: &'f F, start: F::Vector, tolerance: Tolerance) -> Self {
        let scale = ErrorScale::new(&tolerance, &start, |entry| field.continues_variable(entry));
        Self {
            field,
            tolerance,
            dimension: field.dimension(),
            scale,
            reached: scale,
            max_steps: MAX_STEPS,
            limits: StepLimits::NONE,
            time: 0.0,
            state: start,
            previous_time: 0.0,
            previous_state: start,
            stages: [filled(0.0); STAGES],
            knows_derivative: false,
            jump: f64::INFINITY,
            error: filled(0.0),
            #[cfg(feature = "std")]
            matrix: StepMatrix::default(),
            size: None,
            last_log_error: LEAST_LOG_ERROR,
            steps: 0,
            rejected: 0,
            evaluations: 0,
        }
    }

    /// This integration from another time than 0.
    pub fn from_time(mut self, time: f64) -> Self {
        (self.time, self.previous_time) = (time, time);
        self
    }

    /// This integration with the absolute tolerance atol times `scales`, entry by entry, where each scale is the typical size of an
    /// entry, such as 30 for positions and 1e-6 for momenta. Without an absolute tolerance it is rtol times the scale.
    ///
    /// # Errors
    ///
    /// If a scale is not positive or not finite.
    pub fn with_scales(mut self, scales: &F::Vector) -> Result<Self, Error> {
        self.scale = self.scale.with_scales(&self.tolerance, scales, self.dimension)?;
        Ok(self)
    }

    /// This integration with another limit to the number of steps, accepted and rejected, which is ten million by default.
    pub fn with_max_steps(mut self, limit: u64) -> Self {
        self.max_steps = limit;
        self
    }

    /// This integration with steps of at most this size, which is positive and finite: for a field with short events in time, such as
    /// pulses, between which long steps would be accurate enough.
    ///
    /// # Errors
    ///
    /// If the size is not positive or not finite.
    pub fn with_max_step(self, size: f64) -> Result<Self, Error> {
        Ok(self.with_limits(StepLimits::at_most(size)?))
    }

    pub(crate) fn with_limits(mut self, limits: StepLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The time that was reached.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The state at that time.
    pub fn state(&self) -> &F::Vector {
        &self.state
    }

    /// The number of steps that were accepted.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The number of steps that were tried and rejected.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The number of evaluations of the field.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Steps until the time is exactly `until`, forwards or backwards.
    ///
    /// # Errors
    ///
    /// The errors of [`step`](Self::step). The integrator is then at the end of the last step that succeeded.
    pub fn advance_to(&mut self, until: f64) -> Result<(), StepError<F::Vector>> {
        while self.time != until {
            self.step(until)?;
        }
        Ok(())
    }

    /// Makes one step towards `until`, not beyond it: it is shortened to end there exactly. At `until` it does nothing.
    ///
    /// The end may be infinite, and differ from step to step. A step that was shortened does not shorten the one after it.
    ///
    /// # Errors
    ///
    /// If `until` is NaN, if the limit to the number of steps is reached, if no step is short enough to meet the tolerance, or
    /// if the field or the state is not finite however short the step. The integrator stays where it was.
    pub fn step(&mut self, until: f64) -> Result<(), StepError<F::Vector>> {
        self.step_and(until, &mut |_, _, _, _| ())
    }

    /// Makes one step as [`step`](Self::step) does, and projects where it ends, unless that is out of proportion to the error of the
    /// step, or brings an integral no closer to its target: see [`Projected::left_out`]. No step is rejected or shortened because of its projection.
    ///
    /// The derivative at the end, which a step of Dormand and Prince 5(4) has evaluated, begins the next step although the end has moved:
    /// it is off by the size of a step's error, and its effect by that times the step's size.
    ///
    /// # Errors
    ///
    /// The errors of [`step`](Self::step).
    pub fn projected_step<S: FeedbackSystem>(
        &mut self,
        until: f64,
        projector: &mut Projector<S>,
    ) -> Result<Projected<S>, StepError<F::Vector>>
    where
        F: Field<Vector = Vector<S>>,
    {
        // A step of no length moves nothing, because `until` is reached already.
        let mut landing = Landing::nothing();
        self.landing_step(until, projector, &mut landing)?;
        Ok(landing.projected)
    }

    /// Makes one step as [`projected_step`](Self::projected_step) does, and says how it ended, if it was made.
    pub(crate) fn landing_step<S: FeedbackSystem>(
        &mut self,
        until: f64,
        projector: &mut Projector<S>,
        landing: &mut Landing<S>,
    ) -> Result<(), StepError<F::Vector>>
    where
        F: Field<Vector = Vector<S>>,
    {
        if self.is_at_jump() {
            projector.begin_anew();
        }
        self.step_and(until, &mut |begin, error, h, end| projector.land(begin, error, h, end, landing))
    }

    /// The tolerance of entry `i` of the state, atol_i + rtol |x_i|.
    #[cfg(feature = "std")]
    pub(crate) fn tolerance(&self, i: usize) -> f64 {
        self.scale.tolerance(&self.state, i)
    }

    /// Makes one step as [`step`](Self::step) does, and projects where it ends.
    fn step_and(&mut self, until: f64, project: &mut EndProjection<'_, F::Vector>) -> Result<(), StepError<F::Vector>> {
        if until.is_nan() {
            return Err(self.failed(StepFailure::End));
        }
        let remaining = (until - self.time).abs();
        if remaining == 0.0 {
            return Ok(());
        }
        let until = self.before_jump(until)?;
        let remaining = (until - self.time).abs();
        let direction = (until - self.time).signum();
        // The first stage is f(state): of the step before, or for a first size, or else left to the first attempt.
        let mut first = 0;
        if self.knows_derivative || self.size.is_none() || Self::IS_IMPLICIT {
            self.stages[0] = self.derivative();
            first = 1;
        }
        let mut proposed = match self.size {
            Some(size) => size,
            None => {
                let (x, rates, field, scale) = (self.state, self.stages[0], self.field, self.scale);
                let step_start = StepStart { time: self.time, x: &x, rates: &rates, order: Self::PAIR.control.order };
                let size = step_start.first_size_on(field, &scale, direction, remaining, |x| self.evaluate(x));
                size.min(self.limits.at_rest.unwrap_or(f64::INFINITY)).min(self.limits.most)
            }
        };
        self.knows_derivative = false;
        #[cfg(feature = "std")]
        if const { Self::IS_IMPLICIT } {
            self.linearise()?;
        }
        let mut shrinking = None;
        loop {
            self.check(proposed, shrinking)?;
            // A slight overshoot is harmless; a slight undershoot would cost one more tiny step.
            let is_shortened = 1.01 * proposed >= remaining && remaining <= self.limits.most;
            let size = if is_shortened { remaining } else { proposed };
            let (mut next, error) = self.attempt(direction * size, first);
            if error <= 1.0 && is_finite(&next) {
                project(&self.state, &self.error, size, &mut next);
                let time = if is_shortened { until } else { self.time + direction * size };
                let grown = size * Self::PAIR.control.growth(error, &mut self.last_log_error);
                let grown = match shrinking {
                    Some(_) => grown.min(size),
                    None if is_shortened => grown.max(proposed),
                    None => grown,
                };
                let at_rest = self.limits.at_rest.filter(|_| self.rests_until(&next));
                self.size = Some(grown.min(at_rest.unwrap_or(f64::INFINITY)).min(self.limits.most));
                self.accept(time, next);
                return Ok(());
            }
            if let Some(entry) = not_finite(&self.state).or(not_finite(&self.stages[0])) {
                return Err(self.failed(StepFailure::NotFinite { entry }));
            }
            let error = if is_finite(&next) { error } else { f64::INFINITY };
            self.rejected += 1;
            if shrinking.is_some() {
                self.look_closer(&next, size);
            }
            shrinking = Some(self.rejection(&next, error));
            proposed = size * Self::PAIR.control.shrinkage(error);
            first = 1;
        }
    }

    /// Where a step towards `until` ends at the latest. Beyond a jump of the inputs, what is known of the field holds no more. A table is
    /// read forwards alone.
    fn before_jump(&mut self, until: f64) -> Result<f64, StepError<F::Vector>> {
        let Some(driver) = self.field.driver() else { return Ok(until) };
        if until < self.time && driver.range() != ALWAYS {
            return Err(self.failed(StepFailure::Backwards));
        }
        self.knows_derivative &= !self.is_at_jump();
        self.jump = driver.hold(self.time);
        Ok(if self.time < until { until.min(self.jump) } else { until })
    }

    /// The last step as a polynomial in time, which is of order 4 for Dormand and Prince 5(4) and Rodas5P and 7 for DOP853.
    ///
    /// This costs nothing with Rodas5P, three evaluations with DOP853, and for both explicit methods the one at the end of the step,
    /// which the next step need not repeat. Before the first step, and after one that failed, it is a constant.
    pub fn dense_output(&mut self) -> DenseOutput<F::Vector> {
        let (time, h, start) = (self.previous_time, self.time - self.previous_time, self.previous_state);
        if h == 0.0 {
            return DenseOutput::constant(time, start);
        }
        if const { !Self::IS_IMPLICIT } {
            let last = Self::PAIR.last;
            self.stages[last] = self.derivative();
            self.knows_derivative = true;
            for i in last + 1..STAGES {
                self.stages[i] = self.evaluate(&advanced(&start, h, &self.stages[..i], &Self::PAIR.a[i]));
            }
        }
        DenseOutput::new(Self::PAIR, time, h, start, &self.state, &self.stages)
    }

    /// f at the state.
    fn derivative(&mut self) -> F::Vector {
        if self.knows_derivative { self.stages[Self::PAIR.last] } else { self.evaluate(&self.state.clone()) }
    }

    /// One evaluation between steps. Those in steps are inlined, these are not worth another copy of the field.
    #[inline(never)]
    fn evaluate(&mut self, x: &F::Vector) -> F::Vector {
        self.evaluations += 1;
        self.field.value(x)
    }

    /// Refuses another attempt after too many or when it would be too short, which has a reason when others were rejected.
    fn check(&mut self, size: f64, shrinking: Option<StepFailure>) -> Result<(), StepError<F::Vector>> {
        if self.steps + self.rejected >= self.max_steps {
            return Err(self.failed(StepFailure::TooManySteps { limit: self.max_steps }));
        }
        if 0.1 * size <= self.time.abs() * f64::EPSILON || size < f64::MIN_POSITIVE {
            return Err(self.failed(shrinking.unwrap_or(StepFailure::Underflow)));
        }
        Ok(())
    }

    /// The state after a step of size h and the error of that step, which is NaN where a stage is. The stages before the `first` are known.
    #[inline(never)]
    fn attempt(&mut self, h: f64, first: usize) -> (F::Vector, f64) {
        #[cfg(feature = "std")]
        if const { Self::IS_IMPLICIT } {
            return self.attempt_implicit(h);
        }
        let pair = Self::PAIR;
        let (last, mut next, mut latest) = (pair.last, self.state, self.stages[0]);
        let rows = last + 1;
        // An embedded method evaluates the field after the step, too.
        let end = if matches!(pair.error, ErrorEstimate::Embedded(_)) { rows } else { last };
        // Unrolled by hand, so that the compiler knows each row, whatever the size of the field.
        macro_rules! stage {
            ($($i:literal)*) => {$(
                if $i < rows && (first == 0 || $i != 0) {
                    next = extended(&self.state, h, &self.stages[..usize::saturating_sub($i, 1)], &latest, &pair.a[$i]);
                    if $i < end {
                        latest = self.field.value(&next);
                        self.stages[$i] = latest;
                    }
                }
            )*};
        }
        stage!(0 1 2 3 4 5 6 7 8 9 10 11 12);
        self.evaluations += (end - first) as u64;
        let weights = self.weights(&next, h);
        let error;
        (self.error, error) = pair.error(&self.stages, h, &weights, self.dimension);
        (next, error)
    }

    /// The weights of the errors of a step of size h to a state.
    #[inline]
    fn weights(&mut self, next: &F::Vector, h: f64) -> F::Vector {
        self.reached = self.scale.reaching(next, |entry| self.field.continues_variable(entry));
        self.reached.weights(&self.state, next, h)
    }

    /// Measures the rounding of the rates, below which errors say nothing, and the sizes of variables that are 0, after attempts that became
    /// shorter without becoming better, the last one of size `h` to `next`.
    #[cold]
    fn look_closer(&mut self, next: &F::Vector, h: f64) {
        let (clock, attempts) = (self.field.clock(), self.steps + self.rejected);
        if self.scale.by_size().is_none() {
            return;
        }
        let (state, at_state, field) = (self.state, self.stages[0], self.field);
        let near = self.evaluate(&nudged(&state, clock, attempts));
        if let Some(sizes) = self.scale.sizes_mut() {
            let (continues, at_rest) = (|entry| field.continues_variable(entry), self.limits.at_rest);
            sizes.look_closer(&near, [&state, &at_state, next], h, continues, (clock, at_rest));
        }
    }

    /// Takes the Jacobian at the state for all attempts at the next step.
    #[cfg(feature = "std")]
    fn linearise(&mut self) -> Result<(), StepError<F::Vector>> {
        let is_defined = is_finite(&self.state) && is_finite(&self.stages[0]);
        self.matrix.linearise(|add| self.field.jacobian(&self.state, add));
        match self.matrix.not_finite() {
            // Else the attempts say what is not finite.
            Some(entry) if is_defined => Err(self.failed(StepFailure::Jacobian { entry })),
            _ => Ok(()),
        }
    }

    /// An [`attempt`](Self::attempt) by a Rosenbrock method, which has as many stages as Rodas5P.
    #[cfg(feature = "std")]
    fn attempt_implicit(&mut self, h: f64) -> (F::Vector, f64) {
        self.matrix.factorise(h);
        let Some(stages) = self.stages.first_chunk_mut() else { return (self.state, f64::INFINITY) };
        if self.matrix.is_singular() {
            return (self.state, f64::INFINITY);
        }
        let next = rodas5p::stages(&self.matrix, &self.state, h, stages, |x| {
            self.evaluations += 1;
            self.field.value(x)
        });
        let weights = self.weights(&next, h);
        let error;
        (self.error, error) = Self::PAIR.error(&self.stages, h, &weights, self.dimension);
        (next, error)
    }

    /// Why an attempt failed, which becomes the reason of a failure if all shorter ones fail, too.
    #[cold]
    fn rejection(&self, next: &F::Vector, error: f64) -> StepFailure {
        #[cfg(feature = "std")]
        if self.matrix.is_singular() {
            return StepFailure::Singular;
        }
        let place = not_finite(F::Vector::flat(&self.stages[..Self::PAIR.last]));
        match place.map(|place| place % F::Vector::LEN).or(not_finite(next)) {
            Some(entry) if !error.is_finite() => StepFailure::NotFinite { entry },
            _ => StepFailure::Underflow,
        }
    }

    /// Whether the step from the state to this one moves nothing but the time.
    #[cold]
    fn rests_until(&self, next: &F::Vector) -> bool {
        let mut change = difference(next, &self.state);
        let clock = self.field.clock().and_then(|clock| change.as_mut().get_mut(clock));
        clock.into_iter().for_each(|time| *time = 0.0);
        let weights = self.reached.weights(&self.state, next, 0.0);
        norm(change.as_ref(), weights.as_ref(), self.dimension) <= REST
    }

    fn accept(&mut self, time: f64, state: F::Vector) {
        (self.previous_time, self.previous_state) = (self.time, self.state);
        (self.time, self.state) = (time, state);
        if let Some(clock) = self.field.clock() {
            self.state[clock] = time;
        }
        self.scale = self.reached;
        self.knows_derivative = matches!(Self::PAIR.error, ErrorEstimate::Embedded(_));
        self.steps += 1;
    }

    /// Whether inputs of the field jump where the next step begins.
    pub(crate) fn is_at_jump(&self) -> bool {
        self.time >= self.jump
    }

    /// All that the next steps depend on.
    #[cfg(feature = "std")]
    pub(crate) fn resumption(&self) -> Resumption<F::Vector> {
        Resumption {
            time: self.time,
            state: self.state,
            derivative: (self.knows_derivative && !self.is_at_jump()).then(|| self.stages[Self::PAIR.last]),
            size: self.size,
            last_log_error: self.last_log_error,
            steps: self.steps,
            rejected: self.rejected,
            evaluations: self.evaluations,
            sizes: self.scale.by_size().map(|(_, sizes)| *sizes),
        }
    }

    /// Resumes from where another integrator of this field, method and tolerance was.
    #[cfg(feature = "std")]
    pub(crate) fn resume(&mut self, from: Resumption<F::Vector>) {
        (self.time, self.state) = (from.time, from.state);
        (self.previous_time, self.previous_state) = (from.time, from.state);
        self.knows_derivative = from.derivative.is_some();
        self.stages[Self::PAIR.last] = from.derivative.unwrap_or(filled(0.0));
        self.jump = f64::INFINITY;
        (self.size, self.last_log_error) = (from.size, from.last_log_error);
        if let (Some(sizes), Some(from)) = (self.scale.sizes_mut(), from.sizes) {
            *sizes = from;
        }
        (self.steps, self.rejected, self.evaluations) = (from.steps, from.rejected, from.evaluations);
    }

    fn failed(&mut self, reason: StepFailure) -> StepError<F::Vector> {
        (self.previous_time, self.previous_state) = (self.time, self.state);
        StepError { reason, time: self.time, state: self.state }
    }
}

/// All that the next steps of an integrator depend on.
#[cfg(feature = "std")]
pub(crate) struct Resumption<V> {
    pub(crate) time: f64,
    pub(crate) state: V,
    /// The field at the state, where it is known.
    pub(crate) derivative: Option<V>,
    pub(crate) size: Option<f64>,
    pub(crate) last_log_error: f64,
    pub(crate) steps: u64,
    pub(crate) rejected: u64,
    pub(crate) evaluations: u64,
    /// The sizes from which absolute tolerances follow, where none are given.
    pub(crate) sizes: Option<Sizes<V>>,
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
