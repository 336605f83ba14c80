//! Velocity constraints that move, A(q) v + b = 0: motions, reactions and work against closed forms and against holonomic constraints.

use fbint_catalogue::FlatModel;
use fbint_runtime::Method;
use fbint_text::models;

use crate::rates::{outputs, run};

const PRECISE: Method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };

/// A homogeneous ball on a table that turns at the rate s, in each formalism, with the state in the same order.
const TURNTABLES: [&str; 2] = [
    "#[feedback_system(
        coordinates(x, y, a: [3]), velocities(vx, vy, w: [3]),
        lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + m * r.powi(2) * w.norm_squared() / 5,
        velocity_constraint(slip_x = vx - r * w[1] + s * y, slip_y = vy + r * w[0] - s * x),
        default(m = 1, r = 0.1, s = 2), output(push = vector![multiplier(slip_x), multiplier(slip_y)]),
    )] struct Turntable { m: f64, r: f64, s: f64 }",
    "#[feedback_system(
        coordinates(x, y, a: [3]), momenta(px, py, l: [3]),
        hamiltonian = (px.powi(2) + py.powi(2)) / (2 * m) + 5 * l.norm_squared() / (4 * m * r.powi(2)),
        velocity_constraint(slip_x = rate(x) - r * rate(a)[1] + s * y, slip_y = rate(y) + r * rate(a)[0] - s * x),
        default(m = 1, r = 0.1, s = 2), output(push = vector![multiplier(slip_x), multiplier(slip_y)]),
    )] struct Turntable { m: f64, r: f64, s: f64 }",
];

/// The ball's centre runs on a circle at 2/7 of the table's rate (Earnshaw 1844), whatever the radius and the mass.
#[test]
fn a_ball_on_a_turntable_runs_on_a_circle_and_balances_its_energy() {
    let (r, s, until) = (0.1, 2.0, 11.0);
    let rate = 2.0 / 7.0 * s;
    let (sin, cos) = f64::sin_cos(rate * until);
    // v(0) = (0, v0), x(0) = x0.
    let (x0, v0) = (0.5, 0.3);
    let [x, y] = [x0 - v0 / rate * (1.0 - cos), v0 / rate * sin];
    let [vx, vy] = [-v0 * sin, v0 * cos];
    let spin = |x: f64, y: f64, vx: f64, vy: f64| [(s * x - vy) / r, (vx + s * y) / r];
    let energy =
        |v: [f64; 2], w: [f64; 2]| (v[0].powi(2) + v[1].powi(2)) / 2.0 + r * r * (w[0].powi(2) + w[1].powi(2)) / 5.0;
    let (first, last) = (spin(x0, 0.0, 0.0, v0), spin(x, y, vx, vy));
    let work = energy([vx, vy], last) - energy([0.0, v0], first);
    for (text, inertia) in TURNTABLES.into_iter().zip([1.0, 2.0 / 5.0 * r * r]) {
        let start = [x0, 0.0, 0.0, 0.0, 0.0, 0.0, v0, first[0] * inertia, first[1] * inertia, 0.0, 0.0];
        let end = run(text, &start, PRECISE, until);
        let found = [end[0], end[1], end[5], end[6], end[7] / inertia, end[8] / inertia, end[10]];
        for (found, expected) in found.into_iter().zip([x, y, vx, vy, last[0], last[1], work]) {
            assert!((found - expected).abs() < 1e-9, "{end:?}");
        }
        // m v' = A^T lambda
        let push = outputs(text, &end);
        for (found, expected) in push.into_iter().zip([-rate * vy, rate * vx]) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}

/// A pendulum below a cart that is moved, by its velocity or by its place.
#[test]
fn a_given_velocity_does_what_a_given_place_does() {
    let of = |constraint: &str, multiplier: &str| {
        format!(
            "#[feedback_system(
                coordinates(x, a), velocities(v, w), time(t), define(bob = vector![x + l * a.sin(), -l * a.cos()]),
                lagrangian = v.powi(2) / 2 + rate(bob).norm_squared() / 2 - 9.81 * bob[1], force(w = -0.1 * w),
                {constraint}, output(f = multiplier({multiplier})), default(l = 0.7),
            )] struct Moved {{ l: f64 }}"
        )
    };
    let by_velocity = of("velocity_constraint(belt = v - 2 * t.cos())", "belt");
    let by_place = of("constraint(drive = x - 2 * t.sin())", "drive");
    let start = [0.0, 0.4, 2.0, -1.0, 0.0, 0.0];
    let [one, other] = [&by_velocity, &by_place].map(|text| run(text, &start, PRECISE, 3.0));
    let [f, g] = [(&by_velocity, &one), (&by_place, &other)].map(|(text, end)| outputs(text, end)[0]);
    assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-9), "{one:?} {other:?}");
    assert!((f - g).abs() < 1e-9 && one[5].abs() > 0.01, "{f} {g} {one:?}");
}

