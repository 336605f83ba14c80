//! The projection method (HLW06 IV.4): after a step, x moves back towards the set where every integral has its target.
//!
//! One iteration is one Gauss-Newton step, x -= S DF^T (DF S DF^T + R)^-1 (F - F_target). Of all steps d that solve the
//! linearised equations it is the one with the least d^T S^-1 d. S = diag(s_1, .., s_N), where s_i is the running mean of
//! e_i^2 + u_i^2 over about ten steps before; e_i is the method's own estimate of its error in entry i, and u_i the rounding of
//! the entry. The mean, because an estimate that passes 0 says little about the size of the error. What is more than ten thousand times
//! the mean takes its place at once, because forces have jumped. Where nothing does, a step of a fixed size need not wait for its
//! estimate, which takes an evaluation of the field at its end. Heun's method and RK4 end with a stage at the end of the step, and
//! compare it with f there: that says nothing of forces that change with the time, and little of a contact within the step. Where
//! there is a time, and after a step whose projection moves an entry by more than ten times the root of s_i, their estimates
//! also have an eighth of the difference of their stages.
//!
//! R = diag(r_1^2, .., r_M^2), where r_i is the rounding error of integral i. If the error of a step has mean 0 and
//! covariance S, and F is known up to R, the projection subtracts the best linear estimate of that error.
//!
//! An entry is rounded in proportion to its size, and by sixteen times what the step takes over from the rounding of the field: where terms
//! of a force cancel, as at rest on supports, an entry is less exact than its size says. The scatter of the field among states around the
//! start shows that rounding. An integral is rounded by the terms that it has at the start, and by the rounding of the field. An integral
//! without a finite gradient at the start has no say.
//!
//! Where every violation is within 64 times the root of R, as many roundings as a run may add up, the step stands as it is: the integrals
//! have nothing to say about its error. Motions whose energy is below the rounding of the energy, such as small ones about an equilibrium,
//! are therefore those of plain steps. This is what rounding means below.
//!
//! Nothing in it has a unit, so that a change of units changes no trajectory but by rounding. The time stays where it is. The work that
//! was done on a driven system takes on what its balance says, and the balance moves nothing else, unless that is asked for: the
//! quadrature error of the work is not an error of the mechanics. R keeps rounding from being taken for an error of the method where
//! integrals are nearly dependent: there a violation of the size of rounding would move the state by much more than the step erred.
//!
//! A projection is a suggestion. Simulations keep it only if it brings every integral at least ten times closer to its target, or within
//! rounding. They evaluate F after the projection for that, and record the drift from the same values. Near a singularity of the
//! coordinates, F may be far from linear over the error of a step. Then the projection is damped: it takes several Gauss-Newton steps, and
//! halves each until it leads closer. Where that fails, the energies and invariants that stay away are left out alone, or, if these are
//! all, the projection as a whole.
//!
//! Where a projection moves an entry by more than a thousand times the root of s_i, the step has left the range in
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
//! Nothing allocates, and the number of iterations is bounded.

use core::cell::Cell;
use core::num::NonZeroU32;

use derive_where::derive_where;

use crate::consistent_start::{onto_constraints, size_of_variable, targets};
use crate::dynamical_system::DynamicalSystem;
use crate::entries::Entries;
use crate::facts::SystemFacts;
use crate::linear::{difference, filled, is_finite};
use crate::rounding::Rounding;
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
/// The rounding of an entry that others of its vector are rounded into, in roundings.
const ROUNDINGS: f64 = 1024.0;
/// The square of how many roundings a violation may have for no reason but rounding: a run adds up those of its steps.
pub(crate) const ROUNDING: f64 = 4096.0;
/// The square of the part of a violation that a projection may leave.
pub(crate) const LEFT: f64 = 0.01;
/// How many Gauss-Newton steps a damped projection takes at most, and the least part of one.
const MOST_DAMPED: usize = 12;
const LEAST_PART: f64 = 1.0 / 64.0;
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

/// The findings and the effect of projecting a state of the system `S`.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Projected<S: FeedbackSystem, T: Scalar = f64> {
    /// F - F_target before the projection.
    pub violation: Integrals<S, T>,
    /// How far the projection moved the state: what was subtracted from it.
    pub correction: Vector<S, T>,
    /// The part that was left out of the projection, if any.
    pub left_out: Option<Omission>,
}

