//! The results of an ensemble, to which its blocks are added in their order: tables, statistics and a figure.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ResolvedEnsemble;
use super::blocks::Blocks;
use super::datasets::{Dataset, Datasets, is_folder};
use super::samples::SampleTable;
use crate::ensemble::members::{Block, Members};
use crate::ensemble::spread::Spread;
use crate::figures::bitmap::Painter;
use crate::figures::figure;
use crate::figures::panels::{Panel, panels};
use crate::files::output::{OutputFile, Replace, WholeDraft, distinct, with_ending};
use crate::files::rows::{Cell, ColumnDefinition, ColumnType};
use crate::files::table::{TableDraft, TableFile};
use crate::files::trajectory::{few_digits, state_and_changes};
use crate::line::arguments::EnsembleArguments;
use crate::runs::record::{self, EnsembleEnding};
use crate::runs::tally::Tally;
use crate::words::names::TIME;
use fbint_catalogue::{AnyModel, Sample, Summary};

/// The files of an ensemble.
pub(super) struct EnsembleOutputs {
    out: Option<TableFile>,
    ends: Option<TableFile>,
    samples: Option<TableFile>,
    datasets: Datasets,
    plot: Option<OutputFile>,
    /// The renderer of the figure if it is a PNG.
    painter: Option<Painter>,
    pub(super) record: OutputFile,
}

impl EnsembleOutputs {
    /// Checks before the run starts that all files can be written, that their endings are known, that no two are one, and that nothing is
    /// where a new folder for the blocks is wanted.
    pub(super) fn open(ensemble: &ResolvedEnsemble, blocks: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let arguments = ensemble.arguments();
        let replace = Replace::forced(arguments.force);
        let table =
            |option: &str, path: Option<&Path>| path.map(|path| TableFile::at(option, path, replace)).transpose();
        let [out, ends, samples, plot] = arguments.files();
        let record =
            record::beside(&arguments.integration.model, arguments.files().into_iter().flatten(), "ensemble.json");
        let plot = plot.map(|path| with_ending("--plot", path, &["svg", "png"])).transpose()?;
        let outputs = Self {
            out: table("--out", out)?,
            ends: table("--ends", ends.filter(|path| !is_folder(path)))?,
            samples: table("--samples", samples.filter(|path| !is_folder(path)))?,
            datasets: ensemble.datasets.clone(),
            plot: plot.map(|path| OutputFile::at(path, replace)).transpose()?,
            painter: plot.map_or(Ok(None), Painter::of)?,
            record: OutputFile::at(&record, replace)?,
        };
        let blocks = blocks.map(Blocks::place).transpose()?;
        let named = outputs.named().into_iter().map(|(option, _, file)| (option, file));
        let others = blocks
            .iter()
            .map(|folder| ("--checkpoint", folder))
            .chain([("the record of the ensemble", &outputs.record)]);
        distinct(&named.chain(others).collect::<Vec<_>>())?;
        Ok(outputs)
    }

    /// See [`OutputFile::drafted_in`].
    pub(super) fn drafted_in(self, folder: &Path) -> Self {
        let table = |file: Option<TableFile>| file.map(|file| file.drafted_in(folder));
        Self {
            out: table(self.out),
            ends: table(self.ends),
            samples: table(self.samples),
            datasets: self.datasets,
            plot: self.plot.map(|file| file.drafted_in(folder)),
            painter: self.painter,
            record: self.record.drafted_in(folder),
        }
    }

    /// The files but for the record, each with its option and with what is in it.
    fn named(&self) -> Vec<(&'static str, &'static str, &OutputFile)> {
        let Datasets { ends, samples } = &self.datasets;
        let file = TableFile::output;
        let (ends, samples) = (ends.as_ref().map(Dataset::output), samples.as_ref().map(Dataset::output));
        let files = [
            ("--out", "statistics", self.out.as_ref().map(file)),
            ("--ends", "ends", self.ends.as_ref().map(file).or(ends)),
            ("--samples", "samples", self.samples.as_ref().map(file).or(samples)),
            ("--plot", "figure", self.plot.as_ref()),
        ];
        files.into_iter().filter_map(|(option, what, file)| Some((option, what, file?))).collect()
    }
}

/// The results of the blocks so far.
pub(super) struct Results {
    ends: Option<TableDraft>,
    samples: Option<SampleTable>,
    tally: Tally,
    spread: Spread,
    /// The names of the numbers in the rows of ends; the figure may show any of them.
    names: Vec<String>,
}

impl Results {
    /// Nothing yet.
    pub(super) fn begin(
        ensemble: &ResolvedEnsemble,
        outputs: &EnsembleOutputs,
        members: &Members<'_>,
    ) -> Result<Self, Box<dyn Error>> {
        let EnsembleOutputs { ends, samples, .. } = outputs;
        Ok(Self {
            ends: ends.as_ref().map(|file| file.begin(&members.columns_of_ends())).transpose()?,
            samples: samples.as_ref().map(|file| SampleTable::begin(file, members)).transpose()?,
            tally: Tally::default(),
            spread: Spread::new(&ensemble.panels, ensemble.arguments().members),
            names: numbers_of_ends(members),
        })
    }

