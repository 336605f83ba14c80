//! A derivation as people write it: plain text for a terminal, LaTeX for a paper.
//!
//! Both list the same things in the order of the paper: H, the constraints and their partners, the brackets that do not
//! vanish, the linear system for c, the field X component by component, V and its gradient. c and y carry the name of the
//! constraint or the integral that they belong to. What was found out about the integrals follows.

mod findings;

use num_rational::BigRational;
use num_traits::{One, Signed};

use crate::derivation::{Constraints, Derivation, Field, Findings};
use crate::expression::{Expression, Function, Symbol};

pub use findings::summary;

/// What the symbols and the integrals of a model are called.
#[derive(Clone, Debug)]
pub struct Names {
    /// The model.
    pub model: String,
    /// Each symbol in plain text and in LaTeX.
    pub symbols: Vec<(String, String)>,
    /// Each integral, in the derivation's order.
    pub integrals: Vec<String>,
    /// How often each integral occurs in the declaration.
    pub weights: Vec<u32>,
    /// Each output.
    pub outputs: Vec<String>,
}

/// The derivation as plain text, one equation a line.
pub fn plain(derivation: &Derivation, findings: &Findings, names: &Names) -> String {
    let mut text = String::new();
    for (heading, equations) in sections(derivation, findings, &Notation { style: Style::Plain, names }) {
        text += &format!("{heading}\n");
        for (left, right) in equations {
            text += &if right.is_empty() { format!("  {left}\n") } else { format!("  {left} = {right}\n") };
        }
    }
    text
}

/// The derivation as LaTeX: one `align*` environment a section, headed by a `\paragraph`.
pub fn latex(derivation: &Derivation, findings: &Findings, names: &Names) -> String {
    let mut text = String::new();
    for (heading, equations) in sections(derivation, findings, &Notation { style: Style::Latex, names }) {
        let line = |(left, right): (String, String)| {
            if right.is_empty() { format!("  & {left}") } else { format!("  {left} &= {right}") }
        };
        let lines: Vec<String> = equations.into_iter().map(line).collect();
        let heading = heading.replace('_', "\\_");
        text += &format!("\\paragraph{{{heading}}}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"));
    }
    text
}

/// One expression in plain text, cut short where it is long. Multipliers are written as in the derivation.
pub fn short(expression: &Expression, names: &Names) -> String {
    Notation { style: Style::Plain, names }.short(expression)
}

/// A heading, and the sides of equations; a remark has no right side.
type Section = (String, Vec<(String, String)>);

fn sections(derivation: &Derivation, findings: &Findings, notation: &Notation<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some(energy) = derivation.energy {
        let equation = ("H".to_owned(), notation.expression(&derivation.integrals[energy]));
        sections.push((format!("Energy of {}", notation.names.model), vec![equation]));
    }
    if let Some(matrix) = &derivation.poisson {
        sections.push(("Poisson matrix".to_owned(), notation.poisson(matrix)));
    }
    let constraints = derivation.constraints();
    let count = derivation.constraint_count;
    if count > 0 {
        sections.push(("Constraints".to_owned(), notation.constraints(derivation, count)));
    }
    if let Some(constraints) = constraints.filter(|constraints| !constraints.is_empty()) {
        sections.push(("Poisson brackets".to_owned(), notation.brackets(constraints)));
        sections.push(("Multipliers".to_owned(), notation.multipliers(constraints)));
    }
    let from = count + usize::from(derivation.energy.is_some());
    if derivation.integrals.len() > from {
        sections.push(("Invariants".to_owned(), notation.invariants(derivation, from)));
    }
    let field = match &derivation.field {
        Field::Dirac(constraints) => notation.dirac_field(derivation, constraints),
        Field::Given(rates) => notation.given_field(rates),
    };
    sections.push(("Vector field".to_owned(), field));
    if !derivation.outputs.is_empty() {
        sections.push(("Outputs".to_owned(), notation.outputs(derivation)));
    }
    sections.push(("Feedback potential".to_owned(), notation.potential(derivation)));
    sections.push(("Gradient of the feedback potential".to_owned(), notation.gradient(derivation)));
    sections.extend(notation.findings(derivation, findings));
    sections
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Latex,
}

