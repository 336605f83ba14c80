//! The source of a derivation: a file next to the sources, or the declaration, with algebra or without.

use super::messages::Messages;
#[cfg(feature = "derive")]
use crate::algebra;
use crate::check::{CheckOutcome, check};
use crate::derivation::{Derivation, Doubt, Prepared, Problem};
use crate::elaborate::Elaborated;
use crate::mechanics;
use crate::prepared::{self, Damage, Folder, Kept, Order, Trouble};
use crate::proofs;

/// A derivation, and the doubts about it.
pub(super) struct Provenance {
    pub(super) prepared: Prepared,
    pub(super) doubts: Vec<Doubt>,
    /// The file that it was read from or written to, by its path within the package.
    pub(super) file: Option<String>,
}

/// What the package's folder offers for a model.
enum Offer {
    /// A derivation that passed every check.
    Usable(Box<Prepared>, String),
    /// No derivation.
    Absent(Trouble),
    /// A file that is damaged, or that fails a check.
    Unusable(Trouble),
}

/// The derivation of a model: from its file if there is one, otherwise from the declaration.
pub(super) fn origin(messages: Messages<'_>) -> syn::Result<Provenance> {
    let Messages { model: Elaborated { problem, .. }, surroundings, .. } = messages;
    let order = surroundings.order.clone().map_err(|trouble| messages.trouble(&trouble))?;
    let Some(folder) = surroundings.folder(problem) else { return derived(messages) };
    // A package without the folder keeps nothing. What is kept is what algebra made, also where a file fits: it may be of an older version
    // of fbint.
    let has_algebra = surroundings.has_algebra();
    if has_algebra && order == Order::Write || order != Order::Write && !folder.exists() {
        return derived(messages);
    }
    match offer(&folder, problem) {
        Offer::Usable(prepared, file) => {
            if order == Order::Check && has_algebra && !is_derived_again(messages, &prepared)? {
                let text = format!("`{file}` is not what is derived from this declaration");
                return Err(messages.trouble(&Trouble::Stale(text)));
            }
            Ok(Provenance { doubts: proofs::doubts(&prepared.derivation), prepared: *prepared, file: Some(file) })
        }
        Offer::Absent(_) if has_algebra && order == Order::Use => derived(messages),
        Offer::Absent(trouble) | Offer::Unusable(trouble) => Err(messages.trouble(&trouble)),
    }
}

/// Makes the folder what it should be, where that was ordered, or says what it should not have. What is written is written each
/// time: cargo takes its date for a change, and so does what it was told even if no source has changed.
pub(super) fn settle(messages: Messages<'_>, origin: &mut Provenance, equations: &str) -> syn::Result<()> {
    let Messages { model: Elaborated { problem, .. }, surroundings, .. } = messages;
    let folder = || surroundings.folder(problem);
    let settled = match surroundings.order {
        Ok(Order::Write) => folder().map_or(Ok(()), |folder| {
            origin.file = Some(written(&folder, problem, &origin.prepared, equations)?);
            Ok(())
        }),
        Ok(Order::Check) => folder().map_or(Ok(()), |folder| without_orphans(&folder)),
        Ok(Order::Use) | Err(_) => Ok(()),
    };
    settled.map_err(|trouble| messages.trouble(&trouble))
}

fn written(folder: &Folder, problem: &Problem, prepared: &Prepared, equations: &str) -> Result<String, Trouble> {
    let text = prepared::write(problem, folder.source(), prepared, equations);
    usable(problem, &text)?;
    let file = folder.keep(&text)?;
    folder.orphans()?.iter().try_for_each(|path| folder.remove(path))?;
    Ok(file)
}

fn without_orphans(folder: &Folder) -> Result<(), Trouble> {
    match folder.orphans()?.first() {
        Some(path) => Err(Trouble::Stale(format!("`{path}` belongs to no model"))),
        None => Ok(()),
    }
}

/// Refuses to write a file that could not be used.
fn usable(problem: &Problem, text: &str) -> Result<(), Trouble> {
    let believed = prepared::read(text, problem).and_then(|prepared| prepared::believed(problem, prepared));
    let unusable =
        |Damage(reason)| Trouble::Access(format!("the derivation of `{}` cannot be kept: {reason}", problem.name));
    believed.map(|_| ()).map_err(unusable)
}

fn offer(folder: &Folder, problem: &Problem) -> Offer {
    let name = &problem.name;
    let (path, text) = match folder.find() {
        Ok(Kept::File { path, text }) => (path, text),
        Ok(Kept::Outdated(path)) => {
            return Offer::Absent(Trouble::Stale(format!(
                "the derivation of `{name}` is outdated: `{path}` is of another declaration"
            )));
        }
        Ok(Kept::Nothing) => {
            return Offer::Absent(Trouble::Stale(format!("`derivations/` has no derivation of `{name}`")));
        }
        Err(trouble) => return Offer::Unusable(trouble),
    };
    let wrong = |Damage(reason)| Offer::Unusable(Trouble::Stale(format!("`{path}` cannot be used: {reason}")));
    match prepared::read(&text, problem).and_then(|prepared| prepared::believed(problem, prepared)) {
        Err(damage) => wrong(damage),
        Ok(prepared) => Offer::Usable(Box::new(prepared), path),
    }
}

/// What follows from a problem, without a file.
fn derived(messages: Messages<'_>) -> syn::Result<Provenance> {
    let problem = &messages.model.problem;
    let prepared = prepare(messages)?;
    let doubts = proofs::doubts(&prepared.derivation);
    let (mistakes, doubts) = judge(messages, &prepared.derivation, doubts)?;
    messages.constraints(&prepared.derivation, &mistakes)?;
    if let CheckOutcome::Disagreement(quantity) = check(problem, &prepared.derivation) {
        return Err(super::messages::disagreement(messages.declaration, &quantity));
    }
    Ok(Provenance { prepared, doubts, file: None })
}

fn prepare(messages: Messages<'_>) -> syn::Result<Prepared> {
    let problem = &messages.model.problem;
    if messages.surroundings.has_algebra() {
        #[cfg(feature = "derive")]
        return algebra::prepare(problem).map_err(|obstacle| messages.obstacle(&obstacle));
    }
    mechanics::prepare(problem).map_err(|underived| messages.underived(&underived))
}

/// The doubts that are proved to be mistakes, and the others.
fn judge(messages: Messages<'_>, derivation: &Derivation, doubts: Vec<Doubt>) -> syn::Result<(Vec<Doubt>, Vec<Doubt>)> {
    if messages.surroundings.has_algebra() {
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
