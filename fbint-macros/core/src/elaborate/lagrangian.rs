//! Rates, momenta and velocity constraints: what `rate(..)` and `momentum(..)` stand for, and what is linear in velocities.
//!
//! `rate(f)` is written with a symbol for the rate of each coordinate. The declared motion gives the symbols their meaning.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::Expr;

use super::integrals::IntegralList;
use super::methods::Value;
use super::quantities::{Purpose, Quantity, ScalarQuantity};
use super::scope::{Poison, Reported, Scope, Settlement};
use super::value::ShapedExpression;
use crate::derivation::{Dynamics, FrameBracket, Kind, Lagrangian, Role, SparseRow, Symbols};
use crate::expression::{Expression, Symbol};
use crate::mechanics::NO_DERIVATIVE;
use crate::mechanics::motion::{Misfit, brackets, keeps};
use crate::notation;
use crate::numbers::derivative;
use crate::proofs::{ConfigurationConstraint, Configurations, vanishes_identically};
use crate::syntax::diagnostics::Errors;
use crate::syntax::written::written_or;
use crate::syntax::{ASSUME, AttributeKey, Declaration, Formalism, KEPT, NamedExpression, plain};

impl Scope<'_> {
    /// `rate(f)`, of the shape of f: df/dq q' + df/dt.
    pub(super) fn rate(&mut self, argument: &Expr) -> Value {
        let value = self.evaluate(argument)?;
        let rates: BTreeMap<Symbol, Expression> =
            value.symbols().map(|symbol| Ok((symbol, self.rate_of(argument, symbol)?))).collect::<Reported<_>>()?;
        match derivative::all_along(value.entries(), |symbol| rates[&symbol].clone()) {
            Some(entries) => Ok(ShapedExpression::new(value.shape(), entries)),
            None => self.fail(argument, format!("this {NO_DERIVATIVE}")),
        }
    }

    /// The rate of a symbol, if it is known before the equations of motion are derived.
    fn rate_of(&self, argument: &Expr, symbol: Symbol) -> Reported<Expression> {
        let role = self.role(symbol);
        match role {
            Some(Role::Time) => return Ok(Expression::one()),
            Some(Role::Parameter) => return Ok(Expression::zero()),
            _ => {}
        }
        if let Some(rate) = self.symbols.only(Role::Rate { of: symbol }) {
            return Ok(rate.into());
        }
        let what = match role {
            Some(Role::Input) => format!("the input `{}` is not known", self.symbols[symbol].name),
            Some(Role::Momentum { .. } | Role::Conjugate { .. }) => {
                format!("the momentum `{}` follows from the equations of motion", self.whole(symbol))
            }
            Some(Role::Velocity | Role::Vanishing { .. } | Role::Rate { .. }) => {
                format!("the velocity `{}` follows from the equations of motion", self.whole(symbol))
            }
            _ => "a multiplier is not derived".to_owned(),
        };
        let message = "`rate` takes an expression of coordinates, parameters and the time; the rate of";
        self.fail(argument, format!("{message} {what}"))
    }

    /// `momentum(v)`, of the shape of v.
    pub(super) fn momentum(&mut self, argument: &Expr) -> Value {
        let value = self.evaluate(argument)?;
        let entry = |entry: &Expression| match entry {
            Expression::Symbol(of) => self.symbols.only(Role::Conjugate { of: *of }).map(Expression::from),
            _ => None,
        };
        match value.entries().iter().map(entry).collect() {
            Some(entries) => Ok(ShapedExpression::new(value.shape(), entries)),
            None if self.declaration.formalism == Formalism::Lagrangian => {
                let written = argument.to_token_stream();
                self.fail(argument, format!("`{written}` is not a velocity; only velocities have a `momentum`"))
            }
            None => self.fail(argument, "only the velocities of a Lagrangian system have a `momentum`"),
        }
    }

    /// `gradient(f, x)`, of the shape of x: the partial derivatives of a scalar, while everything else in f is held.
    pub(super) fn partial_derivatives(&mut self, function: &Expr, variable: &Expr) -> Value {
        let (value, by) = (self.evaluate(function), self.evaluate(variable));
        let (value, by) = (value?, by?);
        let is_variable = |entry: &Expression| matches!(entry, Expression::Symbol(_));
        if value.entries().iter().all(is_variable)
            && by.as_scalar().is_some_and(|by| !is_variable(by) && !by.symbols().is_empty())
        {
            let [first, second] = [function, variable].map(|argument| written_or(argument, ".."));
            let message = "the function comes first, and then what it is differentiated by";
            return self.fail(function, format!("{message}\nhelp: write `gradient({second}, {first})`"));
        }
        let remedy = "\nhelp: take its entries one by one";
        let scalar = self.only(function, &value, "`gradient` takes a scalar", remedy)?;
        let stands_in = |symbol: &Symbol| match self.role(*symbol) {
            Some(Role::Rate { .. } | Role::Conjugate { .. }) => Some(self.whole(*symbol)),
            Some(_) => None,
            None => Some("multiplier(..)".to_owned()),
        };
        if let Some(name) = scalar.symbols().iter().find_map(stands_in) {
            let message = format!("`gradient` does not know how `{name}` depends on `{}`", variable.to_token_stream());
            let remedy = "write variables of the state in its place, such as velocities or momenta";
            return self.fail(function, format!("{message}\nhelp: {remedy}"));
        }
        let entry = |entry: &Expression| match entry {
            Expression::Symbol(symbol) => stands_in(symbol).is_none().then_some(*symbol),
            _ => None,
        };
        let Some(variables) = by.entries().iter().map(entry).collect::<Option<Vec<Symbol>>>() else {
            let message = format!("`{}` is not a variable", variable.to_token_stream());
            return self.fail(
                variable,
                format!(
                    "{message}: `gradient(f, x)` differentiates by entries of the state, parameters, inputs or the time"
                ),
            );
        };
        let Some(slopes) = derivative::gradient(&scalar, |symbol| variables.contains(&symbol)) else {
            return self.fail(function, format!("this {NO_DERIVATIVE}"));
        };
        let slope = |symbol: &Symbol| slopes.get(symbol).cloned().unwrap_or_else(Expression::zero);
        Ok(ShapedExpression::new(by.shape(), variables.iter().map(slope).collect()))
    }

    /// Returns `true` for an entry of a velocity, and for a rate that is written as such.
    fn is_rate(&self, symbol: Symbol) -> bool {
        matches!(self.role(symbol), Some(Role::Velocity | Role::Vanishing { .. } | Role::Rate { .. }))
    }

    /// The coefficients of an expression that is linear in rates, and its part without rates. `subject` says what it is in words.
    fn linear_form(
        &self,
        written: &Expr,
        value: &Expression,
        subject: &str,
        why_linear: &str,
    ) -> Reported<(SparseRow, Expression)> {
        let slopes = self.gradient(written, value, subject)?;
        for (symbol, slope) in &slopes {
            let curvature = self.gradient(written, slope, subject)?;
            let Some((other, second)) = curvature.iter().find(|(_, entry)| !vanishes_identically(entry)) else {
                continue;
            };
            let (name, other_name) = (&self.symbols[*symbol].name, &self.symbols[*other].name);
            let is_quadratic = !second.symbols().into_iter().any(|symbol| self.is_rate(symbol));
            let evidence = match (is_quadratic, other == symbol) {
                (true, true) => format!("it contains `{name}^2`"),
                (true, false) => format!("it contains `{name} {other_name}`"),
                (false, _) => format!("its derivative by `{name}` is `{}`", notation::short(slope, self.symbols)),
            };
            let message = format!("{subject} is not linear in the velocities: {evidence}{why_linear}");
            return self.fail(written, message);
        }
        let with_rates = |expression: &Expression, rate: fn() -> Expression| {
            expression.substituted(&|symbol| if self.is_rate(symbol) { rate() } else { Expression::from(symbol) })
        };
        let rest = Some(with_rates(value, Expression::zero)).filter(|rest| !vanishes_identically(rest));
        // Nothing of the rates is left in the coefficients, even if it only cancels.
        let slopes = slopes.iter().map(|(symbol, slope)| (*symbol, with_rates(slope, Expression::one)));
        let slopes = slopes.filter(|(_, slope)| !vanishes_identically(slope)).collect();
        Ok((slopes, rest.unwrap_or_else(Expression::zero)))
    }

    /// The derivatives of what is written, by rates.
    fn gradient(&self, written: &Expr, value: &Expression, subject: &str) -> Reported<SparseRow> {
        let gradient = derivative::gradient(value, |symbol| self.is_rate(symbol));
        gradient.ok_or(Poison).or_else(|Poison| self.fail(written, format!("{subject} {NO_DERIVATIVE}")))
    }

    /// The row along which the reaction of a velocity constraint acts, and its part without velocities.
    pub(super) fn linear_in_velocities(
        &self,
        named: &NamedExpression,
        name: &str,
        value: &Expression,
    ) -> Reported<(SparseRow, Expression)> {
        let why_linear = "; d'Alembert's principle does not cover such constraints\nhelp: did you mean `invariant`?";
        let is_lagrangian = self.declaration.formalism == Formalism::Lagrangian;
        // Those of a canonical system are constraints on rates as such, whatever these are.
        let written = match &self.settlement {
            Some(settlement) if is_lagrangian && !self.velocities().is_empty() => settlement.applied(value),
            _ if is_lagrangian => return Err(Poison),
            _ => value.clone(),
        };
        let (along, offset) = self.linear_form(&named.value, &written, &format!("`{name}`"), why_linear)?;
        let is_free = |rate: &Symbol| !matches!(self.role(*rate), Some(Role::Vanishing { .. }));
        if !offset.is_zero() && !along.keys().any(is_free) {
            let what = if along.is_empty() { "contains no velocity" } else { "restricts no velocity that is free" };
            let remedy = "restrict coordinates by `constraint`, or remove it";
            return self.fail(&named.value, format!("`{name}` {what}\nhelp: {remedy}"));
        }
        let along = along.into_iter().map(|(rate, entry)| match self.role(rate) {
            Some(Role::Rate { of }) => (of, entry),
            _ => (rate, entry),
        });
        Ok((along.collect(), offset))
    }
}

