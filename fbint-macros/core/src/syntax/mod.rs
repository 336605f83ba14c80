//! From the tokens of the attribute and of the struct to a [`Declaration`].
//!
//! The attribute is cut at its commas before anything is parsed, so that a mistake spoils its own entry only: every mistake is reported at
//! its own token, and the rest is read as if nothing had happened. Names that a mistake makes unknown are remembered (`broken`,
//! `hidden_names`, `hidden_uses`), so that no later rule reports it a second time. Rules that need no algebra live in `system` (which keys
//! go together) and `check`; whatever needs the value of an expression belongs to `elaborate`.

mod attribute;
mod check;
pub mod diagnostics;
mod events;
pub(crate) mod habits;
mod item;
mod key;
pub(crate) mod limits;
mod lists;
mod misnamed;
mod system;
pub(crate) mod written;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit};

pub(crate) use self::attribute::END_OF_INPUT;
pub use self::events::{Crossing, EventDeclaration, ShapeArgument, ShapeDeclaration, ShapeKind};
pub use self::key::{AttributeKey, Declaration};
pub(crate) use self::system::add_work;
use crate::syntax::diagnostics::Errors;

/// The words of the expression language. None of them can name a part of a model.
pub const RESERVED_NAMES: [&str; 7] = ["PI", "vector", "matrix", "identity", "zeros", "hat", "multiplier"];

/// The word before the name of an integral that is taken to be conserved although algebra does not prove it.
pub const ASSUME: &str = "assume";

/// The word before the name of a constraint that others imply, and that has no reaction.
pub const REDUNDANT: &str = "redundant";

/// The other remedy for a constraint that others imply.
pub(crate) const MARK_AS_REDUNDANT: &str = ", or mark it, as in `constraint(redundant name = ..)`";

/// The reason why [`ASSUME`] cannot stand before some names.
pub(crate) const KEPT: &str = "is kept by construction, which leaves nothing to be assumed";

/// The name of the integral that `hamiltonian` and `lagrangian` add.
pub const ENERGY: &str = "energy";

/// The name of the integral that replaces [`ENERGY`] in a driven system: the energy minus the work.
pub const ENERGY_BALANCE: &str = "energy_balance";

/// The name of the entry of the state that is the work done on a driven system.
pub const WORK: &str = "work";

/// The name of the time, where inputs need it and the declaration gives it no name.
pub const TIME: &str = "time";

/// The highest degree of the polynomials that are searched for what else is conserved.
pub const HIGHEST_DEGREE: usize = 8;

/// The most entries that a vector, a matrix, a family or the whole state may have.
pub const MAX_ENTRIES: usize = 10_000;

impl Declaration {
    /// The variables of the state in their order: coordinates and momenta, coordinates and velocities that are not set to zero, or the
    /// variables of any other state; then the time and the work, where they are part of it.
    pub fn state_variables(&self) -> impl Iterator<Item = &Variable> {
        let velocities = self.velocities.iter().filter(|velocity| self.vanishing_by(velocity).is_none());
        let moving = self.coordinates.iter().chain(&self.momenta).chain(velocities).chain(&self.states);
        distinct(moving.chain(&self.time).chain(&self.work))
    }

    /// The variables of the inputs.
    pub fn input_variables(&self) -> impl Iterator<Item = &Variable> {
        distinct(self.inputs.iter())
    }

    /// The variables of the state that `start` gives: all but the work, which begins at 0, and the time unless it is given.
    pub fn starting_variables(&self) -> impl Iterator<Item = &Variable> {
        let time = self.time.iter().filter(|_| !self.starts_at_a_time());
        let others: Vec<&Ident> = time.chain(&self.work).map(|variable| &variable.name).collect();
        self.state_variables().filter(move |variable| !others.contains(&&variable.name))
    }

    /// Returns `true` if `start` gives the time.
    pub fn starts_at_a_time(&self) -> bool {
        self.time.iter().any(|time| self.start.iter().any(|given| plain(&given.name) == plain(&time.name)))
    }

