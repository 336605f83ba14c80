//! Sources of a driven system's inputs during integration: a function of time and state, or a table.
//!
//! Inputs are evaluated in every stage of every method, at the stage's own time, which is an entry of the state. A table is constant
//! between its times: every step ends where it jumps, and all stages of a step have the value that holds during the step.
//!
//! Inputs are numbers of a prepared system, next to those that depend on parameters. A field with inputs is a copy of it with other
//! numbers, which costs nothing once it is inlined, and systems without inputs have no trace of them.

use core::cell::Cell;
use core::marker::PhantomData;

#[cfg(feature = "std")]
use crate::error::Error;
use crate::error::failure::UndefinedInput;
#[cfg(feature = "std")]
use crate::field::INPUTS_HAVE_NO_SERIES;
use crate::field::laws::DIFFERENCE;
use crate::field::sides::Side;
use crate::field::{ALWAYS, Driver, Field, TakesInput};
use crate::hold::consistent_start::size_of_variable;
use crate::numbers::entries::Entries;
#[cfg(feature = "std")]
use crate::numbers::linear::{filled, from_slice};
use crate::numbers::linear::{is_finite, not_finite};
#[cfg(feature = "std")]
use crate::system::taylor::Series;
use crate::system::{DrivenSystem, StateEntry, SystemFacts, Vector};

/// A source of the inputs of the system `S`: a function of the time and the state, or a [`Held`] table.
pub trait Signal<S: DrivenSystem> {
    /// The inputs at a time in a state.
    fn at(&self, time: f64, state: &S::State) -> S::Input;

    /// Begins a step at this time, and returns when it has to end at the latest: where the inputs jump.
    fn hold(&self, _time: f64) -> f64 {
        f64::INFINITY
    }

    /// The first and the last time at which the inputs are known.
    fn range(&self) -> [f64; 2] {
        ALWAYS
    }

    /// Puts the coefficients of the inputs' Taylor series from a time of the step on into a list: of t, t^2 and so on. Returns whether there
    /// is a series, up to the end of the step, whatever the time is.
    #[doc(hidden)]
    fn series(&self, _time: f64, _later: &mut [S::Inputs<f64>]) -> bool {
        false
    }

    /// Returns `true` if it leaves inputs to sampled laws, which [`hold_laws`](Self::hold_laws) holds.
    #[doc(hidden)]
    fn has_sampled_laws(&self) -> bool {
        false
    }

    /// Holds the sampled laws as they are in a state, or 0 without one, from now on.
    #[doc(hidden)]
    fn hold_laws(&self, _state: Option<&S::State>) {}
}

impl<S: DrivenSystem, F: Fn(f64, &S::State) -> S::Input> Signal<S> for F {
    #[inline]
    fn at(&self, time: f64, state: &S::State) -> S::Input {
        self(time, state)
    }
}

/// The distance from a state at which a signal is evaluated for its derivative by an entry.
pub(crate) fn distance_of_signals(facts: &SystemFacts, x: &[f64], entry: usize) -> f64 {
    // A time may be large where inputs change quickly.
    let size = if facts.clock == Some(entry) { 0.0 } else { size_of_variable(facts.state, x, entry) };
    // Nothing says how large a variable is that is 0 as a whole.
    DIFFERENCE * if size > 0.0 { size } else { 1.0 }
}

/// A field whose inputs a [`Signal`] gives.
#[derive(Debug)]
pub struct Driven<S, F, I> {
    field: F,
    signal: I,
    undefined: Cell<Option<UndefinedInput>>,
    system: PhantomData<fn() -> S>,
}

impl<S: DrivenSystem, F: TakesInput<S>, I: Signal<S>> Driven<S, F, I> {
    /// The field with the inputs that the signal gives.
    pub fn new(field: F, signal: I) -> Self {
        Self { field, signal, undefined: Cell::new(None), system: PhantomData }
    }

    /// The inputs at this state and its time.
    fn input(&self, x: &Vector<S>) -> S::Inputs<f64> {
        self.signal.at(self.field.facts().time_in(x), &S::State::from(*x)).into()
    }

    /// The derivative of the inputs by an entry of the state, which may be the time.
    fn slope(&self, x: &Vector<S>, entry: usize) -> S::Inputs<f64> {
        let facts = self.field.facts();
        let distance = distance_of_signals(facts, facts.of_state::<S, _>(x), entry);
        let moved = |change: f64| {
            let mut moved = *x;
            moved[entry] += change;
            moved
        };
        let [below, above] = [moved(-distance), moved(distance)];
        let (inputs, distance) = ([self.input(&below), self.input(&above)], above[entry] - below[entry]);
        Entries::from_fn(|i| (inputs[1][i] - inputs[0][i]) / distance)
    }

    /// The inputs at this state and its time, for the field there; those that are not numbers are remembered.
    fn input_of_field(&self, x: &Vector<S>) -> S::Inputs<f64> {
        let (input, facts) = (self.input(x), self.field.facts());
        if let Some(index) = not_finite(&input)
            && is_finite(x)
        {
            let name = facts.input_names.get(index).copied().unwrap_or_default();
            self.undefined.set(Some(UndefinedInput { name, value: input[index], time: facts.time_in(x) }));
        }
        input
    }
}

