//! Rules that need no expression to be looked into: what must be there, and which names are free.

use std::collections::{BTreeMap, BTreeSet};

use syn::Ident;
use syn::spanned::Spanned;

use super::{
    ASSUME, AttributeKey, Declaration, Formalism, HIGHEST_DEGREE, KEPT, MAX_ENTRIES, NamedExpression, RESERVED_NAMES,
    Variable, nearest, plain, total_entries,
};
use crate::diagnostics::Errors;

/// Checks that coordinates and momenta are conjugate in pairs.
pub(super) fn conjugates(declaration: &Declaration, errors: &Errors) {
    let Declaration { coordinates, momenta, .. } = declaration;
    if !declaration.is_clear(AttributeKey::Coordinates) || !declaration.is_clear(AttributeKey::Momenta) {
        return;
    }
    let (own, partners) = (coordinates.len(), momenta.len());
    let extra = match (coordinates.get(partners), momenta.get(own)) {
        (Some(extra), _) => {
            Some((extra, "the coordinate", "momentum", format!("`momenta` lists {partners}, `coordinates` {own}")))
        }
        (_, Some(extra)) => {
            Some((extra, "the momentum", "coordinate", format!("`coordinates` lists {own}, `momenta` {partners}")))
        }
        (None, None) => None,
    };
    if let Some((Variable { name, .. }, kind, partner, numbers)) = extra {
        return errors.push(name.span(), format_args!("{kind} `{name}` has no {partner}: {numbers}"));
    }
    for (coordinate, momentum) in coordinates.iter().zip(momenta) {
        if coordinate.shape != momentum.shape {
            let (q, p) = (&coordinate.name, &momentum.name);
            let message =
                format!("the momentum `{p}` is {}, its coordinate `{q}` is {}", momentum.shape, coordinate.shape);
            errors.push(p.span(), format_args!("{message}: they must have the same shape"));
        }
    }
}

/// Checks that velocities can be the rates of the coordinates, where no rates are given.
pub(super) fn velocities(declaration: &Declaration, errors: &Errors) {
    let Declaration { coordinates, velocities, kinematics, .. } = declaration;
    let is_clear = declaration.is_clear(AttributeKey::Coordinates) && declaration.is_clear(AttributeKey::Velocities);
    if !kinematics.is_empty() || !is_clear {
        return;
    }
    let (own, needed) = (total_entries(velocities), total_entries(coordinates));
    let names: Vec<String> = coordinates.iter().map(|coordinate| format!("{} = ..", coordinate.name)).collect();
    let remedy = format!("say how they move them by `kinematics({})`", names.join(", "));
    if own != needed {
        let message = format!("`velocities` has {own} {} and `coordinates` {needed}", entry(own));
        let place = declaration.place(AttributeKey::Velocities);
        errors.push(place, format_args!("{message}, so they are not the coordinates' rates: {remedy}"));
        return;
    }
    for (index, Variable { name: v, shape: own }) in velocities.iter().enumerate() {
        let message = match coordinates.get(index) {
            Some(Variable { shape, .. }) if shape == own => continue,
            Some(Variable { name, shape }) => {
                format!("the velocity `{v}` is {own}, and the coordinate `{name}` is {shape}")
            }
            None => format!("the velocity `{v}` has no coordinate"),
        };
        return errors.push(v.span(), format_args!("{message}, so it is not its rate: {remedy}"));
    }
}

fn entry(count: usize) -> &'static str {
    if count == 1 { "entry" } else { "entries" }
}

/// Checks how far to look for what else is conserved.
pub(super) fn search(declaration: &Declaration, errors: &Errors) {
    for (place, NamedExpression { name, family, value, .. }) in declaration.search.iter().enumerate() {
        if name != "degree" || family.is_some() {
            errors.push(name.span(), "`search` takes a degree and nothing else: `search(degree = 4)`");
        } else if place > 0 {
            errors.push(name.span(), "`degree` is given twice: keep one of the two");
        } else if !declaration.search_degree().is_some_and(|(degree, _)| (1..=HIGHEST_DEGREE).contains(&degree)) {
            let message =
                format!("the degree of a search is an integer from 1 to {HIGHEST_DEGREE}, as in `search(degree = 4)`");
            errors.push(value.span(), message);
        }
    }
}

