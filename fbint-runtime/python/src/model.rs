//! A model with its parameters: one class for each model of the module, below one for all of them.

use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::take;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fbint_command::catalogue::{AnyModel, Entry};
use fbint_command::names::{Declared, shapes};
use fbint_command::progress::Estimate;
use fbint_command::request::{CompletedRun, DeclaringText, Refusal, Request};
use fbint_command::typography::MAX_LATEX;
use pyo3::exceptions::{PyMemoryError, PyRuntimeWarning, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::entries::{self, List};
#[cfg(feature = "export")]
use crate::export;
use crate::keywords::{Keyword, Options};
use crate::laws::{Functions, Raised};
use crate::source::{ATTRIBUTE, Source, SourceObject};
use crate::stepper::Stepper;
use crate::trajectory::{Run, Trajectory};
use crate::{contents, ensemble, keywords};

/// The time between two questions whether Ctrl-C was pressed. To ask takes the interpreter, which other threads may hold for a while.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// A model with its parameters, which does not change.
///
/// Parameters are keywords; a vector or a matrix is an array of numbers. Those that are not given keep their defaults.
#[pyclass(subclass, frozen)]
pub(crate) struct Model {
    source: Arc<Source>,
    pub(crate) parameters: Vec<(&'static str, f64)>,
}

#[pymethods]
impl Model {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*unnamed, **parameters), text_signature = "(**parameters)")]
    fn new(
        class: &Bound<'_, PyType>,
        unnamed: &Bound<'_, PyTuple>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let Some(source) = class.getattr_opt(ATTRIBUTE)? else {
            let message = "`Model` is what all models have in common: make one of its subclasses";
            return Err(PyTypeError::new_err(message));
        };
        let source = Arc::clone(&source.cast::<SourceObject>()?.get().0);
        let mut model = source.load();
        let names: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
        if !unnamed.is_empty() {
            let (name, first) = (source.entry.type_name, model.facts().parameters.first());
            let remedy =
                first.map_or_else(|| "there are none".to_owned(), |first| format!("{name}({}=..)", first.name));
            return Err(PyTypeError::new_err(format!("parameters are given by their names: {remedy}")));
        }
        let given = parameters.map_or(Ok(Vec::new()), |given| {
            entries::read(given, "parameter", List { declared: model.facts().parameters, names: &names })
        })?;
        for (entry, value) in given {
            if let Some(index) = names.iter().position(|name| *name == entry) {
                model.set_parameter(index, value);
            }
        }
        Ok(Self { source, parameters: model.parameters() })
    }

    /// Integrates the model from its start, or another, and returns the trajectory with the drift of every integral.
    ///
    /// The arguments are the options of `fbint run`, with the same rules and defaults; `fbint run --help` has more about them. Only
    /// t_eval and dense_output are not among them.
    ///
    /// until: the time at the end; a run starts at 0.
    /// method: the integrator; euler, midpoint, heun, rk4, gauss4, gauss8, gauss16, discrete-hamel, stormer-verlet and rattle take
    ///     steps of one size, dormand-prince, dop853 and rodas5p, which is for what is stiff, choose their steps.
    /// step: the size of a step, 1e-3 by default.
    /// rtol, atol: the tolerances of a method that chooses its steps; 1e-9, and rtol times the size of each variable.
    /// max_step: the longest step of a method that chooses its steps; by default a 250th of the run while nothing moves, if the state
    ///     has the time, else any.
    /// max_steps: the most steps: a run of more is refused, or ends there if the method chooses its steps.
    /// every: the time between two samples, or 0 for a sample at every step; by default about 1000 samples, or up to 2000 of a method that
    ///     chooses its steps: each of them, or where there are more every second, fourth and so on, which print(run) says.
    /// t_eval: the times of the samples, which increase, instead of an interval; between the ends of steps a sample is the end of a
    ///     shorter step, or dense output of a method that chooses its steps.
    /// dense_output: whether every step is kept as a polynomial in time, so that the run can be called with any time of it.
    /// project: whether the state is projected onto all integrals after each step, also with gains. Without gains it is by default,
    ///     but for gauss4, gauss8, gauss16 and discrete-hamel.
    /// gains: the gains of the feedback, instead of a projection: a number, or one for each integral; 'none', 'relaxation:TAU',
    ///     'bae-chang'.
    /// start: entries of the start by name, such as {'q': [0, 1, 0]} or {'q[0]': 0.3}; the others come from the model's own start, and a
    ///     model without one needs them all. Or a run: this one continues from its end.
    /// guess: entries of the start that a repair may move; implies repair.
    /// repair: whether the start is moved to a nearby state that satisfies the constraints.
    /// input: what gives inputs, by their names: a law, an expression of the state, the time and the parameters such as '2*sin(3*t)', a
    ///     number, a table as (times, values), which are held, or as (times, values, 'linear'), the name of a CSV file with the columns t
    ///     and the input's name, as 'table.csv' or 'linear(table.csv)', or a function of (t, x), which gets the state as field takes it,
    ///     at every evaluation. What it raises ends the run.
    /// until_event: a condition such as 'q[1] < 0', which ends the run where it becomes true.
    ///
    /// A value that the command refuses raises ValueError, with its message. A run that ends before its end raises RunFailed. Ctrl-C interrupts
    /// a run; other threads run meanwhile.
    #[pyo3(
        signature = (until=None, **keywords),
        text_signature = "($self, until=10.0, *, method='rk4', step=None, rtol=None, atol=None, max_step=None, \
            max_steps=None, every=None, t_eval=None, dense_output=False, project=None, gains=None, start=None, guess=None, \
            repair=False, input=None, until_event=None)"
    )]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<&Bound<'_, PyAny>>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Run>> {
        let source = &self.source;
        let Options { of_command: options, t_eval, dense_output, continues, functions: Functions { laws, raised } } =
            self.options(&*source.load(), until, keywords, &keywords::OF_RUNS)?;

        integrated(py, source, &raised, || {
            let request = Request::with_functions(source.models(), &source.entry.name, options, laws)?;
            let request = if dense_output { request.dense() } else { request };
            let request = if continues { request.continuing() } else { request };
            match t_eval {
                Some(times) => request.sampled_at(times),
                None => Ok(request),
            }
        })
    }

    /// A run that continues at each call, for control loops and learning environments: stepper.step(until, thrust=u) holds the inputs that it is
    /// given, and returns the state.
    ///
    /// It takes the arguments of run, and start may be an array besides: one state of shape (n,), as field takes it, or k states of shape
    /// (k, n) for as many runs side by side. All calls together are one run: each continues with the projections, gains, samples of laws,
    /// counts of events and step size of the one before.
    #[pyo3(
        signature = (**keywords),
        text_signature = "($self, *, method='rk4', step=None, rtol=None, atol=None, max_step=None, max_steps=None, project=None, \
            gains=None, start=None, guess=None, repair=False, input=None, until_event=None)"
    )]
    fn stepper(&self, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Stepper> {
        let keywords = keywords.map(|keywords| keywords.copy()).transpose()?;
        let given = keywords.as_ref().map(|keywords| keywords.get_item("start")).transpose()?.flatten();
        let given = given
            .filter(|start| !start.is_none() && !start.is_instance_of::<PyDict>() && !start.is_instance_of::<Run>());
        let model = self.source.load();
        if let (Some(start), Some(keywords)) = (&given, &keywords) {
            keywords.set_item("start", first_state(start, &*model)?)?;
        }
        let Options { of_command, functions: Functions { laws, raised }, .. } =
            self.options(&*model, None, keywords.as_ref(), &[keywords::OF_RUNS[0]])?;
        let source = &self.source;
        let request = Request::with_functions(source.models(), &source.entry.name, of_command, laws);
        let request = request.map_err(PyValueError::new_err)?;
        let (model, start, plan) = request.begin(source.models()).map_err(PyValueError::new_err)?;
        Stepper::new(source, (model, plan), (start, given.as_ref()), raised)
    }

    /// Integrates many members of the model, whose parameters, starts or gains vary.
    ///
    /// The arguments are the options of `fbint ensemble`, with the same rules and defaults; `fbint ensemble --help` has more about them.
    ///
    /// until, method, step, rtol, atol, max_step, max_steps, project, gains, start, guess, repair, input: as in run, for all members.
    /// members: the number of members.
    /// vary: distributions by the names of parameters, entries of the start, or 'gains': ('normal', mean, deviation) and
    ///     ('uniform', from, to) are random, ('linspace', from, to) goes evenly from the first member to the last.
    /// seed: the seed of the random numbers. The draws of a member do not depend on the number of members.
    /// threads: the number of threads; by default, the number of cores. No number depends on it.
    /// every: the time between two samples for statistics; a hundredth of the run by default.
    ///
    /// Members that fail are in the errors of the Ensemble that is returned; if all do, or the command refuses something else, it is a
    /// ValueError, with the same words. Ctrl-C interrupts an ensemble; other threads run meanwhile.
    #[pyo3(
        signature = (until=None, **keywords),
        text_signature = "($self, until=10.0, *, members=1000, vary=None, seed=1, threads=None, method='rk4', step=None, rtol=None, \
            atol=None, max_step=None, max_steps=None, every=None, project=None, gains=None, start=None, guess=None, repair=False, input=None)"
    )]
    fn ensemble<'py>(
        &self,
        py: Python<'py>,
        until: Option<&Bound<'_, PyAny>>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = self.options(&*self.source.load(), until, keywords, &keywords::OF_ENSEMBLES)?;
        if let Some(input) = options.functions.laws.keys().next() {
            let message = format!(
                "`{input}` is a function, which the threads of an ensemble would wait for: give an expression, a number or a table"
            );
            return Err(PyTypeError::new_err(message));
        }
        ensemble::integrated(py, &self.source, options.of_command)
    }

    /// Exports the model with these parameters for other tools, and returns lines that say what was written and what the model lacks.
    ///
    /// c: a folder for C99, which is also C++17.
    /// fmu: a file for a Functional Mock-up Unit, such as 'pendulum.fmu'.
    /// casadi: a folder for functions of CasADi and acados.
    /// fmi: the version of the Functional Mock-up Interface, 2 or 3.
    /// start, guess, repair: as in run.
    /// force: whether files that fbint has not written are replaced.
    ///
    /// A model that was compiled into the module is exported if the module has the text that declares it, as fbint_models has. A
    /// refusal of the command raises ValueError, with its message.
    #[cfg(feature = "export")]
    #[pyo3(
        signature = (**keywords),
        text_signature = "($self, *, c=None, fmu=None, casadi=None, fmi=3, start=None, guess=None, repair=False, force=False)"
    )]
    fn export(&self, py: Python<'_>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
        let (exports, of_runs) = export::asked(keywords)?;
        let options = self.options(&*self.source.load(), None, Some(&of_runs), &[])?;
        export::written(py, &self.source, &exports, options.of_command)
    }

    /// The start of a run with these parameters: a dictionary of arrays, which the keyword start takes.
    fn start<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let model = self.model();
        let start = model.start().map_err(|error| PyValueError::new_err(error.to_string()))?;
        entries::written(py, model.facts().variables, &start)
    }

    /// The derived field without feedback: the rate of each entry of a state.
    ///
    /// x: a state of shape (n,), or many of shape (k, n). A state has the values of start() one after the other, each matrix row by
    ///     row, as in
    ///     numpy.hstack([numpy.ravel(value) for value in model.start().values()]).
    ///
    /// The rates have the shape of x and the same order.
    fn field<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let places = entries::places(model.facts().variables);
        entries::of_states(x, &places, &[places.len()], |state| {
            let rates = model.rates(state);
            places.iter().map(|&place| rates[place]).collect()
        })
    }

    /// The values of the integrals.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    ///
    /// The values have the shape (m,) or (k, m), in the order of a run's drift.
    fn integrals<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let places = entries::places(model.facts().variables);
        entries::of_states(x, &places, &[model.integral_names().len()], |state| model.integrals(state))
    }

    /// The Jacobian of the field, the derivatives of field by the state, to rounding: J[i, j] belongs to rate i and entry j.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    ///
    /// The Jacobian has the shape (n, n) or (k, n, n). Inputs that a model gives itself are held at their values in the state.
    fn field_jacobian<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let places = entries::places(model.facts().variables);
        entries::of_states(x, &places, &[places.len(); 2], |state| {
            let mut rows = model.rates_jacobian(state);
            let rows: Vec<Vec<f64>> = places.iter().map(|&place| take(&mut rows[place])).collect();
            entries::with_columns(&rows, &places)
        })
    }

    /// The Jacobian of the integrals: J[i, j] is the derivative of integral i by entry j of the state.
    ///
    /// x: a state of shape (n,), or many of shape (k, n), as field takes them.
    ///
    /// The Jacobian has the shape (m, n) or (k, m, n), with the integrals in the order of a run's drift.
    fn integrals_jacobian<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model();
        let places = entries::places(model.facts().variables);
        entries::of_states(x, &places, &[model.integral_names().len(), places.len()], |state| {
            entries::with_columns(&model.integrals_jacobian(state), &places)
        })
    }

    /// The parameters by name: a dictionary of numbers and arrays.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values: Vec<f64> = self.parameters.iter().map(|(_, value)| *value).collect();
        entries::written(py, self.source.load().facts().parameters, &values)
    }

    /// A parameter by its name.
    fn parameter<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.parameters(py)?.as_any().get_item(name)
    }

    /// The derived equations as plain text.
    #[getter]
    fn equations(&self) -> String {
        self.model().flat().equations().trim_end().to_owned()
    }

    /// The derived equations as LaTeX, a paragraph and align* for each part.
    #[getter]
    fn latex(&self) -> String {
        self.model().flat().latex().trim_end().to_owned()
    }

    /// The generated Rust.
    #[getter]
    fn rust(&self) -> String {
        self.model().flat().source().trim_end().to_owned()
    }

    /// The equations for a notebook, unless they are too long to read.
    fn _repr_latex_(&self) -> Option<String> {
        let latex = self.latex();
        (latex.len() <= MAX_LATEX).then(|| notebook(&latex))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let parameters = slf.get().parameters(slf.py())?;
        let parameters: PyResult<Vec<String>> = parameters.iter().map(|(name, value)| shown(&name, &value)).collect();
        let class: String = slf.get_type().name()?.extract()?;
        Ok(format!("{class}({})", parameters?.join(", ")))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let bits = |model: &Self| model.parameters.iter().map(|(_, value)| value.to_bits()).collect::<Vec<_>>();
        let is_equal = |other: &Self| other.source.is_same(&self.source) && bits(other) == bits(self);
        other.cast::<Self>().is_ok_and(|other| is_equal(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.source.entry.name.hash(&mut hasher);
        self.parameters.iter().for_each(|(_, value)| value.to_bits().hash(&mut hasher));
        hasher.finish()
    }

    /// For pickle and copy.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.parameters(py)?))
    }
}

