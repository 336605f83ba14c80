//! Steps from Python: a run that continues at each call, with inputs that the caller chooses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fbint_command::catalogue::{AnyModel, Continuation, FlatSignal, Inputs, Plan};
use fbint_command::runtime::{Settings, Snapshot, SystemFacts};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{array, frozen};
use crate::contents;
use crate::entries;
use crate::laws::Raised;
use crate::model::Signals;
use crate::source::Source;
use crate::trajectory::Occurred;

/// The most steps that nothing interrupts.
const MOST_STEPS: f64 = 1000.0;

/// A run, or many side by side, that continues at each call of step. Make it with Model.stepper.
///
/// state is an array of shape (n,), or (k, n) for k runs, in the order of Model.start(); t is the time, of shape () or (k,).
#[pyclass]
pub(crate) struct Stepper {
    source: Arc<Source>,
    facts: &'static SystemFacts,
    model: Mutex<Box<dyn AnyModel>>,
    plan: Plan,
    /// The inputs that were given for all calls.
    given: Option<Inputs>,
    /// `true` if there is one run, whose arrays have no axis for runs.
    is_single: bool,
    runs: Vec<SteppedRun>,
    /// The place of each entry of the state as Python has it.
    places: Vec<usize>,
    /// The exception that a function for an input has raised.
    raised: Raised,
    /// `true` if runs may continue without a record: not those that have to stop at switches or samples of laws.
    may_continue: bool,
}

/// One of the runs.
struct SteppedRun {
    time: f64,
    state: Vec<f64>,
    /// The inputs that are given, by their places.
    inputs: Arc<[GivenInput]>,
    /// `true` if they have changed since the last call.
    has_jumped: bool,
    /// The run as it continues without a record from where the last call with one ended.
    continuation: OwnContinuation,
    /// A snapshot of the run after the last call.
    snapshot: Option<Snapshot>,
    /// The name of the event that has ended it.
    ended_by: Option<String>,
    /// The occurrences of events in the last call: the name, the time, the state, and the state after a reset.
    events: Vec<Occurred>,
}

thread_local! {
    /// The continuations that were made in a thread: they do not leave it.
    static CONTINUATIONS: RefCell<HashMap<u64, Continuation>> = RefCell::default();
}

/// The number of the next continuation.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The continuation of a run in the thread that made it. In another one there is none.
#[derive(Default)]
struct OwnContinuation(Option<u64>);

impl OwnContinuation {
    fn is_here(&self) -> bool {
        self.0.is_some_and(|number| CONTINUATIONS.with_borrow(|kept| kept.contains_key(&number)))
    }

    fn keep(&mut self, continuation: Continuation) {
        let number = *self.0.get_or_insert_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
        CONTINUATIONS.with_borrow_mut(|kept| kept.insert(number, continuation));
    }

    fn take(&mut self) -> Option<Continuation> {
        self.0.and_then(|number| CONTINUATIONS.with_borrow_mut(|kept| kept.remove(&number)))
    }
}

impl Drop for OwnContinuation {
    fn drop(&mut self) {
        // A thread that ends has dropped them before.
        let _ = CONTINUATIONS.try_with(|kept| self.0.and_then(|number| kept.borrow_mut().remove(&number)));
    }
}

/// The place of an input, and the bits of its number.
type GivenInput = (usize, AtomicU64);

/// Inputs that hold for a call.
pub(crate) struct CallInputs(Arc<[GivenInput]>);

impl CallInputs {
    /// All inputs of a model, as these numbers.
    pub(crate) fn of(values: &[f64]) -> Self {
        Self(values.iter().map(|value| AtomicU64::new(value.to_bits())).enumerate().collect())
    }
}

impl FlatSignal for CallInputs {
    fn at(&self, _: f64, _: &[f64], inputs: &mut [f64]) {
        self.0.iter().for_each(|(place, bits)| inputs[*place] = f64::from_bits(bits.load(Ordering::Relaxed)));
    }

    fn hold(&self, _: f64) -> f64 {
        f64::INFINITY
    }

    fn range(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }

    fn series(&self, _: f64, stride: usize, later: &mut [f64]) -> bool {
        for order in later.chunks_exact_mut(stride) {
            self.0.iter().for_each(|(place, _)| order[*place] = 0.0);
        }
        true
    }

    fn copied(&self) -> Box<dyn FlatSignal> {
        Box::new(Self(Arc::clone(&self.0)))
    }
}

