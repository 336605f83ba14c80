//! Arrays by name, as Python has them, and entries by name, as the command has them.

use fbint_command::names::{self, Declared};
use fbint_command::nearest;
use pyo3::exceptions::{PyException, PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::arrays::{self, Numbers, reserved};

/// An entry by its name, with its value.
pub(crate) type Named = (String, f64);

/// A list of entries: what it declares, and the name of each entry.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    pub(crate) declared: &'a [Declared],
    pub(crate) names: &'a [&'a str],
}

/// The entries that a dictionary sets, whose keys are entries, or the vectors and matrices that they make up. The message for an unknown
/// name calls it `what`, and an entry may be set by one name alone.
pub(crate) fn read(given: &Bound<'_, PyDict>, what: &str, known: List<'_>) -> PyResult<Vec<Named>> {
    let List { declared, names: known } = known;
    let mut entries = Vec::new();
    let mut setters: Vec<Option<String>> = vec![None; known.len()];
    for (name, value) in given {
        let name: String = name.cast::<PyString>().map_err(|_| PyTypeError::new_err("names must be str"))?.extract()?;
        let whole = declared.iter().find(|declared| declared.name == name);
        let (positions, values) = match whole.map(names::array) {
            Some(array) => {
                let values = numbers(&name, &value, &array.dimensions)?;
                (array.positions, values)
            }
            None => {
                let index =
                    nearest::find(what, &name, known).map_err(|error| PyTypeError::new_err(error.to_string()))?;
                (vec![index], vec![number(&name, &value)?])
            }
        };
        for (position, value) in positions.into_iter().zip(values) {
            let entry = known[position];
            if let Some(other) = setters[position].replace(name.clone()) {
                let message = format!("`{other}` and `{name}` both set the {what} `{entry}`: leave out one of them");
                return Err(PyTypeError::new_err(message));
            }
            entries.push((entry.to_owned(), value));
        }
    }
    Ok(entries)
}

/// Entries as arrays, by the names of the vectors and matrices that they make up; a scalar is a float.
pub(crate) fn written<'py>(py: Python<'py>, list: &[Declared], values: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    for declared in list {
        arrays.set_item(declared.name, array(py, declared, values)?)?;
    }
    Ok(arrays)
}

fn array<'py>(py: Python<'py>, declared: &Declared, all: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let array = names::array(declared);
    let values: Vec<f64> = array.positions.iter().map(|&position| all[position]).collect();
    match (&*array.dimensions, &*values) {
        ([], &[value]) => Ok(value.into_pyobject(py)?.into_any()),
        _ => arrays::array(py, &values, &array.dimensions),
    }
}

/// The place of each entry among all names, as the arrays that they make up have them one after the other, each row by row.
pub(crate) fn places(list: &[Declared]) -> Vec<usize> {
    list.iter().flat_map(|declared| names::array(declared).positions).collect()
}

/// The array of this shape that `function` makes of a state, or of each of many, whose entries are in the order of these places.
pub(crate) fn of_states<'py>(
    x: &Bound<'py, PyAny>,
    places: &[usize],
    shape: &[usize],
    function: impl Fn(&[f64]) -> Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let n = places.len();
    let fits = |shape: &[usize]| matches!(shape, [entries] | [_, entries] if *entries == n);
    let states = shaped("x", x, &format!("({n},) or (k, {n})"), fits)?;
    let mut state = vec![0.0; n];
    let rows = states.values.len() / n.max(1);
    let mut values = reserved(rows.saturating_mul(shape.iter().product()))?;
    for row in states.values.chunks(n.max(1)) {
        places.iter().zip(row).for_each(|(&place, &value)| state[place] = value);
        values.extend(function(&state));
    }
    let many = &states.shape[..states.shape.len() - 1];
    arrays::array(x.py(), &values, &[many, shape].concat())
}

/// The entries of a matrix, row by row, whose columns are in the order of these places.
pub(crate) fn with_columns(rows: &[Vec<f64>], places: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|row| places.iter().map(|&place| row[place])).collect()
}

/// The numbers of an array of this shape, row by row.
fn numbers(name: &str, value: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<f64>> {
    if shape.is_empty() {
        return Ok(vec![number(name, value)?]);
    }
    Ok(shaped(name, value, &tuple(shape), |given| given == shape)?.values)
}

/// The numbers of an array whose shape fits.
pub(crate) fn shaped(
    name: &str,
    value: &Bound<'_, PyAny>,
    shape: &str,
    fits: impl Fn(&[usize]) -> bool,
) -> PyResult<Numbers> {
    let wanted = format!("an array of shape {shape}");
    let array = Numbers::of(value).map_err(|error| {
        let py = value.py();
        if !error.is_instance_of::<PyException>(py) || error.is_instance_of::<PyMemoryError>(py) {
            return error;
        }
        match error.value(py).str().and_then(|reason| reason.extract::<String>()) {
            Ok(reason) => PyTypeError::new_err(format!("`{name}` must be {wanted}: {reason}")),
            Err(error) => error,
        }
    })?;
    if !fits(&array.shape) {
        let message = format!("`{name}` must be {wanted}, but has the shape {}", tuple(&array.shape));
        return Err(PyValueError::new_err(message));
    }
    Ok(array)
}

/// A Python number, but not a bool.
pub(crate) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if value.is_instance_of::<PyBool>() {
        return Err(refused(name, value, "a number"));
    }
    value.extract().map_err(|error: PyErr| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyValueError::new_err(format!("`{name}` is too large: it must be a finite number")),
        false => refused(name, value, "a number"),
    })
}

/// The error for a value of a wrong type.
pub(crate) fn refused(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    match value.get_type().name().and_then(|kind| kind.extract::<String>()) {
        Ok(kind) => PyTypeError::new_err(format!("`{name}` must be {expected}, not {kind}")),
        Err(error) => error,
    }
}

/// A shape as Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [single] => format!("({single},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
