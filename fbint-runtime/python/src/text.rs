//! Models that are declared in Python, as text.

use std::sync::{Arc, PoisonError};

use fbint_command::catalogue::{Entry, of_text};
use fbint_command::nearest;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{Contents, contents, model};

/// The class of a model that is declared by text: the attribute `feedback_system` and its struct, as in a crate of Rust, with `default`
/// for parameters and `start` for the start of a run. Its equations are derived when it is read.
///
/// text: the declaration. What is wrong with it is a ValueError that shows every mistake at its place.
/// name: one of several models in the text, such as 'double-pendulum' for DoublePendulum.
#[pyfunction(name = "model")]
#[pyo3(signature = (text, name=None))]
pub(crate) fn declared<'py>(py: Python<'py>, text: &str, name: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let refused = |error: Box<dyn std::error::Error>| PyValueError::new_err(error.to_string());
    let entries = py.detach(|| of_text(text, "<text>").map_err(|error| error.to_string()));
    let mut entries = entries.map_err(PyValueError::new_err)?;
    let names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
    let index = match (name, &names[..]) {
        (Some(name), names) => nearest::find("model", name, names).map_err(refused)?,
        (None, [_]) => 0,
        (None, names) => {
            let list = names.join("', '");
            return Err(PyValueError::new_err(format!("the text has several models: give name, one of '{list}'")));
        }
    };
    let contents = contents(py)?;
    let entry = contents.added(entries.swap_remove(index));
    model::class(py, &contents.name, &entry)
}

impl Contents {
    /// Adds a model, by a name that no other has.
    fn added(&self, entry: Entry) -> Entry {
        let mut models = self.models.write().unwrap_or_else(PoisonError::into_inner);
        let is_free = |name: &String| models.iter().all(|other| other.name != *name);
        let numbered = (2..).map(|number: u64| format!("{}-{number}", entry.name));
        let name = [entry.name.clone()].into_iter().chain(numbered).find(is_free).unwrap_or_default();
        let entry = Entry { name, ..entry };
        *models = models.iter().cloned().chain([entry.clone()]).collect::<Arc<[Entry]>>();
        entry
    }
}
