//! The kernel of a matrix modulo a prime, and short combinations in it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::expression::work::{LOOK, spend_each};
use crate::numbers::field::PrimeField;

/// A combination of monomials: their places in ascending order, with coefficients that are not 0.
pub(super) type Combination = Vec<(usize, u64)>;

/// The number of rows that are added at once: the products of residues below 2^62 that fit into 128 bits before they are reduced.
pub(super) const BLOCK: usize = 8;

/// A matrix in row echelon form, to which rows are added: each row is 0 up to its pivot, which is 1, and in the columns of the pivots of
/// its block and of earlier ones.
pub(super) struct Elimination {
    field: PrimeField,
    width: usize,
    blocks: Vec<Vec<PivotRow>>,
}

/// A row with the column of its pivot.
type PivotRow = (usize, Vec<u64>);

impl Elimination {
    pub(super) fn new(field: PrimeField, width: usize) -> Self {
        Self { field, width, blocks: Vec::new() }
    }

    /// Adds at most [`BLOCK`] rows: which of them are independent of those before.
    pub(super) fn add(&mut self, rows: Vec<Vec<u64>>) -> Option<Vec<bool>> {
        let mut block: Vec<PivotRow> = Vec::new();
        let mut are_new = Vec::new();
        for mut row in rows {
            self.blocks.iter().chain([&block]).for_each(|block| eliminate(self.field, &mut row, block));
            let pivot = row.iter().position(|entry| *entry != 0);
            are_new.push(pivot.is_some());
            let Some(pivot) = pivot else { continue };
            let factor = self.field.inverse(row[pivot])?;
            row.iter_mut().for_each(|entry| *entry = self.field.multiply(*entry, factor));
            let own = [(pivot, row)];
            block.iter_mut().for_each(|(_, other)| eliminate(self.field, other, &own));
            block.extend(own);
        }
        self.blocks.push(block);
        Some(are_new)
    }

    /// The kernel: a combination for each column that depends on those before it, which comes last in it.
    pub(super) fn kernel(&self) -> Vec<Combination> {
        let mut rows: Vec<&PivotRow> = self.blocks.iter().flatten().collect();
        rows.sort_unstable_by_key(|(pivot, _)| Reverse(*pivot));
        let is_free = |column: &usize| rows.iter().all(|(pivot, _)| pivot != column);
        let combination = |column: usize| {
            let mut combination = vec![(column, self.field.negative(1))];
            for (pivot, row) in &rows {
                let rest = combined(self.field, &combination, row);
                combination.extend((rest != 0).then(|| (*pivot, self.field.negative(rest))));
            }
            combination.sort_unstable();
            combination
        };
        (0..self.width).filter(is_free).map(combination).collect()
    }
}

/// Subtracts the multiples of a block's rows that make a row 0 in the columns of their pivots.
fn eliminate(field: PrimeField, row: &mut [u64], block: &[PivotRow]) {
    let factors: Vec<u64> = block.iter().map(|(pivot, _)| field.negative(row[*pivot])).collect();
    if factors.iter().any(|factor| *factor != 0) {
        let first = block.iter().map(|(pivot, _)| *pivot).min().unwrap_or(0);
        let sources: Vec<&[u64]> = block.iter().map(|(_, source)| &source[first..]).collect();
        add_multiples(field, &mut row[first..], &factors, &sources);
    }
}

/// Adds multiples of at most [`BLOCK`] rows to another one. This is where a search spends its time, in builds that are not optimised: so
/// there are no iterators.
fn add_multiples(field: PrimeField, row: &mut [u64], factors: &[u64], sources: &[&[u64]]) {
    spend_each(row.len(), LOOK);
    let factor = |place: usize| u128::from(factors.get(place).copied().unwrap_or(0));
    let source = |place: usize| sources[place.min(sources.len() - 1)];
    let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(factor);
    let [r, s, t, u, v, w, x, y] = [0, 1, 2, 3, 4, 5, 6, 7].map(source);
    let (mut i, length) = (0, row.len());
    while i < length {
        let low = a * r[i] as u128 + b * s[i] as u128 + c * t[i] as u128 + d * u[i] as u128;
        let high = e * v[i] as u128 + f * w[i] as u128 + g * x[i] as u128 + h * y[i] as u128;
        row[i] = field.add(row[i], field.add(field.reduce(low), field.reduce(high)));
        i += 1;
    }
}

