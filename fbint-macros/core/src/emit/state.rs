//! The types of the state and of the inputs.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{local, type_name};
use crate::syntax::{Declaration, Shape, Variable, plain, total_entries};

/// The state with its declared names and shapes, and its conversions from and to the flat vector.
///
/// ```text
/// pub struct PendulumState { pub q: SVector<f64, 2>, pub p: SVector<f64, 2> }
/// impl Default for PendulumState { .. }
/// impl From<[f64; 4]> for PendulumState { .. }
/// impl From<PendulumState> for [f64; 4] { .. }
/// record_is_serialize!(PendulumState, ..);
/// ```
pub(super) fn state_type(declaration: &Declaration) -> TokenStream {
    let model = &declaration.item.ident;
    let kinds = [
        (&declaration.coordinates[..], "coordinate"),
        (&declaration.momenta, "momentum"),
        (&declaration.velocities, "velocity"),
        (declaration.time.as_slice(), "time"),
        (declaration.work.as_slice(), "work done on the system,"),
    ];
    let kind = |variable: &Variable| {
        let is_its = |variables: &[Variable]| variables.iter().any(|other| other.name == variable.name);
        kinds.iter().find(|(variables, _)| is_its(variables)).map_or("variable", |(_, kind)| kind)
    };
    let doc = format!(" A state of [`{}`].", plain(model));
    record(declaration, &type_name(model, "State"), &doc, declaration.state_variables().collect(), kind)
}

/// The inputs with their declared names and shapes, and their conversions from and to the flat vector, if there are any.
pub(super) fn input_type(declaration: &Declaration) -> Option<TokenStream> {
    let model = &declaration.item.ident;
    let doc = format!(" The inputs of [`{}`].", plain(model));
    let variables: Vec<&Variable> = declaration.input_variables().collect();
    (!variables.is_empty()).then(|| record(declaration, &type_name(model, "Input"), &doc, variables, |_| "input"))
}

/// A type that has these variables as its fields, with its conversions.
fn record(
    declaration: &Declaration,
    state: &Ident,
    doc: &str,
    variables: Vec<&Variable>,
    kind: impl Fn(&Variable) -> &'static str,
) -> TokenStream {
    let (runtime, visibility) = (&declaration.runtime, &declaration.item.vis);
    let names: Vec<&Ident> = variables.iter().map(|variable| &variable.name).collect();
    let types = variables.iter().map(|variable| state_field_type(runtime, variable.shape));
    let field_docs = variables
        .iter()
        .map(|variable| format!(" The {} `{}`, {}.", kind(variable), plain(&variable.name), variable.shape));
    // Only where a name needs it, for users who forbid the lint.
    let in_order = |name: &&Ident| !plain(name).contains("__") && !plain(name).contains(char::is_uppercase);
    let allow = (!names.iter().all(in_order)).then(|| quote!(#[allow(non_snake_case)]));
    let conversions = conversions(runtime, state, &variables);
    let serialize = serialize(runtime, state, &variables);
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #allow
        #visibility struct #state {
            #(#[doc = #field_docs] #visibility #names: #types,)*
        }
        #conversions
        #serialize
    }
}

/// `Serialize`, where the runtime has it.
fn serialize(runtime: &syn::Path, record: &Ident, variables: &[&Variable]) -> TokenStream {
    let (name, n) = (plain(record), Literal::usize_unsuffixed(total_entries(variables.iter().copied())));
    let variables = variables.iter().map(|variable| {
        let (name, dimensions) = (plain(&variable.name), variable.shape.dimensions());
        let dimensions = dimensions.into_iter().map(Literal::usize_unsuffixed);
        quote!((#name, &[#(#dimensions),*]))
    });
    quote!(#runtime::record_is_serialize!(#record, #name, #n, &[#(#variables),*]);)
}

/// The record of zeros, and the conversions of a record from and to a flat vector.
fn conversions(runtime: &syn::Path, state: &Ident, variables: &[&Variable]) -> TokenStream {
    let names: Vec<&Ident> = variables.iter().map(|variable| &variable.name).collect();
    let dimension = total_entries(variables.iter().copied());
    let n = Literal::usize_unsuffixed(dimension);
    let entries: Vec<Ident> = (0..dimension).map(|index| local(format!("x_{index}"))).collect();
    let variables = by_variable(variables.iter().copied(), &entries);
    let (gathered, scattered): (Vec<TokenStream>, Vec<TokenStream>) =
        variables.map(|(variable, own)| value_and_pattern(runtime, variable.shape, own)).unzip();
    let flat = quote!([::core::primitive::f64; #n]);
    let (x, whole) = (local("x"), local("state"));
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #state {
            #[inline]
            fn default() -> Self {
                ::core::convert::From::from([0.0; #n])
            }
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

/// Each variable with its own, of what is listed for the entries of all.
pub(super) fn by_variable<'a, T>(
    variables: impl IntoIterator<Item = &'a Variable>,
    mut entries: &'a [T],
) -> impl Iterator<Item = (&'a Variable, &'a [T])> {
    variables.into_iter().map(move |variable| {
        let (own, others) = entries.split_at(variable.shape.entries());
        entries = others;
        (variable, own)
    })
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

/// One variable from its entries, and the pattern that binds them. Matrices are stored column by column.
fn value_and_pattern(runtime: &syn::Path, shape: Shape, entries: &[Ident]) -> (TokenStream, TokenStream) {
    if shape == Shape::Scalar {
        let entry = local("entry");
        return (quote!({ let [#entry] = [#(#entries),*]; #entry }), quote!(#(#entries)*));
    }
    let (rows, _) = shape.extent();
    let columns = entries.chunks(rows).map(|column| quote!([#(#column),*]));
    let storage = quote!(#runtime::nalgebra::ArrayStorage([#(#columns),*]));
    let matrix = quote!(#runtime::nalgebra::Matrix);
    (quote!(#matrix::from_array_storage(#storage)), quote!(#matrix { data: #storage, .. }))
}
