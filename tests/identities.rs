//! The emitted functions against independent values of the same mathematics.
//!
//! Three witnesses: SymPy's values near the constraint sets, dual numbers at random states far from them, and the identities
//! Df.X = 0 and dH.X = 0, which hold on all of R^m. Errors are those of [`relative_error`].
#![allow(missing_docs)]

use fbint_runtime::{Feedback, FeedbackSystem, Gains, PreparedSystem};
use fbint_tests::oracle::{Declared, DiagonalLaw, random_state};
use fbint_tests::reference::{FieldPoint, field_points};
use fbint_tests::systems::{FourBar, PlanarPendulum, PlanarPendulumCpv22, SphericalPendulum, SphericalPendulumCpv22};
use fbint_tests::{Random, relative_error};
use nalgebra::SVector;

/// How many random states each system is tested at.
const STATES: usize = 1000;

mod reference {
    use super::*;

    #[test]
    fn spherical_pendulum() {
        let system = SphericalPendulum::default();
        agrees(&system, system.start(), field_points::SPHERICAL_PENDULUM, 1e-13);
    }

    #[test]
    fn spherical_pendulum_cpv22() {
        let system = SphericalPendulumCpv22::default();
        agrees(&system, system.start(), field_points::SPHERICAL_PENDULUM_CPV22, 1e-13);
    }

    #[test]
    fn planar_pendulum() {
        let system = PlanarPendulum::default();
        agrees(&system, system.start(), field_points::PLANAR_PENDULUM, 1e-13);
    }

    #[test]
    fn planar_pendulum_cpv22() {
        let start = SVector::from([1.0, 0.0, 0.0, 0.0]);
        agrees(&PlanarPendulumCpv22::default(), start, field_points::PLANAR_PENDULUM_CPV22, 1e-13);
    }

    #[test]
    fn four_bar() {
        let system = FourBar::default();
        agrees(&system, system.start().unwrap(), field_points::FOUR_BAR, 1e-12);
    }

    fn agrees<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
        system: &S,
        start: impl Into<SVector<f64, N>>,
        points: &[FieldPoint],
        tolerance: f64,
    ) {
        let start = start.into();
        let distinct = Gains::diagonal(std::array::from_fn(|i| 1.0 + i as f64));
        let distinct = Feedback::new(system, &start, distinct).unwrap();
        let uniform = Feedback::new(system, &start, Gains::uniform(50.0)).unwrap();
        assert_eq!(points.len(), 8);
        for point in points {
            let x = SVector::from_column_slice(point.state);
            let jacobian = system.integrals_jacobian(&x).transpose();
            for (name, obtained, expected) in [
                ("F", system.integrals(&x).as_slice(), point.integrals),
                ("DF", jacobian.as_slice(), &point.jacobian.concat()),
                ("X", system.vector_field(&x).as_slice(), point.field),
                ("grad V", system.prepare().potential_gradient(&x, &uniform).as_slice(), point.potential_gradient),
                ("feedback", uniform.field(&x).as_slice(), point.feedback),
                (
                    "grad V, distinct gains",
                    system.prepare().potential_gradient(&x, &distinct).as_slice(),
                    point.distinct_gradient,
                ),
            ] {
                let error = relative_error(obtained, expected);
                assert!(error <= tolerance, "{} {name} at {x}: off by {error:e}", S::NAME);
            }
        }
    }
}

mod dual_numbers {
    use super::*;

    fbint_tests::test_every_system!(agrees);

    fn agrees<S: Declared<N, M>, const N: usize, const M: usize>(system: &mut S) {
        let mut random = Random::new(1);
        for _ in 0..STATES {
            let (x, expected) = random_state(system, &mut random);
            let law = DiagonalLaw::random(&mut random);
            let gradient = expected.potential_gradient(&law);
            let feedback = expected.field - gradient;
            for (name, obtained, expected) in [
                ("F", system.integrals(&x).as_slice(), expected.integrals.as_slice()),
                ("DF", system.integrals_jacobian(&x).as_slice(), expected.jacobian.as_slice()),
                ("X", system.vector_field(&x).as_slice(), expected.field.as_slice()),
                ("grad V", system.prepare().potential_gradient(&x, &law).as_slice(), gradient.as_slice()),
                ("feedback", system.prepare().feedback_field(&x, &law).as_slice(), feedback.as_slice()),
            ] {
                let error = relative_error(obtained, expected);
                assert!(error <= 1e-12, "{} {name} at {x}: off by {error:e}", S::NAME);
            }
        }
    }
}

mod conservation {
    use super::*;

    fbint_tests::test_every_system!(constraints_and_energy_are_conserved_everywhere);

    /// Of the constraints and the energy alone: a declared invariant may be conserved on the constraint set only.
    fn constraints_and_energy_are_conserved_everywhere<S: Declared<N, M>, const N: usize, const M: usize>(
        system: &mut S,
    ) {
        let mut random = Random::new(2);
        for _ in 0..STATES {
            let (x, oracle) = random_state(system, &mut random);
            let field = system.vector_field(&x);
            let jacobian = system.integrals_jacobian(&x);
            for row in 0..=oracle.constraint_matrix.nrows() {
                let gradient = jacobian.row(row).transpose();
                let error = gradient.dot(&field).abs() / (gradient.norm() * field.norm());
                assert!(error <= 1e-12, "{}: {} changes along X at {x}: {error:e}", S::NAME, S::INTEGRAL_NAMES[row]);
            }
        }
    }
}
