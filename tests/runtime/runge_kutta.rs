//! The explicit Runge-Kutta methods: orders, step-size control against another implementation, dense output, exact ends,
//! trajectories against known ones, and steps that cannot be made.

use std::array;
use std::f64::consts::FRAC_PI_2;

use super::models::{FOUR_BAR, FourBar, PLANAR_PENDULUM, PlanarPendulum, SPHERICAL_PENDULUM, SphericalPendulum};
use super::vectors::{distance, largest};
use fbint_runtime::tableau::{DOP853, DORMAND_PRINCE, EULER, HEUN, MIDPOINT, RK4, Tableau};
use fbint_runtime::{
    Error, FeedbackSystem, Field, Integrator, PlainField, PreparedSystem, StepError, StepFailure, Tolerance,
};

/// A field given as a function.
struct Function<const N: usize>(fn(&[f64; N]) -> [f64; N]);

impl<const N: usize> Field for Function<N> {
    type Vector = [f64; N];

    fn value(&self, x: &[f64; N]) -> [f64; N] {
        (self.0)(x)
    }
}

const OSCILLATOR: Function<2> = Function(|x| [x[1], -x[0]]);

fn tolerance(tolerance: f64) -> Tolerance {
    Tolerance::new(tolerance, tolerance).unwrap()
}

fn assert_order<const S: usize>(tableau: &Tableau<S>, nominal: f64, steps: u32) {
    // An eighth of the period 4 K(1/2) from rest at the height of the pivot, by Jacobi's elliptic functions.
    const END: f64 = 0.927_037_338_650_685_9;
    let exact = [0.910_179_721_124_454_7, -0.414_213_562_373_095, -0.377_008_784_686_710_56, -0.828_427_124_746_190_1];
    let system = PLANAR_PENDULUM.prepare();
    let error = |steps: u32| {
        let mut x = PlanarPendulum::start();
        for _ in 0..steps {
            tableau.step(|x| system.vector_field(x), &mut x, END / f64::from(steps));
        }
        distance(&x, &exact)
    };
    let order = (error(steps) / error(2 * steps)).log2();
    assert!((order - nominal).abs() < 0.1, "order {order}, nominal {nominal}");
}

#[test]
fn errors_fall_with_the_nominal_order() {
    assert_order(&EULER, 1.0, 128);
    assert_order(&MIDPOINT, 2.0, 64);
    assert_order(&HEUN, 2.0, 64);
    assert_order(&RK4, 4.0, 32);
    assert_order(&DORMAND_PRINCE, 5.0, 16);
    assert_order(&DOP853, 8.0, 4);
}

#[test]
fn fixed_steps_are_generic_over_the_scalar() {
    let system = PLANAR_PENDULUM.prepare();
    let in_single = PlanarPendulum::gather::<f32>(&|_| &system);
    let mut single = PlanarPendulum::start().map(|entry| entry as f32);
    let mut double = PlanarPendulum::start();
    RK4.step(|x| in_single.vector_field(x), &mut single, 0.1);
    RK4.step(|x| system.vector_field(x), &mut double, 0.1);
    assert!(distance(&single.map(f64::from), &double) < 1e-6);
}

/// The counts of SciPy 1.17's `solve_ivp(.., method="DOP853")`, which counts one evaluation more.
#[test]
fn dop853_evaluates_as_often_as_scipy() {
    let field = PlainField::new(&SPHERICAL_PENDULUM);
    let mut integrator = Integrator::dop853(&field, SphericalPendulum::start(), tolerance(1e-12));
    integrator.advance_to(100.0).unwrap();
    assert_count(integrator.evaluations(), 14966);

    let field = PlainField::new(&FOUR_BAR);
    let mut integrator = Integrator::dop853(&field, FourBar::start(), tolerance(1e-12));
    integrator.advance_to(30.0).unwrap();
    assert_count(integrator.evaluations(), 18938);
    assert_eq!((integrator.steps(), integrator.rejected()), (1423, 155));
}

fn assert_count(evaluations: u64, expected: u64) {
    assert!(evaluations.abs_diff(expected) * 100 <= 3 * expected, "{evaluations} against {expected}");
}

