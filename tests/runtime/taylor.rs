//! Taylor's method: series against the fields that they are of, runs against closed forms, and what is refused.

use std::ops::ControlFlow;

use fbint_runtime::{
    Cause, Direction, Ensemble, Error, Event, FeedbackSystem, Field, FourLanes, Gains, Held, Linear, Method,
    PreparedSystem, Projection, Sensitivity, Settings, Simulation, StepFailure, TaylorSystem, Vector, feedback_system,
};

/// A mass on a spring.
#[feedback_system(
    coordinates(q),
    momenta(p),
    hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2,
    invariant(amplitude = q.powi(2) + p.powi(2) / (m * k)),
    derivatives,
    taylor
)]
pub(crate) struct Oscillator {
    pub(crate) m: f64,
    pub(crate) k: f64,
}

/// Two bodies in a plane.
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm(), derivatives, taylor)]
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

/// A mass on a spring that is pulled, and looks where the spring is as long as the pull is strong.
#[feedback_system(
    coordinates(q),
    momenta(p),
    input(pull),
    hamiltonian = (p.powi(2) + q.powi(2)) / 2,
    force(p = pull),
    event(level = q - pull),
    taylor
)]
pub(crate) struct Pulled;

/// A field that is not linear in its inputs, and switches with one of them.
#[feedback_system(
    state(x, v),
    input(wind: [2], lever),
    time(t),
    dynamics(x = v, v = -x + (wind.x - v).sin() * wind.y.exp() + lever.max(0) / (2 + x.cos()) - lever.powi(2) * v / 9),
    taylor
)]
pub(crate) struct Steered;

/// What oscillates faster and faster.
#[feedback_system(coordinates(q), momenta(p), time(t), hamiltonian = p.powi(2) / 2 + t * q.powi(2) / 2, taylor)]
pub(crate) struct Airy;

/// x = 1 / (1 - t)
#[feedback_system(state(x), dynamics(x = x.powi(2)), taylor)]
pub(crate) struct Pole;

/// A field without nonlinear terms, two of whose variables rest.
#[feedback_system(state(x: [2], rest: [2]), dynamics(x = vector![1, x.x], rest = vector![0, rest.x]), taylor)]
pub(crate) struct Ramp;

/// With names that generated code might have.
#[feedback_system(
    state(rates, row, past, memory, index, sums),
    dynamics(
        rates = row * past,
        row = -rates * memory.abs(),
        past = index - sums,
        memory = row * row,
        index = past / (2 + sums.sin()),
        sums = -index,
    ),
    taylor
)]
pub(crate) struct Names;

/// Without series.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
pub(crate) struct Plain;

const ORDER: usize = 16;
const TAYLOR: Method = Method::Taylor { tolerance: 1e-15 };

fn coefficients<S: TaylorSystem>(system: &S, start: S::Vector<f64>) -> Vec<S::Vector<f64>> {
    let mut coefficients = vec![start; ORDER + 1];
    // What memory holds must not matter.
    let mut memory = vec![FourLanes::new([f64::NAN; 4]); ORDER * S::COLUMNS];
    S::taylor_coefficients(&system.prepare(), &[], &mut coefficients, &mut memory);
    coefficients
}

#[test]
fn names_of_variables_are_not_those_of_the_code() {
    let end = |method| -> [f64; 6] {
        let start = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
        simulation(&Names, start).run(method, 2.0).unwrap().state().into()
    };
    let [end, other] = [end(TAYLOR), end(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) })];
    assert!(end.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-12), "{end:?} {other:?}");
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
    let mut memory = [FourLanes::ZERO; 2 * Pole::COLUMNS];
    Pole::taylor_coefficients(&Pole.prepare(), &[], &mut series, &mut memory);
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

const PULLS: [(f64, f64); 4] = [(0.0, 0.5), (1.0, 3.0), (2.5, -1.0), (3.0, 1.25)];

fn pulled() -> Simulation<'static, Pulled, impl Field<Vector = Vector<Pulled>>> {
    let table = Linear::new(PULLS.map(|(time, pull)| (time, PulledInput { pull })), 5.0).unwrap();
    Simulation::new(&Pulled, PulledState { q: 1.0, p: 0.5, ..Default::default() }).unwrap().input(table)
}

