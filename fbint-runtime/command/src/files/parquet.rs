//! Tables as Parquet, with the feature `parquet`.
//!
//! The only module that names the crate `parquet`. Columns are written without compression, and columns of numbers plainly, because hardly
//! two doubles of a trajectory are equal. Counts are never missing; numbers and texts may be. The metadata of the file hold the record of
//! the run, as JSON under the key `fbint`.

use std::io::{self, Write};
use std::mem::take;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::files::rows::{Cell, ColumnDefinition, ColumnType};

/// The key of the record among the metadata of a file.
pub(crate) const RECORD: &str = "fbint";
/// The number of rows that are held until they are written together.
const ROWS: usize = 1 << 16;

/// Rows on their way into a file.
pub(crate) struct Rows<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<ColumnValues>,
    /// The number of rows that are held.
    held: usize,
}

/// The values of a column that are held. A level is 1 where there is a value, and 0 where it is missing.
enum ColumnValues {
    Counts(Vec<i64>),
    Numbers { values: Vec<f64>, levels: Vec<i16> },
    Texts { values: Vec<ByteArray>, levels: Vec<i16> },
}

impl<W: Write + Send> Rows<W> {
    pub(crate) fn new(columns: &[ColumnDefinition], file: W) -> io::Result<Self> {
        let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>();
        let schema = fields.and_then(|fields| Type::group_type_builder("fbint").with_fields(fields).build());
        let properties = WriterProperties::builder()
            .set_created_by(concat!("fbint ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema.map_err(io_error)?), Arc::new(properties));
        let columns = columns.iter().map(|column| ColumnValues::of(column.kind)).collect();
        Ok(Self { writer: writer.map_err(io_error)?, columns, held: 0 })
    }

    pub(crate) fn push(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        for (values, cell) in self.columns.iter_mut().zip(row) {
            values.push(cell);
        }
        self.held += 1;
        if self.held == ROWS { self.write() } else { Ok(()) }
    }

    pub(crate) fn finish(mut self, record: &str) -> io::Result<W> {
        self.write()?;
        // What cannot be written any more is told as such here, and not by what follows.
        self.writer.flush()?;
        self.writer.append_key_value_metadata(KeyValue::new(RECORD.to_owned(), record.to_owned()));
        self.writer.into_inner().map_err(io_error)
    }

    /// Writes the rows that are held.
    fn write(&mut self) -> io::Result<()> {
        if take(&mut self.held) == 0 {
            return Ok(());
        }
        let mut write = || {
            let mut group = self.writer.next_row_group()?;
            for values in &mut self.columns {
                values.write(&mut group)?;
            }
            group.close().map(drop)
        };
        write().map_err(io_error)
    }
}

impl ColumnValues {
    fn of(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Count => Self::Counts(Vec::new()),
            ColumnType::Number => Self::Numbers { values: Vec::new(), levels: Vec::new() },
            ColumnType::Text => Self::Texts { values: Vec::new(), levels: Vec::new() },
        }
    }

    /// Adds a cell. One that is not of the column's kind is missing, and so is nothing.
    fn push(&mut self, cell: &Cell<'_>) {
        match (self, *cell) {
            (Self::Counts(values), Cell::Count(count)) => values.push(count as i64),
            (Self::Counts(values), _) => values.push(0),
            (Self::Numbers { values, levels }, Cell::Number(number)) => {
                values.push(number);
                levels.push(1);
            }
            (Self::Texts { values, levels }, Cell::Text(text)) => {
                values.push(text.into());
                levels.push(1);
            }
            (Self::Numbers { levels, .. } | Self::Texts { levels, .. }, _) => levels.push(0),
        }
    }

    /// Writes the values as the next column of a group of rows, and holds none any more.
    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        let missing = || ParquetError::General("more columns than the schema has".to_owned());
        let mut column = group.next_column()?.ok_or_else(missing)?;
        match self {
            Self::Counts(values) => column.typed::<Int64Type>().write_batch(&take(values), None, None)?,
            Self::Numbers { values, levels } => {
                column.typed::<DoubleType>().write_batch(&take(values), Some(&take(levels)), None)?
            }
            Self::Texts { values, levels } => {
                column.typed::<ByteArrayType>().write_batch(&take(values), Some(&take(levels)), None)?
            }
        };
        column.close()
    }
}

fn field(column: &ColumnDefinition) -> Result<Type, ParquetError> {
    let (physical, repetition) = match column.kind {
        ColumnType::Count => (Physical::INT64, Repetition::REQUIRED),
        ColumnType::Number => (Physical::DOUBLE, Repetition::OPTIONAL),
        ColumnType::Text => (Physical::BYTE_ARRAY, Repetition::OPTIONAL),
    };
    let builder = Type::primitive_type_builder(&column.name, physical).with_repetition(repetition);
    match column.kind {
        ColumnType::Text => {
            builder.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8).build()
        }
        ColumnType::Count | ColumnType::Number => builder.build(),
    }
}

/// The reason why rows could not be written, in the terms of the file.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error.to_string()),
        },
        error => io::Error::other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};
    use tempfile::tempfile;

    use super::*;

    /// More rows than are held, numbers of every kind, and cells that are missing.
    #[test]
    fn what_is_written_reads_back() {
        let columns =
            [ColumnDefinition::count("member"), ColumnDefinition::number("q[(0, 1)]"), ColumnDefinition::text("error")];
        let numbers = [0.1 + 0.2, -0.0, f64::NAN, f64::INFINITY, 5e-324, -1e300];
        let row = |index: usize| {
            let number = if index % 7 == 6 { Cell::Nothing } else { Cell::Number(numbers[index % 7]) };
            let text = if index % 7 == 6 { Cell::Text("blew up, \"twice\"\n") } else { Cell::Nothing };
            [Cell::Count(index as u64), number, text]
        };
        let count = ROWS + 1000;
        let mut rows = Rows::new(&columns, tempfile().unwrap()).unwrap();
        (0..count).for_each(|index| rows.push(&row(index)).unwrap());
        let reader = SerializedFileReader::new(rows.finish("{\"status\": 1}").unwrap()).unwrap();

        let metadata = reader.metadata();
        assert_eq!((metadata.num_row_groups(), metadata.file_metadata().num_rows()), (2, count as i64));
        let record = metadata.file_metadata().key_value_metadata().unwrap();
        assert_eq!((record[0].key.as_str(), record[0].value.as_deref()), (RECORD, Some("{\"status\": 1}")));
        let names: Vec<&str> =
            metadata.file_metadata().schema_descr().columns().iter().map(|column| column.name()).collect();
        assert_eq!(names, columns.each_ref().map(|column| &*column.name));
        let same = |field: &Field, cell: Cell<'_>| match (field, cell) {
            (Field::Long(read), Cell::Count(count)) => *read as u64 == count,
            (Field::Double(read), Cell::Number(number)) => read.to_bits() == number.to_bits(),
            (Field::Str(read), Cell::Text(text)) => read == text,
            (Field::Null, Cell::Nothing) => true,
            _ => false,
        };
        let read: Vec<Row> = reader.get_row_iter(None).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(read.len(), count);
        for (index, read) in read.iter().enumerate() {
            let cells = read.get_column_iter().map(|(_, field)| field).zip(row(index));
            assert!(cells.into_iter().all(|(field, cell)| same(field, cell)), "row {index}: {read}");
        }
    }
}
