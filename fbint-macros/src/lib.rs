//! The attribute `#[feedback_system]`; `fbint-runtime` re-exports it.

use proc_macro::TokenStream;

/// Derives the equations of a mechanical system and generates their code.
#[proc_macro_attribute]
pub fn feedback_system(attribute: TokenStream, item: TokenStream) -> TokenStream {
    fbint_macros_core::feedback_system(attribute.into(), item.into()).into()
}
