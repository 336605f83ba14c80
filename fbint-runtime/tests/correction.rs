//! The correction after each step: what it holds, what it leaves of the trajectory, and where DF loses rank.

mod models;

use fbint_runtime::nalgebra::{SVector, Vector6, vector};
use fbint_runtime::{Correction, FeedbackSystem, Gains, Method, Projector, Simulation};
use models::{FOUR_BAR, FourBar, KEPLER, Kepler, SPHERICAL_PENDULUM, SphericalPendulum};

const METHODS: [Method; 6] = [
    Method::Euler { h: 0.002 },
    Method::Midpoint { h: 0.01 },
    Method::Heun { h: 0.01 },
    Method::Rk4 { h: 0.05 },
    Method::DormandPrince { rtol: 1e-6, atol: 1e-6 },
    Method::Dop853 { rtol: 1e-6, atol: 1e-6 },
];

/// The end of a run and the largest change of any integral.
fn corrected<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S,
    start: SVector<f64, N>,
    method: Method,
    until: f64,
    correction: Correction,
) -> (SVector<f64, N>, f64) {
    let simulation = Simulation::new(system, start).unwrap().method(method).until(until).corrected(correction);
    let run = simulation.run().unwrap();
    let drift = run.drift().integrals().iter().fold(0.0, |largest: f64, integral| largest.max(integral.max));
    (run.state().into(), drift)
}

#[test]
fn one_correction_after_each_rk4_step_holds_every_integral_and_helps_the_trajectory() {
    let run = |correction| {
        let start = SphericalPendulum::start();
        corrected(&SPHERICAL_PENDULUM, start, Method::Rk4 { h: 0.05 }, 20.0, correction)
    };
    // At t = 20, by elliptic functions.
    let exact = vector![
        -0.5474743744992153,
        -0.23406648393840399,
        -0.8034206185824495,
        -0.005268213544448879,
        1.8243171448756925,
        -0.5279019208182054
    ];
    let ((plain, plain_drift), (projected, drift)) = (run(Correction::times(0)), run(Correction::once()));
    assert!(drift <= 1e-12 && plain_drift > 1e-6, "{drift} against {plain_drift}");
    let (plain, projected) = ((plain - exact).norm(), (projected - exact).norm());
    assert!(projected < plain, "trajectory off by {projected}, without correction {plain}");
}

#[test]
fn every_method_can_be_corrected_with_and_without_feedback() {
    for method in METHODS {
        let (_, drift) = corrected(&FOUR_BAR, FourBar::start(), method, 3.0, Correction::times(2));
        assert!(drift < 1e-11, "{method:?}: {drift}");
        let simulation = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().gains(Gains::uniform(0.1));
        let run = simulation.method(method).until(3.0).corrected(Correction::times(2)).run().unwrap();
        assert!(run.drift().integrals().iter().all(|integral| integral.max < 1e-11), "{method:?}: {}", run.drift());
    }
}

#[test]
fn a_conical_pendulum_stays_on_its_circle() {
    // The height is an extremum of the energy among states of its vertical momentum: DF has rank 3 of 4.
    let (sin, cos) = 0.7_f64.sin_cos();
    let start = vector![sin, 0.0, -cos, 0.0, sin / cos.sqrt(), 0.0];
    for method in METHODS {
        let (end, _) = corrected(&SPHERICAL_PENDULUM, start, method, 50.0, Correction::once());
        let radius = end[0].hypot(end[1]);
        assert!((radius - sin).abs() < 1e-4 && (end[2] + cos).abs() < 1e-4, "{method:?}: {end}");
        assert!(end[5].abs() < 1e-4, "{method:?}: {end}");
    }
}

#[test]
fn dependent_integrals_do_no_harm() {
    // L.A = 0 everywhere, so that DF has rank 5 of 7, and 4 on a circular orbit, where A = 0.
    for eccentricity in [0.6, 0.0] {
        for method in METHODS {
            let (end, drift) =
                corrected(&KEPLER, Kepler::start(eccentricity), method, std::f64::consts::TAU, Correction::times(2));
            assert!(drift < 1e-9, "e = {eccentricity}, {method:?}: {drift}");
            let distance = end.fixed_rows::<3>(0).norm();
            assert!((distance - (1.0 - eccentricity)).abs() < 0.05, "e = {eccentricity}, {method:?}: {end}");
        }
    }
}

#[test]
fn a_state_that_needs_no_correction_is_left_alone_and_vanishing_gradients_are_survived() {
    let start = SphericalPendulum::start();
    let targets = vector![0.0, 0.0, 1.0, -1.0];
    let mut x = start;
    Projector::new(&SPHERICAL_PENDULUM, &start, targets, Correction::once()).project(&SVector::repeat(1.0), &mut x);
    assert_eq!(x, start);

    // At the origin of phase space every gradient but the energy's vanishes.
    let mut x = Vector6::zeros();
    Projector::new(&SPHERICAL_PENDULUM, &start, targets, Correction::times(3)).project(&SVector::repeat(1.0), &mut x);
    assert!(x.iter().all(|entry| entry.is_finite()), "{x}");
}