    /// The name of the integral that `hamiltonian` or `lagrangian` adds.
    pub fn energy_name(&self) -> &'static str {
        if self.work.is_some() { ENERGY_BALANCE } else { ENERGY }
    }

    /// The degree of the polynomials that are asked for by `search(degree = 4)`, and its place.
    pub fn search_degree(&self) -> Option<(usize, Span)> {
        let value = &self.search.first()?.value;
        Some((integer(value)?, value.span()))
    }

    /// The velocity constraint that is this velocity itself, which puts it to zero.
    pub fn vanishing_by(&self, velocity: &Variable) -> Option<&NamedExpression> {
        self.velocity_constraints.iter().find(|constraint| constraint.is_alone(&velocity.name))
    }

    /// Returns `true` if a velocity constraint is a velocity itself, and so puts it to zero.
    pub fn puts_to_zero(&self, constraint: &NamedExpression) -> bool {
        self.velocities.iter().any(|velocity| constraint.is_alone(&velocity.name))
    }

    /// The velocity constraints that put no velocity to zero.
    pub fn reactive_constraints(&self) -> impl Iterator<Item = &NamedExpression> {
        self.velocity_constraints.iter().filter(|constraint| !self.puts_to_zero(constraint))
    }

    /// Returns `true` if the system has an energy, which is an integral of it.
    pub(super) fn has_energy(&self) -> bool {
        let is_hamiltonian = self.has(AttributeKey::Hamiltonian) && !self.has(AttributeKey::Dynamics);
        self.formalism == Formalism::Lagrangian || is_hamiltonian
    }

    /// Returns `true` if constraints may have reactions, and holonomic ones rates.
    pub fn has_reactions(&self) -> bool {
        matches!(self.formalism, Formalism::Canonical | Formalism::Lagrangian)
    }
}

/// The kind of a system: the variables of its state, and the source of its motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formalism {
    /// Coordinates and momenta, by a Hamiltonian.
    Canonical,
    /// Coordinates and velocities, by a Lagrangian.
    Lagrangian,
    /// Any variables, by a Poisson matrix and a Hamiltonian.
    Poisson,
    /// Any variables, by given rates.
    Given,
}

impl Formalism {
    /// In the order in which they are taken for what is declared, where several are possible.
    const ALL: [Self; 4] = [Self::Canonical, Self::Lagrangian, Self::Given, Self::Poisson];
}

/// A variable of the state or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Ident,
    /// Its shape.
    pub shape: Shape,
}

/// The number of entries of these variables together.
pub(crate) fn total_entries<'a>(variables: impl IntoIterator<Item = &'a Variable>) -> usize {
    variables.into_iter().map(|variable| variable.shape.entries()).sum()
}

/// The number and the arrangement of a quantity's entries. Matrices are stored column by column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One number.
    Scalar,
    /// A column of this number of entries.
    Vector(usize),
    /// A rectangle of numbers.
    Matrix {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
}

/// `name = value`, the family `name[i in a..b] = value`, or `name` alone, which stands for `name = name`; in some lists with
/// `assume` or `redundant` before the name.
#[derive(Clone, Debug)]
pub struct NamedExpression {
    /// Its name.
    pub name: Ident,
    /// The word `assume` or `redundant` before the name.
    pub mark: Option<Ident>,
    /// The index that makes it a family.
    pub family: Option<Family>,
    /// The expression.
    pub value: Expr,
}

impl NamedExpression {
    /// Returns `true` if this word stands before the name.
    pub(crate) fn is_marked(&self, word: &str) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark == word)
    }

    /// Returns `true` for the definition of the name itself: `invariant(l)`, or `invariant(l = l)`.
    pub fn is_definition(&self) -> bool {
        self.is_alone(&self.name)
    }

    /// Returns `true` if the value is this name alone.
    pub fn is_alone(&self, name: &Ident) -> bool {
        match peel(&self.value) {
            Expr::Path(path) if self.family.is_none() => {
                path.path.get_ident().is_some_and(|word| plain(word) == plain(name))
            }
            _ => false,
        }
    }
}

/// The index of a family and the integers that it runs through: at least one.
#[derive(Clone, Debug)]
pub struct Family {
    /// The index.
    pub index: Ident,
    /// Its values.
    pub range: Range<i64>,
}

impl Shape {
    /// A vector of one size, or a matrix of two.
    fn of(sizes: &[usize]) -> Option<Self> {
        match *sizes {
            [length] => Some(Self::Vector(length)),
            [rows, columns] => Some(Self::Matrix { rows, columns }),
            _ => None,
        }
    }

    /// No size, one, or two.
    pub(crate) fn dimensions(self) -> Vec<usize> {
        match self {
            Self::Scalar => Vec::new(),
            Self::Vector(length) => vec![length],
            Self::Matrix { rows, columns } => vec![rows, columns],
        }
    }

