//! The driver: the phases in order, mistakes flushed between them.

mod domain;
mod proofs;

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;

use crate::derivation::{Constraints, Derivation, Doubt, Dynamics, Findings, Problem};
use crate::diagnostics::Errors;
use crate::elaborate::{self, Model};
use crate::emit::{self, Compiled, Integral, IntegralKind};
use crate::mechanics::{self, NotPoisson, Obstacle, Quantity};
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
    let undefined = model.as_ref().map(|model| domain::report(declaration, model, &mut errors));
    errors.flush()?;
    let name = declaration.item.ident.span();
    let model = model.ok_or_else(|| syn::Error::new(name, "internal error: no model and no mistake"))?;

    let (derivation, mut findings) = derive(declaration, &model)?;
    findings.doubts.splice(0..0, undefined.into_iter().flatten());
    let programs = program::assemble(&derivation);
    let unverified = program::verify(&derivation, &programs).map_err(|function| {
        let text = format!("internal error: `{function}` as generated disagrees with its derivation; please report it");
        syn::Error::new(name, text)
    })?;
    if !unverified.is_empty() {
        findings.doubts.push(Doubt::Unverified(unverified));
    }

    let integrals = integrals(&model, &derivation);
    let names = names(declaration, &model, &integrals);
    let compiled = Compiled {
        declaration,
        symbols: &model.symbols,
        integrals: &integrals,
        outputs: &names.outputs,
        derivation: &derivation,
        programs: &programs,
        conservation: &findings.conservation,
        latex: &notation::latex(&derivation, &findings, &names),
        equations: &notation::plain(&derivation, &findings, &names),
        summary: &notation::summary(&findings, &names),
    };
    Ok(emit::emit(&compiled))
}

/// What the algebra has to know of a model.
pub fn problem(model: &Model) -> Problem {
    let values =
        |quantities: &[elaborate::Quantity]| quantities.iter().map(|quantity| quantity.value.clone()).collect();
    Problem {
        dimension: model.dimension,
        dynamics: model.dynamics.clone(),
        constraints: values(&model.constraints),
        phase: values(&model.phase_constraints),
        invariants: values(&model.invariants),
        outputs: model.outputs.iter().map(|output| output.value.clone()).collect(),
        first_multiplier: model.symbols.len() as u32,
    }
}

/// All algebra of the model, in one session; then what can be found out with numbers.
fn derive(declaration: &Declaration, model: &Model) -> syn::Result<(Derivation, Findings)> {
    let problem = problem(model);
    let algebra = || {
        let derivation = mechanics::derive(&problem)?;
        let claims = mechanics::claims(&derivation);
        let involution = mechanics::involution(&derivation, &claims);
        Ok((derivation, claims, involution))
    };
    let (derivation, claims, involution) = session(algebra)
        .map_err(|error: SessionError| syn::Error::new(declaration.item.ident.span(), error))?
        .map_err(|obstacle| explain(declaration, model, &obstacle))?;
    let mut errors = Errors::new();
    report_constants(model, &derivation, &mut errors);
    let mut doubts = Vec::new();
    if errors.is_empty() {
        doubts = report_constraints(declaration, model, &derivation, &mut errors);
    }
    errors.flush()?;
    let conservation = mechanics::prove(&derivation, &claims)
        .map_err(|violations| proofs::explain(declaration, model, &derivation, &violations))?;
    let findings = Findings {
        conservation,
        involution,
        dependence: mechanics::dependence(&derivation),
        roots: roots(model, &derivation),
        doubts,
    };
    Ok((derivation, findings))
}

/// Constraints such as |q| - l, whose squares would do.
fn roots(model: &Model, derivation: &Derivation) -> Vec<usize> {
    let holonomic = model.constraints.iter().enumerate();
    let phase_from = derivation.constraint_count - model.phase_constraints.len();
    let phase = model.phase_constraints.iter().enumerate().map(|(index, quantity)| (phase_from + index, quantity));
    let is_root =
        |quantity: &elaborate::Quantity| mechanics::is_difference_of_roots(&quantity.value, derivation.dimension);
    holonomic.chain(phase).filter(|(_, quantity)| is_root(quantity)).map(|(index, _)| index).collect()
}

