//! A run in progress: watched for signals, kept in checkpoints, and written to its files at the end.

use std::error::Error;
use std::io::{self, Write, stdout};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fbint_runtime::Error::Failed;
use fbint_runtime::{Moment, Snapshot};

use crate::figures::bitmap::Painter;
use crate::figures::figure;
use crate::figures::panels::{Panel, panels};
use crate::figures::section::{self, SectionOutput};
use crate::files::interruption::SignalGuard;
use crate::files::output::{OutputFile, Replace, WholeDraft, distinct, publish, with_ending};
use crate::files::table::TableFile;
use crate::files::trajectory;
use crate::models::catalogue;
use crate::runs::checkpoint::{self, Checkpoint, Files};
use crate::runs::job::{Job, code_sha256, in_terms_of_options};
use crate::runs::pictures::Pictures;
use crate::runs::record::{self, Ending};
use crate::runs::report::{report, title};
use crate::words::complaint::complain;
use crate::words::help::program;
use crate::words::progress::Progress;
use fbint_catalogue::{AnyModel, Entry, Sample};

/// A run to begin or to resume.
pub(crate) struct Task {
    model: Box<dyn AnyModel>,
    code_sha256: String,
    job: Job,
    files: Files,
    /// The panels of the figure; none for all of the run.
    panels: Vec<Panel>,
    /// Seconds between two checkpoints.
    every: f64,
    /// Seconds that the run took before this process resumed it.
    wall_before: f64,
}

impl Task {
    /// The run of a job of one of `models`, which has taken `wall_before` seconds already.
    pub(crate) fn new(
        models: &[Entry],
        job: Job,
        files: Files,
        every: f64,
        wall_before: f64,
    ) -> Result<Self, Box<dyn Error>> {
        let model = job.model(models)?;
        let panels = panels(&files.of, &trajectory::names(&*model), true)?;
        section::check(&*model, &files.sections)?;
        Ok(Self { code_sha256: code_sha256(&*model), model, job, files, panels, every, wall_before })
    }

    pub(crate) fn model(&self) -> &dyn AnyModel {
        &*self.model
    }

    /// Carries out the run, watched for signals, and writes its files and its record.
    pub(crate) fn execute(&self, outputs: &RunOutputs, from: Option<Snapshot>) -> Result<ExitCode, Box<dyn Error>> {
        let model = &*self.model;
        let (start, plan) = (self.job.start(model)?, self.job.plan(model)?);
        let (begun, interruption) = (Instant::now(), SignalGuard::begin());
        let mut progress = Progress::new(&self.job.model);
        let mut keeper = Keeper { task: self, output: outputs.checkpoint.as_ref(), begun, last: None, failure: None };
        let outcome = model.run(&start, &plan, from, &mut |moment| {
            progress.report(moment.fraction());
            keeper.look(moment, interruption.exit_code().is_some())
        });
        drop(progress);
        let outcome = match (keeper.failure, outcome) {
            (Some(error), _) => Err(FailedRun { error, samples: Vec::new(), table: None }),
            (None, Ok(mut run)) => {
                self.job.keep_asked_for(&mut run);
                Ok(run)
            }
            (None, Err(error)) => match &error {
                Failed(failure) => {
                    let samples = model.samples(&failure.trajectory);
                    Err(self.failed(samples, error, outputs))
                }
                // A job that was refused before the first step leaves no record.
                _ => return Err(in_terms_of_options(error)),
            },
        };

        let record =
            |ending: &Ending<'_>| record::draft(&self.record(ending, Some(self.wall_seconds(begun)))?, &outputs.record);
        let was_there = outputs.record.exists();
        match (outcome, interruption.exit_code()) {
            (Ok(run), Some(code)) if run.time != self.job.settings.until && run.ended_by.is_none() => {
                publish([record(&Ending::Interrupted(&run))?])?;
                complain(&self.interrupted(run.time, outputs));
                Ok(ExitCode::from(code))
            }
            (Ok(run), _) => {
                let written = self
                    .files(&run, outputs)
                    .and_then(|files| publish([record(&Ending::Complete(&run))?].into_iter().chain(files)));
                if let Err(error) = written {
                    publish([record(&Ending::Failed(&*error, None))?])?;
                    return Err(error);
                }
                self.report(&run, outputs, was_there, &mut stdout().lock())?;
                Ok(ExitCode::SUCCESS)
            }
            (Err(FailedRun { error, samples, table }), _) => {
                publish([record(&Ending::Failed(&*error, samples.last()))?].into_iter().chain(table))?;
                Err(error)
            }
        }
    }

