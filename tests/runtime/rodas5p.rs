//! Rodas5P on systems that are stiff, and on what runs by every method have.

use fbint_runtime::{
    Cause, DifferentiableSystem, Direction, Driven, Error, Event, Feedback, FeedbackSystem, Field, Gains,
    GeneratedSystem, Held, Integrator, Method, PlainField, Projection, Run, Sensitivity, Simulation, StepFailure,
    Tolerance, feedback_system,
};

use fbint_runtime::{Ensemble, EnsembleGains, EnsembleRun, Settings};

use super::resumption::assert_resumes;
use super::stiff::{Hires, Pendulum, PendulumState, Robertson, SpringPendulum, SpringPendulumState, VanDerPol};
use super::vectors::{distance, largest};

/// A cart with a motor and a damper, and a pole.
#[feedback_system(
    coordinates(x, theta),
    velocities(v, w),
    input(thrust),
    lagrangian = (v.powi(2) + w.powi(2)) / 2 + v * w * theta.cos() / 2 - theta.cos(),
    force(v = thrust - c * v, w = -w),
    derivatives,
)]
#[derive(Clone)]
pub(crate) struct CartPole {
    pub(crate) c: f64,
}

/// A mass that is driven back and forth, with a spring that gets harder.
#[feedback_system(
    coordinates(x),
    momenta(p),
    time(t),
    hamiltonian = p.powi(2) / 2 + (1 + t) * x.powi(2) / 2 - x * (3 * t).sin(),
    derivatives,
)]
#[derive(Clone)]
pub(crate) struct Shaken;

/// A tank that empties through a hole. The rate of the level has no derivative where it is empty.
#[feedback_system(state(level), dynamics(level = -level.sqrt()), derivatives)]
pub(crate) struct Tank;

/// Without derivatives.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
pub(crate) struct Oscillator;

fn rodas(rtol: f64, atol: f64) -> Method {
    Method::Rodas5P { rtol, atol: Some(atol) }
}

/// Steps that are as exact as doubles are, where nothing is too stiff for them.
const EXACT: Method = Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) };

fn run<S: GeneratedSystem>(system: &S, start: S::Vector<f64>, method: Method, until: f64) -> Run<S> {
    Simulation::new(system, start).unwrap().run(method, until).unwrap()
}

fn end<S: GeneratedSystem>(run: &Run<S>) -> S::Vector<f64> {
    run.state().into()
}

/// The largest change of an integral.
fn worst<S: GeneratedSystem>(run: &Run<S>) -> f64 {
    run.drift().integrals().map(|integral| integral.max).fold(0.0, f64::max)
}

/// The largest error relative to an entry.
fn relative<const N: usize>(found: &[f64; N], exact: &[f64; N]) -> f64 {
    largest(&std::array::from_fn::<f64, N, _>(|i| found[i] / exact[i] - 1.0))
}

const SHAKEN: [f64; 4] = [1.0, 0.5, 0.0, 0.0];

/// The tolerance is met by all steps, so that they are of one size, but for the first few, whose size is guessed.
#[test]
fn errors_fall_with_the_fifth_power_of_steps_and_those_of_dense_output_with_theirs() {
    let field = PlainField::new(&Shaken);
    let exact = Simulation::new(&Shaken, SHAKEN).unwrap().dense().run(EXACT, 2.0).unwrap();
    let errors = |steps: u32| {
        let h = 2.0 / f64::from(steps);
        let mut integrator = Integrator::rodas5p(&field, SHAKEN, Tolerance::new(1e9, 1e9).unwrap()).unwrap();
        let mut between = 0.0_f64;
        for step in 1..=steps {
            while integrator.time() < h * f64::from(step) {
                integrator.step(h * f64::from(step)).unwrap();
            }
            let dense = integrator.dense_output();
            for part in 1..4 {
                let time = h * (f64::from(step) - 0.25 * f64::from(part));
                between = between.max(distance(&dense.at(time), &exact.at(time).unwrap().into()));
            }
        }
        [distance(integrator.state(), &end(&exact)), between]
    };
    let ([coarse, coarse_between], [fine, fine_between]) = (errors(20), errors(80));
    let slopes = [coarse / fine, coarse_between / fine_between].map(|ratio| ratio.log2() / 2.0);
    assert!((4.8..5.6).contains(&slopes[0]) && (4.5..5.3).contains(&slopes[1]), "{slopes:?}");
}