/// Refuses `assume` where there is nothing to be proved.
pub(super) fn assumptions(declaration: &Declaration, errors: &Errors) {
    for (key, NamedExpression { name, assume, .. }) in declaration.named() {
        let Some(word) = assume else { continue };
        let reason = match key {
            AttributeKey::Constraint if declaration.formalism == Formalism::Canonical => KEPT,
            AttributeKey::PhaseConstraint | AttributeKey::VelocityConstraint => KEPT,
            AttributeKey::Constraint | AttributeKey::Invariant => continue,
            _ => "is not an integral, and only the conservation of integrals can be assumed",
        };
        errors.push(word.span(), format_args!("`{name}` {reason}: remove `{ASSUME}`"));
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
    for (key, named) in declaration.named() {
        let Some(meaning) = key.meaning() else { continue };
        match key {
            AttributeKey::Define => _ = names.claim(&named.name, meaning),
            AttributeKey::Constraint => names.claim_constraint(named, meaning),
            AttributeKey::VelocityConstraint => names.claim_velocity_constraint(named, meaning),
            AttributeKey::Invariant if names.is_energy(&named.name) => {}
            _ => _ = names.claim_quantity(named, meaning),
        }
    }
    for family in
        declaration.named().filter(|(key, _)| key.meaning().is_some()).filter_map(|(_, named)| named.family.as_ref())
    {
        names.consult(&family.index);
    }
    names.clashing
}

/// The meaning of the name of a constraint's rate, in messages.
fn partner_of(constraint: &Ident) -> String {
    format!("the rate of the constraint `{constraint}`")
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
            self.taken.insert(declaration.energy_name().to_owned(), format!("the integral that `{}` adds", key.name()));
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

    fn claim_constraint(&mut self, constraint: &NamedExpression, meaning: &str) {
        // A name that is refused brings no partner: its clash would be the same mistake.
        if self.claim_quantity(constraint, meaning) && self.declaration.has_reactions() {
            self.claim_partner(&constraint.name);
        }
    }

    /// Takes the name of a velocity constraint. Reports one that puts a velocity to zero that another puts to zero already.
    fn claim_velocity_constraint(&mut self, constraint: &NamedExpression, meaning: &str) {
        let name = &constraint.name;
        if self.is_derived(name) || !self.claim_quantity(constraint, meaning) {
            return;
        }
        let Some(velocity) = self.declaration.velocities.iter().find(|velocity| constraint.is_alone(&velocity.name))
        else {
            return;
        };
        let first = self.declaration.vanishing_by(velocity);
        if let Some(first) = first.filter(|first| !std::ptr::eq(*first, constraint)) {
            self.refuse(
                name,
                format_args!("`{}` puts `{}` to zero already: remove `{name}`", first.name, velocity.name),
            );
        }
    }

    /// Reports an invariant with the name of the energy of a Lagrangian system. Returns `true` if it has it.
    fn is_energy(&mut self, name: &Ident) -> bool {
        let declaration = self.declaration;
        let is_energy = declaration.formalism == Formalism::Lagrangian && plain(name) == declaration.energy_name();
        if is_energy {
            self.refuse(name, "the energy is an integral of every Lagrangian system; remove it");
        }
        is_energy
    }

    fn refuse(&mut self, name: &Ident, message: impl std::fmt::Display) {
        self.errors.push(name.span(), message);
        self.clashing.push(name.clone());
    }

    /// Takes a name. Returns `true` if it was free.
    fn claim(&mut self, name: &Ident, meaning: &str) -> bool {
        let free = self.consult(name);
        if free {
            self.taken.insert(plain(name), meaning.to_owned());
        }
        free
    }

    /// Takes the name of a constraint, an invariant or an output, which may be the name of a definition if the value is that definition.
    /// Returns `true` if it was free.
    fn claim_quantity(&mut self, named: &NamedExpression, meaning: &str) -> bool {
        let (name, declaration) = (&named.name, self.declaration);
        if !named.is_definition() {
            return self.claim(name, meaning);
        }
        match self.taken.get(&plain(name)).map(String::as_str) {
            Some(taken) if Some(taken) == AttributeKey::Define.meaning() => {
                self.taken.insert(plain(name), meaning.to_owned());
                return true;
            }
            Some(taken) => {
                let message = format!("`{name}` is already {taken}: give {meaning} a name of its own");
                self.errors.push(name.span(), format_args!("{message}, as in `name = {name}`"));
            }
            // Nobody can tell what a mistake hides.
            None if declaration.hidden_names
                || declaration.broken.iter().any(|broken| plain(broken) == plain(name)) => {}
            None => {
                let definitions: Vec<String> = declaration.defines.iter().map(|define| plain(&define.name)).collect();
                let remedy = match nearest(&plain(name), definitions.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("write `{name} = expression`"),
                };
                self.errors.push(name.span(), format_args!("`{name}` is not a definition: {remedy}"));
            }
        }
        self.clashing.push(name.clone());
        false
    }

    /// Reports a velocity constraint with the name of the rate of a constraint. Returns `true` if it has one.
    fn is_derived(&mut self, name: &Ident) -> bool {
        let is_rate = |constraint: &&NamedExpression| format!("{}_rate", plain(&constraint.name)) == plain(name);
        let of = self.declaration.constraints.iter().find(is_rate);
        let Some(of) = of.filter(|of| self.taken.get(&plain(name)) == Some(&partner_of(&of.name))) else {
            return false;
        };
        let message = format!("`{name}` is the rate of `{}`, which is derived already; remove it", of.name);
        self.refuse(name, message);
        true
    }

    /// Returns `true` if the name is free. Reports it otherwise.
    fn consult(&mut self, name: &Ident) -> bool {
        match self.taken.get(&plain(name)) {
            None => true,
            Some(meaning) => {
                let message = format!("`{name}` is already {meaning}: choose another name");
                self.refuse(name, message);
                false
            }
        }
    }

    /// Takes the name of a constraint's rate, which comes with it: `length_rate` with `length`.
    fn claim_partner(&mut self, constraint: &Ident) {
        let partner = format!("{}_rate", plain(constraint));
        match self.taken.get(&partner) {
            None => {
                self.taken.insert(partner, partner_of(constraint));
            }
            Some(meaning) => {
                let message = format!(
                    "the rate of the constraint `{constraint}` is called `{partner}`, which is already {meaning}"
                );
                self.errors.push(constraint.span(), format_args!("{message}: rename one of them"));
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
