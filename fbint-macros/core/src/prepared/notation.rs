//! Expressions as text, with a name for each part that occurs more than once.
//!
//! A part is a number (`-3/4`), `pi`, a symbol (`x3`, by its place), an operation on parts in parentheses (`(+ x0 (* -2 x1))`,
//! `(^ x0 1/2)`, `(sin x0)`), or the name of a part that was defined on a line before (`t7`).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use num_rational::BigRational;

use super::Damage;
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

/// An expression by its parts: equal expressions have equal nodes.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Node {
    Number(BigRational),
    Pi,
    Symbol(Symbol),
    Sum(Vec<NodeIndex>),
    Product(Vec<NodeIndex>),
    Power(NodeIndex, BigRational),
    Call(Function, Vec<NodeIndex>),
}

impl Node {
    fn parts(&self) -> &[NodeIndex] {
        match self {
            Self::Number(_) | Self::Pi | Self::Symbol(_) => &[],
            Self::Sum(parts) | Self::Product(parts) | Self::Call(_, parts) => parts,
            Self::Power(base, _) => std::slice::from_ref(base),
        }
    }
}

/// The lines of a text.
#[derive(Default)]
pub(super) struct Lines<'a>(Vec<(String, Side<'a>)>);

/// The right side of a line.
enum Side<'a> {
    Nothing,
    Word(String),
    Expression(&'a Expression),
}

impl<'a> Lines<'a> {
    /// A line without a right side.
    pub(super) fn alone(&mut self, name: impl Into<String>) {
        self.0.push((name.into(), Side::Nothing));
    }

    /// A line with a word on its right side.
    pub(super) fn word(&mut self, name: String, word: impl Into<String>) {
        self.0.push((name, Side::Word(word.into())));
    }

    /// A line with an expression on its right side.
    pub(super) fn expression(&mut self, name: impl Into<String>, expression: &'a Expression) {
        self.0.push((name.into(), Side::Expression(expression)));
    }

    /// A line for each entry, which has the place of the symbol after its name.
    pub(super) fn by_symbol(&mut self, name: &str, entries: &'a [(Symbol, Expression)]) {
        for (symbol, entry) in entries {
            self.expression(format!("{name} {}", symbol.place()), entry);
        }
    }

    /// The text, with a line before for each part that expressions share.
    pub(super) fn text(self) -> String {
        let mut writer = ExpressionWriter::default();
        for (_, side) in &self.0 {
            if let Side::Expression(expression) = side {
                writer.announce(expression);
            }
        }
        let mut text = String::new();
        for (name, side) in self.0 {
            let side = match side {
                Side::Nothing => String::new(),
                Side::Word(word) => format!(" = {word}"),
                Side::Expression(expression) => format!(" = {}", writer.expression(expression, &mut text)),
            };
            let _ = writeln!(text, "{name}{side}");
        }
        text
    }
}

/// Takes expressions in, and gives their text.
#[derive(Default)]
struct ExpressionWriter {
    known: HashMap<Node, NodeIndex>,
    nodes: Vec<Node>,
    /// The number of occurrences of each part, in others or by itself.
    uses: Vec<usize>,
    /// The text that stands for a part that was written: its name, or the part itself.
    texts: Vec<Option<String>>,
    named: usize,
}

impl ExpressionWriter {
    /// Takes in an expression that will be written.
    fn announce(&mut self, expression: &Expression) {
        let part = self.part(expression);
        self.uses[part] += 1;
    }

    fn part(&mut self, expression: &Expression) -> NodeIndex {
        let parts: Vec<NodeIndex> = expression.children().map(|child| self.part(child)).collect();
        let node = match expression {
            Expression::Number(number) => Node::Number(number.clone()),
            Expression::Pi => Node::Pi,
            Expression::Symbol(symbol) => Node::Symbol(*symbol),
            Expression::Sum(_) => Node::Sum(parts),
            Expression::Product(_) => Node::Product(parts),
            Expression::Power(_, exponent) => Node::Power(parts[0], exponent.clone()),
            Expression::Call(function, _) => Node::Call(*function, parts),
        };
        if let Some(part) = self.known.get(&node) {
            return *part;
        }
        node.parts().iter().for_each(|part| self.uses[*part] += 1);
        self.known.insert(node.clone(), self.nodes.len());
        self.nodes.push(node);
        self.uses.push(0);
        self.texts.push(None);
        self.nodes.len() - 1
    }

    /// The text of an expression that was announced. Lines that define the parts that it shares go before.
    fn expression(&mut self, expression: &Expression, lines: &mut String) -> String {
        let part = self.part(expression);
        self.text(part, lines)
    }

    fn text(&mut self, part: NodeIndex, lines: &mut String) -> String {
        if let Some(text) = &self.texts[part] {
            return text.clone();
        }
        let node = self.nodes[part].clone();
        let parts: Vec<String> = node.parts().iter().map(|part| self.text(*part, lines)).collect();
        let mut text = match &node {
            Node::Number(number) => number.to_string(),
            Node::Pi => "pi".to_owned(),
            Node::Symbol(symbol) => format!("x{}", symbol.0),
            Node::Sum(_) => format!("(+ {})", parts.join(" ")),
            Node::Product(_) => format!("(* {})", parts.join(" ")),
            Node::Power(_, exponent) => format!("(^ {} {exponent})", parts[0]),
            Node::Call(function, _) => format!("({} {})", function.name(), parts.join(" ")),
        };
        if self.uses[part] > 1 && text.len() > SHORT {
            let name = format!("t{}", self.named);
            self.named += 1;
            let _ = writeln!(lines, "{name} = {text}");
            text = name;
        }
        self.texts[part] = Some(text.clone());
        text
    }
}

