//! A model from text as a system of the runtime.

use std::array;

use fbint_runtime::{DrivenSystem, Entry, FeedbackSystem, HamelSteps, HamelSystem, Scalar, SystemFacts, Vector};

use crate::code::{Code, Destination, Source};
use crate::functions::{Functions, HamelFunctions};
use crate::prepared::TextPrepared;

/// A model from text with values for its parameters, in states of `N` entries and with `M` integrals.
///
/// Entries beyond those of the state, the integrals, the outputs or the inputs are 0. Its functions give the bits of those of the struct
/// that the same text declares in a crate that has no computer algebra.
#[derive(Clone, Debug)]
pub struct TextModel<const N: usize, const M: usize> {
    functions: &'static Functions,
    parameters: Vec<f64>,
}

impl<const N: usize, const M: usize> TextModel<N, M> {
    /// The model with the values that `default(..)` declares; without it every parameter is not a number until it is given.
    pub(crate) fn new(functions: &'static Functions) -> Self {
        let count = functions.facts().parameter_names.len();
        let defaults = functions.defaults.as_ref().map(|defaults| of_parameters(defaults, &[], count));
        let parameters = defaults.unwrap_or_else(|| vec![f64::NAN; count]);
        Self { functions, parameters }
    }

    /// Whether `default(..)` declares values for the parameters, or there are none.
    pub fn has_defaults(&self) -> bool {
        self.functions.defaults.is_some() || self.parameters.is_empty()
    }

    /// The values of the parameters, in the order of [`parameter_names`](SystemFacts::parameter_names).
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The start that the text declares, for these parameters.
    ///
    /// # Errors
    ///
    /// What to add to the text, where it declares none, or no value for a parameter that has not been given one.
    pub fn beginning(&self) -> Result<[f64; N], String> {
        let SystemFacts { name, parameter_names, .. } = self.facts();
        if let Some((missing, _)) = parameter_names.iter().zip(&self.parameters).find(|(_, value)| value.is_nan()) {
            return Err(format!(
                "the parameter `{missing}` of `{name}` has no value: give it one, or add `default({missing} = ..)` to the attribute, \
                 with a value for each parameter"
            ));
        }
        self.declared_start().ok_or_else(|| {
            format!("`{name}` does not say where a run begins: give a state, or add `start(..)` to the attribute, with a value for each variable")
        })
    }
}

/// The numbers that a program of parameters gives.
fn of_parameters(code: &Code, parameters: &[f64], count: usize) -> Vec<f64> {
    let mut numbers = vec![0.0; count];
    let mut sources: [&[f64]; 5] = [&[]; 5];
    sources[Source::Prepared as usize] = parameters;
    code.evaluate(sources, &|_, _| {}, Destination::List(&mut numbers));
    numbers
}

impl<const N: usize, const M: usize> FeedbackSystem for TextModel<N, M> {
    type Vector<T: Entry> = [T; N];
    type Integrals<T: Entry> = [T; M];
    type Outputs<T: Entry> = [T; N];
    type State = [f64; N];
    type Prepared<T: Scalar> = TextPrepared<T, N, M>;

    fn facts(&self) -> &'static SystemFacts {
        self.functions.facts()
    }

    fn hamel_steps(&self) -> Option<HamelSteps<Self>> {
        self.functions.hamel.as_ref().map(|_| HamelSteps::OF_SYSTEM)
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        self.parameters.get(index).copied()
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        self.parameters.get_mut(index)
    }

    fn declared_start(&self) -> Option<[f64; N]> {
        let start = of_parameters(self.functions.start.as_ref()?, &self.parameters, N);
        Some(array::from_fn(|entry| start[entry]))
    }

    fn prepare(&self) -> TextPrepared<f64, N, M> {
        let numbers = of_parameters(&self.functions.prepare, &self.parameters, self.functions.prepared);
        TextPrepared::new(self.functions, |place| numbers[place], |_| 0.0)
    }

    fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a TextPrepared<f64, N, M>) -> TextPrepared<T, N, M> {
        let number = |place: usize| T::from_lanes(&|lane| member(lane).prepared()[place]);
        let input = |place: usize| T::from_lanes(&|lane| member(lane).inputs()[place]);
        TextPrepared::new(member(0).functions(), number, input)
    }
}

/// Of a model without inputs all of them are 0, and change nothing.
impl<const N: usize, const M: usize> DrivenSystem for TextModel<N, M> {
    type Inputs<T: Entry> = [T; N];
    type Input = [f64; N];

    fn with_input<T: Scalar>(system: TextPrepared<T, N, M>, input: [T; N]) -> TextPrepared<T, N, M> {
        system.with_input(input)
    }
}

/// Of a model that has no discrete Hamel integrator, see [`FeedbackSystem::hamel_steps`], nothing here is a number.
impl<const N: usize, const M: usize> HamelSystem for TextModel<N, M> {
    fn momentum_state<T: Scalar>(system: &TextPrepared<T, N, M>, x: &Vector<Self, T>) -> Vector<Self, T> {
        hamel_list(system, x, |hamel| &hamel.momentum_state)
    }

    fn momentum_rates<T: Scalar>(system: &TextPrepared<T, N, M>, x: &Vector<Self, T>) -> Vector<Self, T> {
        hamel_list(system, x, |hamel| &hamel.momentum_rates)
    }

    fn momentum_state_jacobian<T: Scalar>(system: &TextPrepared<T, N, M>, x: &[T; N]) -> [[T; N]; N] {
        hamel_matrix(system, x, |hamel| &hamel.momentum_state_jacobian)
    }

    fn momentum_rates_jacobian<T: Scalar>(system: &TextPrepared<T, N, M>, x: &[T; N]) -> [[T; N]; N] {
        hamel_matrix(system, x, |hamel| &hamel.momentum_rates_jacobian)
    }
}

fn hamel_list<T: Scalar, const N: usize, const M: usize>(
    system: &TextPrepared<T, N, M>,
    x: &[T; N],
    code: fn(&HamelFunctions) -> &Code,
) -> [T; N] {
    let hamel = system.functions().hamel.as_ref();
    hamel.map_or([T::from_f64(f64::NAN); N], |hamel| system.list(code(hamel), x))
}

fn hamel_matrix<T: Scalar, const N: usize, const M: usize>(
    system: &TextPrepared<T, N, M>,
    x: &[T; N],
    code: fn(&HamelFunctions) -> &Code,
) -> [[T; N]; N] {
    let hamel = system.functions().hamel.as_ref();
    hamel.map_or([[T::from_f64(f64::NAN); N]; N], |hamel| system.matrix(code(hamel), x))
}
