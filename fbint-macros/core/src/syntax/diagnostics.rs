//! Errors, collected and flushed.
//!
//! A phase of the compiler pushes every mistake that it finds, each at the user's own token, and the driver flushes at
//! the phase's end: all mistakes of a phase are shown together, and no later phase reports their second-hand effects.
//!
//! A message says what is wrong. Its remedy, if there is one, follows in a separate line that begins with `help: `.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::Span;

/// The text between a mistake and its remedy.
pub const HELP: &str = "\nhelp: ";

/// The remedy for a bug of the compiler: its report needs the version and the declaration.
pub(crate) const REPORT: &str =
    concat!("this is a bug of fbint ", env!("CARGO_PKG_VERSION"), ", please report it with the declaration");

/// A mistake and advice, which may be a reason with its own remedy.
pub(crate) fn advised(mistake: impl Display, advice: impl Display) -> String {
    let advice = advice.to_string();
    let separator = if advice.contains(HELP) { ": " } else { HELP };
    format!("{mistake}{separator}{advice}")
}

/// Collects mistakes, and is shared by all who find them. Dropping it unflushed is a bug of the compiler and panics.
#[derive(Debug, Default)]
pub struct Errors {
    errors: RefCell<Vec<syn::Error>>,
    flushed: bool,
}

impl Errors {
    /// No mistakes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a mistake at `span`.
    pub fn push(&self, span: Span, message: impl Display) {
        self.errors.borrow_mut().push(syn::Error::new(span, message));
    }

    /// Records a mistake at all of `tokens`.
    pub fn push_spanned(&self, tokens: impl quote::ToTokens, message: impl Display) {
        self.errors.borrow_mut().push(syn::Error::new_spanned(tokens, message));
    }

    /// Records mistakes that a parser found.
    pub fn absorb(&self, error: syn::Error) {
        self.errors.borrow_mut().extend(error);
    }

    /// The value read, or `None` after recording mistakes.
    pub(crate) fn reported<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.absorb(error)).ok()
    }

    /// Returns `true` if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.errors.borrow().is_empty()
    }

    /// The number of mistakes that were recorded.
    pub fn len(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Forgets the mistakes that were recorded after the first `count`.
    pub(crate) fn forget(&self, count: usize) {
        self.errors.borrow_mut().truncate(count);
    }

    /// Ends the collection: `Err` with every mistake, in the order in which they were found.
    pub fn flush(mut self) -> Result<(), syn::Error> {
        self.flushed = true;
        let combined = self.errors.take().into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        combined.map_or(Ok(()), Err)
    }
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
