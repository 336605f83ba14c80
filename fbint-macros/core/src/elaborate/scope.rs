//! The meaning of names (variables, definitions, indices), and which names are used.
//!
//! A definition is evaluated once, when it is first needed, so that the order of definitions does not matter. A mistake in it is
//! reported there, and its uses are silently left out.

mod rules;
mod unknown;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use proc_macro2::Span;
use syn::{Expr, Ident};

use self::unknown::NAMED;
pub(super) use self::unknown::list;
use super::symbols::{SymbolTable, SymbolicVariable};
use super::value::ShapedExpression;
use crate::derivation::{Role, Symbols};
use crate::expression::{Expression, Symbol};
use crate::syntax::diagnostics::Errors;
use crate::syntax::{AttributeKey, Declaration, Family, Formalism, NamedExpression, plain};

/// A mistake that has been reported already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poison;

/// A result whose mistake, if any, has been reported.
pub(super) type Reported<T> = Result<T, Poison>;

/// All results. It takes every one before a mistake in any of them ends it, so that every mistake is reported.
pub(super) fn every<T>(results: impl Iterator<Item = Reported<T>>) -> Reported<Vec<T>> {
    results.collect::<Vec<_>>().into_iter().collect()
}

/// The meaning of a name.
#[derive(Clone, Debug)]
enum Meaning<'a> {
    Variable(&'a SymbolicVariable),
    Definition(usize),
    /// The quantity without a value, in words: a constraint, an integral, an output, or the work.
    Valueless(String),
    /// Its declaration is mistaken.
    Broken,
}

/// The multipliers of every constraint by its name, member by member.
pub(super) type Multipliers<'a> = BTreeMap<String, (&'a NamedExpression, Reported<Vec<ShapedExpression>>)>;

/// The state of the evaluation of a definition.
#[derive(Clone)]
enum Evaluation {
    Waiting,
    Running,
    Done(Reported<ShapedExpression>),
}

/// The expressions for the symbols of rates and momenta.
#[derive(Clone, Debug, Default)]
pub(super) struct Settlement(pub(super) BTreeMap<Symbol, Expression>);

impl Settlement {
    /// The expression with the symbols replaced.
    pub(super) fn applied(&self, expression: &Expression) -> Expression {
        expression.substituted(&|symbol| self.0.get(&symbol).cloned().unwrap_or_else(|| Expression::from(symbol)))
    }
}

/// Evaluates expressions in the scope of a declaration.
pub(super) struct Scope<'a> {
    pub(super) errors: &'a Errors,
    pub(super) declaration: &'a Declaration,
    names: BTreeMap<String, Meaning<'a>>,
    /// Of each definition, its members; one that is not a family has one.
    progress: Vec<Vec<Evaluation>>,
    indices: Vec<(String, i64)>,
    /// Names that are used, or that a misspelling stands for.
    pub(super) used: BTreeSet<String>,
    /// Names without a meaning that were reported.
    unknown: BTreeSet<String>,
    /// The expressions for the symbols of rates and momenta, once they are known.
    pub(super) settlement: Option<Settlement>,
    unknowns: &'a SymbolTable,
    /// All symbols.
    pub(super) symbols: &'a Symbols,
    /// Constraints that the velocities keep by themselves.
    pub(super) sets: BTreeSet<String>,
    /// While outputs are evaluated, the multipliers of the constraints.
    pub(super) multipliers: Option<Multipliers<'a>>,
    /// The number of evaluations that are open.
    pub(super) level: usize,
    /// The work that evaluation took.
    pub(super) work: usize,
    /// Set once either was reported to be too large: then nothing is evaluated any more.
    pub(super) exhausted: bool,
}

/// The number of members of a definition: one, unless it is a family.
fn members(define: &NamedExpression) -> usize {
    define.family.as_ref().map_or(1, |family| (family.range.end - family.range.start) as usize)
}

impl<'a> Scope<'a> {
    pub(super) fn new(declaration: &'a Declaration, unknowns: &'a SymbolTable, errors: &'a Errors) -> Self {
        let mut scope = Self {
            errors,
            declaration,
            names: BTreeMap::new(),
            progress: declaration.defines.iter().map(|define| vec![Evaluation::Waiting; members(define)]).collect(),
            indices: Vec::new(),
            used: BTreeSet::new(),
            unknown: BTreeSet::new(),
            settlement: None,
            unknowns,
            symbols: &unknowns.symbols,
            sets: BTreeSet::new(),
            multipliers: None,
            level: 0,
            work: 0,
            exhausted: false,
        };
        scope.declare_names();
        scope
    }

