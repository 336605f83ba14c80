//! The text of a file.

use std::fmt::Write as _;

use super::key::{checksum, key};
use super::notation::{Lines, Reader, excerpt, natural};
use crate::derivation::table::{Id, Table};
use crate::derivation::{
    Bracket, Claim, Conservation, Derivation, Dynamics, Evidence, Field, FrameBracket, Hamel, Integral, IntegralId,
    Integrals, Involution, LinearSystem, Prepared, Problem, SparseRow,
};
use crate::expression::{Expression, Symbol};
use crate::proofs::kinetic_energy;

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

/// Reads a file for a problem. [`believed`](super::believed) checks what it says.
pub fn read(text: &str, problem: &Problem) -> Result<Prepared, String> {
    check_format(text)?;
    let content = intact(text)?;
    let own = content.lines().nth(1).and_then(|line| line.strip_prefix("key ")).ok_or("it has no key")?;
    if own != key(problem) {
        return Err("it was derived from another declaration".to_owned());
    }
    let is_head = |line: &&str| HEAD.iter().any(|word| line.starts_with(word));
    let head = content.lines().take_while(is_head).count();
    let lines: Vec<&str> = content.lines().skip(head).collect();
    let mut reader = FileReader { problem, lines: &lines, expressions: Reader::new(problem.symbols.len()) };
    let prepared = reader.prepared();
    let number = head + lines.len() - reader.lines.len();
    let prepared = prepared.map_err(|text| format!("line {number}: {text}"))?;
    if let Some(line) = reader.lines.first() {
        return Err(format!("line {}: `{}` is not understood", number + 1, excerpt(line)));
    }
    if !has_meant_systems(problem, &prepared.derivation) {
        return Err("its linear systems are not those for the multipliers of the constraints".to_owned());
    }
    if lines.into_iter().flat_map(|line| [line, "\n"]).collect::<String>() != body(&prepared) {
        return Err("its lines are not in the order and form in which they are written".to_owned());
    }
    Ok(prepared)
}

/// The beginnings of the lines before the derivation.
const HEAD: [&str; 5] = [TITLE, "key ", "model ", "source ", "#"];

fn check_format(text: &str) -> Result<(), String> {
    let format = text.lines().next().and_then(|line| line.strip_prefix(TITLE)).ok_or("it is not a derivation")?;
    match natural(format) {
        Some(format) if format == FORMAT as usize => Ok(()),
        Some(format) => {
            let age = if format > FORMAT as usize { "a newer" } else { "an older" };
            let text = "and this version of fbint reads";
            Err(format!("it has format {format}, {text} {FORMAT}: {age} one wrote it"))
        }
        None => Err(format!("it has format `{}`, not {FORMAT}", excerpt(format))),
    }
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
    if let Some(Hamel { lagrangian, momenta, forces, brackets }) = &derivation.hamel {
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
            Claim::Proved(Conservation::Everywhere(Evidence::Algebra)) => lines.alone(format!("{name} = {EVERYWHERE}")),
            Claim::Proved(_) => lines.alone(format!("{name} = {ON_CONSTRAINTS}")),
            Claim::Open { rate } => lines.expression(name, rate),
        }
    }
    lines.alone(format!("pairs {}", prepared.involution.pairs));
    for (a, b, bracket) in &prepared.involution.others {
        let name = format!("pair {} {}", a.place(), b.place());
        match bracket {
            None => lines.alone(format!("{name} = {OPEN}")),
            Some(Bracket::Multiple(factor, id)) => lines.alone(format!("{name} = {factor} of {}", id.place())),
            Some(Bracket::Function(function)) => lines.expression(name, function),
        }
    }
    lines.text()
}

fn add_field(field: &Field, lines: &mut Lines) {
    for (place, system) in field.systems.iter().enumerate() {
        lines.alone(format!("system {place} of {}", system.unknowns.len()));
        for (i, unknown) in system.unknowns.iter().enumerate() {
            lines.alone(format!("unknown {i} {}", unknown.place()));
        }
        add_matrix("k", &system.matrix, lines);
        add_vector("b", &system.right_side, lines);
    }
    add_vector("rate", field.rates.rows(), lines);
}

/// Adds the entries that do not vanish.
fn add_matrix(name: &str, rows: &[Vec<Expression>], lines: &mut Lines) {
    for (i, row) in rows.iter().enumerate() {
        for (j, entry) in row.iter().enumerate().filter(|(_, entry)| !entry.is_zero()) {
            lines.expression(format!("{name} {i} {j}"), entry);
        }
    }
}

