//! Runs for other languages: the options of the command `run` by name, and the result as columns of numbers.
//!
//! Options are read by the parser of the command line, which is the one place that knows their ranges, defaults and messages. Numbers
//! come through unchanged, because the shortest text that reads back as a number is what is parsed.

use std::error::Error;

use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use fbint_runtime::Error::Failed;

use crate::arguments::{MethodName, RunOptions};
use crate::catalogue::{AnyModel, Entry, Run, Sample, Watch};
use crate::job::{Job, in_terms_of_options};
use crate::report::{doubt, report};
use crate::{complaint, one_line, run, trajectory};

/// A run with everything resolved: equal requests give bit-identical results.
#[derive(Clone, Debug)]
pub struct Request {
    job: Job,
}

/// A run that came to its end.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run.
    pub run: Run,
    /// Its samples.
    pub columns: Vec<Column>,
    /// What the command prints of it, but for its files.
    pub report: String,
    /// Why it is not to be trusted, if constraints were nearly dependent.
    pub doubt: Option<String>,
}

/// A column of the command's table of a trajectory.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its number in each sample.
    pub values: Vec<f64>,
}

/// Why there is no outcome, in the words of the command.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// There is no such run.
    Refused(String),
    /// The run ended before its end.
    Failed {
        /// Why.
        message: String,
        /// The samples until then.
        columns: Vec<Column>,
    },
}

/// The command line of a run.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    options: RunOptions,
}

impl Request {
    /// A run of a model. Each option has its name, such as `until_event`, and its text, as on the command line, unless it is a switch;
    /// `parameter` and `start` may be repeated, with texts such as `m=2`.
    ///
    /// # Errors
    ///
    /// If the command would refuse them, in the command's words.
    pub fn new<'a>(
        models: &[Entry],
        model: &str,
        options: impl IntoIterator<Item = (&'a str, Option<String>)>,
    ) -> Result<Self, String> {
        let option = |(name, text): (&str, Option<String>)| match text {
            Some(text) => format!("--{}={text}", hyphenated(name)),
            None => format!("--{}", hyphenated(name)),
        };
        let line = options.into_iter().map(option).chain(["--".to_owned(), model.to_owned()]);
        let matches = Line::command().try_get_matches_from(line);
        let line = matches.and_then(|matches| Line::from_arg_matches(&matches));
        let Line { options } = line.map_err(|error| told(&complaint(&error)))?;
        let job = run::resolved(models, &options).map_err(|error| told(&error.to_string()))?;
        Ok(Self { job })
    }

    /// Integrates; `watch` sees the run from time to time and may interrupt it.
    ///
    /// # Errors
    ///
    /// If the run cannot begin, or fails.
    pub fn run(&self, models: &[Entry], watch: &mut Watch<'_>) -> Result<Outcome, Refusal> {
        let refused = |error: Box<dyn Error>| Refusal::Refused(told(&error.to_string()));
        let model = self.job.model(models).map_err(refused)?;
        let (start, plan) = (self.job.start(&*model).map_err(refused)?, self.job.plan(&*model).map_err(refused)?);
        match model.run(&start, &plan, None, watch) {
            Ok(run) => Ok(Outcome {
                columns: columns(&*model, &run.trajectory),
                report: report(&self.job, &*model, &run),
                doubt: doubt(&run).map(|doubt| told(&doubt)),
                run,
            }),
            Err(Failed(failure)) => {
                let columns = columns(&*model, &model.samples(&failure.trajectory));
                Err(Refusal::Failed { message: told(&Failed(failure).to_string()), columns })
            }
            Err(error) => Err(refused(in_terms_of_options(error))),
        }
    }
}

/// The names of the methods.
pub fn method_names() -> Vec<String> {
    let values = MethodName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

fn columns(model: &dyn AnyModel, trajectory: &[Sample]) -> Vec<Column> {
    let column = |name| Column { name, values: Vec::with_capacity(trajectory.len()) };
    let mut columns: Vec<Column> = trajectory::names(model).into_iter().map(column).collect();
    for sample in trajectory {
        for (column, value) in columns.iter_mut().zip(trajectory::values(model, sample)) {
            column.values.push(value);
        }
    }
    columns
}

/// A message in one line, in which options are called by their names: `rtol` and not --rtol.
fn told(message: &str) -> String {
    let mut command = Line::command();
    command.build();
    let mut options: Vec<_> = command.get_arguments().filter_map(|option| Some((option.get_long()?, option))).collect();
    // `--until-event` before `--until`.
    options.sort_by_key(|(long, _)| std::cmp::Reverse(long.len()));
    options.iter().fold(one_line(message), |text, (long, option)| {
        let name = format!("`{}`", long.replace('-', "_"));
        text.replace(&format!("'{option}'"), &name).replace(&format!("--{long}"), &name)
    })
}

fn hyphenated(name: &str) -> String {
    name.replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn options_have_names_in_messages() {
        let cases = [
            ("give --rtol and --atol instead\nof --step", "give `rtol` and `atol` instead of `step`"),
            ("'-1' for '--step <H>': `-1` is negative", "'-1' for `step`: `-1` is negative"),
            ("--until-event `q < 1` is true", "`until_event` `q < 1` is true"),
        ];
        for (message, expected) in cases {
            assert_eq!(told(message), expected);
        }
    }
}
