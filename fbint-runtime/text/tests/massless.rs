//! Velocities without inertia that constraints determine: a four-bar in its own angles against the Cartesian one, a contact point, and
//! reduced systems.

use fbint_runtime::Method;

use crate::rates::{outputs, run};

const PRECISE: Method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], error: f64) {
    assert_eq!(found.len(), expected.len());
    let is_close = |(found, expected): (&f64, &f64)| (found - expected).abs() < error;
    assert!(found.iter().zip(expected).all(is_close), "{found:?} is not {expected:?}");
}

/// Point masses at both moving joints, and relative angles of crank, coupler and rocker: the rocker's angle has no inertia.
const IN_ANGLES: &str = "#[feedback_system(
    coordinates(q: [3]), velocities(w: [3]),
    define(
        a = la * vector![q[0].cos(), q[0].sin()],
        b = a + lb * vector![(q[0] + q[1]).cos(), (q[0] + q[1]).sin()],
        end = b + lc * vector![(q[0] + q[1] + q[2]).cos(), (q[0] + q[1] + q[2]).sin()],
    ),
    lagrangian = m * (rate(a).norm_squared() + rate(b).norm_squared()) / 2 - m * g * (a[1] + b[1]),
    constraint(closed = end - vector![ln, 0]),
    default(la = 0.8, lb = 2, lc = 1, ln = 2, m = 1, g = 9.81),
    output(a, b, va = rate(a), vb = rate(b), pull = multiplier(closed)), derivatives,
)] struct FourBar { la: f64, lb: f64, lc: f64, ln: f64, m: f64, g: f64 }";

const CARTESIAN: &str = "#[feedback_system(
    coordinates(a: [2], b: [2]), momenta(pa: [2], pb: [2]),
    hamiltonian = (pa.norm_squared() + pb.norm_squared()) / (2 * m) + m * g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - la.powi(2),
        coupler = (b - a).norm_squared() - lb.powi(2),
        rocker = (b - vector![ln, 0]).norm_squared() - lc.powi(2),
    ),
    default(la = 0.8, lb = 2, lc = 1, ln = 2, m = 1, g = 9.81),
    output(pull = 2 * multiplier(rocker) * (b - vector![ln, 0])),
)] struct FourBar { la: f64, lb: f64, lc: f64, ln: f64, m: f64, g: f64 }";

#[test]
fn a_four_bar_in_its_own_angles_moves_as_the_cartesian_one() {
    let (sin, cos) = f64::sin_cos(std::f64::consts::PI / 18.0);
    let angles = [std::f64::consts::PI / 18.0, 0.114_760_036_790_303_53, -2.642_142_839_876_821, 0.0, 0.0, 0.0];
    let start = [0.8 * cos, 0.8 * sin, 2.704_737_832_557_281_5, 0.709_467_819_821_636, 0.0, 0.0, 0.0, 0.0];
    for until in [0.7, 2.5] {
        let cartesian = run(CARTESIAN, &start, PRECISE, until);
        for (method, error) in [(PRECISE, 1e-9), (Method::Rodas5P { rtol: 1e-9, atol: Some(1e-9) }, 1e-5)] {
            let in_angles = outputs(IN_ANGLES, &run(IN_ANGLES, &angles, method, until));
            assert_close(&in_angles[..8], &cartesian, error);
            // The rocker pulls its joint by the force that holds its end.
            let pull = outputs(CARTESIAN, &cartesian);
            assert_close(&in_angles[8..], &pull, 1e2 * error);
        }
    }
}

/// The rocker has inertia by a parameter that is 0 by default.
#[test]
fn inertia_may_be_a_parameter_that_is_zero() {
    let text = IN_ANGLES
        .replace("/ 2 - m * g", "/ 2 + i * rate(q[0] + q[1] + q[2]).powi(2) / 2 - m * g")
        .replace("g = 9.81)", "g = 9.81, i = 0)")
        .replace("g: f64 }", "g: f64, i: f64 }");
    let start = [std::f64::consts::PI / 18.0, 0.114_760_036_790_303_53, -2.642_142_839_876_821, 0.0, 0.0, 0.0];
    let ends = [IN_ANGLES, &text].map(|text| run(text, &start, PRECISE, 2.5));
    assert_close(&ends[1], &ends[0], 1e-9);
}

