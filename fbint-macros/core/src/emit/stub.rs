//! Stand-ins for the unknown parts of a mistaken model.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{DeriveInput, GenericParam, Generics};

use crate::syntax::{AttributeKey, Declaration};

/// The model in its most likely use. A generic one, which is a mistake, has `f64` for its types and `'static` for its lifetimes: if all
/// types had an implementation, rustc could not tell which one `Model::FACTS` means.
pub(super) struct Instance {
    /// The type, without bounds on its generic types, which `f64` need not satisfy.
    pub(super) item: DeriveInput,
    /// Its sizes, which stay generic.
    pub(super) sizes: Generics,
    /// All of its arguments, if it has any.
    pub(super) arguments: Option<TokenStream>,
}

impl Instance {
    pub(super) fn of(mut item: DeriveInput) -> Self {
        let (mut sizes, mut arguments) = (Generics::default(), Vec::new());
        item.generics.where_clause = None;
        for parameter in &mut item.generics.params {
            arguments.push(match parameter {
                GenericParam::Type(ty) => {
                    (ty.colon_token, ty.bounds) = (None, Punctuated::new());
                    quote!(::core::primitive::f64)
                }
                GenericParam::Lifetime(_) => quote!('static),
                GenericParam::Const(size) => {
                    sizes.params.push(GenericParam::Const(size.clone()));
                    size.ident.to_token_stream()
                }
            });
        }
        let arguments = (!arguments.is_empty()).then(|| quote!(<#(#arguments),*>));
        Self { item, sizes, arguments }
    }

    /// The path of the model. Where a generic parameter of generated code has the same name, it is found through its module.
    pub(super) fn path(&self) -> TokenStream {
        let (name, arguments) = (&self.item.ident, &self.arguments);
        let module = (name == "T" || name == "L").then(|| quote!(self::));
        quote!(#module #name #arguments)
    }
}

/// The number of integrals of a mistaken model: exact unless a constraint or an invariant is a vector.
pub(super) fn integrals(declaration: &Declaration) -> usize {
    let integrals = declaration.named().map(|(key, named)| {
        let members = named.family.as_ref().map_or(1, |family| family.range.clone().count());
        members
            * match key {
                AttributeKey::Constraint if declaration.has_reactions() => 2,
                AttributeKey::Constraint | AttributeKey::PhaseConstraint => 1,
                AttributeKey::VelocityConstraint | AttributeKey::Invariant => 1,
                _ => 0,
            }
    });
    usize::from(declaration.dynamics.is_empty()) + integrals.sum::<usize>()
}
