//! dI.X, written out.

use super::simplify::Simplify;
use crate::derivation::{Derivation, IntegralId, Kind, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;

/// dI.X, which is linear in the multipliers. A part that is not finite and real stands as a number that is not 0: nothing is proved of it,
/// and no state will be found for it.
pub struct RateParts {
    /// What contains no multiplier.
    pub free: Expression,
    /// By the multipliers, what each is multiplied with.
    pub responses: Vec<(Symbol, Expression)>,
}

impl RateParts {
    /// The parts, each in a shorter form.
    pub fn of(derivation: &Derivation, integral: IntegralId, simplify: &dyn Simplify) -> Self {
        let rates = &derivation.field.rates;
        let terms = derivation.integrals[integral].gradient.iter();
        let rate = Expression::sum(terms.map(|(symbol, slope)| slope.clone() * rates[*symbol].clone()));
        let is_multiplier = |symbol: Symbol| matches!(derivation.symbols[symbol].role, Role::Multiplier(_));
        let shorter = |part: &Expression| simplify.simplified(part).unwrap_or_else(Expression::one);
        let without = |symbol| if is_multiplier(symbol) { Expression::zero() } else { Expression::from(symbol) };
        let free = shorter(&rate.substituted(&without));
        let responses = derivative::gradient(&rate, is_multiplier).into_iter().flatten();
        Self { free, responses: responses.map(|(multiplier, response)| (multiplier, shorter(&response))).collect() }
    }

    /// dI.X where the constraints hold, where the multipliers of the rates of holonomic constraints vanish.
    pub fn on_constraints(self, derivation: &Derivation) -> Expression {
        let is_rate = |id: IntegralId| matches!(derivation.integrals[id].kind, Kind::Rate { .. });
        let acts = |multiplier: Symbol| !derivation.symbols.constraint(multiplier).is_some_and(is_rate);
        let acting = self.responses.into_iter().filter(|(multiplier, _)| acts(*multiplier));
        let reactions = acting.map(|(multiplier, response)| Expression::from(multiplier) * response);
        Expression::sum([self.free].into_iter().chain(reactions))
    }
}

/// dI.X where the constraints hold, with the multipliers of reactions as symbols.
pub fn rate(derivation: &Derivation, integral: IntegralId, simplify: &dyn Simplify) -> Expression {
    RateParts::of(derivation, integral, simplify).on_constraints(derivation)
}
