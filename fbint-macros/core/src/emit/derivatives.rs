//! The derivatives of the generated functions, where they are declared.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::body::{Host, Writer};
use super::functions::{Signatures, functions};
use super::local;
use crate::program::Trait;

/// The implementation of `DifferentiableSystem`.
///
/// ```text
/// impl DifferentiableSystem for Pendulum {
///     type ByParameters<T: Entry> = [T; 3];
///     type VectorFieldDerivatives<T: Entry> = [T; 15];
///     const VECTOR_FIELD_PATTERN: &'static [(usize, usize)] = &[(0, 0), ..];
///     fn vector_field_tangent<T: Scalar>(__system: &Self::Prepared<T>, ..) -> ([T; 4], [T; 4]) { .. }
/// }
/// ```
pub(super) fn derivatives(writer: &Writer<'_>) -> Option<TokenStream> {
    if !writer.declaration.derivatives {
        return None;
    }
    let host = Host::Associated { takes_part_of_direction: true };
    let (statements, changes) = writer.body(&writer.model.programs.prepare_direction, host);
    let body = quote!({ #statements [#(#changes),*] });
    let items = items(&writer.signatures, changes.len(), &body, &functions(writer, Trait::Differentiable));
    Some(writer.implementation("DifferentiableSystem", &items))
}

/// The types of changes, the function that prepares a direction, which has so many changes and this body, and the other functions.
pub(super) fn items(
    signatures: &Signatures,
    changes: usize,
    body: &TokenStream,
    functions: &TokenStream,
) -> TokenStream {
    let (runtime, system, direction) = (&signatures.runtime, local("system"), local("direction"));
    let [parameters, inputs, changes] =
        [signatures.parameters, signatures.inputs, changes].map(Literal::usize_unsuffixed);
    quote! {
        type ByParameters<T: #runtime::Entry> = [T; #parameters];
        type ByInputs<T: #runtime::Entry> = [T; #inputs];
        type ByPrepared<T: #runtime::Entry> = [T; #changes];
        #[inline]
        fn prepare_direction<T: #runtime::Scalar>(
            #system: &Self::Prepared<T>,
            #direction: &[T; #parameters],
        ) -> [T; #changes] #body
        #functions
    }
}
