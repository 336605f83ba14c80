//! The gains K and L of the feedback x' = X - L DF^T K (F - F_target), CPV22 eq. (6).
//!
//! K, M x M, weighs the integrals against one another; L, N x N, multiplies grad V, the gradient of the feedback potential
//! V = 1/2 dF^T K dF. Both must be symmetric and positive definite, or V does not decrease; constructors take anything, and
//! [`Feedback::new`](crate::Feedback::new) checks. The kind of matrix is a type, so that each compiles to its own code and
//! the identity to none.
//!
//! An integral that stands for w identical entries of a declared matrix has weight w: K becomes W^1/2 K W^1/2, which keeps
//! V the Frobenius norm of the declaration. That product is formed once, so that weights cost nothing in a step.

use core::{array, fmt};

use nalgebra::{ArrayStorage, Cholesky, SMatrix};

use crate::policy::{BaeChang, DiagonalScaled, Relaxation};
use crate::{Constant, Error, Scalar};

/// The gains K and L of a feedback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains<K, L = Identity> {
    pub(crate) integrals: K,
    pub(crate) metric: L,
}

impl Gains<Uniform> {
    /// K = k I: the same gain for every integral.
    pub const fn uniform(k: f64) -> Self {
        Self { integrals: Uniform(k), metric: Identity }
    }
}

impl<const M: usize> Gains<Diagonal<M>> {
    /// K = diag(k): a gain for each integral, in the order of `INTEGRAL_NAMES`.
    pub const fn diagonal(k: [f64; M]) -> Self {
        Self { integrals: Diagonal(k), metric: Identity }
    }
}

impl<const M: usize> Gains<Full<M>> {
    /// Any symmetric positive definite K, its rows in the order of `INTEGRAL_NAMES`.
    pub const fn full(k: SMatrix<f64, M, M>) -> Self {
        Self { integrals: Full(k), metric: Identity }
    }
}

impl Gains<Relaxation> {
    /// K = (DF DF^T + e D)^-1 / tau: every violation decays as exp(-t / tau), whatever the integrals and their units, and nothing
    /// in the field is faster than that. `tau` is a time; a few steps of the method are as fast as pays.
    pub const fn relaxation(tau: f64) -> Self {
        Self { integrals: Relaxation { tau }, metric: Identity }
    }
}

impl Gains<DiagonalScaled> {
    /// K_i = rate / |dF_i|^2: each integral alone would decay as exp(-rate t), at the cost of no linear solve.
    pub const fn diagonal_scaled(rate: f64) -> Self {
        Self { integrals: DiagonalScaled { rate }, metric: Identity }
    }
}

impl Gains<BaeChang> {
    /// K = I / (h lambda) with lambda the largest eigenvalue of DF DF^T, for the explicit Euler method with step `h`: the rule of
    /// Bae and Chang (2025), by which the feedback is as strong as that step allows wherever the state is.
    pub const fn bae_chang(h: f64) -> Self {
        Self { integrals: BaeChang { h }, metric: Identity }
    }
}

impl<K, L> Gains<K, L> {
    /// These gains with L = diag(l), in the order of `STATE_NAMES`.
    pub fn with_diagonal_metric<const N: usize>(self, l: [f64; N]) -> Gains<K, Diagonal<N>> {
        Gains { integrals: self.integrals, metric: Diagonal(l) }
    }

    /// These gains with any symmetric positive definite L, its rows in the order of `STATE_NAMES`.
    pub fn with_full_metric<const N: usize>(self, l: SMatrix<f64, N, N>) -> Gains<K, Full<N>> {
        Gains { integrals: self.integrals, metric: Full(l) }
    }
}

/// The identity matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity;

/// A multiple of the identity matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform(f64);

/// A diagonal matrix, of entries that are the same for all lanes or for each its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagonal<const D: usize, C = f64>([C; D]);

/// A symmetric matrix, likewise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Full<const D: usize, C = f64>(SMatrix<C, D, D>);

/// A D x D matrix, whatever its kind.
pub trait Multiply<const D: usize>: Copy + fmt::Debug + Send + Sync {
    /// A v.
    fn multiply<T: Scalar>(&self, v: [T; D]) -> [T; D];
}

/// A kind of D x D matrix that can be K or L.
pub trait GainMatrix<const D: usize>: Multiply<D> {
    /// Whether the matrix is the identity by its type.
    const IS_IDENTITY: bool = false;
    /// The kind of W^1/2 A W^1/2, with entries of type `C`.
    type Weighted<C: Constant>: Multiply<D>;

