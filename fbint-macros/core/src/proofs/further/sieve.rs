//! What is left of the monomials once those are left out that occur in nothing that is conserved.

use super::Space;
use super::kernel::{Combination, Elimination, combined, sum_of};
use super::reconstruction::{ProportionalMonomials, groups};
use super::samples::{MonomialSample, Samples, chosen};

/// The largest numerators and denominators of factors between coefficients: by chance there are such factors for one pair of residues in
/// 10,000, and then another prime is taken.
const LARGEST_FACTOR: i128 = 1 << 5;

/// What a small prime leaves of the monomials of one weight.
pub(super) struct Sieve {
    /// Monomials that occur in what is conserved, those together that are multiples of one another in all of it.
    pub(super) groups: Vec<ProportionalMonomials>,
    /// The dimension of what is conserved.
    pub(super) dimension: usize,
    /// Monomials that are combinations of earlier ones, and of 1, as functions.
    pub(super) left_out: Vec<usize>,
}

impl Space<'_> {
    /// With points that have the same parameters, and with some that have their own.
    pub(super) fn sieve(&self, same: &mut Samples, own: &mut Samples, class: &[usize]) -> Option<Sieve> {
        let count = class.len();
        let kernel = same.kernel(count, |sample| chosen(&sample.rates, class))?;
        let relations = self.relations(own, &kernel, class)?;
        // In reverse order, so that the last monomial of a relation is left out.
        let reversed = |combination: &Combination| {
            let mut row = vec![0; count];
            combination.iter().for_each(|(place, entry)| row[count - 1 - place] = *entry);
            row
        };
        let mut matrix = Elimination::new(own.field, count);
        let left_out = matrix.extend(&relations.iter().map(reversed).collect::<Vec<_>>())?;
        let dimension = matrix.extend(&kernel.iter().map(reversed).collect::<Vec<_>>())?;
        let restored = |column: usize| class[count - 1 - column];
        let mut columns = matrix.columns_beyond(left_out);
        columns.sort_by_key(|(column, _)| restored(*column));
        let columns = columns.into_iter().map(|(column, entries)| (restored(column), entries));
        Some(Sieve {
            groups: groups(columns, own.field, LARGEST_FACTOR),
            dimension,
            left_out: matrix.pivots()[..left_out].iter().map(|column| restored(*column)).collect(),
        })
    }

    /// What of a kernel is constant for all parameters: relations of functions and of the constraints.
    fn relations(&self, own: &mut Samples, kernel: &[Combination], class: &[usize]) -> Option<Vec<Combination>> {
        if kernel.is_empty() || self.basis.atoms.is_empty() && self.sets[0].0.is_everywhere() {
            return Some(Vec::new());
        }
        let field = own.field;
        let values = |sample: &MonomialSample| {
            let values = chosen(&sample.values, class);
            let members = kernel.iter().map(|member| combined(field, member, &values));
            [1].into_iter().chain(members).collect()
        };
        let constant = own.kernel(kernel.len() + 1, values)?;
        // Without the multiple of 1.
        let of_kernel = |combination: &Combination| -> Combination {
            let members = combination.iter().filter(|(member, _)| *member > 0);
            members.map(|(member, factor)| (member - 1, *factor)).collect()
        };
        Some(constant.iter().map(|combination| sum_of(field, &of_kernel(combination), kernel)).collect())
    }
}
