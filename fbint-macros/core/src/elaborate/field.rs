//! The source of the field, a Hamiltonian with its bracket, a Lagrangian, or given rates; and forces.

use syn::Expr;

use super::lagrangian::lagrangian;
use super::scope::{Poison, Reported, Scope, Settlement, every};
use crate::derivation::{Dynamics, Role, Symbols};
use crate::expression::factored::collected;
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;
use crate::syntax::{Declaration, Formalism, NamedExpression, Shape};

/// The field of the declaration. Determines what `rate(..)` and `momentum(..)` stand for.
pub(super) fn field(scope: &mut Scope) -> Reported<Dynamics> {
    let (declaration, symbols) = (scope.declaration, scope.symbols);
    let is_rate = |role| matches!(role, Role::Rate { .. });
    let hamiltonian = declaration.hamiltonian.as_ref();
    let hamiltonian = hamiltonian.map(|written| scope.energy(written, "the Hamiltonian", is_rate, "rate"));
    match declaration.formalism {
        Formalism::Canonical => {
            let hamiltonian = hamiltonian.ok_or(Poison)??;
            scope.settlement = Some(velocities(symbols, &hamiltonian).ok_or(Poison)?);
            return Ok(Dynamics::Canonical { hamiltonian });
        }
        Formalism::Lagrangian => return lagrangian(scope),
        Formalism::Poisson | Formalism::Given => scope.settlement = Some(Settlement::default()),
    }
    let variables = symbols.with(|role| role == Role::State).len();
    let matrix = declaration.poisson.as_ref().map(|expression| poisson_matrix(scope, expression, variables));
    let rates = rates(scope);
    match (matrix, hamiltonian) {
        (Some(matrix), Some(hamiltonian)) => Ok(Dynamics::Poisson { matrix: matrix?, hamiltonian: hamiltonian? }),
        (None, None) => Ok(Dynamics::Given { rates: rates? }),
        // One without the other was reported by `syntax`.
        _ => Err(Poison),
    }
}

/// The entries of the forces by the momenta or velocities along which they act.
pub(super) fn forces(scope: &mut Scope) -> Reported<Vec<(Symbol, Expression)>> {
    Ok(every(scope.declaration.forces.iter().map(|named| force(scope, named)))?.concat())
}

fn force(scope: &mut Scope, named: &NamedExpression) -> Reported<Vec<(Symbol, Expression)>> {
    let value = scope.evaluate(&named.value)?;
    let Declaration { momenta, velocities, formalism, .. } = scope.declaration;
    let along = if *formalism == Formalism::Canonical { momenta } else { velocities };
    let entries = scope.given("the force along", along.iter(), named, value)?;
    // What a force acts along is used.
    scope.resolve(&named.name)?;
    let settled = entries.into_iter().map(|(symbol, force)| Ok((symbol, scope.settled(&force)?)));
    let settled = settled.collect::<Reported<Vec<_>>>()?;
    Ok(settled.into_iter().filter(|(_, force)| !force.is_zero()).collect())
}

/// The rate of a coordinate of a canonical system is dH/dp.
fn velocities(symbols: &Symbols, hamiltonian: &Expression) -> Option<Settlement> {
    let mut settlement = Settlement::default();
    let rates = symbols.with(|role| matches!(role, Role::Rate { .. }));
    if rates.is_empty() {
        return Some(settlement);
    }
    let slopes = derivative::gradient(hamiltonian, |symbol| matches!(symbols[symbol].role, Role::Momentum { .. }))?;
    let known = Results::default();
    for rate in rates {
        if let Role::Rate { of } = symbols[rate].role
            && let Role::Coordinate { momentum } = symbols[of].role
        {
            settlement
                .0
                .insert(rate, slopes.get(&momentum).map_or_else(Expression::zero, |slope| collected(slope, &known)));
        }
    }
    Some(settlement)
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
    let row = |row: usize| (0..dimension).map(|column| value.entry(row, column).clone()).collect();
    Ok((0..dimension).map(row).collect())
}

/// The rates of all entries in the order of the state.
fn rates(scope: &mut Scope) -> Reported<Vec<Expression>> {
    let Declaration { dynamics, states, time, .. } = scope.declaration;
    let rates = scope.all_given("the rate of", states.iter(), dynamics, |_, _, _| Ok(()))?;
    Ok(rates.into_iter().map(|(_, rate)| rate).chain(time.iter().map(|_| Expression::one())).collect())
}
