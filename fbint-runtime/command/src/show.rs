//! `show`.

use std::error::Error;
use std::io::{Write, stdout};

use crate::arguments::Show;
use crate::catalogue::{Entry, load};

/// Prints what was derived for a model while this program was compiled.
pub(crate) fn show(models: &[Entry], arguments: &Show) -> Result<(), Box<dyn Error>> {
    let model = load(models, &arguments.model)?;
    let text = match &arguments.form {
        form if form.latex => model.derivation().to_owned(),
        form if form.rust => model.source().to_owned(),
        _ => model.equations().to_owned(),
    };
    writeln!(stdout(), "{}", text.trim_end())?;
    Ok(())
}