impl<S: FeedbackSystem, T: Scalar> Projected<S, T> {
    /// A projection that found and moved nothing.
    pub(crate) fn nothing() -> Self {
        let zero = T::from_f64(0.0);
        Self { violation: filled(zero), correction: filled(zero), left_out: None }
    }
}

/// A part that was left out of the projection after a step.
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
    /// No projection, damped or not, brought the integral ten times closer to its target: within the error of the step it is far from
    /// linear, as near a singularity of the coordinates. It was left out, and the state was projected onto the others, if there were
    /// others, and that brought them closer; else the step stands, and its end was moved onto the constraints alone.
    NotCloser,
    /// The integral or its gradient was not finite: at the start, which leaves it out of every projection, or after a step, whose
    /// projection was left out.
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
    rounding: Rounding<S, T>,
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
    /// F - F_target after the projection, where it was looked at.
    pub(crate) left: Integrals<S, T>,
}

impl<S: FeedbackSystem> Landing<S> {
    /// Of no step yet.
    pub(crate) fn nothing() -> Self {
        Self { end: filled(0.0), variances: filled(0.0), projected: Projected::nothing(), left: filled(0.0) }
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
    /// The size of the step.
    h: f64,
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
            Err(DoubtfulStep { end, variances, h, .. }) => {
                let projected;
                (*x, projected) = self.projected_anew(end, variances, h);
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
        Err(DoubtfulStep { end, variances: with_spikes(&mean, &squares), switching, h })
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
            *landing = self.settle(begin, DoubtfulStep { end, variances, switching: variances, h }, x);
        }
    }

    /// Looks at where a projection has moved the end of a step: what it has left of the violations, and whether that is a tenth, or
    /// rounding. Where all that there was is rounding, the end stays where it is.
    #[inline(always)]
    fn look(
        &self,
        noise: &Integrals<S>,
        end: &Vector<S>,
        x: &mut Vector<S>,
        projected: &mut Projected<S>,
    ) -> (Integrals<S>, bool) {
        let found = &projected.violation;
        if (0..Integrals::<S>::LEN).fold(true, |all, i| all & (found[i] * found[i] <= ROUNDING * noise[i])) {
            let left = *found;
            (*x, projected.correction) = (*end, filled(0.0));
            return (left, true);
        }
        let left = self.violation(x);
        (left, is_closer::<S>(found, &left, noise))
    }

    /// F - F_target.
    #[inline(always)]
    fn violation(&self, x: &Vector<S>) -> Integrals<S> {
        difference(&self.system.integrals(x), &self.targets)
    }

    /// Puts `x` where a step ends, and holds the integrals where they can be held from there.
    #[inline(always)]
    fn settle(&mut self, begin: &Vector<S>, doubt: DoubtfulStep<S>, x: &mut Vector<S>) -> Landing<S> {
        let (projected, variances, left);
        Settled { state: *x, targets: self.targets, noise: self.rounding.integrals, projected, variances, left } =
            self.settled(*begin, doubt);
        Landing { end: doubt.end, variances, projected, left }
    }

