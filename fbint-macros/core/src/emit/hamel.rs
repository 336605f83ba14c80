//! The functions of the discrete Hamel integrator, where a system has it.

use proc_macro2::TokenStream;
use quote::quote;

use super::body::Writer;
use super::functions::{Signatures, inlining};
use super::{Compiled, system_path};
use crate::program::{HAMEL_FUNCTIONS, Returns, Trait};

/// The implementation of the trait that has them.
///
/// ```text
/// impl HamelSystem for Skate {
///     fn momentum_state<T: Scalar>(__system: &Self::Prepared<T>, __x: &[T; 5]) -> [T; 5] { .. }
///     ..
/// }
/// ```
pub(super) fn hamel(compiled: &Compiled<'_>, writer: &Writer<'_>, signatures: &Signatures) -> Option<TokenStream> {
    let functions = compiled.programs.functions().filter(|(function, _)| function.owner() == Trait::Hamel);
    let items: Vec<TokenStream> = functions
        .map(|(function, program)| {
            let (signature, inlining) = (signatures.of(function), inlining(function, program));
            let (statements, entries) = writer.derivative(program, false);
            let body = match function.returns {
                Returns::StateJacobian => Writer::rows(program, signatures.states, (statements, entries)),
                _ => quote!(#statements [#(#entries),*]),
            };
            quote!(#inlining #signature { #body })
        })
        .collect();
    let (runtime, name) = (&signatures.runtime, system_path(&compiled.declaration.item.ident));
    (!items.is_empty()).then(|| {
        quote! {
            #[automatically_derived]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
            impl #runtime::HamelSystem for #name {
                #(#items)*
            }
        }
    })
}

/// The functions of a mistaken model, each with this body.
pub(super) fn without_content(signatures: &Signatures, body: &TokenStream) -> TokenStream {
    let functions = HAMEL_FUNCTIONS.iter().map(|function| signatures.of(function));
    quote!(#(#functions #body)*)
}
