//! Models that were compiled with the program, as what is compiled once for all models takes them.

use std::marker::PhantomData;
use std::sync::Arc;

use fbint_runtime::{
    Dual, Entries, Entry, Error, Event, FeedbackLaw, FeedbackSystem, FourLanes, GeneratedSystem, Integrals, Lanes,
    OneStep, PreparedSystem, Scalar, SeriesShape, SystemFacts, Vector,
};

use crate::drawing::Drawing;
use crate::flat_model::{FlatGeometricMethod, FlatModel, FlatSignal};
use crate::functions::{FlatFunctions, FlatSeries, Functions, Given, ListFunction, MatrixFunction, Source};
use crate::model::Model;
use crate::vectors::{is_in_lanes, vector};

impl<S: Model + GeneratedSystem> FlatModel for S {
    fn facts(&self) -> &'static SystemFacts {
        SystemFacts::of::<S>()
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        FeedbackSystem::parameter(self, index)
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        FeedbackSystem::parameter_mut(self, index)
    }

    fn functions(&self) -> Arc<dyn FlatFunctions> {
        generated_functions::<S>()
    }

    fn prepared(&self) -> Vec<f64> {
        prepared_numbers(self)
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        let start: Vector<S> = Model::start(self)?.into();
        Ok(start.as_ref().to_vec())
    }

    fn law_period(&self) -> f64 {
        FeedbackSystem::law_period(self)
    }

    fn events_at(&self, state: &[f64], inputs: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; FlatModel::facts(self).event_values()];
        FeedbackSystem::events_at(self, &vector(state), inputs, &mut values);
        values
    }

    fn drawing_at(&self, state: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; FlatModel::facts(self).drawing_values()];
        FeedbackSystem::drawing_at(self, &vector(state), &mut values);
        values
    }

    fn drawing(&self, state: &[f64]) -> Drawing {
        Model::drawing(self, &vector::<Vector<S>>(state).into())
    }

    fn input(&self) -> Option<Box<dyn FlatSignal>> {
        Model::input(self).map(|controller| controller.flat())
    }

    fn events(&self) -> Vec<Event<'_, Vec<f64>>> {
        Model::events(self).into_iter().map(|event| event.flat::<Vector<S>>(Vector::<S>::LEN)).collect()
    }

    fn geometric_methods(&self) -> Vec<FlatGeometricMethod> {
        let flat = |(scheme, map)| -> FlatGeometricMethod { (scheme, Box::new(SliceMap(map))) };
        Model::geometric_methods(self).into_iter().map(flat).collect()
    }
}

/// Steps of slices by steps of vectors.
struct SliceMap<V>(Box<dyn OneStep<V>>);

impl<V: Entries<f64>> OneStep<[f64]> for SliceMap<V> {
    fn step(&self, x: &mut [f64], h: f64) {
        let mut state = vector::<V>(x);
        self.0.step(&mut state, h);
        x.copy_from_slice(state.as_ref());
    }

    fn evaluations_per_step(&self) -> u64 {
        self.0.evaluations_per_step()
    }
}

/// The functions that were generated for a system, as [`FlatModel::functions`] gives them.
pub fn generated_functions<S: GeneratedSystem>() -> Arc<dyn FlatFunctions> {
    Arc::new(CompiledFunctions::<S>(PhantomData))
}

/// The numbers of a system that depend on parameters alone, as [`FlatModel::prepared`] gives them.
pub fn prepared_numbers<S: GeneratedSystem>(system: &S) -> Vec<f64> {
    let prepared = system.prepare();
    (0..S::FACTS.prepared_numbers).filter_map(|index| S::number(&prepared, index)).collect()
}

/// The functions of the system `S`, whatever its parameters are.
struct CompiledFunctions<S>(PhantomData<fn() -> S>);

impl<S: GeneratedSystem> FlatFunctions for CompiledFunctions<S> {
    fn facts(&self) -> &'static SystemFacts {
        SystemFacts::of::<S>()
    }

    fn zero_targets(&self, targets: &mut [bool]) {
        put(targets, S::of_numbers::<f64>(|_| 0.0).zero_targets());
    }

    fn series(&self) -> Result<&dyn FlatSeries, &'static str> {
        S::taylor_functions(&S::of_numbers(|_| 0.0)).map(|_| self as &dyn FlatSeries)
    }
}

