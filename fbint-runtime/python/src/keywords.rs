//! The keywords of a run, which are the options of the command `run` by their names.

use fbint_command::nearest;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::entries::{self, array_of_numbers, number, refused, shaped};

/// A keyword.
struct Keyword {
    name: &'static str,
    kind: Kind,
}

/// What a keyword takes. `None` is the default of all of them, which the command knows.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Text,
    Switch,
    /// A text, a number, or numbers.
    Gains,
    /// Entries of the state.
    Entries,
    /// The times of the samples, which the command does not take.
    Times,
    /// Whether the run is a function of time, which the command does not take.
    Dense,
}

const KEYWORDS: [Keyword; 14] = [
    Keyword { name: "until", kind: Kind::Number },
    Keyword { name: "method", kind: Kind::Text },
    Keyword { name: "step", kind: Kind::Number },
    Keyword { name: "rtol", kind: Kind::Number },
    Keyword { name: "atol", kind: Kind::Number },
    Keyword { name: "every", kind: Kind::Number },
    Keyword { name: "t_eval", kind: Kind::Times },
    Keyword { name: "dense_output", kind: Kind::Dense },
    Keyword { name: "project", kind: Kind::Switch },
    Keyword { name: "gains", kind: Kind::Gains },
    Keyword { name: "start", kind: Kind::Entries },
    Keyword { name: "guess", kind: Kind::Entries },
    Keyword { name: "repair", kind: Kind::Switch },
    Keyword { name: "until_event", kind: Kind::Text },
];

/// An option of the command, with its text unless it is a switch.
pub(crate) type CommandOption = (&'static str, Option<String>);

/// What keywords say.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) of_command: Vec<CommandOption>,
    pub(crate) t_eval: Option<Vec<f64>>,
    pub(crate) dense_output: bool,
}

/// What these keywords say.
pub(crate) fn options(keywords: &Bound<'_, PyDict>, state: &[&str]) -> PyResult<Options> {
    let known: Vec<&str> = KEYWORDS.iter().map(|keyword| keyword.name).collect();
    let mut options = Options::default();
    for (name, value) in keywords {
        let index = nearest::find("keyword", &name.str()?.to_string_lossy(), &known);
        let keyword = &KEYWORDS[index.map_err(|error| PyTypeError::new_err(error.to_string()))?];
        if !value.is_none() {
            keyword.add(&value, state, &mut options)?;
        }
    }
    Ok(options)
}

impl Keyword {
    fn add(&self, value: &Bound<'_, PyAny>, state: &[&str], options: &mut Options) -> PyResult<()> {
        let name = self.name;
        let of_command = &mut options.of_command;
        match self.kind {
            Kind::Number => of_command.push((name, Some(format!("{:?}", number(name, value)?)))),
            Kind::Text => of_command.push((name, Some(value.extract().map_err(|_| refused(name, value, "a str"))?))),
            Kind::Switch if switch(name, value)? => of_command.push((name, None)),
            Kind::Switch => {}
            Kind::Gains => of_command.push((name, Some(gains(name, value)?))),
            Kind::Entries => {
                let given = value.cast::<PyDict>().map_err(|_| refused(name, value, "a dict"))?;
                let entries = entries::read(given, "entry of the state", state)?;
                of_command.extend(entries.into_iter().map(|(entry, value)| (name, Some(format!("{entry}={value:?}")))));
            }
            Kind::Times => {
                let times = shaped(name, value, "(k,)", |shape| shape.len() == 1)?;
                options.t_eval = Some(times.as_array().iter().copied().collect());
            }
            Kind::Dense => options.dense_output = switch(name, value)?,
        }
        Ok(())
    }
}

fn switch(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| refused(name, value, "a bool"))
}

fn gains(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.extract() {
        return Ok(text);
    }
    let gains = array_of_numbers(value).map_err(|_| refused(name, value, "a str, a number or numbers"))?;
    Ok(gains.as_array().iter().map(|gain| format!("{gain:?}")).collect::<Vec<_>>().join(","))
}
