//! What is conserved that is not declared: found, proved, and what is excluded.

use fbint_macros_core::algebra::symbolic::session;
use fbint_macros_core::derivation::{Conservation, Derivation, Evidence, Further, FurtherIntegral};
use fbint_macros_core::elaborate::elaborate;
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::{algebra, mechanics, notation, proofs, syntax};

use super::common::read;
use super::expansion::{expand, tokens};

const EVERYWHERE: Conservation = Conservation::Everywhere(Evidence::Algebra);
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

/// An attribute, its item, the degree, the work, and what is found.
type Row<'a, F> = (&'a str, &'a str, usize, [usize; 2], &'a [F]);

fn derivation(attribute: &str, item: &str) -> Derivation {
    let errors = Errors::new();
    let mut declaration = syntax::parse(tokens(attribute), tokens(item), &errors).expect("a declaration");
    let model = elaborate(&mut declaration, &errors);
    errors.flush().expect("no mistakes");
    let problem = model.expect("no mistakes").problem;
    session(|| mechanics::derive(&problem, &algebra::Algebra).expect("a derivation")).expect("a session")
}

/// What is found up to a degree, as a declaration has it, and the work: the number of unknowns, and of points.
fn found(attribute: &str, item: &str, degree: usize) -> (Vec<String>, Option<[usize; 2]>) {
    let derivation = derivation(attribute, item);
    let Further { found, others, searched } = proofs::further(&derivation, Some(degree));
    assert_eq!(others, 0, "{attribute}: {found:?}");
    let text = |value| notation::source(value, &derivation.symbols);
    (
        found.iter().map(|integral| text(&integral.value)).collect(),
        searched.ok().map(|searched| [searched.unknowns, searched.points]),
    )
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
    let lagrange = "state(g: [3], l: [3]), define(w = vector![l[0] / a, l[1] / a, l[2] / c]),
        dynamics(g = g.cross(&w), l = l.cross(&w) + g.cross(&vector![0, 0, k]))";
    let spatial = "coordinates(q: [3]), momenta(p: [3]),
        hamiltonian = p.norm_squared() / (2 * m) + k * q.norm_squared() / 2";
    let timed = format!("{BODIES} * (1 + t.sin()), time(t)");
    let abcd = "struct S { a: f64, b: f64, c: f64, d: f64 }";
    let rows: [Row<&str>; 16] = [
        (
            KEPLER,
            OF_KEPLER,
            2,
            [35, 6],
            &["q[0] * p[1] - q[1] * p[0]", "q[0] * p[2] - q[2] * p[0]", "q[1] * p[2] - q[2] * p[1]"],
        ),
        (
            KEPLER,
            OF_KEPLER,
            3,
            [119, 8],
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
            [55, 6],
            &[
                "q[0] * p[1] - q[1] * p[0]",
                "m * k * q[0] / (q[0].powi(2) + q[1].powi(2)).sqrt() - q[0] * p[1].powi(2) + q[1] * p[0] * p[1]",
            ],
        ),
        (oscillator, OF_KEPLER, 2, [14, 4], &["q[0] * p[1] - q[1] * p[0]", "m * k * q[0].powi(2) + p[0].powi(2)"]),
        (
            resonance,
            "struct S;",
            3,
            [34, 5],
            &["q[0].powi(2) + p[0].powi(2)", "q[0].powi(2) * q[1] + q[0] * p[0] * p[1] - q[1] * p[0].powi(2)"],
        ),
        (top, "struct S { a: f64, b: f64, c: f64 }", 2, [9, 5], &["x[0].powi(2) + x[1].powi(2) + x[2].powi(2)"]),
        (prey, abcd, 1, [4, 6], &["d * x + b * y - c * x.ln() - a * y.ln()"]),
        (spring, "struct S { m: f64, n: f64 }", 2, [27, 14], &["u + v", "m * a + n * b - u * t - v * t"]),
        (
            toda,
            "struct S;",
            3,
            [218, 128],
            &[
                "p[0] + p[1] + p[2]",
                "p[0] * (q[1] - q[2]).exp() + p[1] * (q[2] - q[0]).exp() + p[2] * (q[0] - q[1]).exp() - p[0] * p[1] * p[2]",
            ],
        ),
        (
            VORTICES,
            abcd,
            2,
            [230, 112],
            &[
                "a * x[0] + b * x[1] + c * x[2] + d * x[3]",
                "a * y[0] + b * y[1] + c * y[2] + d * y[3]",
                "a * b * ((x[0] - x[1]).powi(2) + (y[0] - y[1]).powi(2)).ln() \
                 + a * c * ((x[0] - x[2]).powi(2) + (y[0] - y[2]).powi(2)).ln() \
                 + a * d * ((x[0] - x[3]).powi(2) + (y[0] - y[3]).powi(2)).ln() \
                 + b * c * ((x[1] - x[2]).powi(2) + (y[1] - y[2]).powi(2)).ln() \
                 + b * d * ((x[1] - x[3]).powi(2) + (y[1] - y[3]).powi(2)).ln() \
                 + c * d * ((x[2] - x[3]).powi(2) + (y[2] - y[3]).powi(2)).ln()",
                "a * x[0].powi(2) + b * x[1].powi(2) + c * x[2].powi(2) + d * x[3].powi(2) + a * y[0].powi(2) \
             + b * y[1].powi(2) + c * y[2].powi(2) + d * y[3].powi(2)",
            ],
        ),
        (
            kovalevskaya,
            "struct S { k: f64 }",
            4,
            [209, 16],
            &[
                "g[0].powi(2) + g[1].powi(2) + g[2].powi(2)",
                "g[0] * l[0] + g[1] * l[1] + g[2] * l[2]",
                "2 * k * g[0] + l[0].powi(2) + l[1].powi(2) + 2 * l[2].powi(2)",
                "k.powi(2) * g[1].powi(2) - 2 * k * g[0] * l[0].powi(2) - 2 * k * g[0] * l[2].powi(2) - 2 * k * g[1] * l[0] * l[1] \
             - l[0].powi(2) * l[2].powi(2) - l[1].powi(2) * l[2].powi(2) - l[2].powi(4)",
            ],
        ),
        (
            lagrange,
            "struct S { a: f64, c: f64, k: f64 }",
            2,
            [27, 6],
            &[
                "l[2]",
                "g[0].powi(2) + g[1].powi(2) + g[2].powi(2)",
                "g[0] * l[0] + g[1] * l[1] + g[2] * l[2]",
                "2 * a * k * g[2] + l[0].powi(2) + l[1].powi(2)",
            ],
        ),
        (
            spatial,
            OF_KEPLER,
            2,
            [27, 4],
            &[
                "q[0] * p[1] - q[1] * p[0]",
                "q[0] * p[2] - q[2] * p[0]",
                "q[1] * p[2] - q[2] * p[1]",
                "m * k * q[0].powi(2) + p[0].powi(2)",
            ],
        ),
        (
            &timed,
            "struct S { m: f64, n: f64, o: f64, g: f64 }",
            2,
            [208, 79],
            &[
                "u[0] + v[0] + w[0]",
                "u[1] + v[1] + w[1]",
                "a[0] * u[1] - a[1] * u[0] + b[0] * v[1] - b[1] * v[0] + c[0] * w[1] - c[1] * w[0]",
                "m * a[0] + n * b[0] + o * c[0] - u[0] * t - v[0] * t - w[0] * t",
                "m * a[1] + n * b[1] + o * c[1] - u[1] * t - v[1] * t - w[1] * t",
            ],
        ),
        (
            BODIES,
            "struct S { m: f64, n: f64, o: f64, g: f64 }",
            1,
            [15, 5],
            &["u[0] + v[0] + w[0]", "u[1] + v[1] + w[1]"],
        ),
        (
            RIGID_BODY,
            "struct S { a: f64, b: f64, c: f64 }",
            2,
            [79, 8],
            &[
                "a.powi(2) * w[0].powi(2) - a * c * w[0].powi(2) + b.powi(2) * w[1].powi(2) - b * c * w[1].powi(2)",
                "a.powi(2) * w[0].powi(2) - a * b * w[0].powi(2) - b * c * w[2].powi(2) + c.powi(2) * w[2].powi(2)",
                "a * r[(0, 0)] * w[0] + b * r[(0, 1)] * w[1] + c * r[(0, 2)] * w[2]",
                "a * r[(1, 0)] * w[0] + b * r[(1, 1)] * w[1] + c * r[(1, 2)] * w[2]",
            ],
        ),
    ];
    for (attribute, item, degree, work, expected) in rows {
        let (texts, count) = found(attribute, item, degree);
        assert_eq!(
            (texts, count),
            (expected.iter().map(|text| (*text).to_owned()).collect(), Some(work)),
            "{attribute}"
        );
    }
}

