//! What makes the state change: a Hamiltonian with its bracket, or rates that are given.

use syn::Expr;

use super::scope::{Outcome, Poison, Scope};
use super::value::Value;
use crate::derivation::Dynamics;
use crate::expression::Expression;
use crate::syntax::{Declaration, Shape, plain};

/// The field of the declaration, whose state has `dimension` entries.
pub(super) fn field(scope: &mut Scope, declaration: &Declaration, dimension: usize) -> Outcome<Dynamics> {
    let hamiltonian = declaration.hamiltonian.as_ref().map(|expression| energy(scope, expression));
    if declaration.canonical {
        return Ok(Dynamics::Canonical { hamiltonian: hamiltonian.ok_or(Poison)?? });
    }
    let matrix = declaration.poisson.as_ref().map(|expression| poisson_matrix(scope, expression, dimension));
    let rates = rates(scope, declaration);
    match (matrix, hamiltonian) {
        (Some(matrix), Some(hamiltonian)) => Ok(Dynamics::Poisson { matrix: matrix?, hamiltonian: hamiltonian? }),
        (None, None) => Ok(Dynamics::Given { rates: rates? }),
        // One without the other was reported by `syntax`.
        _ => Err(Poison),
    }
}

fn energy(scope: &mut Scope, expression: &Expr) -> Outcome<Expression> {
    let value = scope.evaluate(expression)?;
    match value.as_scalar() {
        Some(energy) => Ok(energy.expression.clone()),
        None => Err(scope.fail(expression, format!("the Hamiltonian is a scalar, and this is {}", value.shape()))),
    }
}

/// J, row by row.
fn poisson_matrix(scope: &mut Scope, expression: &Expr, dimension: usize) -> Outcome<Vec<Vec<Expression>>> {
    let value = scope.evaluate(expression)?;
    if !scope.state_is_certain() {
        return Err(Poison);
    }
    if value.shape().extent() != (dimension, dimension) {
        let expected = Shape::Matrix { rows: dimension, columns: dimension };
        let message = format!("the Poisson matrix of this state is {expected}, and this is {}", value.shape());
        return Err(scope.fail(expression, message));
    }
    let row = |row: usize| (0..dimension).map(|column| value.entry(row, column).expression.clone()).collect();
    Ok((0..dimension).map(row).collect())
}

/// The rates of all entries in the order of the state.
fn rates(scope: &mut Scope, declaration: &Declaration) -> Outcome<Vec<Expression>> {
    let all: Vec<(String, Outcome<Value>)> = declaration
        .dynamics
        .iter()
        .map(|rate| (plain(&rate.name), rate_value(scope, declaration, &plain(&rate.name), &rate.value)))
        .collect();
    let rate_of = |name: String| all.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone());
    let mut rates = Vec::new();
    for variable in &declaration.states {
        let value = rate_of(plain(&variable.name)).ok_or(Poison)??;
        rates.extend(value.into_entries().into_iter().map(|entry| entry.expression));
    }
    Ok(rates)
}

fn rate_value(scope: &mut Scope, declaration: &Declaration, name: &str, expression: &Expr) -> Outcome<Value> {
    let value = scope.evaluate(expression)?;
    let Some(variable) = declaration.states.iter().find(|variable| plain(&variable.name) == name) else {
        return Err(Poison);
    };
    let expected = Value::shape_of(variable.shape);
    if value.shape() != expected {
        let message = format!("the rate of `{name}` is {}, and `{name}` is {expected}", value.shape());
        return Err(scope.fail(expression, format!("{message}: they must have the same shape")));
    }
    Ok(value)
}
