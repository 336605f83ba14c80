//! Whether the constraints can hold, all of them, and whether they are independent where they do.
//!
//! States that satisfy them are searched for from many starts. If some are found, C is evaluated there: constraints may be independent in
//! general position and yet not on their own zero set (x and x (y - 1), or the square of a constraint).
//!
//! All of that proves nothing: the search may have missed states, or a whole part of the zero set. It finds doubts, and algebra decides
//! which are mistakes.

use super::regularity::{deficient, find_singularity};
use super::states::{self, Values};
use crate::derivation::{Derivation, Doubt, IntegralId};

/// The number of starting points that are tried first; if all fail, every `STRIDE`-th of the rest is tried.
const STARTS: usize = 24;
const STRIDE: usize = 10;
/// The most states examined.
const STATES: usize = 4;
/// The most constraints examined.
const MOST_CONSTRAINTS: usize = 64;
/// A gradient this small, compared with that at the start, vanishes.
const FLAT: f64 = 1e-4;

/// Doubts about the constraints that rest on numbers alone, the most important first.
pub fn doubts(derivation: &Derivation) -> Vec<Doubt> {
    let singular = find_singularity(derivation).map(|members| Doubt::Singular { members, everywhere: true });
    singular.into_iter().chain(find_fault(derivation)).collect()
}

/// The first doubt about states that satisfy the constraints.
fn find_fault(derivation: &Derivation) -> Option<Doubt> {
    let members: Vec<IntegralId> = derivation.integrals.declared_constraints().map(|(id, _)| id).collect();
    if members.is_empty() || members.len() > MOST_CONSTRAINTS {
        return None;
    }
    let found: Vec<(Values, Values)> = search(derivation, &members).take(STATES).collect();
    if found.is_empty() {
        return Some(infeasible(derivation, members));
    }
    if found.len() < STATES {
        return None;
    }
    let flat = members.iter().filter(|member| derivation.has_reaction(**member)).find(|&&member| {
        let is_flat = |(start, end): &(Values, Values)| {
            slope(derivation, member, end) < FLAT * slope(derivation, member, start)
                && states::refine(&[(&derivation.integrals[member]).into()], end).is_none()
        };
        found.iter().all(is_flat)
    });
    if let Some(&member) = flat {
        return Some(Doubt::NoGradient(member));
    }
    let singular = |(_, state): &(Values, Values)| {
        deficient(derivation, |entry| Some(states::evaluate(entry, state))).filter(|members| !members.is_empty())
    };
    let sets: Option<Vec<Vec<IntegralId>>> = found.iter().map(singular).collect();
    let members = sets.and_then(|sets| sets.into_iter().next())?;
    let all = states::constraints(derivation);
    let is_disproved = |(_, end): &(Values, Values)| {
        let state = states::refine(&all, end);
        state
            .and_then(|state| deficient(derivation, |entry| state.evaluate(entry)))
            .is_some_and(|members| members.is_empty())
    };
    if found.iter().any(is_disproved) {
        return None;
    }
    Some(Doubt::Singular { members, everywhere: false })
}

/// Starts, and the states that satisfy some constraints to which they lead.
fn search<'a>(
    derivation: &'a Derivation,
    members: &'a [IntegralId],
) -> impl Iterator<Item = (Values, Values)> + use<'a> {
    let first = states::general(&derivation.symbols).take(STARTS);
    let starts = first.chain(states::general(&derivation.symbols).skip(STARTS).step_by(STRIDE));
    let equations: Vec<_> = members.iter().map(|&member| (&derivation.integrals[member]).into()).collect();
    starts.filter_map(move |start| Some((start.clone(), states::solve(&equations, start)?)))
}

/// The note on constraints without a known state: on a single one, if it has none alone.
fn infeasible(derivation: &Derivation, members: Vec<IntegralId>) -> Doubt {
    let fails = |member: &IntegralId| search(derivation, &[*member]).next().is_none();
    Doubt::Unsatisfied(members.iter().copied().find(fails).map_or(members, |member| vec![member]))
}

/// The length of the gradient of a constraint.
fn slope(derivation: &Derivation, member: IntegralId, state: &Values) -> f64 {
    let entries = derivation.integrals[member].gradient.values().map(|entry| states::evaluate(entry, state));
    entries.map(|entry| entry * entry).sum::<f64>().sqrt()
}
