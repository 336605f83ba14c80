//! Canonical phase space: observables with their gradients, and the Poisson bracket.

use std::collections::BTreeMap;

use crate::derivation::KineticEnergy;
use crate::expression::{Expression, Symbol};
use crate::symbolic::{Expr, NotReal};

/// R^N, the symbols 0..N. Brackets and kinetic energies are those of the canonical structure on it, where q is the first
/// half and p the second.
pub(super) struct PhaseSpace {
    dimension: usize,
}

/// A function on phase space and the entries of its gradient that do not vanish.
pub(super) struct Observable {
    value: Expr,
    gradient: BTreeMap<usize, Expr>,
}

impl PhaseSpace {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension }
    }

    pub(super) fn observable(&self, value: Expr) -> Observable {
        let gradient = value.gradient(self.dimension);
        Observable { value, gradient }
    }

    /// {f, g} = f_q . g_p - f_p . g_q
    pub(super) fn bracket(&self, f: &Observable, g: &Observable) -> Expr {
        let n = self.dimension / 2;
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

    /// Whether H = T(p) + U(q), and whether T is quadratic.
    pub(super) fn kinetic_energy(&self, energy: &Observable) -> KineticEnergy {
        let n = self.dimension / 2;
        let velocities = || energy.gradient.range(n..).map(|(_, velocity)| velocity);
        let in_state = |symbol: &Symbol| (symbol.0 as usize) < self.dimension;
        let is_separable = velocities().all(|velocity| velocity.symbols().iter().all(|symbol| symbol.0 as usize >= n));
        let is_constant =
            |velocity: &Expr, symbol| !velocity.derivative(symbol).simplest().symbols().iter().any(in_state);
        let is_quadratic = || {
            velocities().all(|velocity| {
                velocity.symbols().into_iter().filter(in_state).all(|symbol| is_constant(velocity, symbol))
            })
        };
        match is_separable {
            false => KineticEnergy::General,
            true if is_quadratic() => KineticEnergy::Quadratic,
            true => KineticEnergy::Separable,
        }
    }
}

impl Observable {
    /// From the entries of the gradient that do not vanish.
    pub(super) fn read(value: &Expression, gradient: &[(usize, Expression)]) -> Self {
        let entry = |(index, entry): &(usize, Expression)| (*index, Expr::read(entry));
        Self { value: Expr::read(value), gradient: gradient.iter().map(entry).collect() }
    }

    pub(super) fn expr(&self) -> &Expr {
        &self.value
    }

    /// The derivative by the state of this index, unless it vanishes.
    pub(super) fn derivative(&self, state: usize) -> Option<&Expr> {
        self.gradient.get(&state)
    }

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
