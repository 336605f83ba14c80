//! The projection method (HLW06 IV.4): after a step, x moves back towards the set where every integral has its target.
//!
//! One iteration is one Gauss-Newton step, x -= S DF^T (DF S DF^T + R)^-1 (F - F_target). Among the steps d that solve the linearised
//! equations it has the least d^T S^-1 d. S = diag(s_1, .., s_N), where s_i is the running mean of e_i^2 + u_i^2 over about ten steps
//! before; e_i is the method's own estimate of its error in entry i, and u_i the rounding of the entry. The mean, because an estimate that
//! passes 0 says little about the size of the error. A value of more than ten thousand means replaces the mean at once, because forces have
//! jumped. Otherwise, a step of a fixed size need not wait for its estimate, which takes an evaluation of the field at its end. Heun's
//! method and RK4 end with a stage at the end of the step, and compare it with f there: that ignores forces that change with the time, and
//! says little about a contact within the step. Where there is a time, and after a step whose projection moves an entry by more than ten
//! times the root of s_i, their estimates also have an eighth of the difference of their stages.
//!
//! R = diag(r_1^2, .., r_M^2), where r_i is the rounding error of integral i. If the error of a step has mean 0 and
//! covariance S, and F is known up to R, the projection subtracts the best linear estimate of that error.
//!
//! An entry is rounded in proportion to its size, and by sixteen times what the step takes over from the rounding of the field: where terms
//! of a force cancel, as at rest on supports, an entry is less exact than its size says. The scatter of the field among states around the
//! start shows that rounding. An integral is rounded by the terms that it has at the start, and by the rounding of the field. An integral
//! without a finite gradient at the start has no say.
//!
//! Where every violation is within 64 times the root of R, as many roundings as a run may add up, the step stands: the integrals have
//! nothing to say about its error. Motions whose energy is below the rounding of the energy, such as small ones about an equilibrium, are
//! therefore the motions of plain steps. This is what rounding means below.
//!
//! Nothing in it has a unit, so that a change of units changes no trajectory but by rounding. The time stays where it is. The work that was
//! done on a driven system takes on what its balance says, and the balance moves nothing else, unless [`Projection::onto_balance`] says so:
//! the quadrature error of the work is not an error of the mechanics. R keeps rounding from being taken for an error of the method where
//! integrals are nearly dependent: there a violation of the size of rounding would move the state by much more than the step erred.
//!
//! The module `landing` decides which projections a simulation keeps.
//!
//! DF S^1/2 loses rank at relative equilibria (the conical pendulum, the circular orbit), where integrals are dependent, and
//! where fewer entries have an error than there are integrals. The generated code adds 1e-10 times its diagonal to DF S DF^T,
//! which leaves a part 1e-10 / sigma^2 of the violation, with sigma the least singular value of DF S^1/2 with rows of length 1: less
//! than the quadratic error that Gauss-Newton leaves anyway. Constraints of a given field with a sigma below 1e-5 at the start would
//! hardly be held, and a run that projects is refused.
//!
//! Nothing allocates, and the number of iterations is bounded.

mod doubt;
#[cfg(feature = "std")]
pub(crate) mod flat;
#[cfg(feature = "std")]
mod land;
mod landing;
mod outcome;
mod proportion;

use core::cell::Cell;
use core::num::NonZeroU32;

use derive_where::derive_where;

#[cfg(feature = "std")]
use self::doubt::Onto;
#[cfg(feature = "std")]
pub(crate) use self::land::{Land, Landed, Lander, LandingMemory};
use self::outcome::DoubtfulStep;
pub(crate) use self::outcome::Landing;
pub use self::outcome::Projected;
#[cfg(feature = "ensemble")]
pub(crate) use self::proportion::{LEFT, ROUNDING};
pub use self::proportion::{LeftOutReason, Omission};
pub(crate) use self::proportion::{MOST, USUAL};
#[cfg(feature = "std")]
pub(crate) use self::proportion::{Move, furthest, is_within};
use crate::hold::rounding::{Rounding, UNBOUNDED};
use crate::numbers::entries::Entries;
use crate::numbers::larger::Larger;
use crate::numbers::linear::{difference, filled, is_finite};
use crate::numbers::scalar::Scalar;
use crate::stages::tableau::{Tableau, Unfinished};
use crate::system::SystemFacts;
use crate::system::{FeedbackLaw, FeedbackSystem, Integrals, PreparedSystem, StateRole, Vector};