/// L and the kinematics. Determines what rates and momenta stand for.
pub(super) fn lagrangian(scope: &mut Scope) -> Reported<Dynamics> {
    let kinematics = kinematics(scope);
    let written = scope.declaration.lagrangian.as_ref().ok_or(Poison)?;
    let is_momentum = |role| matches!(role, Role::Conjugate { .. });
    let lagrangian = scope.energy(written, "the Lagrangian", is_momentum, "momentum");
    let (kinematics, lagrangian) = (kinematics?, lagrangian?);
    let symbols = scope.symbols;
    let mut settlement = Settlement::default();
    for (coordinate, rate) in &kinematics {
        settlement.0.extend(symbols.only(Role::Rate { of: *coordinate }).map(|symbol| (symbol, rate.clone())));
    }
    let lagrangian = settlement.applied(&lagrangian);
    let momenta = scope.gradient(written, &lagrangian, "the Lagrangian")?;
    for (symbol, info) in symbols.iter() {
        if let Role::Conjugate { of } = info.role {
            let momentum = momenta.get(&of).cloned().unwrap_or_else(Expression::zero);
            settlement.0.insert(symbol, momentum);
        }
    }
    scope.settlement = Some(settlement);
    // The brackets follow with the constraints.
    Ok(Dynamics::Lagrangian(Lagrangian { lagrangian, kinematics, brackets: Vec::new(), is_augmented: false }))
}

