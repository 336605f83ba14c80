//! Samples as arrays.

use std::path::PathBuf;
use std::sync::Arc;

use fbint_command::catalogue::{AnyModel, Entry, Observer, Occurrence};
use fbint_command::dense::Dense;
use fbint_command::names::{self, Array, Quantity, declared_outputs, variables};
use fbint_command::nearest;
use fbint_command::output::Replace;
use fbint_command::request::{Column, CompletedRun, Finished, Request};
use pyo3::exceptions::{PyAttributeError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::arrays::{Numbers, array, frozen, reserved};
use crate::model::Signals;
use crate::source::{PickledSource, Source};
use crate::{contents, entries};

/// The columns of a trajectory, and the name, the dimensions and the columns of each array that they make up: what Python pickles.
type Pickled<'py> = (Vec<(String, Bound<'py, PyAny>)>, Vec<(String, Vec<usize>, Vec<usize>)>);

/// Samples of a run, from its start on: arrays of doubles by name, which are read-only.
///
/// A scalar has the shape (samples,), a vector (samples, n) and a matrix (samples, rows, columns). trajectory['q'] and trajectory.q are
/// the vector q, trajectory['q[0]'] is its first entry, trajectory['d(energy)'] the change of an integral. keys() lists the columns of
/// the table that the command writes: dict(trajectory) has all of them, as a data frame takes it.
#[pyclass(subclass, frozen, mapping)]
pub(crate) struct Trajectory {
    columns: Vec<Column>,
    /// Groups of columns: vectors, matrices and scalars of the state and of the outputs.
    arrays: Vec<(String, Array)>,
    /// The arrays that were asked for before.
    made: Py<PyDict>,
}

#[pymethods]
impl Trajectory {
    /// The time of each sample.
    #[getter]
    fn t<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, "t")
    }

    /// The names of all columns.
    fn keys(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, name)
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.arrays.iter().any(|(known, _)| known == name) {
            true => self.array(py, name),
            false => Err(PyAttributeError::new_err(unknown("attribute", name, &self.attributes()))),
        }
    }

    fn __contains__(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn __len__(&self) -> usize {
        self.keys().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.keys())?.try_iter()?.into_any())
    }

    fn __dir__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let others = slf.py().get_type::<PyAny>().call_method1("__dir__", (slf,))?;
        others.call_method1("__add__", (slf.get().attributes(),))
    }

    /// For pickle and copy.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Pickled<'py>,))> {
        Ok((slf.getattr("_unpickled")?, (slf.get().pickled(slf.py())?,)))
    }

    #[staticmethod]
    #[pyo3(name = "_unpickled")]
    fn unpickled(py: Python<'_>, pickled: Pickled<'_>) -> PyResult<Self> {
        let (columns, arrays) = pickled;
        let column = |(name, values): (_, Bound<'_, PyAny>)| Ok(Column { name, values: Numbers::of(&values)?.values });
        let columns: PyResult<Vec<_>> = columns.into_iter().map(column).collect();
        let arrays = arrays.into_iter();
        Ok(Self {
            columns: columns?,
            arrays: arrays.map(|(name, dimensions, positions)| (name, Array { dimensions, positions })).collect(),
            made: PyDict::new(py).unbind(),
        })
    }
}

impl Trajectory {
    /// The columns of a run of a model.
    pub(crate) fn new(py: Python<'_>, model: &dyn AnyModel, columns: Vec<Column>) -> Self {
        let quantities = variables(model).into_iter().chain(declared_outputs(model));
        let arrays = quantities.map(|quantity| array_of(quantity, &columns)).collect();
        Self { arrays, columns, made: PyDict::new(py).unbind() }
    }

