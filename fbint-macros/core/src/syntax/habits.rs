//! Notation of other languages that syn cannot read, or reads as something else: found among the tokens before syn sees them.
//!
//! Each habit is one mistake at its own token, and the message has what to write instead.

mod operands;

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenTree};

use self::operands::operand;
use super::AttributeKey;
use super::attribute::after_equals;
use super::plain;
use super::written::{is_sign, written_or};

/// A place, and what is wrong there.
type Mistake = (Span, String);

/// The remedy where a value would depend on a condition.
pub(crate) const SWITCH: &str = "cases are written `if x > 0 { a } else { b }`, as in Rust";
/// Macros that make vectors and matrices.
const CONSTRUCTORS: [&str; 3] = ["vector", "matrix", "stack"];
/// Functions that other languages apply without parentheses.
const PREFIX_FUNCTIONS: [&str; 8] = ["sin", "cos", "tan", "sqrt", "exp", "ln", "log", "abs"];
/// Functions that have the same name as the method that computes them.
const FUNCTIONS: [&str; 16] = [
    "sin", "cos", "tan", "sqrt", "exp", "ln", "log", "abs", "norm", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "signum",
];
/// Modules of other languages that have functions of these names.
const MODULES: [&str; 6] = ["np", "np.linalg", "numpy", "math", "sp", "sympy"];
/// Units that are likely names of parameters: they are units where another one follows, as in `9.81 m/s^2`.
const SHORT_UNITS: [&str; 7] = ["m", "s", "N", "J", "W", "K", "g"];
/// Units, but for those that are likely names of parameters.
pub(crate) const UNITS: [&str; 14] =
    ["kg", "mm", "cm", "km", "ms", "Hz", "rpm", "Nm", "Pa", "rad", "kN", "mol", "eV", "deg"];
/// Words that are no operand.
const KEYWORDS: [&str; 14] =
    ["as", "async", "await", "break", "const", "else", "if", "in", "move", "mut", "ref", "return", "static", "unsafe"];

/// The tokens of an entry's value, and the tokens of the next entry after a forgotten comma.
pub(super) fn value(tokens: &[TokenTree]) -> (&[TokenTree], &[TokenTree]) {
    let next = (1..tokens.len()).find(|&at| Token { tokens, at, place: Place::Entry }.begins_entry());
    tokens.split_at(next.unwrap_or(tokens.len()))
}

/// The first habit among the tokens of a value.
pub(super) fn misread(value: &[TokenTree]) -> Option<Mistake> {
    first(value, Place::Entry)
}

fn first(tokens: &[TokenTree], place: Place) -> Option<Mistake> {
    (0..tokens.len()).find_map(|at| Token { tokens, at, place }.habit())
}

/// Where tokens stand.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In the attribute, where a comma ends the entry.
    Entry,
    /// Among arguments, which are separated by commas.
    List,
    /// In parentheses around one expression.
    Parentheses,
}

/// A token among others.
#[derive(Clone, Copy)]
struct Token<'t> {
    tokens: &'t [TokenTree],
    at: usize,
    place: Place,
}

