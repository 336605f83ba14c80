//! The values of the parameters by default, and the start of a run.

use super::scope::{Reported, Scope};
use super::value::ShapedExpression;
use crate::derivation::Role;
use crate::expression::Expression;
use crate::syntax::{Declaration, NamedExpression, Variable};

/// Where a run begins: with which parameters, and in which state.
#[derive(Clone, Debug)]
pub struct StartValues {
    /// A number for each entry of the parameters, if the declaration has `default(..)`.
    pub defaults: Option<Vec<Expression>>,
    /// A function of the parameters for each entry of the state, if the declaration has `start(..)`.
    pub start: Option<Vec<Expression>>,
}

impl StartValues {
    pub(super) fn of(scope: &mut Scope) -> Reported<Self> {
        let Declaration { defaults, start, parameters, time, work, .. } = scope.declaration;
        let variables: Vec<&Variable> = scope.declaration.starting_variables().collect();
        let defaults = entries(scope, "the default of", parameters.iter(), defaults, default);
        let start = entries(scope, "the start of", variables.into_iter(), start, in_parameters);
        let (defaults, mut start) = (defaults?, start?);
        let at_zero = time.iter().filter(|_| !scope.declaration.starts_at_a_time()).chain(work).count();
        start.iter_mut().for_each(|start| start.extend(vec![Expression::zero(); at_zero]));
        Ok(Self { defaults, start })
    }
}

/// The entries of the values that are given of these variables, unless none are; each mistaken one is reported.
fn entries<'d>(
    scope: &mut Scope,
    what: &str,
    variables: impl Iterator<Item = &'d Variable> + Clone,
    given: &[NamedExpression],
    check: fn(&mut Scope, &NamedExpression, &ShapedExpression) -> Reported<()>,
) -> Reported<Option<Vec<Expression>>> {
    if given.is_empty() {
        return Ok(None);
    }
    let entries = scope.all_given(what, variables, given, check)?;
    Ok(Some(entries.into_iter().map(|(_, entry)| entry).collect()))
}

/// Refuses anything but numbers.
fn default(scope: &mut Scope, named: &NamedExpression, value: &ShapedExpression) -> Reported<()> {
    let complaint = |symbol: &str| format!("a default is a number, and `{}` contains `{symbol}`", named.name);
    scope.refuse(&named.value, value, |_| true, complaint)?;
    let undefined = |entry: &Expression| !entry.evaluate(&|_| f64::NAN).is_finite();
    if value.entries().iter().any(undefined) {
        return scope.fail(&named.value, format!("the default of `{}` is not a finite number", named.name));
    }
    Ok(())
}

/// Refuses anything but functions of the parameters.
fn in_parameters(scope: &mut Scope, named: &NamedExpression, value: &ShapedExpression) -> Reported<()> {
    let rule = "a start is given by parameters and numbers";
    let complaint = |symbol: &str| format!("{rule}, and `{}` contains `{symbol}`", named.name);
    scope.refuse(&named.value, value, |role| role != Role::Parameter, complaint)
}
