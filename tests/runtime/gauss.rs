//! Gauss's methods: orders, what they keep to rounding, and how they take part in runs.

use std::array;
use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;

use super::common::amount;
use super::models::SphericalPendulum;
use super::models::{Angle, FOUR_BAR, FourBar, KEPLER, Kepler, PLANAR_PENDULUM, PlanarPendulum, SPHERICAL_PENDULUM};
use super::vectors::distance;
use fbint_runtime::{
    Event, FeedbackSystem, Gains, GaussStages, GeneratedSystem, Held, Integrals, Method, PreparedSystem, Projection,
    Run, Settings, Simulation, Vector, feedback_system,
};

/// The Hénon-Heiles system with the derivatives u of q and v of p by the start, column by column. A step of it by a Runge-Kutta method
/// has in (u, v) the derivative of the step in (q, p).
#[feedback_system(
    state(q: [2], p: [2], u: [2, 4], v: [2, 4]),
    define(
        force = -vector![q[0] + 2 * q[0] * q[1], q[1] + q[0].powi(2) - q[1].powi(2)],
        slope = -matrix![1 + 2 * q[1], 2 * q[0]; 2 * q[0], 1 - 2 * q[1]],
    ),
    dynamics(q = p, p = force, u = v, v = slope * u),
    invariant(energy = (p.norm_squared() + q.norm_squared()) / 2 + q[0].powi(2) * q[1] - q[1].powi(3) / 3),
)]
struct Variations;

/// A mass on rails with a motor.
#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / (2 * m), input(thrust), force(p = thrust))]
struct Trolley {
    m: f64,
}

/// A mass on a spring.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + k * q.powi(2)) / 2)]
struct Spring {
    k: f64,
}

fn gauss(stages: usize, h: f64) -> Method {
    let stages = match stages {
        2 => GaussStages::Two,
        4 => GaussStages::Four,
        _ => GaussStages::Eight,
    };
    Method::Gauss { stages, h }
}

/// The largest change of any integral.
fn worst<S: FeedbackSystem>(run: &Run<S>) -> f64 {
    run.drift().integrals().map(|integral| integral.max).fold(0.0, f64::max)
}

/// The end of the steps of a method.
fn end<S: FeedbackSystem>(system: &S, start: Vector<S>, method: Method, until: f64) -> Vector<S> {
    Simulation::new(system, start).unwrap().final_state(&Settings::new(method, until)).unwrap().into()
}

/// The order is that at which errors fall from some steps to twice as many.
fn assert_order(stages: usize, steps: u32, error: impl Fn(u32) -> f64) {
    let (order, nominal) = ((error(steps) / error(2 * steps)).log2(), 2.0 * stages as f64);
    assert!((order - nominal).abs() < 0.02 * nominal, "order {order}, nominal {nominal}");
}

#[test]
fn orders_are_4_8_and_16() {
    for (stages, steps) in [(2, 64), (4, 32)] {
        let start = Kepler::start(0.1);
        // After a period the orbit is closed.
        let after_period = |steps: u32| end(&KEPLER, start, gauss(stages, TAU / f64::from(steps)), TAU);
        assert_order(stages, steps, |steps| distance(&after_period(steps), &start));
    }
    let exact = [16_f64.cos(), -16_f64.sin()];
    assert_order(8, 4, |steps| {
        distance(&end(&Spring { k: 1.0 }, [1.0, 0.0], gauss(8, 16.0 / f64::from(steps)), 16.0), &exact)
    });
}

#[test]
fn steps_are_symplectic_to_rounding() {
    for (stages, h) in [(2, 0.5), (4, 0.5), (8, 1.0)] {
        let mut start = [0.0; 20];
        start[..4].copy_from_slice(&[0.1, 0.3, 0.35, -0.1]);
        // Matrices are flat by columns: u = (1, 0), v = (0, 1).
        (start[4], start[7], start[16], start[19]) = (1.0, 1.0, 1.0, 1.0);
        let x = end(&Variations, start, gauss(stages, h), h);
        let column = |j: usize| [x[4 + 2 * j], x[5 + 2 * j], x[12 + 2 * j], x[13 + 2 * j]];
        let form = |a: [f64; 4], b: [f64; 4]| a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1];
        let is_flow = distance(&column(0), &[1.0, 0.0, 0.0, 0.0]) > 0.1;
        assert!(is_flow, "{stages} stages: {x:?}");
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let standard = f64::from(j == i + 2) - f64::from(i == j + 2);
            let error = form(column(i), column(j)) - standard;
            assert!(error.abs() < 1e-14, "{stages} stages, ({i}, {j}): {error}");
        }
    }
}

