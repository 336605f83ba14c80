//! The parameters by default, the start of a run, and what its events and its drawing are made of.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::body::Writer;
use super::local;
use super::state::by_variable;
use crate::expression::Expression;
use crate::program::{Input, Instruction, of_expressions};
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
        let defaults = model.elaborated.start_values.known_parameters();
        let (statements, values) = writer.prepare(model, &of_expressions(defaults, &model.derivation.symbols));
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
    let start = model.elaborated.start_values.start.as_ref()?;
    let (statements, entries) = writer.prepare(model, &of_expressions(start, &model.derivation.symbols));
    let (dimension, state) = (Literal::usize_unsuffixed(entries.len()), local("state"));
    Some(quote! {
        fn declared_start(&self) -> ::core::option::Option<Self::State> {
            #statements
            let #state: [::core::primitive::f64; #dimension] = [#(#entries),*];
            ::core::option::Option::Some(::core::convert::Into::into(#state))
        }
    })
}

/// The function that gives the time between two samples of the laws, if they are sampled.
pub(super) fn law_period(writer: &Writer<'_>) -> Option<TokenStream> {
    let model = writer.model?;
    let every = &model.elaborated.sampling.as_ref()?.every;
    let (statements, period) =
        writer.prepare(model, &of_expressions(std::slice::from_ref(every), &model.derivation.symbols));
    Some(quote! {
        fn law_period(&self) -> ::core::primitive::f64 {
            #statements
            #(#period)*
        }
    })
}

/// The functions that give what events and the drawing are made of, if the declaration has them.
pub(super) fn scenery(writer: &Writer<'_>) -> TokenStream {
    let Some(model) = writer.model else { return TokenStream::new() };
    let scenery = &model.elaborated.scenery;
    let inputs = local("inputs");
    let inputs = quote!(#inputs: &[::core::primitive::f64],);
    let events = values_at(writer, "events_at", &scenery.event_values, &inputs);
    let drawing = values_at(writer, "drawing_at", &scenery.drawing_values, &TokenStream::new());
    quote!(#events #drawing)
}

/// The function that puts these functions of the state, the parameters and maybe the inputs into a slice, if there are any.
fn values_at(writer: &Writer<'_>, name: &str, functions: &[Expression], inputs: &TokenStream) -> Option<TokenStream> {
    let model = writer.model.filter(|_| !functions.is_empty())?;
    let program = of_expressions(functions, &model.derivation.symbols);
    let (statements, results) = writer.prepare(model, &program);
    let [count, states] = [results.len(), writer.signatures.states].map(Literal::usize_unsuffixed);
    let (name, x, values) = (format_ident!("{name}"), local("x"), local("values"));
    let is_input = |instruction: &Instruction| matches!(instruction, Instruction::Input(Input::Driving(_)));
    let given = program.instructions.iter().any(is_input).then(|| {
        let (inputs, given) = (local("inputs"), Literal::usize_unsuffixed(writer.signatures.inputs));
        quote!(let ::core::option::Option::Some(#inputs) = #inputs.first_chunk::<#given>() else { return };)
    });
    Some(quote! {
        fn #name(&self, #x: &[::core::primitive::f64; #states], #inputs #values: &mut [::core::primitive::f64]) {
            #given
            #statements
            if let ::core::option::Option::Some(#values) = #values.first_chunk_mut::<#count>() {
                *#values = [#(#results),*];
            }
        }
    })
}
