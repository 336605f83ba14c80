//! Figures and tables of a study: how they are written into a folder, and printed.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::figures::bitmap::Painter;
use crate::files::output::{OutputFile, Replace, check_folder, marked, reason};
use crate::files::table::io_error;

/// A figure as SVG.
pub struct Picture {
    /// The file's name without its ending.
    pub name: String,
    /// The contents of the figure.
    pub caption: String,
    /// A complete SVG document.
    pub svg: String,
}

/// A table of numbers; the first column names the rows.
pub struct ResultTable {
    /// The file's name without its ending.
    pub name: String,
    /// The contents of the table, with units.
    pub caption: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// The rows; a number is written in full to CSV and with three digits elsewhere.
    pub rows: Vec<(String, Vec<f64>)>,
}

/// Creates the folder if necessary, and checks that files can be written into it before anything is computed.
///
/// # Errors
///
/// If they cannot.
pub fn prepare(folder: &Path) -> Result<(), Box<dyn Error>> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let reason = reason(&error, "its parent folder does not exist");
            Err(format!("cannot create the folder {}: {reason}", folder.display()).into())
        }
        Err(_) if !folder.is_dir() => Err(format!("cannot write into {}: it is not a folder", folder.display()).into()),
        _ => check_folder(folder),
    }
}

/// Writes every figure and table, replaces the files of another study, or any files if the user says so, and returns a line for each file
/// that says what it shows.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(
    figures: &[Picture],
    tables: &[ResultTable],
    folder: &Path,
    painter: Option<&Painter>,
    replace: Replace,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut files = Vec::new();
    for picture in figures {
        let name = format!("{}.svg", picture.name);
        let svg = marked(&picture.svg);
        OutputFile::at(&folder.join(&name), replace)?.write(|file| file.write_all(svg.as_bytes()))?;
        if let Some(painter) = painter {
            let png = painter.png(&picture.svg)?;
            let path = folder.join(format!("{}.png", picture.name));
            OutputFile::at(&path, replace)?.write(|file| file.write_all(&png))?;
        }
        files.push(format!("{}: {}", folder.join(name).display(), picture.caption));
    }
    for table in tables {
        let name = format!("{}.csv", table.name);
        let mut header = Vec::new();
        csv_of(&table.columns, &[], &mut header)?;
        let header = String::from_utf8_lossy(&header);
        let output = OutputFile::of_table(&folder.join(&name), header.trim_end(), replace)?;
        output.write(|file| csv_of(&table.columns, &table.rows, file))?;
        files.push(format!("{}: {}", folder.join(name).display(), table.caption));
    }
    Ok(files)
}

/// Writes columns and rows as CSV. Numbers are the shortest text that reads back exactly; what was not run is left empty.
fn csv_of(columns: &[String], rows: &[(String, Vec<f64>)], file: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(columns).map_err(io_error)?;
    for (name, numbers) in rows {
        let numbers = numbers.iter().map(|number| if number.is_nan() { String::new() } else { format!("{number:?}") });
        writer.write_record(std::iter::once(name.clone()).chain(numbers)).map_err(io_error)?;
    }
    writer.flush()
}

impl ResultTable {
    /// Prints the caption and the rows, with three digits of each number.
    ///
    /// # Errors
    ///
    /// If nothing can be written to `out`.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}:\n", self.caption)?;
        let numbers = |row: &(String, Vec<f64>)| row.1.iter().copied().map(short).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| [vec![row.0.clone()], numbers(row)].concat()).collect();
        print_aligned([self.columns.clone()].iter().chain(&rows), out)
    }
}

/// Prints rows with the first column flush left and the others flush right, and an empty line after them.
///
/// # Errors
///
/// If nothing can be written to `out`.
pub fn print_aligned<'a>(rows: impl Iterator<Item = &'a Vec<String>> + Clone, out: &mut dyn Write) -> io::Result<()> {
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

/// A number with three digits; a whole number in full.
pub fn short(number: f64) -> String {
    match number {
        _ if number.is_nan() => "-".to_owned(),
        _ if number.fract() == 0.0 && number.abs() < 1e7 => format!("{number}"),
        _ if (0.1..1000.0).contains(&number.abs()) => format!("{number:.3}"),
        _ => format!("{number:.2e}"),
    }
}
