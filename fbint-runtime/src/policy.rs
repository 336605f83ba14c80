//! How K follows from the state: a constant matrix, or one that is made from DF where the field is evaluated.
//!
//! A constant K has units that must be guessed, and a large one makes the field stiff: violations decay at the eigenvalues
//! of L DF^T K DF, and an explicit method needs h times the largest within its real stability interval. The other policies
//! name a time or a rate instead and take the size of DF out:
//!
//! - [`Relaxation`]: K = (DF DF^T + e D)^-1 / tau, D the diagonal of DF DF^T. Every violation decays as exp(-t / tau) and
//!   nothing faster. The damping e = 1e-10 stands relative equilibria and dependent integrals, where DF loses rank.
//! - [`DiagonalScaled`]: K_i = rate / |dF_i|^2. No linear solve; each integral alone would decay at the rate, and those whose
//!   gradients are parallel add up, to M times the rate at most.
//! - [`BaeChang`]: K = I / (h lambda) with lambda the largest eigenvalue of DF DF^T, with which an Euler step of size h just
//!   removes the violation that decays fastest (Bae and Chang, 2025).
//!
//! Weights of integrals matter to a constant K alone: the others do not depend on how an integral is scaled, but for
//! [`BaeChang`], which takes F as it is generated.

use core::{array, fmt};

use nalgebra::{ArrayStorage, SMatrix, SVector};

use crate::correction::LEAST_NOISE;
use crate::error::positive;
use crate::tableau::{EULER, RK4};
use crate::{Constant, Error, FeedbackLaw, GainMatrix, Multiply, PreparedSystem, Scalar};

/// Iterations for a largest eigenvalue. They find it to a few percent even where the next one is close, and never exceed it.
const POWER_ITERATIONS: usize = 24;
/// Keeps quotients by |dF_i|^2 or lambda finite where DF vanishes.
const TINY: f64 = 1e-140;

/// How K follows from the state.
pub trait GainPolicy<const M: usize>: Copy + fmt::Debug + Send + Sync {
    /// The policy with the integrals' weights taken in, in numbers of type `C`.
    type Weighted<C: Constant>: Copy + fmt::Debug + Send + Sync;

    /// Refuses what is not finite and positive (definite), in terms of the rows' names.
    fn check(&self, names: &[&'static str; M]) -> Result<(), Error>;
    /// The policy with W^1/2 K W^1/2 for K. `normalisation` is that of the system: see [`PreparedSystem::normalisation`].
    fn weighted(&self, weights: &[f64; M], normalisation: &[[f64; 3]; M]) -> Self::Weighted<f64>;
    /// Policies side by side, which `policy` gives for each lane. One that is not constant must be the same for all.
    fn gather<C: Constant>(policy: impl Fn(usize) -> Self::Weighted<f64>) -> Self::Weighted<C>;
    /// X - L DF^T K (F - target).
    fn field<T, C, P, L, const N: usize>(
        gain: &Self::Weighted<C>,
        system: &P,
        target: &Target<L, M, C>,
        x: &SVector<T, N>,
    ) -> SVector<T, N>
    where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>;
    /// One step of the explicit Euler method on the field.
    #[inline]
    fn euler_step<T, C, P, L, const N: usize>(
        gain: &Self::Weighted<C>,
        system: &P,
        target: &Target<L, M, C>,
        x: &mut SVector<T, N>,
        h: T,
    ) where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        EULER.step(|x| Self::field(gain, system, target, x), x, h);
    }
    /// One step of the classical Runge-Kutta method of order 4 on the field.
    #[inline]
    fn rk4_step<T, C, P, L, const N: usize>(
        gain: &Self::Weighted<C>,
        system: &P,
        target: &Target<L, M, C>,
        x: &mut SVector<T, N>,
        h: T,
    ) where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        RK4.step(|x| Self::field(gain, system, target, x), x, h);
    }
    /// The largest eigenvalue of L DF^T K DF: the rate at which the violation that decays fastest does.
    fn decay_rate<P, L, const N: usize>(gain: &Self::Weighted<f64>, system: &P, metric: &L, x: &SVector<f64, N>) -> f64
    where
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>;
}

