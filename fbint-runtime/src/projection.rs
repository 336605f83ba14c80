//! The projection method (HLW06 IV.4): after a step, x moves back towards the set where every integral has its target.
//!
//! One iteration is one Gauss-Newton step, x -= S DF^T (DF S DF^T + R)^-1 (F - F_target). Of all steps d that solve the
//! linearised equations it is the one with the least d^T S^-1 d. S = diag(e_1^2, .., e_N^2), where e_i is the method's own estimate
//! of its error in entry i, as a running mean over about ten steps before: an estimate that passes 0 says little about the size of the
//! error. R = diag(r_1^2, .., r_M^2), where r_i is the rounding error of integral i at the start. If the error of a step has mean 0 and
//! covariance S, and F is known up to R, the projection subtracts the best linear estimate of that error.
//!
//! Nothing in it has a unit, so that a change of units changes no trajectory but by rounding. An entry without an error, such as
//! a clock, stays where it is; an integral that depends on such entries alone is left as it is. R keeps rounding from being
//! taken for an error of the method where integrals are nearly dependent: there a violation of the size of rounding would move
//! the state by much more than the step erred.
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

use crate::entries::Entries;
use crate::linear::{difference, filled};
use crate::scalar::Scalar;
use crate::system::{FeedbackLaw, FeedbackSystem, Integrals, PreparedSystem, Vector};
use crate::tableau::Tableau;

/// The weight of the last step in the running mean of e^2.
pub(crate) const LAST: f64 = 0.1;
/// How many entries of the state one integral can speak for.
#[cfg(feature = "std")]
const ENTRIES_PER_INTEGRAL: usize = 12;
/// What counts as rounding of an entry of the state, in roundings.
pub(crate) const ROUNDINGS: f64 = 1024.0;
/// The least entry of R: it is positive, and so is the product of two of them.
pub(crate) const LEAST_NOISE: f64 = 1e-140;

/// A projection of the state after each step onto the level set of all integrals, in a fixed number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Projection {
    iterations: NonZeroU32,
}

/// One iteration, which is enough unless steps are so long that F is far from linear over a step's violation.
impl Default for Projection {
    fn default() -> Self {
        Self { iterations: NonZeroU32::MIN }
    }
}

impl Projection {
    /// A number of iterations; each squares what is left of the violation, so that more than 3 are never of use.
    pub const fn iterations(iterations: NonZeroU32) -> Self {
        Self { iterations }
    }

    /// What a run of the system `S` does for which nothing is chosen: one iteration, unless the state has more than twelve entries
    /// for each integral.
    ///
    /// An integral says one thing about the error of a step. Shared out among many entries, some of which hardly err, what it says
    /// does more harm than good: with the energy of a molecule or of a planetary system alone declared, the bodies that plain
    /// steps follow best end further from the truth.
    #[cfg(feature = "std")]
    pub fn by_default<S: FeedbackSystem>() -> Option<Self> {
        (S::STATE.len() <= ENTRIES_PER_INTEGRAL * S::INTEGRALS.len()).then(Self::default)
    }
}

/// What a projection of a state of the system `S` found and did.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Projected<S: FeedbackSystem, T: Scalar = f64> {
    /// F - F_target before the projection.
    pub violation: Integrals<S, T>,
    /// How far the projection moved the state: what was subtracted from it.
    pub correction: Vector<S, T>,
}

impl<S: FeedbackSystem, T: Scalar> Projected<S, T> {
    /// A projection that found and moved nothing.
    pub(crate) fn nothing() -> Self {
        let zero = T::from_f64(0.0);
        Self { violation: filled(zero), correction: filled(zero) }
    }
}

