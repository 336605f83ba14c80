//! Models whose sizes are known when the program runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fbint_macros_core::text::{self, MOST_ENTRIES, MOST_INTEGRALS, Mistake, Model};
use fbint_runtime::{FeedbackSystem, SystemFacts};

use crate::functions::Functions;
use crate::mistakes::Mistakes;
use crate::model::TextModel;

/// A model from text, in vectors that are long enough for its state and its integrals.
#[derive(Clone, Debug)]
pub enum AnyModel {
    /// A pendulum, a top or a cart.
    Smallest(TextModel<8, 8>),
    /// A linkage, a rigid body or a chain of two links.
    Small(TextModel<16, 16>),
    /// Several bodies, or a chain of a few links.
    Medium(TextModel<48, 24>),
    /// The largest.
    Largest(TextModel<MOST_ENTRIES, MOST_INTEGRALS>),
}

/// What is done with a model, whatever the lengths of its vectors are.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it with a model whose states have `N` entries, and whose integrals have `M`.
    fn visit<const N: usize, const M: usize>(self, model: TextModel<N, M>) -> Self::Output;
}

impl AnyModel {
    /// What the model is, whatever its parameters are.
    pub fn facts(&self) -> &'static SystemFacts {
        match self {
            Self::Smallest(model) => model.facts(),
            Self::Small(model) => model.facts(),
            Self::Medium(model) => model.facts(),
            Self::Largest(model) => model.facts(),
        }
    }

    /// What the visitor makes of the model.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match self {
            Self::Smallest(model) => visitor.visit(model),
            Self::Small(model) => visitor.visit(model),
            Self::Medium(model) => visitor.visit(model),
            Self::Largest(model) => visitor.visit(model),
        }
    }

    fn new(functions: &'static Functions) -> Self {
        let length = functions.length();
        match functions.facts().integrals.len() {
            0..=8 if length <= 8 => Self::Smallest(TextModel::new(functions)),
            0..=16 if length <= 16 => Self::Small(TextModel::new(functions)),
            0..=24 if length <= 48 => Self::Medium(TextModel::new(functions)),
            _ => Self::Largest(TextModel::new(functions)),
        }
    }
}

/// The models that a text declares, in their order.
///
/// What a model is and how it is evaluated stays in memory as long as the program runs, once for each text.
///
/// # Errors
///
/// All mistakes in the text.
pub fn models(text: &str) -> Result<Vec<AnyModel>, Mistakes> {
    static KNOWN: Mutex<BTreeMap<String, Vec<&'static Functions>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().get(text).cloned();
    let functions = match found {
        Some(functions) => functions,
        None => {
            let read = functions_of(text, text::models(text))?;
            // Another thread may have read the same text meanwhile.
            known().entry(text.to_owned()).or_insert_with(|| read.into_iter().map(Functions::kept).collect()).clone()
        }
    };
    Ok(functions.into_iter().map(AnyModel::new).collect())
}

/// The models in a text of a package, in their order, with the derivations that the package keeps in `derivations/`: their functions give
/// the bits of those of the package's structs. They are read again at every call, and stay in memory.
///
/// # Errors
///
/// All mistakes in the text, and a derivation that is missing, outdated or damaged, unless the package keeps none.
pub fn models_of_package(text: &str, package: &Path) -> Result<Vec<AnyModel>, Mistakes> {
    let functions = functions_of(text, text::models_of_package(text, package))?;
    Ok(functions.into_iter().map(|functions| AnyModel::new(Functions::kept(functions))).collect())
}

fn functions_of(text: &str, models: Result<Vec<Model>, Vec<Mistake>>) -> Result<Vec<Functions>, Mistakes> {
    let models = models.map_err(|mistakes| Mistakes::new(text, mistakes))?;
    let functions = models.into_iter().map(Functions::of).collect::<Result<_, _>>();
    functions.map_err(|mistake| Mistakes::new(text, vec![mistake]))
}
