//! Linear systems, over whatever can be added, multiplied and divided, by Gaussian elimination. The search for further conserved quantities
//! has another elimination, modulo a prime.

use std::marker::PhantomData;

use super::number::Numeric;
use crate::expression::work::{LOOK, spend_each};

/// The arithmetic of the entries of a matrix.
pub(crate) trait Arithmetic {
    type Entry: Clone;
    fn is_zero(&self, entry: &Self::Entry) -> bool;
    fn product(&self, a: &Self::Entry, b: &Self::Entry) -> Self::Entry;
    fn difference(&self, a: &Self::Entry, b: &Self::Entry) -> Self::Entry;
    /// `None` where it is not defined.
    fn reciprocal(&self, entry: &Self::Entry) -> Option<Self::Entry>;
    /// The merit of a row's entry in this column as a pivot, 0 if the entry is 0: the size of numbers.
    fn merit(&self, row: &[Self::Entry], column: usize) -> f64;

    /// a - b c
    fn without(&self, a: &Self::Entry, b: &Self::Entry, c: &Self::Entry) -> Self::Entry {
        if self.is_zero(b) || self.is_zero(c) { a.clone() } else { self.difference(a, &self.product(b, c)) }
    }
}

/// The arithmetic of numbers of one type.
impl<N: Numeric> Arithmetic for PhantomData<N> {
    type Entry = N;

    fn is_zero(&self, entry: &N) -> bool {
        entry.is_zero()
    }

    fn product(&self, a: &N, b: &N) -> N {
        a.times(b)
    }

    fn difference(&self, a: &N, b: &N) -> N {
        a.minus(b)
    }

    fn reciprocal(&self, entry: &N) -> Option<N> {
        entry.reciprocal()
    }

    fn merit(&self, row: &[N], column: usize) -> f64 {
        row[column].size()
    }
}

/// A matrix with some columns eliminated, from the left to the right: L U, where the row of a pivot has the entries of U to the right of it
/// and the reciprocal of the pivot in its place, and the rows that got their pivots later have the entries of L.
pub(crate) struct Echelon<A: Arithmetic> {
    arithmetic: A,
    rows: Vec<Vec<A::Entry>>,
    /// The row and the column of each.
    pivots: Vec<(usize, usize)>,
    /// The rows without one.
    rest: Vec<usize>,
}

impl<A: Arithmetic> Echelon<A> {
    pub(crate) fn new(arithmetic: A, rows: Vec<Vec<A::Entry>>) -> Self {
        Self { arithmetic, rest: (0..rows.len()).collect(), rows, pivots: Vec::new() }
    }

    /// Eliminates a column, unless all that is left of it is negligible, and returns whether it is independent of the columns before it.
    /// `None` where the rest has no entry that can be divided by.
    pub(crate) fn pivot(&mut self, column: usize, negligible: f64) -> Option<bool> {
        let merits = self.rest.iter().map(|&row| (row, self.arithmetic.merit(&self.rows[row], column)));
        // What is not a number is not negligible.
        let mut candidates: Vec<(usize, f64)> =
            merits.filter(|(_, merit)| merit.is_nan() || *merit > negligible).collect();
        if candidates.is_empty() {
            return Some(false);
        }
        candidates.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        candidates.into_iter().any(|(row, _)| self.eliminate(row, column)).then_some(true)
    }

    /// Eliminates a column by the entry of this row, if it can be divided by.
    pub(crate) fn eliminate(&mut self, row: usize, column: usize) -> bool {
        let arithmetic = &self.arithmetic;
        let Some(reciprocal) = arithmetic.reciprocal(&self.rows[row][column]) else { return false };
        self.pivots.push((row, column));
        self.rest.retain(|other| *other != row);
        let mut source = std::mem::take(&mut self.rows[row]);
        for &other in &self.rest {
            let (left, right) = self.rows[other].split_at_mut(column + 1);
            if arithmetic.is_zero(&left[column]) {
                continue;
            }
            spend_each(right.len(), LOOK);
            left[column] = arithmetic.product(&left[column], &reciprocal);
            let entries = right.iter_mut().zip(&source[column + 1..]);
            for (entry, above) in entries.filter(|(_, above)| !arithmetic.is_zero(above)) {
                *entry = arithmetic.without(entry, &left[column], above);
            }
        }
        source[column] = reciprocal;
        self.rows[row] = source;
        true
    }

