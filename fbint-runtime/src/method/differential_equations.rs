//! Fields as equations of the crate `differential-equations`, for its implicit, multistep and other methods.
//!
//! For explicit methods [`Integrator`](crate::Integrator) is the better choice: in version 0.7 of that crate they have a coarse dense
//! output and return values that are not finite as if they were a solution. Its Radau IIA ends far above its tolerance on systems of
//! equations; its Kvaerno 5(4) keeps it, but gives up where it takes a field for stiff.

use differential_equations::ode::ODE;
use nalgebra::SVector;

use crate::field::feedback::Feedback;
use crate::field::policy::GainPolicy;
use crate::field::{Field, PlainField};
use crate::system::{FeedbackSystem, Vector};

/// Implements the crate's `ODE` for a field whose states are `[f64; N]`.
macro_rules! equation {
    ($field:ty $(, $gains:ident)?) => {
        impl<S, $($gains,)? const N: usize> ODE<f64, SVector<f64, N>> for $field
        where
            S: FeedbackSystem,
            $($gains: GainPolicy<S>,)?
            Vector<S>: From<SVector<f64, N>> + Into<SVector<f64, N>>,
        {
            fn diff(&self, _time: f64, x: &SVector<f64, N>, dxdt: &mut SVector<f64, N>) {
                *dxdt = self.value(&(*x).into()).into();
            }
        }
    };
}

equation!(Feedback<S, K>, K);
equation!(PlainField<S>);
