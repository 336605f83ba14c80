//! `list`.

use std::error::Error;
use std::io::{Write, stdout};

use crate::line::arguments::ListArguments;
use crate::models::catalogue::find;
use crate::models::file::{InFile, model_file};
use crate::words::help::program;
use crate::words::names::{shapes, shapes_of};
use fbint_catalogue::{Entry, printable};

/// Prints every model with its parameters, its state, its integrals and its inputs.
pub(crate) fn list(models: &[Entry], arguments: &ListArguments) -> Result<(), Box<dyn Error>> {
    let in_file;
    let (models, prefix) = match &arguments.model {
        None => (models, String::new()),
        Some(name) => match InFile::named(name) {
            Some(file) => {
                in_file = file.entries()?;
                (&in_file[..], printable(&format!("{}:", model_file(name))))
            }
            None => {
                let index = find(models, name)?;
                (&models[index..=index], String::new())
            }
        },
    };
    let mut out = stdout().lock();
    let program = program();
    for entry in models {
        write!(out, "{}", description(entry))?;
    }
    writeln!(
        out,
        "\nq: [3] has the entries q[0] to q[2], and r: [3, 2] has r[(row, column)], as r[(2, 1)].\n\
         Run a model with `{program} run {prefix}MODEL`, see its equations with `{program} show {prefix}MODEL`."
    )?;
    Ok(())
}

fn description(entry: &Entry) -> String {
    let model = (entry.load)();
    let parameter = |(name, value): (&str, f64)| match value {
        value if value.is_nan() => format!("{name} (no default)"),
        value => format!("{name} = {value}"),
    };
    let parameters: Vec<String> = model.parameters().into_iter().map(parameter).collect();
    let mut text = format!(
        "{}\n    {}\n    parameters  {}\n    state       {}\n    integrals   {}\n",
        entry.name,
        entry.summary,
        parameters.join(", "),
        shapes(model.facts().variables),
        shapes(model.facts().declared_integrals),
    );
    let inputs = model.facts().input_names;
    if !inputs.is_empty() {
        let open = model.open_inputs();
        let source = match open.len() {
            0 => "given by the model".to_owned(),
            count if count == inputs.len() => "0: nothing gives them".to_owned(),
            _ => format!(
                "given by the model, but for {}, which nothing gives",
                shapes_of(&open, model.facts().inputs, inputs)
            ),
        };
        text += &format!("    inputs      {} ({source})\n", shapes(model.facts().inputs));
    }
    text
}
