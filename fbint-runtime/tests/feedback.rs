//! Gains and the feedback field: what is refused, and the law against matrices multiplied out.

mod common;
mod models;

use common::{PENDULUM, Pendulum, start};
use fbint_runtime::nalgebra::{Matrix4, Matrix6, SMatrix, SVector, Vector4, Vector6, matrix};
use fbint_runtime::{Error, Feedback, FeedbackLaw, FeedbackSystem, Field, GainMatrix, Gains};
use models::{PLANAR_PENDULUM, PlanarPendulum};
use num_dual::Dual64;
use simba::simd::WideF64x4;

const WEIGHTED: Pendulum<true> = Pendulum { m: 1.3, g: 0.7, l: 1.0 };

/// A point well off the constraint set.
fn elsewhere() -> Vector6<f64> {
    Vector6::new(0.3, 1.1, -0.4, 0.9, 0.2, 0.8)
}

fn full_k() -> Matrix4<f64> {
    matrix![4.0, 1.0, 0.0, -0.5; 1.0, 3.0, 0.2, 0.0; 0.0, 0.2, 2.0, 0.3; -0.5, 0.0, 0.3, 1.5]
}

fn full_l() -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| if i == j { 2.0 + i as f64 } else { 0.1 * (i + j) as f64 / 2.0 })
}

/// The field and V by their definitions, with K and L as matrices.
fn expected(system: &Pendulum<true>, k: Matrix4<f64>, l: Matrix6<f64>) -> (Vector6<f64>, f64) {
    let x = elsewhere();
    let at_start = system.integrals(&start().into());
    let target = Vector4::new(0.0, 0.0, at_start[2], at_start[3]);
    let change = system.integrals(&x) - target;
    let root = Matrix4::from_diagonal(&Vector4::new(3.0, 1.0, 1.0, 2.0).map(f64::sqrt));
    let weighed = root * k * root * change;
    let field = system.vector_field(&x) - l * system.integrals_jacobian(&x).transpose() * weighed;
    (field, change.dot(&weighed) / 2.0)
}

fn assert_law<K: GainMatrix<4>, L: GainMatrix<6>>(gains: Gains<K, L>, k: Matrix4<f64>, l: Matrix6<f64>) {
    let feedback = Feedback::new(&WEIGHTED, &start().into(), gains).unwrap();
    let (field, potential) = expected(&WEIGHTED, k, l);
    let error = (feedback.field(&elsewhere()) - field).norm() / field.norm();
    assert!(error < 1e-14, "field off by {error}");
    let error = (feedback.potential(&elsewhere()) - potential).abs() / potential;
    assert!(error < 1e-14, "V off by {error}");
}

#[test]
fn every_kind_of_gain_is_the_matrix_it_says_and_is_weighted() {
    let k = [1.0, 2.0, 3.0, 4.0];
    let l = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
    let (k_matrix, l_matrix) = (Matrix4::from_diagonal(&k.into()), Matrix6::from_diagonal(&l.into()));
    let identity = Matrix6::identity();
    assert_law(Gains::uniform(7.0), Matrix4::identity() * 7.0, identity);
    assert_law(Gains::diagonal(k), k_matrix, identity);
    assert_law(Gains::full(full_k()), full_k(), identity);
    assert_law(Gains::uniform(7.0).with_diagonal_metric(l), Matrix4::identity() * 7.0, l_matrix);
    assert_law(Gains::full(full_k()).with_full_metric(full_l()), full_k(), full_l());
}

#[test]
fn a_boxed_field_is_the_field() {
    let create = || Feedback::new(&WEIGHTED, &start().into(), Gains::full(full_k())).unwrap();
    let (feedback, boxed): (_, Box<dyn Field<6>>) = (create(), Box::new(create()));
    let x = elsewhere();
    assert_eq!(boxed.value(&x), feedback.field(&x));
    assert_eq!(boxed.decay_rate(&x), feedback.decay_rate(&x));
    let (mut by_box, mut by_field) = (x, x);
    boxed.euler_step(&mut by_box, 0.1);
    feedback.euler_step(&mut by_field, 0.1);
    assert_eq!(by_box, by_field);
    boxed.rk4_step(&mut by_box, 0.1);
    feedback.rk4_step(&mut by_field, 0.1);
    assert_eq!(by_box, by_field);
}

