//! Models that are declared in Python, as text.
//!
//! Another thread reads a text, while the calling one looks for signals: Ctrl-C ends the call at once, and the thread within a second.
//! One text has one class for as long as anything uses it, so that a cell of a notebook that is run again makes no other model. Classes are
//! pickled by their text, which takes a metaclass: pickle knows all other classes by their place in a module.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use fbint_command::catalogue::{Entry, find, of_text};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::model::{PATIENCE, Signals};
use crate::source::{ATTRIBUTE, Source, SourceObject};
use crate::{contents, model};

/// The state of a module that reads models from text.
pub(crate) struct Texts {
    /// The class of classes that are declared by text.
    metaclass: Py<PyType>,
    /// These classes by their text and their name, unless nothing else uses them.
    classes: Py<PyAny>,
}

/// The class of a model that is declared by text: the attribute `feedback_system` and its struct, as in a crate of Rust, with `default`
/// for parameters and `start` for the start of a run. Its equations are derived when it is read, which Ctrl-C interrupts. One text has one
/// class, and pickle takes the class, its models, their runs and ensembles along with the text.
///
/// text: the declaration. A wrong text raises a ValueError that shows every mistake at its place.
/// name: one of several models in the text, such as 'DoublePendulum' or 'double-pendulum'.
#[pyfunction(name = "model")]
#[pyo3(signature = (text, name=None))]
pub(crate) fn declared<'py>(py: Python<'py>, text: String, name: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let source = source(py, text, name)?;
    let contents = contents(py)?;
    let classes = contents.texts.classes.bind(py);
    let key = (source.text.as_deref(), &source.entry.name).into_pyobject(py)?;
    let known = classes.call_method1("get", (&key,))?;
    if !known.is_none() {
        return Ok(known);
    }
    let class = model::class(py, &contents.name, &source, contents.texts.metaclass.bind(py))?;
    classes.set_item(key, &class)?;
    Ok(class)
}

/// The source of one of the models in a text.
pub(crate) fn source(py: Python<'_>, text: String, name: Option<&str>) -> PyResult<Arc<Source>> {
    if text.ends_with(".rs") && !text.contains('\n') {
        let message =
            format!("`{text}` is a path, and a model is made from the text in the file: open({text:?}).read()");
        return Err(PyValueError::new_err(message));
    }
    let mut entries = read(py, &text)?;
    let index = match (name, &entries[..]) {
        (Some(name), entries) => find(entries, name).map_err(|error| PyValueError::new_err(error.to_string()))?,
        (None, [_]) => 0,
        (None, entries) => {
            let list = entries.iter().map(|entry| &*entry.name).collect::<Vec<_>>().join("', '");
            return Err(PyValueError::new_err(format!("the text has several models: give name, one of '{list}'")));
        }
    };
    Ok(Arc::new(Source { entry: entries.swap_remove(index), text: Some(text) }))
}

/// A message of the thread that reads a text.
enum News {
    /// A second has passed, with a line on where it is if that is another task.
    Task(Option<String>),
    /// The models, or the mistakes.
    Read(Result<Vec<Entry>, String>),
}

/// Prints a line to the stderr of Python, which a notebook shows. Where there is none, or the disk is full, nothing fails.
fn complain(py: Python<'_>, line: &str) {
    let stderr = py.import("sys").and_then(|sys| sys.getattr("stderr"));
    let _ = stderr.and_then(|stderr| stderr.call_method1("write", (format!("{line}\n"),)));
}

/// All models of a text, unless Ctrl-C interrupts that.
fn read(py: Python<'_>, text: &str) -> PyResult<Vec<Entry>> {
    let (sender, receiver) = channel();
    let text = text.to_owned();
    let reading = thread::Builder::new().spawn(move || {
        // Nobody waits any more for what was interrupted.
        let mut say = |line| match sender.send(News::Task(line)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        let read = of_text(&text, "<text>", &mut say);
        drop(sender.send(News::Read(read.map_err(|error| error.to_string()))));
    });
    reading.map_err(|error| PyRuntimeError::new_err(format!("no thread can be started to read the text: {error}")))?;
    let mut signals = Signals::new();
    let asked = &mut signals;
    let read = py.detach(move || {
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(News::Task(line)) => Python::attach(|py| line.iter().for_each(|line| complain(py, line))),
                Ok(News::Read(read)) => return Some(read),
                Err(RecvTimeoutError::Timeout) if asked.look().is_continue() => {}
                Err(_) => return None,
            }
        }
    });
    signals.raise()?;
    // What came in the last moment.
    py.check_signals()?;
    match read {
        Some(read) => read.map_err(PyValueError::new_err),
        None => Err(PyRuntimeError::new_err("the text was not read, because of a fault of fbint")),
    }
}

impl Texts {
    /// The contents of the module of this name.
    pub(crate) fn new(module: &Bound<'_, PyModule>, name: &str) -> PyResult<Self> {
        let py = module.py();
        let members = PyDict::new(py);
        members.set_item("__module__", name)?;
        members.set_item("__doc__", "The class of models that are declared by text.")?;
        let type_class = py.get_type::<PyType>();
        let metaclass = type_class.call1(("_TextModel", (&type_class,), members))?.cast_into::<PyType>()?;
        py.import("copyreg")?.call_method1("pickle", (&metaclass, wrap_pyfunction!(reduced, module)?))?;
        let classes = py.import("weakref")?.call_method0("WeakValueDictionary")?;
        Ok(Self { metaclass: metaclass.unbind(), classes: classes.unbind() })
    }
}

/// For pickle and copy: the text of a class, or the name of a class that is derived from one.
#[pyfunction]
fn reduced<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let own = class.getattr("__dict__")?;
    if !own.contains(ATTRIBUTE)? {
        return class.getattr("__qualname__");
    }
    let source = own.get_item(ATTRIBUTE)?;
    let (name, text) = source.cast::<SourceObject>()?.get().0.pickled();
    let declare = py.import(&*contents(py)?.name)?.getattr("model")?;
    let arguments = PyTuple::new(py, [text, Some(name)])?;
    Ok(PyTuple::new(py, [declare, arguments.into_any()])?.into_any())
}
