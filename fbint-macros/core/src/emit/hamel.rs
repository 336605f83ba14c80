//! The functions of Lagrangian systems, and of the discrete Hamel integrator, where a system has it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::body::Writer;
use super::functions::array;
use crate::program::Trait;

/// The implementation of `LagrangianSystem`.
///
/// ```text
/// impl LagrangianSystem for Skate {
///     type Velocities<T: Entry> = [T; 2];
///     fn mass_matrix<T: Scalar>(__system: &Self::Prepared<T>, __x: &[T; 5]) -> [[T; 2]; 2] { .. }
///     ..
/// }
/// ```
pub(super) fn lagrangian(writer: &Writer<'_>) -> Option<TokenStream> {
    let (runtime, velocities) = (writer.runtime, array(writer.signatures.velocities));
    writer.functions(Trait::Lagrangian, &quote!(type Velocities<T: #runtime::Entry> = #velocities;))
}

/// The implementation of `HamelSystem`.
///
/// ```text
/// impl HamelSystem for Skate {
///     fn momentum_state<T: Scalar>(__system: &Self::Prepared<T>, __x: &[T; 5]) -> [T; 5] { .. }
///     ..
/// }
/// ```
pub(super) fn hamel(writer: &Writer<'_>) -> Option<TokenStream> {
    writer.functions(Trait::Hamel, &TokenStream::new())
}

/// The functions of the discrete Hamel integrator, for simulations, which choose their method at run time.
pub(super) fn hamel_functions_of_system(writer: &Writer<'_>) -> Option<TokenStream> {
    let runtime = writer.runtime;
    let function = quote! {
        fn hamel_functions(&self) -> ::core::option::Option<#runtime::HamelFunctions<Self>> {
            ::core::option::Option::Some(#runtime::HamelFunctions::OF_SYSTEM)
        }
    };
    writer.has(Trait::Hamel).then_some(function)
}

/// The functions of both traits as constants, for programs without a value of the system.
pub(super) fn constants(writer: &Writer<'_>) -> impl Iterator<Item = TokenStream> {
    let traits = [
        (Trait::Hamel, "HAMEL_FUNCTIONS", "HamelFunctions"),
        (Trait::Lagrangian, "LAGRANGIAN_FUNCTIONS", "LagrangianFunctions"),
    ];
    traits.into_iter().filter(|(of, ..)| writer.has(*of)).map(|(_, constant, functions)| {
        let (runtime, constant, functions) =
            (writer.runtime, format_ident!("{constant}"), format_ident!("{functions}"));
        quote! {
            const #constant: ::core::option::Option<#runtime::#functions<Self>> =
                ::core::option::Option::Some(#runtime::#functions::OF_SYSTEM);
        }
    })
}