/// A law that knows F alone, as another crate may write it.
struct Distinct;

impl FeedbackLaw<f64, 4, 3> for Distinct {
    const HAS_METRIC: bool = false;
    fn weigh(&self, integrals: [f64; 3]) -> [f64; 3] {
        [2.0 * (integrals[0] - 0.5), 3.0 * integrals[1], 5.0 * (integrals[2] + 0.25)]
    }
    fn precondition(&self, gradient: [f64; 4]) -> [f64; 4] {
        gradient
    }
}

#[test]
fn a_law_may_be_given_in_the_declared_integrals() {
    use fbint_runtime::PreparedSystem;

    let (system, x) = (PLANAR_PENDULUM.prepare(), PlanarPendulum::start().map(|entry| entry + 0.3));
    let weighed = SVector::from(Distinct.weigh(system.integrals(&x).into()));
    let expected = system.vector_field(&x) - system.integrals_jacobian(&x).transpose() * weighed;
    let error = (system.feedback_field(&x, &Distinct) - expected).norm() / expected.norm();
    assert!(error < 1e-14, "the field is off by {error}");
}

#[test]
fn feedback_vanishes_where_every_integral_has_its_target() {
    let x = start().into();
    let feedback = Feedback::new(&PENDULUM, &x, Gains::uniform(50.0)).unwrap();
    assert_eq!(*feedback.targets(), Vector4::new(0.0, 0.0, 1.0, -1.0));
    assert_eq!(feedback.violations(&x), Vector4::zeros());
    assert_eq!(feedback.potential(&x), 0.0);
    assert_eq!(feedback.field(&x), PENDULUM.vector_field(&x));
}

#[test]
fn feedback_lowers_the_potential() {
    let feedback = Feedback::new(&PENDULUM, &start().into(), Gains::full(full_k()).with_full_metric(full_l())).unwrap();
    let mut x = elsewhere();
    let before = feedback.potential(&x);
    for _ in 0..10 {
        feedback.rk4_step(&mut x, 1e-3);
    }
    assert!(feedback.potential(&x) < 0.8 * before);
}

#[test]
fn single_precision_lanes_and_dual_numbers_agree_with_f64() {
    let feedback = Feedback::new(&WEIGHTED, &start().into(), Gains::full(full_k()).with_full_metric(full_l())).unwrap();
    let x = elsewhere();
    let field = feedback.field(&x);

    let single = feedback.field(&x.map(|entry| entry as f32)).map(f64::from);
    assert!((single - field).norm() < 1e-6 * field.norm());

    // Each lane has a point of its own.
    let points: [Vector6<f64>; 4] = [0.0, 0.1, -0.2, 0.3].map(|shift| x.add_scalar(shift));
    let lanes = SVector::<WideF64x4, 6>::from_fn(|i, _| WideF64x4::from(points.map(|point| point[i])));
    let in_lanes = feedback.field(&lanes);
    for (lane, point) in points.iter().enumerate() {
        let one = Vector6::from_fn(|i, _| <[f64; 4]>::from(in_lanes[i].0)[lane]);
        let field = feedback.field(point);
        assert!((one - field).norm() < 1e-14 * field.norm());
    }

    // Along a direction, the derivative part is the Jacobian of the field times the direction.
    let direction = Vector6::new(1.0, -2.0, 0.5, 0.3, 1.0, -1.0);
    let dual = feedback.field(&SVector::<Dual64, 6>::from_fn(|i, _| Dual64::new(x[i], direction[i])));
    assert!((dual.map(|entry| entry.re) - field).norm() < 1e-14 * field.norm());
    let step = 1e-5;
    let difference = (feedback.field(&(x + direction * step)) - feedback.field(&(x - direction * step))) / (2.0 * step);
    assert!((dual.map(|entry| entry.eps) - difference).norm() < 1e-8 * difference.norm());
}

