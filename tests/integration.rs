//! Trajectories: the figures of CPV22, exact solutions, orders of convergence, and the law of the feedback.

use fbint_runtime::tableau::RK4;
use fbint_runtime::{
    Drift, Entries, Error, Feedback, Field, GainPolicy, Gains, GeneratedSystem, Integrals, Integrator, Method,
    PlainField, PreparedSystem, Simulation, Tolerance, Uniform, Vector,
};
use fbint_tests::reference::trajectories;
use fbint_tests::systems::{
    DoublePendulum, FourBar, FreeRigidBody, Kepler, Oscillator, PerturbedKepler, PlanarPendulum, SphericalPendulum,
    SphericalPendulumCpv22,
};
use fbint_tests::{Random, relative_error};
use nalgebra::{DMatrix, DVector};

/// The experiment of CPV22: h = 1e-3, t <= 100, from q = (0, 1, 0), p = (1, 0, 1).
mod spherical_pendulum_of_cpv22 {
    use super::*;

    #[test]
    fn euler_with_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(50.0))
            .run(Method::Euler { h: 1e-3 }, 100.0)?;
        assert_drift(run.drift(), [4.56e-5, 1.79e-5, 4.89e-5, 1.49e-5]);
        assert_near(distance(run.state().q, end()), 2.27e-4);
        Ok(())
    }

    #[test]
    fn euler_without_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run =
            Simulation::new(&pendulum, pendulum.start())?.without_feedback().run(Method::Euler { h: 1e-3 }, 100.0)?;
        for (name, published) in [("f1", 0.268), ("energy", 0.398), ("vertical_momentum", 0.285)] {
            assert_near(run.drift().get(name).expect("an integral").max, published);
        }
        Ok(())
    }

    #[test]
    fn rk4_with_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(50.0))
            .run(Method::Rk4 { h: 1e-3 }, 100.0)?;
        // Published with two digits.
        for (integral, published) in run.drift().integrals().zip([4.7e-9, 1.8e-9, 9.4e-9, 1.1e-8]) {
            assert!((integral.max / published - 1.0).abs() < 0.05, "{integral:?}, published {published:e}");
        }
        assert!((distance(run.state().q, end()) / 1.5e-9 - 1.0).abs() < 0.05);
        Ok(())
    }

    #[test]
    fn rk4_without_feedback() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run =
            Simulation::new(&pendulum, pendulum.start())?.without_feedback().run(Method::Rk4 { h: 1e-3 }, 100.0)?;
        // Published as 3e-14, 2.6e-12, 1e-13 and 6e-14; rounding decides the rest.
        for (integral, bound) in run.drift().integrals().zip([1e-13, 4e-12, 3e-13, 3e-13]) {
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

    fn assert_drift(drift: &Drift, published: [f64; 4]) {
        for (integral, published) in drift.integrals().zip(published) {
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

fn norm(entries: impl Iterator<Item = f64>) -> f64 {
    entries.map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// The distance of two flat states.
fn distance<V: Entries<f64>>(x: &V, exact: &[f64]) -> f64 {
    assert_eq!(x.as_ref().len(), exact.len());
    norm(x.as_ref().iter().zip(exact).map(|(x, exact)| x - exact))
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
        let off = distance::<[f64; 8]>(&start.into(), trajectories::FOUR_BAR[0].1);
        assert!(off < 1e-14, "the start is off by {off:e}");
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

    fn by_dop853_follows<S: GeneratedSystem>(
        system: &S,
        start: impl Into<Vector<S>>,
        exact: &[(f64, &[f64])],
    ) -> Result<(), Error> {
        let field = PlainField::new(system);
        let mut integrator = Integrator::dop853(&field, start.into(), Tolerance::new(1e-13, 1e-13)?);
        for &(end, state) in exact {
            integrator.advance_to(end).unwrap_or_else(|error| panic!("{}: {error}", S::FACTS.name));
            let error = distance(integrator.state(), state) / norm(state.iter().copied());
            assert!(error <= 1e-9, "{} at t = {end}: off by {error:e}", S::FACTS.name);
        }
        Ok(())
    }

    fn follows<S: GeneratedSystem>(
        system: &S,
        start: impl Into<Vector<S>>,
        exact: &[(f64, &[f64])],
        h: f64,
        bound: f64,
    ) -> Result<(), Error> {
        let start = start.into();
        let feedback = Feedback::new(system, &start, Gains::uniform(0.1))?;
        let plain = PlainField::new(system);
        for (name, field) in [("plain", &plain as &dyn Field<Vector = Vector<S>>), ("feedback", &feedback)] {
            let (mut x, mut time) = (start, 0.0);
            for &(end, state) in exact {
                let steps = ((end - time) / h).ceil();
                for _ in 0..steps as u64 {
                    RK4.step(|x| field.value(x), &mut x, (end - time) / steps);
                }
                time = end;
                let error = distance(&x, state);
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

    type PlanarFeedback = Feedback<PlanarPendulum, Uniform>;

    fn assert_order(order: f64, tolerance: f64, steps: &[u32; 2], step: impl Fn(&PlanarFeedback, &mut [f64; 4], f64)) {
        let pendulum = PlanarPendulum::default();
        let (period, end) = trajectories::PLANAR_PENDULUM[4];
        let start = pendulum.start().into();
        let feedback = Feedback::new(&pendulum, &start, Gains::uniform(1.0)).unwrap();
        let errors = steps.map(|steps| {
            let mut x = start;
            for _ in 0..steps {
                step(&feedback, &mut x, period / f64::from(steps));
            }
            distance(&x, end)
        });
        let measured = (errors[0] / errors[1]).log2();
        assert!((measured - order).abs() < tolerance, "order {measured} from {errors:?}");
    }
}

/// feedback = X - DF^T W^1/2 K W^1/2 (F - F_target), by matrices multiplied out.
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
        every_kind_of_gain(&system, [0.3, 1.0, 0.2, -0.4]);
    }

    #[test]
    fn oscillator_with_weighted_integrals() {
        let weights: Vec<f64> = Oscillator::FACTS.integrals.iter().map(|integral| integral.weight).collect();
        assert_eq!(weights, [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0, 1.0]);
        every_kind_of_gain(&Oscillator { m: 1.5, k: 2.0 }, [0.3, -0.5, 0.2, 0.7, 0.1, -0.9]);
    }

    fn every_kind_of_gain<S: GeneratedSystem>(system: &S, start: impl Into<Vector<S>>) {
        let start = start.into();
        let mut random = Random::new(4);
        for _ in 0..50 {
            let x = Vector::<S>::from_fn(|i| start[i] + random.between(-0.3, 0.3));
            let k = Integrals::<S>::from_fn(|_| random.between(0.1, 5.0));
            let uniform = Feedback::new(system, &start, Gains::uniform(3.0)).unwrap();
            agrees(system, &uniform, &x, &Entries::from_fn(|_| 3.0), uniform.potential(&x));
            let diagonal = Feedback::new(system, &start, Gains::diagonal(k)).unwrap();
            agrees(system, &diagonal, &x, &k, diagonal.potential(&x));
        }
    }

    fn agrees<S: GeneratedSystem, K: GainPolicy<S>>(
        system: &S,
        feedback: &Feedback<S, K>,
        x: &Vector<S>,
        k: &Integrals<S>,
        potential: f64,
    ) {
        let prepared = system.prepare();
        let (integrals, rows) = (prepared.integrals(x), prepared.integrals_jacobian(x));
        let jacobian = DMatrix::from_fn(S::FACTS.integrals.len(), S::FACTS.state.len(), |i, j| rows[i][j]);
        let difference = vector(integrals.as_ref()) - vector(feedback.targets().as_ref());
        let weights = S::FACTS.integrals.iter().map(|integral| integral.weight.sqrt());
        let root = DMatrix::from_diagonal(&DVector::from_iterator(S::FACTS.integrals.len(), weights));
        let weighted = &root * DMatrix::from_diagonal(&vector(k.as_ref())) * &root * &difference;
        let expected = vector(prepared.vector_field(x).as_ref()) - jacobian.transpose() * &weighted;
        let error = relative_error(feedback.value(x).as_ref(), expected.as_slice());
        assert!(error <= 1e-12, "{}: {feedback:?}: field off by {error:e}", S::FACTS.name);
        let error = relative_error(&[potential], &[difference.dot(&weighted) / 2.0]);
        assert!(error <= 1e-13, "{}: {feedback:?}: V off by {error:e}", S::FACTS.name);
    }

    fn vector(entries: &[f64]) -> DVector<f64> {
        DVector::from_column_slice(entries)
    }
}
