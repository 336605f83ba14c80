//! The projection method (HLW06 IV.4): after a step, x moves back towards the set where every integral has its target.
//!
//! One iteration is one Gauss-Newton step, x -= S DF^T (DF S DF^T + R)^-1 (F - F_target). Of all steps d that solve the
//! linearised equations it is the one with the least d^T S^-1 d. S = diag(s_1, .., s_N), where s_i is the running mean of
//! e_i^2 + (u x_i)^2 over about ten steps before; e_i is the method's own estimate of its error in entry i, and u x_i the rounding of
//! the entry. The mean, because an estimate that passes 0 says little about the size of the error. What is more than ten thousand times
//! the mean takes its place at once, because forces have jumped. Where nothing does, a step of a fixed size need not wait for its
//! estimate, which takes an evaluation of the field at its end. Heun's method and RK4 end with a stage at the end of the step, and
//! compare it with f there: that says nothing of forces that change with the time, and little of a contact within the step. Where
//! there is a time, and after a step whose projection moves an entry by more than ten times the root of s_i, their estimates
//! also have an eighth of the difference of their stages.
//!
//! R = diag(r_1^2, .., r_M^2), where r_i is the rounding error of integral i at the start. If the error of a step has mean 0 and
//! covariance S, and F is known up to R, the projection subtracts the best linear estimate of that error.
//!
//! Nothing in it has a unit, so that a change of units changes no trajectory but by rounding. The time stays where it is. The work that
//! was done on a driven system takes on what its balance says, and the balance moves nothing else, unless that is asked for: the
//! quadrature error of the work is not an error of the mechanics. R keeps rounding from being taken for an error of the method where
//! integrals are nearly dependent: there a violation of the size of rounding would move the state by much more than the step erred.
//!
//! A projection is a suggestion. Where it moves an entry by more than a thousand times the root of s_i, the step has left the range in
//! which its error and the linearised integrals mean anything: it has passed a jump of a force, a contact, or a collision. Then the
//! projection is left out: the step stands as it is, its end goes onto the constraint set by the shortest way, and energy and
//! invariants are held at the level that they have there. An integral that jumps, as an angle does by 2 pi, is left out alone.
//!
//! DF S^1/2 loses rank at relative equilibria (the conical pendulum, the circular orbit), where integrals are dependent, and
//! where fewer entries have an error than there are integrals. The generated code adds 1e-10 times its diagonal to DF S DF^T,
//! which leaves a part 1e-10 / sigma^2 of the violation, with sigma the least singular value of DF S^1/2 with rows of length 1: less
//! than the quadratic error that Gauss-Newton leaves anyway. Constraints of a given field with a sigma below 1e-5 at the start would
//! hardly be held, and a run that projects is refused.
//!
//! Nothing allocates, and the number of iterations is fixed.

use core::cell::Cell;
use core::num::NonZeroU32;

use derive_where::derive_where;

use crate::consistent_start::{onto_constraints, size_of_variable, targets};
use crate::dynamical_system::DynamicalSystem;
use crate::entries::Entries;
use crate::facts::SystemFacts;
use crate::linear::{difference, filled, is_finite};
use crate::scalar::Scalar;
use crate::system::{FeedbackLaw, FeedbackSystem, Integrals, PreparedSystem, StateEntry, StateRole, Vector};
use crate::tableau::{Tableau, Unfinished};
use crate::tolerance::Larger;

/// The weight of the last step in the running mean of e^2.
pub(crate) const LAST: f64 = 0.1;
/// An e^2 of more than this many means takes the place of the mean. Where forces are smooth, an estimate that has passed 0 grows by
/// less, even in the long steps of error control.
pub(crate) const SPIKE: f64 = 1e4;
/// How many entries of the state one integral can speak for.
#[cfg(feature = "std")]
const ENTRIES_PER_INTEGRAL: usize = 12;
/// The square of the largest move of an entry that corrects an error of the method, in units of that error.
pub(crate) const MOST: f64 = 1e6;
/// The same of the largest move that raises no doubt whether forces switch within the step.
pub(crate) const USUAL: f64 = 100.0;
/// What counts as rounding of an entry that others of its vector are rounded into, in roundings.
const ROUNDINGS: f64 = 1024.0;
/// The least entry of R: it is positive, and so is the product of two of them.
pub(crate) const LEAST_NOISE: f64 = 1e-140;
/// A variance beside which any other is 0, and whose square is finite.
pub(crate) const UNBOUNDED: f64 = 1e150;
/// An integral that changes by more than this many times what its gradients explain has jumped.
const JUMP: f64 = 4.0;

/// A projection of the state after each step onto the level set of all integrals, in a fixed number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Projection {
    iterations: NonZeroU32,
    #[cfg_attr(feature = "serde", serde(default))]
    onto_balance: bool,
}

