//! Messages on stderr.

use std::io::{Write, stderr};

/// Prints a line to stderr. That nobody can read it, as on a full disk, is not a failure of its own.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}
