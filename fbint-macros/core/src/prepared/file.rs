//! The text of a file.

use std::fmt::Write as _;

use super::Damage;
use super::key::{Key, checksum};
use super::notation::{Reader, Writer, excerpt, natural};
use crate::derivation::table::{Id, Table};
use crate::derivation::{
    Bracket, Claim, Conservation, Constraints, Dynamics, Evidence, Field, FrameBracket, Hamel, Implicit, Integral,
    IntegralId, Integrals, Involution, LinearSystem, Prepared, Problem, Structure,
};
use crate::expression::{Expression, Symbol};
use crate::proofs::kinetic_energy;

/// The first line of a file but for the number of the format.
const TITLE: &str = "fbint derivation ";
/// The version of the format.
pub const FORMAT: u32 = 2;

/// The text of the file for a model in `source`, a path within the package. `equations` are for people.
pub fn write(problem: &Problem, source: Option<&str>, prepared: &Prepared, equations: &str) -> String {
    let mut text = format!("{TITLE}{FORMAT}\nkey {}\nmodel {}\n", Key::of(problem), problem.name);
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
    let key = content.lines().nth(1).and_then(|line| line.strip_prefix("key ")).ok_or("it has no key")?;
    if key != Key::of(problem).to_string() {
        return Err(Damage::from("it was derived from another declaration"));
    }
    let is_head = |line: &&str| HEAD.iter().any(|word| line.starts_with(word));
    let head = content.lines().take_while(is_head).count();
    let lines: Vec<&str> = content.lines().skip(head).collect();
    let prepared = Body::read(&lines, head + 1, problem)?;
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
        Some(format) if format > FORMAT as usize => Err(Damage::from(format!(
            "it has format {format}, and this version of fbint reads {FORMAT}: a newer one wrote it"
        ))),
        Some(format) => Err(Damage::from(format!(
            "it has format {format}, and this version of fbint reads {FORMAT}: an older one wrote it"
        ))),
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
    let mut lines: Vec<(String, Line<'_>)> = Vec::new();
    let derivation = &prepared.derivation;
    for (id, integral) in derivation.integrals.iter() {
        lines.push((format!("integral {}", id.place()), Line::Is(&integral.value)));
        let slopes = integral.gradient.iter();
        lines.extend(slopes.map(|(by, slope)| (format!("gradient {} by {}", id.place(), by.place()), Line::Is(slope))));
    }
    match &derivation.field {
        Field::Given(rates) => {
            lines.push(("field given".to_owned(), Line::Alone));
            lines.extend(rates.iter().map(|(state, rate)| (format!("rate {}", state.place()), Line::Is(rate))));
        }
        Field::Implicit(implicit) => {
            lines.push(("field implicit".to_owned(), Line::Alone));
            for (place, system) in implicit.systems.iter().enumerate() {
                lines.push((format!("system {place} of {}", system.unknowns.len()), Line::Alone));
                let unknowns = system.unknowns.iter().enumerate();
                lines.extend(unknowns.map(|(i, unknown)| (format!("unknown {i} {}", unknown.place()), Line::Alone)));
                lines.extend(matrix("k", &system.matrix));
                lines.extend(vector("b", &system.right_side));
            }
            lines
                .extend(implicit.rates.iter().map(|(state, rate)| (format!("rate {}", state.place()), Line::Is(rate))));
        }
        Field::Dirac(Constraints::Holonomic { a, b, energy_brackets, .. }) => {
            lines.push(("field holonomic".to_owned(), Line::Alone));
            lines.extend(matrix("a", a));
            lines.extend(matrix("b", b));
            lines.extend(vector("h", energy_brackets));
        }
        Field::Dirac(Constraints::General { c, energy_brackets, .. }) => {
            lines.push(("field general".to_owned(), Line::Alone));
            lines.extend(matrix("c", c));
            lines.extend(vector("h", energy_brackets));
        }
    }
    if let Some(Hamel { lagrangian, momenta, forces, brackets }) = &derivation.hamel {
        lines.push(("lagrangian".to_owned(), Line::Is(lagrangian)));
        let momenta =
            momenta.iter().map(|(velocity, value)| (format!("momentum {}", velocity.place()), Line::Is(value)));
        let forces = forces.iter().map(|(velocity, value)| (format!("force {}", velocity.place()), Line::Is(value)));
        lines.extend(momenta.chain(forces));
        for FrameBracket { of: (i, j), coefficients } in brackets {
            lines.push((format!("bracket {} {}", i.place(), j.place()), Line::Alone));
            lines.extend(coefficients.iter().map(|(a, c)| (format!("coefficient {}", a.place()), Line::Is(c))));
        }
    }
    for (id, claim) in prepared.claims.iter() {
        let says = match claim {
            Claim::Proved(grade) if derivation.integrals.conserved_by_construction(id) == Some(*grade) => continue,
            Claim::Proved(Conservation::Everywhere(Evidence::Algebra)) => Line::Says(EVERYWHERE.to_owned()),
            Claim::Proved(_) => Line::Says(ON_CONSTRAINTS.to_owned()),
            Claim::Open { rate } => Line::Is(rate),
        };
        lines.push((format!("claim {}", id.place()), says));
    }
    lines.push((format!("pairs {}", prepared.involution.pairs), Line::Alone));
    for (a, b, bracket) in &prepared.involution.others {
        let says = match bracket {
            None => Line::Says(OPEN.to_owned()),
            Some(Bracket::Multiple(factor, id)) => Line::Says(format!("{factor} of {}", id.place())),
            Some(Bracket::Function(function)) => Line::Is(function),
        };
        lines.push((format!("pair {} {}", a.place(), b.place()), says));
    }
    written(&lines)
}

/// Grade (a): an integral is conserved in every state.
const EVERYWHERE: &str = "everywhere";
/// Grade (b): an integral is conserved where the constraints hold.
const ON_CONSTRAINTS: &str = "on constraints";
/// Conservation is neither proved nor refuted.
const OPEN: &str = "open";

/// The right side of a line.
enum Line<'a> {
    Alone,
    Says(String),
    Is(&'a Expression),
}

fn matrix<'a>(name: &str, rows: &'a [Vec<Expression>]) -> Vec<(String, Line<'a>)> {
    let entries =
        rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, entry)| (i, j, entry)));
    let entries = entries.filter(|(.., entry)| !entry.is_zero());
    entries.map(|(i, j, entry)| (format!("{name} {i} {j}"), Line::Is(entry))).collect()
}