    /// The number of members that are done.
    pub(super) fn members(&self) -> u64 {
        self.tally.members
    }

    /// Refuses results without a member that came to its end.
    pub(super) fn check(&self) -> Result<(), Box<dyn Error>> {
        self.tally.check()
    }

    /// The table of samples, if they go into a file.
    pub(super) fn samples(&mut self) -> Option<&mut SampleTable> {
        self.samples.as_mut()
    }

    /// Adds the block that comes next, whose samples were written.
    pub(super) fn add(&mut self, block: &Block) -> Result<(), Box<dyn Error>> {
        if let Some(table) = &mut self.samples {
            table.check()?;
        }
        if let Some(table) = &mut self.ends {
            block.ends(|row| table.push(row))?;
        }
        self.tally.add(&block.tally);
        self.spread.add(block);
        Ok(())
    }

    /// Adds the block that comes next from the disk, with its parts; whether its files are whole.
    pub(super) fn read(&mut self, blocks: &Blocks, number: u32, parts: &[PathBuf]) -> Result<bool, Box<dyn Error>> {
        let mut see = |member, samples: &[Sample]| {
            if let Some(table) = &mut self.samples {
                table.see(member, samples);
            }
        };
        let block = blocks.read(number, parts, &mut see)?;
        block.map_or(Ok(false), |block| self.add(&block).map(|()| true))
    }

    /// Writes all files, the record first, and does not publish them yet. An ensemble that was interrupted before a member came to its end
    /// has the record alone.
    pub(super) fn finish(
        self,
        ensemble: &ResolvedEnsemble,
        model: &dyn AnyModel,
        outputs: &EnsembleOutputs,
        is_interrupted: bool,
    ) -> Result<(Tally, Vec<WholeDraft>), Box<dyn Error>> {
        let Self { ends, samples, tally, spread, names, .. } = self;
        let ending = if is_interrupted {
            EnsembleEnding::Interrupted(Some((model, &tally)))
        } else {
            tally.check()?;
            EnsembleEnding::Complete(model, &tally)
        };
        let record = ensemble.description.record(&ending)?;
        let mut files = vec![ensemble.description.draft(&ending, &outputs.record)?];
        if !tally.has_ends() {
            return Ok((tally, files));
        }
        if let Some(out) = &outputs.out {
            files.push(statistics(model, &tally, &record, out)?);
        }
        if let Some(table) = ends {
            files.push(table.finish(&record)?);
        }
        if let Some(table) = samples {
            files.push(table.finish(&record)?);
        }
        if let Some(plot) = &outputs.plot {
            files.push(figure::draft(
                &spread.draw(&ensemble.title(tally.members), &names),
                outputs.painter.as_ref(),
                plot,
            )?);
        }
        Ok((tally, files))
    }
}

fn numbers_of_ends(members: &Members<'_>) -> Vec<String> {
    let numbers = members.columns_of_ends().into_iter().filter(|column| column.kind == ColumnType::Number);
    numbers.map(|column| column.name).collect()
}

/// The panels of the figure.
pub(super) fn panels_of(arguments: &EnsembleArguments, members: &Members<'_>) -> Result<Vec<Panel>, Box<dyn Error>> {
    match &arguments.plot {
        None => Ok(Vec::new()),
        Some(_) if arguments.of.is_empty() => Ok(Spread::default_panels(members.model(), arguments.vary.len())),
        Some(_) => panels(&arguments.of, &numbers_of_ends(members), false),
    }
}

/// Writes a row for each time: the time, the number of members, and mean, variance, minimum and maximum of every quantity.
fn statistics(
    model: &dyn AnyModel,
    tally: &Tally,
    record: &str,
    file: &TableFile,
) -> Result<WholeDraft, Box<dyn Error>> {
    let of = |name: String| {
        ["mean", "variance", "min", "max"].map(|what| ColumnDefinition::number(format!("{what}({name})")))
    };
    let columns = [ColumnDefinition::number(TIME), ColumnDefinition::count("members")].into_iter();
    let columns: Vec<ColumnDefinition> = columns.chain(state_and_changes(model).into_iter().flat_map(of)).collect();
    let mut table = file.begin(&columns)?;
    for at in &tally.statistics {
        let numbers = at.quantities.iter().flat_map(|of| [of.mean, of.variance, of.min, of.max]);
        let front = [Cell::Number(few_digits(at.time)), Cell::Count(at.members)];
        table.push(&front.into_iter().chain(numbers.map(Cell::Number)).collect::<Vec<_>>())?;
    }
    table.finish(record)
}

/// Prints what came out.
pub(super) fn report(
    title: &str,
    model: &dyn AnyModel,
    tally: &Tally,
    outputs: &EnsembleOutputs,
    out: &mut dyn Write,
) -> io::Result<()> {
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
    let ended = tally.members - tally.failed - tally.statistics.last().map_or(0, |at| at.members);
    if ended > 0 {
        let members = tally.members;
        writeln!(
            out,
            "{ended} of {members} members were ended before by an event, and are in the statistics until then"
        )?;
    }
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
