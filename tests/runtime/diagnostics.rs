//! Runs that fail say what was wrong, by name, within a step of when it went wrong, and keep the state before.

use super::common::{PENDULUM, Pendulum, amount};
use super::models::{PARALLELOGRAM, Parallelogram};
use super::vectors::bits;
use fbint_runtime::{
    Cause, Error, Feedback, Field, Gains, Integrator, Method, OneStep, PlainField, Projection, Run, Settings,
    Simulation, StepFailure, Tolerance, feedback_system,
};

/// A power of two, so that times and the clock are exact.
const H: f64 = 1.0 / 1024.0;
const FIXED: [Method; 4] =
    [Method::Euler { h: H }, Method::Midpoint { h: H }, Method::Heun { h: H }, Method::Rk4 { h: H }];
const ADAPTIVE: [Method; 2] =
    [Method::DormandPrince { rtol: 1e-8, atol: Some(1e-8) }, Method::Dop853 { rtol: 1e-8, atol: Some(1e-8) }];

/// The rate of `height` is not a number once `clock` is past 1; nothing else depends on it.
#[feedback_system(
    state(level, clock, height),
    dynamics(level = 0 * level, clock = rate + 0 * clock, height = (1 - clock).sqrt()),
    invariant(first = level),
)]
struct Edge {
    rate: f64,
}

const EDGE: Edge = Edge { rate: 1.0 };

const EDGE_START: [f64; 3] = [1.0, 0.0, 0.0];

#[test]
fn a_step_to_what_is_not_a_number_is_reported_with_the_entry_and_the_state_before() {
    for projection in [None, Some(Projection::default())] {
        for method in FIXED {
            let settings = Settings { projection, ..Settings::new(method, 2.0) };
            let run = Simulation::new(&EDGE, EDGE_START).unwrap().run_with(&settings);
            let Err(Error::Failed(blow_up)) = run else { panic!("{method:?}: no blow-up") };
            // Euler's step from t = 1 is still defined.
            let name = match blow_up.cause {
                Cause::Entry { name, value } | Cause::Rate { name, value } if value.is_nan() => name,
                other => panic!("{method:?}: {other:?}"),
            };
            assert_eq!(name, "height", "{blow_up}");
            assert_eq!(blow_up.time, blow_up.last_time + H);
            assert!((1.0..=1.0 + H).contains(&blow_up.last_time), "{method:?}: {blow_up}");
            let mut before = EDGE_START;
            for _ in 0..(blow_up.last_time / H) as u32 {
                step(&PlainField::new(&EDGE), method, &mut before);
            }
            assert_eq!(bits(&blow_up.last_state), bits(&before), "{method:?}: {blow_up}");
            assert!(blow_up.last_state.iter().all(|entry| entry.is_finite()));
        }
    }
}

fn step(field: &impl Field<Vector = [f64; 3]>, method: Method, x: &mut [f64; 3]) {
    use fbint_runtime::tableau::{EULER, HEUN, MIDPOINT, RK4};
    match method {
        Method::Euler { h } => EULER.step(|x| field.value(x), x, h),
        Method::Midpoint { h } => MIDPOINT.step(|x| field.value(x), x, h),
        Method::Heun { h } => HEUN.step(|x| field.value(x), x, h),
        Method::Rk4 { h } => RK4.step(|x| field.value(x), x, h),
        other => panic!("{other:?} has no step of its own"),
    }
}

#[test]
fn what_is_not_a_number_is_said_in_one_sentence() {
    let message = |method| Simulation::new(&EDGE, EDGE_START).unwrap().run(method, 2.0).unwrap_err();
    let euler = message(FIXED[0]).to_string();
    assert!(
        euler.starts_with(
            "the solution blew up at t = 1.001953125: the rate of `height` is NaN in the state before; the field is not \
             defined there. The last good state, at t = 1.0009765625, was level = 1.0, clock = 1.0009765625, height = "
        ),
        "{euler}"
    );
    let midpoint = message(FIXED[1]).to_string();
    assert!(
        midpoint.starts_with(
            "the solution blew up at t = 1.0009765625: `height` is NaN; take a smaller step or smaller gains, or end before \
             the solution leaves the field's domain. The last good state, at t = 1.0, was level = 1.0, clock = 1.0, height = "
        ),
        "{midpoint}"
    );
}

/// A mass whose square is not a double passes the start, where velocities of 1e200 are numbers.
#[test]
fn parameters_whose_squares_are_no_doubles_are_suspected() {
    let pendulum = Pendulum { m: 1e-200, ..PENDULUM };
    let methods = [FIXED[3], ADAPTIVE[1]];
    for error in
        methods.map(|method| Simulation::new(&pendulum, super::common::start()).unwrap().run(method, 1.0).unwrap_err())
    {
        let message = error.to_string();
        assert!(message.contains(", perhaps because of `m` = 1e-200"), "{message}");
    }
}

