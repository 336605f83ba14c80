//! Arrays by name, as Python has them, and entries by name, as the command has them.

use fbint_command::names::{NameGroup, groups};
use fbint_command::nearest;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyException, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

/// An entry by its name, with its value.
pub(crate) type Named = (String, f64);

/// The entries that a dictionary sets, whose keys are entries, or the vectors and matrices that they make up. An unknown name is told
/// as the `what` that it is not, and an entry may be set by one name alone.
pub(crate) fn read(given: &Bound<'_, PyDict>, what: &str, known: &[&str]) -> PyResult<Vec<Named>> {
    let mut entries = Vec::new();
    let mut names: Vec<Option<String>> = vec![None; known.len()];
    for (name, value) in given {
        let name = name.cast::<PyString>().map_err(|_| PyTypeError::new_err("names must be str"))?.to_string();
        let group = groups(known).into_iter().find(|group| group.base == name);
        let (positions, values) = match group.map(|group| group.array()) {
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
            if let Some(other) = names[position].replace(name.clone()) {
                let message = format!("`{other}` and `{name}` both set the {what} `{entry}`: leave out one of them");
                return Err(PyTypeError::new_err(message));
            }
            entries.push((entry.to_owned(), value));
        }
    }
    Ok(entries)
}

/// Entries as arrays, by the names of the vectors and matrices that they make up; a scalar is a float.
pub(crate) fn written<'py>(py: Python<'py>, names: &[&str], values: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    for group in groups(names) {
        arrays.set_item(group.base, array(py, &group, values)?)?;
    }
    Ok(arrays)
}

fn array<'py>(py: Python<'py>, group: &NameGroup<'_>, all: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let array = group.array();
    let values: Vec<f64> = array.positions.iter().map(|&position| all[position]).collect();
    match (&*array.dimensions, &*values) {
        ([], &[value]) => Ok(value.into_pyobject(py)?.into_any()),
        _ => Ok(PyArray1::from_vec(py, values).reshape(array.dimensions)?.into_any()),
    }
}

/// An array of rows of this shape that cannot be written to.
pub(crate) fn frozen<'py>(py: Python<'py>, values: Vec<f64>, row: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let rows = values.len() / row.iter().product::<usize>().max(1);
    let entries = PyArray1::from_vec(py, values);
    entries.try_readwrite()?.make_nonwriteable();
    Ok(entries.reshape([&[rows], row].concat())?.into_any())
}

/// The place of each entry among all names, as the arrays that they make up have them one after the other, each row by row.
pub(crate) fn places(names: &[&str]) -> Vec<usize> {
    groups(names).iter().flat_map(|group| group.array().positions).collect()
}

/// The array of this shape that `function` makes of a state, or of each of many, whose entries are in the order of these places.
pub(crate) fn of_states<'py>(
    x: &Bound<'py, PyAny>,
    places: &[usize],
    shape: &[usize],
    function: impl Fn(&[f64]) -> Vec<f64>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let n = places.len();
    let fits = |shape: &[usize]| matches!(shape, [entries] | [_, entries] if *entries == n);
    let states = shaped("x", x, &format!("({n},) or (k, {n})"), fits)?;
    let states = states.as_array();
    let mut state = vec![0.0; n];
    let mut values = Vec::new();
    for row in states.rows() {
        places.iter().zip(row).for_each(|(&place, &value)| state[place] = value);
        values.extend(function(&state));
    }
    let many = &states.shape()[..states.ndim() - 1];
    PyArray1::from_vec(x.py(), values).reshape([many, shape].concat())
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
    let array = shaped(name, value, &tuple(shape), |given| given == shape)?;
    Ok(array.as_array().iter().copied().collect())
}

/// An array of numbers whose shape fits.
pub(crate) fn shaped<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    shape: &str,
    fits: impl Fn(&[usize]) -> bool,
) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let wanted = format!("an array of shape {shape}");
    let array = array_of_numbers(value).map_err(|error| match error.is_instance_of::<PyException>(value.py()) {
        true => PyTypeError::new_err(format!("`{name}` must be {wanted}: {}", error.value(value.py()))),
        false => error,
    })?;
    if !fits(array.shape()) {
        let message = format!("`{name}` must be {wanted}, but has the shape {}", tuple(array.shape()));
        return Err(PyValueError::new_err(message));
    }
    Ok(array)
}

/// What Python takes for a number, but for a bool.
pub(crate) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if value.is_instance_of::<PyBool>() {
        return Err(refused(name, value, "a number"));
    }
    value.extract().map_err(|error: PyErr| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyValueError::new_err(format!("`{name}` is too large: it must be a finite number")),
        false => refused(name, value, "a number"),
    })
}

/// An array of doubles, unless that would lose something.
pub(crate) fn array_of_numbers<'py>(value: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let py = value.py();
    let array = py.import("numpy")?.call_method1("asarray", (value,))?;
    let settings = PyDict::new(py);
    settings.set_item("casting", "same_kind")?;
    array.call_method("astype", ("float64",), Some(&settings))?.extract()
}

/// The error for a value of a wrong type.
pub(crate) fn refused(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    match value.get_type().name() {
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
