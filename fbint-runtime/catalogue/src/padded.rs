//! Systems of any size in vectors of a few lengths: what integrates them is compiled once for each length, and not again for every model.

use std::any::Any;
use std::sync::Arc;
use std::{array, fmt, ptr};

use fbint_runtime::{
    DrivenSystem, Dual, Entry, FeedbackLaw, FeedbackSystem, FourLanes, HamelFunctions, HamelSystem, MediumLanes,
    NarrowLanes, PreparedSystem, Scalar, Signal, SystemFacts, TaylorFunctions, Vector,
};

use crate::flat_model::{FlatModel, FlatSignal};
use crate::functions::{FlatFunctions, Functions, Given, ListFunction, MatrixFunction, Source};
use crate::inputs::{Inputs, signal};
pub use crate::vectors::{MOST_ENTRIES, MOST_INTEGRALS, fits};
use crate::vectors::{PREPARED, length};

/// An operation on a model, whatever the lengths of its vectors.
pub trait Visitor {
    /// The result.
    type Output;

    /// Does it with a model whose states have `N` entries, and whose integrals have `M`.
    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output;
}

/// The visitor's result for a model, in the shortest vectors that are long enough, if there are any.
pub fn visit<V: Visitor>(model: Box<dyn FlatModel>, visitor: V) -> Option<V::Output> {
    let facts = model.facts();
    let length = length(facts);
    Some(match facts.integrals.len() {
        // A pendulum, a top or a cart.
        0..=8 if length <= 8 => visitor.visit::<8, 8>(Padded { model }),
        // A linkage, a rigid body or a chain of two links.
        0..=16 if length <= 16 => visitor.visit::<16, 16>(Padded { model }),
        // Several bodies, or a chain of a few links.
        _ if fits(facts) => visitor.visit::<MOST_ENTRIES, MOST_INTEGRALS>(Padded { model }),
        _ => return None,
    })
}

/// A model in states of `N` entries and with `M` integrals. Entries beyond its own, and beyond its outputs and inputs, are 0.
pub struct Padded<const N: usize, const M: usize> {
    model: Box<dyn FlatModel>,
}

impl<const N: usize, const M: usize> Padded<N, M> {
    /// The model in vectors of these lengths, which must be long enough.
    pub fn new(model: Box<dyn FlatModel>) -> Self {
        Self { model }
    }
}

impl<const N: usize, const M: usize> fmt::Debug for Padded<N, M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Padded").field("name", &self.facts().name).finish_non_exhaustive()
    }
}

impl<const N: usize, const M: usize> FeedbackSystem for Padded<N, M> {
    type Vector<T: Entry> = [T; N];
    type Integrals<T: Entry> = [T; M];
    type Outputs<T: Entry> = [T; N];
    type State = [f64; N];
    type Prepared<T: Scalar> = PaddedPrepared<T, N, M>;

    fn facts(&self) -> &'static SystemFacts {
        self.model.facts()
    }

    fn hamel_functions(&self) -> Option<HamelFunctions<Self>> {
        self.facts().has_hamel_steps.then_some(HamelFunctions::OF_SYSTEM)
    }

    const MAY_HAVE_SERIES: bool = true;

    fn taylor_functions(system: &PaddedPrepared<f64, N, M>) -> Result<TaylorFunctions<Self>, &'static str> {
        let expand =
            |system: &PaddedPrepared<f64, N, M>, given: &[f64], coefficients: &mut [f64], memory: &mut [FourLanes]| {
                if let Ok(series) = system.shared.flat.series() {
                    series.expand(&system.given(&[], given, &[]), coefficients, N, memory);
                }
            };
        Ok(TaylorFunctions { shape: system.shared.flat.series()?.shape(), expand })
    }

    fn law_period(&self) -> f64 {
        self.model.law_period()
    }

    fn events_at(&self, x: &[f64; N], inputs: &[f64], values: &mut [f64]) {
        values.copy_from_slice(&self.model.events_at(&x[..self.facts().state.len()], inputs));
    }

    fn drawing_at(&self, x: &[f64; N], values: &mut [f64]) {
        values.copy_from_slice(&self.model.drawing_at(&x[..self.facts().state.len()]));
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        self.model.parameter(index)
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        self.model.parameter_mut(index)
    }

    fn prepare(&self) -> PaddedPrepared<f64, N, M> {
        let numbers = self.model.prepared();
        PaddedPrepared::new(self.model.functions(), |place| numbers[place], |_| 0.0)
    }

    fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a PaddedPrepared<f64, N, M>) -> PaddedPrepared<T, N, M> {
        let number = |place: usize| T::from_lanes(&|lane| member(lane).prepared.as_flattened()[place]);
        let input = |place: usize| T::from_lanes(&|lane| member(lane).inputs[place]);
        PaddedPrepared::new(Arc::clone(&member(0).shared.flat), number, input)
    }
}