/// The weight of the last step in the running mean of e^2.
pub(crate) const LAST: f64 = 0.1;
/// An e^2 of more than this many means takes the place of the mean. Where forces are smooth, an estimate that has passed 0 grows by
/// less, even in the long steps of error control.
pub(crate) const SPIKE: f64 = 1e4;
/// The number of entries of the state for which one integral can speak.
#[cfg(feature = "std")]
const ENTRIES_PER_INTEGRAL: usize = 12;
/// A projection of the state after each step onto the level set of all integrals, in a fixed number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Projection {
    iterations: NonZeroU32,
    #[cfg_attr(feature = "serde", serde(default))]
    onto_balance: bool,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    is_unchosen: bool,
}

/// One iteration, which is enough unless steps are so long that F is far from linear over a step's violation.
impl Default for Projection {
    fn default() -> Self {
        Self::iterations(NonZeroU32::MIN)
    }
}

impl Projection {
    /// No choice: the projection that the simulation or the ensemble has, which is the default unless another was chosen there.
    /// [`Settings::new`](crate::Settings::new) has this.
    pub const UNCHOSEN: Self = Self { is_unchosen: true, ..Self::iterations(NonZeroU32::MIN) };

    /// A number of iterations; each squares what is left of the violation, so that more than 3 are never of use.
    pub const fn iterations(iterations: NonZeroU32) -> Self {
        Self { iterations, onto_balance: false, is_unchosen: false }
    }

    /// This projection with the mechanics of a driven system moved onto its balance of energy, too. Without this the balance
    /// determines the work alone.
    ///
    /// It pays where the work errs less than the mechanics, and not where forces change so fast that steps do not resolve their power.
    pub const fn onto_balance(self) -> Self {
        Self { onto_balance: true, ..self }
    }

    /// The variance of an entry of the state that does not depend on errors: the time is known, and the work is determined by the
    /// balance alone, unless the mechanics is, too.
    pub(crate) const fn fixed_variance(self, role: StateRole) -> Option<f64> {
        match role {
            StateRole::Time => Some(0.0),
            StateRole::Work if !self.onto_balance => Some(UNBOUNDED),
            _ => None,
        }
    }

    /// The default of a run of a system: one iteration, unless the state has more than twelve entries for each integral.
    ///
    /// An integral says one thing about the error of a step. Shared out among many entries, where some hardly err, that does more harm than
    /// good: with the energy of a molecule or of a planetary system alone declared, the bodies that plain steps follow best end further
    /// from the truth.
    #[cfg(feature = "std")]
    pub fn by_default(facts: &SystemFacts) -> Option<Self> {
        (facts.state.len() <= ENTRIES_PER_INTEGRAL * facts.integrals.len()).then(Self::default)
    }
}

/// Which projection follows each step of a run.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hold {
    /// The projection of [`Projection::by_default`], where steps estimate their error.
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

    /// This, unless settings choose another projection, or none.
    pub(crate) fn unless(self, chosen: Option<Projection>) -> Self {
        if chosen.is_some_and(|projection| projection.is_unchosen) { self } else { Self::Chosen(chosen) }
    }

    /// The projection of a run that has none by default.
    pub(crate) fn if_chosen(self) -> Option<Projection> {
        match self {
            Self::ByDefault => None,
            Self::Chosen(projection) => projection,
        }
    }
}

