//! Which formalism the keys declare, and whether they fit together.
//!
//! A system is one of these:
//!
//! - canonical, with `coordinates`, `momenta` and a `hamiltonian`;
//! - Lagrangian, with `coordinates`, `velocities` and a `lagrangian`;
//! - any other, with a `state` whose field is given by `dynamics`, or derived from `poisson` and a `hamiltonian`.
//!
//! Keys that exclude each other are one mistake, reported at the later key; nothing is called missing in addition.

use proc_macro2::Span;
use syn::{Expr, Ident};

use super::{
    AttributeKey, Declaration, ENERGY_BALANCE, Formalism, NamedExpression, Shape, TIME, Variable, WORK, did_you_mean,
    plain, words,
};
use crate::syntax::diagnostics::Errors;

/// Decides on the formalism. Reports keys that exclude each other or are missing.
pub(super) fn decide(declaration: &mut Declaration, errors: &Errors) {
    declaration.formalism = formalism(declaration);
    for &key in AttributeKey::ALL {
        if !key.row().formalisms.contains(&declaration.formalism) {
            declaration.set_aside(key);
        }
    }
    if !is_compatible(declaration, errors) {
        declaration.hidden_uses = true;
        return;
    }
    misplaced(declaration, errors);
    if !declaration.hidden_uses && !is_complete(declaration, errors) {
        (declaration.hidden_names, declaration.hidden_uses) = (true, true);
    }
}

/// The formalism that all keys allow; a key that excludes an earlier one has no say.
fn formalism(declaration: &Declaration) -> Formalism {
    let mut possible = Formalism::ALL.to_vec();
    for (key, _) in declaration.seen.iter().filter(|(key, _)| key.decides()) {
        let allowed = key.row().formalisms;
        if possible.iter().any(|formalism| allowed.contains(formalism)) {
            possible.retain(|formalism| allowed.contains(formalism));
        }
    }
    possible[0]
}

/// The keys that declare a system.
const KINDS: &str = "a system has `coordinates`, `momenta` and a `hamiltonian`, or `coordinates`, `velocities` and a `lagrangian`, or a \
                     `state` with `poisson` and a `hamiltonian`, or a `state` with `dynamics`, whose energy is an `invariant`";

/// Reports the first key that no formalism has together with an earlier one.
fn is_compatible(declaration: &Declaration, errors: &Errors) -> bool {
    let seen = &declaration.seen;
    for (place, (later, span)) in seen.iter().enumerate() {
        if let Some((earlier, _)) = seen[..place].iter().find(|(earlier, _)| exclude(*earlier, *later)) {
            let (later, earlier) = (later.name(), earlier.name());
            errors.push(*span, format_args!("`{later}` cannot stand beside `{earlier}`: {KINDS}"));
            return false;
        }
    }
    true
}

/// Returns `true` if keys exclude each other: both decide on the formalism, and have none in common.
fn exclude(one: AttributeKey, other: AttributeKey) -> bool {
    let is_shared = one.row().formalisms.iter().any(|formalism| other.row().formalisms.contains(formalism));
    !is_shared && one.decides() && other.decides()
}

/// Adds what the state of a driven system has in addition: inputs depend on the time, and whatever acts from outside does work on a system
/// that has an energy.
pub(super) fn add_variables(declaration: &mut Declaration) {
    let named = |name: &str, span: Span| Variable { name: Ident::new(name, span), shape: Shape::Scalar };
    if !declaration.has(AttributeKey::Time) {
        declaration.time = declaration.occurrence(AttributeKey::Input).map(|span| named(TIME, span));
    }
    if declaration.has_energy() {
        let driving = [AttributeKey::Force, AttributeKey::Input, AttributeKey::Time];
        let driving = driving.into_iter().find_map(|key| declaration.occurrence(key));
        declaration.work = driving.map(|span| named(WORK, span));
    }
}

