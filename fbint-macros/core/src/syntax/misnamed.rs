//! Mistaken forms of named expressions, and how these are declared.

use proc_macro2::{Delimiter, Punct, Spacing, Span, TokenTree};
use syn::Ident;

use super::attribute::after_equals;
use super::lists::List;
use super::written::{difference, is_sign, stream, written_or};
use super::{AttributeKey, plain};

/// Where a definition stops looking like one, and what is wrong there.
pub(super) fn misnamed(list: List, tokens: &[TokenTree]) -> (Span, String) {
    let (List { key, word, usage }, start) = (list, tokens[0].span());
    if matches!(&tokens[0], TokenTree::Ident(word) if word == "let") {
        return (start, "drop `let`: the key declares the name".to_owned());
    }
    if matches!(key, AttributeKey::Event | AttributeKey::Section)
        && let Some(declaration) = condition(tokens)
    {
        return (start, format!("`{word}` needs a name, and a function that passes 0\nhelp: write `{declaration}`"));
    }
    if let Some((place, difference)) = equation(key, tokens) {
        let message = "an equation is declared by a name and the difference of its sides";
        return (place, format!("{message}\nhelp: write `name = {difference}`"));
    }
    let is_rate = matches!(key, AttributeKey::Dynamics | AttributeKey::Kinematics);
    match tokens {
        // `der(x) = ..`, `d(x)/dt = ..`, and the initial value `x(0) = ..`.
        [TokenTree::Ident(function), TokenTree::Group(group), ..]
            if group.delimiter() == Delimiter::Parenthesis && (is_rate || key == AttributeKey::Start) =>
        {
            let of = group.stream().into_iter().next();
            let name =
                of.filter(|_| is_rate).and_then(|of| if let TokenTree::Ident(name) = of { Some(name) } else { None });
            let name = name.unwrap_or_else(|| function.clone());
            let what = if is_rate { "a rate" } else { "a start" };
            (start, format!("{what} is declared by the name of its variable\nhelp: write `{name} = ..`"))
        }
        [TokenTree::Literal(number)]
            if key.gives_whole_variables() && number.to_string().starts_with(|first: char| first.is_ascii_digit()) =>
        {
            (
                start,
                format!("`{word}` needs a name for this: `{usage}`\nhelp: a number has a decimal point, as in `9.81`"),
            )
        }
        [TokenTree::Ident(_), TokenTree::Punct(sign), ..]
            if key == AttributeKey::Constraint && matches!(sign.as_char(), '<' | '>') =>
        {
            (sign.span(), "a constraint is an equation: where a bound is reached, an `event` occurs".to_owned())
        }
        [TokenTree::Ident(name), TokenTree::Punct(sign), value @ ..] if assigns(sign, value) => {
            let value = assigned(list, name, sign, value);
            (sign.span(), format!("expected a single `=` after `{name}`\nhelp: write `{name} = {value}`"))
        }
        [TokenTree::Literal(text), ..] if text.to_string().starts_with('"') => {
            (start, format!("a name has no quotes: `{usage}`"))
        }
        [TokenTree::Ident(first), TokenTree::Ident(second), ..] => {
            (start, format!("a name is one word\nhelp: write `{first}_{second}`"))
        }
        _ => (start, format!("`{word}` needs a name for this: `{usage}`")),
    }
}

/// Returns `true` for a sign that other languages write between a name and its value: `m: 1`, `v == 0`, `x -> 1`, `v *= -1`.
fn assigns(sign: &Punct, rest: &[TokenTree]) -> bool {
    let second = match rest.first() {
        Some(TokenTree::Punct(second)) if sign.spacing() == Spacing::Joint => Some(second.as_char()),
        _ => None,
    };
    matches!((sign.as_char(), second), (':' | '=', _) | ('-', Some('>')) | (_, Some('=')))
}

/// The value that such a sign gives to a variable, as it is written after `=`. Only a reset knows the value before.
fn assigned(list: List, name: &Ident, sign: &Punct, rest: &[TokenTree]) -> String {
    let is_second = |token: &&TokenTree| {
        sign.spacing() == Spacing::Joint
            && matches!(token, TokenTree::Punct(second) if matches!(second.as_char(), '=' | '>'))
    };
    let second = rest.first().filter(is_second);
    let tokens = if second.is_some() { &rest[1..] } else { rest };
    let value = written_or(stream(tokens), "..");
    let operator = sign.as_char();
    match (operator, &value[..]) {
        (_, "") => "..".to_owned(),
        ('*', "-1") if list.word == List::RESET.word => format!("-{name}"),
        ('+' | '-' | '*' | '/', _) if list.word == List::RESET.word && is_sign(second, '=') => {
            let value = if tokens.len() == 1 { value } else { format!("({value})") };
            format!("{name} {operator} {value}")
        }
        _ => value,
    }
}

/// The sign of an equation that is given where a named function should be, and how to declare it.
fn equation(key: AttributeKey, tokens: &[TokenTree]) -> Option<(Span, String)> {
    if !key.takes_definitions() || key == AttributeKey::Output {
        return None;
    }
    let at = tokens.iter().position(|token| is_sign(token, '='))?;
    let right = match after_equals(&tokens[at..]) {
        Some(right) => right,
        None if is_sign(tokens.get(at + 1), '=') => &tokens[at + 2..],
        None => return None,
    };
    (at > 0).then(|| (tokens[at].span(), difference(stream(&tokens[..at]), stream(right))))
}

/// The declaration of an event that is given as a condition: `when q < 0`, `bounce if q < 0`, `q == 0`.
fn condition(tokens: &[TokenTree]) -> Option<String> {
    let is_when = |token: &TokenTree| ["when", "if", "on", "where", "at"].iter().any(|when| token.to_string() == *when);
    let (name, condition) = match tokens {
        [when, condition @ ..] if is_when(when) => (None, condition),
        [TokenTree::Ident(name), when, condition @ ..] if is_when(when) => (Some(name), condition),
        _ => (None, tokens),
    };
    let sign = |token: &TokenTree| match token {
        TokenTree::Punct(sign) => Some(sign.as_char()).filter(|sign| matches!(sign, '<' | '>' | '=')),
        _ => None,
    };
    let name = name.map_or_else(|| "name".to_owned(), plain);
    let Some(at) = condition.iter().position(|token| sign(token).is_some()) else {
        let is_bare = condition.len() == tokens.len() || condition.is_empty();
        return (!is_bare).then(|| format!("{name} = {}", written_or(stream(condition), "..")));
    };
    let (left, right) = match &condition[at + 1..] {
        [equals, right @ ..] if is_sign(equals, '=') => (&condition[..at], right),
        right => (&condition[..at], right),
    };
    let direction = match sign(&condition[at]) {
        Some('<') => ", falling",
        Some('>') => ", rising",
        _ => "",
    };
    let has_sides = !matches!(left.last(), None | Some(TokenTree::Punct(_))) && !right.is_empty();
    has_sides.then(|| format!("{name} = {}{direction}", difference(stream(left), stream(right))))
}
