//! The stand-in for processes that share an ensemble, without the feature `mpi`: this one alone.

use std::error::Error;

use crate::ensemble::share::{LeaderMessage, RankMessage};
use crate::help::program;
use crate::launcher;

/// Variables with the number of processes that a launcher has begun: Open MPI, and MPICH and its relatives.
const SIZE: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// This process.
pub(crate) struct Ranks(());

impl Ranks {
    /// A process alone.
    ///
    /// # Errors
    ///
    /// If `mpirun` has begun several, which would all do the same work.
    pub(crate) fn join() -> Result<Self, Box<dyn Error>> {
        match (launcher::number(&SIZE).unwrap_or(1), program()) {
            (0 | 1, _) => Ok(Self(())),
            (count, program) => Err(format!(
                "{count} processes cannot share the ensemble, because {program} was built without the feature `mpi` of \
                 fbint-command: build it with `--features fbint-command/mpi`, or begin one process"
            )
            .into()),
        }
    }

    pub(crate) fn count(&self) -> u32 {
        1
    }

    pub(crate) fn number(&self) -> u32 {
        0
    }

    pub(crate) fn is_leader(&self) -> bool {
        true
    }

    /// None: this process is alone.
    pub(crate) fn next_message(&self) -> Option<(u32, RankMessage)> {
        None
    }

    /// Does nothing: no process listens.
    pub(crate) fn answer(&self, _: u32, _: &LeaderMessage) {}

    /// Always `End`: no other process leads.
    pub(crate) fn ask(&self, _: &RankMessage) -> LeaderMessage {
        LeaderMessage::End
    }

    pub(crate) fn part<T>(self, outcome: Result<T, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
        outcome
    }
}