/// F. Mazzia and C. Magherini, *Test Set for Initial Value Problem Solvers*, release 2.4 (2008), has the solutions.
#[test]
fn stiff_problems_of_the_test_set_are_solved() {
    let robertson = run(&Robertson, Robertson::START, rodas(1e-9, 1e-20), Robertson::UNTIL);
    let exact = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.999999979166505];
    assert!(relative(&end(&robertson), &exact) < 1e-6 && robertson.steps() < 2000, "{robertson:?}");

    let hires = run(&Hires, Hires::START, rodas(1e-9, 1e-12), Hires::UNTIL);
    let exact = [
        0.7371312573325668e-3,
        0.1442485726316185e-3,
        0.5888729740967575e-4,
        0.1175651343283149e-2,
        0.2386356198831331e-2,
        0.6238968252742796e-2,
        0.2849998395185769e-2,
        0.2850001604814231e-2,
    ];
    assert!(relative(&end(&hires), &exact) < 1e-8 && hires.steps() < 1500, "{hires:?}");

    let van_der_pol = run(&VanDerPol { mu: 1e6 }, VanDerPol::START, rodas(1e-9, 1e-9), VanDerPol::UNTIL);
    let exact = [0.1706167732170483e1, -0.8928097010247975];
    assert!(relative(&end(&van_der_pol), &exact) < 1e-7 && van_der_pol.steps() < 5000, "{van_der_pol:?}");
}

/// The solutions are Taylor series of order 30 in 40 digits, which do not change with shorter steps.
#[test]
fn a_pendulum_swings_on_stiff_springs() {
    let solutions = [
        (1e4, [0.787_163_379_341_287_9, -0.619_690_574_822_011_7, 2.147_759_695_750_123, 2.740_865_996_674_751]),
        (1e6, [0.793_502_780_872_620_4, -0.608_596_054_526_375_6, 2.102_888_866_994_014, 2.741_932_206_587_685]),
        (1e8, [0.793_565_561_262_699_3, -0.608_485_051_691_555_9, 2.102_442_386_276_691, 2.741_935_360_236_315_7]),
    ];
    for (k, exact) in solutions {
        let pendulum = SpringPendulum { k, g: 9.81 };
        let error = |tolerance: f64| {
            let run = run(&pendulum, SpringPendulum::START, rodas(tolerance, tolerance), 2.0);
            assert!(run.steps() < 3000, "{k}: {}", run.steps());
            distance(&end(&run), &exact)
        };
        assert!(error(1e-6) < 3e-5, "{k}: {}", error(1e-6));
        assert!(k > 1e4 || error(1e-9) < 3e-8, "{k}: {}", error(1e-9));
    }
}

/// Explicit methods need more than 100,000 steps. Where the pendulum is at t = 5, to 50 digits: by Taylor series of order 40 in 60 digits
/// of Newton's equations with the tension of the rod, and again of the height z and the azimuth, z'' = -(1 - z^2) - 2 z (E - z) and
/// L / (1 - z^2). On the sphere the feedback vanishes.
#[test]
fn feedback_may_be_strong() {
    let exact = [
        0.607_210_070_855_557_4,
        0.789_413_763_912_649_6,
        0.090_121_247_199_827_5,
        0.845_377_135_534_333,
        -0.547_829_605_400_727_9,
        -0.897_205_510_327_814_3,
    ];
    let simulation = || Simulation::new(&Pendulum, Pendulum::START).unwrap();
    let run = simulation().gains(Gains::uniform(1e4)).run(rodas(1e-9, 1e-9), 5.0).unwrap();
    assert!(distance(&end(&run), &exact) < 2e-6 && run.steps() < 5000, "{run:?}");
    assert!(worst(&run) < 1e-9, "{}", run.drift());
    let projected = simulation().run(rodas(1e-9, 1e-9), 5.0).unwrap();
    assert!(distance(&end(&projected), &exact) < 1e-7 && projected.steps() < 300, "{projected:?}");
    assert!(worst(&projected) < 1e-13, "{}", projected.drift());
}

