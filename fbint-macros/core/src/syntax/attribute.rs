//! The keys of the attribute.
//!
//! Entries are cut at commas and read one by one. An entry that cannot be read is reported once; whatever names it
//! would have declared become `broken`, or the whole declaration `incomplete` where even the names are unknown.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Ident, Lit, RangeLimits, Token};

use super::{Family, MAX_ENTRIES, Named, Shape, Variable, limits, plain, whole};
use crate::diagnostics::{Errors, nearest};

/// The keys, in the order in which messages list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Coordinates,
    Momenta,
    Hamiltonian,
    Define,
    Constraint,
    PhaseConstraint,
    Invariant,
    Crate,
    State,
    Poisson,
    Dynamics,
    Output,
}

impl Key {
    const ALL: [Self; 12] = [
        Self::Coordinates,
        Self::Momenta,
        Self::Hamiltonian,
        Self::Define,
        Self::Constraint,
        Self::PhaseConstraint,
        Self::Invariant,
        Self::Crate,
        Self::State,
        Self::Poisson,
        Self::Dynamics,
        Self::Output,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates",
            Self::Momenta => "momenta",
            Self::Hamiltonian => "hamiltonian",
            Self::Define => "define",
            Self::Constraint => "constraint",
            Self::PhaseConstraint => "phase_constraint",
            Self::Invariant => "invariant",
            Self::Crate => "crate",
            Self::State => "state",
            Self::Poisson => "poisson",
            Self::Dynamics => "dynamics",
            Self::Output => "output",
        }
    }

    /// How the key is written.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates(q: [3])",
            Self::Momenta => "momenta(p: [3])",
            Self::Hamiltonian => "hamiltonian = p.norm_squared() / (2 * m)",
            Self::Define => "define(name = expression)",
            Self::Constraint => "constraint(name = expression)",
            Self::PhaseConstraint => "phase_constraint(name = expression)",
            Self::Invariant => "invariant(name = expression)",
            Self::Crate => "crate = path::to::fbint_runtime",
            Self::State => "state(x: [3])",
            Self::Poisson => "poisson = expression",
            Self::Dynamics => "dynamics(name = expression)",
            Self::Output => "output(name = expression)",
        }
    }

    fn spelled(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Whether the key names several things, so that it may be given repeatedly.
    fn repeats(self) -> bool {
        matches!(self, Self::Define | Self::Constraint | Self::PhaseConstraint | Self::Invariant)
    }
}

/// The variables of one key.
pub(super) struct Variables {
    pub(super) variables: Vec<Variable>,
    /// Whether all of them could be read, so that coordinates and momenta can be compared.
    pub(super) understood: bool,
}

/// What the attribute says.
pub(super) struct Attribute {
    pub(super) runtime: syn::Path,
    pub(super) coordinates: Variables,
    pub(super) momenta: Variables,
    pub(super) hamiltonian: Option<Expr>,
    pub(super) defines: Vec<Named>,
    pub(super) constraints: Vec<Named>,
    pub(super) phase_constraints: Vec<Named>,
    pub(super) invariants: Vec<Named>,
    pub(super) broken: Vec<Ident>,
    pub(super) incomplete: bool,
    /// The keys that occur, well-formed or not.
    pub(super) seen: Vec<Key>,
    /// Whether some key could not be read, so that nobody can tell which are missing.
    pub(super) uncertain: bool,
}

/// Reads the attribute.
pub(super) struct Reader<'e> {
    errors: &'e mut Errors,
    attribute: Attribute,
}

impl<'e> Reader<'e> {
    pub(super) fn new(errors: &'e mut Errors) -> Self {
        let attribute = Attribute {
            runtime: syn::parse_quote!(::fbint_runtime),
            coordinates: Variables { variables: Vec::new(), understood: true },
            momenta: Variables { variables: Vec::new(), understood: true },
            hamiltonian: None,
            defines: Vec::new(),
            constraints: Vec::new(),
            phase_constraints: Vec::new(),
            invariants: Vec::new(),
            broken: Vec::new(),
            incomplete: false,
            seen: Vec::new(),
            uncertain: false,
        };
        Self { errors, attribute }
    }

    pub(super) fn finish(self) -> Attribute {
        self.attribute
    }

    pub(super) fn read(&mut self, tokens: TokenStream) {
        if !limits::hold(&tokens, self.errors) {
            (self.attribute.incomplete, self.attribute.uncertain) = (true, true);
            return;
        }
        for entry in self.entries(tokens) {
            self.entry(&entry);
        }
    }

