//! Runs: their figures for CPV22's spherical pendulum, orders of convergence, exact ends, drift, and what is refused.

use std::ops::ControlFlow;

use super::common::{PENDULUM, Pendulum, State, start};
use super::models::{FOUR_BAR, FourBar};
use super::vectors::{bits, distance};
use fbint_runtime::{
    Cause, Error, Feedback, FeedbackSystem, Field, Gains, Integrator, Method, Operations, PlainField, Projection, Run,
    Settings, Simulation, StepFailure, Tolerance, Vector,
};

const EULER: Method = Method::Euler { h: 1e-3 };
const RK4: Method = Method::Rk4 { h: 1e-3 };

fn with_feedback(method: Method, until: f64) -> Run<Pendulum> {
    let simulation = Simulation::new(&PENDULUM, start()).unwrap().gains(Gains::uniform(50.0));
    simulation.run(method, until).unwrap()
}

fn plain(method: Method, until: f64) -> Run<Pendulum> {
    Simulation::new(&PENDULUM, start()).unwrap().without_feedback().run(method, until).unwrap()
}

fn maxima(run: &Run<Pendulum>) -> Vec<f64> {
    run.drift().integrals().map(|integral| integral.max).collect()
}

fn assert_maxima(run: &Run<Pendulum>, expected: [f64; 4], relative: f64) {
    assert_eq!(maxima(run).len(), expected.len());
    for (max, expected) in maxima(run).into_iter().zip(expected) {
        assert!((max - expected).abs() <= relative * expected, "{:?} against {expected:?}", maxima(run));
    }
}

#[test]
fn euler_with_feedback_has_the_maxima_of_the_paper() {
    assert_maxima(&with_feedback(EULER, 100.0), [4.56e-5, 1.79e-5, 4.89e-5, 1.49e-5], 0.01);
}

#[test]
fn plain_euler_loses_the_integrals() {
    assert_maxima(&plain(EULER, 100.0), [0.268, 1.0e-3, 0.398, 0.285], 0.05);
}

#[test]
fn rk4_is_better_without_than_with_a_stiff_gain() {
    assert_maxima(&with_feedback(RK4, 100.0), [4.7e-9, 1.8e-9, 9.4e-9, 1.1e-8], 0.05);
    assert!(maxima(&plain(RK4, 100.0)).iter().all(|&max| max < 1e-11));
}

/// log2 of the ratio by which halving the step lowers the error of the final state.
fn order(run: impl Fn(f64) -> Run<Pendulum>, h: f64) -> f64 {
    let [coarse, middle, fine] = [h, h / 2.0, h / 4.0].map(|h| <[f64; 6]>::from(run(h).state()));
    (distance(&coarse, &middle) / distance(&middle, &fine)).log2()
}

#[test]
fn euler_has_order_1_and_rk4_order_4() {
    type Runner = fn(Method, f64) -> Run<Pendulum>;
    for run in [plain as Runner, with_feedback as Runner] {
        let euler = order(|h| run(Method::Euler { h }, 1.0), 2e-3);
        assert!((euler - 1.0).abs() < 0.05, "Euler: {euler}");
        let rk4 = order(|h| run(Method::Rk4 { h }, 1.0), 2e-3);
        assert!((rk4 - 4.0).abs() < 0.2, "RK4: {rk4}");
    }
}

#[test]
fn a_run_is_its_steps_one_after_the_other() {
    let mut x = start().into();
    let feedback = Feedback::new(&PENDULUM, &x, Gains::uniform(50.0)).unwrap();
    for _ in 0..1000 {
        feedback.rk4_step(&mut x, 1e-3);
    }
    let run = with_feedback(RK4, 1.0);
    assert_eq!(run.state(), State::from(x));
    assert_eq!((run.steps(), run.evaluations()), (1000, 4000));
}

/// Asserts that the final state alone is the state at the end of the run.
fn assert_final_state<'a, S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
    simulation: impl Fn() -> Simulation<'a, S, F>,
    settings: &Settings,
) {
    let run: Vector<S> = simulation().run_with(settings).unwrap().state().into();
    let alone: Vector<S> = simulation().final_state(settings).unwrap().into();
    assert_eq!(bits(alone.as_ref()), bits(run.as_ref()), "{settings:?}");
}