fn vector<'a>(name: &str, entries: &'a [Expression]) -> Vec<(String, Line<'a>)> {
    entries.iter().enumerate().map(|(i, entry)| (format!("{name} {i}"), Line::Is(entry))).collect()
}

fn written(lines: &[(String, Line<'_>)]) -> String {
    let mut writer = Writer::default();
    for (_, line) in lines {
        if let Line::Is(expression) = line {
            writer.announce(expression);
        }
    }
    let mut text = String::new();
    for (name, line) in lines {
        let _ = match line {
            Line::Alone => writeln!(text, "{name}"),
            Line::Says(value) => writeln!(text, "{name} = {value}"),
            Line::Is(expression) => {
                let value = writer.expression(expression, &mut text);
                writeln!(text, "{name} = {value}")
            }
        };
    }
    text
}

type Matrix = Vec<Vec<Expression>>;

/// The form in which the field is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Given,
    Implicit,
    Holonomic,
    General,
}

/// The contents of the lines so far.
struct Body<'a> {
    problem: &'a Problem,
    reader: Reader,
    values: Vec<Expression>,
    gradients: Vec<Vec<(Symbol, Expression)>>,
    form: Option<Form>,
    /// A, or the whole of C.
    matrix: Matrix,
    /// B
    b: Matrix,
    /// The linear systems of an implicit field.
    systems: Vec<LinearSystem>,
    lagrangian: Option<Expression>,
    momenta: Vec<(Symbol, Expression)>,
    forces: Vec<(Symbol, Expression)>,
    brackets: Vec<FrameBracket>,
    /// X where it is given or implicit, else {H, f}.
    entries: Vec<Expression>,
    claims: Vec<Option<Claim>>,
    involution: Involution,
}