impl Model {
    /// The model with these parameters.
    pub(crate) fn model(&self) -> Box<dyn AnyModel> {
        let mut model = self.source.load();
        for (index, (_, value)) in self.parameters.iter().enumerate() {
            model.set_parameter(index, *value);
        }
        model
    }

    /// The options of the command for these parameters, the end and the keywords. `more` are the keywords of this method alone.
    fn options(
        &self,
        model: &dyn AnyModel,
        until: Option<&Bound<'_, PyAny>>,
        keywords: Option<&Bound<'_, PyDict>>,
        more: &[Keyword],
    ) -> PyResult<Options> {
        let mut given = match keywords {
            Some(keywords) => keywords::options(
                keywords,
                more,
                List { declared: model.facts().variables, names: &model.state_names() },
            )?,
            None => Options::default(),
        };
        let is_open = |name: &str| model.parameters().iter().any(|(own, default)| *own == name && default.is_nan());
        let is_missing = |entry: usize| {
            let (name, value) = self.parameters[entry];
            value.is_nan() && is_open(name)
        };
        if let Some(missing) = model.facts().parameters.iter().find(|parameter| parameter.entries().any(is_missing)) {
            let (name, model) = (missing.name, self.source.entry.type_name);
            let message = format!(
                "nothing gives `{name}` a value: add `default({name} = ..)` to the declaration, or give it: {model}({name}=..)"
            );
            return Err(PyValueError::new_err(message));
        }
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|(name, value)| ("parameter", Some(format!("{name}={value:?}"))));
        let until = until.map(|until| entries::number("until", until)).transpose()?;
        let until = until.map(|until| ("until", Some(format!("{until:?}"))));
        given.of_command = parameters.chain(until).chain(given.of_command).collect();
        Ok(given)
    }
}

