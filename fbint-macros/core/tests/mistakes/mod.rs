//! Every message of the first two phases: one mistake each, its text, and the source text that it points at.

mod entries;
mod expressions;
mod habits;
mod systems;

use super::common;
use entries::{ENTRIES, OUTPUTS};
use expressions::EXPRESSIONS;
use systems::{DECLARATIONS, GIVEN_FIELDS, POISSON_SYSTEMS, STRUCTS};

const PHASE_SPACE: &str = "coordinates(q: [3]), momenta(p: [3])";
const HAMILTONIAN: &str = "hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2]";
const STRUCT: &str = "struct S { m: f64, g: f64 }";

/// The mistake, the source text at fault, the message.
type Case = (&'static str, &'static str, &'static str);

fn check(cases: &[Case], declaration: impl Fn(&str) -> (String, String)) {
    let mut failures = Vec::new();
    for (mistake, culprit, message) in cases {
        let (attribute, item) = declaration(mistake);
        let (_, model, messages) = common::read(&attribute, &item);
        if model.is_some() || messages != [(message.to_string(), culprit.to_string())] {
            failures.push(format!("{mistake}: {messages:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn expressions() {
    check(EXPRESSIONS, |term| (format!("{PHASE_SPACE}, hamiltonian = m * g * q.dot(&p) + {term}"), STRUCT.to_owned()));
}

#[test]
fn entries() {
    check(ENTRIES, |entry| (format!("{PHASE_SPACE}, {HAMILTONIAN}, {entry}"), STRUCT.to_owned()));
}

#[test]
fn structs() {
    check(STRUCTS, |item| (format!("{PHASE_SPACE}, {HAMILTONIAN}"), item.to_owned()));
}

#[test]
fn given_fields() {
    check(GIVEN_FIELDS, |attribute| {
        let given = "state(r: [3, 3], w: [3]), dynamics(r = r * hat(w), w = m * g * w)";
        let attribute = attribute.replace("STATE", "state(r: [3, 3], w: [3])").replace("GIVEN", given);
        (attribute, STRUCT.to_owned())
    });
}

#[test]
fn poisson_systems() {
    check(POISSON_SYSTEMS, |attribute| {
        let energy = "hamiltonian = m * g * w.norm_squared()";
        let attribute = attribute.replace("LIE_POISSON", "state(w: [3]), poisson = hat(w)").replace("ENERGY", energy);
        (attribute, STRUCT.to_owned())
    });
}

#[test]
fn outputs() {
    let model = "coordinates(q: [6]), momenta(p: [6]), hamiltonian = m * g * p.norm_squared(),
        constraint(rod = q[0], link[i in 1..3] = q[i], joint = vector![q[3], q[4]]),
        phase_constraint(stop = q[5], slip = p[5]), invariant(spin = p[0])";
    check(OUTPUTS, |entry| (format!("{model}, {entry}"), STRUCT.to_owned()));
}

#[test]
fn declarations() {
    check(DECLARATIONS, |attribute| {
        let attribute = attribute.replace("PHASE_SPACE", PHASE_SPACE).replace("HAMILTONIAN", HAMILTONIAN);
        (attribute, STRUCT.to_owned())
    });
}

#[test]
fn four_mistakes_give_four_messages() {
    let attribute = "coordinates(q: [3]), momenta(p: [2]), hamiltonian = qq[0] + m * g + q.norm(),
        constraint(a = p[1]), lagrange = 1";
    let (declaration, model, messages) = common::read(attribute, STRUCT);
    assert!(declaration.is_some() && model.is_none());
    let culprits: Vec<&str> = messages.iter().map(|(_, culprit)| &culprit[..]).collect();
    assert_eq!(culprits, ["lagrange", "p", "qq", "p"]);

    let attribute = "state(r: [3, 3], w: [3]), dynamics(r = w, ww = m), invariant(a = g),
        constraint(b = c[0]), output(f = multiplier(b), f = w.norm())";
    let (_, _, messages) = common::read(attribute, STRUCT);
    let culprits: Vec<&str> = messages.iter().map(|(_, culprit)| &culprit[..]).collect();
    assert_eq!(culprits, ["ww", "f", "w", "c", "a", "multiplier"]);

    // In one list, each entry is recovered by itself, and what depends on a mistake is silent.
    let attribute = "coordinates(q: [3], w: 4), momenta(p: [3], v: [4]),
        hamiltonian = p.norm_squared() / m + w[9] + g * n + e.x, define(e = q + m, f = 2 ^ e, c = d, d = c)";
    let (_, _, messages) = common::read(attribute, "struct S { m: f64, g: f64, n: String }");
    let culprits: Vec<&str> = messages.iter().map(|(_, culprit)| &culprit[..]).collect();
    assert_eq!(culprits, [": 4", "^", "String", "+", "c"]);
}
