//! The trajectory as CSV, with a row for each sample: time, state, F - F_target of every integral, and outputs.
//!
//! Numbers are the shortest text that reads back exactly (at most 17 digits).

use std::io::{self, Write};

use crate::catalogue::{AnyModel, Sample};

/// Writes the samples of a run of `model`.
pub(crate) fn write(model: &dyn AnyModel, trajectory: &[Sample], file: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(file);
    table.write_record(header(model)).map_err(io_error)?;
    for sample in trajectory {
        table.write_record(row(model, sample).map(|number| format!("{number:?}"))).map_err(io_error)?;
    }
    table.flush()
}

/// The reason why a row could not be written. A conversion by `?` would hide what kind of error it is.
pub(crate) fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// The names of the columns.
pub(crate) fn header(model: &dyn AnyModel) -> Vec<String> {
    let mut header = vec!["t".to_owned()];
    header.extend(model.state_names().iter().map(|&name| name.to_owned()));
    header.extend(model.integral_names().iter().map(|name| format!("d({name})")));
    header.extend(model.output_names().iter().map(|&name| name.to_owned()));
    header
}

/// The numbers of a sample, in the order of the columns.
pub(crate) fn row(model: &dyn AnyModel, Sample { time, state, change }: &Sample) -> impl Iterator<Item = f64> {
    [&[*time], &**state, &**change, &*model.outputs(state)].concat().into_iter()
}

/// A name for each quantity that there are statistics of: entries of the state, then changes of integrals.
pub(crate) fn quantities(model: &dyn AnyModel) -> Vec<String> {
    let state = model.state_names().into_iter().map(str::to_owned);
    state.chain(model.integral_names().iter().map(|name| format!("d({name})"))).collect()
}

#[cfg(test)]
mod tests {
    use fbint_runtime::Error;

    use super::*;
    use crate::catalogue::load;
    use crate::output::reason;
    use crate::{Model, feedback_system, models};

    /// A mass on a spring.
    #[feedback_system(
        crate = fbint_runtime,
        coordinates(q),
        momenta(p),
        hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2,
    )]
    struct Oscillator {
        m: f64,
        k: f64,
    }

    impl Default for Oscillator {
        fn default() -> Self {
            Self { m: 1.0, k: 1.0 }
        }
    }

    impl Model for Oscillator {
        fn start(&self) -> Result<OscillatorState, Error> {
            Ok(OscillatorState { q: 1.0, p: 0.0 })
        }
    }

    /// A full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_named_as_such() {
        let model = load(&models![Oscillator], "oscillator").expect("it is there");
        let (state, change) = (vec![0.5; model.state_names().len()], vec![0.0; model.integral_names().len()]);
        let sample = Sample { time: 0.0, state, change };
        for samples in [1, 10_000] {
            let error = write(&*model, &vec![sample.clone(); samples], &mut Full).expect_err("nothing fits");
            assert_eq!(reason(&error, ""), "no space left on the device");
        }
    }
}