    fn pickled<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let column = |column: &Column| Ok((column.name.clone(), self.array(py, &column.name)?));
        let columns: PyResult<Vec<_>> = self.columns.iter().map(column).collect();
        let arrays = self.arrays.iter().cloned();
        Ok((columns?, arrays.map(|(name, array)| (name, array.dimensions, array.positions)).collect()))
    }

    fn attributes(&self) -> Vec<&str> {
        self.arrays.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The columns of a name: of one column, or of what columns make up.
    fn find(&self, name: &str) -> Option<Array> {
        let column = || {
            let position = self.columns.iter().position(|column| column.name == name)?;
            Some(Array { dimensions: Vec::new(), positions: vec![position] })
        };
        let array = || self.arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array.clone());
        column().or_else(array)
    }

    fn array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let made = self.made.bind(py);
        if let Some(array) = made.get_item(name)? {
            return Ok(array);
        }
        let Some(Array { dimensions, positions }) = self.find(name) else {
            let known: Vec<&str> = self.attributes().into_iter().chain(self.keys()).collect();
            return Err(PyKeyError::new_err(unknown("column", name, &known)));
        };
        let columns: Vec<&[f64]> = positions.iter().map(|&position| &*self.columns[position].values).collect();
        let samples = columns.first().map_or(0, |column| column.len());
        let mut values = reserved(samples.saturating_mul(columns.len()))?;
        values.extend((0..samples).flat_map(|sample| columns.iter().map(move |column| column[sample])));
        // Every access shares it, and what it says of the run must stay so.
        let array = frozen(py, &values, &dimensions)?;
        made.set_item(name, &array)?;
        Ok(array)
    }
}

/// The array that columns make up to a quantity.
fn array_of(Quantity { name, entries, declared }: Quantity, columns: &[Column]) -> (String, Array) {
    let place = |entry: usize| columns.iter().position(|column| column.name == entries[entry - declared.first]);
    let Array { dimensions, positions } = names::array(declared);
    (name, Array { dimensions, positions: positions.into_iter().filter_map(place).collect() })
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    nearest::find(what, name, known).map_or_else(|error| error.to_string(), |_| String::new())
}

/// The contents of a run besides its trajectory, in the order of its fields.
type RunFields<'py> = (
    Vec<(String, f64)>,
    (f64, Vec<f64>),
    u64,
    u64,
    Option<String>,
    Vec<Occurred>,
    (String, String),
    (String, PickledSource),
    Option<Bound<'py, PyBytes>>,
);

/// The name of an event, the time, the state, and the state after a reset, in the order in which Python has states.
pub(crate) type Occurred = (String, f64, Vec<f64>, Option<Vec<f64>>);

/// A run: its trajectory, and what happened to the integrals. print(run) shows what the command prints.
///
/// A run with dense_output=True is a function of time: run(t) has the shape (n,) for one time and (k, n) for k times, each state in the
/// order in which Model.field takes it. Times need not increase, but lie in the run.
#[pyclass(extends = Trajectory, frozen)]
pub(crate) struct Run {
    drift: Vec<(String, f64)>,
    /// The time and the state at the end, which need not be among the samples.
    end: (f64, Vec<f64>),
    /// The number of steps.
    #[pyo3(get)]
    steps: u64,
    /// The number of evaluations of the field.
    #[pyo3(get)]
    evaluations: u64,
    /// The condition that ended the run before its end, if one did.
    #[pyo3(get)]
    ended_by: Option<String>,
    events: Vec<Occurred>,
    report: String,
    /// The result as its record has it.
    summary: String,
    request: Request,
    source: Arc<Source>,
    dense: Option<Dense>,
}

