//! A right-hand side x' = f(x) and the explicit steps on it.
//!
//! [`PlainField`] is X alone, CPV22 eq. (4), for comparison and for drift that is nobody's doing but the method's; with
//! feedback it is [`Feedback`](crate::Feedback), which replaces the steps by generated, fused ones.

use nalgebra::SVector;

use crate::tableau::{EULER, RK4};
use crate::{FeedbackSystem, PreparedSystem};

/// An autonomous ordinary differential equation x' = f(x) on R^N.
pub trait Field<const N: usize> {
    /// f(x).
    fn value(&self, x: &SVector<f64, N>) -> SVector<f64, N>;

    /// One step of the explicit Euler method.
    #[inline]
    fn euler_step(&self, x: &mut SVector<f64, N>, h: f64) {
        EULER.step(|x| self.value(x), x, h);
    }

    /// One step of the classical Runge-Kutta method of order 4.
    #[inline]
    fn rk4_step(&self, x: &mut SVector<f64, N>, h: f64) {
        RK4.step(|x| self.value(x), x, h);
    }

    /// The largest rate at which a feedback in the field damps anything, per unit of time: what makes the field stiff. 0 where
    /// there is no feedback.
    fn decay_rate(&self, _x: &SVector<f64, N>) -> f64 {
        0.0
    }
}

#[cfg(feature = "std")]
impl<F: Field<N> + ?Sized, const N: usize> Field<N> for std::boxed::Box<F> {
    #[inline]
    fn value(&self, x: &SVector<f64, N>) -> SVector<f64, N> {
        (**self).value(x)
    }

    fn euler_step(&self, x: &mut SVector<f64, N>, h: f64) {
        (**self).euler_step(x, h);
    }

    fn rk4_step(&self, x: &mut SVector<f64, N>, h: f64) {
        (**self).rk4_step(x, h);
    }

    fn decay_rate(&self, x: &SVector<f64, N>) -> f64 {
        (**self).decay_rate(x)
    }
}

/// The vector field X of a system, without feedback. The system, as it is prepared, is of type `P` and has `M` integrals.
#[derive(Clone, Copy, Debug)]
pub struct PlainField<P, const M: usize>(P);

impl<P, const M: usize> PlainField<P, M> {
    /// X of `system`.
    pub fn new<S, const N: usize>(system: &S) -> Self
    where
        S: FeedbackSystem<N, M, Prepared = P>,
    {
        Self(system.prepare())
    }

    #[cfg(feature = "ensemble")]
    pub(crate) fn prepared(&self) -> &P {
        &self.0
    }
}

impl<P: PreparedSystem<N, M>, const N: usize, const M: usize> Field<N> for PlainField<P, M> {
    #[inline(always)]
    fn value(&self, x: &SVector<f64, N>) -> SVector<f64, N> {
        self.0.vector_field(x)
    }
}
