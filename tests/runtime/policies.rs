//! Gains that follow from the state, against their definitions; the rates at which they decay, and the audit of steps.

use std::array;

use super::common::{PENDULUM, Pendulum, start};
use super::models::{Angle, AngleState};
use fbint_runtime::nalgebra::{Matrix4, Matrix4x6, SymmetricEigen, Vector4, Vector6};
use fbint_runtime::{
    Error, Feedback, FeedbackSystem, Field, GainPolicy, Gains, Method, PreparedSystem, Projection, Settings, Simulation,
};

const WEIGHTED: Pendulum<true> = Pendulum { m: 1.3, g: 0.7, l: 1.0 };
/// A point well off the constraint set.
const ELSEWHERE: [f64; 6] = [0.3, 1.1, -0.4, 0.9, 0.2, 0.8];

fn jacobian() -> Matrix4x6<f64> {
    let rows = WEIGHTED.prepare().integrals_jacobian(&ELSEWHERE);
    Matrix4x6::from_fn(|i, j| rows[i][j])
}

/// F - F_target and DF DF^T there.
fn change_and_gram() -> (Vector4<f64>, Matrix4<f64>) {
    let system = WEIGHTED.prepare();
    let at_start = system.integrals(&start().into());
    let targets = Vector4::new(0.0, 0.0, at_start[2], at_start[3]);
    (Vector4::from(system.integrals(&ELSEWHERE)) - targets, jacobian() * jacobian().transpose())
}

/// Checks field and decay rate against K as a matrix.
fn assert_policy<K: GainPolicy<Pendulum<true>>>(gains: Gains<K>, k: Matrix4<f64>, tolerance: f64) {
    assert_field(gains, k, tolerance);
    let root = k.symmetric_eigen();
    let root =
        root.eigenvectors * Matrix4::from_diagonal(&root.eigenvalues.map(f64::sqrt)) * root.eigenvectors.transpose();
    let expected = SymmetricEigen::new(root * jacobian() * jacobian().transpose() * root).eigenvalues.max();
    let rate = Feedback::new(&WEIGHTED, &start().into(), gains).unwrap().decay_rate(&ELSEWHERE);
    assert!((rate / expected - 1.0).abs() < 0.02, "the decay rate is {rate} instead of {expected}");
}

fn assert_field<K: GainPolicy<Pendulum<true>>>(gains: Gains<K>, k: Matrix4<f64>, tolerance: f64) {
    let feedback = Feedback::new(&WEIGHTED, &start().into(), gains).unwrap();
    let field = |x: &Vector6<f64>| Vector6::from(feedback.value(&(*x).into()));
    let gradient = jacobian().transpose() * k * change_and_gram().0;
    let expected = Vector6::from(WEIGHTED.prepare().vector_field(&ELSEWHERE)) - gradient;
    let error = (field(&ELSEWHERE.into()) - expected).norm() / expected.norm();
    assert!(error < tolerance, "{gains:?}: the field is off by {error}");
    assert_step(|x, h| feedback.euler_step(x, h), |x, h| x + field(x) * h);
    assert_step(
        |x, h| feedback.rk4_step(x, h),
        |x, h| {
            let k1 = field(x);
            let k2 = field(&(x + k1 * (h / 2.0)));
            let k3 = field(&(x + k2 * (h / 2.0)));
            let k4 = field(&(x + k3 * h));
            x + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)
        },
    );
}

fn assert_step(step: impl Fn(&mut [f64; 6], f64), expected: impl Fn(&Vector6<f64>, f64) -> Vector6<f64>) {
    let (mut x, h) = (ELSEWHERE, 0.01);
    step(&mut x, h);
    assert!((Vector6::from(x) - expected(&ELSEWHERE.into(), h)).norm() < 1e-14);
}

#[test]
fn constant_gains_are_their_matrices() {
    let weights = Matrix4::from_diagonal(&Vector4::new(3.0, 1.0, 1.0, 2.0));
    assert_policy(Gains::uniform(7.0), weights * 7.0, 1e-14);
    let k = [1.0, 2.0, 3.0, 4.0];
    assert_policy(Gains::diagonal(k), weights * Matrix4::from_diagonal(&k.into()), 1e-14);
}

#[test]
fn relaxation_gains_are_the_inverse_of_the_gram_matrix() {
    let (_, gram) = change_and_gram();
    assert_policy(Gains::relaxation(0.25), gram.try_inverse().unwrap() / 0.25, 1e-12);
}

#[test]
fn the_rule_of_bae_and_chang_divides_by_the_largest_eigenvalue() {
    let (_, gram) = change_and_gram();
    let largest = SymmetricEigen::new(gram).eigenvalues.max();
    assert_policy(Gains::bae_chang(0.01), Matrix4::identity() / (0.01 * largest), 1e-3);
}

#[test]
fn relaxation_lets_every_violation_decay_at_one_rate() {
    let tau = 0.2;
    let feedback = Feedback::new(&PENDULUM, &start().into(), Gains::relaxation(tau)).unwrap();
    let (start, off): ([f64; 6], _) = (start().into(), [1e-7, 2e-7, -1e-7, 3e-7, 1e-7, 2e-7]);
    let mut x = array::from_fn(|i| start[i] + off[i]);
    let before = feedback.violations(&x);
    for _ in 0..400 {
        feedback.rk4_step(&mut x, 1e-3);
    }
    let after = feedback.violations(&x);
    for i in 0..4 {
        let ratio = after[i] / before[i] / f64::exp(-0.4 / tau);
        assert!((ratio - 1.0).abs() < 2e-3, "integral {i} decays by {ratio} of what it should");
    }
}

