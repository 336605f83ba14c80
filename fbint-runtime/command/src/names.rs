//! Names of quantities in tables, figures and conditions; names of entries, grouped.

pub use fbint_catalogue::names::{Array, NameGroup, base, groups, shapes};

use crate::catalogue::AnyModel;

/// The time, as tables and figures call it.
pub(crate) const TIME: &str = "t";
/// The change of every integral over time, as figures call it.
pub(crate) const DRIFT: &str = "drift";
/// The number of a member, as tables call it.
pub(crate) const MEMBER: &str = "member";
/// Why a member failed, as tables call it.
pub(crate) const ERROR: &str = "error";

/// Names that would make an entry of the state or an output look like something else.
const TAKEN: [&str; 4] = [TIME, DRIFT, MEMBER, ERROR];

/// A name for each entry of the state, as a quantity among others: its own, or `state.t` for an entry called `t` that is not the time.
pub fn quantities_of_state(model: &dyn AnyModel) -> Vec<String> {
    let clock = clock(model);
    let name = |(entry, name)| if clock == Some(entry) { TIME.to_owned() } else { quantity("state", name) };
    model.state_names().into_iter().enumerate().map(name).collect()
}

/// A name for each output, as a quantity among others: its own, or `output.t`.
pub fn outputs(model: &dyn AnyModel) -> Vec<String> {
    model.facts().output_names.iter().map(|name| quantity("output", name)).collect()
}

/// The entry of the state that is the time and is called so.
pub(crate) fn clock(model: &dyn AnyModel) -> Option<usize> {
    model.facts().clock.filter(|&entry| model.state()[entry].name == TIME)
}

fn quantity(of: &str, name: &str) -> String {
    if TAKEN.contains(&base(name)) { format!("{of}.{name}") } else { name.to_owned() }
}
