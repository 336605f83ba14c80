//! Reads the attribute, entry by entry.
//!
//! The attribute is cut at its commas. An entry that cannot be read is reported once, and the names that it would have declared
//! become `broken`. If even the names are unknown, `hidden_names` is set.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident};

use super::key::{self, AttributeKey, Syntax};
use super::{Declaration, habits, limits, nearest, peel, plain};
use crate::syntax::diagnostics::{Errors, advised};
use crate::syntax::written::{stream, written_or};

/// The beginning of syn's message about missing tokens.
pub(crate) const END_OF_INPUT: &str = "unexpected end of input";

/// Reads the attribute into `declaration`.
pub(super) fn read(attribute: TokenStream, declaration: &mut Declaration, errors: &Errors) {
    AttributeReader { errors, declaration }.read(attribute);
}

/// A key and what follows it.
pub(super) struct KeyEntry<'t> {
    pub(super) key: AttributeKey,
    pub(super) word: &'t Ident,
    pub(super) rest: &'t [TokenTree],
    /// `true` if the key was given before, and may be given only once.
    pub(super) is_repeated: bool,
}

/// Reads the attribute.
pub(super) struct AttributeReader<'e> {
    pub(super) errors: &'e Errors,
    pub(super) declaration: &'e mut Declaration,
}

