//! Phase space: observables with their gradients, and their bracket.

use std::collections::BTreeMap;

use crate::derivation::{Coefficient, Integral, Structure, Symbols};
use crate::expression::{Expression, Symbol};
use crate::symbolic::{Expr, NotReal};

/// The states of a model, with their bracket.
pub(crate) struct PhaseSpace<'a> {
    symbols: &'a Symbols,
    structure: &'a Structure,
}

/// A function on phase space and the entries of its gradient that do not vanish.
#[derive(Clone)]
pub(crate) struct Observable {
    value: Expr,
    gradient: BTreeMap<Symbol, Expr>,
}

impl<'a> PhaseSpace<'a> {
    pub(crate) fn new(symbols: &'a Symbols, structure: &'a Structure) -> Self {
        Self { symbols, structure }
    }

    pub(crate) fn observable(&self, value: Expr) -> Observable {
        let gradient = value.gradient(|symbol| self.symbols.is_state(symbol));
        Observable { value, gradient }
    }

    /// {f, g}
    pub(crate) fn bracket(&self, f: &Observable, g: &Observable) -> Expr {
        let terms = self.terms_of_bracket(f, g).into_iter();
        let sum = terms.fold(Expr::zero(), |sum, (f, entry, g)| plus(&sum, entry, &(f * g)));
        sum.simplest()
    }

    /// The operations in {f, g} before anything in it cancels.
    pub(super) fn operations_of_bracket(&self, f: &Observable, g: &Observable) -> usize {
        self.terms_of_bracket(f, g).into_iter().map(|(f, _, g)| f.operations() + g.operations()).sum()
    }

    /// The factors of every term of {f, g}: a derivative of each, and an entry of J.
    fn terms_of_bracket<'e>(
        &'e self,
        f: &'e Observable,
        g: &'e Observable,
    ) -> Vec<(&'e Expr, Coefficient<'e>, &'e Expr)> {
        self.structure.bracket(self.symbols, f.slopes(), |symbol| g.derivative(symbol))
    }

    /// {x, H}, the rate of an entry of the state where there are no constraints.
    pub(super) fn rate(&self, state: Symbol, hamiltonian: &Observable) -> Expr {
        let terms = self.structure.bracket(self.symbols, [(state, ())], |symbol| hamiltonian.gradient.get(&symbol));
        let sum = terms.into_iter().fold(Expr::zero(), |sum, ((), entry, slope)| plus(&sum, entry, slope));
        sum.simplest()
    }
}

/// A sum with one more term, which an entry of J multiplies.
fn plus(sum: &Expr, entry: Coefficient, term: &Expr) -> Expr {
    match entry {
        Coefficient::One => sum + term,
        Coefficient::MinusOne => sum - term,
        Coefficient::Function(entry) => sum + &(term * &Expr::read(entry)),
    }
}

impl Observable {
    /// An integral in the hands of the algebra.
    pub(crate) fn read(integral: &Integral) -> Self {
        let gradient = integral.gradient.iter().map(|(symbol, entry)| (*symbol, Expr::read(entry)));
        Self { value: Expr::read(&integral.value), gradient: gradient.collect() }
    }

    pub(crate) fn expr(&self) -> &Expr {
        &self.value
    }

    /// The derivatives that do not vanish, in the order of the state.
    pub(super) fn slopes(&self) -> impl Iterator<Item = (Symbol, &Expr)> {
        self.gradient.iter().map(|(&symbol, slope)| (symbol, slope))
    }

    /// The derivative by an entry of the state, unless it vanishes.
    pub(crate) fn derivative(&self, state: Symbol) -> Option<&Expr> {
        self.gradient.get(&state)
    }

    pub(super) fn value(&self) -> Result<Expression, NotReal> {
        self.value.write()
    }

    /// The entries that do not vanish, in the order of the state.
    pub(super) fn gradient(&self) -> Result<Vec<(Symbol, Expression)>, NotReal> {
        self.slopes().map(|(symbol, entry)| Ok((symbol, entry.write()?))).collect()
    }

    /// Whether value and gradient are finite real expressions.
    pub(super) fn is_real(&self) -> bool {
        self.value.write().is_ok() && self.gradient.values().all(|entry| entry.write().is_ok())
    }
}
