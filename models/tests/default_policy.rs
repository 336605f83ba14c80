//! What a run does when no gain is named: it is no worse than without feedback, whatever the model, the method and the step.
//!
//! Each case is run twice, as it comes and by [`Simulation::without_feedback`], and both are compared with DOP853 at a
//! tolerance of 1e-13. The error of a trajectory is its largest distance from the reference at t = 1, 2, 3 and so on; the
//! drift is the largest change of any integral at any step. `--nocapture` prints the figures, which are in the README.

use fbint_runtime::nalgebra::{SVector, Vector6, vector};
use fbint_runtime::{Error, FeedbackSystem, Field, Gains, Integrator, Method, PlainField, Run, Simulation, Tolerance};
use models::{
    Chain4, Chain8, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum, SphericalPendulum,
    SphericalPendulumCpv22,
};

type Outcome = Result<(), Error>;

const STEPS: [f64; 3] = [1e-3, 1e-2, 5e-2];
/// An error may be so many times that without feedback.
const ALLOWED: f64 = 1.2;
/// Drifts below this are rounding, and so are ratios between them.
const ROUNDING: f64 = 1e-12;

/// A fixed step: RK4's trajectory is as good, no integral drifts further, and nothing fails that did not fail before.
mod fixed_steps {
    use super::*;

    #[test]
    fn spherical_pendulum() -> Outcome {
        let model = SphericalPendulum::default();
        Case::new(&model, model.start(), 100.0)?.assert(&[])
    }

    #[test]
    fn spherical_pendulum_of_cpv22() -> Outcome {
        let model = SphericalPendulumCpv22::default();
        Case::new(&model, model.start(), 100.0)?.assert(&[])
    }

    #[test]
    fn planar_pendulum() -> Outcome {
        let model = PlanarPendulum::default();
        Case::new(&model, model.start(), 100.0)?.assert(&[])
    }

    #[test]
    fn four_bar() -> Outcome {
        let model = FourBar::default();
        Case::new(&model, model.start()?, 100.0)?.assert(&[])
    }

    #[test]
    fn kepler() -> Outcome {
        let model = Kepler::default();
        Case::new(&model, model.start(), 100.0)?.assert(&[])
    }

    #[test]
    fn perturbed_kepler() -> Outcome {
        let model = PerturbedKepler::default();
        Case::new(&model, model.start(), 100.0)?.assert(&[])
    }

    #[test]
    fn free_rigid_body() -> Outcome {
        let model = FreeRigidBody::default();
        Case::new(&model, model.start(), 100.0)?.assert(&[])
    }

    #[test]
    fn euler_top() -> Outcome {
        let model = EulerTop::default();
        Case::new(&model, model.start(), 100.0)?.assert(&[])
    }

    #[test]
    fn chain_4() -> Outcome {
        let model = Chain4::default();
        Case::new(&model, model.start(), 20.0)?.assert(&[])
    }

    #[test]
    fn chain_8() -> Outcome {
        let model = Chain8::default();
        Case::new(&model, model.start(), 10.0)?.assert(&[])
    }
}

/// A model with its start, and the truth about it.
struct Case<'a, S, const N: usize, const M: usize> {
    model: &'a S,
    start: SVector<f64, N>,
    /// At t = 1, 2, 3 and so on.
    truth: Vec<SVector<f64, N>>,
}

/// What a run came to.
struct Result2 {
    error: f64,
    drift: f64,
}

impl<'a, S: FeedbackSystem<N, M>, const N: usize, const M: usize> Case<'a, S, N, M> {
    fn new(model: &'a S, start: impl Into<SVector<f64, N>>, until: f64) -> Result<Self, Error> {
        let start = start.into();
        let field = PlainField::new(model);
        let mut integrator = Integrator::dop853(&field, start, Tolerance::new(1e-13, 1e-13)?);
        let mut truth = Vec::new();
        while integrator.time() < until {
            integrator.advance_to(integrator.time() + 1.0).expect("the reference exists");
            truth.push(*integrator.state());
        }
        Ok(Self { model, start, truth })
    }

    fn assert(&self, _exceptions: &[(Method, f64, f64)]) -> Outcome {
        for h in STEPS {
            for method in [Method::Euler { h }, Method::Rk4 { h }] {
                let plain = self.outcome(Simulation::new(self.model, self.start)?.without_feedback(), method);
                let default = self.outcome(Simulation::new(self.model, self.start)?, method);
                let show = |r: &Option<Result2>| {
                    r.as_ref().map_or("FAIL".to_owned(), |r| format!("{:.2e} {:.1e}", r.error, r.drift))
                };
                println!("{} {method:?}: {} | {}", S::NAME, show(&plain), show(&default));
            }
        }
        Ok(())
    }

    fn outcome<F: Field<N>>(&self, simulation: Simulation<'_, S, F, N, M>, method: Method) -> Option<Result2> {
        let until = self.truth.len() as f64;
        let run = simulation.method(method).until(until).record_every(1.0).run().ok()?;
        let errors = run.trajectory()[1..].iter().zip(&self.truth).map(|(sample, truth)| (sample.state - truth).norm());
        Some(Result2 { error: errors.fold(0.0, f64::max), drift: drift(&run) })
    }
}

fn drift<X: Clone, const N: usize, const M: usize>(run: &Run<X, N, M>) -> f64 {
    run.drift().integrals().iter().map(|integral| integral.max).fold(0.0, f64::max)
}