#[test]
fn a_final_state_is_that_at_the_end_of_the_run() {
    let (midpoint, heun) = (Method::Midpoint { h: 1e-2 }, Method::Heun { h: 1e-2 });
    for method in [EULER, midpoint, heun, RK4, Method::DormandPrince { rtol: 1e-6, atol: Some(1e-6) }, DOP853] {
        for projection in [None, Some(Projection::default())] {
            // Not a whole number of steps.
            let settings = Settings { projection, ..Settings::new(method, 3.0005) };
            let simulation = || Simulation::new(&FOUR_BAR, FourBar::start()).unwrap();
            assert_final_state(simulation, &settings);
            assert_final_state(|| simulation().gains(Gains::uniform(0.1)), &settings);
        }
    }
}

#[test]
fn a_run_ends_exactly_where_it_was_told() {
    for (h, until, steps) in [(0.1, 0.3, 3), (0.1, 0.7, 7), (1e-3, 100.0, 100_000), (0.3, 1.0, 4), (2.0, 0.5, 1)] {
        let run = plain(Method::Euler { h }, until);
        assert_eq!((run.time(), run.steps()), (until, steps), "h = {h}");
        assert_eq!(run.trajectory().last().unwrap().time, until);
    }
    // The shortened step is as long as what remains.
    let mut x = start().into();
    let feedback = Feedback::new(&PENDULUM, &x, Gains::uniform(50.0)).unwrap();
    feedback.euler_step(&mut x, 0.004);
    feedback.euler_step(&mut x, 0.004);
    feedback.euler_step(&mut x, 0.01 - 2.0 * 0.004);
    assert_eq!(with_feedback(Method::Euler { h: 0.004 }, 0.01).state(), State::from(x));
}

#[test]
fn the_trajectory_is_sampled_as_asked_and_bounded_otherwise() {
    let run = plain(EULER, 10.0);
    assert_eq!(run.trajectory().len(), 1001);
    let first = run.trajectory()[0];
    assert_eq!((first.time, State::from(first.state)), (0.0, start()));
    let last = run.trajectory()[1000];
    assert_eq!(State::from(last.state), run.state());
    assert_eq!(last.change[2], run.drift().get("energy").unwrap().last);

    let simulation = Simulation::new(&PENDULUM, start()).unwrap().without_feedback();
    let run = simulation.record_every(0.3).run(EULER, 1.0).unwrap();
    assert!(run.trajectory().iter().map(|sample| sample.time).eq([0.0, 0.3, 0.6, 0.9, 1.0]));
}

/// The fractions that a run reports, which rise from 0 to 1.
fn progress(
    simulation: Simulation<'_, Pendulum, impl Field<Vector = [f64; 6]>>,
    method: Method,
    until: f64,
) -> Vec<f64> {
    let mut reports = vec![];
    let watched = simulation.watched(|moment| {
        reports.push(moment.fraction());
        ControlFlow::Continue(())
    });
    watched.run(method, until).unwrap();
    assert!(reports.is_sorted());
    assert_eq!((reports[0], reports[reports.len() - 1]), (0.0, 1.0));
    reports
}

#[test]
fn progress_rises_to_one() {
    let reports = progress(Simulation::new(&PENDULUM, start()).unwrap(), EULER, 10.0);
    assert_eq!(reports.len(), 201);
    // Two looks are never more than 256 steps apart.
    let reports = progress(Simulation::new(&PENDULUM, start()).unwrap(), EULER, 100.0);
    assert!(reports.windows(2).all(|pair| (pair[1] - pair[0]) * 100_000.0 < 256.5));
}