impl<'t> Token<'t> {
    fn before(self) -> Option<&'t TokenTree> {
        self.at.checked_sub(1).map(|before| &self.tokens[before])
    }

    fn after(self) -> Option<&'t TokenTree> {
        self.tokens.get(self.at + 1)
    }

    fn span(self) -> Span {
        match &self.tokens[self.at] {
            TokenTree::Group(group) => group.span_open(),
            token => token.span(),
        }
    }

    fn follows_operand(self) -> bool {
        self.before().is_some_and(|token| match token {
            TokenTree::Ident(word) => !KEYWORDS.iter().any(|keyword| word == keyword),
            TokenTree::Literal(_) | TokenTree::Group(_) => true,
            TokenTree::Punct(_) => false,
        })
    }

    /// Returns `true` if this is where an entry begins after a forgotten comma.
    fn begins_entry(self) -> bool {
        match (&self.tokens[self.at], self.after()) {
            (TokenTree::Ident(word), Some(TokenTree::Group(_) | TokenTree::Punct(_))) if self.follows_operand() => {
                AttributeKey::spelled(&plain(word)).is_some() || after_equals(&self.tokens[self.at + 1..]).is_some()
            }
            _ => false,
        }
    }

    fn habit(self) -> Option<Mistake> {
        match &self.tokens[self.at] {
            TokenTree::Ident(word) => {
                let message = match &word.to_string()[..] {
                    "match" | "where" => SWITCH,
                    "if" if self.follows_operand() || self.is_called() => SWITCH,
                    "then" if self.follows_operand() => SWITCH,
                    "elif" | "elseif" | "elsif" if self.follows_operand() => "the next case is written `else if`",
                    "else" if !matches!(self.before(), Some(TokenTree::Group(_))) => SWITCH,
                    "for" | "while" | "loop" => "a sum is written `(0..3).map(|i| ..).sum()`",
                    "let" => "drop `let`: intermediate results are named by `define(name = ..)`",
                    word if KEYWORDS.contains(&word) => return None,
                    _ => return self.side_by_side(),
                };
                Some((word.span(), message.to_owned()))
            }
            TokenTree::Literal(_) => self.side_by_side(),
            TokenTree::Group(group) => self.group(group),
            TokenTree::Punct(punct) => Some((punct.span(), self.punct(punct)?)),
        }
    }

    /// Returns `true` for the `if` of `if(x > 0, a, b)`.
    fn is_called(self) -> bool {
        let Some(TokenTree::Group(group)) = self.after() else { return false };
        let arguments: Vec<TokenTree> = group.stream().into_iter().collect();
        group.delimiter() == Delimiter::Parenthesis && holds(&arguments, ',')
    }

    /// Two operands without an operator between them.
    fn side_by_side(self) -> Option<Mistake> {
        if !self.follows_operand() {
            return None;
        }
        if let Some(sign) = [self.before(), self.tokens.get(self.at)].into_iter().flatten().find_map(joining) {
            return Some((self.span(), format!("conditions are joined by `{sign}`")));
        }
        let (left, right) = (self.left("x"), self.right(0, "y"));
        let separator = if self.place == Place::Parentheses { "an operator" } else { "an operator or a comma" };
        let remedy = match (self.before(), &self.tokens[self.at]) {
            (Some(TokenTree::Literal(_)), TokenTree::Literal(_)) => String::new(),
            (Some(TokenTree::Literal(_)), TokenTree::Ident(unit)) if UNITS.iter().any(|other| unit == other) => {
                return Some((unit.span(), format!("numbers have no units\nhelp: drop `{unit}`")));
            }
            (Some(TokenTree::Literal(_)), TokenTree::Ident(unit)) if self.is_unit_of_units() => {
                return Some((unit.span(), format!("numbers have no units\nhelp: drop what begins with `{unit}`")));
            }
            (Some(TokenTree::Ident(word)), _)
                if word == "lambda" && self.tokens.iter().any(|token| is_sign(token, ':')) =>
            {
                return Some((
                    word.span(),
                    "this is an expression, and no function of something\nhelp: write what follows the `:`".to_owned(),
                ));
            }
            (Some(TokenTree::Ident(word)), other) => {
                if [word.to_string(), other.to_string()].iter().any(|word| word == "not") {
                    return Some((self.span(), SWITCH.to_owned()));
                }
                match prefix_function(word) {
                    Some(function) => format!(": a function is written `{right}.{function}()`"),
                    None => format!(": a product is written `{left} * {right}`"),
                }
            }
            _ => format!(": a product is written `{left} * {right}`"),
        };
        Some((self.span(), format!("expected {separator} before this{remedy}")))
    }

    /// Returns `true` for the `m` of `9.81 m/s^2`.
    fn is_unit_of_units(self) -> bool {
        let is_unit = |token: Option<&TokenTree>| {
            let is = |unit: &&str| matches!(token, Some(TokenTree::Ident(word)) if word == *unit);
            SHORT_UNITS.iter().chain(&UNITS).any(is)
        };
        is_unit(self.tokens.get(self.at)) && is_sign(self.after(), '/') && is_unit(self.tokens.get(self.at + 2))
    }

    fn group(self, group: &Group) -> Option<Mistake> {
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_macro = is_sign(self.before(), '!');
        let place = match group.delimiter() {
            Delimiter::None => self.place,
            _ if is_macro => Place::List,
            Delimiter::Parenthesis if self.follows_operand() => Place::List,
            _ => Place::Parentheses,
        };
        let own = match group.delimiter() {
            Delimiter::None => None,
            _ if is_macro => None,
            Delimiter::Brace => holds(&inner, ',').then(|| (group.span(), vector(&inner))),
            Delimiter::Bracket => self.brackets(group, &inner),
            Delimiter::Parenthesis => self.parentheses(group, &inner),
        };
        own.or_else(|| first(&inner, place))
    }

    /// An index, or a list.
    fn brackets(self, group: &Group, inner: &[TokenTree]) -> Option<Mistake> {
        match self.before().filter(|_| self.follows_operand()) {
            Some(TokenTree::Ident(word)) if is_constructor(word) => Some(without_bang(word, group)),
            Some(name) => Some((group.span(), self.index(name, group, inner)?)),
            None => Some((group.span(), list(inner))),
        }
    }

    /// The mistake in an index of this name.
    fn index(self, name: &TokenTree, group: &Group, inner: &[TokenTree]) -> Option<String> {
        if (0..inner.len()).any(|at| is_lone_colon(inner, at)) {
            return Some("parts of a vector cannot be taken\nhelp: write `vector![..]` of its entries".to_owned());
        }
        let name = name.to_string();
        let is_function = name.len() > 2 && name.starts_with(char::is_uppercase);
        holds(inner, ',').then(|| match is_function {
            true => "functions are methods here, as in `x.sin()` or `a.dot(&b)`".to_owned(),
            false => {
                let (matrix, index) = (self.left("m"), written_or(group.stream(), "0, 1"));
                format!("a matrix has two indices\nhelp: write `{matrix}[({index})]`")
            }
        })
    }

    /// Arguments, or an expression in parentheses.
    fn parentheses(self, group: &Group, inner: &[TokenTree]) -> Option<Mistake> {
        match self.before().filter(|_| self.follows_operand()) {
            Some(TokenTree::Ident(word)) if is_constructor(word) => Some(without_bang(word, group)),
            Some(TokenTree::Ident(_)) => None,
            Some(_) => self.side_by_side(),
            // Those of `sum::<f64>()` are arguments.
            None if is_sign(self.before(), '>') => None,
            None => inner.is_empty().then(|| (group.span(), "nothing stands between these parentheses".to_owned())),
        }
    }

    fn punct(self, punct: &Punct) -> Option<String> {
        let character = punct.as_char();
        let is_joined_to = |next| punct.spacing() == Spacing::Joint && is_sign(self.after(), next);
        match character {
            '?' => Some(SWITCH.to_owned()),
            '@' => {
                let (left, right) = (self.left("a"), self.right(1, "b"));
                let column = left.strip_suffix(".T").unwrap_or(&left);
                Some(format!(
                    "`@` is not an operator here: the inner product is `{column}.dot(&{right})`, that of matrices `{} * {right}`",
                    left.replace(".T", ".transpose()")
                ))
            }
            '^' => Some(format!("`^` is not a power here\nhelp: write {}", self.power(1))),
            '*' if is_joined_to('*') => Some(format!("`**` is not an operator here\nhelp: write {}", self.power(2))),
            '.' => self.dot(punct),
            '-' if is_joined_to('>') => {
                Some("`->` has no meaning here: the entries of a vector are `.x` or `[i]`".to_owned())
            }
            '\'' => Some(
                "`'` has no meaning here: a transpose is `a.transpose()`, and the rate of a coordinate `rate(q)`"
                    .to_owned(),
            ),
            '#' => Some("`#` has no meaning here\nhelp: a comment begins with `//`".to_owned()),
            '~' | '$' => Some(format!("`{character}` has no meaning here")),
            '!' if self.follows_operand()
                && !matches!(self.after(), Some(TokenTree::Group(_)))
                && !is_joined_to('=') =>
            {
                Some("`!` after an operand has no meaning here\nhelp: write a factorial as a number".to_owned())
            }
            '|' if self.is_norm() => Some(
                "bars have no meaning here\nhelp: write `x.abs()`, and `v.norm()` for the length of a vector"
                    .to_owned(),
            ),
            '+' | '-' | '*' | '/' | '%' if self.ends() => {
                Some("the expression ends too early: an operand is missing after this".to_owned())
            }
            '/' | '%' if !self.follows_operand() => Some("an operand is missing before this".to_owned()),
            '+' if !self.follows_operand() => Some("drop this sign: nothing stands before it".to_owned()),
            _ => None,
        }
    }

    /// `.^`, `.*` and `./`, and a number that begins with its point.
    fn dot(self, punct: &Punct) -> Option<String> {
        let elementwise =
            |remedy: &str| Some(format!("there are no operators by components here\nhelp: write {remedy}"));
        match self.after() {
            Some(TokenTree::Punct(next)) if punct.spacing() == Spacing::Joint && self.follows_operand() => {
                match next.as_char() {
                    '^' => elementwise("`x.powi(2)` of each entry"),
                    '*' => elementwise("`a * b` for scalars, or `a.component_mul(&b)`"),
                    '/' => elementwise("`a / b` for scalars, or `a.component_div(&b)`"),
                    _ => None,
                }
            }
            Some(TokenTree::Group(arguments)) if arguments.delimiter() == Delimiter::Parenthesis => match self.before()
            {
                Some(TokenTree::Ident(word)) => {
                    let argument = written_or(arguments.stream(), "x");
                    let name = prefix_function(word).unwrap_or_else(|| plain(word));
                    elementwise(&format!("`{argument}.{name}()` of each entry"))
                }
                _ => None,
            },
            Some(TokenTree::Literal(digits)) if !self.follows_operand() && !is_sign(self.before(), '.') => {
                Some(format!("a number begins with a digit\nhelp: write `0.{digits}`"))
            }
            _ => None,
        }
    }

    /// Returns `true` for the first bar of `|x|`, if it does not begin a closure.
    fn is_norm(self) -> bool {
        let closes = |token: &&TokenTree| is_sign(*token, '|');
        let rest = &self.tokens[self.at + 1..];
        let Some(width) = rest.iter().position(|token| closes(&token)) else { return false };
        let has_body =
            matches!(rest.get(width + 1), Some(TokenTree::Ident(_) | TokenTree::Literal(_) | TokenTree::Group(_)));
        let is_argument = self.place == Place::List && self.at == 0;
        !self.follows_operand() && !is_argument && !has_body && width > 0
    }

    /// Returns `true` if no operand comes after this operator.
    fn ends(self) -> bool {
        self.after().is_none() || is_sign(self.after(), ',') || is_sign(self.after(), ';')
    }
}