#[pymethods]
impl Run {
    /// The largest change of each integral from its target at any step, by name.
    #[getter]
    fn drift<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let drift = PyDict::new(py);
        self.drift.iter().try_for_each(|(name, largest)| drift.set_item(name, largest))?;
        Ok(drift)
    }

    /// Every occurrence of every event of the model, and of until_event, in the order of time.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = |entries: &Vec<f64>| frozen(py, entries, &[]);
        let event = |(name, time, before, after): &Occurred| {
            let after = after.as_ref().map(state).transpose()?;
            contents(py)?.event.bind(py).call1((name, time, state(before)?, after))
        };
        PyTuple::new(py, self.events.iter().map(event).collect::<PyResult<Vec<_>>>()?)
    }

    /// The points of a section, or of any event that the model declares: the time, the state before any reset, and the outputs.
    ///
    /// name: the name of the section, as Event.name has it.
    ///
    /// The points are a Trajectory: section('top').q has the shape (points, n).
    fn section(&self, py: Python<'_>, name: &str) -> PyResult<Trajectory> {
        let model = self.source.load();
        let names: Vec<&str> = model.facts().events.iter().map(|event| event.name).collect();
        if names.is_empty() {
            return Err(PyValueError::new_err("the model declares no sections and no events: add `section(..)` to it"));
        }
        nearest::find("event or section", name, &names).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let places = entries::places(model.facts().variables);
        let points = self.events.iter().filter(|event| event.0 == name).map(|(_, time, ordered, _)| {
            let mut state = vec![0.0; places.len()];
            places.iter().zip(ordered).for_each(|(&place, &value)| state[place] = value);
            (*time, state)
        });
        let columns = self.request.section(self.source.models(), &points.collect::<Vec<_>>());
        Ok(Trajectory::new(py, &*model, columns.map_err(PyValueError::new_err)?))
    }

    /// The record of the run, as JSON: the model, with its text if it is declared by one, the parameters, the start, all options, the
    /// versions, and the result.
    ///
    /// path: a file for it, which ends in .json: repeat(path) and `fbint run FILE` repeat the run.
    /// force: whether it replaces a file that fbint has not written, too.
    #[pyo3(signature = (path=None, *, force=false))]
    fn record(&self, path: Option<PathBuf>, force: bool) -> PyResult<String> {
        let text = self.source.text.as_deref();
        let record = self.request.record(self.source.models(), text, &self.summary).map_err(PyValueError::new_err)?;
        if let Some(path) = path {
            Request::write_record(&record, &path, Replace::forced(force)).map_err(PyValueError::new_err)?;
        }
        Ok(record)
    }

    /// The states at times, in the order in which Model.field takes them.
    fn __call__<'py>(&self, py: Python<'py>, t: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some(dense) = &self.dense else {
            let message = "the run has its samples alone: give run(dense_output=True) to evaluate it at other times";
            return Err(PyValueError::new_err(message));
        };
        let places = entries::places(self.source.load().facts().variables);
        let times = entries::shaped("t", t, "() or (k,)", |shape| shape.len() < 2)?;
        let mut values = Vec::with_capacity(times.values.len() * places.len());
        for (index, &time) in times.values.iter().enumerate() {
            let state =
                dense.at(time).ok_or_else(|| not_in(dense, time, (!times.shape.is_empty()).then_some(index)))?;
            values.extend(places.iter().map(|&place| state[place]));
        }
        array(py, &values, &[&*times.shape, &[places.len()]].concat())
    }

    /// Writes the figure that `fbint run --plot` writes.
    ///
    /// path: a file that ends in .svg, or in .png if this module was built with the feature `png` of fbint-command.
    /// of: what the panels show instead of everything, a text or several: 'NAME' for a column over time, 'NAME,NAME' for the second one
    ///     against the first, or 'drift' for the change of every integral.
    /// force: whether it replaces a file that fbint has not written, too.
    #[pyo3(signature = (path, of=None, *, force=false))]
    fn plot(slf: &Bound<'_, Self>, path: PathBuf, of: Option<&Bound<'_, PyAny>>, force: bool) -> PyResult<()> {
        let of = of.map_or(Ok(Vec::new()), panels)?;
        let place = (&*path, Replace::forced(force), &*of);
        Self::draw(slf, |request, models, finished, observer| request.plot(models, finished, place, observer))
    }

    /// Writes the page that `fbint run --animate` writes, on which the mechanism moves.
    ///
    /// path: a file that ends in .html.
    /// force: whether it replaces a file that fbint has not written, too.
    #[pyo3(signature = (path, *, force=false))]
    fn animate(slf: &Bound<'_, Self>, path: PathBuf, force: bool) -> PyResult<()> {
        let place = (&*path, Replace::forced(force));
        Self::draw(slf, |request, models, finished, _| request.animate(models, finished, place))
    }

    /// The figure of all of the run for a notebook.
    fn _repr_svg_(slf: &Bound<'_, Self>) -> PyResult<String> {
        Self::draw(slf, Request::figure)
    }

    fn __str__(&self) -> &str {
        self.report.trim_end()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let columns = &slf.as_super().get().columns;
        let samples = columns.first().map_or(&[][..], |times| &times.values);
        let title = slf.get().report.lines().next().unwrap_or_default();
        format!("<Run of {title}, {} samples>", samples.len())
    }

    /// For pickle and copy.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Pickled<'py>, RunFields<'py>))> {
        let Self { drift, end, steps, evaluations, ended_by, events, report, summary, request, source, dense } =
            slf.get();
        let request = (request.written().map_err(PyValueError::new_err)?, source.pickled());
        let dense = dense.as_ref().map(Dense::to_bytes).transpose().map_err(PyValueError::new_err)?;
        let dense = dense.map(|bytes| PyBytes::new(slf.py(), &bytes));
        let (drift, ended_by, events) = (drift.clone(), ended_by.clone(), events.clone());
        let words = (report.clone(), summary.clone());
        let record = (drift, end.clone(), *steps, *evaluations, ended_by, events, words, request, dense);
        Ok((slf.getattr("_unpickled")?, (slf.as_super().get().pickled(slf.py())?, record)))
    }

    #[staticmethod]
    #[pyo3(name = "_unpickled")]
    fn unpickled(py: Python<'_>, pickled: Pickled<'_>, record: RunFields<'_>) -> PyResult<Py<Self>> {
        let (drift, end, steps, evaluations, ended_by, events, (report, summary), (request, source), dense) = record;
        let source = Source::unpickled(py, source)?;
        let request = Request::read(&request).map_err(PyValueError::new_err)?;
        let dense =
            dense.map(|bytes| Dense::from_bytes(bytes.as_bytes())).transpose().map_err(PyValueError::new_err)?;
        let run = Self { drift, end, steps, evaluations, ended_by, events, report, summary, request, source, dense };
        Py::new(py, PyClassInitializer::from(Trajectory::unpickled(py, pickled)?).add_subclass(run))
    }
}

