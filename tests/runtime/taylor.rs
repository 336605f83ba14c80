//! Taylor's method: series against the fields that they are of, runs against closed forms, and what is refused.

use std::ops::ControlFlow;

use fbint_runtime::{
    Cause, Error, Event, FeedbackSystem, Four, Gains, Held, Method, PreparedSystem, Projection, Simulation,
    StepFailure, TaylorSystem, feedback_system,
};

/// A mass on a spring.
#[feedback_system(
    coordinates(q),
    momenta(p),
    hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2,
    invariant(amplitude = q.powi(2) + p.powi(2) / (m * k)),
    taylor
)]
pub(crate) struct Oscillator {
    pub(crate) m: f64,
    pub(crate) k: f64,
}

/// Two bodies in a plane.
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm(), taylor)]
pub(crate) struct Orbit;

/// A pendulum on a rod.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q.z,
    constraint(length = q.norm_squared() - 1),
    invariant(spin = q.x * p.y - q.y * p.x),
    taylor
)]
pub(crate) struct Spherical {
    pub(crate) m: f64,
    pub(crate) g: f64,
}

/// Every function, where it is defined.
#[feedback_system(
    state(x, y),
    dynamics(
        x = y.sin() * x.cos() - y.tan().tanh() + x.exp() / (1 + y.powi(2)) + (x + 2).powf(1.7) * a + a.powf(x),
        y = x.atan() - (x / 9).asin() + (y / 9).acos() + (2 + x).ln() * y.sinh() / y.cosh() + y.atan2(x + 2) - (2 + y).powf(x / 3),
    ),
    taylor
)]
pub(crate) struct Functions {
    pub(crate) a: f64,
}

/// A point that is pushed along a line, against a force that grows with time.
#[feedback_system(coordinates(x), momenta(p), input(push), hamiltonian = p.powi(2) / 2, force(p = push), taylor)]
pub(crate) struct Pushed;

/// What oscillates faster and faster.
#[feedback_system(coordinates(q), momenta(p), time(t), hamiltonian = p.powi(2) / 2 + t * q.powi(2) / 2, taylor)]
pub(crate) struct Airy;

/// x = 1 / (1 - t)
#[feedback_system(state(x), dynamics(x = x.powi(2)), taylor)]
pub(crate) struct Pole;

/// A field without nonlinear terms, two of whose variables rest.
#[feedback_system(state(x: [2], rest: [2]), dynamics(x = vector![1, x.x], rest = vector![0, rest.x]), taylor)]
pub(crate) struct Ramp;

/// Without series.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
pub(crate) struct Plain;

const ORDER: usize = 16;
const TAYLOR: Method = Method::Taylor { tolerance: 1e-15 };

fn coefficients<S: TaylorSystem>(system: &S, start: S::Vector<f64>) -> Vec<S::Vector<f64>> {
    let mut coefficients = vec![start; ORDER + 1];
    // What memory holds must not matter.
    let mut memory = vec![Four::new([f64::NAN; 4]); ORDER * S::COLUMNS];
    S::taylor_coefficients(&system.prepare(), &mut coefficients, &mut memory);
    coefficients
}

/// The largest difference of x' and f(x) where x is a series, at a time at which its last terms are nothing.
fn residual<S: TaylorSystem>(system: &S, start: S::Vector<f64>, t: f64) -> f64 {
    let series = coefficients(system, start);
    let entries = system.facts().state.len();
    let (mut x, mut rates) = (series[0], series[0]);
    for entry in 0..entries {
        x[entry] = series.iter().rev().fold(0.0, |sum, row| sum * t + row[entry]);
        let terms = series.iter().enumerate().skip(1).rev();
        rates[entry] = terms.fold(0.0, |sum, (n, row)| sum * t + n as f64 * row[entry]);
    }
    let expected = system.prepare().vector_field(&x);
    (0..entries).map(|entry| (rates[entry] - expected[entry]).abs()).fold(0.0, f64::max)
}

#[test]
fn series_satisfy_the_differential_equation() {
    let residuals = [
        residual(&Oscillator { m: 2.0, k: 3.0 }, [0.3, 0.4], 0.2),
        residual(&Orbit, [1.0, 0.2, -0.3, 0.9], 0.06),
        residual(&Spherical { m: 1.5, g: 9.81 }, [0.0, 0.6, 0.8, 1.0, 0.4, -0.3], 0.03),
        residual(&Functions { a: 0.7 }, [0.3, 0.4], 0.03),
        residual(&Airy, [0.3, 0.4, 1.0, 0.0], 0.2),
        residual(&Pole, [0.5], 0.1),
        residual(&Ramp, [0.5, 0.0, 0.0, 1.0], 0.1),
    ];
    assert!(residuals.iter().all(|residual| *residual < 2e-14), "{residuals:?}");
}

