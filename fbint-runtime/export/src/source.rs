//! The declarations of models in a source file of a crate.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The attribute that declares a model.
const ATTRIBUTE: &str = "feedback_system";

/// A text with blanks instead of the items that declare no model, so that the declarations keep their places. A text that is not Rust is
/// returned as it stands.
pub fn declarations_in(text: &str) -> String {
    let Ok(tokens) = TokenStream::from_str(text) else { return text.to_owned() };
    let mut bytes = text.as_bytes().to_vec();
    for item in items(tokens).iter().filter(|item| !declares(item)) {
        let hidden = bytes.get_mut(range(item)).unwrap_or_default();
        hidden.iter_mut().filter(|byte| !b"\r\n".contains(byte)).for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The code of models that a text leaves out, by the names of the models: the functions that `impl Model for NAME { .. }` has.
pub fn left_out(text: &str) -> Vec<(String, Vec<String>)> {
    let Ok(tokens) = TokenStream::from_str(text) else { return Vec::new() };
    items(tokens).iter().filter_map(|item| code_of_model(item)).collect()
}

/// The name and the functions, if an item is `impl Model for NAME { .. }`, with any path.
fn code_of_model(item: &[TokenTree]) -> Option<(String, Vec<String>)> {
    let words: Vec<String> =
        item.iter().filter(|token| matches!(token, TokenTree::Ident(_))).map(ToString::to_string).collect();
    let place = words.iter().position(|word| word == "for")?;
    let is_code = words.first()? == "impl" && words[..place].last()? == "Model";
    let body: Vec<TokenTree> = group_of(item.last()?, Delimiter::Brace)?.stream().into_iter().collect();
    let name = |pair: &[TokenTree]| (pair[0].to_string() == "fn").then(|| pair[1].to_string());
    let functions: Vec<String> = body.windows(2).filter_map(name).collect();
    (is_code && !functions.is_empty()).then_some((words.get(place + 1)?.clone(), functions))
}

/// The tokens of each item, which ends with a semicolon, or with a group in braces.
fn items(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut items = vec![Vec::new()];
    for token in tokens {
        let is_semicolon = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
        let is_end = is_semicolon || group_of(&token, Delimiter::Brace).is_some();
        items.last_mut().expect("an item is open").push(token);
        if is_end {
            items.push(Vec::new());
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// Returns `true` if an item has the attribute, or is a struct with one that begins like it: those that are no models are reported as mistakes.
fn declares(item: &[TokenTree]) -> bool {
    let is_struct = item.iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "struct"));
    let is_meant = |word: &str| word == ATTRIBUTE || is_struct && word.starts_with("feedback");
    let names = |group: &Group| {
        let mut words =
            group.stream().into_iter().take_while(|token| group_of(token, Delimiter::Parenthesis).is_none());
        words.any(|token| matches!(token, TokenTree::Ident(word) if is_meant(&word.to_string())))
    };
    item.iter().filter_map(|token| group_of(token, Delimiter::Bracket)).any(names)
}

fn group_of(token: &TokenTree, delimiter: Delimiter) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// The bytes from the first token to the last.
fn range(item: &[TokenTree]) -> Range<usize> {
    let of = |token: Option<&TokenTree>| token.map_or(0..0, |token| token.span().byte_range());
    of(item.first()).start..of(item.last()).end
}