/// The rates of all coordinates.
fn kinematics(scope: &mut Scope) -> Reported<Vec<(Symbol, Expression)>> {
    let Declaration { kinematics, coordinates, .. } = scope.declaration;
    if !kinematics.is_empty() {
        return scope.all_given("the rate of", coordinates.iter(), kinematics, check_rate);
    }
    // A velocity that is put to zero has its place among the others.
    let velocities = scope.velocities();
    let coordinates = scope.symbols.with(|role| role == Role::Position);
    if velocities.len() != coordinates.len() || scope.symbols.is_empty() {
        return Err(Poison);
    }
    Ok(coordinates.into_iter().zip(velocities.into_iter().map(Expression::from)).collect())
}

/// Refuses a rate of a coordinate that is not linear in the velocities alone.
fn check_rate(scope: &mut Scope, named: &NamedExpression, value: &ShapedExpression) -> Reported<()> {
    let subject = format!("the rate of `{}`", plain(&named.name));
    let stands_for = |role| matches!(role, Role::Rate { .. } | Role::Conjugate { .. });
    let message = "a rate cannot contain `rate(..)` or `momentum(..)`, which follow from it";
    scope.refuse(&named.value, value, stands_for, |_| message.to_owned())?;
    scope.refuse_inputs(&named.value, value, &subject)?;
    scope.refuse_switches(&named.value, value, &subject)?;
    let message = |_: &str| format!("{subject} depends on the time: moving frames are not supported");
    scope.refuse(&named.value, value, |role| role == Role::Time, message)?;
    if scope.velocities().is_empty() {
        return Err(Poison);
    }
    for rate in value.entries() {
        let (_, rest) = scope.linear_form(&named.value, rate, &subject, "")?;
        if !rest.is_zero() {
            let rest = notation::short(&rest, scope.symbols);
            let remedy = "declare what moves as a coordinate with inertia, driven by `constraint(drive = shift - speed * t)` with \
                          `time(t)`, and write its velocity here";
            let message = format!("{subject} has a part without velocities, `{rest}`\nhelp: {remedy}");
            return scope.fail(&named.value, message);
        }
    }
    Ok(())
}

