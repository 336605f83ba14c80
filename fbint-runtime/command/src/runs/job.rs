//! The job of a run, with everything resolved: equal jobs give bit-identical results.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::mem::take;
use std::path::PathBuf;

use fbint_runtime::Settings;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::line::condition::Condition;
use crate::line::inputs;
use crate::models::catalogue::load_from;
use crate::models::file;
use crate::words::nearest;
use fbint_catalogue::{AnyModel, Entry, Feedback, Law, Plan, Run, Sample};

/// A run as records and checkpoints describe it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) model: String,
    /// The text that declares the model, unless it is one of the program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The folder from which the path of its file starts. Records do not have it: equal runs have equal records.
    #[serde(skip)]
    pub(crate) folder: Option<PathBuf>,
    pub(crate) parameters: BTreeMap<String, f64>,
    pub(crate) start: BTreeMap<String, f64>,
    /// Laws and tables of inputs, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) inputs: BTreeMap<String, String>,
    /// The functions of the program that give inputs, which only this process has.
    #[serde(skip)]
    pub(crate) functions: BTreeMap<String, Law>,
    #[serde(flatten)]
    pub(crate) settings: Settings,
    pub(crate) gains: Feedback,
    /// Where the run ends before its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until_event: Option<Condition>,
    /// The times of the samples, if they are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) t_eval: Option<Vec<f64>>,
}

impl Job {
    /// The model with the parameters of this job.
    pub(crate) fn model(&self, models: &[Entry]) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
        let mut model = match &self.text {
            Some(text) => file::load_text(text, &self.model)?,
            None => load_from(self.folder.as_deref(), models, &self.model)?,
        };
        let names: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
        for (name, value) in &self.parameters {
            model.set_parameter(nearest::find("parameter", name, &names)?, *value);
        }
        let declared = |text: &str| file::load_text(text, &self.model);
        let manner = (self.settings.method, self.folder.as_deref());
        inputs::given(model, (&self.inputs, &self.functions), manner, declared)
    }

    /// The start in the order of the state.
    pub(crate) fn start(&self, model: &dyn AnyModel) -> Result<Vec<f64>, Box<dyn Error>> {
        let names = model.state_names();
        let mut start = vec![f64::NAN; names.len()];
        for (name, value) in &self.start {
            start[nearest::find("entry of the state", name, &names)?] = *value;
        }
        Ok(start)
    }

    /// Returns `true` if samples have separate times, and are not at steps.
    pub(crate) fn has_sample_times(&self) -> bool {
        self.t_eval.is_some() || self.settings.every.is_some_and(|every| every > 0.0)
    }

    /// Leaves the start and the end of a run out of its samples, unless they are among the times that are given.
    pub(crate) fn keep_asked_for(&self, run: &mut Run) {
        let Some(times) = &self.t_eval else { return };
        let has_start = times.first().is_some_and(|time| *time <= self.settings.from);
        let reached = times.iter().filter(|time| **time <= run.time);
        let samples = take(&mut run.trajectory).into_iter().skip(usize::from(!has_start));
        run.trajectory = samples.zip(reached).map(|(sample, &time)| Sample { time, ..sample }).collect();
    }

    pub(crate) fn plan(&self, model: &dyn AnyModel) -> Result<Plan, Box<dyn Error>> {
        let until_event = self.until_event.as_ref().map(|condition| condition.of(model)).transpose()?;
        Ok(Plan { until_event, times: self.t_eval.clone(), ..Plan::new(self.settings, self.gains.clone()) })
    }
}

/// Values by their names.
pub(crate) fn named(names: &[&str], values: &[f64]) -> BTreeMap<String, f64> {
    names.iter().zip(values).map(|(&name, &value)| (name.to_owned(), value)).collect()
}

/// The SHA-256 of a model's code: of a compiled model as `show MODEL --rust` prints it, of one from text of its declaration and programs,
/// which need not be printed for a run.
pub(crate) fn code_sha256(model: &dyn AnyModel) -> String {
    let mut digest = Digested(Sha256::new());
    // A digest takes whatever is written.
    let _ = model.flat().write_code(&mut digest);
    hexadecimal(&digest.0.finalize())
}

/// What is written, as a digest alone.
struct Digested(Sha256);

impl fmt::Write for Digested {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// The SHA-256 of bytes in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// The runtime's remedy for a bad start, as an option of this command.
pub(crate) fn in_terms_of_options(error: fbint_runtime::Error) -> Box<dyn Error> {
    match error {
        fbint_runtime::Error::OffConstraint { name, value, tolerance } => format!(
            "the start violates the constraint `{name}`: it must be 0, but is {value:?} (tolerance {tolerance:.1e}); change the \
             start with --start, or pass --repair"
        )
        .into(),
        fbint_runtime::Error::NoConsistentStart { name, value, iterations } => format!(
            "--repair found no consistent start: the constraint `{name}` is still {value:?} after {iterations} iterations; \
             set entries nearer to the constraints, or fewer: entries that --start sets do not change, those that --guess sets do"
        )
        .into(),
        fbint_runtime::Error::StepLimit { steps, h, limit } => format!(
            "the run takes {steps} steps of {h:?}, more than --max-steps {limit}: take a longer --step or an earlier --until, or raise \
             --max-steps"
        )
        .into(),
        fbint_runtime::Error::NoInertia { dependence, parameter } => format!(
            "-p {parameter}=0: at the start {dependence}, and the field was derived for an inertia there; set `{parameter}` to 0 in the \
             declaration, and the field is derived without it, where constraints determine the motion"
        )
        .into(),
        other => other.into(),
    }
}
