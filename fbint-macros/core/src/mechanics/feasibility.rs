//! Whether the constraints can hold, all of them, and whether they are independent where they do.
//!
//! States that satisfy them are searched for from many starts. If some are found, C is looked at there: constraints may be
//! independent in general position and yet not on their own zero set (x and x (y - 1), or the square of a constraint). If
//! none is found, that alone proves nothing: only a Groebner basis that contains 1, or a constraint of one sign in every
//! state that was tried, makes it a mistake.

use num_rational::BigRational;

use super::regularity::null_vector;
use super::states;
use super::vanishing::contradict;
use crate::derivation::Derivation;
use crate::expression::{Expression, Symbol};

/// Starts of a search, the first of those that there are; and of all that there are, one in so many where these fail.
const STARTS: usize = 24;
const STRIDE: usize = 10;
/// States that are looked at, if there are as many.
const STATES: usize = 4;
/// More constraints than this are not looked at, and more than the second number not in pairs.
const MOST_CONSTRAINTS: usize = 64;
const MOST_IN_PAIRS: usize = 12;
/// A gradient this small, compared with that at the start, vanishes.
const NEGLIGIBLE: f64 = 1e-4;

/// What is wrong with a set of constraints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A constraint has one sign in every state: whether it is positive.
    OneSign {
        /// Which one.
        member: usize,
        /// Its sign.
        positive: bool,
    },
    /// No state satisfies all of these. Whether it is one is for algebra to say.
    Contradiction(Vec<usize>),
    /// The gradient of a constraint vanishes wherever it holds.
    NoGradient(usize),
    /// C is singular wherever the constraints hold, for the sake of these.
    Singular(Vec<usize>),
}

/// The first fault that is found with numbers alone.
pub fn find_fault(derivation: &Derivation) -> Option<Fault> {
    let members = independent_members(derivation);
    if members.is_empty() || members.len() > MOST_CONSTRAINTS {
        return None;
    }
    let found: Vec<(Vec<f64>, Vec<f64>)> = search(derivation, &members).take(STATES).collect();
    if found.is_empty() {
        return infeasible(derivation, &members);
    }
    if derivation.constraints().is_none() || found.len() < STATES {
        return None;
    }
    let flat = members.iter().find(|&&member| {
        let slope = |state: &[f64]| gradient(derivation, member, state).1.sqrt();
        let is_flat = |(start, end): &(Vec<f64>, Vec<f64>)| {
            slope(end) < NEGLIGIBLE * slope(start) && is_multiple_zero(derivation, member, end)
        };
        found.iter().all(is_flat)
    });
    if let Some(&member) = flat {
        return Some(Fault::NoGradient(member));
    }
    let singular = |(_, state): &(Vec<f64>, Vec<f64>)| null_vector(derivation, &|entry| states::evaluate(entry, state));
    let sets: Option<Vec<Vec<usize>>> = found.iter().map(|pair| singular(pair).deficient()).collect();
    sets.and_then(|sets| sets.into_iter().next()).map(Fault::Singular)
}

/// Whether algebra shows that these integrals have no common zero, at three values of the parameters. Runs within a session.
pub fn is_contradiction(derivation: &Derivation, members: &[usize]) -> bool {
    states::general(derivation).take(3).all(|state| {
        let number = |symbol: Symbol| {
            let hundredths = (state[symbol.0 as usize] * 100.0).round() as i64;
            Expression::Number(BigRational::new(hundredths.into(), 100.into()))
        };
        let fixed = |symbol: Symbol| {
            if (symbol.0 as usize) < derivation.dimension { Expression::from(symbol) } else { number(symbol) }
        };
        let members: Vec<Expression> =
            members.iter().map(|&member| derivation.integrals[member].substituted(&fixed)).collect();
        contradict(&members)
    })
}

/// The constraints without rates, which can always be satisfied if they are independent.
fn independent_members(derivation: &Derivation) -> Vec<usize> {
    let holonomic = derivation.constraints().map_or(0, |constraints| constraints.holonomic());
    (0..derivation.constraint_count).filter(|index| !(holonomic..2 * holonomic).contains(index)).collect()
}

/// Starts, and the states that satisfy some constraints to which they lead.
fn search<'a>(
    derivation: &'a Derivation,
    members: &'a [usize],
) -> impl Iterator<Item = (Vec<f64>, Vec<f64>)> + use<'a> {
    let first = states::general(derivation).take(STARTS);
    let starts = first.chain(states::general(derivation).skip(STARTS).step_by(STRIDE));
    starts.filter_map(|start| Some((start.clone(), states::descend(derivation, members, start)?)))
}

/// The smallest set of constraints that no state was found for.
fn infeasible(derivation: &Derivation, members: &[usize]) -> Option<Fault> {
    let fails = |subset: &[usize]| search(derivation, subset).next().is_none();
    if let Some(&member) = members.iter().find(|&&member| fails(&[member])) {
        return sign(derivation, member).map(|positive| Fault::OneSign { member, positive });
    }
    if members.len() <= MOST_IN_PAIRS {
        let pairs = members.iter().flat_map(|&a| members.iter().map(move |&b| [a, b])).filter(|[a, b]| a < b);
        if let Some(pair) = pairs.into_iter().find(|pair| fails(pair)) {
            return Some(Fault::Contradiction(pair.to_vec()));
        }
    }
    Some(Fault::Contradiction(members.to_vec()))
}

/// Whether a constraint is positive, if it has one sign wherever it was evaluated.
fn sign(derivation: &Derivation, member: usize) -> Option<bool> {
    let values = states::general(derivation).map(|state| states::evaluate(&derivation.integrals[member], &state));
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let positive = values.iter().filter(|value| **value > 0.0).count();
    let negative = values.iter().filter(|value| **value < 0.0).count();
    let enough = values.len() >= 100;
    match (enough, positive == values.len(), negative == values.len()) {
        (true, true, _) => Some(true),
        (true, _, true) => Some(false),
        _ => None,
    }
}

/// Whether Newton's steps merely halve the distance, or do worse: then it is no simple zero that they lead to.
fn is_multiple_zero(derivation: &Derivation, member: usize, state: &[f64]) -> bool {
    let value = |state: &[f64]| states::evaluate(&derivation.integrals[member], state);
    let mut state = state.to_vec();
    (0..2).all(|_| {
        let before = value(&state);
        let (slope, square) = gradient(derivation, member, &state);
        slope.into_iter().for_each(|(index, entry)| state[index] -= entry * before / square);
        (0.15..0.7).contains(&(value(&state) / before))
    })
}

/// The gradient of a constraint, and the square of its length.
fn gradient(derivation: &Derivation, member: usize, state: &[f64]) -> (Vec<(usize, f64)>, f64) {
    let entry = |(index, entry): &(usize, Expression)| (*index, states::evaluate(entry, state));
    let entries: Vec<(usize, f64)> = derivation.gradients[member].iter().map(entry).collect();
    let square = entries.iter().map(|(_, entry)| entry * entry).sum();
    (entries, square)
}
