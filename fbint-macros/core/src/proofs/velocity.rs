//! X in one state, in 256 bits.

use std::collections::BTreeMap;

use super::states::State;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, SparseRow};
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::known_value;
use crate::numbers::linear::Balanced;
use crate::numbers::precise::Real;

/// A state and the field in it.
pub(crate) struct Velocity {
    pub(super) state: State,
    /// X
    field: Table<Symbol, Real>,
    /// Unknowns on the way to X: multipliers, and the unknowns of linear systems.
    pub(crate) solved: BTreeMap<Symbol, Real>,
    /// The values of expressions.
    known: Results<Option<Real>>,
}

impl Velocity {
    /// `None` where the field is not defined.
    pub(crate) fn new(derivation: &Derivation, state: State) -> Option<Self> {
        let (field, solved, known) = Default::default();
        let mut velocity = Self { state, field, solved, known };
        // No system contains what a later one is solved for.
        for system in &derivation.field.systems {
            let row = |row: Vec<&Expression>| row.into_iter().map(|entry| velocity.value(entry)).collect();
            let rows: Vec<Vec<Real>> = system.rows().map(|entries| row(entries.collect())).collect::<Option<_>>()?;
            velocity.solved.extend(system.unknowns.iter().copied().zip(solve(rows)?));
        }
        velocity.field = derivation.field.rates.rows().map(|rate| velocity.value(rate)).collect::<Option<_>>()?;
        Some(velocity)
    }

    /// The value of an expression, which may contain what is solved for.
    pub(crate) fn value(&self, expression: &Expression) -> Option<Real> {
        let symbol = |symbol| self.solved.get(&symbol).or(self.state.get(symbol)).cloned();
        known_value(expression, &|of| symbol(of).unwrap_or_else(Real::undefined), &self.known)
    }

    /// X along an entry of the state.
    pub(crate) fn component(&self, symbol: Symbol) -> &Real {
        &self.field[symbol]
    }

    /// dI.X
    pub(super) fn rate(&self, gradient: &SparseRow) -> Option<Real> {
        let mut terms = gradient.iter().map(|(symbol, slope)| Some(&self.value(slope)? * &self.field[*symbol]));
        terms.try_fold(Real::zero(), |sum, term| Some(&sum + &term?)).filter(|rate| rate.to_f64().is_finite())
    }
}

/// The solution of a square system from its rows, with the right side at their end.
pub(crate) fn solve(mut rows: Vec<Vec<Real>>) -> Option<Vec<Real>> {
    let right: Vec<Real> = rows.iter_mut().filter_map(Vec::pop).collect();
    Some(Balanced::of(rows)?.factored()?.solve(&right))
}
