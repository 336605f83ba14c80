//! Which kind of system the keys declare, and whether they fit together.
//!
//! A system is one of these:
//!
//! - canonical, with `coordinates`, `momenta` and a `hamiltonian`;
//! - Lagrangian, with `coordinates`, `velocities` and a `lagrangian`;
//! - any other, with a `state` whose field is given by `dynamics`, or derived from `poisson` and a `hamiltonian`.
//!
//! Keys that exclude each other are one mistake, reported at the later key; nothing is called missing in addition.

use proc_macro2::Span;
use syn::Ident;

use super::key::{Attribute, Key, Variables};
use super::{Named, System, nearest, plain};
use crate::diagnostics::Errors;

/// The kind of the system. Reports keys that exclude each other or are missing, and variables without a rate.
pub(super) fn decide(attribute: &mut Attribute, model: &Ident, errors: &Errors) -> System {
    let system = kind(attribute);
    set_aside(attribute, system);
    let compatible = compatible(attribute, errors);
    if compatible {
        misplaced(attribute, system, errors);
        match system {
            System::State => rates(attribute, errors),
            System::Lagrangian => kinematics(attribute, errors),
            System::Canonical => {}
        }
    }
    if compatible && !attribute.uncertain && !complete(attribute, system, model, errors) {
        (attribute.hidden_names, attribute.hidden_uses) = (true, true);
    }
    system
}

/// The kind of a system, from the first list of variables, or from the keys that only one kind of system has.
fn kind(attribute: &Attribute) -> System {
    let has = |key: Key| attribute.place(key).is_some();
    let lists = [Key::State, Key::Coordinates, Key::Momenta, Key::Velocities];
    let first = attribute.seen.iter().find(|(key, _)| lists.contains(key)).map(|(first, _)| *first);
    let is_state = match first {
        Some(first) => first == Key::State,
        None => has(Key::Dynamics) || has(Key::Poisson),
    };
    let is_lagrangian = has(Key::Velocities) || has(Key::Lagrangian) || has(Key::Kinematics);
    match (is_state, is_lagrangian) {
        (true, _) => System::State,
        (false, true) => System::Lagrangian,
        (false, false) => System::Canonical,
    }
}

/// Makes variables of the other kinds of system known by name, without a meaning.
fn set_aside(attribute: &mut Attribute, system: System) {
    let Attribute { coordinates, momenta, velocities, states, broken, .. } = attribute;
    let mut drop = |variables: &mut Variables| {
        broken.extend(variables.variables.drain(..).map(|variable| variable.name));
    };
    match system {
        System::Canonical => [states, velocities].into_iter().for_each(&mut drop),
        System::Lagrangian => [states, momenta].into_iter().for_each(&mut drop),
        System::State => [coordinates, momenta, velocities].into_iter().for_each(&mut drop),
    }
}

/// Keys that exclude each other, and what to do about them. The first pair that occurs speaks for all.
const EXCLUSIVE: [(Key, Key, &str); 20] = [
    (Key::Momenta, Key::Lagrangian, LAGRANGIAN),
    (Key::Momenta, Key::Velocities, LAGRANGIAN),
    (Key::Momenta, Key::Kinematics, LAGRANGIAN),
    (Key::Hamiltonian, Key::Lagrangian, ENERGIES),
    (Key::Hamiltonian, Key::Velocities, ENERGIES),
    (Key::Dynamics, Key::Lagrangian, LAGRANGIAN_FIELD),
    (Key::Poisson, Key::Lagrangian, LAGRANGIAN_FIELD),
    (Key::State, Key::Lagrangian, LAGRANGIAN_STATE),
    (Key::State, Key::Velocities, LAGRANGIAN_STATE),
    (Key::State, Key::Kinematics, LAGRANGIAN_STATE),
    (Key::Dynamics, Key::Kinematics, LAGRANGIAN_FIELD),
    (Key::Hamiltonian, Key::Kinematics, ENERGIES),
    (Key::State, Key::Coordinates, KINDS),
    (Key::State, Key::Momenta, KINDS),
    (Key::Dynamics, Key::Coordinates, CANONICAL_FIELD),
    (Key::Dynamics, Key::Momenta, CANONICAL_FIELD),
    (Key::Poisson, Key::Coordinates, CANONICAL_FIELD),
    (Key::Poisson, Key::Momenta, CANONICAL_FIELD),
    (
        Key::Dynamics,
        Key::Poisson,
        "`dynamics` gives the field itself, `poisson` derives it from a `hamiltonian`; keep one of them",
    ),
    (
        Key::Dynamics,
        Key::Hamiltonian,
        "`dynamics` gives the field itself; drop `hamiltonian` and declare the energy as an `invariant`",
    ),
];
const LAGRANGIAN: &str = "a Lagrangian is a function of coordinates and `velocities`; the momenta follow from it";
const ENERGIES: &str = "the energy of a Lagrangian system follows from its `lagrangian`; keep `hamiltonian` with `momenta`, or \
                        `lagrangian` with `velocities`";
