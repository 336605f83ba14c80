//! The functions of Lagrangian systems, and of the discrete Hamel integrator, where a system has it.

use proc_macro2::TokenStream;
use quote::quote;

use super::body::Writer;
use super::functions::{Signatures, array, inlining};
use super::{Compiled, implementation, system_path};
use crate::program::{GeneratedFunction, HAMEL_FUNCTIONS, LAGRANGIAN_FUNCTIONS, Returns, Trait};

/// The implementation of `LagrangianSystem`.
///
/// ```text
/// impl LagrangianSystem for Skate {
///     type Velocities<T: Entry> = [T; 2];
///     fn mass_matrix<T: Scalar>(__system: &Self::Prepared<T>, __x: &[T; 5]) -> [[T; 2]; 2] { .. }
///     ..
/// }
/// ```
pub(super) fn lagrangian(compiled: &Compiled<'_>, writer: &Writer<'_>, signatures: &Signatures) -> Option<TokenStream> {
    let items = items(compiled, writer, signatures, Trait::Lagrangian)?;
    let (runtime, name) = (&signatures.runtime, system_path(&compiled.declaration.item.ident));
    let velocities = velocities(signatures);
    Some(implementation(&quote!(#runtime::LagrangianSystem for #name), &quote!(#velocities #items)))
}

/// The implementation of `HamelSystem`.
///
/// ```text
/// impl HamelSystem for Skate {
///     fn momentum_state<T: Scalar>(__system: &Self::Prepared<T>, __x: &[T; 5]) -> [T; 5] { .. }
///     ..
/// }
/// ```
pub(super) fn hamel(compiled: &Compiled<'_>, writer: &Writer<'_>, signatures: &Signatures) -> Option<TokenStream> {
    let items = items(compiled, writer, signatures, Trait::Hamel)?;
    let (runtime, name) = (&signatures.runtime, system_path(&compiled.declaration.item.ident));
    Some(implementation(&quote!(#runtime::HamelSystem for #name), &items))
}

/// The functions of a trait, if the model has it.
fn items(compiled: &Compiled<'_>, writer: &Writer<'_>, signatures: &Signatures, owner: Trait) -> Option<TokenStream> {
    let functions = compiled.programs.functions().filter(|(function, _)| function.owner == owner);
    let item = |(function, program)| {
        let (signature, inlining) = (signatures.of(function), inlining(function, program));
        let (statements, entries) = writer.derivative(program, false);
        let body = match function.returns {
            Returns::Matrix(_, columns) => Writer::rows(program, signatures.count(columns), (statements, entries)),
            _ => quote!(#statements [#(#entries),*]),
        };
        quote!(#inlining #signature { #body })
    };
    let items: Vec<TokenStream> = functions.map(item).collect();
    (!items.is_empty()).then(|| quote!(#(#items)*))
}

fn velocities(signatures: &Signatures) -> TokenStream {
    let (runtime, velocities) = (&signatures.runtime, array(signatures.velocities));
    quote!(type Velocities<T: #runtime::Entry> = #velocities;)
}

/// The functions of these traits for a mistaken model, each with this body.
pub(super) fn without_content(signatures: &Signatures, body: &TokenStream) -> [TokenStream; 2] {
    let functions = |of: &[&GeneratedFunction]| {
        let functions = of.iter().map(|function| signatures.of(function));
        quote!(#(#functions #body)*)
    };
    let (velocities, of_lagrangian) = (velocities(signatures), functions(&LAGRANGIAN_FUNCTIONS));
    [quote!(#velocities #of_lagrangian), functions(&HAMEL_FUNCTIONS)]
}
