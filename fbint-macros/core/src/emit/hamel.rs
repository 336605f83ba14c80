//! The functions of Lagrangian systems, and of the discrete Hamel integrator, where a system has it.

use proc_macro2::TokenStream;
use quote::quote;

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

/// The functions of a Lagrangian system as a constant, for programs that find out at run time whether a system has them.
pub(super) fn lagrangian_functions(writer: &Writer<'_>) -> Option<TokenStream> {
    let runtime = writer.runtime;
    let functions = quote! {
        const LAGRANGIAN_FUNCTIONS: ::core::option::Option<#runtime::LagrangianFunctions<Self>> =
            ::core::option::Option::Some(#runtime::LagrangianFunctions::OF_SYSTEM);
    };
    writer.has(Trait::Lagrangian).then_some(functions)
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

/// These functions as a constant, for programs without a value of the system.
pub(super) fn hamel_functions(writer: &Writer<'_>) -> Option<TokenStream> {
    let runtime = writer.runtime;
    let functions = quote! {
        const HAMEL_FUNCTIONS: ::core::option::Option<#runtime::HamelFunctions<Self>> =
            ::core::option::Option::Some(#runtime::HamelFunctions::OF_SYSTEM);
    };
    writer.has(Trait::Hamel).then_some(functions)
}
