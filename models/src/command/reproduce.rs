//! `fbint reproduce`: reproduces figures and tables of the papers, and compares the results with what is expected.
//!
//! Each reproduction is a function that yields a [`Reproduction`] and touches no file; this module writes and prints it. A new
//! one takes one line in [`REPRODUCTIONS`].

mod cjp16;
mod cpv22;
mod cpv22_figure_6;
mod equations;
mod four_bar;
mod report;
mod result;
mod stroboscope;
mod trial;

use std::error::Error;
use std::fs;
use std::io::{self, Write, stdout};
use std::path::Path;
use std::process::ExitCode;

pub(super) use result::{Picture, Table};
use result::{Reproduction, Rule, Verdict};

use super::arguments::Reproduce;
use super::bitmap::Painter;
use super::nearest;
use super::output::Output;
use super::table::io_error;

/// The reproductions, in the order of `all`.
const REPRODUCTIONS: &[(&str, Recipe)] = &[
    ("cpv22-table", cpv22::table),
    ("cpv22-figures", cpv22::figures),
    ("cpv22-figure-6", cpv22_figure_6::figure),
    ("cjp16-rigid-body", cjp16::rigid_body),
    ("cjp16-kepler", cjp16::kepler),
    ("cjp16-perturbed-kepler", cjp16::perturbed_kepler),
    ("four-bar", four_bar::four_bar),
];

type Recipe = fn() -> Result<Reproduction, Box<dyn Error>>;

const ALL: &str = "all";
/// The exit code if a verdict fails.
const NOT_REPRODUCED: u8 = 1;

/// Carries out one or all reproductions, writes their files and prints their verdicts.
pub(crate) fn reproduce(arguments: &Reproduce) -> Result<ExitCode, Box<dyn Error>> {
    let recipes = chosen(&arguments.name)?;
    let folder = &arguments.out;
    let painter = arguments.png.then(Painter::new).transpose()?;
    prepare(folder)?;
    let mut reproductions = Vec::new();
    for (_, recipe) in recipes {
        let reproduction = recipe()?;
        let files = write(&reproduction.figures, &reproduction.tables, folder, painter.as_ref())?;
        print(&reproduction, &files, &mut stdout().lock())?;
        reproductions.push(reproduction);
    }
    if arguments.name == ALL {
        let report = report::write(&reproductions, folder)?;
        writeln!(stdout().lock(), "report: {}", report.display())?;
    }
    summarise(&reproductions, &mut stdout().lock())?;
    let all_hold = reproductions.iter().flat_map(|reproduction| &reproduction.verdicts).all(Verdict::holds);
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::from(NOT_REPRODUCED) })
}

fn chosen(name: &str) -> Result<&'static [(&'static str, Recipe)], Box<dyn Error>> {
    if name == ALL {
        return Ok(REPRODUCTIONS);
    }
    let names: Vec<&str> = REPRODUCTIONS.iter().map(|recipe| recipe.0).chain([ALL]).collect();
    let index = nearest::find("reproduction", name, &names)?;
    Ok(&REPRODUCTIONS[index..=index])
}

/// Creates the folder if necessary, and checks that files can be written into it before anything is computed.
pub(super) fn prepare(folder: &Path) -> Result<(), Box<dyn Error>> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let reason = match error.kind() {
                io::ErrorKind::NotFound => "its parent folder does not exist".to_owned(),
                io::ErrorKind::NotADirectory => "its parent is not a folder".to_owned(),
                kind => kind.to_string(),
            };
            Err(format!("cannot create the folder {}: {reason}", folder.display()).into())
        }
        _ => Output::at(&folder.join("fbint")).map(drop),
    }
}

/// Writes every figure and table, and returns a line for each file that says what it shows.
pub(super) fn write(
    figures: &[Picture],
    tables: &[Table],
    folder: &Path,
    painter: Option<&Painter>,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut files = Vec::new();
    for picture in figures {
        let name = format!("{}.svg", picture.name);
        Output::at(&folder.join(&name))?.write(|file| file.write_all(picture.svg.as_bytes()))?;
        if let Some(painter) = painter {
            let png = painter.png(&picture.svg)?;
            Output::at(&folder.join(format!("{}.png", picture.name)))?.write(|file| file.write_all(&png))?;
        }
        files.push(format!("{}: {}", folder.join(name).display(), picture.caption));
    }
    for table in tables {
        let name = format!("{}.csv", table.name);
        Output::at(&folder.join(&name))?.write(|file| write_csv(table, file))?;
        files.push(format!("{}: {}", folder.join(name).display(), table.caption));
    }
    Ok(files)
}

