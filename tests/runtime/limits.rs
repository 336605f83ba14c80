//! Limits to steps: those that are given, and those of systems that depend on the time.

use std::f64::consts::PI;

use fbint_runtime::{
    Ensemble, Held, Integrator, Method, PlainField, Projection, Settings, Simulation, StepFailure, Tolerance,
    feedback_system,
};

/// A mass at rest on a spring, kicked by a short pulse of the impulse 1 at t = 5.
#[feedback_system(
    coordinates(x), momenta(p), time(t),
    hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    force(p = (-((t - 5) / s).powi(2)).exp() / (s * PI.sqrt())),
    derivatives,
)]
pub(crate) struct Pulse {
    pub(crate) s: f64,
}

/// A mass on a spring.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
pub(crate) struct Oscillator;

/// A mass on rails with a motor.
#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, input(thrust), force(p = thrust))]
pub(crate) struct Trolley;

const AT_REST: PulseState = PulseState { x: 0.0, p: 0.0, t: 0.0, work: 0.0 };
const OSCILLATOR: OscillatorState = OscillatorState { q: 1.0, p: 0.0 };
const CONTROLLED: [Method; 3] = [
    Method::DormandPrince { rtol: 1e-9, atol: Some(1e-9) },
    Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) },
    Method::Rodas5P { rtol: 1e-8, atol: Some(1e-8) },
];

/// The pulse is short: x(t) = exp(-s^2 / 4) sin(t - 5) after it.
#[test]
fn a_pulse_on_what_rests_is_not_passed_by() {
    for (s, until) in [(0.005_f64, 10.0), (0.002, 10.0), (0.02, 30.0)] {
        let exact = (-0.25 * s * s).exp() * (until - 5.0_f64).sin();
        for method in CONTROLLED {
            let run = Simulation::new(&Pulse { s }, AT_REST).unwrap().run(method, until).unwrap();
            assert!((run.state().x - exact).abs() < 1e-5, "{method:?}, s = {s}: {} instead of {exact}", run.state().x);
            assert!(run.steps() < 8000, "{method:?}: {}", run.steps());
        }
    }
}

#[test]
fn members_in_lanes_have_the_limits_of_their_runs() {
    let pulses: Vec<Pulse> = (1..=11).map(|member| Pulse { s: 0.002 * f64::from(member) }).collect();
    for method in CONTROLLED {
        for (projection, max_step) in [(None, None), (Some(Projection::default()), Some(0.013)), (None, Some(0.02))] {
            let settings = Settings { projection, max_step, ..Settings::new(method, 6.0) };
            let run = Ensemble::over_systems(&pulses, [AT_REST; 11]).run_with(&settings).unwrap();
            for (pulse, end) in pulses.iter().zip(run.ends()) {
                let alone = Simulation::new(pulse, AT_REST).unwrap().run_with(&settings).unwrap();
                assert_eq!(end.as_ref().unwrap().state, <[f64; 4]>::from(alone.state()), "{settings:?}");
            }
        }
    }
}

#[test]
fn a_longest_step_bounds_every_step() {
    for method in &CONTROLLED[..2] {
        let run = |settings: &Settings| Simulation::new(&Oscillator, OSCILLATOR).unwrap().run_with(settings).unwrap();
        let settings = Settings { every: Some(0.0), ..Settings::new(*method, 100.0) };
        let (free, bounded) = (run(&settings), run(&Settings { max_step: Some(0.03), ..settings }));
        let longest = |run: &fbint_runtime::Run<Oscillator>| {
            let times: Vec<f64> = run.trajectory().iter().map(|sample| sample.time).collect();
            times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
        };
        assert!(longest(&free) > 0.05 && longest(&bounded) <= 0.03 * (1.0 + 1e-12), "{method:?}");
        // Every step is a sample, however many there are.
        assert_eq!(bounded.trajectory().len() as u64, bounded.steps() + 1);
        assert!(bounded.steps() > 2000);
        let by_default = run(&Settings { every: None, max_step: Some(0.03), ..settings });
        assert_eq!(by_default.state(), bounded.state());
        assert!(by_default.trajectory().len() < 2002);
        let fixed = Settings { method: Method::Rk4 { h: 0.001 }, ..settings };
        assert_eq!(run(&fixed).trajectory().len(), 100_001);
    }
}

