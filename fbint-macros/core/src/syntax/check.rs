//! Rules that need no expression to be looked into: what must be there, and which names are free.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned;
use syn::{Expr, Ident};

use super::{
    AttributeKey, Declaration, Formalism, HIGHEST_DEGREE, KEPT, MAX_ENTRIES, NamedExpression, REDUNDANT,
    RESERVED_NAMES, Variable, did_you_mean, plain,
};
use crate::syntax::diagnostics::Errors;

/// Checks that momenta, or velocities whose kinematics are not given, belong to the coordinates in their order, with the same shapes. One
/// that has the right number of entries gets the right shape for what follows.
pub(super) fn pairs(declaration: &mut Declaration, errors: &Errors) {
    let Declaration { coordinates, momenta, velocities, kinematics, .. } = declaration;
    let names: Vec<String> = coordinates.iter().map(|coordinate| format!("{} = ..", coordinate.name)).collect();
    let (kind, partners, remedy) = match declaration.formalism {
        Formalism::Canonical => {
            ("momentum", momenta, ": coordinates and momenta have the same shapes, in the same order".to_owned())
        }
        Formalism::Lagrangian if kinematics.is_empty() => {
            let remedy =
                format!("\nhelp: say how the velocities move the coordinates by `kinematics({})`", names.join(", "));
            ("velocity", velocities, remedy)
        }
        _ => return,
    };
    // Without coordinates, or without partners, a key is missing.
    let is_comparable = !coordinates.is_empty() && !partners.is_empty();
    if !is_comparable || declaration.hidden_names || !declaration.broken.is_empty() {
        return;
    }
    for place in 0..coordinates.len().max(partners.len()) {
        let (place, message) = match (coordinates.get(place), partners.get(place)) {
            (Some(q), Some(p)) if q.shape == p.shape => continue,
            (Some(Variable { name: q, shape }), Some(Variable { name: p, shape: own }))
                if shape.entries() == own.entries() =>
            {
                let remedy = format!("help: write `{p}{}`", shape.suffix());
                errors.push(
                    p.span(),
                    format_args!("the {kind} `{p}` is {own}, and its coordinate `{q}` is {shape}\n{remedy}"),
                );
                partners[place].shape = *shape;
                return;
            }
            (Some(Variable { name: q, shape }), Some(Variable { name: p, shape: own })) => {
                (p, format!("the {kind} `{p}` is {own}, and its coordinate `{q}` is {shape}"))
            }
            (_, Some(Variable { name, .. })) => (name, format!("the {kind} `{name}` has no coordinate")),
            (Some(Variable { name, .. }), None) => (name, format!("the coordinate `{name}` has no {kind}")),
            (None, None) => return,
        };
        return errors.push(place.span(), format_args!("{message}{remedy}"));
    }
}

/// Checks how far to look for what else is conserved.
pub(super) fn search(declaration: &Declaration, errors: &Errors) {
    for (place, NamedExpression { name, family, value, .. }) in declaration.search.iter().enumerate() {
        if matches!(value, Expr::Verbatim(_)) {
            continue;
        }
        if name != "degree" || family.is_some() {
            errors.push(name.span(), "`search` takes a degree and nothing else: `search(degree = 4)`");
        } else if place > 0 {
            errors.push(name.span(), "`degree` is given twice\nhelp: keep one of the two");
        } else if !declaration.search_degree().is_some_and(|(degree, _)| (1..=HIGHEST_DEGREE).contains(&degree)) {
            let message =
                format!("the degree of a search is an integer from 1 to {HIGHEST_DEGREE}, as in `search(degree = 4)`");
            errors.push(value.span(), message);
        }
    }
}