    fn declare_names(&mut self) {
        let (declaration, unknowns) = (self.declaration, self.unknowns);
        for name in &declaration.broken {
            self.declare(name, Meaning::Broken);
        }
        if let Some(work) = &declaration.work {
            let what = "is the work that is done on the system, an entry of its state on which nothing else depends";
            self.declare(&work.name, Meaning::Valueless(what.to_owned()));
        }
        for (name, variable) in &unknowns.variables {
            self.names.entry(name.clone()).or_insert(Meaning::Variable(variable));
        }
        for (index, define) in declaration.defines.iter().enumerate() {
            self.declare(&define.name, Meaning::Definition(index));
        }
        for (key, named) in declaration.named() {
            let what = match (key, key.meaning()) {
                (AttributeKey::Define, _) | (_, None) => continue,
                (AttributeKey::Output, Some(kind)) => {
                    format!("is {kind}, which nothing else can use\nhelp: name the expression with `define`")
                }
                (_, Some(kind)) => integral(kind),
            };
            self.declare(&named.name, Meaning::Valueless(what));
        }
        // A field that is given has no Hamiltonian.
        if declaration.dynamics.is_empty() {
            let meaning = match declaration.formalism {
                Formalism::Lagrangian => {
                    "is the integral of `lagrangian`, which has no value here: a run records it\nhelp: write the kinetic plus the \
                     potential energy"
                        .to_owned()
                }
                Formalism::Canonical | Formalism::Poisson | Formalism::Given => integral("the integral of `hamiltonian`"),
            };
            self.names.entry(declaration.energy_name().to_owned()).or_insert(Meaning::Valueless(meaning));
        }
    }

    /// Gives a name its meaning. The first declaration holds, and a broken one before any other.
    fn declare(&mut self, name: &Ident, meaning: Meaning<'a>) {
        self.names.entry(plain(name)).or_insert(meaning);
    }

    /// Evaluates every definition, also those that nothing uses: their mistakes count.
    pub(super) fn definitions(&mut self) {
        for (index, define) in self.declaration.defines.iter().enumerate() {
            for member in 0..members(define) {
                // A mistaken definition is reported once, whether or not something uses it.
                if self.definition(index, member).is_err() {
                    self.used.insert(plain(&define.name));
                }
            }
        }
    }

    /// The symbols of what a word stands for, be it a variable, a definition, or a function of those for rates or momenta.
    pub(super) fn stands_for(&self, word: &Ident) -> Vec<Symbol> {
        let name = plain(word);
        let is_function = |role| match role {
            Role::Rate { .. } => name == "rate",
            Role::Conjugate { .. } => name == "momentum",
            _ => false,
        };
        let mut symbols = self.symbols.with(is_function);
        match self.names.get(&name) {
            Some(Meaning::Variable(variable)) => symbols.extend(&variable.symbols),
            Some(Meaning::Definition(index)) => {
                for member in &self.progress[*index] {
                    if let Evaluation::Done(Ok(value)) = member {
                        symbols.extend(value.symbols());
                    }
                }
            }
            _ => {}
        }
        symbols
    }

    /// The expression with the symbols replaced. Vanishing velocities are zero.
    pub(super) fn settled(&self, expression: &Expression) -> Reported<Expression> {
        let stands = |symbol: &Symbol| matches!(self.role(*symbol), Some(Role::Rate { .. } | Role::Conjugate { .. }));
        let Some(settlement) = &self.settlement else {
            return if expression.symbols().iter().any(stands) { Err(Poison) } else { Ok(expression.clone()) };
        };
        Ok(settlement.applied(expression).substituted(&|symbol| match self.role(symbol) {
            Some(Role::Vanishing { .. }) => Expression::zero(),
            _ => Expression::from(symbol),
        }))
    }

    /// The role of a symbol, unless it is a multiplier, which only outputs contain.
    pub(super) fn role(&self, symbol: Symbol) -> Option<Role> {
        self.symbols.get(symbol).map(|symbol| symbol.role)
    }