/// The steps of a run of the system `S` that projects the state after each, in numbers of type `T`.
///
/// It remembers the sizes of the errors, and the derivative where the last step ended, with which the next step begins.
#[derive_where(Clone, Copy, Debug)]
pub struct Projector<S: FeedbackSystem, T: Scalar = f64> {
    system: S::Prepared<T>,
    targets: Integrals<S, T>,
    noise: Integrals<S, T>,
    iterations: u32,
    /// The diagonal of S, once a step has been made.
    variances: Option<Vector<S, T>>,
    /// f where the last step ended, before its end was projected.
    derivative: Option<Vector<S, T>>,
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

    /// F_target, and R.
    pub(crate) fn onto(&self) -> [&Integrals<S>; 2] {
        [&self.targets, &self.noise]
    }

    /// How many iterations a projection has.
    pub(crate) fn iterations(&self) -> u32 {
        self.iterations
    }
}

/// What a step with a projection is made of.
pub(crate) struct ProjectedStep<S: FeedbackSystem, T: Scalar, const STAGES: usize> {
    pub(crate) projected: Projected<S, T>,
    pub(crate) stages: [Vector<S, T>; STAGES],
    /// Where the step ended before its end was projected.
    pub(crate) end: Vector<S, T>,
    /// f there.
    pub(crate) derivative: Vector<S, T>,
    /// The diagonal of S in the projection.
    pub(crate) variances: Vector<S, T>,
}

impl<S: FeedbackSystem, T: Scalar> Projector<S, T> {
    /// Steps of a prepared system, or of several side by side, with the variances of rounding in the integrals.
    pub(crate) fn of(
        system: S::Prepared<T>,
        targets: Integrals<S, T>,
        noise: Integrals<S, T>,
        projection: Projection,
    ) -> Self {
        Self { system, targets, noise, iterations: projection.iterations.get(), variances: None, derivative: None }
    }

    /// One step of size `h` along x' = `field`(x), whose end is projected.
    ///
    /// f is evaluated where the step ends, for the estimate of its error, and the next step begins with that value, although its start
    /// has been projected since: the value is off by the size of a step's error, and its effect by that times h. The first step
    /// takes two evaluations more, one to begin with and one to know its own error.
    #[inline(always)]
    pub fn step<const STAGES: usize>(
        &mut self,
        method: &Tableau<STAGES>,
        field: impl Fn(&Vector<S, T>) -> Vector<S, T>,
        x: &mut Vector<S, T>,
        h: T,
    ) -> Projected<S, T> {
        self.advance(method, field, x, h).projected
    }

    /// Does what [`step`](Self::step) does, and returns all of it.
    #[inline(always)]
    pub(crate) fn advance<const STAGES: usize>(
        &mut self,
        method: &Tableau<STAGES>,
        field: impl Fn(&Vector<S, T>) -> Vector<S, T>,
        x: &mut Vector<S, T>,
        h: T,
    ) -> ProjectedStep<S, T, STAGES> {
        let first = self.derivative.unwrap_or_else(|| field(x));
        let stages = method.stages(&field, x, h, first);
        let end = *x;
        let error = |derivative: &Vector<S, T>| method.error(&stages, derivative, h);
        // The first step has to know its own error.
        let variances = self.variances.unwrap_or_else(|| self.variances_after(&error(&field(&end))));
        let projected = self.move_back(&variances, x);
        // After the projection, for which the next step waits.
        let derivative = field(&end);
        self.variances = Some(self.variances_after(&error(&derivative)));
        self.derivative = Some(derivative);
        ProjectedStep { projected, stages, end, derivative, variances }
    }

    /// Projects the state `x` that a step with this error ended at.
    #[inline(always)]
    pub fn project(&mut self, error: &Vector<S, T>, x: &mut Vector<S, T>) -> Projected<S, T> {
        let variances = self.variances_after(error);
        // The variances of the steps before, so that nothing waits for the error of this one.
        let known = self.variances.replace(variances).unwrap_or(variances);
        self.move_back(&known, x)
    }

