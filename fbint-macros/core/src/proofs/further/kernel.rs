//! The kernel of a matrix modulo a prime, and short combinations in it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::numbers::field::PrimeField;
use crate::work::{LOOK, spend_each};

/// A combination of monomials: their places in ascending order, with coefficients that are not 0.
pub(super) type Combination = Vec<(usize, u64)>;

/// How many rows are added at once: products of residues below 2^30 and of residues below 2^62 are added up in 64 and in 128 bits, so many
/// of them that the sum has to be reduced once.
pub(super) const BLOCK: usize = 8;
/// Residues modulo smaller primes are multiplied in 64 bits.
const SMALL: u64 = 1 << 30;

/// A matrix in reduced row echelon form, to which rows are added.
///
/// The columns of the pivots are those of a unit matrix and are left out. So elimination takes width^3 / 3 multiplications.
pub(super) struct Elimination {
    field: PrimeField,
    /// The columns without a pivot, in no order.
    free: Vec<usize>,
    /// The column of each pivot.
    pivots: Vec<usize>,
    /// The rows, with an entry for each free column.
    rows: Vec<Vec<u64>>,
}

impl Elimination {
    pub(super) fn new(field: PrimeField, width: usize) -> Self {
        Self { field, free: (0..width).collect(), pivots: Vec::new(), rows: Vec::new() }
    }

    /// Adds at most [`BLOCK`] rows: which of them are independent of those before.
    pub(super) fn add(&mut self, rows: &[Vec<u64>]) -> Option<Vec<bool>> {
        let mut rests: Vec<Vec<u64>> = rows.iter().map(|row| self.reduced(row)).collect();
        // The indices of the pivots among the free columns, with the rows of the block.
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        for own in 0..rests.len() {
            let entries = (0..self.free.len()).filter(|index| rests[own][*index] != 0);
            let Some(pivot) = entries.min_by_key(|index| self.free[*index]) else { continue };
            let source = self.normalised(std::mem::take(&mut rests[own]), pivot)?;
            for row in &mut rests {
                self.eliminate(row, &[pivot], &[&source]);
            }
            rests[own] = source;
            pivots.push((pivot, own));
        }
        let columns: Vec<usize> = pivots.iter().map(|(pivot, _)| *pivot).collect();
        let sources: Vec<&[u64]> = pivots.iter().map(|(_, own)| &rests[*own][..]).collect();
        let mut old = std::mem::take(&mut self.rows);
        old.iter_mut().for_each(|row| self.eliminate(row, &columns, &sources));
        let is_new = (0..rests.len()).map(|own| pivots.iter().any(|(_, other)| *other == own)).collect();
        for (pivot, own) in &pivots {
            self.pivots.push(self.free[*pivot]);
            old.push(std::mem::take(&mut rests[*own]));
        }
        self.rows = old;
        self.leave_out(columns);
        Some(is_new)
    }

    /// Adds any number of rows: how many of them are independent of those before.
    pub(super) fn extend(&mut self, rows: &[Vec<u64>]) -> Option<usize> {
        let before = self.rows.len();
        rows.chunks(BLOCK).try_for_each(|block| self.add(block).map(drop))?;
        Some(self.rows.len() - before)
    }

    /// The columns of the pivots, in the order in which their rows were added.
    pub(super) fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// The columns that occur in any but the first rows that were independent, with their entries in these.
    pub(super) fn columns_beyond(&self, first: usize) -> Vec<(usize, Vec<u64>)> {
        let rows = &self.rows[first..];
        let free = self.free.iter().enumerate();
        let free = free.map(|(index, column)| (*column, rows.iter().map(|row| row[index]).collect::<Vec<u64>>()));
        let unit = |pivot: usize| (0..rows.len()).map(|row| u64::from(row == pivot)).collect();
        let pivots = self.pivots[first..].iter().enumerate().map(|(row, column)| (*column, unit(row)));
        free.filter(|(_, entries)| entries.iter().any(|entry| *entry != 0)).chain(pivots).collect()
    }

    /// A row minus multiples of those before, on the free columns.
    fn reduced(&self, row: &[u64]) -> Vec<u64> {
        let mut rest: Vec<u64> = self.free.iter().map(|column| row[*column]).collect();
        for (pivots, sources) in self.pivots.chunks(BLOCK).zip(self.rows.chunks(BLOCK)) {
            let factors: Vec<u64> = pivots.iter().map(|column| self.field.negative(row[*column])).collect();
            let sources: Vec<&[u64]> = sources.iter().map(Vec::as_slice).collect();
            add_multiples(self.field, &mut rest, &factors, &sources);
        }
        rest
    }

