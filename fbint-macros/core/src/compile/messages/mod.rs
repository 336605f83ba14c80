//! The wording of mistakes that are found after elaboration.

mod conservation;
mod constraints;
mod definedness;
mod obstacles;
mod soundness;
mod start_values;

use proc_macro2::Span;
use syn::spanned::Spanned;

use crate::derivation::{IntegralId, Problem, Quantity};
use crate::elaborate::Elaborated;
use crate::expression::Symbol;
use crate::notation;
use crate::prepared::{BuildEnvironment, FileError};
use crate::program::Fault;
use crate::proofs::MOST_MONOMIALS;
use crate::syntax::Declaration;
use crate::syntax::diagnostics::{Errors, REPORT};

/// Words the mistakes of one model, each at the place where it is declared.
#[derive(Clone, Copy)]
pub(super) struct Messages<'a> {
    pub(super) declaration: &'a Declaration,
    pub(super) model: &'a Elaborated,
    pub(super) environment: &'a BuildEnvironment,
}

impl Messages<'_> {
    /// An error about the package's derivations, with the command that mends it.
    pub(super) fn file_error(&self, error_of_file: &FileError) -> syn::Error {
        match error_of_file {
            FileError::Stale(text) => {
                let has_algebra = self.environment.has_algebra();
                let reason = if has_algebra { "" } else { ", and this build of fbint has no algebra" };
                let command = self.environment.command(&self.runtime());
                let text = format!("{text}{reason}\nhelp: to bring `derivations/` up to date, run `{command}`");
                error(self.declaration, text)
            }
            FileError::Access(text) => error(self.declaration, text),
        }
    }

    /// The package's name for the runtime, as far as the declaration tells.
    fn runtime(&self) -> String {
        let first = self.declaration.runtime.segments.first().map(|segment| segment.ident.to_string());
        match first.as_deref() {
            None | Some("crate" | "self" | "super" | "fbint_runtime") => "fbint-runtime".to_owned(),
            Some("fbint_command") => "fbint-command".to_owned(),
            Some(other) => other.to_owned(),
        }
    }

    fn place(&self, expression: &Option<syn::Expr>) -> Span {
        expression.as_ref().map_or_else(|| self.declaration.item.ident.span(), Spanned::span)
    }

    /// A declared quantity in words, and its place.
    fn quantity(&self, quantity: Quantity) -> (String, Span) {
        let Problem { symbols, integrals, outputs, .. } = &self.model.problem;
        let what = notation::quantity(quantity, symbols, |id| &integrals[id].name, outputs);
        let whole = || self.declaration.item.ident.span();
        let span = match quantity {
            Quantity::Hamiltonian => self.place(&self.declaration.hamiltonian),
            Quantity::Lagrangian => self.place(&self.declaration.lagrangian),
            Quantity::Poisson => self.place(&self.declaration.poisson),
            Quantity::Rate(state) => {
                let variable = &self.model.places[state].variable;
                let mut rates = self.declaration.dynamics.iter().chain(&self.declaration.kinematics);
                rates.find(|rate| rate.name == *variable).map_or_else(whole, |rate| rate.name.span())
            }
            Quantity::Force(along) => {
                let variable = &self.model.places[along].variable;
                let force = self.declaration.forces.iter().find(|force| force.name == *variable);
                force.map_or_else(whole, |force| force.value.span())
            }
            Quantity::Integral(integral) => self.model.spans[integral],
            Quantity::Output(place) => self.model.output_spans[place],
            Quantity::Law(input) => self.model.places[input].variable.span(),
        };
        (what, span)
    }

    /// A search for more conserved quantities than it can find.
    pub(super) fn too_many(&self, count: usize, degree: usize, span: Span) -> syn::Error {
        let text = format!(
            "polynomials of degree {degree} in the state and the functions that occur have {count} coefficients, and a search is limited \
             to {MOST_MONOMIALS}\nhelp: give a lower degree"
        );
        syn::Error::new(span, text)
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
        notation::quoted(integrals.into_iter().map(|integral| &self.model.problem.integrals[integral].name))
    }
}

/// A mistake of the model as a whole.
fn error(declaration: &Declaration, text: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(declaration.item.ident.span(), text)
}

/// At least one mistake.
pub(super) fn mistakes(declaration: &Declaration, errors: Errors) -> syn::Error {
    errors.flush().err().unwrap_or_else(|| error(declaration, "internal error: no model and no mistake"))
}

/// A panic of the compiler.
pub(crate) fn panicked(text: &str) -> String {
    format!("internal error in fbint: {text}\nhelp: {REPORT} and with what stands above this message")
}

/// A bug of the compiler, or of its computer-algebra system.
pub(super) fn disagreement(declaration: &Declaration, quantity: &str) -> syn::Error {
    let text = format!("internal error: {quantity} as derived disagrees with the declaration\nhelp: {REPORT}");
    error(declaration, text)
}

/// A bug of the compiler.
pub(super) fn fault(declaration: &Declaration, fault: &Fault) -> syn::Error {
    let text = format!("internal error: `{}` as generated disagrees with its derivation", fault.function);
    error(declaration, format_args!("{text}\nhelp: {REPORT}"))
}
