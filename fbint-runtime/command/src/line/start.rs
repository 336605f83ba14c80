//! The start of a run, or of a member of an ensemble: the model's own, with entries that the command line gives.

use std::error::Error;

use fbint_runtime::Error::NoStart;
use fbint_runtime::{Declared, StateRole};

use crate::line::arguments::{Assignment, Integration};
use crate::words::names::array;
use crate::words::nearest;
use fbint_catalogue::AnyModel;

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
    /// Refuses entries that do not exist, and entries that are both set and guessed, and too few for a model without a start.
    pub(crate) fn of(model: &dyn AnyModel, arguments: &Integration) -> Result<Self, Box<dyn Error>> {
        let names = model.state_names();
        let entries = |assignments| assigned("entry of the state", assignments, model.facts().variables, &names);
        let (set, guessed) = (entries(&arguments.start)?, entries(&arguments.guess)?);
        if let Some((entry, _)) = guessed.iter().find(|(guess, _)| set.iter().any(|(entry, _)| entry == guess)) {
            let name = names[*entry];
            return Err(format!("--start and --guess both name `{name}`: set it to keep it, or guess it").into());
        }
        let is_repaired = arguments.repair || !guessed.is_empty();
        let given = Self { set, guessed, is_repaired };
        if let Err(NoStart { model: name }) = model.start() {
            given.check_complete(model, name)?;
        }
        Ok(given)
    }

    /// Returns `true` if an entry is set or guessed.
    pub(crate) fn names(&self, entry: usize) -> bool {
        self.set.iter().chain(&self.guessed).any(|(named, _)| *named == entry)
    }

    /// The model's own start with the entries that are given and those that are drawn, moved to a consistent one nearby if a repair was
    /// chosen or any entry is drawn.
    pub(crate) fn start(&self, model: &dyn AnyModel, drawn: &[IndexedValue]) -> Result<Vec<f64>, fbint_runtime::Error> {
        let names = model.state_names();
        let mut start = match model.start() {
            Err(NoStart { .. }) => vec![0.0; names.len()],
            start => start?,
        };
        for &(entry, value) in self.set.iter().chain(&self.guessed).chain(drawn) {
            start[entry] = value;
        }
        if !self.is_repaired && drawn.is_empty() {
            return Ok(start);
        }
        let held: Vec<&str> = self.set.iter().chain(drawn).map(|(entry, _)| names[*entry]).collect();
        model.repair(&start, &held)
    }

    /// Refuses a start with a missing entry. The time and the work begin at 0.
    fn check_complete(&self, model: &dyn AnyModel, name: &str) -> Result<(), Box<dyn Error>> {
        let (names, roles) = (model.state_names(), model.state_roles());
        let is_free = |entry: usize| !matches!(roles[entry], StateRole::Time | StateRole::Work);
        let missing = (0..names.len()).filter(|&entry| is_free(entry) && !self.names(entry));
        let missing: Vec<String> = missing.map(|entry| format!("`{}`", names[entry])).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join(", ");
        Err(format!("nothing says where {missing} of {name} start: add `start(..)` to the model, or set every entry with --start")
            .into())
    }
}

/// The places of the names that are assigned to, which are `what` and have these declarations, with their values. A vector or a matrix is assigned to as a whole, row
/// by row.
pub(crate) fn assigned(
    what: &str,
    assignments: &[Assignment],
    declared: &[Declared],
    names: &[&str],
) -> Result<Vec<IndexedValue>, Box<dyn Error>> {
    let mut entries = Vec::new();
    for Assignment { name, values } in assignments {
        let whole = declared.iter().find(|declared| declared.name == name && declared.indices.len() > 1);
        let positions = match whole {
            Some(whole) => array(whole).positions,
            None => vec![nearest::find(what, name, names)?],
        };
        if positions.len() != values.len() {
            let (entries, given) = (positions.len(), values.len());
            return Err(format!("`{name}` takes {}, and is given {given}", numbers(entries)).into());
        }
        entries.extend(positions.into_iter().zip(values.iter().copied()));
    }
    Ok(entries)
}

fn numbers(count: usize) -> String {
    if count == 1 { "one number".to_owned() } else { format!("{count} numbers") }
}
