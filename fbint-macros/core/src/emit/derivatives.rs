//! The derivatives of the generated functions, where they are declared.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::body::Writer;
use super::functions::{Signatures, inlining};
use super::{Compiled, Lengths, implementation, local};
use crate::program::{Argument, DERIVATIVES, GeneratedFunction, Program, Returns, Trait, pattern};

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
pub(super) fn derivatives(
    compiled: &Compiled<'_>,
    writer: &Writer<'_>,
    signatures: &Signatures,
) -> Option<TokenStream> {
    if !compiled.declaration.derivatives {
        return None;
    }
    let symbols = &compiled.derivation.symbols;
    let lengths = Lengths {
        state: symbols.dimension(),
        parameters: symbols.parameters().count(),
        inputs: symbols.inputs().count(),
    };
    let functions = compiled.programs.functions().filter(|(function, _)| function.owner == Trait::Differentiable);
    let items = functions.map(|(function, program)| {
        let (signature, inlining) = (signatures.of(function), inlining(function, program));
        let takes_part = function.arguments.contains(&Argument::StateDirection);
        let (statements, entries) = writer.derivative(program, takes_part);
        let result = result(&signatures.runtime, function, program, &entries, lengths);
        let sparse = is_sparse(function).then(|| {
            let entries = pattern(program, lengths.all());
            sparse(
                &signatures.runtime,
                function,
                entries.map(|(row, column, _)| [row, column].map(Literal::usize_unsuffixed)),
            )
        });
        quote!(#sparse #inlining #signature { #statements #result })
    });
    let program = &compiled.programs.prepare_direction;
    let (statements, changes) = writer.derivative(program, true);
    let prepare = preparation(&signatures.runtime, lengths, changes.len(), &quote!({ #statements [#(#changes),*] }));
    let (runtime, name) = (&signatures.runtime, &compiled.declaration.item.ident);
    let items = types(runtime, lengths, &quote!(#prepare #(#items)*));
    Some(implementation(&quote!(#runtime::DifferentiableSystem for #name), &items))
}

/// The function that prepares a direction, and its type.
fn preparation(runtime: &syn::Path, lengths: Lengths, changes: usize, body: &TokenStream) -> TokenStream {
    let [parameters, changes] = [lengths.parameters, changes].map(Literal::usize_unsuffixed);
    let (system, direction) = (local("system"), local("direction"));
    quote! {
        type ByPrepared<T: #runtime::Entry> = [T; #changes];
        #[inline]
        fn prepare_direction<T: #runtime::Scalar>(
            #system: &Self::Prepared<T>,
            #direction: &[T; #parameters],
        ) -> [T; #changes] #body
    }
}

/// The implementation of a mistaken model, each function with this body.
pub(super) fn without_content(signatures: &Signatures, lengths: Lengths, body: &TokenStream) -> TokenStream {
    let items = DERIVATIVES.iter().map(|function| {
        let signature = signatures.of(function);
        let sparse = is_sparse(function).then(|| sparse(&signatures.runtime, function, std::iter::empty()));
        quote!(#sparse #signature #body)
    });
    let prepare = preparation(&signatures.runtime, lengths, 0, body);
    types(&signatures.runtime, lengths, &quote!(#prepare #(#items)*))
}

fn types(runtime: &syn::Path, lengths: Lengths, items: &TokenStream) -> TokenStream {
    let [parameters, inputs] = [lengths.parameters, lengths.inputs].map(Literal::usize_unsuffixed);
    quote! {
        type ByParameters<T: #runtime::Entry> = [T; #parameters];
        type ByInputs<T: #runtime::Entry> = [T; #inputs];
        #items
    }
}

/// The type and the pattern of a sparse Jacobian.
fn sparse(
    runtime: &syn::Path,
    function: &GeneratedFunction,
    pattern: impl Iterator<Item = [Literal; 2]>,
) -> TokenStream {
    let of = function.name.trim_end_matches("_derivatives").to_uppercase();
    let (name, list) = (format_ident!("{of}_PATTERN"), derivatives_type(function));
    let pairs: Vec<TokenStream> = pattern.map(|[row, column]| quote!((#row, #column))).collect();
    let number = Literal::usize_unsuffixed(pairs.len());
    quote! {
        type #list<T: #runtime::Entry> = [T; #number];
        const #name: &'static [(::core::primitive::usize, ::core::primitive::usize)] = &[#(#pairs),*];
    }
}

fn is_sparse(function: &GeneratedFunction) -> bool {
    matches!(function.returns, Returns::Derivatives(_))
}

/// `VectorFieldDerivatives`
pub(super) fn derivatives_type(function: &GeneratedFunction) -> Ident {
    let capitalised = |word: &str| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
    let name: String = function.name.split('_').map(capitalised).collect();
    format_ident!("{name}")
}

/// The value that a function returns, from the outputs of its program.
fn result(
    runtime: &syn::Path,
    function: &GeneratedFunction,
    program: &Program,
    entries: &[TokenStream],
    lengths: Lengths,
) -> TokenStream {
    match function.returns {
        Returns::Tangent(_) => {
            let (values, tangents) = entries.split_at(entries.len() / 2);
            quote!(([#(#values),*], [#(#tangents),*]))
        }
        Returns::Gradient => gradient(runtime, entries, lengths),
        Returns::ProjectionGradient => {
            let (by_unknowns, rest) = entries.split_at(lengths.all());
            let (variances, targets) = rest.split_at(lengths.state);
            let unknowns = gradient(runtime, by_unknowns, lengths);
            quote! {
                #runtime::ProjectionGradient {
                    unknowns: #unknowns,
                    variances: [#(#variances),*],
                    targets: [#(#targets),*]
                }
            }
        }
        _ => {
            let written = pattern(program, lengths.all()).map(|(_, _, place)| &entries[place]);
            quote!([#(#written),*])
        }
    }
}

fn gradient(runtime: &syn::Path, entries: &[TokenStream], lengths: Lengths) -> TokenStream {
    let (state, rest) = entries.split_at(lengths.state);
    let (parameters, inputs) = rest.split_at(lengths.parameters);
    quote! {
        #runtime::Gradient {
            state: [#(#state),*],
            parameters: [#(#parameters),*],
            inputs: [#(#inputs),*]
        }
    }
}
