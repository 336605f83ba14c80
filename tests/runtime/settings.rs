//! Where a run starts in time, and tolerances of entries of different sizes.

use std::ops::ControlFlow;

use super::models::{SPHERICAL_PENDULUM, SphericalPendulum};
use fbint_runtime::{
    Ensemble, Error, FeedbackSystem, Integrator, Method, PlainField, Projection, Settings, Simulation, Tolerance,
    feedback_system,
};
use nalgebra::vector;

const METHODS: [Method; 3] = [
    Method::Rk4 { h: 0.0078125 },
    Method::DormandPrince { rtol: 1e-8, atol: Some(1e-8) },
    Method::Dop853 { rtol: 1e-8, atol: Some(1e-8) },
];

fn simulation() -> Simulation<'static, SphericalPendulum> {
    Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap()
}

#[test]
fn a_run_may_start_at_any_time() {
    for method in METHODS {
        let (early, late) = (simulation().run(method, 2.0).unwrap(), simulation().from_time(-16.0));
        let late = late.run(method, -14.0).unwrap();
        assert_eq!((late.time(), late.trajectory()[0].time), (-14.0, -16.0), "{method:?}");
        let (a, b): ([f64; 6], [f64; 6]) = (early.state().into(), late.state().into());
        // Error control rounds times, which are larger.
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{method:?}: {a:?}, {b:?}");
        let settings = Settings { from: -16.0, ..Settings::new(method, -14.0) };
        assert_eq!(simulation().final_state(&settings).unwrap(), late.state());
    }
}

#[test]
fn a_run_from_another_time_is_sampled_watched_and_resumed() {
    for method in METHODS {
        let make = || simulation().from_time(100.0).record_every(0.25);
        let whole = make().run(method, 101.0).unwrap();
        let times: Vec<f64> = whole.trajectory().iter().map(|sample| sample.time).collect();
        assert_eq!(times, [100.0, 100.25, 100.5, 100.75, 101.0], "{method:?}");
        let mut snapshot = None;
        let first = make().watched(|moment| {
            snapshot = Some(moment.snapshot());
            if moment.fraction() < 0.5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let first = first.run(method, 101.0).unwrap();
        assert!((100.5..101.0).contains(&first.time()), "{method:?}: {}", first.time());
        let rest = make().from_snapshot(snapshot.clone().unwrap()).run(method, 101.0).unwrap();
        assert_eq!(rest.state(), whole.state(), "{method:?}");
        let elsewhere = simulation().record_every(0.25).from_snapshot(snapshot.unwrap()).run(method, 101.0);
        assert!(matches!(elsewhere, Err(Error::ForeignSnapshot { .. })), "{method:?}");
    }
}

#[test]
fn a_run_ends_after_its_start() {
    for (from, until) in [(2.0, 1.0), (2.0, 2.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        let error = simulation().from_time(from).run(METHODS[0], until).unwrap_err();
        assert!(matches!(error, Error::EndBeforeStart { .. }), "{error}");
    }
    let message = simulation().from_time(2.0).run(METHODS[0], 1.0).unwrap_err().to_string();
    assert_eq!(
        message,
        "the run starts at t = 2.0 and ends at t = 1.0: both must be finite, and the end later than the start"
    );
}

/// A body on a path that depends on the time.
#[feedback_system(state(y), time(t), dynamics(y = 3 * t.powi(2) + 12 * t - 4), start(y = -120, t = -8))]
#[derive(Clone, Copy)]
struct Cubic;

/// y = t^3 + 6 t^2 - 4 t + c, so that the exact state is known.
#[test]
fn a_run_starts_at_the_time_of_its_start() {
    let exact = |t: f64| t.powi(3) + 6.0 * t * t - 4.0 * t - 24.0;
    let start = Cubic.declared_start().unwrap();
    assert_eq!((start.t, start.y), (-8.0, -120.0));
    for method in METHODS {
        let settings = Settings::new(method, 4.0);
        let run = Simulation::new(&Cubic, start).unwrap().run_with(&settings).unwrap();
        assert_eq!((run.time(), run.trajectory()[0].time), (4.0, -8.0), "{method:?}");
        assert!((run.state().y - exact(4.0)).abs() < 1e-5, "{method:?}: {:?}", run.state());
        let end = Simulation::new(&Cubic, start).unwrap().final_state(&settings).unwrap();
        assert_eq!(end, run.state(), "{method:?}");
        let members = Ensemble::new(&Cubic, [start, start]).run_with(&settings).unwrap();
        assert!(
            members.ends().iter().all(|member| member.as_ref().unwrap().state == <[f64; 2]>::from(end)),
            "{method:?}"
        );
        let other = Settings { from: -7.0, ..settings };
        let refused = Simulation::new(&Cubic, start).unwrap().run_with(&other).map(drop);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "the start has `t` = -8.0, and the run begins at t = -7.0: both must be the same"
        );
    }
}

/// Oscillations of an atom, in metres.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
struct Oscillator;

#[test]
fn scales_make_tolerances_of_entries() {
    let (start, method) = ([1e-10, 0.0], Method::Dop853 { rtol: 1e-12, atol: Some(1e-8) });
    let error = |simulation: Simulation<'_, Oscillator>| {
        let end = simulation.without_feedback().run(method, 10.0).unwrap().state();
        (end.q / start[0] - 10.0_f64.cos()).abs()
    };
    let unscaled = error(Simulation::new(&Oscillator, start).unwrap());
    let scaled = error(Simulation::new(&Oscillator, start).unwrap().scales([1e-10; 2]));
    // An absolute tolerance of 1e-8 is none for an amplitude of 1e-10.
    assert!(scaled < 1e-6 && unscaled > 1e-2, "{scaled}, {unscaled}");

    let field = PlainField::new(&Oscillator);
    let tolerance = Tolerance::new(1e-8, 1e-8).unwrap();
    let refused = Integrator::dop853(&field, start, tolerance).with_scales(&[1.0, 0.0]).map(drop);
    assert_eq!(refused.unwrap_err().to_string(), "the scale of an entry is 0.0: it must be positive and finite");
}

/// A pendulum on its circle with a motor.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    input(torque),
    hamiltonian = p.norm_squared() / 2 + q[1],
    constraint(length = q.norm_squared() - 1),
    force(p = torque * vector![-q[1], q[0]]),
)]
struct Driven;

