//! What is conserved that is not declared: found, proved, and what is excluded.

use fbint_macros_core::algebra::symbolic::session;
use fbint_macros_core::derivation::{Conservation, Derivation, Evidence, Further};
use fbint_macros_core::diagnostics::Errors;
use fbint_macros_core::elaborate::elaborate;
use fbint_macros_core::{algebra, mechanics, notation, proofs, syntax};

use super::common::read;
use super::expansion::{expand, tokens};

const ON_CONSTRAINTS: Conservation = Conservation::OnConstraints(Evidence::Algebra);

const KEPLER: &str = "coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / (2 * m) - k / q.norm()";
const PLANAR_KEPLER: &str =
    "coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) - k / q.norm()";
const OF_KEPLER: &str = "struct S { m: f64, k: f64 }";
const VORTICES: &str = "state(x: [4], y: [4]),
    define(r = (x[0] - x[1]).powi(2) + (y[0] - y[1]).powi(2), s = (x[0] - x[2]).powi(2) + (y[0] - y[2]).powi(2),
        t = (x[0] - x[3]).powi(2) + (y[0] - y[3]).powi(2), u = (x[1] - x[2]).powi(2) + (y[1] - y[2]).powi(2),
        v = (x[1] - x[3]).powi(2) + (y[1] - y[3]).powi(2), w = (x[2] - x[3]).powi(2) + (y[2] - y[3]).powi(2)),
    dynamics(x = vector![
            -b * (y[0] - y[1]) / r - c * (y[0] - y[2]) / s - d * (y[0] - y[3]) / t,
            -a * (y[1] - y[0]) / r - c * (y[1] - y[2]) / u - d * (y[1] - y[3]) / v,
            -a * (y[2] - y[0]) / s - b * (y[2] - y[1]) / u - d * (y[2] - y[3]) / w,
            -a * (y[3] - y[0]) / t - b * (y[3] - y[1]) / v - c * (y[3] - y[2]) / w],
        y = vector![
            b * (x[0] - x[1]) / r + c * (x[0] - x[2]) / s + d * (x[0] - x[3]) / t,
            a * (x[1] - x[0]) / r + c * (x[1] - x[2]) / u + d * (x[1] - x[3]) / v,
            a * (x[2] - x[0]) / s + b * (x[2] - x[1]) / u + d * (x[2] - x[3]) / w,
            a * (x[3] - x[0]) / t + b * (x[3] - x[1]) / v + c * (x[3] - x[2]) / w])";
const BODIES: &str = "coordinates(a: [2], b: [2], c: [2]), momenta(u: [2], v: [2], w: [2]),
    hamiltonian = u.norm_squared() / (2 * m) + v.norm_squared() / (2 * n) + w.norm_squared() / (2 * o)
        - g * m * n / (a - b).norm() - g * n * o / (b - c).norm() - g * o * m / (c - a).norm()";
const RIGID_BODY: &str = "state(r: [3, 3], w: [3]), dynamics(r = r * hat(w),
        w = vector![(b - c) * w[1] * w[2] / a, (c - a) * w[0] * w[2] / b, (a - b) * w[0] * w[1] / c]),
    constraint(orthonormality = r.transpose() * r - identity(3))";

fn derivation(attribute: &str, item: &str) -> Derivation {
    let errors = Errors::new();
    let declaration = syntax::parse(tokens(attribute), tokens(item), &errors).expect("a declaration");
    let model = elaborate(&declaration, &errors);
    errors.flush().expect("no mistakes");
    let problem = model.expect("no mistakes").problem;
    session(|| mechanics::derive(&problem, &algebra::Algebra).expect("a derivation")).expect("a session")
}