#[test]
fn error_control_stops_at_the_edge_and_names_the_entry() {
    for method in ADAPTIVE {
        let run = Simulation::new(&EDGE, EDGE_START).unwrap().run(method, 2.0);
        let Err(Error::Failed(halted)) = run else { panic!("{method:?}: not halted") };
        let reason = StepFailure::NotFinite { entry: 2 };
        assert_eq!(halted.cause, Cause::Step { reason, entry: Some("height") });
        assert!(
            (halted.time - 1.0).abs() < 1e-12 && halted.last_state.iter().all(|entry| entry.is_finite()),
            "{halted}"
        );
        assert_eq!(bits(&halted.last_state), bits(&where_it_stops(method)), "{halted}");
        let message = halted.to_string();
        for part in ["the run stopped at t = 0.99999", "clock = 0.99999", "`height` or its rate is not finite", "edge"]
        {
            assert!(message.contains(part), "{part} is missing in: {message}");
        }
    }
}

/// The state after the last step that an integrator of its own can make.
fn where_it_stops(method: Method) -> Vec<f64> {
    let field = PlainField::new(&EDGE);
    let tolerance = Tolerance::new(1e-8, 1e-8).unwrap();
    let error = match method {
        Method::Dop853 { .. } => Integrator::dop853(&field, EDGE_START, tolerance).advance_to(2.0),
        _ => Integrator::dormand_prince(&field, EDGE_START, tolerance).advance_to(2.0),
    };
    error.unwrap_err().state.to_vec()
}

/// Adds h, and loses the second entry at a known time.
struct Faulty;

impl OneStep<[f64; 6]> for Faulty {
    fn step(&self, x: &mut [f64; 6], h: f64) {
        // The start's third entry is the height 0, which no rest of the pendulum changes here.
        x[2] += h;
        if x[2] > 0.25 {
            x[1] = f64::INFINITY;
        }
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

#[test]
fn a_geometric_method_that_loses_an_entry_is_reported_likewise() {
    let simulation = Simulation::new(&PENDULUM, super::common::start()).unwrap();
    let Err(Error::Failed(blow_up)) = simulation.one_step(&Faulty).run(Method::OneStep { h: H }, 1.0) else {
        panic!("no blow-up")
    };
    assert_eq!(blow_up.cause, Cause::Entry { name: "q[1]", value: f64::INFINITY });
    assert_eq!((blow_up.last_time, blow_up.time), (0.25, 0.25 + H));
    assert_eq!(blow_up.last_state, [0.0, 1.0, 0.25, 1.0, 0.0, 1.0]);
}

/// The integral is undefined for heights above 1, where the field is not.
#[feedback_system(
    state(height, other),
    dynamics(height = rate + 0 * height, other = 0 * other),
    invariant(mixed = other + height.asin() + height.acos()),
)]
struct Undefined {
    rate: f64,
}

#[test]
fn an_integral_that_is_not_a_number_is_named() {
    let system = Undefined { rate: 1.0 };
    let simulation = Simulation::new(&system, [0.0, 1.0]).unwrap().without_feedback();
    let Err(Error::Failed(blow_up)) = simulation.run(FIXED[0], 2.0) else { panic!("no blow-up") };
    assert!(matches!(blow_up.cause, Cause::Integral { name: "mixed", .. }), "{blow_up}");
    assert_eq!((blow_up.last_time, blow_up.time), (1.0, 1.0 + H));
    assert!(blow_up.to_string().contains("the integral `mixed` is NaN"), "{blow_up}");
}

#[test]
fn a_start_at_a_dead_centre_is_refused_with_the_constraints() {
    let error = Simulation::new(&PARALLELOGRAM, Parallelogram::at_rest(0.0)).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "at the start the constraints `crank`, `coupler` and `rocker` are nearly dependent on one another (pivot ratio 0.0e0), \
         so that the constraint forces are not determined; start elsewhere, change the parameters, or drop a constraint that \
         others imply, or mark it, as in `constraint(redundant name = ..)`"
    );
    let Err(Error::DependentConstraints { dependence }) =
        Simulation::new(&PARALLELOGRAM, Parallelogram::at_rest(1e-7)).map(drop)
    else {
        panic!("not refused");
    };
    assert!((1e-16..1e-12).contains(&dependence.pivot_ratio), "{dependence}");
    assert_eq!((dependence.involved, dependence.time), (3, 0.0));
    // A start for a field with feedback is checked by the same rule, and one that is merely ill-conditioned passes.
    assert!(Feedback::new(&PARALLELOGRAM, &Parallelogram::at_rest(1e-7), Gains::uniform(1.0)).is_err());
    assert!(Simulation::new(&PARALLELOGRAM, Parallelogram::at_rest(1e-4)).is_ok());
}