/// The operator for a word that joins conditions in other languages.
fn joining(word: &TokenTree) -> Option<&'static str> {
    match &word.to_string()[..] {
        "and" => Some("&&"),
        "or" => Some("||"),
        _ => None,
    }
}

/// The method for a function that is applied without parentheses.
fn prefix_function(word: &Ident) -> Option<String> {
    let name = plain(word).to_lowercase();
    PREFIX_FUNCTIONS.contains(&&name[..]).then_some(name)
}

fn is_constructor(word: &Ident) -> bool {
    CONSTRUCTORS.iter().any(|name| word == name)
}

/// The mistake in `vector[..]` and `vector(..)`.
fn without_bang(word: &Ident, group: &Group) -> Mistake {
    let entries = written_or(group.stream(), "..");
    (word.span(), format!("write `{word}![{entries}]`: it is a macro, with `!`"))
}

/// Returns `true` for a colon that is not part of `::`.
fn is_lone_colon(tokens: &[TokenTree], at: usize) -> bool {
    let neighbours = [at.checked_sub(1).and_then(|before| tokens.get(before)), tokens.get(at + 1)];
    is_sign(tokens.get(at), ':') && !neighbours.into_iter().any(|token| is_sign(token, ':'))
}

fn holds(tokens: &[TokenTree], character: char) -> bool {
    tokens.iter().any(|token| is_sign(token, character))
}

/// The remedy for a list in brackets.
fn list(inner: &[TokenTree]) -> String {
    let rows = inner.split(|token| is_sign(token, ','));
    let row = |row: &[TokenTree]| match row {
        [TokenTree::Group(row)] if row.delimiter() == Delimiter::Bracket => Some(written_or(row.stream(), "..")),
        _ => None,
    };
    match rows.map(row).collect::<Option<Vec<String>>>() {
        Some(rows) => format!("a matrix is written `matrix![{}]`", rows.join("; ")),
        None if holds(inner, ';') && holds(inner, ',') => {
            format!("a matrix is written `matrix![{}]`", operand(inner, "..; .."))
        }
        None => vector(inner),
    }
}

fn vector(entries: &[TokenTree]) -> String {
    format!("a vector is written `vector![{}]`", operand(entries, "..").replace(';', ","))
}
