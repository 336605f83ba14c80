//! `--section`: where an event or a section occurred, as a table, or as a picture of points in phase planes (Poincaré).

use std::error::Error;
use std::path::Path;

use fbint_runtime::StateRole;

use crate::figures::bitmap::Painter;
use crate::figures::figure::{self, Axis, Chart, Line};
use crate::figures::motion::{COLOURS, some_of_charts};
use crate::files::output::{OutputFile, Replace, WholeDraft, has_ending, with_ending};
use crate::files::rows::{Cell, ColumnDefinition};
use crate::files::table::TableFile;
use crate::files::trajectory;
use crate::line::arguments::SectionFile;
use crate::words::names::{TIME, quantities_of_state};
use crate::words::nearest;
use fbint_catalogue::scheme::Stroke;
use fbint_catalogue::{AnyModel, Run, Sample};

/// The number of an occurrence, as tables call it.
const OCCURRENCE: &str = "occurrence";
/// The part of a quantity's size that the place of an event leaves open.
const ROUNDING: f64 = 1e-9;
/// The most panels of a picture.
const MOST_PANELS: usize = 6;

/// The place of a section's file, which was writable when the run started.
pub(crate) struct SectionOutput {
    name: String,
    format: Format,
}

enum Format {
    Table(TableFile),
    Picture(OutputFile, Option<Painter>),
}

impl SectionOutput {
    /// Checks that the file can be written; its ending decides the format.
    pub(crate) fn open(section: &SectionFile, replace: Replace) -> Result<Self, Box<dyn Error>> {
        let path = with_ending("--section", &section.file, &["csv", "parquet", "svg", "png"])?;
        let format = match ["csv", "parquet"].iter().any(|ending| has_ending(path, ending)) {
            true => Format::Table(TableFile::at("--section", path, replace)?),
            false => Format::Picture(OutputFile::at(path, replace)?, Painter::of(path)?),
        };
        Ok(Self { name: section.name.clone(), format })
    }

    pub(crate) fn output(&self) -> &OutputFile {
        match &self.format {
            Format::Table(table) => table.output(),
            Format::Picture(picture, _) => picture,
        }
    }

    /// A description for a report.
    pub(crate) fn what(&self) -> String {
        format!("section `{}`", self.name)
    }

    /// Writes the file, and does not publish it yet.
    pub(crate) fn draft(
        &self,
        model: &dyn AnyModel,
        run: &Run,
        title: &str,
        record: &str,
    ) -> Result<WholeDraft, Box<dyn Error>> {
        let samples = samples(model, run, &self.name);
        match &self.format {
            Format::Table(file) => {
                let columns = names(model).into_iter().map(ColumnDefinition::number);
                let columns: Vec<_> = [ColumnDefinition::count(OCCURRENCE)].into_iter().chain(columns).collect();
                let mut table = file.begin(&columns)?;
                for (number, sample) in (1..).zip(&samples) {
                    let numbers = values(model, sample).into_iter().map(Cell::Number);
                    table.push(&[Cell::Count(number)].into_iter().chain(numbers).collect::<Vec<_>>())?;
                }
                table.finish(record)
            }
            Format::Picture(file, painter) => {
                let (name, count) = (&self.name, samples.len());
                let points = if count == 1 { "1 point".to_owned() } else { format!("{count} points") };
                let charts = some_of_charts(charts(model, &samples, &run.trajectory), MOST_PANELS);
                let svg = figure::draw_page(&format!("{title}, section {name}: {points}"), &charts, "");
                figure::draft(&svg, painter.as_ref(), file)
            }
        }
    }
}

/// Refuses a section that the model does not declare.
pub(crate) fn check(model: &dyn AnyModel, sections: &[SectionFile]) -> Result<(), Box<dyn Error>> {
    let known: Vec<&str> = model.facts().events.iter().map(|event| event.name).collect();
    for SectionFile { name, .. } in sections {
        if known.is_empty() {
            let model = model.facts().name;
            return Err(format!(
                "--section {name}: {model} declares no events and no sections: add `section({name} = ..)`"
            )
            .into());
        }
        nearest::find("event or section", name, &known)?;
    }
    Ok(())
}

