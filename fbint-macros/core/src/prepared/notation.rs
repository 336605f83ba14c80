//! Expressions as text, with a name for each part that occurs more than once.
//!
//! A part is a number (`-3/4`), `pi`, a symbol (`x3`, by its place), an operation on parts in parentheses (`(+ x0 (* -2 x1))`,
//! `(^ x0 1/2)`, `(sin x0)`), or the name of a part that was defined on a line before (`t7`).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::derivation::table::Id;
use crate::expression::{Expression, Function, Symbol};

/// A part whose text is at most this long is written out each time.
const SHORT: usize = 12;
/// The deepest expression that is written or read.
const DEEPEST: usize = 1_000;
/// The most parts of all expressions that are read. A part that has a name counts once.
const LARGEST: usize = 1 << 18;
/// The digits of the largest number.
const MOST_DIGITS: usize = 10_000;

/// The lines of a text, and the parts of the expressions in them.
#[derive(Default)]
pub(super) struct Lines<'e> {
    /// The left side of each line, and the expression on the right side if there is one.
    lines: Vec<(String, Option<&'e Expression>)>,
    /// The number of occurrences of each part, in others or alone.
    uses: HashMap<&'e Expression, usize>,
    /// The names of those that were written before.
    names: HashMap<&'e Expression, String>,
}

impl<'e> Lines<'e> {
    /// A line without an expression.
    pub(super) fn alone(&mut self, line: impl Into<String>) {
        self.lines.push((line.into(), None));
    }

    /// A line with an expression on its right side.
    pub(super) fn expression(&mut self, name: impl Into<String>, expression: &'e Expression) {
        self.count(expression);
        self.lines.push((name.into(), Some(expression)));
    }

    /// A line for each entry, which has the place of the symbol after its name.
    pub(super) fn by_symbol(&mut self, name: &str, entries: impl IntoIterator<Item = (&'e Symbol, &'e Expression)>) {
        for (symbol, entry) in entries {
            self.expression(format!("{name} {}", symbol.place()), entry);
        }
    }

    fn count(&mut self, part: &'e Expression) {
        let uses = self.uses.entry(part).or_default();
        *uses += 1;
        if *uses == 1 {
            part.children().for_each(|child| self.count(child));
        }
    }

    /// The text, with a line before for each part that expressions share.
    pub(super) fn text(mut self) -> String {
        let mut text = String::new();
        for (name, part) in std::mem::take(&mut self.lines) {
            let side = part.map_or_else(String::new, |part| format!(" = {}", self.text_of(part, &mut text)));
            let _ = writeln!(text, "{name}{side}");
        }
        text
    }

    /// The text that stands for a part. Lines that define the parts that it shares go before.
    fn text_of(&mut self, part: &'e Expression, lines: &mut String) -> String {
        if let Some(name) = self.names.get(part) {
            return name.clone();
        }
        let text = match part {
            Expression::Number(number) => number.to_string(),
            Expression::Pi => "pi".to_owned(),
            Expression::Symbol(symbol) => format!("x{}", symbol.0),
            Expression::Sum(terms) => self.operation("+", terms, lines),
            Expression::Product(factors) => self.operation("*", factors, lines),
            Expression::Power(base, exponent) => format!("(^ {} {exponent})", self.text_of(base, lines)),
            Expression::Call(function, arguments) => self.operation(function.name(), arguments, lines),
        };
        if text.len() <= SHORT || self.uses[part] == 1 {
            return text;
        }
        let name = format!("t{}", self.names.len());
        let _ = writeln!(lines, "{name} = {text}");
        self.names.insert(part, name.clone());
        name
    }

    fn operation(&mut self, name: &str, parts: &'e [Expression], lines: &mut String) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.text_of(part, lines)).collect();
        format!("({name} {})", parts.join(" "))
    }
}

/// An expression that was read, and its length: the number of its terms or factors when sums in sums and products in products are one.
type Read = (Expression, usize);

/// Gives expressions back from their text: nothing where it is not one, or one that is too large.
pub(super) struct Reader {
    named: Vec<Read>,
    symbols: usize,
    /// The parts of all expressions so far.
    size: usize,
}

impl Reader {
    /// Symbols from 0 to `symbols` are known.
    pub(super) fn new(symbols: usize) -> Self {
        Self { named: Vec::new(), symbols, size: 0 }
    }

    /// Gives the next name to a part.
    pub(super) fn define(&mut self, text: &str) -> Option<()> {
        let part = self.whole(text)?;
        self.named.push(part);
        Some(())
    }

    /// An expression.
    pub(super) fn expression(&mut self, text: &str) -> Option<Expression> {
        Some(self.whole(text)?.0)
    }

    fn whole(&mut self, text: &str) -> Option<Read> {
        let mut rest = text;
        self.part(&mut rest, 0).filter(|_| rest.is_empty() && self.size <= LARGEST)
    }

    /// The part at the beginning of a text, which is within `depth` others. The text after it is left.
    fn part(&mut self, text: &mut &str, depth: usize) -> Option<Read> {
        let Some(inner) = text.strip_prefix('(') else {
            let (word, rest) = text.split_at(text.find([' ', ')']).unwrap_or(text.len()));
            *text = rest;
            return self.word(word);
        };
        let (operation, mut rest) = inner.split_once(' ').filter(|_| depth < DEEPEST)?;
        let mut parts = vec![self.part(&mut rest, depth + 1)?];
        while let Some(next) = rest.strip_prefix(' ') {
            rest = next;
            parts.push(self.part(&mut rest, depth + 1)?);
        }
        *text = rest.strip_prefix(')')?;
        let (expression, length) = operated(operation, parts)?;
        self.size = self.size.saturating_add(length);
        (expression.depth() <= DEEPEST).then_some((expression, length))
    }

    fn word(&self, word: &str) -> Option<Read> {
        if let Some(place) = word.strip_prefix('t') {
            return self.named.get(natural(place)?).cloned();
        }
        let leaf = if let Some(place) = word.strip_prefix('x') {
            Expression::Symbol(natural(place).filter(|place| *place < self.symbols).map(Symbol::at)?)
        } else if word == "pi" {
            Expression::Pi
        } else {
            let number = Some(word).filter(|word| word.len() <= MOST_DIGITS)?;
            Expression::Number(number.parse().ok()?)
        };
        Some((leaf, 1))
    }
}

/// An operation on parts.
fn operated(operation: &str, parts: Vec<Read>) -> Option<Read> {
    let is_joined = |part: &Expression| match part {
        Expression::Sum(_) => operation == "+",
        Expression::Product(_) => operation == "*",
        _ => false,
    };
    let lengths = parts.iter().map(|(part, length)| if is_joined(part) { *length } else { 1 });
    let length = lengths.fold(0, usize::saturating_add);
    let parts: Vec<Expression> = parts.into_iter().map(|(expression, _)| expression).collect();
    let expression = match (operation, &parts[..]) {
        ("+", [_, _, ..]) => Expression::Sum(parts.into()),
        ("*", [_, _, ..]) => Expression::Product(parts.into()),
        ("^", [base, Expression::Number(exponent)]) => Expression::Power(Arc::new(base.clone()), exponent.clone()),
        (name, _) => {
            let is_called = |function: &Function| function.name() == name && function.arguments() == parts.len();
            Expression::Call(Function::ALL.into_iter().find(is_called)?, parts.into())
        }
    };
    Some((expression, length))
}

/// A number that counts something.
pub(super) fn natural(text: &str) -> Option<usize> {
    text.parse::<u32>().ok().map(|number| number as usize)
}
