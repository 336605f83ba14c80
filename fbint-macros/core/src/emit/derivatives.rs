//! The derivatives of the generated functions, where they are declared.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::body::{Host, Writer};
use super::functions::Signatures;
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
    let (runtime, system, direction) = (writer.runtime, local("system"), local("direction"));
    let changes = writer.model.map_or(0, |model| model.programs.prepare_direction.outputs.len());
    let body = writer.content(|model| {
        let host = Host::Associated { takes_part_of_direction: true };
        let (statements, changes) = writer.body(&model.programs.prepare_direction, host);
        quote!(#statements [#(#changes),*])
    });
    let Signatures { parameters, inputs, .. } = writer.signatures;
    let [parameters, inputs, changes] = [parameters, inputs, changes].map(Literal::usize_unsuffixed);
    let types = quote! {
        type ByParameters<T: #runtime::Entry> = [T; #parameters];
        type ByInputs<T: #runtime::Entry> = [T; #inputs];
        type ByPrepared<T: #runtime::Entry> = [T; #changes];
        #[inline]
        fn prepare_direction<T: #runtime::Scalar>(
            #system: &Self::Prepared<T>,
            #direction: &[T; #parameters],
        ) -> [T; #changes] {
            #body
        }
    };
    writer.functions(Trait::Differentiable, &types)
}