/// One iteration, which is enough unless steps are so long that F is far from linear over a step's violation.
impl Default for Projection {
    fn default() -> Self {
        Self::iterations(NonZeroU32::MIN)
    }
}

impl Projection {
    /// A number of iterations; each squares what is left of the violation, so that more than 3 are never of use.
    pub const fn iterations(iterations: NonZeroU32) -> Self {
        Self { iterations, onto_balance: false }
    }

    /// This projection with the mechanics of a driven system moved onto its balance of energy, too. Without this the balance
    /// determines the work alone.
    ///
    /// It pays where the error of the work is smaller than that of the mechanics, and not where forces change so fast that steps do
    /// not resolve their power.
    pub const fn onto_balance(self) -> Self {
        Self { onto_balance: true, ..self }
    }

    /// The variance of an entry of the state that does not depend on errors: the time is known, and the work is determined by the
    /// balance alone, unless the mechanics is, too.
    const fn fixed_variance(self, role: StateRole) -> Option<f64> {
        match role {
            StateRole::Time => Some(0.0),
            StateRole::Work if !self.onto_balance => Some(UNBOUNDED),
            _ => None,
        }
    }

    /// What a run of a system does for which nothing is chosen: one iteration, unless the state has more than twelve entries
    /// for each integral.
    ///
    /// An integral says one thing about the error of a step. Shared out among many entries, some of which hardly err, what it says
    /// does more harm than good: with the energy of a molecule or of a planetary system alone declared, the bodies that plain
    /// steps follow best end further from the truth.
    #[cfg(feature = "std")]
    pub fn by_default(facts: &SystemFacts) -> Option<Self> {
        (facts.state.len() <= ENTRIES_PER_INTEGRAL * facts.integrals.len()).then(Self::default)
    }
}

/// Which projection follows each step of a run.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hold {
    /// That of [`Projection::by_default`], where steps estimate their error.
    ByDefault,
    /// This one, or none.
    Chosen(Option<Projection>),
}

#[cfg(feature = "std")]
impl Hold {
    /// The projection of a run by a method that estimates its error.
    pub(crate) fn projection(self, facts: &SystemFacts) -> Option<Projection> {
        match self {
            Self::ByDefault => Projection::by_default(facts),
            Self::Chosen(projection) => projection,
        }
    }

    /// The projection of a run that has none by default.
    pub(crate) fn if_chosen(self) -> Option<Projection> {
        match self {
            Self::ByDefault => None,
            Self::Chosen(projection) => projection,
        }
    }
}

/// What a projection of a state of the system `S` found and did.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Projected<S: FeedbackSystem, T: Scalar = f64> {
    /// F - F_target before the projection.
    pub violation: Integrals<S, T>,
    /// How far the projection moved the state: what was subtracted from it.
    pub correction: Vector<S, T>,
    /// What was left out of the projection, if something was.
    pub left_out: Option<Omission>,
}

impl<S: FeedbackSystem, T: Scalar> Projected<S, T> {
    /// A projection that found and moved nothing.
    pub(crate) fn nothing() -> Self {
        let zero = T::from_f64(0.0);
        Self { violation: filled(zero), correction: filled(zero), left_out: None }
    }
}

/// What was left out of the projection after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omission {
    /// The index of the integral that is the reason.
    pub integral: usize,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why an integral, or the projection as a whole, was left out after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The projection would have moved the state by more than a thousand times the error of the step, most of all because of this
    /// integral. The projection was left out: the step stands, and its end was moved onto the constraints alone.
    OutOfProportion,
    /// The integral jumped, as an angle does by 2 pi. It was left out, and the state was projected onto the others.
    Jump,
    /// The integral or its gradient was not finite. The projection was left out.
    NotFinite,
}

/// The steps of a run of the system `S` that projects the state after each, in numbers of type `T`.
///
/// It remembers the sizes of the errors, and the derivative where the last step ended, with which the next step begins.
#[derive_where(Clone, Copy, Debug)]
pub struct Projector<S: FeedbackSystem, T: Scalar = f64> {
    system: S::Prepared<T>,
    /// Where the integrals are held.
    targets: Integrals<S, T>,
    noise: Integrals<S, T>,
    projection: Projection,
    /// The running mean of e^2, 0 before the first step.
    mean: Vector<S, T>,
    /// f where the last step ended, before its end was projected.
    derivative: Option<Vector<S, T>>,
}

/// Where a step ended, and how that end was projected.
#[derive_where(Clone, Copy)]
pub(crate) struct Landing<S: FeedbackSystem, T: Scalar = f64> {
    /// Where the step ended before its end was projected.
    pub(crate) end: Vector<S, T>,
    /// The diagonal of S in the projection.
    pub(crate) variances: Vector<S, T>,
    pub(crate) projected: Projected<S, T>,
}

