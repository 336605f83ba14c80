//! Trajectories: the figures of CPV22, exact solutions, orders of convergence, and the law of the feedback.
#![allow(missing_docs)]

use fbint_runtime::{
    Error, Feedback, FeedbackSystem, Field, GainMatrix, Gains, IntegralDrift, Integrator, Method, PlainField,
    Simulation, Tolerance,
};
use fbint_tests::reference::trajectories;
use fbint_tests::systems::{
    DoublePendulum, FourBar, FreeRigidBody, Kepler, Oscillator, PerturbedKepler, PlanarPendulum, SphericalPendulum,
    SphericalPendulumCpv22,
};
use fbint_tests::{Random, relative_error};
use nalgebra::{SMatrix, SVector};

/// The experiment of CPV22: h = 1e-3, t <= 100, from q = (0, 1, 0), p = (1, 0, 1).
mod spherical_pendulum_of_cpv22 {
    use super::*;

    #[test]
    fn euler_with_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(50.0))
            .method(Method::Euler { h: 1e-3 })
            .until(100.0)
            .run()?;
        assert_drift(run.drift().integrals(), [4.56e-5, 1.79e-5, 4.89e-5, 1.49e-5]);
        assert_near(distance(run.state().q, end()), 2.27e-4);
        Ok(())
    }

    #[test]
    fn euler_without_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .without_feedback()
            .method(Method::Euler { h: 1e-3 })
            .until(100.0)
            .run()?;
        let [f1, _, energy, momentum] = run.drift().integrals();
        assert_near(f1.max, 0.268);
        assert_near(energy.max, 0.398);
        assert_near(momentum.max, 0.285);
        Ok(())
    }

    #[test]
    fn rk4_with_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(50.0))
            .method(Method::Rk4 { h: 1e-3 })
            .until(100.0)
            .run()?;
        // Published with two digits.
        for (integral, published) in run.drift().integrals().iter().zip([4.7e-9, 1.8e-9, 9.4e-9, 1.1e-8]) {
            assert!((integral.max / published - 1.0).abs() < 0.05, "{integral:?}, published {published:e}");
        }
        assert!((distance(run.state().q, end()) / 1.5e-9 - 1.0).abs() < 0.05);
        Ok(())
    }

    #[test]
    fn rk4_without_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .without_feedback()
            .method(Method::Rk4 { h: 1e-3 })
            .until(100.0)
            .run()?;
        // Published as 3e-14, 2.6e-12, 1e-13 and 6e-14; rounding decides the rest.
        for (integral, bound) in run.drift().integrals().iter().zip([1e-13, 4e-12, 3e-13, 3e-13]) {
            assert!(integral.max < bound, "{integral:?}");
        }
        assert!(distance(run.state().q, end()) < 2e-11);
        Ok(())
    }

    fn end() -> &'static [f64] {
        let (time, state) = trajectories::SPHERICAL_PENDULUM[6];
        assert_eq!(time, 100.0);
        state
    }

    fn assert_drift(integrals: [IntegralDrift; 4], published: [f64; 4]) {
        for (integral, published) in integrals.iter().zip(published) {
            assert!((integral.max / published - 1.0).abs() < 0.01, "{integral:?}, published {published:e}");
        }
    }

    fn assert_near(obtained: f64, published: f64) {
        assert!((obtained / published - 1.0).abs() < 0.01, "{obtained:e}, published {published:e}");
    }

    fn distance(q: nalgebra::Vector3<f64>, exact: &[f64]) -> f64 {
        (q - nalgebra::Vector3::from_column_slice(&exact[..3])).norm()
    }
}

/// RK4 against exact solutions. The bounds are some three times the method's own error at its step, by step halving.
mod exact_solutions {
    use super::*;

    #[test]
    fn spherical_pendulum() -> Result<(), Error> {
        let pendulum = SphericalPendulum::default();
        follows(&pendulum, pendulum.start(), &trajectories::SPHERICAL_PENDULUM[..4], 1e-3, 1e-11)
    }

    #[test]
    fn planar_pendulum() -> Result<(), Error> {
        let pendulum = PlanarPendulum::default();
        follows(&pendulum, pendulum.start(), trajectories::PLANAR_PENDULUM, 1e-3, 1e-11)
    }

    #[test]
    fn four_bar() -> Result<(), Error> {
        let linkage = FourBar::default();
        let start = linkage.start()?;
        let difference = SVector::from(start) - SVector::from_column_slice(trajectories::FOUR_BAR[0].1);
        assert!(difference.amax() < 1e-14, "the start is off by {difference}");
        follows(&linkage, start, &trajectories::FOUR_BAR[1..4], 2e-4, 1e-9)
    }

