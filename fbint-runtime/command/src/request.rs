//! Runs for other languages: the options of the command `run` by name, and the result as columns of numbers.
//!
//! Options have the ranges, defaults and messages of the command line. Numbers come through unchanged, because the shortest text that reads
//! back as a number is what is parsed.

pub mod dense;
pub mod ensemble;
#[cfg(feature = "text")]
pub mod export;
mod options;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use clap::{Args, Parser};
use fbint_runtime::Error::{Failed, Memory, SampleTime};
use fbint_runtime::{Method, Storage};
use serde::{Deserialize, Serialize};

use crate::figures::bitmap::Painter;
use crate::figures::panels::panels;
use crate::figures::{figure, section};
use crate::files::output::{OutputFile, Replace, publish, with_ending};
use crate::files::trajectory;
use crate::line::arguments::{EnsembleArguments, RunArguments};
use crate::models::file;
use crate::models::file::model_in;
use crate::request::dense::Dense;
use crate::runs::job::{Job, in_terms_of_options};
use crate::runs::pictures::Pictures;
use crate::runs::report::{begun_anew, doubt, open_inputs, report, switching_laws};
use crate::runs::{record, run};
use crate::words::complaint::{of_command_line, one_line};
use crate::words::names::TIME;
use fbint_catalogue::{AnyModel, Entry, Law, Observer, Plan, Run, Sample};

/// A run with everything resolved: equal requests give bit-identical results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    pub(crate) job: Job,
    is_dense: bool,
    /// `true` if its start is the end of another run.
    continues: bool,
}

/// The model, the start and the plan of a run.
type Begun = (Box<dyn AnyModel>, Vec<f64>, Plan);

/// A run that came to its end.
#[derive(Clone, Debug)]
pub struct CompletedRun {
    /// The run.
    pub run: Run,
    /// Its samples.
    pub columns: Vec<Column>,
    /// Its state at every time, if that was asked for.
    pub dense: Option<Dense>,
    /// The command's output about it, but for its files.
    pub report: String,
    /// Why it is not to be trusted, if constraints were nearly dependent.
    pub doubt: Option<String>,
    /// What its [record](Request::record) says of the result.
    pub summary: String,
}

/// A column of the command's table of a trajectory.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its number in each sample.
    pub values: Vec<f64>,
}

/// The reason for a missing outcome, in the words of the command.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The command refuses such a run.
    Refused(String),
    /// The requested data do not fit into memory.
    NoMemory(String),
    /// The run ended before its end.
    Failed {
        /// Why.
        message: String,
        /// The samples until then.
        columns: Vec<Column>,
    },
}

/// A text that declares the model of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaringText {
    /// The text.
    pub text: String,
    /// The name of the model, unless it is the only one.
    pub model: Option<String>,
}