    /// A row divided by one of its entries.
    fn normalised(&self, row: Vec<u64>, pivot: usize) -> Option<Vec<u64>> {
        let factor = self.field.inverse(row[pivot])?;
        Some(row.into_iter().map(|entry| self.field.multiply(entry, factor)).collect())
    }

    /// Subtracts the multiples of these rows, in each of which one of these columns is 1 and the others are 0, that make all of them 0.
    fn eliminate(&self, row: &mut [u64], columns: &[usize], sources: &[&[u64]]) {
        if row.is_empty() {
            return;
        }
        let factors: Vec<u64> = columns.iter().map(|column| self.field.negative(row[*column])).collect();
        if factors.iter().any(|factor| *factor != 0) {
            add_multiples(self.field, row, &factors, sources);
        }
    }

    /// Leaves out columns that have got a pivot.
    fn leave_out(&mut self, mut columns: Vec<usize>) {
        columns.sort_unstable();
        for column in columns.into_iter().rev() {
            self.free.swap_remove(column);
            for row in &mut self.rows {
                row.swap_remove(column);
            }
        }
    }

    /// The kernel: a combination for each column that depends on those before it.
    pub(super) fn kernel(&self) -> Vec<Combination> {
        let combination = |index: usize| {
            let entries = self.pivots.iter().zip(&self.rows).map(|(column, row)| (*column, row[index]));
            let own = (self.free[index], self.field.negative(1));
            let mut combination: Combination = entries.filter(|(_, entry)| *entry != 0).chain([own]).collect();
            combination.sort_unstable();
            combination
        };
        let mut kernel: Vec<Combination> = (0..self.free.len()).map(combination).collect();
        kernel.sort_by_key(last);
        kernel
    }
}

/// Adds multiples of at most [`BLOCK`] rows to another one. This is where a search spends its time, in builds that are not optimised: so
/// there are no iterators.
fn add_multiples(PrimeField(prime): PrimeField, row: &mut [u64], factors: &[u64], sources: &[&[u64]]) {
    spend_each(row.len(), LOOK);
    let factor = |place: usize| factors.get(place).copied().unwrap_or(0);
    let source = |place: usize| sources[place.min(sources.len() - 1)];
    let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(factor);
    let [r, s, t, u, v, w, x, y] = [0, 1, 2, 3, 4, 5, 6, 7].map(source);
    let (mut i, length) = (0, row.len());
    if prime < SMALL {
        while i < length {
            let low = a * r[i] + b * s[i] + c * t[i] + d * u[i];
            row[i] = (row[i] + low + e * v[i] + f * w[i] + g * x[i] + h * y[i]) % prime;
            i += 1;
        }
        return;
    }
    let wide = |factor: u64, entry: u64| u128::from(factor) * u128::from(entry);
    while i < length {
        let low = wide(a, r[i]) + wide(b, s[i]) + wide(c, t[i]) + wide(d, u[i]);
        let high = wide(e, v[i]) + wide(f, w[i]) + wide(g, x[i]) + wide(h, y[i]);
        row[i] = ((u128::from(row[i]) + low + high) % u128::from(prime)) as u64;
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
    use crate::numbers::field::{primes, small_primes};
    use crate::numbers::random::Random;

    /// Rows of 20 entries, of which two are combinations of those before, modulo a small and a large prime.
    #[test]
    fn what_depends_on_columns_before_is_found() {
        for field in [small_primes(1).next().unwrap(), primes(1).next().unwrap()] {
            let mut random = Random(3);
            let mut row = || {
                let mut row: Vec<u64> = (0..20).map(|_| random.next() % field.0).collect();
                row[7] = field.add(row[2], field.multiply(5, row[3]));
                row[15] = field.add(row[7], field.negative(row[14]));
                row
            };
            let rows: Vec<Vec<u64>> = (0..30).map(|_| row()).collect();
            let mut matrix = Elimination::new(field, 20);
            let added: usize = rows.chunks(3).map(|block| matrix.extend(block).unwrap()).sum();
            let kernel = matrix.kernel();
            assert_eq!((added, kernel.iter().map(last).collect::<Vec<_>>()), (18, vec![7, 15]));
            let minus = field.negative(1);
            assert_eq!(kernel[0], [(2, 1), (3, 5), (7, minus)]);
            assert_eq!(kernel[1], [(2, 1), (3, 5), (14, minus), (15, minus)]);
        }
    }
}
