//! Exports of a model with its parameters.

use std::path::PathBuf;

use fbint_command::export::{Exports, Version, programs_of};
use fbint_command::nearest;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::keywords::CommandOption;
use crate::source::Source;

/// The keywords of an export; the last ones are options of runs.
const KEYWORDS: [&str; 8] = ["c", "fmu", "casadi", "fmi", "force", "start", "guess", "repair"];

/// The exports that keywords name, and the keywords that are options of runs.
pub(crate) fn asked<'py>(keywords: Option<&Bound<'py, PyDict>>) -> PyResult<(Exports, Bound<'py, PyDict>)> {
    let Some(keywords) = keywords else { return Err(nothing()) };
    let of_runs = keywords.copy()?;
    for name in keywords.keys() {
        let name: String = name.extract()?;
        nearest::find("keyword", &name, &KEYWORDS).map_err(|error| PyTypeError::new_err(error.to_string()))?;
        if KEYWORDS[..5].contains(&&*name) {
            of_runs.del_item(name)?;
        }
    }
    let given = |name: &str| keywords.get_item(name).map(|value| value.filter(|value| !value.is_none()));
    let path = |name: &str| given(name)?.map(|path| path.extract::<PathBuf>()).transpose();
    let version = match given("fmi")?.map(|version| version.extract::<u8>()).transpose()? {
        Some(2) => Version::Two,
        None | Some(3) => Version::Three,
        Some(other) => return Err(PyValueError::new_err(format!("`fmi` is 2 or 3, and not {other}"))),
    };
    let force = given("force")?.map(|force| force.extract()).transpose()?.unwrap_or(false);
    let exports =
        Exports { c: path("c")?, fmu: path("fmu")?.map(|path| (path, version)), casadi: path("casadi")?, force };
    let is_empty = exports.c.is_none() && exports.fmu.is_none() && exports.casadi.is_none();
    if is_empty { Err(nothing()) } else { Ok((exports, of_runs)) }
}

fn nothing() -> PyErr {
    PyTypeError::new_err("nothing is to be exported: give a folder as `c` or `casadi`, or a file as `fmu`")
}

/// Writes exports; returns the lines that the command prints.
pub(crate) fn written(
    py: Python<'_>,
    source: &Source,
    exports: &Exports,
    options: Vec<CommandOption>,
) -> PyResult<Vec<String>> {
    let lines = py.detach(|| {
        let model = programs_of(&source.entry, source.text.as_deref()).map_err(|error| error.to_string())?;
        exports.write(&model, source.entry.clone(), options).map_err(|error| error.to_string())
    });
    lines.map_err(PyValueError::new_err)
}