fn explain(declaration: &Declaration, model: &Model, obstacle: &Obstacle) -> syn::Error {
    let name = declaration.item.ident.span();
    let place = |expression: &Option<syn::Expr>| expression.as_ref().map_or(name, |expression| expression.span());
    let state = |index: &usize| &model.symbols[*index].name;
    let poisson = place(&declaration.poisson);
    match obstacle {
        Obstacle::NotReal(quantity) => {
            let (what, span) = match quantity {
                Quantity::Hamiltonian => ("the Hamiltonian".to_owned(), place(&declaration.hamiltonian)),
                Quantity::Poisson => ("the Poisson matrix".to_owned(), poisson),
                Quantity::Rate(index) => {
                    let variable = &model.symbols[*index].variable;
                    let rate = declaration.dynamics.iter().find(|rate| rate.name == *variable);
                    (format!("the rate of `{}`", state(index)), rate.map_or(name, |rate| rate.name.span()))
                }
                Quantity::Constraint(index) => described(&model.constraints[*index]),
                Quantity::Phase(index) => described(&model.phase_constraints[*index]),
                Quantity::Invariant(index) => described(&model.invariants[*index]),
            };
            let reason = "some part of it divides by zero or takes the root of a negative number; remove that part";
            syn::Error::new(span, format!("{what} has no finite real derivative: {reason}"))
        }
        Obstacle::NotPoisson(NotPoisson::NotAntisymmetric(i, j)) if i == j => {
            let text = format!(
                "the Poisson matrix is not antisymmetric: its entry ({i}, {i}), for `{}`, is not 0 as those of its diagonal must be",
                state(i)
            );
            syn::Error::new(poisson, text)
        }
        Obstacle::NotPoisson(NotPoisson::NotAntisymmetric(i, j)) => {
            let text = format!(
                "the Poisson matrix is not antisymmetric: its entries ({i}, {j}) and ({j}, {i}), for `{}` and `{}`, do not \
                 add up to 0: make one the negative of the other",
                state(i),
                state(j)
            );
            syn::Error::new(poisson, text)
        }
        Obstacle::NotPoisson(NotPoisson::JacobiFails(i, j, k)) => {
            let text = format!(
                "the matrix is no Poisson matrix: the Jacobi identity fails for `{}`, `{}`, `{}`; give the field by \
                 `dynamics` if that is meant",
                state(i),
                state(j),
                state(k)
            );
            syn::Error::new(poisson, text)
        }
    }
}

/// Elaboration refuses what names no unknown; here everything that depended on one has cancelled.
fn report_constants(model: &Model, derivation: &Derivation, errors: &mut Errors) {
    let energy = derivation.energy.map(|_| (ENERGY.to_owned(), Span::call_site()));
    let invariants = model.invariants.iter().map(|quantity| (quantity.name.clone(), quantity.span));
    let integrals = constraints(model).into_iter().chain(energy).chain(invariants);
    let holonomic = derivation.constraints().map_or(0, Constraints::holonomic);
    for (index, (name, span)) in integrals.enumerate() {
        let is_rate = (holonomic..2 * holonomic).contains(&index);
        if Some(index) != derivation.energy && !is_rate && derivation.gradients[index].is_empty() {
            errors.push(span, format_args!("`{name}` is constant: everything in it that could change cancels"));
        }
    }
}

fn described(quantity: &elaborate::Quantity) -> (String, Span) {
    (format!("`{}`", quantity.name), quantity.span)
}

/// Reports what is proved to make the constraints unfit: C singular everywhere, or no state that satisfies them, or C singular
/// in all of those. Gives what merely seems to.
fn report_constraints(
    declaration: &Declaration,
    model: &Model,
    derivation: &Derivation,
    errors: &mut Errors,
) -> Vec<Doubt> {
    let doubts = mechanics::doubts(derivation);
    if doubts.is_empty() {
        return doubts;
    }
    let judge = || doubts.into_iter().partition(|doubt| mechanics::is_mistake(derivation, doubt));
    let (mistakes, mut doubts): (Vec<Doubt>, Vec<Doubt>) = match session(judge) {
        Ok(judged) => judged,
        Err(error) => {
            errors.push(declaration.item.ident.span(), error);
            return Vec::new();
        }
    };
    match &mistakes[..] {
        [.., Doubt::OneSign { member, positive }] => report_sign(model, derivation, *member, *positive, errors),
        [Doubt::Singular { members, everywhere: true }, Doubt::Unsatisfied(_)] => {
            let reason =
                |names: &str| format!("{names} contradict one another: no state satisfies all of them; remove one");
            report_singular(model, members, "everywhere", &reason, errors);
        }
        [Doubt::Singular { members, everywhere }, ..] => {
            let place = if *everywhere { "everywhere" } else { "wherever the constraints hold" };
            report_singular(model, members, place, &depend_on_one_another, errors);
        }
        [Doubt::Unsatisfied(members), ..] => report_contradiction(model, members, errors),
        [Doubt::NoGradient(member), ..] => report_flat(model, *member, errors),
        _ => {}
    }
    // What is singular everywhere is so where the constraints hold, too: one note will do.
    if doubts.iter().any(|doubt| matches!(doubt, Doubt::Singular { everywhere: true, .. })) {
        doubts.retain(|doubt| !matches!(doubt, Doubt::Singular { everywhere: false, .. }));
    }
    doubts
}

