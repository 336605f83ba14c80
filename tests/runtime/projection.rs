//! The projection after each step: what it holds, what it leaves of the trajectory, and where DF loses rank.

use std::num::NonZeroU32;

use super::models::{FOUR_BAR, FourBar, KEPLER, Kepler, SPHERICAL_PENDULUM, SphericalPendulum};
use super::vectors::{distance, shifted};
use fbint_runtime::{
    Error, FeedbackSystem, Gains, Method, Projection, Projector, Settings, Simulation, Vector, feedback_system,
};

const METHODS: [Method; 6] = [
    Method::Euler { h: 0.002 },
    Method::Midpoint { h: 0.01 },
    Method::Heun { h: 0.01 },
    Method::Rk4 { h: 0.05 },
    Method::DormandPrince { rtol: 1e-6, atol: Some(1e-6) },
    Method::Dop853 { rtol: 1e-6, atol: Some(1e-6) },
];

fn iterations(number: u32) -> Projection {
    Projection::iterations(NonZeroU32::new(number).unwrap())
}

/// The end of a run and the largest change of any integral.
fn end_and_drift<S: FeedbackSystem>(
    system: &S,
    start: Vector<S>,
    method: Method,
    until: f64,
    projection: Option<Projection>,
) -> (Vector<S>, f64) {
    let settings = Settings { projection, ..Settings::new(method, until) };
    let run = Simulation::new(system, start).unwrap().run_with(&settings).unwrap();
    let drift = run.drift().integrals().fold(0.0, |largest: f64, integral| largest.max(integral.max));
    (run.state().into(), drift)
}

#[test]
fn one_projection_after_each_rk4_step_holds_every_integral_and_helps_the_trajectory() {
    let run = |projection| {
        let start = SphericalPendulum::start();
        end_and_drift(&SPHERICAL_PENDULUM, start, Method::Rk4 { h: 0.05 }, 20.0, projection)
    };
    // At t = 20, by elliptic functions.
    let exact = [
        -0.5474743744992153,
        -0.23406648393840399,
        -0.8034206185824495,
        -0.005268213544448879,
        1.8243171448756925,
        -0.5279019208182054,
    ];
    let ((plain, plain_drift), (projected, drift)) = (run(None), run(Some(Projection::default())));
    assert!(drift <= 1e-12 && plain_drift > 1e-6, "{drift} against {plain_drift}");
    let (plain, projected) = (distance(&plain, &exact), distance(&projected, &exact));
    assert!(projected < plain, "trajectory off by {projected}, without projection {plain}");
}

#[test]
fn every_method_projects_with_and_without_feedback() {
    for method in METHODS {
        let (_, drift) = end_and_drift(&FOUR_BAR, FourBar::start(), method, 3.0, Some(iterations(2)));
        assert!(drift < 1e-11, "{method:?}: {drift}");
        let simulation = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().gains(Gains::uniform(0.1));
        let run = simulation.projected(iterations(2)).run(method, 3.0).unwrap();
        assert!(run.drift().integrals().all(|integral| integral.max < 1e-11), "{method:?}: {}", run.drift());
    }
}

#[test]
fn a_conical_pendulum_stays_on_its_circle() {
    // The height is an extremum of the energy among states of its vertical momentum: DF has rank 3 of 4.
    let (sin, cos) = 0.7_f64.sin_cos();
    let start = [sin, 0.0, -cos, 0.0, sin / cos.sqrt(), 0.0];
    for method in METHODS {
        let (end, _) = end_and_drift(&SPHERICAL_PENDULUM, start, method, 50.0, Some(Projection::default()));
        let radius = end[0].hypot(end[1]);
        assert!((radius - sin).abs() < 1e-4 && (end[2] + cos).abs() < 1e-4, "{method:?}: {end:?}");
        assert!(end[5].abs() < 1e-4, "{method:?}: {end:?}");
    }
}

#[test]
fn dependent_integrals_do_no_harm() {
    // L.A = 0 everywhere, so that DF has rank 5 of 7, and 4 on a circular orbit, where A = 0.
    for eccentricity in [0.6, 0.0] {
        for method in METHODS {
            let start = Kepler::start(eccentricity);
            let (end, drift) = end_and_drift(&KEPLER, start, method, std::f64::consts::TAU, Some(iterations(2)));
            assert!(drift < 1e-9, "e = {eccentricity}, {method:?}: {drift}");
            let radius = end[0].hypot(end[1]).hypot(end[2]);
            assert!((radius - (1.0 - eccentricity)).abs() < 0.05, "e = {eccentricity}, {method:?}: {end:?}");
        }
    }
}

#[test]
fn a_state_that_needs_no_projection_is_left_alone_and_vanishing_gradients_are_survived() {
    let start = SphericalPendulum::start();
    let targets = [0.0, 0.0, 1.0, -1.0];
    let mut x = start;
    Projector::new(&SPHERICAL_PENDULUM, &start, targets, Projection::default()).project(&[1.0; 6], &mut x);
    assert_eq!(x, start);

    // At the origin of phase space every gradient but the energy's vanishes.
    let mut x: [f64; 6] = [0.0; 6];
    Projector::new(&SPHERICAL_PENDULUM, &start, targets, iterations(3)).project(&[1.0; 6], &mut x);
    assert!(x.iter().all(|entry| entry.is_finite()), "{x:?}");
}

/// A pendulum whose gravity oscillates with a clock: the rate of `t` is 1, so that no step errs in it.
#[feedback_system(
    coordinates(q, t),
    momenta(p, e),
    hamiltonian = p.powi(2) / 2 - (1 + a * t.cos()) * q.cos() + e,
)]
struct Driven {
    a: f64,
}

