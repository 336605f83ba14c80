//! Rules that need no expression to be looked into: what must be there, and which names are free.

use std::collections::BTreeMap;

use syn::Ident;

use super::{ASSUME, Declaration, KEPT, MAX_ENTRIES, Named, RESERVED_NAMES, System, Variable, nearest, plain};
use crate::diagnostics::Errors;

/// The meaning of a definition's name, in messages.
const DEFINITION: &str = "a definition";

/// Checks that coordinates and momenta are conjugate in pairs.
pub(super) fn conjugates(declaration: &Declaration, errors: &Errors) {
    let (coordinates, momenta) = (&declaration.coordinates, &declaration.momenta);
    if coordinates.is_empty() || momenta.is_empty() {
        return;
    }
    if let Some(extra) = coordinates.get(momenta.len()) {
        let name = &extra.name;
        errors.push(
            name.span(),
            format_args!(
                "the coordinate `{name}` has no momentum: `momenta` lists {}, `coordinates` {}",
                momenta.len(),
                coordinates.len()
            ),
        );
        return;
    }
    if let Some(extra) = momenta.get(coordinates.len()) {
        let name = &extra.name;
        errors.push(
            name.span(),
            format_args!(
                "the momentum `{name}` has no coordinate: `coordinates` lists {}, `momenta` {}",
                coordinates.len(),
                momenta.len()
            ),
        );
        return;
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
    if !kinematics.is_empty() || coordinates.is_empty() || velocities.is_empty() {
        return;
    }
    let entries = |variables: &[Variable]| variables.iter().map(|variable| variable.shape.entries()).sum::<usize>();
    let (own, needed) = (entries(velocities), entries(coordinates));
    let names: Vec<String> = coordinates.iter().map(|coordinate| format!("{} = ..", coordinate.name)).collect();
    let remedy = format!("say how they move them by `kinematics({})`", names.join(", "));
    if own != needed {
        let message = format!("`velocities` has {own} {} and `coordinates` {needed}", entry(own));
        let place = declaration.place("velocities");
        errors.push(place, format_args!("{message}, so they are not the coordinates' rates: {remedy}"));
        return;
    }
    for (index, velocity) in velocities.iter().enumerate() {
        let coordinate = coordinates.get(index).filter(|coordinate| coordinate.shape == velocity.shape);
        if coordinate.is_none() {
            let v = &velocity.name;
            let message = match coordinates.get(index) {
                Some(Variable { name, shape }) => {
                    format!("the velocity `{v}` is {}, and the coordinate `{name}` is {shape}", velocity.shape)
                }
                None => format!("the velocity `{v}` has no coordinate"),
            };
            errors.push(v.span(), format_args!("{message}, so it is not its rate: {remedy}"));
            return;
        }
    }
}

fn entry(count: usize) -> &'static str {
    if count == 1 { "entry" } else { "entries" }
}

/// Refuses `assume` where there is nothing to be proved.
pub(super) fn assumptions(declaration: &Declaration, errors: &Errors) {
    let Declaration {
        constraints,
        phase_constraints,
        velocity_constraints,
        defines,
        dynamics,
        kinematics,
        forces,
        outputs,
        ..
    } = declaration;
    let refuse = |all: &[Named], reason: &str| {
        for Named { name, assume, .. } in all {
            let Some(word) = assume else { continue };
            errors.push(word.span(), format_args!("`{name}` {reason}: remove `{ASSUME}`"));
        }
    };
    if declaration.system == System::Canonical {
        refuse(constraints, KEPT);
    }
    refuse(phase_constraints, KEPT);
    refuse(velocity_constraints, KEPT);
    for all in [defines, dynamics, kinematics, forces, outputs] {
        refuse(all, "is not an integral, and only the conservation of integrals can be assumed");
    }
}

