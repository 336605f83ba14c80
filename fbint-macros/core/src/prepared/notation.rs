//! Expressions as text, with a name for each part that occurs more than once.
//!
//! A part is a number (`-3/4`), `pi`, a symbol (`x3`, by its place), an operation on parts in parentheses (`(+ x0 (* -2 x1))`,
//! `(^ x0 1/2)`, `(sin x0)`), or the name of a part that was defined on a line before (`t7`).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use num_rational::BigRational;

use crate::derivation::table::Id;
use crate::expression::{Expression, Function, Symbol};

/// A part whose text is at most this long is written out each time.
const SHORT: usize = 12;
/// The deepest expression that is written or read.
const DEEPEST: usize = 1_000;
/// The most parts of all expressions that are written or read, counted as often as they occur.
const LARGEST: usize = 1 << 18;
/// The digits of the largest number.
const MOST_DIGITS: usize = 10_000;

/// The place of a part among those that are known.
type NodeIndex = usize;

/// What a part is: its operation with the places of what that is applied to, or all of its text. Equal parts have equal nodes.
type Node = (String, Vec<NodeIndex>);

/// A part that is known.
struct Part {
    node: Node,
    /// The number of occurrences, in others or by itself.
    uses: usize,
    /// The text that stands for it, after it was written: its name, or the part itself.
    text: Option<String>,
}

/// The lines of a text, and the parts of the expressions in them.
#[derive(Default)]
pub(super) struct Lines {
    /// The left side of each line, and the expression on the right side if there is one.
    lines: Vec<(String, Option<NodeIndex>)>,
    known: HashMap<Node, NodeIndex>,
    parts: Vec<Part>,
    named: usize,
}

impl Lines {
    /// A line without an expression.
    pub(super) fn alone(&mut self, line: impl Into<String>) {
        self.lines.push((line.into(), None));
    }

    /// A line with an expression on its right side.
    pub(super) fn expression(&mut self, name: impl Into<String>, expression: &Expression) {
        let part = self.part(expression);
        self.parts[part].uses += 1;
        self.lines.push((name.into(), Some(part)));
    }

    /// A line for each entry, which has the place of the symbol after its name.
    pub(super) fn by_symbol<'e>(
        &mut self,
        name: &str,
        entries: impl IntoIterator<Item = (&'e Symbol, &'e Expression)>,
    ) {
        for (symbol, entry) in entries {
            self.expression(format!("{name} {}", symbol.place()), entry);
        }
    }

    fn part(&mut self, expression: &Expression) -> NodeIndex {
        let mut parts: Vec<NodeIndex> = expression.children().map(|child| self.part(child)).collect();
        let text = match expression {
            Expression::Number(number) => number.to_string(),
            Expression::Pi => "pi".to_owned(),
            Expression::Symbol(symbol) => format!("x{}", symbol.0),
            Expression::Sum(_) => "+".to_owned(),
            Expression::Product(_) => "*".to_owned(),
            Expression::Power(_, exponent) => {
                parts.push(self.part(&Expression::Number(exponent.clone())));
                "^".to_owned()
            }
            Expression::Call(function, _) => function.name().to_owned(),
        };
        let node = (text, parts);
        if let Some(part) = self.known.get(&node) {
            return *part;
        }
        node.1.iter().for_each(|part| self.parts[*part].uses += 1);
        self.known.insert(node.clone(), self.parts.len());
        self.parts.push(Part { node, uses: 0, text: None });
        self.parts.len() - 1
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
    fn text_of(&mut self, part: NodeIndex, lines: &mut String) -> String {
        if let Some(text) = &self.parts[part].text {
            return text.clone();
        }
        let (mut text, parts) = self.parts[part].node.clone();
        if !parts.is_empty() {
            let parts: Vec<String> = parts.into_iter().map(|part| self.text_of(part, lines)).collect();
            text = format!("({text} {})", parts.join(" "));
        }
        if self.parts[part].uses > 1 && text.len() > SHORT {
            let name = format!("t{}", self.named);
            self.named += 1;
            let _ = writeln!(lines, "{name} = {text}");
            text = name;
        }
        self.parts[part].text = Some(text.clone());
        text
    }
}

/// An expression that was read, and how deep it is.
type Read = (Expression, usize);

