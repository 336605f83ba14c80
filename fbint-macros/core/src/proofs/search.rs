//! States that refute what algebra does not prove.
//!
//! dI.X is evaluated in 256 bits with a bound on its error, so that it need only be larger than that bound to be a refutation. X is
//! not taken from the generated code, but from the linear systems and rates that were derived, which `check` compares with what is
//! declared. States are tried in this order:
//!
//! - a few of size one, which make witnesses that are easy to read;
//! - states and parameters of both signs, with sizes from 1e-12 to 1e12, one size for all or one for each ([`trials`](super::trials));
//! - states close to where a function changes its behaviour: an argument, a base or a part of one is 0 there;
//! - from those with the largest rates relative to their errors, steps that make these larger.
//!
//! Where there are constraints, only states that satisfy them count. How many states are tried follows from how large the
//! expressions are.

use super::states::{self, Values};
use super::trials;
use super::velocity::Velocity;
use crate::derivation::{Derivation, IntegralId};
use crate::expression::Expression;
use crate::numbers::precise::Real;
use crate::numbers::random::Random;

/// What a search for states that refute a claim found.
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
    /// Whether the value may be another one if the state is known to a few digits only.
    pub is_exact: bool,
}

/// States of size one that are tried first.
const STATES: usize = 8;
/// Work for each of the other kinds of states, in nodes of expressions.
const WORK: usize = 60_000;
/// Nodes that take as long as a function.
const COST_OF_FUNCTION: usize = 150;
/// States of each of the other kinds, at least and at most.
const FEWEST: usize = 4;
const MOST: usize = 360;
/// States from which steps lead to larger rates.
const CLIMBERS: usize = 4;

/// A search among the states of one model.
pub(super) struct Search<'a> {
    derivation: &'a Derivation,
    /// States of size one with the field in them, found when they are first needed.
    first: Option<Vec<Velocity>>,
}

/// The rate of an integral in a state.
struct RateTrial {
    start: Values,
    state: Values,
    rate: Real,
    /// What the rate would be if none of its terms cancelled another.
    size: f64,
}

impl RateTrial {
    /// The rate relative to its error.
    fn significance(&self) -> f64 {
        self.rate.to_f64().abs() / (self.rate.error() + f64::MIN_POSITIVE)
    }

    fn relative(&self) -> f64 {
        self.rate.to_f64().abs() / (self.size + f64::MIN_POSITIVE)
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(derivation: &'a Derivation) -> Self {
        Self { derivation, first: None }
    }

    /// A state in which the integral is not conserved, if one is found.
    pub(super) fn refute(&mut self, integral: IntegralId, rate: &Expression) -> Found {
        let first = self.states_of_size_one(integral);
        if let Some(witness) = witness(&first) {
            return Found::Witness(self.rounded(integral).unwrap_or(witness));
        }
        let count = self.count(integral);
        let mut random = Random(0);
        let wide = || trials::wide(&self.derivation.symbols).take(count).collect();
        let expressions: Vec<&Expression> = self.expressions(integral).into_iter().chain([rate]).collect();
        let near = || trials::critical(self.derivation, &expressions, count);
        let kinds: [&dyn Fn() -> Vec<Values>; 2] = [&wide, &near];
        let mut all: Vec<RateTrial> = Vec::new();
        for starts in kinds {
            all.extend(starts().into_iter().filter_map(|start| self.trial(integral, start)));
            if let Some(witness) = remote(&all) {
                return Found::Witness(witness);
            }
        }
        let mut found = first.len() + all.len();
        all.sort_by(|a, b| b.significance().total_cmp(&a.significance()));
        all.truncate(CLIMBERS);
        for best in &mut all {
            for step in 0..count / (2 * CLIMBERS) {
                let start = random.step(&best.start, step);
                let Some(next) = self.trial(integral, start) else { continue };
                found += 1;
                if next.significance() > best.significance() {
                    *best = next;
                }
            }
        }
        remote(&all).map_or(Found::Nothing(found), Found::Witness)
    }

    /// The integral, if a state refutes that it is conserved.
    pub(super) fn unrefuted(&mut self, integral: IntegralId) -> Result<(), IntegralId> {
        match self.refute(integral, &Expression::zero()) {
            Found::Witness(_) => Err(integral),
            Found::Nothing(_) => Ok(()),
        }
    }

    fn states_of_size_one(&mut self, integral: IntegralId) -> Vec<RateTrial> {
        let derivation = self.derivation;
        let first = self.first.get_or_insert_with(|| {
            let states = states::general(&derivation.symbols).take(4 * STATES);
            let states = states.filter_map(|start| states::consistent(derivation, start));
            states.filter_map(|state| Velocity::new(derivation, state)).take(STATES).collect()
        });
        first.iter().filter_map(|velocity| trial(derivation, integral, velocity, velocity.state.doubles())).collect()
    }

    /// A witness whose numbers have two digits.
    fn rounded(&self, integral: IntegralId) -> Option<Witness> {
        if self.derivation.integrals.constraints().next().is_some() {
            return None;
        }
        let round = |values: Values| values.map(|value| (value * 100.0).round() / 100.0);
        let states = states::general(&self.derivation.symbols).take(STATES);
        let trials: Vec<RateTrial> = states.filter_map(|start| self.trial(integral, round(start))).collect();
        witness(&trials)
    }

    /// The rate in the state on the constraint set that a start leads to.
    fn trial(&self, integral: IntegralId, start: Values) -> Option<RateTrial> {
        let state = states::consistent(self.derivation, start.clone())?;
        trial(self.derivation, integral, &Velocity::new(self.derivation, state)?, start)
    }

    /// How many states of each kind are tried.
    fn count(&self, integral: IntegralId) -> usize {
        let solved: usize = self.derivation.field.systems.iter().map(|system| system.unknowns.len().pow(2)).sum();
        let nodes = self.expressions(integral).into_iter().flat_map(Expression::nodes);
        let cost = nodes.map(cost).sum::<usize>() + 10 * solved;
        (WORK / cost.max(1)).clamp(FEWEST, MOST)
    }

    /// What dI.X is made of.
    fn expressions(&self, integral: IntegralId) -> Vec<&'a Expression> {
        let derivation = self.derivation;
        let gradient = derivation.integrals[integral].gradient.values();
        gradient.chain(derivation.field.expressions()).collect()
    }
}

fn cost(node: &Expression) -> usize {
    if matches!(node, Expression::Call(..)) { COST_OF_FUNCTION } else { 1 }
}

fn trial(derivation: &Derivation, integral: IntegralId, velocity: &Velocity, start: Values) -> Option<RateTrial> {
    let (rate, size) = velocity.rate(&derivation.integrals[integral].gradient)?;
    Some(RateTrial { start, state: velocity.state.doubles(), rate, size })
}

/// A witness that is far away, or close to where something changes.
fn remote(trials: &[RateTrial]) -> Option<Witness> {
    witness(trials).map(|witness| Witness { is_exact: true, ..witness })
}

/// The first state with the largest rate among those in which it certainly does not vanish.
fn witness(trials: &[RateTrial]) -> Option<Witness> {
    let certain = trials.iter().filter(|trial| trial.rate.is_nonzero());
    let largest = certain.reduce(|best, trial| if trial.relative() > best.relative() { trial } else { best })?;
    Some(Witness { state: largest.state.clone(), value: largest.rate.to_f64(), is_exact: false })
}
