//! Every function that is generated for a model, and every step that the runtime makes with it, each a function of its own.
//!
//! The crate that includes this file defines what is done with them, as a macro `functions`: forbid that they panic
//! (main.rs), or nothing but count what they allocate (../allocation.rs).

use std::hint::black_box;

use fbint_runtime::tableau::{DOP853, DORMAND_PRINCE, EULER, HEUN, MIDPOINT, RK4, Tableau};
use fbint_runtime::{
    Composition, Correction, DenseOutput, Error, Feedback, FeedbackSystem, Field, GainMatrix, GainPolicy, Gains,
    Integrator, OneStep, PlainField, PreparedSystem, Projected, Projector, Rattle, StepError, StormerVerlet, Tolerance,
};
use models::{
    Chain4, Chain8, Chain16, Chain32, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum,
    SphericalPendulum, SphericalPendulumCpv22,
};
use nalgebra::{SMatrix, SVector};

/// Calls every function of every model of the catalogue, and returns the models' names.
pub(crate) fn of_every_model() -> Result<[&'static str; 12], Error> {
    let (spherical, cpv22, planar) =
        (SphericalPendulum::default(), SphericalPendulumCpv22::default(), PlanarPendulum::default());
    Ok([
        every_function(&spherical, spherical.start())?,
        every_function(&cpv22, cpv22.start())?,
        every_function(&planar, planar.start())?,
        every_function(&FourBar::default(), FourBar::default().start()?)?,
        every_function(&Chain4::default(), Chain4::default().start())?,
        every_function(&Chain8::default(), Chain8::default().start())?,
        every_function(&Chain16::default(), Chain16::default().start())?,
        every_function(&Chain32::default(), Chain32::default().start())?,
        every_function(&FreeRigidBody::default(), FreeRigidBody::default().start())?,
        every_function(&EulerTop::default(), EulerTop::default().start())?,
        every_function(&Kepler::default(), Kepler::default().start())?,
        every_function(&PerturbedKepler::default(), PerturbedKepler::default().start())?,
    ])
}

/// Calls all that a model can be asked for, once, and returns its name.
fn every_function<S: FeedbackSystem<N, M> + Clone, const N: usize, const M: usize>(
    model: &S,
    start: S::State,
) -> Result<&'static str, Error> {
    let x = black_box(flat::<S, N, M>(start));
    let prepared = prepare(black_box(model));
    black_box(shaped::<S, N, M>(x));
    set_parameter(&mut model.clone(), black_box(0), parameter(model, black_box(0)));
    black_box((vector_field(&prepared, &x), integrals(&prepared, &x), integrals_jacobian(&prepared, &x)));
    black_box((multipliers(&prepared, &x), outputs(&prepared, &x), squared_gradients(&prepared, &x)));
    let feedback = Feedback::new(model, &x, Gains::uniform(1.0))?;
    let full = Feedback::new(model, &x, Gains::full(SMatrix::identity()))?;
    let metric = Feedback::new(model, &x, Gains::diagonal([2.0; M]).with_diagonal_metric([2.0; N]))?;
    constant_gains(&feedback, &prepared, &x);
    constant_gains(&full, &prepared, &x);
    constant_gains(&metric, &prepared, &x);
    gains(&feedback, x);
    gains(&full, x);
    gains(&metric, x);
    gains(&Feedback::new(model, &x, Gains::relaxation(1.0))?, x);
    gains(&Feedback::new(model, &x, Gains::diagonal_scaled(1.0))?, x);
    gains(&Feedback::new(model, &x, Gains::bae_chang(1e-3))?, x);
    let mut corrected = x;
    let mut projector = Projector::new(model, &x, *feedback.targets(), black_box(Correction::once()));
    black_box(project(&mut projector, &SVector::repeat(1e-3), &mut corrected));
    black_box(projected_step(&mut projector, &PlainField::new(model), &mut corrected, black_box(1e-3)));
    black_box(corrected);
    runge_kutta_steps(&feedback, x)?;
    runge_kutta_steps(&PlainField::new(model), x)?;
    geometric_steps(model, x);
    Ok(S::NAME)
}

