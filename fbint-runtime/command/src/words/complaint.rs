//! Messages on stderr.

use std::io::{Write, stderr};

/// Prints a line to stderr. A write error, such as a full disk, is not a failure.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// A message without line breaks.
pub(crate) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Clap's message about the command line, without the usage and the pointer to the help.
pub(crate) fn of_command_line(error: &clap::Error) -> String {
    let message = error.render().to_string();
    let paragraphs = message.split("\n\n");
    let told: Vec<&str> =
        paragraphs.take_while(|text| !text.starts_with("Usage:") && !text.starts_with("For more")).collect();
    told.join("; ").trim_start_matches("error: ").to_owned()
}