    /// Cuts at commas. A trailing comma is fine, a doubled one is a mistake.
    fn entries(&mut self, tokens: TokenStream) -> Vec<Vec<TokenTree>> {
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
            (self.attribute.incomplete, self.attribute.uncertain) = (true, true);
            let message = "expected a key, as in `coordinates(q: [3])` or `hamiltonian = p * p / (2 * m)`";
            return self.errors.push(tokens[0].span(), message);
        };
        let key = match Key::spelled(&plain(word)) {
            Some(key) => key,
            None => match self.unknown_key(word) {
                Some(key) => key,
                None => {
                    (self.attribute.incomplete, self.attribute.uncertain) = (true, true);
                    return;
                }
            },
        };
        let repeated = self.attribute.seen.contains(&key) && !key.repeats();
        if repeated {
            self.errors.push(word.span(), repetition(key));
        }
        self.attribute.seen.push(key);
        match key {
            Key::State | Key::Poisson | Key::Dynamics | Key::Output => self.unsupported(key, word.span()),
            Key::Hamiltonian | Key::Crate => self.single(key, word, rest, repeated),
            Key::Coordinates | Key::Momenta => self.variables(key, word, rest, repeated),
            Key::Define | Key::Constraint | Key::PhaseConstraint | Key::Invariant => self.named(key, word, rest),
        }
    }

    /// Reports the unknown key and reads on with the one that was most likely meant.
    fn unknown_key(&mut self, word: &Ident) -> Option<Key> {
        let candidates = Key::ALL.iter().map(|key| key.name());
        let key = nearest(&plain(word), candidates).and_then(Key::spelled);
        match key {
            Some(key) => {
                self.errors.push(word.span(), format_args!("unknown key `{word}`; did you mean `{}`?", key.name()))
            }
            None => {
                let known: Vec<&str> = Key::ALL[..8].iter().map(|key| key.name()).collect();
                self.errors.push(word.span(), format_args!("unknown key `{word}`; the keys are {}", known.join(", ")));
            }
        }
        key
    }

    fn unsupported(&mut self, key: Key, span: Span) {
        self.attribute.incomplete = true;
        let message = match key {
            Key::Output => "`output` is not supported yet; compute the quantity from the state after the step",
            Key::State => "`state` is not supported yet; declare canonical `coordinates` and `momenta`",
            Key::Poisson => "`poisson` is not supported yet; only canonical `coordinates` and `momenta` are",
            _ => "`dynamics` is not supported yet; give a `hamiltonian`",
        };
        self.errors.push(span, message);
    }

    /// `key = expression`.
    fn single(&mut self, key: Key, word: &Ident, rest: &[TokenTree], repeated: bool) {
        let value = match rest {
            [TokenTree::Punct(equals), value @ ..] if is_equals(equals) => value,
            [] => return self.spoil(word.span(), format_args!("`{word}` needs a value: `{}`", key.usage())),
            [other, ..] => return self.spoil(other.span(), format_args!("expected `=`, as in `{}`", key.usage())),
        };
        if value.is_empty() {
            return self.spoil(rest[0].span(), format_args!("no value after `=`, as in `{}`", key.usage()));
        }
        if key == Key::Crate {
            let hint = "`crate` takes a path, as in `crate = my_crate::fbint_runtime`";
            if let Some(path) = self.parsed(value, syn::Path::parse_mod_style, Some(hint)) {
                self.attribute.runtime = path;
            }
        } else if let Some(expression) = self.parsed(value, Expr::parse, None)
            && !repeated
        {
            self.attribute.hamiltonian = Some(expression);
        }
    }

    /// `key(x, q: [3], r: [3, 3])`.
    fn variables(&mut self, key: Key, word: &Ident, rest: &[TokenTree], repeated: bool) {
        let mut understood = !repeated;
        let mut variables = Vec::new();
        match self.list(key, word, rest) {
            None => understood = false,
            Some(list) => {
                let entries = self.entries(list.stream());
                if entries.is_empty() {
                    understood = false;
                    self.spoil(
                        list.span_close(),
                        format_args!("`{word}` is empty: list variables, as in `{}`", key.usage()),
                    );
                }
                for entry in entries {
                    match self.variable(key, &entry) {
                        Some(variable) => variables.push(variable),
                        None => understood = false,
                    }
                }
            }
        }
        let target = match key {
            Key::Momenta => &mut self.attribute.momenta,
            _ => &mut self.attribute.coordinates,
        };
        target.variables.extend(variables);
        target.understood &= understood;
    }

    fn variable(&mut self, key: Key, tokens: &[TokenTree]) -> Option<Variable> {
        let name = self.name(&tokens[0])?;
        let sizes = match &tokens[1..] {
            [] => return Some(Variable { name, shape: Shape::Scalar }),
            [TokenTree::Punct(colon), TokenTree::Group(sizes)]
                if colon.as_char() == ':' && sizes.delimiter() == Delimiter::Bracket =>
            {
                sizes
            }
            [TokenTree::Punct(colon), other, ..] if colon.as_char() == ':' => {
                let after = if tokens.len() > 3 { &tokens[3] } else { other };
                return self.misshapen(key, name, after.span());
            }
            [other, ..] => return self.misshapen(key, name, other.span()),
        };
        let entries = self.entries(sizes.stream());
        let mut shape = Vec::new();
        for entry in &entries {
            match self.size(entry) {
                Some(size) => shape.push(size),
                None => {
                    self.attribute.broken.push(name);
                    return None;
                }
            }
        }
        let shape = match shape[..] {
            [length] => Shape::Vector(length),
            [rows, columns] => Shape::Matrix { rows, columns },
            _ => {
                let message = "a shape has one size or two: `q: [3]` is a vector, `q: [3, 8]` a matrix of 3 rows";
                self.errors.push(sizes.span_open(), message);
                self.attribute.broken.push(name);
                return None;
            }
        };
        if shape.entries() > MAX_ENTRIES {
            self.errors.push(sizes.span_open(), format_args!("`{name}` has more than {MAX_ENTRIES} entries"));
            self.attribute.broken.push(name);
            return None;
        }
        Some(Variable { name, shape })
    }

    fn misshapen(&mut self, key: Key, name: Ident, span: Span) -> Option<Variable> {
        let message = format!("write `{name}` for a scalar, `{name}: [3]` for a vector, `{name}: [3, 8]` for a matrix");
        self.errors.push(span, format_args!("this is no shape in `{}`: {message}", key.name()));
        self.attribute.broken.push(name);
        None
    }

    fn size(&mut self, tokens: &[TokenTree]) -> Option<usize> {
        let size = match tokens {
            [TokenTree::Literal(literal)] => match Lit::new(literal.clone()) {
                Lit::Int(integer) => integer.base10_parse::<usize>().ok(),
                _ => None,
            },
            _ => None,
        };
        match size {
            Some(1..=MAX_ENTRIES) => size,
            _ => {
                let message = format!("a size is an integer literal from 1 to {MAX_ENTRIES}");
                self.errors.push(tokens[0].span(), message);
                None
            }
        }
    }

    /// `key(name = expression, family[i in 0..8] = expression)`.
    fn named(&mut self, key: Key, word: &Ident, rest: &[TokenTree]) {
        let Some(list) = self.list(key, word, rest) else { return };
        let entries = self.entries(list.stream());
        if entries.is_empty() {
            self.spoil(list.span_close(), format_args!("`{word}` is empty: name something, as in `{}`", key.usage()));
        }
        for entry in entries {
            let Some(named) = self.definition(key, &entry) else { continue };
            let target = match key {
                Key::Define => &mut self.attribute.defines,
                Key::Constraint => &mut self.attribute.constraints,
                Key::PhaseConstraint => &mut self.attribute.phase_constraints,
                _ => &mut self.attribute.invariants,
            };
            target.push(named);
        }
    }

    fn definition(&mut self, key: Key, tokens: &[TokenTree]) -> Option<Named> {
        let equals = tokens.iter().position(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '='));
        let (head, value) = match equals {
            Some(at) if matches!(&tokens[at], TokenTree::Punct(punct) if is_equals(punct)) => tokens.split_at(at),
            _ => (tokens, &[][..]),
        };
        let (name, index) = match head {
            [name @ TokenTree::Ident(_)] if !value.is_empty() => (self.name(name)?, None),
            [name @ TokenTree::Ident(_), TokenTree::Group(index)]
                if !value.is_empty() && index.delimiter() == Delimiter::Bracket =>
            {
                (self.name(name)?, Some(index))
            }
            _ => {
                self.attribute.incomplete |= key == Key::Define;
                let span = tokens[0].span();
                let message = format!("`{}` needs a name for this: `{}`", key.name(), key.usage());
                self.errors.push(span, message);
                return None;
            }
        };
        let family = match index {
            None => None,
            Some(index) => match self.family(key, &name, index) {
                Some(family) => Some(family),
                None => {
                    self.attribute.broken.push(name);
                    self.attribute.incomplete = true;
                    return None;
                }
            },
        };
        if value.len() == 1 {
            self.attribute.incomplete = true;
            self.errors.push(value[0].span(), format_args!("no expression after `=`, as in `{}`", key.usage()));
            self.attribute.broken.push(name);
            return None;
        }
        match self.parsed(&value[1..], Expr::parse, None) {
            Some(value) => Some(Named { name, family, value }),
            None => {
                self.attribute.broken.push(name);
                None
            }
        }
    }

    fn family(&mut self, key: Key, name: &Ident, index: &Group) -> Option<Family> {
        if key == Key::Define {
            let message = format!("`define` names one thing; drop `[..]` after `{name}` and index what it is made of");
            self.errors.push(index.span_open(), message);
            return None;
        }
        let written = |input: ParseStream| {
            let index: Ident = input.parse()?;
            input.parse::<Token![in]>()?;
            let start = bound(input)?;
            let limits: RangeLimits = input.parse()?;
            let end = bound(input)?;
            Ok((index, start, limits, end))
        };
        let Ok((variable, start, limits, end)) = written.parse2(index.stream()) else {
            let message = format!("a family is written `{name}[i in 0..8] = ..`, with integer literals as bounds");
            self.errors.push(index.span_open(), message);
            return None;
        };
        let end = match limits {
            RangeLimits::HalfOpen(_) => end,
            RangeLimits::Closed(_) => end.saturating_add(1),
        };
        let length = end.saturating_sub(start);
        if length <= 0 {
            self.errors
                .push(index.span_open(), format_args!("the family `{name}` is empty: its range contains no index"));
            return None;
        }
        if length > MAX_ENTRIES as i64 {
            self.errors
                .push(index.span_open(), format_args!("the family `{name}` has more than {MAX_ENTRIES} members"));
            return None;
        }
        Some(Family { index: variable, range: start..end })
    }

    /// The parenthesised list of a key.
    fn list(&mut self, key: Key, word: &Ident, rest: &[TokenTree]) -> Option<Group> {
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
                self.spoil(word.span(), format_args!("`{word}` needs a list: `{}`", key.usage()));
                None
            }
            [other, ..] => {
                self.spoil(other.span(), format_args!("expected `(`: `{word}` takes a list, as in `{}`", key.usage()));
                None
            }
        }
    }

    fn name(&mut self, token: &TokenTree) -> Option<Ident> {
        match syn::parse2::<Ident>(token.clone().into()) {
            Ok(name) => Some(name),
            Err(_) => {
                self.attribute.incomplete = true;
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
    fn parsed<T>(
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
                self.attribute.incomplete = true;
                let message = error.to_string();
                let last = tokens.last().map_or_else(whole, TokenTree::span);
                match (hint, message.strip_prefix("unexpected end of input")) {
                    (Some(hint), _) => self.errors.push(tokens[0].span(), hint),
                    (None, Some(_)) => {
                        self.errors.push(last, "the expression ends too early: an operand is missing after this")
                    }
                    (None, None) => self.errors.push(error.span(), format_args!("this is no expression: {message}")),
                }
                None
            }
        }
    }

    /// What follows a complete entry: most often the next one, after a forgotten comma.
    fn leftover(&mut self, tokens: &[TokenTree]) {
        match tokens {
            [TokenTree::Ident(word), TokenTree::Group(_) | TokenTree::Punct(_), ..]
                if Key::spelled(&plain(word)).is_some() =>
            {
                self.errors.push(word.span(), format_args!("a comma is missing before `{word}`"));
                self.entry(tokens);
            }
            [other, ..] => {
                self.attribute.incomplete = true;
                self.errors.push(other.span(), "expected an operator or a comma before this");
            }
            [] => {}
        }
    }

    /// Reports a mistake that leaves names unknown.
    fn spoil(&mut self, span: Span, message: impl std::fmt::Display) {
        self.attribute.incomplete = true;
        self.errors.push(span, message);
    }
}

fn repetition(key: Key) -> String {
    match key {
        Key::Coordinates | Key::Momenta => {
            format!("`{0}` is given twice: list all of them in one `{0}(..)`", key.name())
        }
        _ => format!("`{}` is given twice: keep one of the two", key.name()),
    }
}

/// `=`, and neither `==` nor `=>`.
fn is_equals(punct: &proc_macro2::Punct) -> bool {
    punct.as_char() == '=' && punct.spacing() == Spacing::Alone
}

fn bound(input: ParseStream) -> syn::Result<i64> {
    let negative = input.parse::<Option<Token![-]>>()?.is_some();
    let literal: syn::LitInt = input.parse()?;
    let value: i64 = literal.base10_parse()?;
    Ok(if negative { -value } else { value })
}
