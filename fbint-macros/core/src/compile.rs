//! The driver: the phases in order, mistakes flushed between them.

mod messages;

use proc_macro2::TokenStream;
use quote::quote;

use self::messages::{Messages, Obstacle};
use crate::derivation::{Derivation, Doubt, Findings, IntegralId, Involution, Problem};
use crate::diagnostics::Errors;
use crate::elaborate::{self, Model};
use crate::emit::{self, Compiled};
use crate::symbolic::session;
use crate::syntax::{self, Declaration};
use crate::table::Table;
use crate::{check, mechanics, notation, program, proofs};

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
            let stub = emit::stub(&declaration);
            let messages = error.to_compile_error();
            quote!(#stub #messages)
        }
    }
}

fn compile(declaration: &Declaration, mut errors: Errors) -> syn::Result<TokenStream> {
    // Elaboration looks at all that was understood, so that mistakes of both kinds are shown together.
    let model = elaborate::elaborate(declaration, &mut errors);
    let undefined = model.as_ref().map(|model| messages::undefined(declaration, model, &mut errors));
    errors.flush()?;
    let model = model.ok_or_else(|| messages::no_model(declaration))?;
    let (derivation, mut findings) = derive(declaration, &model)?;
    findings.doubts.splice(0..0, undefined.into_iter().flatten());
    if let Some(disagreement) = check::disagreement(&model.problem, &derivation) {
        return Err(messages::disagreement(declaration, &disagreement));
    }

    let fault = |fault| messages::fault(declaration, &fault);
    let programs = program::assemble(&derivation).map_err(fault)?;
    let unverified = program::verify(&derivation, &programs).map_err(fault)?;
    if !unverified.is_empty() {
        findings.doubts.push(Doubt::Unverified(unverified));
    }
    Ok(emit::emit(&Compiled {
        declaration,
        places: &model.places,
        derivation: &derivation,
        programs: &programs,
        conservation: &findings.conservation,
        latex: &notation::latex(&derivation, &findings),
        equations: &notation::plain(&derivation, &findings),
        summary: &notation::summary(&derivation, &findings),
    }))
}

/// All algebra of the model, in one session; then what can be found out with numbers.
fn derive(declaration: &Declaration, model: &Model) -> syn::Result<(Derivation, Findings)> {
    let (messages, problem) = (Messages { declaration, model }, &model.problem);
    let Algebra { derivation, claims, involution, mistakes, doubts } = session(|| algebra(problem))
        .map_err(|error| messages.session(&error))?
        .map_err(|obstacle| messages.obstacle(&obstacle))?;
    messages.constraints(&derivation, &mistakes)?;
    let conservation =
        proofs::prove(&derivation, &claims).map_err(|violations| messages.not_conserved(&derivation, &violations))?;
    let findings = Findings {
        conservation,
        involution,
        rank: proofs::rank(&derivation),
        roots: elaborate::roots(problem),
        doubts,
    };
    Ok((derivation, findings))
}

/// What needs a session.
struct Algebra {
    derivation: Derivation,
    claims: Table<IntegralId, proofs::Claim>,
    involution: Involution,
    /// Doubts that are proved to be mistakes.
    mistakes: Vec<Doubt>,
    doubts: Vec<Doubt>,
}

fn algebra(problem: &Problem) -> Result<Algebra, Obstacle> {
    let derivation = mechanics::derive(problem).map_err(Obstacle::Unreal)?;
    if let Some(reason) = proofs::not_poisson(&derivation) {
        return Err(Obstacle::NotPoisson(reason));
    }
    let claims = proofs::claims(&derivation);
    let involution = proofs::involution(&derivation, &claims);
    let doubts = proofs::doubts(&derivation).into_iter();
    let (mistakes, doubts) = doubts.partition(|doubt| proofs::is_mistake(&derivation, doubt));
    Ok(Algebra { derivation, claims, involution, mistakes, doubts })
}
