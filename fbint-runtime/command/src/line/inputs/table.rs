//! Tables of an input over time: `held(table.csv)`, `linear(table.csv)`, or with their rows `linear(0: 1, 2.5: 3)`.

use std::cell::Cell;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use fbint_runtime::holds_at;

/// The numbers of an input at increasing times, the last one for ever.
#[derive(Clone)]
pub(super) struct Rows {
    times: Arc<[f64]>,
    values: Arc<[f64]>,
    /// `true` if it is linear between its rows, instead of held.
    is_linear: bool,
}

/// A table in a run.
#[derive(Clone)]
pub(super) struct Table {
    rows: Rows,
    /// The row before the step.
    current: Cell<usize>,
}

impl Table {
    pub(super) fn of(rows: &Rows) -> Self {
        Self { rows: rows.clone(), current: Cell::new(0) }
    }

    /// The number at a time of the step.
    pub(super) fn at(&self, time: f64) -> f64 {
        let (Rows { times, values, is_linear }, row) = (&self.rows, self.current.get());
        let first = values[row];
        match (times.get(row + 1), values.get(row + 1)) {
            (Some(until), Some(next)) if *is_linear => {
                first + (time - times[row]) / (until - times[row]) * (next - first)
            }
            _ => first,
        }
    }

    /// Begins a step; returns the time of the next row.
    pub(super) fn hold(&self, time: f64) -> f64 {
        let current = self.rows.times.partition_point(|from| holds_at(*from, time)).saturating_sub(1);
        self.current.set(current);
        self.rows.times.get(current + 1).copied().unwrap_or(f64::INFINITY)
    }

    /// Its rate of change in the step.
    pub(super) fn slope(&self) -> f64 {
        let (Rows { times, values, is_linear }, row) = (&self.rows, self.current.get());
        match (times.get(row + 1), values.get(row + 1)) {
            (Some(until), Some(next)) if *is_linear => (next - values[row]) / (until - times[row]),
            _ => 0.0,
        }
    }

    /// The time of the first row.
    pub(super) fn begin(&self) -> f64 {
        self.rows.times[0]
    }
}

impl Rows {
    /// The table that is written so, if one is; files are in a folder.
    pub(super) fn read(name: &str, source: &str, folder: &Path) -> Result<Option<Self>, Box<dyn Error>> {
        let (word, content) = match source.split_once('(').zip(source.strip_suffix(')')) {
            Some(((word @ ("held" | "linear"), content), _)) => (word, content.trim_end_matches(')').trim()),
            _ if source.ends_with(".csv") => ("held", source),
            _ => return Ok(None),
        };
        let rows = match content.ends_with(".csv") {
            true => rows_of_file(name, &folder.join(content))?,
            false => written_rows(name, content)?,
        };
        if let Some((_, time)) =
            rows.windows(2).map(|pair| (pair[0].0, pair[1].0)).find(|(before, time)| before >= time)
        {
            return Err(format!("--input {name}: times must increase, and {time:?} does not").into());
        }
        let (times, values): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        if times.is_empty() {
            return Err(format!("--input {name}: {content} has no rows").into());
        }
        let (times, values) = (times.into(), values.into());
        Ok(Some(Self { times, values, is_linear: word == "linear" }))
    }
}

/// A finite number.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// The rows `0: 1, 2.5: 3`.
fn written_rows(name: &str, written: &str) -> Result<Vec<(f64, f64)>, String> {
    let row = |row: &str| {
        let numbers = row.split_once(':').and_then(|(time, value)| number(time).zip(number(value)));
        numbers.ok_or_else(|| format!("--input {name}: `{}` is no row of a table, as `0.5: 2` is", row.trim()))
    };
    written.split(',').map(row).collect()
}

/// The rows of a file with the columns `t` and the name of the input.
fn rows_of_file(name: &str, path: &Path) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let place = path.display();
    let mut reader = csv::Reader::from_path(path).map_err(|error| format!("--input {name}: {place}: {error}"))?;
    let headers: Vec<String> = reader.headers()?.iter().map(|header| header.trim().to_owned()).collect();
    let column = |wanted: &str| {
        let found = headers.iter().position(|header| header == wanted);
        found.ok_or_else(|| format!("--input {name}: {place} has no column `{wanted}`: it has {}", headers.join(", ")))
    };
    let (time, value) = (column("t")?, column(name)?);
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let (record, line) = (record?, index + 2);
        let read = |column: usize| {
            let text = record.get(column).unwrap_or_default();
            number(text).ok_or_else(|| {
                format!("--input {name}: {place}, line {line}: `{}` is not a finite number", text.trim())
            })
        };
        let (time, value) = (read(time)?, read(value)?);
        if rows.last().is_some_and(|(before, _)| *before >= time) {
            return Err(
                format!("--input {name}: {place}, line {line}: times must increase, and {time:?} does not").into()
            );
        }
        rows.push((time, value));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(source: &str) -> Result<Option<Table>, String> {
        let rows = Rows::read("u", source, Path::new("")).map_err(|error| error.to_string())?;
        Ok(rows.as_ref().map(Table::of))
    }

    #[test]
    fn tables_are_held_or_linear() -> Result<(), String> {
        for (source, expected) in
            [("held(0: 1, 2: 5)", [1.0, 1.0, 5.0]), ("linear(0: 1, 2: 5, 3: -1)", [1.0, 3.0, 5.0])]
        {
            let table = table(source)?.ok_or(source)?;
            for (time, value) in [0.0, 1.0, 2.0].into_iter().zip(expected) {
                table.hold(time);
                assert_eq!(table.at(time), value, "{source} at {time}");
            }
        }
        assert!(table("2 * sin(3 * t)")?.is_none());
        for (source, message) in [
            ("held(0: 1, 0: 2)", "times must increase, and 0.0 does not"),
            ("linear(0)", "`0` is no row of a table"),
            ("held(0: x)", "`0: x` is no row of a table"),
        ] {
            assert!(table(source).err().is_some_and(|error| error.contains(message)), "{source}");
        }
        Ok(())
    }
}