/// What there is for a constant K alone.
fn constant_gains<S, K, L, const N: usize, const M: usize>(
    feedback: &Feedback<S, K, L, N, M>,
    prepared: &S::Prepared,
    x: &SVector<f64, N>,
) where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
    L: GainMatrix<N>,
{
    let ones = (SVector::repeat(1.0), SVector::repeat(1.0));
    black_box((potential_gradient(prepared, x, feedback), correction(prepared, x, &ones.0, &ones.1, feedback)));
    black_box(potential(feedback, x));
}

/// The field with feedback, how fast violations decay, and the generated steps.
fn gains<S, K, L, const N: usize, const M: usize>(feedback: &Feedback<S, K, L, N, M>, x: SVector<f64, N>)
where
    S: FeedbackSystem<N, M>,
    K: GainPolicy<M>,
    L: GainMatrix<N>,
{
    black_box((feedback_field(feedback, &x), violations(feedback, &x), decay_rate(feedback, &x)));
    let mut x = x;
    feedback_euler_step(feedback, &mut x, black_box(1e-3));
    feedback_rk4_step(feedback, &mut x, black_box(1e-3));
    black_box(x);
}

/// Every fixed step, and a step and its dense output of both methods with error control.
fn runge_kutta_steps<F: Field<N>, const N: usize>(field: &F, start: SVector<f64, N>) -> Result<(), Error> {
    let (mut x, h) = (start, black_box(1e-3));
    euler_step(field, &mut x, h);
    rk4_step(field, &mut x, h);
    tableau_step(&EULER, field, &mut x, h);
    tableau_step(&MIDPOINT, field, &mut x, h);
    tableau_step(&HEUN, field, &mut x, h);
    tableau_step(&RK4, field, &mut x, h);
    tableau_step(&DORMAND_PRINCE, field, &mut x, h);
    tableau_step(&DOP853, field, &mut x, h);
    black_box(x);
    let tolerance = Tolerance::new(1e-6, 1e-6)?;
    with_error_control(&mut Integrator::dormand_prince(field, start, tolerance));
    with_error_control(&mut Integrator::dop853(field, start, tolerance));
    Ok(())
}

fn with_error_control<F: Field<N>, const N: usize, const S: usize>(integrator: &mut Integrator<'_, F, N, S>) {
    let _ = black_box(integrator_step(integrator, black_box(1.0)));
    black_box(interpolate(&dense_output(integrator), black_box(1e-6)));
}

/// Those that are for the model.
fn geometric_steps<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(model: &S, start: SVector<f64, N>) {
    let (mut x, h) = (start, black_box(1e-3));
    if let Ok(rattle) = Rattle::new(model) {
        one_step(&rattle, &mut x, h);
        one_step(&Composition(rattle), &mut x, h);
    }
    if let Ok(verlet) = StormerVerlet::new(model) {
        one_step(&verlet, &mut x, h);
        one_step(&Composition(verlet), &mut x, h);
    }
    black_box(x);
}

