//! The driver: the phases in order, mistakes flushed between them.
//!
//! Nothing that the computer-algebra system answers is trusted. Everything is derived a second time by automatic differentiation, in
//! 256 bits, and compared (`check`); then the programs are evaluated and compared with the derivation (`program::verify`). A disagreement
//! is reported as an error of the compiler and never becomes a wrong result.
//!
//! A search among states suggests, and proves nothing: a [`Doubt`] is an error only if exact arithmetic proves it, with signs, ranks modulo
//! primes, a Groebner basis, or a determinant that vanishes modulo the constraints (`algebra::judge`). Every other doubt is a note in the
//! documentation of the model. Notes cannot be warnings: a procedural macro cannot emit any on stable Rust, and the usual trick, an item
//! that is `#[deprecated]`, breaks builds that deny warnings.

mod messages;
mod origin;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;

use self::messages::Messages;
pub(crate) use self::messages::panicked;
use self::origin::{Provenance, bring_up_to_date, further, origin};
use crate::derivation::{Derivation, Doubt, Findings, Prepared, VelocityConstraints};
use crate::elaborate::{self, Elaborated};
use crate::emit::{self, CompiledModel};
use crate::expression::Expression;
use crate::expression::work::begin;
use crate::prepared::{BuildEnvironment, VARIABLE};
use crate::program::{self, ModelSeries};
use crate::syntax::diagnostics::{Errors, panic_text};
use crate::syntax::{self, Declaration, plain};
use crate::{notation, proofs, soundness};

/// The expansion of `#[feedback_system(attribute)] item`. A mistaken declaration expands to its struct, a stub, and one
/// `compile_error!` for each mistake.
pub fn feedback_system(attribute: TokenStream, item: TokenStream, environment: &BuildEnvironment) -> TokenStream {
    caught(attribute, item, |attribute, item| expanded(attribute, item, environment))
}

/// Calls `expand` with a declaration. Returns one error at the attribute if it panics.
pub fn caught(
    attribute: TokenStream,
    item: TokenStream,
    expand: impl FnOnce(TokenStream, TokenStream) -> TokenStream,
) -> TokenStream {
    let expansion = catch_unwind(AssertUnwindSafe(|| expand(attribute, item.clone())));
    // The panic's own text, with its place, has been printed when it arrives here.
    expansion.unwrap_or_else(|panic| {
        let error = syn::Error::new(Span::call_site(), panicked(&panic_text(&*panic)));
        mistaken(None, item, Some(error))
    })
}

fn expanded(attribute: TokenStream, item: TokenStream, environment: &BuildEnvironment) -> TokenStream {
    let errors = Errors::new();
    let Some(mut declaration) = syntax::parse(attribute, item.clone(), &errors) else {
        return mistaken(None, item, errors.flush().err());
    };
    compile(&mut declaration, errors, environment)
        .unwrap_or_else(|error| mistaken(Some(&declaration), item, Some(error)))
}