/// The momentum, the angular momentum, and the momentum times the centre of mass, whose coefficients are sums of masses.
#[test]
fn coefficients_are_polynomials_in_the_parameters() {
    let (texts, work) = found(BODIES, "struct S { m: f64, n: f64, o: f64, g: f64 }", 2);
    assert_eq!((texts.len(), work), (4, Some([135, 20])), "{texts:?}");
    assert!(texts[2].starts_with("a[0] * u[1] - a[1] * u[0] + b[0] * v[1]"), "{texts:?}");
    assert!(["m * a[0] * u[1]", "n * b[0] * u[1]"].iter().all(|term| texts[3].contains(term)), "{texts:?}");
}

/// The centre of mass of particles that are bound to a point and to their neighbours oscillates: P^2 + m Q^2, whose 156 terms are two groups
/// of multiples.
#[test]
fn many_terms_are_few_coefficients() {
    let springs: Vec<String> = (1..12).map(|i| format!("k * (q[{i}] - q[{}]).powi(4)", i - 1)).collect();
    let lattice = format!(
        "coordinates(q: [12]), momenta(p: [12]), hamiltonian = (p.norm_squared() / m + q.norm_squared()) / 2 + {}",
        springs.join(" + ")
    );
    let (texts, work) = found(&lattice, OF_KEPLER, 2);
    assert_eq!((texts.len(), work), (1, Some([324, 158])));
    let terms: Vec<&str> = texts[0].split(" + ").collect();
    assert_eq!((terms.len(), terms.iter().filter(|term| term.starts_with("2 * ")).count()), (156, 132), "{texts:?}");
}

