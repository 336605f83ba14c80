//! Every function that is generated for a model, and every step that the runtime makes with it, each a function of its own.
//!
//! The crate that includes this file defines what is done with them, as a macro `functions`: forbid that they panic
//! (main.rs), or nothing but count what they allocate (../allocation.rs).

use std::hint::black_box;

use fbint_runtime::tableau::{DOP853, DORMAND_PRINCE, EULER, HEUN, MIDPOINT, RK4, Tableau};
use fbint_runtime::{
    Composition, DenseOutput, Diagonal, DiscreteHamel, Driven, Entries, Error, Feedback, FeedbackLaw, FeedbackSystem,
    Field, GainPolicy, Gains, HamelSystem, Integrals, Integrator, LagrangianSystem, OneStep, PlainField,
    PreparedSystem, Projected, Projection, Projector, Rattle, StepError, StormerVerlet, Tolerance, Uniform, Vector,
};
use models::{
    BalancedSleigh, CartPendulum, CartPole, CartPoleInput, CartPoleState, Chain4, Chain8, ChaplyginSleigh,
    DegeneratePendulum, DrivenFourBar, DrivenPendulum, EulerTop, FourBar, FourBarInAngles, FreeRigidBody,
    HamelPendulum, HeisenbergSystem, HeldSleigh, KapitzaPendulum, Kepler, KnifeEdge, NonholonomicOscillator,
    PerturbedKepler, PlanarPendulum, RollerRacer, RollingDisk, RotatingHoop, SphericalPendulum, SphericalPendulumCpv22,
    SuslovProblem,
};

/// How many models of the catalogue are left out: without the feature `thorough` the longest chains, which take the compiler longer than
/// all others.
pub(crate) const LEFT_OUT: usize = if cfg!(feature = "thorough") { 0 } else { 2 };
/// The number of the others.
pub(crate) const MODELS: usize = 30 - LEFT_OUT;

/// Calls every function of each of these models, and returns the models' names.
pub(crate) fn of_models() -> Result<[&'static str; MODELS], Error> {
    driven()?;
    discrete_hamel()?;
    let (spherical, cpv22, planar) =
        (SphericalPendulum::default(), SphericalPendulumCpv22::default(), PlanarPendulum::default());
    Ok([
        every_function(&spherical, spherical.start())?,
        every_function(&cpv22, cpv22.start())?,
        every_function(&planar, planar.start())?,
        every_function(&FourBar::default(), FourBar::default().start()?)?,
        every_function(&FourBarInAngles::default(), FourBarInAngles::default().start()?)?,
        every_function(&Chain4::default(), Chain4::default().start())?,
        every_function(&Chain8::default(), Chain8::default().start())?,
        #[cfg(feature = "thorough")]
        every_function(&models::Chain16::default(), models::Chain16::default().start())?,
        #[cfg(feature = "thorough")]
        every_function(&models::Chain32::default(), models::Chain32::default().start())?,
        every_function(&FreeRigidBody::default(), FreeRigidBody::default().start())?,
        every_function(&EulerTop::default(), EulerTop::default().start())?,
        every_function(&Kepler::default(), Kepler::default().start())?,
        every_function(&PerturbedKepler::default(), PerturbedKepler::default().start())?,
        every_function(&CartPendulum::default(), CartPendulum::default().start())?,
        every_function(&HamelPendulum::default(), HamelPendulum::default().start())?,
        every_function(&DegeneratePendulum::default(), DegeneratePendulum::default().start())?,
        every_function(&ChaplyginSleigh::default(), ChaplyginSleigh::default().start())?,
        every_function(&BalancedSleigh::default(), BalancedSleigh::default().start())?,
        every_function(&HeldSleigh::default(), HeldSleigh::default().start())?,
        every_function(&KnifeEdge::default(), KnifeEdge::default().start())?,
        every_function(&RollingDisk::default(), RollingDisk::default().start())?,
        every_function(&RollerRacer::default(), RollerRacer::default().start())?,
        every_function(&SuslovProblem::default(), SuslovProblem::default().start())?,
        every_function(&HeisenbergSystem::default(), HeisenbergSystem::default().start())?,
        every_function(&NonholonomicOscillator::default(), NonholonomicOscillator::default().start())?,
        every_function(&DrivenPendulum::default(), DrivenPendulum::default().start())?,
        every_function(&CartPole::default(), CartPole::default().start())?,
        every_function(&DrivenFourBar::default(), DrivenFourBar::default().start()?)?,
        every_function(&KapitzaPendulum::default(), KapitzaPendulum::default().start())?,
        every_function(&RotatingHoop::default(), RotatingHoop::default().start())?,
    ])
}

