//! The feedback field x' = X(x) - L DF^T K (F - F_target), CPV22 eq. (6), of a system that starts somewhere.
//!
//! The start fixes F_target: 0 for constraints, the value at the start for the energy and the invariants. Everything that
//! can be wrong is refused when a [`Feedback`] is made; from then on nothing allocates and nothing panics.

use core::{array, fmt};

use nalgebra::{ArrayStorage, SVector};

#[cfg(feature = "ensemble")]
use crate::Constant;
use crate::consistent_start::check_start;
use crate::policy::{Target, constant_law};
use crate::{
    Error, FeedbackLaw, FeedbackSystem, Field, GainMatrix, GainPolicy, Gains, Multiply, PreparedSystem, Scalar,
};

/// The feedback field of a system, ready to be integrated.
pub struct Feedback<S: FeedbackSystem<N, M>, K: GainPolicy<M>, L, const N: usize, const M: usize> {
    prepared: S::Prepared,
    gain: K::Weighted<f64>,
    target: Target<L, M>,
}

impl<S, K, L, const N: usize, const M: usize> Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainPolicy<M>,
    L: GainMatrix<N>,
{
    /// The feedback field of `system` for solutions that start at `start`.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the start is not finite, if the start is off the constraint set, or if a gain matrix is
    /// not symmetric and positive definite, or a time or rate in its place not positive. A constraint g counts as satisfied
    /// where |g| <= 1e-8 (1 + sum_j |dg/dx_j| |x_j|), which is what a start given to eight digits achieves.
    pub fn new(system: &S, start: &SVector<f64, N>, gains: Gains<K, L>) -> Result<Self, Error> {
        let integrals = check_start(system, start)?;
        gains.integrals.check(&S::INTEGRAL_NAMES)?;
        gains.metric.check("L", &S::STATE_NAMES)?;
        let prepared = system.prepare();
        let normalisation = prepared.normalisation();
        let gain = gains.integrals.weighted(&S::INTEGRAL_WEIGHTS, &normalisation);
        let normalised = array::from_fn(|i| {
            let [_, scale, offset] = normalisation[i];
            integrals[i] / scale - offset
        });
        Ok(Self { prepared, gain, target: Target { integrals, normalised, metric: gains.metric } })
    }

    /// F_target.
    pub fn targets(&self) -> &SVector<f64, M> {
        &self.target.integrals
    }

    /// The field, X(x) - L DF^T K dF.
    #[inline(always)]
    pub fn field<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, N> {
        K::field(&self.gain, &self.prepared, &self.target, x)
    }

    /// By how much every integral is off its target, dF = F(x) - F_target.
    #[inline]
    pub fn violations<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, M> {
        SVector::from_array_storage(ArrayStorage([self.target.changes(self.prepared.integrals(x).data.0[0])]))
    }

    /// The largest eigenvalue of L DF^T K DF at x: the rate, per unit of time, at which the violation that decays fastest does.
    ///
    /// An explicit method with a fixed step h is stable if h times this rate is within its real stability interval, which ends
    /// at 2 for methods of order 1 and 2 with as many stages and at 2.785 for the classical one of order 4.
    pub fn decay_rate(&self, x: &SVector<f64, N>) -> f64 {
        K::decay_rate(&self.gain, &self.prepared, &self.target.metric, x)
    }

    /// One step of the explicit Euler method.
    #[inline]
    pub fn euler_step<T: Scalar>(&self, x: &mut SVector<T, N>, h: T) {
        K::euler_step(&self.gain, &self.prepared, &self.target, x, h);
    }

    /// One step of the classical Runge-Kutta method of order 4.
    #[inline]
    pub fn rk4_step<T: Scalar>(&self, x: &mut SVector<T, N>, h: T) {
        K::rk4_step(&self.gain, &self.prepared, &self.target, x, h);
    }
}

impl<S, K, L, const N: usize, const M: usize> Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
{
    /// The feedback potential V(x) = 1/2 dF^T K dF.
    pub fn potential<T: Scalar>(&self, x: &SVector<T, N>) -> T {
        let changes = self.target.changes(self.prepared.integrals(x).data.0[0]);
        let weighed = self.gain.declared.multiply(changes);
        (0..M).fold(T::from_f64(0.0), |sum, i| (T::from_f64(0.5) * changes[i]).mul_add(weighed[i], sum))
    }
}