/// F_target, the same for all lanes or for each its own, and L.
#[derive(Clone, Copy, Debug)]
pub struct Target<L, const M: usize, C = f64> {
    pub(crate) integrals: SVector<C, M>,
    /// F_target in the normalised form of the integrals.
    pub(crate) normalised: [C; M],
    pub(crate) metric: L,
}

/// A constant K with the integrals' weights taken in: for the integrals as they are declared, and for their normalised
/// forms and gradients.
#[derive(Clone, Copy, Debug)]
pub struct ConstantGain<K> {
    pub(crate) declared: K,
    pub(crate) normalised: K,
}

impl<L, C: Constant, const M: usize> Target<L, M, C> {
    #[inline]
    pub(crate) fn changes<T: Scalar>(&self, integrals: [T; M]) -> [T; M] {
        array::from_fn(|i| integrals[i] - T::lift(self.integrals.data.0[0][i]))
    }
}

impl<K: GainMatrix<M>, const M: usize> GainPolicy<M> for K {
    type Weighted<C: Constant> = ConstantGain<<K as GainMatrix<M>>::Weighted<C>>;

    fn check(&self, names: &[&'static str; M]) -> Result<(), Error> {
        GainMatrix::check(self, "K", names)
    }

    fn weighted(&self, weights: &[f64; M], normalisation: &[[f64; 3]; M]) -> Self::Weighted<f64> {
        let roots = weights.map(Scalar::sqrt);
        let rows = array::from_fn(|i| roots[i] * normalisation[i][0]);
        let columns = array::from_fn(|i| roots[i] * normalisation[i][1]);
        ConstantGain { declared: GainMatrix::weighted(self, weights), normalised: self.scaled(&rows, &columns) }
    }

    fn gather<C: Constant>(policy: impl Fn(usize) -> Self::Weighted<f64>) -> Self::Weighted<C> {
        ConstantGain {
            declared: <K as GainMatrix<M>>::gather(|lane| policy(lane).declared),
            normalised: <K as GainMatrix<M>>::gather(|lane| policy(lane).normalised),
        }
    }

    #[inline(always)]
    fn field<T, C, P, L, const N: usize>(
        gain: &Self::Weighted<C>,
        system: &P,
        target: &Target<L, M, C>,
        x: &SVector<T, N>,
    ) -> SVector<T, N>
    where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        system.feedback_field(x, &constant_law(gain, target))
    }

    #[inline]
    fn euler_step<T, C, P, L, const N: usize>(
        gain: &Self::Weighted<C>,
        system: &P,
        target: &Target<L, M, C>,
        x: &mut SVector<T, N>,
        h: T,
    ) where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        system.euler_step(x, h, &constant_law(gain, target));
    }

    #[inline]
    fn rk4_step<T, C, P, L, const N: usize>(
        gain: &Self::Weighted<C>,
        system: &P,
        target: &Target<L, M, C>,
        x: &mut SVector<T, N>,
        h: T,
    ) where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        system.rk4_step(x, h, &constant_law(gain, target));
    }

    fn decay_rate<P, L, const N: usize>(gain: &Self::Weighted<f64>, system: &P, metric: &L, x: &SVector<f64, N>) -> f64
    where
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        largest_decay_rate(&system.integrals_jacobian(x), |v| gain.declared.multiply(v), metric)
    }
}

/// K = (DF DF^T + e D)^-1 / tau.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    pub(crate) tau: f64,
}

impl<const M: usize> GainPolicy<M> for Relaxation {
    type Weighted<C: Constant> = Self;

    fn check(&self, _: &[&'static str; M]) -> Result<(), Error> {
        positive("the relaxation time tau", self.tau).map(|_| ())
    }

    fn weighted(&self, _: &[f64; M], _: &[[f64; 3]; M]) -> Self {
        *self
    }

    fn gather<C: Constant>(policy: impl Fn(usize) -> Self) -> Self {
        policy(0)
    }

    #[inline(always)]
    fn field<T, C, P, L, const N: usize>(
        gain: &Self,
        system: &P,
        target: &Target<L, M, C>,
        x: &SVector<T, N>,
    ) -> SVector<T, N>
    where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        let rate = T::from_f64(1.0 / gain.tau);
        let weigh = |integrals| target.changes(integrals).map(|change| rate * change);
        let (ones, noise) = (vector([T::from_f64(1.0); N]), vector([T::from_f64(LEAST_NOISE); M]));
        let correction = system.correction(x, &ones, &noise, &Law { weigh, metric: &target.metric });
        let feedback = target.metric.multiply(correction.data.0[0]);
        let field = system.vector_field(x);
        vector(array::from_fn(|i| field[i] - feedback[i]))
    }