/// Every step of a field whose inputs a controller gives, without feedback and with it.
fn driven() -> Result<(), Error> {
    let cart = CartPole::default();
    let start = Vector::<CartPole>::from(cart.start());
    let controller = |t: f64, state: &CartPoleState| CartPoleInput { thrust: t - state.v };
    runge_kutta_steps(&Driven::new(PlainField::new(&cart), controller), start)?;
    runge_kutta_steps(&Driven::new(Feedback::new(&cart, &start, Gains::uniform(1.0))?, controller), start)
}

/// Every model that has the discrete Hamel integrator.
fn discrete_hamel() -> Result<(), Error> {
    hamel_functions(&CartPendulum::default(), CartPendulum::default().start())?;
    hamel_functions(&HamelPendulum::default(), HamelPendulum::default().start())?;
    hamel_functions(&DegeneratePendulum::default(), DegeneratePendulum::default().start())?;
    hamel_functions(&ChaplyginSleigh::default(), ChaplyginSleigh::default().start())?;
    hamel_functions(&BalancedSleigh::default(), BalancedSleigh::default().start())
}

/// Calls all that a model can be asked for, once, and returns its name.
fn every_function<S: FeedbackSystem + Clone>(model: &S, start: S::State) -> Result<&'static str, Error> {
    let x = black_box(flat::<S>(start));
    let prepared = prepare(black_box(model));
    black_box(shaped::<S>(x));
    set_parameter(&mut model.clone(), black_box(0), parameter(model, black_box(0)));
    black_box((vector_field(&prepared, &x), integrals(&prepared, &x), integrals_jacobian(&prepared, &x)));
    black_box((multipliers(&prepared, &x), outputs(&prepared, &x)));
    black_box((gather::<S>(&prepared), normalisation(&prepared)));
    let uniform = Feedback::new(model, &x, Gains::uniform(1.0))?;
    laws::<S>(&prepared, uniform.targets(), &x);
    let diagonal = Feedback::new(model, &x, Gains::diagonal(filled(2.0)))?;
    black_box((potential_of_uniform(&uniform, &x), potential_of_diagonal(&diagonal, &x)));
    gains(&uniform, x);
    gains(&diagonal, x);
    gains(&Feedback::new(model, &x, Gains::relaxation(1.0))?, x);
    gains(&Feedback::new(model, &x, Gains::bae_chang(1e-3))?, x);
    let mut projected = x;
    let mut projector = Projector::new(model, &x, *uniform.targets(), black_box(Projection::default()));
    black_box(project(&mut projector, &filled(1e-3), &mut projected));
    black_box(projected_step(&mut projector, &PlainField::new(model), &mut projected, black_box(1e-3)));
    black_box(projected);
    runge_kutta_steps(&uniform, x)?;
    runge_kutta_steps(&PlainField::new(model), x)?;
    geometric_steps(model, x);
    Ok(model.facts().name)
}

fn filled<V: Entries<f64>>(value: f64) -> V {
    V::from_fn(|_| value)
}

/// y = F - F_target, through every function that takes a law.
fn laws<S: FeedbackSystem>(prepared: &S::Prepared<f64>, targets: &Integrals<S>, x: &Vector<S>) {
    let (law, variances, noise) = (Law::<S> { targets: *targets }, filled(1.0), filled(1.0));
    black_box((potential_gradient(prepared, x, &law), projection(prepared, x, &variances, &noise, &law)));
    black_box(feedback_field_of_law(prepared, x, &law));
}

/// K = 1.
struct Law<S: FeedbackSystem> {
    targets: Integrals<S>,
}

impl<S: FeedbackSystem> FeedbackLaw<S, f64> for Law<S> {
    #[inline]
    fn weigh(&self, integrals: Integrals<S>) -> Integrals<S> {
        Entries::from_fn(|i| integrals[i] - self.targets[i])
    }
}

