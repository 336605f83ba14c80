//! `show`.

use std::error::Error;
use std::io::{Write, stdout};

use crate::line::arguments::ShowArguments;
use crate::models::catalogue::load;
use fbint_catalogue::Entry;

/// Prints what was derived for a model while this program was compiled.
pub(crate) fn show(models: &[Entry], arguments: &ShowArguments) -> Result<(), Box<dyn Error>> {
    let model = load(models, &arguments.model)?;
    let text = match &arguments.form {
        form if form.latex => model.flat().latex().to_owned(),
        form if form.rust => model.flat().source().to_owned(),
        form if form.summary => {
            let flat = model.flat();
            flat.facts().short_form_of(flat.source(), flat.equations()).to_string()
        }
        form if form.conserved => conserved(model.flat().equations()),
        _ => model.flat().equations().to_owned(),
    };
    writeln!(stdout(), "{}", text.trim_end())?;
    Ok(())
}

/// The sections of a derivation that say what is conserved: headings, each with lines that are indented.
fn conserved(equations: &str) -> String {
    let mut is_meant = false;
    let lines = equations.lines().filter(|line| {
        if !line.starts_with(' ') {
            is_meant = line.starts_with("Conser");
        }
        is_meant
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}