    /// The diagonal of S after a step with this error.
    #[inline(always)]
    fn variances_after(&self, error: &Vector<S, T>) -> Vector<S, T> {
        let squares: Vector<S, T> = Entries::from_fn(|i| error[i] * error[i]);
        let Some(mean) = self.variances else { return squares };
        mean_with(&mean, &squares)
    }

    #[inline(always)]
    pub(crate) fn move_back(&self, variances: &Vector<S, T>, x: &mut Vector<S, T>) -> Projected<S, T> {
        let projected = self.iterate(variances, x);
        if self.iterations <= 1 {
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
        let violation = Violation::<S, T> { targets: &self.targets, found: Cell::new(filled(T::from_f64(0.0))) };
        let correction = self.system.projection(x, variances, &self.noise, &violation);
        Projected { violation: violation.found.get(), correction }
    }

    #[inline(always)]
    fn iterate(&self, variances: &Vector<S, T>, x: &mut Vector<S, T>) -> Projected<S, T> {
        let projected = self.correction(variances, x);
        *x = difference(x, &projected.correction);
        projected
    }

    /// The second and later iterations from `x`: what they subtract, and where they end. They are hardly ever needed, and not worth a
    /// copy of the generated code at every call.
    ///
    /// Everything is passed by value. If a function that is not inlined had the address of the projector or of the state, both would
    /// be stored and loaded again in every step, even where there is one iteration.
    #[cold]
    #[inline(never)]
    fn iterate_further(self, variances: Vector<S, T>, mut x: Vector<S, T>) -> (Vector<S, T>, Vector<S, T>) {
        let mut sum: Vector<S, T> = filled(T::from_f64(0.0));
        for _ in 1..self.iterations {
            let correction = self.iterate(&variances, &mut x).correction;
            sum = Entries::from_fn(|i| sum[i] + correction[i]);
        }
        (sum, x)
    }

    /// What is remembered of the steps so far: the diagonal of S, and the derivative.
    pub(crate) fn memory(&self) -> [Option<&Vector<S, T>>; 2] {
        [self.variances.as_ref(), self.derivative.as_ref()]
    }

    /// Forgets f where the last step ended: the next step begins with another field.
    #[cfg(feature = "std")]
    pub(crate) fn forget_derivative(&mut self) {
        self.derivative = None;
    }

    pub(crate) fn remember(&mut self, [variances, derivative]: [Option<Vector<S, T>>; 2]) {
        (self.variances, self.derivative) = (variances, derivative);
    }
}

impl<S: FeedbackSystem> Projector<S> {
    /// Begins anew at a state that sets these targets. How large the errors are is still remembered.
    #[cfg(feature = "std")]
    pub(crate) fn start_at(&mut self, start: &Vector<S>, targets: Integrals<S>) {
        (self.targets, self.noise) = (targets, noise::<S>(&self.system, start, &targets));
        self.derivative = None;
    }

    /// Projects a state within the last step in the metric after it, and remembers nothing of that.
    #[cfg(feature = "std")]
    pub(crate) fn project_within(&self, x: &mut Vector<S>) {
        self.move_back(&self.variances.unwrap_or(filled(0.0)), x);
    }

    /// Does what [`project`](Self::project) does, and returns how far it moved the state; leaves everything as it was where that is
    /// [out of proportion](Move::is_in_proportion).
    pub(crate) fn project_in_proportion(
        &mut self,
        error: &Vector<S>,
        x: &mut Vector<S>,
    ) -> Option<(Projected<S>, Move)> {
        let (before, end) = (self.variances, *x);
        let projected = self.project(error, x);
        let furthest = self.furthest(&projected, x);
        if furthest.is_in_proportion() {
            return Some((projected, furthest));
        }
        (self.variances, *x) = (before, end);
        None
    }

