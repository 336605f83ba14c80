//! Numbers far from 1, in declarations of any kind: they compile, and nothing is said of them that is not so.

use super::angles::{CONVENTIONS, Inverse, inverses};
use super::expansion::expand;

/// The messages for a declaration with these parameters.
fn messages(attribute: &str, fields: &str) -> Vec<String> {
    expand(attribute, &format!("struct S {{ {fields} }}")).0
}

/// The messages and the notes that a free particle in space with these further entries gets.
fn remarks(entries: &str, fields: &str) -> Vec<String> {
    found(&format!("coordinates(x, y, z), momenta(u, v, w), {entries}"), &format!("m: f64, {fields}"))
}

/// The messages and the notes for a declaration.
fn found(attribute: &str, fields: &str) -> Vec<String> {
    let (mut found, expansion) = expand(attribute, &format!("struct S {{ {fields} }}"));
    let notes = expansion.rsplit_once("\\nNotes\\n").and_then(|(_, notes)| notes.split('"').next());
    found.extend(notes.into_iter().flat_map(|notes| notes.split("\\n")).map(|note| note.trim().to_owned()));
    // What leaves the range of doubles wherever it is evaluated is not compared, which is said.
    found.retain(|note| !note.is_empty() && !note.ends_with("could be compared with the derivation"));
    found
}

const KINETIC: &str = "(u.powi(2) + v.powi(2) + w.powi(2)) / (2 * m)";

