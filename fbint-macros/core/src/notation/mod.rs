//! A derivation as people write it: plain text for a terminal, LaTeX for a paper.
//!
//! Both list the same things in the order of the paper: L or H, the constraints and their partners, the brackets that do not
//! vanish, the linear system for c, the field X component by component, V and its gradient. c and y carry the name of the
//! constraint or the integral that they belong to. What was found out about the integrals follows.

mod findings;
mod print;

use num_traits::One;

use self::print::{Printer, Style};
use crate::derivation::table::Table;
use crate::derivation::{
    ConstraintMatrix, Derivation, Drive, Findings, FrameBracket, Integral, IntegralId, Kind, LinearSystem, Output,
    Structure, Symbols,
};
use crate::expression::{Expression, Symbol};

pub use findings::{summary, undeclared};

/// The derivation as plain text, one equation a line.
pub fn plain(derivation: &Derivation, findings: &Findings) -> String {
    let mut text = String::new();
    for (heading, equations) in Notation::new(Style::Plain, derivation).sections(findings) {
        text += &format!("{heading}\n");
        for (left, right) in equations {
            text += &if right.is_empty() { format!("  {left}\n") } else { format!("  {left} = {right}\n") };
        }
    }
    text
}

/// The derivation as LaTeX: one `align*` environment a section, headed by a `\paragraph`.
pub fn latex(derivation: &Derivation, findings: &Findings) -> String {
    let mut text = String::new();
    for (heading, equations) in Notation::new(Style::Latex, derivation).sections(findings) {
        let line = |(left, right): (String, String)| {
            if right.is_empty() { format!("  & {left}") } else { format!("  {left} &= {right}") }
        };
        let lines: Vec<String> = equations.into_iter().map(line).collect();
        let heading = heading.replace('_', "\\_");
        text += &format!("\\paragraph{{{heading}}}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"));
    }
    text
}

/// One expression in plain text, cut short where it is long.
pub fn short(expression: &Expression, symbols: &Symbols) -> String {
    Printer::new(Style::Plain, symbols).short(expression)
}

/// An expression as a declaration has it.
pub fn source(expression: &Expression, symbols: &Symbols) -> String {
    Printer::new(Style::Source, symbols).expression(expression)
}

/// These names in quotes.
pub fn quoted(names: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The sides of an equation; a remark has no right side.
type Equation = (String, String);

/// A heading, and equations.
type Section = (String, Vec<Equation>);

struct Notation<'a> {
    style: Style,
    printer: Printer,
    derivation: &'a Derivation,
    /// y, by the names of the integrals.
    y: Table<IntegralId, Symbol>,
}

/// Minus an expression, without a sign before parentheses.
fn negated(expression: &Expression) -> Expression {
    match expression {
        Expression::Sum(terms) => Expression::sum(terms.iter().map(|term| -term.clone())),
        other => -other.clone(),
    }
}

impl<'a> Notation<'a> {
    fn new(style: Style, derivation: &'a Derivation) -> Self {
        let mut printer = Printer::new(style, &derivation.symbols);
        let y = derivation.integrals.map(|integral| {
            let name = style.choose(format!("y[{}]", integral.name), format!("y_{{{}}}", integral.latex));
            printer.symbol_for(name)
        });
        Self { style, printer, derivation, y }
    }

    fn sections(&self, findings: &Findings) -> Vec<Section> {
        let mut sections = Vec::new();
        self.add_declared(&mut |heading: &str, equations| sections.push((heading.to_owned(), equations)));
        self.add_derived(&mut |heading: &str, equations| sections.push((heading.to_owned(), equations)));
        sections.extend(self.findings(findings));
        sections
    }

