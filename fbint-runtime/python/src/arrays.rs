//! Arrays, which NumPy makes of bytes, and which it reads as bytes.

use bytemuck::{NoUninit, cast_slice};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict};

/// The elements of arrays.
pub(crate) trait Number: NoUninit {
    /// NumPy's name of the type.
    const TYPE: &'static str;

    /// The place for NumPy's type, which is imported once.
    fn place() -> &'static PyOnceLock<Py<PyAny>>;
}

impl Number for f64 {
    const TYPE: &'static str = "float64";

    fn place() -> &'static PyOnceLock<Py<PyAny>> {
        static PLACE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        &PLACE
    }
}

impl Number for i64 {
    const TYPE: &'static str = "int64";

    fn place() -> &'static PyOnceLock<Py<PyAny>> {
        static PLACE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        &PLACE
    }
}

/// The numbers of an array, row by row.
pub(crate) struct Numbers {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl Numbers {
    /// The numbers of an array, or of anything that NumPy takes for one, unless doubles would lose something.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = value.py();
        let array = py.import("numpy")?.call_method1("asarray", (value,))?;
        let settings = PyDict::new(py);
        settings.set_item("casting", "same_kind")?;
        let array = array.call_method("astype", (f64::TYPE,), Some(&settings))?;
        let bytes = array.call_method0("tobytes")?;
        let (numbers, _) = bytes.cast::<PyBytes>()?.as_bytes().as_chunks::<{ size_of::<f64>() }>();
        let mut values = reserved(numbers.len())?;
        values.extend(numbers.iter().map(|bytes| f64::from_ne_bytes(*bytes)));
        Ok(Self { shape: array.getattr("shape")?.extract()?, values })
    }
}

/// An empty list with room for this number of numbers.
pub(crate) fn reserved(count: usize) -> PyResult<Vec<f64>> {
    let mut numbers = Vec::new();
    let reserved = numbers.try_reserve_exact(count);
    reserved.map_err(|_| PyMemoryError::new_err(format!("there is no memory for {count} numbers")))?;
    Ok(numbers)
}

/// An array of this shape.
pub(crate) fn array<'py>(py: Python<'py>, values: &[f64], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let bytes: &[u8] = cast_slice(values);
    let buffer = PyByteArray::new_with(py, bytes.len(), |buffer| {
        buffer.copy_from_slice(bytes);
        Ok(())
    })?;
    of_buffer::<f64>(buffer.as_any(), shape)
}

/// An array of rows of this shape that cannot be written to, because bytes cannot.
pub(crate) fn frozen<'py, N: Number>(py: Python<'py>, values: &[N], row: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let rows = values.len() / row.iter().product::<usize>().max(1);
    let bytes: &[u8] = cast_slice(values);
    let buffer = PyBytes::new_with(py, bytes.len(), |buffer| {
        buffer.copy_from_slice(bytes);
        Ok(())
    })?;
    of_buffer::<N>(buffer.as_any(), &[&[rows], row].concat())
}

fn of_buffer<'py, N: Number>(buffer: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (py, numpy) = (buffer.py(), "numpy");
    let number = N::place().import(py, numpy, N::TYPE)?;
    ARRAY.import(py, numpy, "ndarray")?.call1((shape, number, buffer))
}
