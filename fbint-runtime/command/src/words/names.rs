//! Names of quantities in tables, figures and conditions; names of entries, grouped.

pub use fbint_catalogue::names::{Array, array, cells, columns, extent, name, shape, shapes, shapes_of};
pub use fbint_runtime::Declared;

use fbint_catalogue::AnyModel;

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

/// A quantity among others that is made of entries of the state or of the outputs.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// The declared name, or `state.t` where it would look like something else.
    pub name: String,
    /// The name of each entry.
    pub entries: Vec<String>,
    /// The declaration.
    pub declared: &'static Declared,
}

/// The variables of the state. One called `t` that is not the time is `state.t`.
pub fn variables(model: &dyn AnyModel) -> Vec<Quantity> {
    let clock = clock(model);
    let of = |variable: &Declared| if clock == Some(variable.first) { None } else { Some("state") };
    quantities(model.facts().variables, of, &model.state_names())
}

/// The outputs.
pub fn declared_outputs(model: &dyn AnyModel) -> Vec<Quantity> {
    quantities(model.facts().outputs, |_| Some("output"), model.facts().output_names)
}

/// A name for each entry of the state, as a quantity among others.
pub fn quantities_of_state(model: &dyn AnyModel) -> Vec<String> {
    variables(model).into_iter().flat_map(|variable| variable.entries).collect()
}

/// A name for each output, as a quantity among others.
pub fn outputs(model: &dyn AnyModel) -> Vec<String> {
    declared_outputs(model).into_iter().flat_map(|output| output.entries).collect()
}

/// The declarations of a list. Names that would make it look like something else follow what it is `of`, if anything.
fn quantities(
    list: &'static [Declared],
    of: impl Fn(&Declared) -> Option<&'static str>,
    names: &[&str],
) -> Vec<Quantity> {
    let quantity = |declared: &'static Declared| {
        let of = of(declared).filter(|_| TAKEN.contains(&declared.name));
        let named = |name: &str| of.map_or_else(|| name.to_owned(), |of| format!("{of}.{name}"));
        Quantity {
            name: named(declared.name),
            entries: declared.entries().map(|entry| named(names[entry])).collect(),
            declared,
        }
    };
    list.iter().map(quantity).collect()
}

/// The entry of the state that is the time and is called so.
pub(crate) fn clock(model: &dyn AnyModel) -> Option<usize> {
    model.facts().clock.filter(|&entry| model.state()[entry].name == TIME)
}
