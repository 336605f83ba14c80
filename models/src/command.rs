//! The command `fbint`: its arguments, and one module for each thing it does.

mod arguments;
#[cfg_attr(not(feature = "png"), path = "command/no_bitmap.rs")]
mod bitmap;
mod checkpoint;
mod compare;
mod complaint;
mod ensemble;
mod figure;
mod interruption;
mod job;
mod list;
mod motion;
mod names;
mod nearest;
mod output;
mod progress;
mod record;
mod reproduce;
mod run;
mod scheme;
mod show;
mod start;
mod table;
mod tables;
mod task;
mod typography;
mod work_precision;

use std::error::Error;
use std::io;
use std::process::ExitCode;

pub(crate) use arguments::Arguments;
use arguments::Command;
pub(crate) use complaint::complain;
use models::catalogue::{MODELS, Model};

/// Does what the command line says.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    interruption::listen().map_err(|error| format!("cannot wait for signals: {error}"))?;
    match &arguments.command {
        None => compare::compare()?,
        Some(Command::List) => list::list()?,
        Some(Command::Run(run)) => return run::run(run),
        Some(Command::Ensemble(arguments)) => ensemble::ensemble(arguments)?,
        Some(Command::Resume(resume)) => return run::resume(resume),
        Some(Command::Show(show)) => show::show(show)?,
        Some(Command::Reproduce(reproduce)) => return reproduce::reproduce(reproduce),
        Some(Command::WorkPrecision(study)) => work_precision::work_precision(study)?,
        Some(Command::Tables(arguments)) => return tables::tables(arguments),
    }
    Ok(ExitCode::SUCCESS)
}

/// What an error says, in plain words also where the operating system words it.
pub(crate) fn message(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref::<io::Error>() {
        Some(error) => format!("cannot print: {}", output::reason(error, "no such file")),
        None => error.to_string(),
    }
}

/// The model of that name, with its default parameters.
fn load(name: &str) -> Result<Box<dyn Model>, Box<dyn Error>> {
    let names: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
    let index = nearest::find("model", name, &names)?;
    Ok((MODELS[index].load)())
}