/// q and p under the table: q = u + (q_0 - u_0) cos + (p_0 - u') sin between two of its rows, where u is linear.
fn closed_form(time: f64) -> [f64; 2] {
    let (mut q, mut p) = (1.0, 0.5);
    for (row, (from, first)) in PULLS.iter().enumerate().take_while(|(_, (from, _))| *from < time) {
        let (until, next) = PULLS.get(row + 1).copied().unwrap_or((5.0, *first));
        let (slope, h) = ((next - first) / (until - from), until.min(time) - from);
        let (a, b) = (q - first, p - slope);
        (q, p) = (first + slope * h + a * h.cos() + b * h.sin(), slope - a * h.sin() + b * h.cos());
    }
    [q, p]
}

#[test]
fn linear_inputs_are_exact_to_rounding() {
    let run = pulled().run_with(&Settings { every: Some(0.17), ..Settings::new(TAYLOR, 5.0) }).unwrap();
    assert!(run.steps() < 12 && run.trajectory().len() > 28, "{}", run.steps());
    for moment in run.trajectory() {
        let (exact, [q, p, ..]) = (closed_form(moment.time), moment.state);
        assert!((q - exact[0]).abs() < 1e-14 && (p - exact[1]).abs() < 1e-14, "{moment:?} {exact:?}");
    }
    let dop853 = pulled().run(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }, 5.0).unwrap();
    assert!((dop853.state().q - run.state().q).abs() < 1e-11 && (dop853.state().p - run.state().p).abs() < 1e-11);
    // Where the event's series is of the input, too.
    assert!(run.events().len() > 1 && run.events().len() == dop853.events().len(), "{:?}", run.events());
    for (event, other) in run.events().iter().zip(dop853.events()) {
        let of = |time: f64| {
            let row = PULLS.iter().rposition(|(from, _)| *from <= time).unwrap();
            let ((from, first), (until, next)) =
                (PULLS[row], PULLS.get(row + 1).copied().unwrap_or((5.0, PULLS[row].1)));
            closed_form(time)[0] - (first + (time - from) / (until - from) * (next - first))
        };
        assert!(of(event.time - 1e-13) * of(event.time + 1e-13) < 0.0, "{event:?}");
        assert!((event.time - other.time).abs() < 1e-10, "{event:?} {other:?}");
    }
}

#[test]
fn a_run_with_linear_inputs_is_resumed_bit_by_bit() {
    let whole = pulled().run(TAYLOR, 5.0).unwrap();
    for stop in 1..whole.steps() {
        let (mut snapshot, mut steps) = (None, 0);
        let watched = pulled().watched(|moment| {
            snapshot = Some(moment.snapshot());
            steps += 1;
            if steps < stop { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        watched.run(TAYLOR, 5.0).unwrap();
        let resumed = pulled().from_snapshot(snapshot.unwrap()).run(TAYLOR, 5.0).unwrap();
        assert_eq!((resumed.state(), resumed.steps()), (whole.state(), whole.steps()));
    }
}

#[test]
fn inputs_take_part_in_products_and_switches() {
    let row = |(time, x, y, lever)| (time, SteeredInput { wind: [x, y].into(), lever });
    let table = [(0.0, 1.0, -0.5, -1.0), (1.5, -2.0, 0.25, 1.0), (2.0, 0.5, 0.75, 2.0)].map(row);
    let end = |method, is_held| {
        let simulation = Simulation::new(&Steered, SteeredState { x: 0.5, ..Default::default() }).unwrap();
        let run = match is_held {
            true => simulation.input(Held::new(table, 4.0).unwrap()).run(method, 3.0).unwrap().state(),
            false => simulation.input(Linear::new(table, 4.0).unwrap()).run(method, 3.0).unwrap().state(),
        };
        [run.x, run.v]
    };
    for is_held in [true, false] {
        let [taylor, other] =
            [TAYLOR, Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }].map(|method| end(method, is_held));
        assert!(taylor.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-11), "{is_held} {taylor:?} {other:?}");
    }
    assert!((end(TAYLOR, true)[0] - end(TAYLOR, false)[0]).abs() > 0.1);
}

/// A body on a spring, in a wind whose strength and angle matter.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    input(wind: [2], lift),
    force(p = -wind.norm() * p - lift.powf(1.5) * x - lift.abs() - (1 - lift).sqrt()),
    taylor,
)]
struct Windy;