impl<S: FeedbackSystem> Landing<S> {
    /// Of no step yet.
    pub(crate) fn nothing() -> Self {
        Self { end: filled(0.0), variances: filled(0.0), projected: Projected::nothing() }
    }

    /// Whether the square of what the projection moved an entry by is at most `most` times its variance, for every entry.
    #[inline(always)]
    fn is_within(&self, most: f64) -> bool {
        let correction = &self.projected.correction;
        (0..Vector::<S>::LEN).fold(true, |all, i| all & (correction[i] * correction[i] <= most * self.variances[i]))
    }
}

/// A step after which an entry of the error is out of the ordinary, or the projection by the errors before is out of proportion.
#[derive_where(Clone, Copy)]
struct DoubtfulStep<S: FeedbackSystem> {
    end: Vector<S>,
    /// The diagonal of S with the error of this step.
    variances: Vector<S>,
    /// The same if forces switch within the step.
    switching: Vector<S>,
}

/// A step whose end is projected.
pub(crate) struct ProjectedStep<S: FeedbackSystem, T: Scalar, const STAGES: usize> {
    pub(crate) landing: Landing<S, T>,
    pub(crate) stages: [Vector<S, T>; STAGES],
    /// f where the step ended, before its end was projected.
    pub(crate) derivative: Vector<S, T>,
}

impl<S: FeedbackSystem> Projector<S> {
    /// Steps of a run of `system` that starts at `start`, with projections onto F = `targets`.
    pub fn new(system: &S, start: &Vector<S>, targets: Integrals<S>, projection: Projection) -> Self {
        Self::starting_at(system.prepare(), start, targets, projection)
    }

    /// The same for a prepared system.
    pub(crate) fn starting_at(
        system: S::Prepared<f64>,
        start: &Vector<S>,
        targets: Integrals<S>,
        projection: Projection,
    ) -> Self {
        let noise = noise::<S>(&system, start, &targets);
        Self::of(system, targets, noise, projection)
    }

    /// One step of size `h` along x' = `field`(x), whose end is projected. Simulations also leave out what is out of proportion to the
    /// error of the step; this function does not.
    ///
    /// f is evaluated where the step ends, for the estimate of its error, and the next step begins with that value, although its start
    /// has been projected since: the value is off by the size of a step's error, and its effect by that times h. The first step
    /// takes one evaluation more, to begin with.
    #[inline(always)]
    pub fn step<const STAGES: usize>(
        &mut self,
        method: &Tableau<STAGES>,
        field: impl Fn(&Vector<S>) -> Vector<S>,
        x: &mut Vector<S>,
        h: f64,
    ) -> Projected<S> {
        match self.attempt(method, field, x, h, None) {
            Ok(landing) => landing.projected,
            Err(DoubtfulStep { end, variances, .. }) => {
                let projected;
                (*x, projected) = self.projected_anew(end, variances);
                projected
            }
        }
    }