/// Adds the work that moving velocity constraints do. Returns `false` if it clashes with a name, which is reported.
pub(crate) fn add_work(declaration: &mut Declaration, errors: &Errors) -> bool {
    let span = declaration.place(AttributeKey::VelocityConstraint);
    let is_taken = |name: &&Ident| plain(name) == WORK || plain(name) == ENERGY_BALANCE;
    let variables = declaration.variables().map(|(_, variable)| variable).chain(&declaration.parameters);
    let others = declaration.named().filter(|(key, _)| key.meaning().is_some()).map(|(_, named)| &named.name);
    if let Some(name) = variables.map(|variable| &variable.name).chain(others).find(is_taken) {
        let message =
            format!("`{name}` is a name that the balance of energy and work needs: a velocity constraint here moves");
        errors.push(name.span(), format!("{message}, and does work\nhelp: choose another name"));
        return false;
    }
    declaration.work = Some(Variable { name: Ident::new(WORK, span), shape: Shape::Scalar });
    true
}

/// Reports keys that have no meaning in this formalism, and constraints of two kinds.
fn misplaced(declaration: &Declaration, errors: &Errors) {
    for &key in AttributeKey::ALL {
        let row = key.row();
        if let (Some(span), Some(advice)) = (declaration.occurrence(key), row.elsewhere)
            && !row.formalisms.contains(&declaration.formalism)
        {
            errors.push(span, advice);
        }
    }
    if let Some(span) = declaration.occurrence(AttributeKey::VelocityConstraint)
        && declaration.formalism == Formalism::Canonical
        && declaration.has(AttributeKey::PhaseConstraint)
    {
        let message = "`velocity_constraint` cannot stand beside `phase_constraint`";
        errors.push(
            span,
            format_args!("{message}: a reaction holds the one, and a bracket the other\nhelp: keep one kind"),
        );
    }
}

/// Checks what keys give of whole variables: nothing twice, nothing of other names, and something of each, but for forces.
pub(super) fn values(declaration: &mut Declaration, errors: &Errors) {
    let has_hidden_uses = misses_values(declaration, errors);
    declaration.hidden_uses |= has_hidden_uses;
}

/// See [`values`].
fn misses_values(declaration: &Declaration, errors: &Errors) -> bool {
    let Declaration { coordinates, momenta, velocities, states, parameters, formalism, .. } = declaration;
    let (along, partner) = match formalism {
        Formalism::Lagrangian => (velocities, "a velocity"),
        _ => (momenta, "a momentum"),
    };
    let values: [(_, _, Vec<&Variable>); 5] = [
        (AttributeKey::Dynamics, "a variable of the state", states.iter().collect()),
        (AttributeKey::Kinematics, "a coordinate", coordinates.iter().collect()),
        (AttributeKey::Force, partner, along.iter().collect()),
        (AttributeKey::Default, "a parameter", parameters.iter().collect()),
        (AttributeKey::Start, "a variable with a start", declaration.starting_variables().collect()),
    ];
    let values = values.into_iter().filter(|(key, ..)| declaration.has(*key));
    values.fold(false, |misses, (key, kind, of)| values_of((key, kind), &of, declaration, errors) || misses)
}