#[test]
fn trajectories_agree_with_known_ones() {
    let field = PlainField::new(&SPHERICAL_PENDULUM);
    let mut integrator = Integrator::dop853(&field, SphericalPendulum::start(), tolerance(1e-13));
    integrator.advance_to(10.0).unwrap();
    let expected = [
        0.3444189395504737,
        -0.6799604623581925,
        -0.6473247745209202,
        -0.803484484065163,
        -1.3171816837643302,
        0.9560829696549057,
    ];
    let error = largest_difference(integrator.state(), &expected);
    assert!(error < 1e-9, "spherical pendulum: {error}");

    let field = PlainField::new(&FOUR_BAR);
    let mut integrator = Integrator::dop853(&field, FourBar::start(), tolerance(1e-13));
    integrator.advance_to(5.0).unwrap();
    let error = largest_difference(integrator.state(), &FOUR_BAR_AT_5);
    assert!(error < 1e-9, "four-bar: {error}");
}

fn largest_difference<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let difference: [f64; N] = array::from_fn(|i| a[i] - b[i]);
    largest(&difference)
}

#[rustfmt::skip]
const FOUR_BAR_AT_5: [f64; 8] = [
    -0.7222415435461916, -0.3440452772180061, 1.1104246425230242, 0.4567884448732373,
    1.632394533960472, -3.426825554524059, 0.07290632147109992, 0.14198184676712441,
];

/// The largest errors of the cosine and its derivative at the steps, and at points between them.
fn errors_of_oscillation<const S: usize>(mut integrator: Integrator<'_, Function<2>, S>, until: f64) -> (f64, f64) {
    let error = |t: f64, x: &[f64; 2]| distance(x, &[t.cos(), -t.sin()]);
    let (mut at_steps, mut between) = (0.0_f64, 0.0_f64);
    while integrator.time() < until {
        let begin = integrator.time();
        integrator.step(until).unwrap();
        at_steps = at_steps.max(error(integrator.time(), integrator.state()));
        let (end, dense_output) = (integrator.time(), integrator.dense_output());
        for part in 1..20 {
            let time = begin + (end - begin) * f64::from(part) / 20.0;
            between = between.max(error(time, &dense_output.at(time)));
        }
        assert!(distance(&dense_output.at(end), integrator.state()) < 1e-15);
    }
    (at_steps, between)
}

#[test]
fn dense_output_is_as_good_as_the_steps() {
    let start = [1.0, 0.0];
    let (at_steps, between) = errors_of_oscillation(Integrator::dop853(&OSCILLATOR, start, tolerance(1e-10)), 20.0);
    assert!(at_steps < 1e-9 && between < 2.0 * at_steps, "DOP853: {at_steps} at the steps, {between} between");
    let pair = Integrator::dormand_prince(&OSCILLATOR, start, tolerance(1e-10));
    let (at_steps, between) = errors_of_oscillation(pair, 20.0);
    assert!(at_steps < 1e-9 && between < 2.0 * at_steps, "DOPRI5: {at_steps} at the steps, {between} between");
}

#[test]
fn dense_output_costs_three_evaluations_only_where_it_is_asked_for() {
    let evaluations = |ask: bool| {
        let mut integrator = Integrator::dop853(&OSCILLATOR, [1.0, 0.0], tolerance(1e-10));
        for _ in 0..10 {
            integrator.step(f64::INFINITY).unwrap();
            if ask {
                integrator.dense_output();
            }
        }
        (integrator.steps() + integrator.rejected(), integrator.evaluations())
    };
    let (attempts, plain) = evaluations(false);
    // Two more for the first step's size and the start of the first step.
    assert_eq!(plain, 11 * attempts + 1 + 10);
    // The last step's end is evaluated, too.
    assert_eq!(evaluations(true), (attempts, plain + 3 * 10 + 1));
}

#[test]
fn ends_are_exact_and_leave_the_step_as_it_was() {
    let mut free = Integrator::dop853(&OSCILLATOR, [1.0, 0.0], tolerance(1e-10));
    free.advance_to(10.0).unwrap();
    let mut clipped = Integrator::dop853(&OSCILLATOR, [1.0, 0.0], tolerance(1e-10));
    for end in [0.1, 1.0 / 3.0, 0.1 + 0.2, 4.999_999_999, 10.0] {
        clipped.advance_to(end).unwrap();
        assert_eq!(clipped.time(), end);
        assert!((clipped.state()[0] - end.cos()).abs() < 1e-9);
    }
    assert!(clipped.steps() <= free.steps() + 5, "{} steps against {}", clipped.steps(), free.steps());
    // There and back again.
    clipped.advance_to(0.0).unwrap();
    assert!(distance(clipped.state(), &[1.0, 0.0]) < 1e-9);
    let before = clipped.steps();
    clipped.step(0.0).unwrap();
    assert_eq!(clipped.steps(), before);
}