    /// Where a step ends about whose projection there is a doubt: projected, if that is usual after all, or in proportion to what the
    /// step errs by if forces switch within it, and brings the integrals closer, damped where that is needed; else projected onto all but
    /// the integrals that have jumped, or do not come closer, if that is in proportion; else on the constraint set.
    ///
    /// Everything is passed by value. If a function that is not inlined had the address of the projector or of the state, both would
    /// be stored and loaded again in every step, even where there is no doubt.
    #[cold]
    #[inline(never)]
    fn settled(mut self, begin: Vector<S>, doubt: DoubtfulStep<S>) -> Settled<S> {
        let DoubtfulStep { end, variances, switching, h } = doubt;
        let as_held = self.held(&variances, &end, h);
        if self.furthest(&as_held).is_usual() && self.is_closer(&as_held, h) {
            return as_held;
        }
        // Terms, and with them their rounding, may have grown since the start.
        let own = Rounding::<S>::of_integrals(&self.system, &end, &self.targets);
        let noise = self.rounding.integrals;
        self.rounding.integrals =
            Entries::from_fn(|i| if own[i] < UNBOUNDED { own[i].larger(noise[i]) } else { noise[i] });
        let as_held = self.held(&switching, &end, h);
        let is_in_proportion = self.furthest(&as_held).is_in_proportion();
        if is_in_proportion && self.is_closer(&as_held, h) {
            return as_held;
        }
        if !is_finite(&end) {
            return Settled { state: end, projected: Projected::nothing(), ..as_held };
        }
        let damped = is_in_proportion.then(|| self.damped(&as_held, &end, h)).flatten();
        let without_some = || {
            let jumped = self.without(&self.jumped(&begin, &end), LeftOutReason::Jump, &as_held, &end, h);
            let is_far = || self.without(&self.not_closer(&as_held, h), LeftOutReason::NotCloser, &as_held, &end, h);
            jumped.or_else(|| is_in_proportion.then(is_far).flatten())
        };
        damped.or_else(without_some).unwrap_or_else(|| self.on_constraints(&as_held, is_in_proportion, &end, h))
    }

    /// The end of a step, projected whatever comes of it.
    fn held(&self, variances: &Vector<S>, end: &Vector<S>, h: f64) -> Settled<S> {
        let mut state = *end;
        let mut projected = self.move_back(variances, &self.noise(h), &mut state);
        let (left, _) = self.look(&self.noise(h), end, &mut state, &mut projected);
        let (targets, noise) = (self.targets, self.rounding.integrals);
        Settled { state, targets, noise, projected, variances: *variances, left }
    }

    fn is_closer(&self, settled: &Settled<S>, h: f64) -> bool {
        is_closer::<S>(&settled.projected.violation, &settled.left, &self.noise(h))
    }

    /// The end of a step after Gauss-Newton steps, as many as lead closer to the targets, each a part of what the linearised equations say
    /// for as long as the whole leads further away. `None` if they do not bring every integral closer, or are not in proportion.
    fn damped(&self, as_held: &Settled<S>, end: &Vector<S>, h: f64) -> Option<Settled<S>> {
        let (noise, found) = (self.noise(h), as_held.projected.violation);
        let distance =
            |left: &Integrals<S>| -> f64 { (0..Integrals::<S>::LEN).map(|i| left[i] * left[i] / noise[i]).sum() };
        let (mut state, mut left) = (*end, found);
        for _ in 0..MOST_DAMPED {
            let way = self.correction(&as_held.variances, &noise, &state).correction;
            let here = distance(&left);
            let parts =
                core::iter::successors(Some(1.0), |part| Some(0.5 * part)).take_while(|part| *part >= LEAST_PART);
            let mut ends = parts.map(|part| {
                let next = Entries::from_fn(|i| state[i] - part * way[i]);
                (next, self.violation(&next))
            });
            let Some(closer) = ends.find(|(_, left)| distance(left) < here) else { break };
            (state, left) = closer;
        }
        let projected = Projected { correction: difference(end, &state), ..as_held.projected };
        let damped = Settled { state, projected, left, ..*as_held };
        (is_closer::<S>(&found, &left, &noise) && self.furthest(&damped).is_in_proportion()).then_some(damped)
    }

    /// The energies and invariants that jump in a step.
    fn jumped(&self, begin: &Vector<S>, end: &Vector<S>) -> Integrals<S, bool> {
        let mut jumped: Integrals<S, bool> = Entries::from_fn(|_| false);
        let facts = self.facts();
        find_jumps(&self.system, facts.of_state::<S, _>(begin), facts.of_state::<S, _>(end), jumped.as_mut());
        jumped
    }

    /// The energies and invariants that a projection does not bring closer, if constraints come closer.
    fn not_closer(&self, settled: &Settled<S>, h: f64) -> Integrals<S, bool> {
        let (found, noise, integrals) = (&settled.projected.violation, self.noise(h), self.facts().integrals);
        let is_far = |i: usize| !comes_closer(found[i], settled.left[i], noise[i]);
        let is_constraint = |i: usize| integrals.get(i).is_some_and(|integral| integral.kind.is_constraint());
        let are_some_constraints = (0..Integrals::<S>::LEN).any(|i| is_far(i) && is_constraint(i));
        Entries::from_fn(|i| is_far(i) && !are_some_constraints)
    }