    /// Adds what is declared, and the rates of constraints.
    fn add_declared(&self, add: &mut impl FnMut(&str, Vec<Equation>)) {
        let Derivation { name, integrals, hamel, structure, symbols, .. } = self.derivation;
        if let Some(hamel) = hamel {
            add(&format!("Lagrangian of {name}"), vec![("L".to_owned(), self.expression(&hamel.lagrangian))]);
            if !hamel.brackets.is_empty() {
                let brackets = hamel.brackets.iter().map(|bracket| self.frame_bracket(bracket));
                add("Brackets of the frame", brackets.collect());
            }
            let momentum =
                |(velocity, value): &(Symbol, Expression)| (self.partial("L", *velocity), self.expression(value));
            add("Momenta", hamel.momenta.iter().map(momentum).collect());
        }
        if let Some(energy) = integrals.energy() {
            let left = match hamel {
                _ if symbols.is_driven() => self.integral(energy),
                Some(_) => "E".to_owned(),
                None => "H".to_owned(),
            };
            add(&format!("Energy of {name}"), vec![(left, self.expression(&integrals[energy].value))]);
        }
        if let Structure::Matrix(rows) = structure {
            add("Poisson matrix", self.poisson(rows));
        }
        let constraints: Vec<Equation> =
            integrals.constraints().map(|(id, constraint)| self.constraint(id, constraint)).collect();
        if !constraints.is_empty() {
            add("Constraints", constraints);
        }
    }

    /// Adds how the state moves, without feedback and with it.
    fn add_derived(&self, add: &mut impl FnMut(&str, Vec<Equation>)) {
        let systems = &self.derivation.field.systems;
        match self.derivation.constraint_matrix() {
            _ if systems.is_empty() => {}
            Some(brackets) => {
                add("Poisson brackets", self.brackets(&brackets));
                add("Multipliers", self.multipliers(&brackets));
            }
            None => add("Linear systems", systems.iter().flat_map(|system| self.linear_system(system)).collect()),
        }
        let invariants = self.derivation.integrals.iter().filter(|(_, integral)| integral.kind == Kind::Invariant);
        let invariants: Vec<Equation> =
            invariants.map(|(id, invariant)| (self.integral(id), self.expression(&invariant.value))).collect();
        if !invariants.is_empty() {
            add("Invariants", invariants);
        }
        add("Vector field", self.field());
        if !self.derivation.outputs.is_empty() {
            add("Outputs", self.outputs());
        }
        add("Feedback potential", self.potential());
        add("Gradient of the feedback potential", self.gradient());
    }

    /// {x, y} = J_xy for each x before y where it does not vanish.
    fn poisson(&self, rows: &Table<Symbol, Vec<(Symbol, Expression)>>) -> Vec<Equation> {
        let entries = rows.iter().flat_map(|(x, row)| row.iter().map(move |(y, entry)| (x, *y, entry)));
        let entries = entries.filter(|(x, y, _)| x < y);
        entries.map(|(x, y, entry)| (self.bracket(&self.symbol(x), &self.symbol(y)), self.expression(entry))).collect()
    }

    fn constraint(&self, id: IntegralId, constraint: &Integral) -> Equation {
        let mut left = self.integral(id);
        if let Kind::Rate { of } = constraint.kind {
            let rate = match self.derivation.structure.exists() {
                true if self.derivation.symbols.is_driven() => self.free_rate(&self.integral(of)),
                true => self.bracket(&self.integral(of), "H"),
                false => self.rate(&self.integral(of)),
            };
            left = format!("{left} = {rate}");
        }
        (left, self.expression(&constraint.value))
    }

    /// [u_i, u_j] = c^a_ij u_a
    fn frame_bracket(&self, bracket: &FrameBracket) -> Equation {
        let direction = |velocity: Symbol| {
            let velocity = self.symbol(velocity);
            self.style.choose(format!("u[{velocity}]"), format!("u_{{{velocity}}}"))
        };
        let left = format!("[{}, {}]", direction(bracket.of.0), direction(bracket.of.1));
        let term = |(velocity, coefficient): &(Symbol, Expression)| match coefficient.as_number() {
            Some(number) if number.is_one() => direction(*velocity),
            Some(number) if (-number).is_one() => format!("-{}", direction(*velocity)),
            _ => format!("({}) {}", self.expression(coefficient), direction(*velocity)),
        };
        let terms: Vec<String> = bracket.coefficients.iter().map(term).collect();
        (left, terms.join(" + ").replace("+ -", "- "))
    }

