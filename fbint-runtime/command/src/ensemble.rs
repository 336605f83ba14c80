//! `ensemble`: many members of one model, whose parameters, starts or gains vary.
//!
//! Members are integrated block by block. Without a checkpoint each block goes into the results at once, and a signal ends the
//! integration: the files have the members that are done. With one, blocks are put on disk first, by one process or by many, and into
//! the results in their order, so that no byte depends on who integrated what; a signal ends the process.
//!
//! Blocks have 2048 members, whatever the machine, and one is held at a time: the members of a block decide all digits of its results, so
//! any process can integrate it, as long as the rows and statistics of blocks are put together in their order. One code serves one process
//! and many, and a resumed ensemble and one that was not interrupted.

mod blocks;
mod datasets;
mod histogram;
pub(crate) mod launcher;
pub(crate) mod members;
mod messages;
mod ranks;
mod results;
mod samples;
mod share;
mod spread;
#[cfg(feature = "mpi")]
mod world;

use std::collections::BTreeMap;
use std::env::current_dir;
use std::error::Error;
use std::io::stdout;
use std::mem::forget;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;
use std::time::Instant;

use fbint_runtime::Projection;
use rayon::ThreadPoolBuilder;
use serde_json::{Value, json};

use self::blocks::{Blocks, Head};
use self::datasets::Datasets;
use self::results::{EnsembleOutputs, Results};
use crate::ensemble::members::{Block, BlockObserver, Members};
use crate::ensemble::ranks::Ranks;
use crate::figures::panels::Panel;
use crate::files::interruption::{self, LastAct, end_undisturbed};
use crate::files::output::{OutputFile, WholeDraft, publish};
use crate::line::arguments::{Assignment, EnsembleArguments, ResumeArguments};
use crate::models::file;
use crate::runs::checkpoint;
use crate::runs::job::{Job, code_sha256};
use crate::runs::record::{self, EnsembleEnding, EnsembleJob};
use crate::runs::report::interval;
use crate::runs::run::{job, note_inputs};
use crate::words::complaint::complain;
use crate::words::help::program;
use crate::words::progress::Progress;
use fbint_catalogue::{AnyModel, Entry, Feedback, Plan, Sample};

/// Integrates an ensemble, alone or together with the other processes that the launcher has begun.
pub(crate) fn ensemble(models: &[Entry], arguments: &EnsembleArguments) -> Result<ExitCode, Box<dyn Error>> {
    let ranks = Ranks::join()?;
    let outcome = begin(models, arguments, &ranks);
    part(ranks, outcome)
}

/// Integrates the blocks of an ensemble that are not done.
pub(crate) fn resume(models: &[Entry], arguments: &ResumeArguments) -> Result<ExitCode, Box<dyn Error>> {
    let message = format!("interrupted; {}", advice(&arguments.checkpoint));
    let _interruption = LastAct::prepare(|| message);
    let ranks = Ranks::join()?;
    let outcome = go_on(models, arguments, &ranks);
    part(ranks, outcome)
}

/// Parts from the other processes. When the leader fails, which says why, the launcher ends them all.
fn part(ranks: Ranks, outcome: Result<ExitCode, Box<dyn Error>>) -> Result<ExitCode, Box<dyn Error>> {
    let is_leader = ranks.is_leader();
    let outcome = ranks.part(outcome);
    if !is_leader {
        end_undisturbed();
    }
    outcome
}

fn begin(models: &[Entry], arguments: &EnsembleArguments, ranks: &Ranks) -> Result<ExitCode, Box<dyn Error>> {
    let ensemble = ResolvedEnsemble::new(models, arguments.clone(), Some(Instant::now()))?;
    if ranks.is_leader() {
        ensemble.datasets.check_empty()?;
    }
    let checkpoint = arguments.checkpoint.clone().or_else(|| (ranks.count() > 1).then(|| ensemble.checkpoint()));
    match checkpoint {
        Some(folder) if !ranks.is_leader() => ensemble.assist(models, ranks, &folder),
        Some(folder) => {
            let outputs = EnsembleOutputs::open(&ensemble, Some(&folder))?;
            let head = Head::new(&ensemble.description.code_sha256, of_any_folder(arguments)?);
            ensemble.execute_on_disk(models, ranks, outputs, || Blocks::create(&folder, &head))
        }
        None => ensemble.execute(models, &EnsembleOutputs::open(&ensemble, None)?),
    }
}