impl AttributeReader<'_> {
    fn read(&mut self, tokens: TokenStream) {
        if !limits::fit(&tokens, self.errors) {
            return self.lose_entry();
        }
        for entry in self.entries(tokens) {
            if limits::hold(&stream(&entry), self.errors) {
                self.entry(&entry);
            } else {
                self.lose_entry();
            }
        }
    }

    /// Cuts at commas. A trailing comma is fine, a doubled one is a mistake.
    pub(super) fn entries(&mut self, tokens: TokenStream) -> Vec<Vec<TokenTree>> {
        let mut entries = vec![Vec::new()];
        for token in tokens {
            let entry = entries.last_mut().expect("the list starts with an entry");
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ',' => {
                    if entry.is_empty() {
                        self.errors.push(punct.span(), "nothing stands before this comma");
                    } else {
                        entries.push(Vec::new());
                    }
                }
                _ => entry.push(token),
            }
        }
        entries.retain(|entry| !entry.is_empty());
        entries
    }

    fn entry(&mut self, tokens: &[TokenTree]) {
        let Some((TokenTree::Ident(word), rest)) = tokens.split_first() else {
            self.lose_entry();
            let is_decimal = matches!(tokens[0], TokenTree::Literal(_)) && after_equals(&tokens[1..]).is_none();
            if is_decimal {
                return self.errors.push(tokens[0].span(), "a comma ends the entry before it: a decimal point is `.`");
            }
            let is_comment = matches!(&tokens[0], TokenTree::Punct(sign) if matches!(sign.as_char(), '#' | '%'));
            let message = if is_comment {
                "a comment begins with `//`"
            } else {
                "expected a key, as in `coordinates(q: [3])` or `hamiltonian = p * p / (2 * m)`"
            };
            return self.errors.push(tokens[0].span(), message);
        };
        let key = match AttributeKey::spelled(&plain(word)).or_else(|| self.unknown_key(word)) {
            Some(key) => key,
            // `key = value` declares no name, whatever the key is.
            None if after_equals(rest).is_some() => {
                self.declaration.hidden_uses = true;
                return;
            }
            None => return self.lose_entry(),
        };
        let is_repeated = self.declaration.has(key) && !key.repeats();
        if is_repeated {
            let are_listed = matches!(key.row().syntax, Syntax::Variables(_));
            let remedy = if are_listed { "list all of them in one" } else { "keep one of the two" };
            self.errors.push(word.span(), format_args!("`{}` is given twice\nhelp: {remedy}", key.name()));
        }
        self.declaration.seen.push((key, word.span()));
        self.read_value(&KeyEntry { key, word, rest, is_repeated });
    }

    /// Reads what follows a key, and stores it where the key's row says. A repeated key is read, and its value dropped.
    fn read_value(&mut self, entry: &KeyEntry<'_>) {
        match entry.key.row().syntax {
            Syntax::Path(target) => {
                let value = self.value(entry);
                match self.errors.reported(value).as_ref().map(peel) {
                    Some(Expr::Path(path)) => *(target.mutable)(self.declaration) = path.path.clone(),
                    Some(Expr::Verbatim(_)) | None => {}
                    Some(other) => {
                        let message = "`crate` takes a path, as in `crate = my_crate::fbint_runtime`";
                        self.errors.push_spanned(other, message);
                    }
                }
            }
            Syntax::Expression(target) => {
                let expression = self.value(entry);
                if let Some(expression) = self.errors.reported(expression)
                    && !entry.is_repeated
                {
                    *(target.mutable)(self.declaration) = Some(expression);
                }
            }
            Syntax::Variables(target) => {
                let variables = self.variables(entry);
                (target.mutable)(self.declaration).extend(variables);
            }
            Syntax::Scalar(target) => {
                let variables = self.variables(entry);
                if let Some(variable) = self.scalar(entry.word, variables) {
                    *(target.mutable)(self.declaration) = Some(variable);
                }
            }
            Syntax::Named(target) => {
                let named = self.named(entry);
                (target.mutable)(self.declaration).extend(named);
            }
            Syntax::Events(target) => {
                let event = self.event(entry);
                (target.mutable)(self.declaration).extend(event);
            }
            Syntax::Shapes(target) => {
                let shapes = if entry.key == AttributeKey::Film { self.film(entry) } else { self.shapes(entry) };
                (target.mutable)(self.declaration).extend(shapes);
            }
            Syntax::Flag(target) => {
                *(target.mutable)(self.declaration) = true;
                if let [TokenTree::Group(group), ..] = entry.rest {
                    let message = format!("`{}` stands alone\nhelp: remove this", entry.key.name());
                    return self.lose_rest(group.span(), message);
                }
                self.leftover(entry.rest);
            }
        }
    }

    /// Reports the unknown key and reads on with the one that was most likely meant.
    fn unknown_key(&mut self, word: &Ident) -> Option<AttributeKey> {
        if let Some(advice) = key::foreign(&plain(word)) {
            self.errors.push(word.span(), advised(format_args!("there is no key `{word}`"), advice));
            return None;
        }
        let names: Vec<&str> = AttributeKey::ALL.iter().map(|key| key.name()).collect();
        let near = nearest(&plain(word), names.iter().copied());
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", names.join(", ")),
        };
        self.errors.push(word.span(), format_args!("unknown key `{word}`\nhelp: {remedy}"));
        near.and_then(AttributeKey::spelled)
    }

    /// Reads the value after `key =`.
    fn value(&mut self, entry: &KeyEntry<'_>) -> syn::Result<Expr> {
        let KeyEntry { key, word, rest, .. } = *entry;
        let usage = key.row().usage;
        let (span, message) = match (rest, after_equals(rest)) {
            ([equals, ..], Some([])) => (equals.span(), format!("no value after `=`, as in `{usage}`")),
            (_, Some(value)) => return self.parsed(value),
            ([], _) => (word.span(), format!("`{word}` needs a value: `{usage}`")),
            ([other, ..], _) => (other.span(), format!("expected `=`, as in `{usage}`")),
        };
        self.lose(key);
        Err(syn::Error::new(span, message))
    }

    pub(super) fn name(&mut self, key: AttributeKey, token: &TokenTree) -> Option<Ident> {
        match syn::parse2::<Ident>(token.clone().into()) {
            Ok(name) => Some(name),
            Err(_) => {
                self.lose(key);
                let message = match token {
                    TokenTree::Ident(word) => format!("`{word}` is a keyword of Rust and cannot be a name"),
                    TokenTree::Group(names) if names.delimiter() == Delimiter::Bracket => {
                        let names = written_or(names.stream(), "x, v");
                        format!("names are listed without brackets\nhelp: write `{names}`")
                    }
                    _ => "expected a name".to_owned(),
                };
                self.errors.push(token.span(), message);
                None
            }
        }
    }

    /// Parses all of `tokens`, a non-empty slice. Reports what follows the expression. Text that cannot be read, and has been reported, is
    /// kept as tokens: the names in it count as used.
    pub(super) fn parsed(&mut self, tokens: &[TokenTree]) -> syn::Result<Expr> {
        let (own, next) = habits::value(tokens);
        if let Some((span, message)) = habits::misread(own) {
            self.errors.push(span, message);
            self.leftover(next);
            return Ok(Expr::Verbatim(stream(own)));
        }
        let parse = |input: ParseStream| Ok((input.parse::<Expr>()?, input.parse::<TokenStream>()?));
        let parsed = parse.parse2(stream(tokens)).map_err(|error| {
            self.declaration.hidden_uses = true;
            let message = error.to_string();
            let last = tokens.last().map_or_else(Span::call_site, TokenTree::span);
            if message.starts_with(END_OF_INPUT) {
                syn::Error::new(last, "the expression ends too early: an operand is missing after this")
            } else {
                let is_chain = message.contains("cannot be chained");
                let remedy = if is_chain { "\nhelp: join two of them, as in `0 < x && x < 1`" } else { "" };
                syn::Error::new(error.span(), format_args!("this is not an expression: {message}{remedy}"))
            }
        });
        let (value, rest) = parsed?;
        let rest: Vec<TokenTree> = rest.into_iter().collect();
        self.leftover(&rest);
        Ok(value)
    }

    /// Reports tokens after a complete entry: most often the next one, after a forgotten comma.
    pub(super) fn leftover(&mut self, tokens: &[TokenTree]) {
        match tokens {
            [TokenTree::Ident(word), TokenTree::Group(_) | TokenTree::Punct(_), ..]
                if AttributeKey::spelled(&plain(word)).is_some() =>
            {
                self.errors.push(word.span(), format_args!("a comma is missing before `{word}`"));
                self.entry(tokens);
            }
            [TokenTree::Ident(word), rest @ ..] if after_equals(rest).is_some() => {
                self.lose_rest(word.span(), format_args!("a comma is missing before `{word}`"));
            }
            [TokenTree::Punct(punct), ..] if after_equals(tokens).is_some() => {
                self.lose_rest(punct.span(), "there is no value here\nhelp: remove `=` and what follows it");
            }
            [TokenTree::Punct(punct), ..] if punct.as_char() == ';' => {
                self.lose_rest(punct.span(), "entries are separated by commas");
            }
            [other, ..] => self.lose_rest(other.span(), "expected an operator or a comma before this"),
            [] => {}
        }
    }

    /// Reports a mistake after which any name may be declared or used.
    fn lose_rest(&mut self, span: Span, message: impl std::fmt::Display) {
        (self.declaration.hidden_names, self.declaration.hidden_uses) = (true, true);
        self.errors.push(span, message);
    }

    /// Reports a mistake that makes the value of `key` unreadable.
    pub(super) fn spoil(&mut self, key: AttributeKey, span: Span, message: impl std::fmt::Display) {
        self.lose(key);
        self.errors.push(span, message);
    }

    /// Notes that a part of the value of `key` is unreadable.
    pub(super) fn lose(&mut self, key: AttributeKey) {
        self.declaration.hidden_uses = true;
        self.declaration.hidden_names |= key.gives_values();
    }

    /// Notes that a whole entry is unreadable, so that it may declare and use any name.
    fn lose_entry(&mut self) {
        (self.declaration.hidden_names, self.declaration.hidden_uses) = (true, true);
    }
}

/// The tokens after `=`, which is neither `==` nor `=>`; the sign in `=-` is the value's.
pub(super) fn after_equals(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    let [TokenTree::Punct(equals), value @ ..] = tokens else { return None };
    let is_longer = equals.spacing() == Spacing::Joint
        && matches!(value.first(), Some(TokenTree::Punct(next)) if matches!(next.as_char(), '=' | '>'));
    (equals.as_char() == '=' && !is_longer).then_some(value)
}