impl<'a> Body<'a> {
    fn read(lines: &[&str], first: usize, problem: &'a Problem) -> Result<Prepared, Damage> {
        let count = problem.integrals.len();
        let mut body = Self {
            problem,
            reader: Reader::new(problem.symbols.len()),
            values: Vec::new(),
            gradients: vec![Vec::new(); count],
            form: None,
            matrix: Vec::new(),
            b: Vec::new(),
            systems: Vec::new(),
            lagrangian: None,
            momenta: Vec::new(),
            forces: Vec::new(),
            brackets: Vec::new(),
            entries: Vec::new(),
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
        let unknown = || Damage::from(format!("`{}` is not understood", excerpt(name)));
        match words[..] {
            ["integral", _] => self.values.push(self.reader.expression(value)?),
            ["gradient", id, "by", state] => {
                let id = self.integral(id)?;
                let state = Symbol::at(natural(state).ok_or_else(unknown)?);
                if !self.problem.symbols.is_state(state) {
                    return Err(unknown());
                }
                let entry = self.reader.expression(value)?;
                self.gradients[id.place()].push((state, entry));
            }
            ["field", kind] => self.begin(kind)?,
            ["system", place, "of", size] => {
                let size = natural(size).filter(|size| *size <= self.problem.symbols.len()).ok_or_else(unknown)?;
                if self.form != Some(Form::Implicit) || natural(place) != Some(self.systems.len()) {
                    return Err(unknown());
                }
                let matrix = vec![vec![Expression::zero(); size]; size];
                self.systems.push(LinearSystem { unknowns: Vec::new(), matrix, right_side: Vec::new() });
            }
            ["unknown", _, symbol] => {
                let symbol = self.symbol(symbol)?;
                self.system()?.unknowns.push(symbol);
            }
            ["k", i, j] => {
                let entry = self.reader.expression(value)?;
                let row = natural(i).and_then(|i| self.systems.last_mut()?.matrix.get_mut(i));
                *row.zip(natural(j)).and_then(|(row, j)| row.get_mut(j)).ok_or_else(unknown)? = entry;
            }
            ["b", _] => {
                let entry = self.reader.expression(value)?;
                self.system()?.right_side.push(entry);
            }
            ["lagrangian"] => self.lagrangian = Some(self.reader.expression(value)?),
            ["bracket", i, j] => {
                let of = (self.symbol(i)?, self.symbol(j)?);
                self.brackets.push(FrameBracket { of, coefficients: Vec::new() });
            }
            ["coefficient", velocity] => {
                let entry = (self.symbol(velocity)?, self.reader.expression(value)?);
                self.brackets.last_mut().ok_or_else(unknown)?.coefficients.push(entry);
            }
            [kind @ ("momentum" | "force"), velocity] => {
                let entry = (self.symbol(velocity)?, self.reader.expression(value)?);
                if kind == "momentum" { self.momenta.push(entry) } else { self.forces.push(entry) }
            }
            ["rate" | "h", _] => self.entries.push(self.reader.expression(value)?),
            [name @ ("a" | "b" | "c"), i, j] => {
                let entry = self.reader.expression(value)?;
                let matrix = if name == "b" { &mut self.b } else { &mut self.matrix };
                let row = natural(i).and_then(|i| matrix.get_mut(i));
                *row.zip(natural(j)).and_then(|(row, j)| row.get_mut(j)).ok_or_else(unknown)? = entry;
            }
            ["claim", id] => {
                let id = self.integral(id)?;
                let claim = match value {
                    EVERYWHERE => Claim::Proved(Conservation::Everywhere(Evidence::Algebra)),
                    ON_CONSTRAINTS => Claim::Proved(Conservation::OnConstraints(Evidence::Algebra)),
                    rate => Claim::Open { rate: self.reader.expression(rate)? },
                };
                self.claims[id.place()] = Some(claim);
            }
            ["pairs", count] => self.involution.pairs = natural(count).ok_or_else(unknown)?,
            ["pair", a, b] => {
                let pair = (self.integral(a)?, self.integral(b)?);
                let bracket = self.bracket(value)?;
                self.involution.others.push((pair.0, pair.1, bracket));
            }
            _ => return Err(unknown()),
        }
        Ok(())
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

    /// Makes room for the matrices of a field.
    fn begin(&mut self, kind: &str) -> Result<(), Damage> {
        let zeros = |size: usize| vec![vec![Expression::zero(); size]; size];
        let (pairs, members) = (self.problem.holonomic_pairs().len(), self.problem.constraints().len());
        let is_implicit = self.problem.is_implicit();
        let is_canonical = matches!(Structure::of(self.problem), Structure::Canonical);
        self.form = match kind {
            "given" if !is_canonical && !is_implicit => Some(Form::Given),
            "implicit" if is_implicit => Some(Form::Implicit),
            "holonomic" if is_canonical && 2 * pairs == members => {
                (self.matrix, self.b) = (zeros(pairs), zeros(pairs));
                Some(Form::Holonomic)
            }
            "general" if is_canonical => {
                self.matrix = zeros(members);
                Some(Form::General)
            }
            _ => return Err(Damage::from(format!("the field of this model is not `{}`", excerpt(kind)))),
        };
        Ok(())
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
        let (pairs, members) = (problem.holonomic_pairs(), problem.constraints());
        if self.values.len() != problem.integrals.len() {
            return Err(Damage::from("an integral is missing"));
        }
        let form = self.form.ok_or("there is no field")?;
        let expected = match form {
            Form::Given | Form::Implicit => problem.symbols.dimension(),
            Form::Holonomic => pairs.len(),
            Form::General => members.len(),
        };
        if self.entries.len() != expected {
            return Err(Damage::from("the field is not complete"));
        }
        let (entries, matrix, b) = (self.entries, self.matrix, self.b);
        let field = match form {
            Form::Given => Field::Given(entries.into_iter().collect()),
            Form::Implicit => Field::Implicit(Implicit { systems: self.systems, rates: entries.into_iter().collect() }),
            Form::Holonomic => Field::Dirac(Constraints::Holonomic { pairs, a: matrix, b, energy_brackets: entries }),
            Form::General => Field::Dirac(Constraints::General { members, c: matrix, energy_brackets: entries }),
        };
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
        Ok(Prepared { derivation, claims, involution: self.involution })
    }
}
