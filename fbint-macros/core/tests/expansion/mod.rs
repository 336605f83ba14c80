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

/// The text of that name among the facts in an expansion.
pub(crate) fn fact(file: &syn::File, name: &str) -> Option<String> {
    let implementations = file.items.iter().filter_map(|item| match item {
        syn::Item::Impl(implementation) => Some(&implementation.items),
        _ => None,
    });
    let mut facts = implementations.flatten().filter_map(|item| match item {
        syn::ImplItem::Const(syn::ImplItemConst { ident, expr: syn::Expr::Block(block), .. }) if ident == "FACTS" => {
            block.block.stmts.last()
        }
        _ => None,
    });
    let syn::Stmt::Expr(syn::Expr::Struct(facts), None) = facts.next()? else { return None };
    let named = |field: &&syn::FieldValue| matches!(&field.member, syn::Member::Named(own) if own == name);
    match &facts.fields.iter().find(named)?.expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
