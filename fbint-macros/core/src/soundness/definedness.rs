//! Functions that are defined nowhere, or have no derivative where one is needed.

use crate::derivation::{IntegralId, Problem, Quantity};
use crate::expression::Expression;
use crate::proofs::{Undefined, is_root, undefined_part};

/// A declared function that is defined in no state that was tried.
#[derive(Clone, Debug)]
pub(crate) struct UndefinedFunction {
    /// Which one it is.
    pub(crate) quantity: Quantity,
    /// The part of it that is undefined.
    pub(crate) part: Expression,
    /// Set if it is proved to be undefined in every state.
    pub(crate) is_certain: bool,
}

/// The declared functions that are defined in no state that was tried.
pub(crate) fn undefined(problem: &Problem) -> Vec<UndefinedFunction> {
    let undefined = |(quantity, value)| {
        let Undefined { part, is_certain } = undefined_part(value, &problem.symbols)?;
        Some(UndefinedFunction { quantity, part: part.clone(), is_certain })
    };
    problem.functions().into_iter().filter_map(undefined).collect()
}

/// The constraints that are roots, which have no derivative where they vanish.
pub(crate) fn roots(problem: &Problem) -> Vec<IntegralId> {
    let constraints = problem.integrals.iter().filter(|(_, integral)| integral.kind.is_constraint());
    let is_root = |value: &Option<Expression>| value.as_ref().is_some_and(|value| is_root(value, &problem.symbols));
    constraints.filter(|(_, integral)| is_root(&integral.value)).map(|(id, _)| id).collect()
}
