//! A model from text, with what evaluates its functions.

use std::fmt;
use std::sync::Arc;

use fbint_catalogue::{
    Entry, FlatFunctions, FlatModel, FlatSeries, Functions, Given, ListFunction, MatrixFunction, Source,
};
use fbint_macros_core::text::Model;
use fbint_runtime::{Dual, Error, Lanes, Scalar, SystemFacts};

use crate::code::{Code, Destination};
use crate::evaluate::{each, first_list, interpreted_entries, interpreted_list, machine_list};
use crate::functions::ModelFunctions;

/// A model from text with values for its parameters.
///
/// Its functions give the same bits as the struct of that text in a crate without computer algebra.
#[derive(Clone, Debug)]
pub struct TextModel {
    pub(crate) functions: Arc<ModelFunctions>,
    parameters: Vec<f64>,
}

impl TextModel {
    /// The model with the values that `default(..)` declares; without it every parameter is not a number until it is given.
    pub(crate) fn new(functions: Arc<ModelFunctions>) -> Self {
        let count = functions.facts.parameter_names.len();
        let defaults = functions.defaults.as_ref().map(|defaults| of_parameters(defaults, &[], &[], count));
        Self { functions, parameters: defaults.unwrap_or_else(|| vec![f64::NAN; count]) }
    }

    /// The model as what the command runs.
    pub fn entry(&self) -> Entry {
        let model = self.clone();
        Entry::flat(Arc::new(move || Box::new(model.clone())))
    }

    /// The derivation and the programs.
    pub fn declared(&self) -> &Arc<Model> {
        &self.functions.model
    }
}

impl FlatModel for TextModel {
    fn facts(&self) -> &'static SystemFacts {
        self.functions.facts
    }

    fn source(&self) -> &str {
        self.functions.source()
    }

    fn write_code(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Model { declaration: [attribute, item], programs, events, drawing, .. } = &*self.functions.model;
        write!(out, "{attribute}\n{item}\n{}{}", programs.prepare, programs.normalisation)?;
        programs.functions().try_for_each(|(function, program)| write!(out, "{}\n{program}", function.name))?;
        write!(out, "{}{events}{drawing}", programs.field_of_series())
    }

    fn equations(&self) -> &str {
        self.functions.equations()
    }

    fn latex(&self) -> &str {
        self.functions.latex()
    }

    fn with_laws(&self, laws: &[(&str, &str)], others: &[&str]) -> Option<String> {
        let SystemFacts { clock, state, .. } = *self.facts();
        self.functions.model.with_laws(laws, others, state[clock?].name)
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        self.parameters.get(index).copied()
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        self.parameters.get_mut(index)
    }

    fn functions(&self) -> Arc<dyn FlatFunctions> {
        Arc::clone(&self.functions) as Arc<dyn FlatFunctions>
    }

    fn prepared(&self) -> Vec<f64> {
        of_parameters(&self.functions.prepare, &self.parameters, &[], self.facts().prepared_numbers)
    }

    fn prepared_slopes(&self, parameter: usize) -> Option<Vec<f64>> {
        let slope = |index: usize| if index == parameter { 1.0 } else { 0.0 };
        let parameters = self.parameters.iter().enumerate().map(|(index, &value)| Dual { value, slope: slope(index) });
        let parameters: Vec<Dual> = parameters.collect();
        let mut numbers = vec![Dual::from_f64(0.0); self.facts().prepared_numbers];
        let given = Given::default().with(Source::Prepared, &parameters);
        self.functions.prepare.evaluate(&given, &|_, _| {}, Destination::List(&mut numbers));
        Some(numbers.iter().map(|number| number.slope).collect())
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        let SystemFacts { name: model, state, .. } = *self.facts();
        let start = self.functions.start.as_ref().ok_or(Error::NoStart { model })?;
        Ok(of_parameters(start, &self.parameters, &[], state.len()))
    }

    fn law_period(&self) -> f64 {
        let period = self.functions.law_period.as_ref();
        period.map_or(f64::INFINITY, |period| of_parameters(period, &self.parameters, &[], 1)[0])
    }

    fn events_at(&self, state: &[f64], inputs: &[f64]) -> Vec<f64> {
        let given = Given::default().with(Source::Prepared, &self.parameters).with(Source::State, state);
        evaluated(&self.functions.events, &given.with(Source::Inputs, inputs), self.facts().event_values())
    }

    fn drawing_at(&self, state: &[f64]) -> Vec<f64> {
        of_parameters(&self.functions.drawing, &self.parameters, state, self.facts().drawing_values())
    }
}

