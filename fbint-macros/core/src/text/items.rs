//! The items of a text, found by their first and last tokens: those that declare models, and those that have no place there.

use std::collections::BTreeSet;
use std::iter::Peekable;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree, token_stream};
use quote::ToTokens;
use syn::parse::Parser;
use syn::{Attribute, Meta};

use crate::diagnostics::Errors;

/// The attribute that declares a model.
const ATTRIBUTE: &str = "feedback_system";

/// What a text may hold.
const CONTENT: &str = "a text of models holds structs with `#[feedback_system(..)]` and `use` alone";

/// What the macro would be given.
pub(super) struct MacroInput {
    /// What is between the parentheses of the attribute.
    pub(super) attribute: TokenStream,
    /// The struct without the attribute.
    pub(super) item: TokenStream,
    /// The name of the struct, if it has one.
    pub(super) name: String,
    /// The word `feedback_system`, for mistakes that have no token of their own.
    pub(super) place: Span,
}

/// The models that are declared in these tokens. Everything else but `use` is reported.
pub(super) fn declarations(tokens: TokenStream, errors: &Errors) -> Vec<MacroInput> {
    let mut tokens = tokens.into_iter().peekable();
    let mut inputs = Vec::new();
    let mut names = BTreeSet::new();
    while let Some(item) = Item::next(&mut tokens, errors) {
        if let Some(name) = item.name()
            && item.attributes.iter().any(declares)
            && !names.insert(name.to_string())
        {
            errors.push(
                name.span(),
                format_args!("there is another model `{name}` in this text: give this one another name"),
            );
        }
        inputs.extend(item.macro_input(errors));
    }
    if inputs.is_empty() && errors.is_empty() {
        errors.push(
            Span::call_site(),
            "there is no model in this text, which would be a struct with `#[feedback_system(..)]`",
        );
    }
    inputs
}

/// An item, or what is taken for one.
struct Item {
    attributes: Vec<Attribute>,
    tokens: Vec<TokenTree>,
}

impl Item {
    /// The next item, which ends with a semicolon or a group in braces. Inner attributes of the text are passed over.
    fn next(tokens: &mut Peekable<token_stream::IntoIter>, errors: &Errors) -> Option<Self> {
        tokens.peek()?;
        let mut item = Self { attributes: Vec::new(), tokens: Vec::new() };
        while let Some(token) = tokens.next() {
            if item.tokens.is_empty() && is_punct(&token, '#') {
                let is_inner = tokens.next_if(|next| is_punct(next, '!')).is_some();
                if let Some(group) = tokens.next_if(|next| matches!(next, TokenTree::Group(_))) {
                    if !is_inner {
                        let attribute = Attribute::parse_outer.parse2(TokenStream::from_iter([token, group]));
                        item.attributes.extend(errors.reported(attribute).into_iter().flatten());
                    }
                    continue;
                }
            }
            let is_end = is_punct(&token, ';') || is_in_braces(&token) && !item.is_use();
            item.tokens.push(token);
            if is_end {
                break;
            }
        }
        Some(item)
    }

    /// The tokens after the visibility.
    fn visible(&self) -> &[TokenTree] {
        match &self.tokens[..] {
            [TokenTree::Ident(word), TokenTree::Group(_), rest @ ..] if word == "pub" => rest,
            [TokenTree::Ident(word), rest @ ..] if word == "pub" => rest,
            tokens => tokens,
        }
    }

    fn is_use(&self) -> bool {
        matches!(self.visible(), [TokenTree::Ident(word), ..] if word == "use")
    }

    fn name(&self) -> Option<&Ident> {
        match self.visible() {
            [TokenTree::Ident(_), TokenTree::Ident(name), ..] => Some(name),
            _ => None,
        }
    }

    /// The model that the item declares. What does not belong in a text is reported.
    fn macro_input(self, errors: &Errors) -> Option<MacroInput> {
        let Some(index) = self.attributes.iter().position(declares) else {
            self.report(errors);
            return None;
        };
        let name = self.name().map(Ident::to_string).unwrap_or_default();
        let mut attributes = self.attributes;
        let declaration = attributes.remove(index);
        attributes.iter().for_each(|other| check(other, errors));
        let place = word(&declaration).map_or_else(Span::call_site, Ident::span);
        let attribute = match declaration.meta {
            Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        let attributes = attributes.into_iter().map(ToTokens::into_token_stream);
        let item = attributes.chain([TokenStream::from_iter(self.tokens)]).collect();
        Some(MacroInput { attribute, item, name, place })
    }

    /// Reports an item that is not a model.
    fn report(&self, errors: &Errors) {
        let Some(token) = self.visible().first().or_else(|| self.tokens.first()) else {
            if let Some(attribute) = self.attributes.first() {
                errors.push(attribute.bracket_token.span.join(), "there is no item after this attribute");
            }
            return;
        };
        let what = match token {
            TokenTree::Ident(word) if word == "use" => return,
            token if is_punct(token, ';') => return,
            TokenTree::Ident(word) if word == "struct" => "this struct is without the attribute".to_owned(),
            TokenTree::Ident(word) => {
                format!("what begins with `{word}` has its place in a crate that declares the model")
            }
            _ => "this begins no item of Rust".to_owned(),
        };
        errors.push(token.span(), format_args!("{CONTENT}: {what}"));
    }
}

/// The last word of an attribute's path.
fn word(attribute: &Attribute) -> Option<&Ident> {
    attribute.path().segments.last().map(|segment| &segment.ident)
}

fn declares(attribute: &Attribute) -> bool {
    word(attribute).is_some_and(|word| word == ATTRIBUTE)
}

/// Reports an attribute that a model cannot have.
fn check(attribute: &Attribute, errors: &Errors) {
    let Some(word) = word(attribute) else { return };
    if word == ATTRIBUTE {
        errors.push(word.span(), "a struct is one model: remove this attribute, or the other");
    } else if word == "cfg" || word == "cfg_attr" {
        errors.push(word.span(), "a text is not compiled for any configuration: remove this attribute");
    }
}

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

fn is_in_braces(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
