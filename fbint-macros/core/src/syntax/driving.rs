//! Forces, inputs and the time: whatever acts on a system from outside.

use proc_macro2::Span;
use syn::Ident;

use super::key::{Attribute, Key};
use super::{Declaration, Shape, System, TIME, Variable, WORK, nearest, plain};
use crate::diagnostics::Errors;

/// The time and the work, if they are entries of the state. Inputs depend on the time, and whatever acts from outside does work on
/// a system that has an energy.
pub(super) fn variables(
    attribute: &mut Attribute,
    has_energy: bool,
    errors: &Errors,
) -> (Option<Variable>, Option<Variable>) {
    let named = |name: &str, span: Span| Variable { name: Ident::new(name, span), shape: Shape::Scalar };
    let declared: Vec<Variable> = attribute.time.variables.drain(..).collect();
    if let Some(extra) = declared.get(1) {
        errors.push(extra.name.span(), format_args!("there is one time: remove `{}`", extra.name));
        attribute.broken.extend(declared[1..].iter().map(|variable| variable.name.clone()));
    }
    let mut time = declared.into_iter().next();
    if let Some(Variable { name, shape }) = &mut time
        && *shape != Shape::Scalar
    {
        errors.push(name.span(), format_args!("the time is a scalar: write `time({name})`"));
        *shape = Shape::Scalar;
        attribute.broken.push(name.clone());
    }
    let of_inputs = attribute.place(Key::Input).map(|span| named(TIME, span));
    let time = time.or_else(|| of_inputs.filter(|_| attribute.place(Key::Time).is_none()));
    let driving = [Key::Force, Key::Input, Key::Time].into_iter().find_map(|key| attribute.place(key));
    (time, driving.filter(|_| has_energy).map(|span| named(WORK, span)))
}

/// Checks that every force acts along a momentum or a velocity, and that one expression gives all of it.
pub(super) fn forces(declaration: &Declaration, errors: &Errors) {
    let Declaration { forces, coordinates, momenta, velocities, broken, .. } = declaration;
    let (along, kind) = match declaration.system {
        System::Canonical => (momenta, "a momentum"),
        System::Lagrangian => (velocities, "a velocity"),
        System::State => {
            if let Some(force) = forces.first() {
                let message = "a `force` acts along a momentum or a velocity, which a `state` does not have";
                errors.push(force.name.span(), format_args!("{message}: write it into `dynamics`"));
            }
            return;
        }
    };
    let names: Vec<String> = along.iter().map(|variable| plain(&variable.name)).collect();
    let mut seen: Vec<String> = broken.iter().map(plain).collect();
    for force in forces {
        let name = plain(&force.name);
        if let Some(family) = &force.family {
            let message = "a `force` is given for a whole variable, without an index";
            errors.push(family.index.span(), format_args!("{message}: write `{name} = vector![..]`"));
        }
        let is_known = names.contains(&name);
        if is_known && seen.contains(&name) {
            errors.push(force.name.span(), format_args!("the force along `{name}` is given twice: add the two"));
        } else if !is_known && !seen.contains(&name) && !along.is_empty() && !declaration.hidden_names {
            let message = match coordinates.iter().zip(along).find(|(coordinate, _)| plain(&coordinate.name) == name) {
                Some((_, partner)) if coordinates.len() == along.len() => {
                    format!("`{name}` is a coordinate: the force on it acts along `{}`", partner.name)
                }
                _ => match nearest(&name, names.iter().map(String::as_str)) {
                    Some(near) => format!("`{name}` is not {kind}; did you mean `{near}`?"),
                    None => format!("`{name}` is not {kind}, and a force acts along one: `{}`", names.join("`, `")),
                },
            };
            errors.push(force.name.span(), message);
        }
        seen.push(name);
    }
}
