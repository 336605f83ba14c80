//! The messages of processes that share an ensemble.

use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The pause of a waiting process.
const PAUSE: Duration = Duration::from_millis(1);

/// A rank's message to the leader.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RankMessage {
    /// It has nothing to do. If it had, the block is on disk.
    Idle,
    /// It cannot go on.
    Failed(String),
}

/// The leader's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum LeaderMessage {
    /// Integrate this block, and report.
    Integrate(u32),
    /// There is nothing more to do.
    End,
}

/// Waits for other processes without keeping a core busy.
pub(crate) fn wait_a_little() {
    sleep(PAUSE);
}