    /// Eliminates all columns, if each has a pivot.
    pub(crate) fn factored(mut self, columns: usize) -> Option<Self> {
        (0..columns).all(|column| self.pivot(column, 0.0) == Some(true)).then_some(self)
    }

    /// The columns with pivots on the left of a column, and the factors by which it is a combination of them where it is one.
    pub(crate) fn combination(&self, column: usize) -> Vec<(usize, A::Entry)> {
        let before = self.pivots.partition_point(|(_, pivot)| *pivot < column);
        self.substituted(before, |row| self.rows[row][column].clone())
    }

    /// x with A x = b, where every row and every column has a pivot.
    pub(crate) fn solve(&self, mut b: Vec<A::Entry>) -> Vec<A::Entry> {
        for (step, &(row, column)) in self.pivots.iter().enumerate() {
            for &(later, _) in &self.pivots[step + 1..] {
                b[later] = self.arithmetic.without(&b[later], &self.rows[later][column], &b[row]);
            }
        }
        self.substituted(self.pivots.len(), |row| b[row].clone()).into_iter().map(|(_, entry)| entry).collect()
    }

    /// x with U x = b for the first pivots, with their columns.
    fn substituted(&self, pivots: usize, b: impl Fn(usize) -> A::Entry) -> Vec<(usize, A::Entry)> {
        let mut found: Vec<(usize, A::Entry)> = Vec::new();
        for &(row, column) in self.pivots[..pivots].iter().rev() {
            let entries = &self.rows[row];
            let rest =
                found.iter().fold(b(row), |rest, (other, x)| self.arithmetic.without(&rest, &entries[*other], x));
            found.push((column, self.arithmetic.product(&rest, &entries[column])));
        }
        found.reverse();
        found
    }
}

/// The solution of a square system from its rows, with the right side at their end; nothing where elimination meets no pivot that can be
/// divided by.
pub(crate) fn solution<A: Arithmetic>(arithmetic: A, rows: Vec<Vec<A::Entry>>) -> Option<Vec<A::Entry>> {
    let width = rows.len();
    let echelon = Echelon::new(arithmetic, rows).factored(width)?;
    Some(echelon.combination(width).into_iter().map(|(_, entry)| entry).collect())
}

