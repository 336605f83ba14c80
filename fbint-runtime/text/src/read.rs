//! Models out of texts.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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
/// of its structs. The facts and functions of a model stay in memory as long as the program runs: once for each text, and for each call
/// with a package.
///
/// # Errors
///
/// All mistakes in the text, and a derivation of the package that is missing, outdated or damaged, unless the package keeps none.
pub fn models_watched(text: &str, package: Option<&Path>, watch: &mut Watch<'_>) -> Result<Vec<TextModel>, Mistakes> {
    if package.is_some() {
        let functions = functions_of(text, text::models_watched(text, package, watch))?;
        return Ok(functions.into_iter().map(|functions| TextModel::new(functions.kept())).collect());
    }
    static KNOWN: Mutex<BTreeMap<String, Vec<&'static ModelFunctions>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().get(text).cloned();
    let functions = match found {
        Some(functions) => functions,
        None => {
            let read = functions_of(text, text::models_watched(text, None, watch))?;
            // Another thread may have read the same text meanwhile.
            known()
                .entry(text.to_owned())
                .or_insert_with(|| read.into_iter().map(ModelFunctions::kept).collect())
                .clone()
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

fn functions_of(text: &str, models: Result<Vec<Model>, Vec<Mistake>>) -> Result<Vec<ModelFunctions>, Mistakes> {
    let models = models.map_err(|mistakes| Mistakes::new(text, mistakes))?;
    let functions = models.into_iter().map(ModelFunctions::of).collect::<Result<_, _>>();
    functions.map_err(|mistake| Mistakes::new(text, vec![mistake]))
}
