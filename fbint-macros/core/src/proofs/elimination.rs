//! Dense linear systems in precise numbers.

use crate::precise::Real;

/// Pivots below this vanish, relative to rows and columns of size one.
const SMALLEST_PIVOT: f64 = 1e-45;

/// The solution of A x = b, unless A is singular as far as precise numbers tell. Rows and columns are divided by their largest
/// entries first, so that they may be of different sizes.
pub(super) fn solve(a: Vec<Vec<Real>>, b: Vec<Real>) -> Option<Vec<Real>> {
    let width = b.len();
    let mut rows = a;
    rows.iter_mut().zip(b).for_each(|(row, right)| row.push(right));
    let columns = scale(&mut rows, width)?;
    eliminate(&mut rows, width)?;
    let mut x: Vec<Real> = vec![Real::zero(); width];
    for i in (0..width).rev() {
        let known = (i + 1..width).fold(Real::zero(), |sum, j| &sum + &(&rows[i][j] * &x[j]));
        x[i] = &(&rows[i][width] - &known) / &rows[i][i];
    }
    Some(x.iter().zip(&columns).map(|(x, column)| x * column).collect())
}

/// Whether the columns of a matrix are independent, as far as precise numbers tell.
pub(super) fn has_full_rank(mut rows: Vec<Vec<Real>>) -> bool {
    rows.retain(|row| row.iter().any(|entry| entry.to_f64() != 0.0));
    let width = rows.first().map_or(0, Vec::len);
    width > 0 && scale(&mut rows, width).is_some() && eliminate(&mut rows, width).is_some()
}

/// Divides rows and columns by their largest entries, and gives the factors of the columns; nothing where one is zero. What follows the
/// first columns are right sides.
fn scale(rows: &mut [Vec<Real>], width: usize) -> Option<Vec<Real>> {
    let mut columns: Vec<Real> = vec![Real::from(1.0); width];
    for _ in 0..2 {
        for row in rows.iter_mut() {
            let largest = largest(row[..width].iter())?;
            row.iter_mut().for_each(|entry| *entry = &*entry / &largest);
        }
        for (j, column) in columns.iter_mut().enumerate() {
            let largest = largest(rows.iter().map(|row| &row[j]))?;
            rows.iter_mut().for_each(|row| row[j] = &row[j] / &largest);
            *column = &*column / &largest;
        }
    }
    Some(columns)
}

/// Brings the first columns to upper triangular form, unless one of them has no pivot.
fn eliminate(rows: &mut [Vec<Real>], width: usize) -> Option<()> {
    for step in 0..width {
        let size = |row: &Vec<Real>| row[step].abs().to_f64();
        let pivot = (step..rows.len()).max_by(|&i, &j| size(&rows[i]).total_cmp(&size(&rows[j])))?;
        if size(&rows[pivot]) < SMALLEST_PIVOT {
            return None;
        }
        rows.swap(step, pivot);
        let (above, below) = rows.split_at_mut(step + 1);
        let source = &above[step];
        for row in below {
            let factor = &row[step] / &source[step];
            for (entry, other) in row[step..].iter_mut().zip(&source[step..]) {
                *entry = &*entry - &(&factor * other);
            }
        }
    }
    Some(())
}

/// The largest absolute value, unless all are zero.
fn largest<'a>(entries: impl Iterator<Item = &'a Real>) -> Option<Real> {
    let sizes = entries.map(|entry| (entry.abs().to_f64(), entry.abs()));
    let (size, largest) = sizes.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (size > 0.0).then_some(largest)
}
