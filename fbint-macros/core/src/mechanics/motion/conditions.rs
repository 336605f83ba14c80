//! Conditions on a Lagrangian, on reactions and on velocity constraints, written out for `proofs` to decide.

use std::collections::BTreeMap;

use super::hamel::directions;
use super::{along, by_time, entry, motion, rows, slopes};
use crate::derivation::{Dynamics, FrameBracket, IntegralId, Lagrangian, Problem, Role, SparseRow, Symbols};
use crate::expression::{Expression, Symbol};
use crate::proofs::{DifferentialForm, VanishingFunction, vanish_where};

/// Which of several constraints, each with all of its entries, the velocities keep by themselves wherever all of them hold.
pub(crate) fn keeps(symbols: &Symbols, lagrangian: &Lagrangian, constraints: &[Vec<&Expression>]) -> Vec<bool> {
    let gradients = constraints.iter().map(|entries| entries.iter().map(|entry| slopes(symbols, entry)).collect());
    let (Some(gradients), Some(directions)) =
        (gradients.collect::<Option<Vec<Vec<SparseRow>>>>(), directions(symbols, lagrangian))
    else {
        return vec![false; constraints.len()];
    };
    let rate = |slopes: &SparseRow| {
        let free = directions.iter().filter(|(velocity, _)| symbols[**velocity].role == Role::Velocity);
        let moved =
            free.map(|(velocity, direction)| Expression::from(*velocity) * along(direction, |x| entry(slopes, x)));
        Expression::sum(moved.chain([by_time(symbols, slopes)]))
    };
    let rates: Vec<Vec<Expression>> = gradients.iter().map(|rows| rows.iter().map(rate).collect()).collect();
    let functions = constraints.iter().flatten().zip(gradients.iter().flatten());
    let functions: Vec<_> = functions.map(|(value, gradient)| VanishingFunction { value, gradient }).collect();
    vanish_where(symbols, &functions, &rates)
}

/// The mass matrix of a Lagrangian system, by its velocities.
pub(crate) fn mass_matrix(problem: &Problem) -> Option<Vec<Vec<Expression>>> {
    let is_acceleration = |symbol: &Symbol| matches!(problem.symbols[*symbol].role, Role::Acceleration { .. });
    let mut systems = motion(problem)?.field.systems.into_iter();
    Some(systems.find(|system| system.unknowns.iter().any(is_acceleration))?.matrix)
}

/// The constraints that have reactions, and the matrix whose columns are the rows along which these act.
pub(crate) fn reaction_matrix(problem: &Problem) -> Option<(Vec<IntegralId>, Vec<Vec<Expression>>)> {
    let (constraints, rows): (Vec<IntegralId>, Vec<SparseRow>) = rows(problem)?.into_iter().unzip();
    let entries = problem.symbols.with(|role| matches!(role, Role::Velocity | Role::Coordinate { .. }));
    Some((constraints, entries.iter().map(|x| rows.iter().map(|row| entry(row, *x)).collect()).collect()))
}

/// The forms of the velocity constraints, in the frame of the system.
pub(crate) fn forms(problem: &Problem) -> Option<Vec<DifferentialForm>> {
    let symbols = &problem.symbols;
    let one = |symbol: Symbol| SparseRow::from([(symbol, Expression::one())]);
    let (frame, brackets): (BTreeMap<Symbol, SparseRow>, &[FrameBracket]) = match &problem.dynamics {
        Dynamics::Lagrangian(lagrangian) => (directions(symbols, lagrangian)?, &lagrangian.brackets),
        _ => {
            let coordinates = symbols.with(|role| matches!(role, Role::Coordinate { .. }));
            (coordinates.into_iter().map(|x| (x, one(x))).collect(), &[])
        }
    };
    let axes: Vec<Symbol> = frame.keys().copied().collect();
    // d w (u_i, u_j) = u_i[w_j] - u_j[w_i] - c^a_ij w_a
    let derivative = |form: &SparseRow, i: Symbol, j: Symbol| {
        let moved = |by: Symbol, of: Symbol| {
            let slopes = slopes(symbols, &entry(form, of))?;
            Some(along(&frame[&by], |x| entry(&slopes, x)))
        };
        let bracket = brackets.iter().find(|bracket| bracket.of == (i, j));
        let turned = bracket.map(|bracket| along(&bracket.coefficients, |a| entry(form, a)));
        Some(moved(i, j)? - moved(j, i)? - turned.unwrap_or_else(Expression::zero))
    };
    let form = |form: SparseRow| {
        let pairs = (0..axes.len()).flat_map(|i| (i + 1..axes.len()).map(move |j| (i, j)));
        let derivative =
            pairs.map(|(i, j)| Some((i, j, derivative(&form, axes[i], axes[j])?))).collect::<Option<_>>()?;
        Some(DifferentialForm { row: axes.iter().map(|axis| entry(&form, *axis)).collect(), derivative })
    };
    let vanishing = symbols.with(|role| matches!(role, Role::Vanishing { .. }));
    let held = problem.reactions.iter().map(|reaction| reaction.along.clone());
    vanishing.into_iter().map(one).chain(held).map(form).collect()
}
