//! dI.X, written out.

use super::phase_space::{Observable, PhaseSpace};
use super::simplify::Simplify;
use crate::derivation::{Constraints, Derivation, Field, Implicit, IntegralId};
use crate::expression::Expression;

/// dI.X where the constraints hold, with the multipliers of reactions as symbols. What is not finite and real stands as a number that is
/// not 0: nothing is proved of it, and no state will be found for it.
pub fn rate(derivation: &Derivation, integral: IntegralId, simplify: &dyn Simplify) -> Expression {
    let space = PhaseSpace::of(derivation, simplify);
    let own = Observable::of(&derivation.integrals[integral]);
    let rate = match &derivation.field {
        Field::Given(rates) | Field::Implicit(Implicit { rates, .. }) => {
            let terms = own.slopes().map(|(symbol, slope)| slope.clone() * rates[symbol].clone());
            space.simplified(&Expression::sum(terms))
        }
        Field::Dirac(constraints) => {
            let observable = |id: IntegralId| Observable::of(&derivation.integrals[id]);
            // On the constraint set, the multipliers of the rates of holonomic constraints vanish.
            let acting = match constraints {
                Constraints::Holonomic { pairs, .. } => pairs.iter().map(|(constraint, _)| *constraint).collect(),
                Constraints::General { members, .. } => members.clone(),
            };
            let reactions = acting.into_iter().map(|constraint| {
                let multiplier = Expression::from(derivation.symbols.multiplier(constraint)?);
                Some(multiplier * space.response(&own, &observable(constraint))?)
            });
            let free = derivation.integrals.energy().map(|energy| space.free_rate(&own, &observable(energy)));
            free.into_iter().chain(reactions).collect::<Option<Vec<_>>>().map(Expression::sum)
        }
    };
    rate.unwrap_or_else(Expression::one)
}
