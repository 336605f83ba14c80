//! `fbint show`.

use std::error::Error;
use std::io::{Write, stdout};

use super::arguments::Show;
use super::load;

/// Prints what was derived for a model while this program was compiled.
pub(crate) fn show(arguments: &Show) -> Result<(), Box<dyn Error>> {
    let model = load(&arguments.model)?;
    let text = match &arguments.form {
        form if form.latex => model.derivation().to_owned(),
        form if form.rust => model.source().to_owned(),
        _ => model.equations().to_owned(),
    };
    writeln!(stdout(), "{}", text.trim_end())?;
    Ok(())
}
