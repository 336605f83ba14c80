//! Gains and the feedback field: what is refused, and the law against matrices multiplied out.

use std::array;

use super::common::{PENDULUM, Pendulum, start};
use super::models::{PLANAR_PENDULUM, PlanarPendulum};
use fbint_runtime::nalgebra::{Matrix4, SMatrix, SVector, Vector4, Vector6};
use fbint_runtime::tableau::{EULER, RK4};
use fbint_runtime::{Error, Feedback, FeedbackLaw, FeedbackSystem, Field, GainPolicy, Gains, PreparedSystem};
use num_dual::Dual64;
use simba::simd::WideF64x4;

const WEIGHTED: Pendulum<true> = Pendulum { m: 1.3, g: 0.7, l: 1.0 };
/// A point well off the constraint set.
const ELSEWHERE: [f64; 6] = [0.3, 1.1, -0.4, 0.9, 0.2, 0.8];
/// A gain for each integral, no two alike.
const GAINS: [f64; 4] = [4.0, 3.0, 2.0, 1.5];

/// The field and V by their definitions, with K as a matrix.
fn expected(k: Matrix4<f64>) -> (Vector6<f64>, f64) {
    let system = WEIGHTED.prepare();
    let at_start = system.integrals(&start().into());
    let target = Vector4::new(0.0, 0.0, at_start[2], at_start[3]);
    let change = Vector4::from(system.integrals(&ELSEWHERE)) - target;
    let root = Matrix4::from_diagonal(&Vector4::new(3.0, 1.0, 1.0, 2.0).map(f64::sqrt));
    let weighed = root * k * root * change;
    let jacobian = rows(system.integrals_jacobian(&ELSEWHERE));
    let field = Vector6::from(system.vector_field(&ELSEWHERE)) - jacobian.transpose() * weighed;
    (field, change.dot(&weighed) / 2.0)
}

fn rows<const N: usize, const M: usize>(rows: [[f64; N]; M]) -> SMatrix<f64, M, N> {
    SMatrix::from_fn(|i, j| rows[i][j])
}

fn assert_law(field: [f64; 6], potential: f64, k: Matrix4<f64>) {
    let (expected_field, expected_potential) = expected(k);
    let error = (Vector6::from(field) - expected_field).norm() / expected_field.norm();
    assert!(error < 1e-14, "field off by {error}");
    let error = (potential - expected_potential).abs() / expected_potential;
    assert!(error < 1e-14, "V off by {error}");
}

#[test]
fn every_kind_of_gain_is_the_matrix_it_says_and_is_weighted() {
    let uniform = Feedback::new(&WEIGHTED, &start().into(), Gains::uniform(7.0)).unwrap();
    assert_law(uniform.value(&ELSEWHERE), uniform.potential(&ELSEWHERE), Matrix4::identity() * 7.0);
    let k = [1.0, 2.0, 3.0, 4.0];
    let diagonal = Feedback::new(&WEIGHTED, &start().into(), Gains::diagonal(k)).unwrap();
    assert_law(diagonal.value(&ELSEWHERE), diagonal.potential(&ELSEWHERE), Matrix4::from_diagonal(&k.into()));
}

#[test]
fn a_boxed_field_is_the_field() {
    let create = || Feedback::new(&WEIGHTED, &start().into(), Gains::diagonal(GAINS)).unwrap();
    let (feedback, boxed): (_, Box<dyn Field<Vector = [f64; 6]>>) = (create(), Box::new(create()));
    let x = ELSEWHERE;
    assert_eq!(boxed.value(&x), feedback.value(&x));
    assert_eq!(boxed.decay_rate(&x), feedback.decay_rate(&x));
    let (mut by_box, mut by_field) = (x, x);
    EULER.step(|x| boxed.value(x), &mut by_box, 0.1);
    feedback.euler_step(&mut by_field, 0.1);
    assert_eq!(by_box, by_field);
    RK4.step(|x| boxed.value(x), &mut by_box, 0.1);
    feedback.rk4_step(&mut by_field, 0.1);
    assert_eq!(by_box, by_field);
}

/// A law that knows F alone, as another crate may write it.
struct Distinct;

impl FeedbackLaw<PlanarPendulum, f64> for Distinct {
    fn weigh(&self, integrals: [f64; 3]) -> [f64; 3] {
        [2.0 * (integrals[0] - 0.5), 3.0 * integrals[1], 5.0 * (integrals[2] + 0.25)]
    }
}

#[test]
fn a_law_may_be_given_in_the_declared_integrals() {
    let (system, x) = (PLANAR_PENDULUM.prepare(), PlanarPendulum::start().map(|entry| entry + 0.3));
    let weighed = SVector::from(Distinct.weigh(system.integrals(&x)));
    let gradient = rows(system.integrals_jacobian(&x)).transpose() * weighed;
    let expected = SVector::from(system.vector_field(&x)) - gradient;
    let error = (SVector::from(system.feedback_field(&x, &Distinct)) - expected).norm() / expected.norm();
    assert!(error < 1e-14, "the field is off by {error}");
}

