#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! A run is a run of the command: [`fbint_command::request`] reads keywords as the options of `fbint run`, so that ranges, defaults and
//! messages are in one place, and this crate turns Python's values into its texts, and its columns into arrays. A number is written as the
//! shortest text that reads back as this number. Models are classes that are made when the module is imported, from the same [`Entry`] as
//! the command's models, because a class of PyO3 cannot be generic.
//!
//! Every run releases the interpreter, and takes it twenty times a second to ask for Ctrl-C. Python delivers signals to its main thread alone:
//! the thread that called waits and asks, while others integrate an ensemble in a separate pool, since in a common one it would wait for
//! the ensembles of other threads. A run keeps its request, by which its figure and its animation are drawn.
//!
//! All code that is unsafe is PyO3's: what its macros write is not seen by `unsafe_code = "forbid"`. The packages are built against the
//! stable ABI, so that no Python has to be installed to build them (`.cargo/config.toml`). They have no tests in Rust, because a test
//! program would have to be linked to a Python.

mod arrays;
mod ensemble;
mod entries;
#[cfg(feature = "export")]
mod export;
mod functions;
mod keywords;
mod laws;
mod model;
mod source;
mod stepper;
mod stubs;
#[cfg(feature = "text")]
mod text;
mod trajectory;

use std::sync::Arc;

use fbint_command::catalogue::Entry;
pub use {fbint_command, pyo3};

use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::model::Model;
use crate::source::{Source, SourceObject};
use crate::stepper::Stepper;
use crate::trajectory::{Run, Trajectory};

/// Defines the Python module of these models, each a type that implements [`Model`](fbint_command::Model).
///
/// The name is the library's in `Cargo.toml`. Instead of models by their types, a list of their entries may be given: `module!(my_models =
/// entries())`.
///
/// ```
/// # use fbint_command::{Error, Model, feedback_system};
/// # #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2)]
/// # pub struct Oscillator { pub m: f64, pub k: f64 }
/// # impl Default for Oscillator {
/// #     fn default() -> Self { Self { m: 1.0, k: 1.0 } }
/// # }
/// # impl Model for Oscillator {
/// #     fn start(&self) -> Result<OscillatorState, Error> { Ok(OscillatorState { q: 1.0, p: 0.0 }) }
/// # }
/// fbint_python::module!(my_models: Oscillator);
/// ```
#[macro_export]
macro_rules! module {
    ($name:ident: $($model:ty),+ $(,)?) => {
        $crate::module!($name = $crate::fbint_command::models![$($model),+]);
    };
    ($name:ident = $models:expr) => {
        #[$crate::pyo3::pymodule]
        #[pyo3(crate = "fbint_python::pyo3")]
        fn $name(
            module: &$crate::pyo3::Bound<'_, $crate::pyo3::types::PyModule>,
        ) -> $crate::pyo3::PyResult<()> {
            $crate::fill(module, ::std::env!("CARGO_PKG_VERSION"), ::std::vec::Vec::from($models))
        }
    };
}

/// The names that every module has besides its models.
const COMMON_NAMES: [&str; 13] = [
    "Model",
    "Trajectory",
    "Run",
    "Event",
    "RunFailed",
    "Ensemble",
    "Statistics",
    "Linearisation",
    "Sensitivity",
    "Stepper",
    "repeat",
    "stubs",
    "__version__",
];

/// The contents of this library's module.
struct Contents {
    /// The name of the module.
    name: String,
    /// The models that the module was built with.
    models: Vec<Arc<Source>>,
    #[cfg(feature = "text")]
    texts: text::Texts,
    run_failed: Py<PyType>,
    event: Py<PyAny>,
    ensemble: Py<PyAny>,
    statistics: Py<PyAny>,
    linearisation: Py<PyAny>,
    sensitivity: Py<PyAny>,
}

/// A library has one module.
static CONTENTS: PyOnceLock<Contents> = PyOnceLock::new();

fn contents(py: Python<'_>) -> PyResult<&Contents> {
    CONTENTS.get(py).ok_or_else(|| PyImportError::new_err("the module was not imported"))
}

/// The function that [`module!`] calls, with the version of the calling package.
#[doc(hidden)]
pub fn fill(module: &Bound<'_, PyModule>, version: &str, models: Vec<Entry>) -> PyResult<()> {
    let py = module.py();
    check_names(&models)?;
    let name = importable(&module.name()?.to_string_lossy());
    let run_failed = run_failed(py, &name)?;
    let classes = [&EVENT, &ENSEMBLE, &STATISTICS, &LINEARISATION, &SENSITIVITY].map(|class| class.made(py, &name));
    let [event, ensemble, statistics, linearisation, sensitivity] = classes;
    let (event, ensemble, statistics) = (event?, ensemble?, statistics?);
    let (linearisation, sensitivity) = (linearisation?, sensitivity?);
    let models = models.into_iter().map(|entry| Arc::new(Source { entry, text: None })).collect();
    #[cfg(feature = "text")]
    let texts = text::Texts::new(module, &name)?;
    let contents = CONTENTS.get_or_init(py, || Contents {
        name: name.clone(),
        models,
        #[cfg(feature = "text")]
        texts,
        run_failed,
        event,
        ensemble,
        statistics,
        linearisation,
        sensitivity,
    });

    let classes = [
        py.get_type::<Model>(),
        py.get_type::<Trajectory>(),
        py.get_type::<Run>(),
        py.get_type::<Stepper>(),
        py.get_type::<SourceObject>(),
    ];
    for class in classes {
        class.setattr("__module__", &name)?;
        module.add(class.name()?, class)?;
    }
    module.add("RunFailed", &contents.run_failed)?;
    module.add(EVENT.name, &contents.event)?;
    module.add(ENSEMBLE.name, &contents.ensemble)?;
    module.add(STATISTICS.name, &contents.statistics)?;
    module.add(LINEARISATION.name, &contents.linearisation)?;
    module.add(SENSITIVITY.name, &contents.sensitivity)?;
    module.add("__version__", version)?;
    for source in &contents.models {
        module.add(source.entry.type_name, model::class(py, &name, source, &py.get_type::<PyType>())?)?;
    }
    #[cfg(feature = "text")]
    module.add_function(wrap_pyfunction!(text::declared, module)?)?;
    module.add_function(wrap_pyfunction!(model::repeat, module)?)?;
    module.add_function(wrap_pyfunction!(stubs::stubs, module)?)
}