impl<S: DrivenSystem, F: TakesInput<S>, I: Signal<S>> Field for Driven<S, F, I> {
    type Vector = Vector<S>;

    #[inline]
    fn value(&self, x: &Vector<S>) -> Vector<S> {
        self.field.value_with(self.input_of_field(x), x)
    }

    /// By the chain rule. Derivatives of the inputs are central differences of the signal.
    fn jacobian(&self, x: &Vector<S>, add: &mut dyn FnMut(usize, usize, f64)) -> bool {
        let (states, none) = (self.field.facts().state.len(), Entries::from_fn(|_| 0.0));
        let slopes: Vector<S, S::Inputs<f64>> =
            Entries::from_fn(|entry| if entry < states { self.slope(x, entry) } else { none });
        self.field.jacobian_with(
            self.input_of_field(x),
            x,
            &mut |row, column, value| match column.checked_sub(states) {
                None => add(row, column, value),
                Some(input) => {
                    let slopes = slopes.as_ref().iter().map(|slope| slope.as_ref().get(input).copied().unwrap_or(0.0));
                    let changing = slopes.enumerate().filter(|(_, slope)| *slope != 0.0);
                    changing.for_each(|(entry, slope)| add(row, entry, value * slope));
                }
            },
        )
    }

    #[cfg(feature = "std")]
    fn series(&self) -> Result<Series<'_>, &'static str> {
        if !self.signal.series(0.0, &mut []) {
            return Err(INPUTS_HAVE_NO_SERIES);
        }
        self.field.series_with(std::boxed::Box::new(|x, later| {
            let x = from_slice(x);
            self.signal.series(self.field.facts().time_in(&x), later);
            self.input_of_field(&x)
        }))
    }

    fn dimension(&self) -> usize {
        self.field.dimension()
    }

    fn decay_rate(&self, x: &Vector<S>) -> f64 {
        self.field.decay_rate(x)
    }

    fn clock(&self) -> Option<usize> {
        self.field.facts().clock
    }

    #[inline]
    fn continues_variable(&self, entry: usize) -> bool {
        StateEntry::continues(self.field.facts().state, entry)
    }

    fn driver(&self) -> Option<&dyn Driver> {
        Some(self)
    }

    fn start_at(&mut self, x: &Vector<S>) {
        self.field.start_at(x);
    }

    fn hold_sides(&mut self, sides: &[Side]) {
        self.field.hold_sides(sides);
    }

    fn hold_laws(&mut self, x: Option<&Vector<S>>) {
        self.signal.hold_laws(x.map(|x| S::State::from(*x)).as_ref());
    }

    fn inputs(&self, x: &Vector<S>, inputs: &mut [f64]) {
        inputs.iter_mut().zip(self.input(x)).for_each(|(input, given)| *input = given);
    }

    fn switches(&self, x: &Vector<S>, values: &mut [f64]) {
        self.field.switches_with(self.input(x), x, values);
    }

    fn switch_rate(&self, x: &Vector<S>, place: usize) -> f64 {
        self.field.switch_rate_with(self.input(x), x, place)
    }
}

impl<S: DrivenSystem, F, I: Signal<S>> Driver for Driven<S, F, I> {
    fn hold(&self, time: f64) -> f64 {
        self.undefined.set(None);
        self.signal.hold(time)
    }

    fn range(&self) -> [f64; 2] {
        self.signal.range()
    }

    fn undefined(&self) -> Option<UndefinedInput> {
        self.undefined.get()
    }

    fn has_sampled_laws(&self) -> bool {
        self.signal.has_sampled_laws()
    }
}

/// Returns `true` if a row of a table holds at a time: a run may start a rounding before its jump.
#[doc(hidden)]
pub fn holds_at(from: f64, time: f64) -> bool {
    from <= time + 1e-12 * from.abs().max(f64::MIN_POSITIVE)
}

/// A table of inputs that holds each from its time until the next (zero-order hold), as by a digital controller.
#[cfg(feature = "std")]
#[derive(Clone, Debug)]
pub struct Held<I> {
    samples: Vec<(f64, I)>,
    until: f64,
    /// The sample that holds during the step.
    current: Cell<usize>,
}

#[cfg(feature = "std")]
impl<I> Held<I> {
    /// The table of these inputs with the times from which they hold, the last one until `until`.
    ///
    /// # Errors
    ///
    /// [`Error::HeldTimes`] without inputs, or if the times with `until` do not increase or are not finite.
    pub fn new(samples: impl Into<Vec<(f64, I)>>, until: f64) -> Result<Self, Error> {
        let samples = samples.into();
        let times: Vec<f64> = samples.iter().map(|(time, _)| *time).chain([until]).collect();
        let increases = |pair: &[f64]| pair[0] < pair[1] && pair[0].is_finite() && pair[1].is_finite();
        match times.windows(2).position(|pair| !increases(pair)) {
            _ if samples.is_empty() => Err(Error::HeldTimes { index: 0, time: until, before: None }),
            Some(index) => {
                Err(Error::HeldTimes { index: index + 1, time: times[index + 1], before: Some(times[index]) })
            }
            None => Ok(Self { samples, until, current: Cell::new(0) }),
        }
    }