/// The field with feedback, how fast violations decay, and the steps with it.
fn gains<S: FeedbackSystem, K: GainPolicy<S>>(feedback: &Feedback<S, K>, x: Vector<S>) {
    black_box((feedback_field(feedback, &x), violations(feedback, &x), decay_rate(feedback, &x)));
    let mut x = x;
    euler_step(feedback, &mut x, black_box(1e-3));
    rk4_step(feedback, &mut x, black_box(1e-3));
    black_box(x);
}

/// Every fixed step, and a step and its dense output of both methods with error control.
fn runge_kutta_steps<F: Field>(field: &F, start: F::Vector) -> Result<(), Error> {
    let (mut x, h) = (start, black_box(1e-3));
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

fn with_error_control<F: Field, const STAGES: usize>(integrator: &mut Integrator<'_, F, STAGES>) {
    let _ = black_box(integrator_step(integrator, black_box(1.0)));
    black_box(interpolate(&dense_output(integrator), black_box(1e-6)));
}

/// The geometric methods that are for the model.
fn geometric_steps<S: FeedbackSystem>(model: &S, start: Vector<S>) {
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

/// The discrete Hamel integrator of a model, what it reads, and what every Lagrangian system has.
fn hamel_functions<S: HamelSystem + LagrangianSystem>(model: &S, start: S::State) -> Result<(), Error> {
    let (x, prepared) = (black_box(start.into()), model.prepare());
    let accelerations = black_box(Entries::from_fn(|_| 0.5));
    black_box((mass_matrix::<S>(&prepared, &x), inverse_dynamics::<S>(&prepared, &x, &accelerations)));
    black_box((momentum_state::<S>(&prepared, &x), momentum_rates::<S>(&prepared, &x)));
    black_box((momentum_state_jacobian::<S>(&prepared, &x), momentum_rates_jacobian::<S>(&prepared, &x)));
    let _ = black_box(hamel_step(&mut DiscreteHamel::new(model, x)?, black_box(1e-3)));
    Ok(())
}

functions! {
    fn prepare<S: FeedbackSystem>(model: &S) -> S::Prepared<f64> {
        model.prepare()
    }

    fn gather<S: FeedbackSystem>(prepared: &S::Prepared<f64>) -> S::Prepared<f32> {
        S::gather(&|_| prepared)
    }

    fn flat<S: FeedbackSystem>(state: S::State) -> Vector<S> {
        state.into()
    }

    fn shaped<S: FeedbackSystem>(x: Vector<S>) -> S::State {
        x.into()
    }

    fn parameter<S: FeedbackSystem>(model: &S, index: usize) -> Option<f64> {
        model.parameter(index)
    }

    fn set_parameter<S: FeedbackSystem>(model: &mut S, index: usize, value: Option<f64>) {
        if let (Some(parameter), Some(value)) = (model.parameter_mut(index), value) {
            *parameter = value;
        }
    }

    fn vector_field<P: PreparedSystem<f64>>(system: &P, x: &Vector<P::System>) -> Vector<P::System> {
        system.vector_field(x)
    }

    fn integrals<P: PreparedSystem<f64>>(system: &P, x: &Vector<P::System>) -> Integrals<P::System> {
        system.integrals(x)
    }

    fn integrals_jacobian<P: PreparedSystem<f64>>(
        system: &P,
        x: &Vector<P::System>,
    ) -> Integrals<P::System, Vector<P::System>> {
        system.integrals_jacobian(x)
    }

    fn multipliers<P: PreparedSystem<f64>>(system: &P, x: &Vector<P::System>) -> Integrals<P::System> {
        system.multipliers(x)
    }

    fn outputs<P: PreparedSystem<f64>>(
        system: &P,
        x: &Vector<P::System>,
    ) -> <P::System as FeedbackSystem>::Outputs<f64> {
        system.outputs(x)
    }

    fn normalisation<P: PreparedSystem<f64>>(system: &P) -> Integrals<P::System, [f64; 3]> {
        system.normalisation()
    }

    fn mass_matrix<S: LagrangianSystem>(
        system: &S::Prepared<f64>,
        x: &Vector<S>,
    ) -> S::Velocities<S::Velocities<f64>> {
        S::mass_matrix(system, x)
    }

    fn inverse_dynamics<S: LagrangianSystem>(
        system: &S::Prepared<f64>,
        x: &Vector<S>,
        accelerations: &S::Velocities<f64>,
    ) -> S::Velocities<f64> {
        S::inverse_dynamics(system, x, accelerations)
    }

    fn momentum_state<S: HamelSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Vector<S> {
        S::momentum_state(system, x)
    }

    fn momentum_rates<S: HamelSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Vector<S> {
        S::momentum_rates(system, x)
    }

    fn momentum_state_jacobian<S: HamelSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Vector<S, Vector<S>> {
        S::momentum_state_jacobian(system, x)
    }

    fn momentum_rates_jacobian<S: HamelSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Vector<S, Vector<S>> {
        S::momentum_rates_jacobian(system, x)
    }

    fn potential_gradient<P: PreparedSystem<f64>>(
        system: &P,
        x: &Vector<P::System>,
        law: &Law<P::System>,
    ) -> Vector<P::System> {
        system.potential_gradient(x, law)
    }

    fn projection<P: PreparedSystem<f64>>(
        system: &P,
        x: &Vector<P::System>,
        variances: &Vector<P::System>,
        noise: &Integrals<P::System>,
        law: &Law<P::System>,
    ) -> Vector<P::System> {
        system.projection(x, variances, noise, law)
    }

    fn feedback_field_of_law<P: PreparedSystem<f64>>(
        system: &P,
        x: &Vector<P::System>,
        law: &Law<P::System>,
    ) -> Vector<P::System> {
        system.feedback_field(x, law)
    }

    fn feedback_field<S: FeedbackSystem, K: GainPolicy<S>>(feedback: &Feedback<S, K>, x: &Vector<S>) -> Vector<S> {
        feedback.value(x)
    }

    fn decay_rate<S: FeedbackSystem, K: GainPolicy<S>>(feedback: &Feedback<S, K>, x: &Vector<S>) -> f64 {
        feedback.decay_rate(x)
    }

    fn violations<S: FeedbackSystem, K: GainPolicy<S>>(feedback: &Feedback<S, K>, x: &Vector<S>) -> Integrals<S> {
        feedback.violations(x)
    }

    fn potential_of_uniform<S: FeedbackSystem>(feedback: &Feedback<S, Uniform>, x: &Vector<S>) -> f64 {
        feedback.potential(x)
    }

    fn potential_of_diagonal<S: FeedbackSystem>(feedback: &Feedback<S, Diagonal<S>>, x: &Vector<S>) -> f64 {
        feedback.potential(x)
    }

    fn euler_step<S: FeedbackSystem, K: GainPolicy<S>>(feedback: &Feedback<S, K>, x: &mut Vector<S>, h: f64) {
        feedback.euler_step(x, h);
    }

    fn rk4_step<S: FeedbackSystem, K: GainPolicy<S>>(feedback: &Feedback<S, K>, x: &mut Vector<S>, h: f64) {
        feedback.rk4_step(x, h);
    }

    fn project<S: FeedbackSystem>(projector: &mut Projector<S>, error: &Vector<S>, x: &mut Vector<S>) -> Projected<S> {
        projector.project(error, x)
    }

    fn projected_step<S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
        projector: &mut Projector<S>,
        field: &F,
        x: &mut Vector<S>,
        h: f64,
    ) -> Projected<S> {
        projector.step(&RK4, |x| field.value(x), x, h)
    }

    fn tableau_step<F: Field, const STAGES: usize>(
        tableau: &Tableau<STAGES>,
        field: &F,
        x: &mut F::Vector,
        h: f64,
    ) {
        tableau.step(|x| field.value(x), x, h);
    }

    fn integrator_step<F: Field, const STAGES: usize>(
        integrator: &mut Integrator<'_, F, STAGES>,
        until: f64,
    ) -> Result<(), StepError<F::Vector>> {
        integrator.step(until)
    }

    fn dense_output<F: Field, const STAGES: usize>(
        integrator: &mut Integrator<'_, F, STAGES>,
    ) -> DenseOutput<F::Vector> {
        integrator.dense_output()
    }

    fn interpolate<V: Entries<f64>>(output: &DenseOutput<V>, time: f64) -> V {
        output.at(time)
    }

    fn hamel_step<S: HamelSystem>(
        method: &mut DiscreteHamel<S>,
        h: f64,
    ) -> Result<(), StepError<Vector<S>>> {
        method.step(h)
    }

    fn one_step<O: OneStep<V>, V>(method: &O, x: &mut V, h: f64) {
        method.step(x, h);
    }
}
