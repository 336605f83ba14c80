//! A flat model with fixed parameters and inputs, as runs on slices take it.

use std::borrow::Cow;
use std::sync::Arc;

use fbint_runtime::{
    Dual, DynamicalSystem, FlatSystem, FourLanes, Scalar, Scratch, SeriesShape, SystemFacts, with_allocated,
};

use crate::flat_model::{FlatModel, FlatSignal};
use crate::functions::{FlatFunctions, FlatSeries, Given, ListFunction, MatrixFunction, Source};

/// The functions of a model with the numbers that they take besides the state.
pub(crate) struct FlatPrepared {
    functions: Arc<dyn FlatFunctions>,
    facts: &'static SystemFacts,
    prepared: Vec<f64>,
    inputs: Vec<f64>,
    law_period: f64,
}

/// The numbers, followed by a zero if their count is odd: lists of functions have an even length.
pub(crate) fn even(numbers: &[f64]) -> Cow<'_, [f64]> {
    if numbers.len().is_multiple_of(2) { Cow::Borrowed(numbers) } else { Cow::Owned([numbers, &[0.0]].concat()) }
}

fn no_law(_: &mut [f64]) {}

/// Numbers that do not change.
fn constants(numbers: &[f64]) -> Vec<Dual> {
    numbers.iter().map(|value| Dual { value: *value, slope: 0.0 }).collect()
}

impl FlatPrepared {
    /// The model, whose inputs are 0.
    pub(crate) fn new(model: &dyn FlatModel) -> Self {
        let (functions, facts) = (model.functions(), model.facts());
        let inputs = vec![0.0; facts.given_numbers().next_multiple_of(2)];
        let (prepared, law_period) = (even(&model.prepared()).into_owned(), model.law_period());
        Self { functions, facts, prepared, inputs, law_period }
    }

    /// The model with the inputs that it has in a state: by a signal, or by their laws.
    pub(crate) fn at(model: &dyn FlatModel, signal: Option<&dyn FlatSignal>, state: &[f64]) -> Self {
        let mut system = Self::new(model);
        let mut inputs = system.inputs.clone();
        match signal {
            Some(signal) => {
                let time = system.facts.clock.and_then(|clock| state.get(clock)).copied().unwrap_or_default();
                // A table has to know the time before it is asked.
                signal.hold(time);
                signal.at(time, state, &mut inputs[..system.facts.input_names.len()]);
            }
            None if system.facts.has_laws() => system.laws_with(&even(state), &mut inputs),
            None => {}
        }
        system.inputs = inputs;
        system
    }

    fn list(&self, function: ListFunction, given: &Given<'_, f64>, law: &dyn Fn(&mut [f64]), list: &mut [f64]) {
        // Results that vanish identically are not written.
        list.fill(0.0);
        if list.len().is_multiple_of(2) {
            return self.functions.list(function, given, law, list);
        }
        let mut results = vec![0.0; list.len() + 1];
        self.functions.list(function, given, law, &mut results);
        list.copy_from_slice(&results[..list.len()]);
    }

    fn given<'a>(&'a self, x: &'a [f64], inputs: &'a [f64]) -> Given<'a, f64> {
        let given = Given::default().with(Source::State, x).with(Source::Prepared, &self.prepared);
        given.with(Source::Inputs, inputs)
    }

    fn list_at(&self, function: ListFunction, x: &[f64], list: &mut [f64]) {
        self.list(function, &self.given(&even(x), &self.inputs), &no_law, list);
    }

    /// The rows of the Jacobian of the derived field in a state, with these inputs held.
    pub(crate) fn rates_jacobian(&self, state: &[f64]) -> Vec<Vec<f64>> {
        let [prepared, inputs, mut x] = [&self.prepared, &self.inputs, &*even(state)].map(constants);
        let mut jacobian = vec![vec![0.0; state.len()]; state.len()];
        for column in 0..state.len() {
            x[column].slope = 1.0;
            let given = Given::default().with(Source::State, &x).with(Source::Prepared, &prepared);
            let (given, mut rates) = (given.with(Source::Inputs, &inputs), vec![Dual::from_f64(0.0); x.len()]);
            self.functions.list(ListFunction::VectorField, &given, &|_| {}, &mut rates);
            jacobian.iter_mut().zip(rates).for_each(|(row, rate)| row[column] = rate.slope);
            x[column].slope = 0.0;
        }
        jacobian
    }
}

impl DynamicalSystem for FlatPrepared {
    fn facts(&self) -> &'static SystemFacts {
        self.facts
    }

    fn integrals_at(&self, x: &[f64], values: &mut [f64]) {
        self.list_at(ListFunction::Integrals, x, values);
    }

    fn vector_field_at(&self, x: &[f64], rates: &mut [f64]) {
        self.list_at(ListFunction::VectorField, x, rates);
    }

    fn jacobian_at(&self, x: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        let x = even(x);
        let (given, columns) = (self.given(&x, &self.inputs), self.facts.state.len());
        self.functions.matrix(MatrixFunction::IntegralsJacobian, &given, rows, columns);
    }

    fn outputs_at(&self, x: &[f64], values: &mut [f64]) {
        self.list_at(ListFunction::Outputs, x, values);
    }

    fn projection_at(
        &self,
        x: &[f64],
        [variances, noise]: [&[f64]; 2],
        law: &dyn Fn(&mut [f64]),
        correction: &mut [f64],
    ) {
        let (x, variances, noise) = (even(x), even(variances), even(noise));
        let given = self.given(&x, &self.inputs).with(Source::First, &variances).with(Source::Second, &noise);
        self.list(ListFunction::Projection, &given, law, correction);
    }

    fn with_scratch(&self, work: &mut dyn FnMut(Scratch<'_>)) {
        with_allocated(self.facts, work);
    }
}

