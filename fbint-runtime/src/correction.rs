//! The projection method (HLW06 IV.4): after a step, x moves back towards the set where every integral has its target.
//!
//! One iteration is one Gauss-Newton step, x -= S DF^T (DF S DF^T + e D)^-1 (F - F_target). Of all steps d that solve the
//! linearised equations it is the one with the least d^T S^-1 d, and S = diag(e_1^2, .., e_N^2) with e_i the method's own
//! estimate of the error that the step made in entry i. If the error of the step has mean 0 and covariance S, the projection
//! subtracts the best linear estimate of it, once F is known. Nothing in it has a unit, so that a change of units changes no
//! trajectory, and an entry without an error, such as a clock, stays where it is.
//!
//! D is the diagonal of DF S DF^T, so that the damping e has no unit either. DF S^1/2 loses rank at relative equilibria (the conical
//! pendulum, the circular orbit), where integrals are dependent, and where fewer entries have an error than there are integrals.
//! There the damping keeps DF S DF^T + e D positive definite and what cannot be corrected from throwing the state far;
//! elsewhere an iteration leaves a part e / sigma^2 of the violation, with sigma the least singular value of DF S^1/2 with rows of
//! length 1, which is less than the quadratic error that Gauss-Newton leaves anyway. An integral that depends on entries without
//! an error alone is left as it is: no entry of the state that it depends on has moved but by exact arithmetic.
//!
//! Nothing allocates, and the number of iterations is fixed.

use core::array;
use core::cell::Cell;

use nalgebra::{ArrayStorage, SVector};

use crate::{Constant, FeedbackLaw, PreparedSystem, Scalar};

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

    /// A number of iterations, where 0 is no correction; each squares what violation is left, so that more than 3 are never of use.
    pub const fn times(iterations: u32) -> Self {
        Self { iterations }
    }

    /// Moves `x` towards F = `targets`, where S = diag(`error`)^2. Returns F - F_target as it was before.
    #[inline(always)]
    pub fn apply<T: Scalar, C: Constant, P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        &self,
        system: &P,
        targets: &SVector<C, M>,
        error: &SVector<T, N>,
        x: &mut SVector<T, N>,
    ) -> SVector<T, M> {
        let variances = vector(array::from_fn(|i| error[i] * error[i]));
        let before = iterate(system, targets, &variances, x);
        for _ in 1..self.iterations {
            iterate_again(system, targets, &variances, x);
        }
        before
    }
}

/// One iteration, which returns the violation that it found.
#[inline(always)]
fn iterate<T: Scalar, C: Constant, P: PreparedSystem<N, M>, const N: usize, const M: usize>(
    system: &P,
    targets: &SVector<C, M>,
    variances: &SVector<T, N>,
    x: &mut SVector<T, N>,
) -> SVector<T, M> {
    let violation = Violation { targets, found: Cell::new([T::from_f64(0.0); M]) };
    let correction = system.correction(x, variances, &violation);
    *x = vector(array::from_fn(|i| x[i] - correction[i]));
    vector(violation.found.get())
}

/// The second and later iterations, which hardly anybody needs: not worth a copy of the generated code at every call.
#[inline(never)]
fn iterate_again<T: Scalar, C: Constant, P: PreparedSystem<N, M>, const N: usize, const M: usize>(
    system: &P,
    targets: &SVector<C, M>,
    variances: &SVector<T, N>,
    x: &mut SVector<T, N>,
) {
    iterate(system, targets, variances, x);
}

/// y = F - F_target, which the generated step takes from a law, and which is kept.
struct Violation<'a, T, C, const M: usize> {
    targets: &'a SVector<C, M>,
    found: Cell<[T; M]>,
}

impl<T: Scalar, C: Constant, const N: usize, const M: usize> FeedbackLaw<T, N, M> for Violation<'_, T, C, M> {
    const HAS_METRIC: bool = false;

    #[inline]
    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        let violation = array::from_fn(|i| integrals[i] - self.targets.data.0[0][i].lift());
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
