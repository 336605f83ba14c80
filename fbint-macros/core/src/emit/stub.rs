//! The surface of a model whose declaration is mistaken, with bodies that never run.
//!
//! Everything that uses the model still resolves, so that one mistake gives one message. Names of arguments begin with
//! underscores, as all do, so that no lint sees that they are not used.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{DeriveInput, GenericParam, Generics};

use super::functions::{Signatures, without_content};
use super::{
    Lengths, derivatives, hamel, input_name, input_type, local, prepared_name, state_name, state_type, system_path,
};
use crate::syntax::{Declaration, NamedExpression, Variable};

/// The type that carries the attribute, the state's type and an implementation without content.
pub fn stub(declaration: &Declaration) -> TokenStream {
    let (item, runtime, name) = (unbounded(&declaration.item), &declaration.runtime, &declaration.item.ident);
    let Instance { sizes, arguments, size_arguments } = instance(&item.generics);
    let system = system_path(name);
    let (state, prepared) = (state_name(name), prepared_name(name));
    let (visibility, doc) = (&item.vis, format!(" What [`{name}`] would be prepared for, were it not mistaken."));
    let state_type = state_type(declaration);
    let none = quote!({ ::core::unreachable!("the declaration has errors") });
    let driven = input_type(declaration).map(|input_type| {
        let input = input_name(name);
        let number = Literal::usize_unsuffixed(declaration.inputs.iter().map(|input| input.shape.entries()).sum());
        let (prepared, entries) = (local("system"), local("input"));
        quote! {
            #input_type
            #[automatically_derived]
            impl<#sizes> #runtime::DrivenSystem for #name #arguments {
                type Inputs<T: #runtime::Entry> = [T; #number];
                type Input = #input;
                const INPUT_NAMES: &'static [&'static ::core::primitive::str] = &[];
                fn with_input<T: #runtime::Scalar>(
                    #prepared: Self::Prepared<T>,
                    #entries: Self::Inputs<T>,
                ) -> Self::Prepared<T> #none
            }
        }
    });
    let variables = declaration.state_variables();
    let states = variables.map(|variable| variable.shape.entries()).sum();
    let integrals = number_of_integrals(declaration);
    let law = quote!(#runtime::FeedbackLaw<#system #arguments, T>);
    let (index, member) = (local("index"), local("member"));
    let velocities = declaration.velocities.iter().map(|velocity| velocity.shape.entries()).sum();
    let signatures = Signatures { states, integrals, outputs: 0, velocities, runtime: runtime.clone(), law };
    let functions = without_content(&signatures, &none);
    let differentiable = declaration.derivatives.then(|| {
        let entries = |variables: &[Variable]| variables.iter().map(|variable| variable.shape.entries()).sum();
        let (parameters, inputs) = (entries(&declaration.parameters), entries(&declaration.inputs));
        let items = derivatives::without_content(&signatures, Lengths { state: states, parameters, inputs }, &none);
        quote! {
            #[automatically_derived]
            impl<#sizes> #runtime::DifferentiableSystem for #name #arguments {
                #items
            }
        }
    });
    let hamel = (!declaration.velocities.is_empty()).then(|| {
        let [of_lagrangian, items] = hamel::without_content(&signatures, &none);
        quote! {
            #[automatically_derived]
            impl<#sizes> #runtime::LagrangianSystem for #name #arguments {
                #of_lagrangian
            }
            #[automatically_derived]
            impl<#sizes> #runtime::HamelSystem for #name #arguments {
                #items
            }
        }
    });
    let [n, m] = [states, integrals].map(Literal::usize_unsuffixed);
    let text = quote!(&'static ::core::primitive::str);
    let operations = quote! {
        #runtime::Operations { additions: 0, multiplications: 0, fused: 0, divisions: 0, functions: 0 }
    };
    quote! {
        #item
        #state_type
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #visibility struct #prepared<#sizes> {}
        #[automatically_derived]
        impl<#sizes> #runtime::FeedbackSystem for #name #arguments {
            type Vector<T: #runtime::Entry> = [T; #n];
            type Integrals<T: #runtime::Entry> = [T; #m];
            type Outputs<T: #runtime::Entry> = [T; 0];
            type State = #state;
            type Prepared<T: #runtime::Scalar> = #prepared<#size_arguments>;
            const NAME: #text = "";
            const SUMMARY: #text = "";
            const STATE: &'static [#runtime::StateEntry] = &[];
            const INTEGRALS: &'static [#runtime::Integral] = &[];
            const PARAMETER_NAMES: &'static [#text] = &[];
            const OUTPUT_NAMES: &'static [#text] = &[];
            const KINETIC_ENERGY: #runtime::KineticEnergy = #runtime::KineticEnergy::General;
            const VECTOR_FIELD_OPERATIONS: #runtime::Operations = #operations;
            const FEEDBACK_FIELD_OPERATIONS: #runtime::Operations = #operations;
            const SOURCE: #text = "";
            const DERIVATION: #text = "";
            const EQUATIONS: #text = "";
            fn parameter(&self, #index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> #none
            fn parameter_mut(
                &mut self,
                #index: ::core::primitive::usize,
            ) -> ::core::option::Option<&mut ::core::primitive::f64> #none
            fn prepare(&self) -> Self::Prepared<::core::primitive::f64> #none
            fn gather<'a, T: #runtime::Scalar>(
                #member: impl ::core::ops::Fn(::core::primitive::usize) -> &'a Self::Prepared<::core::primitive::f64>,
            ) -> Self::Prepared<T> #none
        }
        #[automatically_derived]
        impl<T: #runtime::Scalar, #sizes> #runtime::PreparedSystem<T> for #prepared<#size_arguments> {
            type System = #system #arguments;
            #functions
        }
        #driven
        #hamel
        #differentiable
    }
}