/// The states in which an event of this name occurred, before any reset. The changes of integrals are left out.
pub(crate) fn samples(model: &dyn AnyModel, run: &Run, name: &str) -> Vec<Sample> {
    let occurred = run.events.iter().filter(|event| event.name == name);
    let change = vec![0.0; model.integral_names().len()];
    occurred.map(|event| Sample { time: event.time, state: event.state.clone(), change: change.clone() }).collect()
}

/// A name for each column of a table: the time, the entries of the state, and the outputs.
pub(crate) fn names(model: &dyn AnyModel) -> Vec<String> {
    let mut names = trajectory::names(model);
    names.drain(trajectory::changes(model));
    names
}

/// The numbers in a row, in the order of their [`names`].
pub(crate) fn values(model: &dyn AnyModel, sample: &Sample) -> Vec<f64> {
    let mut values = trajectory::values(model, sample);
    values.drain(trajectory::changes(model));
    values
}

/// A panel of points for each coordinate that differs between them, against its momentum or its rate; of states without coordinates, for
/// each variable against the next. Differences within the rounding of an event's place are none.
fn charts(model: &dyn AnyModel, samples: &[Sample], run: &[Sample]) -> Vec<Chart> {
    let (names, roles) = (quantities_of_state(model), model.state_roles());
    let column = |entry: usize| {
        let rounding = ROUNDING * run.iter().fold(0.0, |size: f64, sample| size.max(sample.state[entry].abs()));
        let value = |sample: &Sample| sample.state[entry];
        samples.iter().map(value).map(|value| if value.abs() <= rounding { 0.0 } else { value }).collect::<Vec<f64>>()
    };
    let moves = |entry: &usize| differ(&column(*entry));
    let phase = |entry: usize| match roles[entry] {
        StateRole::Coordinate { momentum } => Some((names[momentum].clone(), column(momentum))),
        StateRole::Position => {
            let rates = samples.iter().map(|sample| model.rates(&sample.state)[entry]).collect();
            Some((format!("rate of {}", names[entry]), rates))
        }
        _ => None,
    };
    let drawn = |entry: usize| {
        let (name, values) = phase(entry)?;
        Some(chart((&names[entry], column(entry)), (&name, values)))
    };
    let coordinates: Vec<Chart> = (0..names.len()).filter(moves).filter_map(drawn).collect();
    if !coordinates.is_empty() {
        return coordinates;
    }
    let others = |entry: &usize| !matches!(roles[*entry], StateRole::Time | StateRole::Work);
    let entries: Vec<usize> = (0..names.len()).filter(others).filter(moves).collect();
    let pair = |pair: &[usize]| {
        let [right, up] = [pair[0], pair[1]].map(|entry| (&*names[entry], column(entry)));
        chart(right, up)
    };
    let variables: Vec<Chart> = entries.windows(2).map(pair).collect();
    // One variable alone, or none that moves, over time.
    let single = entries.first().copied().or_else(|| (0..names.len()).find(others));
    match single {
        Some(entry) if variables.is_empty() => {
            let times = samples.iter().map(|sample| sample.time).collect();
            vec![chart((TIME, times), (&names[entry], column(entry)))]
        }
        _ => variables,
    }
}

/// Returns `true` if numbers differ by more than the rounding of an event's place.
fn differ(values: &[f64]) -> bool {
    let extremes = |(low, high): (f64, f64), value: &f64| (low.min(*value), high.max(*value));
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), extremes);
    high - low > ROUNDING * high.abs().max(low.abs())
}

fn chart((right, xs): (&str, Vec<f64>), (up, ys): (&str, Vec<f64>)) -> Chart {
    let x = Axis::around(right, xs.iter().copied());
    let y = Axis::around(up, ys.iter().copied());
    let dots = Line::unnamed(COLOURS[0], Stroke::Dots, xs.into_iter().zip(ys).collect());
    Chart::new(&format!("{up} against {right}"), x, y, vec![dots])
}

/// The files of sections by paths that do not depend on the current folder.
pub(crate) fn absolute(sections: Vec<SectionFile>) -> std::io::Result<Vec<SectionFile>> {
    let absolute = |section: SectionFile| Ok(SectionFile { file: std::path::absolute(&section.file)?, ..section });
    sections.into_iter().map(absolute).collect()
}

/// The files.
pub(crate) fn paths(sections: &[SectionFile]) -> impl Iterator<Item = &Path> {
    sections.iter().map(|section| &*section.file)
}