#[test]
fn everything_shows_what_it_is_of() {
    let simulation = Simulation::new(&PENDULUM, start()).unwrap();
    let feedback = Feedback::new(&PENDULUM, &start().into(), Gains::uniform(5.0)).unwrap();
    let field = PlainField::new(&PENDULUM);
    let integrator = Integrator::dop853(&field, start().into(), Tolerance::new(1e-6, 1e-7).unwrap());
    let shown = [
        (format!("{simulation:?}"), ["Simulation", "Pendulum", "start", "[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]"]),
        (format!("{feedback:?}"), ["Feedback", "Prepared", "targets", "5.0"]),
        (format!("{integrator:?}"), ["Integrator", "1e-7", "time: 0.0", "steps: 0"]),
    ];
    for (text, parts) in shown {
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    let operations = Operations { additions: 1, multiplications: 20, fused: 300, divisions: 4000, functions: 50000 };
    let text = "54621 (additions 1, multiplications 20, fused 300, divisions 4000, functions 50000)";
    assert_eq!(operations.to_string(), text);
}

#[test]
fn a_blow_up_is_an_error_that_keeps_the_last_good_state() {
    // A step of 0.5 is too long to follow an oscillation of period 5.
    let simulation = Simulation::new(&PENDULUM, start()).unwrap().without_feedback();
    let Err(Error::Failed(blow_up)) = simulation.run(Method::Euler { h: 0.5 }, 100.0) else {
        panic!("no blow-up");
    };
    assert!(blow_up.time > 0.5 && blow_up.time < 50.0, "{blow_up}");
    assert_eq!(blow_up.last_time, blow_up.time - 0.5);
    assert!(blow_up.last_state.iter().all(|entry| entry.is_finite()));
    let Cause::Growth { integral, change } = blow_up.cause else { panic!("{blow_up}") };
    // Over ten times the terms of |q|^2 - 1 at the start.
    assert!(change.abs() > 20.0 && integral == "length", "{blow_up}");
    let message = blow_up.to_string();
    for part in ["blew up at t = ", &format!("`{integral}` grew most"), "smaller step", "q[0] = "] {
        assert!(message.contains(part), "{part} is missing in: {message}");
    }
}

#[test]
fn a_blow_up_within_one_step_keeps_the_start() {
    let simulation = Simulation::new(&PENDULUM, start()).unwrap().without_feedback();
    let Err(Error::Failed(blow_up)) = simulation.run(Method::Rk4 { h: 1e200 }, 1e201) else { panic!("no blow-up") };
    assert_eq!((blow_up.time, blow_up.last_time), (1e200, 0.0));
    assert_eq!(blow_up.last_state, <[f64; 6]>::from(start()));
}

#[test]
fn what_is_out_of_range_is_refused() {
    let ready = || Simulation::new(&PENDULUM, start()).unwrap();
    let message = |run: Result<Run<Pendulum>, Error>| run.unwrap_err().to_string();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let expected = |what: &str| format!("{what} is {bad:?}: it must be positive and finite");
        assert_eq!(message(ready().run(Method::Rk4 { h: bad }, 1.0)), expected("the step h"));
        assert_eq!(message(ready().run(EULER, bad)), expected("the end of the simulation"));
        assert_eq!(message(ready().record_every(bad).run(EULER, 1.0)), expected("the interval between samples"));
    }
    assert_eq!(
        message(ready().run(Method::Euler { h: 1e-300 }, 1.0)),
        "the step h = 1e-300 is too small to reach t = 1.0: take at most 1e15 steps",
    );
    assert_eq!(
        message(ready().gains(Gains::uniform(-1.0)).run(EULER, 1.0)),
        "the uniform gain is -1.0: it must be positive and finite"
    );
    assert!(ready().without_feedback().run(EULER, 1.0).is_ok());

    let off = State { q: [0.0, 1.5, 0.0], ..start() };
    let error = Simulation::new(&PENDULUM, off).unwrap_err();
    assert!(matches!(error, Error::OffConstraint { name: "length", value: 1.25, .. }));
}

const DOP853: Method = Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) };

#[test]
fn error_control_keeps_the_lengths_of_a_linkage_with_and_without_feedback() {
    let simulation = || Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().without_feedback();
    assert_lengths(&simulation().run(DOP853, 30.0).unwrap());
    assert_lengths(&simulation().gains(Gains::uniform(1.0)).run(DOP853, 30.0).unwrap());
}

/// That no rod is off its length by more than 5e-10 at any step.
fn assert_lengths(run: &Run<FourBar>) {
    assert_eq!(run.time(), 30.0);
    for (name, length) in [("crank", 0.8), ("coupler", 2.0), ("rocker", 1.0)] {
        // g = |r|^2 - l^2.
        let off = run.drift().get(name).unwrap().max / (2.0 * length);
        assert!(off <= 5e-10, "{name}: {off}");
    }
}

#[test]
fn a_run_with_error_control_is_its_steps_one_after_the_other() {
    let run = plain(DOP853, 10.0);
    let field = PlainField::new(&PENDULUM);
    let mut integrator = Integrator::dop853(&field, start().into(), Tolerance::new(1e-10, 1e-10).unwrap());
    integrator.advance_to(10.0).unwrap();
    assert_eq!(run.state(), State::from(*integrator.state()));
    assert_eq!((run.time(), run.steps()), (10.0, integrator.steps()));
    assert_eq!(run.evaluations(), integrator.evaluations());
    assert_eq!(run.trajectory().len() as u64, 1 + run.steps());
    assert_eq!(State::from(run.trajectory().last().unwrap().state), run.state());
}

