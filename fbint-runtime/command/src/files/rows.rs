//! Rows of tables: columns and cells.

/// A column by its name and by what is in it.
#[derive(Clone, Debug)]
pub(crate) struct ColumnDefinition {
    pub(crate) name: String,
    pub(crate) kind: ColumnType,
}

/// The contents of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Count,
    Number,
    Text,
}

/// One row of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Count(u64),
    Number(f64),
    Text(&'a str),
    /// The number or text is missing.
    Nothing,
}

impl ColumnDefinition {
    pub(crate) fn count(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: ColumnType::Count }
    }

    pub(crate) fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: ColumnType::Number }
    }

    pub(crate) fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: ColumnType::Text }
    }
}
