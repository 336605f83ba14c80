//! Rules for values: what must not be in them, and the shapes that they have.

use std::collections::BTreeMap;
use std::fmt::Display;

use syn::Expr;

use super::{Poison, Reported, Scope, every};
use crate::derivation::Role;
use crate::elaborate::value::ShapedExpression;
use crate::expression::{Expression, Symbol};
use crate::syntax::{NamedExpression, Shape, Variable, plain};

impl Scope<'_> {
    /// Reports an expression with an input where its rate would be needed.
    pub(in crate::elaborate) fn refuse_inputs(
        &self,
        written: &Expr,
        value: &ShapedExpression,
        what: &str,
    ) -> Reported<()> {
        let message = |input: &str| {
            let message = format!("{what} contains the input `{input}`, whose rate is not known");
            format!("{message}: inputs act by a `force`, or by `dynamics`")
        };
        self.refuse(written, value, |role| role == Role::Input, message)
    }

    /// Reports an expression with a symbol that must not be in it. The message may contain its name.
    pub(in crate::elaborate) fn refuse(
        &self,
        written: &Expr,
        value: &ShapedExpression,
        is_refused: impl Fn(Role) -> bool,
        message: impl Fn(&str) -> String,
    ) -> Reported<()> {
        match value.symbols().find(|symbol| self.role(*symbol).is_some_and(&is_refused)) {
            Some(symbol) => self.fail(written, message(&self.symbols[symbol].name)),
            None => Ok(()),
        }
    }

    /// A Hamiltonian or a Lagrangian, a scalar without what follows from it.
    pub(in crate::elaborate) fn energy(
        &mut self,
        written: &Expr,
        what: &str,
        follows: fn(Role) -> bool,
        function: &str,
    ) -> Reported<Expression> {
        let value = self.evaluate(written)?;
        let message = |_: &str| format!("{what} cannot contain `{function}(..)`, which follows from it");
        self.refuse(written, &value, follows, message)?;
        self.refuse_inputs(written, &value, what)?;
        self.refuse_switches(written, &value, what)?;
        let is_single = value.entries().len() == 1;
        let remedy = if is_single { ": a product of vectors is written `a.dot(&b)`" } else { "" };
        self.only(written, &value, format_args!("{what} is a scalar"), remedy)
    }

    /// The only entry of a scalar. Anything else is a mistake: of what is `expected`, it is said what this is instead.
    pub(in crate::elaborate) fn only(
        &self,
        written: &Expr,
        value: &ShapedExpression,
        expected: impl Display,
        remedy: &str,
    ) -> Reported<Expression> {
        match value.as_scalar() {
            Some(scalar) => Ok(scalar.clone()),
            None => self.fail(written, format!("{expected}, and this is {}{remedy}", value.shape())),
        }
    }

    /// The entries of variables, in their order, from what is given of each of them by its name. Every mistaken value is reported.
    pub(in crate::elaborate) fn all_given<'v>(
        &mut self,
        what: &str,
        variables: impl Iterator<Item = &'v Variable> + Clone,
        given: &[NamedExpression],
        check: impl Fn(&mut Self, &NamedExpression, &ShapedExpression) -> Reported<()>,
    ) -> Reported<Vec<(Symbol, Expression)>> {
        let mut entries = |named: &NamedExpression| {
            let value = self.evaluate(&named.value)?;
            check(self, named, &value)?;
            self.given(what, variables.clone(), named, value)
        };
        let all = every(given.iter().map(&mut entries))?;
        let mut values: BTreeMap<Symbol, Expression> = all.into_iter().flatten().collect();
        let order = self.unknowns.entries(variables).into_iter();
        // What is missing was reported by `syntax`.
        order.map(|symbol| Ok((symbol, values.remove(&symbol).ok_or(Poison)?))).collect()
    }

    /// The entries of the variable whose value an entry gives by its name. Fails if it does not have this shape, or if none of these
    /// variables has this name, which `syntax` has reported. `what` names the value.
    pub(in crate::elaborate) fn given<'v>(
        &self,
        what: &str,
        mut variables: impl Iterator<Item = &'v Variable>,
        given: &NamedExpression,
        value: ShapedExpression,
    ) -> Reported<Vec<(Symbol, Expression)>> {
        let name = plain(&given.name);
        let is_meant = variables.any(|variable| plain(&variable.name) == name);
        let variable = self.unknowns.variables.get(&name).filter(|_| is_meant).ok_or(Poison)?;
        let (shape, expected) = (value.shape(), ShapedExpression::shape_of(variable.shape));
        if shape != expected {
            let message = format!("{what} `{name}` is {shape}, and `{name}` is {expected}");
            let remedy = match (shape, expected) {
                (Shape::Vector(count), Shape::Scalar)
                    if self.declaration.inputs.iter().any(|input| input.name == given.name) =>
                {
                    format!("\nhelp: write `{name}: [{count}] = ..`")
                }
                _ => String::new(),
            };
            return self.fail(&given.value, format!("{message}: they must have the same shape{remedy}"));
        }
        Ok(variable.symbols.iter().copied().zip(value.into_entries()).collect())
    }
}