/// A root of a function of the parameters, or of a number, exists modulo one prime and for one choice of the parameters in two.
#[test]
fn roots_of_parameters_are_no_obstacle() {
    for factor in ["(k / m).sqrt()", "(k + m).sqrt()", "(2.sqrt() * m + 3.sqrt() * (k + m).sqrt())"] {
        let attribute = format!(
            "coordinates(q: [2]), momenta(p: [2]), hamiltonian = {factor} * (p.norm_squared() + q.norm_squared()) / 2"
        );
        let (texts, work) = found(&attribute, OF_KEPLER, 2);
        assert_eq!((texts.len(), work.map(|work| work[0])), (2, Some(14)), "{factor}: {texts:?}");
    }
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
    assert_eq!(general, (Vec::new(), Some([209, 61])));
    let (sum, work) = found(&heiles("a", "a", "(-d)"), "struct S { a: f64, d: f64 }", 3);
    assert_eq!((sum.len(), work), (1, Some([34, 12])), "{sum:?}");
    let (six, work) = found(&heiles("a", "b", "(-6) * d"), "struct S { a: f64, b: f64, d: f64 }", 4);
    assert_eq!((six.len(), work), (1, Some([69, 23])), "{six:?}");
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let pendulum =
        "coordinates(q: [2]), velocities(v: [2]), lagrangian = m * v[0].powi(2) / 2 + n * (v[0].powi(2) + v[1].powi(2)
        + 2 * v[0] * v[1] * (q[0] - q[1]).cos()) / 2 + g * (q[0].cos() + q[1].cos())";
    let lorenz = "state(x, y, z), dynamics(x = s * (y - x), y = x * (r - z) - y, z = x * y - b * z)";
    let driven = "coordinates(q), momenta(p), time(t), hamiltonian = p.powi(2) / 2 - (1 + a * t.sin()) * q.cos()";
    let rows = [
        (pendulum, "struct S { m: f64, n: f64, g: f64 }", 3, [202, 72]),
        (lorenz, "struct S { s: f64, r: f64, b: f64 }", 6, [83, 45]),
        (driven, "struct S { a: f64 }", 3, [146, 80]),
    ];
    for (attribute, item, degree, work) in rows {
        assert_eq!(found(attribute, item, degree), (Vec::new(), Some(work)), "{attribute}");
    }
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