/// Reports names with two meanings and reserved words, and returns them.
pub(super) fn names(declaration: &Declaration, has_energy: bool, errors: &Errors) -> Vec<Ident> {
    let mut names = Names { taken: BTreeMap::new(), clashing: Vec::new(), errors };
    for word in RESERVED_NAMES {
        names.taken.insert(word.to_owned(), "a word of the expression language".to_owned());
    }
    if has_energy {
        let key = if declaration.system == System::Lagrangian { "lagrangian" } else { "hamiltonian" };
        names.taken.insert(declaration.energy_name().to_owned(), format!("the integral that `{key}` adds"));
    }
    // What the attribute adds has its name before what the user can rename.
    let is_time_declared = declaration.keys.contains_key("time");
    if let Some(time) = declaration.time.iter().find(|_| !is_time_declared) {
        names.claim(&time.name, "the time, an entry of the state of systems with inputs");
    }
    if let Some(work) = &declaration.work {
        names.claim(&work.name, "the work that is done on the system, an entry of its state");
    }
    let mut fields = std::collections::BTreeSet::new();
    for parameter in &declaration.parameters {
        // A field that is declared twice is rustc's to report.
        if fields.insert(plain(&parameter.name)) {
            names.claim(&parameter.name, "a parameter");
        }
    }
    for coordinate in &declaration.coordinates {
        names.claim(&coordinate.name, "a coordinate");
    }
    for momentum in &declaration.momenta {
        names.claim(&momentum.name, "a momentum");
    }
    for velocity in &declaration.velocities {
        names.claim(&velocity.name, "a velocity");
    }
    for state in &declaration.states {
        names.claim(&state.name, "a variable of the state");
    }
    if let Some(time) = declaration.time.iter().find(|_| is_time_declared) {
        names.claim(&time.name, "the time");
    }
    for input in &declaration.inputs {
        names.claim(&input.name, "an input");
    }
    for define in &declaration.defines {
        names.claim(&define.name, DEFINITION);
    }
    for constraint in &declaration.constraints {
        // A name that is refused brings no partner: its clash would be the same mistake.
        if names.claim_quantity(constraint, "a constraint", declaration) && declaration.has_reactions() {
            names.claim_partner(&constraint.name);
        }
    }
    for constraint in &declaration.phase_constraints {
        names.claim_quantity(constraint, "a phase constraint", declaration);
    }
    let mut velocities: BTreeMap<String, &Ident> = BTreeMap::new();
    for constraint in &declaration.velocity_constraints {
        let name = &constraint.name;
        let is_new = !names.is_derived(name, declaration)
            && names.claim_quantity(constraint, "a velocity constraint", declaration);
        let put_to_zero = declaration.velocities.iter().find(|velocity| constraint.is_alone(&velocity.name));
        if let (true, Some(velocity)) = (is_new, put_to_zero)
            && let Some(first) = velocities.insert(plain(&velocity.name), name)
        {
            let message = format!("`{first}` puts `{}` to zero already: remove `{name}`", velocity.name);
            names.errors.push(name.span(), message);
            names.clashing.push(name.clone());
        }
    }
    for invariant in &declaration.invariants {
        let is_lagrangian = has_energy && declaration.system == System::Lagrangian;
        if is_lagrangian && plain(&invariant.name) == declaration.energy_name() {
            let message = "the energy is an integral of every Lagrangian system; remove it";
            names.errors.push(invariant.name.span(), message);
            names.clashing.push(invariant.name.clone());
            continue;
        }
        names.claim_quantity(invariant, "an invariant", declaration);
    }
    for output in &declaration.outputs {
        names.claim_quantity(output, "an output", declaration);
    }
    let constraints = declaration.constraints.iter().chain(&declaration.phase_constraints);
    let constraints = constraints.chain(&declaration.velocity_constraints);
    let quantities = constraints.chain(&declaration.invariants).chain(&declaration.outputs);
    for family in quantities.filter_map(|named| named.family.as_ref()) {
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
    errors: &'e Errors,
}

impl Names<'_> {
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
    fn claim_quantity(&mut self, named: &Named, meaning: &str, declaration: &Declaration) -> bool {
        let name = &named.name;
        if !named.is_definition() {
            return self.claim(name, meaning);
        }
        match self.taken.get(&plain(name)).map(String::as_str) {
            Some(DEFINITION) => {
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
    fn is_derived(&mut self, name: &Ident, declaration: &Declaration) -> bool {
        let is_rate = |constraint: &&Named| format!("{}_rate", plain(&constraint.name)) == plain(name);
        let of = declaration.constraints.iter().find(is_rate);
        let Some(of) = of.filter(|of| self.taken.get(&plain(name)) == Some(&partner_of(&of.name))) else {
            return false;
        };
        let message = format!("`{name}` is the rate of `{}`, which is derived already; remove it", of.name);
        self.errors.push(name.span(), message);
        self.clashing.push(name.clone());
        true
    }

    /// Returns `true` if the name is free. Reports it otherwise.
    fn consult(&mut self, name: &Ident) -> bool {
        match self.taken.get(&plain(name)) {
            None => true,
            Some(meaning) => {
                self.errors.push(name.span(), format_args!("`{name}` is already {meaning}: choose another name"));
                self.clashing.push(name.clone());
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