#[test]
fn steps_backwards_undo_steps_to_rounding() {
    let turned = |x: [f64; 6]| array::from_fn(|i| if i < 3 { x[i] } else { -x[i] });
    for (stages, h) in [(2, 0.02), (4, 0.05), (8, 0.1)] {
        let start = Kepler::start(0.5);
        let there = end(&KEPLER, start, gauss(stages, h), 10.0);
        let back = turned(end(&KEPLER, turned(there), gauss(stages, h), 10.0));
        assert!(distance(&back, &start) < 1e-12, "{stages} stages: {}", distance(&back, &start));
        assert!(distance(&there, &start) > 0.1);
    }
}

/// Brouwer's law: what rounding does to integrals grows like the square root of time. A bias of a tenth of a rounding in each step
/// would be 250 roundings after these, or a thousand where the test is thorough.
#[test]
fn integrals_walk_at_random_under_rounding() {
    let (system, start) = (KEPLER.prepare(), Kepler::start(0.3));
    let (steps, most) = amount((2_500.0, 25.0), (1e4, 50.0));
    let before: Integrals<Kepler> = system.integrals(&start);
    // The error of the method itself, in the energy, is below rounding with eight stages alone.
    for (stages, per_period, kept) in [(2, 64.0, 1..4), (4, 64.0, 1..4), (8, 24.0, 0..4)] {
        let h = TAU / per_period;
        let after = system.integrals(&end(&KEPLER, start, gauss(stages, h), steps * h));
        for i in kept {
            let change = (after[i] - before[i]) / f64::EPSILON;
            assert!(change.abs() < most, "{stages} stages: {change} roundings of {}", Kepler::FACTS.integrals[i].name);
        }
    }
}

#[test]
fn stages_are_predicted_by_the_step_before() {
    let evaluations = |until: f64| {
        let run = Simulation::new(&KEPLER, Kepler::start(0.1)).unwrap().run(gauss(8, 0.1), until).unwrap();
        run.evaluations() as f64 / run.steps() as f64
    };
    let (first, all) = (evaluations(0.1), evaluations(10.0));
    assert!(all < 0.8 * first, "{first} in the first step, {all} on average");
}

/// An ensemble has its members in lanes. A run has its stages there if they fill them; with feedback, stages are evaluated one by one.
#[test]
fn results_do_not_depend_on_what_is_in_lanes() {
    let members = || (0..27).map(|member| 0.1 + 0.02 * f64::from(member));
    assert_ends_of_ensembles(&KEPLER, members().map(Kepler::start).collect());
    assert_ends_of_ensembles(&Angle { g: 1.0 }, members().map(|momentum| [0.5, momentum]).collect());
}

fn assert_ends_of_ensembles<S: FeedbackSystem + Sync>(system: &S, starts: Vec<Vector<S>>)
where
    Vector<S>: PartialEq,
{
    use fbint_runtime::Ensemble;

    for stages in [2, 4, 8] {
        let (method, gains) = (gauss(stages, 0.07), Gains::uniform(0.1));
        let plain = Ensemble::new(system, starts.clone()).run(method, 2.0).unwrap();
        let fed_back = Ensemble::new(system, starts.clone()).gains(gains).run(method, 2.0).unwrap();
        for (member, start) in starts.iter().enumerate() {
            let simulation = || Simulation::new(system, *start).unwrap();
            let run: Vector<S> = simulation().run(method, 2.0).unwrap().state().into();
            assert_eq!(plain.ends()[member].as_ref().unwrap().state, run, "{member}");
            let run: Vector<S> = simulation().gains(gains).run(method, 2.0).unwrap().state().into();
            assert_eq!(fed_back.ends()[member].as_ref().unwrap().state, run, "{member}");
        }
    }
}

/// Where velocities follow from momenta alone, an iteration has the new momenta in the new coordinates.
#[test]
fn a_constant_mass_matrix_halves_the_iterations() {
    let evaluations = |run: Result<Run<Spring>, _>| run.map(|run| run.evaluations()).unwrap();
    let simulation = || Simulation::new(&Spring { k: 1.0 }, [1.0, 0.0]).unwrap();
    let method = gauss(8, 0.5);
    let (plain, with_feedback) = (
        evaluations(simulation().run(method, 50.0)),
        // So weak that the motion is the same.
        evaluations(simulation().gains(Gains::uniform(1e-14)).run(method, 50.0)),
    );
    assert!(10 * plain < 7 * with_feedback, "{plain} {with_feedback}");
}