    /// The notation of the variable that a symbol is an entry of, or of the variable's rate or momentum.
    pub(super) fn whole(&self, symbol: Symbol) -> String {
        let variable = |of: Symbol| plain(&self.unknowns.places[of].variable);
        match self.symbols[symbol].role {
            Role::Rate { of } => format!("rate({})", variable(of)),
            Role::Conjugate { of } => format!("momentum({})", variable(of)),
            _ => variable(symbol),
        }
    }

    /// Where the variable is named that a symbol is an entry of.
    pub(super) fn place(&self, symbol: Symbol) -> Span {
        self.unknowns.places[symbol].variable.span()
    }

    /// The symbols of all velocities in the order of the declaration.
    pub(super) fn velocities(&self) -> Vec<Symbol> {
        self.unknowns.entries(&self.declaration.velocities)
    }

    /// The multiplier of a constraint that puts a velocity to zero.
    pub(super) fn reaction(&self, constraint: &NamedExpression) -> Option<ShapedExpression> {
        let velocity = self.declaration.velocities.iter().find(|velocity| constraint.is_alone(&velocity.name))?;
        let velocity = self.unknowns.variables.get(&plain(&velocity.name))?;
        let reactions = velocity.symbols.iter().map(|&of| self.symbols.only(Role::Reaction { of }));
        let reactions: Vec<Symbol> = reactions.collect::<Option<_>>()?;
        Some(ShapedExpression::variable(velocity.shape, &reactions))
    }

    /// Runs `body` while `index` has `value`.
    pub(super) fn with_index<T>(&mut self, index: &Ident, value: i64, body: impl FnOnce(&mut Self) -> T) -> T {
        self.indices.push((plain(index), value));
        let result = body(self);
        self.indices.pop();
        result
    }

    /// The result of `body`, if it has one; otherwise, nothing is left of its mistakes.
    pub(super) fn attempted<T>(&mut self, body: impl FnOnce(&mut Self) -> Reported<T>) -> Reported<T> {
        let (mistakes, progress, unknown) = (self.errors.len(), self.progress.clone(), self.unknown.clone());
        let result = body(self);
        if result.is_err() {
            self.errors.forget(mistakes);
            (self.progress, self.unknown, self.exhausted) = (progress, unknown, false);
        }
        result
    }

    /// Refuses an index whose name already has a meaning.
    pub(super) fn check_index(&mut self, index: &Ident) -> Reported<()> {
        if self.names.contains_key(&plain(index)) || plain(index) == "PI" {
            return self.fail_at(index.span(), format!("`{index}` already has a meaning\nhelp: choose another index"));
        }
        Ok(())
    }

    /// Fails for the index of a family that clashes with a name, which `syntax` has reported.
    pub(super) fn check_family(&self, index: &Ident) -> Reported<()> {
        if self.declaration.broken.iter().any(|name| plain(name) == plain(index)) { Err(Poison) } else { Ok(()) }
    }

    /// The indices in force, for messages: ` where i = 3`.
    pub(super) fn circumstances(&self) -> String {
        let values: Vec<String> = self.indices.iter().map(|(index, value)| format!("{index} = {value}")).collect();
        if values.is_empty() { String::new() } else { format!(" where {}", values.join(", ")) }
    }

    /// The value of a name.
    pub(super) fn resolve(&mut self, name: &Ident) -> Reported<ShapedExpression> {
        let key = plain(name);
        if let Some((_, value)) = self.indices.iter().rev().find(|(index, _)| *index == key) {
            return Ok(Expression::integer(*value).into());
        }
        if key == "PI" {
            return Ok(Expression::Pi.into());
        }
        if self.names.contains_key(&key) {
            self.used.insert(key.clone());
        }
        match self.names.get(&key) {
            Some(Meaning::Variable(unknown)) => Ok(ShapedExpression::variable(unknown.shape, &unknown.symbols)),
            Some(Meaning::Definition(index)) => self.whole_definition(*index, name),
            Some(Meaning::Valueless(what)) => self.fail_at(name.span(), format!("`{name}` {what}")),
            Some(Meaning::Broken) => Err(Poison),
            None => self.unknown(name),
        }
    }

