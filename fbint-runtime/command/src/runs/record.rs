//! The record of a run or an ensemble, as JSON: its settings, its code and its result.
//!
//! A record lies next to the files of its run and is named after the first of them: the record of `four-bar.csv` is `four-bar.run.json`, so
//! that runs with different files keep their records. A run without files has `MODEL.run.json` in the current folder. Records of ensembles
//! end in `.ensemble.json`. A Parquet file holds the record in its metadata as well, and a part of a dataset the record of its members.

use std::collections::BTreeMap;
use std::env::current_dir;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use fbint_runtime::{Dependence, IntegralJump, LargestProjection, LeftOut, StartMove};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files::output::{OutputFile, WholeDraft};
use crate::files::trajectory::{few_digits, state_and_changes};
use crate::line::arguments::Distribution;
use crate::models::file::{model_file, stem};
use crate::runs::job::{self, Job, code_sha256};
use crate::runs::tally::Tally;
use fbint_catalogue::{AnyModel, Entry, Occurrence, Run, Sample, Summary};

/// The path of a file next to these files of a run or an ensemble, such as its record, with this ending.
pub(crate) fn beside<'a>(model: &str, files: impl IntoIterator<Item = &'a Path>, ending: &str) -> PathBuf {
    match files.into_iter().next() {
        Some(file) => file.with_extension(ending),
        None => PathBuf::from(format!("{}.{ending}", stem(model))),
    }
}

/// The end of a run.
pub(crate) enum Ending<'a> {
    Complete(&'a Run),
    Interrupted(&'a Run),
    /// With the last good state, unless the run failed for another reason than its solution.
    Failed(&'a dyn Error, Option<&'a Sample>),
}

#[derive(Serialize)]
struct JobRecord<'a, J: Serialize, R: Serialize> {
    status: &'static str,
    /// Why the run failed.
    message: Option<String>,
    #[serde(flatten)]
    job: &'a J,
    /// The inputs that nothing gives, with their value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    inputs: BTreeMap<&'static str, f64>,
    versions: Versions,
    code_sha256: &'a str,
    /// Records within files leave it out, so that equal runs have equal files.
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_seconds: Option<f64>,
    #[serde(flatten)]
    result: Option<R>,
}

#[derive(Serialize)]
struct Versions {
    fbint: &'static str,
    rustc: &'static str,
}

/// The result of a run.
#[derive(Serialize)]
#[serde(untagged)]
enum RunResult {
    End(Box<RunSummary>),
    /// Where a run was before it failed.
    LastGood {
        time: f64,
        state: BTreeMap<String, f64>,
    },
}

/// The result of a run that did not fail.
#[derive(Serialize)]
struct RunSummary {
    /// The condition that ended the run before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<String>,
    /// The time that was reached.
    time: f64,
    state: BTreeMap<String, f64>,
    steps: u64,
    evaluations: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventCount>,
    /// By how much the start was moved onto the constraints.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_move: Option<StartMove>,
    drift: BTreeMap<&'static str, IntegralRecord>,
    nearly_dependent: Option<NearlyDependent>,
    /// The largest change of an integral in one step, if it is out of the ordinary.
    #[serde(skip_serializing_if = "Option::is_none")]
    integral_jump: Option<IntegralJump>,
    largest_projection: Option<LargestProjection>,
}

/// The number of an event's occurrences.
#[derive(Serialize)]
pub(crate) struct EventCount {
    pub(crate) event: String,
    pub(crate) occurrences: usize,
    /// The number of those after which the state was reset.
    pub(crate) resets: usize,
    /// The time of the first one.
    pub(crate) first: f64,
}

#[derive(Serialize)]
struct IntegralRecord {
    target: f64,
    max: f64,
    last: f64,
    slope: f64,
    /// `true` if nothing proves that the field conserves it.
    assumed: bool,
    /// Where it, or because of it the projection, was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
}

#[derive(Serialize)]
struct NearlyDependent {
    time: f64,
    constraints: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    velocities: Vec<&'static str>,
    pivot_ratio: f64,
}

/// The settings of an ensemble.
#[derive(Serialize)]
pub(crate) struct EnsembleJob<'a> {
    #[serde(flatten)]
    pub(crate) job: &'a Job,
    pub(crate) members: u32,
    pub(crate) seed: u64,
    /// The distributions of what varies over the members.
    pub(crate) vary: BTreeMap<&'a str, Distribution>,
    /// Entries of the start that all members have in common; the others follow from the parameters of a member.
    pub(crate) start_entries: BTreeMap<&'a str, Value>,
    /// Entries from which the repair of every start begins.
    pub(crate) guessed_entries: BTreeMap<&'a str, Value>,
    /// `true` if every start is repaired. Starts with entries that vary always are.
    pub(crate) repair: bool,
}

