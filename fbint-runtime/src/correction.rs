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
//! than the quadratic error that Gauss-Newton leaves anyway.
//!
//! Nothing allocates, and the number of iterations is fixed.

use core::array;
use core::cell::Cell;

use nalgebra::{ArrayStorage, SVector};

use crate::tableau::Tableau;
use crate::{FeedbackLaw, FeedbackSystem, PreparedSystem, Scalar};

/// The weight of the last step in the running mean of e^2.
const LAST: f64 = 0.1;
/// How many entries of the state one integral can speak for.
#[cfg(feature = "std")]
const ENTRIES_PER_INTEGRAL: usize = 12;
/// What counts as rounding of an entry of the state, in roundings.
const ROUNDINGS: f64 = 1024.0;
/// The least entry of R: it is positive, and so is the product of two of them.
pub(crate) const LEAST_NOISE: f64 = 1e-140;

/// A projection of the state after each step onto the level set of all integrals, in a fixed number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction {
    iterations: u32,
}

impl Correction {
    /// One iteration, which is enough unless steps are so long that F is far from linear over a step's violation.
    pub const fn once() -> Self {
        Self { iterations: 1 }
    }

    /// What a run does for which nothing is chosen: one iteration, unless the state has more than twelve entries for each integral.
    ///
    /// An integral says one thing about the error of a step. Shared out among many entries, some of which hardly err, what it says
    /// does more harm than good: with the energy of a molecule or of a planetary system alone declared, the bodies that plain
    /// steps follow best end further from the truth.
    #[cfg(feature = "std")]
    pub(crate) const fn by_default<const N: usize, const M: usize>() -> Self {
        if N <= ENTRIES_PER_INTEGRAL * M { Self::once() } else { Self::times(0) }
    }

    /// A number of iterations, where 0 is no correction; each squares what violation is left, so that more than 3 are never of use.
    pub const fn times(iterations: u32) -> Self {
        Self { iterations }
    }
}

/// What a projection found and did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projected<T, const N: usize, const M: usize> {
    /// F - F_target before it.
    pub violation: SVector<T, M>,
    /// By how much it moved the state: what was subtracted from it.
    pub correction: SVector<T, N>,
}

/// The steps of a run that projects the state after each.
///
/// It remembers the sizes of the errors, and the derivative where the last step ended, with which the next step begins.
#[derive(Clone, Copy, Debug)]
pub struct Projector<P, T, const N: usize, const M: usize> {
    system: P,
    targets: SVector<T, M>,
    noise: SVector<T, M>,
    iterations: u32,
    /// The diagonal of S, once a step has been made.
    variances: Option<SVector<T, N>>,
    /// f where the last step ended, before its end was projected.
    derivative: Option<SVector<T, N>>,
}

impl<P: PreparedSystem<N, M>, const N: usize, const M: usize> Projector<P, f64, N, M> {
    /// Steps of a run of `system` that starts at `start`, with projections onto F = `targets`.
    pub fn new<S: FeedbackSystem<N, M, Prepared = P>>(
        system: &S,
        start: &SVector<f64, N>,
        targets: SVector<f64, M>,
        correction: Correction,
    ) -> Self {
        Self::of(system.prepare(), targets, noise(system, start, &targets), correction)
    }
}

impl<P: PreparedSystem<N, M>, T: Scalar, const N: usize, const M: usize> Projector<P, T, N, M> {
    /// Steps of a system that is prepared, or of several side by side, with the variances of rounding in the integrals.
    pub(crate) fn of(system: P, targets: SVector<T, M>, noise: SVector<T, M>, correction: Correction) -> Self {
        Self { system, targets, noise, iterations: correction.iterations, variances: None, derivative: None }
    }

    /// One step of size `h` along x' = `field`(x), whose end is projected.
    ///
    /// f is evaluated where the step ends, for the estimate of its error, and once more before the first step; the next step begins
    /// with that value, although its start has been projected since: it is off by the size of a step's error, and what comes of
    /// it by that times h.
    #[inline(always)]
    pub fn step<const S: usize>(
        &mut self,
        method: &Tableau<S>,
        field: impl Fn(&SVector<T, N>) -> SVector<T, N>,
        x: &mut SVector<T, N>,
        h: T,
    ) -> Projected<T, N, M> {
        let first = self.derivative.unwrap_or_else(|| field(x));
        let (error, end) = method.step_with_error(field, x, h, first);
        self.derivative = Some(end);
        self.project(&error, x)
    }

    /// Projects the state `x` that a step with this error ended at.
    #[inline(always)]
    pub fn project(&mut self, error: &SVector<T, N>, x: &mut SVector<T, N>) -> Projected<T, N, M> {
        let variances = self.variances_after(error);
        // Those of the steps before, so that nothing waits for the error of this one.
        let known = self.variances.replace(variances).unwrap_or(variances);
        self.move_back(&known, x)
    }

    /// The diagonal of S after a step with this error.
    #[inline(always)]
    fn variances_after(&self, error: &SVector<T, N>) -> SVector<T, N> {
        let squares = vector(array::from_fn(|i| error[i] * error[i]));
        let Some(mean) = self.variances else { return squares };
        vector(array::from_fn(|i| T::from_f64(LAST).mul_add(squares[i] - mean[i], mean[i])))
    }

