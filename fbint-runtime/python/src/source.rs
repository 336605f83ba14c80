//! The source of a model: an entry of the module, or a text.

use std::slice;
use std::sync::Arc;

use fbint_command::catalogue::{AnyModel, Entry};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::contents;
#[cfg(feature = "text")]
use crate::text;

/// The source of a model, which its class, its instances and its runs have in common.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) entry: Entry,
    /// The text that declares the model, unless the module was built with it.
    pub(crate) text: Option<String>,
}

/// The pickled form of a source: the name of the model, and its text.
pub(crate) type PickledSource = (String, Option<String>);

/// The attribute of classes that has their source.
pub(crate) const ATTRIBUTE: &str = "_source";

/// A source as Python has it.
#[pyclass(frozen, name = "_Source")]
pub(crate) struct SourceObject(pub(crate) Arc<Source>);

#[pymethods]
impl SourceObject {
    /// For pickle and copy.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, PickledSource)> {
        Ok((slf.getattr("_unpickled")?, slf.get().0.pickled()))
    }

    #[staticmethod]
    #[pyo3(name = "_unpickled", signature = (name, text))]
    fn unpickled(py: Python<'_>, name: String, text: Option<String>) -> PyResult<Self> {
        Source::unpickled(py, (name, text)).map(Self)
    }
}

impl Source {
    /// The model alone, as the command takes a catalogue: no other has its name.
    pub(crate) fn models(&self) -> &[Entry] {
        slice::from_ref(&self.entry)
    }

    /// The model with its default parameters.
    pub(crate) fn load(&self) -> Box<dyn AnyModel> {
        (self.entry.load)()
    }

    /// Returns `true` if both are sources of one model.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.text == other.text
    }

    pub(crate) fn pickled(&self) -> PickledSource {
        (self.entry.name.clone(), self.text.clone())
    }

    /// The source of a model that a text declares, unless it has only one by its name.
    #[cfg(feature = "text")]
    pub(crate) fn declared(py: Python<'_>, text: String, name: Option<&str>) -> PyResult<Arc<Self>> {
        text::source(py, text, name)
    }

    #[cfg(not(feature = "text"))]
    pub(crate) fn declared(_: Python<'_>, _: String, _: Option<&str>) -> PyResult<Arc<Self>> {
        Err(PyTypeError::new_err("this module reads no models from text"))
    }

    /// The source that this was pickled from. A text is read again, unless this process has read it.
    pub(crate) fn unpickled(py: Python<'_>, (name, text): PickledSource) -> PyResult<Arc<Self>> {
        match text {
            Some(text) => Self::declared(py, text, Some(&name)),
            None => {
                let known = &contents(py)?.models;
                let source = known.iter().find(|source| source.entry.name == name).map(Arc::clone);
                source.ok_or_else(|| PyTypeError::new_err(format!("this module has no model `{name}`")))
            }
        }
    }
}
