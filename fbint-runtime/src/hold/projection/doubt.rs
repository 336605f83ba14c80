//! Projections on slices, and where a step ends about whose projection there is a doubt. This is compiled once for all systems.

use core::cell::RefCell;
use core::num::NonZeroU32;

use super::proportion::{LeftOutReason, Move, Omission, ROUNDING, comes_closer, find_jumps, furthest, worst};
use crate::hold::consistent_start::{go_onto_constraints, put_targets};
use crate::hold::rounding::{UNBOUNDED, squares_of_rounding};
use crate::numbers::larger::Larger;
use crate::numbers::linear::{add, not_finite};
use crate::numbers::scalar::Scalar;
use crate::system::dynamical_system::{DynamicalSystem, Scratch};

/// The most Gauss-Newton steps of a damped projection, and the least part of one.
const MOST_DAMPED: usize = 12;
const LEAST_PART: f64 = 1.0 / 64.0;

/// A projection onto F = `targets` in some iterations, with S = diag(`variances`) and R = diag(`noise`). Lists may be followed by zeros.
#[derive(Clone, Copy)]
pub(super) struct Onto<'o> {
    pub(super) system: &'o dyn DynamicalSystem,
    pub(super) iterations: NonZeroU32,
    pub(super) targets: &'o [f64],
    pub(super) variances: &'o [f64],
    pub(super) noise: &'o [f64],
}

/// A state that was projected.
pub(super) struct Projection<'p> {
    pub(super) state: &'p mut [f64],
    /// F - F_target before and after.
    pub(super) violation: &'p mut [f64],
    pub(super) left: &'p mut [f64],
    /// The vector that was subtracted.
    pub(super) correction: &'p mut [f64],
}

impl Projection<'_> {
    fn copy(&mut self, other: &Projection<'_>) {
        self.state.copy_from_slice(other.state);
        self.violation.copy_from_slice(other.violation);
        self.left.copy_from_slice(other.left);
        self.correction.copy_from_slice(other.correction);
    }
}

/// Memory for a projection.
fn projection<'m>(scratch: &mut Scratch<'m>) -> Projection<'m> {
    Projection {
        state: scratch.state(),
        violation: scratch.values(),
        left: scratch.values(),
        correction: scratch.state(),
    }
}

impl Onto<'_> {
    /// Projects the end of a step. Where every violation is rounding, the end stays where it is.
    pub(super) fn project(&self, end: &[f64], to: &mut Projection<'_>) {
        to.state.copy_from_slice(end);
        self.correct(to.state, to.violation, to.correction);
        add(to.state, -1.0, to.correction);
        if self.iterations > NonZeroU32::MIN {
            self.iterate_further(to);
        }
        if to.violation.iter().zip(self.noise).all(|(found, noise)| found * found <= ROUNDING * noise) {
            to.state.copy_from_slice(end);
            to.correction.fill(0.0);
            to.left.copy_from_slice(to.violation);
        } else {
            self.put_violation(to.state, to.left);
        }
    }

    #[cold]
    fn iterate_further(&self, to: &mut Projection<'_>) {
        self.system.with_scratch(&mut |mut scratch| {
            let (further, sum, violation) = (scratch.state(), scratch.state(), scratch.values());
            for _ in 1..self.iterations.get() {
                self.correct(to.state, violation, further);
                add(to.state, -1.0, further);
                add(sum, 1.0, further);
            }
            add(to.correction, 1.0, sum);
        });
    }

    /// One iteration from `x`: what it finds, and what is to be subtracted.
    fn correct(&self, x: &[f64], violation: &mut [f64], correction: &mut [f64]) {
        let violation = RefCell::new(violation);
        let weigh = |integrals: &mut [f64]| {
            let mut violation = violation.borrow_mut();
            let found = integrals.iter_mut().zip(self.targets).zip(violation.iter_mut());
            found.for_each(|((integral, target), found)| {
                *integral -= target;
                *found = *integral;
            });
        };
        self.system.projection_at(x, [self.variances, self.noise], &weigh, correction);
    }

    /// Puts F - F_target into `violation`.
    fn put_violation(&self, x: &[f64], violation: &mut [f64]) {
        self.system.integrals_at(x, violation);
        add(violation, -1.0, self.targets);
    }

    /// Returns `true` if every integral comes closer: a tenth of its violation is left at most, or rounding.
    pub(super) fn brings_closer(&self, of: &Projection<'_>) -> bool {
        let violations = of.violation.iter().zip(&*of.left).zip(self.noise);
        violations.fold(true, |all, ((found, left), noise)| all & comes_closer(*found, *left, *noise))
    }

    /// The entry that was moved furthest.
    fn furthest(&self, of: &Projection<'_>) -> Move {
        furthest(self.system.facts().state, of.correction, self.variances, of.state)
    }

    /// Returns `true` if the move is in proportion and brings every integral closer.
    fn holds(&self, of: &Projection<'_>) -> bool {
        self.furthest(of).is_in_proportion() && self.brings_closer(of)
    }

    /// Projects a state within a step, if that holds.
    #[cfg(feature = "std")]
    pub(super) fn project_within(&self, x: &mut [f64]) {
        self.system.with_scratch(&mut |mut scratch| {
            let mut to = projection(&mut scratch);
            self.project(x, &mut to);
            if self.holds(&to) {
                x.copy_from_slice(to.state);
            }
        });
    }

    /// Takes damped Gauss-Newton steps from the end of a step, as many as lead closer to the targets, each a part of what the linearised
    /// equations say for as long as the whole leads further away. Says whether they hold.
    fn damp(&self, end: &[f64], found: &[f64], to: &mut Projection<'_>, scratch: &mut Scratch<'_>) -> bool {
        let distance =
            |left: &[f64]| -> f64 { left.iter().zip(self.noise).map(|(left, noise)| left * left / noise).sum() };
        let (next, left) = (scratch.state(), scratch.values());
        to.state.copy_from_slice(end);
        to.left.copy_from_slice(found);
        for _ in 0..MOST_DAMPED {
            self.correct(to.state, to.violation, to.correction);
            let here = distance(to.left);
            let mut parts =
                core::iter::successors(Some(1.0), |part| Some(0.5 * part)).take_while(|part| *part >= LEAST_PART);
            let leads_closer = |part: f64| {
                next.copy_from_slice(to.state);
                next.iter_mut().zip(&*to.correction).for_each(|(next, way)| *next -= part * way);
                self.put_violation(next, left);
                distance(left) < here
            };
            if !parts.any(leads_closer) {
                break;
            }
            to.state.copy_from_slice(next);
            to.left.copy_from_slice(left);
        }
        to.violation.copy_from_slice(found);
        put_difference(end, to.state, to.correction);
        self.brings_closer(to) && self.furthest(to).is_in_proportion()
    }
}

