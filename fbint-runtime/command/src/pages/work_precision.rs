//! `fbint work-precision`: error and drift of every method with every policy of gains, against work.
//!
//! A series is one method with one policy over a ladder of steps or tolerances, from the coarsest to the finest. The error is
//! the distance of the state at the end from a reference by DOP853, the drift the largest change of any integral at any step.
//! Times are the times of the steps alone, minima over rounds in which all runs take turns, so that a busy moment of the
//! machine does not spoil all runs of one method. The words about the result follow from its numbers.

mod charts;
mod findings;
mod series;

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write, stdout};
use std::ops::ControlFlow;
use std::time::Instant;

use fbint_runtime::Error::{Failed, UnstableGains};
use fbint_runtime::{Method, Projection, Settings};

pub use self::findings::{GOAL, SeriesComparison};
pub use self::series::{Measured, Outcome, Policy, Series, WorkPrecisionPoint};
use crate::figures::bitmap::Painter;
use crate::figures::results::{self, ResultTable};
use crate::files::output::Replace;
use crate::line::arguments::WorkPrecisionArguments;
use crate::models::catalogue::load;
use crate::models::file::stem;
use crate::words::progress::Progress;
use fbint_catalogue::{AnyModel, Entry, Feedback, Plan};

/// The tolerance of the reference. The run that checks it is ten times less accurate, and not projected.
const REFERENCE_TOLERANCE: f64 = 1e-14;
/// The number of times that each run is timed.
const ROUNDS: usize = 5;

/// Studies a model, writes its figures and tables, and prints what they show.
pub(crate) fn work_precision(models: &[Entry], arguments: &WorkPrecisionArguments) -> Result<(), Box<dyn Error>> {
    let name = arguments.model.as_deref().or(models.first().map(|entry| &*entry.name)).unwrap_or_default();
    let model = load(models, name)?;
    let painter = arguments.png.then(Painter::new).transpose()?;
    results::prepare(&arguments.out)?;
    let study = Study::with_times(&*model, name, arguments.until)?;
    let (summary, all) = (study.summary(), study.table());
    let tables = [all, summary];
    let files =
        results::write(&study.figures(), &tables, &arguments.out, painter.as_ref(), Replace::forced(arguments.force))?;
    print(&study, &tables[1], &files, &mut stdout().lock())?;
    Ok(())
}

/// A model integrated with every method.
pub struct Study {
    model: String,
    until: f64,
    /// The distance between the reference and a second, less accurate one: errors below it are the reference's own.
    uncertainty: f64,
    /// A series for each method and policy.
    pub series: Vec<Series>,
}

impl Study {
    /// Every series, with errors, drifts, evaluations and times.
    fn with_times(model: &dyn AnyModel, name: &str, until: f64) -> Result<Self, Box<dyn Error>> {
        let mut progress = Progress::new(name);
        let series = Series::all(&model.further_methods(), until);
        let mut counter = Counter { progress: &mut progress, done: 0, all: (ROUNDS + 1) * points(&series) };
        let mut study = Self::of(model, name, until, series, &mut counter)?;
        let problem = InitialValueProblem { model, start: model.start()?, until };
        for _ in 0..ROUNDS {
            for series in &mut study.series {
                for index in 0..series.points.len() {
                    let seconds = problem.time(series, index)?;
                    if let Outcome::Done(measured) = &mut series.points[index].outcome {
                        measured.seconds = measured.seconds.min(seconds);
                    }
                    counter.next();
                }
            }
        }
        Ok(study)
    }

    /// The series that `keep` chooses, with errors, drifts and evaluations, which do not depend on the machine.
    ///
    /// # Errors
    ///
    /// If the model has no start, or a run fails for another reason than its step or its gains.
    pub fn without_times(
        model: &dyn AnyModel,
        name: &str,
        until: f64,
        keep: impl Fn(&Series) -> bool,
    ) -> Result<Self, Box<dyn Error>> {
        let mut progress = Progress::new(name);
        let mut series = Series::all(&model.further_methods(), until);
        series.retain(keep);
        let mut counter = Counter { progress: &mut progress, done: 0, all: points(&series) };
        Self::of(model, name, until, series, &mut counter)
    }

