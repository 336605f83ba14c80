//! The rank of DF: integrals that are functions of the others make it smaller than their number.

use super::states::{self, Values};
use crate::derivation::{Derivation, IntegralId, Rank};
use crate::expression::Symbol;
use crate::table::Table;

/// Integrals beyond this number are not compared.
const MOST_INTEGRALS: usize = 256;
/// What is left of a row of length one below this is nothing.
const NEGLIGIBLE: f64 = 1e-9;

/// The rank in general position is the largest of those at a few states.
pub fn rank(derivation: &Derivation) -> Rank {
    if derivation.integrals.len() > MOST_INTEGRALS {
        return Rank::default();
    }
    let mut fewest: Option<Vec<Vec<IntegralId>>> = None;
    for sets in states::general(&derivation.symbols).filter_map(|state| dependent_rows(derivation, &state)).take(4) {
        if fewest.as_ref().is_none_or(|fewest| sets.len() < fewest.len()) {
            fewest = Some(sets);
        }
        if fewest.as_ref().is_some_and(Vec::is_empty) {
            break;
        }
    }
    let rank = fewest.as_ref().map(|sets| derivation.integrals.len() - sets.len());
    Rank { rank, sets: fewest.unwrap_or_default() }
}

/// Each row that is a combination of earlier ones, together with them.
fn dependent_rows(derivation: &Derivation, state: &Values) -> Option<Vec<Vec<IntegralId>>> {
    let mut kept: Vec<Reduced> = Vec::new();
    let mut sets = Vec::new();
    for (id, integral) in derivation.integrals.iter() {
        let entries = derivation.symbols.over_states(|_| 0.0);
        let mut row = Reduced { entries, weights: derivation.integrals.map(|_| 0.0) };
        for (symbol, entry) in &integral.gradient {
            row.entries[*symbol] = states::evaluate(entry, state);
        }
        row.weights[id] = 1.0;
        let length = row.length();
        if !length.is_finite() {
            return None;
        }
        row.scale(if length > 0.0 { 1.0 / length } else { 1.0 });
        // Twice, because once leaves the rounding errors of large projections.
        for _ in 0..2 {
            kept.iter().for_each(|other| row.subtract_projection(other));
        }
        let rest = row.length();
        if rest < NEGLIGIBLE {
            sets.push(row.members());
        } else {
            row.scale(1.0 / rest);
            kept.push(row);
        }
    }
    Some(sets)
}

/// A combination of rows of DF.
struct Reduced {
    entries: Table<Symbol, f64>,
    weights: Table<IntegralId, f64>,
}

impl Reduced {
    fn length(&self) -> f64 {
        self.entries.rows().map(|entry| entry * entry).sum::<f64>().sqrt()
    }

    fn scale(&mut self, factor: f64) {
        self.entries.rows_mut().chain(self.weights.rows_mut()).for_each(|entry| *entry *= factor);
    }

    fn subtract_projection(&mut self, other: &Self) {
        let product: f64 = self.entries.rows().zip(other.entries.rows()).map(|(a, b)| a * b).sum();
        self.entries.rows_mut().zip(other.entries.rows()).for_each(|(entry, other)| *entry -= product * other);
        self.weights.rows_mut().zip(other.weights.rows()).for_each(|(weight, other)| *weight -= product * other);
    }

    /// The rows that take part.
    fn members(&self) -> Vec<IntegralId> {
        let largest = self.weights.rows().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        self.weights.iter().filter(|(_, weight)| weight.abs() > 1e-6 * largest).map(|(id, _)| id).collect()
    }
}
