//! Phase space: observables with their gradients, and their bracket.

use super::extent::operations;
use super::simplify::Simplify;
use crate::derivation::{Drive, SparseRow, Structure, Symbols};
use crate::expression::Expression;
use crate::numbers::derivative::{self, Differentiated};

/// The states of a model, with their bracket.
pub(crate) struct PhaseSpace<'a> {
    pub(super) symbols: &'a Symbols,
    pub(super) structure: &'a Structure,
    pub(super) drive: &'a Drive,
    pub(super) simplify: &'a dyn Simplify,
}

/// A function on phase space and the entries of its gradient that do not vanish.
pub(crate) type Observable = Differentiated<Expression>;

impl PhaseSpace<'_> {
    /// A shorter form; `None` where the expression is not finite and real.
    pub(crate) fn simplified(&self, expression: &Expression) -> Option<Expression> {
        self.simplify.simplified(expression)
    }

    /// A function with its gradient; `None` where either is not a finite real expression.
    pub(crate) fn observable(&self, function: &Expression) -> Option<Observable> {
        let mut gradient = derivative::gradient(function, |symbol| self.symbols.is_state(symbol))?;
        for entry in gradient.values_mut() {
            *entry = self.simplify.simplified(entry)?;
        }
        gradient.retain(|_, entry| !entry.is_zero());
        Some(Observable { value: self.simplify.simplified(function)?, gradient })
    }

    /// {f, g}, from the gradients; `None` where it is not a finite real expression.
    pub(crate) fn bracket(&self, f: &SparseRow, g: &SparseRow) -> Option<Expression> {
        self.simplified(&self.unsimplified_bracket(f, g))
    }

    fn unsimplified_bracket(&self, f: &SparseRow, g: &SparseRow) -> Expression {
        let terms = self.structure.bracket(self.symbols, f, g);
        Expression::sum(terms.map(|(f, entry, g)| f.clone() * g.clone() * entry))
    }

    /// y(f), the rate of a function that does not depend on the work, where there are no constraints; `None` where it is not a finite real
    /// expression.
    pub(super) fn free_rate(&self, f: &SparseRow, hamiltonian: &SparseRow) -> Option<Expression> {
        self.simplified(&(self.unsimplified_bracket(f, hamiltonian) + self.drive_of(f)))
    }

    /// -y(f) of a function that does not depend on the work: {H, f} where nothing drives the system.
    pub(super) fn negative_free_rate(&self, f: &SparseRow, hamiltonian: &SparseRow) -> Option<Expression> {
        self.simplified(&(self.unsimplified_bracket(hamiltonian, f) - self.drive_of(f)))
    }

    /// drive(f)
    fn drive_of(&self, f: &SparseRow) -> Expression {
        let term = |(slope, force): (&Expression, Option<&Expression>)| match force {
            Some(force) => slope.clone() * force.clone(),
            None => slope.clone(),
        };
        Expression::sum(self.drive.terms(f).map(term))
    }

    /// The operations in {f, g} before anything in it cancels.
    pub(super) fn operations_of_bracket(&self, f: &SparseRow, g: &SparseRow) -> usize {
        self.structure.bracket(self.symbols, f, g).map(|(f, _, g)| operations(f) + operations(g)).sum()
    }
}
