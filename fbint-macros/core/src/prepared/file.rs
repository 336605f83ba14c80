//! The text of a file.

use std::fmt::Write as _;

use super::Damage;
use super::key::{checksum, key};
use super::notation::{Lines, Reader, excerpt, natural};
use crate::derivation::table::{Id, Table};
use crate::derivation::{
    Bracket, Claim, Conservation, Dynamics, Evidence, Field, FrameBracket, Hamel, Integral, IntegralId, Integrals,
    Involution, LinearSystem, Prepared, Problem,
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
pub fn read(text: &str, problem: &Problem) -> Result<Prepared, Damage> {
    check_format(text)?;
    let content = intact(text)?;
    let own = content.lines().nth(1).and_then(|line| line.strip_prefix("key ")).ok_or("it has no key")?;
    if own != key(problem) {
        return Err(Damage::from("it was derived from another declaration"));
    }
    let is_head = |line: &&str| HEAD.iter().any(|word| line.starts_with(word));
    let head = content.lines().take_while(is_head).count();
    let lines: Vec<&str> = content.lines().skip(head).collect();
    let prepared = FileContents::read(&lines, head + 1, problem)?;
    if lines.into_iter().flat_map(|line| [line, "\n"]).collect::<String>() != body(&prepared) {
        return Err(Damage::from("its lines are not in the order and form in which they are written"));
    }
    Ok(prepared)
}

/// The beginnings of the lines before the derivation.
const HEAD: [&str; 5] = [TITLE, "key ", "model ", "source ", "#"];

fn check_format(text: &str) -> Result<(), Damage> {
    let format = text.lines().next().and_then(|line| line.strip_prefix(TITLE)).ok_or("it is not a derivation")?;
    match natural(format) {
        Some(format) if format == FORMAT as usize => Ok(()),
        Some(format) => {
            let age = if format > FORMAT as usize { "a newer" } else { "an older" };
            let text = "and this version of fbint reads";
            Err(Damage(format!("it has format {format}, {text} {FORMAT}: {age} one wrote it")))
        }
        None => Err(Damage::from(format!("it has format `{}`, not {FORMAT}", excerpt(format)))),
    }
}

/// All lines but the last, which has their checksum.
fn intact(text: &str) -> Result<&str, Damage> {
    let lines = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n'));
    let content = lines.and_then(|(content, end)| {
        let is_intact = end.strip_prefix("end ")? == checksum(&text[..=content.len()]);
        is_intact.then_some(content)
    });
    content.ok_or_else(|| Damage::from("its checksum is that of another text: it was changed, or is not complete"))
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

/// The contents of the lines so far.
struct FileContents<'a> {
    problem: &'a Problem,
    reader: Reader,
    values: Vec<Expression>,
    gradients: Vec<Vec<(Symbol, Expression)>>,
    systems: Vec<LinearSystem>,
    rates: Vec<Expression>,
    lagrangian: Option<Expression>,
    momenta: Vec<(Symbol, Expression)>,
    forces: Vec<(Symbol, Expression)>,
    brackets: Vec<FrameBracket>,
    claims: Vec<Option<Claim>>,
    involution: Involution,
}

impl<'a> FileContents<'a> {
    fn read(lines: &[&str], first: usize, problem: &'a Problem) -> Result<Prepared, Damage> {
        let count = problem.integrals.len();
        let mut body = Self {
            problem,
            reader: Reader::new(problem.symbols.len()),
            values: Vec::new(),
            gradients: vec![Vec::new(); count],
            systems: Vec::new(),
            rates: Vec::new(),
            lagrangian: None,
            momenta: Vec::new(),
            forces: Vec::new(),
            brackets: Vec::new(),
            claims: vec![None; count],
            involution: Involution::default(),
        };
        for (number, line) in (first..).zip(lines) {
            body.line(line).map_err(|Damage(text)| Damage(format!("line {number}: {text}")))?;
        }
        body.end()
    }

    fn line(&mut self, line: &str) -> Result<(), Damage> {
        if let Some(defined) = self.reader.define(line) {
            return defined;
        }
        let (name, value) = line.split_once(" = ").unwrap_or((line, ""));
        let words: Vec<&str> = name.split(' ').take(5).collect();
        let is_understood = match words[0] {
            "integral" | "gradient" => self.line_of_integral(&words, value)?,
            "lagrangian" | "momentum" | "force" | "bracket" | "coefficient" => self.line_of_frame(&words, value)?,
            "claim" | "pairs" | "pair" => self.line_of_findings(&words, value)?,
            _ => self.line_of_field(&words, value)?,
        };
        is_understood.ok_or_else(|| Damage::from(format!("`{}` is not understood", excerpt(name))))
    }

    fn line_of_integral(&mut self, words: &[&str], value: &str) -> Result<Option<()>, Damage> {
        match *words {
            ["integral", _] => self.values.push(self.reader.expression(value)?),
            ["gradient", id, "by", state] => {
                let id = self.integral(id)?;
                let state = natural(state).map(Symbol::at).filter(|state| self.problem.symbols.is_state(*state));
                let Some(state) = state else { return Ok(None) };
                let entry = self.reader.expression(value)?;
                self.gradients[id.place()].push((state, entry));
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn line_of_field(&mut self, words: &[&str], value: &str) -> Result<Option<()>, Damage> {
        match *words {
            ["system", place, "of", size] if natural(place) == Some(self.systems.len()) => {
                let Some(size) = natural(size).filter(|size| *size <= self.problem.symbols.len()) else {
                    return Ok(None);
                };
                let matrix = vec![vec![Expression::zero(); size]; size];
                self.systems.push(LinearSystem { unknowns: Vec::new(), matrix, right_side: Vec::new() });
            }
            ["unknown", _, symbol] => {
                let symbol = self.symbol(symbol)?;
                self.system()?.unknowns.push(symbol);
            }
            ["b", _] => {
                let entry = self.reader.expression(value)?;
                self.system()?.right_side.push(entry);
            }
            ["rate", _] => self.rates.push(self.reader.expression(value)?),
            ["k", i, j] => {
                let entry = self.reader.expression(value)?;
                let place = natural(i).zip(natural(j));
                let place = place.and_then(|(i, j)| self.systems.last_mut()?.matrix.get_mut(i)?.get_mut(j));
                return Ok(place.map(|place| *place = entry));
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn line_of_frame(&mut self, words: &[&str], value: &str) -> Result<Option<()>, Damage> {
        match *words {
            ["lagrangian"] => self.lagrangian = Some(self.reader.expression(value)?),
            ["bracket", i, j] => {
                let of = (self.symbol(i)?, self.symbol(j)?);
                self.brackets.push(FrameBracket { of, coefficients: Vec::new() });
            }
            [kind @ ("momentum" | "force" | "coefficient"), velocity] => {
                let entry = (self.symbol(velocity)?, self.reader.expression(value)?);
                let list = match kind {
                    "momentum" => Some(&mut self.momenta),
                    "force" => Some(&mut self.forces),
                    _ => self.brackets.last_mut().map(|bracket| &mut bracket.coefficients),
                };
                return Ok(list.map(|list| list.push(entry)));
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn line_of_findings(&mut self, words: &[&str], value: &str) -> Result<Option<()>, Damage> {
        match *words {
            ["claim", id] => {
                let id = self.integral(id)?;
                let claim = match value {
                    EVERYWHERE => Claim::Proved(Conservation::Everywhere(Evidence::Algebra)),
                    ON_CONSTRAINTS => Claim::Proved(Conservation::OnConstraints(Evidence::Algebra)),
                    rate => Claim::Open { rate: self.reader.expression(rate)? },
                };
                self.claims[id.place()] = Some(claim);
            }
            ["pairs", count] => return Ok(natural(count).map(|count| self.involution.pairs = count)),
            ["pair", a, b] => {
                let pair = (self.integral(a)?, self.integral(b)?);
                let bracket = self.bracket(value)?;
                self.involution.others.push((pair.0, pair.1, bracket));
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn symbol(&self, word: &str) -> Result<Symbol, Damage> {
        let place = natural(word).filter(|place| *place < self.problem.symbols.len());
        place.map(Symbol::at).ok_or_else(|| Damage::from(format!("there is no symbol `{}`", excerpt(word))))
    }

    fn system(&mut self) -> Result<&mut LinearSystem, Damage> {
        self.systems.last_mut().ok_or_else(|| Damage::from("there is no linear system"))
    }

    fn integral(&self, word: &str) -> Result<IntegralId, Damage> {
        let place = natural(word).filter(|place| *place < self.problem.integrals.len());
        place.map(IntegralId::at).ok_or_else(|| Damage::from(format!("there is no integral `{}`", excerpt(word))))
    }

    fn bracket(&mut self, value: &str) -> Result<Option<Bracket>, Damage> {
        if value == OPEN {
            return Ok(None);
        }
        if let Some((factor, id)) = value.split_once(" of ") {
            let factor = factor.parse().map_err(|_| Damage::from(format!("`{}` is not a number", excerpt(factor))))?;
            return Ok(Some(Bracket::Multiple(factor, self.integral(id)?)));
        }
        Ok(Some(Bracket::Function(self.reader.expression(value)?)))
    }

    fn end(self) -> Result<Prepared, Damage> {
        let problem = self.problem;
        if self.values.len() != problem.integrals.len() {
            return Err(Damage::from("an integral is missing"));
        }
        if self.rates.len() != problem.symbols.dimension() {
            return Err(Damage::from("the field is not complete"));
        }
        let field = Field { systems: self.systems, rates: self.rates.into_iter().collect() };
        let parts = problem.integrals.rows().zip(self.values).zip(self.gradients);
        let integrals: Integrals =
            parts.map(|((declared, value), gradient)| declared.derived(value, gradient)).collect();
        let claim = |((id, integral), claim): ((IntegralId, &Integral), Option<Claim>)| {
            let by_construction = || integrals.conserved_by_construction(id).map(Claim::Proved);
            let missing = || Damage::from(format!("nothing is said of the conservation of `{}`", integral.name));
            claim.or_else(by_construction).ok_or_else(missing)
        };
        let claims: Table<IntegralId, Claim> =
            integrals.iter().zip(self.claims).map(claim).collect::<Result<_, _>>()?;
        let kinetic_energy = kinetic_energy(&problem.symbols, &integrals);
        let mut derivation = problem.derivation(integrals, field, kinetic_energy);
        if let Dynamics::Lagrangian(_) = &problem.dynamics {
            let lagrangian = self.lagrangian.ok_or("the Lagrangian is missing")?;
            let (momenta, forces, brackets) = (self.momenta, self.forces, self.brackets);
            derivation.hamel = Some(Hamel { lagrangian, momenta, forces, brackets });
        }
        let members = problem.constraints();
        let (constraints, rates): (Vec<_>, Vec<_>) = problem.holonomic_pairs().into_iter().unzip();
        let solved: Vec<_> = derivation.field.systems.iter().map(|system| derivation.solved_by(system)).collect();
        let are_meant = match &solved[..] {
            [] => members.is_empty(),
            [all] => *all == members,
            blocks => *blocks == [rates, constraints] && blocks.concat().len() == members.len(),
        };
        if derivation.constraints().is_some() && !are_meant {
            return Err(Damage::from("its linear systems are not those for the multipliers of the constraints"));
        }
        Ok(Prepared { derivation, claims, involution: self.involution })
    }
}
