//! Functions of a model at states, as arrays: mechanics, linear systems, and derivatives.

use std::ops::ControlFlow;

use fbint_command::catalogue::{
    AnyModel, Evaluation, ExplicitMethod, Feedback, FlatSignal, Inputs, Plan, RunDirection, Unknown,
    slopes_by_differences,
};
use fbint_command::runtime::{Error, Method, Settings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::array;
use crate::contents;
use crate::entries::{self, List, Named, of_states};
use crate::keywords;
use crate::model::Model;
use crate::stepper::CallInputs;

/// The most steps between two questions whether Ctrl-C was pressed.
const MOST_STEPS: u64 = 10_000_000;

impl Model {
    /// The inputs of a dictionary, in their order, if there is one; those that it does not name are 0.
    fn inputs(model: &dyn AnyModel, inputs: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Vec<f64>>> {
        let Some(inputs) = inputs else { return Ok(None) };
        let names = model.facts().input_names;
        let mut values = vec![0.0; names.len()];
        for (name, value) in entries::read(inputs, "input", List { declared: model.facts().inputs, names })? {
            names.iter().zip(&mut values).filter(|(own, _)| **own == name).for_each(|(_, place)| *place = value);
        }
        Ok(Some(values))
    }
}

#[pymethods]
impl Model {
    /// The declared outputs.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    /// inputs: the inputs by name; by default those that the model gives itself.
    ///
    /// The values have the shape (r,) or (k, r), in the order of the declaration.
    #[pyo3(signature = (x, inputs=None))]
    fn outputs<'py>(&self, x: &Bound<'py, PyAny>, inputs: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let of = Evaluation::new(model.flat(), Self::inputs(&*model, inputs)?);
        of_states(x, &entries::places(model.facts().variables), &[model.facts().output_names.len()], |state| {
            of.outputs(state)
        })
    }

    /// The multiplier of each integral's reaction, 0 for one that is not a constraint: the reaction of a holonomic constraint g is its
    /// multiplier times dg/dq.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    ///
    /// The multipliers have the shape (m,) or (k, m), in the order of a run's drift.
    fn multipliers<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let of = Evaluation::new(model.flat(), None);
        of_states(x, &entries::places(model.facts().variables), &[model.integral_names().len()], |state| {
            of.multipliers(state)
        })
    }

    /// The mass matrix of a Lagrangian system, the second derivatives of L by the velocities that are part of the state.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    ///
    /// The matrix has the shape (v, v) or (k, v, v).
    fn mass_matrix<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let of = Evaluation::new(model.flat(), None);
        let size = velocities(&*model, &of, "mass matrix")?;
        of_states(x, &entries::places(model.facts().variables), &[size, size], |state| of.mass_matrix(state))
    }

    /// The forces along the velocities of a Lagrangian system that give accelerations, in addition to the declared forces.
    ///
    /// x: a state of shape (n,), as field takes it.
    /// accelerations: the rates of the velocities, of shape (v,).
    /// inputs: the inputs by name; by default those that the model gives itself.
    ///
    /// The forces have the shape (v,).
    #[pyo3(signature = (x, accelerations, inputs=None))]
    fn inverse_dynamics<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        accelerations: &Bound<'py, PyAny>,
        inputs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let of = Evaluation::new(model.flat(), Self::inputs(&*model, inputs)?);
        let size = velocities(&*model, &of, "inverse dynamics")?;
        let given = entries::shaped("accelerations", accelerations, &format!("({size},)"), |shape| shape == [size])?;
        of_states(x, &entries::places(model.facts().variables), &[size], |state| {
            of.inverse_dynamics(state, &given.values)
        })
    }

    /// The linear system next to a state: with dx, du and dy for small changes of the state, the inputs and the outputs, dx' = A dx + B du
    /// and dy = C dx + D du, next to an equilibrium.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    /// inputs: the inputs there by name; by default those that the model gives itself. They are held for A and C.
    ///
    /// Returns a Linearisation (A, B, C, D) of the shapes (n, n), (n, i), (r, n) and (r, i), or (k, n, n) and so on.
    #[pyo3(signature = (x, inputs=None))]
    fn linearise<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        inputs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let of = Evaluation::new(model.flat(), Self::inputs(&*model, inputs)?);
        let places = entries::places(model.facts().variables);
        let (states, facts) = (places.len(), model.facts());
        let (columns, rows) = (facts.input_names.len(), facts.output_names.len());
        let by_state: Vec<Unknown> = places.iter().map(|&place| Unknown::Entry(place)).collect();
        let by_input: Vec<Unknown> = (0..columns).map(Unknown::Input).collect();
        let field = |state: &[f64], by: &[Unknown]| {
            let slopes: Vec<Vec<f64>> = by.iter().map(|unknown| of.field_slopes(state, *unknown)).collect();
            places.iter().flat_map(|&row| slopes.iter().map(move |column| column[row])).collect::<Vec<f64>>()
        };
        let outputs = |state: &[f64], by: &[Unknown]| {
            let slopes: Vec<Vec<f64>> = by.iter().map(|unknown| of.output_slopes(state, *unknown)).collect();
            (0..rows).flat_map(|row| slopes.iter().map(move |column| column[row])).collect::<Vec<f64>>()
        };
        let a = of_states(x, &places, &[states, states], |state| field(state, &by_state))?;
        let b = of_states(x, &places, &[states, columns], |state| field(state, &by_input))?;
        let c = of_states(x, &places, &[rows, states], |state| outputs(state, &by_state))?;
        let d = of_states(x, &places, &[rows, columns], |state| outputs(state, &by_input))?;
        contents(x.py())?.linearisation.bind(x.py()).call1((a, b, c, d))
    }

    /// The derivatives of the field by the parameters.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    ///
    /// The derivatives have the shape (n, p) or (k, n, p), with the parameters in the order of parameters. They are exact to rounding for
    /// models from text. For compiled models, numbers that depend on parameters alone are differentiated by differences of order 8, to about
    /// twelve digits.
    fn field_by_parameters<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let of = Evaluation::new(model.flat(), None);
        let places = entries::places(model.facts().variables);
        let directions = self.directions(&*model);
        of_states(x, &places, &[places.len(), directions.len()], |state| {
            let slopes: Vec<Vec<f64>> =
                directions.iter().map(|direction| of.field_slopes_of_prepared(state, direction)).collect();
            places.iter().flat_map(|&row| slopes.iter().map(move |column| column[row])).collect()
        })
    }

    /// The state nearby that satisfies the constraints.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    /// held: names of entries that keep their values.
    ///
    /// The states have the same shape. A ValueError says where there is none.
    #[pyo3(signature = (x, held=Vec::new()))]
    fn project<'py>(&self, x: &Bound<'py, PyAny>, held: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let places = entries::places(model.facts().variables);
        let held: Vec<&str> = held.iter().map(String::as_str).collect();
        let refusal = std::cell::RefCell::new(None);
        let projected = of_states(x, &places, &[places.len()], |state| {
            let found = model.repair(state, &held).unwrap_or_else(|error| {
                refusal.borrow_mut().get_or_insert(error.to_string());
                vec![f64::NAN; state.len()]
            });
            places.iter().map(|&place| found[place]).collect()
        })?;
        refusal.into_inner().map_or(Ok(projected), |message| Err(PyValueError::new_err(message)))
    }

    /// The end of a run of steps of one size, and its derivatives by the start and by the parameters.
    ///
    /// until: the time at the end.
    /// method: euler, midpoint, heun or rk4.
    /// step: the size of a step, which is shortened so that a whole number of them fits.
    /// start: as for run.
    /// inputs: the inputs by name, which are constant; by default those that the model gives itself.
    ///
    /// Returns a Sensitivity: the state of shape (n,), by_start (n, n) and by_parameters (n, p). It differentiates the steps, to
    /// rounding; states are not projected. The start does not follow the parameters. A run that an event ends or resets, and laws that are
    /// sampled, raise a ValueError, and so does a run that passes a switch where the field jumps, as friction by `signum` does: there
    /// derivatives jump, too. Steps pass other switches, such as `max(0, x)`, as they are.
    #[pyo3(signature = (until=10.0, *, method="rk4", step=1e-3, start=None, inputs=None))]
    fn sensitivity<'py>(
        &self,
        py: Python<'py>,
        until: f64,
        method: &str,
        step: f64,
        start: Option<&Bound<'py, PyAny>>,
        inputs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let names = model.state_names();
        let given = start.map_or(Ok(Vec::new()), |start| {
            keywords::entries_of_state("start", start, List { declared: model.facts().variables, names: &names })
        })?;
        let start = started(&*model, &given)?;
        let from = model.facts().clock.map_or(0.0, |clock| start[clock]);
        let steps = EqualSteps::new(method, [from, until], step)?;
        let inputs = Self::inputs(&*model, inputs)?;
        let settings = Settings { from, projection: None, ..Settings::new(steps.method(), until) };
        check_events(self.model(), &start, settings, inputs.as_deref())?;
        let of = Evaluation::new(model.flat(), inputs);
        let places = entries::places(model.facts().variables);
        let unit =
            |entry: usize| (0..start.len()).map(|other| f64::from(u8::from(other == entry))).collect::<Vec<f64>>();
        let by_start = places.iter().map(|&entry| RunDirection { start: unit(entry), prepared: Vec::new() });
        let prepared = self.directions(&*model).into_iter();
        let by_parameters = prepared.map(|prepared| RunDirection { start: vec![0.0; start.len()], prepared });
        let mut columns = Vec::new();
        let mut end = Vec::new();
        for direction in by_start.chain(by_parameters) {
            py.check_signals()?;
            let (state, slopes) = of
                .run_slopes(&start, &direction, steps.run)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            end = state;
            columns.push(slopes);
        }
        let (by_start, by_parameters) = columns.split_at(places.len());
        let rows = |columns: &[Vec<f64>]| {
            let rows = places.iter().flat_map(|&row| columns.iter().map(move |column| column[row]));
            array(py, &rows.collect::<Vec<f64>>(), &[places.len(), columns.len()])
        };
        let state: Vec<f64> = places.iter().map(|&place| end[place]).collect();
        let state = array(py, &state, &[places.len()])?;
        contents(py)?.sensitivity.bind(py).call1((state, rows(by_start)?, rows(by_parameters)?))
    }
}