    /// Makes one step to `time` as [`step`](Self::step) does, but leaves out what is out of proportion; returns how it ended.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn land_step<const STAGES: usize>(
        &mut self,
        method: &Tableau<STAGES>,
        field: impl Fn(&Vector<S>) -> Vector<S>,
        x: &mut Vector<S>,
        h: f64,
        time: f64,
    ) -> Landing<S> {
        let begin = *x;
        match self.attempt(method, field, x, h, Some(time)) {
            Ok(landing) => landing,
            Err(doubt) => self.settle(&begin, doubt, x),
        }
    }

    /// Makes one step whose projection takes it that the step errs like those before, so that neither it nor the next step waits for the
    /// field at its end. Where that turns out to be wrong there is a doubt, and in a simulation, which gives the time at the end of the
    /// step, also where the projection is out of proportion.
    #[inline(always)]
    fn attempt<const STAGES: usize>(
        &mut self,
        method: &Tableau<STAGES>,
        field: impl Fn(&Vector<S>) -> Vector<S>,
        x: &mut Vector<S>,
        h: f64,
        time: Option<f64>,
    ) -> Result<Landing<S>, DoubtfulStep<S>> {
        let facts = self.facts();
        let first = self.derivative.unwrap_or_else(|| field(x));
        let stages = method.stages(&field, x, h, first);
        if let Some(time) = time {
            facts.set_clock(x, time);
        }
        let (end, mean) = (*x, self.mean);
        let landing = Landing { end, variances: mean, projected: self.move_back(&mean, x) };
        let derivative = field(&end);
        self.derivative = Some(derivative);
        let squares = self.squares(&method.error_of(facts).of(&stages, &derivative, h), &end);
        // What `mean_with` gives where nothing is out of the ordinary.
        self.mean = Entries::from_fn(|i| Scalar::mul_add(LAST, squares[i] - mean[i], mean[i]));
        let is_usual = |i: usize| squares[i] <= SPIKE * mean[i];
        let is_in_proportion = time.is_none() || landing.is_within(USUAL);
        if (0..Vector::<S>::LEN).fold(is_in_proportion, |all, i| all & is_usual(i)) {
            return Ok(landing);
        }
        if is_finite(&derivative) {
            self.mean = mean_with(&mean, &squares);
        } else {
            // Of the next step, which begins with f where it begins, and so has the blame.
            (self.mean, self.derivative) = (mean, None);
        }
        let switching = self.squares(&method.error_of_switching().of(&stages, &derivative, h), &end);
        let switching = Entries::from_fn(|i| switching[i].larger(squares[i]).larger(mean[i]));
        Err(DoubtfulStep { end, variances: with_spikes(&mean, &squares), switching })
    }

    /// Projects the state `x` that a step with this error ended at.
    #[inline(always)]
    pub fn project(&mut self, error: &Vector<S>, x: &mut Vector<S>) -> Projected<S> {
        let variances = self.variances_after(error, &x.clone());
        self.move_back(&variances, x)
    }

    /// Projects the state `x` that a step from `begin` ended at, unless that is out of proportion to the error of the step; says how it
    /// ended.
    #[inline(always)]
    pub(crate) fn land(&mut self, begin: &Vector<S>, error: &Vector<S>, x: &mut Vector<S>, landing: &mut Landing<S>) {
        // Written where it is read: the run looks at it after every step.
        landing.end = *x;
        landing.variances = self.variances_after(error, x);
        landing.projected = self.move_back(&landing.variances, x);
        if !landing.is_within(MOST) {
            let Landing { end, variances, .. } = *landing;
            *landing = self.settle(begin, DoubtfulStep { end, variances, switching: variances }, x);
        }
    }

    /// Puts `x` where a step ends, and holds the integrals where they can be held from there.
    #[inline(always)]
    fn settle(&mut self, begin: &Vector<S>, doubt: DoubtfulStep<S>, x: &mut Vector<S>) -> Landing<S> {
        let (projected, variances);
        Settled { state: *x, targets: self.targets, noise: self.noise, projected, variances } =
            self.settled(*begin, doubt);
        Landing { end: doubt.end, variances, projected }
    }

    /// Where a step ends about whose projection there is a doubt: projected, if that is usual after all, or in proportion to what the
    /// step errs by if forces switch within it; else projected onto all but the integrals that have jumped, if that is in proportion;
    /// else on the constraint set.
    ///
    /// Everything is passed by value. If a function that is not inlined had the address of the projector or of the state, both would
    /// be stored and loaded again in every step, even where there is no doubt.
    #[cold]
    #[inline(never)]
    fn settled(self, begin: Vector<S>, DoubtfulStep { end, variances, switching }: DoubtfulStep<S>) -> Settled<S> {
        let (state, projected) = self.projected(&variances, &end);
        let as_held = Settled { state, targets: self.targets, noise: self.noise, projected, variances };
        if self.furthest(&projected, &variances, &end).is_usual() {
            return as_held;
        }
        let variances = switching;
        let (state, projected) = self.projected(&variances, &end);
        let as_held = Settled { state, projected, variances, ..as_held };
        if self.furthest(&projected, &variances, &end).is_in_proportion() {
            return as_held;
        }
        if !is_finite(&end) {
            return Settled { state: end, projected: Projected::nothing(), ..as_held };
        }
        let mut jumped: Integrals<S, bool> = Entries::from_fn(|_| false);
        let facts = self.facts();
        find_jumps(&self.system, facts.of_state::<S, _>(&begin), facts.of_state::<S, _>(&end), jumped.as_mut());
        if let Some(integral) = (0..Integrals::<S>::LEN).find(|&i| jumped[i]) {
            let noise = Entries::from_fn(|i| if jumped[i] { UNBOUNDED } else { self.noise[i] });
            let (state, projected) = Self { noise, ..self }.projected(&variances, &end);
            if self.furthest(&projected, &variances, &end).is_in_proportion() {
                let shift = |i: usize| if jumped[i] { projected.violation[i] } else { 0.0 };
                let targets = Entries::from_fn(|i| self.targets[i] + shift(i));
                let left_out = Some(Omission { integral, reason: LeftOutReason::Jump });
                return Settled { state, targets, projected: Projected { left_out, ..projected }, ..as_held };
            }
        }
        let state = onto_constraints::<S>(&self.system, &end).unwrap_or(end);
        let targets = targets::<S, f64>(&self.system, &state);
        let noise = noise::<S>(&self.system, &state, &targets);
        let held = [self.targets.as_ref(), self.noise.as_ref()];
        let (correction, left_out) = (
            difference(&end, &state),
            Some(worst(&self.system, held, facts.of_state::<S, _>(&variances), facts.of_state::<S, _>(&end))),
        );
        Settled { state, targets, noise, projected: Projected { correction, left_out, ..projected }, variances }
    }

    /// The projection of the end of a step, once more. By value, as in [`settled`](Self::settled).
    #[cold]
    #[inline(never)]
    fn projected_anew(self, end: Vector<S>, variances: Vector<S>) -> (Vector<S>, Projected<S>) {
        self.projected(&variances, &end)
    }

    /// The projection of the end of a step.
    fn projected(&self, variances: &Vector<S>, end: &Vector<S>) -> (Vector<S>, Projected<S>) {
        let mut state = *end;
        let projected = self.move_back(variances, &mut state);
        (state, projected)
    }

    /// The entry that a projection of the state `x` moved furthest.
    fn furthest(&self, projected: &Projected<S>, variances: &Vector<S>, x: &Vector<S>) -> Move {
        let facts = self.facts();
        furthest(
            facts.state,
            facts.of_state::<S, _>(&projected.correction),
            facts.of_state::<S, _>(variances),
            facts.of_state::<S, _>(x),
        )
    }

    /// F_target, and R.
    pub(crate) fn onto(&self) -> [&Integrals<S>; 2] {
        [&self.targets, &self.noise]
    }

    /// How many iterations a projection has.
    pub(crate) fn iterations(&self) -> u32 {
        self.projection.iterations.get()
    }

    /// The derivatives of each of the [`squares`](Self::squares) by the entry of the error and by that of the end of the step.
    pub(crate) fn slopes_of_squares(&self, error: &Vector<S>, end: &Vector<S>) -> Vector<S, [f64; 2]> {
        Entries::from_fn(|i| match self.fixed_variance(i) {
            Some(_) => [0.0; 2],
            None => [2.0 * error[i], 2.0 * f64::EPSILON * f64::EPSILON * end[i]],
        })
    }
}