    /// 1 / tau where L is the identity, since (DF DF^T + e D)^-1 DF DF^T has no eigenvalue beyond 1.
    fn decay_rate<P, L, const N: usize>(gain: &Self, _: &P, metric: &L, _: &SVector<f64, N>) -> f64
    where
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        largest_eigenvalue(|v: [f64; N]| metric.multiply(v)) / gain.tau
    }
}

/// K_i = rate / |dF_i|^2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiagonalScaled {
    pub(crate) rate: f64,
}

impl<const M: usize> GainPolicy<M> for DiagonalScaled {
    type Weighted<C: Constant> = Self;

    fn check(&self, _: &[&'static str; M]) -> Result<(), Error> {
        positive("the rate of the scaled gains", self.rate).map(|_| ())
    }

    fn weighted(&self, _: &[f64; M], _: &[[f64; 3]; M]) -> Self {
        *self
    }

    fn gather<C: Constant>(policy: impl Fn(usize) -> Self) -> Self {
        policy(0)
    }

    #[inline(always)]
    fn field<T, C, P, L, const N: usize>(
        gain: &Self,
        system: &P,
        target: &Target<L, M, C>,
        x: &SVector<T, N>,
    ) -> SVector<T, N>
    where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        let squares = system.squared_gradients(x);
        let scaled = |i: usize| T::from_f64(gain.rate) * (squares[i] + T::from_f64(TINY)).recip();
        let weigh = |integrals| {
            let changes = target.changes(integrals);
            array::from_fn(|i| scaled(i) * changes[i])
        };
        system.feedback_field(x, &Law { weigh, metric: &target.metric })
    }

    fn decay_rate<P, L, const N: usize>(gain: &Self, system: &P, metric: &L, x: &SVector<f64, N>) -> f64
    where
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        let squares = system.squared_gradients(x);
        let weigh = |v: [f64; M]| array::from_fn(|i| gain.rate * v[i] / (squares[i] + TINY));
        largest_decay_rate(&system.integrals_jacobian(x), weigh, metric)
    }
}

/// K = I / (h lambda), lambda the largest eigenvalue of DF DF^T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaeChang {
    pub(crate) h: f64,
}

impl<const M: usize> GainPolicy<M> for BaeChang {
    type Weighted<C: Constant> = Self;

    fn check(&self, _: &[&'static str; M]) -> Result<(), Error> {
        positive("the step of the gains", self.h).map(|_| ())
    }

    fn weighted(&self, _: &[f64; M], _: &[[f64; 3]; M]) -> Self {
        *self
    }

    fn gather<C: Constant>(policy: impl Fn(usize) -> Self) -> Self {
        policy(0)
    }

    #[inline(always)]
    fn field<T, C, P, L, const N: usize>(
        gain: &Self,
        system: &P,
        target: &Target<L, M, C>,
        x: &SVector<T, N>,
    ) -> SVector<T, N>
    where
        T: Scalar,
        C: Constant,
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        let jacobian = system.integrals_jacobian(x);
        let lambda = largest_eigenvalue(|v: [T; M]| times(&jacobian, &times_transposed(&jacobian, &v)));
        let uniform = (T::from_f64(gain.h) * (lambda + T::from_f64(TINY))).recip();
        let weigh = |integrals| target.changes(integrals).map(|change| uniform * change);
        system.feedback_field(x, &Law { weigh, metric: &target.metric })
    }

    /// 1 / h where L is the identity, by definition.
    fn decay_rate<P, L, const N: usize>(gain: &Self, _: &P, metric: &L, _: &SVector<f64, N>) -> f64
    where
        P: PreparedSystem<N, M>,
        L: GainMatrix<N>,
    {
        largest_eigenvalue(|v: [f64; N]| metric.multiply(v)) / gain.h
    }
}

/// A feedback law for one evaluation of the field.
struct Law<'a, F, L> {
    weigh: F,
    metric: &'a L,
}