/// Off the sphere, and with another energy: within a thousandth of the unit of time the feedback has moved it back, and along the sphere, too.
/// The end is that of x' = X - k sum_i (F_i - target_i) grad F_i, with the multipliers that keep |q|^2 and q.p everywhere, by Taylor series
/// of order 48 in 60 digits with steps of 5e-6 until 0.002 and then of 4.9e-5; half of them, of order 40, leave 30 digits as they are.
#[test]
fn strong_feedback_moves_back_what_is_far_away() {
    let field = Feedback::new(&Pendulum, &Pendulum::START, Gains::uniform(1e4)).unwrap();
    let exact = [
        0.057_546_908_222_634_22,
        0.994_856_346_933_705_7,
        0.083_361_875_697_095_01,
        0.997_442_288_647_652,
        -0.133_598_983_442_486_56,
        0.905_834_665_403_283_2,
    ];
    let away = [0.0, 1.05, 0.02, 0.95, 0.1, 1.0];
    let mut integrator = Integrator::rodas5p(&field, away, Tolerance::new(1e-9, 1e-9).unwrap()).unwrap();
    integrator.advance_to(0.1).unwrap();
    let error = distance(integrator.state(), &exact);
    assert!(error < 1e-7 && integrator.steps() < 500, "{error} in {} steps", integrator.steps());
}

const UPRIGHT: [f64; 6] = [0.0, 0.3, 0.1, 0.0, 0.0, 0.0];

fn at(thrust: f64) -> CartPoleInput {
    CartPoleInput { thrust }
}

/// A damper, and a controller whose gain the field knows nothing of.
#[test]
fn dampers_and_controllers_may_be_strong() {
    let cart = CartPole { c: 1e5 };
    let controller = |t: f64, state: &CartPoleState| at(1e5 * ((3.0 * t).sin() - state.x) - 2e5 * state.v);
    let run = |method| Simulation::new(&cart, UPRIGHT).unwrap().input(controller).run(method, 1.0).unwrap();
    let (found, exact) = (run(rodas(1e-7, 1e-7)), run(Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) }));
    assert!(
        distance(&end(&found), &end(&exact)) < 1e-4 * largest(&end(&exact)),
        "{:?} {:?}",
        found.state(),
        exact.state()
    );
    assert!(200 * found.steps() < exact.steps(), "{} and {}", found.steps(), exact.steps());
}

/// The solution is a Taylor series in 113 bits, of which `benches/implicit.py` has the equations.
#[test]
fn a_cart_is_held_by_a_strong_damper_and_a_strong_controller() {
    let (cart, exact) = (
        CartPole { c: 1e5 },
        [0.013_532_852_693_225_702, 0.765_288_979_992_812, -0.013_533_218_993_983_576, 0.438_833_987_230_504_26],
    );
    let simulation = Simulation::new(&cart, [0.1, 0.3, 0.0, 0.0, 0.0, 0.0]).unwrap();
    let run = simulation.input(|_, state: &CartPoleState| at(-1e5 * state.x)).run(rodas(1e-9, 1e-9), 2.0).unwrap();
    let state = end(&run);
    let error = distance(&[state[0], state[1], state[2], state[3]], &exact);
    assert!(error < 1e-8 && run.steps() < 500, "{error} in {} steps, {state:?}", run.steps());
}

#[test]
fn steps_end_where_inputs_jump() {
    let cart = CartPole { c: 1.0 };
    let run = |method| {
        let table = Held::new([(0.0, at(4.0)), (0.3, at(-30.0)), (0.7, at(10.0))], 1.0).unwrap();
        Simulation::new(&cart, UPRIGHT).unwrap().input(table).run(method, 1.0).unwrap()
    };
    let (found, exact) = (run(rodas(1e-9, 1e-9)), run(EXACT));
    assert!(distance(&end(&found), &end(&exact)) < 1e-7, "{:?} {:?}", found.state(), exact.state());
    let has_step_at = |time| found.trajectory().iter().any(|sample| sample.time == time);
    assert!(has_step_at(0.3) && has_step_at(0.7) && found.steps() < 120, "{}", found.steps());
}

/// The Jacobian of a field against central differences.
fn assert_jacobian<const N: usize>(field: &impl Field<Vector = [f64; N]>, x: [f64; N]) {
    let mut jacobian = [[0.0; N]; N];
    let add = &mut |row: usize, column: usize, value: f64| {
        if column < N {
            jacobian[row][column] += value;
        }
    };
    assert!(field.jacobian(&x, add));
    for column in 0..N {
        let [below, above] = [-1e-5, 1e-5].map(|change| {
            let mut x = x;
            x[column] += change;
            field.value(&x)
        });
        for row in 0..N {
            let (found, expected) = (jacobian[row][column], (above[row] - below[row]) / 2e-5);
            assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "({row}, {column}): {found} {expected}");
        }
    }
}