    /// Refuses what is not finite, symmetric and positive definite, in terms of `matrix` (K or L) and its rows' names.
    fn check(&self, matrix: &'static str, names: &[&'static str; D]) -> Result<(), Error>;
    /// W^1/2 A W^1/2 for W = diag(weights).
    fn weighted(&self, weights: &[f64; D]) -> Self::Weighted<f64>;
    /// diag(rows) A diag(columns), which need not be symmetric.
    fn scaled(&self, rows: &[f64; D], columns: &[f64; D]) -> Self::Weighted<f64>;
    /// Matrices side by side, which `matrix` gives for each lane.
    fn gather<C: Constant>(matrix: impl Fn(usize) -> Self::Weighted<f64>) -> Self::Weighted<C>;
}

impl<const D: usize> Multiply<D> for Identity {
    #[inline]
    fn multiply<T: Scalar>(&self, v: [T; D]) -> [T; D] {
        v
    }
}

impl<const D: usize> GainMatrix<D> for Identity {
    const IS_IDENTITY: bool = true;
    type Weighted<C: Constant> = Diagonal<D, C>;

    fn check(&self, _: &'static str, _: &[&'static str; D]) -> Result<(), Error> {
        Ok(())
    }

    fn weighted(&self, weights: &[f64; D]) -> Diagonal<D> {
        Diagonal(*weights)
    }

    fn scaled(&self, rows: &[f64; D], columns: &[f64; D]) -> Diagonal<D> {
        Diagonal(array::from_fn(|i| rows[i] * columns[i]))
    }

    fn gather<C: Constant>(matrix: impl Fn(usize) -> Diagonal<D>) -> Diagonal<D, C> {
        Diagonal::gathered(matrix)
    }
}

impl<const D: usize> Multiply<D> for Uniform {
    #[inline]
    fn multiply<T: Scalar>(&self, v: [T; D]) -> [T; D] {
        v.map(|entry| T::from_f64(self.0) * entry)
    }
}

impl<const D: usize> GainMatrix<D> for Uniform {
    type Weighted<C: Constant> = Diagonal<D, C>;

    fn check(&self, _: &'static str, _: &[&'static str; D]) -> Result<(), Error> {
        if self.0 > 0.0 && self.0.is_finite() { Ok(()) } else { Err(Error::UniformGain { value: self.0 }) }
    }

    fn weighted(&self, weights: &[f64; D]) -> Diagonal<D> {
        Diagonal(weights.map(|weight| self.0 * weight))
    }

    fn scaled(&self, rows: &[f64; D], columns: &[f64; D]) -> Diagonal<D> {
        Diagonal(array::from_fn(|i| self.0 * rows[i] * columns[i]))
    }

    fn gather<C: Constant>(matrix: impl Fn(usize) -> Diagonal<D>) -> Diagonal<D, C> {
        Diagonal::gathered(matrix)
    }
}

impl<const D: usize, C: Constant> Diagonal<D, C> {
    fn gathered(matrix: impl Fn(usize) -> Diagonal<D>) -> Self {
        Self(array::from_fn(|i| C::gather(|lane| matrix(lane).0[i])))
    }
}

impl<const D: usize, C: Constant> Multiply<D> for Diagonal<D, C> {
    #[inline]
    fn multiply<T: Scalar>(&self, v: [T; D]) -> [T; D] {
        array::from_fn(|i| T::lift(self.0[i]) * v[i])
    }
}

impl<const D: usize> GainMatrix<D> for Diagonal<D> {
    type Weighted<C: Constant> = Diagonal<D, C>;

    fn check(&self, matrix: &'static str, names: &[&'static str; D]) -> Result<(), Error> {
        for (&value, &entry) in self.0.iter().zip(names) {
            if !value.is_finite() {
                return Err(Error::GainNotFinite { matrix, row: entry, column: entry, value });
            }
            if value <= 0.0 {
                return Err(Error::GainNotPositive { matrix, entry, value });
            }
        }
        Ok(())
    }

    fn weighted(&self, weights: &[f64; D]) -> Self {
        Self(array::from_fn(|i| self.0[i] * weights[i]))
    }

    fn scaled(&self, rows: &[f64; D], columns: &[f64; D]) -> Self {
        Self(array::from_fn(|i| self.0[i] * rows[i] * columns[i]))
    }

    fn gather<C: Constant>(matrix: impl Fn(usize) -> Self) -> Diagonal<D, C> {
        Diagonal::gathered(matrix)
    }
}

impl<const D: usize, C: Constant> Multiply<D> for Full<D, C> {
    #[inline]
    fn multiply<T: Scalar>(&self, v: [T; D]) -> [T; D] {
        let columns = &self.0.data.0;
        array::from_fn(|i| {
            let first = T::lift(columns[0][i]) * v[0];
            (1..D).fold(first, |sum, j| T::lift(columns[j][i]).mul_add(v[j], sum))
        })
    }
}