/// Reports values of nothing, values that are given twice and values that are missing, where a key gives values `of` variables of a kind.
/// Returns `true` if a missing one might use what else is declared.
fn values_of((key, kind): (AttributeKey, &str), of: &[&Variable], declaration: &Declaration, errors: &Errors) -> bool {
    let names: Vec<String> = of.iter().map(|variable| plain(&variable.name)).collect();
    let is_force = key == AttributeKey::Force;
    let mut may_miss = !is_force && !declaration.hidden_uses;
    let broken: Vec<String> = declaration.broken.iter().map(plain).collect();
    let mut given: Vec<String> = Vec::new();
    for (_, NamedExpression { name: word, .. }) in declaration.named().filter(|(other, _)| *other == key) {
        let (name, key) = (plain(word), key.name());
        let is_known = names.contains(&name);
        if is_known && given.contains(&name) {
            let remedy = if is_force { "add the two" } else { "keep one of the two" };
            errors.push(word.span(), format_args!("`{name}` is given twice in `{key}`\nhelp: {remedy}"));
        } else if !is_known && !given.contains(&name) && !broken.contains(&name) && !declaration.hidden_names {
            let is_rate = ["dynamics", "kinematics"].contains(&key);
            let of_rate = names.iter().find(|of| is_rate && is_rate_of(&name, of));
            let remedy = match (of_rate, did_you_mean(&name, names.iter().map(String::as_str))) {
                (Some(of), _) => format!("\nhelp: write `{of} = ..`"),
                (None, Some(question)) => format!("\nhelp: {question}"),
                // Where it is used it is unknown, which is reported there.
                _ if key == "default" && !is_declared(declaration, &name) && is_in_use(declaration, &name) => {
                    given.push(name);
                    may_miss = false;
                    continue;
                }
                _ if key == "default" && !is_declared(declaration, &name) => {
                    format!("\nhelp: add the field `{name}: f64`, or remove it here")
                }
                _ if names.is_empty() => String::new(),
                _ => match declaration.coordinates.iter().position(|of| is_force && plain(&of.name) == name) {
                    Some(place) if names.len() == declaration.coordinates.len() => {
                        format!("\nhelp: write `{} = ..`", names[place])
                    }
                    _ => format!("; `{key}` is for `{}`", names.join("`, `")),
                },
            };
            errors.push(word.span(), format_args!("`{name}` is not {kind}{remedy}"));
        }
        // An unknown name may stand for the one that is missing.
        may_miss &= is_known;
        given.push(name);
    }
    let mut is_missing = false;
    for (variable, name) in
        of.iter().zip(&names).filter(|(_, name)| may_miss && !given.contains(name) && !broken.contains(name))
    {
        // What nothing uses should be removed, not given a value.
        if key == AttributeKey::Default && !is_in_use(declaration, name) {
            continue;
        }
        let message = format!("`{}` is missing `{name}`\nhelp: add `{name} = ..` to it", key.name());
        errors.push(variable.name.span(), message);
        is_missing |= key != AttributeKey::Default;
    }
    is_missing
}

/// Returns `true` for `x_dot`, `xdot`, `dx` and the like.
fn is_rate_of(name: &str, variable: &str) -> bool {
    let end =
        name.strip_prefix(variable).or_else(|| variable.strip_suffix('d').and_then(|base| name.strip_prefix(base)));
    end.is_some_and(|end| ["_dot", "dot", "_d", "_prime"].contains(&end)) || name.strip_prefix('d') == Some(variable)
}

/// Returns `true` if a key declares something of this name.
fn is_declared(declaration: &Declaration, name: &str) -> bool {
    let variables = declaration.variables().map(|(_, variable)| &variable.name);
    let named = declaration.named().filter(|(key, _)| key.meaning().is_some()).map(|(_, named)| &named.name);
    variables.chain(named).any(|other| plain(other) == name)
}

/// Returns `true` if an expression other than a default contains this name.
fn is_in_use(declaration: &Declaration, name: &str) -> bool {
    let is_default = |value: &Expr| declaration.defaults.iter().any(|named| std::ptr::eq(&named.value, value));
    let expressions = declaration.expressions().filter(|value| !is_default(value));
    expressions.flat_map(words).any(|word| plain(&word) == name)
}

/// The momentum or the velocity of a single coordinate, in its shape.
fn partner(declaration: &Declaration, key: AttributeKey) -> Option<String> {
    let [Variable { shape, .. }] = &declaration.coordinates[..] else { return None };
    match key {
        AttributeKey::Momenta => Some(format!("momenta(p{})", shape.suffix())),
        AttributeKey::Velocities => Some(format!("velocities(v{})", shape.suffix())),
        _ => None,
    }
}

/// Returns `true` if nothing is missing.
fn is_complete(declaration: &Declaration, errors: &Errors) -> bool {
    let model = &declaration.item.ident;
    let needed = AttributeKey::ALL.iter().copied().filter(|key| key.is_needed_by(declaration.formalism));
    let missing: Vec<AttributeKey> = needed.filter(|key| !declaration.has(*key)).collect();
    if !missing.is_empty() {
        let quoted = |text: &dyn Fn(AttributeKey) -> String| {
            missing.iter().map(|key| format!("`{}`", text(*key))).collect::<Vec<_>>().join(", ")
        };
        let names = quoted(&|key| key.name().to_owned());
        let usages = quoted(&|key| partner(declaration, key).unwrap_or_else(|| key.row().usage.to_owned()));
        errors.push(model.span(), format_args!("the model `{model}` lacks {names}\nhelp: add something like {usages}"));
    }
    missing.is_empty()
}
