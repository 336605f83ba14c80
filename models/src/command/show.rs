//! `fbint show`.

use std::error::Error;
use std::io::{Write, stdout};

use fbint_runtime::Pass;

use super::arguments::Show;
use super::load;

/// Prints what was derived for a model while this program was compiled.
pub(crate) fn show(arguments: &Show) -> Result<(), Box<dyn Error>> {
    let model = load(&arguments.model)?;
    let text = match &arguments.form {
        form if form.latex => model.derivation().to_owned(),
        form if form.rust => model.source().to_owned(),
        form if form.passes => passes_table(model.passes()),
        _ => model.equations().to_owned(),
    };
    writeln!(stdout(), "{}", text.trim_end())?;
    Ok(())
}

/// A row for each pass with what the feedback field costs after it, and the floating-point operations, fused ones as two.
fn passes_table(passes: &[Pass]) -> String {
    let columns = ["add", "mul", "fused", "div", "sqrt", "call", "instr", "live", "flops"];
    let width = passes.iter().map(|pass| pass.name.len()).max().unwrap_or(0);
    let header: String = columns.iter().map(|column| format!("{column:>7}")).collect();
    let mut table = format!("{:width$}{header}\n", "after");
    for pass in passes {
        let operations = &pass.operations;
        let numbers = [
            operations.additions,
            operations.multiplications,
            operations.fused,
            operations.divisions,
            pass.square_roots,
            pass.calls,
            pass.instructions,
            pass.live_values,
            operations.total(),
        ];
        let row: String = numbers.iter().map(|number| format!("{number:>7}")).collect();
        table.push_str(&format!("{:width$}{row}\n", pass.name));
    }
    table
}
