//! One run: its course, its record, and what is made of the result.

pub(crate) mod checkpoint;
pub(crate) mod job;
pub(crate) mod pictures;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod tally;
pub(crate) mod task;
