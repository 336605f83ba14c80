//! The little linear algebra that the runtime needs on vectors of a fixed length.

#[cfg(feature = "std")]
use crate::numbers::blocks::Blocks;
use crate::numbers::entries::{Entries, Numbers};
#[cfg(feature = "std")]
use crate::numbers::larger::Larger;
use crate::numbers::scalar::Scalar;

/// The vector with `value` in every entry.
#[inline(always)]
pub(crate) fn filled<V: Entries<T>, T: Scalar>(value: T) -> V {
    V::from_fn(|_| value)
}

/// The entries of `slice`, and 0 where it is too short.
pub(crate) fn from_slice<V: Entries<f64>>(slice: &[f64]) -> V {
    let mut vector: V = filled(0.0);
    match slice.get(..V::LEN) {
        // Of a length that the compiler knows.
        Some(entries) => vector.as_mut().copy_from_slice(entries),
        None => vector.as_mut().iter_mut().zip(slice).for_each(|(entry, value)| *entry = *value),
    }
    vector
}

/// Four numbers, which a compiler handles at once where it is not told how many there are.
#[cfg(feature = "std")]
pub(crate) type Four = [f64; 4];

/// This number of zeros, rounded up to fours.
#[cfg(feature = "std")]
pub(crate) fn fours(length: usize) -> std::vec::Vec<Four> {
    vec![[0.0; 4]; length.div_ceil(4)]
}

/// Returns `true` if every number is finite. Hardly any is not, so that nothing is gained where a loop ends early.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn are_finite(numbers: &[f64]) -> bool {
    // 0 times what is not finite is not a number, and neither is a sum with it.
    let (fours, left) = numbers.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for i in 0..4 {
            sums[i] += 0.0 * four[i];
        }
    }
    left.iter().chain(&sums).fold(0.0, |sum, number| sum + 0.0 * number) == 0.0
}

/// a - b, entry by entry.
#[inline(always)]
pub(crate) fn difference<V: Entries<T>, T: Scalar>(a: &V, b: &V) -> V {
    V::from_fn(|i| a[i] - b[i])
}

/// a + factor b, entry by entry, with two roundings.
#[inline(always)]
pub(crate) fn sum<V: Entries<f64>>(a: &V, factor: f64, b: &V) -> V {
    V::from_fn(|i| a[i] + factor * b[i])
}

/// The largest absolute value, 0 for a vector without entries. NaN is passed over.
pub(crate) fn largest(v: &(impl AsRef<[f64]> + ?Sized)) -> f64 {
    v.as_ref().iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()))
}

/// Returns `true` if every entry is finite.
pub(crate) fn is_finite<V: Entries<f64>>(v: &V) -> bool {
    not_finite(v).is_none()
}

/// The index of the first entry that is not finite.
pub(crate) fn not_finite(v: &(impl AsRef<[f64]> + ?Sized)) -> Option<usize> {
    let entries = v.as_ref();
    // Side by side, as a search is not.
    let are_finite = entries.iter().fold(true, |are_finite, entry| are_finite & entry.is_finite());
    if are_finite { None } else { entries.iter().position(|entry| !entry.is_finite()) }
}

/// The sum of the products of the entries.
#[inline]
pub(crate) fn dot<V: Entries<T>, T: Scalar>(a: &V, b: &V) -> T {
    inner(a.as_ref(), b.as_ref())
}

/// The sum of the products of the entries of slices.
#[inline]
pub(crate) fn inner<T: Scalar>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::from_f64(0.0), |sum, (&a, &b)| a.mul_add(b, sum))
}

/// P A = L U by partial pivoting. Where A is singular, solutions are not finite.
pub(crate) struct Lu<R> {
    rows: R,
}

impl<R> Lu<R> {
    pub(crate) fn new<V: Entries<f64>>(rows: R) -> Self
    where
        R: Entries<V>,
    {
        Self { rows }
    }

    /// The solution of A x = b, where A has this size; beyond, x is b.
    pub(crate) fn solve<V: Entries<f64>>(mut self, b: &V, size: usize) -> V
    where
        R: Entries<V>,
    {
        let (rows, size) = (&mut self.rows, size.min(V::LEN).min(R::LEN));
        let mut x = *b;
        for step in 0..size {
            // Swapped as soon as they are found, so that no index depends on the entries.
            for i in step + 1..size {
                if rows[i][step].abs() > rows[step][step].abs() {
                    rows.as_mut().swap(step, i);
                    x.as_mut().swap(step, i);
                }
            }
            for i in step + 1..size {
                let factor = rows[i][step] / rows[step][step];
                for j in step + 1..size {
                    let entry = rows[step][j];
                    rows[i][j] -= factor * entry;
                }
                let entry = x[step];
                x[i] -= factor * entry;
            }
        }
        for i in (0..size).rev() {
            for j in i + 1..size {
                let entry = x[j];
                x[i] -= rows[i][j] * entry;
            }
            x[i] /= rows[i][i];
        }
        x
    }
}

