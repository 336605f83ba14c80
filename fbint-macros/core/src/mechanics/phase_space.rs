//! Canonical phase space: observables with their gradients, and the Poisson bracket.

use std::collections::BTreeMap;

use crate::expression::Expression;
use crate::symbolic::{Expr, NotReal};

/// R^2n with coordinates q (symbols 0..n) and momenta p (symbols n..2n).
pub(super) struct PhaseSpace {
    degrees_of_freedom: usize,
}

/// A function on phase space and the entries of its gradient that do not vanish.
pub(super) struct Observable {
    value: Expr,
    gradient: BTreeMap<usize, Expr>,
}

impl PhaseSpace {
    pub(super) fn new(degrees_of_freedom: usize) -> Self {
        Self { degrees_of_freedom }
    }

    pub(super) fn degrees_of_freedom(&self) -> usize {
        self.degrees_of_freedom
    }

    pub(super) fn observable(&self, value: Expr) -> Observable {
        let coordinates =
            value.symbols().into_iter().filter(|symbol| (symbol.0 as usize) < 2 * self.degrees_of_freedom);
        let entries = coordinates.map(|symbol| (symbol.0 as usize, value.derivative(symbol).simplest()));
        let gradient = entries.filter(|(_, entry)| !entry.is_zero()).collect();
        Observable { value, gradient }
    }

    /// {f, g} = f_q . g_p - f_p . g_q
    pub(super) fn bracket(&self, f: &Observable, g: &Observable) -> Expr {
        let n = self.degrees_of_freedom;
        let mut sum = Expr::zero();
        for (&index, entry) in &f.gradient {
            let conjugate = if index < n { index + n } else { index - n };
            if let Some(other) = g.gradient.get(&conjugate) {
                let term = entry * other;
                sum = if index < n { &sum + &term } else { &sum - &term };
            }
        }
        sum.simplest()
    }
}

impl Observable {
    pub(super) fn value(&self) -> Result<Expression, NotReal> {
        self.value.write()
    }

    /// The entries that do not vanish, indices increasing.
    pub(super) fn gradient(&self) -> Result<Vec<(usize, Expression)>, NotReal> {
        self.gradient.iter().map(|(&index, entry)| Ok((index, entry.write()?))).collect()
    }

    /// Whether value and gradient are finite real expressions.
    pub(super) fn is_real(&self) -> bool {
        self.value.write().is_ok() && self.gradient.values().all(|entry| entry.write().is_ok())
    }
}
