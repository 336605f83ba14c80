//! The emitted functions against independently computed values.
//!
//! Four witnesses: SymPy's values near the constraint sets, dual numbers at random states far from them, the programs by an
//! interpreter, and the identities Df.X = 0 and dH.X = 0, which hold on all of R^m. Errors are measured with [`relative_error`].

use fbint_runtime::{
    Entries, Feedback, FeedbackSystem, Field, Gains, GeneratedSystem, Integrals, PreparedSystem, Uniform, Vector,
};
use fbint_tests::compiler::Declaration;
use fbint_tests::functions::{Law, Question, disagreement, emitted, interpreted};
use fbint_tests::oracle::{Declared, Oracle, random_parameters, random_state};
use fbint_tests::reference::{FieldPoint, field_points};
use fbint_tests::systems::{
    Chain4, Chain8, Chain16, Chain32, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum,
    PlanarPendulumCpv22, SphericalPendulum, SphericalPendulumCpv22,
};
use fbint_tests::{Random, relative_error, states};

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
        let start = [1.0, 0.0, 0.0, 0.0];
        agrees(&PlanarPendulumCpv22::default(), start, field_points::PLANAR_PENDULUM_CPV22, 1e-13);
    }

    #[test]
    fn four_bar() {
        let system = FourBar::default();
        agrees(&system, system.start().unwrap(), field_points::FOUR_BAR, 1e-12);
    }

    #[test]
    fn kepler() {
        let system = Kepler::default();
        agrees(&system, system.start(), field_points::KEPLER, 1e-13);
    }

    #[test]
    fn perturbed_kepler() {
        let system = PerturbedKepler::default();
        agrees(&system, system.start(), field_points::PERTURBED_KEPLER, 1e-13);
    }

    #[test]
    fn euler_top() {
        let system = EulerTop::default();
        agrees(&system, system.start(), field_points::EULER_TOP, 1e-13);
    }

    #[test]
    fn chains() {
        let (four, eight) = (Chain4::default(), Chain8::default());
        agrees(&four, four.start(), field_points::CHAIN_4, 1e-12);
        agrees(&eight, eight.start(), field_points::CHAIN_8, 1e-12);
        let (sixteen, thirty_two) = (Chain16::default(), Chain32::default());
        agrees(&sixteen, sixteen.start(), field_points::CHAIN_16, 1e-12);
        agrees(&thirty_two, thirty_two.start(), field_points::CHAIN_32, 1e-12);
    }

    /// The reference has all nine entries of r^T r - 1: each gain of ours is the mean of the gains of equal entries.
    #[test]
    fn free_rigid_body_with_nine_constraints() {
        let system = FreeRigidBody::default();
        let start = system.start().into();
        let distinct = [1.0, 3.0, 5.0, 5.0, 7.0, 9.0, 10.0, 11.0, 12.0, 13.0];
        let integrals = [0, 1, 2, 1, 3, 4, 2, 4, 5, 6, 7, 8, 9];
        let (uniform, laws) = gains(&system, &start, distinct);
        let field = |x: &_| uniform.value(x);
        compare(&system, &integrals, &laws, field, field_points::FREE_RIGID_BODY_FROBENIUS, 1e-12);
    }

    /// The six entries of r^T r - 1 that differ, without weights.
    #[test]
    fn free_rigid_body_with_six_constraints() {
        let system = FreeRigidBody::default();
        let targets = system.prepare().integrals(&system.start().into());
        let integrals = [0, 3, 5, 1, 2, 4, 6, 7, 8, 9];
        let uniform = [50.0, 100.0, 100.0, 50.0, 100.0, 50.0, 50.0, 50.0, 50.0, 50.0];
        let distinct = [1.0, 4.0, 5.0, 2.0, 6.0, 3.0, 7.0, 8.0, 9.0, 10.0];
        let laws = [uniform, distinct].map(|gains| Law::<FreeRigidBody>::diagonal(targets, gains));
        let field = |x: &_| system.prepare().feedback_field(x, &laws[0]);
        compare(&system, &integrals, &laws, field, field_points::FREE_RIGID_BODY_UPPER, 1e-12);
    }

    fn agrees<S: GeneratedSystem>(system: &S, start: impl Into<Vector<S>>, points: &[FieldPoint], tolerance: f64) {
        let integrals: Vec<usize> = (0..S::FACTS.integrals.len()).collect();
        let (uniform, laws) = gains(system, &start.into(), Entries::from_fn(|i| 1.0 + i as f64));
        compare(system, &integrals, &laws, |x| uniform.value(x), points, tolerance);
    }

    /// The feedback with K = 50, and the laws with that K and with K = diag(`distinct`).
    fn gains<S: GeneratedSystem>(
        system: &S,
        start: &Vector<S>,
        distinct: Integrals<S>,
    ) -> (Feedback<S, Uniform>, [Law<S>; 2]) {
        let uniform = Feedback::new(system, start, Gains::uniform(50.0)).unwrap();
        let laws = [Entries::from_fn(|_| 50.0), distinct].map(|gains: Integrals<S>| {
            let weighted = Entries::from_fn(|i| gains[i] * S::FACTS.integrals[i].weight);
            Law::diagonal(*uniform.targets(), weighted)
        });
        (uniform, laws)
    }

    /// `integrals`: which of the system's is in each row of the reference. `field`: the field with K = 50.
    fn compare<S: GeneratedSystem>(
        system: &S,
        integrals: &[usize],
        [uniform, distinct]: &[Law<S>; 2],
        field: impl Fn(&Vector<S>) -> Vector<S>,
        points: &[FieldPoint],
        tolerance: f64,
    ) {
        assert!(!points.is_empty());
        let system_name = S::FACTS.name;
        let system = system.prepare();
        for point in points {
            let x = Entries::from_fn(|i| point.state[i]);
            let (values, jacobian) = (system.integrals(&x), system.integrals_jacobian(&x));
            let values: Vec<f64> = integrals.iter().map(|&row| values[row]).collect();
            let jacobian: Vec<f64> = integrals.iter().flat_map(|&row| jacobian[row]).collect();
            let stored = if point.jacobian.is_empty() { jacobian.clone() } else { point.jacobian.concat() };
            for (name, obtained, expected) in [
                ("DF", &jacobian[..], &stored[..]),
                ("F", &values[..], point.integrals),
                ("X", system.vector_field(&x).as_ref(), point.field),
                ("grad V", system.potential_gradient(&x, uniform).as_ref(), point.potential_gradient),
                ("feedback", field(&x).as_ref(), point.feedback),
                ("feedback by a law", system.feedback_field(&x, uniform).as_ref(), point.feedback),
                ("grad V, distinct gains", system.potential_gradient(&x, distinct).as_ref(), point.distinct_gradient),
            ] {
                let error = relative_error(obtained, expected);
                assert!(error <= tolerance, "{system_name} {name} at {x:?}: off by {error:e}");
            }
        }
    }
}

