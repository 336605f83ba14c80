//! The driver: the phases in order, mistakes flushed between them.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;

use crate::derivation::{Derivation, Problem};
use crate::diagnostics::Errors;
use crate::elaborate::{self, Dynamics, Model};
use crate::emit::{self, Compiled, Integral, IntegralKind};
use crate::mechanics::{self, Quantity, Singularity};
use crate::notation::{self, Names};
use crate::program;
use crate::symbolic::{SessionError, session};
use crate::syntax::{self, Declaration, ENERGY, plain};

/// What `#[feedback_system(attribute)] item` expands to. A mistaken declaration expands to its struct, a surface without
/// content, and one `compile_error!` for each mistake.
pub fn feedback_system(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let Some(declaration) = syntax::parse(attribute, item.clone(), &mut errors) else {
        let messages = errors.flush().err().map(|error| error.to_compile_error());
        return quote!(#item #messages);
    };
    match compile(&declaration, errors) {
        Ok(tokens) => tokens,
        Err(error) => {
            let stub = emit::stub(&declaration, number_of_integrals(&declaration));
            let messages = error.to_compile_error();
            quote!(#stub #messages)
        }
    }
}

fn compile(declaration: &Declaration, mut errors: Errors) -> syn::Result<TokenStream> {
    // Elaboration looks at all that was understood, so that mistakes of both kinds are shown together.
    let model = elaborate::elaborate(declaration, &mut errors);
    errors.flush()?;
    let name = declaration.item.ident.span();
    let model = model.ok_or_else(|| syn::Error::new(name, "internal error: no model and no mistake"))?;

    let derivation = derive(declaration, &model)?;
    let programs = program::assemble(&derivation);
    program::verify(&derivation, &programs).map_err(|function| {
        let text = format!("internal error: `{function}` as generated disagrees with its derivation; please report it");
        syn::Error::new(name, text)
    })?;

    let integrals = integrals(&model);
    let names = names(declaration, &model, &integrals);
    let compiled = Compiled {
        declaration,
        symbols: &model.symbols,
        integrals: &integrals,
        derivation: &derivation,
        programs: &programs,
        latex: &notation::latex(&derivation, &names),
        equations: &notation::plain(&derivation, &names),
    };
    Ok(emit::emit(&compiled))
}

/// All algebra of the model, in one session.
fn derive(declaration: &Declaration, model: &Model) -> syn::Result<Derivation> {
    let name = declaration.item.ident.span();
    let values =
        |quantities: &[elaborate::Quantity]| quantities.iter().map(|quantity| quantity.value.clone()).collect();
    let Dynamics::Canonical { hamiltonian } = &model.dynamics else {
        return Err(syn::Error::new(name, "a `state` with its own field is not supported yet"));
    };
    if let Some(output) = model.outputs.first() {
        return Err(syn::Error::new(output.span, "`output` is not supported yet"));
    }
    let problem = Problem {
        degrees_of_freedom: model.dimension / 2,
        hamiltonian: hamiltonian.clone(),
        holonomic: values(&model.constraints),
        phase: values(&model.phase_constraints),
        invariants: values(&model.invariants),
    };
    let derivation = session(|| mechanics::derive(&problem))
        .map_err(|error: SessionError| syn::Error::new(name, error))?
        .map_err(|quantity| {
            let (what, span) = match quantity {
                Quantity::Hamiltonian => {
                    ("the Hamiltonian".to_owned(), declaration.hamiltonian.as_ref().map_or(name, |value| value.span()))
                }
                Quantity::Holonomic(index) => described(&model.constraints[index]),
                Quantity::Phase(index) => described(&model.phase_constraints[index]),
                Quantity::Invariant(index) => described(&model.invariants[index]),
            };
            let text = format!(
                "{what} has no finite real derivative: some part of it divides by zero or takes the root of a negative number"
            );
            syn::Error::new(span, text)
        })?;
    let mut errors = Errors::new();
    report_constants(model, &derivation, &mut errors);
    if errors.is_empty()
        && let Some(singularity) = mechanics::find_singularity(&derivation)
    {
        report_singular(model, &singularity, &mut errors);
    }
    errors.flush()?;
    Ok(derivation)
}

/// Elaboration refuses what names no unknown; here everything that depended on one has cancelled.
fn report_constants(model: &Model, derivation: &Derivation, errors: &mut Errors) {
    let invariants = model.invariants.iter().map(|quantity| (quantity.name.clone(), quantity.span));
    let energy = std::iter::once(("the Hamiltonian".to_owned(), Span::call_site()));
    let integrals = constraints(model).into_iter().chain(energy).chain(invariants);
    for (index, (name, span)) in integrals.enumerate() {
        let of_a_constraint = index >= model.constraints.len() && index < 2 * model.constraints.len();
        if index != derivation.energy && derivation.gradients[index].is_empty() && !of_a_constraint {
            errors.push(span, format_args!("`{name}` is constant: everything in it that could change cancels"));
        }
    }
}

fn described(quantity: &elaborate::Quantity) -> (String, Span) {
    (format!("`{}`", quantity.name), quantity.span)
}

fn report_singular(model: &Model, singularity: &Singularity, errors: &mut Errors) {
    let holonomic = model.constraints.len();
    // A rate stands for the constraint that it is the rate of: users declare only that.
    let declared = |index: &usize| if (holonomic..2 * holonomic).contains(index) { index - holonomic } else { *index };
    let culprits: BTreeSet<usize> = singularity.members.iter().map(declared).collect();
    let members = constraints(model);
    let names: Vec<String> = culprits.iter().map(|&index| format!("`{}`", members[index].0)).collect();
    let Some(&last) = culprits.last() else { return };
    let reason = match &names[..] {
        [name] if last < holonomic => format!(
            "{name} commutes with its own rate, because the Hamiltonian is not quadratic in the momenta along its \
             gradient; give the constraint as a `phase_constraint` with its conjugate"
        ),
        [name] => format!(
            "{name} commutes with every other constraint; remove it, or add the constraint that is conjugate to it"
        ),
        _ => format!("{} depend on one another; remove one of them", names.join(", ")),
    };
    let span = members[last].1;
    errors
        .push(span, format_args!("the matrix C of the constraints' Poisson brackets is singular everywhere: {reason}"));
}

/// Every constraint f with the place where it was declared, in the derivation's order.
fn constraints(model: &Model) -> Vec<(String, Span)> {
    let declared = model.constraints.iter().map(|quantity| (quantity.name.clone(), quantity.span));
    let rates = model.constraints.iter().map(|quantity| (quantity.rate_name.clone(), quantity.span));
    let phase = model.phase_constraints.iter().map(|quantity| (quantity.name.clone(), quantity.span));
    declared.chain(rates).chain(phase).collect()
}

fn integrals(model: &Model) -> Vec<Integral> {
    let weights = [&model.constraints, &model.constraints, &model.phase_constraints];
    let weights = weights.into_iter().flatten().map(|quantity| quantity.weight);
    let constraints = constraints(model).into_iter().zip(weights);
    let constraints = constraints.map(|((name, _), weight)| Integral { name, kind: IntegralKind::Constraint, weight });
    let energy = Integral { name: ENERGY.to_owned(), kind: IntegralKind::Energy, weight: 1 };
    let invariants = model.invariants.iter().map(|quantity| Integral {
        name: quantity.name.clone(),
        kind: IntegralKind::Invariant,
        weight: quantity.weight,
    });
    constraints.chain([energy]).chain(invariants).collect()
}

fn names(declaration: &Declaration, model: &Model, integrals: &[Integral]) -> Names {
    Names {
        model: plain(&declaration.item.ident),
        symbols: model.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.latex.clone())).collect(),
        integrals: integrals.iter().map(|integral| integral.name.clone()).collect(),
    }
}

/// How many integrals a stub should have: exact unless a constraint or an invariant is a vector.
fn number_of_integrals(declaration: &Declaration) -> usize {
    let count = |named: &[syntax::Named]| -> usize {
        let members = |named: &syntax::Named| named.family.as_ref().map_or(1, |family| family.range.clone().count());
        named.iter().map(members).sum()
    };
    2 * count(&declaration.constraints) + count(&declaration.phase_constraints) + count(&declaration.invariants) + 1
}