fn report_sign(model: &Model, derivation: &Derivation, member: usize, positive: bool, errors: &mut Errors) {
    let (name, span) = &constraints(model)[member];
    let text = if mechanics::is_never_zero(&derivation.integrals[member]) {
        let sign = if positive { "positive" } else { "negative" };
        format!("`{name}` is {sign} in every state, so it is never 0 and no motion satisfies it: check its signs")
    } else {
        let sign = if positive { "negative" } else { "positive" };
        format!(
            "`{name}` is never {sign}, so that its gradient vanishes wherever `{name}` does and C is singular there: check \
             its signs"
        )
    };
    errors.push(*span, text);
}

fn report_contradiction(model: &Model, members: &[usize], errors: &mut Errors) {
    let constraints = constraints(model);
    let names: Vec<String> = members.iter().map(|&index| format!("`{}`", constraints[index].0)).collect();
    let text =
        format!("{} contradict one another: no state satisfies all of them; correct or remove one", names.join(", "));
    let span = members.last().map_or_else(Span::call_site, |&last| constraints[last].1);
    errors.push(span, text);
}

fn report_flat(model: &Model, member: usize, errors: &mut Errors) {
    let (name, span) = &constraints(model)[member];
    let text = format!(
        "the gradient of `{name}` vanishes wherever `{name}` does, so that C is singular there: drop the power, or whatever \
         makes `{name}` touch 0 without crossing it"
    );
    errors.push(*span, text);
}

fn depend_on_one_another(names: &str) -> String {
    format!("{names} depend on one another; remove one of them")
}

fn report_singular(
    model: &Model,
    members: &[usize],
    place: &str,
    several: &dyn Fn(&str) -> String,
    errors: &mut Errors,
) {
    let holonomic = model.constraints.len();
    // A rate stands for the constraint that it is the rate of: users declare only that.
    let declared = |index: &usize| if (holonomic..2 * holonomic).contains(index) { index - holonomic } else { *index };
    let culprits: BTreeSet<usize> = members.iter().map(declared).collect();
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
        _ => several(&names.join(", ")),
    };
    let span = members[last].1;
    errors.push(span, format_args!("the matrix C of the constraints' Poisson brackets is singular {place}: {reason}"));
}

/// Every constraint f with the place where it was declared, in the derivation's order.
fn constraints(model: &Model) -> Vec<(String, Span)> {
    let declared = model.constraints.iter().map(|quantity| (quantity.name.clone(), quantity.span));
    let rates = model.constraints.iter().map(|quantity| (quantity.rate_name.clone(), quantity.span));
    let rates = rates.filter(|_| is_canonical(model));
    let phase = model.phase_constraints.iter().map(|quantity| (quantity.name.clone(), quantity.span));
    declared.chain(rates).chain(phase).collect()
}

fn is_canonical(model: &Model) -> bool {
    matches!(model.dynamics, Dynamics::Canonical { .. })
}

fn integrals(model: &Model, derivation: &Derivation) -> Vec<Integral> {
    let rates = model.constraints.iter().filter(|_| is_canonical(model));
    let weights = model.constraints.iter().chain(rates).chain(&model.phase_constraints);
    let constraints = constraints(model).into_iter().zip(weights.map(|quantity| quantity.weight));
    let constraints = constraints.map(|((name, _), weight)| Integral { name, kind: IntegralKind::Constraint, weight });
    let energy = derivation.energy.map(|_| Integral { name: ENERGY.to_owned(), kind: IntegralKind::Energy, weight: 1 });
    let invariants = model.invariants.iter().map(|quantity| Integral {
        name: quantity.name.clone(),
        kind: IntegralKind::Invariant,
        weight: quantity.weight,
    });
    constraints.chain(energy).chain(invariants).collect()
}

fn names(declaration: &Declaration, model: &Model, integrals: &[Integral]) -> Names {
    Names {
        model: plain(&declaration.item.ident),
        symbols: model.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.latex.clone())).collect(),
        integrals: integrals.iter().map(|integral| integral.name.clone()).collect(),
        weights: integrals.iter().map(|integral| integral.weight).collect(),
        outputs: model.outputs.iter().map(|output| output.name.clone()).collect(),
    }
}

/// How many integrals a stub should have: exact unless a constraint or an invariant is a vector.
fn number_of_integrals(declaration: &Declaration) -> usize {
    let count = |named: &[syntax::Named]| -> usize {
        let members = |named: &syntax::Named| named.family.as_ref().map_or(1, |family| family.range.clone().count());
        named.iter().map(members).sum()
    };
    let constraints = if declaration.canonical { 2 } else { 1 } * count(&declaration.constraints);
    let energy = usize::from(declaration.dynamics.is_empty());
    constraints + count(&declaration.phase_constraints) + energy + count(&declaration.invariants)
}
