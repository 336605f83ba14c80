//! Which kind of system the keys declare, and whether they fit together.
//!
//! A system is canonical, with `coordinates`, `momenta` and a `hamiltonian`, or it has a `state`, whose field is either
//! given by `dynamics` or derived from `poisson` and a `hamiltonian`. Keys that exclude each other are one mistake,
//! reported at the later key; nothing is called missing in addition.

use proc_macro2::Span;
use syn::Ident;

use super::key::{Attribute, Key, Variables};
use super::plain;
use crate::diagnostics::{Errors, nearest};

/// Whether the system is canonical. Reports keys that exclude each other or are missing, and variables without a rate.
pub(super) fn decide(attribute: &mut Attribute, model: &Ident, errors: &mut Errors) -> bool {
    let canonical = is_canonical(attribute);
    set_aside(attribute, canonical);
    let compatible = compatible(attribute, errors);
    if let (Some(_), Some(span)) = (attribute.place(Key::State), attribute.place(Key::PhaseConstraint))
        && !canonical
    {
        let message = "`phase_constraint` belongs to a canonical system";
        let remedy = "beside `state`, a `constraint` is an invariant set of the field and may contain any variable";
        errors.push(span, format_args!("{message}: use `constraint`; {remedy}"));
    }
    if compatible && !canonical {
        rates(attribute, errors);
    }
    if compatible && !attribute.uncertain && !complete(attribute, canonical, model, errors) {
        (attribute.hidden_names, attribute.hidden_uses) = (true, true);
    }
    canonical
}

/// The first list of variables decides; where there is none, the way in which the field is given.
fn is_canonical(attribute: &Attribute) -> bool {
    let lists = [Key::State, Key::Coordinates, Key::Momenta];
    match attribute.seen.iter().find(|(key, _)| lists.contains(key)) {
        Some((first, _)) => *first != Key::State,
        None => attribute.place(Key::Dynamics).is_none() && attribute.place(Key::Poisson).is_none(),
    }
}

/// Variables of the other kind of system are known by name and mean nothing.
fn set_aside(attribute: &mut Attribute, canonical: bool) {
    let Attribute { coordinates, momenta, states, broken, .. } = attribute;
    let mut drop = |variables: &mut Variables| {
        broken.extend(variables.variables.drain(..).map(|variable| variable.name));
    };
    if canonical {
        drop(states);
    } else {
        drop(coordinates);
        drop(momenta);
    }
}

/// Keys that exclude each other, and what to do about them. The first pair that occurs speaks for all.
const EXCLUSIVE: [(Key, Key, &str); 8] = [
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
const KINDS: &str =
    "keep `coordinates` and `momenta` if their bracket is the canonical one, otherwise list all variables in `state`";
const CANONICAL_FIELD: &str =
    "the field of a canonical system follows from its `hamiltonian`; otherwise list all variables in `state`";

fn compatible(attribute: &Attribute, errors: &mut Errors) -> bool {
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

/// Every variable of the state has one rate, and nothing else has.
fn rates(attribute: &Attribute, errors: &mut Errors) {
    let Attribute { states, .. } = attribute;
    if attribute.place(Key::Dynamics).is_none() || states.variables.is_empty() || !states.understood {
        return;
    }
    let states: Vec<(String, Span)> =
        states.variables.iter().map(|variable| (plain(&variable.name), variable.name.span())).collect();
    let names = || states.iter().map(|(name, _)| &name[..]);
    let mut known = true;
    let mut given: Vec<String> = attribute.broken.iter().map(plain).collect();
    for rate in &attribute.dynamics {
        let name = plain(&rate.name);
        if !names().any(|state| state == name) {
            known = false;
            let message = format!("`{name}` is not a variable of the state, and only those have rates");
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
            let message = format!("`dynamics` gives no rate of the state variable `{name}`");
            errors.push(*span, format_args!("{message}: add `{name} = ..` to it"));
        }
    }
}

/// Whether nothing is missing.
fn complete(attribute: &Attribute, canonical: bool, model: &Ident, errors: &mut Errors) -> bool {
    let has = |key: Key| attribute.place(key).is_some();
    let needed = match (canonical, has(Key::Dynamics), has(Key::Poisson) || has(Key::Hamiltonian)) {
        (true, _, _) => &[Key::Coordinates, Key::Momenta, Key::Hamiltonian][..],
        (false, true, _) => &[Key::State],
        (false, false, true) => &[Key::State, Key::Poisson, Key::Hamiltonian],
        (false, false, false) => {
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
