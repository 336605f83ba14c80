//! The kernel of a matrix modulo a prime, and short combinations in it.

use std::collections::BTreeMap;

use crate::numbers::field::PrimeField;
use crate::numbers::linear::Echelon;

/// A combination of monomials: their places in ascending order, with coefficients that are not 0.
pub(super) type Combination = Vec<(usize, u64)>;

/// The kernel of a matrix: a combination for each column that depends on those before it.
pub(super) fn kernel_of(field: PrimeField, rows: Vec<Vec<u64>>, width: usize) -> Option<Vec<Combination>> {
    let mut matrix = Echelon::new(field, rows);
    let pivots = (0..width).map(|column| matrix.pivot(column, 0.0)).collect::<Option<Vec<bool>>>()?;
    let combination = |column: usize| {
        let before = matrix.combination(column).into_iter().filter(|(_, entry)| *entry != 0);
        before.chain([(column, field.negative(1))]).collect()
    };
    Some((0..width).filter(|column| !pivots[*column]).map(combination).collect())
}

pub(super) fn vanishes(field: PrimeField, row: &[u64], combination: &Combination) -> bool {
    let terms = combination.iter().map(|(column, entry)| field.multiply(row[*column], *entry));
    terms.fold(0, |sum, term| field.add(sum, term)) == 0
}

/// A combination of columns, as one of what the columns stand for.
pub(super) fn on(columns: &[usize], combination: Combination) -> Combination {
    combination.into_iter().map(|(place, entry)| (columns[place], entry)).collect()
}

pub(super) fn last(combination: &Combination) -> usize {
    combination.last().map_or(0, |(place, _)| *place)
}

/// The combination minus multiples of others that make it shorter, as long as there are any.
pub(super) fn shortened(mut combination: Combination, kernel: &[Combination], field: PrimeField) -> Combination {
    let shorter = |combination: &Combination| {
        let of_degree = kernel.iter().filter(|other| last(other) <= last(combination));
        let differences = of_degree.flat_map(|other| {
            let common = other.iter().filter_map(|(place, entry)| {
                let (_, own) = combination.iter().find(|(own, _)| own == place)?;
                Some(field.multiply(*own, field.inverse(*entry)?))
            });
            let difference = |factor| difference(combination, factor, other, field);
            common.map(difference).collect::<Vec<_>>()
        });
        differences.filter(|difference| !difference.is_empty()).min_by_key(Vec::len)
    };
    while let Some(better) = shorter(&combination).filter(|better| better.len() < combination.len()) {
        combination = better;
    }
    combination
}

/// a - factor b
fn difference(a: &Combination, factor: u64, b: &Combination, field: PrimeField) -> Combination {
    let mut entries: BTreeMap<usize, u64> = a.iter().copied().collect();
    for (place, entry) in b {
        let own = entries.entry(*place).or_insert(0);
        *own = field.add(*own, field.negative(field.multiply(factor, *entry)));
    }
    entries.into_iter().filter(|(_, entry)| *entry != 0).collect()
}
