//! dI.X as a residue at a point, for proofs that it vanishes.
//!
//! The linear systems of the field are solved at the point: no determinant is written out, however many constraints there are. Where one
//! has no solution, nothing is proved.

use std::collections::{BTreeMap, BTreeSet};

use super::identities::holds_on;
use super::point::ModularPoint;
use super::rotation::Rotation;
use super::set::{Constraint, Set};
use crate::derivation::{Derivation, Field, LinearSystem, Role, SparseRow};
use crate::expression::{Expression, Symbol};
use crate::numbers::linear::solution;

/// Returns `true` if dI.X is proved to vanish in every state where it is defined, for each of these gradients dI.
pub(super) fn vanish_everywhere(derivation: &Derivation, gradients: &[&SparseRow]) -> bool {
    vanish(derivation, gradients, &Set::default())
}

/// Returns `true` if dI.X is proved to vanish on one of these sets, wherever it is defined.
pub(super) fn vanishes_on_any(derivation: &Derivation, gradient: &SparseRow, sets: &[Set<'_>]) -> bool {
    sets.iter().any(|set| vanish(derivation, &[gradient], set))
}

/// Sets that contain the constraint set, small ones last. A hinge leaves no entry of two rotation matrices open that it could be solved for,
/// and that these are kept follows without it.
pub(super) fn sets_around_constraints(derivation: &Derivation) -> Vec<Set<'_>> {
    constraint_set(derivation).map_or_else(Vec::new, sets_around)
}

/// Sets that contain this one, small ones last.
pub(super) fn sets_around(set: Set<'_>) -> Vec<Set<'_>> {
    let of_rotations = (!set.rotations.is_empty()).then(|| set.of_rotations());
    let of_more = (!set.constraints.is_empty()).then(|| set.satisfiable());
    of_rotations.into_iter().chain(of_more).collect()
}

/// The constraint set; none where there are no constraints.
pub(super) fn constraint_set(derivation: &Derivation) -> Option<Set<'_>> {
    let symbols = &derivation.symbols;
    let mut constraints = Constraint::all(derivation);
    if constraints.is_empty() {
        return None;
    }
    Some(Set {
        rotations: Rotation::take(&mut constraints),
        constraints,
        variables: symbols.states().collect(),
        velocities: symbols.with(|role| matches!(role, Role::Velocity | Role::Momentum { .. })),
    })
}

fn vanish(derivation: &Derivation, gradients: &[&SparseRow], set: &Set<'_>) -> bool {
    let rates = &derivation.field.rates;
    let states: BTreeSet<Symbol> = gradients.iter().flat_map(|gradient| gradient.keys().copied()).collect();
    let relevant: Vec<&Expression> = states.iter().map(|state| &rates[*state]).collect();
    let systems = needed(&derivation.field, &relevant);
    let entries = systems.iter().flat_map(|system| system.expressions());
    let slopes = gradients.iter().flat_map(|gradient| gradient.values());
    let parts: Vec<&Expression> = slopes.chain(relevant.iter().copied()).chain(entries).collect();
    let is_kept = |point: &mut ModularPoint, gradient: &SparseRow| {
        let field = point.field;
        let mut rate = 0;
        for (state, slope) in gradient {
            rate = field.add(rate, field.multiply(point.evaluate(slope)?, point.evaluate(&rates[*state])?));
        }
        Some(rate == 0)
    };
    let are_kept = |point: &mut ModularPoint| {
        bind_solutions(point, systems.iter().copied())?;
        let mut kept = gradients.iter().map(|gradient| is_kept(point, gradient));
        kept.try_fold(true, |all, kept| Some(all && kept?))
    };
    holds_on(&parts, set, growth(&systems), are_kept)
}

/// A bound for the degree of what is made of the solutions of systems, relative to the degrees of all of their entries. A solution is a
/// quotient of minors, and the degree of an entry grows with what it contains.
fn growth(systems: &[&LinearSystem]) -> f64 {
    let mut degrees: BTreeMap<Symbol, f64> = BTreeMap::new();
    for system in systems {
        let degree = |entries: &mut dyn Iterator<Item = &Expression>| {
            let symbols = entries.flat_map(Expression::symbols);
            1.0 + symbols.filter_map(|symbol| degrees.get(&symbol).copied()).fold(0.0, f64::max)
        };
        let of_matrix = degree(&mut system.matrix.iter().flatten());
        let solved = of_matrix * (system.unknowns.len() + 1) as f64 + degree(&mut system.right_side.iter());
        degrees.extend(system.unknowns.iter().map(|unknown| (*unknown, solved)));
    }
    1.0 + degrees.into_values().fold(0.0, f64::max)
}

/// The systems whose solutions these expressions contain, or that such systems contain.
fn needed<'a>(field: &'a Field, expressions: &[&Expression]) -> Vec<&'a LinearSystem> {
    let mut symbols: BTreeSet<Symbol> = expressions.iter().flat_map(|expression| expression.symbols()).collect();
    let mut systems = Vec::new();
    for system in field.systems.iter().rev() {
        if system.unknowns.iter().any(|unknown| symbols.contains(unknown)) {
            symbols.extend(system.expressions().flat_map(Expression::symbols));
            systems.insert(0, system);
        }
    }
    systems
}

/// Solves linear systems in their order: each may contain the unknowns of earlier ones.
pub(super) fn bind_solutions<'a>(
    point: &mut ModularPoint,
    systems: impl IntoIterator<Item = &'a LinearSystem>,
) -> Option<()> {
    for system in systems {
        let rows = system.rows().map(|row| point.evaluate_all(row)).collect::<Option<_>>()?;
        let solution = solution(point.field, rows)?;
        system.unknowns.iter().zip(solution).for_each(|(unknown, residue)| point.bind(*unknown, residue));
    }
    Some(())
}
