//! The text of a file.

use std::fmt::Write as _;

use super::key::{checksum, key};
use super::notation::{Lines, Reader, natural};
use crate::derivation::table::{Id, Table};
use crate::derivation::{
    Bracket, Claim, Conservation, Derivation, Dynamics, Evidence, Field, FrameBracket, Hamel, Integrals, Involution,
    Lagrangian, LinearSystem, Prepared, Problem, SparseRow,
};
use crate::expression::{Expression, Symbol};

/// The first line of a file but for the number of the format.
const TITLE: &str = "fbint derivation ";
/// The version of the format.
pub const FORMAT: u32 = 3;

/// The text of the file for a model in `source`, a path within the package. `equations` are for people.
pub fn write(problem: &Problem, source: Option<&str>, prepared: &Prepared, equations: &str) -> String {
    let mut text = format!("{TITLE}{FORMAT}\nkey {}\nmodel {}\n", key(problem), problem.name);
    if let Some(source) = source {
        let _ = writeln!(text, "source {source}");
    }
    for line in equations.lines() {
        let _ = writeln!(text, "{}", format!("# {line}").trim_end());
    }
    text += &body(prepared);
    let _ = writeln!(text, "end {}", checksum(&text));
    text
}

/// The model whose derivation a file is, and where it is declared.
pub(super) fn owner(text: &str) -> Option<(&str, Option<&str>)> {
    let mut lines = text.lines().skip(2);
    let model = lines.next()?.strip_prefix("model ")?;
    Some((model, lines.next().and_then(|line| line.strip_prefix("source "))))
}

/// Reads a file for a problem. [`verify_kept`](super::verify_kept) checks what it says.
pub fn read(text: &str, problem: &Problem) -> Result<Prepared, String> {
    check_format(text)?;
    let content = intact(text)?;
    if content.lines().nth(1).and_then(|line| line.strip_prefix("key ")) != Some(&key(problem)) {
        return Err("it was derived from another declaration".to_owned());
    }
    let is_head = |line: &&str| HEAD.iter().any(|word| line.starts_with(word));
    let head = content.lines().take_while(is_head).count();
    let mut draft = Draft::new(problem);
    for (number, line) in content.lines().enumerate().skip(head) {
        let unread = || format!("line {} is not understood, or has too large an expression", number + 1);
        draft.line(line).ok_or_else(unread)?;
    }
    let prepared = draft.prepared;
    if !has_meant_systems(problem, &prepared.derivation) {
        return Err("its linear systems are not those for the multipliers of the constraints".to_owned());
    }
    if content.lines().skip(head).flat_map(|line| [line, "\n"]).collect::<String>() != body(&prepared) {
        return Err("its lines are not in the order and form in which they are written".to_owned());
    }
    Ok(prepared)
}

/// The beginnings of the lines before the derivation.
const HEAD: [&str; 5] = [TITLE, "key ", "model ", "source ", "#"];

fn check_format(text: &str) -> Result<(), String> {
    let format = text.lines().next().and_then(|line| natural(line.strip_prefix(TITLE)?));
    let format = format.ok_or("it is not a derivation")?;
    if format == FORMAT as usize {
        return Ok(());
    }
    let age = if format > FORMAT as usize { "a newer" } else { "an older" };
    Err(format!("it has format {format}, and this version of fbint reads {FORMAT}: {age} one wrote it"))
}

/// All lines but the last, which has their checksum.
fn intact(text: &str) -> Result<&str, String> {
    let lines = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n'));
    let content = lines.and_then(|(content, end)| {
        let is_intact = end.strip_prefix("end ")? == checksum(&text[..=content.len()]);
        is_intact.then_some(content)
    });
    content.ok_or_else(|| "its checksum is that of another text: it was changed, or is not complete".to_owned())
}