    /// Returns `true` if all names and sizes of the state could be read.
    pub(super) fn state_is_certain(&self) -> bool {
        !self.declaration.hidden_names && self.declaration.broken.is_empty()
    }

    /// Returns `true` if a part that could not be read may declare the name.
    pub(super) fn is_obscure(&self, name: &str) -> bool {
        match self.names.get(name) {
            Some(meaning) => matches!(meaning, Meaning::Broken),
            None => self.declaration.hidden_names || self.declaration.hidden_uses,
        }
    }

    /// The value of a definition; of a family of numbers from 0 on, the vector of them.
    fn whole_definition(&mut self, index: usize, name: &Ident) -> Reported<ShapedExpression> {
        let define: &'a NamedExpression = &self.declaration.defines[index];
        let Some(family) = &define.family else { return self.definition(index, 0) };
        let all = (0..members(define)).map(|member| self.definition(index, member)).collect::<Reported<Vec<_>>>()?;
        match ShapedExpression::vector(&all).filter(|_| family.range.start == 0) {
            Some(vector) => Ok(vector),
            None => {
                let message = format!("`{name}` is a family\nhelp: use one of it, as `{name}[{}]`", family.range.start);
                self.fail_at(name.span(), message)
            }
        }
    }

    /// The family that a name stands for, if it is one of definitions.
    pub(super) fn family_of(&self, name: &Ident) -> Option<(usize, &'a Family)> {
        let key = plain(name);
        match self.names.get(&key) {
            Some(Meaning::Definition(index)) if self.indices.iter().all(|(own, _)| *own != key) => {
                Some((*index, self.declaration.defines[*index].family.as_ref()?))
            }
            _ => None,
        }
    }

    /// The member of a family of definitions at an index.
    pub(super) fn family_member(
        &mut self,
        (place, family): (usize, &Family),
        written: &Expr,
        index: i64,
    ) -> Reported<ShapedExpression> {
        let name = &self.declaration.defines[place].name;
        self.used.insert(plain(name));
        match usize::try_from(index - family.range.start).ok().filter(|_| index < family.range.end) {
            Some(member) => self.definition(place, member),
            None => {
                let (first, last) = (family.range.start, family.range.end - 1);
                self.fail(
                    written,
                    format!("the family `{name}` has the indices {first} to {last}, and this is {index}"),
                )
            }
        }
    }

    /// The value of a member of a definition, which is evaluated when it is first needed. Reports one that needs itself.
    fn definition(&mut self, index: usize, member: usize) -> Reported<ShapedExpression> {
        let define: &'a NamedExpression = &self.declaration.defines[index];
        match &self.progress[index][member] {
            Evaluation::Waiting => self.progress[index][member] = Evaluation::Running,
            Evaluation::Running => {
                self.progress[index][member] = Evaluation::Done(Err(Poison));
                let name = &define.name;
                let message = format!("the definition of `{name}` needs `{name}` itself, directly or by way of others");
                return self.fail_at(name.span(), format!("{message}\nhelp: write one of them out"));
            }
            Evaluation::Done(value) => return value.clone(),
        }
        let indices = std::mem::take(&mut self.indices);
        let mut value = match &define.family {
            None => self.evaluate(&define.value),
            Some(family) => self.check_family(&family.index).and_then(|()| {
                let index = family.range.start + member as i64;
                self.with_index(&family.index, index, |scope| scope.evaluate(&define.value))
            }),
        };
        self.indices = indices;
        // A definition that needs itself was reported and settled while it was evaluated.
        if let Evaluation::Done(Err(poison)) = self.progress[index][member] {
            value = Err(poison);
        }
        self.progress[index][member] = Evaluation::Done(value.clone());
        value
    }

    /// Records a mistake.
    pub(super) fn fail_at<T>(&self, span: Span, message: impl Display) -> Reported<T> {
        self.errors.push(span, message);
        Err(Poison)
    }

    /// Records a mistake at all of `tokens`.
    pub(super) fn fail<T>(&self, tokens: impl quote::ToTokens, message: impl Display) -> Reported<T> {
        self.errors.push_spanned(tokens, message);
        Err(Poison)
    }
}

/// The message for the name of a constraint or an integral where a value is needed.
fn integral(kind: &str) -> String {
    format!("is {kind}, which has no value here\nhelp: {NAMED}")
}
