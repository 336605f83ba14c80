//! Reads the attribute, entry by entry.
//!
//! The attribute is cut at its commas. An entry that cannot be read is reported once, and the names that it would have declared
//! become `broken`. If even the names are unknown, `hidden_names` is set.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Ident};

use super::key::{self, Attribute, Key, Slot};
use super::{limits, nearest, plain, whole};
use crate::diagnostics::Errors;

/// The beginning of syn's message about missing tokens.
pub(super) const END_OF_INPUT: &str = "unexpected end of input";

/// Reads the attribute.
pub(super) struct Reader<'e> {
    pub(super) errors: &'e Errors,
    pub(super) attribute: Attribute,
}

impl<'e> Reader<'e> {
    pub(super) fn new(errors: &'e Errors) -> Self {
        Self { errors, attribute: Attribute::default() }
    }

    pub(super) fn finish(self) -> Attribute {
        self.attribute
    }

    pub(super) fn read(&mut self, tokens: TokenStream) {
        if !limits::fit(&tokens, self.errors) {
            return self.lose_entry();
        }
        for entry in self.entries(tokens) {
            if limits::hold(&entry.iter().cloned().collect(), self.errors) {
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
            let message = "expected a key, as in `coordinates(q: [3])` or `hamiltonian = p * p / (2 * m)`";
            return self.errors.push(tokens[0].span(), message);
        };
        let key = match Key::spelled(&plain(word)) {
            Some(key) => key,
            None => match self.unknown_key(word) {
                Some(key) => key,
                // `key = value` declares no name, whatever the key is.
                None if matches!(rest.first(), Some(TokenTree::Punct(punct)) if is_equals(punct)) => {
                    (self.attribute.hidden_uses, self.attribute.uncertain) = (true, true);
                    return;
                }
                None => return self.lose_entry(),
            },
        };
        let repeated = self.attribute.place(key).is_some() && !key.repeats();
        if repeated {
            self.errors.push(word.span(), key.repetition());
        }
        self.attribute.seen.push((key, word.span()));
        match key.slot() {
            Slot::Path(target) => {
                let hint = "`crate` takes a path, as in `crate = my_crate::fbint_runtime`";
                if let Some(value) = self.value(key, word, rest)
                    && let Some(path) = self.parsed(value, syn::Path::parse_mod_style, Some(hint))
                {
                    *target(&mut self.attribute) = path;
                }
            }
            Slot::Expression(target) => {
                if let Some(value) = self.value(key, word, rest)
                    && let Some(expression) = self.parsed(value, Expr::parse, None)
                    && !repeated
                {
                    *target(&mut self.attribute) = Some(expression);
                }
            }
            Slot::Variables(target) => self.variables(key, target, (word, rest), repeated),
            Slot::Named(target) => self.named(key, target, word, rest),
            Slot::Flag(target) => {
                *target(&mut self.attribute) = true;
                self.alone(word, rest);
            }
        }
    }

    /// Reports the unknown key and reads on with the one that was most likely meant.
    fn unknown_key(&mut self, word: &Ident) -> Option<Key> {
        if let Some(advice) = key::foreign(&plain(word)) {
            self.errors.push(word.span(), format_args!("there is no key `{word}`: {advice}"));
            return None;
        }
        let candidates = Key::ALL.iter().map(|key| key.name());
        let key = nearest(&plain(word), candidates).and_then(Key::spelled);
        match key {
            Some(key) => {
                self.errors.push(word.span(), format_args!("unknown key `{word}`; did you mean `{}`?", key.name()))
            }
            None => {
                let known: Vec<&str> = Key::ALL.iter().map(|key| key.name()).collect();
                self.errors.push(word.span(), format_args!("unknown key `{word}`; the keys are {}", known.join(", ")));
            }
        }
        key
    }

    /// Reads the value after `key =`.
    fn value<'t>(&mut self, key: Key, word: &Ident, rest: &'t [TokenTree]) -> Option<&'t [TokenTree]> {
        match rest {
            [TokenTree::Punct(equals), value @ ..] if is_equals(equals) && !value.is_empty() => return Some(value),
            [TokenTree::Punct(equals)] if is_equals(equals) => {
                self.spoil(key, equals.span(), format_args!("no value after `=`, as in `{}`", key.usage()));
            }
            [] => self.spoil(key, word.span(), format_args!("`{word}` needs a value: `{}`", key.usage())),
            [other, ..] => self.spoil(key, other.span(), format_args!("expected `=`, as in `{}`", key.usage())),
        }
        None
    }

    /// Reports tokens after a key that takes no value.
    fn alone(&mut self, word: &Ident, rest: &[TokenTree]) {
        match rest {
            [] => {}
            [TokenTree::Ident(_), ..] => self.leftover(rest),
            [other, ..] => {
                self.errors.push(other.span(), format_args!("`{word}` stands alone: remove what follows it"));
            }
        }
    }

    /// Reads the parenthesised list of a key.
    pub(super) fn list(&mut self, key: Key, word: &Ident, rest: &[TokenTree]) -> Option<Group> {
        match rest {
            [TokenTree::Group(list), after @ ..] => {
                if list.delimiter() != Delimiter::Parenthesis {
                    let message = format!("`{word}` takes round parentheses: `{}`", key.usage());
                    self.errors.push(list.span_open(), message);
                }
                if !after.is_empty() {
                    self.leftover(after);
                }
                Some(list.clone())
            }
            [] => {
                self.spoil(key, word.span(), format_args!("`{word}` needs a list: `{}`", key.usage()));
                None
            }
            [other, ..] => {
                self.spoil(
                    key,
                    other.span(),
                    format_args!("expected `(`: `{word}` takes a list, as in `{}`", key.usage()),
                );
                None
            }
        }
    }

    pub(super) fn name(&mut self, key: Key, token: &TokenTree) -> Option<Ident> {
        match syn::parse2::<Ident>(token.clone().into()) {
            Ok(name) => Some(name),
            Err(_) => {
                self.lose(key);
                let message = match token {
                    TokenTree::Ident(word) => format!("`{word}` is a keyword of Rust and cannot be a name"),
                    _ => "expected a name".to_owned(),
                };
                self.errors.push(token.span(), message);
                None
            }
        }
    }

    /// Parses all of `tokens`, reporting what stands in the way; a non-empty slice. `hint` replaces syn's message.
    pub(super) fn parsed<T>(
        &mut self,
        tokens: &[TokenTree],
        parse: fn(ParseStream) -> syn::Result<T>,
        hint: Option<&str>,
    ) -> Option<T> {
        let parse = |input: ParseStream| {
            let value = parse(input)?;
            let rest: TokenStream = input.parse()?;
            Ok((value, rest))
        };
        match parse.parse2(tokens.iter().cloned().collect()) {
            Ok((value, rest)) => {
                let rest: Vec<TokenTree> = rest.into_iter().collect();
                if !rest.is_empty() {
                    self.leftover(&rest);
                }
                Some(value)
            }
            Err(error) => {
                self.attribute.hidden_uses = true;
                let message = error.to_string();
                let last = tokens.last().map_or_else(whole, TokenTree::span);
                match (hint, message.strip_prefix(END_OF_INPUT)) {
                    (Some(hint), _) => self.errors.push(tokens[0].span(), hint),
                    (None, Some(_)) => {
                        self.errors.push(last, "the expression ends too early: an operand is missing after this")
                    }
                    (None, None) => {
                        self.errors.push(error.span(), format_args!("this is not an expression: {message}"))
                    }
                }
                None
            }
        }
    }

    /// Reports tokens after a complete entry: most often the next one, after a forgotten comma.
    fn leftover(&mut self, tokens: &[TokenTree]) {
        match tokens {
            [TokenTree::Ident(word), TokenTree::Group(_) | TokenTree::Punct(_), ..]
                if Key::spelled(&plain(word)).is_some() =>
            {
                self.errors.push(word.span(), format_args!("a comma is missing before `{word}`"));
                self.entry(tokens);
            }
            [TokenTree::Ident(word), TokenTree::Punct(equals), ..] if is_equals(equals) => {
                (self.attribute.hidden_names, self.attribute.hidden_uses) = (true, true);
                self.errors.push(word.span(), format_args!("a comma is missing before `{word}`"));
            }
            [TokenTree::Punct(punct), ..] if punct.as_char() == ';' => {
                (self.attribute.hidden_names, self.attribute.hidden_uses) = (true, true);
                self.errors.push(punct.span(), "entries are separated by commas");
            }
            [other, ..] => {
                (self.attribute.hidden_names, self.attribute.hidden_uses) = (true, true);
                self.errors.push(other.span(), "expected an operator or a comma before this");
            }
            [] => {}
        }
    }

    /// Reports a mistake that makes the value of `key` unreadable.
    pub(super) fn spoil(&mut self, key: Key, span: Span, message: impl std::fmt::Display) {
        self.lose(key);
        self.errors.push(span, message);
    }

    /// Notes that a part of the value of `key` is unreadable.
    pub(super) fn lose(&mut self, key: Key) {
        self.attribute.hidden_uses = true;
        self.attribute.hidden_names |= key.gives_values();
    }

    /// Notes that a whole entry is unreadable, so that it may declare and use any name.
    fn lose_entry(&mut self) {
        self.attribute.uncertain = true;
        (self.attribute.hidden_names, self.attribute.hidden_uses) = (true, true);
    }
}

/// Returns `true` for `=`, and for neither `==` nor `=>`.
pub(super) fn is_equals(punct: &proc_macro2::Punct) -> bool {
    punct.as_char() == '=' && punct.spacing() == Spacing::Alone
}
