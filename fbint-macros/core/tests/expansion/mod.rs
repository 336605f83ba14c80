//! What a declaration given as text expands to.

use proc_macro2::{TokenStream, TokenTree};

pub(crate) fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the text is made of tokens")
}

/// The messages of the expansion, and the expansion.
pub(crate) fn expand(attribute: &str, item: &str) -> (Vec<String>, String) {
    let expansion = fbint_macros_core::feedback_system(tokens(attribute), tokens(item));
    let mut messages = Vec::new();
    let (mut before, mut last) = (String::new(), String::new());
    for token in expansion.clone() {
        match token {
            TokenTree::Group(group) if before == "compile_error" && last == "!" => {
                messages.extend(syn::parse2::<syn::LitStr>(group.stream()).map(|text| text.value()));
            }
            token => (before, last) = (last, token.to_string()),
        }
    }
    (messages, expansion.to_string())
}