    /// K z = b, row by row. A row K z = 1 z is the definition of z.
    fn linear_system(&self, system: &LinearSystem) -> Vec<Equation> {
        let row = |(row, right): (&Vec<Expression>, &Expression)| {
            let terms = row.iter().zip(&system.unknowns).filter(|(entry, _)| !entry.is_zero());
            let terms: Vec<Expression> =
                terms.map(|(entry, unknown)| entry.clone() * Expression::from(*unknown)).collect();
            (self.printer.sum(&terms), self.expression(right))
        };
        system.matrix.iter().zip(&system.right_side).map(row).collect()
    }

    /// {f_i, f_j} for i < j where it does not vanish, then {H, f_i}; of a driven system the rates without constraints.
    fn brackets(&self, ConstraintMatrix { members, c, with_energy }: &ConstraintMatrix) -> Vec<Equation> {
        let mut equations = Vec::new();
        for i in 0..members.len() {
            for j in (i + 1..members.len()).filter(|&j| !c[i][j].is_zero()) {
                let bracket = self.bracket(&self.integral(members[i]), &self.integral(members[j]));
                equations.push((bracket, self.expression(&c[i][j])));
            }
        }
        let is_driven = self.derivation.symbols.is_driven();
        if is_driven {
            equations.push((self.free_rate("f"), self.free_rate_of_any()));
        }
        for (member, bracket) in members.iter().zip(with_energy) {
            let name = self.integral(*member);
            let left = if is_driven { self.free_rate(&name) } else { self.bracket("H", &name) };
            let right = match self.derivation.integrals[*member].kind {
                Kind::Holonomic { rate } if is_driven => self.integral(rate),
                Kind::Holonomic { rate } => format!("-{}", self.integral(rate)),
                _ if is_driven => self.expression(&negated(bracket)),
                _ => self.expression(bracket),
            };
            equations.push((left, right));
        }
        equations
    }

    /// The rate of a function along the flow X_0 without constraints.
    fn free_rate(&self, of: &str) -> String {
        self.style.choose(format!("X0({of})"), format!("X_0({of})"))
    }

    /// {f, H} + Q . df/dp + df/dt
    fn free_rate_of_any(&self) -> String {
        let by = |symbol: Symbol| {
            let symbol = self.symbol(symbol);
            self.style.choose(format!("df/d {symbol}"), format!("\\tfrac{{\\partial f}}{{\\partial {symbol}}}"))
        };
        let Drive { forces, time, .. } = &self.derivation.drive;
        let of_forces =
            forces.iter().map(|force| format!("({}) {}", self.expression(&force.value), by(force.momentum)));
        let terms = [self.bracket("f", "H")].into_iter().chain(of_forces).chain(time.map(by));
        terms.collect::<Vec<_>>().join(" + ")
    }

    /// The equations that determine c, row by row: sum_j {f_j, f_i} c_j = {H, f_i}, or -X_0(f_i) of a driven system.
    fn multipliers(&self, ConstraintMatrix { members, c, .. }: &ConstraintMatrix) -> Vec<Equation> {
        let row = |i: usize| {
            let f_i = self.integral(members[i]);
            let terms = (0..members.len()).filter(|&j| !c[j][i].is_zero()).map(|j| {
                let multiplier = self.c(members[j]).map_or_else(String::new, |symbol| self.symbol(symbol));
                format!("{} {multiplier}", self.bracket(&self.integral(members[j]), &f_i))
            });
            let right = match self.derivation.symbols.is_driven() {
                true => format!("-{}", self.free_rate(&f_i)),
                false => self.bracket("H", &f_i),
            };
            (terms.collect::<Vec<_>>().join(" + "), right)
        };
        (0..members.len()).map(row).collect()
    }

