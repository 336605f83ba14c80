//! The source of the field, a Hamiltonian with its bracket, a Lagrangian, or given rates; and forces.

use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::Zero;
use syn::Expr;

use super::lagrangian::lagrangian;
use super::quantities::each_member;
use super::scope::{Poison, Reported, Scope, Settlement, every};
use super::value::ShapedExpression;
use crate::derivation::{Dynamics, Role, Symbols};
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol};
use crate::mechanics::factored::collected;
use crate::numbers::derivative;
use crate::syntax::{Declaration, Formalism, NamedExpression, Shape, integer};

/// The most samples by which laws are delayed.
const MOST_SAMPLES: usize = 10_000;

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

/// When the laws of inputs are sampled.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// The time between two samples, by the parameters.
    pub every: Expression,
    /// The number of samples by which they are delayed.
    pub delay: usize,
}

/// When the laws of inputs are sampled, if they are.
pub(super) fn sampling(scope: &mut Scope) -> Reported<Option<Sampling>> {
    let Declaration { laws, every, delay, .. } = scope.declaration;
    let Some(every) = every else {
        return match delay {
            Some(delay) => {
                scope.fail(delay, "`delay` counts samples\nhelp: give the time between them, as in `every = 0.01`")
            }
            None => Ok(None),
        };
    };
    if laws.is_empty() {
        return scope.fail(
            every,
            "`every` samples laws of inputs, and no input has one\nhelp: write `input(u = -k * x, every = 0.01)`",
        );
    }
    let value = scope.evaluate(every)?;
    let is_foreign = |role| role != Role::Parameter;
    scope.refuse(every, &value, is_foreign, |name| {
        format!("`every` contains `{name}`: it is a time, of numbers and parameters")
    })?;
    let is_time =
        value.as_scalar().is_some_and(|time| time.as_number().is_none_or(|number| *number > BigRational::zero()));
    let Some(time) = value.as_scalar().filter(|_| is_time) else {
        return scope.fail(every, "`every` is the time between two samples, a positive number");
    };
    let delay = delay.as_ref().map_or(Ok(0), |delay| whole(scope, delay))?;
    Ok(Some(Sampling { every: time.clone(), delay }))
}

/// A number of samples.
fn whole(scope: &Scope, written: &Expr) -> Reported<usize> {
    match integer(written).filter(|number| *number <= MOST_SAMPLES) {
        Some(number) => Ok(number),
        None => scope.fail(written, format!("`delay` is a whole number of samples, {MOST_SAMPLES} at most")),
    }
}

/// The entries of an input by its law.
fn law(scope: &mut Scope, named: &NamedExpression) -> Reported<Vec<(Symbol, Expression)>> {
    let message = |input: &str| {
        let what = "it is a function of the state, the time and the parameters";
        let remedy = "name what both have in common by `define`";
        format!("the law of `{}` contains the input `{input}`: {what}\nhelp: {remedy}", named.name)
    };
    let mut all = Vec::new();
    each_member(scope, named.family.as_ref(), |scope, _| {
        let value = scope.evaluate(&named.value)?;
        scope.refuse(&named.value, &value, |role| role == Role::Input, message)?;
        all.push(value);
        Ok(())
    })?;
    let value = match named.family {
        None => all.remove(0),
        Some(_) => match ShapedExpression::vector(&all) {
            Some(vector) => vector,
            None => return scope.fail(&named.value, format!("the law of an entry of `{}` is a number", named.name)),
        },
    };
    let entries = scope.given("the law of", scope.declaration.inputs.iter(), named, value)?;
    every(entries.into_iter().map(|(input, entry)| Ok((input, scope.settled(&entry)?))))
}

/// The law of each entry of the inputs, itself where it has none; nothing where no input has a law.
pub(super) fn laws(scope: &mut Scope) -> Reported<Vec<Expression>> {
    let declaration = scope.declaration;
    if declaration.laws.is_empty() {
        return Ok(Vec::new());
    }
    let given = every(declaration.laws.iter().map(|named| law(scope, named)).collect::<Vec<_>>().into_iter())?;
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
