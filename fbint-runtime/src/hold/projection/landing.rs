//! Simulations check the projection of each step's end, damp it where it overshoots, and leave out integrals that it cannot bring closer.
//!
//! A projection is a suggestion. Simulations keep it only if it brings every integral at least ten times closer to its target, or within
//! rounding. They evaluate F after the projection for that, and record the drift from the same values. Near a singularity of the
//! coordinates, F may be far from linear over the error of a step. Then the projection is damped: it takes several Gauss-Newton steps, and
//! halves each until it leads closer. Where that fails, the energies and invariants that stay away are left out alone, or, if these are
//! all, the projection as a whole.
//!
//! Where a projection moves an entry by more than a thousand times the root of s_i, the step has left the range in which its error and the
//! linearised integrals mean anything: it has passed a jump of a force, a contact, or a collision. Then the projection is left out: the
//! step stands, its end moves onto the constraint set by the shortest way, and energy and invariants are held at the level that they have
//! there. An integral that jumps, as an angle does by 2 pi, is left out alone.

use super::Projector;
use super::doubt::{Doubt, Level, Projection};
use super::outcome::{DoubtfulStep, Landing, Projected};
use super::proportion::{ROUNDING, comes_closer};
use crate::numbers::entries::Entries;
use crate::numbers::linear::{difference, filled};
use crate::system::{FeedbackSystem, Integrals, PreparedSystem, Vector};

impl<S: FeedbackSystem> Projector<S> {
    /// Looks at where a projection has moved the end of a step: what it has left of the violations, and whether that is a tenth, or
    /// rounding. Where all that there was is rounding, the end stays where it is.
    #[inline(always)]
    pub(super) fn look(
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
    pub(super) fn resolve(&mut self, begin: &Vector<S>, doubt: DoubtfulStep<S>, x: &mut Vector<S>) -> Landing<S> {
        let landing;
        Resolved { state: *x, targets: self.targets, noise: self.rounding.integrals, landing } =
            self.clone().resolved(*begin, doubt);
        landing
    }

    /// Where a step ends about whose projection there is a doubt: see [`Doubt::resolve`].
    ///
    /// Everything is passed by value. If a function that is not inlined had the address of the projector or of the state, both would be
    /// stored and loaded again in every step, even without a doubt.
    #[cold]
    #[inline(never)]
    fn resolved(self, begin: Vector<S>, doubt: DoubtfulStep<S>) -> Resolved<S> {
        let (DoubtfulStep { end, variances, switching, h, .. }, facts) = (doubt, self.facts());
        let (mut state, mut targets, mut noise) = (end, self.targets, self.rounding.integrals);
        let mut landing = Landing { end, variances, ..Landing::nothing() };
        let Projected { violation, correction, left_out } = &mut landing.projected;
        let doubt = Doubt {
            system: &self.system,
            iterations: self.projection.iterations,
            begin: facts.of_state::<S, _>(&begin),
            end: facts.of_state::<S, _>(&end),
            variances: facts.of_state::<S, _>(&variances),
            switching: facts.of_state::<S, _>(&switching),
            noise_by_field: facts.of_integrals::<S, _>(&self.rounding.integrals_by_field),
            h,
        };
        let mut level = Level {
            targets: facts.of_integrals_mut::<S, _>(&mut targets),
            noise: facts.of_integrals_mut::<S, _>(&mut noise),
        };
        let mut projected = Projection {
            state: facts.of_state_mut::<S, _>(&mut state),
            violation: facts.of_integrals_mut::<S, _>(violation),
            left: facts.of_integrals_mut::<S, _>(&mut landing.left),
            correction: facts.of_state_mut::<S, _>(correction),
        };
        let variances = facts.of_state_mut::<S, _>(&mut landing.variances);
        *left_out = doubt.resolve(&mut level, variances, &mut projected);
        Resolved { state, targets, noise, landing }
    }
}

/// The end of a step, and the level at which the integrals are held from there.
struct Resolved<S: FeedbackSystem> {
    state: Vector<S>,
    targets: Integrals<S>,
    noise: Integrals<S>,
    landing: Landing<S>,
}

/// Returns `true` if a projection has left a tenth of each violation at most, or rounding.
#[inline(always)]
fn is_closer<S: FeedbackSystem>(found: &Integrals<S>, left: &Integrals<S>, noise: &Integrals<S>) -> bool {
    (0..Integrals::<S>::LEN).fold(true, |all, i| all & comes_closer(found[i], left[i], noise[i]))
}

#[cfg(test)]
mod tests {
    use nalgebra::vector;

    use super::*;
    use crate::feedback_system;
    use crate::hold::projection::{LeftOutReason, Omission, Projection};

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