impl<const N: usize, const M: usize> Padded<N, M> {
    /// The model on slices.
    pub(crate) fn flat(&self) -> &dyn FlatModel {
        &*self.model
    }

    /// The source of its inputs, where some are given or none.
    pub(crate) fn signal(&self, given: Option<&Inputs>) -> Option<PaddedSignal> {
        let signal = signal(&*self.model, given)?;
        Some(PaddedSignal { signal, entries: self.facts().state.len() })
    }
}

/// A signal for states of this length.
pub(crate) struct PaddedSignal {
    signal: Box<dyn FlatSignal>,
    entries: usize,
}

impl Clone for PaddedSignal {
    fn clone(&self) -> Self {
        Self { signal: self.signal.copied(), ..*self }
    }
}

impl<const N: usize, const M: usize> Signal<Padded<N, M>> for PaddedSignal {
    fn at(&self, time: f64, state: &[f64; N]) -> [f64; N] {
        let mut inputs = [0.0; N];
        self.signal.at(time, &state[..self.entries], &mut inputs);
        inputs
    }

    fn hold(&self, time: f64) -> f64 {
        self.signal.hold(time)
    }

    fn range(&self) -> [f64; 2] {
        self.signal.range()
    }

    fn series(&self, time: f64, later: &mut [[f64; N]]) -> bool {
        self.signal.series(time, N, later.as_flattened_mut())
    }

    fn has_sampled_laws(&self) -> bool {
        self.signal.has_sampled_laws()
    }

    fn hold_laws(&self, state: Option<&[f64; N]>) {
        self.signal.hold_laws(state.map(|state| &state[..self.entries]));
    }
}

/// In a model without inputs all of them are 0, and change nothing.
impl<const N: usize, const M: usize> DrivenSystem for Padded<N, M> {
    type Inputs<T: Entry> = [T; N];
    type Input = [f64; N];

    fn with_input<T: Scalar>(system: PaddedPrepared<T, N, M>, inputs: [T; N]) -> PaddedPrepared<T, N, M> {
        system.with_inputs(&inputs)
    }
}

/// In a model without a discrete Hamel integrator, see [`FeedbackSystem::hamel_functions`], everything here is 0.
impl<const N: usize, const M: usize> HamelSystem for Padded<N, M> {
    fn momentum_state<T: Scalar>(system: &PaddedPrepared<T, N, M>, x: &Vector<Self, T>) -> Vector<Self, T> {
        system.list(ListFunction::MomentumState, x)
    }

    fn momentum_rates<T: Scalar>(system: &PaddedPrepared<T, N, M>, x: &Vector<Self, T>) -> Vector<Self, T> {
        system.list(ListFunction::MomentumRates, x)
    }

    fn momentum_state_jacobian<T: Scalar>(system: &PaddedPrepared<T, N, M>, x: &[T; N]) -> [[T; N]; N] {
        system.matrix(MatrixFunction::MomentumStateJacobian, x)
    }

    fn momentum_rates_jacobian<T: Scalar>(system: &PaddedPrepared<T, N, M>, x: &[T; N]) -> [[T; N]; N] {
        system.matrix(MatrixFunction::MomentumRatesJacobian, x)
    }
}

/// A [`Padded`] model with everything computed that depends on its parameters alone.
#[derive(Clone)]
pub struct PaddedPrepared<T: 'static, const N: usize, const M: usize> {
    facts: &'static SystemFacts,
    shared: Arc<Shared<T>>,
    /// Values that depend on parameters alone, then zeros.
    prepared: [[T; N]; PREPARED],
    /// Its inputs, then the sides of its switches, then zeros.
    inputs: [T; N],
    zero_targets: [bool; M],
}

/// The functions of a model. Each run counts its copies apart, so that threads share no counter.
struct Shared<T> {
    flat: Arc<dyn FlatFunctions>,
    /// In numbers of this type.
    functions: Arc<dyn Functions<T>>,
}