    /// Where the sample after this one begins.
    fn end(&self, index: usize) -> f64 {
        self.samples.get(index + 1).map_or(self.until, |(time, _)| *time)
    }
}

#[cfg(feature = "std")]
impl<S: DrivenSystem<Input = I>, I: Clone> Signal<S> for Held<I> {
    #[inline]
    fn at(&self, _: f64, _: &S::State) -> I {
        self.samples[self.current.get()].1.clone()
    }

    fn hold(&self, time: f64) -> f64 {
        let current = self.samples.partition_point(|(from, _)| holds_at(*from, time)).saturating_sub(1);
        self.current.set(current);
        let end = self.end(current);
        if end < self.until { end } else { f64::INFINITY }
    }

    fn series(&self, _: f64, later: &mut [S::Inputs<f64>]) -> bool {
        later.fill(filled(0.0));
        true
    }

    fn range(&self) -> [f64; 2] {
        [self.samples.first().map_or(self.until, |(time, _)| *time), self.until]
    }
}

/// A table of inputs between whose rows they are linear in time (first-order hold). Each step ends where the slope changes.
///
/// ```
/// use fbint_runtime::{Linear, Method, Simulation, feedback_system};
///
/// /// A mass on rails with a motor.
/// #[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, input(thrust), force(p = thrust))]
/// pub struct Trolley;
///
/// let ramp = [(0.0, 0.0), (1.0, 3.0)].map(|(time, thrust)| (time, TrolleyInput { thrust }));
/// let run = Simulation::new(&Trolley, TrolleyState::default())?
///     .input(Linear::new(ramp, 2.0)?)
///     .run(Method::Rk4 { h: 0.1 }, 2.0)?;
/// // It is 3 t until t = 1, and 3 from then on.
/// assert!((run.state().p - 4.5).abs() < 1e-12);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Clone, Debug)]
pub struct Linear<I>(Held<I>);

#[cfg(feature = "std")]
impl<I> Linear<I> {
    /// The table of inputs at these times; the last ones hold until `until`.
    ///
    /// # Errors
    ///
    /// See [`Held::new`].
    pub fn new(samples: impl Into<Vec<(f64, I)>>, until: f64) -> Result<Self, Error> {
        Held::new(samples, until).map(Self)
    }

    /// The rows between which the step is; the last one holds until the end.
    fn ends<S: DrivenSystem<Input = I>>(&self) -> [(f64, S::Inputs<f64>); 2]
    where
        I: Clone + Into<S::Inputs<f64>>,
    {
        let Held { samples, current, until } = &self.0;
        let row = |(time, input): &(f64, I)| (*time, input.clone().into());
        let first = row(&samples[current.get()]);
        [first, samples.get(current.get() + 1).map_or((*until, first.1), row)]
    }
}

#[cfg(feature = "std")]
impl<S: DrivenSystem<Input = I>, I: Clone + Into<S::Inputs<f64>> + From<S::Inputs<f64>>> Signal<S> for Linear<I> {
    fn at(&self, time: f64, _: &S::State) -> I {
        let [(from, first), (until, next)] = self.ends::<S>();
        let weight = (time - from) / (until - from);
        let inputs: S::Inputs<f64> = Entries::from_fn(|i| first[i] + weight * (next[i] - first[i]));
        I::from(inputs)
    }

    fn series(&self, _: f64, later: &mut [S::Inputs<f64>]) -> bool {
        let [(from, first), (until, next)] = self.ends::<S>();
        later.fill(filled(0.0));
        if let Some(slope) = later.first_mut() {
            *slope = Entries::from_fn(|i| (next[i] - first[i]) / (until - from));
        }
        true
    }

    fn hold(&self, time: f64) -> f64 {
        Signal::<S>::hold(&self.0, time)
    }

    fn range(&self) -> [f64; 2] {
        Signal::<S>::range(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback_system;
    use crate::field::PlainField;
    use crate::numbers::linear::filled;

    /// A point that is pushed.
    #[feedback_system(
        coordinates(q: [2]),
        momenta(p: [2]),
        input(push),
        hamiltonian = p.norm_squared() / 2,
        force(p = vector![push, 0.0]),
        crate = crate,
    )]
    struct Pushed;

    /// Differences as short as an entry that is nearly 0 would be lost in what the signal is rounded by.
    #[test]
    fn differences_of_signals_have_the_size_of_the_variable() {
        let signal = |_: f64, state: &PushedState| PushedInput { push: (state.q[0] + 0.3).sin() };
        let driven = Driven::<Pushed, _, _>::new(PlainField::new(&Pushed), signal);
        let mut x: Vector<Pushed> = filled(0.0);
        (x[0], x[1]) = (1e-12, 1.0);
        let slope = driven.slope(&x, 0)[0];
        assert!((slope - 0.3_f64.cos()).abs() < 1e-9, "{slope}");
    }
}
