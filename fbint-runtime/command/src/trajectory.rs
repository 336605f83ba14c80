//! The trajectory of a run as a table, with a row for each sample: time, state, F - F_target of every integral, and outputs.

use std::error::Error;

use crate::catalogue::{AnyModel, Sample};
use crate::output::WholeDraft;
use crate::table::{Cell, Column, TableFile};

/// Writes the samples of a run of `model`, whose record is JSON, and does not publish them yet.
pub(crate) fn draft(
    model: &dyn AnyModel,
    samples: &[Sample],
    record: &str,
    file: &TableFile,
) -> Result<WholeDraft, Box<dyn Error>> {
    let mut table = file.begin(&names(model).into_iter().map(Column::number).collect::<Vec<_>>())?;
    for sample in samples {
        let row: Vec<Cell<'_>> = values(model, sample).into_iter().map(Cell::Number).collect();
        table.push(&row)?;
    }
    table.finish(record)
}

/// A name for each quantity of a sample.
pub(crate) fn names(model: &dyn AnyModel) -> Vec<String> {
    let outputs = model.output_names().iter().map(|&name| name.to_owned());
    ["t".to_owned()].into_iter().chain(state_and_changes(model)).chain(outputs).collect()
}

/// The quantities of a sample, in the order of their [`names`].
pub(crate) fn values(model: &dyn AnyModel, sample: &Sample) -> Vec<f64> {
    let Sample { time, state, change } = sample;
    [*time].into_iter().chain(state.iter().copied()).chain(change.iter().copied()).chain(model.outputs(state)).collect()
}

/// A name for each entry of the state, then for the change of each integral.
pub(crate) fn state_and_changes(model: &dyn AnyModel) -> Vec<String> {
    let state = model.state_names().into_iter().map(str::to_owned);
    state.chain(model.integral_names().iter().map(|name| format!("d({name})"))).collect()
}