impl Model {
    /// For each parameter, in the order of the dictionary, the derivatives of the numbers that depend on parameters alone.
    fn directions(&self, model: &dyn AnyModel) -> Vec<Vec<f64>> {
        let direction = |index: usize| {
            model.flat().prepared_slopes(index).unwrap_or_else(|| {
                slopes_by_differences(self.parameters[index].1, &|value| {
                    let mut other = self.model();
                    other.set_parameter(index, value);
                    other.flat().prepared()
                })
            })
        };
        entries::places(model.facts().parameters).into_iter().map(direction).collect()
    }
}

/// Steps of one size, as many as fit into a run.
struct EqualSteps {
    /// The method, the size and the number.
    run: (ExplicitMethod, f64, u64),
}

impl EqualSteps {
    fn new(method: &str, [from, until]: [f64; 2], step: f64) -> PyResult<Self> {
        let method = match method {
            "euler" => ExplicitMethod::Euler,
            "midpoint" => ExplicitMethod::Midpoint,
            "heun" => ExplicitMethod::Heun,
            "rk4" => ExplicitMethod::Rk4,
            other => {
                let message = format!(
                    "`method` is {other}, which has no derivatives of runs: choose euler, midpoint, heun or rk4"
                );
                return Err(PyValueError::new_err(message));
            }
        };
        let count = ((until - from) / step - 1e-9).ceil();
        let makes_a_run = step > 0.0 && (1.0..=MOST_STEPS as f64).contains(&count);
        if !makes_a_run {
            let message = format!(
                "`until` = {until:?} and `step` = {step:?} make no run of 1 to {MOST_STEPS} steps from t = {from:?}"
            );
            return Err(PyValueError::new_err(message));
        }
        Ok(Self { run: (method, (until - from) / count, count as u64) })
    }