#[pymethods]
impl Stepper {
    /// Continues until a time, or by one step, and returns the state.
    ///
    /// until: the time; without it one step of the method's size.
    /// inputs: the inputs by name, which hold during the call: a number, or for a vector an array; of several runs also an array with a
    ///     row for each. An input that is not given holds its last value, or is what the model gives.
    ///
    /// An event that ends the run leaves t before until, and ended_by has its name; further calls change nothing. A step that fails raises
    /// RunFailed.
    #[pyo3(signature = (until=None, **inputs))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        until: Option<f64>,
        inputs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(inputs) = inputs {
            self.take(inputs)?;
        }
        for index in 0..self.runs.len() {
            self.advance(py, index, until)?;
        }
        self.state(py)
    }

    /// The state, of shape (n,) or (k, n), in the order in which Model.field takes it.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let entries = self.runs.iter().flat_map(|run| self.places.iter().map(move |&place| run.state[place]));
        let (values, n): (Vec<f64>, _) = (entries.collect(), self.places.len());
        if self.is_single { array(py, &values, &[n]) } else { array(py, &values, &[self.runs.len(), n]) }
    }

    /// Replaces the state, of shape (n,) or (k, n), from which runs begin anew: with a first sample of each sampled law, and no event
    /// counted. Runs that an event has ended go on.
    #[setter]
    fn set_state(&mut self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows = states(x, &self.places, (!self.is_single).then_some(self.runs.len()))?;
        let clock = self.facts.clock;
        for (run, state) in self.runs.iter_mut().zip(rows) {
            let time = clock.map_or(run.time, |clock| state[clock]);
            (run.time, run.state, run.ended_by, run.snapshot) = (time, state, None, None);
            run.continuation.take();
            run.events.clear();
        }
        Ok(())
    }

    /// The time, or the time of each run.
    #[getter]
    fn t<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.is_single {
            return Ok(self.runs[0].time.into_pyobject(py)?.into_any());
        }
        let times: Vec<f64> = self.runs.iter().map(|run| run.time).collect();
        array(py, &times, &[times.len()])
    }

    /// The entries of the state by the names of its variables.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let variables = self.facts.variables;
        let written = |run: &SteppedRun| entries::written(py, variables, &run.state)?.as_any().get_item(name);
        match &*self.runs {
            [run] if self.is_single => written(run),
            runs => {
                let rows = runs.iter().map(written).collect::<PyResult<Vec<_>>>()?;
                py.import("numpy")?.call_method1("stack", (rows,))
            }
        }
    }

    /// The name of the event that has ended the run, or of each run, else None.
    #[getter]
    fn ended_by<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ends: Vec<Option<&str>> = self.runs.iter().map(|run| run.ended_by.as_deref()).collect();
        match &*ends {
            [end] if self.is_single => Ok(end.into_pyobject(py)?.into_any()),
            _ => Ok(PyTuple::new(py, &ends)?.into_any()),
        }
    }

    /// The events of the last call, in the order of time: Event tuples, or a tuple of them for each run.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let ordered = |state: &Vec<f64>| {
            let entries: Vec<f64> = self.places.iter().map(|&place| state[place]).collect();
            frozen(py, &entries, &[])
        };
        let of_run = |run: &SteppedRun| {
            let event = |(name, time, state, reset): &Occurred| {
                let reset = reset.as_ref().map(ordered).transpose()?;
                contents(py)?.event.bind(py).call1((name, time, ordered(state)?, reset))
            };
            PyTuple::new(py, run.events.iter().map(event).collect::<PyResult<Vec<_>>>()?)
        };
        if self.is_single {
            return of_run(&self.runs[0]);
        }
        PyTuple::new(py, self.runs.iter().map(of_run).collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        let (model, count) = (self.source.entry.type_name, self.runs.len());
        match &*self.runs {
            [run] if self.is_single => format!("<Stepper of {model} at t = {:?}>", run.time),
            _ => format!("<Stepper of {model}, {count} runs>"),
        }
    }
}