/// Roots, norms and powers of inputs have no derivative at 0, and need none where the inputs are held.
#[test]
fn inputs_may_be_held_at_0() {
    let row = |(time, x, y, lift)| (time, WindyInput { wind: [x, y].into(), lift });
    let table = [(0.0, 0.0, 0.0, 0.0), (1.0, 0.5, -0.25, 0.25), (2.0, 0.0, 0.0, 1.0), (3.0, 0.0, 0.0, 0.0)].map(row);
    let end = |method| {
        let simulation = Simulation::new(&Windy, WindyState { x: 0.5, ..Default::default() }).unwrap();
        simulation.input(Held::new(table, 4.0).unwrap()).run(method, 4.0).unwrap().state()
    };
    let [taylor, other] = [TAYLOR, Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }].map(end);
    assert!((taylor.x - other.x).abs() + (taylor.p - other.p).abs() < 1e-11, "{taylor:?} {other:?}");
    // Their derivatives do not exist where the inputs begin to change.
    for [x, lift] in [[0.5, 0.0], [0.0, 0.5]] {
        let simulation = Simulation::new(&Windy, WindyState { x: 0.5, ..Default::default() }).unwrap();
        let rising = Linear::new([row((0.0, 0.0, 0.0, 0.0)), row((1.0, x, 0.0, lift))], 2.0).unwrap();
        assert!(matches!(simulation.input(rising).run(TAYLOR, 1.0), Err(Error::Failed(_))), "{x} {lift}");
    }
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
    assert!(refusal.contains("give tables"), "{refusal}");
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refusal = simulation(&Orbit, PERICENTRE).run(Method::Taylor { tolerance }, 1.0).unwrap_err().to_string();
        assert!(refusal.contains("tolerance"), "{refusal}");
    }
}

/// x'' = -|x|
#[feedback_system(state(x, v), dynamics(x = v, v = -x.abs()), taylor)]
pub(crate) struct Wall;

/// x'' = -1 or 1, towards 0.
#[feedback_system(state(x, v), dynamics(x = v, v = -x.signum()), taylor)]
pub(crate) struct Towards;

/// A spring that only pulls, and friction that only a fast motion has.
#[feedback_system(
    state(x, v),
    dynamics(x = v, v = -x.max(0) - c * (v.abs() - 1 / 2).max(0) * v),
    taylor
)]
pub(crate) struct Loose {
    pub(crate) c: f64,
}

#[test]
fn steps_end_where_something_switches() {
    let end = |run: fbint_runtime::Run<Wall>| -> [f64; 2] { run.state().into() };
    // cos t until it vanishes, then -sinh(t - pi / 2).
    let at = |t: f64| end(simulation(&Wall, [1.0, 0.0]).run(TAYLOR, t).unwrap());
    assert!((at(1.5)[0] - 1.5_f64.cos()).abs() < 1e-15);
    let after: f64 = 3.0 - std::f64::consts::FRAC_PI_2;
    let [x, v] = at(3.0);
    assert!((x + after.sinh()).abs() < 1e-14 && (v + after.cosh()).abs() < 1e-14, "{x} {v}");
    // From a zero, on either side.
    for (start, expected) in [([0.0, 1.0], 0.5_f64.sin()), ([0.0, -1.0], -0.5_f64.sinh())] {
        let [x, _] = end(simulation(&Wall, start).run(TAYLOR, 0.5).unwrap());
        assert!((x - expected).abs() < 1e-15, "{x} {expected}");
    }
    // Parabolas.
    let run = simulation(&Towards, [1.0, 0.0]).run(TAYLOR, 2.0).unwrap();
    let s = 2.0 - 2.0_f64.sqrt();
    let [x, v]: [f64; 2] = run.state().into();
    assert!((x - (s * s / 2.0 - 2.0_f64.sqrt() * s)).abs() < 1e-9, "{x}");
    assert!((v - (s - 2.0_f64.sqrt())).abs() < 1e-9 && run.steps() < 6, "{v} {}", run.steps());
}

#[test]
fn fields_with_several_switches_agree_with_other_methods() {
    let loose = Loose { c: 0.3 };
    let end = |method| -> [f64; 2] { simulation(&loose, [1.0, 2.0]).run(method, 6.0).unwrap().state().into() };
    let [end, other] = [end(TAYLOR), end(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) })];
    assert!(end.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-10), "{end:?} {other:?}");
}