    fn record(&self, ending: &Ending<'_>, wall_seconds: Option<f64>) -> Result<String, Box<dyn Error>> {
        record::of_run(&self.job, &*self.model, &self.code_sha256, wall_seconds, ending)
    }

    /// Writes the files of a run that came to its end, but for the record, and does not publish them yet.
    fn files(&self, run: &catalogue::Run, outputs: &RunOutputs) -> Result<Vec<WholeDraft>, Box<dyn Error>> {
        let model = &*self.model;
        let mut files = Vec::new();
        if let Some(out) = &outputs.out {
            let record = self.record(&Ending::Complete(run), None)?;
            files.push(trajectory::draft(model, &run.trajectory, &record, out)?);
        }
        if !outputs.sections.is_empty() {
            let record = self.record(&Ending::Complete(run), None)?;
            for section in &outputs.sections {
                files.push(section.draft(model, run, &title(&self.job), &record)?);
            }
        }
        let pictures = Pictures::of(&self.job, model, run);
        if let Some(plot) = &outputs.plot {
            let svg = pictures.figure(&self.panels, &mut |_| ControlFlow::Continue(()))?;
            files.push(figure::draft(&svg, outputs.painter.as_ref(), plot)?);
        }
        if let Some(animate) = &outputs.animate {
            let page = pictures.animation()?;
            files.push(animate.draft(|file| file.write_all(page.as_bytes()))?);
        }
        Ok(files)
    }

    /// Writes the trajectory until a failure, and does not publish it yet.
    fn failed(&self, samples: Vec<Sample>, error: fbint_runtime::Error, outputs: &RunOutputs) -> FailedRun {
        let Some(out) = &outputs.out else { return FailedRun { error: error.into(), samples, table: None } };
        let record = self.record(&Ending::Failed(&error, samples.last()), None);
        match record.and_then(|record| trajectory::draft(&*self.model, &samples, &record, out)) {
            Ok(table) => {
                let error =
                    format!("{error}; the trajectory until then is in {}", out.output().path().display()).into();
                FailedRun { error, samples, table: Some(table) }
            }
            Err(unwritten) => FailedRun { error: format!("{error}; {unwritten}").into(), samples, table: None },
        }
    }

    fn report(
        &self,
        run: &catalogue::Run,
        outputs: &RunOutputs,
        was_there: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write!(out, "{}", report(&self.job, &*self.model, run))?;
        let table = outputs.out.as_ref().map(TableFile::output);
        let files = [("trajectory", table), ("figure", outputs.plot.as_ref()), ("animation", outputs.animate.as_ref())];
        for (what, file) in files {
            if let Some(file) = file {
                writeln!(out, "{what}: {}", file.path().display())?;
            }
        }
        for section in &outputs.sections {
            writeln!(out, "{}: {}", section.what(), section.output().path().display())?;
        }
        let replaced = if was_there { " (replaced)" } else { "" };
        writeln!(out, "record: {}{replaced}", outputs.record.path().display())
    }

    fn wall_seconds(&self, begun: Instant) -> f64 {
        self.wall_before + begun.elapsed().as_secs_f64()
    }

    fn interrupted(&self, time: f64, outputs: &RunOutputs) -> String {
        let reached = format!("interrupted at t = {time:?} of {:?}", self.job.settings.until);
        match &outputs.checkpoint {
            Some(file) => format!("{reached}; `{} resume {}` resumes from there", program(), file.path().display()),
            None => format!("{reached}; with --checkpoint FILE such a run can be resumed"),
        }
    }
}

