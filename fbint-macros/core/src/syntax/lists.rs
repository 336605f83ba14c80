//! The lists of the attribute: variables with their shapes, and named expressions.

use proc_macro2::{Delimiter, Group, Punct, Spacing, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitInt, RangeLimits, Token, bracketed};

use super::attribute::{AttributeReader, END_OF_INPUT, KeyEntry, after_equals};
use super::written::{difference, written, written_or};
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
        self.declaration.laws.push(NamedExpression { name, assume: None, redundant: None, family, value });
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
        let (word, head, value) = parts(tokens);
        let (redundant, assume): (Option<Ident>, Option<Ident>) = match word {
            Some(word) if word == REDUNDANT => (Some(word), None),
            other => (None, other),
        };
        let (name, index) = match (head, value) {
            ([name @ TokenTree::Ident(_)], []) if key.takes_definitions() => {
                let name = self.name(key, name)?;
                return Some(NamedExpression {
                    value: syn::parse_quote!(#name),
                    assume,
                    redundant,
                    family: None,
                    name,
                });
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
            Some((family, value)) => Some(NamedExpression { name, assume, redundant, family, value }),
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
    key: AttributeKey,
    word: &'static str,
    usage: &'static str,
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

fn is_equals(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(sign) if sign.as_char() == '=')
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
    let remedy = match tokens {
        [_, TokenTree::Group(sizes)] if sizes.delimiter() == Delimiter::Bracket && is_equals(&tokens[0]) => {
            let sizes = written(sizes.stream());
            format!("\nhelp: write `{name}: [{sizes}]`")
        }
        [equals, value @ ..] if is_equals(equals) => {
            let value = written(value.iter().cloned().collect::<TokenStream>());
            if key == AttributeKey::Velocities && !value.starts_with(|first: char| first.is_ascii_digit()) {
                format!("\nhelp: write `{name}`: a velocity is the rate of the coordinate at its place")
            } else {
                format!("\nhelp: where it starts is declared by `start({name} = {value})`")
            }
        }
        // `der(q)`
        [TokenTree::Group(of)] if key == AttributeKey::Velocities && of.delimiter() == Delimiter::Parenthesis => {
            "\nhelp: write `v`: a velocity is the rate of the coordinate at its place".to_owned()
        }
        [TokenTree::Group(sizes)] if sizes.delimiter() == Delimiter::Bracket => {
            let sizes = written(sizes.stream());
            format!("\nhelp: write `{name}: [{sizes}]`")
        }
        // `[f64; 2]`
        [_, TokenTree::Group(array)] if array.delimiter() == Delimiter::Bracket => {
            match &array.stream().into_iter().collect::<Vec<_>>()[..] {
                [TokenTree::Ident(_), TokenTree::Punct(sign), TokenTree::Literal(size)] if sign.as_char() == ';' => {
                    format!("\nhelp: write `{name}: [{size}]`")
                }
                _ => String::new(),
            }
        }
        [_, TokenTree::Literal(size)] => format!("\nhelp: write `{name}: [{size}]`"),
        [_, TokenTree::Ident(number)] if number == "f64" => format!("\nhelp: write `{name}`"),
        [_, TokenTree::Ident(vector), ..] => match plain(vector).strip_prefix("Vector") {
            Some(size) if size.parse::<usize>().is_ok() => format!("\nhelp: write `{name}: [{size}]`"),
            _ => String::new(),
        },
        _ => String::new(),
    };
    let tokens: TokenStream = tokens.iter().cloned().collect();
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
    let equals = tokens.iter().position(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '='));
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

/// Where a definition stops looking like one, and what is wrong there.
fn misnamed(list: List, tokens: &[TokenTree]) -> (Span, String) {
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
    let value = written_or(tokens.iter().cloned().collect::<TokenStream>(), "..");
    let operator = sign.as_char();
    match (operator, &value[..]) {
        (_, "") => "..".to_owned(),
        ('*', "-1") if list.word == List::RESET.word => format!("-{name}"),
        ('+' | '-' | '*' | '/', _) if list.word == List::RESET.word && second.is_some_and(is_equals) => {
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
    let is_sign = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '=');
    let at = tokens.iter().position(is_sign)?;
    let right = match after_equals(&tokens[at..]) {
        Some(right) => right,
        None if tokens.get(at + 1).is_some_and(is_sign) => &tokens[at + 2..],
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
        [equals, right @ ..] if is_equals(equals) => (&condition[..at], right),
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

fn stream(tokens: &[TokenTree]) -> TokenStream {
    tokens.iter().cloned().collect()
}
