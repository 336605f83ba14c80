//! Ensembles for other languages: the options of the command `ensemble` by name, and what became of the members as numbers.

use std::error::Error;
use std::ops::ControlFlow;

use clap::Parser;
use fbint_runtime::Storage;
use rayon::ThreadPoolBuilder;

use super::{Column, Refusal, parsed};
use crate::ensemble::members::{BlockObserver, Members};
use crate::ensemble::resolve_gains;
use crate::files::rows::Cell;
use crate::files::trajectory::{few_digits, state_and_changes};
use crate::line::arguments::EnsembleArguments;
use crate::runs::run::job;
use crate::runs::tally::Tally;
use fbint_catalogue::{Entry, Statistics};

/// The outcomes of an ensemble's members.
#[derive(Clone, Debug, Default)]
pub struct CompletedEnsemble {
    /// A name for each entry of the state, then for the change of each integral.
    pub names: Vec<String>,
    /// The quantities that varied, with a number for each member.
    pub drawn: Vec<Column>,
    /// The members at the end, one after the other: a number for each of the names, NaN for a member that failed.
    pub ends: Vec<f64>,
    /// The members that failed, and why.
    pub errors: Vec<(u64, String)>,
    /// Statistics over the members that did not fail, at each time that was sampled.
    pub statistics: Vec<Statistics>,
}

/// A function that receives the finished fraction, and decides whether to continue.
pub type ProgressObserver<'a> = dyn FnMut(f64) -> ControlFlow<()> + Send + 'a;

/// The command line of an ensemble.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct EnsembleCommandLine {
    #[command(flatten)]
    arguments: EnsembleArguments,
}

/// Integrates an ensemble of a model, with options as in [`Request::new`](super::Request::new); `vary` may be repeated, with texts such as
/// `m=uniform:1,2`. Options that name files are not for it.
///
/// # Errors
///
/// If the command would refuse it, if no member comes to its end, if memory does not hold it, or if `progress` interrupts it.
pub fn ensemble<'a>(
    models: &[Entry],
    model: &str,
    options: impl IntoIterator<Item = (&'a str, Option<String>)>,
    progress: &mut ProgressObserver<'_>,
) -> Result<CompletedEnsemble, Refusal> {
    let EnsembleCommandLine { arguments } = parsed(model, options).map_err(Refusal::Refused)?;
    // Threads of its own, because an ensemble that is integrated at the same time may keep others busy. 0 is the number of cores.
    let pool = ThreadPoolBuilder::new().num_threads(arguments.threads.map_or(0, usize::from)).build();
    let pool = pool.map_err(|error| Refusal::Refused(error.to_string()))?;
    pool.install(|| integrated(models, &arguments, progress).map_err(Refusal::of))
}

fn integrated(
    models: &[Entry],
    arguments: &EnsembleArguments,
    progress: &mut ProgressObserver<'_>,
) -> Result<CompletedEnsemble, Box<dyn Error>> {
    let mut job = job(models, &arguments.integration, arguments.every)?;
    let mut members = Members::new(models, arguments, &job)?;
    resolve_gains(arguments, &mut job, &members)?;
    let (plan, blocks) = (job.plan(members.model())?, members.blocks());
    let drawn = arguments.vary.iter().map(|of| Column { name: of.name.clone(), values: Vec::new() });
    let mut ensemble = CompletedEnsemble {
        names: state_and_changes(members.model()),
        drawn: drawn.collect(),
        ..CompletedEnsemble::default()
    };
    ensemble.reserve(arguments.members as usize)?;
    let (mut tally, mut is_interrupted) = (Tally::default(), false);
    for number in 0..blocks {
        let mut report = |fraction| {
            let flow = progress((f64::from(number) + fraction) / f64::from(blocks));
            is_interrupted |= flow.is_break();
            flow
        };
        let block = members.integrate(number, &plan, BlockObserver { progress: &mut report, samples: None })?;
        if is_interrupted {
            return Err("interrupted".into());
        }
        block.ends(|row| {
            ensemble.add(row);
            Ok::<(), Box<dyn Error>>(())
        })?;
        tally.add(&block.tally);
    }
    tally.check()?;
    tally.statistics.iter_mut().for_each(|at| at.time = few_digits(at.time));
    Ok(CompletedEnsemble { statistics: tally.statistics, ..ensemble })
}

impl CompletedEnsemble {
    /// Makes room for a number of members.
    fn reserve(&mut self, members: usize) -> Result<(), fbint_runtime::Error> {
        let numbers = members.saturating_mul(self.names.len());
        Storage::MEMBERS.reserve(&mut self.ends, numbers)?;
        self.drawn.iter_mut().try_for_each(|column| Storage::MEMBERS.reserve(&mut column.values, members))
    }

    /// Adds a member by its row in the command's table of ends.
    fn add(&mut self, row: &[Cell<'_>]) {
        let [Cell::Count(member), numbers @ .., error] = row else { return };
        let (drawn, end) = numbers.split_at(self.drawn.len());
        let number = |cell: &Cell<'_>| if let Cell::Number(number) = cell { *number } else { f64::NAN };
        self.drawn.iter_mut().zip(drawn).for_each(|(column, cell)| column.values.push(number(cell)));
        self.ends.extend(end.iter().map(number));
        if let Cell::Text(error) = error {
            self.errors.push((*member, (*error).to_owned()));
        }
    }
}
