//! Errors, collected and flushed.
//!
//! A phase of the compiler pushes every mistake that it finds, each at the user's own token, and the driver flushes at
//! the phase's end: all mistakes of a phase are shown together, and no later phase reports their second-hand effects.

use proc_macro2::Span;

/// Collects mistakes. Dropping it unflushed is a bug of the compiler and panics.
#[derive(Debug, Default)]
pub struct Errors {
    errors: Vec<syn::Error>,
    flushed: bool,
}

impl Errors {
    /// No mistakes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a mistake at `span`.
    pub fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(syn::Error::new(span, message));
    }

    /// Records a mistake at all of `tokens`.
    pub fn push_spanned(&mut self, tokens: impl quote::ToTokens, message: impl std::fmt::Display) {
        self.errors.push(syn::Error::new_spanned(tokens, message));
    }

    /// Records mistakes that a parser found.
    pub fn absorb(&mut self, error: syn::Error) {
        self.errors.extend(error);
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// How many mistakes were recorded.
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Ends the collection: `Err` with every mistake, in the order in which they were found.
    pub fn flush(mut self) -> Result<(), syn::Error> {
        self.flushed = true;
        let mut errors = std::mem::take(&mut self.errors).into_iter();
        let Some(mut all) = errors.next() else { return Ok(()) };
        all.extend(errors);
        Err(all)
    }
}

/// The candidate that `name` most likely stands for, if one is near enough to be worth offering.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let enough = (length.max(3) / 3).min(length.saturating_sub(1));
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= enough)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The text of a panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}

impl Drop for Errors {
    fn drop(&mut self) {
        if !self.flushed && !std::thread::panicking() {
            panic!("errors were collected and never flushed");
        }
    }
}
