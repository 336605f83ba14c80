//! Findings about a derivation in print: as equations in the derivation, and as a list in the documentation.

use num_traits::Signed;

use super::{Equation, Notation, Style, quoted, short, source};
use crate::derivation::table::Table;
use crate::derivation::{
    BoundSet, Bracket, Conservation, Derivation, Doubt, Evidence, Findings, Further, FurtherIntegral, IntegralId,
    Involution, Kind, Output, Quantity, Rank, Searched, Structure, Symbols, Unknowns, VelocityConstraints,
};
use crate::expression::{Expression, Function};

/// The most pairs of integrals that do not commute that are listed. More are counted.
const MOST_PAIRS: usize = 40;
/// The most functions that are listed.
const MOST_ATOMS: usize = 4;
/// The most rows of A that are drawn.
const MOST_ROWS: usize = 24;

/// The list in the documentation: in which states integrals are conserved, and what else is worth knowing about them.
pub fn summary(derivation: &Derivation, findings: &Findings) -> String {
    let notation = Notation::new(Style::Plain, derivation);
    let mut text = "Without feedback, the field conserves:\n".to_owned();
    for (grade, members) in grouped(&findings.conservation) {
        text += &format!("- {}: {}\n", grade.text(), notation.quoted(&members));
    }
    for FurtherIntegral { value, grade, .. } in &findings.further.found {
        text += &format!("- {}: `{}`, which is not declared\n", grade.text(), source(value, &derivation.symbols));
    }
    let notes = notation.notes(findings);
    if !notes.is_empty() {
        text += "\nNotes:\n";
    }
    for note in notes {
        text += &format!("- {note}\n");
    }
    text
}

/// Undeclared conserved quantities that are linear in the state, as `invariant` takes them.
pub fn undeclared(derivation: &Derivation, further: &Further) -> Vec<String> {
    let symbols = &derivation.symbols;
    let is_constant = |slope: &Expression| !slope.symbols().iter().any(|symbol| symbols.is_state(*symbol));
    let linear = further.found.iter().filter(|found| found.gradient.iter().all(|(_, slope)| is_constant(slope)));
    linear.map(|found| source(&found.value, symbols)).collect()
}

/// The suspicions about a model, in words.
pub fn doubts(derivation: &Derivation, findings: &Findings) -> Vec<String> {
    let notation = Notation::new(Style::Plain, derivation);
    findings.doubts.iter().map(|doubt| notation.doubt(doubt)).collect()
}

/// The name of the matrix that determines the multipliers.
pub fn multiplier_matrix(derivation: &Derivation) -> &'static str {
    if derivation.has_brackets() {
        "the matrix C of the constraints' Poisson brackets"
    } else {
        "the matrix by which the reactions are determined"
    }
}

/// A declared quantity in words.
pub fn quantity<'a>(
    quantity: Quantity,
    symbols: &Symbols,
    integral: impl FnOnce(IntegralId) -> &'a str,
    outputs: &[Output],
) -> String {
    let name = |symbol| &symbols[symbol].name;
    match quantity {
        Quantity::Hamiltonian => "the Hamiltonian".to_owned(),
        Quantity::Lagrangian => "the Lagrangian".to_owned(),
        Quantity::Poisson => "the Poisson matrix".to_owned(),
        Quantity::Rate(state) => format!("the rate of `{}`", name(state)),
        Quantity::Force(along) => format!("the force along `{}`", name(along)),
        Quantity::Integral(id) => format!("`{}`", integral(id)),
        Quantity::Output(place) => format!("`{}`", outputs[place].name),
        Quantity::Law(input) => format!("the law of the input `{}`", name(input)),
    }
}

/// Why a part of an expression is undefined.
pub fn reason(part: &Expression) -> &'static str {
    match part {
        Expression::Call(Function::Ln, _) => "it takes the logarithm of a number that is not positive",
        Expression::Call(Function::Asin | Function::Acos, _) => {
            "it takes the arcsine or arccosine of a number beyond 1"
        }
        Expression::Power(_, exponent) if exponent.is_integer() => "it divides by 0",
        Expression::Power(_, exponent) if exponent.is_negative() => {
            "it divides by 0, or takes a root of a negative number,"
        }
        _ => "it takes a root or a real power of a negative number",
    }
}