/// What is found up to a degree, as a declaration has it, and the number of unknowns.
fn found(attribute: &str, item: &str, degree: usize) -> (Vec<String>, Option<usize>) {
    let derivation = derivation(attribute, item);
    let Further { found, others, searched } = proofs::further(&derivation, Some(degree));
    assert_eq!(others, 0, "{attribute}: {found:?}");
    let text = |value| notation::source(value, &derivation.symbols);
    (found.iter().map(|integral| text(&integral.value)).collect(), searched.map(|searched| searched.unknowns))
}

/// What is found is independent of what is declared, and short.
#[test]
fn classical_integrals_are_found() {
    let oscillator = "coordinates(q: [2]), momenta(p: [2]),
        hamiltonian = p.norm_squared() / (2 * m) + k * q.norm_squared() / 2";
    let resonance = "coordinates(q: [2]), momenta(p: [2]),
        hamiltonian = (p.norm_squared() + q[0].powi(2) + 4 * q[1].powi(2)) / 2";
    let top = "state(x: [3]), poisson = hat(x),
        hamiltonian = x[0].powi(2) / (2 * a) + x[1].powi(2) / (2 * b) + x[2].powi(2) / (2 * c)";
    let prey = "state(x, y), dynamics(x = x * (a - b * y), y = -y * (c - d * x))";
    let spring = "coordinates(a, b), momenta(u, v), time(t),
        hamiltonian = u.powi(2) / (2 * m) + v.powi(2) / (2 * n) + t * (a - b).powi(2)";
    let toda = "coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / 2
        + (q[0] - q[1]).exp() + (q[1] - q[2]).exp() + (q[2] - q[0]).exp()";
    let kovalevskaya = "state(g: [3], l: [3]), define(w = vector![l[0], l[1], 2 * l[2]]),
        dynamics(g = g.cross(&w), l = l.cross(&w) + g.cross(&vector![k, 0, 0]))";
    let abcd = "struct S { a: f64, b: f64, c: f64, d: f64 }";
    let rows: [(&str, &str, usize, usize, &[&str]); 13] = [
        (
            KEPLER,
            OF_KEPLER,
            2,
            35,
            &["q[0] * p[1] - q[1] * p[0]", "q[0] * p[2] - q[2] * p[0]", "q[1] * p[2] - q[2] * p[1]"],
        ),
        (
            KEPLER,
            OF_KEPLER,
            3,
            119,
            &[
                "q[0] * p[1] - q[1] * p[0]",
                "q[0] * p[2] - q[2] * p[0]",
                "q[1] * p[2] - q[2] * p[1]",
                "m * k * q[0] / (q[0].powi(2) + q[1].powi(2) + q[2].powi(2)).sqrt() - q[0] * p[1].powi(2) \
                 - q[0] * p[2].powi(2) + q[1] * p[0] * p[1] + q[2] * p[0] * p[2]",
            ],
        ),
        (
            PLANAR_KEPLER,
            OF_KEPLER,
            3,
            55,
            &[
                "q[0] * p[1] - q[1] * p[0]",
                "m * k * q[0] / (q[0].powi(2) + q[1].powi(2)).sqrt() - q[0] * p[1].powi(2) + q[1] * p[0] * p[1]",
            ],
        ),
        (oscillator, OF_KEPLER, 2, 14, &["q[0] * p[1] - q[1] * p[0]", "m * k * q[0].powi(2) + p[0].powi(2)"]),
        (
            resonance,
            "struct S;",
            3,
            34,
            &["q[0].powi(2) + p[0].powi(2)", "q[0].powi(2) * q[1] + q[0] * p[0] * p[1] - q[1] * p[0].powi(2)"],
        ),
        (top, "struct S { a: f64, b: f64, c: f64 }", 2, 9, &["x[0].powi(2) + x[1].powi(2) + x[2].powi(2)"]),
        (prey, abcd, 1, 4, &["d * x + b * y - c * x.ln() - a * y.ln()"]),
        (spring, "struct S { m: f64, n: f64 }", 2, 27, &["u + v", "m * a + n * b - u * t - v * t"]),
        (
            toda,
            "struct S;",
            3,
            218,
            &[
                "p[0] + p[1] + p[2]",
                "p[0] * (q[1] - q[2]).exp() + p[1] * (q[2] - q[0]).exp() + p[2] * (q[0] - q[1]).exp() - p[0] * p[1] * p[2]",
            ],
        ),
        (
            VORTICES,
            abcd,
            2,
            119,
            &[
                "a * x[0] + b * x[1] + c * x[2] + d * x[3]",
                "a * y[0] + b * y[1] + c * y[2] + d * y[3]",
                "a * x[0].powi(2) + b * x[1].powi(2) + c * x[2].powi(2) + d * x[3].powi(2) + a * y[0].powi(2) \
             + b * y[1].powi(2) + c * y[2].powi(2) + d * y[3].powi(2)",
            ],
        ),
        (
            kovalevskaya,
            "struct S { k: f64 }",
            4,
            209,
            &[
                "g[0].powi(2) + g[1].powi(2) + g[2].powi(2)",
                "g[0] * l[0] + g[1] * l[1] + g[2] * l[2]",
                "2 * k * g[0] + l[0].powi(2) + l[1].powi(2) + 2 * l[2].powi(2)",
                "k.powi(2) * g[1].powi(2) - 2 * k * g[0] * l[0].powi(2) - 2 * k * g[0] * l[2].powi(2) - 2 * k * g[1] * l[0] * l[1] \
             - l[0].powi(2) * l[2].powi(2) - l[1].powi(2) * l[2].powi(2) - l[2].powi(4)",
            ],
        ),
        (BODIES, "struct S { m: f64, n: f64, o: f64, g: f64 }", 1, 15, &["u[0] + v[0] + w[0]", "u[1] + v[1] + w[1]"]),
        (
            RIGID_BODY,
            "struct S { a: f64, b: f64, c: f64 }",
            2,
            79,
            &[
                "a.powi(2) * w[0].powi(2) - a * c * w[0].powi(2) + b.powi(2) * w[1].powi(2) - b * c * w[1].powi(2)",
                "a.powi(2) * w[0].powi(2) - a * b * w[0].powi(2) - b * c * w[2].powi(2) + c.powi(2) * w[2].powi(2)",
                "a * r[(0, 0)] * w[0] + b * r[(0, 1)] * w[1] + c * r[(0, 2)] * w[2]",
                "a * r[(1, 0)] * w[0] + b * r[(1, 1)] * w[1] + c * r[(1, 2)] * w[2]",
            ],
        ),
    ];
    for (attribute, item, degree, unknowns, expected) in rows {
        let (texts, count) = found(attribute, item, degree);
        assert_eq!(
            (texts, count),
            (expected.iter().map(|text| (*text).to_owned()).collect(), Some(unknowns)),
            "{attribute}"
        );
    }
}