/// How a step ends, and where the integrals are held from there.
struct Settled<S: FeedbackSystem> {
    state: Vector<S>,
    targets: Integrals<S>,
    noise: Integrals<S>,
    projected: Projected<S>,
    /// The diagonal of S in the projection.
    variances: Vector<S>,
}

impl<S: FeedbackSystem, T: Larger> Projector<S, T> {
    /// Steps of a prepared system, or of several side by side, with the variances of rounding in the integrals.
    pub(crate) fn of(
        system: S::Prepared<T>,
        targets: Integrals<S, T>,
        noise: Integrals<S, T>,
        projection: Projection,
    ) -> Self {
        Self { system, targets, noise, projection, mean: filled(T::from_f64(0.0)), derivative: None }
    }

    /// What the system is.
    #[inline(always)]
    pub(crate) fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }

    /// Makes one step to `time` as [`step`](Self::step) does, whatever comes of its projection.
    #[inline(always)]
    pub(crate) fn advance<const STAGES: usize>(
        &mut self,
        method: &Tableau<STAGES>,
        field: impl Fn(&Vector<S, T>) -> Vector<S, T>,
        x: &mut Vector<S, T>,
        h: T,
        time: f64,
    ) -> ProjectedStep<S, T, STAGES> {
        let first = self.first_stage(&field, x);
        let stages = method.stages(&field, x, h, first);
        let error = method.error_of(self.facts()).of_stages(&stages);
        let (landing, derivative) = self.end_step(error, field, x, h, time);
        ProjectedStep { landing, stages, derivative }
    }

    /// f with which a step from `x` begins.
    #[inline(always)]
    pub(crate) fn first_stage(&self, field: impl Fn(&Vector<S, T>) -> Vector<S, T>, x: &Vector<S, T>) -> Vector<S, T> {
        self.derivative.unwrap_or_else(|| field(x))
    }

    /// Projects the end `x` of a step to `time` with what the stages have in its error; returns f there, too. This is the same for all
    /// methods, and generated code is long.
    #[inline(always)]
    pub(crate) fn end_step(
        &mut self,
        error: Unfinished<Vector<S, T>>,
        field: impl Fn(&Vector<S, T>) -> Vector<S, T>,
        x: &mut Vector<S, T>,
        h: T,
        time: f64,
    ) -> (Landing<S, T>, Vector<S, T>) {
        self.facts().set_clock(x, time);
        let end = *x;
        let derivative = field(&end);
        let variances = self.variances_after(&error.with_end(&derivative, h), &end);
        let projected = self.move_back(&variances, x);
        self.derivative = Some(derivative);
        (Landing { end, variances, projected }, derivative)
    }

    /// The diagonal of S after a step to `end` with this error, which is remembered.
    #[inline(always)]
    fn variances_after(&mut self, error: &Vector<S, T>, end: &Vector<S, T>) -> Vector<S, T> {
        let (mean, squares) = (self.mean, self.squares(error, end));
        self.mean = mean_with(&mean, &squares);
        with_spikes(&mean, &squares)
    }

    /// The squares of the error of a step to `end` and of rounding.
    #[inline(always)]
    pub(crate) fn squares(&self, error: &Vector<S, T>, end: &Vector<S, T>) -> Vector<S, T> {
        Entries::from_fn(|i| match self.fixed_variance(i) {
            Some(variance) => T::from_f64(variance),
            None => {
                let rounding = T::from_f64(f64::EPSILON) * end[i];
                error[i].mul_add(error[i], rounding * rounding)
            }
        })
    }

    /// The variance of entry `i` of the state, if it does not depend on errors.
    #[inline(always)]
    fn fixed_variance(&self, i: usize) -> Option<f64> {
        self.projection.fixed_variance(self.facts().state.get(i)?.role)
    }

    #[inline(always)]
    pub(crate) fn move_back(&self, variances: &Vector<S, T>, x: &mut Vector<S, T>) -> Projected<S, T> {
        let projected = self.iterate(variances, x);
        if self.projection.iterations == NonZeroU32::MIN {
            return projected;
        }
        let further;
        (further, *x) = self.iterate_further(*variances, *x);
        let correction = Entries::from_fn(|i| projected.correction[i] + further[i]);
        Projected { correction, ..projected }
    }

    /// One iteration from `x`: what it finds, and what is subtracted.
    #[inline(always)]
    pub(crate) fn correction(&self, variances: &Vector<S, T>, x: &Vector<S, T>) -> Projected<S, T> {
        let violation =
            ViolationRecorder::<S, T> { targets: &self.targets, found: Cell::new(filled(T::from_f64(0.0))) };
        let correction = self.system.projection(x, variances, &self.noise, &violation);
        Projected { violation: violation.found.get(), correction, left_out: None }
    }

    #[inline(always)]
    fn iterate(&self, variances: &Vector<S, T>, x: &mut Vector<S, T>) -> Projected<S, T> {
        let projected = self.correction(variances, x);
        *x = difference(x, &projected.correction);
        projected
    }

    /// The second and later iterations from `x`: what they subtract, and where they end. They are hardly ever needed, and not worth a
    /// copy of the generated code at every call. By value, as in [`settle`](Self::settle).
    #[cold]
    #[inline(never)]
    fn iterate_further(self, variances: Vector<S, T>, mut x: Vector<S, T>) -> (Vector<S, T>, Vector<S, T>) {
        let mut sum: Vector<S, T> = filled(T::from_f64(0.0));
        for _ in 1..self.projection.iterations.get() {
            let correction = self.iterate(&variances, &mut x).correction;
            sum = Entries::from_fn(|i| sum[i] + correction[i]);
        }
        (sum, x)
    }
}

