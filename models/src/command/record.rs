//! The record of a run, as JSON: what it was made from, by which code, and what came out.
//!
//! It is written beside the run's files and named after the first of them: `four-bar.csv` has `four-bar.run.json`, so that
//! runs with files of their own do not overwrite each other's. A run without files has `MODEL.run.json` in the current folder.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use fbint_runtime::{Dependence, LargestProjection};
use models::catalogue::{Model, Run};
use serde::Serialize;

use super::job::{Job, named};
use super::output::Output;

/// Where the record of a run is written, given its files.
pub(crate) fn path<'a>(model: &str, files: impl IntoIterator<Item = &'a Path>) -> PathBuf {
    match files.into_iter().next() {
        Some(file) => file.with_extension("run.json"),
        None => PathBuf::from(format!("{model}.run.json")),
    }
}

/// How a run ended.
pub(crate) enum Ending<'a> {
    Complete(&'a Run),
    Interrupted(&'a Run),
    Failed(&'a dyn Error),
}

#[derive(Serialize)]
struct Record<'a> {
    status: &'static str,
    /// Why it failed.
    message: Option<String>,
    #[serde(flatten)]
    job: &'a Job,
    versions: Versions,
    code_sha256: &'a str,
    wall_seconds: f64,
    #[serde(flatten)]
    result: Option<Outcome>,
}

#[derive(Serialize)]
struct Versions {
    fbint: &'static str,
    rustc: &'static str,
}

/// What came out of a run that did not fail.
#[derive(Serialize)]
struct Outcome {
    /// The time that was reached.
    time: f64,
    state: BTreeMap<String, f64>,
    steps: u64,
    evaluations: u64,
    drift: BTreeMap<&'static str, Drift>,
    nearly_dependent: Option<NearlyDependent>,
    largest_projection: Option<LargestProjection>,
}

#[derive(Serialize)]
struct Drift {
    target: f64,
    max: f64,
    last: f64,
    slope: f64,
}

#[derive(Serialize)]
struct NearlyDependent {
    time: f64,
    constraints: Vec<&'static str>,
    pivot_ratio: f64,
}

/// Writes the record of a run that took so long.
pub(crate) fn write(
    output: &Output,
    job: &Job,
    model: &dyn Model,
    code_sha256: &str,
    wall_seconds: f64,
    ending: &Ending<'_>,
) -> Result<(), Box<dyn Error>> {
    let versions = Versions { fbint: env!("CARGO_PKG_VERSION"), rustc: env!("FBINT_RUSTC") };
    let (status, message, result) = match ending {
        Ending::Complete(run) => ("complete", None, Some(Outcome::of(model, run))),
        Ending::Interrupted(run) => ("interrupted", None, Some(Outcome::of(model, run))),
        Ending::Failed(error) => ("failed", Some(error.to_string()), None),
    };
    let record = Record { status, message, job, versions, code_sha256, wall_seconds, result };
    let text = serde_json::to_string_pretty(&record)?;
    output.write(|file| writeln!(file, "{text}"))
}

impl Outcome {
    fn of(model: &dyn Model, run: &Run) -> Self {
        let drift = run.drift.iter().map(|integral| {
            let &fbint_runtime::IntegralDrift { name, target, max, last, slope } = integral;
            (name, Drift { target, max, last, slope })
        });
        Self {
            time: run.time,
            state: named(&model.state_names(), &run.state),
            steps: run.steps,
            evaluations: run.evaluations,
            drift: drift.collect(),
            nearly_dependent: run.dependence.as_ref().map(NearlyDependent::from),
            largest_projection: run.largest_projection,
        }
    }
}

impl From<&Dependence> for NearlyDependent {
    fn from(dependence: &Dependence) -> Self {
        Self {
            time: dependence.time(),
            constraints: dependence.constraints().to_vec(),
            pivot_ratio: dependence.pivot_ratio(),
        }
    }
}