/// The momentum, the angular momentum, and the momentum times the centre of mass, whose coefficients are sums of masses.
#[test]
fn coefficients_are_polynomials_in_the_parameters() {
    let (texts, unknowns) = found(BODIES, "struct S { m: f64, n: f64, o: f64, g: f64 }", 2);
    assert_eq!((texts.len(), unknowns), (4, Some(135)), "{texts:?}");
    assert!(texts[2].starts_with("a[0] * u[1] - a[1] * u[0] + b[0] * v[1]"), "{texts:?}");
    assert!(["m * a[0] * u[1]", "n * b[0] * u[1]"].iter().all(|term| texts[3].contains(term)), "{texts:?}");
}

/// Hénon and Heiles: two special cases are found when the declaration has them, and the general one has nothing.
#[test]
fn special_cases_are_found_where_they_are_declared() {
    let heiles = |a: &str, b: &str, c: &str| {
        format!(
            "coordinates(x, y), momenta(p, s), hamiltonian = (p.powi(2) + s.powi(2) + {a} * x.powi(2) + {b} * y.powi(2)) / 2
                + d * x.powi(2) * y - {c} * y.powi(3) / 3"
        )
    };
    let general = found(&heiles("a", "b", "c"), "struct S { a: f64, b: f64, c: f64, d: f64 }", 6);
    assert_eq!(general, (Vec::new(), Some(209)));
    let (sum, unknowns) = found(&heiles("a", "a", "(-d)"), "struct S { a: f64, d: f64 }", 3);
    assert_eq!((sum.len(), unknowns), (1, Some(34)), "{sum:?}");
    let (six, unknowns) = found(&heiles("a", "b", "(-6) * d"), "struct S { a: f64, b: f64, d: f64 }", 4);
    assert_eq!((six.len(), unknowns), (1, Some(69)), "{six:?}");
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let pendulum =
        "coordinates(q: [2]), velocities(v: [2]), lagrangian = m * v[0].powi(2) / 2 + n * (v[0].powi(2) + v[1].powi(2)
        + 2 * v[0] * v[1] * (q[0] - q[1]).cos()) / 2 + g * (q[0].cos() + q[1].cos())";
    let lorenz = "state(x, y, z), dynamics(x = s * (y - x), y = x * (r - z) - y, z = x * y - b * z)";
    let driven = "coordinates(q), momenta(p), time(t), hamiltonian = p.powi(2) / 2 - (1 + a * t.sin()) * q.cos()";
    let rows = [
        (pendulum, "struct S { m: f64, n: f64, g: f64 }", 2, 56),
        (lorenz, "struct S { s: f64, r: f64, b: f64 }", 6, 83),
        (driven, "struct S { a: f64 }", 2, 42),
    ];
    for (attribute, item, degree, unknowns) in rows {
        assert_eq!(found(attribute, item, degree), (Vec::new(), Some(unknowns)), "{attribute}");
    }
}