/// Gives expressions back from their text.
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

    /// Reads a line that defines a part, if the line is one.
    pub(super) fn define(&mut self, line: &str) -> Option<Result<(), String>> {
        let (_, text) = line.strip_prefix('t')?.split_once(" = ")?;
        Some(self.whole(text).map(|part| self.named.push(part)))
    }

    /// An expression.
    pub(super) fn expression(&mut self, text: &str) -> Result<Expression, String> {
        let (expression, _) = self.whole(text)?;
        // What is named may unfold to more than can be looked at.
        self.size += expression.nodes().take(LARGEST + 1).count();
        if self.size > LARGEST {
            return Err(format!("the expressions have more than {LARGEST} parts"));
        }
        Ok(expression)
    }

    fn whole(&self, text: &str) -> Result<Read, String> {
        let mut rest = text;
        let part = self.part(&mut rest, 0)?;
        match rest {
            "" => Ok(part),
            _ if rest.starts_with(')') => Err("a parenthesis too many".to_owned()),
            _ => Err("text after an expression".to_owned()),
        }
    }

    /// The part at the beginning of a text, which is within `depth` others. What comes after it is left.
    fn part(&self, text: &mut &str, depth: usize) -> Result<Read, String> {
        let Some(inner) = text.strip_prefix('(') else {
            let (word, rest) = text.split_at(text.find([' ', ')']).unwrap_or(text.len()));
            *text = rest;
            return self.word(word);
        };
        let (operation, mut rest) = inner.split_once(' ').ok_or("an operation without parts")?;
        if depth == DEEPEST {
            return Err(too_deep());
        }
        let mut parts = vec![self.part(&mut rest, depth + 1)?];
        while !rest.starts_with(')') {
            rest = rest.strip_prefix(' ').ok_or("a parenthesis is missing")?;
            parts.push(self.part(&mut rest, depth + 1)?);
        }
        *text = &rest[1..];
        operated(operation, parts)
    }

    fn word(&self, word: &str) -> Result<Read, String> {
        let unknown = || format!("`{}` is not known", excerpt(word));
        let leaf = |expression| Ok((expression, 1));
        if let Some(place) = word.strip_prefix('t') {
            let place = natural(place).ok_or_else(unknown)?;
            return self.named.get(place).cloned().ok_or_else(unknown);
        }
        if let Some(place) = word.strip_prefix('x') {
            let place = natural(place).filter(|place| *place < self.symbols).ok_or_else(unknown)?;
            return leaf(Expression::Symbol(Symbol(place as u32)));
        }
        match word {
            "pi" => leaf(Expression::Pi),
            number => leaf(Expression::Number(rational(number).ok_or_else(unknown)?)),
        }
    }
}

/// An operation on parts.
fn operated(operation: &str, parts: Vec<Read>) -> Result<Read, String> {
    let depth = 1 + parts.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    if depth > DEEPEST {
        return Err(too_deep());
    }
    let parts: Vec<Expression> = parts.into_iter().map(|(expression, _)| expression).collect();
    let expression = match (operation, &parts[..]) {
        ("+", [_, _, ..]) => Expression::Sum(parts.into()),
        ("*", [_, _, ..]) => Expression::Product(parts.into()),
        ("^", [base, Expression::Number(exponent)]) => Expression::Power(Arc::new(base.clone()), exponent.clone()),
        ("^", [_, _]) => return Err("an exponent is not a number".to_owned()),
        (name, _) => {
            let is_called = |function: &Function| function.name() == name && function.arguments() == parts.len();
            let function = Function::ALL
                .into_iter()
                .find(is_called)
                .ok_or_else(|| format!("`{}` does not have {} parts", excerpt(operation), parts.len()))?;
            Expression::Call(function, parts.into())
        }
    };
    Ok((expression, depth))
}

fn too_deep() -> String {
    format!("an expression is more than {DEEPEST} parts deep")
}

/// A number in the form in which it is written: in lowest terms.
fn rational(text: &str) -> Option<BigRational> {
    if text.len() > MOST_DIGITS {
        return None;
    }
    let number: BigRational = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// A number that counts something, in the form in which it is written.
pub(super) fn natural(text: &str) -> Option<usize> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number as usize)
}

/// The part of a text that a message shows.
pub(super) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().count() > SHOWN { format!("{shown}..") } else { shown }
}