    /// Its notation after the name of a variable.
    pub(super) fn suffix(self) -> String {
        match self {
            Self::Scalar => String::new(),
            Self::Vector(length) => format!(": [{length}]"),
            Self::Matrix { rows, columns } => format!(": [{rows}, {columns}]"),
        }
    }

    /// The number of entries.
    pub fn entries(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Vector(length) => length,
            Self::Matrix { rows, columns } => rows.saturating_mul(columns),
        }
    }

    /// The rows and columns, a vector being a column.
    pub fn extent(self) -> (usize, usize) {
        match self {
            Self::Scalar => (1, 1),
            Self::Vector(length) => (length, 1),
            Self::Matrix { rows, columns } => (rows, columns),
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scalar => write!(formatter, "a scalar"),
            Self::Vector(length) => write!(formatter, "a vector of {length}"),
            Self::Matrix { rows: 1, columns } => write!(formatter, "a row vector of {columns}"),
            Self::Matrix { rows, columns } => write!(formatter, "a {rows} x {columns} matrix"),
        }
    }
}

/// Reads a declaration, and reports every mistake. Returns `None` if the item is not a type, otherwise whatever was understood:
/// `elaborate` and `emit::stub` take it even where mistakes were found.
pub fn parse(attribute: TokenStream, item: TokenStream, errors: &Errors) -> Option<Declaration> {
    let mut declaration = Declaration::empty();
    attribute::read(attribute, &mut declaration, errors);
    let (item, fields) = item::read(item, errors)?;
    declaration.item = item;
    system::decide(&mut declaration, errors);
    system::add_variables(&mut declaration);
    declaration.hidden_names |= fields.is_none();
    declaration.hidden_uses |= fields.is_none();
    check::pairs(&mut declaration, errors);
    for (name, shape) in fields.into_iter().flatten() {
        match shape {
            Some(shape) => declaration.parameters.push(Variable { name, shape }),
            None => declaration.broken.push(name),
        }
    }
    system::values(&mut declaration, errors);
    check::search(&declaration, errors);
    check::marks(&declaration, errors);
    let clashing = check::names(&declaration, errors);
    check::size(&mut declaration, errors);
    declaration.broken.extend(clashing);
    Some(declaration)
}

/// The first variable of each name: a mistaken declaration may have more.
fn distinct<'a>(variables: impl Iterator<Item = &'a Variable>) -> impl Iterator<Item = &'a Variable> {
    let mut names = BTreeSet::new();
    variables.filter(move |variable| names.insert(&variable.name))
}

/// The name as the user thinks of it: `r#type` is `type`.
pub fn plain(name: &Ident) -> String {
    name.unraw().to_string()
}

/// The words in an expression.
pub(crate) fn words(expression: &Expr) -> impl Iterator<Item = Ident> {
    tokens(expression.to_token_stream()).into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    })
}

/// Tokens in their order, each group before what is in it.
pub(crate) fn tokens(stream: TokenStream) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in stream {
        let inner = if let TokenTree::Group(group) = &token { tokens(group.stream()) } else { Vec::new() };
        all.extend(std::iter::once(token).chain(inner));
    }
    all
}

/// The expression without parentheses around it.
pub(crate) fn peel(mut expression: &Expr) -> &Expr {
    loop {
        expression = match expression {
            Expr::Paren(inner) => &inner.expr,
            Expr::Group(inner) => &inner.expr,
            _ => return expression,
        };
    }
}

/// The integer that is written, if it is one of this type.
pub(crate) fn integer<N: FromStr<Err: Display>>(written: &Expr) -> Option<N> {
    match peel(written) {
        Expr::Lit(ExprLit { lit: Lit::Int(integer), .. }) => integer.base10_parse().ok(),
        _ => None,
    }
}

/// The question that a message ends with, if a candidate is near enough to be worth offering.
pub(crate) fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// The candidate that `name` most likely stands for, if one is near enough to be worth offering.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let enough = (length.max(3) / 3).min(length.saturating_sub(1));
    let letters = |name: &str| name.replace('_', "").to_lowercase();
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(same) = candidates.iter().find(|candidate| letters(candidate) == letters(name)) {
        return Some(same);
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= enough)
        .min()
        .map(|(_, candidate)| candidate)
}
