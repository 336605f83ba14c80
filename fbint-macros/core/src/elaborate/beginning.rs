//! The values of the parameters by default, and the start of a run.

use super::scope::{Poison, Reported, Scope};
use super::value::ShapedExpression;
use crate::derivation::Role;
use crate::expression::Expression;
use crate::syntax::{Declaration, NamedExpression, Variable, plain};

/// Where a run begins: with which parameters, and in which state.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// A number for each entry of the parameters, if the declaration has `default(..)`.
    pub defaults: Option<Vec<Expression>>,
    /// A function of the parameters for each entry of the state, if the declaration has `start(..)`.
    pub start: Option<Vec<Expression>>,
}

impl Beginning {
    pub(super) fn of(scope: &mut Scope) -> Reported<Self> {
        let Declaration { defaults, start, parameters, .. } = scope.declaration;
        let variables: Vec<&Variable> = scope.declaration.starting_variables().collect();
        let defaults = entries(scope, "the default of", parameters, defaults, default);
        let start = entries(scope, "the start of", variables, start, in_parameters);
        let (defaults, mut start) = (defaults?, start?);
        let others = scope.declaration.time.iter().chain(&scope.declaration.work);
        start.iter_mut().for_each(|start| start.extend(others.clone().map(|_| Expression::zero())));
        Ok(Self { defaults, start })
    }
}

/// The entries of the values that are given of these variables, unless none are; each mistaken one is reported.
fn entries<'d>(
    scope: &mut Scope,
    what: &str,
    variables: impl IntoIterator<Item = &'d Variable>,
    given: &'d [NamedExpression],
    check: fn(&mut Scope, &NamedExpression, &ShapedExpression) -> Reported<()>,
) -> Reported<Option<Vec<Expression>>> {
    if given.is_empty() {
        return Ok(None);
    }
    let mut value = |variable: &Variable| {
        // What is missing was reported by `syntax`.
        let named = given.iter().find(|named| plain(&named.name) == plain(&variable.name)).ok_or(Poison)?;
        let value = scope.evaluate(&named.value)?;
        scope.fits_variable(what, std::slice::from_ref(variable), named, &value)?;
        check(scope, named, &value)?;
        Ok(value.into_entries())
    };
    let values: Vec<Reported<_>> = variables.into_iter().map(&mut value).collect();
    let values: Vec<_> = values.into_iter().collect::<Reported<_>>()?;
    Ok(Some(values.into_iter().flatten().map(|entry| entry.expression).collect()))
}

/// Refuses anything but numbers.
fn default(scope: &mut Scope, named: &NamedExpression, value: &ShapedExpression) -> Reported<()> {
    refuse(scope, named, value, "a default is a number", |_| true)?;
    let undefined = |entry: &Expression| !entry.evaluate(&|_| f64::NAN).is_finite();
    if value.entries().iter().any(|entry| undefined(&entry.expression)) {
        return scope.fail(&named.value, format!("the default of `{}` is not a finite number", named.name));
    }
    Ok(())
}

/// Refuses anything but functions of the parameters.
fn in_parameters(scope: &mut Scope, named: &NamedExpression, value: &ShapedExpression) -> Reported<()> {
    refuse(scope, named, value, "a start is given by parameters and numbers", |role| role != Role::Parameter)
}

/// Refuses symbols with one of these roles.
fn refuse(
    scope: &mut Scope,
    named: &NamedExpression,
    value: &ShapedExpression,
    rule: &str,
    is_refused: fn(Role) -> bool,
) -> Reported<()> {
    match scope.contained(value, is_refused) {
        Some(name) => scope.fail(&named.value, format!("{rule}, and `{}` contains `{name}`", named.name)),
        None => Ok(()),
    }
}
