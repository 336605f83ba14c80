//! Gains that follow from the state, against their definitions; the rates at which they decay, and the audit of steps.

mod common;

use common::{PENDULUM, Pendulum, start};
use fbint_runtime::nalgebra::{Matrix4, Matrix6, SymmetricEigen, Vector4, Vector6};
use fbint_runtime::{Feedback, FeedbackSystem, GainMatrix, GainPolicy, Gains};

const WEIGHTED: Pendulum<true> = Pendulum { m: 1.3, g: 0.7, l: 1.0 };

/// A point well off the constraint set.
fn elsewhere() -> Vector6<f64> {
    Vector6::new(0.3, 1.1, -0.4, 0.9, 0.2, 0.8)
}

fn metric() -> Matrix6<f64> {
    Matrix6::from_diagonal(&Vector6::new(0.5, 1.0, 1.5, 2.0, 2.5, 3.0))
}

/// F - F_target and DF DF^T there.
fn change_and_gram() -> (Vector4<f64>, Matrix4<f64>) {
    let x = elsewhere();
    let at_start = WEIGHTED.integrals(&start().into());
    let jacobian = WEIGHTED.integrals_jacobian(&x);
    (WEIGHTED.integrals(&x) - Vector4::new(0.0, 0.0, at_start[2], at_start[3]), jacobian * jacobian.transpose())
}

/// Checks field and decay rate against K as a matrix, with L = I and another L.
fn assert_policy<K: GainPolicy<4>>(gains: Gains<K>, k: Matrix4<f64>, tolerance: f64) {
    let entries = metric().diagonal().data.0[0];
    assert_field(gains.with_diagonal_metric(entries), k, metric(), tolerance);
    assert_field(gains, k, Matrix6::identity(), tolerance);
    let x = elsewhere();
    let jacobian = WEIGHTED.integrals_jacobian(&x);
    let root = k.symmetric_eigen();
    let root =
        root.eigenvectors * Matrix4::from_diagonal(&root.eigenvalues.map(f64::sqrt)) * root.eigenvectors.transpose();
    let expected = SymmetricEigen::new(root * jacobian * jacobian.transpose() * root).eigenvalues.max();
    let rate = Feedback::new(&WEIGHTED, &start().into(), gains).unwrap().decay_rate(&x);
    assert!((rate / expected - 1.0).abs() < 0.02, "the decay rate is {rate} instead of {expected}");
}

fn assert_field<K: GainPolicy<4>, L: GainMatrix<6>>(
    gains: Gains<K, L>,
    k: Matrix4<f64>,
    l: Matrix6<f64>,
    tolerance: f64,
) {
    let x = elsewhere();
    let feedback = Feedback::new(&WEIGHTED, &start().into(), gains).unwrap();
    let gradient = WEIGHTED.integrals_jacobian(&x).transpose() * k * change_and_gram().0;
    let expected = WEIGHTED.vector_field(&x) - l * gradient;
    let error = (feedback.field(&x) - expected).norm() / expected.norm();
    assert!(error < tolerance, "{gains:?}: the field is off by {error}");
    assert_step(|x, h| feedback.euler_step(x, h), |x, h| x + feedback.field(x) * h);
    assert_step(
        |x, h| feedback.rk4_step(x, h),
        |x, h| {
            let k1 = feedback.field(x);
            let k2 = feedback.field(&(x + k1 * (h / 2.0)));
            let k3 = feedback.field(&(x + k2 * (h / 2.0)));
            let k4 = feedback.field(&(x + k3 * h));
            x + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)
        },
    );
}

fn assert_step(step: impl Fn(&mut Vector6<f64>, f64), expected: impl Fn(&Vector6<f64>, f64) -> Vector6<f64>) {
    let (mut x, h) = (elsewhere(), 0.01);
    step(&mut x, h);
    assert!((x - expected(&elsewhere(), h)).norm() < 1e-14);
}

#[test]
fn constant_gains_are_their_matrices() {
    let weights = Matrix4::from_diagonal(&Vector4::new(3.0, 1.0, 1.0, 2.0));
    assert_policy(Gains::uniform(7.0), weights * 7.0, 1e-14);
}

#[test]
fn relaxation_gains_are_the_inverse_of_the_gram_matrix() {
    let (_, gram) = change_and_gram();
    assert_policy(Gains::relaxation(0.25), gram.try_inverse().unwrap() / 0.25, 1e-12);
}

#[test]
fn scaled_gains_divide_by_the_squares_of_the_gradients() {
    let (_, gram) = change_and_gram();
    assert_policy(
        Gains::diagonal_scaled(3.0),
        Matrix4::from_diagonal(&gram.diagonal().map(|square| 3.0 / square)),
        1e-14,
    );
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
    let mut x = Vector6::from(start()) + Vector6::new(1e-7, 2e-7, -1e-7, 3e-7, 1e-7, 2e-7);
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
    let scaled = Feedback::new(&PENDULUM, &start().into(), Gains::diagonal_scaled(f64::NAN)).map(|_| ()).unwrap_err();
    assert_eq!(refusal(scaled), "the rate of the scaled gains is NaN: it must be positive and finite");
    let rule = Feedback::new(&PENDULUM, &start().into(), Gains::bae_chang(-1.0)).map(|_| ()).unwrap_err();
    assert_eq!(refusal(rule), "the step of the gains is -1.0: it must be positive and finite");
}