/// Writes a table as CSV. Numbers are the shortest text that reads back exactly; what was not run is left empty.
fn write_csv(table: &Table, file: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(&table.columns).map_err(io_error)?;
    for (name, numbers) in &table.rows {
        let numbers = numbers.iter().map(|number| if number.is_nan() { String::new() } else { format!("{number:?}") });
        writer.write_record(std::iter::once(name.clone()).chain(numbers)).map_err(io_error)?;
    }
    writer.flush()
}

fn print(reproduction: &Reproduction, files: &[String], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}\n", reproduction.name, reproduction.title)?;
    for table in &reproduction.tables {
        print_table(table, out)?;
    }
    for words in &reproduction.words {
        writeln!(out, "{words}")?;
    }
    print_verdicts(&reproduction.verdicts, out)?;
    for file in files {
        writeln!(out, "written: {file}")?;
    }
    writeln!(out)
}

pub(super) fn print_table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}:\n", table.caption)?;
    let numbers = |row: &(String, Vec<f64>)| row.1.iter().copied().map(short).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| [vec![row.0.clone()], numbers(row)].concat()).collect();
    print_aligned([table.columns.clone()].iter().chain(&rows), out)
}

fn print_verdicts(verdicts: &[Verdict], out: &mut dyn Write) -> io::Result<()> {
    if verdicts.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let head = ["", "expected", "obtained", "rule", "verdict"].map(str::to_owned).to_vec();
    let rows = verdicts.iter().map(|verdict| {
        let rule = match verdict.rule {
            Rule::Within(fraction) => format!("within {} %", rounded(100.0 * fraction)),
            Rule::AtMost => "at most".to_owned(),
            Rule::AtLeast => "at least".to_owned(),
        };
        let outcome = if verdict.holds() { "ok" } else { "NOT" };
        vec![verdict.what.clone(), short(verdict.expected), short(verdict.obtained), rule, outcome.to_owned()]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    print_aligned([head].iter().chain(&rows), out)
}

/// Prints rows with the first column flush left and the others flush right, and an empty line after them.
fn print_aligned<'a>(rows: impl Iterator<Item = &'a Vec<String>> + Clone, out: &mut dyn Write) -> io::Result<()> {
    let columns = rows.clone().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.clone().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        for (column, (text, &width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => write!(out, "{text:width$}")?,
                _ => write!(out, "  {text:>width$}")?,
            }
        }
        writeln!(out)?;
    }
    writeln!(out)
}

/// Prints how many verdicts hold, and each verdict that does not.
fn summarise(reproductions: &[Reproduction], out: &mut dyn Write) -> io::Result<()> {
    let verdicts = || reproductions.iter().flat_map(|reproduction| &reproduction.verdicts);
    let failed = verdicts().filter(|verdict| !verdict.holds()).count();
    writeln!(out, "{} of {} verdicts ok", verdicts().count() - failed, verdicts().count())?;
    for reproduction in reproductions {
        for verdict in reproduction.verdicts.iter().filter(|verdict| !verdict.holds()) {
            let (expected, obtained) = (short(verdict.expected), short(verdict.obtained));
            writeln!(out, "NOT: {}, {}: expected {expected}, obtained {obtained}", reproduction.name, verdict.what)?;
        }
    }
    Ok(())
}

/// A number with three digits; a whole number in full.
pub(super) fn short(number: f64) -> String {
    match number {
        _ if number.is_nan() => "-".to_owned(),
        _ if number.fract() == 0.0 && number.abs() < 1e7 => format!("{number}"),
        _ if (0.1..1000.0).contains(&number.abs()) => format!("{number:.3}"),
        _ => format!("{number:.2e}"),
    }
}

/// A number rounded to one decimal.
fn rounded(number: f64) -> f64 {
    (10.0 * number).round() / 10.0
}
