//! The command `fbint`: runs, compares and shows the models of this crate.
//!
//! An error is one line on stderr and exit code 2, and leaves no file behind. A reproduction that differs from what was
//! published is a result, with exit code 1.

mod command;

use std::error::Error;
use std::io;
use std::process::ExitCode;

use clap::Parser;
use command::Arguments;

/// The exit code for bad input of every kind, as is usual for a wrong command line.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Arguments::try_parse() {
        Ok(arguments) => command::execute(&arguments),
        Err(asked) if !asked.use_stderr() => asked.print().map(|()| ExitCode::SUCCESS).map_err(Into::into),
        Err(error) => Err(complaint(&error).into()),
    };
    match outcome {
        Ok(code) => code,
        // The reader of the output has seen enough, as in `fbint list | head -1`.
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            command::complain(&format!("error: {}", one_line(&command::message(&*error))));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Clap's message about the command line, without the usage and the pointer to the help.
fn complaint(error: &clap::Error) -> String {
    let message = error.render().to_string();
    let paragraphs = message.split("\n\n");
    let told: Vec<&str> =
        paragraphs.take_while(|text| !text.starts_with("Usage:") && !text.starts_with("For more")).collect();
    told.join("; ").trim_start_matches("error: ").to_owned()
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