/// The steps of a run of the system `S` that projects the state after each, in numbers of type `T`.
///
/// It remembers the sizes of the errors, and the derivative where the last step ended, with which the next step begins.
#[derive_where(Clone, Debug)]
pub struct Projector<S: FeedbackSystem, T: Scalar = f64> {
    system: S::Prepared<T>,
    /// Where the integrals are held.
    targets: Integrals<S, T>,
    rounding: Rounding<S, T>,
    projection: Projection,
    /// The running mean of e^2, 0 before the first step.
    mean: Vector<S, T>,
    /// f where the last step ended, before its end was projected.
    derivative: Option<Vector<S, T>>,
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

    /// Steps of a run of a prepared system.
    pub(crate) fn starting_at(
        system: S::Prepared<f64>,
        start: &Vector<S>,
        targets: Integrals<S>,
        projection: Projection,
    ) -> Self {
        let rounding = Rounding::at(&system, start, &targets);
        Self::of(system, targets, rounding, projection)
    }

    /// One step of size `h` along x' = `field`(x), whose end is projected. Simulations also leave out what is out of proportion to the
    /// error of the step, or brings an integral no closer to its target; this function does not look.
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
            Err(DoubtfulStep { end, variances, noise, .. }) => {
                let projected;
                (*x, projected) = self.clone().projected_anew(end, variances, noise);
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
            Err(doubt) => self.resolve(&begin, doubt, x),
        }
    }

    /// Makes one step whose projection takes it that the step errs like those before, so that neither it nor the next step waits for the
    /// field at its end. Where that turns out to be wrong there is a doubt, and in a simulation, which gives the time at the end of the
    /// step, also where the projection is out of proportion, or does not bring every integral closer.
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
        let (end, mean, noise) = (*x, self.mean, self.noise(h));
        let mut projected = self.move_back(&mean, &noise, x);
        let (left, is_held) = match time {
            Some(_) => self.look(&noise, &end, x, &mut projected),
            None => (projected.violation, true),
        };
        let landing = Landing { end, variances: mean, projected, left };
        let derivative = field(&end);
        self.derivative = Some(derivative);
        let squares = self.squares(&method.error_of(facts).of(&stages, &derivative, h), &end, h);
        // What `mean_with` gives where nothing is out of the ordinary.
        self.mean = Entries::from_fn(|i| Scalar::mul_add(LAST, squares[i] - mean[i], mean[i]));
        let is_usual = |i: usize| squares[i] <= SPIKE * mean[i];
        let is_in_proportion = time.is_none() || (is_held && landing.is_within(USUAL));
        if (0..Vector::<S>::LEN).fold(is_in_proportion, |all, i| all & is_usual(i)) {
            return Ok(landing);
        }
        if is_finite(&derivative) {
            self.mean = mean_with(&mean, &squares);
        } else {
            // Of the next step, which begins with f where it begins, and so has the blame.
            (self.mean, self.derivative) = (mean, None);
        }
        let switching = self.squares(&method.error_of_switching().of(&stages, &derivative, h), &end, h);
        let switching = Entries::from_fn(|i| switching[i].larger(squares[i]).larger(mean[i]));
        Err(DoubtfulStep { end, variances: with_spikes(&mean, &squares), switching, noise, h })
    }

    /// Projects the state `x` that a step with this error ended at, as [`step`](Self::step) does.
    #[inline(always)]
    pub fn project(&mut self, error: &Vector<S>, x: &mut Vector<S>) -> Projected<S> {
        let variances = self.variances_after(error, &x.clone(), 0.0);
        self.move_back(&variances, &self.rounding.integrals, x)
    }

    /// Projects the state `x` that a step of size `h` from `begin` ended at, unless that is out of proportion to the error of the step or
    /// brings an integral no closer; says how it ended.
    #[inline(always)]
    pub(crate) fn land(
        &mut self,
        begin: &Vector<S>,
        error: &Vector<S>,
        h: f64,
        x: &mut Vector<S>,
        landing: &mut Landing<S>,
    ) {
        // Written where it is read: the run looks at it after every step.
        landing.end = *x;
        landing.variances = self.variances_after(error, x, h);
        let noise = self.noise(h);
        landing.projected = self.move_back(&landing.variances, &noise, x);
        let is_held;
        (landing.left, is_held) = self.look(&noise, &landing.end, x, &mut landing.projected);
        if !(is_held && landing.is_within(MOST)) {
            let Landing { end, variances, .. } = *landing;
            *landing = self.resolve(begin, DoubtfulStep { end, variances, switching: variances, noise, h }, x);
        }
    }

    #[cold]
    #[inline(never)]
    fn projected_anew(self, end: Vector<S>, variances: Vector<S>, noise: Integrals<S>) -> (Vector<S>, Projected<S>) {
        let mut state = end;
        let projected = self.move_back(&variances, &noise, &mut state);
        (state, projected)
    }

    /// F_target, and R but for what the field adds to it.
    pub(crate) fn onto(&self) -> [&Integrals<S>; 2] {
        [&self.targets, &self.rounding.integrals]
    }

    /// The number of iterations of a projection.
    pub(crate) fn iterations(&self) -> u32 {
        self.projection.iterations.get()
    }

    /// The derivatives of each of the [`squares`](Self::squares) by the entry of the error and by the entry of the end of the step.
    pub(crate) fn slopes_of_squares(&self, error: &Vector<S>, end: &Vector<S>) -> Vector<S, [f64; 2]> {
        Entries::from_fn(|i| match self.fixed_variance(i) {
            Some(_) => [0.0; 2],
            None => [2.0 * error[i], 2.0 * f64::EPSILON * f64::EPSILON * end[i]],
        })
    }
}

