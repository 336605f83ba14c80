//! The source of a driven model's inputs, whatever their names.

use std::fmt;
use std::marker::PhantomData;

use fbint_runtime::{DrivenSystem, Entries, FeedbackSystem, Field, Gains, PreparedSystem, Signal, Simulation, Vector};

use crate::flat_model::{FlatModel, FlatSignal};
use crate::inputs::Inputs;
use crate::plan::Feedback;
use crate::vectors::{uniform, vector};

/// A system that is integrated in its vectors, and is otherwise like any other model.
pub(crate) trait LoadedSystem: FeedbackSystem + Sync {
    /// The model without the type of its states.
    fn flat(&self) -> &dyn FlatModel;
    /// The source of its inputs.
    fn controller(&self) -> Option<Controller<Self>>;
    /// The source of its inputs where some are given.
    fn controlled(&self, inputs: &Inputs) -> Option<Controller<Self>>;
}

/// A simulation of the system `S` whose gains are known only at run time.
pub(super) type AnySimulation<'a, S> = Simulation<'a, S, Box<dyn Field<Vector = Vector<S>>>>;

/// The source of a driven model's inputs: see [`Model::input`](crate::Model::input).
pub struct Controller<S: FeedbackSystem>(Box<dyn AnySignal<S>>);

impl<S: DrivenSystem> Controller<S> {
    /// The controller that gives these inputs: a function of the time and the state, which owns what it needs of the model, or a
    /// [`Held`](fbint_runtime::Held) table, as [`Simulation::input`] takes them.
    pub fn new(signal: impl Signal<S> + Clone + Send + 'static) -> Self {
        Self(Box::new(signal))
    }
}

impl<S: FeedbackSystem> Controller<S> {
    /// The simulation with these gains and the inputs.
    pub(super) fn simulation<'a>(&self, simulation: Simulation<'a, S>, feedback: &Feedback) -> AnySimulation<'a, S> {
        self.0.simulation(simulation, feedback)
    }

    /// The controller on slices, without the type of its system.
    pub fn flat(&self) -> Box<dyn FlatSignal> {
        self.0.flat()
    }

    /// The system with the inputs that it has in a state.
    pub(super) fn prepared(&self, system: S::Prepared<f64>, x: &Vector<S>) -> S::Prepared<f64> {
        self.0.prepared(system, x)
    }
}

// By hand, because functions cannot be printed.
impl<S: FeedbackSystem> fmt::Debug for Controller<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Controller").finish_non_exhaustive()
    }
}

/// A signal, without the type of the inputs, which a model that is not driven does not have.
trait AnySignal<S: FeedbackSystem>: Send {
    fn flat(&self) -> Box<dyn FlatSignal>;
    fn simulation<'a>(&self, simulation: Simulation<'a, S>, feedback: &Feedback) -> AnySimulation<'a, S>;
    fn prepared(&self, system: S::Prepared<f64>, x: &Vector<S>) -> S::Prepared<f64>;
}

/// The simulation with these gains, which are of different types, and so are their fields until they are boxed.
macro_rules! with_gains {
    ($simulation:expr, $feedback:expr, $boxed:ident) => {
        match $feedback {
            Feedback::None => $simulation.without_feedback().$boxed(),
            Feedback::Uniform(k) => $simulation.gains(uniform(*k)).$boxed(),
            Feedback::Diagonal(gains) => $simulation.gains(Gains::diagonal(vector(gains))).$boxed(),
            Feedback::Relaxation(tau) => $simulation.gains(Gains::relaxation(*tau)).$boxed(),
            Feedback::BaeChang(h) => $simulation.gains(Gains::bae_chang(*h)).$boxed(),
        }
    };
}

impl<S: DrivenSystem, I: Signal<S> + Clone + Send + 'static> AnySignal<S> for I {
    fn flat(&self) -> Box<dyn FlatSignal> {
        Box::new(SliceSignal { signal: self.clone(), system: PhantomData::<fn() -> S> })
    }

    fn simulation<'a>(&self, simulation: Simulation<'a, S>, feedback: &Feedback) -> AnySimulation<'a, S> {
        // Of a system that was compiled, this is not called, and not even compiled.
        if const { S::KNOWN_FACTS.is_some() } {
            return undriven(simulation, feedback);
        }
        with_gains!(simulation, feedback, boxed_for_inputs).input(self.clone()).boxed()
    }

    fn prepared(&self, system: S::Prepared<f64>, x: &Vector<S>) -> S::Prepared<f64> {
        let time = PreparedSystem::facts(&system).clock.map_or(0.0, |index| x[index]);
        // A table has to know the time before it is asked.
        self.hold(time);
        S::with_input(system, self.at(time, &S::State::from(*x)).into())
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
        AnySignal::<S>::flat(&self.signal)
    }
}

/// The simulation with these gains, without inputs, called through a pointer once an evaluation: that costs a nanosecond or two and
/// saves compiling every method for every kind of gains.
pub(super) fn undriven<'a, S: FeedbackSystem>(
    simulation: Simulation<'a, S>,
    feedback: &Feedback,
) -> AnySimulation<'a, S> {
    with_gains!(simulation, feedback, boxed)
}