/// Events in different places of a step, two of them twice in one step.
#[feedback_system(
    coordinates(q),
    momenta(p),
    hamiltonian = (p.powi(2) + q.powi(2)) / 2,
    event(zero = q),
    event(nearly = q - (1 - e)),
    event(never = q - (1 + e)),
    event(far = (q.powi(2) - 1 / 4) * p, falling),
    taylor
)]
pub(crate) struct Watched {
    pub(crate) e: f64,
}

#[test]
fn events_are_zeros_of_the_series_and_none_is_missed() {
    let watched = Watched { e: 1e-7 };
    let run = simulation(&watched, [1.0, 0.0]).run(TAYLOR, 7.0).unwrap();
    let times = |name: &str| -> Vec<f64> {
        run.events().iter().filter(|event| event.name == name).map(|event| event.time).collect()
    };
    let pi = std::f64::consts::PI;
    let near = |found: &[f64], expected: &[f64], tolerance: f64| {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance)
    };
    assert!(near(&times("zero"), &[0.5 * pi, 1.5 * pi], 1e-14), "{:?}", times("zero"));
    // cos t = 1 - e, on both sides of each maximum.
    let half = (1.0_f64 - 1e-7).acos();
    assert!(near(&times("nearly"), &[half, 2.0 * pi - half, 2.0 * pi + half], 1e-8), "{:?}", times("nearly"));
    assert!(times("never").is_empty());
    // (cos^2 t - 1/4) (-sin t) falls where it vanishes with a negative slope.
    let of = |t: f64| (t.cos().powi(2) - 0.25) * -t.sin();
    let zeros = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|k| k * pi / 3.0);
    let falling: Vec<f64> = zeros.into_iter().filter(|t| of(t - 1e-3) > 0.0 && of(t + 1e-3) < 0.0).collect();
    assert!(near(&times("far"), &falling, 1e-13), "{:?} {falling:?}", times("far"));
}

/// Members in lanes have the bits of their simulations, whether they are projected or not.
fn assert_members_are_simulations<S: FeedbackSystem + Sync>(
    system: &S,
    start: impl Fn(f64) -> S::Vector<f64>,
    until: f64,
) {
    for projection in [None, Some(Projection::default())] {
        for tolerance in [1e-15, 1e-9] {
            let settings =
                Settings { projection, every: Some(until / 7.0), ..Settings::new(Method::Taylor { tolerance }, until) };
            let starts: Vec<S::Vector<f64>> = (0..37).map(|member| start(f64::from(member) / 37.0)).collect();
            let ensemble = match projection {
                Some(projection) => Ensemble::new(system, starts.clone()).projected(projection),
                None => Ensemble::new(system, starts.clone()).without_feedback(),
            };
            let run = ensemble.keep_trajectories().run_with(&settings).unwrap();
            for (member, start) in starts.iter().enumerate() {
                let alone = simulation(system, *start).run_with(&settings).unwrap();
                let (a, b) = (run.trajectory(member).unwrap(), alone.trajectory());
                assert_eq!(a.len(), b.len());
                for (a, b) in a.iter().zip(b) {
                    let (x, y): (S::Vector<f64>, S::Vector<f64>) = (a.state, b.state);
                    let bits = |x: &S::Vector<f64>| x.as_ref().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!((a.time, bits(&x)), (b.time, bits(&y)), "{projection:?} {tolerance} {member}");
                }
            }
        }
    }
}

#[test]
fn members_of_ensembles_are_their_simulations() {
    const { assert!(Orbit::LANE_COLUMNS > 0) };
    assert_members_are_simulations(&Orbit, |part| [0.5 + part, 0.0, 0.0, 1.5], 4.0);
    assert_members_are_simulations(&Oscillator { m: 2.0, k: 3.0 }, |part| [1.0, part], 7.0);
    assert_members_are_simulations(&Airy, |part| [1.0, part, 0.0, 0.0], 3.0);
    assert_members_are_simulations(&Pulled, |part| [1.0, part, 0.0, 0.0], 3.0);
    // One by one.
    assert_members_are_simulations(&Spherical { m: 1.0, g: 9.81 }, |part| [0.0, 0.6, 0.8, 1.0 + part, 0.0, 0.0], 1.0);
}

