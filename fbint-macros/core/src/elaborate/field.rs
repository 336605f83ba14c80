//! The source of the field, a Hamiltonian with its bracket, a Lagrangian, or given rates; and forces.

use syn::Expr;

use super::lagrangian::lagrangian;
use super::scope::{Poison, Reported, Scope, Settlement};
use super::value::ShapedExpression;
use crate::derivation::{Dynamics, Role, Symbols};
use crate::expression::factored::collected;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;
use crate::syntax::{Declaration, Formalism, NamedExpression, Shape, plain};

/// The field of the declaration. Determines what `rate(..)` and `momentum(..)` stand for.
pub(super) fn field(scope: &mut Scope, declaration: &Declaration) -> Reported<Dynamics> {
    let symbols = scope.symbols;
    let hamiltonian = declaration.hamiltonian.as_ref().map(|expression| energy(scope, expression));
    match declaration.formalism {
        Formalism::Canonical => {
            let hamiltonian = hamiltonian.ok_or(Poison)??;
            scope.settlement = Some(velocities(symbols, &hamiltonian).ok_or(Poison)?);
            return Ok(Dynamics::Canonical { hamiltonian });
        }
        Formalism::Lagrangian => {
            let positions = symbols.with(|role| role == Role::Position);
            return lagrangian(scope, declaration, &positions);
        }
        Formalism::Poisson | Formalism::Given => scope.settlement = Some(Settlement::default()),
    }
    let variables = symbols.with(|role| role == Role::State).len();
    let matrix = declaration.poisson.as_ref().map(|expression| poisson_matrix(scope, expression, variables));
    let rates = rates(scope, declaration);
    match (matrix, hamiltonian) {
        (Some(matrix), Some(hamiltonian)) => Ok(Dynamics::Poisson { matrix: matrix?, hamiltonian: hamiltonian? }),
        (None, None) => Ok(Dynamics::Given { rates: rates? }),
        // One without the other was reported by `syntax`.
        _ => Err(Poison),
    }
}

/// The entries of the forces by the momenta or velocities along which they act.
pub(super) fn forces(scope: &mut Scope, declaration: &Declaration) -> Reported<Vec<(Symbol, Expression)>> {
    let all: Vec<Reported<Vec<(Symbol, Expression)>>> =
        declaration.forces.iter().map(|named| force(scope, declaration, named)).collect();
    Ok(all.into_iter().collect::<Reported<Vec<_>>>()?.concat())
}

fn force(scope: &mut Scope, declaration: &Declaration, named: &NamedExpression) -> Reported<Vec<(Symbol, Expression)>> {
    let value = scope.evaluate(&named.value)?;
    let along =
        if declaration.formalism == Formalism::Canonical { &declaration.momenta } else { &declaration.velocities };
    // What acts along nothing was reported by `syntax`.
    let variable = along.iter().find(|variable| plain(&variable.name) == plain(&named.name)).ok_or(Poison)?;
    scope.same_shape("the force along", variable, &value, &named.value)?;
    let mut entries = Vec::new();
    for (entry, force) in scope.resolve(&named.name)?.into_entries().into_iter().zip(value.into_entries()) {
        let force = scope.settled(&force.expression)?;
        if let Expression::Symbol(symbol) = entry.expression
            && !force.is_zero()
        {
            entries.push((symbol, force));
        }
    }
    Ok(entries)
}

/// The rate of a coordinate of a canonical system is dH/dp.
fn velocities(symbols: &Symbols, hamiltonian: &Expression) -> Option<Settlement> {
    let mut settlement = Settlement::default();
    let rates = symbols.with(|role| matches!(role, Role::Rate { .. }));
    if rates.is_empty() {
        return Some(settlement);
    }
    let slopes = derivative::gradient(hamiltonian, |symbol| matches!(symbols[symbol].role, Role::Momentum { .. }))?;
    for rate in rates {
        if let Role::Rate { of } = symbols[rate].role
            && let Role::Coordinate { momentum } = symbols[of].role
        {
            settlement.0.insert(rate, slopes.get(&momentum).map_or_else(Expression::zero, collected));
        }
    }
    Some(settlement)
}

fn energy(scope: &mut Scope, expression: &Expr) -> Reported<Expression> {
    let value = scope.evaluate(expression)?;
    let stands_for = |role| matches!(role, Role::Rate { .. });
    scope.refuse_stand_ins(
        expression,
        &value,
        stands_for,
        "the Hamiltonian cannot contain `rate(..)`, which follows from it",
    )?;
    scope.refuse_inputs(expression, &value, "the Hamiltonian")?;
    match value.as_scalar() {
        Some(energy) => Ok(energy.expression.clone()),
        None => scope.fail(expression, format!("the Hamiltonian is a scalar, and this is {}", value.shape())),
    }
}

/// J, row by row.
fn poisson_matrix(scope: &mut Scope, expression: &Expr, dimension: usize) -> Reported<Vec<Vec<Expression>>> {
    let value = scope.evaluate(expression)?;
    scope.refuse_inputs(expression, &value, "the Poisson matrix")?;
    if !scope.state_is_certain() {
        return Err(Poison);
    }
    if value.shape().extent() != (dimension, dimension) {
        let expected = Shape::Matrix { rows: dimension, columns: dimension };
        let message = format!("the Poisson matrix of this state is {expected}, and this is {}", value.shape());
        return scope.fail(expression, message);
    }
    let row = |row: usize| (0..dimension).map(|column| value.entry(row, column).expression.clone()).collect();
    Ok((0..dimension).map(row).collect())
}

/// The rates of all entries in the order of the state.
fn rates(scope: &mut Scope, declaration: &Declaration) -> Reported<Vec<Expression>> {
    let all: Vec<(String, Reported<ShapedExpression>)> = declaration
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
    rates.extend(declaration.time.iter().map(|_| Expression::one()));
    Ok(rates)
}

fn rate_value(
    scope: &mut Scope,
    declaration: &Declaration,
    name: &str,
    expression: &Expr,
) -> Reported<ShapedExpression> {
    let value = scope.evaluate(expression)?;
    let Some(variable) = declaration.states.iter().find(|variable| plain(&variable.name) == name) else {
        return Err(Poison);
    };
    scope.same_shape("the rate of", variable, &value, expression)?;
    Ok(value)
}
