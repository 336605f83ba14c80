//! A declaration given as text, and what the compiler's first phases say about it.

use fbint_macros_core::compile::understood;
use fbint_macros_core::elaborate::Elaborated;
use fbint_macros_core::prepared::BuildEnvironment;
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::syntax::{Declaration, parse};
use proc_macro2::TokenStream;

/// A message and the source text that it points at.
pub(crate) type Message = (String, String);

/// Syntax, meaning and soundness; every message in the order of discovery.
pub(crate) fn read(attribute: &str, item: &str) -> (Option<Declaration>, Option<Elaborated>, Vec<Message>) {
    let attribute: TokenStream = attribute.parse().expect("the attribute is made of tokens");
    let item: TokenStream = item.parse().expect("the item is made of tokens");
    let errors = Errors::new();
    let mut declaration = parse(attribute, item, &errors);
    let environment = BuildEnvironment::nowhere();
    let understood = declaration.as_mut().and_then(|declaration| understood(declaration, &errors, &environment));
    let model = understood.map(|(model, _)| model);
    let messages = match errors.flush() {
        Ok(()) => Vec::new(),
        Err(errors) => errors.into_iter().map(|error| (error.to_string(), text(error.span()))).collect(),
    };
    (declaration, model, messages)
}

fn text(span: proc_macro2::Span) -> String {
    span.source_text().unwrap_or_default()
}
