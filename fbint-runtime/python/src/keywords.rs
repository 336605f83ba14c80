//! The keywords of a run or an ensemble, which are the options of the command by their names.

use fbint_command::nearest;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};

use crate::arrays::Numbers;
use crate::entries::{self, List, Named, number, refused, shaped};
use crate::laws::Functions;
use crate::trajectory::Run;

/// A keyword.
#[derive(Clone, Copy)]
pub(crate) struct Keyword {
    name: &'static str,
    kind: KeywordType,
}

/// The type of a keyword's value. `None` is the default of all of them, which the command knows.
#[derive(Clone, Copy)]
enum KeywordType {
    Number,
    Text,
    Switch,
    /// A switch that is on by default.
    Projection,
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
    /// Laws and tables by the names of inputs.
    Inputs,
}

/// The keywords of both.
const KEYWORDS: [Keyword; 14] = [
    Keyword { name: "until", kind: KeywordType::Number },
    Keyword { name: "method", kind: KeywordType::Text },
    Keyword { name: "step", kind: KeywordType::Number },
    Keyword { name: "rtol", kind: KeywordType::Number },
    Keyword { name: "atol", kind: KeywordType::Number },
    Keyword { name: "max_step", kind: KeywordType::Number },
    Keyword { name: "max_steps", kind: KeywordType::Count },
    Keyword { name: "every", kind: KeywordType::Number },
    Keyword { name: "project", kind: KeywordType::Projection },
    Keyword { name: "gains", kind: KeywordType::Gains },
    Keyword { name: "start", kind: KeywordType::Entries },
    Keyword { name: "guess", kind: KeywordType::Entries },
    Keyword { name: "repair", kind: KeywordType::Switch },
    Keyword { name: "input", kind: KeywordType::Inputs },
];

pub(crate) const OF_RUNS: [Keyword; 3] = [
    Keyword { name: "until_event", kind: KeywordType::Text },
    Keyword { name: "t_eval", kind: KeywordType::Times },
    Keyword { name: "dense_output", kind: KeywordType::Dense },
];

pub(crate) const OF_ENSEMBLES: [Keyword; 4] = [
    Keyword { name: "members", kind: KeywordType::Count },
    Keyword { name: "vary", kind: KeywordType::Variations },
    Keyword { name: "seed", kind: KeywordType::Count },
    Keyword { name: "threads", kind: KeywordType::Count },
];

/// An option of the command, with its text unless it is a switch.
pub(crate) type CommandOption = (&'static str, Option<String>);

/// Keywords of other libraries, and their names here.
const FOREIGN: [(&[&str], &str); 6] = [
    (&["dt", "h", "timestep", "step_size"], "step"),
    (&["tspan", "t_span", "t_end", "tf", "duration", "T"], "until"),
    (&["solver", "integrator"], "method"),
    (&["tol", "reltol"], "rtol"),
    (&["x0", "y0", "initial", "init"], "start"),
    (&["events", "event", "stop"], "until_event"),
];

/// The values of keywords.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) of_command: Vec<CommandOption>,
    pub(crate) t_eval: Option<Vec<f64>>,
    pub(crate) dense_output: bool,
    /// `true` if the start is the end of a run.
    pub(crate) continues: bool,
    /// Inputs that functions give.
    pub(crate) functions: Functions,
}

/// The options that these keywords give: keywords of runs and ensembles, or among `more`.
pub(crate) fn options(keywords: &Bound<'_, PyDict>, more: &[Keyword], state: List<'_>) -> PyResult<Options> {
    let all: Vec<&Keyword> = KEYWORDS.iter().chain(more).collect();
    let known: Vec<&str> = all.iter().map(|keyword| keyword.name).collect();
    let (mut options, mut is_unprojected) = (Options::default(), false);
    for (name, value) in keywords {
        let name = name.str()?.to_string();
        if let Some((_, own)) = FOREIGN.iter().find(|(names, own)| names.contains(&&*name) && known.contains(own)) {
            return Err(PyTypeError::new_err(format!("unknown keyword `{name}`: it is `{own}` here")));
        }
        let index = nearest::find("keyword", &name, &known);
        let keyword = all[index.map_err(|error| PyTypeError::new_err(error.to_string()))?];
        if matches!(keyword.kind, KeywordType::Projection) && value.is(PyBool::new(value.py(), false)) {
            is_unprojected = true;
        } else if !value.is_none() {
            keyword.add(&value, state, &mut options)?;
        }
    }
    // Gains take the place of a projection.
    if is_unprojected && options.of_command.iter().all(|(name, _)| *name != "gains") {
        options.of_command.push(("gains", Some("none".to_owned())));
    }
    Ok(options)
}