/// The name by which users import the module: maturin puts it into a package of its name, which has all that the module has.
fn importable(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((package, last)) if package.rsplit('.').next() == Some(last) => package.to_owned(),
        _ => name.to_owned(),
    }
}

/// Refuses models whose names hide one another, or a name that every module has.
fn check_names(models: &[Entry]) -> PyResult<()> {
    let mut taken = COMMON_NAMES.to_vec();
    for (index, Entry { name, type_name, .. }) in models.iter().enumerate() {
        if taken.contains(type_name) || models[..index].iter().any(|other| other.name == *name) {
            return Err(PyImportError::new_err(format!(
                "the model `{type_name}`, called `{name}`, has a name that something else in this module has: give it others by its type \
                 and by `Model::name`"
            )));
        }
        taken.push(type_name);
    }
    Ok(())
}

/// A class of named tuples.
struct NamedTuple {
    name: &'static str,
    fields: &'static [&'static str],
    documentation: &'static str,
}

const EVENT: NamedTuple = NamedTuple {
    name: "Event",
    fields: &["name", "t", "state", "reset"],
    documentation: "An occurrence of an event in a run: its name, the time t, the state, and the state after it if the event resets it, \
                    else None.\n\nA state has the shape (n,) and the order in which Model.field takes it.",
};

const ENSEMBLE: NamedTuple = NamedTuple {
    name: "Ensemble",
    fields: &["names", "ends", "drawn", "errors", "statistics"],
    documentation: "What became of the members of an ensemble.\n\n\
                    names: a name for each entry of the state, then d(NAME) for the change of each integral.\n\
                    ends: the members at the end, of shape (members, names); NaN for a member that failed.\n\
                    drawn: what varied, by name, each of shape (members,).\n\
                    errors: why members failed, by their index.\n\
                    statistics: Statistics over the members that did not fail.",
};

const STATISTICS: NamedTuple = NamedTuple {
    name: "Statistics",
    fields: &["t", "members", "mean", "variance", "min", "max"],
    documentation: "Statistics over the members of an ensemble at each time.\n\n\
                    t: the times, of shape (times,).\n\
                    members: the number of members at each time: those that did not fail and that no event has ended before.\n\
                    mean, variance, min, max: of each quantity of Ensemble.names, of shape (times, names); a variance has n - 1 in \
                    its denominator.",
};

const LINEARISATION: NamedTuple = NamedTuple {
    name: "Linearisation",
    fields: &["A", "B", "C", "D"],
    documentation: "A linear system next to a state: dx' = A dx + B du, dy = C dx + D du.\n\n\
                    A: (n, n), the derivatives of the field by the state; B: (n, i), by the inputs.\n\
                    C: (r, n), the derivatives of the outputs by the state; D: (r, i), by the inputs.",
};

const SENSITIVITY: NamedTuple = NamedTuple {
    name: "Sensitivity",
    fields: &["state", "by_start", "by_parameters"],
    documentation: "The end of a run, and its derivatives.\n\n\
                    state: the state at the end, of shape (n,).\n\
                    by_start: its derivatives by the entries of the start, of shape (n, n).\n\
                    by_parameters: its derivatives by the parameters, of shape (n, p).",
};

impl NamedTuple {
    fn made(&self, py: Python<'_>, module: &str) -> PyResult<Py<PyAny>> {
        let settings = PyDict::new(py);
        settings.set_item("module", module)?;
        let class = py.import("collections")?.call_method("namedtuple", (self.name, self.fields), Some(&settings))?;
        class.setattr("__doc__", self.documentation)?;
        Ok(class.unbind())
    }
}

/// The class of the error of a run that fails.
fn run_failed(py: Python<'_>, module: &str) -> PyResult<Py<PyType>> {
    let members = PyDict::new(py);
    members.set_item("__module__", module)?;
    members.set_item(
        "__doc__",
        "A run that ended before its end: its solution blew up, or no further step could be made.\n\n\
         The samples until then are in its attribute `trajectory`.",
    )?;
    let bases = (py.get_type::<PyRuntimeError>(),);
    Ok(py.get_type::<PyType>().call1(("RunFailed", bases, members))?.cast_into::<PyType>()?.unbind())
}
