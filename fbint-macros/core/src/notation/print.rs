//! Expressions as people write them.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed};

use crate::derivation::Symbols;
use crate::derivation::table::Table;
use crate::expression::work::{PART, spend};
use crate::expression::{Expression, Function, Identity, Symbol};

/// The length, in characters, beyond which an expression is cut short.
const LONGEST: usize = 160;
/// A term with more operations is not written out to show its beginning.
const MOST_OPERATIONS: usize = 1_000;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Latex,
    /// Expressions as a declaration has them.
    Source,
}

impl Style {
    /// The rules of the style.
    pub(super) fn choose<T>(self, plain: T, latex: T) -> T {
        match self {
            Self::Plain | Self::Source => plain,
            Self::Latex => latex,
        }
    }

    /// The separator of a list.
    pub(super) fn comma(self) -> &'static str {
        self.choose(", ", ",\\ ")
    }
}

/// Prints expressions in one style.
pub(super) struct Printer {
    pub(super) style: Style,
    names: Table<Symbol, String>,
    /// Parts that are printed as symbols.
    abbreviations: HashMap<Identity, Symbol>,
}

/// The precedence of the outermost operation of a printed expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Operation,
    Power,
    Atom,
}

impl Printer {
    pub(super) fn new(style: Style, symbols: &Symbols) -> Self {
        let names = symbols.map(|symbol| style.choose(&symbol.name, &symbol.latex).clone());
        Self { style, names, abbreviations: HashMap::new() }
    }

    /// Prints each of these parts as a symbol from now on, and returns these: `w1`, or with the first letter that no other name begins with.
    pub(super) fn abbreviate(&mut self, parts: &[Expression]) -> Vec<Symbol> {
        let is_free = |letter: &&str| !self.names.rows().any(|name| name.starts_with(*letter));
        let letter = ["w", "z", "u", "h", "e"].into_iter().find(is_free).unwrap_or("part");
        let name = |number: usize| self.style.choose(format!("{letter}{number}"), format!("{letter}_{{{number}}}"));
        let names: Vec<String> = (1..=parts.len()).map(name).collect();
        let symbols: Vec<Symbol> = names.into_iter().map(|name| self.symbol_for(name)).collect();
        self.abbreviations.extend(parts.iter().map(Expression::identity).zip(symbols.iter().copied()));
        symbols
    }

    /// A symbol with this name, for a quantity of an equation that the model does not have.
    pub(super) fn symbol_for(&mut self, name: String) -> Symbol {
        self.names.push(name)
    }

    pub(super) fn symbol(&self, symbol: Symbol) -> String {
        self.names[symbol].clone()
    }

    pub(super) fn text(&self, text: &str) -> String {
        let latex = || format!("\\text{{{}}}", text.replace('_', "\\_").replace('^', "\\^{}").replace('`', ""));
        if self.style == Style::Latex { latex() } else { text.to_owned() }
    }

    /// An expression; of a long sum, the first terms.
    pub(super) fn short(&self, expression: &Expression) -> String {
        // Each operation takes a character.
        if expression.operations() <= LONGEST {
            let whole = self.expression(expression);
            if whole.chars().count() <= LONGEST {
                return whole;
            }
        }
        let terms = distributed(expression);
        if terms[0].operations() > MOST_OPERATIONS {
            return self.text("a long expression");
        }
        let first = |count: usize| self.sum(&terms[..count]);
        let is_short = |count: &usize| terms[..*count].iter().all(|term| term.operations() <= LONGEST);
        let fitting =
            (1..terms.len()).take_while(is_short).take_while(|&count| first(count).chars().count() <= LONGEST).last();
        match fitting {
            Some(count) => {
                let rest = terms.len() - count;
                let noun = if rest == 1 { "term" } else { "terms" };
                format!("{} + {}", first(count), self.text(&format!("({rest} more {noun})")))
            }
            None => self.cut(&first(1)),
        }
    }

    /// LaTeX cannot be cut anywhere.
    fn cut(&self, text: &str) -> String {
        match self.style {
            Style::Latex => self.text("a long expression"),
            Style::Plain | Style::Source => text.chars().take(LONGEST).chain(" ..".chars()).collect(),
        }
    }

    pub(super) fn expression(&self, expression: &Expression) -> String {
        self.print(expression).0
    }

    fn enclosed(&self, text: String, enclose: bool) -> String {
        if enclose { self.style.choose(format!("({text})"), format!("\\left({text}\\right)")) } else { text }
    }

    /// The definition of an abbreviation.
    pub(super) fn definition(&self, part: &Expression) -> String {
        self.print_written_out(part).0
    }

