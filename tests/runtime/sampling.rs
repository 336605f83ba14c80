//! Samples at a list of times, the times that cannot be sampled, and runs that have a state at every time.

use super::models::{SPHERICAL_PENDULUM, SphericalPendulum, SphericalPendulumState};
use fbint_runtime::{Event, Method, Run, Simulation};

const UNTIL: f64 = 2.0;
/// Ends of steps of 0.01, times between them, two in one step, and one that a rounding separates from the end of a step.
const TIMES: [f64; 7] = [0.1, 0.305, 0.3071, 0.7 + 1e-15, 1.23456, 1.9999, 2.0];

const METHODS: [Method; 6] = [
    Method::Euler { h: 0.01 },
    Method::Midpoint { h: 0.01 },
    Method::Heun { h: 0.01 },
    Method::Rk4 { h: 0.01 },
    Method::DormandPrince { rtol: 1e-10, atol: Some(1e-10) },
    Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) },
];

fn simulation() -> Simulation<'static, SphericalPendulum> {
    Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap()
}

fn times(run: &Run<SphericalPendulum>) -> Vec<f64> {
    run.trajectory().iter().map(|sample| sample.time).collect()
}

/// The largest distance of any sample from the state there, computed to rounding.
fn largest_error(run: &Run<SphericalPendulum>) -> f64 {
    let exact = Method::Dop853 { rtol: 1e-14, atol: Some(1e-14) };
    let errors = run.trajectory()[1..].iter().flat_map(|sample| {
        let state: [f64; 6] = simulation().run(exact, sample.time).unwrap().state().into();
        sample.state.into_iter().zip(state).map(|(a, b)| (a - b).abs())
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn samples_are_at_the_times_of_the_list_and_at_both_ends() {
    for method in METHODS {
        let run = simulation().record_at(TIMES).run(method, UNTIL).unwrap();
        assert_eq!(times(&run), [&[0.0], &TIMES[..]].concat(), "{method:?}");
        let without_ends = simulation().record_at([0.0, 0.1]).run(method, UNTIL).unwrap();
        assert_eq!(times(&without_ends), [0.0, 0.1, 2.0], "{method:?}");
        assert_eq!(times(&simulation().record_at([]).run(method, UNTIL).unwrap()), [0.0, 2.0], "{method:?}");
    }
}

#[test]
fn samples_between_steps_are_as_exact_as_steps() {
    for (method, bound) in METHODS.into_iter().zip([3e-2, 2e-4, 2e-4, 1e-8, 1e-8, 1e-8]) {
        let run = simulation().record_at(TIMES).run(method, UNTIL).unwrap();
        assert!(largest_error(&run) < bound, "{method:?}: {:e}", largest_error(&run));
    }
}

#[test]
fn what_is_sampled_does_not_change_the_steps() {
    for method in METHODS {
        let (plain, listed) = (simulation(), simulation().record_at(TIMES));
        let (plain, listed) = (plain.run(method, UNTIL).unwrap(), listed.run(method, UNTIL).unwrap());
        assert_eq!((listed.state(), listed.steps()), (plain.state(), plain.steps()), "{method:?}");
        assert_eq!(listed.drift(), plain.drift(), "{method:?}");
    }
}

/// 0.1, 0.7 and 2 are ends of steps, to which a sample adds nothing.
#[test]
fn samples_between_steps_are_counted_as_evaluations() {
    let evaluations = |simulation: Simulation<'_, SphericalPendulum>| {
        simulation.run(Method::Rk4 { h: 0.01 }, UNTIL).unwrap().evaluations()
    };
    assert_eq!(evaluations(simulation().record_at(TIMES)), evaluations(simulation()) + 4 * 4);
}

#[test]
fn geometric_methods_are_sampled_at_times_too() {
    let run = simulation().record_at(TIMES).run(Method::Rattle { h: 0.01 }, UNTIL).unwrap();
    assert_eq!(times(&run), [&[0.0], &TIMES[..]].concat());
    assert!(largest_error(&run) < 1e-3, "{:e}", largest_error(&run));
}

#[test]
fn a_run_from_another_time_is_sampled_at_times() {
    for method in METHODS {
        let run = simulation().from_time(-5.0).record_at([-4.5, -3.21]).run(method, -3.0).unwrap();
        assert_eq!(times(&run), [-5.0, -4.5, -3.21, -3.0], "{method:?}");
    }
}

#[test]
fn a_time_that_cannot_be_sampled_is_named() {
    let cases: [(&[f64], &str); 7] = [
        (&[0.1, f64::NAN], "NaN at index 1: it must be finite"),
        (&[f64::NEG_INFINITY], "-inf at index 0: it must be finite"),
        (&[0.1, f64::INFINITY], "inf at index 1: it must be finite"),
        (&[0.1, 0.3, 0.2], "0.2 at index 2: it must be later than the one before it"),
        (&[0.1, 0.1], "0.1 at index 1: it must be later than the one before it"),
        (&[-0.1, 0.1], "-0.1 at index 0: it must not be before the start of the run"),
        (&[0.1, 2.5], "2.5 at index 1: it must not be after the end of the run"),
    ];
    for method in METHODS {
        for (list, expected) in cases {
            let message = simulation().record_at(list).run(method, UNTIL).unwrap_err().to_string();
            assert_eq!(message, format!("the list of times to sample has {expected}"), "{method:?}");
        }
    }
}

#[test]
fn a_dense_run_has_a_state_at_every_time() {
    for (method, bound) in METHODS.into_iter().zip([3e-2, 2e-4, 2e-4, 1e-8, 1e-8, 1e-8]) {
        let listed = simulation().record_at(TIMES).run(method, UNTIL).unwrap();
        let dense = simulation().dense().run(method, UNTIL).unwrap();
        let plain = simulation().run(method, UNTIL).unwrap();
        assert_eq!((dense.state(), dense.steps(), dense.drift()), (plain.state(), plain.steps(), plain.drift()));
        assert_eq!(dense.dense_output().len() as u64, dense.steps());
        for sample in listed.trajectory() {
            let state: [f64; 6] = dense.at(sample.time).unwrap().into();
            let error = state.into_iter().zip(sample.state).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < bound, "{method:?}: {error:e} at t = {}", sample.time);
        }
        assert!([-0.1, 2.1, f64::NAN].iter().all(|time| dense.at(*time).is_none()), "{method:?}");
        assert!(plain.at(1.0).is_none() && plain.dense_output().is_empty());
    }
}

#[test]
fn polynomials_of_steps_are_counted_as_evaluations() {
    for (method, more) in [(Method::Rk4 { h: 0.01 }, 2), (Method::Dop853 { rtol: 1e-6, atol: Some(1e-6) }, 3)] {
        let (dense, plain) = (simulation().dense().run(method, UNTIL), simulation().run(method, UNTIL));
        let (dense, plain) = (dense.unwrap(), plain.unwrap());
        // The evaluation at its end is the first of the next step, but for the last one.
        let last = dense.evaluations() - plain.evaluations() - more * plain.steps();
        assert!(last <= 1, "{method:?}: {last}");
    }
}

#[test]
fn a_dense_run_goes_on_after_a_reset_and_ends_where_it_is_ended() {
    let falling = || Event::new("falling", |_, state: &SphericalPendulumState| state.p[2]).falling();
    for method in [METHODS[3], METHODS[5]] {
        let turned = falling().reset(|_, state| SphericalPendulumState { q: state.q, p: -state.p });
        let run = simulation().dense().event(turned).run(method, UNTIL).unwrap();
        let (time, before) = (run.events()[0].time, run.events()[0].state);
        let near = |time: f64, state: &SphericalPendulumState| (run.at(time).unwrap().p - state.p).norm() < 1e-6;
        assert!(near(time - 1e-9, &before), "{method:?}");
        assert!(near(time, run.events()[0].reset.as_ref().unwrap()), "{method:?}");

        let ended = simulation().dense().event(falling().terminal()).run(method, UNTIL).unwrap();
        assert!(ended.time() < UNTIL && ended.at(ended.time() + 1e-6).is_none(), "{method:?}");
        assert!((ended.at(ended.time()).unwrap().p - ended.state().p).norm() < 1e-9, "{method:?}");
    }
}

#[test]
fn geometric_methods_have_dense_runs_too() {
    let run = simulation().dense().record_at(TIMES).run(Method::Rattle { h: 0.01 }, UNTIL).unwrap();
    for sample in run.trajectory() {
        let state: [f64; 6] = run.at(sample.time).unwrap().into();
        assert!(state.into_iter().zip(sample.state).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}
