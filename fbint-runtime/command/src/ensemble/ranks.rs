//! The processes that share an ensemble: those that a launcher of MPI has begun with the feature `mpi`, and this one alone without it.

use std::error::Error;

use crate::ensemble::messages::{LeaderMessage, RankMessage};
#[cfg(feature = "mpi")]
use crate::ensemble::world::World;
#[cfg(not(feature = "mpi"))]
use crate::{ensemble::launcher, words::help::program};

/// Variables with the number of processes that a launcher has begun: Open MPI, and MPICH and its relatives.
#[cfg(not(feature = "mpi"))]
const SIZE: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// This process among them.
pub(crate) enum Ranks {
    /// There is no other.
    #[cfg(not(feature = "mpi"))]
    Alone,
    /// It is in touch with the others.
    #[cfg(feature = "mpi")]
    Several(World),
}

impl Ranks {
    /// Joins the processes that `mpirun`, or another launcher, has begun together.
    ///
    /// # Errors
    ///
    /// If MPI cannot be initialised.
    #[cfg(feature = "mpi")]
    pub(crate) fn join() -> Result<Self, Box<dyn Error>> {
        World::join().map(Self::Several)
    }

    /// A process alone.
    ///
    /// # Errors
    ///
    /// If `mpirun` has begun several, which would all do the same work.
    #[cfg(not(feature = "mpi"))]
    pub(crate) fn join() -> Result<Self, Box<dyn Error>> {
        match (launcher::number(&SIZE).unwrap_or(1), program()) {
            (0 | 1, _) => Ok(Self::Alone),
            (count, program) => Err(format!(
                "{count} processes cannot share the ensemble, because {program} was built without the feature `mpi` of \
                 fbint-command: build it with `--features fbint-command/mpi`, or begin one process"
            )
            .into()),
        }
    }

    pub(crate) fn count(&self) -> u32 {
        match self {
            #[cfg(not(feature = "mpi"))]
            Self::Alone => 1,
            #[cfg(feature = "mpi")]
            Self::Several(world) => world.count(),
        }
    }

    pub(crate) fn number(&self) -> u32 {
        match self {
            #[cfg(not(feature = "mpi"))]
            Self::Alone => 0,
            #[cfg(feature = "mpi")]
            Self::Several(world) => world.number(),
        }
    }

    pub(crate) fn is_leader(&self) -> bool {
        self.number() == 0
    }

    /// The next report of a rank to the leader, if one has come, and the rank.
    pub(crate) fn next_message(&self) -> Option<(u32, RankMessage)> {
        match self {
            #[cfg(not(feature = "mpi"))]
            Self::Alone => None,
            #[cfg(feature = "mpi")]
            Self::Several(world) => world.next_message(),
        }
    }

    /// The leader's answer to the report of a rank.
    pub(crate) fn answer(&self, rank: u32, order: &LeaderMessage) {
        match self {
            #[cfg(not(feature = "mpi"))]
            Self::Alone => {
                let _ = (rank, order);
            }
            #[cfg(feature = "mpi")]
            Self::Several(world) => world.answer(rank, order),
        }
    }

    /// Reports to the leader, and waits for its answer. No other process leads where this one is alone.
    pub(crate) fn ask(&self, report: &RankMessage) -> LeaderMessage {
        match self {
            #[cfg(not(feature = "mpi"))]
            Self::Alone => {
                let _ = report;
                LeaderMessage::End
            }
            #[cfg(feature = "mpi")]
            Self::Several(world) => world.ask(report),
        }
    }

    /// Parts from the others in good order, whatever became of the ensemble in this process.
    pub(crate) fn part<T>(self, outcome: Result<T, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
        match self {
            #[cfg(not(feature = "mpi"))]
            Self::Alone => outcome,
            #[cfg(feature = "mpi")]
            Self::Several(world) => world.part(outcome),
        }
    }
}