impl<S: FeedbackSystem, T: Larger> Projector<S, T> {
    /// Steps of a prepared system, or of several side by side, with the variances of rounding in the integrals.
    pub(crate) fn of(
        system: S::Prepared<T>,
        targets: Integrals<S, T>,
        rounding: Rounding<S, T>,
        projection: Projection,
    ) -> Self {
        Self { system, targets, rounding, projection, mean: filled(T::from_f64(0.0)), derivative: None }
    }

    /// The facts about the system.
    #[inline(always)]
    pub(crate) fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }

    /// R after a step of size `h`.
    #[inline(always)]
    pub(crate) fn noise(&self, h: T) -> Integrals<S, T> {
        let Rounding { integrals, integrals_by_field, .. } = &self.rounding;
        Entries::from_fn(|i| (h * h).mul_add(integrals_by_field[i], integrals[i]))
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
        let variances = self.variances_after(&error.with_end(&derivative, h), &end, h);
        let projected = self.move_back(&variances, &self.noise(h), x);
        self.derivative = Some(derivative);
        (Landing { end, variances, projected, left: projected.violation }, derivative)
    }

    /// The diagonal of S after a step of size `h` to `end` with this error, which is remembered.
    #[inline(always)]
    fn variances_after(&mut self, error: &Vector<S, T>, end: &Vector<S, T>, h: T) -> Vector<S, T> {
        let (mean, squares) = (self.mean, self.squares(error, end, h));
        self.mean = mean_with(&mean, &squares);
        with_spikes(&mean, &squares)
    }

    /// The squares of the error of a step of size `h` to `end` and of rounding.
    #[inline(always)]
    pub(crate) fn squares(&self, error: &Vector<S, T>, end: &Vector<S, T>, h: T) -> Vector<S, T> {
        Entries::from_fn(|i| match self.fixed_variance(i) {
            Some(variance) => T::from_f64(variance),
            None => {
                let rounding = T::from_f64(f64::EPSILON) * end[i];
                let by_field = (h * h) * self.rounding.entries_by_field[i];
                error[i].mul_add(error[i], rounding.mul_add(rounding, by_field))
            }
        })
    }

    /// The variance of entry `i` of the state, if it does not depend on errors.
    #[inline(always)]
    fn fixed_variance(&self, i: usize) -> Option<f64> {
        self.projection.fixed_variance(self.facts().state.get(i)?.role)
    }

    /// Moves `x` back by the iterations that were chosen, with this S and R.
    #[inline(always)]
    pub(crate) fn move_back(
        &self,
        variances: &Vector<S, T>,
        noise: &Integrals<S, T>,
        x: &mut Vector<S, T>,
    ) -> Projected<S, T> {
        let projected = self.iterate(variances, noise, x);
        if self.projection.iterations == NonZeroU32::MIN {
            return projected;
        }
        let further;
        (further, *x) = self.clone().iterate_further(*variances, *noise, *x);
        let correction = Entries::from_fn(|i| projected.correction[i] + further[i]);
        Projected { correction, ..projected }
    }

    /// One iteration from `x`: what it finds, and what is subtracted.
    #[inline(always)]
    pub(crate) fn correction(
        &self,
        variances: &Vector<S, T>,
        noise: &Integrals<S, T>,
        x: &Vector<S, T>,
    ) -> Projected<S, T> {
        let violation =
            ViolationRecorder::<S, T> { targets: &self.targets, found: Cell::new(filled(T::from_f64(0.0))) };
        let correction = self.system.projection(x, variances, noise, &violation);
        Projected { violation: violation.found.get(), correction, left_out: None }
    }

    #[inline(always)]
    fn iterate(&self, variances: &Vector<S, T>, noise: &Integrals<S, T>, x: &mut Vector<S, T>) -> Projected<S, T> {
        let projected = self.correction(variances, noise, x);
        *x = difference(x, &projected.correction);
        projected
    }

    /// The second and later iterations from `x`: what they subtract, and where they end. They are hardly ever needed, and not worth a
    /// copy of the generated code at every call. By value, as in [`resolve`](Self::resolve).
    #[cold]
    #[inline(never)]
    fn iterate_further(
        self,
        variances: Vector<S, T>,
        noise: Integrals<S, T>,
        mut x: Vector<S, T>,
    ) -> (Vector<S, T>, Vector<S, T>) {
        let mut sum: Vector<S, T> = filled(T::from_f64(0.0));
        for _ in 1..self.projection.iterations.get() {
            let correction = self.iterate(&variances, &noise, &mut x).correction;
            sum = Entries::from_fn(|i| sum[i] + correction[i]);
        }
        (sum, x)
    }
}

