//! Models whose states are slices.

pub use fbint_runtime::FlatSignal;
use std::fmt;
use std::sync::Arc;

use fbint_runtime::{Error, Event, OneStep, SystemFacts};

use crate::drawing::Drawing;
use crate::functions::FlatFunctions;
use crate::scheme::Scheme;

/// A model with its parameters, whatever its dimensions are.
pub trait FlatModel: Send + Sync {
    /// The summary of the model.
    fn facts(&self) -> &'static SystemFacts;
    /// The generated Rust. A model from text prints it at the first call; [`SystemFacts::source`] is empty there.
    fn source(&self) -> &str {
        self.facts().source
    }
    /// The derivation in plain text; [`SystemFacts::equations`] is empty in a model from text.
    fn equations(&self) -> &str {
        self.facts().equations
    }
    /// The derivation in LaTeX; [`SystemFacts::derivation`] is empty in a model from text.
    fn latex(&self) -> &str {
        self.facts().derivation
    }
    /// Writes a text that is equal where two models compute the same: the generated Rust. A model from text writes its declaration and its
    /// programs, because printing takes long.
    ///
    /// # Errors
    ///
    /// As `out` has them.
    fn write_code(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{}", self.source().trim_end())
    }
    /// The text that declares it with these expressions as the laws of inputs, by their names, if it is from a text whose laws are not
    /// sampled. The expressions call the time as the state does. The declared inputs `others` are given from outside: where there are any,
    /// the inputs with laws are definitions of that text.
    fn with_laws(&self, _laws: &[(&str, &str)], _others: &[&str]) -> Option<String> {
        None
    }
    /// [`FeedbackSystem::parameter`](fbint_runtime::FeedbackSystem::parameter).
    fn parameter(&self, index: usize) -> Option<f64>;
    /// [`FeedbackSystem::parameter_mut`](fbint_runtime::FeedbackSystem::parameter_mut).
    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64>;
    /// The functions of its system.
    fn functions(&self) -> Arc<dyn FlatFunctions>;
    /// The numbers that depend on parameters alone.
    fn prepared(&self) -> Vec<f64>;
    /// The derivatives of these numbers by the parameter at an index, if they are known exactly.
    fn prepared_slopes(&self, _parameter: usize) -> Option<Vec<f64>> {
        None
    }
    /// [`Model::start`](crate::Model::start).
    ///
    /// # Errors
    ///
    /// If there is none.
    fn start(&self) -> Result<Vec<f64>, Error>;

    /// The time between two samples of the laws of inputs, where they are sampled.
    fn law_period(&self) -> f64 {
        f64::INFINITY
    }

    /// The functions of the declared events in a state with these inputs.
    fn events_at(&self, _state: &[f64], _inputs: &[f64]) -> Vec<f64> {
        Vec::new()
    }
    /// The coordinates and lengths of the declared drawing in a state.
    fn drawing_at(&self, _state: &[f64]) -> Vec<f64> {
        Vec::new()
    }

    /// [`Model::drawing`](crate::Model::drawing).
    fn drawing(&self, state: &[f64]) -> Drawing {
        Drawing::declared(self.facts(), state, &self.drawing_at(state))
    }

    /// [`Model::input`](crate::Model::input).
    fn input(&self) -> Option<Box<dyn FlatSignal>> {
        None
    }

    /// [`Model::events`](crate::Model::events).
    fn events(&self) -> Vec<Event<'_, Vec<f64>>> {
        Vec::new()
    }

    /// [`Model::geometric_methods`](crate::Model::geometric_methods).
    fn geometric_methods(&self) -> Vec<FlatGeometricMethod> {
        Vec::new()
    }
}

impl dyn FlatModel + '_ {
    /// The model's own method of a scheme, if it has one.
    pub(crate) fn geometric_method(&self, scheme: Scheme) -> Option<Box<dyn OneStep<[f64]>>> {
        self.geometric_methods().into_iter().find_map(|(own, map)| (own == scheme).then_some(map))
    }
}

/// A [`GeometricMethod`](crate::GeometricMethod) on slices.
pub type FlatGeometricMethod = (Scheme, Box<dyn OneStep<[f64]>>);

/// Makes a model with its default parameters.
pub type Make<M> = Arc<dyn Fn() -> Box<M> + Send + Sync>;