impl<S: FeedbackSystem> Projector<S> {
    /// What is remembered of the steps so far: the mean of the squared errors, and the derivative.
    pub(crate) fn memory(&self) -> (&Vector<S>, Option<&Vector<S>>) {
        (&self.mean, self.derivative.as_ref())
    }

    pub(crate) fn remember(&mut self, mean: Vector<S>, derivative: Option<Vector<S>>) {
        (self.mean, self.derivative) = (mean, derivative);
    }

    /// Holds the integrals at these targets, with this R.
    #[cfg(feature = "std")]
    pub(crate) fn hold(&mut self, [targets, noise]: [Integrals<S>; 2]) {
        (self.targets, self.noise) = (targets, noise);
    }

    /// Forgets the steps so far, where the field jumps: the next step begins with another derivative, and errs by other amounts.
    pub(crate) fn begin_anew(&mut self) {
        self.remember(filled(0.0), None);
    }

    /// Projects a state within the last step in the metric after it, if that is in proportion, and remembers nothing of that.
    #[cfg(feature = "std")]
    pub(crate) fn project_within(&self, x: &mut Vector<S>) {
        let (state, projected) = self.projected(&self.mean, x);
        if self.furthest(&projected, &self.mean, x).is_in_proportion() {
            *x = state;
        }
    }
}

/// The mean of squared errors, with those of one more step where they are out of the ordinary.
#[inline(always)]
pub(crate) fn with_spikes<V: Entries<T>, T: Larger>(mean: &V, squares: &V) -> V {
    V::from_fn(|i| squares[i].if_larger(T::from_f64(SPIKE) * mean[i], mean[i]))
}

