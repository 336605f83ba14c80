//! Inputs in simulations: constants, functions of time and state, and tables, in every stage of every method.

use fbint_runtime::{
    Cause, Error, FeedbackSystem, Field, Gains, GeneratedSystem, Held, Integrator, Method, Projection, Simulation,
    StateRole, Tolerance,
};

use super::balance::{pendulum, worst};
use super::systems::*;

const SYSTEM: CartPole = CartPole { cart: 2.0, m: 0.5, l: 0.8, g: 9.81, c: 0.3 };
const START: CartPoleState = CartPoleState { x: 0.0, theta: 0.3, v: 0.1, w: 0.0, time: 0.0, work: 0.0 };
const FINE: Method = Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) };

/// Position and angle.
fn place(state: &CartPoleState) -> [f64; 2] {
    [state.x, state.theta]
}

fn distance(one: &CartPoleState, other: &CartPoleState) -> f64 {
    let (one, other) = (place(one), place(other));
    (one[0] - other[0]).hypot(one[1] - other[1])
}

fn at(thrust: f64) -> CartPoleInput {
    CartPoleInput { thrust }
}

/// The order of every method, with an input that changes during its steps.
#[test]
fn inputs_are_evaluated_at_every_stage() {
    let wave = |t: f64, state: &CartPoleState| at(3.0 * (5.0 * t).cos() - state.v);
    let simulation = || Simulation::new(&SYSTEM, START).unwrap().without_feedback().input(wave);
    let exact = simulation().run(FINE, 1.0).unwrap().state();
    type Fixed = fn(f64) -> Method;
    let methods: [(Fixed, f64); 4] = [
        (|h| Method::Euler { h }, 1.0),
        (|h| Method::Midpoint { h }, 2.0),
        (|h| Method::Heun { h }, 2.0),
        (|h| Method::Rk4 { h }, 4.0),
    ];
    for (method, order) in methods {
        let error = |h: f64| distance(&simulation().run(method(h), 1.0).unwrap().state(), &exact);
        let observed = (error(1e-3) / error(5e-4)).log2();
        assert!((observed - order).abs() < 0.1, "order {observed} instead of {order}");
    }
    for rtol in [1e-6, 1e-9] {
        for method in [Method::DormandPrince { rtol, atol: Some(rtol) }, Method::Dop853 { rtol, atol: Some(rtol) }] {
            let run = simulation().run(method, 1.0).unwrap();
            assert!(distance(&run.state(), &exact) < 30.0 * rtol, "{method:?}");
        }
    }
}

/// A table gives what runs from jump to jump with constant inputs give, to the order of the method.
#[test]
fn tables_are_held_from_jump_to_jump() {
    let samples = [(0.0, at(4.0)), (0.25, at(-3.0)), (0.5, at(1.0)), (0.625, at(-1.0))];
    let mut state = START;
    for (piece, (from, input)) in samples.iter().enumerate() {
        let until = samples.get(piece + 1).map_or(1.0, |(time, _)| *time);
        let input = *input;
        let run = Simulation::new(&SYSTEM, state).unwrap().input(move |_, _: &CartPoleState| input);
        state = run.from_time(*from).run(FINE, until).unwrap().state();
    }
    let table = || Held::new(samples.to_vec(), 1.0).unwrap();
    for projection in [None, Projection::by_default(&CartPole::FACTS)] {
        let simulation = || {
            let simulation = Simulation::new(&SYSTEM, START).unwrap().without_feedback();
            let simulation = projection.into_iter().fold(simulation, Simulation::projected);
            simulation.input(table())
        };
        let error = |method: Method| distance(&simulation().run(method, 1.0).unwrap().state(), &state);
        for method in [FINE, Method::DormandPrince { rtol: 1e-12, atol: Some(1e-12) }] {
            assert!(error(method) < 1e-10, "{method:?}: {:e}", error(method));
        }
        let order = (error(Method::Rk4 { h: 1.0 / 128.0 }) / error(Method::Rk4 { h: 1.0 / 256.0 })).log2();
        assert!((order - 4.0).abs() < 0.4, "order {order}");
    }
}

