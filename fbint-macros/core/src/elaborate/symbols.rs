//! The unknowns of a model, entry by entry, and their notation. Only this module decides on the [`Role`] of a symbol.

use std::collections::BTreeMap;

use syn::Ident;

use crate::derivation::table::Table;
use crate::derivation::{EntryOf, Role, SymbolInfo, Symbols};
use crate::expression::Symbol;
use crate::syntax::{Declaration, Formalism, Shape, Variable, plain};

/// The place of a symbol in the declaration.
#[derive(Clone, Debug)]
pub struct VariableEntry {
    /// The variable that it is an entry of.
    pub variable: Ident,
    /// The entry.
    pub entry: EntryIndex,
}

/// A variable as a part of expressions.
#[derive(Clone, Debug)]
pub(super) struct SymbolicVariable {
    pub(super) shape: Shape,
    /// Its entries, column by column.
    pub(super) symbols: Vec<Symbol>,
}

/// The symbols of the state and of the parameters, and those that stand for something in expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolTable {
    pub(super) symbols: Symbols,
    pub(super) places: Table<Symbol, VariableEntry>,
    /// All variables by their names.
    pub(super) variables: BTreeMap<String, SymbolicVariable>,
}

impl SymbolTable {
    pub(super) fn of(declaration: &Declaration) -> Self {
        let mut unknowns = Self::default();
        let (vanishing, free): (Vec<&Variable>, Vec<&Variable>) =
            declaration.velocities.iter().partition(|velocity| declaration.vanishing_by(velocity).is_some());
        let of_coordinates = if declaration.formalism == Formalism::Lagrangian { Role::Position } else { Role::State };
        let coordinates = unknowns.add(&declaration.coordinates, of_coordinates);
        let momenta = unknowns.add(&declaration.momenta, Role::State);
        unknowns.add(free, Role::Velocity);
        unknowns.add(&declaration.states, Role::State);
        unknowns.add(&declaration.time, Role::Time);
        unknowns.add(&declaration.work, Role::Work);
        unknowns.add(&declaration.parameters, Role::Parameter);
        unknowns.add(&declaration.inputs, Role::Input);
        for velocity in unknowns.add(vanishing, Role::Velocity) {
            let reaction = add_of(&mut unknowns.symbols, velocity, Role::Reaction { of: velocity });
            unknowns.symbols[velocity].role = Role::Vanishing { reaction };
        }
        for (coordinate, momentum) in coordinates.into_iter().zip(momenta) {
            unknowns.symbols[coordinate].role = Role::Coordinate { momentum };
            unknowns.symbols[momentum].role = Role::Momentum { coordinate };
        }
        unknowns
    }

    /// Adds the entries of variables, and returns them.
    fn add<'d>(&mut self, variables: impl IntoIterator<Item = &'d Variable>, role: Role) -> Vec<Symbol> {
        let mut added = Vec::new();
        for Variable { name, shape } in variables {
            let symbol = |entry: EntryIndex| {
                let of = plain(name);
                let (name_of_entry, latex) = (format!("{of}{entry}"), latex(&of, entry));
                self.places.push(VariableEntry { variable: name.clone(), entry });
                let entry = EntryOf { name: of, index: entry.numbers() };
                self.symbols.push(SymbolInfo { name: name_of_entry, latex, entry, role })
            };
            let symbols: Vec<Symbol> = EntryIndex::all(*shape).into_iter().map(symbol).collect();
            added.extend(&symbols);
            self.variables.entry(plain(name)).or_insert(SymbolicVariable { shape: *shape, symbols });
        }
        added
    }

    /// The entries of variables.
    pub(super) fn entries<'d>(&self, variables: impl IntoIterator<Item = &'d Variable>) -> Vec<Symbol> {
        let known = variables.into_iter().filter_map(|variable| self.variables.get(&plain(&variable.name)));
        known.flat_map(|variable| variable.symbols.iter().copied()).collect()
    }
}

/// Adds the auxiliary symbol that belongs to another one.
pub(super) fn add_of(symbols: &mut Symbols, of: Symbol, role: Role) -> Symbol {
    let SymbolInfo { name, latex, .. } = &symbols[of];
    symbols.push(auxiliary(role, name, latex))
}

/// The auxiliary symbol that belongs to a name: its rate, its momentum, a change of its rate, or the multiplier that holds it.
pub(super) fn auxiliary(role: Role, name: &str, latex: &str) -> SymbolInfo {
    let (name, latex) = match role {
        Role::Rate { .. } => (format!("rate({name})"), format!("\\dot{{{latex}}}")),
        Role::Conjugate { .. } => (format!("momentum({name})"), format!("\\partial L / \\partial {latex}")),
        Role::Acceleration { .. } => (format!("a[{name}]"), format!("a_{{{latex}}}")),
        Role::Response { .. } => (format!("w[{name}]"), format!("w_{{{latex}}}")),
        _ => (format!("c[{name}]"), format!("c_{{{latex}}}")),
    };
    let entry = EntryOf::scalar(&name);
    SymbolInfo { name, latex, entry, role }
}

/// The place of an entry in its quantity, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryIndex {
    /// The quantity is a scalar.
    Scalar,
    /// The component of a vector.
    Index(usize),
    /// The row and the column in a matrix.
    RowColumn(usize, usize),
}

impl EntryIndex {
    /// None for a scalar, one number for a component, a row and a column for an entry of a matrix.
    pub(super) fn numbers(self) -> Vec<i64> {
        match self {
            Self::Scalar => Vec::new(),
            Self::Index(index) => vec![index as i64],
            Self::RowColumn(row, column) => vec![row as i64, column as i64],
        }
    }

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

impl std::fmt::Display for EntryIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scalar => Ok(()),
            Self::Index(index) => write!(formatter, "[{index}]"),
            Self::RowColumn(row, column) => write!(formatter, "[({row}, {column})]"),
        }
    }
}

/// Single letters and Greek names stand as they are, longer names are set as one word; trailing digits, what follows an
/// underscore, and the entry become subscripts: `m1` is `m_{1}`, `omega[2]` is `\omega_{2}`, `p_theta` is `p_{\theta}`, `pa` is
/// `\mathit{pa}`.
fn latex(name: &str, entry: EntryIndex) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let trimmed = stem.trim_matches('_');
    let (base, subscript) = trimmed.split_once('_').unwrap_or((trimmed, ""));
    let mut subscripts = Vec::new();
    let head = match letter(base) {
        Some(head) => {
            if !subscript.is_empty() {
                let words = || format!("\\mathrm{{{}}}", subscript.replace('_', "\\_"));
                subscripts.push(greek(subscript).unwrap_or_else(words));
            }
            head
        }
        None => format!("\\mathit{{{}}}", trimmed.replace('_', "\\_")),
    };
    if !digits.is_empty() {
        subscripts.push(digits.to_owned());
    }
    match entry {
        EntryIndex::Scalar => {}
        EntryIndex::Index(index) => subscripts.push(index.to_string()),
        EntryIndex::RowColumn(row, column) => subscripts.push(format!("{row},{column}")),
    }
    if subscripts.is_empty() { head } else { format!("{head}_{{{}}}", subscripts.join(",")) }
}

/// The command of a name that is one letter, Latin or Greek.
fn letter(name: &str) -> Option<String> {
    greek(name).or_else(|| (name.chars().count() == 1).then(|| name.to_owned()))
}

/// The command of a Greek letter.
fn greek(name: &str) -> Option<String> {
    const GREEK: [&str; 34] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
        "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta",
        "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
    ];
    GREEK.contains(&name).then(|| format!("\\{name}"))
}
