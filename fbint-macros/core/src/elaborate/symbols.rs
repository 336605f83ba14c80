//! The unknowns of a model, entry by entry, and how they are written.

use syn::Ident;

use crate::derivation::{IntegralId, Role, SymbolInfo, Symbols};
use crate::expression::Symbol;
use crate::syntax::{Declaration, Shape, Variable, plain};
use crate::table::Table;

/// Where a symbol stands in the declaration.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable that it is an entry of.
    pub variable: Ident,
    /// The entry.
    pub entry: Entry,
}

/// A variable as a part of expressions.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    pub(super) shape: Shape,
    pub(super) is_momentum: bool,
    /// Its entries, column by column.
    pub(super) symbols: Vec<Symbol>,
}

/// The symbols of the state and of the parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknowns {
    pub(super) symbols: Symbols,
    pub(super) places: Table<Symbol, Place>,
    pub(super) coordinates: Vec<Unknown>,
    pub(super) momenta: Vec<Unknown>,
    pub(super) states: Vec<Unknown>,
    pub(super) parameters: Vec<Unknown>,
}

impl Unknowns {
    pub(super) fn of(declaration: &Declaration) -> Self {
        let mut unknowns = Self::default();
        unknowns.coordinates = unknowns.entries(&declaration.coordinates, Role::State);
        unknowns.momenta = unknowns.entries(&declaration.momenta, Role::State);
        unknowns.states = unknowns.entries(&declaration.states, Role::State);
        unknowns.parameters = unknowns.entries(&declaration.parameters, Role::Parameter);
        unknowns.momenta.iter_mut().for_each(|momentum| momentum.is_momentum = true);
        let of = |variables: &[Unknown]| -> Vec<Symbol> {
            variables.iter().flat_map(|variable| variable.symbols.iter().copied()).collect()
        };
        for (coordinate, momentum) in of(&unknowns.coordinates).into_iter().zip(of(&unknowns.momenta)) {
            unknowns.symbols[coordinate].role = Role::Coordinate { momentum };
            unknowns.symbols[momentum].role = Role::Momentum { coordinate };
        }
        unknowns
    }

    fn entries(&mut self, variables: &[Variable], role: Role) -> Vec<Unknown> {
        let mut unknown = |variable: &Variable| {
            let name = plain(&variable.name);
            let symbol = |entry: Entry| {
                let latex = latex(&name, entry);
                self.places.push(Place { variable: variable.name.clone(), entry });
                self.symbols.push(SymbolInfo { name: format!("{name}{entry}"), latex, role })
            };
            let symbols = Entry::all(variable.shape).into_iter().map(symbol).collect();
            Unknown { shape: variable.shape, is_momentum: false, symbols }
        };
        variables.iter().map(&mut unknown).collect()
    }
}

/// The multiplier of a constraint of this name.
pub(super) fn multiplier(constraint: IntegralId, name: &str, latex: &str) -> SymbolInfo {
    SymbolInfo { name: format!("c[{name}]"), latex: format!("c_{{{latex}}}"), role: Role::Multiplier(constraint) }
}

/// The place of an entry in its quantity, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The quantity is a scalar.
    Scalar,
    /// The component of a vector.
    Index(usize),
    /// The row and the column in a matrix.
    RowColumn(usize, usize),
}

impl Entry {
    /// The entries of a quantity in their order, column by column.
    pub fn all(shape: Shape) -> Vec<Self> {
        match shape {
            Shape::Scalar => vec![Self::Scalar],
            Shape::Vector(length) => (0..length).map(Self::Index).collect(),
            Shape::Matrix { rows, columns } => {
                (0..columns).flat_map(|column| (0..rows).map(move |row| Self::RowColumn(row, column))).collect()
            }
        }
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scalar => Ok(()),
            Self::Index(index) => write!(formatter, "[{index}]"),
            Self::RowColumn(row, column) => write!(formatter, "[({row}, {column})]"),
        }
    }
}

/// Single letters and Greek names stand as they are, longer names are set as one word; trailing digits, what follows an
/// underscore, and the entry become subscripts: `m1` is `m_{1}`, `omega[2]` is `\omega_{2}`, `pa` is `\mathit{pa}`.
fn latex(name: &str, entry: Entry) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let trimmed = stem.trim_matches('_');
    let (base, subscript) = trimmed.split_once('_').unwrap_or((trimmed, ""));
    let mut subscripts = Vec::new();
    let head = match letter(base) {
        Some(head) => {
            if !subscript.is_empty() {
                subscripts.push(format!("\\mathrm{{{}}}", subscript.replace('_', "\\_")));
            }
            head
        }
        None => format!("\\mathit{{{}}}", trimmed.replace('_', "\\_")),
    };
    if !digits.is_empty() {
        subscripts.push(digits.to_owned());
    }
    match entry {
        Entry::Scalar => {}
        Entry::Index(index) => subscripts.push(index.to_string()),
        Entry::RowColumn(row, column) => subscripts.push(format!("{row},{column}")),
    }
    if subscripts.is_empty() { head } else { format!("{head}_{{{}}}", subscripts.join(",")) }
}

/// The command of a name that is one letter, Latin or Greek.
fn letter(name: &str) -> Option<String> {
    const GREEK: [&str; 34] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
        "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta",
        "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
    ];
    if GREEK.contains(&name) {
        return Some(format!("\\{name}"));
    }
    (name.chars().count() == 1).then(|| name.to_owned())
}