/// The result of an ensemble.
#[derive(Serialize)]
struct EnsembleOutcome {
    /// The number of members that were done when the ensemble was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<u64>,
    failed: u64,
    /// Statistics of every quantity at the end, over the members that did not fail.
    end: BTreeMap<String, Statistics>,
    largest_changes: BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct Statistics {
    mean: f64,
    variance: f64,
    min: f64,
    max: f64,
}

/// The record of a run, which took `wall_seconds`.
pub(crate) fn of_run(
    job: &Job,
    model: &dyn AnyModel,
    code_sha256: &str,
    wall_seconds: Option<f64>,
    ending: &Ending<'_>,
) -> Result<String, Box<dyn Error>> {
    let (status, message, result) = match ending {
        Ending::Complete(run) => ("complete", None, Some(RunResult::End(Box::new(RunSummary::of(model, run))))),
        Ending::Interrupted(run) => ("interrupted", None, Some(RunResult::End(Box::new(RunSummary::of(model, run))))),
        Ending::Failed(error, last) => {
            let state = |sample: &Sample| job::named(&model.state_names(), &sample.state);
            let last = last.map(|sample| RunResult::LastGood { time: few_digits(sample.time), state: state(sample) });
            ("failed", Some(error.to_string()), last)
        }
    };
    let versions = Versions::of_this_program();
    let inputs = open_inputs(model);
    json(&JobRecord { status, message, job, inputs, versions, code_sha256, wall_seconds, result })
}

fn open_inputs(model: &dyn AnyModel) -> BTreeMap<&'static str, f64> {
    model.open_inputs().iter().map(|name| (*name, 0.0)).collect()
}

/// The job of a record, and its result.
#[derive(Deserialize)]
struct RecordedRun {
    #[serde(flatten)]
    job: Job,
    code_sha256: String,
    versions: RecordedVersions,
}

#[derive(Deserialize)]
struct RecordedVersions {
    fbint: String,
}

/// The job that the record of a run describes, of a model that has the code that it was run with. A model from a text comes with the record.
pub(crate) fn job(models: &[Entry], path: &Path) -> Result<Job, Box<dyn Error>> {
    let name = path.display();
    let text = fs::read_to_string(path)?;
    if serde_json::from_str::<Value>(&text)?.get("members").is_some() {
        return Err(
            format!("{name} is the record of an ensemble: give that of a run, or run the ensemble again").into()
        );
    }
    let recorded = serde_json::from_str(&text).map_err(|error| format!("{name} is not understood: {error}"))?;
    let RecordedRun { mut job, code_sha256: recorded, versions } = recorded;
    let current = current_dir()?;
    let beside = path.parent().map_or(current.clone(), |folder| current.join(folder));
    job.folder = Some(if beside.join(model_file(&job.model)).exists() { beside } else { current });
    if code_sha256(&*job.model(models)?) != recorded {
        let (model, version) = (&job.model, versions.fbint);
        if job.text.is_some() {
            return Err(format!(
                "fbint {version} has recorded {name}, and this fbint derives other code from its text of `{model}`: repeat it with that \
                 version, or run the text with its options"
            )
            .into());
        }
        return Err(format!("`{model}` is not what {name} was recorded of: its equations have changed since; name the model, with options").into());
    }
    Ok(job)
}

/// The end of an ensemble.
pub(crate) enum EnsembleEnding<'a> {
    Complete(&'a dyn AnyModel, &'a Tally),
    /// With what is known of the members that were done, unless they are in blocks on disk.
    Interrupted(Option<(&'a dyn AnyModel, &'a Tally)>),
    /// The record of a block, in its part of a dataset.
    Part(&'a dyn AnyModel, &'a Tally),
    /// No member got to the end, or rows could not be written.
    Failed(&'a str),
}