#[test]
fn series_have_the_coefficients_of_closed_forms() {
    let series = coefficients(&Oscillator { m: 1.0, k: 1.0 }, [1.0, 0.0]);
    let mut factorial = 1.0;
    for (n, row) in series.iter().enumerate() {
        factorial *= n.max(1) as f64;
        let expected = [[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]][n % 4].map(|sign: f64| sign / factorial);
        assert!((row[0] - expected[0]).abs() <= 1e-15 / factorial && (row[1] - expected[1]).abs() <= 1e-15 / factorial);
    }
    // 1 / (1 - t)
    assert!(coefficients(&Pole, [1.0]).iter().all(|[coefficient]| (coefficient - 1.0).abs() < 1e-14));
}

#[test]
fn short_memory_leaves_coefficients_as_they_were() {
    let mut series = [[0.5], [7.0], [7.0], [7.0]];
    let mut memory = [Four::ZERO; 2 * Pole::COLUMNS];
    Pole::taylor_coefficients(&Pole.prepare(), &mut series, &mut memory);
    assert_eq!(series, [[0.5], [0.25], [0.125], [7.0]]);
}

fn simulation<S: FeedbackSystem>(system: &S, start: S::Vector<f64>) -> Simulation<'_, S> {
    Simulation::new(system, start).unwrap().without_feedback()
}

/// From the pericentre of an orbit of eccentricity 0.5, whose period is 2 pi.
const PERICENTRE: [f64; 4] = [0.5, 0.0, 0.0, 1.732_050_807_568_877_2];

#[test]
fn runs_are_exact_to_rounding_and_orders_follow_from_the_tolerance() {
    let until = 20.0 * std::f64::consts::PI;
    let error = |tolerance| {
        let run = simulation(&Orbit, PERICENTRE).run(Method::Taylor { tolerance }, until).unwrap();
        let end: [f64; 4] = run.state().into();
        let distances = end.iter().zip(PERICENTRE).map(|(a, b)| (a - b).abs());
        (distances.fold(0.0, f64::max), run.steps())
    };
    let (fine, steps_of_fine) = error(1e-15);
    let (coarse, steps_of_coarse) = error(1e-9);
    assert!(fine < 1e-12 && coarse < 1e-6 && coarse > fine, "{fine:e} {coarse:e}");
    // The share of rho is nearly the same.
    assert!(steps_of_fine.abs_diff(steps_of_coarse) < steps_of_fine / 5, "{steps_of_fine} {steps_of_coarse}");
    let orders = [1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1.0].map(|tolerance| Method::Taylor { tolerance }.order());
    assert_eq!(orders, [20, 16, 12, 8, 4, 4]);
}

/// Steps of a method without units are the same in all of them.
#[test]
fn steps_do_not_depend_on_units() {
    let steps = |scale: f64| {
        let oscillator = Oscillator { m: scale, k: scale };
        simulation(&oscillator, [1e3, 1e3 * 0.2 * scale]).run(TAYLOR, 50.0).unwrap().steps()
    };
    assert_eq!([1e-9, 1.0, 1e9].map(steps), [steps(1.0); 3]);
}

#[test]
fn polynomial_solutions_and_rest_take_one_step() {
    let run = simulation(&Ramp, [0.0; 4]).run(TAYLOR, 10.0).unwrap();
    assert_eq!((run.steps(), run.state().into()), (1, [10.0, 50.0, 0.0, 0.0]));
    let run = simulation(&Orbit, PERICENTRE).run(Method::Taylor { tolerance: 1.0 }, 1e-9).unwrap();
    assert_eq!(run.steps(), 1);
}

