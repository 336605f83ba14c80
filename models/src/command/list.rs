//! `fbint list`.

use std::error::Error;
use std::io::{Write, stdout};

use models::catalogue::{Entry, MODELS};

/// Prints every model with what can be set and what is watched.
pub(crate) fn list() -> Result<(), Box<dyn Error>> {
    let mut out = stdout().lock();
    for entry in MODELS {
        write!(out, "{}", description(entry))?;
    }
    writeln!(out, "\nRun one with `fbint run MODEL`, see its equations with `fbint show MODEL`.")?;
    Ok(())
}

fn description(entry: &Entry) -> String {
    let model = (entry.load)();
    let parameters: Vec<String> = model.parameters().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!(
        "{}\n    {}\n    parameters  {}\n    state       {}\n    integrals   {}\n",
        entry.name,
        entry.summary,
        parameters.join(", "),
        model.state_names().join(", "),
        model.integral_names().join(", "),
    )
}
