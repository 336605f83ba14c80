//! The rank of DF: integrals that are functions of the others make it smaller than their number.

use std::collections::BTreeMap;

use super::modular::are_dependent;
use super::states::{self, State, Values};
use crate::derivation::{BoundSet, Derivation, IntegralId, Rank};
use crate::expression::{Expression, Symbol};
use crate::precise::Real;

/// Integrals beyond this number are not compared.
const MOST_INTEGRALS: usize = 256;
/// What is left of a row below this is nothing, as all entries are at most one.
const NEGLIGIBLE: f64 = 1e-40;
/// States at which the rank is taken.
const STATES: usize = 4;

/// The rank in general position is the largest of those at a few states.
pub fn rank(derivation: &Derivation) -> Rank {
    if derivation.integrals.len() > MOST_INTEGRALS {
        return Rank::default();
    }
    let mut fewest: Option<Vec<Vec<IntegralId>>> = None;
    for sets in states::general(&derivation.symbols).filter_map(|state| dependent_rows(derivation, &state)).take(STATES)
    {
        if fewest.as_ref().is_none_or(|fewest| sets.len() < fewest.len()) {
            fewest = Some(sets);
        }
        if fewest.as_ref().is_some_and(Vec::is_empty) {
            break;
        }
    }
    let rank = fewest.as_ref().map(|sets| derivation.integrals.len() - sets.len());
    let sets = fewest.into_iter().flatten();
    Rank { rank, sets: sets.map(|members| BoundSet { is_proved: are_bound(derivation, &members), members }).collect() }
}

/// Whether the gradients of these integrals are proved to be dependent in every state: where a force is far away, an energy may look
/// constant.
fn are_bound(derivation: &Derivation, members: &[IntegralId]) -> bool {
    let entry = |id: &IntegralId, state| derivation.entry(*id, state).cloned().unwrap_or_else(Expression::zero);
    let row = |state| members.iter().map(|id| entry(id, state)).collect();
    let rows: Vec<Vec<Expression>> = derivation.symbols.states().map(row).collect();
    are_dependent(&rows, &(0..members.len()).collect::<Vec<_>>())
}

/// Each row that is a combination of earlier ones, together with them: elimination in precise numbers, which masses of any
/// size do not mislead. `None` where a gradient is not defined, or an entry is below the range of precise numbers.
fn dependent_rows(derivation: &Derivation, state: &Values) -> Option<Vec<Vec<IntegralId>>> {
    let state = State::new(state);
    let mut rows = Vec::new();
    for (id, integral) in derivation.integrals.iter() {
        let entry = |entry| state.evaluate(entry).filter(|value| !value.is_lost());
        let entries = integral.gradient.iter().map(|(symbol, slope)| Some((*symbol, entry(slope)?)));
        let entries: BTreeMap<Symbol, Real> = entries.collect::<Option<_>>()?;
        rows.push(Combination {
            // What terms that cancel leave behind is rounding, by which nothing can be divided.
            entries: entries.into_iter().filter(|(_, entry)| entry.is_nonzero()).collect(),
            weights: BTreeMap::from([(id, Real::from(1.0))]),
        });
    }
    scale_columns(&mut rows);
    let mut kept: Vec<(Symbol, Combination)> = Vec::new();
    let mut sets = Vec::new();
    for mut row in rows {
        row.scale();
        kept.iter().for_each(|(pivot, other)| row.eliminate(*pivot, other));
        match row.largest().filter(|(_, size)| *size > NEGLIGIBLE) {
            Some((pivot, _)) => kept.push((pivot, row)),
            None => sets.push(row.members()),
        }
    }
    Some(sets)
}

/// Divides every column by its largest entry, so that units do not matter.
fn scale_columns(rows: &mut [Combination]) {
    let mut largest: BTreeMap<Symbol, Real> = BTreeMap::new();
    for row in &mut *rows {
        row.scale();
        for (symbol, entry) in &row.entries {
            let known = largest.entry(*symbol).or_insert_with(|| entry.abs());
            if entry.abs().to_f64() > known.to_f64() {
                *known = entry.abs();
            }
        }
    }
    for (symbol, entry) in rows.iter_mut().flat_map(|row| &mut row.entries) {
        if largest[symbol].to_f64() > 0.0 {
            *entry = &*entry / &largest[symbol];
        }
    }
}

/// A combination of rows of DF.
struct Combination {
    entries: BTreeMap<Symbol, Real>,
    weights: BTreeMap<IntegralId, Real>,
}

impl Combination {
    /// The column and the size of the largest entry.
    fn largest(&self) -> Option<(Symbol, f64)> {
        let sizes = self.entries.iter().map(|(symbol, entry)| (*symbol, entry.abs().to_f64()));
        sizes.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Divides everything by the largest entry.
    fn scale(&mut self) {
        let Some((symbol, _)) = self.largest().filter(|(_, size)| *size > 0.0) else { return };
        let largest = self.entries[&symbol].abs();
        self.entries.values_mut().chain(self.weights.values_mut()).for_each(|entry| *entry = &*entry / &largest);
    }

    /// Subtracts the multiple of another combination that leaves nothing in a column.
    fn eliminate(&mut self, pivot: Symbol, other: &Self) {
        let Some(entry) = self.entries.get(&pivot) else { return };
        let factor = entry / &other.entries[&pivot];
        subtract(&mut self.entries, &factor, &other.entries);
        subtract(&mut self.weights, &factor, &other.weights);
        self.entries.remove(&pivot);
    }

    /// The rows that take part.
    fn members(&self) -> Vec<IntegralId> {
        let size = |weight: &Real| weight.abs().to_f64();
        self.weights.iter().filter(|(_, weight)| size(weight) > NEGLIGIBLE).map(|(id, _)| *id).collect()
    }
}

/// a - factor b
fn subtract<K: Ord + Copy>(a: &mut BTreeMap<K, Real>, factor: &Real, b: &BTreeMap<K, Real>) {
    for (key, entry) in b {
        let product = factor * entry;
        let known = a.entry(*key).or_insert_with(Real::zero);
        *known = &*known - &product;
    }
}
