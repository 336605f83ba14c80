//! The bracket of a model's phase space: {f, g} = sum over x, y of f_x J_xy g_y.

use std::collections::BTreeMap;

use super::{Dynamics, Problem, Role, Symbols};
use crate::derivation::table::Table;
use crate::expression::{Expression, Symbol};

/// The bracket of two functions.
#[derive(Clone, Debug)]
pub enum Structure {
    /// {f, g} = f_q . g_p - f_p . g_q, where J = [[0, I], [-I, 0]].
    Canonical,
    /// grad f^T J(x) grad g. Each row of J has the entries that do not vanish.
    Matrix(Table<Symbol, SparseRow>),
    /// No bracket gives the field: the declaration does, or it takes linear systems.
    None,
}

impl Structure {
    /// The bracket that a problem declares.
    pub fn of(problem: &Problem) -> Self {
        match &problem.dynamics {
            Dynamics::Canonical { .. } if problem.reactions.is_empty() => Self::Canonical,
            Dynamics::Poisson { matrix, .. } => Self::matrix(&problem.symbols, matrix),
            Dynamics::Canonical { .. } | Dynamics::Lagrangian(_) | Dynamics::Given { .. } => Self::None,
        }
    }

    /// The matrix with these rows, which have an entry for each variable of the state. The rows of the time and the work are empty.
    fn matrix(symbols: &Symbols, rows: &[Vec<Expression>]) -> Self {
        let row = |row: &Vec<Expression>| {
            let entries = symbols.states().zip(row).filter(|(_, entry)| !entry.is_zero());
            entries.map(|(symbol, entry)| (symbol, entry.clone())).collect()
        };
        let mut rows = rows.iter().map(row);
        Self::Matrix(symbols.over_states(|_| rows.next().unwrap_or_default()))
    }

    /// Returns `true` if there is a bracket.
    pub fn exists(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Row x of J: each y with {x, y}, where that does not vanish.
    pub fn row(&self, symbols: &Symbols, x: Symbol) -> SparseRow {
        match (self, symbols[x].role) {
            (Self::Canonical, Role::Coordinate { momentum }) => SparseRow::from([(momentum, Expression::one())]),
            (Self::Canonical, Role::Momentum { coordinate }) => {
                SparseRow::from([(coordinate, Expression::integer(-1))])
            }
            (Self::Matrix(rows), role) if role.is_state() => rows[x].clone(),
            _ => SparseRow::new(),
        }
    }

    /// The terms f_x J_xy g_y of {f, g}, from the gradients.
    pub fn bracket<'r, T>(
        &self,
        symbols: &Symbols,
        f: &'r SparseRow<T>,
        g: &'r SparseRow<T>,
    ) -> impl Iterator<Item = (&'r T, Expression, &'r T)> {
        f.iter().flat_map(move |(x, slope)| {
            let row = self.row(symbols, *x).into_iter();
            row.filter_map(move |(y, entry)| Some((slope, entry, g.get(&y)?)))
        })
    }
}

/// A sparse row: columns that are not listed vanish.
pub type SparseRow<T = Expression> = BTreeMap<Symbol, T>;
