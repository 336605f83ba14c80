//! Tables in files: rows of numbers, counts and texts, as CSV or as Parquet.
//!
//! In CSV, numbers are the shortest text that reads back exactly (at most 17 digits). In Parquet they are the doubles themselves.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use crate::files::output::{Draft, OutputFile, Replace, WholeDraft, has_ending, with_ending};
#[cfg(feature = "parquet")]
use crate::files::parquet;
use crate::files::rows::{Cell, ColumnDefinition};
#[cfg(not(feature = "parquet"))]
use crate::words::help::program;

/// The place of a table, which was writable when the command started.
#[derive(Clone)]
pub(crate) struct TableFile {
    output: OutputFile,
    format: Format,
}

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// Parquet.
    ///
    /// # Errors
    ///
    /// If this program cannot write it.
    #[cfg(feature = "parquet")]
    pub(crate) fn parquet() -> Result<Self, Box<dyn Error>> {
        Ok(Self::Parquet)
    }

    /// Parquet, which this program cannot write.
    #[cfg(not(feature = "parquet"))]
    pub(crate) fn parquet() -> Result<Self, Box<dyn Error>> {
        let program = program();
        Err(format!(
            "cannot write Parquet: {program} was built without the feature `parquet` of fbint-command; build it with \
             `--features fbint-command/parquet`, or take .csv"
        )
        .into())
    }
}

impl TableFile {
    /// Checks that a table can be written at the path that an option gives: its ending decides the format.
    ///
    /// # Errors
    ///
    /// If the ending is another one, if this program cannot write Parquet, or if nothing can be written there.
    pub(crate) fn at(option: &str, path: &Path, replace: Replace) -> Result<Self, Box<dyn Error>> {
        let path = with_ending(option, path, &["csv", "parquet"])?;
        let format = if has_ending(path, "parquet") { Format::parquet()? } else { Format::Csv };
        Ok(Self { output: OutputFile::at(path, replace)?, format })
    }

    /// A part of a table that is a folder.
    pub(crate) fn of_part(output: OutputFile) -> Result<Self, Box<dyn Error>> {
        Ok(Self { output, format: Format::parquet()? })
    }

    pub(crate) fn output(&self) -> &OutputFile {
        &self.output
    }

    /// See [`OutputFile::drafted_in`].
    pub(crate) fn drafted_in(self, folder: &Path) -> Self {
        Self { output: self.output.drafted_in(folder), ..self }
    }

    /// Begins to write a table with these columns.
    pub(crate) fn begin(&self, columns: &[ColumnDefinition]) -> Result<TableDraft, Box<dyn Error>> {
        let begin = || TableWriter::new(self.format, columns, self.output.begin()?);
        Ok(TableDraft { table: begin().map_err(|error| self.output.refusal(&error))?, output: self.output.clone() })
    }
}

/// A table that is not whole yet, and vanishes unless it is published.
pub(crate) struct TableDraft {
    table: TableWriter<Draft>,
    output: OutputFile,
}

impl TableDraft {
    /// Adds a row.
    pub(crate) fn push(&mut self, row: &[Cell<'_>]) -> Result<(), Box<dyn Error>> {
        self.table.push(row).map_err(|error| self.output.refusal(&error))
    }

    /// Ends the table. A file that has room for it holds the record of the run, as JSON.
    pub(crate) fn finish(self, record: &str) -> Result<WholeDraft, Box<dyn Error>> {
        let finish = || self.table.finish(record)?.finish();
        finish().map_err(|error| self.output.refusal(&error))
    }
}

/// Rows on their way into a file.
pub(crate) enum TableWriter<W: Write + Send> {
    Csv(Box<csv::Writer<W>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Rows<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    pub(crate) fn new(format: Format, columns: &[ColumnDefinition], file: W) -> io::Result<Self> {
        match format {
            Format::Csv => {
                let mut rows = csv::Writer::from_writer(file);
                rows.write_record(columns.iter().map(|column| &column.name)).map_err(io_error)?;
                Ok(Self::Csv(Box::new(rows)))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => Ok(Self::Parquet(Box::new(parquet::Rows::new(columns, file)?))),
        }
    }

    /// Adds a row, which has a cell for every column.
    pub(crate) fn push(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        match self {
            Self::Csv(rows) => {
                let mut text = Vec::new();
                for cell in row {
                    text.clear();
                    match cell {
                        Cell::Count(count) => write!(text, "{count}")?,
                        Cell::Number(number) => write!(text, "{number:?}")?,
                        Cell::Text(words) => text.extend_from_slice(words.as_bytes()),
                        Cell::Nothing => {}
                    }
                    rows.write_field(&text).map_err(io_error)?;
                }
                rows.write_record(None::<&[u8]>).map_err(io_error)
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(rows) => rows.push(row),
        }
    }

    /// Ends the table; a Parquet file gets the record of the run among its metadata.
    pub(crate) fn finish(self, record: &str) -> io::Result<W> {
        #[cfg(not(feature = "parquet"))]
        let _ = record;
        match self {
            Self::Csv(mut rows) => {
                rows.flush()?;
                rows.into_inner().map_err(|error| io::Error::other(error.to_string()))
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(rows) => rows.finish(record),
        }
    }
}

/// The reason why a row could not be written. A conversion by `?` would hide what kind of error it is.
pub(crate) fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::output::reason;

    /// A full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_named_as_such() {
        for format in [Ok(Format::Csv), Format::parquet()].into_iter().flatten() {
            for rows in [1, 100_000] {
                let write = || {
                    let mut table = TableWriter::new(
                        format,
                        &[ColumnDefinition::number("t"), ColumnDefinition::number("q")],
                        Full,
                    )?;
                    for row in 0..rows {
                        table.push(&[Cell::Number(f64::from(row)), Cell::Number(0.5)])?;
                    }
                    table.finish("{}").map(drop)
                };
                let error = write().expect_err("nothing fits");
                assert_eq!(reason(&error, ""), "no space left on the device", "{format:?}");
            }
        }
    }
}
