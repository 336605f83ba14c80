//! X in one state, in 256 bits.

use std::collections::BTreeMap;

use super::states::State;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, SparseRow};
use crate::expression::{Expression, Symbol};
use crate::numbers::linear::Balanced;
use crate::numbers::precise::Real;

/// A state and the field in it.
pub(crate) struct Velocity {
    pub(super) state: State,
    /// X, each component with the sum of its terms' sizes.
    field: Table<Symbol, (Real, f64)>,
    /// What is solved for on the way to X: multipliers, and the unknowns of linear systems.
    pub(crate) solved: BTreeMap<Symbol, Real>,
}

impl Velocity {
    /// `None` where the field is not defined.
    pub(crate) fn new(derivation: &Derivation, state: State) -> Option<Self> {
        let mut solved = BTreeMap::new();
        for system in &derivation.field.systems {
            let row =
                |row: Vec<&Expression>| row.into_iter().map(|entry| state.evaluate_with(entry, &solved)).collect();
            let rows: Vec<Vec<Real>> = system.rows().map(|entries| row(entries.collect())).collect::<Option<_>>()?;
            solved.extend(system.unknowns.iter().copied().zip(solve(rows)?));
        }
        let component = |rate: &Expression| {
            let (mut value, mut size) = (Real::zero(), 0.0);
            for term in rate.terms() {
                let term = state.evaluate_with(term, &solved)?;
                value = &value + &term;
                size += term.to_f64().abs();
            }
            Some((value, size))
        };
        let field = derivation.field.rates.rows().map(component).collect::<Option<_>>()?;
        Some(Self { state, field, solved })
    }

    /// X along an entry of the state.
    pub(crate) fn component(&self, symbol: Symbol) -> &Real {
        &self.field[symbol].0
    }

    /// dI.X, and what it would be if none of its terms cancelled another.
    pub(super) fn rate(&self, gradient: &SparseRow) -> Option<(Real, f64)> {
        let (mut value, mut size) = (Real::zero(), 0.0);
        for (symbol, entry) in gradient {
            let entry = self.state.evaluate(entry)?;
            let (component, terms) = &self.field[*symbol];
            value = &value + &(&entry * component);
            size += entry.to_f64().abs() * terms;
        }
        value.to_f64().is_finite().then_some((value, size))
    }
}

/// The solution of a square system from its rows, with the right side at their end.
pub(crate) fn solve(mut rows: Vec<Vec<Real>>) -> Option<Vec<Real>> {
    let right: Vec<Real> = rows.iter_mut().filter_map(Vec::pop).collect();
    Some(Balanced::of(rows)?.factored(0.0)?.solve(&right))
}
