//! What is left of the monomials once those are left out that occur in nothing that is conserved.

use super::Space;
use super::kernel::{Combination, Elimination, combined, sum_of};
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
        if kernel.is_empty() || self.atoms.is_empty() && self.sets[0].0.is_everywhere() {
            return Some(Vec::new());
        }
        let values = |sample: &Sample| {
            let values = kernel.iter().map(|member| combined(field, member, &sample.values));
            [1].into_iter().chain(values).collect()
        };
        let constant = Samples::new(self, field, None)?.kernel(kernel.len() + 1, values)?;
        // Without the multiple of 1.
        let of_kernel = |combination: &Combination| -> Combination {
            let members = combination.iter().filter(|(member, _)| *member > 0);
            members.map(|(member, factor)| (member - 1, *factor)).collect()
        };
        Some(constant.iter().map(|combination| sum_of(field, &of_kernel(combination), kernel)).collect())
    }
}
