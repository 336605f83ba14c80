//! Dense linear systems in precise numbers.

use crate::precise::Real;

/// Pivots below this vanish, relative to rows and columns of size one.
const SMALLEST_PIVOT: f64 = 1e-45;

/// The solution of A x = b, unless A is singular as far as precise numbers tell. Rows and columns are divided by their largest
/// entries first, so that they may be of different sizes.
pub(super) fn solve(mut a: Vec<Vec<Real>>, mut b: Vec<Real>) -> Option<Vec<Real>> {
    let m = b.len();
    let mut columns: Vec<Real> = b.iter().map(|_| Real::from(1.0)).collect();
    for _ in 0..2 {
        for (row, right) in a.iter_mut().zip(&mut b) {
            let largest = largest(row.iter())?;
            row.iter_mut().chain([right]).for_each(|entry| *entry = &*entry / &largest);
        }
        for (j, column) in columns.iter_mut().enumerate() {
            let largest = largest(a.iter().map(|row| &row[j]))?;
            a.iter_mut().for_each(|row| row[j] = &row[j] / &largest);
            *column = &*column / &largest;
        }
    }
    for step in 0..m {
        let size = |row: &Vec<Real>| row[step].abs().to_f64();
        let pivot = (step..m).max_by(|&i, &j| size(&a[i]).total_cmp(&size(&a[j])))?;
        if size(&a[pivot]) < SMALLEST_PIVOT {
            return None;
        }
        a.swap(step, pivot);
        b.swap(step, pivot);
        for i in step + 1..m {
            let factor = &a[i][step] / &a[step][step];
            for j in step..m {
                let entry = &a[i][j] - &(&factor * &a[step][j]);
                a[i][j] = entry;
            }
            b[i] = &b[i] - &(&factor * &b[step]);
        }
    }
    for i in (0..m).rev() {
        let known = (i + 1..m).fold(Real::zero(), |sum, j| &sum + &(&a[i][j] * &b[j]));
        b[i] = &(&b[i] - &known) / &a[i][i];
    }
    Some(b.iter().zip(&columns).map(|(x, column)| x * column).collect())
}

/// The largest absolute value, unless all are zero.
fn largest<'a>(entries: impl Iterator<Item = &'a Real>) -> Option<Real> {
    let sizes = entries.map(|entry| (entry.abs().to_f64(), entry.abs()));
    let (size, largest) = sizes.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (size > 0.0).then_some(largest)
}