impl Keyword {
    fn add(&self, value: &Bound<'_, PyAny>, state: List<'_>, options: &mut Options) -> PyResult<()> {
        let name = self.name;
        let of_command = &mut options.of_command;
        match self.kind {
            KeywordType::Number => of_command.push((name, Some(format!("{:?}", number(name, value)?)))),
            KeywordType::Text => {
                of_command.push((name, Some(value.extract().map_err(|_| refused(name, value, "a str"))?)))
            }
            KeywordType::Switch | KeywordType::Projection if switch(name, value)? => of_command.push((name, None)),
            KeywordType::Switch | KeywordType::Projection => {}
            KeywordType::Gains => of_command.push((name, Some(gains(name, value)?))),
            KeywordType::Entries => {
                options.continues |= name == "start" && value.is_instance_of::<Run>();
                let entries = entries_of_state(name, value, state)?;
                of_command.extend(entries.into_iter().map(|(entry, value)| (name, Some(format!("{entry}={value:?}")))));
            }
            KeywordType::Times => {
                let times = shaped(name, value, "(k,)", |shape| shape.len() == 1)?;
                options.t_eval = Some(times.values);
            }
            KeywordType::Dense => options.dense_output = switch(name, value)?,
            KeywordType::Count => of_command.push((name, Some(count(name, value)?))),
            KeywordType::Variations => {
                let given = value.cast::<PyDict>().map_err(|_| refused(name, value, "a dict"))?;
                for (varied, distribution) in given {
                    of_command.push((name, Some(variation(&varied, &distribution)?)));
                }
            }
            KeywordType::Inputs => {
                let given = value.cast::<PyDict>().map_err(|_| refused(name, value, "a dict"))?;
                for (input, source) in given {
                    let input: String = input.extract().map_err(|_| refused(name, &input, "names that are str"))?;
                    if source.is_callable() {
                        options.functions.add(&input, &source, state.declared);
                        continue;
                    }
                    let source = source_of(&input, &source)?;
                    of_command.push((name, Some(format!("{input}={source}"))));
                }
            }
        }
        Ok(())
    }
}

/// The entries of the state that a dictionary sets, or those at the end of a run.
pub(crate) fn entries_of_state(name: &str, value: &Bound<'_, PyAny>, state: List<'_>) -> PyResult<Vec<Named>> {
    const WHAT: &str = "entry of the state";
    if let Ok(run) = value.cast::<Run>() {
        let known = |(entry, value): (&str, f64)| match nearest::find(WHAT, entry, state.names) {
            Ok(_) => Ok((entry.to_owned(), value)),
            Err(error) => Err(PyTypeError::new_err(format!("`{name}` is a run of another model: {error}"))),
        };
        return run.get().last_state().into_iter().map(known).collect();
    }
    entries::read(value.cast::<PyDict>().map_err(|_| refused(name, value, "a dict or a run"))?, WHAT, state)
}

fn switch(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| refused(name, value, "a bool"))
}

/// A whole number; the command knows its range.
fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let whole = value.py().import("operator")?.call_method1("index", (value,));
    match whole {
        Ok(whole) if !value.is_instance_of::<PyBool>() => whole.str()?.extract(),
        _ => Err(refused(name, value, "an int")),
    }
}

/// A quantity that varies, with its distribution: such as ('uniform', 9, 10).
fn variation(name: &Bound<'_, PyAny>, distribution: &Bound<'_, PyAny>) -> PyResult<String> {
    let name: String = name.cast::<PyString>().map_err(|_| PyTypeError::new_err("names must be str"))?.extract()?;
    let (kind, first, second) = distribution.extract::<(String, f64, f64)>().map_err(|_| {
        let expected = "a distribution with two numbers, such as ('uniform', 9, 10)";
        refused(&name, distribution, expected)
    })?;
    Ok(format!("{name}={kind}:{first:?},{second:?}"))
}

/// A law, a number, or the times and the values of a table, as the command reads them.
fn source_of(name: &str, source: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(law) = source.extract() {
        return Ok(law);
    }
    let Ok(table) = source.cast::<PyTuple>() else {
        return match number(name, source)? {
            number if number.is_finite() => Ok(format!("{number:?}")),
            number => {
                Err(PyValueError::new_err(format!("the input `{name}` is {number:?}: inputs are finite numbers")))
            }
        };
    };
    let expected = "a law, a number, a function of (t, x), or a table as (times, values) or (times, values, 'linear')";
    let kind = match table.len() {
        2 => "held".to_owned(),
        3 => table.get_item(2)?.extract().map_err(|_| refused(name, source, expected))?,
        _ => return Err(refused(name, source, expected)),
    };
    let [times, values] = [table.get_item(0)?, table.get_item(1)?];
    let times = shaped(name, &times, "(k,)", |shape| shape.len() == 1)?;
    let values = shaped(name, &values, &format!("({},)", times.values.len()), |shape| shape == times.shape)?;
    if !["held", "linear"].contains(&kind.as_str()) {
        return Err(refused(name, source, expected));
    }
    let rows = times.values.iter().zip(&values.values).map(|(time, value)| format!("{time:?}: {value:?}"));
    Ok(format!("{kind}({})", rows.collect::<Vec<_>>().join(", ")))
}

fn gains(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.extract() {
        return Ok(text);
    }
    let gains = Numbers::of(value).map_err(|_| refused(name, value, "a str, a number or numbers"))?;
    Ok(gains.values.iter().map(|gain| format!("{gain:?}")).collect::<Vec<_>>().join(","))
}