#[test]
fn tolerances_must_be_positive() {
    for bad in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
        let message = |tolerance: Result<Tolerance, Error>| tolerance.unwrap_err().to_string();
        let expected = |what: &str| format!("the {what} is {bad:?}: it must be positive and finite");
        assert_eq!(message(Tolerance::new(bad, 1e-6)), expected("relative tolerance rtol"));
        assert_eq!(message(Tolerance::new(1e-6, bad)), expected("absolute tolerance atol"));
    }
}

fn failure<const N: usize>(field: &Function<N>, start: [f64; N], until: f64) -> StepError<[f64; N]> {
    let mut integrator = Integrator::dop853(field, start, tolerance(1e-8)).with_max_steps(2000);
    let error = integrator.advance_to(until).unwrap_err();
    assert_eq!(error.time, integrator.time());
    for state in [*integrator.state(), integrator.dense_output().at(error.time)] {
        assert!(state.iter().zip(&error.state).all(|(a, b)| a == b || a.is_nan() && b.is_nan()), "{error}");
    }
    error
}

#[test]
fn steps_that_cannot_be_made_say_why_and_where() {
    // x = 1 / (1 - t).
    let error = failure(&Function::<1>(|x| [x[0] * x[0]]), [1.0], 2.0);
    assert_eq!(error.reason, StepFailure::Underflow);
    assert!((error.time - 1.0).abs() < 1e-6 && error.state[0] > 1e6, "{error}");

    // y' = sqrt(1 - x) with x = t.
    let error = failure(&Function::<2>(|x| [1.0, (1.0 - x[0]).sqrt()]), [0.0, 0.0], 2.0);
    assert_eq!(error.reason, StepFailure::NotFinite { entry: 1 });
    assert!((error.time - 1.0).abs() < 1e-6, "{error}");

    let error = failure(&OSCILLATOR, [1.0, 0.0], f64::INFINITY);
    assert_eq!(error.reason, StepFailure::TooManySteps { limit: 2000 });
    assert!(error.time > 100.0 && error.to_string().contains("2000 steps were tried"), "{error}");

    let error = failure(&OSCILLATOR, [f64::NAN, 0.0], 1.0);
    assert_eq!((error.reason, error.time), (StepFailure::NotFinite { entry: 0 }, 0.0));

    let error = failure(&OSCILLATOR, [1.0, 0.0], f64::NAN);
    assert_eq!(error.reason, StepFailure::End);
    assert_eq!(error.to_string(), "at t = 0.0, x = [1.0, 0.0]: the time to step to is NaN: it must be a number");
}

#[test]
fn a_field_without_a_domain_beyond_is_followed_to_its_edge() {
    // x = sin t up to its crest, where the root has a branch point; trial steps beyond give NaN and are shortened.
    let field = Function::<1>(|x| [(1.0 - x[0] * x[0]).sqrt()]);
    let mut integrator = Integrator::dop853(&field, [0.0], tolerance(1e-8));
    integrator.advance_to(1.5).unwrap();
    assert!((integrator.state()[0] - 1.5_f64.sin()).abs() < 1e-7 && 1.5 < FRAC_PI_2);
}

/// The field is finite everywhere, and so is the estimated error of a step across the largest number.
#[test]
fn a_step_beyond_the_largest_number_is_refused() {
    const STEEP: Function<1> = Function(|_| [1e307]);
    let errors = [
        Integrator::dop853(&STEEP, [1e308], tolerance(1e-6)).advance_to(100.0).unwrap_err(),
        Integrator::dormand_prince(&STEEP, [1e308], tolerance(1e-6)).advance_to(100.0).unwrap_err(),
    ];
    for error in errors {
        assert!((error.time - (f64::MAX - 1e308) / 1e307).abs() < 0.1 && error.state[0].is_finite(), "{error}");
    }
}
