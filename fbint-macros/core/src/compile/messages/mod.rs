//! What is said about mistakes that take more than reading the declaration: all wording of the driver.

mod conservation;
mod constraints;
mod definedness;
mod obstacles;

use proc_macro2::Span;
use syn::spanned::Spanned;

pub(super) use self::definedness::undefined;
pub(super) use self::obstacles::Obstacle;
use crate::check::Disagreement;
use crate::derivation::IntegralId;
use crate::elaborate::Model;
use crate::expression::Symbol;
use crate::program::Fault;
use crate::symbolic::SessionError;
use crate::syntax::Declaration;

/// Words mistakes of one model, each at the place where it is declared.
#[derive(Clone, Copy)]
pub(super) struct Messages<'a> {
    pub(super) declaration: &'a Declaration,
    pub(super) model: &'a Model,
}

impl Messages<'_> {
    pub(super) fn session(&self, error: &SessionError) -> syn::Error {
        syn::Error::new(self.declaration.item.ident.span(), error)
    }

    fn place(&self, expression: &Option<syn::Expr>) -> Span {
        expression.as_ref().map_or_else(|| self.declaration.item.ident.span(), Spanned::span)
    }

    /// `the rate of ..`, and its place.
    fn rate(&self, state: Symbol) -> (String, Span) {
        let variable = &self.model.places[state].variable;
        let rate = self.declaration.dynamics.iter().find(|rate| rate.name == *variable);
        let span = rate.map_or_else(|| self.declaration.item.ident.span(), |rate| rate.name.span());
        (format!("the rate of {}", self.state(state)), span)
    }

    /// The name of an entry of the state in quotes.
    fn state(&self, state: Symbol) -> String {
        format!("`{}`", self.model.problem.symbols[state].name)
    }

    /// The name of an integral in quotes.
    fn name(&self, integral: IntegralId) -> String {
        format!("`{}`", self.model.problem.integrals[integral].name)
    }

    fn names(&self, integrals: impl IntoIterator<Item = IntegralId>) -> String {
        integrals.into_iter().map(|integral| self.name(integral)).collect::<Vec<_>>().join(", ")
    }
}

pub(super) fn no_model(declaration: &Declaration) -> syn::Error {
    syn::Error::new(declaration.item.ident.span(), "internal error: no model and no mistake")
}

/// A bug of the compiler, or of its computer-algebra system.
pub(super) fn disagreement(declaration: &Declaration, disagreement: &Disagreement) -> syn::Error {
    let quantity = &disagreement.quantity;
    let text = format!("internal error: {quantity} as derived disagrees with the declaration; please report it");
    syn::Error::new(declaration.item.ident.span(), text)
}

/// A bug of the compiler.
pub(super) fn fault(declaration: &Declaration, fault: &Fault) -> syn::Error {
    let function = match fault.pass {
        Some(pass) => format!("`{}` after the pass `{pass}`", fault.function),
        None => format!("`{}`", fault.function),
    };
    let text = format!("internal error: {function} as generated disagrees with its derivation; please report it");
    syn::Error::new(declaration.item.ident.span(), text)
}
