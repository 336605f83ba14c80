//! The mass matrix of a Lagrangian system, and the forces that give accelerations.
//!
//! Where no constraint reacts, M xi' = b. So tau = M a - b, added to the forces that are declared, gives the accelerations a; where
//! these keep to the constraints, no constraint reacts then. Where constraints determine velocities without inertia, tau follows from the
//! equations with M_s, in which such accelerations give the same forces.

use super::fields::FunctionParts;
use super::lower::TermOrder;
use super::monomial::Monomial;
use super::systems::solve_system;
use crate::derivation::{Derivation, Hamel, LinearSystem, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{self, entry};
use crate::program::code::{Input, Program};

/// M, row by row.
pub(crate) fn mass_matrix(parts: &FunctionParts<'_>) -> Program {
    match parts.derivation.hamel.as_ref().filter(|hamel| hamel.is_augmented) {
        Some(hamel) => parts.lowering().program(inertia(parts.derivation, hamel).iter()),
        None => {
            let matrix = equations(parts.derivation).map(|(_, equations)| &equations.matrix);
            parts.lowering().program(matrix.into_iter().flatten().flatten())
        }
    }
}

/// dp/dxi, row by row, where the equations have M_s.
fn inertia(derivation: &Derivation, hamel: &Hamel) -> Vec<Expression> {
    let velocities = derivation.symbols.with(|role| role == Role::Velocity);
    let slopes = |momentum| derivative::gradient(momentum, |symbol| velocities.contains(&symbol)).unwrap_or_default();
    let row = |of: &Symbol| {
        let slopes = hamel.momenta.get(of).map(slopes).unwrap_or_default();
        velocities.iter().map(move |by| entry(&slopes, *by)).collect::<Vec<_>>()
    };
    velocities.iter().flat_map(row).collect()
}

/// tau
pub(crate) fn inverse_dynamics(parts: &FunctionParts<'_>) -> Program {
    let mut lowering = parts.lowering();
    let mut rows = Vec::new();
    if let Some((before, LinearSystem { matrix, right_side, .. })) = equations(parts.derivation) {
        before.iter().for_each(|system| solve_system(&mut lowering, system));
        for (row, right) in matrix.iter().zip(right_side) {
            let entries = row.iter().enumerate().filter(|(_, entry)| !entry.is_zero());
            let inertia = entries.map(|(place, entry)| {
                let acceleration = lowering.builder.input(Input::Acceleration(place));
                lowering.monomial(entry).times(&Monomial::value(acceleration))
            });
            let inertia: Vec<Monomial> = inertia.collect();
            rows.push(inertia.into_iter().chain(lowering.terms(right).into_iter().map(Monomial::negated)).collect());
        }
    }
    let outputs = lowering.sums(TermOrder::Written, rows);
    lowering.builder.finish(outputs)
}

/// M xi' = b, and the systems whose solutions are in it.
fn equations(derivation: &Derivation) -> Option<(&[LinearSystem], &LinearSystem)> {
    let systems = &derivation.field.systems;
    let is_acceleration = |symbol: &Symbol| matches!(derivation.symbols[*symbol].role, Role::Acceleration { .. });
    let place = systems.iter().position(|system| system.unknowns.iter().any(is_acceleration))?;
    Some((&systems[..place], &systems[place]))
}
