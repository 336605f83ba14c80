//! The limits on the length of derived expressions, by their distinct parts.

use super::phase_space::{Observable, PhaseSpace};
use crate::derivation::table::Table;
use crate::derivation::{Field, IntegralId};
use crate::expression::{Expression, Symbol};

/// The largest number of operations of one expression.
const MOST_OPERATIONS: usize = 1_000_000;

/// An expression that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlong {
    /// Which one it is.
    pub expression: DerivedExpression,
    /// The number of its operations.
    pub operations: usize,
}

/// An expression among what is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivedExpression {
    /// An integral.
    Integral(IntegralId),
    /// The derivative of an integral by an entry of the state.
    Derivative(IntegralId, Symbol),
    /// The bracket of two constraints.
    Bracket(IntegralId, IntegralId),
    /// The equation for an acceleration or a multiplier.
    Equation(Symbol),
    /// The rate of an entry of the state.
    Rate(Symbol),
}

/// Refuses integrals that are too long, or have such derivatives, or constraints whose brackets would be.
pub(super) fn check_observables(
    space: &PhaseSpace<'_>,
    observables: &Table<IntegralId, Observable>,
    constraints: &[IntegralId],
) -> Result<(), Overlong> {
    observables.iter().try_for_each(|(id, observable)| {
        check(DerivedExpression::Integral(id), operations(&observable.value))?;
        let mut slopes = observable.gradient.iter();
        slopes.try_for_each(|(state, slope)| check(DerivedExpression::Derivative(id, *state), operations(slope)))
    })?;
    let mut pairs = constraints.iter().enumerate().flat_map(|(i, g)| constraints[..i].iter().map(move |f| (*f, *g)));
    pairs.try_for_each(|(f, g)| {
        let [a, b] = [f, g].map(|id| &observables[id].gradient);
        check(DerivedExpression::Bracket(f, g), space.operations_of_bracket(a, b))
    })
}

/// Refuses a field with an expression that is too long.
pub(super) fn check_field(field: &Field) -> Result<(), Overlong> {
    field.systems.iter().try_for_each(|system| {
        let mut rows = system.unknowns.iter().zip(system.rows());
        rows.try_for_each(|(&unknown, mut row)| {
            row.try_for_each(|entry| check(DerivedExpression::Equation(unknown), entry.size()))
        })
    })?;
    field.rates.iter().try_for_each(|(state, rate)| check(DerivedExpression::Rate(state), rate.size()))
}

/// The operations of an expression, each distinct one once where there are too many otherwise.
pub(super) fn operations(expression: &Expression) -> usize {
    let written_out = expression.operations();
    if written_out > MOST_OPERATIONS { expression.size() } else { written_out }
}

fn check(expression: DerivedExpression, operations: usize) -> Result<(), Overlong> {
    if operations > MOST_OPERATIONS { Err(Overlong { expression, operations }) } else { Ok(()) }
}
