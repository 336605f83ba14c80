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
use crate::field::{Driver, Field};
#[cfg(feature = "std")]
use crate::hold::projection::Lander;
use crate::hold::projection::{Landing, Projected, Projector};
#[cfg(feature = "std")]
use crate::method::error_control::Controlled;
use crate::method::error_control::{Attempts, Progress, StepStart};
use crate::numbers::entries::Entries;
#[cfg(feature = "std")]
use crate::numbers::linear::is_finite;
use crate::numbers::linear::{difference, filled, not_finite};
use crate::stages::dense_output::DenseOutput;
#[cfg(feature = "std")]
use crate::stages::rodas5p::{self, StepMatrix};
use crate::stages::step_size::{REST, StepLimits};
use crate::stages::tableau::{DOP853_PAIR, DORMAND_PRINCE_PAIR, ErrorEstimate, Pair, advanced, extended};
#[cfg(feature = "std")]
use crate::stages::tolerance::Sizes;
use crate::stages::tolerance::{ErrorScale, Tolerance, norm, nudged};
use crate::system::{FeedbackSystem, Vector};

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
    progress: Progress,
    state: F::Vector,
    previous_state: F::Vector,
    /// The stages of the last step. Stage `last` is f(state) where `knows_derivative`.
    #[derive_where(skip)]
    stages: [F::Vector; STAGES],
    /// The error of the last step, as the method estimates it.
    error: F::Vector,
    /// The matrix of the steps of an implicit method.
    #[cfg(feature = "std")]
    matrix: StepMatrix,
}

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
    pub(crate) fn new(field: &'f F, start: F::Vector, tolerance: Tolerance) -> Self {
        let scale = ErrorScale::new(&tolerance, &start, |entry| field.continues_variable(entry));
        Self {
            field,
            tolerance,
            dimension: field.dimension(),
            scale,
            reached: scale,
            progress: Progress::at(0.0),
            state: start,
            previous_state: start,
            stages: [filled(0.0); STAGES],
            error: filled(0.0),
            #[cfg(feature = "std")]
            matrix: StepMatrix::default(),
        }
    }

    /// This integration from another time than 0.
    pub fn from_time(mut self, time: f64) -> Self {
        (self.progress.time, self.progress.previous_time) = (time, time);
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
        self.progress.max_steps = limit;
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
        self.progress.limits = limits;
        self
    }

    /// The time that was reached.
    pub fn time(&self) -> f64 {
        self.progress.time
    }

    /// The state at that time.
    pub fn state(&self) -> &F::Vector {
        &self.state
    }

    /// The number of steps that were accepted.
    pub fn steps(&self) -> u64 {
        self.progress.steps
    }

    /// The number of steps that were tried and rejected.
    pub fn rejected(&self) -> u64 {
        self.progress.rejected
    }

    /// The number of evaluations of the field.
    pub fn evaluations(&self) -> u64 {
        self.progress.evaluations
    }

    /// Steps until the time is exactly `until`, forwards or backwards.
    ///
    /// # Errors
    ///
    /// The errors of [`step`](Self::step). The integrator is then at the end of the last step that succeeded.
    pub fn advance_to(&mut self, until: f64) -> Result<(), StepError<F::Vector>> {
        while self.progress.time != until {
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
        self.step_and(until, &mut |_, _, _, _| ()).map_err(|reason| self.failed(reason))
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
        if self.progress.is_at_jump() {
            projector.begin_anew();
        }
        self.step_and(until, &mut |begin, error, h, end| projector.land(begin, error, h, end, landing))
            .map_err(|reason| self.failed(reason))
    }

    /// The last step as a polynomial in time, which is of order 4 for Dormand and Prince 5(4) and Rodas5P and 7 for DOP853.
    ///
    /// This costs nothing with Rodas5P, three evaluations with DOP853, and for both explicit methods the one at the end of the step,
    /// which the next step need not repeat. Before the first step, and after one that failed, it is a constant.
    pub fn dense_output(&mut self) -> DenseOutput<F::Vector> {
        let Progress { time: end, previous_time: time, .. } = self.progress;
        let (h, start) = (end - time, self.previous_state);
        if h == 0.0 {
            return DenseOutput::constant(time, start);
        }
        if const { !<Self as Attempts>::IS_IMPLICIT } {
            let last = Self::PAIR.last;
            self.stages[last] = self.derivative();
            self.progress.knows_derivative = true;
            for i in last + 1..STAGES {
                self.stages[i] = self.evaluate(&advanced(&start, h, &self.stages[..i], &Self::PAIR.a[i]));
            }
        }
        DenseOutput::new(Self::PAIR, time, h, start, &self.state, &self.stages)
    }

    /// f at the state.
    fn derivative(&mut self) -> F::Vector {
        if self.progress.knows_derivative { self.stages[Self::PAIR.last] } else { self.evaluate(&self.state.clone()) }
    }

    /// One evaluation between steps. Those in steps are inlined, these are not worth another copy of the field.
    #[inline(never)]
    fn evaluate(&mut self, x: &F::Vector) -> F::Vector {
        self.progress.evaluations += 1;
        self.field.value(x)
    }

    /// The weights of the errors of a step of size h to a state.
    #[inline]
    fn weights(&mut self, next: &F::Vector, h: f64) -> F::Vector {
        self.reached = self.scale.reaching(next, |entry| self.field.continues_variable(entry));
        self.reached.weights(&self.state, next, h)
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
            self.progress.evaluations += 1;
            self.field.value(x)
        });
        let weights = self.weights(&next, h);
        let error;
        (self.error, error) = Self::PAIR.error(&self.stages, h, &weights, self.dimension);
        (next, error)
    }

    fn failed(&mut self, reason: StepFailure) -> StepError<F::Vector> {
        (self.progress.previous_time, self.previous_state) = (self.progress.time, self.state);
        StepError { reason, time: self.progress.time, state: self.state }
    }
}

