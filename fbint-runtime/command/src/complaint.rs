//! Messages on stderr.

use std::io::{Write, stderr};

/// Prints a line to stderr. A write error, such as a full disk, is not a failure.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}