fn go_on(models: &[Entry], arguments: &ResumeArguments, ranks: &Ranks) -> Result<ExitCode, Box<dyn Error>> {
    let folder = &arguments.checkpoint;
    if arguments.until.is_some() {
        return Err(format!("--until is for runs, and {} is an ensemble's: leave it out", folder.display()).into());
    }
    let head = Head::read(folder)?;
    let force = arguments.force || head.arguments.force;
    let arguments = EnsembleArguments { threads: arguments.threads, force, ..head.arguments };
    let ensemble = ResolvedEnsemble::new(models, arguments, None)?;
    let Description { job, code_sha256, .. } = &ensemble.description;
    checkpoint::check_code(&job.model, code_sha256, &head.code_sha256, folder)?;
    if !ranks.is_leader() {
        return ensemble.assist(models, ranks, folder);
    }
    let blocks = Blocks::open(folder)?;
    ensemble.execute_on_disk(models, ranks, EnsembleOutputs::open(&ensemble, None)?, || Ok(blocks))
}

/// These arguments, with paths that do not depend on the current folder.
fn of_any_folder(arguments: &EnsembleArguments) -> Result<EnsembleArguments, Box<dyn Error>> {
    let mut arguments = arguments.clone();
    arguments.integration.folder = Some(current_dir()?);
    let files = [&mut arguments.out, &mut arguments.ends, &mut arguments.samples, &mut arguments.plot];
    for path in files.into_iter().flatten() {
        *path = absolute(&path)?;
    }
    Ok(arguments)
}

/// An ensemble with everything resolved.
struct ResolvedEnsemble {
    description: Description,
    plan: Plan,
    /// The tables of members that are folders.
    datasets: Datasets,
    /// The panels of the figure.
    panels: Vec<Panel>,
    /// The number of blocks.
    blocks: u32,
}

impl ResolvedEnsemble {
    /// An ensemble that began at `begun`, or is resumed.
    fn new(models: &[Entry], arguments: EnsembleArguments, begun: Option<Instant>) -> Result<Self, Box<dyn Error>> {
        file::check_values(&arguments.integration, &arguments.vary)?;
        let mut job = job(models, &arguments.integration, arguments.every)?;
        let members = Members::new(models, &arguments, &job)?;
        resolve_gains(&arguments, &mut job, &members)?;
        if let Some(threads) = arguments.threads {
            ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
        }
        let (plan, code_sha256) = (job.plan(members.model())?, code_sha256(members.model()));
        let panels = results::panels_of(&arguments, &members)?;
        let datasets = Datasets::of(&arguments)?;
        let blocks = members.blocks();
        Ok(Self { description: Description { arguments, job, code_sha256, begun }, plan, datasets, panels, blocks })
    }

    fn arguments(&self) -> &EnsembleArguments {
        &self.description.arguments
    }