/// Chaplygin's sleigh without an offset, and Neumann's system on the sphere.
#[test]
fn on_the_constraints() {
    let sleigh =
        "coordinates(x: [2], a), velocities(v: [2], w), lagrangian = m * v.norm_squared() / 2 + i * w.powi(2) / 2,
        velocity_constraint(edge = v[0] * a.sin() - v[1] * a.cos())";
    let sleigh = proofs::further(&derivation(sleigh, "struct S { m: f64, i: f64 }"), Some(2));
    let grades: Vec<Conservation> = sleigh.found.iter().map(|integral| integral.grade).collect();
    assert_eq!(grades, [Conservation::Everywhere(Evidence::Algebra), ON_CONSTRAINTS, ON_CONSTRAINTS]);
    let neumann = "coordinates(q: [3]), momenta(p: [3]),
        hamiltonian = (p.norm_squared() + a * q[0].powi(2) + b * q[1].powi(2) + c * q[2].powi(2)) / 2,
        constraint(sphere = q.norm_squared() - 1)";
    let uhlenbeck = proofs::further(&derivation(neumann, "struct S { a: f64, b: f64, c: f64 }"), Some(4));
    assert_eq!((uhlenbeck.found.len(), uhlenbeck.others), (1, 0));
    assert_eq!(uhlenbeck.found[0].grade, ON_CONSTRAINTS);
}

/// What is found can be declared, is proved then, and leaves nothing to be found.
#[test]
fn what_is_found_can_be_declared() {
    let rows = [
        (PLANAR_KEPLER, OF_KEPLER, 3),
        (VORTICES, "struct S { a: f64, b: f64, c: f64, d: f64 }", 2),
        (RIGID_BODY, "struct S { a: f64, b: f64, c: f64 }", 2),
    ];
    for (attribute, item, degree) in rows {
        let (texts, _) = found(attribute, item, degree);
        let entries = texts.iter().enumerate().map(|(place, text)| format!(", invariant(found{place} = {text})"));
        let (rest, _) = found(&format!("{attribute}{}", entries.collect::<String>()), item, degree);
        assert!(!texts.is_empty() && rest.is_empty(), "{texts:?}, then {rest:?}");
    }
}

