//! Constraints that cannot hold, or not independently, and functions that are defined nowhere: what is refused, and what
//! is unusual and must not be.
#![allow(missing_docs)]

use proc_macro2::TokenTree;

/// The messages for a canonical system of two coordinates with these further entries.
fn messages(entries: &str) -> Vec<String> {
    let attribute =
        format!("coordinates(x, y), momenta(u, v), hamiltonian = (u.powi(2) + v.powi(2)) / (2 * m), {entries}");
    let used = ["a", "b", "c"].into_iter().filter(|name| {
        let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let mut places = entries.match_indices(name);
        places.any(|(at, _)| !is_letter(entries[..at].chars().last()) && !is_letter(entries[at + 1..].chars().next()))
    });
    let fields: String = used.map(|name| format!(", {name}: f64")).collect();
    let item = format!("struct S {{ m: f64{fields} }}");
    let mut found = Vec::new();
    let mut previous = String::new();
    for token in fbint_macros_core::feedback_system(attribute.parse().unwrap(), item.parse().unwrap()) {
        match token {
            TokenTree::Group(group) if previous == "!" => {
                found.extend(syn::parse2::<syn::LitStr>(group.stream()).map(|text| text.value()));
                previous.clear();
            }
            token => previous = token.to_string(),
        }
    }
    found
}

#[test]
fn faults_are_named() {
    for (entries, beginning) in [
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
        ("constraint(f = x.powi(2) + y.powi(2) + a.powi(2))", "`f` is positive in every state, so it is never 0"),
        ("constraint(f = -(x * a).exp() - 1)", "`f` is negative in every state, so it is never 0"),
        (
            "constraint(f = (x.powi(2) + y.powi(2) - a.powi(2)).powi(2))",
            "the gradient of `f` vanishes wherever `f` does",
        ),
        ("constraint(f = (x - a).powi(3))", "the gradient of `f` vanishes wherever `f` does"),
        (
            "constraint(f = a * (x.powi(2) + y.powi(2)).sqrt())",
            "`f` is a root, which has no derivative where it vanishes",
        ),
        ("constraint(f = (x - a).abs())", "`f` is a root, which has no derivative where it vanishes"),
        ("constraint(f = x - (-1 - y.powi(2)).sqrt())", "`f` is defined nowhere: it takes a root or a real power"),
        ("output(f = x + (-a.powi(2) - y.powi(2)).ln())", "`f` is defined nowhere: it takes the logarithm"),
        ("invariant(f = (u.powi(2) + 2).acos())", "`f` is defined nowhere: it takes the arcsine or arccosine"),
    ] {
        let messages = messages(entries);
        assert!(messages.len() == 1 && messages[0].starts_with(beginning), "{entries}: {messages:#?}");
    }
}

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
