//! The help: its examples name the program, and a model that it has.

use std::env;
use std::path::Path;

use clap::{Command, Parser};

use crate::catalogue::Entry;

/// Reads the command line.
pub(crate) fn parse<A: Parser>(models: &[Entry]) -> Result<A, clap::Error> {
    let matches = with_examples(A::command(), &words(models)).try_get_matches()?;
    A::from_arg_matches(&matches)
}

/// The name by which this program was called.
pub(crate) fn program() -> String {
    let path = env::args_os().next().unwrap_or_default();
    Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names in examples: the first model, its first parameter, and the first entry of its state.
fn words(models: &[Entry]) -> [(&'static str, String); 4] {
    let first = models.first();
    let model = first.map(|entry| (entry.load)());
    let parameter = model.as_ref().and_then(|model| model.parameters().first().map(|parameter| parameter.0));
    let entry = model.as_ref().and_then(|model| model.state_names().first().copied());
    [
        ("{program}", program()),
        ("{model}", first.map_or("MODEL", |entry| &entry.name).to_owned()),
        ("{parameter}", parameter.unwrap_or("NAME").to_owned()),
        ("{entry}", entry.unwrap_or("NAME").to_owned()),
    ]
}

fn with_examples(command: Command, words: &[(&'static str, String)]) -> Command {
    let examples = command.get_after_help().map(ToString::to_string);
    let command = match examples {
        Some(text) => {
            command.after_help(words.iter().fold(text, |text, (placeholder, word)| text.replace(placeholder, word)))
        }
        None => command,
    };
    command.mut_subcommands(|command| with_examples(command, words))
}
