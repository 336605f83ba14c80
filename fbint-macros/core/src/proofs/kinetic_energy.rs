//! The dependence of H on the momenta.

use crate::derivation::{Derivation, Kind, KineticEnergy, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;

use super::identities::vanishes_identically;

/// Whether H = T(p) + U(q), and whether T is quadratic, from the gradient of H: no velocity dH/dp depends on q, and each is an affine
/// function of p. Drives, and reactions of velocity constraints, take no part in H.
pub fn kinetic_energy(derivation: &Derivation) -> KineticEnergy {
    let Derivation { symbols, integrals, .. } = derivation;
    let has_reactions = integrals.rows().any(|integral| integral.kind == Kind::Velocity);
    let energy = integrals.energy().map(|energy| &integrals[energy]);
    let is_momentum = |symbol: &Symbol| matches!(symbols[*symbol].role, Role::Momentum { .. });
    let is_coordinate = |symbol: &Symbol| matches!(symbols[*symbol].role, Role::Coordinate { .. });
    let gradient = energy.iter().flat_map(|energy| &energy.gradient);
    let velocities: Vec<&Expression> =
        gradient.filter(|(symbol, _)| is_momentum(symbol)).map(|(_, velocity)| velocity).collect();
    let has_momenta = energy.is_some() && symbols.states().any(|symbol| is_momentum(&symbol));
    if !has_momenta
        || symbols.is_driven()
        || has_reactions
        || velocities.iter().any(|velocity| velocity.symbols().iter().any(is_coordinate))
    {
        KineticEnergy::General
    } else if velocities.iter().all(|velocity| is_affine(velocity, &|symbol| is_momentum(&symbol))) {
        KineticEnergy::Quadratic
    } else {
        KineticEnergy::Separable
    }
}

/// Returns `true` if no derivative by a momentum depends on the momenta.
fn is_affine(velocity: &Expression, is_momentum: &impl Fn(Symbol) -> bool) -> bool {
    let is_constant = |slope: &Expression| {
        derivative::gradient(slope, is_momentum).is_some_and(|slopes| slopes.values().all(vanishes_identically))
    };
    derivative::gradient(velocity, is_momentum).is_some_and(|slopes| slopes.values().all(is_constant))
}