#[test]
fn jacobians_are_those_of_the_field_with_time_feedback_and_inputs() {
    assert_jacobian(&PlainField::new(&Shaken), [0.7, -0.3, 0.9, 0.2]);
    let x = [0.1, 0.9, -0.2, 1.0, 0.1, 1.1];
    assert_jacobian(&PlainField::new(&Pendulum), x);
    assert_jacobian(&Feedback::new(&Pendulum, &Pendulum::START, Gains::uniform(3.0)).unwrap(), x);
    let gains = Gains::diagonal(std::array::from_fn(|i| 1.0 + i as f64));
    assert_jacobian(&Feedback::new(&Pendulum, &Pendulum::START, gains).unwrap(), x);
    let x = [0.2, 0.3, 0.1, -0.4, 0.5, 0.3];
    let controller = |t: f64, state: &CartPoleState| at((3.0 * t).sin() * state.x - state.v.powi(2));
    let field = Feedback::new(&CartPole { c: 2.0 }, &UPRIGHT, Gains::uniform(3.0)).unwrap();
    assert_jacobian(&Driven::new(field, controller), x);
    assert_jacobian(&Driven::new(PlainField::new(&CartPole { c: 2.0 }), controller), x);
}

#[test]
fn runs_resume_bit_by_bit() {
    let pendulum = || Simulation::new(&Pendulum, Pendulum::START).unwrap();
    let zero = || Event::new("level", |_, state: &PendulumState| state.q[2]);
    let run = |method| move |simulation: Simulation<'static, Pendulum>| simulation.run(method, 5.0);
    assert_resumes(pendulum, run(rodas(1e-8, 1e-8)));
    assert_resumes(|| pendulum().event(zero()).record_every(0.017), run(rodas(1e-8, 1e-8)));
    assert_resumes(|| pendulum().gains(Gains::uniform(50.0)), |simulation| simulation.run(rodas(1e-6, 1e-6), 2.0));
    let shaken = || Simulation::new(&Shaken, SHAKEN).unwrap().projected(Projection::default());
    assert_resumes(shaken, |simulation| simulation.run(rodas(1e-8, 1e-8), 9.0));
}

#[test]
fn events_are_found_in_steps() {
    let run = |method| {
        let low = Event::new("low", |_, state: &SpringPendulumState| state.q[0]).falling().terminal();
        let pendulum = SpringPendulum { k: 1e4, g: 9.81 };
        let run = Simulation::new(&pendulum, SpringPendulum::START).unwrap().event(low).run(method, 2.0);
        run.unwrap().time()
    };
    let (found, exact) = (run(rodas(1e-9, 1e-9)), run(EXACT));
    assert!((found - exact).abs() < 1e-8, "{found} {exact}");
}

