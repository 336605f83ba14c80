//! The lists of the attribute: variables with their shapes, and named expressions.

use proc_macro2::{Delimiter, Group, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitInt, RangeLimits, Token, bracketed};

use super::attribute::{AttributeReader, END_OF_INPUT, KeyEntry, after_equals};
use super::misnamed::misnamed;
use super::written::{is_sign, stream, written, written_or};
use super::{ASSUME, AttributeKey, Family, MAX_ENTRIES, NamedExpression, REDUNDANT, Shape, Variable, plain};

impl AttributeReader<'_> {
    /// `key(x, q: [3], r: [3, 3])`.
    pub(super) fn variables(&mut self, entry: &KeyEntry<'_>) -> Vec<Variable> {
        let key = entry.key;
        let entries = self.list(entry, "list variables");
        let mut variables = Vec::new();
        for tokens in &entries {
            if key == AttributeKey::Input && self.sampling(tokens) {
                continue;
            }
            let Some(name) = self.name(key, &tokens[0]) else { continue };
            let (tokens, family) = match key {
                AttributeKey::Input => self.without_law(key, &name, tokens),
                _ => (&tokens[..], None),
            };
            let shape = family.map_or_else(|| shape(key, &name, &tokens[1..]), Ok);
            match self.errors.reported(shape) {
                Some(shape) if !entry.is_repeated => variables.push(Variable { name, shape }),
                // A second list is one mistake already: its names are known, and mean nothing.
                _ => self.declaration.broken.extend(idents(tokens)),
            }
        }
        variables
    }

    /// Returns `true` if an entry of the inputs is `every = ..` or `delay = ..`, which is kept.
    fn sampling(&mut self, tokens: &[TokenTree]) -> bool {
        let [TokenTree::Ident(word), rest @ ..] = tokens else { return false };
        let is_delay = word == "delay";
        if !(is_delay || word == "every") || after_equals(rest).is_none() {
            return false;
        }
        let value = self.parsed(&rest[1..]);
        let value = self.errors.reported(value);
        let kept = if is_delay { &mut self.declaration.delay } else { &mut self.declaration.every };
        if kept.is_some() {
            self.errors.push(word.span(), format_args!("`{word}` is given already: all laws are sampled at once"));
        }
        *kept = value;
        true
    }

    /// The tokens before `= law` in an entry of the inputs, and the shape of a family of inputs with laws; keeps the law.
    fn without_law<'t>(
        &mut self,
        key: AttributeKey,
        name: &Ident,
        tokens: &'t [TokenTree],
    ) -> (&'t [TokenTree], Option<Shape>) {
        let (_, head, value) = parts(tokens);
        if value.is_empty() {
            return (tokens, None);
        }
        let family = match head {
            [_, TokenTree::Group(index)] if index.delimiter() == Delimiter::Bracket => {
                Some(family(key, name, index).and_then(|family| from_zero(index, family)))
            }
            _ => None,
        };
        let law = family.transpose().and_then(|family| Ok((family, self.defined(key, value)?)));
        let Some((family, value)) = self.errors.reported(law) else {
            self.declaration.hidden_uses = true;
            return (&head[..1], None);
        };
        let mut shape = family.as_ref().map(|family| Shape::Vector(family.range.end as usize));
        if let ([_], Expr::Macro(law)) = (head, &value)
            && law.mac.path.is_ident("vector")
        {
            let (count, law) = (self.entries(law.mac.tokens.clone()).len(), written_or(&value, ".."));
            let message = format!("the law of `{name}` is a vector of {count}, and `{name}` is a scalar");
            self.errors.push_spanned(&value, format_args!("{message}\nhelp: write `{name}: [{count}] = {law}`"));
            shape = Some(Shape::Vector(count));
        }
        let name = name.clone();
        self.declaration.laws.push(NamedExpression { name, mark: None, family, value });
        (head, shape)
    }

    /// The entries of the parenthesised list after a key, which must not be empty.
    pub(super) fn list(
        &mut self,
        KeyEntry { key, word, rest, .. }: &KeyEntry<'_>,
        remedy: &str,
    ) -> Vec<Vec<TokenTree>> {
        let usage = key.row().usage;
        let (span, message) = match rest {
            [TokenTree::Group(list), after @ ..] => {
                if list.delimiter() != Delimiter::Parenthesis {
                    self.errors.push(list.span_open(), format_args!("`{word}` takes round parentheses: `{usage}`"));
                }
                self.leftover(after);
                let entries = self.entries(list.stream());
                if !entries.is_empty() {
                    return entries;
                }
                (list.span_close(), format!("`{word}` is empty\nhelp: {remedy}, as in `{usage}`"))
            }
            [] => (word.span(), format!("`{word}` needs a list: `{usage}`")),
            [other, ..] => (other.span(), format!("expected `(`: `{word}` takes a list, as in `{usage}`")),
        };
        self.spoil(*key, span, message);
        Vec::new()
    }

    /// The first of the variables, which must be a scalar, and the only one.
    pub(super) fn scalar(&mut self, word: &Ident, variables: Vec<Variable>) -> Option<Variable> {
        let mut variables = variables.into_iter();
        let mut variable = variables.next()?;
        let extra: Vec<Ident> = variables.map(|variable| variable.name).collect();
        if let Some(extra) = extra.first() {
            self.errors.push(extra.span(), format_args!("there is one {word}\nhelp: remove `{extra}`"));
        }
        self.declaration.broken.extend(extra);
        let Variable { name, shape } = &mut variable;
        if *shape != Shape::Scalar {
            self.errors.push(name.span(), format_args!("the {word} is a scalar\nhelp: write `{word}({name})`"));
            *shape = Shape::Scalar;
            self.declaration.broken.push(name.clone());
        }
        Some(variable)
    }

    /// `key(name = expression, family[i in 0..8] = expression, definition)`.
    pub(super) fn named(&mut self, entry: &KeyEntry<'_>) -> Vec<NamedExpression> {
        let entries = self.list(entry, "name something");
        entries.iter().filter_map(|tokens| self.definition(entry.key, tokens)).collect()
    }

    pub(super) fn definition(&mut self, list: impl Into<List>, tokens: &[TokenTree]) -> Option<NamedExpression> {
        let list = list.into();
        let key = list.key;
        let (mark, head, value) = parts(tokens);
        let (name, index) = match (head, value) {
            ([name @ TokenTree::Ident(_)], []) if key.takes_definitions() => {
                let name = self.name(key, name)?;
                return Some(NamedExpression { value: syn::parse_quote!(#name), mark, family: None, name });
            }
            ([name @ TokenTree::Ident(_)], [_, ..]) => (name, None),
            ([name @ TokenTree::Ident(_), TokenTree::Group(index)], [_, ..])
                if index.delimiter() == Delimiter::Bracket && !is_equation(key, index) =>
            {
                (name, Some(index))
            }
            _ => {
                let (span, message) = misnamed(list, tokens);
                self.spoil(key, span, message);
                return None;
            }
        };
        let name = self.name(key, name)?;
        // One mistake for `x[0] = .., x[1] = ..`.
        if index.is_some() && key.gives_whole_variables() && self.declaration.broken.contains(&name) {
            return None;
        }
        let family = index.map(|index| family(list, &name, index)).transpose();
        let content = family.and_then(|family| Ok((family, self.defined(key, value)?)));
        match self.errors.reported(content) {
            Some((family, value)) => Some(NamedExpression { name, mark, family, value }),
            None => {
                self.declaration.broken.push(name);
                self.declaration.hidden_uses = true;
                None
            }
        }
    }

    /// `= expression`
    fn defined(&mut self, key: AttributeKey, value: &[TokenTree]) -> syn::Result<Expr> {
        match value {
            [equals] => Err(syn::Error::new(
                equals.span(),
                format_args!("no expression after `=`, as in `{}`", key.row().usage),
            )),
            _ => self.parsed(&value[1..]),
        }
    }
}

/// A list of named expressions: the key whose rules hold for its entries, the word before it, and its notation.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) key: AttributeKey,
    pub(super) word: &'static str,
    pub(super) usage: &'static str,
}

impl List {
    /// The resets of an event, which give whole variables of the state as `start` does.
    pub(super) const RESET: Self = Self { key: AttributeKey::Start, word: "reset", usage: "reset(p = -p)" };
}

impl From<AttributeKey> for List {
    fn from(key: AttributeKey) -> Self {
        Self { key, word: key.name(), usage: key.row().usage }
    }
}

/// The words of an entry: names, also those after a missing comma.
fn idents(tokens: &[TokenTree]) -> impl Iterator<Item = Ident> {
    tokens.iter().filter_map(|token| match token {
        TokenTree::Ident(name) => Some(name.clone()),
        _ => None,
    })
}

/// Returns `true` if this index takes an entry, as on the left of `q[0] = q[1]`, and does not run through a family.
fn is_equation(key: AttributeKey, index: &Group) -> bool {
    let mut tokens = index.stream().into_iter();
    key.takes_definitions()
        && key != AttributeKey::Output
        && matches!((tokens.next(), tokens.next()), (Some(TokenTree::Literal(_)), None))
}

/// The shape of a variable, from what follows its name: nothing, `: [3]`, or `: [3, 8]`.
fn shape(key: AttributeKey, name: &Ident, tokens: &[TokenTree]) -> syn::Result<Shape> {
    match tokens {
        [] => return Ok(Shape::Scalar),
        [TokenTree::Ident(next), ..] => {
            return Err(syn::Error::new(next.span(), format_args!("a comma is missing before `{next}`")));
        }
        _ => {}
    }
    let is_in_brackets = |group: &Group| group.delimiter() == Delimiter::Bracket;
    let is_given = is_sign(&tokens[0], '=');
    let size = match tokens {
        [TokenTree::Group(sizes)] if is_in_brackets(sizes) => Some(written(sizes.stream())),
        [_, TokenTree::Group(sizes)] if is_given && is_in_brackets(sizes) => Some(written(sizes.stream())),
        _ if is_given => None,
        // `[f64; 2]`
        [_, TokenTree::Group(array)] if is_in_brackets(array) => {
            match &array.stream().into_iter().collect::<Vec<_>>()[..] {
                [TokenTree::Ident(_), sign, TokenTree::Literal(size)] if is_sign(sign, ';') => Some(size.to_string()),
                _ => None,
            }
        }
        [_, TokenTree::Literal(size)] => Some(size.to_string()),
        [_, TokenTree::Ident(vector), ..] => {
            let size = plain(vector).strip_prefix("Vector").map(str::to_owned);
            size.filter(|size| size.parse::<usize>().is_ok())
        }
        _ => None,
    };
    let remedy = match (size, tokens) {
        (Some(size), _) => format!("\nhelp: write `{name}: [{size}]`"),
        (None, [_, value @ ..]) if is_given => {
            let value = written(stream(value));
            if key == AttributeKey::Velocities && !value.starts_with(|first: char| first.is_ascii_digit()) {
                format!("\nhelp: write `{name}`: a velocity is the rate of the coordinate at its place")
            } else {
                format!("\nhelp: where it starts is declared by `start({name} = {value})`")
            }
        }
        // `der(q)`
        (None, [TokenTree::Group(of)])
            if key == AttributeKey::Velocities && of.delimiter() == Delimiter::Parenthesis =>
        {
            "\nhelp: write `v`: a velocity is the rate of the coordinate at its place".to_owned()
        }
        (None, [_, TokenTree::Ident(number)]) if number == "f64" => format!("\nhelp: write `{name}`"),
        _ => String::new(),
    };
    let tokens = stream(tokens);
    let shape = written_sizes.parse2(tokens.clone()).ok().and_then(|sizes| Shape::of(&sizes));
    let shape = shape.filter(|shape| (1..=MAX_ENTRIES).contains(&shape.entries()));
    shape.ok_or_else(|| {
        let message = format!(
            "this is not a shape: `{name}` is a scalar, `{name}: [3]` a vector, `{name}: [3, 8]` a matrix, with integer literals as sizes, \
             and from 1 to {MAX_ENTRIES} entries{remedy}"
        );
        syn::Error::new_spanned(tokens, message)
    })
}

/// `: [3, 8]`
fn written_sizes(input: ParseStream) -> syn::Result<Vec<usize>> {
    let content;
    input.parse::<Token![:]>()?;
    bracketed!(content in input);
    Punctuated::<LitInt, Token![,]>::parse_terminated(&content)?.iter().map(LitInt::base10_parse).collect()
}

/// `[i in 0..8]`
pub(super) fn family(list: impl Into<List>, name: &Ident, index: &Group) -> syn::Result<Family> {
    let List { key, word, .. } = list.into();
    let refused = |message: String| Err(syn::Error::new(index.span_open(), message));
    if key.gives_whole_variables() {
        return refused(format!("`{word}` gives all of `{name}` at once\nhelp: write `{name} = ..`"));
    }
    let family = written_family.parse2(index.stream()).map_err(|error| {
        // What is missing has no token.
        let missing = error.to_string().starts_with(END_OF_INPUT);
        let span = if missing { index.span_open() } else { error.span() };
        let message = format!("a family is written `{name}[i in 0..8] = ..`, with integer literals as bounds");
        syn::Error::new(span, message)
    })?;
    match family.range.end.saturating_sub(family.range.start) {
        ..=0 => refused(format!("the family `{name}` is empty: its range contains no index")),
        length if length > MAX_ENTRIES as i64 => {
            refused(format!("the family `{name}` has more than {MAX_ENTRIES} members"))
        }
        _ => Ok(family),
    }
}

/// The family, unless it begins at another index than the entries of a vector do.
fn from_zero(index: &Group, family: Family) -> syn::Result<Family> {
    match family.range.start {
        0 => Ok(family),
        _ => Err(syn::Error::new(index.span_open(), "the entries of an input are counted from 0\nhelp: write `0..`")),
    }
}

/// The word `assume` or `redundant`, what stands before `=`, and the rest.
fn parts(tokens: &[TokenTree]) -> (Option<Ident>, &[TokenTree], &[TokenTree]) {
    let equals = tokens.iter().position(|token| is_sign(token, '='));
    let (head, value) = match equals {
        Some(at) if after_equals(&tokens[at..]).is_some() => tokens.split_at(at),
        _ => (tokens, &[][..]),
    };
    match head {
        [TokenTree::Ident(word), TokenTree::Ident(_), ..] if word == ASSUME || word == REDUNDANT => {
            (Some(word.clone()), &head[1..], value)
        }
        _ => (None, head, value),
    }
}

/// `i in 0..8`
fn written_family(input: ParseStream) -> syn::Result<Family> {
    let index: Ident = input.parse()?;
    input.parse::<Token![in]>()?;
    let start: i64 = input.parse::<LitInt>()?.base10_parse()?;
    let limits: RangeLimits = input.parse()?;
    let end: i64 = input.parse::<LitInt>()?.base10_parse()?;
    let end = match limits {
        RangeLimits::HalfOpen(_) => end,
        RangeLimits::Closed(_) => end.saturating_add(1),
    };
    Ok(Family { index, range: start..end })
}
