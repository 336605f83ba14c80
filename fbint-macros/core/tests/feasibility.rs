//! Constraints that cannot hold, or not independently, and functions that are defined nowhere: what is refused, what is
//! noted, and what is unusual and must be neither.

use super::expansion::expand;

/// The messages for a canonical system of two coordinates with these further entries, and what they expand to.
fn compile(entries: &str) -> (Vec<String>, String) {
    let attribute =
        format!("coordinates(x, y), momenta(u, v), hamiltonian = (u.powi(2) + v.powi(2)) / (2 * m), {entries}");
    let used = ["a", "b", "c"].into_iter().filter(|name| {
        let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let mut places = entries.match_indices(name);
        places.any(|(at, _)| !is_letter(entries[..at].chars().last()) && !is_letter(entries[at + 1..].chars().next()))
    });
    let fields: String = used.map(|name| format!(", {name}: f64")).collect();
    expand(&attribute, &format!("struct S {{ m: f64{fields} }}"))
}

fn messages(entries: &str) -> Vec<String> {
    compile(entries).0
}

#[test]
fn faults_are_named() {
    for (entries, beginning) in FAULTS {
        let messages = messages(entries);
        assert!(messages.len() == 1 && messages[0].starts_with(beginning), "{entries}: {messages:#?}");
    }
}

/// A force, or the time, changes the form of the field, and nothing of what is said.
#[test]
fn faults_of_driven_systems_are_named_alike() {
    let clock = ", time(t), force(u = t.sin())";
    let commuting =
        "the matrix C of the constraints' Poisson brackets is singular everywhere: `f` commutes with every other";
    for (entries, beginning) in FAULTS.iter().chain(&[
        ("phase_constraint(f = x, g = y)", commuting),
        ("phase_constraint(f = u + v, g = u - v)", commuting),
        (
            "phase_constraint(f = x - a, g = y, h = u.powi(2), k = x + y)",
            "the matrix C of the constraints' Poisson brackets is singular",
        ),
    ]) {
        for driven in [", force(u = -u)", clock] {
            let messages = messages(&format!("{entries}{driven}"));
            assert!(messages.len() == 1 && messages[0].starts_with(beginning), "{entries}{driven}: {messages:#?}");
        }
    }
}

/// Mistaken entries, and how their messages begin.
const FAULTS: &[(&str, &str)] = &[
    (
        "constraint(f = x - a, g = x - b)",
        "the matrix C of the constraints' Poisson brackets is singular everywhere: `f`, `g` contradict one another",
    ),
    (
        "constraint(f = x - a, g = 2 * x - 2 * a)",
        "the matrix C of the constraints' Poisson brackets is singular everywhere: `f`, `g` depend on one another",
    ),
    ("constraint(f = x * y - a, g = x)", "`f`, `g` contradict one another: no state satisfies all of them"),
    (
        "constraint(f = x - a, g = (x - a) * (y.powi(2) + 1))",
        "the matrix C of the constraints' Poisson brackets is singular wherever the constraints hold: `f`, `g` depend",
    ),
    ("constraint(f = x.powi(2) + y.powi(2) + 1)", "`f` is positive in every state, so it is never 0"),
    ("constraint(f = 2 + x.sin() * y.cos() + x * x)", "`f` is positive in every state, so it is never 0"),
    ("constraint(f = x.powi(2) + y.powi(2) + a.powi(2))", "`f` is never negative, so that its gradient vanishes"),
    ("constraint(f = -x.powi(2) - y.powi(2) - a.powi(2))", "`f` is never positive, so that its gradient vanishes"),
    ("constraint(f = -(x * a).exp() - 1)", "`f` is negative in every state, so it is never 0"),
    ("constraint(f = (x.powi(2) + y.powi(2) - a.powi(2)).powi(2))", "the gradient of `f` vanishes wherever `f` does"),
    ("constraint(f = (x - a).powi(3))", "the gradient of `f` vanishes wherever `f` does"),
    ("constraint(f = a * (x.powi(2) + y.powi(2)).sqrt())", "`f` is a root, which has no derivative where it vanishes"),
    ("constraint(f = (x - a).abs())", "`f` is a root, which has no derivative where it vanishes"),
    ("constraint(f = x - (-1 - y.powi(2)).sqrt())", "`f` is defined nowhere: it takes a root or a real power"),
    ("output(f = x + (-a.powi(2) - y.powi(2)).ln())", "`f` is defined nowhere: it takes the logarithm"),
    ("invariant(f = (u.powi(2) + 2).acos())", "`f` is defined nowhere: it takes the arcsine or arccosine"),
    ("output(f = x * (2.sin() - 1).sqrt())", "`f` is defined nowhere: it takes a root or a real power"),
    ("output(f = x + (2.sin() - 1).ln())", "`f` is defined nowhere: it takes the logarithm"),
    ("output(f = x + 2.cosh().asin())", "`f` is defined nowhere: it takes the arcsine or arccosine"),
];

