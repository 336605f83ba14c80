//! The types of the state and of the inputs.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{input_name, local, state_name};
use crate::syntax::{Declaration, Shape, Variable, plain};

/// The state with its declared names and shapes, and its conversions from and to the flat vector.
///
/// ```text
/// pub struct PendulumState { pub q: SVector<f64, 2>, pub p: SVector<f64, 2> }
/// impl From<[f64; 4]> for PendulumState { .. }
/// impl From<PendulumState> for [f64; 4] { .. }
/// ```
pub(super) fn state_type(declaration: &Declaration) -> TokenStream {
    let model = &declaration.item.ident;
    let kind = |variable: &Variable| {
        let is_one_of = |variables: &[Variable]| variables.iter().any(|other| other.name == variable.name);
        match () {
            () if is_one_of(&declaration.coordinates) => "coordinate",
            () if is_one_of(&declaration.momenta) => "momentum",
            () if is_one_of(&declaration.velocities) => "velocity",
            () if is_one_of(declaration.time.as_slice()) => "time",
            () if is_one_of(declaration.work.as_slice()) => "work done on the system,",
            () => "variable",
        }
    };
    let doc = format!(" A state of [`{}`].", plain(model));
    record(declaration, &state_name(model), &doc, declaration.state_variables().collect(), kind)
}

/// The inputs with their declared names and shapes, and their conversions from and to the flat vector, if there are any.
pub(super) fn input_type(declaration: &Declaration) -> Option<TokenStream> {
    let model = &declaration.item.ident;
    let doc = format!(" The inputs of [`{}`].", plain(model));
    let variables: Vec<&Variable> = declaration.inputs.iter().collect();
    (!variables.is_empty()).then(|| record(declaration, &input_name(model), &doc, variables, |_| "input"))
}

/// A type that has these variables as its fields.
fn record(
    declaration: &Declaration,
    state: &Ident,
    doc: &str,
    variables: Vec<&Variable>,
    kind: impl Fn(&Variable) -> &'static str,
) -> TokenStream {
    let (runtime, visibility) = (&declaration.runtime, &declaration.item.vis);
    let names: Vec<&Ident> = variables.iter().map(|variable| &variable.name).collect();
    let dimension: usize = variables.iter().map(|variable| variable.shape.entries()).sum();
    let n = Literal::usize_unsuffixed(dimension);
    let types = variables.iter().map(|variable| state_field_type(runtime, variable.shape));
    let field_docs = variables
        .iter()
        .map(|variable| format!(" The {} `{}`, {}.", kind(variable), plain(&variable.name), variable.shape));
    let entry = |index: usize| local(format!("x_{index}"));
    let entries: Vec<Ident> = (0..dimension).map(entry).collect();
    let mut remaining = entries.iter();
    let gathered: Vec<TokenStream> =
        variables.iter().map(|variable| gather(runtime, variable.shape, &mut remaining)).collect();
    let mut offset = 0;
    let scattered: Vec<TokenStream> = variables
        .iter()
        .map(|variable| {
            let pattern = scatter(runtime, variable.shape, &entries[offset..offset + variable.shape.entries()]);
            offset += variable.shape.entries();
            pattern
        })
        .collect();
    let flat = quote!([::core::primitive::f64; #n]);
    let (x, whole) = (local("x"), local("state"));
    // Only where a name needs it, for users who forbid the lint.
    let in_order = |name: &&Ident| !plain(name).contains("__") && !plain(name).contains(char::is_uppercase);
    let allow = (!names.iter().all(in_order)).then(|| quote!(#[allow(non_snake_case)]));
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #allow
        #visibility struct #state {
            #(#[doc = #field_docs] #visibility #names: #types,)*
        }
        #[automatically_derived]
        impl ::core::convert::From<#flat> for #state {
            #[inline]
            fn from(#x: #flat) -> Self {
                let [#(#entries),*] = #x;
                Self { #(#names: #gathered),* }
            }
        }
        #[automatically_derived]
        impl ::core::convert::From<#state> for #flat {
            #[inline]
            fn from(#whole: #state) -> Self {
                let #state { #(#names: #scattered),* } = #whole;
                [#(#entries),*]
            }
        }
    }
}

fn state_field_type(runtime: &syn::Path, shape: Shape) -> TokenStream {
    match shape {
        Shape::Scalar => quote!(::core::primitive::f64),
        Shape::Vector(length) => {
            let length = Literal::usize_unsuffixed(length);
            quote!(#runtime::nalgebra::SVector<::core::primitive::f64, #length>)
        }
        Shape::Matrix { rows, columns } => {
            let (rows, columns) = (Literal::usize_unsuffixed(rows), Literal::usize_unsuffixed(columns));
            quote!(#runtime::nalgebra::SMatrix<::core::primitive::f64, #rows, #columns>)
        }
    }
}

/// The next entries of the flat state as one variable.
fn gather<'a>(runtime: &syn::Path, shape: Shape, entries: &mut impl Iterator<Item = &'a Ident>) -> TokenStream {
    let (rows, columns) = shape.extent();
    let columns: Vec<TokenStream> = (0..columns)
        .map(|_| {
            let column: Vec<&Ident> = entries.by_ref().take(rows).collect();
            quote!([#(#column),*])
        })
        .collect();
    match shape {
        Shape::Scalar => {
            let entry = local("entry");
            quote!({ let [#entry] = #(#columns)*; #entry })
        }
        _ => quote! {
            #runtime::nalgebra::Matrix::from_array_storage(#runtime::nalgebra::ArrayStorage([#(#columns),*]))
        },
    }
}

/// A pattern that binds the entries of one variable.
fn scatter(runtime: &syn::Path, shape: Shape, entries: &[Ident]) -> TokenStream {
    let (rows, _) = shape.extent();
    match shape {
        Shape::Scalar => {
            let entry = &entries[0];
            quote!(#entry)
        }
        _ => {
            let columns = entries.chunks(rows).map(|column| quote!([#(#column),*]));
            quote! {
                #runtime::nalgebra::Matrix { data: #runtime::nalgebra::ArrayStorage([#(#columns),*]), .. }
            }
        }
    }
}