fn add_vector<'a>(name: &str, entries: impl IntoIterator<Item = &'a Expression>, lines: &mut Lines) {
    for (i, entry) in entries.into_iter().enumerate() {
        lines.expression(format!("{name} {i}"), entry);
    }
}

/// Grade (a): an integral is conserved in every state.
const EVERYWHERE: &str = "everywhere";
/// Grade (b): an integral is conserved where the constraints hold.
const ON_CONSTRAINTS: &str = "on constraints";
/// Conservation is neither proved nor refuted.
const OPEN: &str = "open";

/// The lines that are left, which are read in the order in which they are written.
struct FileReader<'a> {
    problem: &'a Problem,
    lines: &'a [&'a str],
    expressions: Reader,
}

impl<'a> FileReader<'a> {
    fn prepared(&mut self) -> Result<Prepared, String> {
        let problem = self.problem;
        let integrals = problem.integrals.iter().map(|(id, declared)| {
            let value = self.expression(&format!("integral {}", id.place()))?;
            let gradient = self.by_symbol(&format!("gradient {} by", id.place()))?;
            let is_by_state = gradient.keys().all(|symbol| problem.symbols.is_state(*symbol));
            let wrong = || format!("the gradient of `{}` is by what is no entry of the state", declared.name);
            is_by_state.then(|| declared.derived(value, gradient)).ok_or_else(wrong)
        });
        let integrals: Integrals = integrals.collect::<Result<_, _>>()?;
        let field = self.field()?;
        let kinetic_energy = kinetic_energy(&problem.symbols, &integrals);
        let mut derivation = problem.derivation(integrals, field, kinetic_energy);
        if let Dynamics::Lagrangian(_) = &problem.dynamics {
            derivation.hamel = Some(self.hamel()?);
        }
        let claims = self.claims(&derivation.integrals)?;
        let involution = self.involution()?;
        Ok(Prepared { derivation, claims, involution })
    }

    fn field(&mut self) -> Result<Field, String> {
        let symbols = &self.problem.symbols;
        let mut systems = Vec::new();
        while let Some((size, _)) = self.next(&format!("system {} of", systems.len()))? {
            let size = natural(size).filter(|size| *size <= symbols.len());
            systems.push(self.system(size.ok_or("the size of a linear system is no number of symbols")?)?);
        }
        let rates = (0..symbols.dimension()).map(|i| self.expression(&format!("rate {i}")));
        Ok(Field { systems, rates: rates.collect::<Result<_, _>>()? })
    }

    fn system(&mut self, size: usize) -> Result<LinearSystem, String> {
        let unknown = |i: usize| {
            let (symbol, _) = self.required(&format!("unknown {i}"))?;
            self.symbol(symbol)
        };
        let unknowns = (0..size).map(unknown).collect::<Result<_, _>>()?;
        let mut matrix = vec![vec![Expression::zero(); size]; size];
        while let Some((place, value)) = self.next("k")? {
            let place = place.split_once(' ').and_then(|(i, j)| natural(i).zip(natural(j)));
            let entry = place.and_then(|(i, j)| matrix.get_mut(i)?.get_mut(j));
            *entry.ok_or("there is no such entry of the matrix")? = self.expressions.expression(value)?;
        }
        let right_side = (0..size).map(|i| self.expression(&format!("b {i}"))).collect::<Result<_, _>>()?;
        Ok(LinearSystem { unknowns, matrix, right_side })
    }

    fn hamel(&mut self) -> Result<Hamel, String> {
        let lagrangian = self.expression("lagrangian")?;
        let (momenta, forces) = (self.by_symbol("momentum")?, self.by_symbol("force")?);
        let mut brackets = Vec::new();
        while let Some((of, _)) = self.next("bracket")? {
            let (i, j) = of.split_once(' ').unwrap_or_default();
            let of = (self.symbol(i)?, self.symbol(j)?);
            brackets.push(FrameBracket { of, coefficients: self.by_symbol("coefficient")? });
        }
        Ok(Hamel { lagrangian, momenta, forces, brackets })
    }