impl<S: GeneratedSystem> Functions<f64> for CompiledFunctions<S> {
    fn list(&self, function: ListFunction, given: &Given<'_, f64>, law: &dyn Fn(&mut [f64]), list: &mut [f64]) {
        let Some(hamel) = S::HAMEL_FUNCTIONS else { return generated_list::<S>(function, given, law, list) };
        let Some(x) = Vector::<S>::of_slice(&given[Source::State]) else { return };
        match function {
            ListFunction::MomentumState => put(list, (hamel.momentum_state)(&system::<S, _>(given), x)),
            ListFunction::MomentumRates => put(list, (hamel.momentum_rates)(&system::<S, _>(given), x)),
            _ => generated_list::<S>(function, given, law, list),
        }
    }

    fn matrix(&self, function: MatrixFunction, given: &Given<'_, f64>, matrix: &mut [f64], columns: usize) {
        let Some(hamel) = S::HAMEL_FUNCTIONS else { return generated_matrix::<S>(function, given, matrix, columns) };
        let Some(x) = Vector::<S>::of_slice(&given[Source::State]) else { return };
        let of_state = match function {
            MatrixFunction::MomentumStateJacobian => hamel.momentum_state_jacobian,
            MatrixFunction::MomentumRatesJacobian => hamel.momentum_rates_jacobian,
            _ => return generated_matrix::<S>(function, given, matrix, columns),
        };
        put_rows(matrix, columns, of_state(&system::<S, _>(given), x));
    }

    fn jacobian(&self, given: &Given<'_, f64>, with_feedback: bool, add: &mut dyn FnMut(usize, usize, f64)) -> bool {
        generated_jacobian::<S, _>(given, with_feedback, add)
    }
}

/// The functions that an ensemble evaluates in lanes, and the field for stages in lanes. No other function returns a number, and the ones
/// that are too long for lanes are not even compiled.
impl<S: GeneratedSystem, const V: usize> Functions<Lanes<V>> for CompiledFunctions<S> {
    fn list(
        &self,
        function: ListFunction,
        given: &Given<'_, Lanes<V>>,
        law: &dyn Fn(&mut [Lanes<V>]),
        list: &mut [Lanes<V>],
    ) {
        if const { is_in_lanes(&S::FACTS) } {
            list_of_ensemble::<S, _>(function, given, law, list);
        } else if const { S::FACTS.vector_field_operations.fit_lanes() } && function == ListFunction::VectorField {
            vector_field::<S, _>(given, list);
        } else {
            list.fill(Lanes::from_f64(f64::NAN));
        }
    }

    fn matrix(&self, function: MatrixFunction, given: &Given<'_, Lanes<V>>, matrix: &mut [Lanes<V>], columns: usize) {
        if const { is_in_lanes(&S::FACTS) && S::FACTS.has_laws() } && function == MatrixFunction::LawJacobian {
            law_jacobian::<S, _>(given, matrix, columns);
        } else {
            matrix.fill(Lanes::from_f64(f64::NAN));
        }
    }

    fn jacobian(
        &self,
        given: &Given<'_, Lanes<V>>,
        with_feedback: bool,
        add: &mut dyn FnMut(usize, usize, Lanes<V>),
    ) -> bool {
        if const { is_in_lanes(&S::FACTS) } { generated_jacobian::<S, _>(given, with_feedback, add) } else { false }
    }
}

/// The field, the outputs, the laws of inputs, and where the field switches.
impl<S: GeneratedSystem> Functions<Dual> for CompiledFunctions<S> {
    fn list(&self, function: ListFunction, given: &Given<'_, Dual>, _: &dyn Fn(&mut [Dual]), list: &mut [Dual]) {
        match function {
            ListFunction::VectorField => vector_field::<S, _>(given, list),
            ListFunction::Outputs => {
                if let Some(x) = Vector::<S, Dual>::of_slice(&given[Source::State]) {
                    put(list, system::<S, Dual>(given).outputs(x));
                }
            }
            ListFunction::Law | ListFunction::Switches => list_of_switches::<S, _>(function, given, list),
            _ => list.fill(Dual::from_f64(f64::NAN)),
        }
    }

