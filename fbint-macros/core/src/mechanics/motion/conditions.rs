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

/// The rows dg(u_i) of these functions of the coordinates, with dg/dt for the last direction where [`forms`] have it.
pub(crate) fn differentials<'e>(
    problem: &Problem,
    functions: impl Iterator<Item = &'e Expression>,
) -> Option<Vec<Vec<Expression>>> {
    let symbols = &problem.symbols;
    let frame = frame(problem)?;
    let row = |function| {
        let slopes = slopes(symbols, function)?;
        let entries = frame.values().map(|direction| along(direction, |x| entry(&slopes, x)));
        let of_time = is_moving(problem).then(|| by_time(symbols, &slopes));
        Some(entries.chain(of_time).collect())
    };
    functions.map(row).collect()
}

/// The directions in which velocities, or else rates, move the coordinates.
fn frame(problem: &Problem) -> Option<BTreeMap<Symbol, SparseRow>> {
    match &problem.dynamics {
        Dynamics::Lagrangian(lagrangian) => directions(&problem.symbols, lagrangian),
        _ => {
            let coordinates = problem.symbols.with(|role| matches!(role, Role::Coordinate { .. }));
            Some(coordinates.into_iter().map(|x| (x, SparseRow::from([(x, Expression::one())]))).collect())
        }
    }
}

/// Returns `true` if some velocity constraints move.
fn is_moving(problem: &Problem) -> bool {
    problem.reactions.iter().any(|reaction| !reaction.offset.is_zero())
}

/// The forms of the velocity constraints, in the frame of the system; with the time as the last direction, along which they are b, where
/// some of them move.
pub(crate) fn forms(problem: &Problem) -> Option<Vec<DifferentialForm>> {
    let symbols = &problem.symbols;
    let one = |symbol: Symbol| SparseRow::from([(symbol, Expression::one())]);
    let frame = frame(problem)?;
    let brackets: &[FrameBracket] =
        if let Dynamics::Lagrangian(lagrangian) = &problem.dynamics { &lagrangian.brackets } else { &[] };
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
    // d w (u_i, d/dt) = u_i[b] - dw_i/dt
    let with_time = |form: &SparseRow, offset: &Expression, i: Symbol| {
        let along_direction = along(&frame[&i], |x| entry(&slopes(symbols, offset).unwrap_or_default(), x));
        Some(along_direction - by_time(symbols, &slopes(symbols, &entry(form, i))?))
    };
    let is_moving = is_moving(problem);
    let form = |(form, offset): (SparseRow, Expression)| {
        let pairs = (0..axes.len()).flat_map(|i| (i + 1..axes.len()).map(move |j| (i, j)));
        let mut derivative: Vec<(usize, usize, Expression)> =
            pairs.map(|(i, j)| Some((i, j, derivative(&form, axes[i], axes[j])?))).collect::<Option<_>>()?;
        let mut row: Vec<Expression> = axes.iter().map(|axis| entry(&form, *axis)).collect();
        if is_moving {
            for (i, axis) in axes.iter().enumerate() {
                derivative.push((i, axes.len(), with_time(&form, &offset, *axis)?));
            }
            row.push(offset);
        }
        Some(DifferentialForm { row, derivative })
    };
    let vanishing = symbols.with(|role| matches!(role, Role::Vanishing { .. })).into_iter();
    let held = problem.reactions.iter().map(|reaction| (reaction.along.clone(), reaction.offset.clone()));
    vanishing.map(|velocity| (one(velocity), Expression::zero())).chain(held).map(form).collect()
}