fn bars(angle: f64, method: Method, until: f64) -> Result<Run<Parallelogram>, Error> {
    Simulation::new(&PARALLELOGRAM, Parallelogram::at_rest(angle)).unwrap().without_feedback().run(method, until)
}

#[test]
fn a_run_that_fails_after_a_dead_centre_names_its_constraints() {
    let Err(Error::Failed(blow_up)) = bars(0.1234567, FIXED[3], 10.0) else { panic!("no blow-up") };
    let dependence = blow_up.dependence.unwrap();
    assert_eq!(dependence.constraints(), ["crank", "coupler", "rocker"]);
    assert!(dependence.pivot_ratio < 1e-9 && dependence.time <= blow_up.time, "{dependence:?}");
    let message = blow_up.to_string();
    for part in
        ["; at t = 2.", "`crank`, `coupler` and `rocker` are nearly dependent", "(pivot ratio ", "shorter steps"]
    {
        assert!(message.contains(part), "{part} is missing in: {message}");
    }
}

#[test]
fn a_run_that_survives_a_dead_centre_reports_where_it_was() {
    // Rounding decides which runs survive, and of these, which jump.
    let assert_reported = |run: &dyn Fn(f64) -> Result<Run<Parallelogram>, Error>| {
        let survivors = (0..20).filter_map(|step| run(1.0 + 0.01 * f64::from(step)).ok());
        let jumped = survivors.filter(|run| run.drift().get("energy").unwrap().max > 1e-2);
        // The first that does, or where the test is thorough all that do.
        let jumped: Vec<_> = jumped.take(amount(1, 20)).collect();
        assert!(!jumped.is_empty());
        for run in jumped {
            let dependence = run.dependence().unwrap();
            assert!(dependence.pivot_ratio < 1e-6 && dependence.time > 0.5, "{dependence:?}");
        }
    };
    assert_reported(&|angle| bars(angle, FIXED[3], 10.0));
    assert_reported(&|angle| {
        Simulation::new(&PARALLELOGRAM, Parallelogram::at_rest(angle)).unwrap().run(Method::Rattle { h: 1e-3 }, 10.0)
    });
    // Before it comes there, nothing is reported.
    assert_eq!(bars(1.0, FIXED[3], 0.25).unwrap().dependence(), None);
}

#[test]
fn constraints_that_have_nothing_to_do_with_a_dependence_are_not_named() {
    let start = [1.0, 0.0, 3.0, 0.0, 0.6, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let error = Simulation::new(&BarsAndPendulum { g: 9.81 }, start).map(drop).unwrap_err();
    assert!(error.to_string().contains("the constraints `crank`, `coupler` and `rocker` are"), "{error}");
}

/// The same linkage, and a pendulum that moves by itself.
#[feedback_system(
    coordinates(a: [2], b: [2], c: [2]),
    momenta(pa: [2], pb: [2], pc: [2]),
    hamiltonian = (pa.norm_squared() + pb.norm_squared() + pc.norm_squared()) / 2 + g * (a[1] + b[1] + c[1]),
    constraint(
        crank = a.norm_squared() - 1,
        rod = 1000 * (c.norm_squared() - 1),
        coupler = (b - a).norm_squared() - 4,
        rocker = 1e-3 * ((b - vector![2, 0]).norm_squared() - 1),
    ),
)]
struct BarsAndPendulum {
    g: f64,
}

#[test]
fn phase_constraints_are_looked_at_by_their_brackets() {
    // q = 0, where {|q|^2, q . p} = 2 |q|^2 vanishes.
    let pivot = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0];
    let Err(Error::DependentConstraints { dependence }) =
        Simulation::new(&Pendulum::<false> { l: 0.0, ..PENDULUM }, pivot)
    else {
        panic!("not refused");
    };
    assert_eq!((dependence.constraints(), dependence.pivot_ratio), (&["length"][..], 0.0));
}

/// A circle is an invariant set of the field: no matrix is inverted, whatever its gradients do.
#[feedback_system(
    state(r: [2]),
    dynamics(r = vector![-r[1], r[0]] * speed),
    constraint(circle = r.norm_squared() - radius.powi(2)),
)]
struct Turning {
    speed: f64,
    radius: f64,
}

#[test]
fn a_system_without_multipliers_has_nothing_to_be_singular() {
    let run = Simulation::new(&Turning { speed: 1.0, radius: 0.0 }, [0.0, 0.0]).unwrap().run(FIXED[3], 1.0);
    assert_eq!(run.unwrap().dependence(), None);
}