/// The lines that are read.
fn body(prepared: &Prepared) -> String {
    let mut lines = Lines::default();
    let derivation = &prepared.derivation;
    for (id, integral) in derivation.integrals.iter() {
        lines.expression(format!("integral {}", id.place()), &integral.value);
        lines.by_symbol(&format!("gradient {} by", id.place()), &integral.gradient);
    }
    add_field(&derivation.field, &mut lines);
    if let Some(Hamel { lagrangian, momenta, forces, brackets, .. }) = &derivation.hamel {
        lines.expression("lagrangian", lagrangian);
        lines.by_symbol("momentum", momenta);
        lines.by_symbol("force", forces);
        for FrameBracket { of: (i, j), coefficients } in brackets {
            lines.alone(format!("bracket {} {}", i.place(), j.place()));
            lines.by_symbol("coefficient", coefficients);
        }
    }
    for (id, claim) in prepared.claims.iter() {
        let name = format!("claim {}", id.place());
        match claim {
            Claim::Proved(grade) if derivation.integrals.conserved_by_construction(id) == Some(*grade) => {}
            Claim::Proved(Conservation::Everywhere(Evidence::Algebra)) => lines.alone(format!("{name} = everywhere")),
            Claim::Proved(_) => lines.alone(format!("{name} = on constraints")),
            Claim::Open { rate } => lines.expression(name, rate),
        }
    }
    lines.alone(format!("pairs {}", prepared.involution.pairs));
    for (a, b, bracket) in &prepared.involution.others {
        let name = format!("pair {} {}", a.place(), b.place());
        match bracket {
            None => lines.alone(format!("{name} = open")),
            Some(Bracket::Multiple(factor, id)) => lines.alone(format!("{name} = {factor} of {}", id.place())),
            Some(Bracket::Function(function)) => lines.expression(name, function),
        }
    }
    lines.text()
}

fn add_field<'e>(field: &'e Field, lines: &mut Lines<'e>) {
    for (place, system) in field.systems.iter().enumerate() {
        lines.alone(format!("system {place} of {}", system.unknowns.len()));
        for (i, unknown) in system.unknowns.iter().enumerate() {
            lines.alone(format!("unknown {i} {}", unknown.place()));
        }
        for (i, row) in system.matrix.iter().enumerate() {
            for (j, entry) in row.iter().enumerate().filter(|(_, entry)| !entry.is_zero()) {
                lines.expression(format!("k {i} {j}"), entry);
            }
        }
        let right_side = system.right_side.iter().enumerate();
        right_side.for_each(|(i, entry)| lines.expression(format!("b {i}"), entry));
    }
    field.rates.iter().for_each(|(state, rate)| lines.expression(format!("rate {}", state.place()), rate));
}

/// The content of the lines that were read. Their order and gaps do not matter: at the end they are compared with the lines that would be
/// written for it.
struct Draft<'a> {
    problem: &'a Problem,
    expressions: Reader,
    prepared: Prepared,
}

impl<'a> Draft<'a> {
    /// Without lines, everything is 0, and conserved where it is by construction.
    fn new(problem: &'a Problem) -> Self {
        let integrals: Integrals =
            problem.integrals.map(|declared| declared.derived(Expression::zero(), SparseRow::new()));
        let by_construction = |id| integrals.conserved_by_construction(id).map(Claim::Proved);
        let claim = |id| by_construction(id).unwrap_or(Claim::Open { rate: Expression::zero() });
        let claims = integrals.ids().map(claim).collect();
        let field = Field { systems: Vec::new(), rates: problem.symbols.over_states(|_| Expression::zero()) };
        let mut derivation = problem.derivation(integrals, field);
        let (momenta, forces) = (SparseRow::new(), SparseRow::new());
        if let Dynamics::Lagrangian(Lagrangian { is_augmented, .. }) = problem.dynamics {
            let (lagrangian, brackets) = (Expression::zero(), Vec::new());
            derivation.hamel = Some(Hamel { lagrangian, momenta, forces, brackets, is_augmented });
        }
        let prepared = Prepared { derivation, claims, involution: Involution::default() };
        Self { problem, expressions: Reader::new(problem.symbols.len()), prepared }
    }

    /// Reads a line, if it is one.
    fn line(&mut self, line: &str) -> Option<()> {
        if self.words(&line.split(' ').collect::<Vec<_>>()).is_some() {
            return Some(());
        }
        let (name, text) = line.split_once(" = ")?;
        if name.starts_with('t') {
            return self.expressions.define(text);
        }
        let value = self.expressions.expression(text)?;
        self.value(&name.split(' ').collect::<Vec<_>>(), value)
    }

