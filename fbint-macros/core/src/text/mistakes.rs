//! Mistakes in a text as data: what is wrong, and where.

use std::ops::Range;

use proc_macro2::{LineColumn, Span};

use crate::syntax::AttributeKey;
use crate::syntax::diagnostics::{HELP, advised};

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The fault and, after [`HELP`], its remedy.
    pub message: String,
    /// Where it begins.
    pub start: Position,
    /// Where it ends: the first character behind it.
    pub end: Position,
    /// The bytes of the text that are mistaken; none if it is the text as a whole.
    pub range: Range<usize>,
}

/// A place in a text, as editors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl Mistake {
    /// A mistake that no part of the text alone has.
    pub fn of_whole(message: &str) -> Self {
        let start = Position { line: 1, column: 1 };
        Self { message: message.to_owned(), start, end: start, range: 0..0 }
    }

    /// The message without line breaks, for a place within a sentence.
    pub fn in_one_line(&self) -> String {
        self.message.replace(HELP, "; ")
    }

    /// A mistake in these bytes of a text.
    fn on(text: &str, range: Range<usize>, message: String) -> Self {
        Self { message, start: place_of(text, range.start), end: place_of(text, range.end), range }
    }

    pub(super) fn at(span: Span, message: String) -> Self {
        if is_nowhere(span) {
            return Self::of_whole(&message);
        }
        Self { message, start: position(span.start()), end: position(span.end()), range: span.byte_range() }
    }
}

/// The mistakes in an error. A mistake without a token is at `place`.
pub(super) fn mistakes_of(result: syn::Result<()>, place: Span) -> Vec<Mistake> {
    let errors = result.err().into_iter().flatten();
    let mistake = |error: syn::Error| {
        let span = error.span();
        Mistake::at(if is_nowhere(span) { place } else { span }, error.to_string())
    };
    errors.map(mistake).collect()
}

/// A text that is not made of tokens of Rust.
pub(super) fn untokenised(text: &str, span: Span) -> Mistake {
    let start = span.byte_range().start;
    let character = text.get(start..).and_then(|rest| rest.chars().next());
    let message = match character {
        Some(open @ ('(' | '[' | '{')) => format!("`{open}` is not closed"),
        Some(close @ (')' | ']' | '}')) => return unbalanced(text, start, close),
        Some('"') => "this string is not closed".to_owned(),
        Some('/') => "this comment is not closed".to_owned(),
        Some(control) if control.is_control() => format!("`{}` begins no token of Rust", control.escape_default()),
        Some('\'' | '′' | '’') if text[start..].chars().skip(1).find(|next| !next.is_whitespace()) == Some('=') => {
            advised("a rate is declared by the name of its variable", "write `x = ..`")
        }
        Some('\\') => advised("`\\` has no meaning here", "expressions are written as in Rust, not as in LaTeX"),
        Some(other) => match instead_of(other) {
            Some(remedy) => advised(format_args!("`{other}` has no meaning here"), remedy),
            None => format!("`{other}` begins no token of Rust"),
        },
        None => "the text ends within a token of Rust".to_owned(),
    };
    let length = character.map_or(0, char::len_utf8);
    Mistake::on(text, start..start + length, message)
}

/// The replacement of a character that is not one of Rust's.
fn instead_of(character: char) -> Option<&'static str> {
    Some(match character {
        '²' => "a square is written `x.powi(2)`",
        '³' => "a cube is written `x.powi(3)`",
        '¹' | '⁰' | '⁴'..='⁹' | '⁻' => "a power is written `x.powi(4)`",
        '·' | '×' | '⋅' | '∗' | '•' => "a product is written `a * b`",
        '÷' | '∕' | '⁄' => "a quotient is written `a / b`",
        '−' | '–' | '—' | '‐' => "a minus sign is written `-`",
        '°' => "angles are in radians\nhelp: write `90 * PI / 180`",
        '√' => "a root is written `x.sqrt()`",
        '½' => "write `1 / 2`",
        '¼' => "write `1 / 4`",
        '∞' => "write a finite number",
        '∑' | '∏' => "a sum is written `(0..3).map(|i| ..).sum()`",
        '\'' | '′' | '’' => "a transpose is written `a.transpose()`, and the rate of a coordinate `rate(q)`",
        '≤' => "a comparison is written `a <= b`",
        '≥' => "a comparison is written `a >= b`",
        '≠' | '≈' => "real numbers are compared by `<` or `>`",
        '“' | '”' | '„' => "remove it: expressions have no text",
        _ => return None,
    })
}

/// A closing bracket that fits no open one, or an opening one that is not closed before it.
fn unbalanced(text: &str, at: usize, close: char) -> Mistake {
    let open = open_brackets(&text[..at]);
    let partner = match close {
        ')' => '(',
        ']' => '[',
        _ => '{',
    };
    let has_partner = open.iter().any(|bracket| bracket.character == partner);
    match open.iter().find(|bracket| bracket.holds_entry).or(open.last()).filter(|_| has_partner) {
        Some(&Bracket { at: place, character, .. }) => {
            let Position { line, column } = place_of(text, at);
            let message = format!("`{character}` is not closed before the `{close}` in line {line}, column {column}");
            Mistake::on(text, place..place + 1, message)
        }
        None => Mistake::on(text, at..at + 1, format!("`{close}` closes nothing\nhelp: remove it, or open it before")),
    }
}

/// A bracket that is open.
struct Bracket {
    at: usize,
    character: char,
    /// Set if an entry of the attribute, or of a list in it, begins in it, which belongs outside.
    holds_entry: bool,
}

/// The brackets that are open at the end of a text, which is made of tokens.
fn open_brackets(text: &str) -> Vec<Bracket> {
    let mut open: Vec<Bracket> = Vec::new();
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        match character {
            '(' | '[' | '{' => open.push(Bracket { at, character, holds_entry: false }),
            ')' | ']' | '}' => _ = open.pop(),
            ',' if open.len() > 2 && begins_entry(&text[at + 1..], open.len() > 3) => {
                open.last_mut().expect("there are some").holds_entry = true;
            }
            '/' if text[at..].starts_with("//") => _ = rest.by_ref().find(|(_, character)| *character == '\n'),
            '"' => _ = rest.by_ref().find(|(_, character)| *character == '"'),
            _ => {}
        }
    }
    open
}

/// Returns `true` if a key of the attribute begins here with its value or, in a list, any name.
fn begins_entry(text: &str, in_list: bool) -> bool {
    let text = text.trim_start();
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(text.len());
    let value = text[end..].trim_start();
    let is_value = value.starts_with('=') && !value.starts_with("==");
    AttributeKey::is_key(&text[..end]) && (is_value || value.starts_with('(')) || in_list && end > 0 && is_value
}

/// Returns `true` if a span belongs to the call of a macro, which a text does not have.
fn is_nowhere(span: Span) -> bool {
    span.start().line == 0
}

/// The place of a byte of a text.
fn place_of(text: &str, at: usize) -> Position {
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Position { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
}

fn position(LineColumn { line, column }: LineColumn) -> Position {
    Position { line, column: column + 1 }
}
