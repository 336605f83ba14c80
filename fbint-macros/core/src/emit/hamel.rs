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

/// The steps of the discrete Hamel integrator, for simulations, whose methods are chosen at run time.
pub(super) fn hamel_steps(writer: &Writer<'_>) -> Option<TokenStream> {
    let runtime = writer.runtime;
    let function = quote! {
        fn hamel_steps(&self) -> ::core::option::Option<#runtime::HamelSteps<Self>> {
            ::core::option::Option::Some(#runtime::HamelSteps::OF_SYSTEM)
        }
    };
    writer.has(Trait::Hamel).then_some(function)
}

/// The functions of the discrete Hamel integrator, for the same.
pub(super) fn hamel_functions(writer: &Writer<'_>) -> Option<TokenStream> {
    let runtime = writer.runtime;
    let functions = quote! {
        const HAMEL_FUNCTIONS: ::core::option::Option<#runtime::HamelFunctions<Self>> =
            ::core::option::Option::Some(#runtime::HamelFunctions::OF_SYSTEM);
    };
    writer.has(Trait::Hamel).then_some(functions)
}