/// A run that came to its end, as what is drawn of it.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// Its samples.
    pub columns: &'a [Column],
    /// The time at the end.
    pub time: f64,
    /// The number of steps.
    pub steps: u64,
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
        Self::with_functions(models, model, options, BTreeMap::new())
    }

    /// The same, with inputs that functions of the program give, by their names.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_functions<'a>(
        models: &[Entry],
        model: &str,
        options: impl IntoIterator<Item = (&'a str, Option<String>)>,
        functions: BTreeMap<String, Law>,
    ) -> Result<Self, String> {
        let mut options = options::of_run(model, options)?;
        options.integration.functions = functions;
        let job = run::resolved(models, &options).map_err(|error| told(&error.to_string()))?;
        Ok(Self { job, is_dense: false, continues: false })
    }

    /// The run that a record describes, and the text that declares its model, unless the program has it. The model has the code that the
    /// run was recorded with.
    ///
    /// # Errors
    ///
    /// If the file is not the record of a run, or its model has changed since.
    pub fn of_record(models: &[Entry], path: &Path) -> Result<(Self, Option<DeclaringText>), String> {
        let job = match file::record_named(&path.to_string_lossy()) {
            Some(path) => record::job(models, path),
            None => Err(format!("{} is not the record of a run", path.display()).into()),
        };
        let mut job = job.map_err(|error| told(&error.to_string()))?;
        let text = job.text.take().map(|text| DeclaringText { text, model: model_in(&job.model).map(str::to_owned) });
        Ok((Self { job, is_dense: false, continues: false }, text))
    }

    /// The run of the model of this name.
    pub fn named(self, model: &str) -> Self {
        Self { job: Job { model: model.to_owned(), ..self.job }, ..self }
    }

    /// The record of the run, from the [summary](CompletedRun::summary) of its result. `text` declares its model, unless the program has
    /// it.
    ///
    /// # Errors
    ///
    /// If the model cannot be loaded.
    pub fn record(&self, models: &[Entry], text: Option<&str>, summary: &str) -> Result<String, String> {
        let written = || {
            let model = self.job.model(models)?;
            let job = Job { text: text.map(str::to_owned), ..self.job.clone() };
            record::of_summary(&job, &*model, summary)
        };
        written().map_err(|error: Box<dyn Error>| told(&error.to_string()))
    }

    /// The columns of points of a section, which are times and states.
    ///
    /// # Errors
    ///
    /// If the model cannot be loaded.
    pub fn section(&self, models: &[Entry], points: &[(f64, Vec<f64>)]) -> Result<Vec<Column>, String> {
        let model = self.job.model(models).map_err(|error| told(&error.to_string()))?;
        let columns = section::names(&*model).into_iter().map(|name| Column { name, values: Vec::new() });
        let mut columns: Vec<Column> = columns.collect();
        for (time, state) in points {
            let sample = Sample { time: *time, state: state.clone(), change: vec![0.0; model.integral_names().len()] };
            columns
                .iter_mut()
                .zip(section::values(&*model, &sample))
                .for_each(|(column, value)| column.values.push(value));
        }
        Ok(columns)
    }

    /// Writes a record, which [`of_record`](Self::of_record) reads and `fbint run` repeats.
    ///
    /// # Errors
    ///
    /// If it cannot be written there.
    pub fn write_record(record: &str, path: &Path, replace: Replace) -> Result<(), String> {
        let write = || {
            let output = OutputFile::at(with_ending("path", path, &["json"])?, replace)?;
            publish([record::draft(record, &output)?])
        };
        write().map_err(|error: Box<dyn Error>| told(&error.to_string()))
    }

    /// The run with samples at these times alone, which increase and lie in the run.
    ///
    /// # Errors
    ///
    /// If there are none, or an interval between samples was given. Times that are not in the run are refused when it
    /// [runs](Self::run).
    pub fn sampled_at(self, times: Vec<f64>) -> Result<Self, String> {
        match self.job.settings.every {
            Some(_) => Err("`t_eval` and `every` exclude one another: give one of them".to_owned()),
            None if times.is_empty() => Err("`t_eval` has no times: give some, or leave it out".to_owned()),
            None => Ok(Self { job: Job { t_eval: Some(times), ..self.job }, ..self }),
        }
    }

    /// The run with its state at every time.
    pub fn dense(self) -> Self {
        Self { is_dense: true, ..self }
    }

    /// The run as the continuation of another one, whose report says what begins anew.
    pub fn continuing(self) -> Self {
        Self { continues: true, ..self }
    }

    /// The model, the start and the plan of the run.
    ///
    /// # Errors
    ///
    /// If the run cannot begin.
    pub fn begin(&self, models: &[Entry]) -> Result<Begun, String> {
        let begin = || {
            let model = self.job.model(models)?;
            let (start, plan) = (self.job.start(&*model)?, self.job.plan(&*model)?);
            Ok((model, start, plan))
        };
        begin().map_err(|error: Box<dyn Error>| told(&error.to_string()))
    }

    /// Integrates; `observer` sees the run from time to time and may interrupt it.
    ///
    /// # Errors
    ///
    /// If the run cannot begin, or fails.
    pub fn run(&self, models: &[Entry], observer: &mut Observer<'_>) -> Result<CompletedRun, Refusal> {
        let refused = Refusal::of;
        let model = self.job.model(models).map_err(refused)?;
        let (start, plan) = (self.job.start(&*model).map_err(refused)?, self.job.plan(&*model).map_err(refused)?);
        let plan = Plan { is_dense: self.is_dense, ..plan };
        match model.run(&start, &plan, None, observer) {
            Ok(mut run) => {
                self.job.keep_asked_for(&mut run);
                Ok(CompletedRun {
                    columns: self.columns(&*model, &run.trajectory).map_err(|error| refused(error.into()))?,
                    dense: Dense::take(&mut run),
                    report: report(&self.job, &*model, &run) + self.notes(&*model).as_str(),
                    doubt: doubt(&run).map(|doubt| told(&doubt)),
                    summary: record::summary(&*model, &run).map_err(refused)?,
                    run,
                })
            }
            Err(Failed(failure)) => {
                let columns = self.columns(&*model, &model.samples(&failure.trajectory)).unwrap_or_default();
                Err(Refusal::Failed { message: told(&Failed(failure).to_string()), columns })
            }
            Err(SampleTime { index, time, reason }) => {
                Err(Refusal::Refused(format!("`t_eval` has {time:?} at index {index}: {reason}")))
            }
            Err(error @ Memory { .. }) => Err(refused(error.into())),
            Err(error) => Err(refused(in_terms_of_options(error))),
        }
    }

    /// The inputs that nothing gives, those that switch, and what a continued run begins anew, a line for each.
    fn notes(&self, model: &dyn AnyModel) -> String {
        let anew = self.continues.then(|| begun_anew(&self.job, model)).flatten();
        open_inputs(model).into_iter().chain(switching_laws(model)).chain(anew).map(|note| note + "\n").collect()
    }

    /// Writes the figure of the run with the panels that are asked for, as `--plot` and `--of` do. `observer` sees what is integrated for
    /// smooth curves.
    ///
    /// # Errors
    ///
    /// If the command would refuse them, in the command's words.
    pub fn plot(
        &self,
        models: &[Entry],
        finished: Finished<'_>,
        (path, replace, of): (&Path, Replace, &[String]),
        observer: &mut Observer<'_>,
    ) -> Result<(), String> {
        let mut write = || {
            let path = with_ending("--plot", path, &["svg", "png"])?;
            let (output, painter) = (OutputFile::at(path, replace)?, Painter::of(path)?);
            let svg = self.draw(models, finished, |pictures| {
                let panels = panels(of, &trajectory::names(pictures.model), true)?;
                pictures.figure(&panels, observer)
            })?;
            publish([figure::draft(&svg, painter.as_ref(), &output)?])
        };
        write().map_err(|error| told(&error.to_string()))
    }

    /// The figure of all of the run, as SVG.
    ///
    /// # Errors
    ///
    /// If it cannot be integrated for smooth curves, because `observer` interrupts that.
    pub fn figure(
        &self,
        models: &[Entry],
        finished: Finished<'_>,
        observer: &mut Observer<'_>,
    ) -> Result<String, String> {
        let figure = self.draw(models, finished, |pictures| pictures.figure(&[], observer));
        figure.map_err(|error| told(&error.to_string()))
    }

    /// Writes the animation of the run, as `--animate` does.
    ///
    /// # Errors
    ///
    /// If the command would refuse it, in the command's words.
    pub fn animate(
        &self,
        models: &[Entry],
        finished: Finished<'_>,
        (path, replace): (&Path, Replace),
    ) -> Result<(), String> {
        let write = || {
            let output = OutputFile::at(with_ending("--animate", path, &["html"])?, replace)?;
            let page = self.draw(models, finished, |pictures| pictures.animation())?;
            output.write(|file| file.write_all(page.as_bytes()))
        };
        write().map_err(|error: Box<dyn Error>| told(&error.to_string()))
    }

    fn draw(
        &self,
        models: &[Entry],
        finished: Finished<'_>,
        draw: impl FnOnce(&Pictures<'_>) -> Result<String, Box<dyn Error>>,
    ) -> Result<String, Box<dyn Error>> {
        let model = self.job.model(models)?;
        let Finished { columns, time, steps } = finished;
        let are_chosen = self.job.has_sample_times();
        let samples = samples(&*model, columns);
        draw(&Pictures { job: &self.job, model: &*model, samples: &samples, are_chosen, time, steps })
    }

    /// The model that runs.
    pub fn model(&self) -> &str {
        &self.job.model
    }

    /// The request as a text, from which [`read`](Self::read) makes it again.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn written(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }

    /// The request with this text.
    ///
    /// # Errors
    ///
    /// If the text is not a request.
    pub fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The columns of samples. Times that were given stay as they are.
    fn columns(&self, model: &dyn AnyModel, samples: &[Sample]) -> Result<Vec<Column>, fbint_runtime::Error> {
        let mut columns = columns(model, samples)?;
        if self.job.t_eval.is_some()
            && let Some(times) = columns.iter_mut().find(|column| column.name == TIME)
        {
            times.values.clear();
            times.values.extend(samples.iter().map(|sample| sample.time));
        }
        Ok(columns)
    }
}

