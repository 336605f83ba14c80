//! The command `fbint`: its arguments, and one module for each thing it does.

mod arguments;
mod compare;
mod figure;
mod list;
mod nearest;
mod output;
mod progress;
#[expect(dead_code, reason = "the command that reproduces figures calls it")]
mod reproduce;
mod run;
mod show;
mod table;

use std::error::Error;

pub(crate) use arguments::Arguments;
use arguments::Command;
use models::catalogue::{MODELS, Model};

/// Does what the command line says.
pub(crate) fn execute(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    match &arguments.command {
        None => compare::compare(),
        Some(Command::List) => list::list(),
        Some(Command::Run(run)) => run::run(run),
        Some(Command::Show(show)) => show::show(show),
    }
}

/// The model of that name, with its default parameters.
fn load(name: &str) -> Result<Box<dyn Model>, Box<dyn Error>> {
    let names: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
    let index = nearest::find("model", name, &names)?;
    Ok((MODELS[index].load)())
}