fn refusal<K: GainMatrix<4>, L: GainMatrix<6>>(gains: Gains<K, L>) -> String {
    Feedback::new(&PENDULUM, &start().into(), gains).unwrap_err().to_string()
}

#[test]
fn gains_that_are_not_symmetric_positive_definite_are_refused() {
    assert_eq!(refusal(Gains::uniform(0.0)), "the uniform gain is 0.0: it must be positive and finite");
    assert_eq!(refusal(Gains::uniform(f64::NAN)), "the uniform gain is NaN: it must be positive and finite");
    assert_eq!(
        refusal(Gains::diagonal([1.0, 1.0, -2.0, 1.0])),
        "K[energy, energy] is -2.0: the diagonal of a gain matrix must be positive",
    );
    assert_eq!(
        refusal(Gains::uniform(1.0).with_diagonal_metric([1.0, 1.0, 1.0, 1.0, f64::INFINITY, 1.0])),
        "L[p[1], p[1]] is inf: every entry of a gain matrix must be a finite number",
    );
    let mut k = full_k();
    k[(1, 3)] = f64::NAN;
    assert_eq!(
        refusal(Gains::full(k)),
        "K[tangency, vertical_momentum] is NaN: every entry of a gain matrix must be a finite number",
    );
    let mut k = full_k();
    k[(1, 3)] = 0.25;
    assert_eq!(
        refusal(Gains::full(k)),
        "K[tangency, vertical_momentum] is 0.25 but K[vertical_momentum, tangency] is 0.0: K must be symmetric",
    );
    let mut l = full_l();
    (l[(0, 2)], l[(2, 0)]) = (3.0, 3.0);
    assert_eq!(
        refusal(Gains::uniform(1.0).with_full_metric(l)),
        "L is not positive definite: the block of its rows and columns down to `q[2]` is the first that is not; make its \
         off-diagonal entries smaller",
    );
    let mut l = full_l();
    l[(5, 5)] = 0.0;
    assert_eq!(
        refusal(Gains::uniform(1.0).with_full_metric(l)),
        "L[p[2], p[2]] is 0.0: the diagonal of a gain matrix must be positive",
    );
}

#[test]
fn rounding_is_no_asymmetry() {
    let b = SMatrix::<f64, 4, 4>::from_fn(|i, j| 1.0 / (1 + i + 2 * j) as f64 + f64::from(i == j));
    let mut k = b.transpose() * b;
    k[(0, 3)] *= 1.0 + f64::EPSILON;
    let mut asymmetric = k;
    asymmetric[(0, 3)] *= 1.0 + 1e-6;
    for unit in [1e-9, 1.0, 1e9] {
        let with = |k: Matrix4<f64>| Feedback::new(&PENDULUM, &start().into(), Gains::full(k * unit)).map(drop);
        assert_eq!(with(k), Ok(()));
        assert!(matches!(with(asymmetric), Err(Error::GainAsymmetric { .. })), "in units of {unit}");
    }
}

#[test]
fn a_field_is_refused_where_its_start_or_a_parameter_will_not_do() {
    let broken = Pendulum { g: f64::NAN, ..PENDULUM };
    let error = Feedback::new(&broken, &start().into(), Gains::uniform(1.0)).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "g", value } if value.is_nan()));
    assert_eq!(error.to_string(), "parameter `g` is NaN: every parameter must be a finite number");

    let off = Vector6::new(0.0, 1.0, 0.0, 1.0, f64::NEG_INFINITY, 1.0);
    let error = Feedback::new(&PENDULUM, &off, Gains::uniform(1.0)).unwrap_err();
    assert_eq!(error.to_string(), "the start has `p[1]` = -inf: every entry must be a finite number");

    let pivot = Vector6::new(0.0, 0.0, 0.0, 1.0, 0.0, 1.0);
    let error = Feedback::new(&Pendulum { l: 0.0, ..PENDULUM }, &pivot, Gains::uniform(1.0)).unwrap_err();
    let text = "at the start the constraint `length` is degenerate (its row of the constraint matrix vanishes), so that the \
                constraint forces are not determined; start elsewhere, change the parameters, or drop a constraint that others imply";
    assert_eq!(error.to_string(), text);
}
