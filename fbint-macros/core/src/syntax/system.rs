//! Which formalism the keys declare, and whether they fit together.
//!
//! A system is one of these:
//!
//! - canonical, with `coordinates`, `momenta` and a `hamiltonian`;
//! - Lagrangian, with `coordinates`, `velocities` and a `lagrangian`;
//! - any other, with a `state` whose field is given by `dynamics`, or derived from `poisson` and a `hamiltonian`.
//!
//! Keys that exclude each other are one mistake, reported at the later key; nothing is called missing in addition.

use super::{AttributeKey, Declaration, Formalism, NamedExpression, Variable, did_you_mean, plain};
use crate::diagnostics::Errors;

/// Decides on the formalism. Reports keys that exclude each other or are missing, and variables without a rate.
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
    rates(declaration, errors);
    if !declaration.uncertain && !is_complete(declaration, errors) {
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

/// Reports the first key that no formalism has together with an earlier one.
fn is_compatible(declaration: &Declaration, errors: &Errors) -> bool {
    let seen = &declaration.seen;
    for (place, (later, span)) in seen.iter().enumerate() {
        let clash = seen[..place].iter().find_map(|(earlier, _)| Some((earlier.name(), remedy(*earlier, *later)?)));
        if let Some((earlier, remedy)) = clash {
            errors.push(*span, format_args!("`{}` cannot stand beside `{earlier}`: {remedy}", later.name()));
            return false;
        }
    }
    true
}

/// What to do about two keys that exclude each other: keys that decide on the formalism, and have none in common.
fn remedy(one: AttributeKey, other: AttributeKey) -> Option<&'static str> {
    let (one, other) = (one.row(), other.row());
    let is_shared = one.formalisms.iter().any(|formalism| other.formalisms.contains(formalism));
    if is_shared || one.elsewhere.or(other.elsewhere).is_some() {
        return None;
    }
    let parts = |a: Formalism, b: Formalism| {
        one.formalisms.contains(&a) && other.formalisms.contains(&b)
            || one.formalisms.contains(&b) && other.formalisms.contains(&a)
    };
    Some(if parts(Formalism::Poisson, Formalism::Given) {
        "`dynamics` gives the field itself, `poisson` derives it from a `hamiltonian`; keep one of them, and beside `dynamics` declare \
         the energy as an `invariant`"
    } else if parts(Formalism::Canonical, Formalism::Lagrangian) {
        "the momenta and the energy of a Lagrangian system follow from its `lagrangian`; keep `hamiltonian` with `momenta`, or \
         `lagrangian` with `velocities`"
    } else if parts(Formalism::Canonical, Formalism::Poisson) || parts(Formalism::Canonical, Formalism::Given) {
        "keep `coordinates` and `momenta` if their bracket is the canonical one, otherwise list all variables in `state`"
    } else {
        "keep `coordinates` and `velocities` if a `lagrangian` gives the field, otherwise list all variables in `state`"
    })
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
        errors.push(span, format_args!("{message}: a reaction holds the one, and a bracket the other; keep one kind"));
    }
}

/// Checks, where rates are given, that every variable has one, and that nothing else has a rate.
fn rates(declaration: &Declaration, errors: &Errors) {
    let dynamics = ValuesOfVariables {
        key: AttributeKey::Dynamics,
        of: declaration.states.iter().collect(),
        are_known: declaration.is_clear(AttributeKey::State),
        unknown: "is not a variable of the state, and only those have rates",
        missing: |name| format!("`dynamics` gives no rate of the state variable `{name}`: add `{name} = ..` to it"),
    };
    let kinematics = ValuesOfVariables {
        key: AttributeKey::Kinematics,
        of: declaration.coordinates.iter().collect(),
        are_known: declaration.is_clear(AttributeKey::Coordinates),
        unknown: "is not a coordinate, and `kinematics` gives only the rates of coordinates",
        missing: |name| format!("`kinematics` does not give the rate of the coordinate `{name}`: add `{name} = ..`"),
    };
    for rates in [dynamics, kinematics] {
        rates.check(declaration, errors, |name| format!("the rate of `{name}` is given twice: keep one of the two"));
    }
}