/// Asks from time to time whether Ctrl-C was pressed.
pub(crate) struct Signals {
    asked: Instant,
    interruption: Option<PyErr>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self { asked: Instant::now(), interruption: None }
    }

    /// Raises what Ctrl-C has raised.
    pub(crate) fn raise(&mut self) -> PyResult<()> {
        self.interruption.take().map_or(Ok(()), Err)
    }

    pub(crate) fn look(&mut self) -> ControlFlow<()> {
        if self.asked.elapsed() < PATIENCE {
            return ControlFlow::Continue(());
        }
        self.interruption = Python::attach(|py| py.check_signals()).err();
        self.asked = Instant::now();
        if self.interruption.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Writes a line to Python's stderr, which a notebook shows, too.
fn say(line: &str) {
    let written = Python::attach(|py| -> PyResult<()> {
        let out = py.import("sys")?.getattr("stderr")?;
        out.call_method1("write", (format!("{line}\n"),))?;
        out.call_method0("flush")?;
        Ok(())
    });
    // Whoever does not read it misses nothing else.
    drop(written);
}

/// The class of a model, a subclass of [`Model`] and an instance of the metaclass.
pub(crate) fn class<'py>(
    py: Python<'py>,
    module: &str,
    source: &Arc<Source>,
    metaclass: &Bound<'py, PyType>,
) -> PyResult<Bound<'py, PyAny>> {
    let (base, entry, model) = (py.get_type::<Model>(), &source.entry, source.load());
    let members = PyDict::new(py);
    members.set_item("__module__", module)?;
    members.set_item("__slots__", PyTuple::empty(py))?;
    members.set_item("__doc__", documentation(entry.summary, &*model))?;
    members.set_item("name", &entry.name)?;
    members.set_item(ATTRIBUTE, Py::new(py, SourceObject(Arc::clone(source)))?)?;
    let values: Vec<f64> = model.parameters().into_iter().map(|(_, value)| value).collect();
    members.set_item("__signature__", signature(&entries::written(py, model.facts().parameters, &values)?)?)?;
    let getter = py.import("operator")?.getattr("methodcaller")?;
    let property = py.import("builtins")?.getattr("property")?;
    for parameter in properties(py, &*model)? {
        let get = getter.call1(("parameter", &parameter))?;
        members.set_item(parameter, property.call1((get, py.None(), py.None(), "A parameter."))?)?;
    }
    metaclass.call1((entry.type_name, (base,), members))
}