/// Refuses `assume` where there is nothing to be proved, and `redundant` where nothing has a reaction that could be left out.
pub(super) fn marks(declaration: &Declaration, errors: &Errors) {
    for (key, NamedExpression { name, mark, .. }) in declaration.named() {
        let Some(word) = mark else { continue };
        let reason = match key {
            AttributeKey::Constraint if word == REDUNDANT && declaration.has_reactions() => continue,
            AttributeKey::Constraint if word == REDUNDANT => "has no reaction, as every constraint of a `state`",
            _ if word == REDUNDANT => "is not a `constraint`, and only the reactions of those can be left out",
            AttributeKey::Constraint if declaration.formalism == Formalism::Canonical => KEPT,
            AttributeKey::PhaseConstraint | AttributeKey::VelocityConstraint => KEPT,
            AttributeKey::Constraint | AttributeKey::Invariant => continue,
            _ => "is not an integral, and only the conservation of integrals can be assumed",
        };
        errors.push(word.span(), format_args!("`{name}` {reason}\nhelp: remove `{word}`"));
    }
}

/// Reports names with two meanings and reserved words, and returns them.
pub(super) fn names(declaration: &Declaration, errors: &Errors) -> Vec<Ident> {
    let mut names = Names { taken: BTreeMap::new(), clashing: Vec::new(), declaration, errors };
    names.claim_given();
    for (key, variable) in declaration.variables() {
        if key != AttributeKey::Time || declaration.has(key) {
            names.claim(&variable.name, key.meaning().unwrap_or_default());
        }
    }
    let named = || declaration.named().filter_map(|(key, named)| Some((key, named, key.meaning()?)));
    for (key, named, meaning) in named() {
        names.claim_named(key, named, meaning);
    }
    for family in named().filter_map(|(_, named, _)| named.family.as_ref()) {
        if let Err(clash) = names.consult(&family.index) {
            names.refuse(&family.index, clash);
        }
    }
    names.clashing
}

/// The names so far, and their meanings.
struct Names<'e> {
    taken: BTreeMap<String, String>,
    clashing: Vec<Ident>,
    declaration: &'e Declaration,
    errors: &'e Errors,
}