impl Run {
    /// The drawing of the run by `draw`, while other threads run.
    fn draw<T: Send>(
        slf: &Bound<'_, Self>,
        draw: impl FnOnce(&Request, &[Entry], Finished<'_>, &mut Observer<'_>) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        let (py, run) = (slf.py(), slf.get());
        let finished = Finished { columns: &slf.as_super().get().columns, time: run.end.0, steps: run.steps };
        let mut signals = Signals::new();
        let drawn = py.detach(|| draw(&run.request, run.source.models(), finished, &mut |_| signals.look()));
        signals.raise()?;
        drawn.map_err(PyValueError::new_err)
    }

    /// The entries of the state at the end, by their names.
    pub(crate) fn last_state(&self) -> Vec<(&'static str, f64)> {
        self.source.load().state_names().into_iter().zip(self.end.1.iter().copied()).collect()
    }

    /// The run of a model with this outcome.
    pub(crate) fn new(
        py: Python<'_>,
        source: &Arc<Source>,
        request: Request,
        outcome: CompletedRun,
    ) -> PyClassInitializer<Self> {
        let model = source.load();
        let CompletedRun { run, columns, dense, report, summary, .. } = outcome;
        let drift = run.findings.drift.integrals().map(|integral| (integral.name.to_owned(), integral.max)).collect();
        let (steps, evaluations, ended_by) = (run.steps, run.evaluations, run.end().map(str::to_owned));
        let places = entries::places(model.facts().variables);
        let state = |state: &Vec<f64>| places.iter().map(|&place| state[place]).collect();
        let event = |of: &Occurrence| (of.name.clone(), of.time, state(&of.state), of.reset.as_ref().map(state));
        let events = run.events.iter().map(event).collect();
        let (end, source) = ((run.time, run.state), Arc::clone(source));
        let run = Self { drift, end, steps, evaluations, ended_by, events, report, summary, request, source, dense };
        PyClassInitializer::from(Trajectory::new(py, &*model, columns)).add_subclass(run)
    }
}

/// The panels of a figure: one text, or several.
fn panels(of: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let one = of.extract().map(|panel| vec![panel]);
    one.or_else(|_: PyErr| of.extract()).map_err(|_| entries::refused("of", of, "a str or several"))
}

/// The error for a time that is not in a run, with its index among others.
fn not_in(dense: &Dense, time: f64, index: Option<usize>) -> PyErr {
    let [from, until] = dense.range();
    let place = index.map_or(String::new(), |index| format!(" at index {index}"));
    let reason = if time.is_finite() {
        format!("the run goes from {from:?} to {until:?}")
    } else {
        "it must be finite".to_owned()
    };
    PyValueError::new_err(format!("`t` is {time:?}{place}: {reason}"))
}