    /// Reads a line without an expression, if it is one.
    fn words(&mut self, line: &[&str]) -> Option<()> {
        let (symbol, integral) = (|word| id(word, &self.problem.symbols), |word| id(word, &self.problem.integrals));
        let proved = |grade: fn(Evidence) -> Conservation| Claim::Proved(grade(Evidence::Algebra));
        let Prepared { derivation, claims, involution } = &mut self.prepared;
        match *line {
            ["system", _, "of", size] => {
                let size = natural(size)?;
                let solved: usize = derivation.field.systems.iter().map(|system| system.unknowns.len()).sum();
                derivation.field.systems.push((size <= self.problem.symbols.len() - solved).then(|| zeros(size))?);
            }
            ["unknown", i, unknown] => {
                *derivation.field.systems.last_mut()?.unknowns.get_mut(natural(i)?)? = symbol(unknown)?;
            }
            ["bracket", i, j] => {
                let bracket = FrameBracket { of: (symbol(i)?, symbol(j)?), coefficients: SparseRow::new() };
                derivation.hamel.as_mut()?.brackets.push(bracket);
            }
            ["claim", of, "=", "everywhere"] => claims[integral(of)?] = proved(Conservation::Everywhere),
            ["claim", of, "=", "on", "constraints"] => claims[integral(of)?] = proved(Conservation::OnConstraints),
            ["pairs", count] => involution.pairs = natural(count)?,
            ["pair", a, b, "=", "open"] => involution.others.push((integral(a)?, integral(b)?, None)),
            ["pair", a, b, "=", factor, "of", other] => {
                let multiple = Bracket::Multiple(factor.parse().ok()?, integral(other)?);
                involution.others.push((integral(a)?, integral(b)?, Some(multiple)));
            }
            _ => return None,
        }
        Some(())
    }

    /// Takes the expression on the right side of a line with this left side, if there is such a line.
    fn value(&mut self, name: &[&str], value: Expression) -> Option<()> {
        let Problem { symbols, integrals, .. } = self.problem;
        let (symbol, integral) = (|word| id(word, symbols), |word| id(word, integrals));
        let Prepared { derivation, claims, involution } = &mut self.prepared;
        match *name {
            ["integral", of] => derivation.integrals[integral(of)?].value = value,
            ["gradient", of, "by", state] => {
                let state = symbol(state).filter(|state| symbols.is_state(*state))?;
                derivation.integrals[integral(of)?].gradient.insert(state, value);
            }
            ["k", i, j] => {
                *derivation.field.systems.last_mut()?.matrix.get_mut(natural(i)?)?.get_mut(natural(j)?)? = value;
            }
            ["b", i] => *derivation.field.systems.last_mut()?.right_side.get_mut(natural(i)?)? = value,
            ["rate", i] => *derivation.field.rates.rows_mut().nth(natural(i)?)? = value,
            ["lagrangian"] => derivation.hamel.as_mut()?.lagrangian = value,
            ["momentum", velocity] => _ = derivation.hamel.as_mut()?.momenta.insert(symbol(velocity)?, value),
            ["force", velocity] => _ = derivation.hamel.as_mut()?.forces.insert(symbol(velocity)?, value),
            ["coefficient", velocity] => {
                derivation.hamel.as_mut()?.brackets.last_mut()?.coefficients.insert(symbol(velocity)?, value);
            }
            ["claim", of] => claims[integral(of)?] = Claim::Open { rate: value },
            ["pair", a, b] => involution.others.push((integral(a)?, integral(b)?, Some(Bracket::Function(value)))),
            _ => return None,
        }
        Some(())
    }
}

/// The id of the row of a table at the place that a word says.
fn id<I: Id, T>(word: &str, table: &Table<I, T>) -> Option<I> {
    natural(word).filter(|place| *place < table.len()).map(I::at)
}

fn zeros(size: usize) -> LinearSystem {
    let zeros = vec![Expression::zero(); size];
    LinearSystem { unknowns: vec![Symbol::at(0); size], matrix: vec![zeros.clone(); size], right_side: zeros }
}

/// Returns `true` if the linear systems of a canonical system are those for the multipliers of its constraints.
fn has_meant_systems(problem: &Problem, derivation: &Derivation) -> bool {
    let Some(members) = derivation.constraints() else { return true };
    let (constraints, rates): (Vec<_>, Vec<_>) = problem.integrals.holonomic_pairs().into_iter().unzip();
    let solved: Vec<_> = derivation.field.systems.iter().map(|system| derivation.solved_by(system)).collect();
    match &solved[..] {
        [first, second] => [first, second] == [&rates, &constraints] && first.len() + second.len() == members.len(),
        blocks => blocks.len() < 2 && blocks.concat() == members,
    }
}