/// The parameters that a model has as properties: those that are called like something else are in its dictionary alone.
pub(crate) fn properties(py: Python<'_>, model: &dyn AnyModel) -> PyResult<Vec<String>> {
    let base = py.get_type::<Model>();
    let mut properties = Vec::new();
    for &Declared { name, .. } in model.facts().parameters {
        if is_free(py, name)? && name != "name" && !base.hasattr(name)? {
            properties.push(name.to_owned());
        }
    }
    Ok(properties)
}

/// Whether a parameter of this name can be given as a keyword: `lambda` cannot, but by `**{"lambda": 1.0}`.
pub(crate) fn is_free(py: Python<'_>, name: &str) -> PyResult<bool> {
    let reserved: bool = py.import("keyword")?.call_method1("iskeyword", (name,))?.extract()?;
    Ok(!reserved)
}

/// The help for a model.
fn documentation(summary: &str, model: &dyn AnyModel) -> String {
    let facts = model.facts();
    let lists = [
        ("parameters", facts.parameters),
        ("state", facts.variables),
        ("integrals", facts.declared_integrals),
        ("inputs", facts.inputs),
        ("outputs", facts.outputs),
    ];
    let lists = lists.iter().filter(|(_, list)| !list.is_empty());
    let facts = lists.map(|(what, list)| format!("{what}: {}\n", shapes(list)));
    format!("{summary}\n\n{}", facts.collect::<String>())
}

