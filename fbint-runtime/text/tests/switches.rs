//! What switches, `if`, `max`, `min`, `clamp` and `signum`: values against Rust's, Jacobians on both sides, and motions against closed forms.

use fbint_runtime::Method;

use crate::at_rest::{at, entry};
use crate::random::Random;
use crate::rates::{outputs, run};

/// A function of two numbers, and the same in Rust.
type Case = (&'static str, fn(f64, f64) -> f64);

const CASES: [Case; 13] = [
    ("x.max(y)", f64::max),
    ("x.min(y)", f64::min),
    ("(1e20 * x).max(y) + x.min(1e20)", |x, y| (1e20 * x).max(y) + x),
    ("x.clamp(-0.5, 1e12)", |x, _| x.max(-0.5)),
    ("y.clamp(-1, x.abs())", |x, y| y.clamp(-1.0, x.abs())),
    ("x.signum() * y", |x, y| x.signum() * y),
    ("(x * x).sqrt() - (4 * x.powi(2) * y.powi(4)).sqrt()", |x, y| x.abs() - 2.0 * x.abs() * y * y),
    ("if x > y { x * x } else { y }", |x, y| if x > y { x * x } else { y }),
    ("if x <= y { 1 } else { -1 }", |x, y| if x <= y { 1.0 } else { -1.0 }),
    ("if x > 0 && y < 0 { 1 } else if x > 0 || y > 1 { 2 } else { 3 }", |x, y| {
        if x > 0.0 && y < 0.0 {
            1.0
        } else if x > 0.0 || y > 1.0 {
            2.0
        } else {
            3.0
        }
    }),
    ("if !(x > 0 && (y > x || y < -1)) { x } else { y }", |x, y| if !(x > 0.0 && (y > x || y < -1.0)) { x } else { y }),
    ("3 * if x >= 0 { (1 + x).sqrt() } else { 1 + y.cos() } - 1", |x, y| {
        3.0 * if x >= 0.0 { (1.0 + x).sqrt() } else { 1.0 + y.cos() } - 1.0
    }),
    ("(if x > y { vector![x, y] } else { vector![y, x] })[0]", f64::max),
];

#[test]
fn values_are_those_of_rust() {
    let of = |(expression, _): &Case| expression.to_owned();
    let expressions: Vec<&str> = CASES.iter().map(of).collect();
    let text = format!(
        "#[feedback_system(state(x, y), dynamics(x = y, y = -x), output(f = vector![{}]))] struct S;",
        expressions.join(", ")
    );
    let mut random = Random::new(3);
    for _ in 0..50 {
        let [x, y]: [f64; 2] = random.numbers([-1.5, 1.5]);
        // The root of what is negative is not a number, whatever it is multiplied by.
        let x = x.max(-0.99);
        for (found, (expression, expected)) in outputs(&text, &[x, y]).into_iter().zip(CASES) {
            let expected = expected(x, y);
            let error = (found - expected).abs();
            assert!(error <= 4e-16 * expected.abs().max(1.0), "{expression} at {x}, {y}: {found}, not {expected}");
        }
    }
    // Where it switches, the mean of both sides.
    let text = "#[feedback_system(state(x), dynamics(x = 1), output(f = x.signum(), g = if x > 0 { 1 } else { 4 }, h = x.max(0)))] struct S;";
    assert_eq!(outputs(text, &[0.0]), [0.0, 2.5, 0.0]);
}

#[test]
fn jacobians_are_those_of_the_branch_that_holds() {
    let text =
        "state(x, y), dynamics(x = (x * y).clamp(-1, 1), y = if x > y { x.powi(3) } else { -2 * y } + y.signum() * x)";
    for (state, expected) in [
        ([0.5, 0.4], [0.4, 0.5, 0.75 + 1.0, 0.0]),
        ([2.0, 3.0], [0.0, 0.0, 1.0, -2.0]),
        ([0.5, -0.4], [-0.4, 0.5, 0.75 - 1.0, 0.0]),
    ] {
        let (_, jacobian) = at(text, &state);
        let found = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|place| entry(&jacobian, place));
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{state:?}: {found:?}");
    }
}

