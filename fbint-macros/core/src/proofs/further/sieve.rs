//! What is left of the monomials once those are left out that occur in nothing that is conserved.

use super::Space;
use super::kernel::{Combination, Elimination};
use super::samples::{Sample, Samples};
use crate::numbers::field::PrimeField;

/// What a small prime leaves.
pub(super) struct Sieve {
    /// Monomials that occur in what is conserved.
    pub(super) columns: Vec<usize>,
    /// The dimension of what is conserved.
    pub(super) dimension: usize,
    /// Monomials that are combinations of earlier ones, and of 1, as functions.
    pub(super) left_out: Vec<usize>,
    /// The number of points.
    pub(super) points: usize,
}

impl Space<'_> {
    pub(super) fn sieve(&self, field: PrimeField) -> Option<Sieve> {
        let count = self.monomials.len();
        let mut samples = Samples::new(self, field, Some(self.random_parameters(field, 0)))?;
        let kernel = samples.kernel(count, |sample| sample.rates.clone())?;
        let relations = self.relations(field, &kernel)?;
        // In reverse order, so that the last monomial of a relation is left out.
        let reversed = |combination: &Combination| {
            let mut row = vec![0; count];
            combination.iter().for_each(|(place, entry)| row[count - 1 - place] = *entry);
            row
        };
        let mut matrix = Elimination::new(field, count);
        let left_out = matrix.extend(&relations.iter().map(reversed).collect::<Vec<_>>())?;
        let dimension = matrix.extend(&kernel.iter().map(reversed).collect::<Vec<_>>())?;
        let restored = |columns: &[usize]| {
            let mut places: Vec<usize> = columns.iter().map(|column| count - 1 - column).collect();
            places.sort_unstable();
            places
        };
        Some(Sieve {
            columns: restored(&matrix.columns_beyond(left_out)),
            dimension,
            left_out: restored(&matrix.pivots()[..left_out]),
            points: samples.len(),
        })
    }

    /// What of a kernel is constant for all parameters: relations of functions and of the constraints.
    fn relations(&self, field: PrimeField, kernel: &[Combination]) -> Option<Vec<Combination>> {
        if kernel.is_empty() || self.atoms.is_empty() && self.sets[0].is_everywhere() {
            return Some(Vec::new());
        }
        let value = |sample: &Sample, combination: &Combination| {
            let terms = combination.iter().map(|(place, entry)| field.multiply(sample.values[*place], *entry));
            terms.fold(0, |sum, term| field.add(sum, term))
        };
        let values = |sample: &Sample| {
            [1].into_iter().chain(kernel.iter().map(|member| value(sample, member))).collect()
        };
        let constant = Samples::new(self, field, None)?.kernel(kernel.len() + 1, values)?;
        let sum = |combination: &Combination| {
            let mut sum = vec![0; self.monomials.len()];
            for (member, factor) in combination.iter().filter(|(member, _)| *member > 0) {
                for (place, entry) in &kernel[member - 1] {
                    sum[*place] = field.add(sum[*place], field.multiply(*factor, *entry));
                }
            }
            sum.into_iter().enumerate().filter(|(_, entry)| *entry != 0).collect()
        };
        Some(constant.iter().map(sum).collect())
    }
}