    fn print(&self, expression: &Expression) -> (String, Binding) {
        let is_operation = !self.abbreviations.is_empty() && expression.operations() > 0;
        match is_operation.then(|| self.abbreviations.get(&expression.identity())).flatten() {
            Some(symbol) => (self.symbol(*symbol), Binding::Atom),
            None => self.print_written_out(expression),
        }
    }

    fn print_written_out(&self, expression: &Expression) -> (String, Binding) {
        spend(PART);
        match expression {
            Expression::Pi if self.style == Style::Source => ("PI".to_owned(), Binding::Atom),
            Expression::Pi => (self.style.choose("pi", "\\pi").to_owned(), Binding::Atom),
            Expression::Symbol(symbol) => (self.symbol(*symbol), Binding::Atom),
            Expression::Sum(terms) => (self.sum(terms), Binding::Operation),
            Expression::Product(factors) => self.product(factors),
            Expression::Number(_) | Expression::Power(..) => self.product(std::slice::from_ref(expression)),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// `a + b - c`, a positive term first where there is one.
    pub(super) fn sum(&self, terms: &[Expression]) -> String {
        sum_of(terms.iter().map(|term| self.print(term).0))
    }

    fn product(&self, factors: &[Expression]) -> (String, Binding) {
        let Fraction { sign, above, below } = Fraction::of(factors);
        let factor = |factor: &Expression| match factor {
            Expression::Number(natural) => (natural.to_string(), Binding::Atom),
            Expression::Power(base, exponent) => self.power(base, exponent),
            other => self.print(other),
        };
        let [mut above, below] = [above, below].map(|factors| factors.iter().map(factor).collect::<Vec<_>>());
        if above.is_empty() {
            above.push(("1".to_owned(), Binding::Atom));
        }
        if below.is_empty() {
            let binding = if above.len() == 1 && sign.is_empty() { above[0].1 } else { Binding::Operation };
            return (format!("{sign}{}", self.times(&above)), binding);
        }
        let text = match self.style {
            Style::Latex => format!("{sign}\\frac{{{}}}{{{}}}", self.part(&above), self.part(&below)),
            Style::Plain => {
                format!("{sign}{}/{}", self.times(&above), self.enclosed(self.times(&below), below.len() > 1))
            }
            Style::Source => format!("{sign}{} / {}", self.times(&above), self.joined(&below, " / ")),
        };
        (text, Binding::Operation)
    }

    /// The numerator or the denominator of a fraction with a bar.
    fn part(&self, factors: &[(String, Binding)]) -> String {
        if let [(factor, _)] = factors { factor.clone() } else { self.times(factors) }
    }

    fn times(&self, factors: &[(String, Binding)]) -> String {
        let sign = if self.style == Style::Source { " * " } else { self.style.choose("*", " ") };
        self.joined(factors, sign)
    }

    /// Factors with a sign between them.
    fn joined(&self, factors: &[(String, Binding)], sign: &str) -> String {
        let enclosed = |(text, binding): &(String, Binding)| self.enclosed(text.clone(), *binding < Binding::Power);
        factors.iter().map(enclosed).collect::<Vec<_>>().join(sign)
    }

    fn power(&self, base: &Expression, exponent: &BigRational) -> (String, Binding) {
        let is_half = *exponent == BigRational::new(1.into(), 2.into());
        let (whole, binding) = self.print(base);
        let base = self.enclosed(whole.clone(), binding < Binding::Atom);
        match self.style {
            Style::Plain if is_half => (format!("sqrt({whole})"), Binding::Atom),
            Style::Plain if exponent.is_integer() => (format!("{base}^{exponent}"), Binding::Power),
            Style::Plain => (format!("{base}^({exponent})"), Binding::Power),
            Style::Latex if is_half => (format!("\\sqrt{{{whole}}}"), Binding::Atom),
            Style::Latex => (format!("{base}^{{{exponent}}}"), Binding::Power),
            Style::Source if is_half => (format!("{base}.sqrt()"), Binding::Atom),
            Style::Source if exponent.is_integer() => (format!("{base}.powi({exponent})"), Binding::Atom),
            Style::Source => (format!("{base}.powf({} / {})", exponent.numer(), exponent.denom()), Binding::Atom),
        }
    }

    fn call(&self, function: Function, arguments: &[Expression]) -> (String, Binding) {
        let (first, binding) = self.print(&arguments[0]);
        let others = arguments[1..].iter().map(|argument| self.expression(argument));
        if self.style == Style::Source {
            let first = self.enclosed(first, binding < Binding::Atom);
            if function == Function::Sign {
                // No method gives it: 0 / 0 is the same wherever it is not 0.
                return (format!("({first} / {first}.abs())"), Binding::Atom);
            }
            if function == Function::Step {
                return (format!("(if {first} > 0 {{ 1 }} else {{ 0 }})"), Binding::Atom);
            }
            let others = others.collect::<Vec<_>>().join(", ");
            return (format!("{first}.{}({others})", function.name()), Binding::Atom);
        }
        let arguments: Vec<String> = [first].into_iter().chain(others).collect();
        let name = match (self.style, function) {
            (Style::Latex, Function::Abs) => return (format!("\\left|{}\\right|", arguments[0]), Binding::Atom),
            (Style::Latex, Function::Sign) => "\\operatorname{sgn}".to_owned(),
            (Style::Latex, Function::Step) => "\\operatorname{step}".to_owned(),
            (Style::Latex, Function::Powf) => {
                return (format!("\\left({}\\right)^{{{}}}", arguments[0], arguments[1]), Binding::Power);
            }
            (Style::Latex, Function::Asin) => "\\arcsin".to_owned(),
            (Style::Latex, Function::Acos) => "\\arccos".to_owned(),
            (Style::Latex, Function::Atan) => "\\arctan".to_owned(),
            (Style::Latex, Function::Atan2) => "\\operatorname{atan2}".to_owned(),
            (Style::Latex, _) => format!("\\{}", function.name()),
            (Style::Plain | Style::Source, _) => function.name().to_owned(),
        };
        (format!("{name}{}", self.enclosed(arguments.join(", "), true)), Binding::Atom)
    }
}

/// A product as people write it: factors with negative exponents are below the line, and numbers are natural.
#[derive(Default)]
struct Fraction {
    sign: &'static str,
    above: Vec<Expression>,
    below: Vec<Expression>,
}

impl Fraction {
    fn of(factors: &[Expression]) -> Self {
        let mut fraction = Self::default();
        for factor in factors {
            match factor {
                Expression::Number(number) => {
                    let natural = |part: BigInt| (!part.is_one()).then(|| Expression::Number(part.into()));
                    fraction.sign = if number.is_negative() { "-" } else { "" };
                    fraction.above.extend(natural(number.numer().abs()));
                    fraction.below.extend(natural(number.denom().clone()));
                }
                Expression::Power(base, exponent) if (-exponent).is_one() => fraction.below.push((**base).clone()),
                Expression::Power(base, exponent) if exponent.is_negative() => {
                    fraction.below.push(Expression::Power(base.clone(), -exponent));
                }
                _ => fraction.above.push(factor.clone()),
            }
        }
        fraction
    }
}

/// The sum of these terms, a positive one first where there is one.
fn sum_of(terms: impl Iterator<Item = String>) -> String {
    let signed = |term: String| match term.strip_prefix('-') {
        Some(magnitude) => (true, magnitude.to_owned()),
        None => (false, term),
    };
    let mut printed: Vec<(bool, String)> = terms.map(signed).collect();
    if let Some(first) = printed.iter().position(|(negative, _)| !negative) {
        printed[..=first].rotate_right(1);
    }
    let mut text = String::new();
    for (negative, magnitude) in printed {
        text += match (text.is_empty(), negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text += &magnitude;
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// The terms of a sum, or of a sum times factors.
fn distributed(expression: &Expression) -> Vec<Expression> {
    match expression {
        Expression::Sum(terms) => terms.to_vec(),
        Expression::Product(factors) => {
            let place = factors.iter().position(|factor| matches!(factor, Expression::Sum(_)));
            let Some((place, Expression::Sum(terms))) = place.map(|place| (place, &factors[place])) else {
                return vec![expression.clone()];
            };
            let others =
                || factors.iter().enumerate().filter(|(index, _)| *index != place).map(|(_, factor)| factor.clone());
            terms.iter().map(|term| Expression::product(others().chain([term.clone()]))).collect()
        }
        _ => vec![expression.clone()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::{EntryOf, Role, SymbolInfo};

    #[test]
    fn a_sum_with_a_minus_is_enclosed() {
        let symbol = |name: &str| SymbolInfo {
            name: name.to_owned(),
            latex: name.to_owned(),
            entry: EntryOf::scalar(name),
            role: Role::State,
        };
        let symbols: Symbols = ["x", "y"].into_iter().map(symbol).collect();
        let [x, y] = [0, 1].map(|index| Expression::from(Symbol(index)));
        let negated = -(x.clone() + y.clone());
        let half = (x + y).divide(Expression::integer(2)).expect("2 is not 0");
        let printed = |style, expression| Printer::new(style, &symbols).expression(expression);
        assert_eq!(printed(Style::Plain, &negated), "-(x + y)");
        assert_eq!(printed(Style::Latex, &negated), "-\\left(x + y\\right)");
        assert_eq!(printed(Style::Plain, &half), "(x + y)/2");
        assert_eq!(printed(Style::Latex, &half), "\\frac{x + y}{2}");
    }
}