functions! {
    fn prepare<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(model: &S) -> S::Prepared {
        model.prepare()
    }

    fn flat<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(state: S::State) -> SVector<f64, N> {
        state.into()
    }

    fn shaped<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(x: SVector<f64, N>) -> S::State {
        x.into()
    }

    fn parameter<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(model: &S, index: usize) -> Option<f64> {
        model.parameter(index)
    }

    fn set_parameter<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
        model: &mut S,
        index: usize,
        value: Option<f64>,
    ) {
        if let (Some(parameter), Some(value)) = (model.parameter_mut(index), value) {
            *parameter = value;
        }
    }

    fn vector_field<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SVector<f64, N> {
        system.vector_field(x)
    }

    fn integrals<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SVector<f64, M> {
        system.integrals(x)
    }

    fn integrals_jacobian<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SMatrix<f64, M, N> {
        system.integrals_jacobian(x)
    }

    fn multipliers<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SVector<f64, M> {
        system.multipliers(x)
    }

    fn outputs<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> P::Outputs<f64> {
        system.outputs(x)
    }

    fn squared_gradients<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SVector<f64, M> {
        system.squared_gradients(x)
    }

    fn potential_gradient<P, S, K, L, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
        law: &Feedback<S, K, L, N, M>,
    ) -> SVector<f64, N>
    where
        P: PreparedSystem<N, M>,
        S: FeedbackSystem<N, M>,
        K: GainMatrix<M>,
        L: GainMatrix<N>,
    {
        system.potential_gradient(x, law)
    }

    fn correction<P, S, K, L, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
        variances: &SVector<f64, N>,
        noise: &SVector<f64, M>,
        law: &Feedback<S, K, L, N, M>,
    ) -> SVector<f64, N>
    where
        P: PreparedSystem<N, M>,
        S: FeedbackSystem<N, M>,
        K: GainMatrix<M>,
        L: GainMatrix<N>,
    {
        system.correction(x, variances, noise, law)
    }

    fn feedback_field<S: FeedbackSystem<N, M>, K: GainPolicy<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &SVector<f64, N>,
    ) -> SVector<f64, N> {
        feedback.field(x)
    }

    fn decay_rate<S: FeedbackSystem<N, M>, K: GainPolicy<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &SVector<f64, N>,
    ) -> f64 {
        feedback.decay_rate(x)
    }

    fn violations<S: FeedbackSystem<N, M>, K: GainPolicy<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &SVector<f64, N>,
    ) -> SVector<f64, M> {
        feedback.violations(x)
    }

    fn potential<S: FeedbackSystem<N, M>, K: GainMatrix<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &SVector<f64, N>,
    ) -> f64 {
        feedback.potential(x)
    }

    fn feedback_euler_step<S: FeedbackSystem<N, M>, K: GainPolicy<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &mut SVector<f64, N>,
        h: f64,
    ) {
        feedback.euler_step(x, h);
    }

    fn feedback_rk4_step<S: FeedbackSystem<N, M>, K: GainPolicy<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &mut SVector<f64, N>,
        h: f64,
    ) {
        feedback.rk4_step(x, h);
    }

    fn project<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        projector: &mut Projector<P, f64, N, M>,
        error: &SVector<f64, N>,
        x: &mut SVector<f64, N>,
    ) -> Projected<f64, N, M> {
        projector.project(error, x)
    }

    fn projected_step<P: PreparedSystem<N, M>, F: Field<N>, const N: usize, const M: usize>(
        projector: &mut Projector<P, f64, N, M>,
        field: &F,
        x: &mut SVector<f64, N>,
        h: f64,
    ) -> Projected<f64, N, M> {
        projector.step(&RK4, |x| field.value(x), x, h)
    }

    fn euler_step<F: Field<N>, const N: usize>(field: &F, x: &mut SVector<f64, N>, h: f64) {
        field.euler_step(x, h);
    }

    fn rk4_step<F: Field<N>, const N: usize>(field: &F, x: &mut SVector<f64, N>, h: f64) {
        field.rk4_step(x, h);
    }

    fn tableau_step<F: Field<N>, const N: usize, const S: usize>(
        tableau: &Tableau<S>,
        field: &F,
        x: &mut SVector<f64, N>,
        h: f64,
    ) {
        tableau.step(|x| field.value(x), x, h);
    }

    fn integrator_step<F: Field<N>, const N: usize, const S: usize>(
        integrator: &mut Integrator<'_, F, N, S>,
        until: f64,
    ) -> Result<(), StepError<N>> {
        integrator.step(until)
    }

    fn dense_output<F: Field<N>, const N: usize, const S: usize>(
        integrator: &mut Integrator<'_, F, N, S>,
    ) -> DenseOutput<N> {
        integrator.dense_output()
    }

    fn interpolate<const N: usize>(output: &DenseOutput<N>, time: f64) -> SVector<f64, N> {
        output.at(time)
    }

    fn one_step<O: OneStep<N>, const N: usize>(method: &O, x: &mut SVector<f64, N>, h: f64) {
        method.step(x, h);
    }
}