/// Puts a - b into a list.
fn put_difference(a: &[f64], b: &[f64], difference: &mut [f64]) {
    difference.copy_from_slice(a);
    add(difference, -1.0, b);
}

/// A step about whose projection there is a doubt.
pub(super) struct Doubt<'d> {
    pub(super) system: &'d dyn DynamicalSystem,
    pub(super) iterations: NonZeroU32,
    pub(super) begin: &'d [f64],
    pub(super) end: &'d [f64],
    /// The diagonal of S with the error of this step.
    pub(super) variances: &'d [f64],
    /// The variances if forces switch within the step.
    pub(super) switching: &'d [f64],
    /// The part that the field adds to R in a step of size 1.
    pub(super) noise_by_field: &'d [f64],
    pub(super) h: f64,
}

/// Where the integrals are held, and R but for what the field adds to it.
pub(super) struct Level<'l> {
    pub(super) targets: &'l mut [f64],
    pub(super) noise: &'l mut [f64],
}

impl Level<'_> {
    /// Puts R after a step of size `h` into a list.
    fn put_noise(&self, h: f64, by_field: &[f64], noise: &mut [f64]) {
        for ((noise, own), by_field) in noise.iter_mut().zip(&*self.noise).zip(by_field) {
            *noise = Scalar::mul_add(h * h, *by_field, *own);
        }
    }
}