/// An expression that was read, and how large it is.
#[derive(Clone)]
struct Sized {
    expression: Expression,
    size: usize,
    depth: usize,
}

/// Gives expressions back from their text.
pub(super) struct Reader {
    named: Vec<Sized>,
    symbols: usize,
    size: usize,
}

impl Reader {
    /// Symbols from 0 to `symbols` are known.
    pub(super) fn new(symbols: usize) -> Self {
        Self { named: Vec::new(), symbols, size: 0 }
    }

    /// Reads a line `t7 = ..`, if the line is one.
    pub(super) fn define(&mut self, line: &str) -> Option<Result<(), Damage>> {
        let (name, text) = line.strip_prefix('t')?.split_once(" = ")?;
        if name != self.named.len().to_string() {
            return Some(Err(Damage::from(format!("`t{}` should be defined here", self.named.len()))));
        }
        Some(self.sized(text).map(|part| self.named.push(part)))
    }

    /// An expression.
    pub(super) fn expression(&mut self, text: &str) -> Result<Expression, Damage> {
        let sized = self.sized(text)?;
        self.size = self.size.saturating_add(sized.size);
        if self.size > LARGEST {
            return Err(Damage::from(format!("the expressions have more than {LARGEST} parts")));
        }
        Ok(sized.expression)
    }

    fn sized(&self, text: &str) -> Result<Sized, Damage> {
        let mut open: Vec<(&str, Vec<Sized>)> = Vec::new();
        let mut rest = text;
        loop {
            let mut complete = if let Some(inner) = rest.strip_prefix('(') {
                let (operation, after) = inner.split_once(' ').ok_or("an operation without parts")?;
                open.push((operation, Vec::new()));
                rest = after;
                if open.len() > DEEPEST {
                    return Err(too_deep());
                }
                continue;
            } else {
                let end = rest.find([' ', ')']).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                rest = after;
                self.word(word)?
            };
            while let Some(after) = rest.strip_prefix(')') {
                let (operation, mut parts) = open.pop().ok_or("a parenthesis too many")?;
                parts.push(complete);
                complete = operated(operation, parts)?;
                rest = after;
            }
            let Some((_, parts)) = open.last_mut() else {
                return if rest.is_empty() { Ok(complete) } else { Err(Damage::from("text after an expression")) };
            };
            parts.push(complete);
            rest = rest.strip_prefix(' ').ok_or("a parenthesis is missing")?;
        }
    }

    fn word(&self, word: &str) -> Result<Sized, Damage> {
        let unknown = || Damage::from(format!("`{}` is not known", excerpt(word)));
        let leaf = |expression| Ok(Sized { expression, size: 1, depth: 1 });
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
fn operated(operation: &str, mut parts: Vec<Sized>) -> Result<Sized, Damage> {
    let size = parts.iter().fold(1, |size: usize, part| size.saturating_add(part.size));
    let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
    if size > LARGEST {
        return Err(Damage::from(format!("an expression has more than {LARGEST} parts")));
    }
    if depth > DEEPEST {
        return Err(too_deep());
    }
    let wrong = || Damage::from(format!("`{}` does not have {} parts", excerpt(operation), parts.len()));
    let expression = match (operation, parts.len()) {
        ("+", 2..) => Expression::Sum(parts.into_iter().map(|part| part.expression).collect()),
        ("*", 2..) => Expression::Product(parts.into_iter().map(|part| part.expression).collect()),
        ("^", 2) => {
            let (exponent, base) = (parts.pop(), parts.pop());
            let exponent = exponent.and_then(|exponent| exponent.expression.as_number().cloned());
            let (Some(exponent), Some(base)) = (exponent, base) else {
                return Err(Damage::from("an exponent is not a number"));
            };
            Expression::Power(Arc::new(base.expression), exponent)
        }
        (name, count) => {
            let function = Function::ALL.into_iter().find(|function| function.name() == name).ok_or_else(wrong)?;
            if function.arguments() != count {
                return Err(wrong());
            }
            Expression::Call(function, parts.into_iter().map(|part| part.expression).collect())
        }
    };
    Ok(Sized { expression, size, depth })
}

fn too_deep() -> Damage {
    Damage::from(format!("an expression is more than {DEEPEST} parts deep"))
}

/// A number in the form in which it is written: in lowest terms.
fn rational(text: &str) -> Option<BigRational> {
    if text.len() > MOST_DIGITS {
        return None;
    }
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let (numerator, denominator) = (numerator.parse().ok()?, denominator.parse().ok()?);
    if denominator == num_bigint::BigInt::ZERO {
        return None;
    }
    let number = BigRational::new(numerator, denominator);
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
