//! The rank of DF: integrals that are functions of the others make it smaller than their number.

use std::collections::BTreeMap;

use super::modular::are_dependent;
use super::states::{self, State, Values};
use crate::derivation::table::Id;
use crate::derivation::{BoundSet, Derivation, IntegralId, Rank};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::entry;
use crate::numbers::linear::Balanced;
use crate::numbers::precise::Real;

/// Integrals beyond this number are not compared.
const MOST_INTEGRALS: usize = 256;
/// Errors beyond this come from rounding, and not from numbers below the range of precise ones.
const ROUNDING: f64 = 1e-200;
/// States at which the rank is taken.
const STATES: usize = 4;

/// The rank in general position is the largest of those at a few states.
pub fn rank(derivation: &Derivation) -> Rank {
    if derivation.integrals.len() > MOST_INTEGRALS {
        return Rank::default();
    }
    let states =
        || states::general(&derivation.symbols).filter_map(|state| dependent_rows(derivation, &state)).take(STATES);
    let fewest = || states().min_by_key(Vec::len);
    let Some(sets) = states().find(Vec::is_empty).or_else(fewest) else { return Rank::default() };
    let rank = Some(derivation.integrals.len() - sets.len());
    let set = |members: Vec<IntegralId>| BoundSet { is_proved: are_bound(derivation, &members), members };
    Rank { rank, sets: sets.into_iter().map(set).collect() }
}

/// Returns `true` if the gradients of these integrals are proved to be dependent in every state: where a force is far away, an energy may look
/// constant.
fn are_bound(derivation: &Derivation, members: &[IntegralId]) -> bool {
    let row = |state| members.iter().map(|id| entry(&derivation.integrals[*id].gradient, state)).collect();
    let rows: Vec<Vec<Expression>> = derivation.symbols.states().map(row).collect();
    are_dependent(&rows, &(0..members.len()).collect::<Vec<_>>())
}

/// Each row that is a combination of earlier ones, together with them: elimination in precise numbers, which masses of any
/// size do not mislead. `None` where a gradient is not defined, or an entry is below the range of precise numbers.
fn dependent_rows(derivation: &Derivation, state: &Values) -> Option<Vec<Vec<IntegralId>>> {
    let state = State::new(state);
    let ids: Vec<IntegralId> = derivation.integrals.ids().collect();
    let mut transposed: BTreeMap<Symbol, Vec<Real>> = BTreeMap::new();
    for id in &ids {
        for (symbol, slope) in &derivation.integrals[*id].gradient {
            // 1 and minus a sign leave nothing but their rounding, too, which is far larger than what is below the range.
            let is_known = |entry: &Real| !entry.is_lost() || entry.error() > ROUNDING;
            let entry = state.evaluate(slope).filter(is_known)?;
            // What terms that cancel leave behind is rounding, by which nothing can be divided.
            if entry.is_nonzero() {
                transposed.entry(*symbol).or_insert_with(|| vec![Real::zero(); ids.len()])[id.place()] = entry;
            }
        }
    }
    let mut matrix = Balanced::of(transposed.into_values().collect())?;
    let dependent: Vec<&IntegralId> = ids.iter().filter(|id| matrix.pivot(id.place()) == Some(false)).collect();
    let set = |id: &IntegralId| matrix.involved(id.place()).into_iter().map(|other| ids[other]).chain([*id]).collect();
    Some(dependent.into_iter().map(set).collect())
}