/// A homogeneous ball on hills; where it touches has no inertia. The values are those of a solution by multipliers in NumPy.
#[test]
fn a_contact_point_needs_no_inertia() {
    let text = "#[feedback_system(
        coordinates(c: [3], s: [2], ang: [3]), velocities(v: [3], d: [2], w: [3]),
        define(
            fx = h * k * (k * s[0]).cos() * (k * s[1]).cos(), fy = -h * k * (k * s[0]).sin() * (k * s[1]).sin(),
            n = vector![-fx, -fy, 1] / (1 + fx.powi(2) + fy.powi(2)).sqrt(),
            slip = v - r * w.cross(&n),
        ),
        lagrangian = m * v.norm_squared() / 2 + m * r.powi(2) * w.norm_squared() / 5 - m * g * c[2],
        constraint(touch = c - vector![s[0], s[1], h * (k * s[0]).sin() * (k * s[1]).cos()] - r * n),
        velocity_constraint(slip_x = slip[0], slip_y = slip[1]),
        default(m = 1, r = 1, g = 9.81, h = 0.5, k = 0.7),
    )] struct Ball { m: f64, r: f64, g: f64, h: f64, k: f64 }";
    let mut start = vec![-0.330_350_424_832_638, 0.0, 0.943_858_356_664_680, 0.0, 0.0, 0.0, 0.0, 0.0];
    start.extend([1.0, 0.5, 0.35, 1.0, 0.5, -0.471_929_178_332_34, 1.059_481_005_350_6, -0.165_175_212_416_32]);
    let end = run(text, &start, PRECISE, 5.0);
    assert_close(&end[..3], &[-1.997_286_016_458_755_8, -1.249_590_660_641_26, 0.724_310_689_920_743_9], 3e-9);
}

/// A force and a spring on what has no inertia act on what it is tied to, whatever the units: tied by a function of the place and the time.
#[test]
fn forces_on_what_has_no_inertia_reach_what_it_is_tied_to() {
    for (mass, unit) in [(1.0, 1.0), (1e-26, 1e-9), (6e24, 1.0)] {
        let of = |keys: &str| {
            format!(
                "#[feedback_system({keys}, default(m = {mass:e}, k = {:e}, u = {unit:e}))] struct Tied {{ m: f64, k: f64, u: f64 }}",
                3.0 * mass
            )
        };
        let tied = of("coordinates(x, y), velocities(v, w), time(t), define(at = x.powi(2) / u + u * t.sin()),
            lagrangian = m * v.powi(2) / 2 - k * y.powi(2) / 2 - k * x.powi(2), force(w = m * u * t.cos()),
            constraint(tie = y - at), output(r = multiplier(tie) / (m * u))");
        let reduced = of("coordinates(x), velocities(v), time(t), define(at = x.powi(2) / u + u * t.sin()),
            lagrangian = m * v.powi(2) / 2 - k * at.powi(2) / 2 - k * x.powi(2), force(v = m * u * t.cos() * gradient(at, x)),
            output(y = at, w = rate(at), r = k * at / (m * u) - t.cos())");
        let (x, v) = (0.3 * unit, 0.2 * unit);
        let mut method = PRECISE;
        if let Method::Dop853 { atol, .. } = &mut method {
            *atol = Some(1e-12 * unit);
        }
        let end = run(&tied, &[x, x * x / unit, v, 2.0 * x * v / unit + unit, 0.0, 0.0], method, 2.0);
        let expected = run(&reduced, &[x, v, 0.0, 0.0], method, 2.0);
        let others = outputs(&reduced, &expected);
        let found = [end[0], end[1], end[2], end[3]].map(|entry| entry / unit);
        let expected = [expected[0], others[0], expected[1], others[1]].map(|entry| entry / unit);
        assert_close(&found, &expected, 1e-9);
        assert_close(&outputs(&tied, &end), &others[2..], 1e-8);
    }
}

/// What velocity constraints determine, and an entry of a vector that has no inertia of its own.
#[test]
fn velocity_constraints_determine_what_has_no_inertia() {
    let rolling = "#[feedback_system(
        coordinates(x, a), velocities(v, w), lagrangian = v.powi(2) / 2 - x.powi(2) / 2, velocity_constraint(roll = v - r * w + u),
        default(r = 0.5, u = 0.1), output(grip = multiplier(roll)),
    )] struct Roll { r: f64, u: f64 }";
    let end = run(rolling, &[1.0, 0.0, 0.0, 0.2, 0.0], PRECISE, 1.0);
    let (sin, cos) = f64::sin_cos(1.0);
    // The wheel has no inertia: nothing resists its turning.
    assert_close(&end, &[cos, (cos - 1.0) / 0.5 + 0.2, -sin, (0.1 - sin) / 0.5, 0.0], 1e-9);
    assert_close(&outputs(rolling, &end), &[0.0], 1e-9);
    let spinless = "#[feedback_system(
        coordinates(gamma: [3]), velocities(xi: [3]), kinematics(gamma = gamma.cross(&xi)),
        lagrangian = (xi[0].powi(2) + xi[1].powi(2)) / 2 - gamma[2], velocity_constraint(no_spin = xi[2]),
        constraint(length = gamma.norm_squared() - 1),
    )] struct Pendulum;";
    let named = "#[feedback_system(
        coordinates(gamma: [3]), velocities(xi: [2], spin), kinematics(gamma = gamma.cross(&vector![xi[0], xi[1], spin])),
        lagrangian = xi.norm_squared() / 2 - gamma[2], velocity_constraint(no_spin = spin),
        constraint(length = gamma.norm_squared() - 1),
    )] struct Pendulum;";
    let [one, other] = [(spinless, vec![0.6, 0.0, 0.8, 0.3, 0.7, 0.0]), (named, vec![0.6, 0.0, 0.8, 0.3, 0.7])]
        .map(|(text, start)| run(text, &start, PRECISE, 3.0));
    assert_close(&one[..5], &other, 1e-9);
}