/// The record of an ensemble, which took `wall_seconds`.
pub(crate) fn of_ensemble(
    job: &EnsembleJob<'_>,
    code_sha256: &str,
    wall_seconds: Option<f64>,
    ending: &EnsembleEnding<'_>,
) -> Result<String, Box<dyn Error>> {
    let (status, message, result) = match ending {
        EnsembleEnding::Complete(model, tally) => ("complete", None, Some(EnsembleOutcome::of(*model, tally))),
        EnsembleEnding::Interrupted(known) => {
            let outcome = |(model, tally): &(_, &Tally)| EnsembleOutcome {
                done: Some(tally.members),
                ..EnsembleOutcome::of(*model, tally)
            };
            ("interrupted", None, known.as_ref().map(outcome))
        }
        EnsembleEnding::Part(model, tally) => ("part", None, Some(EnsembleOutcome::of(*model, tally))),
        EnsembleEnding::Failed(message) => ("failed", Some((*message).to_owned()), None),
    };
    let versions = Versions::of_this_program();
    let inputs = match ending {
        EnsembleEnding::Complete(model, _) | EnsembleEnding::Part(model, _) => open_inputs(*model),
        EnsembleEnding::Interrupted(known) => known.map_or(BTreeMap::new(), |(model, _)| open_inputs(model)),
        EnsembleEnding::Failed(_) => BTreeMap::new(),
    };
    json(&JobRecord { status, message, job, inputs, versions, code_sha256, wall_seconds, result })
}

/// The record of a run that came to its end, whose [`summary`] is given.
pub(crate) fn of_summary(job: &Job, model: &dyn AnyModel, summary: &str) -> Result<String, Box<dyn Error>> {
    let result: Value = serde_json::from_str(summary)?;
    let (versions, code_sha256) = (Versions::of_this_program(), code_sha256(model));
    let (inputs, code_sha256) = (open_inputs(model), &*code_sha256);
    json(&JobRecord {
        status: "complete",
        message: None,
        job,
        inputs,
        versions,
        code_sha256,
        wall_seconds: None,
        result: Some(result),
    })
}

/// The result of a run, as the record has it.
pub(crate) fn summary(model: &dyn AnyModel, run: &Run) -> Result<String, Box<dyn Error>> {
    Ok(serde_json::to_string(&RunSummary::of(model, run))?)
}

/// Writes a record to a separate file, and does not publish it yet.
pub(crate) fn draft(record: &str, output: &OutputFile) -> Result<WholeDraft, Box<dyn Error>> {
    output.draft(|file| writeln!(file, "{record}"))
}

fn json(record: &impl Serialize) -> Result<String, Box<dyn Error>> {
    Ok(serde_json::to_string_pretty(record)?)
}

impl Versions {
    fn of_this_program() -> Self {
        Self { fbint: env!("CARGO_PKG_VERSION"), rustc: env!("FBINT_RUSTC") }
    }
}

impl EnsembleOutcome {
    fn of(model: &dyn AnyModel, tally: &Tally) -> Self {
        let end = state_and_changes(model).into_iter().zip(tally.end()).map(|(name, summary)| {
            let &Summary { mean, variance, min, max } = summary;
            (name, Statistics { mean, variance, min, max })
        });
        Self {
            done: None,
            failed: tally.failed,
            end: end.collect(),
            largest_changes: job::named(&model.integral_names(), &tally.largest_changes(model)),
        }
    }
}

impl RunSummary {
    fn of(model: &dyn AnyModel, run: &Run) -> Self {
        let drift = run.findings.drift.integrals().map(|integral| {
            let fbint_runtime::IntegralDrift { name, target, max, last, slope, assumed, left_out } = integral;
            (name, IntegralRecord { target, max, last, slope, assumed, left_out })
        });
        Self {
            ended_by: run.end().map(str::to_owned),
            time: run.time,
            state: job::named(&model.state_names(), &run.state),
            steps: run.steps,
            evaluations: run.evaluations,
            events: EventCount::all(&run.events),
            start_move: run.findings.drift.start_move().copied(),
            drift: drift.collect(),
            nearly_dependent: run.findings.dependence.as_ref().map(NearlyDependent::from),
            integral_jump: run.findings.jump,
            largest_projection: run.findings.largest_projection,
        }
    }
}

impl EventCount {
    /// A record of each event that occurred, in the order of the first occurrences.
    pub(crate) fn all(occurrences: &[Occurrence]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for Occurrence { name, time, reset, .. } in occurrences {
            let place = all.iter().position(|count| count.event == *name).unwrap_or_else(|| {
                all.push(Self { event: name.clone(), occurrences: 0, resets: 0, first: *time });
                all.len() - 1
            });
            all[place].occurrences += 1;
            all[place].resets += usize::from(reset.is_some());
        }
        all
    }
}

impl From<&Dependence> for NearlyDependent {
    fn from(dependence: &Dependence) -> Self {
        let (named, none) = (dependence.constraints().to_vec(), Vec::new());
        let (constraints, velocities) = if dependence.is_of_velocities { (none, named) } else { (named, none) };
        Self { time: dependence.time, constraints, velocities, pivot_ratio: dependence.pivot_ratio }
    }
}
