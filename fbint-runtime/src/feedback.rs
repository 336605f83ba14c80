//! The feedback field x' = X(x) - L DF^T K (F - F_target), CPV22 eq. (6), of a system that starts somewhere.
//!
//! The start fixes F_target: 0 for constraints, the value at the start for the energy and the invariants. Everything that
//! can be wrong is refused when a [`Feedback`] is made; from then on nothing allocates and nothing panics.

use core::{array, fmt};

use nalgebra::{ArrayStorage, SVector};

use crate::consistent_start::check_start;
use crate::{Error, FeedbackLaw, FeedbackSystem, Field, GainMatrix, Gains, PreparedSystem, Scalar};

/// The feedback field of a system, ready to be integrated.
pub struct Feedback<S: FeedbackSystem<N, M>, K: GainMatrix<M>, L, const N: usize, const M: usize> {
    prepared: S::Prepared,
    targets: SVector<f64, M>,
    gain: K::Weighted,
    /// Targets and gain for the normalised forms of the integrals and their gradients.
    normalised_targets: [f64; M],
    normalised_gain: <K::Weighted as GainMatrix<M>>::Weighted,
    metric: L,
}

impl<S, K, L, const N: usize, const M: usize> Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
    L: GainMatrix<N>,
{
    /// The feedback field of `system` for solutions that start at `start`.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the start is not finite, if the start is off the constraint set, or if a gain matrix is
    /// not symmetric and positive definite. A constraint g counts as satisfied where
    /// |g| <= 1e-8 (1 + sum_j |dg/dx_j| |x_j|), which is what a start given to eight digits achieves.
    pub fn new(system: &S, start: &SVector<f64, N>, gains: Gains<K, L>) -> Result<Self, Error> {
        let targets = check_start(system, start)?;
        gains.integrals.check("K", &S::INTEGRAL_NAMES)?;
        gains.metric.check("L", &S::STATE_NAMES)?;
        let gain = gains.integrals.weighted(&S::INTEGRAL_WEIGHTS);
        let prepared = system.prepare();
        let normalisation = prepared.normalisation();
        let normalised_targets = array::from_fn(|i| targets[i] / normalisation[i][1] - normalisation[i][2]);
        let normalised_gain =
            gain.scaled(&normalisation.map(|[factor, ..]| factor), &normalisation.map(|[_, scale, _]| scale));
        Ok(Self { prepared, targets, gain, normalised_targets, normalised_gain, metric: gains.metric })
    }

    /// F_target.
    pub fn targets(&self) -> &SVector<f64, M> {
        &self.targets
    }

    /// The field, X(x) - L DF^T K dF.
    #[inline]
    pub fn field<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, N> {
        self.prepared.feedback_field(x, self)
    }

    /// By how much every integral is off its target, dF = F(x) - F_target.
    #[inline]
    pub fn violations<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, M> {
        SVector::from_array_storage(ArrayStorage([self.changes(self.prepared.integrals(x).data.0[0])]))
    }

    /// The feedback potential V(x) = 1/2 dF^T K dF.
    pub fn potential<T: Scalar>(&self, x: &SVector<T, N>) -> T {
        let changes = self.changes(self.prepared.integrals(x).data.0[0]);
        let weighed = self.gain.multiply(changes);
        (0..M).fold(T::from_f64(0.0), |sum, i| (T::from_f64(0.5) * changes[i]).mul_add(weighed[i], sum))
    }

    /// One step of the explicit Euler method.
    #[inline]
    pub fn euler_step<T: Scalar>(&self, x: &mut SVector<T, N>, h: T) {
        self.prepared.euler_step(x, h, self);
    }

    /// One step of the classical Runge-Kutta method of order 4.
    #[inline]
    pub fn rk4_step<T: Scalar>(&self, x: &mut SVector<T, N>, h: T) {
        self.prepared.rk4_step(x, h, self);
    }

    #[inline]
    fn changes<T: Scalar>(&self, integrals: [T; M]) -> [T; M] {
        array::from_fn(|i| integrals[i] - T::from_f64(self.targets[i]))
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
        self.gain.multiply(self.changes(integrals))
    }

    #[inline]
    fn weigh_normalised<P: PreparedSystem<N, M>>(&self, forms: [T; M], _: &P) -> [T; M] {
        let change = |i: usize| {
            if P::ZERO_TARGETS[i] { forms[i] } else { forms[i] - T::from_f64(self.normalised_targets[i]) }
        };
        self.normalised_gain.multiply(array::from_fn(change))
    }

    #[inline]
    fn precondition(&self, gradient: [T; N]) -> [T; N] {
        self.metric.multiply(gradient)
    }
}

impl<S, K, L, const N: usize, const M: usize> Field<N> for Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
    L: GainMatrix<N>,
{
    #[inline]
    fn value(&self, x: &SVector<f64, N>) -> SVector<f64, N> {
        self.field(x)
    }

    #[inline]
    fn euler_step(&self, x: &mut SVector<f64, N>, h: f64) {
        self.prepared.euler_step(x, h, self);
    }

    #[inline]
    fn rk4_step(&self, x: &mut SVector<f64, N>, h: f64) {
        self.prepared.rk4_step(x, h, self);
    }
}

// By hand, because a derived one would ask that the system implement it too.
impl<S, K, L, const N: usize, const M: usize> fmt::Debug for Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
    L: GainMatrix<N>,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Feedback")
            .field("system", &S::NAME)
            .field("targets", &self.targets)
            .field("gain", &self.gain)
            .field("metric", &self.metric)
            .finish()
    }
}
