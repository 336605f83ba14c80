//! Phase space: observables with their gradients, and their bracket.

use super::simplify::Simplify;
use crate::derivation::{Derivation, Drive, Integral, SparseRow, Structure, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;
use crate::proofs::{State, general};

/// States in which it is looked for that something does not vanish.
const STATES: usize = 100;

/// The states of a model, with their bracket.
pub(crate) struct PhaseSpace<'a> {
    pub(super) symbols: &'a Symbols,
    pub(super) structure: &'a Structure,
    pub(super) drive: &'a Drive,
    pub(super) simplify: &'a dyn Simplify,
}

/// A function on phase space and the entries of its gradient that do not vanish.
#[derive(Clone)]
pub(crate) struct Observable {
    pub(crate) value: Expression,
    gradient: SparseRow,
}

impl<'a> PhaseSpace<'a> {
    /// The phase space of a system that was derived.
    pub(crate) fn of(derivation: &'a Derivation, simplify: &'a dyn Simplify) -> Self {
        let Derivation { symbols, structure, drive, .. } = derivation;
        Self { symbols, structure, drive, simplify }
    }

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

    /// Whether an expression is certainly not 0 in some state in general position. That none is found proves nothing.
    pub(super) fn is_nonzero_somewhere(&self, expression: &Expression) -> bool {
        let mut states = general(self.symbols).take(STATES).map(|values| State::new(&values));
        states.any(|state| state.evaluate(expression).is_some_and(|value| value.is_nonzero()))
    }

    /// {f, g}; `None` where it is not a finite real expression.
    pub(crate) fn bracket(&self, f: &Observable, g: &Observable) -> Option<Expression> {
        self.simplified(&self.unsimplified_bracket(f, g))
    }

    fn unsimplified_bracket(&self, f: &Observable, g: &Observable) -> Expression {
        let terms = self.terms_of_bracket(f, g);
        Expression::sum(terms.map(|(f, entry, g)| f.clone() * g.clone() * entry))
    }

    /// y(f), the rate of a function that does not depend on the work, where there are no constraints; `None` where it is not a finite real
    /// expression.
    pub(super) fn free_rate(&self, f: &Observable, hamiltonian: &Observable) -> Option<Expression> {
        self.simplified(&(self.unsimplified_bracket(f, hamiltonian) + self.drive_of(f)))
    }

    /// -y(f) of a function that does not depend on the work: {H, f} where nothing drives the system.
    pub(super) fn negative_free_rate(&self, f: &Observable, hamiltonian: &Observable) -> Option<Expression> {
        self.simplified(&(self.unsimplified_bracket(hamiltonian, f) - self.drive_of(f)))
    }

    /// drive(f)
    fn drive_of(&self, f: &Observable) -> Expression {
        let term = |(slope, force): (&Expression, Option<&Expression>)| match force {
            Some(force) => slope.clone() * force.clone(),
            None => slope.clone(),
        };
        Expression::sum(self.drive.terms(&f.gradient).map(term))
    }

    /// The operations in {f, g} before anything in it cancels.
    pub(super) fn operations_of_bracket(&self, f: &Observable, g: &Observable) -> usize {
        self.terms_of_bracket(f, g).map(|(f, _, g)| f.operations() + g.operations()).sum()
    }

    /// The factors of every term of {f, g}: a derivative of each, and an entry of J.
    fn terms_of_bracket<'e>(
        &self,
        f: &'e Observable,
        g: &'e Observable,
    ) -> impl Iterator<Item = (&'e Expression, Expression, &'e Expression)> {
        self.structure.bracket(self.symbols, &f.gradient, &g.gradient)
    }
}

impl Observable {
    /// An integral as it was derived.
    pub(crate) fn of(integral: &Integral) -> Self {
        Self { value: integral.value.clone(), gradient: integral.gradient.clone() }
    }

    /// What has these derivatives: of a velocity constraint, the row along which its reaction acts.
    pub(super) fn along(row: &SparseRow) -> Self {
        Self { value: Expression::zero(), gradient: row.clone() }
    }

    /// The derivatives that do not vanish, in the order of the state.
    pub(super) fn slopes(&self) -> impl Iterator<Item = (Symbol, &Expression)> {
        self.gradient.iter().map(|(&symbol, slope)| (symbol, slope))
    }

    /// The derivative by an entry of the state, unless it vanishes.
    pub(crate) fn derivative(&self, state: Symbol) -> Option<&Expression> {
        self.gradient.get(&state)
    }
}