impl FlatSystem for FlatPrepared {
    fn vector_field_with(&self, x: &[f64], inputs: &[f64], rates: &mut [f64]) {
        self.list(ListFunction::VectorField, &self.given(x, inputs), &no_law, rates);
    }

    fn feedback_field_with(&self, x: &[f64], inputs: &[f64], law: &dyn Fn(&mut [f64]), rates: &mut [f64]) {
        self.list(ListFunction::FeedbackField, &self.given(x, inputs), law, rates);
    }

    fn laws_with(&self, x: &[f64], inputs: &mut [f64]) {
        let mut laws = vec![0.0; self.facts.input_names.len()];
        self.list(ListFunction::Law, &self.given(x, inputs), &no_law, &mut laws);
        inputs[..laws.len()].copy_from_slice(&laws);
    }

    fn law_period(&self) -> f64 {
        self.law_period
    }

    fn switches_with(&self, x: &[f64], inputs: &[f64], values: &mut [f64]) {
        self.list(ListFunction::Switches, &self.given(x, inputs), &no_law, values);
    }

    fn switch_slopes_with(&self, x: &[f64], rates: &[f64], inputs: &[f64], follows_laws: bool, slopes: &mut [f64]) {
        let [prepared, mut inputs, mut x] = [&self.prepared, inputs, x].map(constants);
        x.iter_mut().zip(rates).for_each(|(entry, rate)| entry.slope = *rate);
        let list = |function: ListFunction, inputs: &[Dual], count: usize| {
            let given = Given::default().with(Source::State, &x).with(Source::Prepared, &prepared);
            let mut list = vec![Dual::from_f64(0.0); count.next_multiple_of(2)];
            self.functions.list(function, &given.with(Source::Inputs, inputs), &|_| {}, &mut list);
            list
        };
        if follows_laws {
            let own = self.facts.input_names.len();
            let laws = list(ListFunction::Law, &inputs, own);
            inputs[..own].copy_from_slice(&laws[..own]);
        }
        let switches = list(ListFunction::Switches, &inputs, slopes.len());
        slopes.iter_mut().zip(switches).for_each(|(slope, switch)| *slope = switch.slope);
    }

    fn field_jacobian_with(
        &self,
        x: &[f64],
        inputs: &[f64],
        feedback: Option<[&[f64]; 2]>,
        add: &mut dyn FnMut(usize, usize, f64),
    ) -> bool {
        let [gains, targets] = feedback.unwrap_or_default().map(even);
        let given = self.given(x, inputs).with(Source::First, &gains).with(Source::Second, &targets);
        self.functions.jacobian(&given, feedback.is_some(), add)
    }

    fn law_slopes_with(&self, x: &[f64], inputs: &[f64], slopes: &mut [f64]) {
        let columns = self.facts.state.len();
        self.functions.matrix(MatrixFunction::LawJacobian, &self.given(x, inputs), slopes, columns);
    }

    fn series(&self) -> Result<SeriesShape, &'static str> {
        self.functions.series().map(FlatSeries::shape)
    }

    fn expand_with(
        &self,
        inputs: &[f64],
        given: &[f64],
        coefficients: &mut [f64],
        stride: usize,
        memory: &mut [FourLanes],
    ) {
        if let Ok(series) = self.functions.series() {
            series.expand(&self.given(&[], inputs).with(Source::First, given), coefficients, stride, memory);
        }
    }

    fn momenta_at(&self, of_rates: bool, x: &[f64], list: &mut [f64]) {
        let function = if of_rates { ListFunction::MomentumRates } else { ListFunction::MomentumState };
        self.list(function, &self.given(x, &self.inputs), &no_law, list);
    }

    fn momenta_jacobian_at(&self, of_rates: bool, x: &[f64], rows: &mut [f64]) {
        use MatrixFunction::{MomentumRatesJacobian, MomentumStateJacobian};
        let function = if of_rates { MomentumRatesJacobian } else { MomentumStateJacobian };
        self.functions.matrix(function, &self.given(x, &self.inputs), rows, self.facts.state.len());
    }

    fn zero_targets(&self) -> Vec<bool> {
        let mut targets = vec![false; self.facts.integrals.len()];
        self.functions.zero_targets(&mut targets);
        targets
    }

    fn normalisation(&self) -> Vec<[f64; 3]> {
        let mut numbers = vec![[0.0; 3]; self.facts.integrals.len()];
        let x = vec![0.0; self.facts.state.len().next_multiple_of(2)];
        let given = self.given(&x, &self.inputs);
        self.functions.matrix(MatrixFunction::Normalisation, &given, numbers.as_flattened_mut(), 3);
        numbers
    }
}