impl<T: fmt::Debug, const N: usize, const M: usize> fmt::Debug for PaddedPrepared<T, N, M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PaddedPrepared").field("name", &self.facts.name).finish_non_exhaustive()
    }
}

impl<T: PartialEq, const N: usize, const M: usize> PartialEq for PaddedPrepared<T, N, M> {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.facts, other.facts) && self.prepared == other.prepared && self.inputs == other.inputs
    }
}

impl<T: Scalar, const N: usize, const M: usize> PaddedPrepared<T, N, M> {
    fn new(flat: Arc<dyn FlatFunctions>, prepared: impl Fn(usize) -> T, input: impl Fn(usize) -> T) -> Self {
        let mut numbers = [[T::from_f64(0.0); N]; PREPARED];
        for (place, number) in numbers.as_flattened_mut().iter_mut().take(flat.facts().prepared_numbers).enumerate() {
            *number = prepared(place);
        }
        let mut zero_targets = [false; M];
        flat.zero_targets(&mut zero_targets);
        Self {
            facts: flat.facts(),
            shared: Arc::new(Shared { functions: functions_in(&flat), flat }),
            prepared: numbers,
            inputs: array::from_fn(input),
            zero_targets,
        }
    }

    /// The system with these inputs, whose entries beyond are not its own.
    fn with_inputs(mut self, inputs: &[T; N]) -> Self {
        let own = self.facts.input_names.len();
        self.inputs[..own].copy_from_slice(&inputs[..own]);
        self
    }

    /// A list with a number for each result, then zeros.
    fn list<const L: usize>(&self, function: ListFunction, x: &[T; N]) -> [T; L] {
        self.with_law(function, self.given(x, &[], &[]), &|_| {})
    }

    fn with_law<const L: usize>(&self, function: ListFunction, given: Given<'_, T>, law: &dyn Fn(&mut [T])) -> [T; L] {
        let mut list = [T::from_f64(0.0); L];
        self.shared.functions.list(function, &given, law, &mut list);
        list
    }

    /// The same, row by row.
    fn matrix<const R: usize, const C: usize>(&self, function: MatrixFunction, x: &[T; N]) -> [[T; C]; R] {
        let mut matrix = [[T::from_f64(0.0); C]; R];
        self.shared.functions.matrix(function, &self.given(x, &[], &[]), matrix.as_flattened_mut(), C);
        matrix
    }

    fn given<'a>(&'a self, state: &'a [T], first: &'a [T], second: &'a [T]) -> Given<'a, T> {
        Given::default()
            .with(Source::State, state)
            .with(Source::Prepared, self.prepared.as_flattened())
            .with(Source::Inputs, &self.inputs)
            .with(Source::First, first)
            .with(Source::Second, second)
    }
}

/// The functions in numbers of one type.
fn functions_in<T: Scalar>(flat: &Arc<dyn FlatFunctions>) -> Arc<dyn Functions<T>> {
    fn same<G: 'static, T: Scalar>(given: G) -> Option<Arc<dyn Functions<T>>> {
        (&given as &dyn Any).downcast_ref().cloned()
    }
    let flat = || Arc::clone(flat);
    same::<Arc<dyn Functions<f64>>, T>(flat())
        .or_else(|| same::<Arc<dyn Functions<NarrowLanes>>, T>(flat()))
        .or_else(|| same::<Arc<dyn Functions<MediumLanes>>, T>(flat()))
        .or_else(|| same::<Arc<dyn Functions<Dual>>, T>(flat()))
        .unwrap_or_else(|| Arc::new(NoFunctions))
}

/// Stands for functions that do not exist for a type of numbers: every result is NaN.
struct NoFunctions;

impl<T: Scalar> Functions<T> for NoFunctions {
    fn list(&self, _: ListFunction, _: &Given<'_, T>, _: &dyn Fn(&mut [T]), list: &mut [T]) {
        list.fill(T::from_f64(f64::NAN));
    }

    fn matrix(&self, _: MatrixFunction, _: &Given<'_, T>, matrix: &mut [T], _: usize) {
        matrix.fill(T::from_f64(f64::NAN));
    }

    fn jacobian(&self, _: &Given<'_, T>, _: bool, _: &mut dyn FnMut(usize, usize, T)) -> bool {
        false
    }
}