impl Doubt<'_> {
    /// Puts the end of the step where the integrals can be held: projected, if that is usual after all, or in proportion to what the step
    /// errs by if forces switch within it, and brings the integrals closer, damped where that is needed; else projected onto all but
    /// the integrals that have jumped, or do not come closer, if that is in proportion; else on the constraint set. `variances` becomes
    /// the diagonal of S, and the level is held from there.
    #[cold]
    pub(super) fn resolve(
        &self,
        level: &mut Level<'_>,
        variances: &mut [f64],
        to: &mut Projection<'_>,
    ) -> Option<Omission> {
        let mut left_out = None;
        self.system.with_scratch(&mut |scratch| left_out = self.resolve_with(level, variances, to, scratch));
        left_out
    }

    fn resolve_with(
        &self,
        level: &mut Level<'_>,
        variances: &mut [f64],
        to: &mut Projection<'_>,
        mut scratch: Scratch<'_>,
    ) -> Option<Omission> {
        let (noise, own) = (scratch.values(), scratch.values());
        level.put_noise(self.h, self.noise_by_field, noise);
        variances.copy_from_slice(self.variances);
        let onto = self.onto(level, variances, noise);
        onto.project(self.end, to);
        if onto.furthest(to).is_usual() && onto.brings_closer(to) {
            return None;
        }
        // Terms, and with them their rounding, may have grown since the start.
        own.copy_from_slice(level.targets);
        squares_of_rounding(self.system, self.end, own);
        for (noise, own) in level.noise.iter_mut().zip(&*own).filter(|(_, own)| **own < UNBOUNDED) {
            *noise = own.larger(*noise);
        }
        level.put_noise(self.h, self.noise_by_field, noise);
        variances.copy_from_slice(self.switching);
        let onto = self.onto(level, variances, noise);
        onto.project(self.end, to);
        let is_in_proportion = onto.furthest(to).is_in_proportion();
        if is_in_proportion && onto.brings_closer(to) {
            return None;
        }
        if not_finite(self.end).is_some() {
            to.state.copy_from_slice(self.end);
            to.violation.fill(0.0);
            to.correction.fill(0.0);
            return None;
        }
        let mut other = projection(&mut scratch);
        if is_in_proportion && onto.damp(self.end, to.violation, &mut other, &mut scratch.rest()) {
            to.copy(&other);
            return None;
        }
        let some = scratch.indices();
        find_jumps(self.system, self.begin, self.end, &mut |integral| some[integral] = 1);
        let of = [&*variances, &*noise];
        let jumped = self.project_without(some, LeftOutReason::Jump, level, of, own, (to, &mut other));
        if jumped.is_some() {
            return jumped;
        }
        self.find_far(noise, to, some);
        if is_in_proportion {
            let far = self.project_without(some, LeftOutReason::NotCloser, level, of, own, (to, &mut other));
            if far.is_some() {
                return far;
            }
        }
        Some(self.go_onto_constraints(some, is_in_proportion, level, of, to))
    }

    fn onto<'o>(&'o self, level: &'o Level<'_>, variances: &'o [f64], noise: &'o [f64]) -> Onto<'o> {
        Onto { system: self.system, iterations: self.iterations, targets: level.targets, variances, noise }
    }

    /// Finds the energies and invariants that a projection does not bring closer, if constraints come closer.
    fn find_far(&self, noise: &[f64], of: &Projection<'_>, some: &mut [usize]) {
        let integrals = self.system.facts().integrals;
        let is_far = |i: usize| !comes_closer(of.violation[i], of.left[i], noise[i]);
        let are_some_constraints = (0..integrals.len()).any(|i| is_far(i) && integrals[i].kind.is_constraint());
        some.iter_mut().enumerate().for_each(|(i, some)| *some = usize::from(is_far(i) && !are_some_constraints));
    }

    /// Projects the end of the step onto all but some integrals, which are held where they are there; if there are some, and if that is in
    /// proportion and brings the others closer.
    fn project_without(
        &self,
        some: &[usize],
        reason: LeftOutReason,
        level: &mut Level<'_>,
        [variances, noise]: [&[f64]; 2],
        without: &mut [f64],
        (to, other): (&mut Projection<'_>, &mut Projection<'_>),
    ) -> Option<Omission> {
        let integral = some.iter().position(|is_left_out| *is_left_out == 1)?;
        for ((without, noise), some) in without.iter_mut().zip(noise).zip(some) {
            *without = if *some == 1 { UNBOUNDED } else { *noise };
        }
        let onto = self.onto(level, variances, without);
        onto.project(self.end, other);
        if !onto.holds(other) {
            return None;
        }
        to.copy(other);
        for ((target, violation), some) in level.targets.iter_mut().zip(&*to.violation).zip(some) {
            *target += if *some == 1 { *violation } else { 0.0 };
        }
        self.onto(level, variances, without).put_violation(to.state, to.left);
        Some(Omission { integral, reason })
    }

    /// Moves the end of the step onto the constraint set, where energies and invariants are held at the level that they have there.
    fn go_onto_constraints(
        &self,
        far: &[usize],
        is_in_proportion: bool,
        level: &mut Level<'_>,
        [variances, noise]: [&[f64]; 2],
        to: &mut Projection<'_>,
    ) -> Omission {
        let worst = worst(self.system, [level.targets, noise], variances, self.end);
        to.state.copy_from_slice(self.end);
        if !go_onto_constraints(self.system, to.state) {
            to.state.copy_from_slice(self.end);
        }
        put_targets(self.system, to.state, level.targets);
        // `left` is free until the violation is evaluated.
        to.left.copy_from_slice(level.targets);
        squares_of_rounding(self.system, to.state, to.left);
        for (noise, own) in level.noise.iter_mut().zip(&*to.left) {
            *noise = if *noise >= UNBOUNDED { UNBOUNDED } else { *own };
        }
        put_difference(self.end, to.state, to.correction);
        self.onto(level, variances, noise).put_violation(to.state, to.left);
        match worst.reason {
            LeftOutReason::OutOfProportion if is_in_proportion => {
                let integral = far.iter().position(|is_far| *is_far == 1).unwrap_or(worst.integral);
                Omission { integral, reason: LeftOutReason::NotCloser }
            }
            _ => worst,
        }
    }
}