struct Notation<'a> {
    style: Style,
    names: &'a Names,
}

/// How tightly the outermost operation of a printed expression binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Product,
    Power,
    Atom,
}

impl Notation<'_> {
    /// {x_i, x_j} = J_ij for i < j where it does not vanish.
    fn poisson(&self, matrix: &[Vec<Expression>]) -> Vec<(String, String)> {
        let pairs = (0..matrix.len()).flat_map(|i| (i + 1..matrix.len()).map(move |j| (i, j)));
        let pairs = pairs.filter(|&(i, j)| !matrix[i][j].is_zero());
        pairs.map(|(i, j)| (self.bracket(&self.symbol(i), &self.symbol(j)), self.expression(&matrix[i][j]))).collect()
    }

    fn constraints(&self, derivation: &Derivation, count: usize) -> Vec<(String, String)> {
        let holonomic = derivation.constraints().map_or(0, Constraints::holonomic);
        let one = |index: usize| {
            let mut left = self.integral(index);
            if (holonomic..2 * holonomic).contains(&index) {
                left = format!("{left} = {}", self.bracket(&self.integral(index - holonomic), "H"));
            }
            (left, self.expression(&derivation.integrals[index]))
        };
        (0..count).map(one).collect()
    }

    fn invariants(&self, derivation: &Derivation, from: usize) -> Vec<(String, String)> {
        let all = derivation.integrals.iter().enumerate().skip(from);
        all.map(|(index, integral)| (self.integral(index), self.expression(integral))).collect()
    }

    /// {f_i, f_j} for i < j where it does not vanish, then {H, f_i}.
    fn brackets(&self, constraints: &Constraints) -> Vec<(String, String)> {
        let mut equations = Vec::new();
        let mut pair = |i: usize, j: usize, entry: &Expression| {
            if !entry.is_zero() {
                equations.push((self.bracket(&self.integral(i), &self.integral(j)), self.expression(entry)));
            }
        };
        let (energy_brackets, from) = match constraints {
            Constraints::Holonomic { a, b, energy_brackets } => {
                let k = a.len();
                (0..k).for_each(|i| (0..k).for_each(|j| pair(i, k + j, &a[i][j])));
                (0..k).for_each(|i| (i + 1..k).for_each(|j| pair(k + i, k + j, &b[i][j])));
                (energy_brackets, k)
            }
            Constraints::Phase { c, energy_brackets, .. } => {
                (0..c.len()).for_each(|i| (i + 1..c.len()).for_each(|j| pair(i, j, &c[i][j])));
                (energy_brackets, 0)
            }
        };
        for index in 0..from {
            equations.push((self.bracket("H", &self.integral(index)), format!("-{}", self.integral(from + index))));
        }
        for (index, entry) in energy_brackets.iter().enumerate() {
            equations.push((self.bracket("H", &self.integral(from + index)), self.expression(entry)));
        }
        equations
    }

    /// The equations that determine c, row by row: sum_j {f_j, f_i} c_j = {H, f_i}.
    fn multipliers(&self, constraints: &Constraints) -> Vec<(String, String)> {
        let f = |index: usize| self.integral(index);
        let c = |index: usize| self.attributed("c", index);
        let vanishes = |i: usize, j: usize| match constraints {
            Constraints::Phase { c, .. } => c[i][j].is_zero(),
            Constraints::Holonomic { a, b, .. } => match (i < a.len(), j < a.len()) {
                (true, true) => true,
                (true, false) => a[i][j - a.len()].is_zero(),
                (false, true) => a[i - a.len()][j].is_zero(),
                (false, false) => b[i - a.len()][j - a.len()].is_zero(),
            },
        };
        let row = |i: usize| {
            let terms = (0..constraints.len()).filter(|&j| !vanishes(j, i));
            let terms: Vec<String> = terms.map(|j| format!("{} {}", self.bracket(&f(j), &f(i)), c(j))).collect();
            (terms.join(" + "), self.bracket("H", &f(i)))
        };
        (0..constraints.len()).map(row).collect()
    }

    /// X = J (grad H - Df^T c).
    fn dirac_field(&self, derivation: &Derivation, constraints: &Constraints) -> Vec<(String, String)> {
        let n = derivation.dimension / 2;
        let component = |i: usize| {
            let (from, sign) = if i < n { (i + n, 1) } else { (i - n, -1) };
            let energy = derivation.energy.and_then(|energy| derivation.entry(energy, from)).cloned();
            let energy = energy.map(|entry| Expression::integer(sign) * entry);
            let reactions = (0..constraints.len()).filter_map(|row| {
                let entry = derivation.entry(row, from)?.clone();
                Some(Expression::product([Expression::integer(-sign), self.multiplier('c', row), entry]))
            });
            let terms: Vec<Expression> = energy.into_iter().chain(reactions).collect();
            (self.dotted(i), self.sum(&terms))
        };
        (0..2 * n).map(component).collect()
    }

    fn given_field(&self, rates: &[Expression]) -> Vec<(String, String)> {
        rates.iter().enumerate().map(|(index, rate)| (self.dotted(index), self.expression(rate))).collect()
    }

    fn outputs(&self, derivation: &Derivation) -> Vec<(String, String)> {
        let substitute = |symbol: Symbol| match symbol.0.checked_sub(derivation.first_multiplier) {
            Some(declared) => self.multiplier('c', derivation.multiplier(declared as usize)),
            None => Expression::from(symbol),
        };
        let outputs = derivation.outputs.iter().zip(&self.names.outputs);
        outputs.map(|(output, name)| (self.named(name), self.expression(&output.substituted(&substitute)))).collect()
    }

    /// V and y. Weights of entries that a declared matrix has more than once enter as W = diag(weights).
    fn potential(&self, derivation: &Derivation) -> Vec<(String, String)> {
        let members: Vec<String> = (0..derivation.integrals.len()).map(|index| self.integral(index)).collect();
        let weights: Vec<String> = self.names.weights.iter().map(u32::to_string).collect();
        let weighted = self.names.weights.iter().any(|&weight| weight != 1);
        let (delta, difference, gain, weighted_gain, comma) = match self.style {
            Style::Plain => ("dF", "F - F_target", "K", "W^(1/2) K W^(1/2)", ", "),
            Style::Latex => ("\\Delta F", "F - F_{\\mathrm{target}}", "K", "W^{1/2} K W^{1/2}", ",\\ "),
        };
        let gain = if weighted { weighted_gain } else { gain };
        let potential = match self.style {
            Style::Plain => format!("1/2 dF^T {gain} dF"),
            Style::Latex => format!("\\tfrac{{1}}{{2}}\\, \\Delta F^{{T}} {gain}\\, \\Delta F"),
        };
        let y = match self.style {
            Style::Plain => format!("{gain} dF"),
            Style::Latex => format!("{gain}\\, \\Delta F"),
        };
        let diagonal = if self.style == Style::Plain { "diag" } else { "\\operatorname{diag}" };
        let w = weighted.then(|| ("W".to_owned(), format!("{diagonal}({})", weights.join(comma))));
        let equations = [
            ("F".to_owned(), format!("({})", members.join(comma))),
            (delta.to_owned(), difference.to_owned()),
            ("V".to_owned(), potential),
            ("y".to_owned(), y),
        ];
        equations.into_iter().chain(w).collect()
    }

    /// grad V = DF^T y.
    fn gradient(&self, derivation: &Derivation) -> Vec<(String, String)> {
        let component = |i: usize| {
            let entries = (0..derivation.integrals.len()).filter_map(|row| Some((row, derivation.entry(row, i)?)));
            let terms = entries.map(|(row, entry)| self.multiplier('y', row) * entry.clone());
            (self.partial(i), self.sum(&terms.collect::<Vec<_>>()))
        };
        (0..derivation.dimension).map(component).collect()
    }

    /// c_i or y_i as a symbol beyond those of the model: first all c, then all y, then the integrals themselves.
    fn multiplier(&self, letter: char, row: usize) -> Expression {
        let before = if letter == 'c' { 0 } else { self.names.integrals.len() };
        Expression::from(Symbol((self.names.symbols.len() + before + row) as u32))
    }

    fn symbol(&self, index: usize) -> String {
        if let Some((plain, latex)) = self.names.symbols.get(index) {
            return if self.style == Style::Plain { plain } else { latex }.clone();
        }
        let integrals = self.names.integrals.len();
        let row = index - self.names.symbols.len();
        match row.checked_div(integrals) {
            Some(0) => self.attributed("c", row),
            Some(1) => self.attributed("y", row - integrals),
            _ => self.integral(row - 2 * integrals),
        }
    }

    fn integral(&self, index: usize) -> String {
        self.named(&self.names.integrals[index])
    }

    fn named(&self, name: &str) -> String {
        match self.style {
            Style::Plain => name.to_owned(),
            Style::Latex => format!("\\mathrm{{{}}}", name.replace('_', "\\_")),
        }
    }

    /// c or y of an integral.
    fn attributed(&self, letter: &str, integral: usize) -> String {
        let name = self.integral(integral);
        match self.style {
            Style::Plain => format!("{letter}[{name}]"),
            Style::Latex => format!("{letter}_{{{name}}}"),
        }
    }

    fn bracket(&self, left: &str, right: &str) -> String {
        match self.style {
            Style::Plain => format!("{{{left}, {right}}}"),
            Style::Latex => format!("\\{{{left}, {right}\\}}"),
        }
    }

    fn dotted(&self, state: usize) -> String {
        match self.style {
            Style::Plain => format!("d {}/dt", self.symbol(state)),
            Style::Latex => {
                let symbol = self.symbol(state);
                // The dot belongs above the letter, not above its subscripts.
                let (letter, subscripts) = symbol.split_at(symbol.find("_{").unwrap_or(symbol.len()));
                format!("\\dot{{{letter}}}{subscripts}")
            }
        }
    }

    fn partial(&self, state: usize) -> String {
        match self.style {
            Style::Plain => format!("dV/d {}", self.symbol(state)),
            Style::Latex => format!("\\partial V / \\partial {}", self.symbol(state)),
        }
    }

    fn expression(&self, expression: &Expression) -> String {
        self.print(expression).0
    }

    fn enclosed(&self, text: String, enclose: bool) -> String {
        match (enclose, self.style) {
            (false, _) => text,
            (true, Style::Plain) => format!("({text})"),
            (true, Style::Latex) => format!("\\left({text}\\right)"),
        }
    }

    fn print(&self, expression: &Expression) -> (String, Binding) {
        match expression {
            Expression::Number(number) => self.number(number),
            Expression::Pi => (if self.style == Style::Plain { "pi" } else { "\\pi" }.to_owned(), Binding::Atom),
            Expression::Symbol(symbol) => (self.symbol(symbol.0 as usize), Binding::Atom),
            Expression::Sum(terms) => (self.sum(terms), Binding::Sum),
            Expression::Product(factors) => self.product(factors),
            Expression::Power(..) => self.product(std::slice::from_ref(expression)),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn number(&self, number: &BigRational) -> (String, Binding) {
        if number.is_integer() {
            let binding = if number.is_negative() { Binding::Sum } else { Binding::Atom };
            return (number.to_string(), binding);
        }
        match self.style {
            Style::Plain => (number.to_string(), Binding::Product),
            Style::Latex => {
                let sign = if number.is_negative() { "-" } else { "" };
                (format!("{sign}\\frac{{{}}}{{{}}}", number.numer().magnitude(), number.denom()), Binding::Product)
            }
        }
    }

    /// `a + b - c`, a positive term first where there is one.
    fn sum(&self, terms: &[Expression]) -> String {
        let mut printed: Vec<(bool, String)> = Vec::new();
        for term in terms {
            let (text, _) = self.print(term);
            printed.push(match text.strip_prefix('-') {
                Some(magnitude) => (true, magnitude.to_owned()),
                None => (false, text),
            });
        }
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

    /// Factors with negative exponents go below the line.
    fn product(&self, factors: &[Expression]) -> (String, Binding) {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        let mut negative = false;
        for factor in factors {
            match factor {
                Expression::Number(number) => {
                    negative ^= number.is_negative();
                    if !number.numer().magnitude().is_one() {
                        above.push((number.numer().magnitude().to_string(), Binding::Atom));
                    }
                    if !number.denom().is_one() {
                        below.push((number.denom().to_string(), Binding::Atom));
                    }
                }
                Expression::Power(base, exponent) if exponent.is_negative() => {
                    below.push(self.power(base, &-exponent.clone()));
                }
                Expression::Power(base, exponent) => above.push(self.power(base, exponent)),
                other => above.push(self.print(other)),
            }
        }
        let sign = if negative { "-" } else { "" };
        if above.is_empty() {
            above.push(("1".to_owned(), Binding::Atom));
        }
        if below.is_empty() {
            let binding = if above.len() == 1 && !negative { above[0].1 } else { Binding::Product };
            return (format!("{sign}{}", self.times(&above)), binding);
        }
        let text = match self.style {
            Style::Latex => format!("{sign}\\frac{{{}}}{{{}}}", self.times(&above), self.times(&below)),
            Style::Plain => {
                let several = below.len() > 1;
                let below = self.enclosed(self.times(&below), several);
                format!("{sign}{}/{below}", self.times(&above))
            }
        };
        (text, Binding::Product)
    }

    fn times(&self, factors: &[(String, Binding)]) -> String {
        let alone = factors.len() == 1 && self.style == Style::Latex;
        let factors: Vec<String> = factors
            .iter()
            .map(|(text, binding)| self.enclosed(text.clone(), *binding < Binding::Power && !alone))
            .collect();
        factors.join(if self.style == Style::Plain { "*" } else { " " })
    }

    fn power(&self, base: &Expression, exponent: &BigRational) -> (String, Binding) {
        if exponent.is_one() {
            return self.print(base);
        }
        if *exponent == BigRational::new(1.into(), 2.into()) {
            let (base, _) = self.print(base);
            let text = if self.style == Style::Plain { format!("sqrt({base})") } else { format!("\\sqrt{{{base}}}") };
            return (text, Binding::Atom);
        }
        let (base, binding) = self.print(base);
        let base = self.enclosed(base, binding < Binding::Atom);
        let text = match self.style {
            Style::Latex => format!("{base}^{{{exponent}}}"),
            Style::Plain if exponent.is_integer() => format!("{base}^{exponent}"),
            Style::Plain => format!("{base}^({exponent})"),
        };
        (text, Binding::Power)
    }

    fn call(&self, function: Function, arguments: &[Expression]) -> (String, Binding) {
        let arguments: Vec<String> = arguments.iter().map(|argument| self.expression(argument)).collect();
        let name = match (self.style, function) {
            (Style::Latex, Function::Abs) => return (format!("\\left|{}\\right|", arguments[0]), Binding::Atom),
            (Style::Latex, Function::Powf) => {
                return (format!("\\left({}\\right)^{{{}}}", arguments[0], arguments[1]), Binding::Power);
            }
            (Style::Latex, Function::Asin) => "\\arcsin".to_owned(),
            (Style::Latex, Function::Acos) => "\\arccos".to_owned(),
            (Style::Latex, Function::Atan) => "\\arctan".to_owned(),
            (Style::Latex, Function::Atan2) => "\\operatorname{atan2}".to_owned(),
            (Style::Latex, _) => format!("\\{}", function.name()),
            (Style::Plain, _) => function.name().to_owned(),
        };
        let arguments = arguments.join(", ");
        match self.style {
            Style::Plain => (format!("{name}({arguments})"), Binding::Atom),
            Style::Latex => (format!("{name}\\left({arguments}\\right)"), Binding::Atom),
        }
    }
}
