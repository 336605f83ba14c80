//! The source of the field, a Hamiltonian with its bracket, a Lagrangian, or given rates; and forces.

use std::collections::BTreeMap;

use syn::Expr;

use super::lagrangian::lagrangian;
use super::scope::{Poison, Reported, Scope, Settlement, every};
use super::value::ShapedExpression;
use crate::derivation::{Dynamics, Role, Symbols};
use crate::expression::factored::collected;
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;
use crate::syntax::{Declaration, Formalism, NamedExpression, Shape};

/// The field of the declaration. Determines what `rate(..)` and `momentum(..)` stand for.
pub(super) fn field(scope: &mut Scope) -> Reported<Dynamics> {
    let (declaration, symbols) = (scope.declaration, scope.symbols);
    let hamiltonian = declaration.hamiltonian.as_ref();
    let hamiltonian = hamiltonian.map(|written| scope.energy(written, "the Hamiltonian", is_rate, "rate"));
    match declaration.formalism {
        Formalism::Canonical => {
            let hamiltonian = hamiltonian.ok_or(Poison)??;
            scope.settlement = Some(velocities(symbols, &hamiltonian).ok_or(Poison)?);
            return Ok(Dynamics::Canonical { hamiltonian });
        }
        Formalism::Lagrangian => return lagrangian(scope),
        Formalism::Poisson | Formalism::Given => {}
    }
    let states = symbols.with(|role| role == Role::State);
    let matrix = declaration.poisson.as_ref().map(|expression| poisson_matrix(scope, expression, states.len()));
    let rates = rates(scope);
    let dynamics = match (matrix, hamiltonian) {
        (Some(matrix), Some(hamiltonian)) => Dynamics::Poisson { matrix: matrix?, hamiltonian: hamiltonian? },
        (None, None) => Dynamics::Given { rates: rates? },
        // One without the other was reported by `syntax`.
        _ => return Err(Poison),
    };
    scope.settlement = Some(rates_of_state(symbols, &states, &dynamics).ok_or(Poison)?);
    Ok(dynamics)
}

fn is_rate(role: Role) -> bool {
    matches!(role, Role::Rate { .. })
}

/// The meaning of `rate(..)` with `state`: the given rates, or J grad H. `None` where H has no derivative, which is reported with the
/// derivation.
fn rates_of_state(symbols: &Symbols, states: &[Symbol], dynamics: &Dynamics) -> Option<Settlement> {
    if symbols.with(is_rate).is_empty() {
        return Some(Settlement::default());
    }
    let rates: Vec<Expression> = match dynamics {
        Dynamics::Poisson { matrix, hamiltonian } => {
            let slopes = derivative::gradient(hamiltonian, |symbol| states.contains(&symbol))?;
            let by_state = |row: &Vec<Expression>| {
                let terms = row.iter().zip(states);
                Expression::sum(terms.filter_map(|(entry, state)| Some(entry.clone() * slopes.get(state)?.clone())))
            };
            matrix.iter().map(by_state).collect()
        }
        Dynamics::Given { rates } => rates.clone(),
        Dynamics::Canonical { .. } | Dynamics::Lagrangian(_) => return None,
    };
    let of = |(state, rate): (&Symbol, Expression)| Some((symbols.only(Role::Rate { of: *state })?, rate));
    Some(Settlement(states.iter().zip(rates).filter_map(of).collect()))
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

/// The law of each entry of the inputs, itself where it has none; nothing where no input has a law.
pub(super) fn laws(scope: &mut Scope) -> Reported<Vec<Expression>> {
    let declaration = scope.declaration;
    if declaration.laws.is_empty() {
        return Ok(Vec::new());
    }
    let mut law = |named: &NamedExpression| {
        let value = scope.evaluate(&named.value)?;
        let message = |input: &str| {
            format!(
                "the law of `{}` contains the input `{input}`: it is a function of the state, the time and the parameters",
                named.name
            )
        };
        scope.refuse(&named.value, &value, |role| role == Role::Input, message)?;
        let entries = scope.given("the law of", declaration.inputs.iter(), named, value)?;
        every(entries.into_iter().map(|(input, entry)| Ok((input, scope.settled(&entry)?))))
    };
    let given = every(declaration.laws.iter().map(&mut law).collect::<Vec<_>>().into_iter())?;
    let mut given: BTreeMap<Symbol, Expression> = given.into_iter().flatten().collect();
    let inputs = scope.symbols.with(|role| role == Role::Input).into_iter();
    Ok(inputs.map(|input| given.remove(&input).unwrap_or_else(|| Expression::from(input))).collect())
}

/// The rate of a coordinate of a canonical system is dH/dp.
fn velocities(symbols: &Symbols, hamiltonian: &Expression) -> Option<Settlement> {
    let mut settlement = Settlement::default();
    let rates = symbols.with(is_rate);
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

/// Refuses rates in what they follow from.
fn refuse_rates(scope: &Scope, written: &Expr, value: &ShapedExpression) -> Reported<()> {
    let message = "this cannot contain `rate(..)`, which follows from it\nhelp: write out what the rate is";
    scope.refuse(written, value, is_rate, |_| message.to_owned())
}

/// J, row by row.
fn poisson_matrix(scope: &mut Scope, expression: &Expr, dimension: usize) -> Reported<Vec<Vec<Expression>>> {
    let value = scope.evaluate(expression)?;
    refuse_rates(scope, expression, &value)?;
    scope.refuse_inputs(expression, &value, "the Poisson matrix")?;
    scope.refuse_switches(expression, &value, "the Poisson matrix")?;
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
    let check = |scope: &mut Scope, named: &NamedExpression, value: &_| refuse_rates(scope, &named.value, value);
    let rates = scope.all_given("the rate of", states.iter(), dynamics, check)?;
    Ok(rates.into_iter().map(|(_, rate)| rate).chain(time.iter().map(|_| Expression::one())).collect())
}