/// The command line with these options of a model.
fn parsed<'a, L: Parser>(
    model: &str,
    options: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> Result<L, String> {
    let option = |(name, text): (&str, Option<String>)| match text {
        Some(text) => format!("--{}={text}", hyphenated(name)),
        None => format!("--{}", hyphenated(name)),
    };
    let line = options.into_iter().map(option).chain(["--".to_owned(), model.to_owned()]);
    L::try_parse_from(line).map_err(|error| told(&of_command_line(&error)))
}

/// The names of the methods.
pub fn method_names() -> impl Iterator<Item = &'static str> {
    Method::all(f64::NAN, (f64::NAN, None)).into_iter().map(Method::key)
}

impl Refusal {
    fn of(error: Box<dyn Error>) -> Self {
        let message = told(&error.to_string());
        match error.downcast_ref() {
            Some(Memory { .. }) => Self::NoMemory(message),
            _ => Self::Refused(message),
        }
    }
}

fn columns(model: &dyn AnyModel, trajectory: &[Sample]) -> Result<Vec<Column>, fbint_runtime::Error> {
    let mut columns = Vec::new();
    for name in trajectory::names(model) {
        let mut values = Vec::new();
        Storage::SAMPLES.reserve(&mut values, trajectory.len())?;
        columns.push(Column { name, values });
    }
    for sample in trajectory {
        for (column, value) in columns.iter_mut().zip(trajectory::values(model, sample)) {
            column.values.push(value);
        }
    }
    Ok(columns)
}

/// The samples that have these columns.
fn samples(model: &dyn AnyModel, columns: &[Column]) -> Vec<Sample> {
    let column =
        |name: &str| columns.iter().find(|column| column.name == name).map_or(&[][..], |column| &column.values);
    let quantities: Vec<&[f64]> = trajectory::state_and_changes(model).iter().map(|name| column(name)).collect();
    let entries = model.state_names().len();
    let sample = |(index, &time): (usize, &f64)| {
        let mut state: Vec<f64> = quantities.iter().filter_map(|values| values.get(index).copied()).collect();
        let change = state.split_off(entries.min(state.len()));
        Sample { time, state, change }
    };
    column(TIME).iter().enumerate().map(sample).collect()
}

/// A message in one line, in which options are called by their names: `rtol` and not --rtol.
fn told(message: &str) -> String {
    let commands = [RunArguments::augment_args, EnsembleArguments::augment_args];
    let commands = commands.map(|arguments| {
        let mut command = arguments(clap::Command::new("fbint"));
        command.build();
        command
    });
    let arguments = commands.iter().flat_map(clap::Command::get_arguments);
    let mut options: Vec<_> = arguments.filter_map(|option| Some((option.get_long()?, option))).collect();
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