/// [`Lu::solve`] in lists, with the same arithmetic.
#[cfg(feature = "std")]
pub(crate) fn solve_in_lists(mut rows: std::vec::Vec<Blocks>, b: &Blocks) -> Blocks {
    let (size, mut x) = (b.len(), b.clone());
    for step in 0..size {
        for i in step + 1..size {
            if rows[i][step].abs() > rows[step][step].abs() {
                rows.swap(step, i);
                x.own_mut().swap(step, i);
            }
        }
        let (above, below) = rows.split_at_mut(step + 1);
        let (pivot, x_of_pivot) = (above[step].own(), x[step]);
        for (row, x) in below.iter_mut().zip(&mut x.own_mut()[step + 1..]) {
            let factor = row[step] / pivot[step];
            add(&mut row.own_mut()[step + 1..], -factor, &pivot[step + 1..]);
            *x -= factor * x_of_pivot;
        }
    }
    for i in (0..size).rev() {
        for j in i + 1..size {
            let entry = x[j];
            x.own_mut()[i] -= rows[i][j] * entry;
        }
        x.own_mut()[i] /= rows[i][i];
    }
    x
}

/// An entry of matrices for elimination: a number, or several side by side.
#[cfg(feature = "std")]
pub(crate) trait Pivot: Larger {
    /// The row of a pivot: in lanes, of each.
    type Row: Copy + Default + core::fmt::Debug;
    /// Whether something is true: in lanes, of each.
    type Truth: Copy + Default + core::fmt::Debug;

    /// Whether this cannot be divided by: it is 0 or not finite.
    fn is_singular(self) -> Self::Truth;
    /// Whether one of both is true.
    fn either(a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// The first row with the largest entry of a column, from row `first` to row `last`.
    fn largest(first: usize, last: usize, column: impl Fn(usize) -> Self) -> Self::Row;
    /// Exchanges row `first` of these rows of one width with another one below it.
    fn exchange(rows: &mut [Self], width: usize, first: usize, other: Self::Row);
    /// Exchanges entry `first` with another one below it.
    fn swap(entries: &mut [Self], first: usize, other: Self::Row);
    /// Takes a multiple of what is right of a pivot's column from a row, so that the column vanishes there, and puts the factor into it.
    fn eliminate(row: &mut [Self], pivot: &[Self]);
    /// [`factorise`]: for a type that is known here it is compiled here.
    fn factorise(matrix: &mut [Self], pivots: &mut [Self::Row]) -> Self::Truth;
    /// [`solve_factorised`], likewise.
    fn solve_factorised(factors: &[Self], pivots: &[Self::Row], b: &mut [Self]);
}

#[cfg(feature = "std")]
impl Pivot for f64 {
    type Row = usize;
    type Truth = bool;

    #[inline]
    fn is_singular(self) -> bool {
        self == 0.0 || !self.is_finite()
    }

    #[inline]
    fn either(a: bool, b: bool) -> bool {
        a | b
    }

    #[inline]
    fn largest(first: usize, last: usize, column: impl Fn(usize) -> f64) -> usize {
        (first..last).fold(first, |best, i| if column(i).abs() > column(best).abs() { i } else { best })
    }

    #[inline]
    fn exchange(rows: &mut [f64], width: usize, first: usize, other: usize) {
        let (above, below) = rows.split_at_mut((first + 1) * width);
        if let Some(other) = other.checked_sub(first + 1) {
            above[first * width..].swap_with_slice(&mut below[other * width..][..width]);
        }
    }

    #[inline]
    fn eliminate(row: &mut [f64], pivot: &[f64]) {
        if row[0] != 0.0 {
            let factor = row[0] / pivot[0];
            row[0] = factor;
            row[1..].iter_mut().zip(&pivot[1..]).for_each(|(entry, of_pivot)| *entry -= factor * of_pivot);
        }
    }

    #[inline]
    fn swap(entries: &mut [f64], first: usize, other: usize) {
        entries.swap(first, other);
    }

    fn factorise(matrix: &mut [f64], pivots: &mut [usize]) -> bool {
        factorise(matrix, pivots)
    }

    fn solve_factorised(factors: &[f64], pivots: &[usize], b: &mut [f64]) {
        solve_factorised(factors, pivots, b);
    }
}

/// Replaces a square matrix, row by row, by the factors of P A = L U by partial pivoting, and `pivots` by the row that took the place of
/// each. Says whether no pivot is left that is finite and not 0; numbers that follow it stand for nothing.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn factorise<T: Pivot>(matrix: &mut [T], pivots: &mut [T::Row]) -> T::Truth {
    let size = pivots.len();
    let mut is_singular = T::Truth::default();
    for (step, pivot) in pivots.iter_mut().enumerate() {
        *pivot = T::largest(step, size, |i| matrix[i * size + step]);
        T::exchange(matrix, size, step, *pivot);
        let (above, below) = matrix.split_at_mut((step + 1) * size);
        let row = &above[step * size + step..];
        is_singular = T::either(is_singular, row[0].is_singular());
        below.chunks_exact_mut(size).for_each(|other| T::eliminate(&mut other[step..], row));
    }
    is_singular
}

