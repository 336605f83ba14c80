//! The field of Lagrangian systems, and what has to hold of a frame, an inertia and reactions.
//!
//! Everything is written by automatic differentiation of what is declared, without algebra and without simplification: `mechanics`
//! simplifies it, and `check` puts it into d'Alembert's equations, without what is written here. Holonomic constraints g with g' = A q'
//! have Dirac's form, which conserves the energy in every state; velocity constraints f = A q' have the form of Lagrange's multipliers,
//! which is the more accurate one (the two agree where the constraints hold).
//!
//! A driven system has generalised forces Q, constraints g and an energy that may depend on the time t, whose rate is 1, and an entry
//! W for the work that is done on it:
//!
//! W' = Q . q' + dH/dt - sum over the constraints f of c_f df/dt
//!
//! so that H - W is conserved as H is in other systems (the last sum is the power of moving constraints; of a velocity constraint
//! A q' + b = 0 it has c b). The time is an entry of the
//! state with rate 1, which makes it right in every stage of every method. It has no error: no projection moves it, and the feedback
//! field leaves out its row.

mod conditions;
mod frame;
mod hamel;

use std::collections::BTreeMap;

pub(crate) use self::conditions::{differentials, forms, keeps, mass_matrix, reaction_matrix};
pub(crate) use self::frame::{Misfit, brackets};
pub(crate) use self::hamel::motion;
use crate::derivation::{Dynamics, Field, Hamel, IntegralId, Problem, Role, SparseRow, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{self, entry};

/// The field of a Lagrangian system, and what else follows from the declaration.
pub(crate) struct LagrangianMotion {
    pub(crate) field: Field,
    pub(crate) hamel: Hamel,
    /// The functions of integrals that are not declared: rates of constraints, and the energy.
    pub(crate) derived: BTreeMap<IntegralId, Expression>,
}

/// The rows A along which reactions act, with the constraints that have the multipliers, holonomic ones first: by the velocities or the
/// coordinates along which they act; of a holonomic constraint that moves also dg/dt, by the time.
fn rows(problem: &Problem) -> Option<Vec<(IntegralId, SparseRow)>> {
    let symbols = &problem.symbols;
    let directions = match &problem.dynamics {
        Dynamics::Lagrangian(lagrangian) => Some(hamel::directions(symbols, lagrangian)?),
        _ => None,
    };
    let holonomic = |(constraint, _): (IntegralId, IntegralId)| {
        let slopes = slopes(symbols, problem.integrals[constraint].value.as_ref()?)?;
        let Some(directions) = &directions else { return Some((constraint, slopes)) };
        let by_velocities = directions.iter().map(|(a, direction)| (*a, along(direction, |x| entry(&slopes, x))));
        let by_time = slopes.iter().filter(|(symbol, _)| symbols[**symbol].role == Role::Time);
        Some((constraint, by_velocities.chain(by_time.map(|(time, entry)| (*time, entry.clone()))).collect()))
    };
    let held = problem.reactions.iter().map(|held| Some((held.constraint, held.along.clone())));
    problem.integrals.holonomic_pairs().into_iter().map(holonomic).chain(held).collect()
}

/// The partial derivative by the time, from the slopes of an expression.
fn by_time(symbols: &Symbols, row: &SparseRow) -> Expression {
    symbols.only(Role::Time).map_or_else(Expression::zero, |time| entry(row, time))
}

/// The derivatives of an expression by entries of the state.
fn slopes(symbols: &Symbols, expression: &Expression) -> Option<SparseRow> {
    derivative::gradient(expression, |symbol| symbols.is_state(symbol))
}

/// The scalar product of a row with what belongs to each symbol.
fn along(row: &SparseRow, vector: impl Fn(Symbol) -> Expression) -> Expression {
    Expression::sum(row.iter().map(|(symbol, entry)| entry.clone() * vector(*symbol)))
}