/// The type without bounds on its generic types, which `f64` need not satisfy.
fn unbounded(item: &DeriveInput) -> DeriveInput {
    let mut item = item.clone();
    item.generics.where_clause = None;
    for parameter in item.generics.type_params_mut() {
        (parameter.colon_token, parameter.bounds) = (None, Punctuated::new());
    }
    item
}

/// A generic model as it is most likely used, with `f64` for its types and `'static` for its lifetimes. If all types had an
/// implementation, rustc could not tell which one `Model::SOURCE` means.
struct Instance {
    /// The declarations of its sizes, which stay generic.
    sizes: TokenStream,
    /// All arguments of the model.
    arguments: TokenStream,
    /// The sizes among them.
    size_arguments: TokenStream,
}

fn instance(generics: &Generics) -> Instance {
    let (mut sizes, mut size_arguments) = (TokenStream::new(), TokenStream::new());
    let arguments: Vec<TokenStream> = generics
        .params
        .iter()
        .map(|parameter| match parameter {
            GenericParam::Type(_) => quote!(::core::primitive::f64),
            GenericParam::Lifetime(_) => quote!('static),
            GenericParam::Const(size) => {
                let (name, ty) = (&size.ident, &size.ty);
                sizes.extend(quote!(const #name: #ty,));
                size_arguments.extend(quote!(#name,));
                quote!(#name)
            }
        })
        .collect();
    Instance { sizes, arguments: quote!(<#(#arguments),*>), size_arguments }
}

/// The number of integrals of a stub: exact unless a constraint or an invariant is a vector.
fn number_of_integrals(declaration: &Declaration) -> usize {
    let count = |named: &[NamedExpression]| -> usize {
        let members = |named: &NamedExpression| named.family.as_ref().map_or(1, |family| family.range.clone().count());
        named.iter().map(members).sum()
    };
    let constraints = if declaration.has_reactions() { 2 } else { 1 } * count(&declaration.constraints);
    let energy = usize::from(declaration.dynamics.is_empty());
    constraints
        + count(&declaration.phase_constraints)
        + count(&declaration.velocity_constraints)
        + energy
        + count(&declaration.invariants)
}
