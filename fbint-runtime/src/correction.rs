//! The projection method (HLW06 IV.4): after a step, x moves back towards the set where every integral has its target.
//!
//! One iteration is one Gauss-Newton step, the shortest that solves the linearised equations,
//! x -= DF^T (DF DF^T + e D)^-1 (F - F_target), with D the diagonal of DF DF^T, so that the damping e has no unit. DF loses
//! rank at relative equilibria (the conical pendulum, the circular orbit) and where integrals are dependent. There the damping
//! keeps DF DF^T + e D positive definite and what cannot be corrected from throwing the state far; elsewhere an iteration
//! leaves a part e / s^2 of the violation, with s the least singular value of DF with rows of length 1, which is less than
//! the quadratic error that Gauss-Newton leaves anyway.
//!
//! Nothing allocates, and the number of iterations is fixed.

use nalgebra::{SMatrix, SVector};

use crate::PreparedSystem;

/// The damping e. At a relative equilibrium a violation moves the state by at most 1 / (2 sqrt(e)) times its own size.
const DAMPING: f64 = 1e-10;

/// A correction of the state after each step onto all integrals, in a fixed number of iterations.
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

    /// Moves `x` towards F = `targets`.
    #[inline]
    pub fn apply<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        &self,
        system: &P,
        targets: &SVector<f64, M>,
        x: &mut SVector<f64, N>,
    ) {
        for _ in 0..self.iterations {
            let violation = system.integrals(x) - targets;
            let jacobian = system.integrals_jacobian(x);
            *x -= combination(&jacobian, &solve(lower_gram(&jacobian), violation));
        }
    }
}

/// DF^T y, the last row first, because that entry of y is known first.
#[inline]
fn combination<const N: usize, const M: usize>(jacobian: &SMatrix<f64, M, N>, y: &SVector<f64, M>) -> SVector<f64, N> {
    SVector::from_fn(|j, _| (0..M).rev().fold(0.0, |sum, i| sum + jacobian[(i, j)] * y[i]))
}

/// The lower triangle of DF DF^T, with 1 for the square of a row that vanishes.
#[inline]
fn lower_gram<const N: usize, const M: usize>(jacobian: &SMatrix<f64, M, N>) -> SMatrix<f64, M, M> {
    let mut gram = SMatrix::zeros();
    for column in &jacobian.data.0 {
        for j in 0..M {
            for i in j..M {
                gram[(i, j)] += column[i] * column[j];
            }
        }
    }
    for i in 0..M {
        if gram[(i, i)] == 0.0 {
            gram[(i, i)] = 1.0;
        }
    }
    gram
}

/// Solves (A + e diag A) y = v by L D L^T, from the lower triangle of A. The damping keeps every pivot positive.
#[inline]
fn solve<const M: usize>(mut a: SMatrix<f64, M, M>, mut v: SVector<f64, M>) -> SVector<f64, M> {
    for i in 0..M {
        a[(i, i)] *= 1.0 + DAMPING;
    }
    let mut inverse = [0.0; M];
    for j in 0..M {
        inverse[j] = a[(j, j)].recip();
        for i in j + 1..M {
            let factor = a[(i, j)] * inverse[j];
            for l in i..M {
                a[(l, i)] -= a[(l, j)] * factor;
            }
            a[(i, j)] = factor;
            v[i] -= factor * v[j];
        }
    }
    for j in (0..M).rev() {
        v[j] *= inverse[j];
        for i in (j + 1..M).rev() {
            v[j] -= a[(i, j)] * v[i];
        }
    }
    v
}