impl<S, K, L, T, const N: usize, const M: usize> FeedbackLaw<T, N, M> for Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
    L: GainMatrix<N>,
    T: Scalar,
{
    const HAS_METRIC: bool = !L::IS_IDENTITY;

    #[inline]
    fn weigh(&self, integrals: [T; M]) -> [T; M] {
        self.gain.declared.multiply(self.target.changes(integrals))
    }

    #[inline]
    fn weigh_normalised<P: PreparedSystem<N, M>>(&self, forms: [T; M], system: &P) -> [T; M] {
        constant_law(&self.gain, &self.target).weigh_normalised(forms, system)
    }

    #[inline]
    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        self.target.metric.multiply(gradient)
    }
}

impl<S, K, L, const N: usize, const M: usize> Field<N> for Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainPolicy<M>,
    L: GainMatrix<N>,
{
    #[inline(always)]
    fn value(&self, x: &SVector<f64, N>) -> SVector<f64, N> {
        self.field(x)
    }

    #[inline]
    fn euler_step(&self, x: &mut SVector<f64, N>, h: f64) {
        Self::euler_step(self, x, h);
    }

    #[inline]
    fn rk4_step(&self, x: &mut SVector<f64, N>, h: f64) {
        Self::rk4_step(self, x, h);
    }

    fn decay_rate(&self, x: &SVector<f64, N>) -> f64 {
        Self::decay_rate(self, x)
    }
}

/// Feedback fields side by side, with constants of type `C`.
#[cfg(feature = "ensemble")]
pub struct Gathered<S, K, L, C, const N: usize, const M: usize>
where
    S: FeedbackSystem<N, M>,
    K: GainPolicy<M>,
    C: Constant,
{
    prepared: S::Gathered<C>,
    gain: K::Weighted<C>,
    target: Target<L, M, C>,
}

#[cfg(feature = "ensemble")]
impl<S, K, L, C, const N: usize, const M: usize> Gathered<S, K, L, C, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainPolicy<M>,
    L: GainMatrix<N>,
    C: Constant,
{
    /// The fields that `member` gives for each lane, all with the same L.
    pub(crate) fn new<'a>(member: impl Fn(usize) -> &'a Feedback<S, K, L, N, M>) -> Self
    where
        S: 'a,
        K: 'a,
        L: 'a,
    {
        let target = |lane: usize| &member(lane).target;
        Self {
            prepared: S::gather(|lane| &member(lane).prepared),
            gain: K::gather(|lane| member(lane).gain),
            target: Target {
                integrals: vector(|i| C::gather(|lane| target(lane).integrals[i])),
                normalised: array::from_fn(|i| C::gather(|lane| target(lane).normalised[i])),
                metric: target(0).metric,
            },
        }
    }

    #[inline]
    pub(crate) fn field<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, N> {
        K::field(&self.gain, &self.prepared, &self.target, x)
    }

    #[inline]
    pub(crate) fn euler_step<T: Scalar>(&self, x: &mut SVector<T, N>, h: T) {
        K::euler_step(&self.gain, &self.prepared, &self.target, x, h);
    }

    #[inline]
    pub(crate) fn rk4_step<T: Scalar>(&self, x: &mut SVector<T, N>, h: T) {
        K::rk4_step(&self.gain, &self.prepared, &self.target, x, h);
    }
}

#[cfg(feature = "ensemble")]
fn vector<T, const D: usize>(entry: impl Fn(usize) -> T) -> SVector<T, D> {
    SVector::from_array_storage(ArrayStorage([array::from_fn(entry)]))
}

// By hand, because a derived one would ask that the system implement it too.
impl<S, K, L, const N: usize, const M: usize> fmt::Debug for Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainPolicy<M>,
    L: GainMatrix<N>,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Feedback")
            .field("system", &S::NAME)
            .field("targets", &self.target.integrals)
            .field("gain", &self.gain)
            .field("metric", &self.target.metric)
            .finish()
    }
}
