//! The wording of mistakes that are found after elaboration.

mod beginning;
mod conservation;
mod constraints;
mod definedness;
mod obstacles;

use proc_macro2::Span;
use syn::spanned::Spanned;

use crate::derivation::{Derivation, Further, IntegralId, Quantity, VelocityConstraints};
use crate::elaborate::Elaborated;
use crate::expression::Symbol;
use crate::mechanics::motion::forms;
use crate::notation;
use crate::prepared::{FileError, SizeLimits, Surroundings};
use crate::program::Fault;
use crate::proofs::{self, MOST_MONOMIALS};
use crate::syntax::diagnostics::Errors;
use crate::syntax::{Declaration, plain};

/// Words the mistakes of one model, each at the place where it is declared.
#[derive(Clone, Copy)]
pub(super) struct Messages<'a> {
    pub(super) declaration: &'a Declaration,
    pub(super) model: &'a Elaborated,
    pub(super) surroundings: &'a Surroundings,
}

impl Messages<'_> {
    /// An error about the package's derivations, with the command that mends it.
    pub(super) fn trouble(&self, trouble: &FileError) -> syn::Error {
        match trouble {
            FileError::Stale(text) => {
                let has_algebra = self.surroundings.has_algebra();
                let reason = if has_algebra { "" } else { ", and this build of fbint has no algebra" };
                let command = self.surroundings.command(&self.runtime());
                let text = format!("{text}{reason}; to bring `derivations/` up to date, run `{command}`");
                error(self.declaration, text)
            }
            FileError::Access(text) => error(self.declaration, text),
        }
    }

    /// Refuses a model with more entries than the surroundings allow.
    pub(super) fn size(&self) -> syn::Result<()> {
        let (problem, SizeLimits { entries: most, integrals }) = (&self.model.problem, self.surroundings.limits);
        let lists = [
            ("entries of the state", problem.symbols.dimension(), most),
            ("integrals", problem.integrals.len(), integrals),
            ("inputs", problem.symbols.inputs().count(), most),
            ("outputs", problem.outputs.len(), most),
            ("parameters", problem.symbols.parameters().count(), most.saturating_mul(2)),
        ];
        let Some((what, count, most)) = lists.into_iter().find(|(_, count, most)| count > most) else { return Ok(()) };
        let text = format!("the model has {count} {what}, and one from text has at most {most}: declare it in a crate");
        Err(error(self.declaration, text))
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
        match quantity {
            Quantity::Hamiltonian => ("the Hamiltonian".to_owned(), self.place(&self.declaration.hamiltonian)),
            Quantity::Lagrangian => ("the Lagrangian".to_owned(), self.place(&self.declaration.lagrangian)),
            Quantity::Poisson => ("the Poisson matrix".to_owned(), self.place(&self.declaration.poisson)),
            Quantity::Rate(state) => self.rate(state),
            Quantity::Integral(integral) => (self.name(integral), self.model.spans[integral]),
            Quantity::Output(place) => {
                (format!("`{}`", self.model.problem.outputs[place].name), self.model.output_spans[place])
            }
            Quantity::Law(input) => {
                let name = &self.model.places[input].variable;
                (format!("the law of the input `{}`", self.model.problem.symbols[input].name), name.span())
            }
        }
    }

    /// `the rate of ..`, and its place.
    fn rate(&self, state: Symbol) -> (String, Span) {
        let variable = &self.model.places[state].variable;
        let rates = self.declaration.dynamics.iter().chain(&self.declaration.kinematics);
        let rate = rates.into_iter().find(|rate| rate.name == *variable);
        let span = rate.map_or_else(|| self.declaration.item.ident.span(), |rate| rate.name.span());
        (format!("the rate of {}", self.state(state)), span)
    }

    /// The conserved quantities that are not declared.
    pub(super) fn further(&self, derivation: &Derivation) -> syn::Result<Further> {
        let Some((degree, span)) = self.declaration.search_degree() else {
            return Ok(proofs::further(derivation, None));
        };
        let count = proofs::monomials_up_to(derivation, degree);
        if count > MOST_MONOMIALS {
            let text = format!(
                "polynomials of degree {degree} in the state and the functions that occur have {count} coefficients, and a search is limited \
                 to {MOST_MONOMIALS}: give a lower degree"
            );
            return Err(syn::Error::new(span, text));
        }
        Ok(proofs::further(derivation, Some(degree)))
    }

    /// The properties of the velocity constraints.
    pub(super) fn velocity_constraints(&self) -> Option<VelocityConstraints> {
        let names = self.declaration.velocity_constraints.iter().map(|named| plain(&named.name)).collect();
        let forms = forms(&self.model.problem).filter(|forms| !forms.is_empty())?;
        Some(VelocityConstraints { names, are_holonomic: proofs::are_integrable(&forms) })
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
    format!(
        "internal error in fbint: {text}; this is a bug, please report it with the declaration and with what stands above this message"
    )
}

/// A bug of the compiler, or of its computer-algebra system.
pub(super) fn disagreement(declaration: &Declaration, quantity: &str) -> syn::Error {
    let text = format!("internal error: {quantity} as derived disagrees with the declaration; please report it");
    error(declaration, text)
}

/// The key `taylor` of a model whose field has |x|.
pub(super) fn without_series(declaration: &Declaration) -> syn::Error {
    let text = "the field contains `abs` of the state, or a switch such as `max`, which has no Taylor series where it turns: leave out `taylor`, and integrate the \
                model with another method, such as `Method::Dop853`";
    syn::Error::new(declaration.place(crate::syntax::AttributeKey::Taylor), text)
}

/// A bug of the compiler.
pub(super) fn fault(declaration: &Declaration, fault: &Fault) -> syn::Error {
    let text = format!("internal error: `{}` as generated disagrees with its derivation", fault.function);
    error(declaration, format_args!("{text}; please report it"))
}