    /// How far the last projection moved the state, in units of the error of a step.
    pub(crate) fn furthest(&self, projected: &Projected<S>, x: &Vector<S>) -> Move {
        furthest::<S>(&projected.correction, &self.variances.unwrap_or(filled(0.0)), x)
    }
}

/// The running mean of squared errors with those of one more step.
#[inline(always)]
pub(crate) fn mean_with<V: Entries<T>, T: Scalar>(mean: &V, squares: &V) -> V {
    V::from_fn(|i| T::from_f64(LAST).mul_add(squares[i] - mean[i], mean[i]))
}

/// The entry of the state `x` that a projection moved furthest in units of its error. What is within a thousand roundings
/// of the entry is rounding, or of the vector that it belongs to: where a reaction keeps an entry at 0, what it errs by is rounding of
/// the others.
pub(crate) fn furthest<S: FeedbackSystem>(correction: &Vector<S>, variances: &Vector<S>, x: &Vector<S>) -> Move {
    let furthest = furthest_of(correction, variances, |i| x[i].abs());
    if furthest.is_in_proportion() {
        return furthest;
    }
    furthest_of(correction, variances, |i| size_of_vector::<S>(x, i))
}

/// The same, where each entry is rounded relative to its size.
fn furthest_of<V: Entries<f64>>(correction: &V, variances: &V, size: impl Fn(usize) -> f64) -> Move {
    let (mut entry, mut largest) = (0, 0.0);
    for i in 0..V::LEN {
        let rounding = ROUNDINGS * f64::EPSILON * size(i);
        let square = correction[i] * correction[i] / (variances[i] + rounding * rounding);
        // What is not a number is out of all proportion, unless nothing was moved.
        if square > largest || (square.is_nan() && correction[i] != 0.0) {
            (entry, largest) = (i, if square.is_nan() { f64::INFINITY } else { square });
        }
    }
    let distance = correction.as_ref().get(entry).map_or(0.0, |distance| distance.abs());
    Move { entry, distance, per_error: Scalar::sqrt(largest) }
}

/// The largest entry of the variable that an entry of the state belongs to: they have one unit.
fn size_of_vector<S: FeedbackSystem>(x: &Vector<S>, i: usize) -> f64 {
    let variable = |i: usize| S::STATE.get(i).and_then(|entry| entry.name.split('[').next());
    let own = variable(i);
    let entries = x.as_ref().iter().enumerate().filter(|(j, _)| variable(*j) == own);
    entries.fold(0.0, |largest: f64, (_, entry)| largest.max(entry.abs()))
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
    /// No move.
    pub(crate) const NONE: Self = Self { entry: 0, distance: 0.0, per_error: 0.0 };

    /// A projection that moves an entry by more than a thousand times the error of the step is not a correction of that error: the
    /// step has left the range in which its error and the linearised integrals mean anything.
    pub(crate) fn is_in_proportion(&self) -> bool {
        self.per_error <= 1000.0
    }
}

/// The variance of rounding in each integral: what it changes by where every entry of the state is rounded, and its own.
pub(crate) fn noise<S: FeedbackSystem>(
    system: &S::Prepared<f64>,
    start: &Vector<S>,
    targets: &Integrals<S>,
) -> Integrals<S> {
    let jacobian = system.integrals_jacobian(start);
    Entries::from_fn(|i| {
        let terms = jacobian[i].as_ref().iter().zip(start.as_ref()).map(|(derivative, entry)| derivative * entry);
        let squares = terms.fold(targets[i] * targets[i], |sum, term| sum + term * term);
        let noise = f64::EPSILON * f64::EPSILON * squares;
        // Where the start is not a number, a run does not begin.
        if noise > LEAST_NOISE { noise } else { LEAST_NOISE }
    })
}

/// y = F - F_target, which the generated step takes from a law, and which is kept.
struct Violation<'a, S: FeedbackSystem, T: Scalar> {
    targets: &'a Integrals<S, T>,
    found: Cell<Integrals<S, T>>,
}

impl<S: FeedbackSystem, T: Scalar> FeedbackLaw<S, T> for Violation<'_, S, T> {
    #[inline]
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        let violation = difference(&integrals, self.targets);
        self.found.set(violation);
        violation
    }
}
