//! `list`.

use std::error::Error;
use std::io::{Write, stdout};

use crate::catalogue::Entry;
use crate::help::program;
use crate::names::shapes;

/// Prints every model with its parameters, its state and its integrals.
pub(crate) fn list(models: &[Entry]) -> Result<(), Box<dyn Error>> {
    let mut out = stdout().lock();
    let program = program();
    for entry in models {
        write!(out, "{}", description(entry))?;
    }
    writeln!(
        out,
        "\nq: [3] has the entries q[0] to q[2], and r: [3, 2] has r[(row, column)], as r[(2, 1)].\n\
         Run a model with `{program} run MODEL`, see its equations with `{program} show MODEL`."
    )?;
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
        shapes(&model.state_names()),
        shapes(&model.integral_names()),
    )
}