    fn of(
        model: &dyn AnyModel,
        name: &str,
        until: f64,
        mut series: Vec<Series>,
        counter: &mut Counter<'_>,
    ) -> Result<Self, Box<dyn Error>> {
        let problem = InitialValueProblem { model, start: model.start()?, until };
        let reference = problem.reference(REFERENCE_TOLERANCE, Some(Projection::default()))?;
        let other = problem.reference(10.0 * REFERENCE_TOLERANCE, None)?;
        for series in &mut series {
            for index in 0..series.points.len() {
                series.points[index].outcome = problem.measure(series, index, &reference)?;
                counter.next();
            }
        }
        Ok(Self { model: stem(name).to_owned(), until, uncertainty: distance(&reference, &other), series })
    }

    /// A row for each run.
    fn table(&self) -> ResultTable {
        let columns = ["method", "step", "tolerance", "refused", "failed", "evaluations", "seconds", "error", "drift"];
        ResultTable {
            name: format!("work-precision-{}", self.model),
            caption: format!(
                "{}, t = {}: every run; the error is of the state at the end, the reference known to {:.1e}",
                self.model, self.until, self.uncertainty
            ),
            columns: columns.map(str::to_owned).to_vec(),
            rows: self.series.iter().flat_map(Series::rows).collect(),
        }
    }
}

fn points(series: &[Series]) -> usize {
    series.iter().map(|series| series.points.len()).sum()
}

/// Model, start and end, which all runs have in common.
struct InitialValueProblem<'a> {
    model: &'a dyn AnyModel,
    start: Vec<f64>,
    until: f64,
}

impl InitialValueProblem<'_> {
    /// The state at the end by DOP853.
    fn reference(&self, tolerance: f64, projection: Option<Projection>) -> Result<Vec<f64>, fbint_runtime::Error> {
        let method = Method::Dop853 { rtol: tolerance, atol: Some(tolerance) };
        let settings = Settings { projection, ..Settings::new(method, self.until) };
        let plan = Plan::new(settings, Feedback::None);
        let mut progress = Progress::new("reference");
        Ok(self.model.run(&self.start, &plan, None, &mut progress.observer())?.state)
    }

    /// Carries out one run of a series, and measures everything but its time.
    fn measure(&self, series: &Series, index: usize, reference: &[f64]) -> Result<Outcome, fbint_runtime::Error> {
        let setting = series.points[index].setting;
        let plan = series.policy.plan(series.scheme, setting, self.until);
        match self.model.run(&self.start, &plan, None, &mut |_| ControlFlow::Continue(())) {
            Ok(run) => Ok(Outcome::Done(Measured {
                evaluations: run.evaluations as f64,
                seconds: f64::INFINITY,
                error: distance(&run.state, reference),
                drift: run.findings.drift.integrals().map(|integral| integral.max).fold(0.0, f64::max),
            })),
            Err(UnstableGains { .. }) => Ok(Outcome::Refused),
            Err(Failed(_)) => Ok(Outcome::Failed),
            Err(error) => Err(error),
        }
    }

    /// The seconds that the steps of a run take, which is known to reach its end.
    fn time(&self, series: &Series, index: usize) -> Result<f64, fbint_runtime::Error> {
        let point = &series.points[index];
        if point.done().is_none() {
            return Ok(f64::NAN);
        }
        let begun = Instant::now();
        black_box(self.model.run_bare(&self.start, &series.policy.plan(series.scheme, point.setting, self.until))?);
        Ok(begun.elapsed().as_secs_f64())
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Counts runs for the progress bar.
struct Counter<'a> {
    progress: &'a mut Progress,
    done: usize,
    all: usize,
}

impl Counter<'_> {
    fn next(&mut self) {
        self.done += 1;
        self.progress.report(self.done as f64 / self.all as f64);
    }
}

fn print(study: &Study, summary: &ResultTable, files: &[String], out: &mut dyn Write) -> io::Result<()> {
    for words in study.answers() {
        writeln!(out, "{words}")?;
    }
    writeln!(out)?;
    summary.print(out)?;
    for words in study.findings() {
        writeln!(out, "{words}")?;
    }
    writeln!(out)?;
    for file in files {
        writeln!(out, "written: {file}")?;
    }
    Ok(())
}