    #[test]
    fn kepler() -> Result<(), Error> {
        let kepler = Kepler::default();
        follows(&kepler, kepler.start(), &trajectories::KEPLER[..3], 5e-4, 4e-9)
    }

    #[test]
    fn perturbed_kepler() -> Result<(), Error> {
        let kepler = PerturbedKepler::default();
        follows(&kepler, kepler.start(), &trajectories::PERTURBED_KEPLER[..3], 5e-4, 2e-9)
    }

    #[test]
    fn free_rigid_body() -> Result<(), Error> {
        let body = FreeRigidBody::default();
        follows(&body, body.start(), trajectories::FREE_RIGID_BODY, 1e-3, 2e-9)
    }

    /// DOP853 at 1e-13, plain: every state that is tabulated, to 1e-9 of the state's size.
    #[test]
    fn by_dop853() -> Result<(), Error> {
        let (spherical, linkage, body) = (SphericalPendulum::default(), FourBar::default(), FreeRigidBody::default());
        let (kepler, perturbed) = (Kepler::default(), PerturbedKepler::default());
        by_dop853_follows(&spherical, spherical.start(), &trajectories::SPHERICAL_PENDULUM[..4])?;
        by_dop853_follows(&linkage, linkage.start()?, &trajectories::FOUR_BAR[1..4])?;
        by_dop853_follows(&kepler, kepler.start(), &trajectories::KEPLER[..3])?;
        by_dop853_follows(&perturbed, perturbed.start(), &trajectories::PERTURBED_KEPLER[..3])?;
        by_dop853_follows(&body, body.start(), trajectories::FREE_RIGID_BODY)
    }

    fn by_dop853_follows<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
        system: &S,
        start: impl Into<SVector<f64, N>>,
        exact: &[(f64, &[f64])],
    ) -> Result<(), Error> {
        let field = PlainField::new(system);
        let mut integrator = Integrator::dop853(&field, start.into(), Tolerance::new(1e-13, 1e-13)?);
        for &(end, state) in exact {
            integrator.advance_to(end).unwrap_or_else(|error| panic!("{}: {error}", S::NAME));
            let state = SVector::<f64, N>::from_column_slice(state);
            let error = (integrator.state() - state).norm() / state.norm();
            assert!(error <= 1e-9, "{} at t = {end}: off by {error:e}", S::NAME);
        }
        Ok(())
    }

    fn follows<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
        system: &S,
        start: impl Into<SVector<f64, N>>,
        exact: &[(f64, &[f64])],
        h: f64,
        bound: f64,
    ) -> Result<(), Error> {
        let start = start.into();
        let feedback = Feedback::new(system, &start, Gains::uniform(0.1))?;
        for (name, field) in [("plain", &PlainField::new(system) as &dyn Field<N>), ("feedback", &feedback)] {
            let (mut x, mut time) = (start, 0.0);
            for &(end, state) in exact {
                let steps = ((end - time) / h).ceil();
                for _ in 0..steps as u64 {
                    field.rk4_step(&mut x, (end - time) / steps);
                }
                time = end;
                let error = (x - SVector::from_column_slice(state)).norm();
                assert!(error < bound, "{name}: at t = {end} off by {error:e}");
            }
        }
        Ok(())
    }
}

/// The error of (q, p) after one period of the planar pendulum, with k = 1.
mod orders {
    use super::*;

    #[test]
    fn euler_is_of_order_one() {
        assert_order(1.0, 0.02, &[32_000, 64_000], |feedback, x, h| feedback.euler_step(x, h));
    }

    #[test]
    fn rk4_is_of_order_four() {
        assert_order(4.0, 0.02, &[400, 800], |feedback, x, h| feedback.rk4_step(x, h));
    }

    type PlanarFeedback = Feedback<PlanarPendulum, fbint_runtime::Uniform, fbint_runtime::Identity, 4, 3>;

    fn assert_order(
        order: f64,
        tolerance: f64,
        steps: &[u32; 2],
        step: impl Fn(&PlanarFeedback, &mut SVector<f64, 4>, f64),
    ) {
        let pendulum = PlanarPendulum::default();
        let (period, end) = trajectories::PLANAR_PENDULUM[4];
        let start = SVector::from(pendulum.start());
        let feedback = Feedback::new(&pendulum, &start, Gains::uniform(1.0)).unwrap();
        let errors = steps.map(|steps| {
            let mut x = start;
            for _ in 0..steps {
                step(&feedback, &mut x, period / f64::from(steps));
            }
            (x - SVector::from_column_slice(end)).norm()
        });
        let measured = (errors[0] / errors[1]).log2();
        assert!((measured - order).abs() < tolerance, "order {measured} from {errors:?}");
    }
}

