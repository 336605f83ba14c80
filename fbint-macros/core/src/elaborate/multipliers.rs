//! `multiplier(constraint)` in an `output`. Its value depends on the constraint:
//!
//! - holonomic, g: the entry of c1 that makes the reaction force, dp/dt = -dH/dq + G^T c1 with G = dg/dq;
//! - a velocity constraint A q' = 0: the same with A instead of G;
//! - a velocity that is set to zero: the force that holds it there;
//! - a phase constraint: its entry of c in X = J (grad H - Df^T c).
//!
//! Each constraint that is kept has a symbol for its multiplier. If it stands for several equal entries, these share the multiplier, so
//! that the force of a symmetric matrix of constraints is the sum over all of its entries.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use quote::ToTokens;
use syn::{Expr, ExprIndex, ExprPath};

use super::quantities::{FamilyMember, Flattened, Purpose, Quantity};
use super::scope::{Multipliers, Poison, Reported, Scope, list};
use super::value::ShapedExpression;
use crate::derivation::table::Table;
use crate::derivation::{Declared, IntegralId, Kind, Symbols};
use crate::expression::{Expression, Symbol};
use crate::syntax::{Family, NamedExpression, REDUNDANT, nearest, peel, plain};

/// The multipliers of constraints by name.
pub(super) fn multipliers<'a>(
    scope: &Scope<'a>,
    quantities: &[Quantity<'a>],
    integrals: &Table<IntegralId, Declared>,
    symbols: &Symbols,
) -> Multipliers<'a> {
    let declaration = scope.declaration;
    // Rates are not declared. Their multipliers are others.
    let declared = integrals.iter().filter(|(_, integral)| !matches!(integral.kind, Kind::Rate { .. }));
    let mut symbols = declared.filter_map(|(id, _)| symbols.multiplier(id));
    let is_held =
        |purpose| matches!(purpose, Purpose::Holonomic | Purpose::PhaseConstraint | Purpose::VelocityConstraint);
    let held = quantities.iter().filter(|quantity| declaration.has_reactions() && is_held(quantity.purpose));
    let mut table = BTreeMap::new();
    for Quantity { named, flattened, .. } in held {
        let values = flattened.as_ref().map_err(|poison| *poison).map(|constraint| {
            let symbols: Vec<Symbol> = symbols.by_ref().take(constraint.kept.len()).collect();
            constraint.members.iter().map(|member| value(member, constraint, &symbols)).collect()
        });
        table.entry(plain(&named.name)).or_insert((*named, values));
    }
    for named in &declaration.velocity_constraints {
        if let Some(reaction) = scope.reaction(named) {
            table.insert(plain(&named.name), (named, Ok(vec![reaction])));
        }
    }
    table
}

fn value(member: &FamilyMember, constraint: &Flattened, symbols: &[Symbol]) -> ShapedExpression {
    let entry = |&place: &usize| {
        let share = BigRational::new(BigInt::from(1), BigInt::from(constraint.kept[place].weight));
        Expression::Number(share) * Expression::from(symbols[place])
    };
    ShapedExpression::new(member.shape, member.places.iter().map(entry).collect())
}

impl<'a> Scope<'a> {
    /// `multiplier(length)` or `multiplier(link[3])`; `function` is the word, `argument` what is in its parentheses.
    pub(super) fn multiplier(&mut self, function: impl ToTokens, argument: &Expr) -> Reported<ShapedExpression> {
        if self.multipliers.is_none() {
            let message = "`multiplier` has a value only in an `output`";
            let reason = "the multipliers follow from the equations that this expression is part of";
            return self.fail(function, format!("{message}: {reason}"));
        }
        if !self.declaration.has_reactions() {
            let message = "there is no multiplier here: only a canonical or a Lagrangian system has forces that hold its \
                           constraints";
            let reason = "and a constraint of a `state` is an invariant set of the field";
            return self.fail(function, format!("{message}, {reason}"));
        }
        let (name, index) = match peel(argument) {
            Expr::Index(index) => (peel(&index.expr), Some(index)),
            other => (other, None),
        };
        let Expr::Path(path) = name else {
            let usage = "as in `multiplier(length)`, or `multiplier(link[3])` in a family";
            return self.fail(argument, format!("`multiplier` takes the name of a constraint, {usage}"));
        };
        self.multiplier_of(path, index)
    }

    fn multiplier_of(&mut self, path: &ExprPath, index: Option<&ExprIndex>) -> Reported<ShapedExpression> {
        let name = path.path.get_ident().map(plain).unwrap_or_default();
        if self.sets.contains(&name) {
            let message =
                format!("`{name}` has no multiplier: the velocities already satisfy it, so that no reaction is needed");
            return self.fail(path, message);
        }
        let is_named = |named: &&NamedExpression| named.is_marked(REDUNDANT) && plain(&named.name) == name;
        if self.declaration.constraints.iter().any(|named| is_named(&named)) {
            let message = format!(
                "`{name}` has no multiplier: as it is `redundant`, the reactions of the others do what it does"
            );
            return self.fail(path, message);
        }
        let Some(named) = self.constraint(&name).map(|(named, _)| *named) else {
            return self.no_constraint(path);
        };
        let member = match (&named.family, index) {
            (None, None) => 0,
            (Some(family), Some(index)) => self.member(&name, family, &index.index)?,
            (Some(family), None) => {
                let (start, last) = (family.range.start, family.range.end - 1);
                let message = format!("`{name}` is a family of constraints, numbered {start} to {last}");
                return self.fail(path, format!("{message}\nhelp: say which, as in `multiplier({name}[{start}])`"));
            }
            (None, Some(index)) => {
                let number = index.index.to_token_stream();
                let message = format!("the constraint `{name}` is not a family\nhelp: write `multiplier({name})`");
                let remedy = format!("and `multiplier({name})[{number}]` for an entry if it is a vector");
                return self.fail(index, format!("{message}, {remedy}"));
            }
        };
        let (_, values) = self.constraint(&name).ok_or(Poison)?;
        values.as_ref().map(|values| values[member].clone()).map_err(|poison| *poison)
    }

    fn constraint(&self, name: &str) -> Option<&(&'a NamedExpression, Reported<Vec<ShapedExpression>>)> {
        self.multipliers.as_ref()?.get(name)
    }

    /// The place of a member of a family.
    fn member(&mut self, name: &str, family: &Family, written: &Expr) -> Reported<usize> {
        let index = self.integer(written)?;
        let (start, last) = (family.range.start, family.range.end - 1);
        if family.range.contains(&index) {
            return Ok((index - start) as usize);
        }
        let message = format!("index {index} is out of range{}", self.circumstances());
        self.fail(written, format!("{message}: the constraints `{name}` are numbered {start} to {last}"))
    }

    fn no_constraint<T>(&self, path: &ExprPath) -> Reported<T> {
        let written = path.to_token_stream().to_string();
        if self.is_obscure(&written) {
            return Err(Poison);
        }
        let known: Vec<&str> = self.multipliers.iter().flat_map(|table| table.keys()).map(|it| &it[..]).collect();
        let message = format!("`{written}` is not a constraint");
        let message = match nearest(&written, known.iter().copied()) {
            Some(near) => format!("{message}\nhelp: did you mean `{near}`?"),
            None => {
                let all = if known.is_empty() { "this model has none".to_owned() } else { list(&known) };
                format!("{message}, and only constraints have multipliers: {all}")
            }
        };
        self.fail(path, message)
    }
}