    /// The end of a step, projected onto all but some integrals, which are held where they are there; if there are some, and if that is in
    /// proportion and brings the others closer.
    fn without(
        &self,
        some: &Integrals<S, bool>,
        reason: LeftOutReason,
        as_held: &Settled<S>,
        end: &Vector<S>,
        h: f64,
    ) -> Option<Settled<S>> {
        let integral = (0..Integrals::<S>::LEN).find(|&i| some[i])?;
        let integrals = Entries::from_fn(|i| if some[i] { UNBOUNDED } else { self.rounding.integrals[i] });
        let others = Self { rounding: Rounding { integrals, ..self.rounding }, ..*self };
        let found = others.held(&as_held.variances, end, h);
        if !(self.furthest(&found).is_in_proportion() && others.is_closer(&found, h)) {
            return None;
        }
        let violation = &found.projected.violation;
        let targets = Entries::from_fn(|i| self.targets[i] + if some[i] { violation[i] } else { 0.0 });
        let projected = Projected { left_out: Some(Omission { integral, reason }), ..found.projected };
        let left = Self { targets, ..*self }.violation(&found.state);
        Some(Settled { targets, noise: self.rounding.integrals, projected, left, ..found })
    }

    /// The end of a step on the constraint set, where energies and invariants are held at the level that they have there.
    fn on_constraints(&self, as_held: &Settled<S>, is_in_proportion: bool, end: &Vector<S>, h: f64) -> Settled<S> {
        let facts = self.facts();
        let state = onto_constraints::<S>(&self.system, end).unwrap_or(*end);
        let targets = targets::<S, f64>(&self.system, &state);
        let own = Rounding::<S>::of_integrals(&self.system, &state, &targets);
        let has_no_say = |i: usize| self.rounding.integrals[i] >= UNBOUNDED;
        let own = Entries::from_fn(|i| if has_no_say(i) { UNBOUNDED } else { own[i] });
        let noise = self.noise(h);
        let held = [self.targets.as_ref(), noise.as_ref()];
        let worst = worst(&self.system, held, facts.of_state::<S, _>(&as_held.variances), facts.of_state::<S, _>(end));
        let not_closer = self.not_closer(as_held, h);
        let integral = (0..Integrals::<S>::LEN).find(|&i| not_closer[i]).unwrap_or(worst.integral);
        let reason = match worst.reason {
            LeftOutReason::OutOfProportion if is_in_proportion => {
                Omission { integral, reason: LeftOutReason::NotCloser }
            }
            _ => worst,
        };
        let (correction, left_out) = (difference(end, &state), Some(reason));
        let left = Self { targets, ..*self }.violation(&state);
        let projected = Projected { correction, left_out, ..as_held.projected };
        Settled { state, targets, noise: own, projected, left, variances: as_held.variances }
    }

    /// The projection of the end of a step, once more. By value, as in [`settled`](Self::settled).
    #[cold]
    #[inline(never)]
    fn projected_anew(self, end: Vector<S>, variances: Vector<S>, h: f64) -> (Vector<S>, Projected<S>) {
        let mut state = end;
        let projected = self.move_back(&variances, &self.noise(h), &mut state);
        (state, projected)
    }

    /// The entry that the projection of the end of a step moved furthest.
    fn furthest(&self, settled: &Settled<S>) -> Move {
        let Settled { state, projected, variances, .. } = settled;
        let facts = self.facts();
        furthest(
            facts.state,
            facts.of_state::<S, _>(&projected.correction),
            facts.of_state::<S, _>(variances),
            facts.of_state::<S, _>(state),
        )
    }