/// Without being asked for: degree 2, as far as that takes little work.
#[test]
fn little_work_is_always_done() {
    let degree = |attribute, item| proofs::further(&derivation(attribute, item), None).searched;
    let kepler = degree(KEPLER, OF_KEPLER).expect("it is searched");
    assert_eq!((kepler.degree, kepler.atoms.len()), (2, 1));
    let bodies = degree(BODIES, "struct S { m: f64, n: f64, o: f64, g: f64 }").expect("it is searched");
    assert_eq!((bodies.degree, bodies.atoms.len()), (2, 0));
    let chain = "coordinates(q: [40]), momenta(p: [40]), hamiltonian = p.norm_squared() / 2 + q.norm_squared() / 2";
    assert_eq!(degree(chain, "struct S;").map(|searched| searched.degree), Some(1));
}

/// What is said: each function as a declaration has it, and what was excluded.
#[test]
fn what_is_found_is_shown() {
    let equations = |attribute: &str| {
        let expansion = fbint_macros_core::feedback_system(tokens(attribute), tokens(OF_KEPLER)).to_string();
        let start = expansion.find("Conserved beside").unwrap_or_else(|| panic!("{expansion}"));
        expansion[start..start + 500].replace("\\n", "\n")
    };
    let shown = equations(PLANAR_KEPLER);
    let expected = "Conserved beside the declared integrals
  d/dt (q[0] * p[1] - q[1] * p[0]) = 0, everywhere, proved by algebra
  no other polynomial of degree <= 2 in q, p, 1 / (q[0].powi(2) + q[1].powi(2)).sqrt(), for general parameters, \
                    with a probability of error below 1e-8
";
    assert!(shown.starts_with(expected), "{shown}");
    let further = equations(&format!("{PLANAR_KEPLER}, search(degree = 3)"));
    assert!(further.contains("  d/dt (m * k * q[0] / ") && further.contains("degree <= 3 in q, p"), "{further}");
}

#[test]
fn a_search_that_is_mistaken_is_reported_where_it_stands() {
    let rows = [
        ("search(depth = 4)", "`search` takes a degree and nothing else: `search(degree = 4)`", "depth"),
        ("search(degree = m)", "the degree of a search is an integer from 1 to 8, as in `search(degree = 4)`", "m"),
        ("search(degree = 9)", "the degree of a search is an integer from 1 to 8, as in `search(degree = 4)`", "9"),
        ("search(degree = 2, degree = 3)", "`degree` is given twice: keep one of the two", "degree"),
    ];
    for (key, message, place) in rows {
        let (_, _, messages) = read(&format!("{KEPLER}, {key}"), OF_KEPLER);
        assert_eq!(messages, [(message.to_owned(), place.to_owned())]);
    }
    let (messages, _) = expand(&format!("{KEPLER}, search(degree = 8)"), OF_KEPLER);
    assert_eq!(
        messages,
        ["polynomials of degree 8 in the state and the functions that occur have 6434 coefficients, and a search is \
        limited to 1100: give a lower degree"]
    );
}

