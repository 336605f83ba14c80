//! Canonical phase space: observables with their gradients, and the Poisson bracket.

use crate::expression::{Expression, Symbol};
use crate::symbolic::{Expr, NotReal};

/// R^2n with coordinates q (symbols 0..n) and momenta p (symbols n..2n).
pub(super) struct PhaseSpace {
    degrees_of_freedom: usize,
}

/// A function on phase space and its gradient.
pub(super) struct Observable {
    value: Expr,
    gradient: Vec<Expr>,
}

impl PhaseSpace {
    pub(super) fn new(degrees_of_freedom: usize) -> Self {
        Self { degrees_of_freedom }
    }

    pub(super) fn degrees_of_freedom(&self) -> usize {
        self.degrees_of_freedom
    }

    pub(super) fn observable(&self, value: Expr) -> Observable {
        let symbols = (0..2 * self.degrees_of_freedom).map(|index| Symbol(index as u32));
        let gradient = symbols.map(|symbol| value.derivative(symbol).simplest()).collect();
        Observable { value, gradient }
    }

    /// {f, g} = f_q . g_p - f_p . g_q
    pub(super) fn bracket(&self, f: &Observable, g: &Observable) -> Expr {
        let n = self.degrees_of_freedom;
        let mut sum = Expr::zero();
        for i in 0..n {
            sum = &sum + &(&f.gradient[i] * &g.gradient[n + i]);
            sum = &sum - &(&f.gradient[n + i] * &g.gradient[i]);
        }
        if sum.is_zero() { Expr::zero() } else { sum.simplest() }
    }
}

impl Observable {
    pub(super) fn value(&self) -> Result<Expression, NotReal> {
        self.value.write()
    }

    /// The entries that do not vanish identically.
    pub(super) fn gradient(&self) -> Result<Vec<(usize, Expression)>, NotReal> {
        let entries = self.gradient.iter().enumerate().filter(|(_, entry)| !entry.is_zero());
        entries.map(|(index, entry)| Ok((index, entry.write()?))).collect()
    }

    /// Whether value and gradient are finite real expressions.
    pub(super) fn is_real(&self) -> bool {
        self.value.write().is_ok() && self.gradient.iter().all(|entry| entry.write().is_ok())
    }
}
