//! Inputs that functions of Python give.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fbint_command::catalogue::Law;
use fbint_command::names::Declared;
use pyo3::prelude::*;

use crate::arrays::array;
use crate::entries::{self, number};

/// Functions of the time and the state, by the names of the inputs that they give.
#[derive(Default)]
pub(crate) struct Functions {
    pub(crate) laws: BTreeMap<String, Law>,
    pub(crate) raised: Raised,
}

/// The first exception of a function. Afterwards no function is called.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Raises it, and forgets it.
    pub(crate) fn raise(&self) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn is_something(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

impl Functions {
    /// Adds the function that gives an input of a model whose state has these variables. It takes the state in the order of `Model.field`.
    pub(crate) fn add(&mut self, input: &str, function: &Bound<'_, PyAny>, state: &[Declared]) {
        let (name, function, places) = (input.to_owned(), function.clone().unbind(), entries::places(state));
        let raised = self.raised.clone();
        let law = Law::new(move |time, state| {
            if raised.is_something() {
                return f64::NAN;
            }
            let value = Python::attach(|py| {
                let x: Vec<f64> = places.iter().map(|&place| state[place]).collect();
                number(&name, &function.bind(py).call1((time, array(py, &x, &[x.len()])?))?)
            });
            value.unwrap_or_else(|error| {
                raised.set(error);
                // The run cannot go on, and ends here.
                f64::NAN
            })
        });
        self.laws.insert(input.to_owned(), law);
    }
}
