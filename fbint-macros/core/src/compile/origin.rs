//! The source of a derivation: a file next to the sources, or the declaration, with algebra or without.

use super::messages::Messages;
#[cfg(feature = "derive")]
use crate::algebra;
use crate::check::{CheckOutcome, check};
use crate::derivation::{Derivation, Doubt, Findings, Further, Prepared, Problem};
use crate::elaborate::Elaborated;
use crate::expression::work::begin;
use crate::mechanics;
use crate::notation;
use crate::prepared::{self, FileError, Folder, Order};
use crate::proofs::{self, MOST_MONOMIALS};

/// A derivation, and the doubts about it.
pub(super) struct Provenance {
    pub(super) prepared: Prepared,
    pub(super) doubts: Vec<Doubt>,
    /// The file that it was read from or written to, by its path within the package.
    pub(super) file: Option<String>,
}

/// The derivation of a model: from its file if there is one, otherwise from the declaration.
pub(super) fn origin(messages: Messages<'_>) -> syn::Result<Provenance> {
    let Messages { model: Elaborated { problem, .. }, environment, .. } = messages;
    let failure = |failure| messages.file_error(&failure);
    let order = environment.order.clone().map_err(failure)?;
    let Some(folder) = environment.folder(problem) else { return derived(messages) };
    // A package without the folder keeps nothing. What is kept is what algebra made, also where a file fits: it may be of an older version
    // of fbint.
    let has_algebra = environment.has_algebra();
    if has_algebra && order == Order::Write || order != Order::Write && !folder.exists() {
        return derived(messages);
    }
    let (file, text) = match folder.find() {
        Err(FileError::Stale(_)) if has_algebra && order == Order::Use => return derived(messages),
        found => found.map_err(failure)?,
    };
    let prepared = read_and_verify(&text, problem)
        .map_err(|reason| failure(FileError::Stale(format!("`{file}` cannot be used: {reason}"))))?;
    if order == Order::Check && has_algebra && !is_derived_again(messages, &prepared)? {
        return Err(failure(FileError::Stale(format!("`{file}` is not what is derived from this declaration"))));
    }
    Ok(Provenance { doubts: proofs::doubts(&prepared.derivation), prepared, file: Some(file) })
}

/// The conserved quantities that are not declared.
pub(super) fn further(messages: Messages<'_>, derivation: &Derivation) -> syn::Result<Further> {
    let Some((degree, span)) = messages.declaration.search_degree() else {
        return Ok(proofs::further(derivation, None));
    };
    let count = proofs::monomials_up_to(derivation, degree);
    if count > MOST_MONOMIALS {
        Err(messages.too_many(count, degree, span))
    } else {
        Ok(proofs::further(derivation, Some(degree)))
    }
}

/// The contents of a file's text, if all of it is true of the problem.
fn read_and_verify(text: &str, problem: &Problem) -> Result<Prepared, String> {
    prepared::read(text, problem).and_then(|prepared| prepared::verify_kept(problem, prepared))
}

/// Brings the folder up to date if that was ordered, or reports the files that it should not have. It writes a file each time: cargo takes
/// the new date for a change, and so obeys an order even if no source has changed.
pub(super) fn bring_up_to_date(
    messages: Messages<'_>,
    origin: &mut Provenance,
    findings: &Findings,
) -> syn::Result<()> {
    let Messages { model: Elaborated { problem, .. }, environment, .. } = messages;
    let Ok(order @ (Order::Write | Order::Check)) = environment.order else { return Ok(()) };
    let Some(folder) = environment.folder(problem) else { return Ok(()) };
    let result = if order == Order::Write {
        written(&folder, problem, &origin.prepared, findings).map(|file| origin.file = Some(file))
    } else {
        without_orphans(&folder)
    };
    result.map_err(|failure| messages.file_error(&failure))
}

fn written(folder: &Folder, problem: &Problem, prepared: &Prepared, findings: &Findings) -> Result<String, FileError> {
    let equations = notation::plain(&prepared.derivation, findings);
    let text = prepared::write(problem, folder.source(), prepared, &equations);
    // What could not be used is not written.
    read_and_verify(&text, problem).map_err(|reason| {
        FileError::Access(format!("the derivation of `{}` cannot be kept: {reason}", problem.name))
    })?;
    let file = folder.keep(&text)?;
    folder.orphans()?.iter().try_for_each(|path| folder.remove(path))?;
    Ok(file)
}

fn without_orphans(folder: &Folder) -> Result<(), FileError> {
    match folder.orphans()?.first() {
        Some(path) => Err(FileError::Stale(format!("`{path}` belongs to no model"))),
        None => Ok(()),
    }
}

/// The derivation from a problem, without a file.
fn derived(messages: Messages<'_>) -> syn::Result<Provenance> {
    let problem = &messages.model.problem;
    begin("deriving its equations");
    let prepared = prepare(messages)?;
    begin("searching for states in which its constraints are dependent");
    let doubts = proofs::doubts(&prepared.derivation);
    let (mistakes, doubts) = judge(messages, &prepared.derivation, doubts)?;
    messages.constraints(&prepared.derivation, &mistakes)?;
    begin("comparing its equations with a second derivation");
    if let CheckOutcome::Disagreement(quantity) = check(problem, &prepared.derivation) {
        return Err(super::messages::disagreement(messages.declaration, &quantity));
    }
    Ok(Provenance { prepared, doubts, file: None })
}

fn prepare(messages: Messages<'_>) -> syn::Result<Prepared> {
    let problem = &messages.model.problem;
    if messages.environment.has_algebra() {
        #[cfg(feature = "derive")]
        return algebra::prepare(problem).map_err(|obstacle| messages.obstacle(&obstacle));
    }
    mechanics::prepare(problem).map_err(|underived| messages.underived(&underived))
}

/// The doubts that are proved to be mistakes, and the others.
fn judge(messages: Messages<'_>, derivation: &Derivation, doubts: Vec<Doubt>) -> syn::Result<(Vec<Doubt>, Vec<Doubt>)> {
    if messages.environment.has_algebra() {
        #[cfg(feature = "derive")]
        return algebra::judge(derivation, doubts).map_err(|error| messages.session(&error));
    }
    Ok(doubts.into_iter().partition(|doubt| proofs::is_mistake(derivation, doubt)))
}

/// Returns `true` if algebra gives the same derivation.
fn is_derived_again(messages: Messages<'_>, kept: &Prepared) -> syn::Result<bool> {
    let text = |prepared: &Prepared| prepared::write(&messages.model.problem, None, prepared, "");
    Ok(text(&derived(messages)?.prepared) == text(kept))
}
