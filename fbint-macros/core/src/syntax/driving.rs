//! Forces, inputs and the time: whatever acts on a system from outside.

use proc_macro2::Span;
use syn::Ident;

use super::{AttributeKey, Declaration, Formalism, Shape, TIME, Variable, WORK, did_you_mean, plain};
use crate::diagnostics::Errors;

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

/// Checks that every force acts along a momentum or a velocity, and that one expression gives all of it.
pub(super) fn forces(declaration: &Declaration, errors: &Errors) {
    let Declaration { forces, coordinates, momenta, velocities, broken, .. } = declaration;
    let (along, kind) = match declaration.formalism {
        Formalism::Lagrangian => (velocities, "a velocity"),
        _ => (momenta, "a momentum"),
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
                _ => match did_you_mean(&name, names.iter().map(String::as_str)) {
                    Some(question) => format!("`{name}` is not {kind}; {question}"),
                    None => format!("`{name}` is not {kind}, and a force acts along one: `{}`", names.join("`, `")),
                },
            };
            errors.push(force.name.span(), message);
        }
        seen.push(name);
    }
}
