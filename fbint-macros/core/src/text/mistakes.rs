//! Mistakes in a text as data: what is wrong, and where.

use std::ops::Range;

use proc_macro2::{LineColumn, Span};

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong, and what to do.
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

    pub(super) fn at(span: Span, message: String) -> Self {
        if is_nowhere(span) {
            return Self::of_whole(&message);
        }
        Self { message, start: position(span.start()), end: position(span.end()), range: span.byte_range() }
    }
}

/// The mistakes in an error. Those that have no token of their own are at `place`.
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
        Some(close @ (')' | ']' | '}')) => format!("`{close}` does not close the bracket that was opened last"),
        Some('"') => "this string is not closed".to_owned(),
        Some('/') => "this comment is not closed".to_owned(),
        Some(control) if control.is_control() => format!("`{}` begins no token of Rust", control.escape_default()),
        Some(other) => format!("`{other}` begins no token of Rust"),
        None => "the text ends within a token of Rust".to_owned(),
    };
    let length = character.map_or(0, char::len_utf8);
    let (start_position, mut end) = (position(span.start()), position(span.start()));
    end.column += usize::from(length > 0);
    Mistake { message, start: start_position, end, range: start..start + length }
}

/// Whether a span is that of the call of a macro, which a text has not.
fn is_nowhere(span: Span) -> bool {
    span.start().line == 0
}

fn position(LineColumn { line, column }: LineColumn) -> Position {
    Position { line, column: column + 1 }
}