/// The running mean of squared errors after one more step.
#[inline(always)]
pub(crate) fn mean_with<V: Entries<T>, T: Larger>(mean: &V, squares: &V) -> V {
    V::from_fn(|i| {
        let next = T::from_f64(LAST).mul_add(squares[i] - mean[i], mean[i]);
        squares[i].if_larger(T::from_f64(SPIKE) * mean[i], next)
    })
}

/// The entry of the state `x` that a projection moved furthest in units of its error. What is within a thousand roundings of the
/// vector that an entry belongs to is rounding: where a reaction keeps an entry at 0, what it errs by is rounding of the others.
pub(crate) fn furthest(state: &[StateEntry], correction: &[f64], variances: &[f64], x: &[f64]) -> Move {
    let furthest = furthest_of(correction, |i| variances[i]);
    if furthest.is_in_proportion() {
        return furthest;
    }
    furthest_of(correction, |i| {
        let rounding = ROUNDINGS * f64::EPSILON * size_of_variable(state, x, i);
        variances[i] + rounding * rounding
    })
}

/// Whether a projection moved no entry by more than so many times its error, so that [`furthest`] need not look; false where that is
/// doubtful.
#[cfg(feature = "std")]
pub(crate) fn is_within(correction: &[f64], variances: &[f64], per_error: f64) -> bool {
    // Less than the square by more than rounding.
    let most = per_error * per_error * (1.0 - 1e-12);
    let is_larger = |correction: f64, variance: f64| {
        let is_smaller = correction * correction < most * variance;
        u64::from(!is_smaller & (correction != 0.0))
    };
    let ((corrections, left), (of_corrections, of_left)) = (correction.as_chunks::<4>(), variances.as_chunks::<4>());
    let mut larger = [0; 4];
    for (correction, variance) in corrections.iter().zip(of_corrections) {
        for i in 0..4 {
            larger[i] |= is_larger(correction[i], variance[i]);
        }
    }
    let left =
        left.iter().zip(of_left).fold(0, |larger, (correction, variance)| larger | is_larger(*correction, *variance));
    larger.iter().fold(left, |all, larger| all | larger) == 0
}

/// The entry that is largest against its variance.
fn furthest_of(correction: &[f64], variance: impl Fn(usize) -> f64) -> Move {
    let (mut entry, mut largest) = (0, 0.0);
    for (i, &distance) in correction.iter().enumerate() {
        let square = distance * distance / variance(i);
        // What is not a number is out of all proportion, unless nothing was moved.
        if square > largest || (square.is_nan() && distance != 0.0) {
            (entry, largest) = (i, if square.is_nan() { f64::INFINITY } else { square });
        }
    }
    let distance = correction.get(entry).map_or(0.0, |distance| distance.abs());
    Move { entry, distance, per_error: Scalar::sqrt(largest) }
}

/// How far a projection moved the entry of the state that it moved furthest.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only simulations report the entry and the distance"))]
pub(crate) struct Move {
    pub(crate) entry: usize,
    pub(crate) distance: f64,
    /// That distance in units of the error of a step.
    pub(crate) per_error: f64,
}

impl Move {
    /// Whether the projection raises no doubt.
    fn is_usual(&self) -> bool {
        self.per_error * self.per_error <= USUAL
    }

    /// Whether the projection corrects the error of its step, and no more.
    pub(crate) fn is_in_proportion(&self) -> bool {
        self.per_error * self.per_error <= MOST
    }
}

/// The variance of rounding in each integral: what it changes by where every entry of the state is rounded, and its own.
pub(crate) fn noise<S: FeedbackSystem>(
    system: &S::Prepared<f64>,
    start: &Vector<S>,
    targets: &Integrals<S>,
) -> Integrals<S> {
    let mut noise = *targets;
    squares_of_rounding(system, PreparedSystem::facts(system).of_state::<S, _>(start), noise.as_mut());
    noise
}

/// Replaces targets by the variances of rounding.
fn squares_of_rounding(system: &dyn DynamicalSystem, start: &[f64], values: &mut [f64]) {
    system.with_scratch(&mut |mut scratch| {
        let jacobian = scratch.rows();
        system.jacobian_at(start, jacobian);
        // Where a vector is longer than there are integrals, rows are missing.
        let rows = jacobian.chunks_exact(start.len()).chain(core::iter::repeat(&[][..]));
        for (value, row) in values.iter_mut().zip(rows) {
            let terms = row.iter().zip(start).map(|(derivative, entry)| derivative * entry);
            let squares = terms.fold(*value * *value, |sum, term| sum + term * term);
            let noise = f64::EPSILON * f64::EPSILON * squares;
            // Where the start is not a number, a run does not begin.
            *value = if noise > LEAST_NOISE { noise } else { LEAST_NOISE };
        }
    });
}