/// Each looks like one of the above to a search that is too narrow.
#[test]
fn what_is_merely_unusual_is_no_mistake() {
    for entries in [
        "constraint(f = (x.powi(2) + y.powi(2)).sqrt() - a)",
        "constraint(f = a.sqrt() * x - y)",
        "constraint(f = x.powi(2) + y.powi(2) - (a.powi(2) - 4 * b.powi(2)))",
        "constraint(f = x.powi(2) + y.powi(2) - a.powi(2) / 1000000)",
        "constraint(f = (x - 1000).powi(2) + y.powi(2) - 1 / 10000)",
        "constraint(f = (10 * x).exp() - 1 / 1000000 - a * y / 1000000000)",
        "constraint(f = (x - 100000).ln() - y)",
        "constraint(f = (a.powi(2) - 100 * b.powi(2)).sqrt() * x - y)",
        "constraint(f = x - a, g = y.powi(3) - b)",
        "constraint(f = x.powi(3) - 3 * x * y.powi(2) - a)",
        "constraint(f = x.powi(2) + y.powi(2) - 1, g = (x - 5).powi(2) + y.powi(2) - 1)",
        "constraint(f = x.powi(2) + y.powi(2) - a.powi(2), g = (x - b).powi(2) + y.powi(2) - c.powi(2))",
        "constraint(f = x.sin() - a * y)",
        "phase_constraint(f = x * u + y * v, g = x.powi(2) + y.powi(2) - a)",
        "output(f = (x - 1000000).ln() + (1 / 1000000 - y.powi(2)).sqrt())",
    ] {
        let messages = messages(entries);
        assert!(messages.is_empty(), "{entries}: {messages:#?}");
    }
}

/// Each is right, somewhere that the search does not look: it compiles, and the documentation says what was not found.
#[test]
fn what_was_not_found_is_noted() {
    let nowhere = "no state was found in which";
    for (entries, notes) in [
        (
            "output(f = (x - 30).ln() + (20 - x).ln() + (x - 50).acos())",
            vec!["no state was found in which the generated"],
        ),
        ("constraint(f = (x - 50).acos() - y)", vec!["no state was found that satisfies `f`", nowhere]),
        ("constraint(f = x - (1 - (y - 100).powi(2)).sqrt(), g = y - 100)", vec![nowhere]),
        ("constraint(f = x.powi(4) - x.powi(3) * 200 + 30000000 + y.sin())", vec![]),
        ("constraint(f = x - (y - 1000).exp() - 1)", vec![]),
        // For a = 2, for instance.
        ("output(f = x + (y.sin() - 1).powf(a))", vec![nowhere]),
        ("constraint(f = x.powf(a) + 1)", vec![]),
        ("constraint(f = (x - 2).powf(a) * (y.powi(2) + 1) + 1)", vec![]),
        ("constraint(f = x * x.abs() - x.powi(2) + (y + 60) * (x * x.abs() - x.powi(2) - 1))", vec![]),
        (
            "constraint(f = (x - a).powi(2) * (x - a - 50))",
            vec!["the gradient of `f` vanishes in all states that were found"],
        ),
    ] {
        let (messages, expansion) = compile(entries);
        assert!(messages.is_empty(), "{entries}: {messages:#?}");
        for note in notes {
            assert!(expansion.contains(note), "{entries}: {note}:\n{}", documentation(&expansion));
        }
    }
}