#[test]
fn a_motor_that_starts_later_does_its_work() {
    let text = "#[feedback_system(coordinates(x), momenta(p), time(t), hamiltonian = p.powi(2) / 2, force(p = (t - 1).max(0)))]
        struct Ramp;";
    let end = run(text, &[0.0; 4], Method::Rk4 { h: 1.0 / 1024.0 }, 2.0);
    for (found, expected) in end.iter().zip([1.0 / 6.0, 0.5, 2.0, 0.125]) {
        assert!((found - expected).abs() < 1e-14, "{end:?}");
    }
}

#[test]
fn friction_and_stops_act_on_their_side() {
    let text = "#[feedback_system(
        coordinates(x), velocities(v), lagrangian = v.powi(2) / 2,
        force(v = -0.25 * v.signum() - if x > 2 { 4 * (x - 2) } else { 0 }), derivatives,
    )] struct Block;";
    // It slides until x = 2 at t = 1.25 nearly, where v^2 = 4 - 1.
    for method in [Method::Rk4 { h: 1e-3 }, Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) }] {
        let end = run(text, &[0.0, 2.0, 0.0], method, 1.0);
        assert!((end[0] - 1.875).abs() < 1e-12 && (end[1] - 1.75).abs() < 1e-12, "{end:?}");
        // A spring against friction: x - 2 + 1/16 is a cosine at the rate 2.
        let beyond = run(text, &[2.0, 3.0_f64.sqrt(), 0.0], method, 0.5);
        let (sin, cos) = f64::sin_cos(1.0);
        let expected = 2.0 - 0.0625 + 0.0625 * cos + 3.0_f64.sqrt() / 2.0 * sin;
        assert!((beyond[0] - expected).abs() < 1e-7, "{beyond:?} {expected}");
    }
}

/// Both sides of a switch lead back to it: the motion sticks or slides, by Taylor's method, which has no series there, as by the others.
#[test]
fn motions_slide_by_every_method() {
    let methods = [
        Method::Rk4 { h: 1e-3 },
        Method::Dop853 { rtol: 1e-11, atol: Some(1e-11) },
        Method::Dop853 { rtol: 1e-11, atol: None },
        Method::DormandPrince { rtol: 1e-9, atol: None },
        Method::Taylor { tolerance: 1e-12 },
        Method::Taylor { tolerance: 1e-15 },
    ];
    let block = "#[feedback_system(coordinates(x), velocities(v), lagrangian = v.powi(2) / 2, force(v = -v.signum()))] struct S;";
    let law = "#[feedback_system(coordinates(x), velocities(v), input(c = -v.signum()), lagrangian = v.powi(2) / 2, force(v = c))] struct S;";
    let pushed = "#[feedback_system(coordinates(x), velocities(v), time(t), lagrangian = v.powi(2) / 2, force(v = t - v.signum()))] struct S;";
    let mode = "#[feedback_system(state(x, v), dynamics(x = v, v = -(x + v).signum()))] struct S;";
    // A spring whose end moves pulls it from t = 1 on: its speed is 1 - cos (t - 1).
    let pulled = "#[feedback_system(coordinates(x), velocities(v), time(t), lagrangian = v.powi(2) / 2 - (x - t).powi(2) / 2, force(v = -v.signum()))] struct S;";
    // The shortest way to the origin, which is reached at t = 2.
    let fastest = "#[feedback_system(state(x, v), dynamics(x = v, v = -(x + v * v.abs() / 2).signum()))] struct S;";
    // The mode begins to slide at x = 1 - t^2 / 2 = t, where x' = -x from then on.
    let begin = 3.0_f64.sqrt() - 1.0;
    for method in methods {
        for (text, start, until, expected) in [
            (block, &[0.0, 1.0, 0.0][..], 1.5, [0.5, 0.0]),
            (law, &[0.0, 1.0, 0.0], 1.5, [0.5, 0.0]),
            (pushed, &[0.0, 0.0, 0.0, 0.0], 3.0, [8.0 / 6.0, 2.0]),
            (pulled, &[0.0, 0.0, 0.0, 0.0], 3.0, [2.0 - 2.0_f64.sin(), 1.0 - 2.0_f64.cos()]),
            (fastest, &[1.0, 0.0], 3.0, [0.0, 0.0]),
            (mode, &[1.0, 0.0], 3.0, [1.0, -1.0].map(|sign| sign * begin * (begin - 3.0).exp())),
        ] {
            let end = run(text, start, method, until);
            for (obtained, expected) in end.iter().zip(expected) {
                assert!((obtained - expected).abs() < 1e-6, "{method:?} {text}: {end:?} {expected:?}");
            }
        }
    }
}