/// The brackets of the frame where these constraints hold. Reports a frame that has none.
pub(super) fn frame(
    scope: &mut Scope,
    lagrangian: &Lagrangian,
    quantities: &[Quantity],
) -> Reported<Vec<FrameBracket>> {
    let (declaration, symbols) = (scope.declaration, scope.symbols);
    let allowed = Configurations::of(symbols, constraints_of_coordinates(symbols, quantities)?);
    brackets(symbols, lagrangian, &allowed).or_else(|misfit| {
        let span = match &misfit {
            Misfit::Dependent(velocities) => velocities.last().map(|last| scope.place(*last)),
            _ => None,
        };
        let span = span.unwrap_or_else(|| declaration.place(AttributeKey::Kinematics));
        scope.fail_at(span, misfit_in_words(symbols, lagrangian, &misfit))
    })
}

/// The constraints of coordinates. One without a gradient is left out, and reported with the derivation.
fn constraints_of_coordinates<'q>(
    symbols: &Symbols,
    quantities: &'q [Quantity],
) -> Reported<Vec<ConfigurationConstraint<'q>>> {
    let mut all = Vec::new();
    for Quantity { purpose, flattened, .. } in quantities {
        if !matches!(purpose, Purpose::Holonomic | Purpose::InvariantSet) {
            continue;
        }
        let has_reaction = *purpose == Purpose::Holonomic;
        all.extend(flattened.as_ref().map_err(|poison| *poison)?.kept.iter().filter_map(
            |ScalarQuantity { value, .. }| {
                let gradient = derivative::gradient(value, |symbol| symbols.is_state(symbol))?;
                Some(ConfigurationConstraint { value, gradient, has_reaction })
            },
        ));
    }
    Ok(all)
}

