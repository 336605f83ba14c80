//! A derivation as people write it: plain text for a terminal, LaTeX for a paper.
//!
//! Both list the same things in the order of the paper: L or H, the constraints and their partners, the brackets that do not vanish, the
//! linear system for c, the field X component by component, V and its gradient. c and y carry the name of the constraint or the integral
//! that they belong to. Findings about the integrals follow.

mod abbreviations;
mod findings;
mod print;

use num_traits::One;

use self::abbreviations::shared_parts;
use self::print::{Printer, Style};
use crate::derivation::table::Table;
use crate::derivation::{
    ConstraintMatrix, Derivation, Drive, Findings, FrameBracket, IntegralId, Kind, LinearSystem, Output, Structure,
    Symbols,
};
use crate::expression::{Expression, Symbol};

pub use findings::{doubts, multiplier_matrix, quantity, reason, summary, undeclared};

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
    /// The parts that are printed as symbols, because long equations have them in several places.
    abbreviations: Vec<(Symbol, Expression)>,
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
        let parts = shared_parts(derivation);
        let abbreviations = printer.abbreviate(&parts).into_iter().zip(parts).collect();
        Self { style, printer, derivation, y, abbreviations }
    }

    /// All that there is something to say about.
    fn sections(&self, findings: &Findings) -> Vec<Section> {
        let name = &self.derivation.name;
        let matrix = self.derivation.constraint_matrix().filter(|matrix| !matrix.members.is_empty());
        let of_matrix = |equations: fn(&Self, &ConstraintMatrix) -> Vec<Equation>| {
            matrix.as_ref().map_or_else(Vec::new, |matrix| equations(self, matrix))
        };
        let sections = [
            ("Abbreviations", self.abbreviations()),
            (&*format!("Lagrangian of {name}"), self.lagrangian()),
            ("Brackets of the frame", self.frame_brackets()),
            ("Momenta", self.momenta()),
            (&*format!("Energy of {name}"), self.energy()),
            ("Poisson matrix", self.poisson()),
            ("Constraints", self.constraints()),
            ("Poisson brackets", of_matrix(Self::brackets)),
            ("Multipliers", of_matrix(Self::multipliers)),
            ("Linear systems", if matrix.is_none() { self.linear_systems() } else { Vec::new() }),
            ("Invariants", self.invariants()),
            ("Vector field", self.field()),
            ("Laws of inputs", self.laws()),
            ("Outputs", self.outputs()),
            ("Feedback potential", self.potential()),
            ("Gradient of the feedback potential", self.gradient()),
            ("Conservation without feedback", self.conservation(findings)),
            ("Conserved beside the declared integrals", self.further(&findings.further)),
            (self.heading_of_involution(), self.involution(&findings.involution)),
            ("Rank of the integrals", self.rank(&findings.rank)),
            ("Pattern of A", self.pattern()),
            ("Velocity constraints", self.velocity_constraints(findings)),
            ("Notes", self.notes(findings).iter().map(|note| self.remark(note)).collect()),
        ];
        let sections = sections.into_iter().filter(|(_, equations)| !equations.is_empty());
        sections.map(|(heading, equations)| (heading.to_owned(), equations)).collect()
    }

    fn abbreviations(&self) -> Vec<Equation> {
        let equation = |(symbol, part): &(Symbol, Expression)| (self.symbol(*symbol), self.printer.definition(part));
        self.abbreviations.iter().map(equation).collect()
    }

    fn lagrangian(&self) -> Vec<Equation> {
        let lagrangian = self.derivation.hamel.iter().map(|hamel| ("L".to_owned(), &hamel.lagrangian));
        self.equations(lagrangian)
    }

    fn momenta(&self) -> Vec<Equation> {
        let momenta = self.derivation.hamel.iter().flat_map(|hamel| &hamel.momenta);
        self.equations(momenta.map(|(velocity, momentum)| (self.partial("L", *velocity), momentum)))
    }

    fn energy(&self) -> Vec<Equation> {
        let Derivation { integrals, hamel, symbols, .. } = self.derivation;
        let name = |energy: IntegralId| match hamel {
            _ if symbols.is_driven() => self.integral(energy),
            Some(_) => "E".to_owned(),
            None => "H".to_owned(),
        };
        self.equations(integrals.energy().map(|energy| (name(energy), &integrals[energy].value)))
    }

    /// {x, y} = J_xy for each x before y where it does not vanish.
    fn poisson(&self) -> Vec<Equation> {
        let Structure::Matrix(rows) = &self.derivation.structure else { return Vec::new() };
        let entries = rows.iter().flat_map(|(x, row)| row.iter().map(move |(y, entry)| (x, *y, entry)));
        let entries = entries.filter(|(x, y, _)| x < y);
        self.equations(entries.map(|(x, y, entry)| (self.bracket(&self.symbol(x), &self.symbol(y)), entry)))
    }

    fn constraints(&self) -> Vec<Equation> {
        let Derivation { integrals, structure, symbols, .. } = self.derivation;
        let rate = |of: IntegralId| match structure.exists() {
            true if symbols.is_driven() => self.free_rate(&self.integral(of)),
            true => self.bracket(&self.integral(of), "H"),
            false => self.rate(&self.integral(of)),
        };
        let left = |id: IntegralId| match integrals[id].kind {
            Kind::Rate { of } => format!("{} = {}", self.integral(id), rate(of)),
            _ => self.integral(id),
        };
        self.equations(integrals.constraints().map(|(id, constraint)| (left(id), &constraint.value)))
    }

    fn invariants(&self) -> Vec<Equation> {
        let invariants = self.derivation.integrals.iter().filter(|(_, integral)| integral.kind == Kind::Invariant);
        self.equations(invariants.map(|(id, invariant)| (self.integral(id), &invariant.value)))
    }

    /// [u_i, u_j] = c^a_ij u_a
    fn frame_brackets(&self) -> Vec<Equation> {
        let direction = |velocity: Symbol| {
            let velocity = self.symbol(velocity);
            self.style.choose(format!("u[{velocity}]"), format!("u_{{{velocity}}}"))
        };
        let term = |(velocity, coefficient): (&Symbol, &Expression)| match coefficient.as_number() {
            Some(number) if number.is_one() => direction(*velocity),
            Some(number) if (-number).is_one() => format!("-{}", direction(*velocity)),
            _ => format!("({}) {}", self.expression(coefficient), direction(*velocity)),
        };
        let equation = |FrameBracket { of: (i, j), coefficients }: &FrameBracket| {
            let terms: Vec<String> = coefficients.iter().map(term).collect();
            (format!("[{}, {}]", direction(*i), direction(*j)), terms.join(" + ").replace("+ -", "- "))
        };
        self.derivation.hamel.iter().flat_map(|hamel| &hamel.brackets).map(equation).collect()
    }

    /// K z = b, row by row. A row K z = 1 z is the definition of z.
    fn linear_systems(&self) -> Vec<Equation> {
        let of_system = |system: &'a LinearSystem| {
            system.matrix.iter().zip(&system.right_side).map(|(row, right)| {
                let terms = row.iter().zip(&system.unknowns).filter(|(entry, _)| !entry.is_zero());
                let terms = terms.map(|(entry, unknown)| entry.clone() * Expression::from(*unknown));
                (self.printer.sum(&terms.collect::<Vec<_>>()), right)
            })
        };
        self.equations(self.derivation.field.systems.iter().flat_map(of_system))
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
                let multiplier = self.derivation.symbols.multiplier(members[j]);
                let multiplier = multiplier.map_or_else(String::new, |symbol| self.symbol(symbol));
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
        self.equations(self.derivation.field.rates.iter().map(|(state, rate)| (self.dotted(state), rate)))
    }

    fn laws(&self) -> Vec<Equation> {
        let given = self.derivation.symbols.inputs().zip(&self.derivation.laws);
        let given = given.filter(|(input, law)| **law != Expression::from(*input));
        self.equations(given.map(|(input, law)| (self.symbol(input), law)))
    }

    fn outputs(&self) -> Vec<Equation> {
        let name = |output: &Output| self.style.choose(&output.name, &output.latex).clone();
        self.equations(self.derivation.outputs.iter().map(|output| (name(output), &output.value)))
    }

    /// V and y. Weights of entries that a declared matrix has more than once enter as W = diag(weights).
    fn potential(&self) -> Vec<Equation> {
        let integrals = &self.derivation.integrals;
        let weights: Vec<String> = integrals.rows().map(|integral| integral.weight.to_string()).collect();
        let weighted = integrals.rows().any(|integral| integral.weight != 1);
        let gain = if weighted { self.style.choose("W^(1/2) K W^(1/2)", "W^{1/2} K W^{1/2}") } else { "K" };
        let (delta, half, transposed, gap) =
            self.style.choose(("dF", "1/2 ", "^T", " "), ("\\Delta F", "\\tfrac{1}{2}\\, ", "^{T}", "\\, "));
        let target = self.style.choose("F - F_target", "F - F_{\\mathrm{target}}");
        let diagonal = self.style.choose("diag", "\\operatorname{diag}");
        let w = ("W", format!("{diagonal}({})", weights.join(self.style.comma())));
        let equations = [
            ("F", format!("({})", self.list(integrals.ids()))),
            (delta, target.to_owned()),
            ("V", format!("{half}{delta}{transposed} {gain}{gap}{delta}")),
            ("y", format!("{gain}{gap}{delta}")),
        ];
        let equations = equations.into_iter().chain(weighted.then_some(w));
        equations.map(|(left, right)| (left.to_owned(), right)).collect()
    }

    /// grad V = DF^T y.
    fn gradient(&self) -> Vec<Equation> {
        let component = |state: Symbol| {
            let entry = |id: IntegralId| self.derivation.integrals[id].gradient.get(&state).cloned();
            let terms = self.y.iter().filter_map(|(id, y)| Some(Expression::from(*y) * entry(id)?));
            (self.partial("V", state), self.printer.sum(&terms.collect::<Vec<_>>()))
        };
        self.derivation.symbols.states().map(component).collect()
    }

    fn equations<'e>(&self, sides: impl IntoIterator<Item = (String, &'e Expression)>) -> Vec<Equation> {
        sides.into_iter().map(|(left, right)| (left, self.expression(right))).collect()
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
        // The dot belongs above the letter, not above its subscripts.
        let (letter, subscripts) = symbol.split_at(symbol.find("_{").unwrap_or(symbol.len()));
        self.style.choose(self.rate(&symbol), format!("\\dot{{{letter}}}{subscripts}"))
    }

    fn partial(&self, of: &str, by: Symbol) -> String {
        let by = self.symbol(by);
        self.style.choose(format!("d{of}/d {by}"), format!("\\partial {of} / \\partial {by}"))
    }
}
