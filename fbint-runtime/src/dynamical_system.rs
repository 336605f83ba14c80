//! A system without its type, on slices: what a run needs of it between steps.
//!
//! What is written on it is compiled once with this crate, and not again for every model.

use crate::consistent_start::{ConsistentStart, Parameters};
use crate::error::Error;
use crate::extremes::Extremes;
use crate::flat_system::{FlatSystem, Scratch};
use crate::linear::from_slice;
use crate::system::{FeedbackSystem, Integral, StateEntry, StateRole, Vector};

/// A system with its parameters. States are flat.
pub(crate) trait DynamicalSystem: FlatSystem {
    /// Linear functions that are conserved and not declared.
    fn undeclared(&self) -> &'static [&'static str];
    /// A name for each parameter.
    fn parameter_names(&self) -> &'static [&'static str];
    /// The values of the parameters.
    fn parameters(&self) -> Vec<f64>;
    /// Parameters whose squares are out of the range of doubles.
    fn extremes(&self) -> Extremes;
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

impl<S: FeedbackSystem> FlatSystem for TypedSystem<'_, S> {
    fn state(&self) -> &'static [StateEntry] {
        self.numbers.state()
    }

    fn described_integrals(&self) -> &'static [Integral] {
        self.numbers.described_integrals()
    }

    fn integrals_at(&self, x: &[f64], values: &mut [f64]) {
        self.numbers.integrals_at(x, values);
    }

    fn vector_field_at(&self, x: &[f64], rates: &mut [f64]) {
        self.numbers.vector_field_at(x, rates);
    }

    fn jacobian_at(&self, x: &[f64], rows: &mut [f64]) {
        self.numbers.jacobian_at(x, rows);
    }

    fn with_scratch(&self, work: &mut dyn FnMut(Scratch<'_>)) {
        self.numbers.with_scratch(work);
    }
}

impl<S: FeedbackSystem> DynamicalSystem for TypedSystem<'_, S> {
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
        let value = |index: usize| self.system.parameter(index);
        Extremes::among(&Parameters { names: S::PARAMETER_NAMES, value: &value })
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