#[test]
fn what_does_not_converge_is_said() {
    let spring = Spring { k: 1e6 };
    let method = gauss(4, 0.1);
    let error = Simulation::new(&spring, [1.0, 0.0]).unwrap().run(method, 1.0).unwrap_err().to_string();
    for words in ["stopped at t = 0.0", "do not converge", "stiff", "shorter step", "Rodas5P"] {
        assert!(error.contains(words), "{error}");
    }
    let simulation = Simulation::new(&PLANAR_PENDULUM, PlanarPendulum::start()).unwrap().gains(Gains::uniform(1e5));
    let error = simulation.run(method, 1.0).unwrap_err().to_string();
    assert!(error.contains("do not converge"), "{error}");
}

#[test]
fn projection_and_feedback_hold_constraints() {
    // Constraints that are quadratic need neither.
    let run = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().run(gauss(4, 0.02), 10.0).unwrap();
    assert!(worst(&run) < 2e-14, "{}", worst(&run));
    let kepler = |project: bool| {
        let simulation = Simulation::new(&KEPLER, Kepler::start(0.3)).unwrap();
        let simulation = if project { simulation.projected(Projection::default()) } else { simulation };
        simulation.run(gauss(2, 0.05), 10.0).unwrap()
    };
    let (plain, projected) = (worst(&kepler(false)), worst(&kepler(true)));
    assert!(plain > 1e-7 && projected < 1e-14, "{plain} without projection, {projected} with it");

    let start = SphericalPendulum::start();
    let run = |method| {
        let simulation = Simulation::new(&SPHERICAL_PENDULUM, start).unwrap().gains(Gains::uniform(2.0));
        <[f64; 6]>::from(simulation.run(method, 10.0).unwrap().state())
    };
    let error = distance(&run(gauss(8, 0.1)), &run(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }));
    assert!(error < 1e-10, "{error}");
}

/// Collocation is exact for polynomials, if no stage is predicted from before a jump that it does not see.
#[test]
fn inputs_may_jump_between_steps() {
    let trolley = Trolley { m: 2.0 };
    let start = TrolleyState { x: 1.0, p: 0.0, time: 0.0, work: 0.0 };
    let table = [(0.0, TrolleyInput { thrust: 1.0 }), (0.5, TrolleyInput { thrust: -1.0 })];
    let run = || Simulation::new(&trolley, start).unwrap().input(Held::new(table, 1.0).unwrap());
    let whole = run().run(gauss(2, 0.0625), 1.0).unwrap();
    assert!((whole.state().x - 1.125).abs() < 1e-15 && whole.state().p.abs() < 1e-15, "{:?}", whole.state());
    let mut snapshot = None;
    let watched = run().watched(|moment| {
        snapshot = (moment.time() == 0.5).then(|| moment.snapshot()).or(snapshot.take());
        ControlFlow::Continue(())
    });
    watched.run(gauss(2, 0.0625), 1.0).unwrap();
    let resumed = run().from_snapshot(snapshot.unwrap()).run(gauss(2, 0.0625), 1.0).unwrap();
    assert_eq!((resumed.state(), resumed.evaluations()), (whole.state(), whole.evaluations()));
}

#[test]
fn samples_and_events_within_steps_are_as_exact_as_steps() {
    let spring = Spring { k: 1.0 };
    let simulation = || Simulation::new(&spring, [1.0, 0.0]).unwrap();
    let times: Vec<f64> = (1..50).map(|number| 0.197 * f64::from(number)).collect();
    let run = simulation().record_at(times).run(gauss(8, 0.5), 10.0).unwrap();
    for sample in run.trajectory() {
        assert!((sample.state[0] - sample.time.cos()).abs() < 1e-13, "{sample:?}");
    }
    let crossing = |state: &SpringState| state.q;
    let event = Event::new("crossing", move |_, state: &SpringState| crossing(state));
    let bounce = event.reset(|_, state: &SpringState| SpringState { q: 0.0, p: -2.0 * state.p });
    let run = simulation().event(bounce).run(gauss(8, 0.4), 10.0).unwrap();
    for (number, occurrence) in run.events().iter().enumerate() {
        let time = PI * (number as f64 + 0.5);
        assert!((occurrence.time - time).abs() < 1e-13, "{} at {}, not {time}", occurrence.name, occurrence.time);
    }
    assert_eq!(run.events().len(), 3);
    let state = run.state();
    let amplitude = 8.0 * (10.0_f64 - 2.5 * PI).sin();
    assert!((state.q.abs() - amplitude).abs() < 1e-12, "{state:?}, not {amplitude}");
}