/// The integral whose violation is least explained by the error of a step and by rounding, or one that is not finite. Integrals are held
/// at `targets`, of which `noise` is the rounding.
fn worst(system: &dyn DynamicalSystem, [targets, noise]: [&[f64]; 2], variances: &[f64], end: &[f64]) -> Omission {
    let (mut worst, mut largest) = (Omission { integral: 0, reason: LeftOutReason::OutOfProportion }, 0.0);
    system.with_scratch(&mut |mut scratch| {
        let (values, jacobian) = (scratch.values(), scratch.rows());
        system.integrals_at(end, values);
        system.jacobian_at(end, jacobian);
        for (integral, row) in jacobian.chunks_exact(end.len()).enumerate() {
            let violation = values[integral] - targets[integral];
            let terms = row.iter().zip(variances);
            let explained = terms.fold(noise[integral], |sum, (slope, variance)| sum + slope * slope * variance);
            let square = violation * violation / explained;
            if !square.is_finite() {
                worst = Omission { integral, reason: LeftOutReason::NotFinite };
                return;
            }
            if square > largest {
                (worst.integral, largest) = (integral, square);
            }
        }
    });
    worst
}

/// Finds the energies and invariants that change over a step by more than their gradients at both of its ends explain.
fn find_jumps(system: &dyn DynamicalSystem, begin: &[f64], end: &[f64], jumped: &mut [bool]) {
    system.with_scratch(&mut |mut scratch| {
        let (before, after) = (scratch.values(), scratch.values());
        let (slopes_before, slopes_after) = (scratch.rows(), scratch.rows());
        system.integrals_at(begin, before);
        system.integrals_at(end, after);
        system.jacobian_at(begin, slopes_before);
        system.jacobian_at(end, slopes_after);
        for (i, (jumped, integral)) in jumped.iter_mut().zip(system.facts().integrals).enumerate() {
            let [before_row, after_row] =
                [&*slopes_before, &*slopes_after].map(|rows| &rows[i * end.len()..][..end.len()]);
            let slope = |j: usize| before_row[j].abs() + after_row[j].abs();
            let explained: f64 = (0..end.len()).map(|j| slope(j) * (end[j] - begin[j]).abs()).sum();
            *jumped = !integral.kind.is_constraint() && (after[i] - before[i]).abs() > JUMP * explained;
        }
    });
}

/// y = F - F_target, which the generated step takes from a law, and which is kept.
struct ViolationRecorder<'a, S: FeedbackSystem, T: Scalar> {
    targets: &'a Integrals<S, T>,
    found: Cell<Integrals<S, T>>,
}

impl<S: FeedbackSystem, T: Scalar> FeedbackLaw<S, T> for ViolationRecorder<'_, S, T> {
    #[inline]
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        let violation = difference(&integrals, self.targets);
        self.found.set(violation);
        violation
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::vector;

    use super::*;
    use crate::feedback_system;

    /// A point mass on a sphere.
    #[feedback_system(
        coordinates(q: [3]),
        momenta(p: [3]),
        hamiltonian = p.norm_squared() / 2 + q[2],
        constraint(length = q.norm_squared() - 1),
        crate = crate,
    )]
    struct OnSphere;

    /// A violation that the errors of a step do not explain moves the state onto the constraints, and the energy is held there.
    #[test]
    fn a_projection_out_of_proportion_is_left_out() {
        let start: [f64; 6] = OnSphereState { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] }.into();
        let off = start.map(|entry| entry + 1e-3);
        // No error at all, one whose square is 0 in doubles, one below rounding, and one in p alone while q violates the length.
        for error in [[0.0; 6], [1e-170; 6], [1e-40; 6], [0.0, 0.0, 0.0, 1e-3, 1e-3, 1e-3]] {
            let mut projector = Projector::new(&OnSphere, &start, [0.0, 0.0, 1.0], Projection::default());
            let (mut x, mut landing) = (off, Landing::nothing());
            projector.land(&start, &error, &mut x, &mut landing);
            let omission = landing.projected.left_out.expect("a projection that is left out");
            assert_eq!(omission.reason, LeftOutReason::OutOfProportion, "{error:?}");
            let integrals = OnSphere.prepare().integrals(&x);
            assert!(integrals[0].abs() < 1e-14 && integrals[1].abs() < 1e-14, "{integrals:?}");
            assert!((integrals[2] - 1.0).abs() > 1e-4 && (projector.targets[2] - integrals[2]).abs() < 1e-14);
        }
    }
}