/// feedback = X - L DF^T W^1/2 K W^1/2 (F - F_target), by matrices multiplied out.
mod law {
    use super::*;

    #[test]
    fn spherical_pendulum() {
        let system = SphericalPendulum { m: 1.3, g: 0.7, l: 1.0 };
        every_kind_of_gain(&system, system.start());
    }

    #[test]
    fn spherical_pendulum_cpv22() {
        let system = SphericalPendulumCpv22 { m: 1.3, g: 0.7, l: 1.0 };
        every_kind_of_gain(&system, system.start());
    }

    #[test]
    fn planar_pendulum() {
        let system = PlanarPendulum { m: 0.6, g: 9.81, l: 2.0 };
        every_kind_of_gain(&system, system.start());
    }

    #[test]
    fn four_bar() {
        let system = FourBar::default();
        every_kind_of_gain(&system, system.start().unwrap());
    }

    #[test]
    fn double_pendulum() {
        let system = DoublePendulum { m1: 1.0, m2: 0.5, l1: 1.2, l2: 0.8, g: 9.81 };
        every_kind_of_gain(&system, SVector::from([0.3, 1.0, 0.2, -0.4]));
    }

    #[test]
    fn oscillator_with_weighted_integrals() {
        assert_eq!(Oscillator::INTEGRAL_WEIGHTS, [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0, 1.0]);
        every_kind_of_gain(&Oscillator { m: 1.5, k: 2.0 }, SVector::from([0.3, -0.5, 0.2, 0.7, 0.1, -0.9]));
    }

    fn every_kind_of_gain<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
        system: &S,
        start: impl Into<SVector<f64, N>>,
    ) {
        let start = start.into();
        let mut random = Random::new(4);
        for _ in 0..50 {
            let x = start.map(|entry| entry + random.between(-0.3, 0.3));
            let point = Point { system, start, x };
            let (k, k_full) = positive_definite::<M>(&mut random);
            let (l, l_full) = positive_definite::<N>(&mut random);
            let uniform = (Gains::uniform(3.0), SMatrix::identity() * 3.0);
            let diagonal = (Gains::diagonal(k), SMatrix::from_diagonal(&k.into()));
            let full = (Gains::full(k_full), k_full);
            point.every_metric(uniform, l, l_full);
            point.every_metric(diagonal, l, l_full);
            point.every_metric(full, l, l_full);
        }
    }

    struct Point<'a, S, const N: usize> {
        system: &'a S,
        start: SVector<f64, N>,
        x: SVector<f64, N>,
    }

    impl<S, const N: usize> Point<'_, S, N> {
        fn every_metric<K: GainMatrix<M>, const M: usize>(
            &self,
            (gains, k): (Gains<K>, SMatrix<f64, M, M>),
            l: [f64; N],
            l_full: SMatrix<f64, N, N>,
        ) where
            S: FeedbackSystem<N, M>,
        {
            self.agrees(gains, k, SMatrix::identity());
            self.agrees(gains.with_diagonal_metric(l), k, SMatrix::from_diagonal(&l.into()));
            self.agrees(gains.with_full_metric(l_full), k, l_full);
        }

        fn agrees<K: GainMatrix<M>, L: GainMatrix<N>, const M: usize>(
            &self,
            gains: Gains<K, L>,
            k: SMatrix<f64, M, M>,
            l: SMatrix<f64, N, N>,
        ) where
            S: FeedbackSystem<N, M>,
        {
            let Self { system, start, x } = self;
            let feedback = Feedback::new(*system, start, gains).unwrap();
            let difference = system.integrals(x) - feedback.targets();
            let root = SMatrix::from_diagonal(&SVector::from(S::INTEGRAL_WEIGHTS).map(f64::sqrt));
            let weighed = root * k * root * difference;
            let gradient = system.integrals_jacobian(x).transpose() * weighed;
            let expected = system.vector_field(x) - l * gradient;
            let error = relative_error(feedback.field(x).as_slice(), expected.as_slice());
            assert!(error <= 1e-12, "{}: {gains:?}: field off by {error:e}", S::NAME);
            let error = relative_error(&[feedback.potential(x)], &[difference.dot(&weighed) / 2.0]);
            assert!(error <= 1e-13, "{}: {gains:?}: V off by {error:e}", S::NAME);
        }
    }

    /// Positive entries for a diagonal, and B^T B + I.
    fn positive_definite<const D: usize>(random: &mut Random) -> ([f64; D], SMatrix<f64, D, D>) {
        let diagonal = std::array::from_fn(|_| random.between(0.1, 5.0));
        let b = SMatrix::<f64, D, D>::from_fn(|_, _| random.between(-1.0, 1.0));
        (diagonal, b.transpose() * b + SMatrix::identity())
    }
}
