//! The vectors of a fixed length in which systems are integrated.

use fbint_runtime::{Diagonal, Entries, FeedbackSystem, Gains, SystemFacts};

/// The most entries of a state, and as many inputs and outputs.
pub const MOST_ENTRIES: usize = 48;
/// The most integrals.
pub const MOST_INTEGRALS: usize = 24;
/// The number of vectors that values of parameters alone may fill.
pub(crate) const PREPARED: usize = 4;

/// Returns `true` if a system is short enough for the longest vectors.
pub const fn fits(facts: &SystemFacts) -> bool {
    length(facts) <= MOST_ENTRIES && facts.integrals.len() <= MOST_INTEGRALS
}

/// The length of vectors that are long enough for everything but the integrals.
pub(crate) const fn length(facts: &SystemFacts) -> usize {
    let lists = [facts.given_numbers(), facts.output_names.len(), facts.prepared_numbers.div_ceil(PREPARED)];
    let (mut length, mut list) = (facts.state.len(), 0);
    while list < lists.len() {
        if lists[list] > length {
            length = lists[list];
        }
        list += 1;
    }
    length
}

/// Returns `true` if members of ensembles of a system run in lanes.
pub(crate) const fn is_in_lanes(facts: &SystemFacts) -> bool {
    facts.state.len() <= MOST_ENTRIES && facts.feedback_field_operations.fit_lanes()
}

/// One gain for every integral, of the type of different ones: what is compiled for them serves both.
pub(crate) fn uniform<S: FeedbackSystem>(k: f64) -> Gains<Diagonal<S>> {
    Gains::diagonal(Entries::from_fn(|_| k))
}

/// The vector with these entries, then zeros.
pub(crate) fn with_zeros<V: Entries<f64>>(entries: &[f64]) -> V {
    V::from_fn(|i| entries.get(i).copied().unwrap_or(0.0))
}

/// The vector with these entries; those that are missing are not numbers.
pub(crate) fn vector<V: Entries<f64>>(entries: &[f64]) -> V {
    V::from_fn(|i| entries.get(i).copied().unwrap_or(f64::NAN))
}