/// The numbers that a program of parameters gives, in a state if it takes one.
fn of_parameters(code: &Code, parameters: &[f64], state: &[f64], count: usize) -> Vec<f64> {
    evaluated(code, &Given::default().with(Source::Prepared, parameters).with(Source::State, state), count)
}

/// The numbers that a program gives.
fn evaluated(code: &Code, given: &Given<'_, f64>, count: usize) -> Vec<f64> {
    let mut numbers = vec![0.0; count];
    code.evaluate(given, &|_, _| {}, Destination::List(&mut numbers));
    numbers
}

impl FlatFunctions for ModelFunctions {
    fn facts(&self) -> &'static SystemFacts {
        self.facts
    }

    fn zero_targets(&self, targets: &mut [bool]) {
        targets[..self.zero_targets.len()].copy_from_slice(&self.zero_targets);
    }

    fn series(&self) -> Result<&dyn FlatSeries, &'static str> {
        self.series.made().map(|series| series as &dyn FlatSeries)
    }
}

/// By machine code, if there is any.
impl Functions<f64> for ModelFunctions {
    fn list(&self, function: ListFunction, given: &Given<'_, f64>, law: &dyn Fn(&mut [f64]), list: &mut [f64]) {
        let Some(code) = self.of_list(function) else { return };
        match code.made_machine() {
            Some(machine) => machine_list(machine, given, law, list),
            None => first_list(code, given, law, list),
        }
    }

    fn matrix(&self, function: MatrixFunction, given: &Given<'_, f64>, matrix: &mut [f64], columns: usize) {
        if let Some(code) = self.of_matrix(function) {
            each(code, given, &mut |row, column, number| matrix[row * columns + column] = number);
        }
    }

    fn jacobian(&self, given: &Given<'_, f64>, with_feedback: bool, add: &mut dyn FnMut(usize, usize, f64)) -> bool {
        match &self.jacobians {
            Some(jacobians) => each(&jacobians[usize::from(with_feedback)], given, add),
            None => dual_jacobian(self, given, with_feedback, add),
        }
        true
    }
}

/// Interpreted: machine code is of single numbers.
macro_rules! interpreted {
    ($([$($parameter:tt)*] $number:ty, $jacobian:ident;)*) => {$(
        impl<$($parameter)*> Functions<$number> for ModelFunctions {
            fn list(
                &self,
                function: ListFunction,
                given: &Given<'_, $number>,
                law: &dyn Fn(&mut [$number]),
                list: &mut [$number],
            ) {
                if let Some(code) = self.of_list(function) {
                    interpreted_list(code, given, law, list);
                }
            }

            fn matrix(
                &self,
                function: MatrixFunction,
                given: &Given<'_, $number>,
                matrix: &mut [$number],
                columns: usize,
            ) {
                if let Some(code) = self.of_matrix(function) {
                    interpreted_entries(code, given, &mut |row, column, number| matrix[row * columns + column] = number);
                }
            }

            fn jacobian(
                &self,
                given: &Given<'_, $number>,
                with_feedback: bool,
                add: &mut dyn FnMut(usize, usize, $number),
            ) -> bool {
                match &self.jacobians {
                    Some(jacobians) => interpreted_entries(&jacobians[usize::from(with_feedback)], given, add),
                    None => $jacobian(self, given, with_feedback, add),
                }
                true
            }
        }
    )*};
}

interpreted! {
    [const V: usize] Lanes<V>, jacobian_of_lanes;
    [] Dual, no_jacobian;
}