/// Settings that choose no projection leave it to the simulation or ensemble: one default in runs, ends and members; what is chosen before
/// them stays.
#[test]
fn settings_that_choose_no_projection_leave_it_as_it_is() {
    let start = DrivenState { q: vector![1.0, 0.0], p: vector![0.0, 0.0], time: 0.0, work: 0.0 };
    let torque = |t: f64, _: &DrivenState| DrivenInput { torque: t.sin() };
    let simulation = || Simulation::new(&Driven, start).unwrap();
    let (method, until) = (Method::Rk4 { h: 1e-2 }, 10.0);
    let settings = Settings::new(method, until);
    let off = |state: DrivenState| (state.q.norm() - 1.0).abs();

    let run = simulation().input(torque).run(method, until).unwrap();
    assert!(run.projection().is_some() && off(run.state()) < 1e-14);
    assert_eq!(simulation().input(torque).run_with(&settings).unwrap().state(), run.state());
    assert_eq!(simulation().input(torque).final_state(&settings).unwrap(), run.state());
    let members = Ensemble::new(&Driven, [start])
        .run_each(&settings, |_, simulation, settings| simulation.input(torque).run_with(settings));
    assert_eq!(DrivenState::from(members.unwrap().ends()[0].as_ref().unwrap().state), run.state());

    let chosen = Projection::iterations(2.try_into().unwrap());
    let run = simulation().projected(chosen).input(torque).run_with(&settings).unwrap();
    assert_eq!(run.projection(), Some(chosen));
    for run in [
        simulation().without_feedback().input(torque).run_with(&settings).unwrap(),
        simulation().input(torque).run_with(&Settings { projection: None, ..settings }).unwrap(),
    ] {
        assert!(run.projection().is_none() && off(run.state()) > 1e-12);
    }
}