#[test]
fn a_clock_stays_where_it_is() {
    let driven = Driven { a: 0.3 };
    let start = DrivenState { q: 1.0, t: 0.0, p: 0.0, e: 0.0 };
    for method in METHODS {
        let simulation = || Simulation::new(&driven, start).unwrap();
        let projected = simulation().run(method, 10.0).unwrap();
        let plain = simulation().without_feedback().run(method, 10.0).unwrap();
        let largest = projected.drift().get("energy").unwrap().max;
        assert!(largest <= 1e-10 && plain.drift().get("energy").unwrap().max > 1e3 * largest, "{method:?}: {largest}");
        match method {
            // The coefficients of a pair add up to 0 but for rounding.
            Method::DormandPrince { .. } | Method::Dop853 { .. } => {
                assert!((projected.state().t - 10.0).abs() < 1e-13, "{method:?}: {}", projected.state().t);
            }
            _ => assert_eq!(projected.state().t, plain.state().t, "{method:?}"),
        }
    }
}

#[test]
fn constraints_are_at_rounding_after_every_step() {
    // One iteration leaves what is quadratic in the violation of a step, which these steps make less than rounding.
    let methods = [
        Method::Euler { h: 1e-5 },
        Method::Midpoint { h: 5e-4 },
        Method::Heun { h: 5e-4 },
        Method::Rk4 { h: 5e-3 },
        Method::DormandPrince { rtol: 1e-8, atol: Some(1e-8) },
        Method::Dop853 { rtol: 1e-8, atol: Some(1e-8) },
    ];
    for method in methods {
        let simulation = || Simulation::new(&FOUR_BAR, FourBar::start()).unwrap();
        let projected = simulation().run(method, 3.0).unwrap();
        let plain = simulation().without_feedback().run(method, 3.0).unwrap();
        for (projected, plain) in projected.drift().integrals().zip(plain.drift().integrals()) {
            assert!(projected.max < 1e-13, "{method:?}: {projected:?}");
            assert!(plain.max > 1e3 * projected.max, "{method:?}: {plain:?}, {projected:?}");
        }
    }
}

#[test]
fn a_scale_of_the_errors_changes_nothing_and_a_unit_of_the_state_neither() {
    let start = SphericalPendulum::start();
    let targets = [0.0, 0.0, 1.0, -1.0];
    let error = [1e-3, 2e-3, 1e-4, 3e-3, 1e-3, 5e-4];
    let project = |error: [f64; 6]| {
        let mut x = shifted(&start, 1e-4);
        Projector::new(&SPHERICAL_PENDULUM, &start, targets, Projection::default()).project(&error, &mut x);
        x
    };
    assert!(distance(&project(error), &project(error.map(|error| error * 1e-2))) < 1e-11);
}

/// Steps of a fixed size may pass a collision, as plain ones do, and the projections there are left out; or the run ends with the way
/// there.
#[test]
fn a_collision_is_passed_as_by_plain_steps_or_ends_the_run() {
    // At rest, the planet falls into the sun, where the field is singular.
    let start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for method in METHODS {
        match Simulation::new(&KEPLER, start).unwrap().run(method, 5.0) {
            Ok(run) => assert!(run.left_out().iter().any(|(_, left_out)| left_out.time > 1.0), "{method:?}"),
            Err(Error::Failed(failure)) => {
                assert_eq!(failure.trajectory[0], (0.0, start.to_vec()));
                let (time, last) = failure.trajectory.last().unwrap();
                // It takes pi / sqrt(8) to get there. A step of a fixed size may pass the singularity a few times.
                assert!((1.0..5.0).contains(time) && last[0].abs() < 1.0, "{method:?}: {last:?} at {time}");
            }
            Err(other) => panic!("{method:?}: {other}"),
        }
    }
}

#[test]
fn a_run_reports_its_largest_projection() {
    for method in METHODS {
        let simulation = || Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap();
        let run = simulation().run(method, 10.0).unwrap();
        let largest = run.largest_projection().unwrap();
        assert!(largest.per_error < 100.0 && largest.distance > 0.0, "{method:?}: {largest:?}");
        let has_tolerance = matches!(method, Method::DormandPrince { .. } | Method::Dop853 { .. });
        assert_eq!(largest.per_tolerance.is_some(), has_tolerance);
        assert!(simulation().without_feedback().run(method, 10.0).unwrap().largest_projection().is_none());
    }
}

#[test]
fn one_integral_of_many_entries_is_left_alone() {
    let system = Fourteen { k: 1.0 };
    let start = std::array::from_fn(|i| 0.1 * (i as f64 - 6.0));
    let (simulation, method) = (|| Simulation::new(&system, start).unwrap(), Method::Rk4 { h: 0.05 });
    let default = simulation().run(method, 10.0).unwrap();
    let plain = simulation().without_feedback().run(method, 10.0).unwrap();
    assert!(default.largest_projection().is_none());
    assert_eq!(default.state().q, plain.state().q);
    let asked = simulation().projected(Projection::default()).run(method, 10.0).unwrap();
    assert!(asked.drift().get("energy").unwrap().max < 1e-13);
}

/// Seven masses on springs, of which the energy alone is declared.
#[feedback_system(
    coordinates(q: [7]),
    momenta(p: [7]),
    hamiltonian = p.norm_squared() / 2 + k * q.norm_squared() / 2 + (0..6).map(|i| (q[i + 1] - q[i]).powi(4)).sum() / 4,
)]
struct Fourteen {
    k: f64,
}
