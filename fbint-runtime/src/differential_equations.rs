//! Fields as equations of the crate `differential-equations`, for its implicit, multistep and other methods.
//!
//! For explicit methods [`Integrator`](crate::Integrator) is the better choice: those of version 0.7 of that crate have a
//! coarse dense output and return values that are not finite as if they were a solution. Its Radau IIA ends far above its
//! tolerance on systems of equations; its Kvaerno 5(4) keeps it, but gives up where it takes a field for stiff.

use differential_equations::ode::ODE;
use nalgebra::SVector;

use crate::{Feedback, FeedbackSystem, Field, GainMatrix, PlainField, PreparedSystem};

impl<S, K, L, const N: usize, const M: usize> ODE<f64, SVector<f64, N>> for Feedback<S, K, L, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
    L: GainMatrix<N>,
{
    fn diff(&self, _time: f64, x: &SVector<f64, N>, dxdt: &mut SVector<f64, N>) {
        *dxdt = self.value(x);
    }
}

impl<P, const N: usize, const M: usize> ODE<f64, SVector<f64, N>> for PlainField<P, M>
where
    P: PreparedSystem<N, M>,
{
    fn diff(&self, _time: f64, x: &SVector<f64, N>, dxdt: &mut SVector<f64, N>) {
        *dxdt = self.value(x);
    }
}
