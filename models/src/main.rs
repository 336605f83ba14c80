//! The command `fbint`: runs, compares and shows the models of this crate.
//!
//! Whatever goes wrong is one line on stderr and exit code 2, and leaves no file behind.

mod command;

use std::process::ExitCode;

use clap::Parser;
use command::Arguments;

/// For bad input of every kind, as clap has it for the command line itself.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    match command::execute(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", one_line(&error.to_string()));
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
