//! Canonical systems with velocity constraints f = A(q) dH/dp.
//!
//! q' = H_p - f_p^T c2,  p' = -H_q + f_q^T c2 + A^T c1,  where S = A f_p^T = A H_pp A^T,
//! S c2 = f among the rates of holonomic constraints, and c1 of all makes df.X = 0.

use super::{Force, Motion, Row, along, entry, forces, slopes};
use crate::derivation::{Implicit, IntegralId, LinearSystem, Problem, Role};
use crate::expression::{Expression, Symbol};
use crate::table::Table;

pub(super) fn motion(problem: &Problem, hamiltonian: &Expression) -> Option<Motion> {
    let symbols = &problem.symbols;
    let slope = slopes(symbols, hamiltonian)?;
    let partner = |symbol: Symbol| match symbols[symbol].role {
        Role::Coordinate { momentum } => Some(momentum),
        Role::Momentum { coordinate } => Some(coordinate),
        _ => None,
    };
    let rate_of_coordinate = |q: Symbol| partner(q).map_or_else(Expression::zero, |p| entry(&slope, p));
    let forces = forces(problem, |constraint| slopes(symbols, constraint))?;
    let mut derived = std::collections::BTreeMap::new();
    for Force { kept, row, .. } in forces.iter().filter(|force| force.is_holonomic) {
        derived.insert(*kept, along(row, rate_of_coordinate));
    }
    let energy = problem.integrals.iter().find(|(_, integral)| integral.kind == crate::derivation::Kind::Energy)?.0;
    derived.insert(energy, hamiltonian.clone());
    let value = |id: IntegralId| derived.get(&id).or(problem.integrals[id].value.as_ref());
    let of_kept: Vec<Row> = forces.iter().map(|force| slopes(symbols, value(force.kept)?)).collect::<Option<_>>()?;
    let dirac: Vec<usize> = (0..forces.len()).filter(|&r| forces[r].is_holonomic).collect();
    let multiplier = |id: IntegralId| symbols.multiplier(id);

    // S
    let product = |r: usize, s: usize| {
        along(&forces[r].row, |q| partner(q).map_or_else(Expression::zero, |p| entry(&of_kept[s], p)))
    };
    let mut systems = Vec::new();
    if !dirac.is_empty() {
        systems.push(LinearSystem {
            unknowns: dirac.iter().map(|&r| multiplier(forces[r].kept)).collect::<Option<_>>()?,
            matrix: dirac.iter().map(|&r| dirac.iter().map(|&s| product(r, s)).collect()).collect(),
            right_side: dirac.iter().map(|&r| value(forces[r].kept).cloned()).collect::<Option<_>>()?,
        });
    }
    // sum over the Dirac rows of c2 df / d symbol
    let shifted = |symbol: Symbol| {
        Expression::sum(dirac.iter().filter_map(|&r| {
            let slope = of_kept[r].get(&symbol)?;
            Some(Expression::from(multiplier(forces[r].kept)?) * slope.clone())
        }))
    };
    // The rates without the forces A^T c1.
    let free = |symbol: Symbol| match symbols[symbol].role {
        Role::Coordinate { momentum } => entry(&slope, momentum) - shifted(momentum),
        Role::Momentum { coordinate } => shifted(coordinate) - entry(&slope, coordinate),
        _ => Expression::zero(),
    };
    systems.push(LinearSystem {
        unknowns: forces.iter().map(|force| multiplier(force.constraint)).collect::<Option<_>>()?,
        matrix: (0..forces.len()).map(|r| (0..forces.len()).map(|s| product(r, s)).collect()).collect(),
        right_side: of_kept.iter().map(|row| -along(row, free)).collect(),
    });
    let reaction = |coordinate: Symbol| {
        Expression::sum(forces.iter().filter_map(|force| {
            let entry = force.row.get(&coordinate)?;
            Some(entry.clone() * Expression::from(multiplier(force.constraint)?))
        }))
    };
    let rate = |symbol: Symbol| match symbols[symbol].role {
        Role::Momentum { coordinate } => free(symbol) + reaction(coordinate),
        _ => free(symbol),
    };
    let rates: Table<Symbol, Expression> = symbols.states().map(rate).collect();
    Some(Motion { field: Implicit { systems, rates }, hamel: None, derived })
}
