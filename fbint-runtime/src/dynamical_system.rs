//! A system without its type, on slices: what a run needs of it between steps.
//!
//! What is written on it is compiled once with this crate, and not again for every model.

use crate::consistent_start::{ConsistentStart, scales};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::extremes::Extremes;
use crate::linear::from_slice;
use crate::system::{FeedbackSystem, Integral, PreparedSystem, StateEntry, StateRole, Vector};

/// A system whose parameters are fixed. States are flat, with an entry for each of [`state`](Self::state).
pub(crate) trait DynamicalSystem {
    /// What each entry of the state is.
    fn state(&self) -> &'static [StateEntry];
    /// What each integral is.
    fn integrals(&self) -> &'static [Integral];
    /// Linear functions that are conserved and not declared.
    fn undeclared(&self) -> &'static [&'static str];
    /// A name for each parameter.
    fn parameter_names(&self) -> &'static [&'static str];
    /// The values of the parameters.
    fn parameters(&self) -> Vec<f64>;
    /// Parameters whose squares are out of the range of doubles.
    fn extremes(&self) -> Extremes;
    /// Puts F(x) into `values`.
    fn integrals_at(&self, x: &[f64], values: &mut [f64]);
    /// How large the terms of each integral are.
    fn scales_at(&self, x: &[f64]) -> Vec<f64>;
    /// X(x).
    fn vector_field_at(&self, x: &[f64]) -> Vec<f64>;
    /// DF(x), row by row.
    fn jacobian_at(&self, x: &[f64]) -> Vec<Vec<f64>>;
    /// A dependence among the constraints with a pivot ratio below a limit.
    fn dependence_at(&self, time: f64, x: &[f64], limit: f64) -> Option<Dependence>;
    /// A state near a guess that satisfies the constraints, at the same time.
    fn consistent_start(&self, guess: &[f64]) -> Result<Vec<f64>, Error>;
}

/// A system of the type `S` and its numbers.
pub(crate) struct TypedSystem<'a, S: FeedbackSystem> {
    system: &'a S,
    numbers: S::Prepared<f64>,
}

impl<'a, S: FeedbackSystem> TypedSystem<'a, S> {
    pub(crate) fn new(system: &'a S) -> Self {
        Self { system, numbers: system.prepare() }
    }
}

impl<S: FeedbackSystem> DynamicalSystem for TypedSystem<'_, S> {
    fn state(&self) -> &'static [StateEntry] {
        S::STATE
    }

    fn integrals(&self) -> &'static [Integral] {
        S::INTEGRALS
    }

    fn undeclared(&self) -> &'static [&'static str] {
        S::UNDECLARED
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        S::PARAMETER_NAMES
    }

    fn parameters(&self) -> Vec<f64> {
        (0..).map_while(|index| self.system.parameter(index)).collect()
    }

    fn extremes(&self) -> Extremes {
        Extremes::of(self.system)
    }

    fn integrals_at(&self, x: &[f64], values: &mut [f64]) {
        values.copy_from_slice(self.numbers.integrals(&from_slice(x)).as_ref());
    }

    fn scales_at(&self, x: &[f64]) -> Vec<f64> {
        scales::<S>(&self.numbers, &from_slice(x)).as_ref().to_vec()
    }

    fn vector_field_at(&self, x: &[f64]) -> Vec<f64> {
        self.numbers.vector_field(&from_slice(x)).as_ref().to_vec()
    }

    fn jacobian_at(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let jacobian = self.numbers.integrals_jacobian(&from_slice(x));
        jacobian.as_ref().iter().map(|row| row.as_ref().to_vec()).collect()
    }

    fn dependence_at(&self, time: f64, x: &[f64], limit: f64) -> Option<Dependence> {
        Dependence::find::<S>(&self.numbers, time, &from_slice(x), limit)
    }

    fn consistent_start(&self, guess: &[f64]) -> Result<Vec<f64>, Error> {
        let state: Vector<S> = ConsistentStart::new(self.system).solve(from_slice::<Vector<S>>(guess))?.into();
        Ok(state.as_ref().to_vec())
    }
}

/// Puts the time into a state that has it.
pub(crate) fn set_time(system: &dyn DynamicalSystem, x: &mut [f64], time: f64) {
    if let Some(clock) = system.state().iter().position(|entry| entry.role == StateRole::Time) {
        x[clock] = time;
    }
}