#[test]
fn samples_between_steps_are_dense_output() {
    let sampled = |interval| {
        let simulation = Simulation::new(&PENDULUM, start()).unwrap().without_feedback();
        simulation.record_every(interval).run(DOP853, 1.0).unwrap()
    };
    let run = sampled(0.3);
    assert!(run.trajectory().iter().map(|sample| sample.time).eq([0.0, 0.3, 0.6, 3.0 * 0.3, 1.0]));
    assert_eq!(run.state(), plain(DOP853, 1.0).state());
    for sample in &run.trajectory()[1..4] {
        let error = distance(
            &sample.state,
            &plain(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }, sample.time).state().into(),
        );
        assert!(error < 1e-9, "at {}: {error}", sample.time);
    }
    // An interval that divides the end, up to rounding, and one beyond it.
    assert_eq!(sampled(0.1).trajectory().len(), 11);
    assert_eq!(sampled(7.0).trajectory().len(), 2);
}

#[test]
fn a_long_run_with_error_control_keeps_few_samples() {
    let run = plain(Method::DormandPrince { rtol: 1e-9, atol: Some(1e-9) }, 100.0);
    assert!(run.steps() > 2000, "{} steps", run.steps());
    let times = || run.trajectory().iter().map(|sample| sample.time);
    assert!((1000..=2002).contains(&run.trajectory().len()) && times().is_sorted());
    assert_eq!((times().next(), times().next_back()), (Some(0.0), Some(100.0)));
}

#[test]
fn progress_of_error_control_rises_to_one() {
    let simulation = || Simulation::new(&PENDULUM, start()).unwrap().without_feedback();
    let steps = simulation().run(DOP853, 100.0).unwrap().steps();
    assert_eq!(progress(simulation(), DOP853, 100.0).len() as u64, 1 + steps);
}

#[test]
fn a_run_that_cannot_continue_says_why_and_where() {
    let simulation = || Simulation::new(&PENDULUM, start()).unwrap();
    let Err(Error::Failed(halted)) = simulation().max_steps(50).run(DOP853, 100.0) else { panic!("not halted") };
    assert_eq!(halted.cause, Cause::Step { reason: StepFailure::TooManySteps { limit: 50 }, entry: None });
    assert!(halted.time > 1.0 && halted.last_state.iter().all(|entry| entry.is_finite()));
    let message = halted.to_string();
    for part in ["stopped at t = ", "q[0] = ", "50 steps were tried"] {
        assert!(message.contains(part), "{part} is missing in: {message}");
    }
    for method in
        [Method::Dop853 { rtol: 0.0, atol: Some(1e-6) }, Method::DormandPrince { rtol: 1e-6, atol: Some(f64::NAN) }]
    {
        let error = simulation().run(method, 1.0).unwrap_err();
        assert!(matches!(error, Error::Setting { what, .. } if what.contains("tolerance")), "{error}");
    }
    assert_eq!(
        simulation().record_every(1e-300).run(DOP853, 1.0).unwrap_err().to_string(),
        "the interval 1e-300 is too small to sample until t = 1.0: ask for at most 1e8 samples",
    );
    let error = simulation().run(DOP853, f64::NAN).unwrap_err();
    assert!(matches!(error, Error::Setting { what: "the end of the simulation", .. }), "{error}");
}

#[test]
fn every_method_runs_with_its_order() {
    for (method, evaluations) in [
        (Method::Euler { h: 0.01 }, 100),
        (Method::Midpoint { h: 0.01 }, 200),
        (Method::Heun { h: 0.01 }, 200),
        (Method::Rk4 { h: 0.01 }, 400),
    ] {
        assert_eq!(plain(method, 1.0).evaluations(), evaluations);
    }
    type Make = fn(f64) -> Method;
    for method in [(|h| Method::Midpoint { h }) as Make, |h| Method::Heun { h }] {
        let order = order(|h| plain(method(h), 1.0), 2e-3);
        assert!((order - 2.0).abs() < 0.05, "{:?}: {order}", method(2e-3));
    }
}