fn refusal(settings: Settings) -> String {
    Simulation::new(&Oscillator, OSCILLATOR).unwrap().run_with(&settings).unwrap_err().to_string()
}

#[test]
fn limits_that_are_not_for_a_method_are_refused() {
    let fixed = Settings::new(Method::Rk4 { h: 1e-3 }, 1.0);
    let text = refusal(Settings { max_step: Some(1.0), ..fixed });
    assert!(text.starts_with("RK4 cannot integrate `Oscillator`: a longest step was given"), "{text}");
    assert_eq!(
        refusal(Settings { max_steps: Some(999), ..fixed }),
        "the run takes 1000 steps of h = 0.001, more than the limit of 999: take longer steps or an earlier end, or raise the limit"
    );
    let run = Simulation::new(&Oscillator, OSCILLATOR).unwrap().run_with(&Settings { max_steps: Some(1000), ..fixed });
    assert_eq!(run.unwrap().steps(), 1000);
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = refusal(Settings { max_step: Some(size), ..Settings::new(CONTROLLED[1], 1.0) });
        assert!(text.starts_with("the largest step is"), "{text}");
    }
    let text = refusal(Settings { max_steps: Some(10), ..Settings::new(CONTROLLED[1], 100.0) });
    assert!(text.contains("10 steps were tried: raise the limit, `max_steps`"), "{text}");
    let text = refusal(Settings { every: Some(1e-9), ..Settings::new(Method::Rk4 { h: 1e-9 }, 1e3) });
    assert!(text.contains("ask for at most 1e8 samples"), "{text}");
}

/// What nothing is known of at rest is at most a hundredth of the run.
#[test]
fn a_first_step_from_rest_is_short() {
    for until in [1e-9, 1.0, 1e9] {
        let at_rest = OscillatorState { q: 0.0, p: 0.0 };
        let settings = Settings { every: Some(0.0), ..Settings::new(CONTROLLED[1], until) };
        let run = Simulation::new(&Oscillator, at_rest).unwrap().run_with(&settings).unwrap();
        assert!(run.trajectory()[1].time <= 0.01 * until, "{until}: {}", run.trajectory()[1].time);
    }
}

/// A jump a rounding after the end of a step holds from there on.
#[test]
fn a_table_jumps_where_steps_end_but_for_rounding() {
    let start = TrolleyState { x: 0.0, p: 0.0, time: 0.0, work: 0.0 };
    for jump in [0.666_666_667_f64, 0.666_666_666_4, 2.0 / 3.0] {
        for h in [2.0 / 3.0, 1.0 / 3.0, 2.0 / 30.0].into_iter().filter(|h| (jump - 2.0 / 3.0).abs() < 9e-10 * h) {
            let rows = [(0.0, 1.0), (jump, -1.0)].map(|(time, thrust)| (time, TrolleyInput { thrust }));
            let table = Held::new(rows, 2.0).unwrap();
            let run = Simulation::new(&Trolley, start).unwrap().input(table).run(Method::Rk4 { h }, 2.0).unwrap();
            let exact = 2.0 / 3.0 - 4.0 / 3.0;
            assert!((run.state().p - exact).abs() < 1e-12, "{jump}, h = {h}: {} instead of {exact}", run.state().p);
        }
    }
}

#[test]
fn a_table_is_read_forwards() {
    let rows = [(0.0, 1.0), (0.5, -1.0)].map(|(time, thrust)| (time, TrolleyInput { thrust }));
    let start = TrolleyState { x: 0.0, p: 0.0, time: 1.0, work: 0.0 };
    let driven = fbint_runtime::Driven::new(PlainField::new(&Trolley), Held::new(rows, 2.0).unwrap());
    let tolerance = Tolerance::new(1e-9, 1e-9).unwrap();
    let mut integrator = Integrator::dop853(&driven, start.into(), tolerance).from_time(1.0);
    let error = integrator.advance_to(0.0).unwrap_err();
    assert_eq!(error.reason, StepFailure::Backwards);
    let wave = |time: f64, _: &TrolleyState| TrolleyInput { thrust: time.cos() };
    let driven = fbint_runtime::Driven::new(PlainField::new(&Trolley), wave);
    let mut integrator = Integrator::dop853(&driven, start.into(), tolerance).from_time(1.0);
    integrator.advance_to(0.0).unwrap();
    assert!((integrator.state()[1] + 1_f64.sin()).abs() < 1e-9 && PI > 3.0);
}