impl Names<'_> {
    /// Takes the names that are not in the attribute, before those that the user can rename.
    fn claim_given(&mut self) {
        let declaration = self.declaration;
        for word in RESERVED_NAMES {
            self.taken.insert(word.to_owned(), "a word of the expression language".to_owned());
        }
        if declaration.has_energy() {
            let is_lagrangian = declaration.formalism == Formalism::Lagrangian;
            let key = if is_lagrangian { AttributeKey::Lagrangian } else { AttributeKey::Hamiltonian };
            self.taken.insert(
                declaration.energy_name().to_owned(),
                format!("the integral that `{}` adds, which need not be declared", key.name()),
            );
        }
        if let Some(time) = declaration.time.iter().find(|_| !declaration.has(AttributeKey::Time)) {
            self.claim(&time.name, "the time, an entry of the state of systems with inputs");
        }
        if let Some(work) = &declaration.work {
            self.claim(&work.name, "the work that is done on the system, an entry of its state");
        }
        let mut fields = BTreeSet::new();
        for parameter in &declaration.parameters {
            // A field that is declared twice is rustc's to report.
            if fields.insert(plain(&parameter.name)) {
                self.claim(&parameter.name, "a parameter");
            }
        }
    }

    /// Takes a name.
    fn claim(&mut self, name: &Ident, meaning: &str) {
        match self.consult(name) {
            Ok(()) => _ = self.taken.insert(plain(name), meaning.to_owned()),
            Err(clash) => self.refuse(name, clash),
        }
    }

    /// Takes the name of a definition, a constraint, an invariant or an output.
    fn claim_named(&mut self, key: AttributeKey, named: &NamedExpression, meaning: &str) {
        let name = &named.name;
        match self.consult_named(key, named, meaning) {
            Ok(()) => _ = self.taken.insert(plain(name), meaning.to_owned()),
            // A name that is refused brings no partner: its clash would be the same mistake.
            Err(Some(clash)) => return self.refuse(name, clash),
            Err(None) => return self.clashing.push(name.clone()),
        }
        match key {
            AttributeKey::Constraint if self.declaration.has_reactions() => self.claim_partner(name),
            AttributeKey::VelocityConstraint => self.vanishes_once(named),
            _ => {}
        }
    }

    fn refuse(&mut self, name: &Ident, message: String) {
        self.errors.push(name.span(), message);
        self.clashing.push(name.clone());
    }

    /// The message for a name that is not free.
    fn consult(&self, name: &Ident) -> Result<(), String> {
        match self.taken.get(&plain(name)) {
            None => Ok(()),
            Some(taken) => Err(format!("`{name}` is already {taken}\nhelp: choose another name")),
        }
    }

    /// The message for a name that something cannot have; none if a mistake may hide it.
    fn consult_named(&self, key: AttributeKey, named: &NamedExpression, meaning: &str) -> Result<(), Option<String>> {
        let (name, declaration) = (&named.name, self.declaration);
        if !key.takes_definitions() || !named.is_definition() {
            return self.consult(name).map_err(Some);
        }
        match self.taken.get(&plain(name)) {
            Some(taken) if Some(&taken[..]) == AttributeKey::Define.meaning() => Ok(()),
            Some(taken) => Err(Some(format!(
                "`{name}` is already {taken}\nhelp: give {meaning} a name of its own, as in `name = {name}`"
            ))),
            None if declaration.hidden_names
                || declaration.broken.iter().any(|broken| plain(broken) == plain(name)) =>
            {
                Err(None)
            }
            None => {
                let definitions: Vec<String> = declaration.defines.iter().map(|define| plain(&define.name)).collect();
                let remedy = did_you_mean(&plain(name), definitions.iter().map(String::as_str));
                let remedy = remedy.unwrap_or_else(|| format!("write `{name} = expression`"));
                Err(Some(format!("`{name}` is not a definition\nhelp: {remedy}")))
            }
        }
    }

    /// Reports a velocity constraint that puts a velocity to zero that another puts to zero already.
    fn vanishes_once(&mut self, constraint: &NamedExpression) {
        let (name, declaration) = (&constraint.name, self.declaration);
        let velocity = declaration.velocities.iter().find(|velocity| constraint.is_alone(&velocity.name));
        if let Some(velocity) = velocity
            && let Some(first) = declaration.vanishing_by(velocity)
            && !std::ptr::eq(first, constraint)
        {
            self.refuse(
                name,
                format!("`{}` puts `{}` to zero already\nhelp: remove `{name}`", first.name, velocity.name),
            );
        }
    }

    /// Takes the name of a constraint's rate, which comes with it: `length_rate` with `length`.
    fn claim_partner(&mut self, constraint: &Ident) {
        let partner = format!("{}_rate", plain(constraint));
        match self.taken.get(&partner) {
            None => {
                self.taken
                    .insert(partner, format!("the rate of the constraint `{constraint}`, which need not be declared"));
            }
            Some(meaning) => {
                let message = format!(
                    "the rate of the constraint `{constraint}` is called `{partner}`, which is already {meaning}"
                );
                self.errors.push(constraint.span(), format_args!("{message}\nhelp: rename one of them"));
            }
        }
    }
}

/// Limits the size of the state, which is differentiated entry by entry. Variables beyond the limit are dropped.
pub(super) fn size(declaration: &mut Declaration, errors: &Errors) {
    let mut total = 0;
    let Declaration { coordinates, momenta, velocities, states, parameters, inputs, .. } = declaration;
    for variables in [coordinates, momenta, velocities, states, parameters, inputs] {
        variables.retain(|variable| {
            let fitted = total <= MAX_ENTRIES;
            total += variable.shape.entries();
            if fitted && total > MAX_ENTRIES {
                let message = format!("with `{}` the model has more than {MAX_ENTRIES} unknowns", variable.name);
                errors.push(variable.name.span(), message);
            }
            total <= MAX_ENTRIES
        });
    }
    if total > MAX_ENTRIES {
        (declaration.hidden_names, declaration.hidden_uses) = (true, true);
    }
}