    #[inline(always)]
    fn move_back(&self, variances: &SVector<T, N>, x: &mut SVector<T, N>) -> Projected<T, N, M> {
        let mut projected = self.iterate(variances, x);
        for _ in 1..self.iterations {
            let further = self.iterate_again(variances, x);
            projected.correction = vector(array::from_fn(|i| projected.correction[i] + further.correction[i]));
        }
        projected
    }

    #[inline(always)]
    fn iterate(&self, variances: &SVector<T, N>, x: &mut SVector<T, N>) -> Projected<T, N, M> {
        let violation = Violation { targets: &self.targets, found: Cell::new([T::from_f64(0.0); M]) };
        let correction = self.system.correction(x, variances, &self.noise, &violation);
        *x = vector(array::from_fn(|i| x[i] - correction[i]));
        Projected { violation: vector(violation.found.get()), correction }
    }

    /// The second and later iterations, which are hardly ever needed: not worth a copy of the generated code at every call.
    #[inline(never)]
    fn iterate_again(&self, variances: &SVector<T, N>, x: &mut SVector<T, N>) -> Projected<T, N, M> {
        self.iterate(variances, x)
    }

    /// What is remembered of the steps so far: the diagonal of S, and the derivative.
    #[cfg(feature = "std")]
    pub(crate) fn memory(&self) -> [Option<&SVector<T, N>>; 2] {
        [self.variances.as_ref(), self.derivative.as_ref()]
    }

    #[cfg(feature = "std")]
    pub(crate) fn remember(&mut self, [variances, derivative]: [Option<SVector<T, N>>; 2]) {
        (self.variances, self.derivative) = (variances, derivative);
    }
}

impl<P: PreparedSystem<N, M>, const N: usize, const M: usize> Projector<P, f64, N, M> {
    /// Does what [`project`](Self::project) does, and says how far it moved the state; leaves everything as it was where that is
    /// [out of proportion](Move::is_in_proportion).
    pub(crate) fn project_in_proportion(
        &mut self,
        error: &SVector<f64, N>,
        x: &mut SVector<f64, N>,
    ) -> Option<(Projected<f64, N, M>, Move)> {
        let (before, end) = (self.variances, *x);
        let projected = self.project(error, x);
        let furthest = self.furthest(&projected, x);
        if furthest.is_in_proportion() {
            return Some((projected, furthest));
        }
        (self.variances, *x) = (before, end);
        None
    }

    /// The entry of the state that the last projection moved furthest in units of its error. What is within a thousand roundings
    /// of the entry is rounding.
    pub(crate) fn furthest(&self, projected: &Projected<f64, N, M>, x: &SVector<f64, N>) -> Move {
        let variances = self.variances.unwrap_or_else(SVector::zeros);
        let (mut entry, mut largest) = (0, 0.0);
        for i in 0..N {
            let rounding = ROUNDINGS * f64::EPSILON * x[i];
            let square = projected.correction[i] * projected.correction[i] / (variances[i] + rounding * rounding);
            // What is not a number is out of all proportion, unless nothing was moved.
            if square > largest || (square.is_nan() && projected.correction[i] != 0.0) {
                (entry, largest) = (i, if square.is_nan() { f64::INFINITY } else { square });
            }
        }
        let distance = projected.correction.get(entry).map_or(0.0, |distance| distance.abs());
        Move { entry, distance, per_error: Scalar::sqrt(largest) }
    }
}

/// By how much a projection moved the entry of the state that it moved furthest.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only simulations report the entry and the distance"))]
pub(crate) struct Move {
    pub(crate) entry: usize,
    pub(crate) distance: f64,
    /// That distance in units of the error of a step.
    pub(crate) per_error: f64,
}

impl Move {
    /// A projection that moves an entry by more than a thousand times the error of the step is not a correction of that error: the
    /// step has left the range in which its error and the linearised integrals mean anything.
    pub(crate) fn is_in_proportion(&self) -> bool {
        self.per_error <= 1000.0
    }
}

/// The variance of rounding in each integral: what it changes by where every entry of the state is rounded, and its own.
pub(crate) fn noise<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S,
    start: &SVector<f64, N>,
    targets: &SVector<f64, M>,
) -> SVector<f64, M> {
    let jacobian = system.integrals_jacobian(start);
    vector(array::from_fn(|i| {
        let squares = (0..N).fold(targets[i] * targets[i], |sum, j| {
            let term = jacobian[(i, j)] * start[j];
            sum + term * term
        });
        let noise = f64::EPSILON * f64::EPSILON * squares;
        // Where the start is not a number, a run does not begin.
        if noise > LEAST_NOISE { noise } else { LEAST_NOISE }
    }))
}

/// y = F - F_target, which the generated step takes from a law, and which is kept.
struct Violation<'a, T, const M: usize> {
    targets: &'a SVector<T, M>,
    found: Cell<[T; M]>,
}

impl<T: Scalar, const N: usize, const M: usize> FeedbackLaw<T, N, M> for Violation<'_, T, M> {
    const HAS_METRIC: bool = false;

    #[inline]
    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        let violation = array::from_fn(|i| integrals[i] - self.targets[i]);
        self.found.set(violation);
        violation
    }

    #[inline]
    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        gradient
    }
}

#[inline]
fn vector<T, const D: usize>(entries: [T; D]) -> SVector<T, D> {
    SVector::from_array_storage(ArrayStorage([entries]))
}