/// Checks that `default` gives every parameter a value, and `start` every variable of the state, and nothing else.
pub(super) fn beginning(declaration: &Declaration, errors: &Errors) {
    let defaults = ValuesOfVariables {
        key: AttributeKey::Default,
        of: declaration.parameters.iter().collect(),
        are_known: !declaration.hidden_names,
        unknown: "is not a parameter, and only those have defaults",
        missing: |name| format!("`default` gives no value of the parameter `{name}`: add `{name} = ..` to it"),
    };
    let start = ValuesOfVariables {
        key: AttributeKey::Start,
        of: declaration.starting_variables().collect(),
        are_known: !declaration.hidden_names && declaration.unclear.is_empty(),
        unknown: "is not a variable that a start has, where the time and the work begin at 0",
        missing: |name| format!("`start` does not say where `{name}` starts: add `{name} = ..` to it"),
    };
    for values in [defaults, start] {
        values.check(declaration, errors, |name| format!("`{name}` is given twice: keep one of the two"));
    }
}

/// What a key gives values of: whole variables.
struct ValuesOfVariables<'d> {
    key: AttributeKey,
    of: Vec<&'d Variable>,
    /// Whether none of the variables is mistaken.
    are_known: bool,
    /// What is said of a value of nothing.
    unknown: &'static str,
    /// What is said of a variable without a value.
    missing: fn(&str) -> String,
}

impl ValuesOfVariables<'_> {
    /// Reports values of nothing, values that are given twice and values that are missing.
    fn check(&self, declaration: &Declaration, errors: &Errors, twice: fn(&str) -> String) {
        if !declaration.has(self.key) || !self.are_known {
            return;
        }
        let names: Vec<String> = self.of.iter().map(|variable| plain(&variable.name)).collect();
        let mut known = true;
        let mut given: Vec<String> = declaration.broken.iter().map(plain).collect();
        for (_, NamedExpression { name: word, .. }) in declaration.named().filter(|(key, _)| *key == self.key) {
            let name = plain(word);
            if !names.contains(&name) {
                known = false;
                errors.push(word.span(), self.of_nothing(&name, &names));
            } else if given.contains(&name) {
                errors.push(word.span(), twice(&name));
            }
            given.push(name);
        }
        // An unknown name may stand for the one that is missing.
        if known && !declaration.uncertain && !declaration.hidden_uses {
            for (variable, name) in self.of.iter().zip(&names).filter(|(_, name)| !given.contains(name)) {
                errors.push(variable.name.span(), (self.missing)(name));
            }
        }
    }

    fn of_nothing(&self, name: &str, names: &[String]) -> String {
        let message = format!("`{name}` {}", self.unknown);
        match did_you_mean(name, names.iter().map(String::as_str)) {
            Some(question) => format!("{message}; {question}"),
            None if names.is_empty() => message,
            None => format!("{message}: `{}`", names.join("`, `")),
        }
    }
}

/// Returns `true` if nothing is missing.
fn is_complete(declaration: &Declaration, errors: &Errors) -> bool {
    let model = &declaration.item.ident;
    let needed = AttributeKey::ALL.iter().copied().filter(|key| key.is_needed_by(declaration.formalism));
    let missing: Vec<AttributeKey> = needed.filter(|key| !declaration.has(*key)).collect();
    if missing == [AttributeKey::Poisson, AttributeKey::Hamiltonian] {
        let remedy =
            "give its field by `dynamics(x = expression)`, or derive it by `poisson = hat(x)` and a `hamiltonian`";
        errors.push(
            declaration.place(AttributeKey::State),
            format_args!("nothing says how this state changes: {remedy}"),
        );
    } else if !missing.is_empty() {
        let quoted = |text: fn(&AttributeKey) -> &'static str| {
            missing.iter().map(|key| format!("`{}`", text(key))).collect::<Vec<_>>().join(", ")
        };
        let (names, usages) = (quoted(|key| key.name()), quoted(|key| key.row().usage));
        errors.push(model.span(), format_args!("the model `{model}` lacks {names}: add something like {usages}"));
    }
    missing.is_empty()
}