/// The signature of a class whose instances have these parameters by default.
fn signature<'py>(defaults: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let inspect = defaults.py().import("inspect")?;
    let parameter = inspect.getattr("Parameter")?;
    let mut parameters = Vec::new();
    let mut others = None;
    for (name, value) in defaults {
        if is_free(defaults.py(), &name.extract::<String>()?)? {
            let settings = PyDict::new(defaults.py());
            settings.set_item("default", plain(&value)?)?;
            parameters.push(parameter.call((name, parameter.getattr("KEYWORD_ONLY")?), Some(&settings))?);
        } else {
            others = Some(parameter.call1(("parameters", parameter.getattr("VAR_KEYWORD")?))?);
        }
    }
    parameters.extend(others);
    inspect.call_method1("Signature", (parameters,))
}

/// The clock is read once in so many steps: it takes as long as a tenth of a short one.
const BETWEEN_LOOKS: u8 = 16;

/// The run that `request` describes, while other threads run, and until Ctrl-C.
pub(crate) fn integrated(
    py: Python<'_>,
    source: &Arc<Source>,
    raised: &Raised,
    request: impl FnOnce() -> Result<Request, String> + Send,
) -> PyResult<Py<Run>> {
    let mut signals = Signals::new();
    let outcome = py.detach(|| {
        let request = request().map_err(Refusal::Refused)?;
        let (mut estimate, mut looks) = (Estimate::new(), 0_u8);
        let outcome = request.run(source.models(), &mut |moment| {
            looks = looks.wrapping_add(1);
            if !looks.is_multiple_of(BETWEEN_LOOKS) {
                return ControlFlow::Continue(());
            }
            if let Some(left) = estimate.after(moment.fraction()) {
                say(&format!("{}: {left}; Ctrl-C interrupts, and max_steps refuses such a run", source.entry.name));
            }
            signals.look()
        });
        outcome.map(|outcome| (request, outcome))
    });
    signals.raise()?;
    raised.raise()?;
    match outcome {
        Ok((request, outcome)) => finished(py, source, request, outcome),
        Err(Refusal::Failed { message, columns }) => {
            let error = contents(py)?.run_failed.bind(py).call1((message,))?;
            error.setattr("trajectory", Py::new(py, Trajectory::new(py, &*source.load(), columns))?)?;
            Err(PyErr::from_value(error))
        }
        Err(refusal) => Err(refused(refusal)),
    }
}

