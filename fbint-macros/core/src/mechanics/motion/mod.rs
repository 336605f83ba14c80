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
//! so that H - W is conserved as H is in other systems (the last sum is the power of moving constraints). The time is an entry of the
//! state with rate 1, which makes it right in every stage of every method. It has no error: no projection moves it, and the feedback
//! field leaves out its row.

mod frame;
mod hamel;
mod soundness;

use std::collections::BTreeMap;

pub(crate) use self::frame::{Misfit, brackets};
pub(crate) use self::hamel::motion;
pub(crate) use self::soundness::{Dependent, Unsound, are_integrable, dependent_rows, keeps, unsound_mass};
use crate::derivation::{Dynamics, Field, Hamel, IntegralId, Problem, Reaction, Role, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{self, entry};

/// The field of a Lagrangian system, and what else follows from the declaration.
pub(crate) struct LagrangianMotion {
    pub(crate) field: Field,
    pub(crate) hamel: Hamel,
    /// The functions of integrals that are not declared: rates of constraints, and the energy.
    pub(crate) derived: BTreeMap<IntegralId, Expression>,
}

/// The rows along which reactions act, by the constraints that have the multipliers.
fn rows(problem: &Problem) -> Option<Vec<(IntegralId, Row)>> {
    let forces = match &problem.dynamics {
        Dynamics::Lagrangian(lagrangian) => hamel::forces_of(problem, lagrangian)?,
        _ => forces(problem, |constraint| slopes(&problem.symbols, constraint))?,
    };
    Some(forces.into_iter().map(|force| (force.constraint, force.row)).collect())
}

/// The partial derivative by the time, from the slopes of an expression.
fn by_time(symbols: &Symbols, row: &Row) -> Expression {
    symbols.only(Role::Time).map_or_else(Expression::zero, |time| entry(row, time))
}

/// A sparse row of expressions, by symbols.
type Row = BTreeMap<Symbol, Expression>;

/// The derivatives of an expression by entries of the state.
fn slopes(symbols: &Symbols, expression: &Expression) -> Option<Row> {
    derivative::gradient(expression, |symbol| symbols.is_state(symbol))
}

/// The scalar product of a row with what belongs to each symbol.
fn along(row: &Row, vector: impl Fn(Symbol) -> Expression) -> Expression {
    Expression::sum(row.iter().map(|(symbol, entry)| entry.clone() * vector(*symbol)))
}

/// A reaction: the integral that it keeps, and the row A along which it acts.
struct ReactionForce {
    /// The constraint that has the multiplier: g, or f itself.
    constraint: IntegralId,
    /// What is linear in the velocities: g', or f itself.
    kept: IntegralId,
    /// Whether the row is the gradient of a holonomic constraint.
    is_holonomic: bool,
    /// A, by the velocities or the coordinates along which it acts; of a holonomic constraint that moves also dg/dt, by the time.
    row: Row,
}

/// The reactions of all constraints, with the rows of holonomic ones as they are given.
fn forces(problem: &Problem, holonomic_row: impl Fn(&Expression) -> Option<Row>) -> Option<Vec<ReactionForce>> {
    let mut forces = Vec::new();
    for (constraint, rate) in problem.integrals.holonomic_pairs() {
        let row = holonomic_row(problem.integrals[constraint].value.as_ref()?)?;
        forces.push(ReactionForce { constraint, kept: rate, is_holonomic: true, row });
    }
    for reaction in &problem.reactions {
        let Reaction { constraint, along } = reaction.clone();
        forces.push(ReactionForce { constraint, kept: constraint, is_holonomic: false, row: along });
    }
    Some(forces)
}