/// The sum of a combination of values.
pub(super) fn combined(field: PrimeField, combination: &Combination, values: &[u64]) -> u64 {
    let terms = combination.iter().map(|(place, entry)| field.multiply(values[*place], *entry));
    terms.fold(0, |sum, term| field.add(sum, term))
}

/// A combination of combinations.
pub(super) fn sum_of(field: PrimeField, members: &[(usize, u64)], combinations: &[Combination]) -> Combination {
    let mut sum: BTreeMap<usize, u64> = BTreeMap::new();
    for (member, factor) in members {
        for (place, entry) in &combinations[*member] {
            let own = sum.entry(*place).or_insert(0);
            *own = field.add(*own, field.multiply(*factor, *entry));
        }
    }
    sum.into_iter().filter(|(_, entry)| *entry != 0).collect()
}

pub(super) fn last(combination: &Combination) -> usize {
    combination.last().map_or(0, |(place, _)| *place)
}

/// The combination minus multiples of others that make it shorter, as long as there are any.
pub(super) fn shortened(mut combination: Combination, kernel: &[Combination], field: PrimeField) -> Combination {
    loop {
        let of_degree = kernel.iter().filter(|other| last(other) <= last(&combination));
        let differences = of_degree.filter_map(|other| {
            let (factor, length) = shortest_difference(&combination, other, field)?;
            Some((length, factor, other))
        });
        let best = differences.filter(|(length, ..)| (1..combination.len()).contains(length));
        let Some((_, factor, other)) = best.min_by_key(|(length, ..)| *length) else { return combination };
        let pair = [(0, 1), (1, field.negative(factor))];
        combination = sum_of(field, &pair, &[combination, other.clone()]);
    }
}

/// By which factor another combination leaves the fewest terms if it is subtracted, and how many; `None` where they have none in common.
fn shortest_difference(combination: &Combination, other: &Combination, field: PrimeField) -> Option<(u64, usize)> {
    let mut common = 0;
    // How often each quotient occurs, and where it does first.
    let mut quotients: BTreeMap<u64, (usize, Reverse<usize>)> = BTreeMap::new();
    for (place, entry) in other {
        if let Ok(own) = combination.binary_search_by_key(place, |(place, _)| *place) {
            let quotient = field.multiply(combination[own].1, field.inverse(*entry)?);
            quotients.entry(quotient).or_insert((0, Reverse(common))).0 += 1;
            common += 1;
        }
    }
    let (factor, (count, _)) = quotients.into_iter().max_by_key(|(_, occurrences)| *occurrences)?;
    Some((factor, combination.len() + other.len() - common - count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::field::primes;
    use crate::numbers::random::Random;

    /// Rows of 20 entries; two of the rows are combinations of earlier ones.
    #[test]
    fn what_depends_on_columns_before_is_found() {
        let field = primes(1).next().unwrap();
        let mut random = Random(3);
        let mut row = || {
            let mut row: Vec<u64> = (0..20).map(|_| random.next() % field.prime).collect();
            row[7] = field.add(row[2], field.multiply(5, row[3]));
            row[15] = field.add(row[7], field.negative(row[14]));
            row
        };
        let mut matrix = Elimination::new(field, 20);
        let added: Vec<bool> = (0..10).flat_map(|_| matrix.add((0..3).map(|_| row()).collect()).unwrap()).collect();
        let kernel = matrix.kernel();
        assert_eq!(added.into_iter().filter(|is_new| *is_new).count(), 18);
        assert_eq!(kernel.iter().map(last).collect::<Vec<_>>(), [7, 15]);
        let minus = field.negative(1);
        assert_eq!(kernel[0], [(2, 1), (3, 5), (7, minus)]);
        assert_eq!(kernel[1], [(2, 1), (3, 5), (14, minus), (15, minus)]);
    }
}
