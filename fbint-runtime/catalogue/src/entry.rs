//! Models by name.

use std::sync::Arc;
use std::{error, fmt};

use fbint_runtime::{GeneratedSystem, SystemFacts};

use crate::any_model::AnyModel;
use crate::flat_model::{FlatModel, Make};
use crate::loaded::Loaded;
use crate::long::Long;
use crate::model::{Declaration, Model, lower_case};
use crate::padded::{Padded, Visitor, visit};

/// A model with its name.
#[derive(Clone)]
pub struct Entry {
    /// The name on the command line.
    pub name: String,
    /// The name of the type.
    pub type_name: &'static str,
    /// The summary of the model: the first paragraph of its documentation.
    pub summary: &'static str,
    /// Makes the model with its default parameters.
    pub load: Make<dyn AnyModel>,
    /// The text that declares it, if a compiled model tells.
    pub declaration: Option<Declaration>,
}

impl Entry {
    /// The entry of a model that was compiled with the program.
    pub fn of<S: Model + GeneratedSystem + Default>() -> Self {
        let entry = Self::flat(Arc::new(|| Box::new(S::default())));
        Self { name: S::name(), declaration: S::declaration(), ..entry }
    }

    /// The entry of the model that a function makes, with its default parameters; its name is the declared struct's in lower case.
    pub fn flat(make: Make<dyn FlatModel>) -> Self {
        let facts = make().facts();
        let load = move || visit(make(), Load(&make)).unwrap_or_else(|| Box::new(Long::new(Arc::clone(&make))));
        Self::loaded(facts, Arc::new(load))
    }

    /// The entry of the model that a function makes, which runs on slices although vectors of a fixed length may be long enough: for tests
    /// and measurements that compare both.
    #[doc(hidden)]
    pub fn on_slices(make: Make<dyn FlatModel>) -> Self {
        Self::loaded(make().facts(), Arc::new(move || Box::new(Long::new(Arc::clone(&make)))))
    }

    fn loaded(facts: &'static SystemFacts, load: Make<dyn AnyModel>) -> Self {
        let SystemFacts { name, summary, .. } = *facts;
        Self { name: lower_case(name), type_name: name, summary, load, declaration: None }
    }
}

/// Loads a model that is made so.
struct Load<'a>(&'a Make<dyn FlatModel>);

impl Visitor for Load<'_> {
    type Output = Box<dyn AnyModel>;

    fn visit<const N: usize, const M: usize>(self, _: Padded<N, M>) -> Box<dyn AnyModel> {
        let make = Arc::clone(self.0);
        Box::new(Loaded::new(move || Padded::<N, M>::new(make())))
    }
}

// By hand, because functions cannot be printed.
impl fmt::Debug for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Refuses models of one name.
///
/// # Errors
///
/// If there are two: one line with the name, and what to do.
pub fn check_names(models: &[Entry]) -> Result<(), Box<dyn error::Error>> {
    for (index, Entry { name, .. }) in models.iter().enumerate() {
        if models[..index].iter().any(|other| other.name == *name) {
            return Err(format!("two models are called `{name}`: give one of them another `Model::name`").into());
        }
    }
    Ok(())
}