impl<const D: usize> GainMatrix<D> for Full<D> {
    type Weighted<C: Constant> = Full<D, C>;

    fn check(&self, matrix: &'static str, names: &[&'static str; D]) -> Result<(), Error> {
        check_finite(&self.0, matrix, names)?;
        check_symmetric(&self.0, matrix, names)?;
        check_positive_definite(&self.0, matrix, names)
    }

    fn weighted(&self, weights: &[f64; D]) -> Self {
        Self(SMatrix::from_fn(|i, j| self.0[(i, j)] * Scalar::sqrt(weights[i] * weights[j])))
    }

    fn scaled(&self, rows: &[f64; D], columns: &[f64; D]) -> Self {
        Self(SMatrix::from_fn(|i, j| self.0[(i, j)] * rows[i] * columns[j]))
    }

    fn gather<C: Constant>(matrix: impl Fn(usize) -> Self) -> Full<D, C> {
        let entry = |i: usize, j: usize| C::gather(|lane| matrix(lane).0[(i, j)]);
        Full(SMatrix::from_array_storage(ArrayStorage(array::from_fn(|j| array::from_fn(|i| entry(i, j))))))
    }
}

fn check_finite<const D: usize>(
    a: &SMatrix<f64, D, D>,
    matrix: &'static str,
    names: &[&'static str; D],
) -> Result<(), Error> {
    for i in 0..D {
        for j in 0..D {
            if !a[(i, j)].is_finite() {
                return Err(Error::GainNotFinite { matrix, row: names[i], column: names[j], value: a[(i, j)] });
            }
        }
    }
    Ok(())
}

/// Rounding is forgiven, so that a product like B^T B that was computed entry by entry passes.
fn check_symmetric<const D: usize>(
    a: &SMatrix<f64, D, D>,
    matrix: &'static str,
    names: &[&'static str; D],
) -> Result<(), Error> {
    let rounding = 1e-12 * a.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    for i in 0..D {
        for j in 0..i {
            let (value, mirrored) = (a[(j, i)], a[(i, j)]);
            if (value - mirrored).abs() > rounding {
                return Err(Error::GainAsymmetric { matrix, row: names[j], column: names[i], value, mirrored });
            }
        }
    }
    Ok(())
}

fn check_positive_definite<const D: usize>(
    a: &SMatrix<f64, D, D>,
    matrix: &'static str,
    names: &[&'static str; D],
) -> Result<(), Error> {
    for i in 0..D {
        if a[(i, i)] <= 0.0 {
            return Err(Error::GainNotPositive { matrix, entry: names[i], value: a[(i, i)] });
        }
    }
    if Cholesky::new(*a).is_some() {
        return Ok(());
    }
    // The smallest leading block that fails names the culprit; the identity stands in for what lies beyond the block.
    let block = |size: usize| -> SMatrix<f64, D, D> {
        SMatrix::from_fn(|i, j| if i.max(j) < size { a[(i, j)] } else { f64::from(i == j) })
    };
    let size = (1..D).find(|&size| Cholesky::new(block(size)).is_none()).unwrap_or(D);
    Err(Error::GainIndefinite { matrix, entry: names[size - 1] })
}

#[cfg(test)]
mod tests {
    use nalgebra::matrix;

    use super::{Diagonal, Full, GainMatrix, Identity, Multiply, Uniform};

    fn assert_is(kind: impl GainMatrix<2>, [first, second]: [[f64; 2]; 2]) {
        let product = |[x, y]: [f64; 2]| [first[0] * x + first[1] * y, second[0] * x + second[1] * y];
        let v = [2.0, 3.0];
        assert_eq!(kind.multiply(v), product(v));
        let (rows, columns) = ([16.0, 0.5], [2.0, 0.25]);
        let [x, y] = product([columns[0] * v[0], columns[1] * v[1]]);
        assert_eq!(kind.scaled(&rows, &columns).multiply(v), [rows[0] * x, rows[1] * y]);
        let [x, y] = product([4.0 * v[0], 0.5 * v[1]]);
        assert_eq!(kind.weighted(&[16.0, 0.25]).multiply(v), [4.0 * x, 0.5 * y]);
    }

    #[test]
    fn matrices_multiply_by_what_they_are() {
        assert_is(Identity, [[1.0, 0.0], [0.0, 1.0]]);
        assert_is(Uniform(7.0), [[7.0, 0.0], [0.0, 7.0]]);
        assert_is(Diagonal([5.0, 7.0]), [[5.0, 0.0], [0.0, 7.0]]);
        assert_is(Full(matrix![1.0, 2.0; 2.0, 5.0]), [[1.0, 2.0], [2.0, 5.0]]);
    }
}
