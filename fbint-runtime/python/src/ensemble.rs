//! Ensembles as arrays.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use fbint_command::catalogue::{Statistics, Summary};
use fbint_command::request::ensemble::{CompletedEnsemble, ensemble};
use fbint_command::request::{Column, Refusal};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{frozen, reserved};
use crate::contents;
use crate::keywords::CommandOption;
use crate::model::{PATIENCE, Signals, refused};
use crate::source::Source;

/// Integrates an ensemble of a model while other threads run, and until Ctrl-C.
///
/// Other threads integrate the members; this one asks Python for signals, because Python tells no other thread.
pub(crate) fn integrated<'py>(
    py: Python<'py>,
    source: &Source,
    options: Vec<CommandOption>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut signals = Signals::new();
    let outcome = py.detach(|| in_another_thread(source, options, &mut signals));
    signals.raise()?;
    made(py, outcome.map_err(refused)?)
}

fn in_another_thread(
    source: &Source,
    options: Vec<CommandOption>,
    signals: &mut Signals,
) -> Result<CompletedEnsemble, Refusal> {
    let (is_over, (working, done)) = (&AtomicBool::new(false), channel::<()>());
    let mut goes_on =
        |_| if is_over.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let _working = working;
            ensemble(source.models(), &source.entry.name, options, &mut goes_on)
        });
        while done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            if signals.look().is_break() {
                is_over.store(true, Ordering::Relaxed);
                break;
            }
        }
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// The ensemble as Python has it.
fn made(py: Python<'_>, ensemble: CompletedEnsemble) -> PyResult<Bound<'_, PyAny>> {
    let CompletedEnsemble { names, drawn, ends, errors, statistics } = ensemble;
    let ends = frozen(py, &ends, &[names.len()])?;
    let columns = PyDict::new(py);
    for Column { name, values } in drawn {
        columns.set_item(name, frozen(py, &values, &[])?)?;
    }
    let errors_of_members = PyDict::new(py);
    errors.into_iter().try_for_each(|(member, error)| errors_of_members.set_item(member, error))?;
    let statistics = summed_up(py, &statistics, names.len())?;
    contents(py)?.ensemble.bind(py).call1((names, ends, columns, errors_of_members, statistics))
}

/// Statistics over the members, each with a row for each time and a column for each quantity.
fn summed_up<'py>(py: Python<'py>, statistics: &[Statistics], quantities: usize) -> PyResult<Bound<'py, PyAny>> {
    let times: Vec<f64> = statistics.iter().map(|at| at.time).collect();
    let members: Vec<i64> = statistics.iter().map(|at| at.members.cast_signed()).collect();
    let (times, members) = (frozen(py, &times, &[])?, frozen(py, &members, &[])?);
    let of = |number: fn(&Summary) -> f64| {
        let mut numbers = reserved(statistics.len().saturating_mul(quantities))?;
        numbers.extend(statistics.iter().flat_map(|at| at.quantities.iter().map(number)));
        frozen(py, &numbers, &[quantities])
    };
    let summaries = (of(|of| of.mean)?, of(|of| of.variance)?, of(|of| of.min)?, of(|of| of.max)?);
    let (mean, variance, min, max) = summaries;
    contents(py)?.statistics.bind(py).call1((times, members, mean, variance, min, max))
}
