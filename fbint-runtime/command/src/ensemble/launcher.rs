//! The variables that a launcher of MPI programs, such as `mpirun`, sets in the environment of the processes that it begins.

use std::env;

/// Variables with the number of a process: of Open MPI, of whatever speaks PMIx, and of MPICH and its relatives.
const RANK: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];

/// Returns `true` if this process is the first of its program, or the only one. The others do not repeat what it says.
pub(crate) fn is_first() -> bool {
    number(&RANK).is_none_or(|rank| rank == 0)
}

/// The number in the first of these variables that has one.
pub(crate) fn number(names: &[&str]) -> Option<u32> {
    names.iter().find_map(|name| env::var(name).ok()?.parse().ok())
}
