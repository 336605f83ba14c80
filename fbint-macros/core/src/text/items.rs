//! The items of a text: those that declare models, and those that have no place there.

use std::collections::BTreeSet;
use std::mem;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, ItemStruct, Meta, Token, Visibility};

use crate::syntax::diagnostics::Errors;
use crate::syntax::written::is_sign;
use crate::syntax::{END_OF_INPUT, did_you_mean, limits, plain};

/// The attribute that declares a model.
const ATTRIBUTE: &str = "feedback_system";

/// The permitted contents of a text.
const CONTENT: &str = "a text of models holds structs with `#[feedback_system(..)]` and `use` alone";

/// The input of the macro.
pub(super) struct MacroInput {
    /// The tokens between the parentheses of the attribute.
    pub(super) attribute: TokenStream,
    /// The struct without the attribute.
    pub(super) item: TokenStream,
    /// The name of the struct.
    pub(super) name: Ident,
    /// The word `feedback_system`, for mistakes without a token.
    pub(super) place: Span,
}

/// The models that are declared in these tokens. Everything else but `use` is reported.
pub(super) fn declarations(tokens: TokenStream, errors: &Errors) -> Vec<MacroInput> {
    let mut inputs = Vec::new();
    for tokens in pieces(tokens).into_iter().filter(|tokens| limits::hold(tokens, errors)) {
        let last = tokens.clone().into_iter().last().map_or_else(Span::call_site, |token| token.span());
        let item = errors.reported(structure.parse2(tokens).map_err(|error| field(error, last))).flatten();
        inputs.extend(item.and_then(|item| macro_input(item, errors)));
    }
    let mut names = BTreeSet::new();
    for MacroInput { name, .. } in inputs.iter().filter(|input| !names.insert(&input.name)) {
        errors.push(
            name.span(),
            format!("there is another model `{name}` in this text\nhelp: give this one another name"),
        );
    }
    if inputs.is_empty() && errors.is_empty() {
        let message = "there is no model in this text, which would be a struct with `#[feedback_system(..)]`";
        errors.push(Span::call_site(), message);
    }
    inputs
}

/// The tokens of each item, so that a mistake in one hides none in others. An item ends with a semicolon, or with a group in braces.
fn pieces(tokens: TokenStream) -> Vec<TokenStream> {
    let (mut pieces, mut piece) = (Vec::new(), Vec::new());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_end = is_sign(&token, ';') || is_in_braces(&token) && !is_sign(tokens.peek(), ';');
        piece.push(token);
        if is_end || tokens.peek().is_none() {
            pieces.push(mem::take(&mut piece).into_iter().collect());
        }
    }
    pieces
}

/// A mistake in a struct, with the way in which fields are written. A gap at the end has the place of the last token.
fn field(error: syn::Error, last: Span) -> syn::Error {
    let message = error.to_string();
    match &message[..] {
        end if end.starts_with(END_OF_INPUT) => {
            syn::Error::new(last, "the struct is not complete: `{ m: f64, g: f64 }` or `;` follows its name")
        }
        "expected square brackets" => {
            syn::Error::new(error.span(), "expected `[` after `#`\nhelp: write `//` before a comment")
        }
        "expected `:`" => syn::Error::new(error.span(), "expected `:` and the type of the field, as in `m: f64`"),
        "expected `,`" => syn::Error::new(error.span(), "expected `,`: fields are written `{ m: f64, g: f64 }`"),
        "unexpected token" => syn::Error::new(error.span(), "nothing may follow the struct\nhelp: remove this"),
        _ => error,
    }
}

/// The struct, if there is an item that is not a `use`. Inner attributes of the text are passed over.
fn structure(input: ParseStream) -> syn::Result<Option<ItemStruct>> {
    Attribute::parse_inner(input)?;
    let ahead = input.fork();
    let attributes = Attribute::parse_outer(&ahead)?;
    ahead.parse::<Visibility>()?;
    if input.is_empty() || ahead.peek(Token![use]) {
        input.parse::<TokenStream>()?;
        return Ok(None);
    }
    if let (true, Some(last)) = (ahead.is_empty(), attributes.last()) {
        return Err(syn::Error::new_spanned(last, "there is no item after this attribute"));
    }
    if ahead.peek(Token![struct]) { input.parse().map(Some) } else { Err(ahead.error(CONTENT)) }
}

/// The model that a struct declares. A struct without the attribute, and attributes that a model cannot have, are reported.
fn macro_input(mut item: ItemStruct, errors: &Errors) -> Option<MacroInput> {
    let Some(index) = item.attrs.iter().position(|attribute| is_named(attribute, ATTRIBUTE)) else {
        let other = item.attrs.iter().filter_map(|attribute| attribute.path().segments.last());
        match other.map(|word| &word.ident).find_map(|word| Some((word, did_you_mean(&plain(word), [ATTRIBUTE])?))) {
            Some((word, question)) => {
                errors.push(word.span(), format_args!("unknown attribute `{word}`\nhelp: {question}"))
            }
            None => {
                errors.push(item.struct_token.span, format_args!("{CONTENT}: this struct is without the attribute"));
            }
        }
        return None;
    };
    let declaration = item.attrs.remove(index);
    item.attrs.iter().for_each(|other| check(other, errors));
    let place = declaration.path().segments.last()?.ident.span();
    let attribute = match declaration.meta {
        Meta::List(list) => list.tokens,
        _ => TokenStream::new(),
    };
    Some(MacroInput { attribute, name: item.ident.clone(), item: item.into_token_stream(), place })
}

/// Reports an attribute that a model cannot have.
fn check(attribute: &Attribute, errors: &Errors) {
    if is_named(attribute, "cfg") || is_named(attribute, "cfg_attr") {
        let message = "a text is not compiled for any configuration\nhelp: remove this attribute";
        errors.push_spanned(attribute.path(), message);
    }
}

/// Returns `true` if the path of an attribute ends with this word.
fn is_named(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == name)
}

fn is_in_braces(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
