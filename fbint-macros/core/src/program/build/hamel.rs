//! The functions of a discrete Hamel integrator: (q, p) and its rates as functions of (q, xi), and their derivatives.

use super::fields::FunctionParts;
use crate::derivation::{Derivation, Hamel, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::entry;
use crate::numbers::points::Unknown;
use crate::program::code::{Program, Value};
use crate::program::derivatives::jacobian;

/// Returns `true` if a system has a discrete Hamel integrator: a Lagrangian system without reactions that is not driven.
pub(crate) fn is_discretised(derivation: &Derivation) -> bool {
    derivation.hamel.is_some()
        && !derivation.symbols.is_driven()
        && derivation.symbols.with(|role| matches!(role, Role::Multiplier(_))).is_empty()
}

/// (q, p), entry by entry in the order of the state.
pub(crate) fn momentum_state(derivation: &Derivation) -> Vec<Expression> {
    let momentum = |state: Symbol, hamel: &Hamel| entry(&hamel.momenta, state);
    of_states(derivation, Expression::from, momentum)
}

/// (q', p'), entry by entry in the order of the state.
pub(crate) fn momentum_rates(derivation: &Derivation) -> Vec<Expression> {
    of_states(derivation, |state| derivation.field.rates[state].clone(), |state, hamel| entry(&hamel.forces, state))
}

fn of_states(
    derivation: &Derivation,
    of_position: impl Fn(Symbol) -> Expression,
    of_velocity: impl Fn(Symbol, &Hamel) -> Expression,
) -> Vec<Expression> {
    let Some(hamel) = &derivation.hamel else { return Vec::new() };
    let entry = |state: Symbol| match derivation.symbols[state].role {
        Role::Velocity => of_velocity(state, hamel),
        _ => of_position(state),
    };
    derivation.symbols.states().map(entry).collect()
}

/// The derivatives of expressions by the entries of the state, expression by expression.
pub(crate) fn jacobian_of(parts: &FunctionParts<'_>, expressions: &[Expression]) -> Program {
    let mut lowering = parts.lowering();
    let values: Vec<Value> = expressions.iter().map(|expression| lowering.lower(expression)).collect();
    let states: Vec<Unknown> = parts.derivation.symbols.states().map(Unknown::Symbol).collect();
    let outputs = jacobian(&mut lowering.builder, &values, &states);
    lowering.builder.finish(outputs)
}
