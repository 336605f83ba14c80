//! Models out of texts.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use fbint_catalogue::Entry;
use fbint_macros_core::text::{self, Mistake, Model, OpenValues, Watch};

use crate::functions::ModelFunctions;
use crate::mistakes::Mistakes;
use crate::model::TextModel;

/// The models that a text declares, in their order, as what the command runs. Once a second, `watch` hears the task at hand, as it stands
/// behind "while", and may interrupt it.
///
/// # Errors
///
/// All mistakes in the text.
pub fn entries(text: &str, watch: &mut Watch<'_>) -> Result<Vec<Entry>, Mistakes> {
    Ok(models_watched(text, None, watch)?.iter().map(TextModel::entry).collect())
}

/// The models that a text declares, in their order. Once a second, `watch` hears the task at hand, as it stands behind "while", and may
/// interrupt it.
///
/// With the folder of a package they have the derivations that it keeps in `derivations/`: their functions give the bits of the functions
/// of its structs. A text whose models are in use is not derived again.
///
/// # Errors
///
/// All mistakes in the text, and a derivation of the package that is missing, outdated or damaged, unless the package keeps none.
pub fn models_watched(text: &str, package: Option<&Path>, watch: &mut Watch<'_>) -> Result<Vec<TextModel>, Mistakes> {
    if package.is_some() {
        let functions = functions_of(text, text::models_watched(text, package, watch))?;
        return Ok(functions.into_iter().map(TextModel::new).collect());
    }
    static KNOWN: Mutex<BTreeMap<String, Vec<Weak<ModelFunctions>>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let in_use = |functions: &Vec<Weak<ModelFunctions>>| functions.iter().map(Weak::upgrade).collect();
    let found: Option<Vec<Arc<ModelFunctions>>> = known().get(text).and_then(in_use);
    let functions = match found {
        Some(functions) => functions,
        None => {
            let read = functions_of(text, text::models_watched(text, None, watch))?;
            let mut known = known();
            known.retain(|_, functions| functions.iter().all(|functions| functions.strong_count() > 0));
            known.insert(text.to_owned(), read.iter().map(Arc::downgrade).collect());
            read
        }
    };
    Ok(functions.into_iter().map(TextModel::new).collect())
}

/// The models that a text declares, in their order, read without a watch.
///
/// # Errors
///
/// See [`models_watched`].
pub fn models(text: &str) -> Result<Vec<TextModel>, Mistakes> {
    models_watched(text, None, &mut |_| ControlFlow::Continue(()))
}

/// The models in a text of a package, in their order, with the derivations that the package keeps.
///
/// # Errors
///
/// See [`models_watched`].
pub fn models_of_package(text: &str, package: &Path) -> Result<Vec<TextModel>, Mistakes> {
    models_watched(text, Some(package), &mut |_| ControlFlow::Continue(()))
}

/// Finds the values that the models of a text need before they can run, without deriving anything.
///
/// # Errors
///
/// Every value that nothing gives, at its place.
pub fn check_values(text: &str, open: &OpenValues<'_>) -> Result<(), Mistakes> {
    let missing = text::missing(text, open);
    if missing.is_empty() { Ok(()) } else { Err(Mistakes::new(text, missing)) }
}

fn functions_of(text: &str, models: Result<Vec<Model>, Vec<Mistake>>) -> Result<Vec<Arc<ModelFunctions>>, Mistakes> {
    let models = models.map_err(|mistakes| Mistakes::new(text, mistakes))?;
    let functions = models.into_iter().map(|model| ModelFunctions::of(model).map(Arc::new)).collect::<Result<_, _>>();
    functions.map_err(|mistake| Mistakes::new(text, vec![mistake]))
}

#[cfg(test)]
mod tests {
    use fbint_catalogue::FlatModel;

    use super::*;

    #[test]
    fn functions_are_freed_with_their_last_model() -> Result<(), Mistakes> {
        let text =
            "#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)] struct Spring;";
        let model = models(text)?.remove(0);
        let functions = Arc::downgrade(&model.functions);
        let same = models(text)?.remove(0);
        assert!(Arc::ptr_eq(&model.functions, &same.functions), "a text in use is derived once");
        let (entry, prepared) = (model.entry(), same.functions());
        drop((model, same));
        assert!(functions.upgrade().is_some());
        drop((entry, prepared));
        assert!(functions.upgrade().is_none());
        Ok(())
    }
}
