//! Whether a projection is in proportion to the error of its step, and which integral is the reason where it is not.

use crate::hold::consistent_start::size_of_variable;
use crate::numbers::larger::Larger;
use crate::numbers::scalar::Scalar;
use crate::system::StateEntry;
use crate::system::dynamical_system::DynamicalSystem;

/// The square of the largest move of an entry that corrects an error of the method, in units of that error.
pub(crate) const MOST: f64 = 1e6;
/// The bound on the largest move that raises no doubt whether forces switch within the step.
pub(crate) const USUAL: f64 = 100.0;
/// The rounding of an entry that others of its vector are rounded into, in roundings.
const ROUNDINGS: f64 = 1024.0;
/// The square of the number of roundings in a violation that rounding alone explains: a run adds up the roundings of its steps.
pub(crate) const ROUNDING: f64 = 4096.0;
/// The square of the part of a violation that a projection may leave.
pub(crate) const LEFT: f64 = 0.01;
/// An integral that changes by more than this many times what its gradients explain has jumped.
const JUMP: f64 = 4.0;

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

/// Returns `true` if a projection leaves a tenth of a violation at most, or rounding.
#[inline(always)]
pub(super) fn comes_closer(found: f64, left: f64, noise: f64) -> bool {
    left * left <= (LEFT * found * found).larger(ROUNDING * noise)
}

/// The entry of the state `x` that a projection moved furthest in units of its error. A move within a thousand roundings of the vector that
/// an entry belongs to is rounding: where a reaction keeps an entry at 0, its error is rounding of the others.
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

/// Returns `true` if a projection moved no entry by more than a multiple of its error, so that [`furthest`] need not look; false where that is
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

/// The move of the entry of the state that a projection moved furthest.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only simulations report the entry and the distance"))]
pub(crate) struct Move {
    pub(crate) entry: usize,
    pub(crate) distance: f64,
    /// That distance in units of the error of a step.
    pub(crate) per_error: f64,
}

impl Move {
    /// Returns `true` if the projection raises no doubt.
    pub(super) fn is_usual(&self) -> bool {
        self.per_error * self.per_error <= USUAL
    }

    /// Returns `true` if the projection corrects the error of its step, and no more.
    pub(crate) fn is_in_proportion(&self) -> bool {
        self.per_error * self.per_error <= MOST
    }
}

/// The integral whose violation is least explained by the error of a step and by rounding, or one that is not finite. Integrals are held at
/// `targets`, with the rounding `noise`.
pub(super) fn worst(
    system: &dyn DynamicalSystem,
    [targets, noise]: [&[f64]; 2],
    variances: &[f64],
    end: &[f64],
) -> Omission {
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
pub(super) fn find_jumps(system: &dyn DynamicalSystem, begin: &[f64], end: &[f64], found: &mut dyn FnMut(usize)) {
    system.with_scratch(&mut |mut scratch| {
        let (before, after) = (scratch.values(), scratch.values());
        let (slopes_before, slopes_after) = (scratch.rows(), scratch.rows());
        system.integrals_at(begin, before);
        system.integrals_at(end, after);
        system.jacobian_at(begin, slopes_before);
        system.jacobian_at(end, slopes_after);
        for (i, integral) in system.facts().integrals.iter().enumerate() {
            let [before_row, after_row] =
                [&*slopes_before, &*slopes_after].map(|rows| &rows[i * end.len()..][..end.len()]);
            let slope = |j: usize| before_row[j].abs() + after_row[j].abs();
            let explained: f64 = (0..end.len()).map(|j| slope(j) * (end[j] - begin[j]).abs()).sum();
            if !integral.kind.is_constraint() && (after[i] - before[i]).abs() > JUMP * explained {
                found(i);
            }
        }
    });
}
