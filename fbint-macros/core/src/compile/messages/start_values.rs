//! The wording for a declared start that is off the constraints.

use syn::spanned::Spanned;

use super::Messages;
use crate::derivation::{Derivation, IntegralId};
use crate::expression::Symbol;
use crate::syntax::plain;

impl Messages<'_> {
    /// The error, at the value of the last variable of the state that the constraint depends on: a rate is mended by its momenta.
    pub(in crate::compile) fn violated(
        &self,
        derivation: &Derivation,
        constraint: IntegralId,
        value: f64,
    ) -> syn::Error {
        let (variables, integral) = (derivation.symbols.variables(), &derivation.integrals[constraint]);
        let is_involved = |entries: &[Symbol]| entries.iter().any(|entry| integral.gradient.contains_key(entry));
        let last = variables.iter().rfind(|(_, entries)| is_involved(entries)).map(|(name, _)| *name);
        let culprit = self.declaration.start.iter().find(|named| last == Some(&*plain(&named.name)));
        let span = culprit.map_or_else(|| self.declaration.item.ident.span(), |named| named.value.span());
        let name = &integral.name;
        let of = if self.model.start_values.defaults.is_some() { ", for the default parameters" } else { "" };
        let text = format!("the start violates the constraint `{name}`: its value there is {value:.3e}{of}");
        syn::Error::new(span, format!("{text}, but must be 0\nhelp: correct the start"))
    }
}