#[test]
fn feedback_vanishes_where_every_integral_has_its_target() {
    let x = start().into();
    let feedback = Feedback::new(&PENDULUM, &x, Gains::uniform(50.0)).unwrap();
    assert_eq!(*feedback.targets(), [0.0, 0.0, 1.0, -1.0]);
    assert_eq!(feedback.violations(&x), [0.0; 4]);
    assert_eq!(feedback.potential(&x), 0.0);
    assert_eq!(feedback.value(&x), PENDULUM.prepare().vector_field(&x));
}

#[test]
fn feedback_lowers_the_potential() {
    let feedback = Feedback::new(&PENDULUM, &start().into(), Gains::diagonal(GAINS)).unwrap();
    let mut x = ELSEWHERE;
    let before = feedback.potential(&x);
    for _ in 0..10 {
        feedback.rk4_step(&mut x, 1e-3);
    }
    assert!(feedback.potential(&x) < 0.8 * before);
}

#[test]
fn single_precision_lanes_and_dual_numbers_agree_with_f64() {
    let feedback = Feedback::new(&WEIGHTED, &start().into(), Gains::diagonal(GAINS)).unwrap();
    let x = Vector6::from(ELSEWHERE);
    let field_at = |x: &Vector6<f64>| Vector6::from(feedback.value(&(*x).into()));
    let field = field_at(&x);

    let single = feedback.cast::<f32>().value(&ELSEWHERE.map(|entry| entry as f32));
    assert!((Vector6::from(single.map(f64::from)) - field).norm() < 1e-6 * field.norm());

    // Each lane has a point of its own.
    let points: [Vector6<f64>; 4] = [0.0, 0.1, -0.2, 0.3].map(|shift| x.add_scalar(shift));
    let lanes: [WideF64x4; 6] = array::from_fn(|i| WideF64x4::from(points.map(|point| point[i])));
    let in_lanes = feedback.cast::<WideF64x4>().value(&lanes);
    for (lane, point) in points.iter().enumerate() {
        let one = Vector6::from(in_lanes.map(|entry| <[f64; 4]>::from(entry.0)[lane]));
        let field = field_at(point);
        assert!((one - field).norm() < 1e-14 * field.norm());
    }

    // Along a direction, the derivative part is the Jacobian of the field times the direction.
    let direction = Vector6::new(1.0, -2.0, 0.5, 0.3, 1.0, -1.0);
    let dual: [Dual64; 6] = array::from_fn(|i| Dual64::new(x[i], direction[i]));
    let dual = feedback.cast::<Dual64>().value(&dual);
    assert!((Vector6::from(dual.map(|entry| entry.re)) - field).norm() < 1e-14 * field.norm());
    let step = 1e-5;
    let difference = (field_at(&(x + direction * step)) - field_at(&(x - direction * step))) / (2.0 * step);
    assert!((Vector6::from(dual.map(|entry| entry.eps)) - difference).norm() < 1e-8 * difference.norm());
}

fn refusal<K: GainPolicy<Pendulum>>(gains: Gains<K>) -> String {
    Feedback::new(&PENDULUM, &start().into(), gains).map(drop).unwrap_err().to_string()
}

#[test]
fn gains_that_are_not_positive_and_finite_are_refused() {
    assert_eq!(refusal(Gains::uniform(0.0)), "the uniform gain is 0.0: it must be positive and finite");
    assert_eq!(refusal(Gains::uniform(f64::NAN)), "the uniform gain is NaN: it must be positive and finite");
    assert_eq!(
        refusal(Gains::diagonal([1.0, 1.0, -2.0, 1.0])),
        "the gain of `energy` is -2.0: it must be positive and finite",
    );
    assert_eq!(
        refusal(Gains::diagonal([1.0, 0.0, 1.0, 1.0])),
        "the gain of `tangency` is 0.0: it must be positive and finite",
    );
    assert_eq!(
        refusal(Gains::diagonal([1.0, 1.0, 1.0, f64::INFINITY])),
        "the gain of `vertical_momentum` is inf: it must be positive and finite",
    );
    assert_eq!(
        refusal(Gains::diagonal([f64::NAN, 1.0, 1.0, 1.0])),
        "the gain of `length` is NaN: it must be positive and finite",
    );
}

#[test]
fn a_field_is_refused_where_its_start_or_a_parameter_will_not_do() {
    let broken = Pendulum { g: f64::NAN, ..PENDULUM };
    let error = Feedback::new(&broken, &start().into(), Gains::uniform(1.0)).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "g", value } if value.is_nan()));
    assert_eq!(error.to_string(), "parameter `g` is NaN: every parameter must be a finite number");

    let off = [0.0, 1.0, 0.0, 1.0, f64::NEG_INFINITY, 1.0];
    let error = Feedback::new(&PENDULUM, &off, Gains::uniform(1.0)).unwrap_err();
    assert_eq!(error.to_string(), "the start has `p[1]` = -inf: every entry must be a finite number");

    let pivot = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0];
    let error = Feedback::new(&Pendulum { l: 0.0, ..PENDULUM }, &pivot, Gains::uniform(1.0)).unwrap_err();
    let text = "at the start the constraint `length` is degenerate (its row of the constraint matrix vanishes), so that the \
                constraint forces are not determined; start elsewhere, change the parameters, or drop a constraint that others imply, \
                or mark it, as in `constraint(redundant name = ..)`";
    assert_eq!(error.to_string(), text);
}