/// What begins at 0 has no size yet.
#[test]
fn a_start_at_zero_takes_steps_as_long_as_others() {
    let zero = simulation(&Spherical { m: 1.0, g: 1.0 }, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let run = zero.run(TAYLOR, 20.0).unwrap();
    let energy = |state: [f64; 6]| state[3..].iter().map(|p| p * p).sum::<f64>() / 2.0 + state[2];
    assert!(energy(run.state().into()).abs() < 1e-14, "{run:?}");
    assert!((20..120).contains(&run.steps()), "{}", run.steps());
}

#[test]
fn runs_project_and_report_their_projections() {
    let system = Spherical { m: 1.0, g: 9.81 };
    let start = [0.0, 0.6, 0.8, 1.0, 0.0, 0.0];
    let run = Simulation::new(&system, start).unwrap().run(Method::Taylor { tolerance: 1e-9 }, 30.0).unwrap();
    assert!(run.largest_projection().is_some());
    let reference = simulation(&system, start).run(TAYLOR, 30.0).unwrap();
    let [end, expected]: [[f64; 6]; 2] = [run.state().into(), reference.state().into()];
    assert!(end.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{end:?} {expected:?}");
    let length = |x: [f64; 6]| x[..3].iter().map(|q| q * q).sum::<f64>() - 1.0;
    assert!(length(end).abs() < 1e-15, "{:e}", length(end));
}

#[test]
fn samples_events_and_dense_output_lie_on_the_series() {
    let oscillator = Oscillator { m: 1.0, k: 1.0 };
    let zero = Event::new("zero", |_, state: &OscillatorState| state.q);
    let with_events = simulation(&oscillator, [1.0, 0.0]).record_at([0.3, 1.7, 8.0]).event(zero).dense();
    let run = with_events.run(TAYLOR, 10.0).unwrap();
    for sample in run.trajectory() {
        assert!((sample.state[0] - sample.time.cos()).abs() < 4e-15, "{sample:?}");
    }
    let times: Vec<f64> = run.events().iter().map(|event| event.time).collect();
    let expected = [0.5, 1.5, 2.5].map(|turns| turns * std::f64::consts::PI);
    assert!(times.len() == 3 && times.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{times:?}");
    for step in 0..=1000 {
        let time = f64::from(step) / 100.0;
        let state = run.at(time).unwrap();
        assert!((state.q - time.cos()).abs() < 1e-14 && (state.p + time.sin()).abs() < 1e-14, "{time} {state:?}");
    }
}

#[test]
fn a_resumed_run_is_bit_identical() {
    let system = Spherical { m: 1.0, g: 9.81 };
    let start = [0.0, 0.6, 0.8, 1.0, 0.0, 0.0];
    for projection in [None, Some(Projection::default())] {
        let run = || {
            let simulation = simulation(&system, start);
            match projection {
                Some(projection) => simulation.projected(projection),
                None => simulation,
            }
        };
        let mut snapshot = None;
        let watched = run().watched(|moment| {
            snapshot = Some(moment.snapshot());
            if moment.time() < 5.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        watched.run(TAYLOR, 10.0).unwrap();
        let resumed = run().from_snapshot(snapshot.unwrap()).run(TAYLOR, 10.0).unwrap();
        let whole = run().run(TAYLOR, 10.0).unwrap();
        assert_eq!((resumed.state(), resumed.steps()), (whole.state(), whole.steps()));
    }
}

#[test]
fn held_inputs_end_steps_where_they_jump() {
    let start = PushedState { x: 1.0, p: 0.0, time: 0.0, work: 0.0 };
    let table = Held::new([(0.0, PushedInput { push: 1.0 }), (0.5, PushedInput { push: -1.0 })], 1.0).unwrap();
    let run = Simulation::new(&Pushed, start).unwrap().input(table).run(TAYLOR, 1.0).unwrap();
    assert_eq!(run.steps(), 2);
    assert!((run.state().x - 1.25).abs() < 1e-15 && run.state().p.abs() < 1e-15, "{:?}", run.state());
}

/// A step of the Airy function, by another method.
#[test]
fn systems_that_depend_on_time_agree_with_other_methods() {
    let end = |method| -> [f64; 4] { simulation(&Airy, [1.0, 0.5, 0.0, 0.0]).run(method, 5.0).unwrap().state().into() };
    let [end, other] = [end(TAYLOR), end(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) })];
    assert!(end.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-11), "{end:?} {other:?}");
    assert_eq!(end[2], 5.0);
}

#[test]
fn a_pole_ends_the_run_with_the_last_good_state() {
    match simulation(&Pole, [1.0]).run(TAYLOR, 2.0) {
        Err(Error::Failed(failure)) => {
            let reasons = [StepFailure::Underflow, StepFailure::NotFinite { entry: 0 }];
            assert!(matches!(failure.cause, Cause::Step { reason, .. } if reasons.contains(&reason)), "{failure:?}");
            assert!((0.999..1.0).contains(&failure.last_time), "{failure:?}");
        }
        other => panic!("{other:?}"),
    }
    let limited = simulation(&Orbit, PERICENTRE).max_steps(5).run(TAYLOR, 10.0).unwrap_err().to_string();
    assert!(limited.contains("5 steps were tried"), "{limited}");
}

#[test]
fn what_has_no_series_is_refused_with_what_would_do() {
    let refusal = simulation(&Plain, [1.0, 0.0]).run(TAYLOR, 1.0).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "Taylor's method cannot integrate `Plain`: its Taylor series are not generated; declare it with the key `taylor`"
    );
    let gains = Simulation::new(&Oscillator { m: 1.0, k: 1.0 }, [1.0, 0.0]).unwrap().gains(Gains::relaxation(0.1));
    let refusal = gains.run(TAYLOR, 1.0).unwrap_err().to_string();
    assert!(refusal.contains("choose a projection in place of gains"), "{refusal}");
    let start = PushedState { x: 1.0, p: 0.0, time: 0.0, work: 0.0 };
    let code = |time: f64, _: &PushedState| PushedInput { push: time };
    let refusal = Simulation::new(&Pushed, start).unwrap().input(code).run(TAYLOR, 1.0).unwrap_err().to_string();
    assert!(refusal.contains("`Held`"), "{refusal}");
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refusal = simulation(&Orbit, PERICENTRE).run(Method::Taylor { tolerance }, 1.0).unwrap_err().to_string();
        assert!(refusal.contains("tolerance"), "{refusal}");
    }
}