/// Replaces b by the solution of A x = b, from what [`factorise`] has made of A.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn solve_factorised<T: Pivot>(factors: &[T], pivots: &[T::Row], b: &mut [T]) {
    let size = pivots.len();
    pivots.iter().enumerate().for_each(|(step, pivot)| T::swap(b, step, *pivot));
    // A sum that starts from -0 starts from its first term.
    let known = |row: &[T], x: &[T]| row.iter().zip(x).fold(T::from_f64(-0.0), |sum, (&entry, &x)| sum + entry * x);
    for i in 0..size {
        b[i] = b[i] - known(&factors[i * size..][..i], b);
    }
    for i in (0..size).rev() {
        let row = &factors[i * size..][..size];
        b[i] = (b[i] - known(&row[i + 1..], &b[i + 1..])) / row[i];
    }
}

/// The Cholesky factor of a symmetric matrix that fills the first rows and columns of a larger one, with the reciprocals of its
/// diagonal in place of the diagonal.
pub(crate) struct Cholesky<R> {
    rows: R,
    size: usize,
}

impl<R> Cholesky<R> {
    /// Factors the matrix of this size whose entry in row i and column j <= i is `entry(i, j)`, in `rows` that are 0 at first. Where it is
    /// not positive definite, the factor is not finite.
    ///
    /// Inlined, like the solution, so that the compiler knows a size that is a constant.
    #[inline(always)]
    pub(crate) fn new<V: Numbers>(mut rows: R, size: usize, entry: impl Fn(usize, usize) -> f64) -> Self
    where
        R: AsRef<[V]> + AsMut<[V]>,
    {
        let of_rows = rows.as_mut();
        let size = size.min(of_rows.len()).min(of_rows.first().map_or(0, |row| row.as_ref().len()));
        for i in 0..size {
            for j in 0..i + 1 {
                let products = of_rows[i].as_ref().iter().zip(of_rows[j].as_ref()).take(j).map(|(a, b)| a * b);
                let rest = entry(i, j) - products.sum::<f64>();
                let factor = if i == j { Scalar::sqrt(rest).recip() } else { rest * of_rows[j].as_ref()[j] };
                of_rows[i].as_mut()[j] = factor;
            }
        }
        Self { rows, size }
    }

    /// The solution of A x = b, from the first entries of `b`; its other entries stand for nothing.
    #[inline(always)]
    pub(crate) fn solve<V: Numbers>(&self, b: &V) -> V
    where
        R: AsRef<[V]>,
    {
        let (rows, mut solution) = (self.rows.as_ref(), b.clone());
        let x = solution.as_mut();
        let size = self.size.min(rows.len()).min(x.len());
        for i in 0..size {
            let row = rows[i].as_ref();
            let known: f64 = row.iter().zip(&*x).take(i).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - known) * row[i];
        }
        for i in (0..size).rev() {
            let row = rows[i].as_ref();
            x[i] *= row[i];
            let solved = x[i];
            for (x, entry) in x.iter_mut().zip(row).take(i) {
                *x -= entry * solved;
            }
        }
        solution
    }
}

/// Replaces `count` rows, and the rows next to them, by orthonormal ones. `lower` is L, which is 0 at first.
///
/// The rows Q of A = L Q, where A is a matrix next to another, by the modified Gram-Schmidt process: errors grow with the condition number
/// of the matrix, and not with its square as for the normal equations.
pub(crate) fn orthonormalise(rows: &mut [f64], beside: &mut [f64], lower: &mut [f64], count: usize) {
    if count == 0 {
        return;
    }
    let width = rows.len() / count;
    for i in 0..count {
        let (rows, row) = rows.split_at_mut(i * width);
        let (besides, beside) = beside.split_at_mut(i * count);
        let (row, beside) = (&mut row[..width], &mut beside[..count]);
        for j in 0..i {
            let (other, beside_other) = (&rows[j * width..(j + 1) * width], &besides[j * count..(j + 1) * count]);
            let share = inner(row, other) + inner(beside, beside_other);
            add(row, -share, other);
            add(beside, -share, beside_other);
            lower[i * count + j] = share;
        }
        let length = Scalar::sqrt(inner(row, row) + inner(beside, beside));
        let scale = length.recip();
        row.iter_mut().chain(beside).for_each(|entry| *entry *= scale);
        lower[i * count + i] = length;
    }
}

/// Puts y = (D D^T + B B^T)^-1 b, of the matrix D that has become these rows next to B, into `y`, where b is at first, and x = D^T y into
/// `x`, which is 0 at first.
pub(crate) fn shortest(rows: &[f64], lower: &[f64], x: &mut [f64], y: &mut [f64]) {
    let (count, width) = (y.len(), x.len());
    for i in 0..count {
        y[i] = (y[i] - inner(&lower[i * count..i * count + i], &y[..i])) / lower[i * count + i];
        add(x, y[i], &rows[i * width..(i + 1) * width]);
    }
    for i in (0..count).rev() {
        let known: f64 = (i + 1..count).map(|j| lower[j * count + i] * y[j]).sum();
        y[i] = (y[i] - known) / lower[i * count + i];
    }
}

/// a += factor b, entry by entry, with two roundings.
pub(crate) fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