/// The exception for a refusal.
pub(crate) fn refused(refusal: Refusal) -> PyErr {
    match refusal {
        Refusal::NoMemory(message) => PyMemoryError::new_err(message),
        Refusal::Refused(message) | Refusal::Failed { message, .. } => PyValueError::new_err(message),
    }
}

/// Repeats the run of a record, which Run.record or the command has written: the samples have the same bits.
///
/// path: the record, such as 'pendulum.run.json'. A model that is declared by a text comes with it, and any other is one of this module.
#[pyfunction]
pub(crate) fn repeat(py: Python<'_>, path: PathBuf) -> PyResult<Py<Run>> {
    let models: Vec<Entry> = contents(py)?.models.iter().map(|source| source.entry.clone()).collect();
    let (request, declared) = Request::of_record(&models, &path).map_err(PyValueError::new_err)?;
    let source = match declared {
        Some(DeclaringText { text, model }) => Source::declared(py, text, model.as_deref())?,
        None => Source::unpickled(py, (request.model().to_owned(), None))?,
    };
    let request = request.named(&source.entry.name);
    integrated(py, &source, &Raised::default(), || Ok(request))
}

fn finished(py: Python<'_>, source: &Arc<Source>, request: Request, outcome: CompletedRun) -> PyResult<Py<Run>> {
    if let Some(doubt) = &outcome.doubt {
        let message = CString::new(doubt.as_str())?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 1)?;
    }
    Py::new(py, Run::new(py, source, request, outcome))
}

/// The entries of the first state of an array, by name.
fn first_state<'py>(x: &Bound<'py, PyAny>, model: &dyn AnyModel) -> PyResult<Bound<'py, PyDict>> {
    let (n, names, entries) = (model.state().len(), model.state_names(), PyDict::new(x.py()));
    let fits = |shape: &[usize]| {
        matches!(shape, [entries] | [_, entries] if *entries == n) && shape.iter().all(|size| *size > 0)
    };
    let given = entries::shaped("start", x, &format!("({n},) or (k, {n}), or a dict or a run"), fits)?;
    for (&place, value) in entries::places(model.facts().variables).iter().zip(&given.values) {
        entries.set_item(names[place], value)?;
    }
    Ok(entries)
}

/// LaTeX in which MathJax understands the headings, too.
fn notebook(latex: &str) -> String {
    let mut parts = latex.split("\\paragraph{");
    let begin = parts.next().unwrap_or_default().to_owned();
    parts.fold(begin, |text, part| match part.split_once('}') {
        Some((title, formulas)) => format!("{text}$\\textbf{{{title}}}${formulas}"),
        None => text + part,
    })
}

/// `name=value`, with lists for arrays.
fn shown(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let (name, value): (String, String) = (name.extract()?, plain(value)?.repr()?.extract()?);
    Ok(format!("{name}={value}"))
}

/// A number, or lists of numbers.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.hasattr("tolist")? { value.call_method0("tolist") } else { Ok(value.clone()) }
}
