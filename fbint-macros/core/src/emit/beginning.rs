//! The parameters by default, and the start of a run.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::body::Writer;
use super::local;
use super::state::by_variable;
use crate::program::of_parameters;
use crate::syntax::Shape;

/// The implementation of `Default`, if the declaration has `default(..)`.
///
/// ```text
/// impl Default for Pendulum {
///     fn default() -> Self { Self { m: 1.0, g: 9.81, inertia: [1.0, 2.0].into() } }
/// }
/// ```
pub(super) fn default(writer: &Writer<'_>) -> Option<TokenStream> {
    if writer.declaration.defaults.is_empty() {
        return None;
    }
    let content = writer.content(|model| {
        let defaults = model.elaborated.beginning.defaults.as_deref().unwrap_or_default();
        let (statements, values) = writer.prepare(model, &of_parameters(defaults, &model.derivation.symbols));
        let fields = by_variable(&writer.declaration.parameters, &values).map(|(parameter, own)| {
            let (name, value) = (&parameter.name, parameter_value(parameter.shape, own));
            quote!(#name: #value)
        });
        quote!(#statements Self { #(#fields),* })
    });
    let function = quote!(fn default() -> Self { #content });
    Some(writer.implementation(&quote!(::core::default::Default), &function))
}

/// A parameter, which is a number, an array, or one of nalgebra's types, from its entries, column by column.
fn parameter_value(shape: Shape, entries: &[TokenStream]) -> TokenStream {
    match shape {
        Shape::Scalar => quote!(#(#entries)*),
        Shape::Vector(_) => quote!(::core::convert::Into::into([#(#entries),*])),
        Shape::Matrix { rows, .. } => {
            let columns = entries.chunks(rows).map(|column| quote!([#(#column),*]));
            quote!(::core::convert::Into::into([#(#columns),*]))
        }
    }
}

/// The function that gives the start, if the declaration has `start(..)`.
pub(super) fn start(writer: &Writer<'_>) -> Option<TokenStream> {
    let model = writer.model?;
    let start = model.elaborated.beginning.start.as_ref()?;
    let (statements, entries) = writer.prepare(model, &of_parameters(start, &model.derivation.symbols));
    let (dimension, state) = (Literal::usize_unsuffixed(entries.len()), local("state"));
    Some(quote! {
        fn declared_start(&self) -> ::core::option::Option<Self::State> {
            #statements
            let #state: [::core::primitive::f64; #dimension] = [#(#entries),*];
            ::core::option::Option::Some(::core::convert::Into::into(#state))
        }
    })
}