/// The lines of an expansion that tell of states.
fn documentation(expansion: &str) -> String {
    expansion.split("\\n").filter(|line| line.contains("state")).collect::<Vec<_>>().join("\n")
}

/// A Hamiltonian that is defined far away: nothing can be compared or tested, and the model compiles nevertheless.
#[test]
fn a_model_that_no_state_was_found_for_compiles() {
    for hamiltonian in ["p.powi(2) / 2 + (q - 50).acos()", "p.powi(2) / 2 - (1 - (q - 100).powi(2)).sqrt()"] {
        let attribute =
            format!("coordinates(q), momenta(p), hamiltonian = {hamiltonian}, invariant(i = 2 * ({hamiltonian}))");
        let (messages, expansion) = expand(&attribute, "struct S {}");
        assert!(messages.is_empty(), "{hamiltonian}: {messages:#?}");
        for note in ["no state was found in which the generated `vector_field`", "everywhere, proved by algebra: `i`"] {
            assert!(expansion.contains(note), "{hamiltonian}: {note}: {}", documentation(&expansion));
        }
    }
}

/// What is false is refuted far away, too.
#[test]
fn what_is_defined_far_away_is_refuted_there() {
    for hamiltonian in ["p.powi(2) / 2 + (q - 50).acos()", "p.powi(2) / 2 - (1 - (q - 100).powi(2)).sqrt()"] {
        let attribute = format!("coordinates(q), momenta(p), hamiltonian = {hamiltonian}, invariant(i = p)");
        let (messages, _) = expand(&attribute, "struct S {}");
        assert!(messages.len() == 1 && messages[0].starts_with("`i` is not conserved: d/dt = "), "{messages:?}");
    }
}

/// A Poisson matrix whose identities hold by a relation that simplification does not know.
#[test]
fn what_is_not_simplified_is_not_refuted() {
    let entry = "(a.sin().powi(2) + a.cos().powi(2))";
    let double = "(2 * z.cos() * z.sin() - (2 * z).sin())";
    for matrix in [format!("matrix![0, {entry}; -1, 0]"), format!("matrix![0, 1; {double} - 1, 0]")] {
        let attribute = format!("state(y, z), poisson = {matrix}, hamiltonian = y.powi(2) + a * z.powi(2)");
        let (messages, _) = expand(&attribute, "struct S { a: f64 }");
        assert!(messages.is_empty(), "{matrix}: {messages:#?}");
    }
    let attribute =
        "state(y, z), poisson = matrix![0, 1; z.sin() / 1000000000000000 - 1, 0], hamiltonian = y.powi(2) + z.powi(2)";
    let (messages, _) = expand(attribute, "struct S {}");
    assert!(messages.len() == 1 && messages[0].contains("not antisymmetric"), "{messages:#?}");
}

/// Constraints that are nearly dependent: rounding is large there, and no proof that the generated code is wrong.
#[test]
fn badly_conditioned_constraints_are_no_mistake() {
    for divisor in [1, 10, 100, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000] {
        for constraints in [
            format!("f = x, g = x + y / {divisor}"),
            format!("f = x.powi(2) + y.powi(2) - a, g = x.powi(2) + y.powi(2) + (z.powi(3) - 1) / {divisor} - a"),
            format!(
                "f = x.powi(2) + y.powi(2) - a, g = y * z - (x - a).powi(2), h = y * z - (x - a).powi(2) + (z - a) / {divisor}"
            ),
        ] {
            let attribute = format!(
                "coordinates(x, y, z), momenta(u, v, w), constraint({constraints}),
                 hamiltonian = (u.powi(2) + v.powi(2) + w.powi(2)) / (2 * a) + y * z"
            );
            let (messages, _) = expand(&attribute, "struct S { a: f64 }");
            assert!(messages.is_empty(), "{constraints}: {messages:#?}");
        }
    }
}
