//! Models from text among others, whatever the lengths of their vectors are.

use fbint_catalogue::{Entry, Model};

use crate::any::{Visitor, models};
use crate::mistakes::Mistakes;
use crate::model::TextModel;

/// The models that a text declares, in their order, as what the command runs.
///
/// # Errors
///
/// All mistakes in the text.
pub fn entries(text: &str) -> Result<Vec<Entry>, Mistakes> {
    Ok(models(text)?.into_iter().map(|model| model.visit(ToEntry)).collect())
}

struct ToEntry;

impl Visitor for ToEntry {
    type Output = Entry;

    fn visit<const N: usize, const M: usize>(self, model: TextModel<N, M>) -> Entry {
        Entry::made_by(move || model.clone())
    }
}

impl<const N: usize, const M: usize> Model for TextModel<N, M> {
    // Machine code is of single numbers: lanes are interpreted, and take long to compile for long vectors.
    const RUNS_IN_LANES: bool = N <= 48;
}
