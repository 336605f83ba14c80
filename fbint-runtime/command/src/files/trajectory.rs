//! The trajectory of a run as a table, with a row for each sample: time, state, F - F_target of every integral, and outputs.

use std::error::Error;
use std::ops::Range;

use crate::files::output::WholeDraft;
use crate::files::rows::{Cell, ColumnDefinition};
use crate::files::table::TableFile;
use crate::words::names::{self, TIME, clock};
use fbint_catalogue::{AnyModel, Sample};

/// Writes the samples of a run of `model`, whose record is JSON, and does not publish them yet.
pub(crate) fn draft(
    model: &dyn AnyModel,
    samples: &[Sample],
    record: &str,
    file: &TableFile,
) -> Result<WholeDraft, Box<dyn Error>> {
    let mut table = file.begin(&names(model).into_iter().map(ColumnDefinition::number).collect::<Vec<_>>())?;
    for sample in samples {
        let row: Vec<Cell<'_>> = values(model, sample).into_iter().map(Cell::Number).collect();
        table.push(&row)?;
    }
    table.finish(record)
}

/// A name for each quantity of a sample.
pub(crate) fn names(model: &dyn AnyModel) -> Vec<String> {
    names_of_motion(model).chain(names::outputs(model)).collect()
}

/// The quantities of a sample, in the order of their [`names`].
pub(crate) fn values(model: &dyn AnyModel, sample: &Sample) -> Vec<f64> {
    let mut values = motion(sample, clock(model));
    values.extend(model.outputs(&sample.state));
    values
}

/// A name for the time, each entry of the state, and the change of each integral.
pub(crate) fn names_of_motion(model: &dyn AnyModel) -> impl Iterator<Item = String> {
    [TIME.to_owned()].into_iter().chain(state_and_changes(model).into_iter().filter(|name| name != TIME))
}

/// Which of the quantities are changes of integrals.
pub(crate) fn changes(model: &dyn AnyModel) -> Range<usize> {
    let end = names_of_motion(model).count();
    end - model.integral_names().len()..end
}

/// A time without the rounding of a multiple: 0.3 for 3 times 0.1, which is 0.30000000000000004. A time of many digits is unchanged.
pub(crate) fn few_digits(time: f64) -> f64 {
    let few = format!("{time:.12e}").parse().unwrap_or(time);
    if (few - time).abs() <= 2.0 * f64::EPSILON * time.abs() { few } else { time }
}

/// Time, state and changes of a sample, the time once and without rounding: `clock` is its entry of the state.
pub(crate) fn motion(sample: &Sample, clock: Option<usize>) -> Vec<f64> {
    let mut values = [&[few_digits(sample.time)], &*sample.state, &*sample.change].concat();
    if let Some(clock) = clock {
        values.remove(1 + clock);
    }
    values
}

/// A name for each entry of the state, then for the change of each integral.
pub(crate) fn state_and_changes(model: &dyn AnyModel) -> Vec<String> {
    let changes = model.integral_names().into_iter().map(|name| format!("d({name})"));
    names::quantities_of_state(model).into_iter().chain(changes).collect()
}