/// Every function of every system at many states, each with its own parameters and gains.
mod dual_numbers {
    use super::*;

    mod models {
        use super::*;

        fbint_tests::test_every_model!(agrees);
    }

    mod others {
        use super::*;

        fbint_tests::test_every_other_system!(agrees);
    }

    /// Tolerances are the oracle's, with their reasons there.
    fn agrees<S: Declared>(system: &mut S) {
        let mut random = Random::new(1);
        for turn in 0..states(S::FACTS.name) {
            let (x, oracle) = random_state(system, &mut random);
            let mut question = Question::random(x, &mut random, turn);
            question.h = oracle.step(&question);
            // Each of its stages takes the oracle as long as all the rest.
            let stages = turn.is_multiple_of(25).then_some(|stage: &_| Oracle::at(system, stage).unwrap());
            let (expected, tolerances) = oracle.results(&question, stages);
            let obtained = emitted(system, &question);
            if let Some((function, error)) = disagreement(&obtained, &expected, |name| tolerances.of(name)) {
                panic!("{} {function} at {x:?}: off by {error:e}, {tolerances:?}", S::FACTS.name);
            }
        }
    }
}

/// Every function of every system at many states: the emitted code does what its program says, operation by operation.
mod interpreter {
    use super::*;

    mod models {
        use super::*;

