//! The unknowns of a model, entry by entry, and how they are written.

use syn::Ident;

use crate::syntax::{Shape, Variable, plain};

/// One unknown: an entry of a coordinate, a momentum or a parameter.
#[derive(Clone, Debug)]
pub struct SymbolInfo {
    /// As in the declaration: `m`, `q[0]`, `q[(0, 1)]`.
    pub name: String,
    /// As in a formula: `m`, `q_{0}`, `q_{0,1}`, `\omega_{2}`.
    pub latex: String,
    /// The variable that it is an entry of.
    pub variable: Ident,
    /// Which entry it is.
    pub entry: Entry,
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

/// The symbols of a variable, in their order.
pub(super) fn of(variable: &Variable) -> impl Iterator<Item = SymbolInfo> {
    let name = plain(&variable.name);
    Entry::all(variable.shape).into_iter().map(move |entry| SymbolInfo {
        name: format!("{name}{entry}"),
        latex: latex(&name, entry),
        variable: variable.name.clone(),
        entry,
    })
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