    fn claims(&mut self, integrals: &Integrals) -> Result<Table<IntegralId, Claim>, String> {
        let claim = |(id, integral): (IntegralId, &Integral)| {
            Ok(match self.next(&format!("claim {}", id.place()))? {
                Some((_, EVERYWHERE)) => Claim::Proved(Conservation::Everywhere(Evidence::Algebra)),
                Some((_, ON_CONSTRAINTS)) => Claim::Proved(Conservation::OnConstraints(Evidence::Algebra)),
                Some((_, rate)) => Claim::Open { rate: self.expressions.expression(rate)? },
                None => {
                    let missing = || format!("nothing is said of the conservation of `{}`", integral.name);
                    Claim::Proved(integrals.conserved_by_construction(id).ok_or_else(missing)?)
                }
            })
        };
        integrals.iter().map(claim).collect()
    }

    fn involution(&mut self) -> Result<Involution, String> {
        let (pairs, _) = self.required("pairs")?;
        let pairs = natural(pairs).ok_or("the pairs of integrals are not counted")?;
        let mut others = Vec::new();
        while let Some((pair, bracket)) = self.next("pair")? {
            let (a, b) = pair.split_once(' ').unwrap_or_default();
            others.push((self.integral(a)?, self.integral(b)?, self.bracket(bracket)?));
        }
        Ok(Involution { pairs, others })
    }

    fn bracket(&mut self, value: &str) -> Result<Option<Bracket>, String> {
        if value == OPEN {
            return Ok(None);
        }
        if let Some((factor, id)) = value.split_once(" of ") {
            let factor = factor.parse().map_err(|_| format!("`{}` is not a number", excerpt(factor)))?;
            return Ok(Some(Bracket::Multiple(factor, self.integral(id)?)));
        }
        Ok(Some(Bracket::Function(self.expressions.expression(value)?)))
    }

    fn symbol(&self, word: &str) -> Result<Symbol, String> {
        let place = natural(word).filter(|place| *place < self.problem.symbols.len());
        place.map(Symbol::at).ok_or_else(|| format!("there is no symbol `{}`", excerpt(word)))
    }

    fn integral(&self, word: &str) -> Result<IntegralId, String> {
        let place = natural(word).filter(|place| *place < self.problem.integrals.len());
        place.map(IntegralId::at).ok_or_else(|| format!("there is no integral `{}`", excerpt(word)))
    }

    /// The expression of the next line, which has this name.
    fn expression(&mut self, name: &str) -> Result<Expression, String> {
        let (_, value) = self.required(name)?;
        self.expressions.expression(value)
    }

    /// The expressions of the next lines that have this name, and then the place of a symbol.
    fn by_symbol(&mut self, name: &str) -> Result<SparseRow, String> {
        let mut entries = SparseRow::new();
        while let Some((symbol, value)) = self.next(name)? {
            entries.insert(self.symbol(symbol)?, self.expressions.expression(value)?);
        }
        Ok(entries)
    }

    fn required(&mut self, name: &str) -> Result<(&'a str, &'a str), String> {
        self.next(name)?.ok_or_else(|| format!("`{name}` should follow"))
    }

    /// What follows the name of the next line, and its right side, if it has this name.
    fn next(&mut self, name: &str) -> Result<Option<(&'a str, &'a str)>, String> {
        while let Some((line, others)) = self.lines.split_first() {
            if let Some(defined) = self.expressions.define(line) {
                self.lines = others;
                defined?;
                continue;
            }
            let (left, right) = line.split_once(" = ").unwrap_or((line, ""));
            let rest = left.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with(' '));
            let Some(rest) = rest else { break };
            self.lines = others;
            return Ok(Some((rest.trim_start(), right)));
        }
        Ok(None)
    }
}

/// Returns `true` if the linear systems of a canonical system are those for the multipliers of its constraints.
fn has_meant_systems(problem: &Problem, derivation: &Derivation) -> bool {
    let members: Vec<IntegralId> = problem.integrals.constraints().map(|(id, _)| id).collect();
    let (constraints, rates): (Vec<_>, Vec<_>) = problem.integrals.holonomic_pairs().into_iter().unzip();
    let solved: Vec<_> = derivation.field.systems.iter().map(|system| derivation.solved_by(system)).collect();
    let are_meant = match &solved[..] {
        [] => members.is_empty(),
        [all] => *all == members,
        blocks => *blocks == [rates, constraints] && blocks.concat().len() == members.len(),
    };
    derivation.constraints().is_none() || are_meant
}