    fn matrix(&self, _: MatrixFunction, _: &Given<'_, Dual>, _: &mut [Dual], _: usize) {}

    fn jacobian(&self, _: &Given<'_, Dual>, _: bool, _: &mut dyn FnMut(usize, usize, Dual)) -> bool {
        false
    }
}

impl<S: GeneratedSystem> FlatSeries for CompiledFunctions<S> {
    fn shape(&self) -> SeriesShape {
        S::taylor_functions(&S::of_numbers(|_| 0.0)).map(|functions| functions.shape).unwrap_or_default()
    }

    fn expand(&self, given: &Given<'_, f64>, coefficients: &mut [f64], stride: usize, memory: &mut [FourLanes]) {
        let system = system::<S, f64>(given);
        let Ok(functions) = S::taylor_functions(&system) else { return };
        let mut own: Vec<Vector<S>> = coefficients.chunks_exact(stride).map(vector).collect();
        let (sides, later) = given[Source::First].split_at(functions.shape.switches);
        let later = later.chunks_exact(stride).flat_map(|order| &order[..S::FACTS.input_names.len()]);
        let list: Vec<f64> = sides.iter().chain(later).copied().collect();
        (functions.expand)(&system, &list, Entries::flat_mut(&mut own), memory);
        for (row, own) in coefficients.chunks_exact_mut(stride).zip(&own) {
            put(row, *own);
        }
    }
}

/// The prepared system with what is given.
#[inline(always)]
fn system<S: GeneratedSystem, T: Scalar>(given: &Given<'_, T>) -> S::Prepared<T> {
    let (prepared, inputs) = const { (S::FACTS.prepared_numbers, S::FACTS.given_numbers()) };
    let (prepared, inputs) = (&given[Source::Prepared][..prepared], &given[Source::Inputs][..inputs]);
    S::of_numbers(|index| match index.checked_sub(prepared.len()) {
        None => prepared[index],
        Some(input) => inputs[input],
    })
}

fn vector_field<S: GeneratedSystem, T: Scalar>(given: &Given<'_, T>, list: &mut [T]) {
    if let Some(x) = Vector::<S, T>::of_slice(&given[Source::State]) {
        put(list, system::<S, T>(given).vector_field(x));
    }
}

fn generated_list<S: GeneratedSystem>(
    function: ListFunction,
    given: &Given<'_, f64>,
    law: &dyn Fn(&mut [f64]),
    list: &mut [f64],
) {
    let Some(x) = Vector::<S>::of_slice(&given[Source::State]) else { return };
    let system = system::<S, f64>(given);
    match function {
        ListFunction::Multipliers => put(list, system.multipliers(x)),
        ListFunction::Outputs => put(list, system.outputs(x)),
        ListFunction::PotentialGradient => put(list, system.potential_gradient(x, &SliceLaw(law))),
        ListFunction::InverseDynamics => {
            if let Some(lagrangian) = S::LAGRANGIAN_FUNCTIONS {
                (lagrangian.inverse_dynamics)(&system, x, &given[Source::First], list);
            }
        }
        _ => list_of_ensemble::<S, f64>(function, given, law, list),
    }
}

fn list_of_ensemble<S: GeneratedSystem, T: Scalar>(
    function: ListFunction,
    given: &Given<'_, T>,
    law: &dyn Fn(&mut [T]),
    list: &mut [T],
) {
    let Some(x) = Vector::<S, T>::of_slice(&given[Source::State]) else { return };
    let (system, law) = (system::<S, T>(given), SliceLaw(law));
    match function {
        ListFunction::VectorField => put(list, system.vector_field(x)),
        ListFunction::Law | ListFunction::Switches => list_of_switches::<S, T>(function, given, list),
        ListFunction::Integrals => put(list, system.integrals(x)),
        ListFunction::FeedbackField => put(list, system.feedback_field(x, &law)),
        ListFunction::Projection => {
            let further =
                (Vector::<S, T>::of_slice(&given[Source::First]), Integrals::<S, T>::of_slice(&given[Source::Second]));
            if let (Some(variances), Some(noise)) = further {
                put(list, system.projection(x, variances, noise, &law));
            }
        }
        _ => list.fill(T::from_f64(f64::NAN)),
    }
}

/// The laws of inputs, or the functions at whose zeros the field switches.
fn list_of_switches<S: GeneratedSystem, T: Scalar>(function: ListFunction, given: &Given<'_, T>, list: &mut [T]) {
    let Some(x) = Vector::<S, T>::of_slice(&given[Source::State]) else { return };
    let (inputs, switches) = const { (S::FACTS.input_names.len(), S::FACTS.switches.len()) };
    let system = system::<S, T>(given);
    match function {
        ListFunction::Law => system.under_law(x).inputs_into(&mut list[..inputs]),
        _ => system.switches_at(x, &mut list[..switches]),
    }
}

fn generated_matrix<S: GeneratedSystem>(
    function: MatrixFunction,
    given: &Given<'_, f64>,
    matrix: &mut [f64],
    columns: usize,
) {
    let Some(x) = Vector::<S>::of_slice(&given[Source::State]) else { return };
    let system = system::<S, f64>(given);
    match function {
        MatrixFunction::IntegralsJacobian => put_rows(matrix, columns, system.integrals_jacobian(x)),
        MatrixFunction::Normalisation => put_rows(matrix, columns, system.normalisation()),
        MatrixFunction::MassMatrix => {
            if let Some(lagrangian) = S::LAGRANGIAN_FUNCTIONS {
                (lagrangian.mass_matrix)(&system, x, matrix);
            }
        }
        MatrixFunction::MomentumStateJacobian | MatrixFunction::MomentumRatesJacobian => {}
        MatrixFunction::LawJacobian => law_jacobian::<S, f64>(given, matrix, columns),
    }
}

/// The derivatives of the laws of inputs, input by input.
fn law_jacobian<S: GeneratedSystem, T: Scalar>(given: &Given<'_, T>, matrix: &mut [T], columns: usize) {
    let Some(x) = Vector::<S, T>::of_slice(&given[Source::State]) else { return };
    let (inputs, states) = const { (S::FACTS.input_names.len(), S::FACTS.state.len()) };
    system::<S, T>(given).with_law_slopes(x, &mut |_, slope| {
        for (input, row) in matrix.chunks_exact_mut(columns).take(inputs).enumerate() {
            (0..states).for_each(|entry| row[entry] = slope(input, entry));
        }
    });
}

fn generated_jacobian<S: GeneratedSystem, T: Scalar>(
    given: &Given<'_, T>,
    with_feedback: bool,
    add: &mut dyn FnMut(usize, usize, T),
) -> bool {
    let Some(x) = Vector::<S, T>::of_slice(&given[Source::State]) else { return false };
    let feedback = match with_feedback {
        true => {
            Integrals::<S, T>::of_slice(&given[Source::First]).zip(Integrals::<S, T>::of_slice(&given[Source::Second]))
        }
        false => None,
    };
    system::<S, T>(given).jacobian(x, feedback.map(<[_; 2]>::from), add)
}

/// Puts entries into the first of a list.
#[inline(always)]
fn put<V: Entries<T>, T: Entry>(list: &mut [T], entries: V) {
    if let Some(list) = list.get_mut(..V::LEN) {
        list.copy_from_slice(entries.as_ref());
    }
}

/// Puts rows into the first of a matrix.
#[inline(always)]
fn put_rows<M: Entries<V>, V: Entries<T> + Entry, T: Entry>(matrix: &mut [T], columns: usize, rows: M) {
    // By reference, because where nothing is optimised an iterator that has all rows is moved several times.
    for (row, entries) in matrix.chunks_exact_mut(columns).zip(rows.as_ref()) {
        put(row, *entries);
    }
}

/// A law that is given as a function on slices, and takes integrals in the form in which they come.
struct SliceLaw<'l, T>(&'l dyn Fn(&mut [T]));

impl<S: FeedbackSystem, T: Scalar> FeedbackLaw<S, T> for SliceLaw<'_, T> {
    fn weigh(&self, mut integrals: Integrals<S, T>) -> Integrals<S, T> {
        (self.0)(integrals.as_mut());
        integrals
    }

    fn weigh_normalised(&self, forms: Integrals<S, T>, _: &S::Prepared<T>) -> Integrals<S, T> {
        FeedbackLaw::<S, T>::weigh(self, forms)
    }
}