/// A run that failed.
struct FailedRun {
    /// Why it failed, and where the trajectory until then is.
    error: Box<dyn Error>,
    /// The trajectory until then.
    samples: Vec<Sample>,
    /// The table of the trajectory.
    table: Option<WholeDraft>,
}

/// Watches a run and keeps checkpoints of it.
struct Keeper<'a> {
    task: &'a Task,
    output: Option<&'a OutputFile>,
    begun: Instant,
    /// The time at which the last checkpoint was written.
    last: Option<Instant>,
    failure: Option<Box<dyn Error>>,
}

impl Keeper<'_> {
    /// Writes a checkpoint at the start, when one is due, at the end, and before the run is interrupted.
    fn look(&mut self, moment: &Moment<'_>, is_interrupted: bool) -> ControlFlow<()> {
        if self.is_due() || is_interrupted || moment.fraction() >= 1.0 {
            self.failure = self.keep(moment).err();
        }
        if is_interrupted || self.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_due(&self) -> bool {
        self.last.is_none_or(|last| last.elapsed() >= Duration::from_secs_f64(self.task.every.min(1e9)))
    }

    fn keep(&mut self, moment: &Moment<'_>) -> Result<(), Box<dyn Error>> {
        let (Some(output), Task { code_sha256, job, files, every, .. }) = (self.output, self.task) else {
            return Ok(());
        };
        let wall_seconds = self.task.wall_seconds(self.begun);
        let checkpoint = Checkpoint::new(code_sha256, job, files, *every, wall_seconds, moment.snapshot());
        checkpoint::write(&checkpoint, output)?;
        self.last = Some(Instant::now());
        Ok(())
    }
}

/// The files of a run.
pub(crate) struct RunOutputs {
    out: Option<TableFile>,
    plot: Option<OutputFile>,
    /// The renderer of the figure if it is a PNG.
    painter: Option<Painter>,
    animate: Option<OutputFile>,
    sections: Vec<SectionOutput>,
    checkpoint: Option<OutputFile>,
    record: OutputFile,
}

impl RunOutputs {
    /// Checks before the run starts that all files can be written, that their endings are known, and that no two are one.
    pub(crate) fn open(job: &Job, files: &Files, checkpoint: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let [out, plot, animate] = [&files.out, &files.plot, &files.animate].map(Option::as_deref);
        let given = [out, plot, animate].into_iter().flatten();
        let given = given.chain(section::paths(&files.sections)).chain(checkpoint);
        let record = record::beside(&job.model, given, "run.json");
        let plot = plot.map(|path| with_ending("--plot", path, &["svg", "png"])).transpose()?;
        let animate = animate.map(|path| with_ending("--animate", path, &["html"])).transpose()?;
        let replace = Replace::forced(files.force);
        let open = |path: Option<&Path>| path.map(|path| OutputFile::at(path, replace)).transpose();
        let outputs = Self {
            out: out.map(|path| TableFile::at("--out", path, replace)).transpose()?,
            plot: open(plot)?,
            painter: plot.map_or(Ok(None), Painter::of)?,
            animate: open(animate)?,
            sections: files
                .sections
                .iter()
                .map(|section| SectionOutput::open(section, replace))
                .collect::<Result<_, _>>()?,
            checkpoint: open(checkpoint)?,
            record: OutputFile::at(&record, replace)?,
        };
        distinct(&outputs.named())?;
        Ok(outputs)
    }

    fn named(&self) -> Vec<(&'static str, &OutputFile)> {
        let given = [
            ("--out", self.out.as_ref().map(TableFile::output)),
            ("--plot", self.plot.as_ref()),
            ("--animate", self.animate.as_ref()),
            ("--checkpoint", self.checkpoint.as_ref()),
        ];
        let given = given.into_iter().filter_map(|(name, file)| Some((name, file?)));
        let sections = self.sections.iter().map(|section| ("--section", section.output()));
        given.chain(sections).chain([("the record of the run", &self.record)]).collect()
    }
}
