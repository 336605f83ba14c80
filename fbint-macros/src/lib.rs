//! The attribute `#[feedback_system]`. Use it through `fbint-runtime`, which re-exports it and which the generated code
//! calls.

use fbint_macros_core::compile;
use fbint_macros_core::prepared::Surroundings;
use proc_macro::{Span, TokenStream, TokenTree};

// Its examples are tests of the runtime, without which they do not compile.
#[cfg_attr(not(doctest), doc = include_str!("manual.md"))]
#[proc_macro_attribute]
pub fn feedback_system(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let surroundings = Surroundings::of_build(Span::call_site().local_file());
    compile::feedback_system(attribute.into(), item.into(), &surroundings).into()
}

/// [`macro@feedback_system`] for crates that depend on `fbint-command` alone, which re-exports it under that name and the runtime
/// as `runtime`.
#[proc_macro_attribute]
pub fn feedback_system_of_command(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let names_the_runtime =
        |token: TokenTree| matches!(token, TokenTree::Ident(identifier) if identifier.to_string() == "crate");
    if attribute.clone().into_iter().any(names_the_runtime) {
        return feedback_system(attribute, item);
    }
    let mut keys: TokenStream = "crate = ::fbint_command::runtime,".parse().expect("a key");
    keys.extend(attribute);
    feedback_system(keys, item)
}