const LAGRANGIAN_FIELD: &str = "the field of a Lagrangian system follows from its `lagrangian`; keep one of them";
const LAGRANGIAN_STATE: &str = "a Lagrangian system has `coordinates` and `velocities`";
const KINDS: &str =
    "keep `coordinates` and `momenta` if their bracket is the canonical one, otherwise list all variables in `state`";
const CANONICAL_FIELD: &str =
    "the field of a canonical system follows from its `hamiltonian`; otherwise list all variables in `state`";

fn compatible(attribute: &Attribute, errors: &Errors) -> bool {
    for (one, other, remedy) in EXCLUSIVE {
        let place = |key: Key| attribute.seen.iter().position(|(seen, _)| *seen == key);
        let (Some(one), Some(other)) = (place(one), place(other)) else { continue };
        let ((earlier, _), (later, span)) = (attribute.seen[one.min(other)], attribute.seen[one.max(other)]);
        let (earlier, later) = (earlier.name(), later.name());
        errors.push(span, format_args!("`{later}` cannot stand beside `{earlier}`: {remedy}"));
        return false;
    }
    true
}

/// Reports constraints of a kind that the system cannot have.
fn misplaced(attribute: &mut Attribute, system: System, errors: &Errors) {
    if let Some(span) = attribute.place(Key::PhaseConstraint) {
        let message = "`phase_constraint` belongs to a canonical system";
        match system {
            System::Canonical => {
                if let Some(span) = attribute.place(Key::VelocityConstraint) {
                    let message = "`velocity_constraint` cannot stand beside `phase_constraint`";
                    errors.push(
                        span,
                        format_args!("{message}: a reaction holds the one, and a bracket the other; keep one kind"),
                    );
                }
            }
            System::Lagrangian => {
                let remedy =
                    "a relation among velocities is a `velocity_constraint`, and one among coordinates a `constraint`";
                errors.push(span, format_args!("{message}: {remedy}"));
            }
            System::State => {
                let remedy =
                    "beside `state`, a `constraint` is an invariant set of the field and may contain any variable";
                errors.push(span, format_args!("{message}: use `constraint`; {remedy}"));
            }
        }
    }
    if let Some(span) = attribute.place(Key::VelocityConstraint).filter(|_| system == System::State) {
        let message = "a `state` has no velocities";
        let remedy = "declare `coordinates` and `velocities`, or write its reactions into `dynamics`";
        errors.push(span, format_args!("{message}: {remedy}"));
        attribute.broken.extend(attribute.velocity_constraints.drain(..).map(|constraint| constraint.name));
        attribute.hidden_uses = true;
    }
}

/// Checks that every variable of the state has one rate, and that nothing else has a rate.
fn rates(attribute: &Attribute, errors: &Errors) {
    let texts = Rates {
        key: Key::Dynamics,
        unknown: "is not a variable of the state, and only those have rates",
        missing: |name| format!("`dynamics` gives no rate of the state variable `{name}`: add `{name} = ..` to it"),
    };
    texts.hold(attribute, &attribute.dynamics, &attribute.states, errors);
}