/// A matrix of numbers whose rows and columns are brought to size one, by powers of two, which round nothing.
pub(crate) struct Balanced<N: Numeric> {
    echelon: Echelon<PhantomData<N>>,
    /// The factors of rows and columns.
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl<N: Numeric> Balanced<N> {
    /// `None` where an entry is not finite.
    pub(crate) fn of(mut matrix: Vec<Vec<N>>) -> Option<Self> {
        let sizes: Vec<Vec<f64>> = matrix.iter().map(|row| row.iter().map(N::size).collect()).collect();
        if !sizes.iter().flatten().all(|size| size.is_finite()) {
            return None;
        }
        let power = |largest: f64| if largest > 0.0 { (-largest.log2().round()).exp2() } else { 1.0 };
        let (mut rows, mut columns) = (vec![1.0; sizes.len()], vec![1.0; sizes.first().map_or(0, Vec::len)]);
        for _ in 0..2 {
            for (sizes, row) in sizes.iter().zip(&mut rows) {
                let scaled = sizes.iter().zip(&columns).map(|(size, column)| size * *row * column);
                *row *= power(scaled.fold(0.0, f64::max));
            }
            for (place, column) in columns.iter_mut().enumerate() {
                let scaled = sizes.iter().zip(&rows).map(|(sizes, row)| sizes[place] * row * *column);
                *column *= power(scaled.fold(0.0, f64::max));
            }
        }
        for (entries, row) in matrix.iter_mut().zip(&rows) {
            for (entry, column) in entries.iter_mut().zip(&columns).filter(|(entry, _)| !entry.is_zero()) {
                *entry = entry.times(&N::exactly(row * column));
            }
        }
        Some(Self { echelon: Echelon::new(PhantomData, matrix), rows, columns })
    }

    /// Eliminates a column, as [`Echelon::pivot`] does.
    pub(crate) fn pivot(&mut self, column: usize) -> Option<bool> {
        self.echelon.pivot(column, N::NEGLIGIBLE)
    }

    /// Eliminates columns as far as none is a combination of those before it, and gives the first one that is.
    pub(crate) fn dependent(&mut self) -> Option<usize> {
        for column in 0..self.columns.len() {
            if !self.pivot(column)? {
                return Some(column);
            }
        }
        None
    }

    /// The entry of a row and a column that is not eliminated.
    pub(crate) fn entry(&self, row: usize, column: usize) -> &N {
        &self.echelon.rows[row][column]
    }

    /// Eliminates a column by the entry of this row.
    pub(crate) fn eliminate(&mut self, row: usize, column: usize) -> bool {
        self.echelon.eliminate(row, column)
    }

    /// The columns that take part in a column that is a combination of them.
    pub(crate) fn involved(&self, column: usize) -> Vec<usize> {
        let shares = self.echelon.combination(column).into_iter();
        shares.filter(|(_, share)| share.size() > N::SMALLEST_SHARE).map(|(column, _)| column).collect()
    }

    /// The factors by which a column is a combination of others, with their columns.
    pub(crate) fn combination(&self, column: usize) -> Vec<(usize, N)> {
        let scale = |of: usize| N::exactly(self.columns[of] / self.columns[column]);
        self.echelon.combination(column).into_iter().map(|(of, share)| (of, share.times(&scale(of)))).collect()
    }

    /// The vector that the matrix takes to zero where a column is a combination of those before it: 1 there.
    pub(crate) fn null_vector(&self, column: usize) -> Vec<N> {
        let mut vector = vec![N::integer(0); self.columns.len()];
        vector[column] = N::integer(1);
        self.combination(column).into_iter().for_each(|(of, factor)| vector[of] = factor.negated());
        vector
    }

    /// Eliminates all columns, if each has a pivot.
    pub(crate) fn factored(self) -> Option<Self> {
        Some(Self { echelon: self.echelon.factored(self.columns.len())?, ..self })
    }

    /// x with A x = b, after all columns are eliminated.
    pub(crate) fn solve(&self, b: &[N]) -> Vec<N> {
        let scaled = |entry: &N, factor: &f64| entry.times(&N::exactly(*factor));
        let b = b.iter().zip(&self.rows).map(|(entry, factor)| scaled(entry, factor)).collect();
        self.echelon.solve(b).iter().zip(&self.columns).map(|(entry, factor)| scaled(entry, factor)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dependence does not depend on units: with 2 a - 3 b as the third column, three columns are dependent in each of them.
    #[test]
    fn units_do_not_matter() {
        let rows = |sizes: [f64; 3]| -> Vec<Vec<f64>> {
            let row =
                |[a, b]: [f64; 2]| [a, b, 2.0 * a - 3.0 * b].iter().zip(sizes).map(|(x, size)| x * size).collect();
            [[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]].map(row).to_vec()
        };
        for sizes in [[1.0, 1.0, 1.0], [1e100, 1e-100, 1e-3]] {
            let mut matrix = Balanced::of(rows(sizes)).unwrap();
            assert_eq!((matrix.dependent(), matrix.involved(2)), (Some(2), vec![0, 1]));
            for ((column, factor), expected) in matrix.combination(2).into_iter().zip([2.0, -3.0]) {
                let factor = factor * sizes[column] / sizes[2];
                assert!((factor - expected).abs() < 1e-14, "{column}: {factor}");
            }
            let square = |row: Vec<f64>| row[..2].to_vec();
            let factors = Balanced::of(rows(sizes).into_iter().map(square).take(2).collect()).unwrap().factored();
            let x = factors.unwrap().solve(&[1.0, 3.0]);
            assert!((x[0] * sizes[0] - 1.0).abs() < 1e-14 && (x[1] * sizes[1]).abs() < 1e-14, "{x:?}");
        }
        assert!(Balanced::of(vec![vec![f64::NAN]]).is_none());
    }
}
