//! The start of a run, or of a member of an ensemble: the model's own, with entries that the command line gives.

use std::error::Error;

use crate::arguments::{Assignment, Integration};
use crate::catalogue::AnyModel;
use crate::nearest;

/// An entry of the state by its place, and its value.
pub(crate) type IndexedValue = (usize, f64);

/// The entries of the start that the command line gives.
pub(crate) struct Given {
    /// Entries that keep their values.
    set: Vec<IndexedValue>,
    /// Entries from which a repair begins.
    guessed: Vec<IndexedValue>,
    is_repaired: bool,
}

impl Given {
    /// Refuses entries that do not exist, and entries that are both set and guessed.
    pub(crate) fn of(model: &dyn AnyModel, arguments: &Integration) -> Result<Self, Box<dyn Error>> {
        let names = model.state_names();
        let entries = |assignments: &[Assignment]| -> Result<Vec<IndexedValue>, Box<dyn Error>> {
            let entry = |Assignment { name, value }: &Assignment| {
                nearest::find("entry of the state", name, &names).map(|entry| (entry, *value))
            };
            assignments.iter().map(entry).collect()
        };
        let (set, guessed) = (entries(&arguments.start)?, entries(&arguments.guess)?);
        if let Some((entry, _)) = guessed.iter().find(|(guess, _)| set.iter().any(|(entry, _)| entry == guess)) {
            let name = names[*entry];
            return Err(format!("--start and --guess both name `{name}`: set it to keep it, or guess it").into());
        }
        let is_repaired = arguments.repair || !guessed.is_empty();
        Ok(Self { set, guessed, is_repaired })
    }

    /// Whether an entry is set or guessed.
    pub(crate) fn names(&self, entry: usize) -> bool {
        self.set.iter().chain(&self.guessed).any(|(named, _)| *named == entry)
    }

    /// The model's own start with the entries that are given and those that are drawn, moved to a consistent one nearby if that is
    /// asked for or any entry is drawn.
    pub(crate) fn start(&self, model: &dyn AnyModel, drawn: &[IndexedValue]) -> Result<Vec<f64>, fbint_runtime::Error> {
        let mut start = model.start()?;
        for &(entry, value) in self.set.iter().chain(&self.guessed).chain(drawn) {
            start[entry] = value;
        }
        if !self.is_repaired && drawn.is_empty() {
            return Ok(start);
        }
        let names = model.state_names();
        let held: Vec<&str> = self.set.iter().chain(drawn).map(|(entry, _)| names[*entry]).collect();
        model.repair(&start, &held)
    }
}
