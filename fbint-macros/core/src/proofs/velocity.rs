//! X in one state, in 256 bits.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::states::State;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, SparseRow};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::Evaluation;
use crate::numbers::linear::Balanced;
use crate::numbers::precise::Real;

/// A state and the field in it.
pub(crate) struct Velocity {
    pub(super) state: State,
    /// X
    field: Table<Symbol, Real>,
    /// Unknowns on the way to X: multipliers, and the unknowns of linear systems.
    pub(crate) solved: BTreeMap<Symbol, Real>,
}

impl Velocity {
    /// `None` where the field is not defined.
    pub(crate) fn new(derivation: &Derivation, state: State) -> Option<Self> {
        let solved: RefCell<BTreeMap<Symbol, Real>> = RefCell::default();
        // No system contains what a later one is solved for.
        let values = Evaluation::new(|symbol| {
            solved.borrow().get(&symbol).or(state.get(symbol)).cloned().unwrap_or_else(Real::undefined)
        });
        for system in &derivation.field.systems {
            let row = |row: Vec<&Expression>| row.into_iter().map(|entry| values.value(entry)).collect();
            let rows: Vec<Vec<Real>> = system.rows().map(|entries| row(entries.collect())).collect::<Option<_>>()?;
            let solution = solve(rows)?;
            solved.borrow_mut().extend(system.unknowns.iter().copied().zip(solution));
        }
        let field = derivation.field.rates.rows().map(|rate| values.value(rate)).collect::<Option<_>>()?;
        drop(values);
        Some(Self { state, field, solved: solved.into_inner() })
    }

    /// X along an entry of the state.
    pub(crate) fn component(&self, symbol: Symbol) -> &Real {
        &self.field[symbol]
    }

    /// dI.X
    pub(super) fn rate(&self, gradient: &SparseRow) -> Option<Real> {
        let slopes = self.state.slopes(gradient)?;
        let terms = slopes.iter().map(|(symbol, slope)| slope * &self.field[*symbol]);
        Some(terms.fold(Real::zero(), |sum, term| &sum + &term)).filter(|rate| rate.to_f64().is_finite())
    }
}

/// The solution of a square system from its rows, with the right side at their end.
pub(crate) fn solve(mut rows: Vec<Vec<Real>>) -> Option<Vec<Real>> {
    let right: Vec<Real> = rows.iter_mut().filter_map(Vec::pop).collect();
    Some(Balanced::of(rows)?.factored()?.solve(&right))
}