    /// X, component by component.
    fn field(&self) -> Vec<Equation> {
        let rates = self.derivation.field.rates.iter();
        rates.map(|(state, rate)| (self.dotted(state), self.expression(rate))).collect()
    }

    fn outputs(&self) -> Vec<Equation> {
        let name = |output: &Output| self.style.choose(&output.name, &output.latex).clone();
        self.derivation.outputs.iter().map(|output| (name(output), self.expression(&output.value))).collect()
    }

    /// V and y. Weights of entries that a declared matrix has more than once enter as W = diag(weights).
    fn potential(&self) -> Vec<Equation> {
        let integrals = &self.derivation.integrals;
        let members: Vec<String> = integrals.ids().map(|id| self.integral(id)).collect();
        let weights: Vec<String> = integrals.rows().map(|integral| integral.weight.to_string()).collect();
        let weighted = integrals.rows().any(|integral| integral.weight != 1);
        let comma = self.style.comma();
        let (delta, difference) = self.style.choose(("dF", "F - F_target"), ("\\Delta F", "F - F_{\\mathrm{target}}"));
        let weighted_gain = self.style.choose("W^(1/2) K W^(1/2)", "W^{1/2} K W^{1/2}");
        let gain = if weighted { weighted_gain } else { "K" };
        let potential = self
            .style
            .choose(format!("1/2 dF^T {gain} dF"), format!("\\tfrac{{1}}{{2}}\\, \\Delta F^{{T}} {gain}\\, \\Delta F"));
        let y = self.style.choose(format!("{gain} dF"), format!("{gain}\\, \\Delta F"));
        let diagonal = self.style.choose("diag", "\\operatorname{diag}");
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
    fn gradient(&self) -> Vec<Equation> {
        let component = |state: Symbol| {
            let entries = self.y.iter().filter_map(|(id, y)| Some((*y, self.derivation.entry(id, state)?)));
            let terms: Vec<Expression> = entries.map(|(y, entry)| Expression::from(y) * entry.clone()).collect();
            (self.partial("V", state), self.printer.sum(&terms))
        };
        self.derivation.symbols.states().map(component).collect()
    }

    /// The multiplier of a constraint.
    fn c(&self, constraint: IntegralId) -> Option<Symbol> {
        self.derivation.symbols.multiplier(constraint)
    }

    fn expression(&self, expression: &Expression) -> String {
        self.printer.expression(expression)
    }

    fn symbol(&self, symbol: Symbol) -> String {
        self.printer.symbol(symbol)
    }

    fn integral(&self, id: IntegralId) -> String {
        let integral = &self.derivation.integrals[id];
        self.style.choose(&integral.name, &integral.latex).clone()
    }

    fn bracket(&self, left: &str, right: &str) -> String {
        self.style.choose(format!("{{{left}, {right}}}"), format!("\\{{{left}, {right}\\}}"))
    }

    fn rate(&self, of: &str) -> String {
        self.style.choose(format!("d {of}/dt"), format!("\\tfrac{{d}}{{dt}} {of}"))
    }

    fn dotted(&self, state: Symbol) -> String {
        let symbol = self.symbol(state);
        match self.style {
            Style::Plain | Style::Source => self.rate(&symbol),
            Style::Latex => {
                // The dot belongs above the letter, not above its subscripts.
                let (letter, subscripts) = symbol.split_at(symbol.find("_{").unwrap_or(symbol.len()));
                format!("\\dot{{{letter}}}{subscripts}")
            }
        }
    }

    fn partial(&self, of: &str, by: Symbol) -> String {
        let by = self.symbol(by);
        self.style.choose(format!("d{of}/d {by}"), format!("\\partial {of} / \\partial {by}"))
    }
}
