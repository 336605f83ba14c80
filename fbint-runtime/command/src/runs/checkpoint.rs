//! Checkpoints: files from which `resume` resumes a run or an ensemble.
//!
//! Two lines of JSON. The first says what the file is and has the SHA-256 of the second. The checkpoint of a run holds the job, its files,
//! and a snapshot of the run with its samples so far. Numbers are the shortest text that reads back exactly. A resumed run is bit-identical
//! to one that was not interrupted only in the code that began it, so the version of fbint and the hash of the generated code must equal
//! the ones in the file.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str;

use fbint_runtime::Snapshot;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::figures::section;
use crate::files::output::{OutputFile, is_record, reason};
use crate::line::arguments::SectionFile;
use crate::runs::job::{Job, code_sha256, sha256};
use crate::words::help::program;
use fbint_catalogue::Entry;

const FORMAT: u32 = 1;
/// The version of this program, which a checkpoint holds as `fbint`.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize, Deserialize)]
struct CheckpointHeader {
    fbint_checkpoint: u32,
    sha256: String,
}

/// The state of an interrupted run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    fbint: String,
    code_sha256: String,
    pub(crate) job: Job,
    /// The folder of the job.
    folder: Option<PathBuf>,
    pub(crate) files: Files,
    /// Seconds between two checkpoints.
    pub(crate) checkpoint_every: f64,
    /// Seconds that the run has taken so far.
    pub(crate) wall_seconds: f64,
    pub(crate) snapshot: Snapshot,
}

/// The files that a run writes at its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Files {
    pub(crate) out: Option<PathBuf>,
    pub(crate) plot: Option<PathBuf>,
    /// The panels of the figure, as they were asked for.
    pub(crate) of: Vec<String>,
    pub(crate) animate: Option<PathBuf>,
    /// The files of sections.
    #[serde(default)]
    pub(crate) sections: Vec<SectionFile>,
    /// `true` if they replace files that fbint has not written, too.
    pub(crate) force: bool,
}

impl Files {
    /// These files by paths that do not depend on the current folder.
    pub(crate) fn absolute(self) -> io::Result<Self> {
        let absolute = |path: Option<PathBuf>| path.map(std::path::absolute).transpose();
        let Self { out, plot, animate, sections, .. } = self;
        let (out, plot, animate) = (absolute(out)?, absolute(plot)?, absolute(animate)?);
        Ok(Self { out, plot, animate, sections: section::absolute(sections)?, ..self })
    }
}

impl Checkpoint {
    pub(crate) fn new(
        code_sha256: &str,
        job: &Job,
        files: &Files,
        checkpoint_every: f64,
        wall_seconds: f64,
        snapshot: Snapshot,
    ) -> Self {
        Self {
            fbint: VERSION.to_owned(),
            code_sha256: code_sha256.to_owned(),
            job: job.clone(),
            folder: job.folder.clone(),
            files: files.clone(),
            checkpoint_every,
            wall_seconds,
            snapshot,
        }
    }

    /// Reads a checkpoint that this program can resume.
    pub(crate) fn read(models: &[Entry], path: &Path) -> Result<Self, Box<dyn Error>> {
        let name = path.display();
        let mut checkpoint: Self = read(path, path)?;
        checkpoint.job.folder = checkpoint.folder.take();
        let seconds = [("checkpoint_every", checkpoint.checkpoint_every), ("wall_seconds", checkpoint.wall_seconds)];
        if let Some((field, value)) = seconds.into_iter().find(|(_, value)| !(*value >= 0.0 && value.is_finite())) {
            return Err(format!("{name} is not understood: {field} is {value:?}, and must be 0 or more").into());
        }
        let own = code_sha256(&*checkpoint.job.model(models)?);
        check_code(&checkpoint.job.model, &own, &checkpoint.code_sha256, path)?;
        Ok(checkpoint)
    }
}

/// Writes a checkpoint whose second line is `body`.
pub(crate) fn write(body: &impl Serialize, output: &OutputFile) -> Result<(), Box<dyn Error>> {
    let body = serde_json::to_string(body)?;
    let head = CheckpointHeader { fbint_checkpoint: FORMAT, sha256: sha256(body.as_bytes()) };
    let head = serde_json::to_string(&head)?;
    output.write(|file| writeln!(file, "{head}\n{body}"))
}

/// Reads the second line of the checkpoint in `file`, which is called `name` and was written by this version.
pub(crate) fn read<T: DeserializeOwned>(file: &Path, name: &Path) -> Result<T, Box<dyn Error>> {
    let name = name.display();
    let bytes = fs::read(file).map_err(|error| format!("cannot read {name}: {}", reason(&error, "no such file")))?;
    let text = str::from_utf8(&bytes).unwrap_or_default();
    let (head, body) = text.split_once('\n').unwrap_or((text, ""));
    let head: CheckpointHeader = serde_json::from_str(head).map_err(|_| {
        let program = program();
        match is_record(file) {
            true => {
                format!("{name} is a record and not a checkpoint: `{program} run {name}` repeats the run of a record")
            }
            false => format!("{name} is not a checkpoint: give what `{program} run --checkpoint` has written"),
        }
    })?;
    if head.fbint_checkpoint != FORMAT {
        let format = head.fbint_checkpoint;
        return Err(format!("{name} is a checkpoint of format {format}, and this fbint reads format {FORMAT}").into());
    }
    let body = body.trim_end_matches('\n');
    if sha256(body.as_bytes()) != head.sha256 {
        return Err(format!("{name} is damaged: its checksum is wrong; take a copy of it, or run again").into());
    }
    let strange = |error| format!("{name} is not understood: {error}");
    let version = serde_json::from_str::<Version>(body).map_err(strange)?.fbint;
    if version != VERSION {
        return Err(format!(
            "{name} was written by fbint {version}, and this is {VERSION}: resume it with that version, or run again"
        )
        .into());
    }
    Ok(serde_json::from_str(body).map_err(strange)?)
}

/// Refuses a checkpoint that was written with other code of the model than this program has.
pub(crate) fn check_code(
    model: &str,
    code_sha256: &str,
    written: &str,
    checkpoint: &Path,
) -> Result<(), Box<dyn Error>> {
    if code_sha256 == written {
        return Ok(());
    }
    Err(format!(
        "the generated code of `{model}` is not the one that {} was written with: resume it with the program that wrote it, \
         or run again",
        checkpoint.display()
    )
    .into())
}

/// The version, which is read first, because the rest may differ from version to version.
#[derive(Deserialize)]
struct Version {
    fbint: String,
}