/// Integrals that are proved although their declaration assumes them: all entries of a declared quantity, or none.
fn needless(derivation: &Derivation, conservation: &Table<IntegralId, Conservation>) -> Vec<IntegralId> {
    let declared = |id: IntegralId| &derivation.integrals[id].entry.name;
    let open: Vec<_> = conservation.iter().filter(|(_, grade)| **grade == Conservation::Assumed).collect();
    let is_needless = |id: &IntegralId| {
        derivation.integrals[*id].assumed && open.iter().all(|(other, _)| declared(*other) != declared(*id))
    };
    derivation.integrals.ids().filter(is_needless).collect()
}

/// Integrals of one grade, in the order of their first members.
fn grouped(conservation: &Table<IntegralId, Conservation>) -> Vec<(Conservation, Vec<IntegralId>)> {
    let mut groups: Vec<(Conservation, Vec<IntegralId>)> = Vec::new();
    for (id, grade) in conservation.iter() {
        match groups.iter_mut().find(|(known, _)| known == grade) {
            Some((_, members)) => members.push(id),
            None => groups.push((*grade, vec![id])),
        }
    }
    groups
}

impl Conservation {
    fn text(self) -> String {
        match self {
            Self::Everywhere(evidence) => format!("everywhere, {}", evidence.text()),
            Self::OnConstraints(evidence) => format!("where the constraints hold, {}", evidence.text()),
            Self::Assumed => "assumed, not proved".to_owned(),
        }
    }
}

impl Evidence {
    fn text(self) -> &'static str {
        match self {
            Self::Construction => "by construction",
            Self::Algebra => "proved by algebra",
            Self::Kept => "proved by algebra, says the kept derivation",
        }
    }
}