/// Energies whose functions do not occur in the field, only their derivatives do.
#[test]
fn partners_of_functions_that_occur_are_searched() {
    let rows = [
        ("-k * x.sin()", "2 * k * x.cos() - v.powi(2)"),
        ("k * x.cos()", "2 * k * x.sin() - v.powi(2)"),
        ("-k / x", "2 * k * x.ln() + v.powi(2)"),
        ("-k / (x + k)", "2 * k * (x + k).ln() + v.powi(2)"),
        ("-k / (x.powi(2))", "2 * k / x - v.powi(2)"),
        ("-k * x.ln()", "2 * k * x - 2 * k * x * x.ln() - v.powi(2)"),
        ("-k * x.sinh()", "2 * k * x.cosh() + v.powi(2)"),
        ("-k * x.tanh()", "2 * k * x.cosh().ln() + v.powi(2)"),
        ("k * x.tan()", "2 * k * x.cos().ln() + v.powi(2)"),
    ];
    let energy = |(force, _): &(&str, &str)| {
        found(&format!("state(x, v), dynamics(x = v, v = {force})"), "struct S { k: f64 }", 2).0
    };
    assert_eq!(rows.iter().map(energy).collect::<Vec<_>>(), rows.map(|(_, energy)| vec![energy]));
}

/// Without being asked for: degree 2, as far as that takes little work.
#[test]
fn little_work_is_always_done() {
    let degree = |attribute: &str, item: &str| proofs::further(&derivation(attribute, item), None).searched;
    let kepler = degree(KEPLER, OF_KEPLER).expect("it is searched");
    assert_eq!((kepler.degree, kepler.atoms.len()), (2, 1));
    let bodies = degree(BODIES, "struct S { m: f64, n: f64, o: f64, g: f64 }").expect("it is searched");
    assert_eq!((bodies.degree, bodies.atoms.len()), (2, 3));
    let oscillators = |count: usize| {
        format!(
            "coordinates(q: [{count}]), momenta(p: [{count}]), hamiltonian = (p.norm_squared() + q.norm_squared()) / 2"
        )
    };
    assert_eq!(degree(&oscillators(12), "struct S;").map(|searched| searched.degree), Ok(2));
    assert!(
        degree(&oscillators(13), "struct S;").is_err_and(|reason| reason.starts_with("the state has more than 24"))
    );
}

/// The angular momentum of a chain of four links is found unasked, and that of eight where it is asked for.
#[test]
fn chains_are_searched() {
    let chain = |count: usize| {
        format!(
            "coordinates(q: [3, {count}]), momenta(p: [3, {count}]),
            hamiltonian = (0..{count}).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
            constraint(anchor = q.column(0).norm_squared() - l.powi(2),
                link[i in 1..{count}] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2))"
        )
    };
    let found = |count: usize, asked| {
        let derivation = derivation(&chain(count), "struct S { m: f64, g: f64, l: f64 }");
        let Further { found, others, searched } = proofs::further(&derivation, asked);
        let searched = searched.expect("it is searched");
        let texts: Vec<String> =
            found.iter().map(|found| notation::source(&found.value, &derivation.symbols)).collect();
        (texts, others, searched.degree, searched.is_everywhere)
    };
    let momenta = (0..4).map(|i| format!("q[(0, {i})] * p[(1, {i})] - q[(1, {i})] * p[(0, {i})]"));
    assert_eq!(found(4, None), (vec![momenta.collect::<Vec<_>>().join(" + ")], 0, 2, false));
    assert_eq!(found(8, Some(1)), (Vec::new(), 0, 1, false));
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
    let bodies =
        fbint_macros_core::feedback_system(tokens(BODIES), tokens("struct S { m: f64, n: f64, o: f64, g: f64 }"));
    let bodies: String = bodies.to_string().split_whitespace().collect();
    assert!(
        bodies.contains("undeclared:&[\"u[0]+v[0]+w[0]\",\"u[1]+v[1]+w[1]\"],"),
        "linear integrals are for the table of drift"
    );
    assert!(bodies.contains("provedbyalgebra:`u[0]+v[0]+w[0]`,whichisnotdeclared"), "{bodies}");
}

