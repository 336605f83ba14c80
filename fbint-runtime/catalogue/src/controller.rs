//! The source of a driven model's inputs, whatever their names.

use std::fmt;
use std::marker::PhantomData;

use fbint_runtime::{DrivenSystem, Entries, FeedbackSystem, Signal};

use crate::flat_model::FlatSignal;
use crate::vectors::vector;

/// The source of a driven model's inputs: see [`Model::input`](crate::Model::input).
pub struct Controller<S> {
    signal: Box<dyn FlatSignal>,
    system: PhantomData<fn() -> S>,
}

impl<S: DrivenSystem> Controller<S> {
    /// The controller that gives these inputs: a function of the time and the state, which owns what it needs of the model, or a
    /// [`Held`](fbint_runtime::Held) table, as [`Simulation::input`](fbint_runtime::Simulation::input) takes them.
    pub fn new(signal: impl Signal<S> + Clone + Send + 'static) -> Self {
        let signal = Box::new(SliceSignal { signal, system: PhantomData::<fn() -> S> });
        Self { signal, system: PhantomData }
    }
}

impl<S: FeedbackSystem> Controller<S> {
    /// The controller on slices, without the type of its system.
    pub fn flat(&self) -> Box<dyn FlatSignal> {
        self.signal.copied()
    }
}

// By hand, because functions cannot be printed.
impl<S> fmt::Debug for Controller<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Controller").finish_non_exhaustive()
    }
}

/// A signal on states and inputs that are slices.
struct SliceSignal<I, S> {
    signal: I,
    system: PhantomData<fn() -> S>,
}

impl<S: DrivenSystem, I: Signal<S> + Clone + Send + 'static> FlatSignal for SliceSignal<I, S> {
    fn at(&self, time: f64, state: &[f64], inputs: &mut [f64]) {
        let given: S::Inputs<f64> = self.signal.at(time, &S::State::from(vector(state))).into();
        inputs.iter_mut().zip(given).for_each(|(input, given)| *input = given);
    }

    fn hold(&self, time: f64) -> f64 {
        self.signal.hold(time)
    }

    fn range(&self) -> [f64; 2] {
        self.signal.range()
    }

    fn series(&self, time: f64, stride: usize, later: &mut [f64]) -> bool {
        let orders = later.len().checked_div(stride).unwrap_or(0);
        let mut own: Vec<S::Inputs<f64>> = vec![Entries::from_fn(|_| 0.0); orders];
        let has_series = self.signal.series(time, &mut own);
        for (order, own) in later.chunks_exact_mut(stride.max(1)).zip(own) {
            order.iter_mut().zip(own).for_each(|(coefficient, own)| *coefficient = own);
        }
        has_series
    }

    fn copied(&self) -> Box<dyn FlatSignal> {
        Box::new(Self { signal: self.signal.clone(), ..*self })
    }
}