/// Checks, where rates are given, that every coordinate has one, and that nothing else has a rate.
fn kinematics(attribute: &Attribute, errors: &Errors) {
    let texts = Rates {
        key: Key::Kinematics,
        unknown: "is not a coordinate, and `kinematics` gives only the rates of coordinates",
        missing: |name| format!("`kinematics` does not give the rate of the coordinate `{name}`: add `{name} = ..`"),
    };
    texts.hold(attribute, &attribute.kinematics, &attribute.coordinates, errors);
}

/// The wording of messages about rates.
struct Rates {
    /// The key that gives them.
    key: Key,
    unknown: &'static str,
    missing: fn(&str) -> String,
}

impl Rates {
    /// Reports rates of nothing, rates that are given twice and rates that are missing.
    fn hold(&self, attribute: &Attribute, given: &[Named], of: &Variables, errors: &Errors) {
        if attribute.place(self.key).is_none() || of.variables.is_empty() || !of.understood {
            return;
        }
        let states: Vec<(String, Span)> =
            of.variables.iter().map(|variable| (plain(&variable.name), variable.name.span())).collect();
        let names = || states.iter().map(|(name, _)| &name[..]);
        let mut known = true;
        let rates = given;
        let mut given: Vec<String> = attribute.broken.iter().map(plain).collect();
        for rate in rates {
            let name = plain(&rate.name);
            if !names().any(|state| state == name) {
                known = false;
                let message = format!("`{name}` {}", self.unknown);
                match nearest(&name, names()) {
                    Some(near) => errors.push(rate.name.span(), format_args!("{message}; did you mean `{near}`?")),
                    None => {
                        let list: Vec<String> = names().map(|state| format!("`{state}`")).collect();
                        errors.push(rate.name.span(), format_args!("{message}: {}", list.join(", ")));
                    }
                }
            } else if given.contains(&name) {
                errors.push(rate.name.span(), format_args!("the rate of `{name}` is given twice: keep one of the two"));
            }
            given.push(name);
        }
        // An unknown name may stand for the one that is missing.
        if known && !attribute.uncertain && !attribute.hidden_uses {
            for (name, span) in states.iter().filter(|(name, _)| !given.contains(name)) {
                errors.push(*span, (self.missing)(name));
            }
        }
    }
}

/// Returns `true` if nothing is missing.
fn complete(attribute: &Attribute, system: System, model: &Ident, errors: &Errors) -> bool {
    let has = |key: Key| attribute.place(key).is_some();
    let needed = match (system, has(Key::Dynamics), has(Key::Poisson) || has(Key::Hamiltonian)) {
        (System::Canonical, _, _) => &[Key::Coordinates, Key::Momenta, Key::Hamiltonian][..],
        (System::Lagrangian, _, _) => &[Key::Coordinates, Key::Velocities, Key::Lagrangian],
        (System::State, true, _) => &[Key::State],
        (System::State, false, true) => &[Key::State, Key::Poisson, Key::Hamiltonian],
        (System::State, false, false) => {
            let message = "nothing says how this state changes";
            let remedy = "give its field by `dynamics(x = expression)`, or derive it by `poisson = hat(x)` and a \
                          `hamiltonian`";
            errors
                .push(attribute.place(Key::State).unwrap_or_else(|| model.span()), format_args!("{message}: {remedy}"));
            return false;
        }
    };
    let missing: Vec<&Key> = needed.iter().filter(|key| !has(**key)).collect();
    if !missing.is_empty() {
        let quoted = |text: fn(Key) -> &'static str| {
            missing.iter().map(|key| format!("`{}`", text(**key))).collect::<Vec<_>>().join(", ")
        };
        let message =
            format!("the model `{model}` lacks {}: add something like {}", quoted(Key::name), quoted(Key::usage));
        errors.push(model.span(), message);
    }
    missing.is_empty()
}
