//! `ensemble`: many members of one model, whose parameters, starts or gains vary.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write, stdout};
use std::path::PathBuf;
use std::time::Instant;

use fbint_runtime::Projection;
use rayon::ThreadPoolBuilder;

use crate::arguments::{self, Assignment};
use crate::bitmap::Painter;
use crate::catalogue::{AnyModel, Entry, Feedback, Plan, Sample, Summary};
use crate::complaint::complain;
use crate::figure;
use crate::interruption::LastAct;
use crate::job::{Job, code_sha256, method_name};
use crate::members::{Block, Members, Watch, row_of_sample};
use crate::output::{Output, distinct, with_ending};
use crate::panels::{Panel, panels};
use crate::progress::Progress;
use crate::record::{self, EnsembleEnding, EnsembleJob};
use crate::run::job;
use crate::spread::Spread;
use crate::table::{Cell, Column, Kind, TableDraft, TableFile};
use crate::tally::Tally;
use crate::trajectory::state_and_changes;

/// Integrates the members block by block, writes their rows, and computes their statistics.
pub(crate) fn ensemble(models: &[Entry], arguments: &arguments::Ensemble) -> Result<(), Box<dyn Error>> {
    let mut job = job(models, &arguments.integration, arguments.every)?;
    let mut members = Members::new(models, arguments, &job)?;
    settle_gains(arguments, &mut job, &members)?;
    let code_sha256 = code_sha256(members.model());
    let plan = job.plan(members.model())?;
    let names = numbers_of_ends(&members);
    let mut spread = Spread::new(&panels_of(arguments, members.model(), &names)?, arguments.members);
    let (outputs, begun) = (Outputs::open(arguments)?, Instant::now());
    if let Some(threads) = arguments.threads {
        ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    let record = |ending: &EnsembleEnding<'_>, wall_seconds| {
        record::of_ensemble(&described(arguments, &job), &code_sha256, wall_seconds, ending)
    };
    let write_record = |ending: &EnsembleEnding<'_>| {
        record::write(&record(ending, Some(begun.elapsed().as_secs_f64()))?, &outputs.record)
    };

    let interruption = record_interruption(arguments, &job, &code_sha256, &outputs.record, begun);
    let (mut tables, mut tally) = (Tables::begin(&outputs, &members)?, Tally::default());
    let outcome = integrate(&mut members, &plan, &job.model, &mut tables, &mut tally, &mut spread);
    drop(interruption);
    if let Err(error) = outcome.and_then(|()| tally.check()) {
        // What is half written may have filled the disk.
        drop(tables);
        // A job that was refused before the first step leaves no record.
        if tally.members > 0 {
            write_record(&EnsembleEnding::Failed(&error.to_string()))?;
        }
        return Err(error);
    }
    let (model, title) = (members.model(), title(arguments, &job));
    let ending = EnsembleEnding::Complete(model, &tally);
    let within = record(&ending, None)?;
    if let Some(out) = &outputs.out {
        write_statistics(model, &tally, &within, out)?;
    }
    tables.finish(&within)?;
    if let Some(plot) = &outputs.plot {
        figure::write(&spread.draw(&title, &names), outputs.painter.as_ref(), plot)?;
    }
    write_record(&ending)?;
    report(&title, model, &tally, &outputs, &mut stdout().lock())?;
    Ok(())
}

/// Integrates all members, block by block, and adds each block to the tables, the statistics and the figure.
fn integrate(
    members: &mut Members<'_>,
    plan: &Plan,
    label: &str,
    tables: &mut Tables<'_>,
    tally: &mut Tally,
    spread: &mut Spread,
) -> Result<(), Box<dyn Error>> {
    let mut progress = Progress::new(label);
    let all = f64::from(members.count());
    for range in members.blocks() {
        let (before, count) = (f64::from(range.start), range.len() as f64);
        let mut report = |fraction| progress.report((before + count * fraction) / all);
        let mut samples = tables.samples();
        let watch = Watch { progress: &mut report, samples: samples.as_mut().map(|samples| samples as _) };
        let block = members.integrate(range, plan, watch)?;
        drop(samples);
        tally.add(&block);
        tables.add(&block)?;
        spread.add(&block);
    }
    Ok(())
}

