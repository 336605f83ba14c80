//! Samples at a list of times, and the times that cannot be sampled.

use super::models::{SPHERICAL_PENDULUM, SphericalPendulum};
use fbint_runtime::{Method, Rattle, Run, Simulation};

const UNTIL: f64 = 2.0;
/// Ends of steps of 0.01, times between them, two in one step, and one that a rounding separates from the end of a step.
const TIMES: [f64; 7] = [0.1, 0.305, 0.3071, 0.7 + 1e-15, 1.23456, 1.9999, 2.0];

const METHODS: [Method; 6] = [
    Method::Euler { h: 0.01 },
    Method::Midpoint { h: 0.01 },
    Method::Heun { h: 0.01 },
    Method::Rk4 { h: 0.01 },
    Method::DormandPrince { rtol: 1e-10, atol: 1e-10 },
    Method::Dop853 { rtol: 1e-10, atol: 1e-10 },
];

fn simulation() -> Simulation<'static, SphericalPendulum> {
    Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap()
}

fn times(run: &Run<SphericalPendulum>) -> Vec<f64> {
    run.trajectory().iter().map(|sample| sample.time).collect()
}

/// The largest distance of any sample from the state there, computed to rounding.
fn largest_error(run: &Run<SphericalPendulum>) -> f64 {
    let exact = Method::Dop853 { rtol: 1e-14, atol: 1e-14 };
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
    let rattle = Rattle::new(&SPHERICAL_PENDULUM).unwrap();
    let run = simulation().record_at(TIMES).run_geometric(&rattle, 0.01, UNTIL).unwrap();
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
