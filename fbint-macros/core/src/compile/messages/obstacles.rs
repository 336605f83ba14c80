//! The wording where nothing can be derived.

use super::Messages;
#[cfg(feature = "derive")]
use crate::algebra::{Obstacle, SessionError};
use crate::derivation::Quantity;
use crate::mechanics::{DerivedExpression, NO_DERIVATIVE, NotPoisson, Overlong, Underived, Unreal};
use crate::syntax::diagnostics::Errors;

impl Messages<'_> {
    #[cfg(feature = "derive")]
    pub(in crate::compile) fn obstacle(&self, obstacle: &Obstacle) -> syn::Error {
        match obstacle {
            Obstacle::Session(error) => self.session(error),
            Obstacle::Underived(underived) => self.underived(underived),
        }
    }

    #[cfg(feature = "derive")]
    pub(in crate::compile) fn session(&self, error: &SessionError) -> syn::Error {
        super::error(self.declaration, error)
    }

    pub(in crate::compile) fn underived(&self, underived: &Underived) -> syn::Error {
        let errors = Errors::new();
        match underived {
            Underived::Unreal(quantities) => {
                // What the Lagrangian gives has its mistakes.
                let follows = |quantity: &Unreal| match quantity {
                    Unreal::Integral(id) => self.model.problem.integrals[*id].value.is_none(),
                    _ => false,
                };
                let has_cause = quantities.iter().any(|quantity| matches!(quantity, Unreal::Lagrangian));
                let own = quantities.iter().filter(|quantity| !(has_cause && follows(quantity)));
                for (what, span) in own.map(|quantity| self.quantity(*quantity)) {
                    errors.push(span, format_args!("{what} {NO_DERIVATIVE}"));
                }
            }
            Underived::Overlong(overlong) => self.overlong(overlong, &errors),
            Underived::NotPoisson(reason) => {
                errors.push(self.place(&self.declaration.poisson), self.not_poisson(*reason));
            }
        }
        super::mistakes(self.declaration, errors)
    }

    fn overlong(&self, &Overlong { expression, operations }: &Overlong, errors: &Errors) {
        let (what, span) = match expression {
            DerivedExpression::Integral(id) => (self.name(id), self.model.spans[id]),
            DerivedExpression::Derivative(id, state) => {
                (format!("the derivative of {} by {}", self.name(id), self.state(state)), self.model.spans[id])
            }
            DerivedExpression::Bracket(f, g) => {
                (format!("the bracket of {} and {}", self.name(f), self.name(g)), self.model.spans[g])
            }
            DerivedExpression::Equation(unknown) => {
                (format!("the equation for {}", self.state(unknown)), self.declaration.item.ident.span())
            }
            DerivedExpression::Rate(state) => self.quantity(Quantity::Rate(state)),
        };
        let remedy = "take more coordinates, each with a short constraint that says what it is, instead of long products and quotients";
        errors.push(span, format_args!("{what} grows to {operations} operations, which is too long\nhelp: {remedy}"));
    }

    fn not_poisson(&self, reason: NotPoisson) -> String {
        let place = |state| self.model.problem.symbols.states().position(|other| other == state).unwrap_or_default();
        match reason {
            NotPoisson::NotAntisymmetric(a, b) if a == b => {
                let (place, name) = (place(a), self.state(a));
                format!(
                    "the Poisson matrix is not antisymmetric: its entry ({place}, {place}), for {name}, is not 0 as those of its \
                     diagonal must be"
                )
            }
            NotPoisson::NotAntisymmetric(a, b) => {
                let ([i, j], [a, b]) = ([a, b].map(place), [a, b].map(|state| self.state(state)));
                format!(
                    "the Poisson matrix is not antisymmetric: its entries ({i}, {j}) and ({j}, {i}), for {a} and {b}, do not add up \
                     to 0\nhelp: make one the negative of the other"
                )
            }
            NotPoisson::JacobiFails(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|state| self.state(state));
                format!(
                    "the matrix is not a Poisson matrix: the Jacobi identity fails for {a}, {b}, {c}\nhelp: if that is intended, declare the \
                     field with `dynamics`"
                )
            }
        }
    }
}
