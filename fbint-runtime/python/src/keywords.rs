//! The keywords of a run or an ensemble, which are the options of the command by their names.

use fbint_command::nearest;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::entries::{self, array_of_numbers, number, refused, shaped};

/// A keyword.
pub(crate) struct Keyword {
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
    /// A whole number.
    Count,
    /// Distributions by the names of what varies.
    Variations,
}

/// The keywords of both.
const KEYWORDS: [Keyword; 11] = [
    Keyword { name: "until", kind: Kind::Number },
    Keyword { name: "method", kind: Kind::Text },
    Keyword { name: "step", kind: Kind::Number },
    Keyword { name: "rtol", kind: Kind::Number },
    Keyword { name: "atol", kind: Kind::Number },
    Keyword { name: "every", kind: Kind::Number },
    Keyword { name: "project", kind: Kind::Switch },
    Keyword { name: "gains", kind: Kind::Gains },
    Keyword { name: "start", kind: Kind::Entries },
    Keyword { name: "guess", kind: Kind::Entries },
    Keyword { name: "repair", kind: Kind::Switch },
];

pub(crate) const OF_RUNS: [Keyword; 3] = [
    Keyword { name: "until_event", kind: Kind::Text },
    Keyword { name: "t_eval", kind: Kind::Times },
    Keyword { name: "dense_output", kind: Kind::Dense },
];

pub(crate) const OF_ENSEMBLES: [Keyword; 4] = [
    Keyword { name: "members", kind: Kind::Count },
    Keyword { name: "vary", kind: Kind::Variations },
    Keyword { name: "seed", kind: Kind::Count },
    Keyword { name: "threads", kind: Kind::Count },
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

/// What these keywords say, which are those of runs and ensembles, or among `more`.
pub(crate) fn options(keywords: &Bound<'_, PyDict>, more: &[Keyword], state: &[&str]) -> PyResult<Options> {
    let all: Vec<&Keyword> = KEYWORDS.iter().chain(more).collect();
    let known: Vec<&str> = all.iter().map(|keyword| keyword.name).collect();
    let mut options = Options::default();
    for (name, value) in keywords {
        let index = nearest::find("keyword", &name.str()?.to_string_lossy(), &known);
        let keyword = all[index.map_err(|error| PyTypeError::new_err(error.to_string()))?];
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
            Kind::Count => of_command.push((name, Some(count(name, value)?))),
            Kind::Variations => {
                let given = value.cast::<PyDict>().map_err(|_| refused(name, value, "a dict"))?;
                for (varied, distribution) in given {
                    of_command.push((name, Some(variation(&varied, &distribution)?)));
                }
            }
        }
        Ok(())
    }
}

fn switch(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| refused(name, value, "a bool"))
}

/// A whole number, of which the command knows the range.
fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let whole = value.py().import("operator")?.call_method1("index", (value,));
    match whole {
        Ok(whole) if !value.is_instance_of::<PyBool>() => Ok(whole.str()?.to_string()),
        _ => Err(refused(name, value, "an int")),
    }
}

/// What varies, with its distribution: such as ('uniform', 9, 10).
fn variation(name: &Bound<'_, PyAny>, distribution: &Bound<'_, PyAny>) -> PyResult<String> {
    let name = name.cast::<PyString>().map_err(|_| PyTypeError::new_err("names must be str"))?;
    let (kind, first, second) = distribution.extract::<(String, f64, f64)>().map_err(|_| {
        let expected = "a distribution with two numbers, such as ('uniform', 9, 10)";
        refused(&name.to_string_lossy(), distribution, expected)
    })?;
    Ok(format!("{name}={kind}:{first:?},{second:?}"))
}

fn gains(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.extract() {
        return Ok(text);
    }
    let gains = array_of_numbers(value).map_err(|_| refused(name, value, "a str, a number or numbers"))?;
    Ok(gains.as_array().iter().map(|gain| format!("{gain:?}")).collect::<Vec<_>>().join(","))
}
