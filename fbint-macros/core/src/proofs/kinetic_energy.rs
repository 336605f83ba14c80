//! How H depends on the momenta.

use crate::derivation::{Integrals, KineticEnergy, Role, Symbols};
use crate::expression::{Expression, Symbol};

use super::identities::vanishes_identically;

/// Whether H = T(p) + U(q), and whether T is quadratic, from the gradient of H: no velocity dH/dp depends on q, and each is an
/// affine function of p.
pub(crate) fn kinetic_energy(symbols: &Symbols, integrals: &Integrals) -> KineticEnergy {
    let energy = integrals.energy().map(|energy| &integrals[energy]);
    let is_momentum = |symbol: &Symbol| matches!(symbols[*symbol].role, Role::Momentum { .. });
    let is_coordinate = |symbol: &Symbol| matches!(symbols[*symbol].role, Role::Coordinate { .. });
    let gradient = energy.iter().flat_map(|energy| &energy.gradient);
    let velocities: Vec<&Expression> =
        gradient.filter(|(symbol, _)| is_momentum(symbol)).map(|(_, velocity)| velocity).collect();
    let momenta = |velocity: &Expression| velocity.symbols().into_iter().filter(is_momentum).collect::<Vec<Symbol>>();
    let has_momenta = energy.is_some() && symbols.states().any(|symbol| is_momentum(&symbol));
    if !has_momenta || velocities.iter().any(|velocity| velocity.symbols().iter().any(is_coordinate)) {
        KineticEnergy::General
    } else if velocities.iter().all(|velocity| is_affine(velocity, &momenta(velocity))) {
        KineticEnergy::Quadratic
    } else {
        KineticEnergy::Separable
    }
}

/// v(p) = v(0) + sum_j p_j (v(e_j) - v(0))
fn is_affine(velocity: &Expression, momenta: &[Symbol]) -> bool {
    let with = |one: Option<Symbol>| {
        velocity.substituted(&|symbol| match momenta.contains(&symbol) {
            true => Expression::integer(i64::from(one == Some(symbol))),
            false => Expression::from(symbol),
        })
    };
    let constant = with(None);
    let slope = |&symbol: &Symbol| Expression::from(symbol) * (with(Some(symbol)) - constant.clone());
    let affine = Expression::sum(momenta.iter().map(slope).chain([constant.clone()]));
    momenta.is_empty() || vanishes_identically(&(velocity.clone() - affine))
}