/// A belt that carries a block turns an integral into a constraint that moves: the block is where the belt is.
#[test]
fn a_belt_carries_what_sticks_to_it() {
    let text = "#[feedback_system(
        coordinates(x, y), velocities(v, w), lagrangian = (v.powi(2) + w.powi(2)) / 2 - k * (x.powi(2) + y.powi(2)) / 2,
        velocity_constraint(belt = v - u), default(k = 4, u = 0.5), output(grip = multiplier(belt)),
    )] struct Carried { k: f64, u: f64 }";
    let end = run(text, &[0.1, 1.0, 0.5, 0.0, 0.0], PRECISE, 3.0);
    let x: f64 = 0.1 + 0.5 * 3.0;
    // The spring's force against the belt is k x, and the work is what it stores.
    for (found, expected) in end.iter().zip([x, f64::cos(6.0), 0.5, -2.0 * f64::sin(6.0), 2.0 * (x * x - 0.01)]) {
        assert!((found - expected).abs() < 1e-9, "{end:?}");
    }
    assert!((outputs(text, &end)[0] - 4.0 * x).abs() < 1e-9);
}

/// z dx + dy = 0 is not integrable, and is so in the plane z = 0: dy = 0.
#[test]
fn velocity_constraints_are_integrable_where_constraints_hold() {
    let equations = |constraint: &str| {
        let text = format!(
            "#[feedback_system(
                coordinates(x, y, z), velocities(u, v, w), lagrangian = (u.powi(2) + v.powi(2) + w.powi(2)) / 2,
                {constraint} velocity_constraint(cut = z * u + v),
            )] struct Cut;"
        );
        models(&text).unwrap_or_else(|mistakes| panic!("{mistakes}"))[0].equations().to_owned()
    };
    for (constraint, expected) in [
        ("", "cut = nonholonomic"),
        ("constraint(floor = z),", "cut = holonomic"),
        ("constraint(sheet = z - y),", "cut = holonomic"),
    ] {
        assert!(equations(constraint).contains(&format!("  {expected}\n")), "{constraint}: {}", equations(constraint));
    }
}

/// A body that cannot turn about one of its axes (Suslov) reaches every attitude, and one that cannot turn about two of them does not.
#[test]
fn what_a_rotation_matrix_leaves_free_decides_whether_a_body_is_held() {
    for (held, expected) in [("omega[2]", "nonholonomic"), ("vector![omega[1], omega[2]]", "holonomic")] {
        let text = format!(
            "#[feedback_system(
                coordinates(r: [3, 3]), velocities(omega: [3]), kinematics(r = r * hat(omega)),
                lagrangian = omega.dot(&(inertia * omega)) / 2,
                constraint(orthonormality = r.transpose() * r - identity(3)), velocity_constraint(twist = {held}),
            )] struct Body {{ inertia: Matrix3<f64> }}"
        );
        let equations = models(&text).unwrap_or_else(|mistakes| panic!("{mistakes}"))[0].equations().to_owned();
        let line = equations.lines().find(|line| line.trim_start().starts_with("twist") && line.contains("holonomic"));
        assert!(line.is_some_and(|line| line.ends_with(&format!(" = {expected}"))), "{held}: {line:?}");
    }
}

/// Only an angle that sine and cosine take as it is, and that starts beyond a full turn.
#[test]
fn angles_in_degrees_are_doubted() {
    let doubts = |potential: &str, start: &str| {
        let text = format!(
            "#[feedback_system(coordinates(a, b), velocities(v, w), lagrangian = (v.powi(2) + w.powi(2)) / 2 + {potential}, {start})]
             struct Angles;"
        );
        models(&text).unwrap_or_else(|mistakes| panic!("{mistakes}"))[0].facts().doubts
    };
    let degrees = "start(a = 90, b = 0, v = 0, w = 0)";
    let [doubt] = doubts("a.cos() + (a - b).sin()", degrees) else { panic!("{:?}", doubts("a.cos()", degrees)) };
    assert!(doubt.starts_with("the angle `a` starts beyond a full turn; angles are in radians"), "{doubt}");
    for (potential, start) in [
        ("a.cos() + (a - b).sin()", "start(a = 1.5, b = 0, v = 0, w = 90)"),
        ("(2 * a).cos()", degrees),
        ("a.cos() - a.powi(2)", degrees),
        ("b.cos()", degrees),
    ] {
        assert_eq!(doubts(potential, start), [""; 0], "{potential}, {start}");
    }
}