/// Why a frame has no brackets, and what to do.
fn misfit_in_words(symbols: &Symbols, lagrangian: &Lagrangian, misfit: &Misfit) -> String {
    let name = |symbol: &Symbol| format!("`{}`", symbols[*symbol].name);
    match misfit {
        Misfit::Undefined => format!("`kinematics` {NO_DERIVATIVE}"),
        Misfit::Dependent(velocities) => {
            let names: Vec<String> = velocities.iter().map(name).collect();
            match &names[..] {
                // The inertia of a spin counts also where no angle does.
                [only] if velocities.iter().any(|velocity| lagrangian.lagrangian.symbols().contains(velocity)) => {
                    format!(
                        "{only} moves no coordinate\nhelp: add a coordinate whose rate it is, an angle for a spin, as in `kinematics(angle = {})`",
                        only.trim_matches('`')
                    )
                }
                [only] => format!("{only} moves no coordinate\nhelp: remove it"),
                _ => format!("{} move the coordinates in the same way\nhelp: remove one", joined(&names)),
            }
        }
        Misfit::Large { of: (i, j) } => format!(
            "the bracket of the directions of {} and {} is too long to be written out: it divides by determinants of the frame\nhelp: take \
             rates of coordinates for some of the velocities, and hold what they have to satisfy by reactions",
            name(i),
            name(j)
        ),
        Misfit::Reflected { of: (i, j), matrices } => {
            let matrix = matrices.first().map_or("r", |entry| &*symbols[*entry].entry.name);
            format!(
                "the directions of {} and {} close only where `{matrix}` is a rotation, and its constraints let it reflect, too\nhelp: add \
                 `constraint(right_handed = {matrix}.determinant() - 1)`",
                name(i),
                name(j)
            )
        }
        Misfit::Open { of: (i, j), bracket } => {
            let entries: Vec<String> = bracket.iter().map(|entry| notation::short(entry, symbols)).collect();
            let (i, j) = (name(i), name(j));
            format!(
                "the directions of {i} and {j} do not close: their bracket is ({}), which no velocity moves along, and the Lagrangian has \
                 no kinetic energy along it\nhelp: add a velocity for that direction, and set it to zero by \
                 `velocity_constraint(name = velocity)`",
                entries.join(", ")
            )
        }
    }
}

/// `a`, `b` and `c`
pub(crate) fn joined(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.join(", "),
    }
}

/// Finds the constraints that the velocities keep without a reaction: dg/dq U = 0 wherever all constraints hold. Refuses `assume` before
/// any other, which has a reaction and so is kept by construction.
pub(super) fn find_sets(scope: &mut Scope, lagrangian: &Lagrangian, constraints: &mut [Quantity]) {
    let mut constraints: Vec<&mut Quantity> =
        constraints.iter_mut().filter(|constraint| constraint.purpose == Purpose::Holonomic).collect();
    let values = constraints.iter().map(|constraint| constraint.scalars().map(|scalar| &scalar.value).collect());
    let sets = keeps(scope.symbols, lagrangian, &values.collect::<Vec<_>>());
    let sound = constraints.iter_mut().zip(sets).filter(|(constraint, _)| constraint.flattened.is_ok());
    for (Quantity { named, purpose, .. }, is_set) in sound.map(|(constraint, is_set)| (&mut **constraint, is_set)) {
        if is_set {
            *purpose = Purpose::InvariantSet;
            scope.sets.insert(plain(&named.name));
        } else if let Some(word) = named.mark.as_ref().filter(|word| *word == ASSUME) {
            scope.errors.push(word.span(), format_args!("`{}` {KEPT}\nhelp: remove `{ASSUME}`", named.name));
        }
    }
}

/// Returns `true` if there are more reactions than velocities, and more than a few, and reports it. Then nothing has to be checked one by
/// one.
pub(super) fn exceed(IntegralList { integrals, spans }: &IntegralList, symbols: &Symbols, errors: &Errors) -> bool {
    const FEW: usize = 64;
    let velocities = symbols.with(|role| role == Role::Velocity).len();
    let is_held = |kind: Kind| matches!(kind, Kind::Rate { .. } | Kind::Velocity);
    let mut held = integrals.iter().filter(|(_, integral)| is_held(integral.kind));
    let excess = held.nth(velocities.max(FEW)).map(|(id, _)| id);
    if let Some(id) = excess {
        let message =
            format!("with `{}` there are more constraints than the {velocities} velocities allow", integrals[id].name);
        errors.push(spans[id], format_args!("{message}\nhelp: remove some"));
    }
    excess.is_some()
}