/// Every case gets no remark; all that get one are shown.
#[track_caller]
fn assert_silent<'a>(cases: &[&'a str], remarks: impl Fn(&'a str) -> Vec<String>) {
    let found = cases.iter().map(|&case| (case, remarks(case))).filter(|(_, remarks)| !remarks.is_empty());
    let found: Vec<String> = found.map(|(case, remarks)| format!("{case}\n    {}", remarks.join("\n    "))).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn energies_of_any_size_compile() {
    let cases = [
        "(x / 1e-10).powi(20)",
        "(x / 1e-20).powi(20)",
        "1e155 * (x.powi(2) + y.powi(2))",
        "1e300 * x * y + 1e-300 * x.powi(2)",
        "(1000 * x).powi(110)",
        "(x / 10).powi(400)",
        "(x / 1e30).powi(-40)",
        "(1e30 * x + 1e-30 * y).powi(12)",
        "(1e80 * (x - y)).powi(4) / 1e200",
        "(x / 1e-10).powi(20) * (y / 1e-10).powi(-20)",
        "((1e10 * x).sin() * 1e100).powi(2)",
        "1e7 * x.powi(2) + 1e-12 * x.powi(4) + 6.674e-11 * 6e24 * m / (x.powi(2) + y.powi(2)).sqrt()",
    ];
    assert_silent(&cases, |energy| remarks(&format!("hamiltonian = {KINETIC} + {energy}"), ""));
    let with = "constraint(c = x.powi(2) + y.powi(2) - a.powi(2))";
    assert_silent(&cases, |energy| remarks(&format!("hamiltonian = {KINETIC} + {energy}, {with}"), "a: f64"));
}

#[test]
fn constraints_of_any_size_compile() {
    let cases = [
        "c = (x / 1e-10).powi(20) - 1",
        "c = x.powi(2) + y.powi(2) + z.powi(2) - 1, d = (x - 1e-4).powi(2) + y.powi(2) + z.powi(2) - 1",
        "c = x.powi(2) + y.powi(2) + z.powi(2) - 1, d = (x - 1.9999).powi(2) + y.powi(2) + z.powi(2) - 1",
        "c = (x - 7).powi(2) + (y - 9).powi(2) - 1e-10",
        "c = (x - 1e9).powi(2) + y.powi(2) - 1e-18",
        "c = 1e-9 * (x - 1), d = 1e9 * (y - 2)",
        "c = x + y, d = x + y + 1e-6 * z",
        "c = x + y, d = x + y + 1e-12 * z",
        "c = x * 1e-9 + y * 1e9, d = x * 1e9 + y * 1e-9 - 1",
        "c = x.powi(2) - 1e-20",
        "c = y - (1e5 * (x - 3)).powi(2) - 1e-7",
    ];
    assert_silent(&cases, |constraint| remarks(&format!("hamiltonian = {KINETIC} + z, constraint({constraint})"), ""));
}

/// What the search for states does not reach gets a note, and compiles.
#[test]
fn what_is_out_of_reach_compiles() {
    for constraint in [
        "c = 1e155 * (x.powi(2) + y.powi(2) - 1)",
        "c = 1e-155 * (x.powi(2) + y.powi(2) - 1)",
        "c = (x / 10).powi(400) - 1",
        "c = (1000 * x).powi(110) - 1",
        "c = (x / 1e11).powi(2) + (y / 1e11).powi(2) - 1",
    ] {
        let attribute =
            format!("coordinates(x, y, z), momenta(u, v, w), hamiltonian = {KINETIC} + z, constraint({constraint})");
        assert_eq!(messages(&attribute, "m: f64"), Vec::<String>::new(), "{constraint}");
        let notes = remarks(&format!("hamiltonian = {KINETIC} + z, constraint({constraint})"), "");
        assert!(!notes.iter().any(|note| note.contains("singular")), "{constraint}: {notes:?}");
    }
}

/// Constraints of canonical systems with masses and lengths of any size, and of as many dimensions as there are: C is not said
/// to be singular, nor the Hamiltonian not to be quadratic in the momenta.
#[test]
fn kinetic_energies_of_any_size_are_quadratic() {
    let kinetic = [
        "1e-30 * (u.powi(2) + v.powi(2) + w.powi(2))",
        "1e30 * (u.powi(2) + v.powi(2) + w.powi(2))",
        "u.powi(2) / 1.2e25 + v.powi(2) / 140 + w.powi(2) / 2e-3",
        "(1e-9 * u.powi(2) + 1e9 * v.powi(2) + w.powi(2)) / (2 * m)",
        "(u.powi(2) + v.powi(2) + w.powi(2)) / (2 * m) + 1e-12 * u.powi(4)",
        "(u - 1e-8 * v).powi(2) / (2 * m) + v.powi(2) + w.powi(2)",
    ];
    let constraints = [
        "c = (x - 7).powi(2) + (y - 9).powi(2) - 1e-10",
        "c = x + y, d = x + y + 1e-6 * z",
        "c = 1e-9 * (x - 1), d = 1e9 * (y - 2)",
        "c = 1e-20 * (x - 1)",
        "c = 1e-100 * (x.powi(2) + y.powi(2) - 1)",
        "c = 1e9 * x.powi(2) + 1e-9 * y.powi(2) - 1",
    ];
    let models = kinetic.iter().flat_map(|kinetic| constraints.map(|constraint| (kinetic, constraint)));
    let models = models.map(|(kinetic, constraint)| {
        format!("coordinates(x, y, z), momenta(u, v, w), hamiltonian = {kinetic} + z, constraint({constraint})")
    });
    let models: Vec<String> = models.collect();
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    assert_silent(&models, |model| found(model, if model.contains("* m") { "m: f64" } else { "" }));
}

/// Velocities, and their reactions, that differ by less than doubles tell.
#[test]
fn lagrangian_systems_of_any_size_compile() {
    let free = "coordinates(x, y, z), velocities(u, v, w)";
    let kinetic = "lagrangian = m * (u.powi(2) + v.powi(2) + w.powi(2)) / 2 - z";
    let constraints = [
        "constraint(a = x - y, b = x - 1.000000000001 * y)",
        "constraint(a = x - y, b = x - y + 1e-13 * z)",
        "velocity_constraint(a = u - v, b = u - 1.0000000000001 * v)",
        "constraint(a = 1e-20 * (x - y)), velocity_constraint(b = 1e20 * (u + v))",
    ];
    let doubts = |attribute: &str| {
        let mut found = found(attribute, "m: f64");
        found.retain(|note| !note.contains("holonomic in disguise"));
        found
    };
    for constraint in constraints {
        assert_eq!(doubts(&format!("{free}, {kinetic}, {constraint}")), [""; 0], "{constraint}");
    }
    let close = "kinematics(x = u + v, y = u + 1.0000000000001 * v, z = w)";
    assert_eq!(doubts(&format!("{free}, {close}, {kinetic}")), [""; 0]);
    let inertias = [
        "m * ((u - v).powi(2) + 1e-13 * v.powi(2) + w.powi(2)) / 2 - x - y - z",
        "m * (u.powi(2) + 1e-30 * v.powi(2) + 1e30 * w.powi(2)) / 2 - x - y - z",
        "((m - 3) * u.powi(2) + v.powi(2) + w.powi(2)) / 2 - x - y - z",
    ];
    for inertia in inertias {
        let found = doubts(&format!("{free}, lagrangian = {inertia}"));
        assert!(
            found.iter().all(|note| note.starts_with("the mass matrix of the Lagrangian has both signs in all")),
            "{inertia}: {found:?}"
        );
        assert_eq!(found.len(), usize::from(inertia.contains("m - 3")), "{inertia}: {found:?}");
    }
    let rolling =
        "coordinates(x, y, z), momenta(p, q, r), hamiltonian = (p.powi(2) + q.powi(2) + r.powi(2)) / (2 * m) + z,
        velocity_constraint(a = rate(x) - rate(y), b = rate(x) - 1.0000000000001 * rate(y))";
    assert_eq!(doubts(rolling), [""; 0]);
}

/// Rates that differ from one another by less than what they are rounded to: projections have few right digits, and are right.
#[test]
fn rates_that_are_dependent_to_rounding_compile() {
    for (a, b) in [("1e-12", "1e-6"), ("1e-9", "1e9"), ("1", "1e5"), ("1e3", "1e12")] {
        for z in ["1e-3 * z", "1e-6 * z", "1e-9 * z", "1e-4 * (z + 3) * z", "1e-7 * z.sin()"] {
            let attribute = format!(
                "coordinates(x, y, z), momenta(u, v, w), constraint(c = x + y, d = x + y + {z}),
                 hamiltonian = ({a} * u.powi(2) + {b} * v.powi(2) + w.powi(2)) / (2 * m) + z"
            );
            assert_eq!(messages(&attribute, "m: f64"), Vec::<String>::new(), "{a}, {b}, {z}");
        }
    }
}

/// The brackets of Euler's angles with the angular momentum of a body.
#[test]
fn true_poisson_matrices_compile() {
    let body = |sine: &str, cosine: &str, sine_of_psi: &str, cosine_of_psi: &str| {
        let (s, c, sp, cp) = (sine, cosine, sine_of_psi, cosine_of_psi);
        let angles = [
            format!("{sp} / {s}, {cp} / {s}, 0"),
            format!("{cp}, -{sp}, 0"),
            format!("-{c} * {sp} / {s}, -{c} * {cp} / {s}, 1"),
        ];
        let zero = "0, 0, 0";
        let negated = [
            format!("-{sp} / {s}, -{cp}, {c} * {sp} / {s}"),
            format!("-{cp} / {s}, {sp}, {c} * {cp} / {s}"),
            "0, 0, -1".to_owned(),
        ];
        let momenta = ["0, -n, l", "n, 0, -k", "-l, k, 0"];
        let above = angles.iter().map(|row| format!("{zero}, {row}"));
        let below = negated.iter().zip(momenta).map(|(row, momenta)| format!("{row}, {momenta}"));
        above.chain(below).collect::<Vec<_>>().join("; ")
    };
    let matrices = [
        body("theta.sin()", "theta.cos()", "psi.sin()", "psi.cos()"),
        body("(2 * (theta / 2).sin() * (theta / 2).cos())", "theta.cos()", "psi.sin()", "psi.cos()"),
        body("theta.sin()", "theta.sin() / theta.tan()", "psi.sin()", "psi.cos()"),
        body(
            "theta.sin()",
            "theta.cos()",
            "(2 * (psi / 2).sin() * (psi / 2).cos())",
            "(1 - 2 * (psi / 2).sin().powi(2))",
        ),
    ];
    for matrix in matrices {
        let attribute = format!(
            "state(phi, theta, psi, k, l, n), poisson = matrix![{matrix}], \
             hamiltonian = (k.powi(2) / a + l.powi(2) / b + n.powi(2) / c) / 2 + g * theta.cos()"
        );
        assert_eq!(messages(&attribute, "a: f64, b: f64, c: f64, g: f64"), Vec::<String>::new(), "{matrix}");
    }
    let right = body("theta.sin()", "theta.cos()", "psi.sin()", "psi.cos()");
    let wrong = right.replace("0, -n, l; ", "0, n, l; ").replace("n, 0, -k", "-n, 0, -k");
    let attribute =
        format!("state(phi, theta, psi, k, l, n), poisson = matrix![{wrong}], hamiltonian = k.powi(2) + l + n");
    assert!(messages(&attribute, "").iter().any(|message| message.contains("Jacobi")));
}

/// A rigid body with any of the twelve conventions of Euler's and Tait's angles: the brackets of the angles with the body's angular
/// momentum are the inverse of E, where w = E a' is the body's angular velocity.
#[test]
fn brackets_of_angles_compile_in_every_convention() {
    for convention in CONVENTIONS {
        let [Inverse { rows, determinant }, _] = inverses(convention);
        let above = rows
            .iter()
            .map(|row| format!("0, 0, 0, {}", row.clone().map(|entry| format!("{entry} / {determinant}")).join(", ")));
        let momenta = ["0, -n, l", "n, 0, -k", "-l, k, 0"];
        let below = momenta.iter().enumerate().map(|(column, momenta)| {
            let negated = [0, 1, 2].map(|row| format!("-{} / {determinant}", rows[row][column]));
            format!("{}, {momenta}", negated.join(", "))
        });
        let matrix = above.chain(below).collect::<Vec<_>>().join("; ");
        let attribute = format!(
            "state(a, b, c, k, l, n), poisson = matrix![{matrix}], \
             hamiltonian = (k.powi(2) / p + l.powi(2) / q + n.powi(2) / r) / 2 + g * b.cos() + 0 * (a + c)"
        );
        assert_eq!(messages(&attribute, "p: f64, q: f64, r: f64, g: f64"), Vec::<String>::new(), "{convention}");
    }
}
