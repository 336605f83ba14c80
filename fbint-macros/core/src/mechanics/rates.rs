//! dI.X, written out, and what its form shows of conservation.
//!
//! With the multipliers as symbols, which numbers solve for: where dI.X vanishes whatever they are, nothing has to be eliminated, which makes
//! high degrees.

use super::simplify::Simplify;
use crate::derivation::table::Table;
use crate::derivation::{Claim, Conservation, Derivation, Evidence, IntegralId, Kind, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;

/// The statement on the conservation of every integral: these grades, or else the consequence of its rate's form.
pub fn claims(
    derivation: &Derivation,
    grades: &Table<IntegralId, Option<Conservation>>,
    simplify: &dyn Simplify,
) -> Table<IntegralId, Claim> {
    let claim = |(integral, grade): (IntegralId, &Option<Conservation>)| {
        grade.map_or_else(|| claim(derivation, integral, simplify), Claim::Proved)
    };
    grades.iter().map(claim).collect()
}

fn claim(derivation: &Derivation, integral: IntegralId, simplify: &dyn Simplify) -> Claim {
    let (free, responses) = parts_of_rate(derivation, integral, simplify);
    // There may be too many roots for points modulo primes, such as the distances of many bodies, where terms cancel by expansion.
    if free.is_zero() && responses.iter().all(|(_, response)| response.is_zero()) {
        return Claim::Proved(Conservation::Everywhere(Evidence::Algebra));
    }
    let acting = responses.into_iter().filter(|(multiplier, _)| acts_on_constraints(derivation, *multiplier));
    let reactions = acting.map(|(multiplier, response)| Expression::from(multiplier) * response);
    let rate = Expression::sum([free].into_iter().chain(reactions));
    let set: Vec<&Expression> = derivation.integrals.constraints().map(|(_, constraint)| &constraint.value).collect();
    if !set.is_empty() && simplify.vanishes_where(&rate, &set) {
        return Claim::Proved(Conservation::OnConstraints(Evidence::Algebra));
    }
    Claim::Open { rate }
}

/// Returns `true` if a multiplier may be other than 0 where the constraints hold. Multipliers of the rates of holonomic constraints are 0 there,
/// unless there are phase constraints, with which these rates may have brackets.
fn acts_on_constraints(derivation: &Derivation, multiplier: Symbol) -> bool {
    let kind = |constraint| derivation.integrals[constraint].kind;
    let is_of_rate = matches!(derivation.symbols.constraint(multiplier).map(kind), Some(Kind::Rate { .. }));
    !is_of_rate || derivation.integrals.rows().any(|integral| integral.kind == Kind::Phase)
}

/// dI.X, which is linear in the multipliers: the part without multipliers, and the factor of each, in shorter forms. A part that is not
/// finite and real becomes a number that is not 0: nothing is proved of it, and no state will be found for it.
fn parts_of_rate(
    derivation: &Derivation,
    integral: IntegralId,
    simplify: &dyn Simplify,
) -> (Expression, Vec<(Symbol, Expression)>) {
    let rates = &derivation.field.rates;
    let terms = derivation.integrals[integral].gradient.iter();
    let rate = Expression::sum(terms.map(|(symbol, slope)| slope.clone() * rates[*symbol].clone()));
    let is_multiplier = |symbol: Symbol| matches!(derivation.symbols[symbol].role, Role::Multiplier(_));
    let shorter = |part: &Expression| simplify.simplified(part).unwrap_or_else(Expression::one);
    let without = |symbol| if is_multiplier(symbol) { Expression::zero() } else { Expression::from(symbol) };
    let responses = derivative::gradient(&rate, is_multiplier).into_iter().flatten();
    let responses = responses.map(|(multiplier, response)| (multiplier, shorter(&response)));
    (shorter(&rate.substituted(&without)), responses.collect())
}
