//! States that refute what algebra does not prove.
//!
//! dI.X is evaluated in 256 bits with a bound on its error, so that it need only be larger than that bound to be a refutation. X is
//! not taken from the generated code, but from the linear systems and rates that were derived, which `check` compares with what is
//! declared. States are tried in this order:
//!
//! - a few of size one, which make witnesses that are easy to read;
//! - some with sizes from 1e-12 to 1e12, one size for all or one for each;
//! - states close to where a function changes its behaviour ([`trials`](super::trials)): an argument, a base or a part of one is 0 there.
//!
//! Where there are constraints, only states that satisfy them count. The size of the expressions decides the number of states.

use std::iter;

use super::states::{self, Values};
use super::trials;
use super::velocity::Velocity;
use crate::derivation::{Derivation, IntegralId};
use crate::expression::Expression;
use crate::numbers::precise::Real;

/// The result of a search for states that refute a claim.
#[derive(Clone, Debug)]
pub enum Found {
    /// A state in which dI.X does not vanish.
    Witness(Witness),
    /// None among this number of states.
    Nothing(usize),
}

/// A state in which dI.X does not vanish.
#[derive(Clone, Debug)]
pub struct Witness {
    /// A value for every entry of the state and of the parameters.
    pub state: Values,
    /// The value of dI.X in this state.
    pub value: f64,
    /// `true` if the value may be another one if the state is known to a few digits only.
    pub is_exact: bool,
}

/// The number of states of size one among the first tried.
const STATES: usize = 8;
const OF_SIZE_ONE: usize = 32;
/// States of other sizes that there are, at least.
const OTHERS: usize = 400;
/// Work for each of the other kinds of states, in nodes of expressions.
const WORK: usize = 60_000;
/// Nodes that take as long as a function.
const COST_OF_FUNCTION: usize = 150;
/// States of each of the other kinds, at least and at most.
const FEWEST: usize = 4;
const MOST: usize = 360;

/// States from which those are found that are tried.
type Starts<'a> = Box<dyn Iterator<Item = Values> + 'a>;

/// A state in which the integral is not conserved, if one is found.
pub(super) fn refute(derivation: &Derivation, integral: IntegralId, rate: &Expression) -> Found {
    let count = count(derivation, integral);
    let expressions: Vec<&Expression> = expressions(derivation, integral).chain([rate]).collect();
    let of_other_sizes = states::general(&derivation.symbols).skip(OF_SIZE_ONE).step_by(OTHERS / count);
    let critical = iter::once_with(|| trials::critical(derivation, &expressions, count)).flatten();
    let kinds: [(Starts<'_>, usize, bool); 3] = [
        (Box::new(of_size_one(derivation)), STATES, false),
        (Box::new(of_other_sizes), count, true),
        (Box::new(critical), count, true),
    ];
    let mut found = 0;
    for (starts, most, is_exact) in kinds {
        for (state, rate) in starts.filter_map(|start| trial(derivation, integral, start)).take(most) {
            if rate.is_nonzero() {
                return Found::Witness(Witness { state, value: rate.to_f64(), is_exact });
            }
            found += 1;
        }
    }
    Found::Nothing(found)
}

/// States of size one; where they need not satisfy anything, of numbers with two digits.
fn of_size_one(derivation: &Derivation) -> impl Iterator<Item = Values> {
    let is_free = derivation.integrals.constraints().next().is_none();
    let round = move |value: &f64| if is_free { (value * 100.0).round() / 100.0 } else { *value };
    states::general(&derivation.symbols).take(OF_SIZE_ONE).map(move |state| state.map(round))
}

/// The number of states tried of each kind.
fn count(derivation: &Derivation, integral: IntegralId) -> usize {
    let solved: usize = derivation.field.systems.iter().map(|system| system.unknowns.len().pow(2)).sum();
    let cost = expressions(derivation, integral).flat_map(Expression::nodes).map(cost).sum::<usize>() + 10 * solved;
    (WORK / cost.max(1)).clamp(FEWEST, MOST)
}

/// The parts of dI.X.
fn expressions(derivation: &Derivation, integral: IntegralId) -> impl Iterator<Item = &Expression> {
    let gradient = derivation.integrals[integral].gradient.values();
    gradient.chain(derivation.field.expressions())
}

fn cost(node: &Expression) -> usize {
    if matches!(node, Expression::Call(..)) { COST_OF_FUNCTION } else { 1 }
}

/// The rate in the state on the constraint set that a start leads to.
fn trial(derivation: &Derivation, integral: IntegralId, start: Values) -> Option<(Values, Real)> {
    let velocity = Velocity::new(derivation, states::consistent(derivation, start)?)?;
    let rate = velocity.rate(&derivation.integrals[integral].gradient)?;
    Some((velocity.state.doubles(), rate))
}