/// What holds the body, and what is found beside the energy, on the constraint set or everywhere.
#[test]
fn what_constraints_keep_is_found() {
    let sleigh =
        "coordinates(x: [2], a), velocities(v: [2], w), lagrangian = m * v.norm_squared() / 2 + i * w.powi(2) / 2,
        velocity_constraint(edge = v[0] * a.sin() - v[1] * a.cos())";
    let offset = "coordinates(x, y, a), velocities(vx, vy, w),
        define(centre = vector![vx - l * w * a.sin(), vy + l * w * a.cos()]),
        lagrangian = m * centre.norm_squared() / 2 + i * w.powi(2) / 2,
        velocity_constraint(blade = a.cos() * vy - a.sin() * vx)";
    let edge = "coordinates(x, y, a), velocities(vx, vy, w),
        lagrangian = (vx.powi(2) + vy.powi(2)) / 2 + i * w.powi(2) / 2 + s * x,
        velocity_constraint(edge = a.sin() * vx - a.cos() * vy)";
    let disk = "coordinates(x, y, psi, phi), velocities(vx, vy, roll, turn),
        lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + i * roll.powi(2) / 2 + j * turn.powi(2) / 2,
        velocity_constraint(slip_x = vx - l * phi.cos() * roll, slip_y = vy - l * phi.sin() * roll)";
    let ball = "coordinates(r: [3, 3], x: [2]), velocities(w: [3], v: [2]), kinematics(r = r * hat(w), x = v),
        lagrangian = m * v.norm_squared() / 2 + (w[0].powi(2) + 2 * w[1].powi(2) + 3 * w[2].powi(2)) / 2,
        constraint(orthonormality = r.transpose() * r - identity(3)),
        define(turn = r * w), velocity_constraint(roll_x = v[0] - l * turn[1], roll_y = v[1] + l * turn[0])";
    let neumann = "coordinates(q: [3]), momenta(p: [3]),
        hamiltonian = (p.norm_squared() + a * q[0].powi(2) + b * q[1].powi(2) + c * q[2].powi(2)) / 2,
        constraint(sphere = q.norm_squared() - 1)";
    let ellipsoid = "coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / 2,
        constraint(ellipsoid = a * q[0].powi(2) + b * q[1].powi(2) + c * q[2].powi(2) - 1)";
    let goryachev = "state(g: [3], l: [3]), define(w = vector![l[0], l[1], 4 * l[2]]),
        dynamics(g = g.cross(&w), l = l.cross(&w) + g.cross(&vector![k, 0, 0]))";
    let on_level = format!("{goryachev}, constraint(level = g.dot(&l))");
    let rows = [
        (sleigh, "struct S { m: f64, i: f64 }", 2),
        (offset, "struct S { m: f64, i: f64, l: f64 }", 2),
        (edge, "struct S { i: f64, s: f64 }", 2),
        (edge, "struct S { i: f64, s: f64 }", 3),
        (disk, "struct S { m: f64, i: f64, j: f64, l: f64 }", 2),
        (ball, "struct S { m: f64, l: f64 }", 2),
        (neumann, "struct S { a: f64, b: f64, c: f64 }", 4),
        (ellipsoid, "struct S { a: f64, b: f64, c: f64 }", 4),
        (goryachev, "struct S { k: f64 }", 3),
        (&on_level, "struct S { k: f64 }", 3),
    ];
    for (attribute, item, degree) in rows {
        let derivation = derivation(attribute, item);
        let start = std::time::Instant::now();
        let Further { found, others, searched } = proofs::further(&derivation, Some(degree));
        eprintln!(
            "{attribute}\n{others} {:?} {:?}",
            searched.map(|s| (s.degree, s.unknowns, s.points)),
            start.elapsed()
        );
        for f in found {
            eprintln!("    {:?} {}", f.grade, notation::source(&f.value, &derivation.symbols));
        }
    }
    let lagrange = "state(g: [3], l: [3]), define(w = vector![l[0] / a, l[1] / a, l[2] / c]),
        dynamics(g = g.cross(&w), l = l.cross(&w) + g.cross(&vector![0, 0, k]))";
    let isotropic = "coordinates(q: [3]), momenta(p: [3]),
        hamiltonian = p.norm_squared() / (2 * m) + k * q.norm_squared() / 2";
    let timed = format!("{BODIES}, time(t)");
    for (attribute, item, degree) in [
        (lagrange, "struct S { a: f64, c: f64, k: f64 }", 2),
        (isotropic, OF_KEPLER, 2),
        (&timed, "struct S { m: f64, n: f64, o: f64, g: f64 }", 2),
    ] {
        let start = std::time::Instant::now();
        eprintln!("{:?} {:?}", found(attribute, item, degree), start.elapsed());
    }
}

fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

#[test]
#[ignore]
fn timing() {
    let lattice = |n: usize| {
        let springs: Vec<String> = (1..n).map(|i| format!("k * (q[{i}] - q[{}]).powi(4) / 4", i - 1)).collect();
        format!(
            "coordinates(q: [{n}]), momenta(p: [{n}]), hamiltonian = p.norm_squared() / (2 * m) + q.norm_squared() / 2 + {}",
            springs.join(" + ")
        )
    };
    let bodies = |count: usize, dimension: usize| {
        let list = |letter: &str| -> String {
            (0..count).map(|i| format!("{letter}{i}: [{dimension}]")).collect::<Vec<_>>().join(", ")
        };
        let kinetic: Vec<String> = (0..count).map(|i| format!("p{i}.norm_squared() / (2 * m)")).collect();
        let pairs = (0..count).flat_map(|i| (0..i).map(move |j| format!(" - k / (q{i} - q{j}).norm()")));
        format!(
            "coordinates({}), momenta({}), hamiltonian = {}{}",
            list("q"),
            list("p"),
            kinetic.join(" + "),
            pairs.collect::<String>()
        )
    };
    let chain = |n: usize| {
        let links: Vec<String> = (0..n)
            .map(|i| {
                if i == 0 {
                    "link0 = q0.norm_squared() - k.powi(2)".to_owned()
                } else {
                    format!("link{i} = (q{i} - q{}).norm_squared() - k.powi(2)", i - 1)
                }
            })
            .collect();
        let list =
            |letter: &str| -> String { (0..n).map(|i| format!("{letter}{i}: [3]")).collect::<Vec<_>>().join(", ") };
        let h: Vec<String> = (0..n).map(|i| format!("p{i}.norm_squared() / (2 * m) + q{i}[2]")).collect();
        format!(
            "coordinates({}), momenta({}), hamiltonian = {}, constraint({})",
            list("q"),
            list("p"),
            h.join(" + "),
            links.join(", ")
        )
    };
    let double =
        "coordinates(q: [2]), velocities(v: [2]), lagrangian = m * v[0].powi(2) / 2 + k * (v[0].powi(2) + v[1].powi(2)
        + 2 * v[0] * v[1] * (q[0] - q[1]).cos()) / 2 + k * (q[0].cos() + q[1].cos())"
            .to_owned();
    let isotropic = |n: usize| {
        format!(
            "coordinates(q: [{n}]), momenta(p: [{n}]), hamiltonian = p.norm_squared() / (2 * m) + k * q.norm_squared() / 2"
        )
    };
    let rows = [
        ("lattice12", lattice(12), None),
        ("isotropic12", isotropic(12), None),
        ("bodies42", bodies(4, 2), None),
        ("bodies43", bodies(4, 3), None),
        ("chain4", chain(4), None),
        ("double", double, None),
        ("bodies32", bodies(3, 2), None),
        ("lattice4", lattice(4), Some(4)),
        ("isotropic4", isotropic(4), Some(4)),
        ("lattice6", lattice(6), Some(4)),
        ("bodies32", bodies(3, 2), Some(4)),
        ("bodies23", bodies(2, 3), Some(4)),
    ];
    let chosen = std::env::var("CHOSEN").unwrap_or_default();
    for (name, attribute, degree) in rows {
        if !chosen.is_empty() && chosen != name {
            continue;
        }
        let derivation = derivation(&attribute, "struct S { m: f64, k: f64 }");
        let start = cpu();
        let Further { found, others, searched } = proofs::further(&derivation, degree);
        eprintln!(
            "{name} {degree:?} {others} {} {:?} {:?}",
            found.len(),
            searched.map(|s| (s.degree, s.unknowns, s.points)),
            cpu() - start
        );
    }
}
