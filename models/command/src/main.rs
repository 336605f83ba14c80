//! The command `fbint`: what `fbint-command` gives every crate of models, and with it the reproductions and the tables, which are
//! about the models of `models`.
//!
//! An error is one line on stderr and exit code 2, and leaves no file behind. A reproduction that differs from what was
//! published is a result, with exit code 1.

mod reproduce;
mod tables;

use std::error::Error;
use std::process::ExitCode;

use fbint_command::clap::{self, Parser, Subcommand};

use reproduce::Reproduce;
use tables::Tables;

/// Integrates mechanical systems: the models of this program, and models that files declare.
#[derive(Parser, Debug)]
#[command(name = "fbint", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  fbint list                                         the models, with their parameters and shapes
  fbint run four-bar --until 30 --plot four-bar.svg  integrate a model and draw its motion
  fbint ensemble kepler --vary mu=normal:1,0.01 --members 100 --until 1  integrate many members
  fbint show spherical-pendulum --equations          the derived equations
  fbint resume run.checkpoint                        resume a run that was interrupted
  fbint reproduce cpv22-table --out out              reproduce CPV22's table, with the published numbers
  fbint work-precision four-bar                      error against work for every method
  fbint gallery --out gallery                        animate every model
  fbint run --help                                   every option of a run, with examples";

#[derive(Subcommand, Debug)]
enum Command {
    #[command(flatten)]
    OfEveryModel(Box<fbint_command::Command>),
    /// Reproduce figures and tables of the papers, and compare them with the published numbers.
    Reproduce(Reproduce),
    /// Compute the tables of README.md and BENCHMARKS.md again.
    #[command(hide = true)]
    Tables(Tables),
}

fn main() -> ExitCode {
    fbint_command::run(&catalogue::all(), execute)
}

fn execute(Arguments { command }: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::OfEveryModel(command) => command.execute(&catalogue::all()),
        Command::Reproduce(arguments) => reproduce::reproduce(arguments),
        Command::Tables(arguments) => tables::tables(arguments),
    }
}