impl Stepper {
    /// A stepper of runs from these states of a model, which `plan` describes but for times.
    pub(crate) fn new(
        source: &Arc<Source>,
        (model, plan): (Box<dyn AnyModel>, Plan),
        (start, given): (Vec<f64>, Option<&Bound<'_, PyAny>>),
        raised: Raised,
    ) -> PyResult<Self> {
        let facts = model.facts();
        let places = entries::places(facts.variables);
        let (is_single, starts) = match given {
            None => (true, vec![start]),
            Some(x) => {
                let shape: Vec<usize> = x.py().import("numpy")?.call_method1("shape", (x,))?.extract()?;
                let runs = if let [runs, _] = shape[..] { Some(runs) } else { None };
                (runs.is_none(), states(x, &places, runs)?)
            }
        };
        let (clock, from) = (facts.clock, plan.settings.from);
        let run = |state: Vec<f64>| SteppedRun {
            time: clock.map_or(from, |clock| state[clock]),
            state,
            inputs: Arc::new([]),
            has_jumped: false,
            continuation: OwnContinuation::default(),
            snapshot: None,
            ended_by: None,
            events: Vec::new(),
        };
        let runs = starts.into_iter().map(run).collect();
        let inputs = model.inputs().cloned();
        let (source, model, may_continue) = (Arc::clone(source), Mutex::new(model), true);
        Ok(Self { source, facts, model, plan, given: inputs, is_single, runs, places, raised, may_continue })
    }

    /// Takes inputs by name for the runs.
    fn take(&mut self, inputs: &Bound<'_, PyDict>) -> PyResult<()> {
        let names = self.facts.input_names;
        let count = self.runs.len();
        for (name, value) in inputs {
            let name: String = name.extract()?;
            let positions = match names.iter().position(|own| *own == name) {
                Some(position) => vec![position],
                None => self
                    .facts
                    .inputs
                    .iter()
                    .find(|input| input.name == name)
                    .map(|input| fbint_command::names::array(input).positions)
                    .ok_or_else(|| unknown(&name, names))?,
            };
            let size = positions.len();
            let fits = |shape: &[usize]| match shape {
                [] => size == 1,
                [one] => *one == size || (size == 1 && *one == count),
                [rows, columns] => *rows == count && *columns == size,
                _ => false,
            };
            let shape = if self.is_single { format!("({size},)") } else { format!("({size},) or ({count}, {size})") };
            let given = if value.is_instance_of::<pyo3::types::PyFloat>() {
                crate::arrays::Numbers { shape: Vec::new(), values: vec![value.extract()?] }
            } else {
                entries::shaped(&name, &value, &shape, fits)?
            };
            let is_for_all = given.values.len() == size;
            for (index, run) in self.runs.iter_mut().enumerate() {
                let row = if is_for_all { 0 } else { index * size };
                for (&position, value) in positions.iter().zip(&given.values[row..]) {
                    run.give(position, *value);
                }
            }
        }
        Ok(())
    }

    /// Brings a run to a time.
    fn advance(&mut self, py: Python<'_>, index: usize, until: Option<f64>) -> PyResult<()> {
        let Self { model, plan, given, runs, may_continue, raised, .. } = self;
        let (run, model) = (&mut runs[index], model.get_mut().unwrap_or_else(PoisonError::into_inner));
        run.events.clear();
        if run.ended_by.is_some() {
            return Ok(());
        }
        let from = run.time;
        let until = match (until, plan.settings.method.step()) {
            (Some(until), _) => until,
            (None, Some(h)) => from + h,
            (None, None) => {
                let message = "the method chooses its steps: give `until`, the time until which to go";
                return Err(PyTypeError::new_err(message));
            }
        };
        if until <= from || until.is_nan() {
            return Err(PyValueError::new_err(format!("`until` is {until:?}, and the run has come to t = {from:?}")));
        }
        let settings = Settings { from, until, every: Some(until - from), ..plan.settings };
        let plan = Plan { settings, ..plan.clone() };
        if *may_continue
            && !run.continuation.is_here()
            && let Some(snapshot) = run.snapshot.clone()
        {
            run.set_inputs(&mut **model, given.as_ref());
            // Where it cannot begin, a run with a record has the words for that.
            if let Ok(continuation) = model.continuation(snapshot.onward(false), &plan) {
                *may_continue = continuation.is_some();
                continuation.into_iter().for_each(|continuation| run.continuation.keep(continuation));
            }
        }
        let mut signals = Signals::new();
        if run.go_on(until, plan.settings.method.step(), raised, &mut signals)? {
            return Ok(());
        }
        run.set_inputs(&mut **model, given.as_ref());
        // A call that does not succeed leaves the run where it was.
        let snapshot = run.snapshot.clone().map(|snapshot| snapshot.onward(run.has_jumped));
        let mut reached = None;
        let outcome = model.run(&run.state, &plan, snapshot, &mut |moment| {
            if moment.time() >= until {
                reached = Some(moment.snapshot());
            }
            signals.look()
        });
        signals.raise()?;
        raised.raise()?;
        match outcome {
            Ok(end) => {
                let ended_by = end.end().map(str::to_owned);
                (run.time, run.state, run.ended_by) = (end.time, end.state, ended_by);
                (run.snapshot, run.has_jumped) = (reached, false);
                run.events = end.events.into_iter().map(|of| (of.name, of.time, of.state, of.reset)).collect();
                Ok(())
            }
            Err(fbint_command::runtime::Error::Failed(failure)) => {
                let message = fbint_command::runtime::Error::Failed(failure).to_string();
                Err(PyErr::from_value(contents(py)?.run_failed.bind(py).call1((message,))?))
            }
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }
}

impl SteppedRun {
    /// Continues without a record until a time, if it can and no event occurs. Ctrl-C is heard every few steps.
    fn go_on(&mut self, until: f64, h: Option<f64>, raised: &Raised, signals: &mut Signals) -> PyResult<bool> {
        let (Some(mut continuation), Some(h)) = (self.continuation.take(), h) else { return Ok(false) };
        let (from, mut has_jumped, mut pieces) = (self.time, self.has_jumped, 0.0);
        let snapshot = loop {
            pieces += 1.0;
            let reach = from + pieces * MOST_STEPS * h;
            let reach = if reach < until { reach } else { until };
            let outcome = continuation(reach, take(&mut has_jumped));
            raised.raise()?;
            let is_finite = |snapshot: &Snapshot| snapshot.state().iter().all(|entry| entry.is_finite());
            let Some(snapshot) = outcome.ok().flatten().filter(is_finite) else { return Ok(false) };
            if reach == until {
                break snapshot;
            }
            if signals.look().is_break() {
                signals.raise()?;
            }
        };
        (self.time, self.has_jumped) = (until, false);
        self.state.copy_from_slice(snapshot.state());
        self.snapshot = Some(snapshot);
        self.continuation.keep(continuation);
        Ok(true)
    }

    /// Gives an input a number from here on.
    fn give(&mut self, input: usize, value: f64) {
        if let Some((_, bits)) = self.inputs.iter().find(|(place, _)| *place == input) {
            self.has_jumped |= bits.swap(value.to_bits(), Ordering::Relaxed) != value.to_bits();
            return;
        }
        let known = self.inputs.iter().map(|(place, bits)| (*place, bits.load(Ordering::Relaxed)));
        let all = known.chain([(input, value.to_bits())]);
        self.inputs = all.map(|(place, bits)| (place, AtomicU64::new(bits))).collect();
        self.has_jumped = true;
        self.continuation.take();
    }

    /// Gives a model the inputs of this run, and others where it has none.
    fn set_inputs(&self, model: &mut dyn AnyModel, others: Option<&Inputs>) {
        if self.inputs.is_empty() {
            return;
        }
        let (names, held) = (model.facts().input_names, Arc::clone(&self.inputs));
        let given = held.iter().map(|(place, _)| names[*place]).collect();
        let inputs = Inputs::new(given, move || Box::new(CallInputs(Arc::clone(&held))));
        model.set_inputs(match others {
            Some(others) => inputs.or(others),
            None => inputs,
        });
    }
}

/// The states of an array of shape (n,), or with as many rows as there are runs.
fn states(x: &Bound<'_, PyAny>, places: &[usize], runs: Option<usize>) -> PyResult<Vec<Vec<f64>>> {
    let n = places.len();
    let shape = runs.map_or(format!("({n},)"), |runs| format!("({runs}, {n})"));
    let fits = |given: &[usize]| match runs {
        Some(runs) => given == [runs, n],
        None => given == [n],
    };
    let given = entries::shaped("state", x, &shape, fits)?;
    let state = |row: &[f64]| {
        let mut state = vec![0.0; n];
        places.iter().zip(row).for_each(|(&place, &value)| state[place] = value);
        state
    };
    Ok(given.values.chunks(n.max(1)).map(state).collect())
}

fn unknown(name: &str, names: &[&str]) -> PyErr {
    if names.is_empty() {
        return PyTypeError::new_err(format!("the model has no inputs, and `{name}` is given"));
    }
    match fbint_command::nearest::find("input", name, names) {
        Ok(_) => PyTypeError::new_err(format!("`{name}` is not an input")),
        Err(error) => PyTypeError::new_err(error.to_string()),
    }
}