/// Resuming is bit-identical, also from a state at which the inputs jump.
#[test]
fn runs_with_inputs_resume() {
    use core::ops::ControlFlow;
    let table = || Held::new(vec![(0.0, at(4.0)), (0.25, at(-3.0)), (0.5, at(1.0))], 1.0).unwrap();
    for method in [Method::Rk4 { h: 1.0 / 64.0 }, Method::DormandPrince { rtol: 1e-7, atol: Some(1e-7) }] {
        let whole = Simulation::new(&SYSTEM, START).unwrap().input(table()).run(method, 1.0).unwrap();
        for stop in [0.1, 0.25, 0.5, 0.7] {
            let mut snapshot = None;
            let watch = |moment: &fbint_runtime::Moment<'_>| {
                snapshot = Some(moment.snapshot());
                if moment.time() < stop { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            Simulation::new(&SYSTEM, START).unwrap().watched(watch).input(table()).run(method, 1.0).unwrap();
            let resumed = Simulation::new(&SYSTEM, START).unwrap().from_snapshot(snapshot.unwrap());
            let resumed = resumed.input(table()).run(method, 1.0).unwrap();
            assert_eq!(resumed.state(), whole.state(), "{method:?} from {stop}");
            assert_eq!(resumed.evaluations(), whole.evaluations(), "{method:?} from {stop}");
        }
    }
}

/// The end of a run without a record is the end of the run.
#[test]
fn bare_runs_have_the_same_inputs() {
    use fbint_runtime::Settings;
    let table = || Held::new(vec![(0.0, at(4.0)), (0.25, at(-3.0))], 1.0).unwrap();
    for method in [Method::Rk4 { h: 1.0 / 64.0 }, Method::Dop853 { rtol: 1e-7, atol: Some(1e-7) }] {
        let settings = Settings { projection: Projection::by_default(&CartPole::FACTS), ..Settings::new(method, 1.0) };
        let simulation = || Simulation::new(&SYSTEM, START).unwrap().input(table());
        assert_eq!(simulation().final_state(&settings).unwrap(), simulation().run_with(&settings).unwrap().state());
    }
}

#[test]
fn integrators_without_a_simulation_end_steps_at_jumps() {
    let table = Held::new(vec![(0.0, at(4.0)), (0.25, at(-3.0))], 1.0).unwrap();
    let field = fbint_runtime::Driven::new(fbint_runtime::PlainField::new(&SYSTEM), table);
    let tolerance = Tolerance::new(1e-6, 1e-6).unwrap();
    let mut integrator = Integrator::dop853(&field, START.into(), tolerance);
    let mut ends = Vec::new();
    while integrator.time() < 1.0 {
        integrator.step(1.0).unwrap();
        ends.push(integrator.time());
    }
    assert!(ends.contains(&0.25), "{ends:?}");
    assert!(field.value(&START.into())[2].is_finite());
}

/// Feedback and projection keep the balance while a motor works.
#[test]
fn the_balance_is_kept_with_inputs() {
    let motor = |t: f64, _: &CartPoleState| at(6.0 * (2.0 * t).sin());
    let method = Method::Euler { h: 1e-3 };
    let simulation = || Simulation::new(&SYSTEM, START).unwrap();
    let plain = worst(&simulation().without_feedback().input(motor).run(method, 5.0).unwrap());
    let feedback = worst(&simulation().gains(Gains::uniform(5.0)).input(motor).run(method, 5.0).unwrap());
    let projected = worst(&simulation().input(motor).run(method, 5.0).unwrap());
    assert!(projected < 1e-7 && feedback < plain / 20.0, "{plain:e} {feedback:e} {projected:e}");
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn bad_inputs_are_named() {
    let run = |signal: fn(f64, &CartPoleState) -> CartPoleInput, method: Method| {
        Simulation::new(&SYSTEM, START).unwrap().input(signal).run(method, 2.0)
    };
    for method in [Method::Rk4 { h: 0.01 }, Method::Euler { h: 0.01 }, FINE] {
        let error = run(|t, _| at(if t > 1.0 { f64::NAN } else { 1.0 }), method).unwrap_err();
        let Error::Failed(failure) = &error else { panic!("{error}") };
        let Cause::Input(input) = failure.cause else { panic!("{error}") };
        assert_eq!(input.name, "thrust");
        assert!(input.time > 1.0 && input.time < 1.02 && failure.last_time <= 1.0 + 0.01, "{error}");
        assert!(failure.last_state.iter().all(|entry| entry.is_finite()));
        let text = error.to_string();
        assert!(text.contains("the input `thrust` is NaN at t = 1.0"), "{text}");
    }
    // Not the input's fault: the state runs away, and the input with it.
    let error = run(|_, state| at(1e3 * state.v), Method::Rk4 { h: 0.01 }).unwrap_err();
    assert!(!error.to_string().contains("thrust"), "{error}");

    let table = |samples: &[(f64, f64)], until| {
        Held::new(samples.iter().map(|(time, thrust)| (*time, at(*thrust))).collect::<Vec<_>>(), until)
    };
    let simulation = |table| Simulation::new(&SYSTEM, START).unwrap().input(table);
    let short = table(&[(0.0, 1.0), (0.5, 2.0)], 1.0).unwrap();
    let text = message(simulation(short.clone()).run(FINE, 2.0));
    assert_eq!(
        text,
        "the inputs end at t = 1.0, and the run at t = 2.0: give their values until then, or end the run with them"
    );
    let late = table(&[(0.5, 1.0)], 2.0).unwrap();
    let text = message(simulation(late).run(FINE, 2.0));
    assert_eq!(text, "the inputs begin at t = 0.5, and the run at t = 0.0: give their values from t = 0.0 on");
    let text = message(simulation(short).run(Method::Rk4 { h: 0.3 }, 0.9));
    assert!(text.starts_with("the inputs jump at t = 0.5, within a step of h = 0.3: "), "{text}");
    let text = message(table(&[(0.0, 1.0), (0.0, 2.0)], 1.0));
    assert!(text.contains("has the time 0.0 at index 1 after 0.0"), "{text}");
    assert!(message(table(&[(0.0, 1.0)], f64::NAN)).contains("at index 1"));
    assert!(message(table(&[], 1.0)).starts_with("the table of inputs is empty"));
    let nan = table(&[(0.0, f64::INFINITY)], 1.0).unwrap();
    assert!(message(simulation(nan).run(FINE, 1.0)).contains("the input `thrust` is inf at t = 0.0"));
}

#[test]
fn runs_begin_at_the_time_of_their_start() {
    let system = pendulum();
    let start = PendulumState { theta: 0.3, p: 0.1, t: 2.0, work: 0.0 };
    let run = Simulation::new(&system, start).unwrap().run(Method::Rk4 { h: 0.1 }, 3.0).unwrap();
    assert_eq!((run.trajectory()[0].time, run.state().t), (2.0, 3.0));
    let text = message(Simulation::new(&system, start).unwrap().from_time(1.0).run(FINE, 3.0));
    assert_eq!(text, "the start has `t` = 2.0, and the run begins at t = 1.0: both must be the same");
    let clock = Pendulum::FACTS.state.iter().position(|entry| entry.role == StateRole::Time);
    assert_eq!(clock, Some(2));
}

/// Other numbers take the same inputs: single precision, and several systems side by side.
#[test]
fn inputs_of_other_numbers() {
    use fbint_runtime::{DrivenSystem, Entries, Lanes, PreparedSystem, Scalar};
    let x: [f64; 6] = [0.1, 0.3, -0.4, 0.2, 0.5, 0.0];
    let thrusts: [f64; 4] = [1.0, -2.0, 0.5, 3.0];
    let alone = thrusts.map(|thrust| CartPole::with_input(SYSTEM.prepare(), [thrust]));
    let expected = alone.map(|system| system.vector_field(&x));

    type Number = Lanes<1>;
    let side_by_side = CartPole::gather::<Number>(&|lane| &alone[lane]);
    let field = side_by_side.vector_field(&x.map(Number::from_f64));
    for (lane, expected) in expected.iter().enumerate() {
        let own: [f64; 6] = Entries::from_fn(|i| field[i].lane(lane));
        assert_eq!(&own, expected);
    }

    let single = CartPole::gather::<f32>(&|_| &alone[0]);
    let again = CartPole::with_input(single, [-2.0_f32]);
    for (single, double) in again.vector_field(&x.map(|entry| entry as f32)).iter().zip(&expected[1]) {
        assert!((f64::from(*single) - double).abs() < 1e-5, "{single} {double}");
    }
}