    fn method(&self) -> Method {
        let (method, h, _) = self.run;
        match method {
            ExplicitMethod::Euler => Method::Euler { h },
            ExplicitMethod::Midpoint => Method::Midpoint { h },
            ExplicitMethod::Heun => Method::Heun { h },
            ExplicitMethod::Rk4 => Method::Rk4 { h },
        }
    }
}

/// Refuses a run that an event ends or resets, or in which the field jumps, across which it has no derivatives.
fn check_events(
    mut model: Box<dyn AnyModel>,
    start: &[f64],
    settings: Settings,
    inputs: Option<&[f64]>,
) -> PyResult<()> {
    if let Some(values) = inputs {
        let held = CallInputs::of(values);
        model.set_inputs(Inputs::new(model.facts().input_names.to_vec(), move || held.copied()));
    }
    let mut signals = crate::model::Signals::new();
    let of = Evaluation::new(model.flat(), inputs.map(<[f64]>::to_vec));
    let (mut before, mut jumped) = (start.to_vec(), None);
    let outcome = model.run(start, &Plan::new(settings, Feedback::None), None, &mut |moment| {
        if !model.facts().switches.is_empty() {
            let state = moment.snapshot().state().to_vec();
            jumped = of.jump(&before, &state).map(|switch| (switch, moment.time()));
            before = state;
        }
        if jumped.is_some() { ControlFlow::Break(()) } else { signals.look() }
    });
    signals.raise()?;
    if let Some((switch, time)) = jumped {
        let message = format!(
            "the field jumps where `{switch}` switches, at t = {time:?}, and a derivative does not pass it: end before"
        );
        return Err(PyValueError::new_err(message));
    }
    let run = match outcome {
        Ok(run) => run,
        Err(Error::Failed(failure)) => return Err(PyValueError::new_err(Error::Failed(failure).to_string())),
        // A start off the constraints has derivatives.
        Err(_) => return Ok(()),
    };
    let has_effect = |name: &str, reset: bool| reset || run.end() == Some(name);
    match run.events.iter().find(|event| has_effect(&event.name, event.reset.is_some())) {
        Some(event) => Err(PyValueError::new_err(format!(
            "the event `{}` ends or resets the run at t = {:?}, and a derivative does not pass it: end before",
            event.name, event.time
        ))),
        None => Ok(()),
    }
}

/// The model's start with these entries.
fn started(model: &dyn AnyModel, given: &[Named]) -> PyResult<Vec<f64>> {
    let names = model.state_names();
    let missing = names.iter().any(|name| given.iter().all(|(entry, _)| entry != name));
    let mut start = match model.start() {
        Ok(start) => start,
        Err(_) if !missing => vec![0.0; names.len()],
        Err(error) => return Err(PyValueError::new_err(error.to_string())),
    };
    for (name, value) in given {
        names.iter().zip(&mut start).filter(|(own, _)| **own == *name).for_each(|(_, place)| *place = *value);
    }
    Ok(start)
}

fn velocities(model: &dyn AnyModel, of: &Evaluation<'_>, what: &str) -> PyResult<usize> {
    match of.velocities() {
        0 => Err(PyValueError::new_err(format!(
            "{} has no {what}: that is of systems with `velocities` and a `lagrangian`",
            model.facts().name
        ))),
        size => Ok(size),
    }
}