#[test]
fn times_and_rates_that_are_not_positive_are_refused() {
    let refusal = |error: fbint_runtime::Error| error.to_string();
    let new = |gains| Feedback::new(&PENDULUM, &start().into(), gains).map(|_| ());
    assert_eq!(
        refusal(new(Gains::relaxation(0.0)).unwrap_err()),
        "the relaxation time tau is 0.0: it must be positive and finite",
    );
    let rule = Feedback::new(&PENDULUM, &start().into(), Gains::bae_chang(-1.0)).map(|_| ()).unwrap_err();
    assert_eq!(refusal(rule), "the step of the gains is -1.0: it must be positive and finite");
}

/// The audit of the feedback against the stability interval of the method.
mod audit {
    use super::*;

    fn run(gains: Gains<impl GainPolicy<Pendulum>>, method: Method) -> Result<(), Error> {
        Simulation::new(&PENDULUM, start()).unwrap().gains(gains).run(method, 10.0).map(|_| ())
    }

    #[test]
    fn gains_too_large_for_the_step_are_refused_with_what_would_do() {
        let Err(error) = run(Gains::uniform(50.0), Method::Rk4 { h: 0.02 }) else { panic!("not refused") };
        let Error::UnstableGains { time, h, rate, interval } = error else { panic!("{error}") };
        assert_eq!((time, h, interval), (0.0, 0.02, 2.785));
        for part in ["h = 0.02", "at t = 0.0", "Gains::relaxation"] {
            assert!(error.to_string().contains(part), "{error}");
        }
        // A fifth to spare, for the rate is another one further on.
        let largest = 0.8 * interval / rate;
        run(Gains::uniform(50.0), Method::Rk4 { h: largest }).unwrap();
        run(Gains::uniform(50.0 * largest / h), Method::Rk4 { h }).unwrap();
        run(Gains::relaxation(10.0 * h), Method::Rk4 { h }).unwrap();
    }

    #[test]
    fn every_method_has_its_own_interval() {
        for (method, limit) in [
            (|h| Method::Euler { h }, 2.0),
            (|h| Method::Midpoint { h }, 2.0),
            (|h| Method::Heun { h }, 2.0),
            (|h| Method::Rk4 { h }, 2.785),
        ] as [(fn(f64) -> Method, f64); 4]
        {
            let tau = 0.01;
            // Just below, the audit is content, whatever becomes of the run.
            let is_refused = |h| matches!(run(Gains::relaxation(tau), method(h)), Err(Error::UnstableGains { .. }));
            assert!(!is_refused(0.99 * limit * tau) && is_refused(1.01 * limit * tau));
        }
        // Error control finds its step itself.
        run(Gains::uniform(50.0), Method::Dop853 { rtol: 1e-6, atol: Some(1e-6) }).unwrap();
    }

    #[test]
    fn a_rate_that_grows_on_the_way_ends_the_run() {
        // The pendulum starts at its height, so that |p|^2 and with it |dH|^2 grow.
        let high = [0.0, 0.0, 1.0, 0.3, 0.0, 0.0];
        let feedback = Feedback::new(&PENDULUM, &high, Gains::uniform(1.0)).unwrap();
        let h = 2.0 / feedback.decay_rate(&high);
        let simulation = Simulation::new(&PENDULUM, high).unwrap().gains(Gains::uniform(0.98));
        let run = simulation.run(Method::Midpoint { h }, 100.0);
        let Err(Error::UnstableGains { time, .. }) = run else { panic!("not noticed") };
        assert!(time > 0.0);
    }
}

/// What happens when nobody names a number.
mod default {
    use super::*;

    const METHODS: [Method; 4] = [
        Method::Euler { h: 1e-2 },
        Method::Rk4 { h: 1e-2 },
        Method::DormandPrince { rtol: 1e-8, atol: Some(1e-8) },
        Method::Dop853 { rtol: 1e-8, atol: Some(1e-8) },
    ];

    #[test]
    fn it_is_one_projection_after_each_step_of_the_plain_field() {
        for method in METHODS {
            let simulation = || Simulation::new(&PENDULUM, start()).unwrap();
            let run = simulation().run(method, 5.0).unwrap();
            let stated = simulation().without_feedback().projected(Projection::default()).run(method, 5.0).unwrap();
            assert_eq!(run.state(), stated.state());
            assert!(run.drift().integrals().all(|integral| integral.max < 1e-6), "{method:?}: {}", run.drift());
        }
    }

    #[test]
    fn gains_take_its_place() {
        let default = || Simulation::new(&PENDULUM, start()).unwrap();
        let simulation = || default().gains(Gains::uniform(1.0));
        let (method, until) = (METHODS[1], 1.0);
        let unprojected = simulation().run(method, until).unwrap();
        let stated = Settings::new(method, until);
        assert_eq!(unprojected.state(), simulation().run_with(&stated).unwrap().state());
        let both = simulation().projected(Projection::default()).run(method, until).unwrap();
        assert_ne!(unprojected.state(), both.state());
        let chosen_before = default().projected(Projection::default()).gains(Gains::uniform(1.0));
        assert_eq!(chosen_before.run(method, until).unwrap().state(), both.state());
    }
}

#[test]
fn a_single_integral_decays_at_its_gain_times_its_squared_gradient() {
    let x = AngleState { angle: 1.0, momentum: 2.0 };
    let feedback = Feedback::new(&Angle { g: 3.0 }, &x.into(), Gains::uniform(5.0)).unwrap();
    let expected = 5.0 * (9.0 * 1.0_f64.sin().powi(2) + 4.0);
    assert!((feedback.decay_rate(&x.into()) / expected - 1.0).abs() < 1e-14);
}
