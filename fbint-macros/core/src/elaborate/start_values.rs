//! The values of the parameters by default, and the start of a run.

use std::collections::BTreeMap;

use super::scope::{Poison, Reported, Scope};
use super::value::ShapedExpression;
use crate::derivation::Role;
use crate::expression::{Expression, Symbol};
use crate::syntax::{Declaration, NamedExpression, Variable, plain};

/// Where a run begins: with which parameters, and in which state.
#[derive(Clone, Debug)]
pub struct StartValues {
    /// A number for each entry of the parameters, if the declaration has `default(..)`.
    pub defaults: Option<Vec<Expression>>,
    /// A function of the parameters for each entry of the state, if the declaration has `start(..)`.
    pub start: Option<Vec<Expression>>,
}

impl StartValues {
    /// The numbers of the parameters, as far as they are declared.
    pub(crate) fn known_parameters(&self) -> &[Expression] {
        self.defaults.as_deref().unwrap_or_default()
    }

    pub(super) fn of(scope: &mut Scope) -> Reported<Self> {
        let Declaration { defaults, start, parameters, time, work, .. } = scope.declaration;
        let variables: Vec<&Variable> = scope.declaration.starting_variables().collect();
        let defaults = entries(scope, "the default of", parameters.iter(), defaults, default);
        let start = starts(scope, &variables, start);
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

/// A function of the parameters for each entry of the start, unless none are given. Entries may follow from others.
fn starts(scope: &mut Scope, variables: &[&Variable], given: &[NamedExpression]) -> Reported<Option<Vec<Expression>>> {
    if given.is_empty() {
        return Ok(None);
    }
    let entries = scope.all_given("the start of", variables.iter().copied(), given, in_start)?;
    let known: BTreeMap<Symbol, Expression> = entries.iter().cloned().collect();
    let mut resolved = BTreeMap::new();
    let values = entries.iter().map(|(symbol, _)| {
        resolve(*symbol, &known, &mut resolved).ok_or_else(|| {
            let name = scope.whole(*symbol);
            let named = given.iter().find(|named| plain(&named.name) == name).unwrap_or(&given[0]);
            let message = format!(
                "the start of `{name}` follows from itself\nhelp: give it by parameters, numbers and other entries"
            );
            scope.errors.push(named.name.span(), message);
            Poison
        })
    });
    Ok(Some(values.collect::<Reported<_>>()?))
}

/// The entry with those that it follows from replaced; `None` where it follows from itself.
fn resolve(
    symbol: Symbol,
    known: &BTreeMap<Symbol, Expression>,
    resolved: &mut BTreeMap<Symbol, Option<Expression>>,
) -> Option<Expression> {
    if let Some(value) = resolved.get(&symbol) {
        return value.clone();
    }
    resolved.insert(symbol, None);
    let value = known.get(&symbol)?;
    for other in value.symbols().into_iter().filter(|other| known.contains_key(other)) {
        resolve(other, known, resolved)?;
    }
    let replaced = |other: Symbol| resolved.get(&other).cloned().flatten().unwrap_or_else(|| Expression::from(other));
    let value = value.substituted(&replaced);
    resolved.insert(symbol, Some(value.clone()));
    Some(value)
}

/// Refuses anything but functions of the parameters and of other entries of the start.
fn in_start(scope: &mut Scope, named: &NamedExpression, value: &ShapedExpression) -> Reported<()> {
    let rule = "a start is given by parameters, numbers and other entries of the start";
    let complaint = |symbol: &str| format!("{rule}, and `{}` contains `{symbol}`", named.name);
    let is_known = |role: Role| role.is_state() && !matches!(role, Role::Time | Role::Work);
    scope.refuse(&named.value, value, |role| role != Role::Parameter && !is_known(role), complaint)
}
