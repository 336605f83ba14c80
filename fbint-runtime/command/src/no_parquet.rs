//! The stand-in for tables as Parquet without the feature `parquet`: a refusal.

use std::convert::Infallible;
use std::error::Error;
use std::io::{self, Write};
use std::marker::PhantomData;

use crate::help::program;
use crate::table::{Cell, ColumnDefinition};

/// This program cannot write Parquet.
///
/// # Errors
///
/// Always.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    let program = program();
    Err(format!(
        "cannot write Parquet: {program} was built without the feature `parquet` of fbint-command; build it with \
         `--features fbint-command/parquet`, or take .csv"
    )
    .into())
}

/// Rows on their way into a file; no value of it exists.
pub(crate) struct Rows<W: Write + Send>(Infallible, PhantomData<W>);

impl<W: Write + Send> Rows<W> {
    /// No rows.
    pub(crate) fn new(_: &[ColumnDefinition], _: W) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called.
    pub(crate) fn push(&mut self, _: &[Cell<'_>]) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub(crate) fn finish(self, _: &str) -> io::Result<W> {
        match self.0 {}
    }
}