/// A law on a fixed number of integrals as one on slices.
fn on_slices<T: Scalar, const M: usize>(law: impl Fn([T; M]) -> [T; M]) -> impl Fn(&mut [T]) {
    move |integrals| {
        let mut all = [T::from_f64(0.0); M];
        all.iter_mut().zip(&*integrals).for_each(|(entry, integral)| *entry = *integral);
        integrals.iter_mut().zip(law(all)).for_each(|(integral, entry)| *integral = entry);
    }
}

impl<T: Scalar, const N: usize, const M: usize> PreparedSystem<T> for PaddedPrepared<T, N, M> {
    type System = Padded<N, M>;

    fn facts(&self) -> &'static SystemFacts {
        self.facts
    }

    fn vector_field(&self, x: &[T; N]) -> [T; N] {
        self.list(ListFunction::VectorField, x)
    }

    fn integrals(&self, x: &[T; N]) -> [T; M] {
        self.list(ListFunction::Integrals, x)
    }

    fn integrals_jacobian(&self, x: &[T; N]) -> [[T; N]; M] {
        self.matrix(MatrixFunction::IntegralsJacobian, x)
    }

    fn multipliers(&self, x: &[T; N]) -> [T; M] {
        self.list(ListFunction::Multipliers, x)
    }

    fn outputs(&self, x: &[T; N]) -> [T; N] {
        self.list(ListFunction::Outputs, x)
    }

    fn zero_targets(&self) -> [bool; M] {
        self.zero_targets
    }

    fn normalisation(&self) -> [[T; 3]; M] {
        self.matrix(MatrixFunction::Normalisation, &[T::from_f64(0.0); N])
    }

    fn potential_gradient<L: FeedbackLaw<Padded<N, M>, T>>(&self, x: &[T; N], law: &L) -> [T; N] {
        let law = on_slices(|forms| law.weigh_normalised(forms, self));
        self.with_law(ListFunction::PotentialGradient, self.given(x, &[], &[]), &law)
    }

    fn feedback_field<L: FeedbackLaw<Padded<N, M>, T>>(&self, x: &[T; N], law: &L) -> [T; N] {
        let law = on_slices(|forms| law.weigh_normalised(forms, self));
        self.with_law(ListFunction::FeedbackField, self.given(x, &[], &[]), &law)
    }

    fn projection<L: FeedbackLaw<Padded<N, M>, T>>(
        &self,
        x: &[T; N],
        variances: &[T; N],
        noise: &[T; M],
        law: &L,
    ) -> [T; N] {
        let law = on_slices(|integrals| law.weigh(integrals));
        self.with_law(ListFunction::Projection, self.given(x, variances, noise), &law)
    }

    fn under_law(&self, x: &[T; N]) -> Self {
        self.clone().with_inputs(&self.list(ListFunction::Law, x))
    }

    fn inputs_into(&self, values: &mut [T]) {
        values.iter_mut().zip(self.inputs).for_each(|(value, input)| *value = input);
    }

    fn with_law_slopes(&self, x: &[T; N], work: &mut dyn FnMut(&Self, &dyn Fn(usize, usize) -> T)) {
        let slopes: [[T; N]; N] = self.matrix(MatrixFunction::LawJacobian, x);
        work(&self.under_law(x), &|input, entry| slopes[input][entry]);
    }

    fn switches_at(&self, x: &[T; N], values: &mut [T]) {
        let switches: [T; N] = self.list(ListFunction::Switches, x);
        values.iter_mut().zip(switches).for_each(|(value, switch)| *value = switch);
    }

    fn switch_at(&self, x: &[T; N], place: usize) -> T {
        let switches: [T; N] = self.list(ListFunction::Switches, x);
        switches[place]
    }

    fn on_side(&self, place: usize, side: T) -> Self {
        let mut system = self.clone();
        system.inputs[self.facts.input_names.len() + place] = side;
        system
    }

    fn jacobian(&self, x: &[T; N], feedback: Option<[&[T; M]; 2]>, add: &mut dyn FnMut(usize, usize, T)) -> bool {
        let [first, second]: [&[T]; 2] = feedback.map_or([&[]; 2], |[gains, targets]| [gains, targets]);
        let given = self.given(x, first, second);
        self.shared.functions.jacobian(&given, feedback.is_some(), add)
    }
}