/// The Jacobian of the field, or of the field with feedback, of a model without the key `derivatives`: by dual numbers, a column at a time.
fn dual_jacobian(
    functions: &ModelFunctions,
    given: &Given<'_, f64>,
    with_feedback: bool,
    add: &mut dyn FnMut(usize, usize, f64),
) {
    let (states, inputs) = (functions.facts.state.len(), functions.facts.input_names.len());
    let integrals = functions.facts.integrals.len();
    let mut normalisation = vec![0.0; 3 * integrals];
    if with_feedback {
        Functions::<f64>::matrix(functions, MatrixFunction::Normalisation, given, &mut normalisation, 3);
    }
    let constant = |source: Source| given[source].iter().map(|&number| Dual::from_f64(number)).collect::<Vec<_>>();
    let (gains, targets) = (constant(Source::First), constant(Source::Second));
    // y = K (F - F_target), in the normalised form in which the field hands F over.
    let law = |forms: &mut [Dual]| {
        for (integral, form) in forms.iter_mut().enumerate() {
            let [factor, scale, offset] = [0, 1, 2].map(|column| Dual::from_f64(normalisation[3 * integral + column]));
            *form = factor * gains[integral] * (scale * (*form + offset) - targets[integral]);
        }
    };
    let function = if with_feedback { ListFunction::FeedbackField } else { ListFunction::VectorField };
    let (mut state, prepared, mut input) =
        (constant(Source::State), constant(Source::Prepared), constant(Source::Inputs));
    let mut rates = vec![Dual::from_f64(0.0); states.next_multiple_of(2)];
    for column in 0..states + inputs {
        let place = |state: &mut [Dual], input: &mut [Dual], slope: f64| match column.checked_sub(states) {
            None => state[column].slope = slope,
            Some(entry) => input[entry].slope = slope,
        };
        place(&mut state, &mut input, 1.0);
        let given =
            Given::default().with(Source::State, &state).with(Source::Prepared, &prepared).with(Source::Inputs, &input);
        Functions::<Dual>::list(functions, function, &given, &law, &mut rates);
        place(&mut state, &mut input, 0.0);
        let slopes = rates.iter().take(states).map(|rate| rate.slope).enumerate();
        slopes.filter(|(_, slope)| *slope != 0.0).for_each(|(row, slope)| add(row, column, slope));
    }
}

/// The same in lanes, one lane after the other.
fn jacobian_of_lanes<const V: usize>(
    functions: &ModelFunctions,
    given: &Given<'_, Lanes<V>>,
    with_feedback: bool,
    add: &mut dyn FnMut(usize, usize, Lanes<V>),
) {
    let columns = functions.facts.state.len() + functions.facts.input_names.len();
    let of_lane = |lane: usize| {
        let lists = given.lists().map(|list| list.iter().map(|numbers| numbers.lane(lane)).collect::<Vec<f64>>());
        let [state, prepared, inputs, first, second] = &lists;
        let given = Given::default()
            .with(Source::State, state)
            .with(Source::Prepared, prepared)
            .with(Source::Inputs, inputs)
            .with(Source::First, first)
            .with(Source::Second, second);
        let mut matrix = vec![0.0; functions.facts.state.len() * columns];
        dual_jacobian(functions, &given, with_feedback, &mut |row, column, entry| {
            matrix[row * columns + column] = entry
        });
        matrix
    };
    let lanes: Vec<Vec<f64>> = (0..Lanes::<V>::COUNT).map(of_lane).collect();
    for place in 0..functions.facts.state.len() * columns {
        if lanes.iter().any(|lane| lane[place] != 0.0) {
            add(place / columns, place % columns, Lanes::from_lanes(&|lane| lanes[lane][place]));
        }
    }
}

/// Nothing integrates dual numbers by a method that takes a Jacobian.
fn no_jacobian(_: &ModelFunctions, _: &Given<'_, Dual>, _: bool, _: &mut dyn FnMut(usize, usize, Dual)) {}
