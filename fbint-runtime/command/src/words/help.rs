//! The help: its examples name the program, and a model that it has.

use std::env;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, Parser};

use fbint_catalogue::Entry;

/// The names that options and methods have in other programs, and their names here.
const OTHER_NAMES: [(&str, &str); 19] = [
    ("--dt", "--step"),
    ("--h", "--step"),
    ("--step-size", "--step"),
    ("--tol", "--rtol"),
    ("--tolerance", "--rtol"),
    ("--t", "--until"),
    ("--time", "--until"),
    ("--end", "--until"),
    ("--t-end", "--until"),
    ("--duration", "--until"),
    ("--solver", "--method"),
    ("--integrator", "--method"),
    ("ode45", "dormand-prince"),
    ("verlet", "stormer-verlet"),
    ("leapfrog", "stormer-verlet"),
    ("radau", "rodas5p"),
    ("bdf", "rodas5p"),
    ("ode15s", "rodas5p"),
    ("ode23s", "rodas5p"),
];

/// Reads the command line.
pub(crate) fn parse<A: Parser>(models: &[Entry]) -> Result<A, clap::Error> {
    let matches = with_examples(A::command(), &words(models)).try_get_matches().map_err(with_the_name_here)?;
    A::from_arg_matches(&matches)
}

/// Offers the name that an option or a method has here.
fn with_the_name_here(mut error: clap::Error) -> clap::Error {
    // An option that is unknown is no value.
    error.remove(ContextKind::Suggested);
    for (given, suggested) in
        [(ContextKind::InvalidArg, ContextKind::SuggestedArg), (ContextKind::InvalidValue, ContextKind::SuggestedValue)]
    {
        let Some(ContextValue::String(name)) = error.get(given) else { continue };
        let (name, of) = (name.to_lowercase(), |here: &str| ContextValue::String(here.to_owned()));
        if let Some((_, here)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
            error.insert(suggested, of(here));
        }
    }
    error
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