impl Notation<'_> {
    /// The brackets of integrals where there are constraints are Dirac brackets.
    pub(super) fn heading_of_involution(&self) -> &'static str {
        let has_constraints = self.derivation.constraints().is_some_and(|constraints| !constraints.is_empty());
        if has_constraints { "Involution in the Dirac bracket" } else { "Involution" }
    }

    pub(super) fn remark(&self, text: &str) -> Equation {
        (self.printer.text(text), String::new())
    }

    pub(super) fn conservation(&self, findings: &Findings) -> Vec<Equation> {
        let groups = grouped(&findings.conservation).into_iter();
        groups.map(|(grade, members)| self.conserved(&format!("({})", self.list(members)), grade)).collect()
    }

    pub(super) fn further(&self, further: &Further) -> Vec<Equation> {
        let found = |FurtherIntegral { value, grade, .. }: &FurtherIntegral| {
            let plain = || format!("({})", source(value, &self.derivation.symbols));
            let latex = || format!("\\left({}\\right)", self.printer.short(value));
            self.conserved(&if self.style == Style::Latex { latex() } else { plain() }, *grade)
        };
        further.found.iter().map(found).chain([self.remark(&self.excluded(further))]).collect()
    }

    fn conserved(&self, enclosed: &str, grade: Conservation) -> Equation {
        let (rate, gap) = self.style.choose(("d/dt", ", "), ("\\tfrac{d}{dt}", " \\quad "));
        (format!("{rate} {enclosed}"), format!("0{gap}{}", self.printer.text(&grade.text())))
    }

    /// The name that was not found.
    fn excluded(&self, further: &Further) -> String {
        let searched = match &further.searched {
            Ok(searched) => searched,
            Err(reason) => return format!("not searched: {reason}"),
        };
        let symbols = &self.derivation.symbols;
        let variables = symbols.variables().into_iter();
        let mut variables: Vec<String> = variables.map(|(name, _)| name.to_owned()).collect();
        match searched.atoms.len() {
            0 => {}
            count if count > MOST_ATOMS => variables.push(format!("{count} functions that occur")),
            _ => variables.extend(searched.atoms.iter().map(|atom| source(atom, symbols))),
        }
        let other = if further.found.is_empty() { "" } else { "other " };
        let parameters = if symbols.parameters().next().is_some() { ", for general parameters" } else { "" };
        let range = format!("polynomial of degree <= {} in {}{parameters}", searched.degree, variables.join(", "));
        let set = if searched.is_everywhere {
            ", is conserved in all states; nothing was searched on the constraints alone"
        } else {
            ""
        };
        match further.others {
            0 => format!("no {other}{range}, with a probability of error below {:e}{set}", Searched::ERROR),
            1 => format!("one {other}{range}, whose coefficients were not found"),
            count => format!("{count} {other}{range}, whose coefficients were not found"),
        }
    }

    pub(super) fn involution(&self, involution: &Involution) -> Vec<Equation> {
        let mut lines: Vec<Equation> = Vec::new();
        for (a, b, bracket) in involution.others.iter().take(MOST_PAIRS) {
            let left = self.bracket(&self.integral(*a), &self.integral(*b));
            let open = || self.printer.text("not brought into closed form");
            lines.push((left, bracket.as_ref().map_or_else(open, |bracket| self.closed(bracket))));
        }
        let listed = lines.len();
        if involution.others.len() > listed {
            lines.push(self.remark(&format!("{} more pairs do not commute", involution.others.len() - listed)));
        }
        let commuting = involution.pairs - involution.others.len();
        let text = match (commuting, involution.others.is_empty()) {
            (0, _) => return lines,
            (1, true) => "the one pair commutes".to_owned(),
            (count, true) => format!("all {count} pairs commute"),
            (1, false) => "the other pair commutes".to_owned(),
            (count, false) => format!("the other {count} pairs commute"),
        };
        lines.push(self.remark(&text));
        lines
    }

    fn closed(&self, bracket: &Bracket) -> String {
        match bracket {
            Bracket::Multiple(1, id) => self.integral(*id),
            Bracket::Multiple(-1, id) => format!("-{}", self.integral(*id)),
            Bracket::Multiple(factor, id) => format!("{factor}{}{}", self.style.choose("*", " "), self.integral(*id)),
            Bracket::Function(function) => self.printer.short(function),
        }
    }

    pub(super) fn rank(&self, dependence: &Rank) -> Vec<Equation> {
        let Some(rank) = dependence.rank else { return Vec::new() };
        let operator = self.style.choose("rank", "\\operatorname{rank}");
        let remark = |rank: usize, count: usize| {
            if rank == count { format!("{rank}") } else { format!("{rank} < {count}") }
        };
        let mut remark_of_all = remark(rank, self.derivation.integrals.len());
        if dependence.sets.iter().any(|set| !set.is_proved) {
            remark_of_all += &self.printer.text(" in the states that were tried");
        }
        let mut lines = vec![(format!("{operator} DF"), remark_of_all)];
        for BoundSet { members, .. } in dependence.sets.iter().filter(|set| set.is_proved) {
            let of_members = format!("{operator} D({})", self.list(members.iter().copied()));
            lines.push((of_members, remark(members.len() - 1, members.len())));
        }
        lines
    }

    /// The pattern of the entries of A that do not vanish, where there are several constraints.
    pub(super) fn pattern(&self) -> Vec<Equation> {
        let Structure::Canonical = self.derivation.structure else { return Vec::new() };
        let a = self.derivation.system_of(Unknowns::OfRates).map_or(&[][..], |of_rates| &of_rates.matrix);
        let k = a.len();
        if k < 2 {
            return Vec::new();
        }
        let count = a.iter().flatten().filter(|entry| !entry.is_zero()).count();
        let counted = self.remark(&format!("{count} of {} entries of A do not vanish", k * k));
        let (zero, nonzero, gap) = self.style.choose((".", "x", " "), ("\\cdot", "\\times", " & "));
        let mark = |entry: &Expression| if entry.is_zero() { zero } else { nonzero };
        let rows = a.iter().map(|row| row.iter().map(mark).collect::<Vec<_>>().join(gap));
        let drawing = match self.style {
            _ if k > MOST_ROWS => Vec::new(),
            Style::Latex => {
                let rows = rows.collect::<Vec<_>>().join(" \\\\ ");
                vec![("A".to_owned(), format!("\\begin{{pmatrix}} {rows} \\end{{pmatrix}}"))]
            }
            _ => rows.map(|row| (row, String::new())).collect(),
        };
        [counted].into_iter().chain(drawing).collect()
    }

    pub(super) fn velocity_constraints(&self, findings: &Findings) -> Vec<Equation> {
        let line = |VelocityConstraints { names, are_holonomic }: &VelocityConstraints| {
            let word = if *are_holonomic { "holonomic" } else { "nonholonomic" };
            (self.printer.text(&names.join(", ")), self.printer.text(word))
        };
        findings.velocity_constraints.iter().map(line).collect()
    }

    pub(super) fn notes(&self, findings: &Findings) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(findings.rank.sets.iter().filter_map(|set| self.dependence(set)));
        notes.extend(self.redundant());
        let needless = needless(self.derivation, &findings.conservation);
        if !needless.is_empty() {
            let verb = if needless.len() == 1 { "is" } else { "are" };
            notes.push(format!("{} {verb} proved: `assume` is not needed", self.quoted(&needless)));
        }
        if let Some(VelocityConstraints { names, are_holonomic: true }) = &findings.velocity_constraints {
            let (verb, what) = if names.len() == 1 { ("is", "it as a") } else { ("are", "each as a") };
            notes.push(format!(
                "{} {verb} holonomic in disguise: functions of the coordinates stay what they are at the start; declare {what} \
                 `constraint` to fix them",
                quoted(names)
            ));
        }
        for &id in &findings.roots {
            notes.push(format!(
                "`{}` takes a root: the difference of the squares of both sides would have the same zeros, cost less, and be \
                 differentiable everywhere",
                self.derivation.integrals[id].name
            ));
        }
        notes.extend(findings.doubts.iter().map(|doubt| self.doubt(doubt)));
        notes
    }

    /// The consequences of constraints that are marked as redundant.
    fn redundant(&self) -> Option<String> {
        let all = self.derivation.integrals.iter();
        let redundant = all.filter(|(_, integral)| integral.kind == Kind::Redundant).map(|(id, _)| id);
        let redundant: Vec<IntegralId> = redundant.collect();
        let verb = if redundant.len() == 1 { "is" } else { "are" };
        (!redundant.is_empty()).then(|| {
            format!(
                "{} {verb} redundant and without a reaction: of the constraints that imply such a constraint, the reactions are not \
                 determined one by one, and those that are given do without it",
                self.quoted(&redundant)
            )
        })
    }

    /// The consequence, in words, of the gradient of the last of these integrals being a combination of the others' in general position.
    fn dependence(&self, set: &BoundSet) -> Option<String> {
        let (last, others) = set.members.split_last()?;
        let last = self.quoted(&[*last]);
        let near = "near almost every state it is a function of them, so that keeping them keeps it there";
        Some(match (others, set.is_proved) {
            ([], true) => format!("{last} is the same in every state, and DF does not have full rank"),
            ([], false) => format!("the gradient of {last} vanishes in all states that were tried"),
            (others, true) => {
                format!("an equation binds {last} to {}: {near}; DF does not have full rank", self.quoted(others))
            }
            (others, false) => format!(
                "in all states that were tried, the gradient of {last} is a combination of those of {}",
                self.quoted(others)
            ),
        })
    }

    fn doubt(&self, doubt: &Doubt) -> String {
        let name = |id: &IntegralId| &self.derivation.integrals[*id].name;
        match doubt {
            Doubt::Undefined { quantity: of, part } => {
                let Derivation { symbols, integrals, outputs, .. } = self.derivation;
                let what = quantity(*of, symbols, |id| &integrals[id].name, outputs);
                let (reason, part) = (reason(part), short(part, symbols));
                format!(
                    "no state was found in which {what} is defined: {reason} in all that were tried, as in `{part}`"
                )
            }
            Doubt::Unsatisfied(members) => {
                format!("no state was found that satisfies {}: look for one before you simulate", self.quoted(members))
            }
            Doubt::NoGradient(member) => format!(
                "the gradient of `{0}` vanishes in all states that were found to satisfy `{0}`, and so C is singular there",
                name(member)
            ),
            Doubt::Inertia { is_indefinite } => format!(
                "the mass matrix of the Lagrangian {} in all states that were tried: look for one where it is sound before you \
                 simulate",
                if *is_indefinite { "has both signs" } else { "is singular, or nearly so," }
            ),
            Doubt::Singular { members, everywhere } => format!(
                "{} is singular, or nearly so, in all states that were {}, because of {}: look for one where it is not before you \
                 simulate",
                multiplier_matrix(self.derivation),
                if *everywhere { "tried" } else { "found to satisfy the constraints" },
                self.quoted(members)
            ),
            Doubt::BeyondATurn(angle) => format!(
                "the angle `{}` starts beyond a full turn; angles are in radians, and 90 degrees are `PI / 2`",
                self.derivation.symbols[*angle].name
            ),
            Doubt::Unverified(functions) => format!(
                "no state was found in which the generated {} could be compared with the derivation",
                quoted(functions)
            ),
        }
    }

    fn quoted(&self, members: &[IntegralId]) -> String {
        quoted(members.iter().map(|&id| &self.derivation.integrals[id].name))
    }

    pub(super) fn list(&self, members: impl IntoIterator<Item = IntegralId>) -> String {
        let members: Vec<String> = members.into_iter().map(|id| self.integral(id)).collect();
        members.join(self.style.comma())
    }
}