#[test]
fn a_search_that_is_mistaken_is_reported_where_it_stands() {
    let rows = [
        ("search(depth = 4)", "`search` takes a degree and nothing else: `search(degree = 4)`", "depth"),
        ("search(degree = m)", "the degree of a search is an integer from 1 to 8, as in `search(degree = 4)`", "m"),
        ("search(degree = 9)", "the degree of a search is an integer from 1 to 8, as in `search(degree = 4)`", "9"),
        ("search(degree = 2, degree = 3)", "`degree` is given twice\nhelp: keep one of the two", "degree"),
    ];
    for (key, message, place) in rows {
        let (_, _, messages) = read(&format!("{KEPLER}, {key}"), OF_KEPLER);
        assert_eq!(messages, [(message.to_owned(), place.to_owned())]);
    }
    let (messages, _) = expand(&format!("{KEPLER}, search(degree = 8)"), OF_KEPLER);
    assert_eq!(
        messages,
        ["polynomials of degree 8 in the state and the functions that occur have 6434 coefficients, and a search is \
        limited to 4000\nhelp: give a lower degree"]
    );
}

/// What holds the body, and what is found beside the energy, on the constraint set or everywhere.
#[test]
fn what_constraints_keep_is_found() {
    let sleigh =
        "coordinates(x: [2], a), velocities(v: [2], w), lagrangian = m * v.norm_squared() / 2 + i * w.powi(2) / 2,
        velocity_constraint(edge = v[0] * a.sin() - v[1] * a.cos())";
    let framed = "coordinates(x: [2], a), velocities(v: [2], w),
        kinematics(x = matrix![a.cos(), -a.sin(); a.sin(), a.cos()] * v, a = w),
        lagrangian = m * v.norm_squared() / 2 + i * w.powi(2) / 2, velocity_constraint(edge = v[1])";
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
    let rows: [Row<(Conservation, &str)>; 11] = [
        (
            sleigh,
            "struct S { m: f64, i: f64 }",
            2,
            [42, 7],
            &[(EVERYWHERE, "w"), (ON_CONSTRAINTS, "v[0] + x[1] * w"), (ON_CONSTRAINTS, "v[1] - x[0] * w")],
        ),
        (
            framed,
            "struct S { m: f64, i: f64 }",
            2,
            [34, 7],
            &[
                (ON_CONSTRAINTS, "v[0]"),
                (ON_CONSTRAINTS, "x[0] * w - v[0] * a.sin()"),
                (ON_CONSTRAINTS, "x[1] * w + v[0] * a.cos()"),
            ],
        ),
        (offset, "struct S { m: f64, i: f64, l: f64 }", 2, [42, 13], &[]),
        (edge, "struct S { i: f64, s: f64 }", 2, [42, 8], &[(EVERYWHERE, "w")]),
        (
            edge,
            "struct S { i: f64, s: f64 }",
            3,
            [146, 20],
            &[
                (EVERYWHERE, "w"),
                (ON_CONSTRAINTS, "s * a.sin() - vx * w * a.cos() - vy * w * a.sin()"),
                (ON_CONSTRAINTS, "s * a - 2 * vx * w + s * a.sin() * a.cos() - 2 * y * w.powi(2)"),
            ],
        ),
        (
            disk,
            "struct S { m: f64, i: f64, j: f64, l: f64 }",
            2,
            [63, 8],
            &[
                (EVERYWHERE, "roll"),
                (ON_CONSTRAINTS, "vx + y * turn"),
                (ON_CONSTRAINTS, "vy - x * turn"),
                (EVERYWHERE, "psi * turn - phi * roll"),
            ],
        ),
        (
            ball,
            "struct S { m: f64, l: f64 }",
            2,
            [141, 15],
            &[
                (ON_CONSTRAINTS, "r[(2, 0)] * w[0] + 2 * r[(2, 1)] * w[1] + 3 * r[(2, 2)] * w[2]"),
                (ON_CONSTRAINTS, "3 * v[0] + m * l.powi(2) * v[0] - 2 * l * r[(1, 0)] * w[0] - l * r[(1, 1)] * w[1]"),
                (ON_CONSTRAINTS, "3 * v[1] + m * l.powi(2) * v[1] + 2 * l * r[(0, 0)] * w[0] + l * r[(0, 1)] * w[1]"),
            ],
        ),
        (
            neumann,
            "struct S { a: f64, b: f64, c: f64 }",
            4,
            [154, 24],
            &[(
                ON_CONSTRAINTS,
                "a.powi(2) * q[0].powi(2) - a * b * q[0].powi(2) - a * c * q[0].powi(2) + b * c * q[0].powi(2) + a * p[0].powi(2) \
                 - b * p[0].powi(2) + a * q[0].powi(2) * p[0].powi(2) - b * q[0].powi(2) * p[0].powi(2) + a * q[0].powi(2) * p[1].powi(2) \
                 - c * q[0].powi(2) * p[1].powi(2) + a * q[0].powi(2) * p[2].powi(2) - b * q[0].powi(2) * p[2].powi(2) \
                 - 2 * b * q[0] * q[1] * p[0] * p[1] + 2 * c * q[0] * q[1] * p[0] * p[1] + b * q[1].powi(2) * p[0].powi(2) \
                 - c * q[1].powi(2) * p[0].powi(2)",
            )],
        ),
        (
            ellipsoid,
            "struct S { a: f64, b: f64, c: f64 }",
            4,
            [209, 16],
            &[(
                ON_CONSTRAINTS,
                "a * c * p[0].powi(2) - b * c * p[0].powi(2) + a.powi(3) * q[0].powi(2) * p[0].powi(2) \
                 - a.powi(2) * b * q[0].powi(2) * p[0].powi(2) + a.powi(2) * b * q[0].powi(2) * p[1].powi(2) \
                 - a * b * c * q[0].powi(2) * p[1].powi(2) + a.powi(2) * c * q[0].powi(2) * p[2].powi(2) \
                 - a * b * c * q[0].powi(2) * p[2].powi(2) - 2 * a * b.powi(2) * q[0] * q[1] * p[0] * p[1] \
                 + 2 * a * b * c * q[0] * q[1] * p[0] * p[1] + a * b.powi(2) * q[1].powi(2) * p[0].powi(2) \
                 - a * b * c * q[1].powi(2) * p[0].powi(2)",
            )],
        ),
        (
            goryachev,
            "struct S { k: f64 }",
            3,
            [83, 10],
            &[
                (EVERYWHERE, "g[0].powi(2) + g[1].powi(2) + g[2].powi(2)"),
                (EVERYWHERE, "g[0] * l[0] + g[1] * l[1] + g[2] * l[2]"),
                (EVERYWHERE, "2 * k * g[0] + l[0].powi(2) + l[1].powi(2) + 4 * l[2].powi(2)"),
            ],
        ),
        (
            &on_level,
            "struct S { k: f64 }",
            3,
            [76, 8],
            &[
                (EVERYWHERE, "g[0].powi(2) + g[1].powi(2) + g[2].powi(2)"),
                (EVERYWHERE, "2 * k * g[0] + l[0].powi(2) + l[1].powi(2) + 4 * l[2].powi(2)"),
                (ON_CONSTRAINTS, "k * g[2] * l[0] - l[0].powi(2) * l[2] - l[1].powi(2) * l[2]"),
            ],
        ),
    ];
    for (attribute, item, degree, work, expected) in rows {
        let derivation = derivation(attribute, item);
        let Further { found, others, searched } = proofs::further(&derivation, Some(degree));
        let text =
            |integral: &FurtherIntegral| (integral.grade, notation::source(&integral.value, &derivation.symbols));
        let expected: Vec<(Conservation, String)> =
            expected.iter().map(|(grade, text)| (*grade, (*text).to_owned())).collect();
        assert_eq!((found.iter().map(text).collect(), others), (expected, 0), "{attribute}");
        assert_eq!(searched.map(|searched| [searched.unknowns, searched.points]), Ok(work), "{attribute}");
    }
}

/// No points modulo primes satisfy the constraints of a loop: what is conserved everywhere is found.
#[test]
fn all_states_are_searched_where_constraints_cannot_be_solved() {
    let triangle = "coordinates(a: [2], b: [2], c: [2]), momenta(u: [2], v: [2], w: [2]),
        hamiltonian = (u.norm_squared() + v.norm_squared() + w.norm_squared()) / 2,
        constraint(ab = (a - b).norm_squared() - 1, bc = (b - c).norm_squared() - 1, ca = (c - a).norm_squared() - 1)";
    let derivation = derivation(triangle, "struct S;");
    let Further { found, searched, .. } = proofs::further(&derivation, Some(2));
    assert!(searched.is_ok_and(|searched| searched.is_everywhere));
    let text = |integral: &FurtherIntegral| (integral.grade, notation::source(&integral.value, &derivation.symbols));
    let expected = ["u[0] + v[0] + w[0]", "u[1] + v[1] + w[1]"].map(|text| (EVERYWHERE, text.to_owned()));
    assert_eq!(found.iter().map(text).take(2).collect::<Vec<_>>(), expected);
    assert_eq!(found.len(), 3, "the angular momentum, too");
}