/// While the result exists, a signal that ends the process leaves a record.
fn record_interruption(
    arguments: &arguments::Ensemble,
    job: &Job,
    code_sha256: &str,
    output: &Output,
    begun: Instant,
) -> LastAct {
    let (arguments, job, output, code_sha256) =
        (arguments.clone(), job.clone(), output.clone(), code_sha256.to_owned());
    LastAct::prepare(move || {
        let (job, wall_seconds) = (described(&arguments, &job), begun.elapsed().as_secs_f64());
        let record = record::of_ensemble(&job, &code_sha256, Some(wall_seconds), &EnsembleEnding::Interrupted);
        if let Err(error) = record.and_then(|record| record::write(&record, &output)) {
            complain(&format!("error: {error}"));
        }
    })
}

/// The settings of the ensemble, for its record.
fn described<'a>(arguments: &'a arguments::Ensemble, job: &'a Job) -> EnsembleJob<'a> {
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

fn by_name(assignments: &[Assignment]) -> BTreeMap<&str, f64> {
    assignments.iter().map(|entry| (entry.name.as_str(), entry.value)).collect()
}

/// Gains that vary replace common gains, and the projection unless `--project` is given.
fn settle_gains(arguments: &arguments::Ensemble, job: &mut Job, members: &Members<'_>) -> Result<(), Box<dyn Error>> {
    let given = arguments.integration.gains.is_some();
    match job.gains {
        Feedback::DiagonalScaled(_) | Feedback::BaeChang(_) => {
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

/// The names of the numbers in the rows of ends, of which a figure may show any.
fn numbers_of_ends(members: &Members<'_>) -> Vec<String> {
    let numbers = members.columns_of_ends().into_iter().filter(|column| column.kind == Kind::Number);
    numbers.map(|column| column.name).collect()
}

fn panels_of(
    arguments: &arguments::Ensemble,
    model: &dyn AnyModel,
    names: &[String],
) -> Result<Vec<Panel>, Box<dyn Error>> {
    match &arguments.plot {
        None => Ok(Vec::new()),
        Some(_) if arguments.of.is_empty() => Ok(Spread::default_panels(model, arguments.vary.len())),
        Some(_) => panels(&arguments.of, names, false),
    }
}

/// The files of an ensemble.
struct Outputs {
    out: Option<TableFile>,
    ends: Option<TableFile>,
    samples: Option<TableFile>,
    plot: Option<Output>,
    /// The renderer of the figure if it is a PNG.
    painter: Option<Painter>,
    record: Output,
}

impl Outputs {
    /// Checks before the run starts that all files can be written, that their endings are known, and that no two are one.
    fn open(arguments: &arguments::Ensemble) -> Result<Self, Box<dyn Error>> {
        let table = |option: &str, path: &Option<PathBuf>| -> Result<Option<TableFile>, Box<dyn Error>> {
            path.as_deref().map(|path| TableFile::at(option, path)).transpose()
        };
        let files = [&arguments.out, &arguments.ends, &arguments.samples, &arguments.plot];
        let record =
            record::path(&arguments.integration.model, "ensemble", files.into_iter().filter_map(Option::as_deref));
        let plot = arguments.plot.as_deref().map(|path| with_ending("--plot", path, &["svg", "png"])).transpose()?;
        let outputs = Self {
            out: table("--out", &arguments.out)?,
            ends: table("--ends", &arguments.ends)?,
            samples: table("--samples", &arguments.samples)?,
            plot: plot.map(Output::at).transpose()?,
            painter: plot.map_or(Ok(None), Painter::of)?,
            record: Output::at(&record)?,
        };
        let named = outputs.named().into_iter().map(|(option, _, file)| (option, file));
        distinct(&named.chain([("the record of the ensemble", &outputs.record)]).collect::<Vec<_>>())?;
        Ok(outputs)
    }

    /// The files but for the record, each with its option and with what is in it.
    fn named(&self) -> Vec<(&'static str, &'static str, &Output)> {
        let files = [
            ("--out", "statistics", self.out.as_ref().map(TableFile::output)),
            ("--ends", "ends", self.ends.as_ref().map(TableFile::output)),
            ("--samples", "samples", self.samples.as_ref().map(TableFile::output)),
            ("--plot", "figure", self.plot.as_ref()),
        ];
        files.into_iter().filter_map(|(option, what, file)| Some((option, what, file?))).collect()
    }
}

/// The tables of members, to which every block adds its rows.
struct Tables<'a> {
    ends: Option<TableDraft<'a>>,
    samples: Option<TableDraft<'a>>,
    /// Why the samples of a member could not be written.
    failure: Option<String>,
}

impl<'a> Tables<'a> {
    fn begin(outputs: &'a Outputs, members: &Members<'_>) -> Result<Self, Box<dyn Error>> {
        let begin = |file: &'a Option<TableFile>, columns: Vec<Column>| {
            file.as_ref().map(|file| file.begin(&columns)).transpose()
        };
        Ok(Self {
            ends: begin(&outputs.ends, members.columns_of_ends())?,
            samples: begin(&outputs.samples, members.columns_of_samples())?,
            failure: None,
        })
    }

    /// A function that writes the samples of a member, if they are wanted. After a failure it writes nothing.
    fn samples(&mut self) -> Option<impl FnMut(u32, &[Sample]) + Send + use<'_, 'a>> {
        let Self { samples, failure, .. } = self;
        let table = samples.as_mut()?;
        Some(|member, samples: &[Sample]| {
            if failure.is_none() {
                let mut rows = samples.iter().map(|sample| row_of_sample(member, sample));
                *failure = rows.find_map(|row| table.push(&row).err()).map(|error| error.to_string());
            }
        })
    }

    fn add(&mut self, block: &Block) -> Result<(), Box<dyn Error>> {
        if let Some(failure) = self.failure.take() {
            return Err(failure.into());
        }
        match &mut self.ends {
            Some(table) => block.ends(|row| table.push(row)),
            None => Ok(()),
        }
    }

    fn finish(self, record: &str) -> Result<(), Box<dyn Error>> {
        for table in [self.ends, self.samples].into_iter().flatten() {
            table.finish(record)?;
        }
        Ok(())
    }
}

/// Writes a row for each time: the time, the number of members, and mean, variance, minimum and maximum of every quantity.
fn write_statistics(model: &dyn AnyModel, tally: &Tally, record: &str, file: &TableFile) -> Result<(), Box<dyn Error>> {
    let of = |name: String| ["mean", "variance", "min", "max"].map(|what| Column::number(format!("{what}({name})")));
    let columns = [Column::number("t"), Column::count("members")].into_iter();
    let columns: Vec<Column> = columns.chain(state_and_changes(model).into_iter().flat_map(of)).collect();
    let mut table = file.begin(&columns)?;
    for at in &tally.statistics {
        let numbers = at.quantities.iter().flat_map(|of| [of.mean, of.variance, of.min, of.max]);
        let front = [Cell::Number(at.time), Cell::Count(at.members)];
        table.push(&front.into_iter().chain(numbers.map(Cell::Number)).collect::<Vec<_>>())?;
    }
    table.finish(record)
}

fn title(arguments: &arguments::Ensemble, job: &Job) -> String {
    let (method, until) = (method_name(job.settings.method), job.settings.until);
    format!("{}: {} members, {method}, t = 0 .. {until}, seed {}", job.model, arguments.members, arguments.seed)
}

fn report(title: &str, model: &dyn AnyModel, tally: &Tally, outputs: &Outputs, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{title}\n")?;
    let names = state_and_changes(model);
    let width = names.iter().map(|name| name.chars().count()).fold("at the end".len(), usize::max);
    writeln!(
        out,
        "{:width$}  {:>12}  {:>12}  {:>12}  {:>12}",
        "at the end", "mean", "deviation", "minimum", "maximum"
    )?;
    for (name, Summary { mean, variance, min, max }) in names.iter().zip(tally.end()) {
        writeln!(out, "{name:width$}  {mean:>12.4e}  {:>12.4e}  {min:>12.4e}  {max:>12.4e}", variance.sqrt())?;
    }
    writeln!(out, "\n{:width$}  {:>12}", "integral", "max |change|")?;
    for (name, change) in model.integral_names().iter().zip(tally.largest_changes(model)) {
        writeln!(out, "{name:width$}  {change:>12.2e}")?;
    }
    writeln!(out, "\nthe largest changes are over the {} times that were sampled", tally.statistics.len())?;
    if tally.failed > 0 {
        let (failed, members) = (tally.failed, tally.members);
        writeln!(out, "{failed} of {members} members failed and are left out of the statistics:")?;
    }
    for (member, error) in &tally.failures {
        writeln!(out, "  member {member}: {error}")?;
    }
    match tally.failed - tally.failures.len() as u64 {
        0 => {}
        more => writeln!(out, "  and {more} more")?,
    }
    for (_, what, file) in outputs.named() {
        writeln!(out, "{what}: {}", file.path().display())?;
    }
    writeln!(out, "record: {}", outputs.record.path().display())
}