impl<S: FeedbackSystem> Projector<S> {
    /// The memory of the steps so far: the mean of the squared errors, and the derivative.
    pub(crate) fn memory(&self) -> (&Vector<S>, Option<&Vector<S>>) {
        (&self.mean, self.derivative.as_ref())
    }

    pub(crate) fn remember(&mut self, mean: Vector<S>, derivative: Option<Vector<S>>) {
        (self.mean, self.derivative) = (mean, derivative);
    }

    /// Holds the integrals at these targets, with this R.
    #[cfg(feature = "std")]
    pub(crate) fn hold(&mut self, [targets, noise]: [Integrals<S>; 2]) {
        (self.targets, self.rounding.integrals) = (targets, noise);
    }

    /// Forgets the steps so far, where the field jumps: the next step begins with another derivative, and errs by other amounts.
    pub(crate) fn begin_anew(&mut self) {
        self.remember(filled(0.0), None);
    }

    /// Projects a state within the last step in the metric after it, if that is in proportion and brings the integrals closer, and
    /// remembers nothing of that.
    #[cfg(feature = "std")]
    pub(crate) fn project_within(&self, x: &mut Vector<S>) {
        let (noise, facts) = (self.noise(0.0), self.facts());
        let onto = Onto {
            system: &self.system,
            iterations: self.projection.iterations,
            targets: facts.of_integrals::<S, _>(&self.targets),
            variances: facts.of_state::<S, _>(&self.mean),
            noise: facts.of_integrals::<S, _>(&noise),
        };
        onto.project_within(facts.of_state_mut::<S, _>(x));
    }
}

/// The mean of squared errors, replaced by the errors of one more step where they are out of the ordinary.
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