#[test]
fn variations_are_derivatives_of_the_end() {
    // q = cos(w t), p = -m w sin(w t) with w = sqrt(k / m).
    let (m, k, t) = (2.0, 3.0, 5.0);
    let sensitivity = Sensitivity::<Oscillator>::new(Oscillator { m, k }.prepare());
    let of_parameter = |index: usize| {
        let mut direction = Direction::<Oscillator>::of_state([0.0; 2]);
        direction.parameters[index] = 1.0;
        direction
    };
    let directions =
        [Direction::of_state([1.0, 0.0]), Direction::of_state([0.0, 1.0]), of_parameter(0), of_parameter(1)];
    let mut run = sensitivity.series(1e-15, [1.0, 0.0], &directions).unwrap();
    run.advance(t).unwrap();
    let w = f64::sqrt(k / m);
    let (sine, cosine) = (w * t).sin_cos();
    let expected = [
        [cosine, -m * w * sine],
        [sine / (m * w), cosine],
        // dw/dm = -w / (2 m), dw/dk = w / (2 k)
        [t * sine * w / (2.0 * m), -w * sine - m * (-w / (2.0 * m)) * (sine + w * t * cosine)],
        [-t * sine * w / (2.0 * k), -m * (w / (2.0 * k)) * (sine + w * t * cosine)],
    ];
    for (derivative, expected) in run.derivatives().iter().zip(expected) {
        assert!(derivative.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-14), "{derivative:?} {expected:?}");
    }
    assert_eq!((run.time(), run.derivatives().len()), (t, 4));
}

#[test]
fn variations_of_an_orbit_are_differences_of_runs() {
    let start = [0.5, 0.1, 0.2, 1.6];
    let sensitivity = Sensitivity::<Orbit>::new(Orbit.prepare());
    // More than go side by side.
    let directions: Vec<Vector<Orbit>> =
        (0..11).map(|n| std::array::from_fn(|i| f64::sin((4 * n + i) as f64))).collect();
    let given: Vec<Direction<Orbit>> = directions.iter().map(|direction| Direction::of_state(*direction)).collect();
    let mut run = sensitivity.series(1e-15, start, &given).unwrap();
    run.advance(10.0).unwrap();
    let end = |start: [f64; 4]| -> [f64; 4] { simulation(&Orbit, start).run(TAYLOR, 10.0).unwrap().state().into() };
    let exact = end(start);
    assert!(run.state().iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-12), "{:?} {exact:?}", run.state());
    for (direction, derivative) in directions.iter().zip(run.derivatives()) {
        let moved = |h: f64| end(std::array::from_fn(|i| start[i] + h * direction[i]));
        // Central differences of two distances, whose first errors cancel.
        let difference = |h: f64| {
            let [above, below] = [moved(h), moved(-h)];
            std::array::from_fn::<f64, 4, _>(|i| (above[i] - below[i]) / (2.0 * h))
        };
        let [wide, narrow] = [difference(2e-4), difference(1e-4)];
        for i in 0..4 {
            let expected = (4.0 * narrow[i] - wide[i]) / 3.0;
            assert!((derivative[i] - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{derivative:?} {expected}");
        }
    }
    // Without a direction it is the run.
    let mut alone = sensitivity.series(1e-15, start, &[]).unwrap();
    alone.advance(10.0).unwrap();
    assert!(alone.state().iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-12) && alone.derivatives().is_empty());
    let projected = sensitivity.projected(Projection::default()).series(1e-15, start, &[]);
    assert!(projected.unwrap_err().to_string().contains("Sensitivity::along"));
}

/// Every step ends at a double and is as long as the difference of two, and the state's rounding is carried: nothing adds up.
#[test]
fn long_runs_lose_nothing_to_the_sums_of_their_steps() {
    let oscillator = Oscillator { m: 1.0, k: 1.0 };
    let run = simulation(&oscillator, [1.0, 0.0]).run(TAYLOR, 1e4).unwrap();
    let [q, p]: [f64; 2] = run.state().into();
    let error = (q - 1e4_f64.cos()).abs().max((p + 1e4_f64.sin()).abs());
    assert!(error < 5e-13, "{error:e} after {} steps", run.steps());
    // At a large time.
    let run = simulation(&oscillator, [1.0, 0.0]).from_time(1e6).run(TAYLOR, 1e6 + 10.0).unwrap();
    let [q, _]: [f64; 2] = run.state().into();
    assert!((q - 10.0_f64.cos()).abs() < 1e-14, "{q}");
}