        fbint_tests::test_every_model!(agrees_in_every_bit);
    }

    mod others {
        use super::*;

        fbint_tests::test_every_other_system!(agrees_in_every_bit);
    }

    /// Without tolerance: each operation has one correctly rounded result, and elementary functions are the same library's.
    fn agrees_in_every_bit<S: Declared>(system: &mut S) {
        let programs = Declaration::of_system(S::FACTS.name).compile().programs;
        let mut random = Random::new(8);
        for turn in 0..states(S::FACTS.name) {
            let parameters = random_parameters(system, &mut random);
            let question = Question::random(system.state(&mut random), &mut random, turn);
            let (obtained, expected) = (emitted(system, &question), interpreted(&programs, &parameters, &question));
            for (name, obtained, expected) in obtained.pairs(&expected) {
                // Sign and payload of a NaN are not specified.
                let is_nan = |value: &f64| value.is_nan();
                if obtained.iter().any(is_nan) && expected.iter().any(is_nan) {
                    continue;
                }
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                let x = question.x;
                assert_eq!(
                    bits(obtained),
                    bits(expected),
                    "{} {name} at {x:?}: {obtained:?} {expected:?}",
                    S::FACTS.name
                );
            }
        }
    }
}

mod conservation {
    use super::*;

    mod models {
        use super::*;

        fbint_tests::test_every_model!(integrals_are_conserved_everywhere);
    }

    mod others {
        use super::*;

        fbint_tests::test_every_other_system!(integrals_are_conserved_everywhere);
    }

    /// On all of R^m, save for the constraints beside a given field, which need only hold where they held before.
    fn integrals_are_conserved_everywhere<S: Declared>(system: &mut S) {
        let mut random = Random::new(2);
        // Beyond this size the states of the test above must do.
        for _ in 0..states(S::FACTS.name) / if S::FACTS.state.len() < 48 { 1 } else { 10 } {
            let (x, oracle) = random_state(system, &mut random);
            let field = system.prepare().vector_field(&x);
            let jacobian = system.prepare().integrals_jacobian(&x);
            for (row, integral) in S::FACTS.integrals.iter().enumerate() {
                if integral.kind.is_constraint() && row >= oracle.constraint_matrix.nrows() {
                    continue;
                }
                let gradient = &jacobian[row];
                let norm = |v: &Vector<S>| dot::<S>(v, v).sqrt();
                let error = dot::<S>(gradient, &field).abs() / (norm(gradient) * norm(&field));
                assert!(error <= 1e-12, "{}: {} changes along X at {x:?}: {error:e}", S::FACTS.name, integral.name);
            }
        }
    }

    fn dot<S: GeneratedSystem>(v: &Vector<S>, w: &Vector<S>) -> f64 {
        v.as_ref().iter().zip(w.as_ref()).map(|(v, w)| v * w).sum()
    }
}

#[test]
fn an_error_is_seen_in_every_entry() {
    assert_eq!(relative_error(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
    assert!((relative_error(&[1.0, 2.2], &[1.0, 2.0]) - 0.1).abs() < 1e-12);
    assert!((relative_error(&[0.001, 2.0], &[0.0, 2.0]) - 0.005).abs() < 1e-12);
    assert!(relative_error(&[1.0, f64::NAN, 1.0], &[1.0, 1.0, 1.0]).is_nan());
    assert!(relative_error(&[f64::INFINITY], &[1.0]).is_infinite());
    assert_eq!(relative_error(&[0.0], &[0.0]), 0.0);
}