/// The struct, a stub where it can be parsed, and one `compile_error!` for each mistake.
fn mistaken(declaration: Option<&Declaration>, item: TokenStream, mistakes: Option<syn::Error>) -> TokenStream {
    let surface = declaration.map_or(item, emit::stub);
    let messages = mistakes.map(|error| error.to_compile_error());
    quote!(#surface #messages)
}

fn compile(declaration: &mut Declaration, errors: Errors, environment: &BuildEnvironment) -> syn::Result<TokenStream> {
    let model = model(declaration, errors, environment)?;
    let code = emit::emit(declaration, &model);
    let tracked = tracked(model.file.as_deref());
    Ok(quote!(#code #tracked))
}

/// The model that is declared, or every mistake of the first phase that finds some.
pub fn model(
    declaration: &mut Declaration,
    errors: Errors,
    environment: &BuildEnvironment,
) -> syn::Result<CompiledModel> {
    begin("reading its expressions");
    // Elaboration looks at all that was understood, so that mistakes of both kinds are shown together.
    let Some((elaborated, unsound)) = understood(declaration, &errors, environment) else {
        return Err(messages::mistakes(declaration, errors));
    };
    let declaration = &*declaration;
    let messages = Messages { declaration, model: &elaborated, environment };
    begin("searching for states in which its expressions are undefined");
    let undefined = undefined(messages, errors)?;
    let mut origin = origin(messages)?;
    let mut findings = findings(messages, &origin, all_doubts(undefined, &unsound, &origin.doubts))?;
    let derivation = &origin.prepared.derivation;
    starts_on_constraints(messages, derivation)?;
    findings.doubts.extend(starts_beyond_a_turn(&elaborated));

    begin("writing its functions");
    let scenery = &elaborated.scenery;
    let events = scenery.events.iter().filter(|_| declaration.taylor || environment.is_text);
    let events: Vec<Expression> = events.map(|event| scenery.event_values[event.value].clone()).collect();
    let programs = program::assemble_with_events(derivation, declaration.derivatives, &events);
    begin("comparing its functions with its equations");
    let unverified = program::verify(derivation, &programs).map_err(|fault| messages::fault(declaration, &fault))?;
    if !unverified.is_empty() {
        findings.doubts.push(Doubt::Unverified(unverified));
    }
    let series = declaration.taylor.then(|| ModelSeries::of(&programs)).transpose();
    let series = series.map_err(|fault| messages::fault(declaration, &fault))?;
    let undeclared = notation::undeclared(derivation, &findings.further);
    let doubts = notation::doubts(derivation, &findings);
    let switches =
        programs.switches.iter().map(|switch| notation::short(&switch.argument, &derivation.symbols)).collect();
    bring_up_to_date(messages, &mut origin, &findings)?;
    let (derivation, file) = (origin.prepared.derivation, origin.file);
    Ok(CompiledModel { elaborated, derivation, programs, series, findings, undeclared, doubts, switches, file })
}

/// The meaning of a declaration, and doubts about its soundness. Returns `None` if there are mistakes.
pub fn understood(
    declaration: &mut Declaration,
    errors: &Errors,
    environment: &BuildEnvironment,
) -> Option<(Elaborated, Vec<Doubt>)> {
    let mut model = elaborate::elaborate(declaration, errors)?;
    let (mistakes, doubts) = soundness::judge(&mut model.problem, model.start_values.known_parameters());
    Messages { declaration, model: &model, environment }.unsound(&mistakes, errors);
    errors.is_empty().then_some((model, doubts))
}

/// Refuses functions that are certainly undefined, and returns doubts about others.
fn undefined(messages: Messages<'_>, errors: Errors) -> syn::Result<Vec<Doubt>> {
    let Elaborated { problem, start_values, .. } = messages.model;
    let doubts = messages.undefined(soundness::undefined(problem), &errors);
    messages.roots(&soundness::roots(problem), &errors);
    let undefined = |start| soundness::undefined_at_start(problem, start_values.known_parameters(), start);
    if errors.is_empty()
        && let Some((quantity, part)) = start_values.start.as_deref().and_then(undefined)
    {
        messages.undefined_at_start(quantity, &part, &errors);
    }
    errors.flush()?;
    Ok(doubts)
}

/// Refuses a start that violates a constraint, where the numbers of both are known: by the defaults of the parameters, if at all.
fn starts_on_constraints(messages: Messages<'_>, derivation: &Derivation) -> syn::Result<()> {
    let values = &messages.model.start_values;
    let violated = |start| soundness::violated_at_start(derivation, values.known_parameters(), start);
    match values.start.as_deref().and_then(violated) {
        Some((constraint, value)) => Err(messages.violated(derivation, constraint, value)),
        None => Ok(()),
    }
}

/// Angles that start beyond a full turn, as those in degrees do.
fn starts_beyond_a_turn(Elaborated { problem, start_values, .. }: &Elaborated) -> impl Iterator<Item = Doubt> + use<> {
    let beyond = |start| soundness::beyond_a_turn(problem, start_values.known_parameters(), start);
    start_values.start.as_deref().map(beyond).unwrap_or_default().into_iter().map(Doubt::BeyondATurn)
}

/// Everything that is found out about a derivation, by algebra and in numbers.
fn findings(messages: Messages<'_>, origin: &Provenance, doubts: Vec<Doubt>) -> syn::Result<Findings> {
    let Prepared { derivation, claims, involution } = &origin.prepared;
    begin("proving that its integrals are conserved");
    let conservation =
        proofs::prove(derivation, claims).map_err(|violations| messages.not_conserved(derivation, &violations))?;
    begin("searching for undeclared integrals");
    let further = further(messages, derivation)?;
    begin("analysing its constraints and its kinetic energy");
    Ok(Findings {
        conservation,
        involution: involution.clone(),
        further,
        rank: proofs::rank(derivation),
        kinetic_energy: proofs::kinetic_energy(derivation),
        roots: proofs::constraints_that_are_roots(&messages.model.problem),
        velocity_constraints: soundness::are_integrable(&messages.model.problem, derivation).map(|are_holonomic| {
            let names = messages.declaration.velocity_constraints.iter().map(|named| plain(&named.name)).collect();
            VelocityConstraints { names, are_holonomic }
        }),
        doubts,
    })
}

/// All doubts, each once: some are found both in the problem and in its derivation, which has the same linear systems.
fn all_doubts(undefined: Vec<Doubt>, declared: &[Doubt], derived: &[Doubt]) -> Vec<Doubt> {
    let new = derived.iter().filter(|doubt| !declared.contains(doubt));
    undefined.into_iter().chain(declared.iter().chain(new).cloned()).collect()
}

/// Makes cargo compile the model again when its prepared derivation or the environment variable changes.
fn tracked(file: Option<&str>) -> TokenStream {
    let variable = Literal::string(VARIABLE);
    let file = file.map(|path| {
        let path = Literal::string(&format!("/{path}"));
        quote! {
            const _: &[::core::primitive::u8] =
                ::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #path));
        }
    });
    quote! {
        const _: ::core::option::Option<&::core::primitive::str> = ::core::option_env!(#variable);
        #file
    }
}