impl<F: Field + ?Sized, const STAGES: usize> Attempts for Integrator<'_, F, STAGES> {
    type State = F::Vector;
    const IS_IMPLICIT: bool = Self::PAIR.is_implicit();

    #[inline(always)]
    fn pair(&self) -> &'static Pair {
        Self::PAIR
    }

    fn driver(&self) -> Option<&dyn Driver> {
        self.field.driver()
    }

    #[inline(always)]
    fn progress(&self) -> &Progress {
        &self.progress
    }

    #[inline(always)]
    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    #[inline(always)]
    fn begin_and_error(&self) -> [&F::Vector; 2] {
        [&self.state, &self.error]
    }

    fn find_derivative(&mut self) {
        self.stages[0] = self.derivative();
    }

    fn first_size(&mut self, direction: f64, remaining: f64) -> f64 {
        let (x, rates, field, scale) = (self.state, self.stages[0], self.field, self.scale);
        let time = self.progress.time;
        let step_start = StepStart { time, x: &x, rates: &rates, order: Self::PAIR.control.order };
        step_start.first_size_on(field, &scale, direction, remaining, |x| self.evaluate(x))
    }

    #[cfg(feature = "std")]
    fn linearise(&mut self) -> Result<(), StepFailure> {
        let is_defined = is_finite(&self.state) && is_finite(&self.stages[0]);
        self.matrix.linearise(|add| self.field.jacobian(&self.state, add));
        match self.matrix.not_finite() {
            // Else the attempts say what is not finite.
            Some(entry) if is_defined => Err(StepFailure::Jacobian { entry }),
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn attempt(&mut self, h: f64, first: usize) -> (F::Vector, f64) {
        #[cfg(feature = "std")]
        if const { <Self as Attempts>::IS_IMPLICIT } {
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
        self.progress.evaluations += (end - first) as u64;
        let weights = self.weights(&next, h);
        let error;
        (self.error, error) = pair.error(&self.stages, h, &weights, self.dimension);
        (next, error)
    }

    #[inline(always)]
    fn not_finite_at(next: &F::Vector) -> Option<usize> {
        not_finite(next)
    }

    fn not_finite(&self) -> Option<usize> {
        not_finite(&self.state).or(not_finite(&self.stages[0]))
    }

    #[cold]
    fn look_closer(&mut self, next: &F::Vector, h: f64) {
        let (clock, attempts) = (self.field.clock(), self.progress.steps + self.progress.rejected);
        if self.scale.by_size().is_none() {
            return;
        }
        let (state, at_state, field) = (self.state, self.stages[0], self.field);
        let near = self.evaluate(&nudged(&state, clock, attempts));
        if let Some(sizes) = self.scale.sizes_mut() {
            let (continues, at_rest) = (|entry| field.continues_variable(entry), self.progress.limits.at_rest);
            sizes.look_closer(&near, [&state, &at_state, next], h, continues, (clock, at_rest));
        }
    }

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

    #[cold]
    fn rests_until(&mut self, next: &F::Vector) -> bool {
        let mut change = difference(next, &self.state);
        let clock = self.field.clock().and_then(|clock| change.as_mut().get_mut(clock));
        clock.into_iter().for_each(|time| *time = 0.0);
        let weights = self.reached.weights(&self.state, next, 0.0);
        norm(change.as_ref(), weights.as_ref(), self.dimension) <= REST
    }

    fn accept(&mut self, next: F::Vector) {
        (self.previous_state, self.state) = (self.state, next);
        if let Some(clock) = self.field.clock() {
            self.state[clock] = self.progress.time;
        }
        self.scale = self.reached;
    }
}

#[cfg(feature = "std")]
impl<S: FeedbackSystem, F: Field<Vector = Vector<S>> + ?Sized, const STAGES: usize> Controlled<Lander<S>>
    for Integrator<'_, F, STAGES>
{
    fn step_and_land(&mut self, until: f64, lander: Option<&mut Lander<S>>) -> Result<(), StepFailure> {
        let step = match lander {
            Some(Lander { projector, landing }) => self.landing_step(until, projector, landing),
            None => self.step(until),
        };
        step.map_err(|error| error.reason)
    }

    fn polynomial(&mut self) -> DenseOutput<Vector<S>> {
        self.dense_output()
    }

    fn tolerance(&self, entry: usize) -> f64 {
        self.scale.tolerance(&self.state, entry)
    }

    fn last_rates(&self) -> Vector<S> {
        self.stages[Self::PAIR.last]
    }

    fn sizes(&self) -> Option<[Vector<S>; 2]> {
        self.scale.by_size().map(|(_, Sizes { largest, roundings })| [*largest, *roundings])
    }

    fn take(&mut self, state: Vector<S>, last_rates: Option<Vector<S>>, sizes: Option<[Vector<S>; 2]>) {
        (self.state, self.previous_state) = (state, state);
        self.stages[Self::PAIR.last] = last_rates.unwrap_or(filled(0.0));
        if let (Some(own), Some([largest, roundings])) = (self.scale.sizes_mut(), sizes) {
            *own = Sizes { largest, roundings };
        }
    }
}
