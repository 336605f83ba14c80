#![doc = include_str!("../README.md")]
//!
//! # Commands of one's own
//!
//! A program with more commands flattens [`Command`] into its subcommands and calls [`run`] instead of [`main!`]. The modules are what
//! such commands need: models behind one interface ([`catalogue`]), figures, animations, tables and files. `fbint`, the command of the
//! models that come with fbint, is made in this way. The runtime is [`runtime`].
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `macros` (default) | `vector![..]` and `matrix![..]` of nalgebra |
//! | `derive` | computer algebra shortens what is derived. Building with it runs Symbolica, which is free for non-commercial use only, for every crate in the build |
//! | `mpi` | [ensembles by several processes](#on-a-cluster), which takes an MPI library and libclang |
//! | `parquet` | tables as Parquet and not only CSV |
//! | `text` | models from files, which are derived when they are read, without computer algebra, and their exports to C, FMU and CasADi |
//! | `png` | figures as PNG, which takes fonts and a renderer; SVG needs neither |

mod ensemble;
mod figures;
mod files;
mod line;
mod models;
mod pages;
pub mod request;
mod runs;
mod words;

use std::error;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

pub use clap;
use clap::Parser;
use clap::error::ErrorKind;
pub use fbint_catalogue::{Controller, Model, scheme};
use fbint_catalogue::{Entry, printable};
/// The attribute that declares a model: [`runtime::feedback_system`], which finds the runtime in this crate.
pub use fbint_macros::feedback_system_of_command as feedback_system;
pub use fbint_runtime as runtime;
pub use fbint_runtime::{Error, Event, nalgebra};

use self::ensemble::launcher;
pub use self::figures::animation::Drawing;
pub use self::figures::bitmap::Painter;
pub use self::figures::{animation, figure, results};
use self::files::interruption;
pub use self::files::output;
pub use self::line::arguments::Command;
pub use self::models::{catalogue, equations};
use self::models::{file, list, show};
use self::pages::gallery;
pub use self::pages::work_precision;
pub use self::request::dense;
#[cfg(feature = "text")]
pub use self::request::export;
use self::words::complaint::{complain, of_command_line, one_line};
use self::words::help;
pub use self::words::{names, nearest, progress, typography};

/// The exit code for bad input of every kind, as is usual for a wrong command line.
const BAD_INPUT: u8 = 2;

/// Runs the command for these models, each a type that implements [`Model`], and returns its exit code.
///
/// ```no_run
/// # use fbint_command::{Error, Model, feedback_system};
/// # #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2)]
/// # pub struct Oscillator { pub m: f64, pub k: f64 }
/// # impl Default for Oscillator {
/// #     fn default() -> Self { Self { m: 1.0, k: 1.0 } }
/// # }
/// # impl Model for Oscillator {
/// #     fn start(&self) -> Result<OscillatorState, Error> { Ok(OscillatorState { q: 1.0, p: 0.0 }) }
/// # }
/// fn main() -> std::process::ExitCode {
///     fbint_command::main![Oscillator]
/// }
/// ```
#[macro_export]
macro_rules! main {
    ($($model:ty),+ $(,)?) => {
        $crate::run_alone(&$crate::models![$($model),+])
    };
}

/// The entries of these models, each a type that implements [`Model`], in the order in which they are listed.
#[macro_export]
macro_rules! models {
    ($($model:ty),* $(,)?) => {
        [$($crate::catalogue::Entry::of::<$model>()),*]
    };
}

/// The [declaration](catalogue::Declaration) of a model in a source file, by its path from the file that calls this.
#[macro_export]
macro_rules! declaration {
    ($file:expr) => {
        $crate::catalogue::Declaration {
            text: ::std::borrow::Cow::Borrowed(::std::include_str!($file)),
            package: ::std::env!("CARGO_MANIFEST_DIR"),
        }
    };
}

/// Integrates the mechanical systems of this program.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// The function that [`main!`] calls.
#[doc(hidden)]
pub fn run_alone(models: &[Entry]) -> ExitCode {
    run(models, |arguments: &Arguments| arguments.command.execute(models))
}

/// Reads the command line of a program with these models, does what `execute` makes of it, and returns the exit code.
///
/// An error is one line on stderr, but for mistakes in a file with models, and exit code 2. An interrupted command leaves no half-written
/// file behind.
pub fn run<A: Parser>(
    models: &[Entry],
    execute: impl FnOnce(&A) -> Result<ExitCode, Box<dyn error::Error>>,
) -> ExitCode {
    let outcome = match help::parse::<A>(models) {
        Ok(arguments) => catalogue::check_names(models).and_then(|()| {
            interruption::listen().map_err(|error| format!("cannot wait for signals: {error}"))?;
            execute(&arguments)
        }),
        // Without a subcommand, what there is.
        Err(asked) if asked.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            write!(io::stdout(), "{}", asked.render()).map(|()| ExitCode::SUCCESS).map_err(Into::into)
        }
        Err(asked) if !asked.use_stderr() => asked.print().map(|()| ExitCode::SUCCESS).map_err(Into::into),
        Err(error) => Err(of_command_line(&error).into()),
    };
    match outcome {
        Ok(code) => code,
        // The reader of the output has seen enough, as in `fbint list | head -1`.
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        // The first of several processes says it. A failure of another one would make the launcher end it before it has.
        Err(_) if !launcher::is_first() => ExitCode::SUCCESS,
        Err(error) => {
            let mistakes = file::mistakes(&*error, io::stderr().is_terminal());
            complain(&mistakes.unwrap_or_else(|| format!("error: {}", one_line(&printable(&message(&*error))))));
            ExitCode::from(BAD_INPUT)
        }
    }
}

impl Command {
    /// Does what the command line says, and returns the exit code.
    ///
    /// # Errors
    ///
    /// If the input is bad, a run fails or a file cannot be written.
    pub fn execute(&self, models: &[Entry]) -> Result<ExitCode, Box<dyn error::Error>> {
        match self {
            Self::List(arguments) => list::list(models, arguments)?,
            Self::Run(run) => return runs::run::run(models, run),
            Self::Ensemble(arguments) => return ensemble::ensemble(models, arguments),
            Self::Resume(resume) if resume.checkpoint.is_dir() => return ensemble::resume(models, resume),
            Self::Resume(resume) => return runs::run::resume(models, resume),
            Self::Show(show) => show::show(models, show)?,
            #[cfg(feature = "text")]
            Self::Export(arguments) => export::export(models, arguments)?,
            Self::Gallery(arguments) => gallery::gallery(models, arguments)?,
            Self::Report(arguments) => pages::page::write(models, arguments)?,
            Self::WorkPrecision(study) => work_precision::work_precision(models, study)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The message of an error, in plain words also where the operating system words it.
fn message(error: &(dyn error::Error + 'static)) -> String {
    match error.downcast_ref::<io::Error>() {
        Some(error) => format!("cannot print: {}", output::reason(error, "no such file")),
        None => error.to_string(),
    }
}

fn is_closed_pipe(error: &(dyn error::Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