fn failed<S: GeneratedSystem>(system: &S, start: S::Vector<f64>) -> (fbint_runtime::Failure, String) {
    match Simulation::new(system, start).unwrap().run(rodas(1e-6, 1e-6), 3.0) {
        Err(Error::Failed(failure)) => (*failure.clone(), failure.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn steps_that_cannot_be_made_are_named_with_the_last_good_state() {
    let (failure, message) = failed(&Tank, [0.0]);
    assert_eq!(failure.cause, Cause::Step { reason: StepFailure::Jacobian { entry: 0 }, entry: Some("level") });
    assert!(
        message.contains("stopped at t = 0.0, where level = 0.0: the rate of `level` has a derivative"),
        "{message}"
    );

    // Empty at t = 2, and its rate is not a number beyond.
    let (failure, message) = failed(&Tank, [1.0]);
    assert!(matches!(failure.cause, Cause::Step { entry: Some("level"), .. }), "{failure:?}");
    assert!(failure.last_time > 1.99 && failure.last_state[0] >= 0.0, "{message}");
}

#[test]
fn what_has_no_jacobian_is_refused_with_what_would_do() {
    let refusal = Simulation::new(&Oscillator, [1.0, 0.0]).unwrap().run(rodas(1e-6, 1e-6), 1.0).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "Rodas5P cannot integrate `Oscillator`: its derivatives are not generated; declare it with the key `derivatives`"
    );
    let simulation = Simulation::new(&Pendulum, Pendulum::START).unwrap().gains(Gains::relaxation(0.1));
    let refusal = simulation.run(rodas(1e-6, 1e-6), 1.0).unwrap_err().to_string();
    assert!(refusal.contains("choose constant gains or a projection"), "{refusal}");
    let refusal = Simulation::new(&Pendulum, Pendulum::START).unwrap().run(rodas(0.0, 1e-6), 1.0).unwrap_err();
    assert!(refusal.to_string().contains("rtol"), "{refusal}");
}

/// The derivatives of a step, from central differences of steps.
fn assert_sensitivity<S: GeneratedSystem + DifferentiableSystem<Vector<f64> = [f64; N]> + Clone, const N: usize>(
    system: &S,
    sensitivity: impl Fn(&S) -> Sensitivity<S>,
    start: [f64; N],
    h: f64,
    direction: Direction<S>,
) {
    let step = |size: f64| {
        let mut system = system.clone();
        for (i, change) in direction.parameters.as_ref().iter().enumerate() {
            *system.parameter_mut(i).unwrap() += size * change;
        }
        let start = std::array::from_fn(|i| start[i] + size * direction.state[i]);
        sensitivity(&system).rodas5p_step(&start, h, &[]).unwrap().0
    };
    let (end, [change]) = sensitivity(system).rodas5p_step(&start, h, &[direction]).unwrap();
    assert_eq!(end, step(0.0));
    let [below, above] = [step(-1e-5), step(1e-5)];
    let differences: [f64; N] = std::array::from_fn(|i| (above[i] - below[i]) / 2e-5);
    let error = distance(&change, &differences);
    assert!(error < 1e-7 * (1.0 + largest(&differences)), "{}: {error}, {change:?} {differences:?}", S::FACTS.name);
}

#[test]
fn derivatives_of_steps_are_those_of_the_numbers() {
    let plain = |system: &SpringPendulum| Sensitivity::new(system.prepare());
    let mut direction = Direction::of_state([0.3, -0.2, 0.5, 0.1]);
    direction.parameters = [100.0, -2.0];
    let spring = SpringPendulum { k: 1e3, g: 9.81 };
    assert_sensitivity(&spring, plain, [1.01, 0.1, 0.2, -0.3], 0.05, direction);
    let direction = Direction::of_state([0.1, 0.2, -0.3, 0.5, 0.4, -0.2]);
    assert_sensitivity(&Pendulum, |system| Sensitivity::new(system.prepare()), Pendulum::START, 0.3, direction);
    let feedback =
        |system: &Pendulum| Feedback::new(system, &Pendulum::START, Gains::uniform(50.0)).unwrap().sensitivity();
    assert_sensitivity(&Pendulum, feedback, Pendulum::START, 0.02, direction);
    let mut direction = Direction::of_state([0.1, 0.2, -0.3, 0.5, 0.0, 0.0]);
    direction.parameters = [1.0];
    let cart = CartPole { c: 20.0 };
    assert_sensitivity(
        &cart,
        |system| Sensitivity::new(system.prepare()),
        [0.2, 0.3, 0.1, -0.4, 0.5, 0.3],
        0.1,
        direction,
    );
    // The shaken mass has the time in its state, and in its forces.
    let direction = Direction::of_state([0.1, 0.2, 1.0, 0.0]);
    assert_sensitivity(&Shaken, |system| Sensitivity::new(system.prepare()), SHAKEN, 0.2, direction);
}

/// A run that follows an integrator, beside runs from starts that differ.
#[test]
fn derivatives_of_runs_follow_an_integrator() {
    let (pendulum, start) = (SpringPendulum { k: 1e6, g: 9.81 }, SpringPendulum::START);
    let (field, sensitivity) = (PlainField::new(&pendulum), Sensitivity::<SpringPendulum>::new(pendulum.prepare()));
    let mut integrator = Integrator::rodas5p(&field, start, Tolerance::new(1e-8, 1e-8).unwrap()).unwrap();
    let [mut below, mut above] = [-1e-6, 1e-6].map(|change| [1.0, change, 0.0, 0.0]);
    let (mut state, mut direction) = (start, Direction::of_state([0.0, 1.0, 0.0, 0.0]));
    while integrator.time() < 1.0 {
        let before = integrator.time();
        integrator.step(1.0).unwrap();
        let h = integrator.time() - before;
        let along = sensitivity.rodas5p_step(&state, h, &[direction]).unwrap();
        (state, [direction.state]) = along;
        [below, above] = [below, above].map(|x| sensitivity.rodas5p_step(&x, h, &[]).unwrap().0);
    }
    assert!(distance(&state, integrator.state()) < 1e-9, "{state:?} {:?}", integrator.state());
    let differences: [f64; 4] = std::array::from_fn(|i| (above[i] - below[i]) / 2e-6);
    assert!(distance(&direction.state, &differences) < 1e-5 * largest(&differences), "{direction:?} {differences:?}");
}

/// All that members of an ensemble come to, in lanes and one by one: every sample, and what is wrong with those that fail.
fn in_lanes_and_alone<S: FeedbackSystem + Sync, G: EnsembleGains<S>>(
    ensemble: impl Fn() -> Ensemble<'static, S, G>,
    until: f64,
) -> [String; 2] {
    let settings = Settings { every: Some(until / 7.0), ..Settings::new(rodas(1e-6, 1e-8), until) };
    let settings = [settings, Settings { projection: Some(Projection::default()), ..settings }];
    let told = |run: EnsembleRun<S>| {
        let trajectories: Vec<_> = (0..run.ends().len()).map(|member| run.trajectory(member)).collect();
        format!("{:?}\n{trajectories:?}", run.ends())
    };
    let lanes = settings.map(|settings| told(ensemble().keep_trajectories().run_with(&settings).unwrap()));
    let alone = settings.map(|settings| told(ensemble().keep_trajectories().run_one_by_one(&settings).unwrap()));
    [lanes, alone].map(|told| told.concat())
}

/// More members than lanes, so that some take the lanes of others.
#[test]
fn members_of_an_ensemble_take_the_steps_of_their_own_runs() {
    let spread = |member: u32| 1.0 + 0.01 * f64::from(member);
    let pendulums = || (0..40).map(move |member| [0.0, 1.0, 0.0, spread(member), 0.0, spread(2 * member)]);
    let carts: &[CartPole] = Box::leak((0..40).map(|member| CartPole { c: 1e3 * spread(member).powi(20) }).collect());
    let tilted = || (0..40).map(move |member| [0.0, 0.1 * spread(member), 0.0, 0.0, 0.0, 0.0]);
    let reactions = || (0..40).map(move |member| Robertson::START.map(|entry| entry * spread(member)));
    let shaken = || (0..40).map(move |member| SHAKEN.map(|entry| entry * spread(member)));
    // Every third is soon empty, where its Jacobian is infinite.
    let tanks = || (0..40).map(move |member| [if member % 3 == 0 { 1e-2 } else { 4.0 * spread(member) }]);
    let told = [
        in_lanes_and_alone(|| Ensemble::new(&Pendulum, pendulums()), 3.0),
        in_lanes_and_alone(|| Ensemble::new(&Pendulum, pendulums()).gains(Gains::uniform(1e3)), 3.0),
        in_lanes_and_alone(|| Ensemble::over_systems(carts, tilted()), 1.0),
        in_lanes_and_alone(|| Ensemble::new(&Robertson, reactions()), 1e5),
        in_lanes_and_alone(|| Ensemble::new(&Shaken, shaken()), 5.0),
        in_lanes_and_alone(|| Ensemble::new(&Tank, tanks()), 1.0),
    ];
    for [in_lanes, alone] in &told {
        assert!(in_lanes == alone, "{in_lanes}\n{alone}");
    }
    assert!(told[5][0].contains("Err") && told[5][0].contains("Ok"), "{}", told[5][0]);
}

/// They are not known where gains follow from the state.
#[test]
fn an_ensemble_without_jacobians_says_so_for_each_member() {
    let ensemble = Ensemble::new(&Pendulum, [Pendulum::START; 2]).gains(Gains::relaxation(0.1));
    let run = ensemble.run(rodas(1e-6, 1e-6), 1.0).unwrap();
    assert_eq!(run.failures().filter(|(_, error)| matches!(error, Error::NotApplicable { .. })).count(), 2);
}
