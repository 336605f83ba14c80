//! The rank of DF: integrals that are functions of the others make it smaller than their number.

use super::states;
use crate::derivation::{Dependence, Derivation};

/// Integrals beyond this number are not compared.
const MOST_INTEGRALS: usize = 256;
/// What is left of a row of length one below this is nothing.
const NEGLIGIBLE: f64 = 1e-9;

/// The rank in general position is the largest of those at a few states.
pub fn dependence(derivation: &Derivation) -> Dependence {
    if derivation.integrals.len() > MOST_INTEGRALS {
        return Dependence::default();
    }
    let mut fewest: Option<Vec<Vec<usize>>> = None;
    for sets in states::general(derivation).filter_map(|state| dependent_rows(derivation, &state)).take(4) {
        if fewest.as_ref().is_none_or(|fewest| sets.len() < fewest.len()) {
            fewest = Some(sets);
        }
        if fewest.as_ref().is_some_and(Vec::is_empty) {
            break;
        }
    }
    let rank = fewest.as_ref().map(|sets| derivation.integrals.len() - sets.len());
    Dependence { rank, sets: fewest.unwrap_or_default() }
}

/// Each row that is a combination of earlier ones, with those.
fn dependent_rows(derivation: &Derivation, state: &[f64]) -> Option<Vec<Vec<usize>>> {
    let count = derivation.integrals.len();
    let mut kept: Vec<Reduced> = Vec::new();
    let mut sets = Vec::new();
    for integral in 0..count {
        let mut row = Reduced { entries: vec![0.0; derivation.dimension], weights: vec![0.0; count] };
        for (index, entry) in &derivation.gradients[integral] {
            row.entries[*index] = states::evaluate(entry, state);
        }
        row.weights[integral] = 1.0;
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
    entries: Vec<f64>,
    weights: Vec<f64>,
}

impl Reduced {
    fn length(&self) -> f64 {
        self.entries.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
    }

    fn scale(&mut self, factor: f64) {
        self.entries.iter_mut().chain(&mut self.weights).for_each(|entry| *entry *= factor);
    }

    fn subtract_projection(&mut self, other: &Self) {
        let product: f64 = self.entries.iter().zip(&other.entries).map(|(a, b)| a * b).sum();
        self.entries.iter_mut().zip(&other.entries).for_each(|(entry, other)| *entry -= product * other);
        self.weights.iter_mut().zip(&other.weights).for_each(|(weight, other)| *weight -= product * other);
    }

    /// The rows that take part.
    fn members(&self) -> Vec<usize> {
        let largest = self.weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        (0..self.weights.len()).filter(|&index| self.weights[index].abs() > 1e-6 * largest).collect()
    }
}