impl<T, F, L, const N: usize, const M: usize> FeedbackLaw<T, N, M> for Law<'_, F, L>
where
    T: Scalar,
    F: Fn([T; M]) -> [T; M],
    L: GainMatrix<N>,
{
    const HAS_METRIC: bool = !L::IS_IDENTITY;

    #[inline]
    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        (self.weigh)(integrals)
    }

    #[inline]
    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        self.metric.multiply(gradient)
    }
}

/// y = K (F - F_target) with a constant K.
pub(crate) struct ConstantLaw<'a, K, L, C, const M: usize> {
    gain: &'a ConstantGain<K>,
    target: &'a Target<L, M, C>,
}

#[inline]
pub(crate) fn constant_law<'a, K, L, C, const M: usize>(
    gain: &'a ConstantGain<K>,
    target: &'a Target<L, M, C>,
) -> ConstantLaw<'a, K, L, C, M> {
    ConstantLaw { gain, target }
}

impl<T, K, L, C, const N: usize, const M: usize> FeedbackLaw<T, N, M> for ConstantLaw<'_, K, L, C, M>
where
    T: Scalar,
    C: Constant,
    K: Multiply<M>,
    L: GainMatrix<N>,
{
    const HAS_METRIC: bool = !L::IS_IDENTITY;

    #[inline]
    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        self.gain.declared.multiply(self.target.changes(integrals))
    }

    #[inline]
    fn weigh_normalised<P: PreparedSystem<N, M>>(&self, forms: [T; M], _: &P) -> [T; M] {
        let change = |i: usize| {
            if P::ZERO_TARGETS[i] { forms[i] } else { forms[i] - T::lift(self.target.normalised[i]) }
        };
        self.gain.normalised.multiply(array::from_fn(change))
    }

    #[inline]
    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        self.target.metric.multiply(gradient)
    }
}

/// The largest eigenvalue of DF L DF^T K, which is that of L DF^T K DF.
fn largest_decay_rate<L: GainMatrix<N>, const N: usize, const M: usize>(
    jacobian: &SMatrix<f64, M, N>,
    weigh: impl Fn([f64; M]) -> [f64; M],
    metric: &L,
) -> f64 {
    largest_eigenvalue(|v| times(jacobian, &metric.multiply(times_transposed(jacobian, &weigh(v)))))
}

/// By power iteration from a vector in general position, for a matrix that is similar to a positive semidefinite one.
#[inline]
fn largest_eigenvalue<T: Scalar, const D: usize>(apply: impl Fn([T; D]) -> [T; D]) -> T {
    let mut v: [T; D] = array::from_fn(|i| T::from_f64(1.0 + 0.618 * i as f64 % 1.0));
    let mut eigenvalue = T::from_f64(0.0);
    for _ in 0..POWER_ITERATIONS {
        let length = norm(&v) + T::from_f64(TINY);
        v = apply(v.map(|entry| entry / length));
        eigenvalue = norm(&v);
    }
    eigenvalue
}

#[inline]
fn norm<T: Scalar, const D: usize>(v: &[T; D]) -> T {
    v.iter().fold(T::from_f64(0.0), |sum, &entry| entry.mul_add(entry, sum)).sqrt()
}

/// A v.
#[inline]
fn times<T: Scalar, const R: usize, const C: usize>(a: &SMatrix<T, R, C>, v: &[T; C]) -> [T; R] {
    array::from_fn(|i| (0..C).fold(T::from_f64(0.0), |sum, j| a[(i, j)].mul_add(v[j], sum)))
}

/// A^T v.
#[inline]
fn times_transposed<T: Scalar, const R: usize, const C: usize>(a: &SMatrix<T, R, C>, v: &[T; R]) -> [T; C] {
    array::from_fn(|j| (0..R).fold(T::from_f64(0.0), |sum, i| a[(i, j)].mul_add(v[i], sum)))
}

fn vector<T, const D: usize>(entries: [T; D]) -> SVector<T, D> {
    SVector::from_array_storage(ArrayStorage([entries]))
}

#[cfg(test)]
mod tests {
    use super::largest_eigenvalue;

    /// A start with equal entries would never find it.
    #[test]
    fn an_eigenvector_across_equal_entries_is_found() {
        let eigenvalue = largest_eigenvalue(|[a, b]: [f64; 2]| [2.0 * a - b, 2.0 * b - a]);
        assert!((eigenvalue - 3.0).abs() < 1e-9, "{eigenvalue}");
    }
}
