//! The trajectory as CSV: time, state, F - F_target of every integral, and outputs, a row a sample.
//!
//! Numbers are the shortest text that reads back as the same number (at most 17 digits).

use std::io::{self, Write};

use models::catalogue::{Model, Sample};

/// Writes the samples of a run of `model`.
pub(crate) fn write(model: &dyn Model, trajectory: &[Sample], file: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(file);
    table.write_record(header(model))?;
    for Sample { time, state, change } in trajectory {
        let outputs = model.outputs(state);
        let numbers = std::iter::once(time).chain(state).chain(change).chain(&outputs);
        table.write_record(numbers.map(|number| format!("{number:?}")))?;
    }
    table.flush()
}

fn header(model: &dyn Model) -> Vec<String> {
    let mut header = vec!["t".to_owned()];
    header.extend(model.state_names().iter().map(|&name| name.to_owned()));
    header.extend(model.integral_names().iter().map(|name| format!("d({name})")));
    header.extend(model.output_names().iter().map(|&name| name.to_owned()));
    header
}