    fn members(&self, models: &[Entry]) -> Result<Members<'_>, Box<dyn Error>> {
        Members::new(models, self.arguments(), &self.description.job)
    }

    fn has_samples(&self) -> bool {
        self.arguments().samples.is_some()
    }

    /// Returns `true` if it takes the ends of a block to add it to the results.
    fn needs_ends(&self) -> bool {
        let arguments = self.arguments();
        arguments.plot.is_some() || arguments.ends.is_some() && self.datasets.ends.is_none()
    }

    /// The record of a block in its parts.
    fn record_of_part(&self, model: &dyn AnyModel, block: &Block) -> Result<String, Box<dyn Error>> {
        self.description.record(&EnsembleEnding::Part(model, &block.tally))
    }

    /// The folder of the blocks if several processes share an ensemble for which no other folder is given.
    fn checkpoint(&self) -> PathBuf {
        record::beside(&self.description.job.model, self.arguments().files().into_iter().flatten(), "checkpoint")
    }

    /// Its kind, with the number of members that are done.
    fn title(&self, done: u64) -> String {
        let Description { job, arguments, .. } = &self.description;
        let (method, interval) = (job.settings.method.name(), interval(job));
        let part = if self.is_whole(done) { String::new() } else { format!("{done} of ") };
        format!("{}: {part}{} members, {method}, {interval}, seed {}", job.model, arguments.members, arguments.seed)
    }

    /// Returns `true` if this number of members is all of them.
    fn is_whole(&self, members: u64) -> bool {
        members == u64::from(self.arguments().members)
    }

    /// Integrates what the leader says.
    fn assist(&self, models: &[Entry], ranks: &Ranks, folder: &Path) -> Result<ExitCode, Box<dyn Error>> {
        let message = format!("rank {} was interrupted; {}", ranks.number(), advice(folder));
        // Also while it waits for the others to part from it.
        forget(LastAct::prepare(|| message));
        share::assist(self, models, ranks, &Blocks::of_leader(folder)).map(|()| ExitCode::SUCCESS)
    }

    /// Integrates all members, writes what came out, and reports it. After a signal it writes what is known by then.
    fn execute(&self, models: &[Entry], outputs: &EnsembleOutputs) -> Result<ExitCode, Box<dyn Error>> {
        let mut members = self.members(models)?;
        note_inputs(members.model());
        // Before the first file is begun, so that a signal leaves a record whenever it comes.
        let interruption = interruption::SignalGuard::begin();
        let mut results = Results::begin(self, outputs, &members)?;
        let integrated = self.integrate(&mut members, &mut results, &interruption);
        self.conclude(integrated, results, members.model(), outputs, &interruption, None)
    }

    /// Integrates the blocks that are not on disk, writes what came out, and reports it. `begin` makes the place of the blocks.
    fn execute_on_disk(
        &self,
        models: &[Entry],
        ranks: &Ranks,
        outputs: EnsembleOutputs,
        begin: impl FnOnce() -> Result<Blocks, Box<dyn Error>>,
    ) -> Result<ExitCode, Box<dyn Error>> {
        let members = self.members(models)?;
        note_inputs(members.model());
        let begin = || {
            let blocks = begin()?;
            let outputs = outputs.drafted_in(blocks.folder());
            Ok((blocks, outputs))
        };
        // Before the first file is begun, so that a signal leaves a record whenever it comes.
        let ((blocks, outputs), interruption) =
            LastAct::prepare_with(begin, |(blocks, outputs)| self.on_interruption(&outputs.record, blocks))?;
        let mut results = Results::begin(self, &outputs, &members)?;
        let integrated = share::lead(self, models, ranks, &blocks, &mut results);
        // What is integrated is written in good order.
        let interruption = interruption.into_guard();
        self.conclude(integrated, results, members.model(), &outputs, &interruption, Some(blocks))
    }

    /// Integrates all members, block by block, and adds each block to the results, until a signal comes.
    fn integrate(
        &self,
        members: &mut Members<'_>,
        results: &mut Results,
        interruption: &interruption::SignalGuard,
    ) -> Result<(), Box<dyn Error>> {
        let mut progress = Progress::new(&self.description.job.model);
        for number in 0..self.blocks {
            let mut report = |fraction| {
                progress.report((f64::from(number) + fraction) / f64::from(self.blocks));
                interruption.answer()
            };
            let mut parts = self.datasets.begin(number, members, None)?;
            let table = parts.samples().or(results.samples());
            let mut samples = table.map(|table| |member, samples: &[Sample]| table.see(member, samples));
            let observer =
                BlockObserver { progress: &mut report, samples: samples.as_mut().map(|samples| samples as _) };
            let block = members.integrate(number, &self.plan, observer)?;
            publish(parts.finish(&block, || self.record_of_part(members.model(), &block))?)?;
            results.add(&block)?;
            if interruption.answer().is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Writes what came out of the members that are integrated, and reports it.
    fn conclude(
        &self,
        integrated: Result<(), Box<dyn Error>>,
        results: Results,
        model: &dyn AnyModel,
        outputs: &EnsembleOutputs,
        interruption: &interruption::SignalGuard,
        blocks: Option<Blocks>,
    ) -> Result<ExitCode, Box<dyn Error>> {
        let done = results.members();
        // Those of an ensemble of which no member is done.
        self.datasets.remove_empty();
        let is_hopeless = integrated.is_ok() && results.check().is_err();
        // A signal that came after the last member changes nothing.
        let code = interruption.exit_code().filter(|_| !self.is_whole(done));
        let written = integrated.and_then(|()| {
            let (tally, files) = results.finish(self, model, outputs, code.is_some())?;
            publish(files)?;
            Ok(tally)
        });
        let tally = match written {
            Ok(tally) => tally,
            Err(error) => {
                // A job that was refused before the first step leaves no record.
                if done > 0 {
                    self.description.write(&EnsembleEnding::Failed(&error.to_string()), &outputs.record)?;
                }
                return Err(left_behind(error, blocks, is_hopeless));
            }
        };
        if let Some(code) = code {
            let all = self.arguments().members;
            let kept = if tally.has_ends() { ", which the files have" } else { "" };
            complain(&format!(
                "interrupted with {done} of {all} members done{kept}; with --checkpoint FOLDER such an ensemble can be resumed"
            ));
            return Ok(ExitCode::from(code));
        }
        if let Some(blocks) = blocks {
            blocks.remove()?;
        }
        results::report(&self.title(done), model, &tally, outputs, &mut stdout().lock())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Leaves a record of an ensemble that a signal ends, whose blocks are on disk.
    fn on_interruption(&self, output: &OutputFile, blocks: &Blocks) -> impl FnOnce() -> String + Send + use<> {
        let (description, output, all) = (self.description.clone(), output.clone(), self.blocks);
        let folder = blocks.folder().to_owned();
        move || {
            if let Err(error) = description.write(&EnsembleEnding::Interrupted(None), &output) {
                complain(&format!("error: {error}"));
            }
            let done = Blocks::of_leader(&folder).done().map_or(0, |done| done.len());
            format!("interrupted with {done} of {all} blocks done; {}", advice(&folder))
        }
    }
}

/// The record of an ensemble, whatever its outcome.
#[derive(Clone)]
struct Description {
    arguments: EnsembleArguments,
    job: Job,
    code_sha256: String,
    /// When it began, unless it was resumed: then nothing is known of the time that it takes in all.
    begun: Option<Instant>,
}

impl Description {
    /// The record within a file, which leaves the wall time out.
    fn record(&self, ending: &EnsembleEnding<'_>) -> Result<String, Box<dyn Error>> {
        record::of_ensemble(&self.settings(), &self.code_sha256, None, ending)
    }

    /// Writes the record to a separate file.
    fn write(&self, ending: &EnsembleEnding<'_>, output: &OutputFile) -> Result<(), Box<dyn Error>> {
        publish([self.draft(ending, output)?])
    }

    /// See [`write`](Self::write), but does not publish the file yet.
    fn draft(&self, ending: &EnsembleEnding<'_>, output: &OutputFile) -> Result<WholeDraft, Box<dyn Error>> {
        let wall_seconds = self.begun.map(|begun| begun.elapsed().as_secs_f64());
        let record = record::of_ensemble(&self.settings(), &self.code_sha256, wall_seconds, ending)?;
        record::draft(&record, output)
    }

    fn settings(&self) -> EnsembleJob<'_> {
        let Self { arguments, job, .. } = self;
        EnsembleJob {
            job,
            members: arguments.members,
            seed: arguments.seed,
            vary: arguments.vary.iter().map(|variation| (variation.name.as_str(), variation.distribution)).collect(),
            start_entries: by_name(&arguments.integration.start),
            guessed_entries: by_name(&arguments.integration.guess),
            repair: arguments.integration.repair,
        }
    }
}

/// The error of an ensemble with what can be done about it: blocks that are done are kept. A folder without any is not, nor one that
/// another attempt would not help.
fn left_behind(error: Box<dyn Error>, blocks: Option<Blocks>, is_hopeless: bool) -> Box<dyn Error> {
    let Some(blocks) = blocks else { return error };
    if !is_hopeless && blocks.done().is_ok_and(|done| !done.is_empty()) {
        return format!("{error}; {}", advice(blocks.folder())).into();
    }
    blocks.remove().err().map_or(error, |left| format!("{left}").into())
}

fn advice(folder: &Path) -> String {
    format!("`{} resume {}` integrates the blocks that are not done", program(), folder.display())
}

fn by_name(assignments: &[Assignment]) -> BTreeMap<&str, Value> {
    let values = |entry: &Assignment| match entry.values[..] {
        [value] => json!(value),
        ref values => json!(values),
    };
    assignments.iter().map(|entry| (entry.name.as_str(), values(entry))).collect()
}

/// Gains that vary replace common gains, and the projection unless `--project` is given.
pub(crate) fn resolve_gains(
    arguments: &EnsembleArguments,
    job: &mut Job,
    members: &Members<'_>,
) -> Result<(), Box<dyn Error>> {
    let given = arguments.integration.gains.is_some();
    match job.gains {
        Feedback::BaeChang(_) => {
            Err("an ensemble takes --gains none, numbers, or relaxation:TAU: give one of these, or leave it out".into())
        }
        _ if !members.have_gains() => Ok(()),
        _ if given => Err("--vary gains and --gains exclude one another: give one of them".into()),
        _ => {
            job.settings.projection = arguments.integration.project.then(Projection::default);
            Ok(())
        }
    }
}