    /// F_target, and R but for what the field adds to it.
    pub(crate) fn onto(&self) -> [&Integrals<S>; 2] {
        [&self.targets, &self.rounding.integrals]
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
#[derive_where(Clone, Copy)]
struct Settled<S: FeedbackSystem> {
    state: Vector<S>,
    targets: Integrals<S>,
    noise: Integrals<S>,
    projected: Projected<S>,
    /// The diagonal of S in the projection.
    variances: Vector<S>,
    /// F - F_target after the projection.
    left: Integrals<S>,
}

/// Whether a projection has left a tenth of each violation at most, or rounding.
#[inline(always)]
fn is_closer<S: FeedbackSystem>(found: &Integrals<S>, left: &Integrals<S>, noise: &Integrals<S>) -> bool {
    (0..Integrals::<S>::LEN).fold(true, |all, i| all & comes_closer(found[i], left[i], noise[i]))
}

#[inline(always)]
fn comes_closer(found: f64, left: f64, noise: f64) -> bool {
    left * left <= (LEFT * found * found).larger(ROUNDING * noise)
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
        (further, *x) = self.iterate_further(*variances, *noise, *x);
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
    /// copy of the generated code at every call. By value, as in [`settle`](Self::settle).
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
        let held = self.held(&self.mean, x, 0.0);
        if self.furthest(&held).is_in_proportion() && self.is_closer(&held, 0.0) {
            *x = held.state;
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

    /// A mark that stays where it is, with invariants that are far from linear.
    #[feedback_system(
        state(x, y),
        dynamics(x = 0 * x, y = 0 * y),
        invariant(square = x.powi(2), bend = y / (1 + y.powi(2)).sqrt()),
        crate = crate,
    )]
    struct Mark;

    fn landing_of(x: &mut [f64; 2], targets: [f64; 2]) -> Landing<Mark> {
        let (begin, mut landing) = (*x, Landing::nothing());
        let mut projector = Projector::new(&Mark, &[1.0, 1.0], targets, Projection::default());
        projector.land(&begin, &[1e3; 2], 1.0, x, &mut landing);
        landing
    }

    /// The full step from y = 3 leads to -27, where y / sqrt(1 + y^2) is further from 0.
    #[test]
    fn a_projection_that_leads_further_away_is_damped() {
        let mut x = [1.0, 3.0];
        let landing = landing_of(&mut x, [1.0, 0.0]);
        assert_eq!(landing.projected.left_out, None);
        assert!(x[1].abs() < 0.1 && landing.left[1].abs() < 0.1 * landing.projected.violation[1], "{x:?}");
    }

    /// From x = 1e-6, no part of the step towards x^2 = 1 down to a sixty-fourth leads nearer.
    #[test]
    fn an_integral_that_no_projection_brings_closer_is_left_out_alone() {
        let mut x = [1e-6, 0.1];
        let landing = landing_of(&mut x, [1.0, 0.0]);
        let omission = Omission { integral: 0, reason: LeftOutReason::NotCloser };
        assert_eq!(landing.projected.left_out, Some(omission));
        assert!(x[0] == 1e-6 && x[1].abs() < 0.01, "{x:?}");
    }

    /// A violation that the errors of a step do not explain moves the state onto the constraints, and the energy is held there.
    #[test]
    fn a_projection_out_of_proportion_is_left_out() {
        let start: [f64; 6] = OnSphereState { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] }.into();
        let off = start.map(|entry| entry + 1e-3);
        // No error at all, one whose square is 0 in doubles, one below rounding, and one in p alone while q violates the length.
        for error in [[0.0; 6], [1e-170; 6], [1e-40; 6], [0.0, 0.0, 0.0, 1e-3, 1e-3, 1e-3]] {
            let mut projector = Projector::new(&OnSphere, &start, [0.0, 0.0, 1.0], Projection::default());
            let (mut x, mut landing) = (off, Landing::nothing());
            projector.land(&start, &error, 1e-3, &mut x, &mut landing);
            let omission = landing.projected.left_out.expect("a projection that is left out");
            assert_eq!(omission.reason, LeftOutReason::OutOfProportion, "{error:?}");
            let integrals = OnSphere.prepare().integrals(&x);
            assert!(integrals[0].abs() < 1e-14 && integrals[1].abs() < 1e-14, "{integrals:?}");
            assert!((integrals[2] - 1.0).abs() > 1e-4 && (projector.targets[2] - integrals[2]).abs() < 1e-14);
        }
    }
}
