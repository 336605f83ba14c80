//! A table of the samples of members.

use std::error::Error;

use crate::ensemble::members::{Members, row_of_sample};
use crate::files::output::WholeDraft;
use crate::files::table::{TableDraft, TableFile};
use crate::words::names::clock;
use fbint_catalogue::Sample;

/// Samples on their way into a table.
pub(super) struct SampleTable {
    table: TableDraft,
    /// The entry of the state that is the time.
    clock: Option<usize>,
    /// Why the samples of a member could not be written.
    failure: Option<String>,
}

impl SampleTable {
    pub(super) fn begin(file: &TableFile, members: &Members<'_>) -> Result<Self, Box<dyn Error>> {
        let table = file.begin(&members.columns_of_samples())?;
        Ok(Self { table, clock: clock(members.model()), failure: None })
    }

    /// Writes the samples of a member. After a failure it writes nothing.
    pub(super) fn see(&mut self, member: u32, samples: &[Sample]) {
        if self.failure.is_none() {
            let mut rows = samples.iter().map(|sample| row_of_sample(member, sample, self.clock));
            self.failure = rows.find_map(|row| self.table.push(&row).err()).map(|error| error.to_string());
        }
    }

    /// Refuses samples that could not be written.
    pub(super) fn check(&mut self) -> Result<(), Box<dyn Error>> {
        self.failure.take().map_or(Ok(()), |failure| Err(failure.into()))
    }

    pub(super) fn finish(mut self, record: &str) -> Result<WholeDraft, Box<dyn Error>> {
        self.check()?;
        self.table.finish(record)
    }
}
