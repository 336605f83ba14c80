//! The surface of a model whose declaration is mistaken, with bodies that never run.
//!
//! Everything that uses the model still resolves, so that one mistake gives one message.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{prepared_name, state_name, state_type};
use crate::syntax::Declaration;

/// The struct, the state's type and an implementation without content, for `integrals` integrals.
pub fn stub(declaration: &Declaration, integrals: usize) -> TokenStream {
    let (item, runtime, name) = (&declaration.item, &declaration.runtime, &declaration.item.ident);
    let (state, prepared) = (state_name(name), prepared_name(name));
    let (visibility, doc) = (&item.vis, format!(" What [`{name}`] would be prepared for, were it not mistaken."));
    let state_type = state_type(declaration);
    let variables = declaration.state_variables();
    let n = Literal::usize_unsuffixed(variables.map(|variable| variable.shape.entries()).sum());
    let m = Literal::usize_unsuffixed(integrals);
    let text = quote!(&'static ::core::primitive::str);
    let none = quote!({ ::core::unreachable!("the declaration has errors") });
    let vector = quote!(#runtime::nalgebra::SVector<T, #n>);
    let law = quote!(G: #runtime::FeedbackLaw<T, #n, #m>);
    let operations = quote! {
        #runtime::Operations { additions: 0, multiplications: 0, fused: 0, divisions: 0, functions: 0 }
    };
    quote! {
        #item
        #state_type
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #prepared {}
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #runtime::FeedbackSystem<#n, #m> for #name {
            type State = #state;
            type Prepared = #prepared;
            const NAME: #text = "";
            const STATE_NAMES: [#text; #n] = [""; #n];
            const INTEGRAL_NAMES: [#text; #m] = [""; #m];
            const INTEGRAL_KINDS: [#runtime::IntegralKind; #m] = [#runtime::IntegralKind::Invariant; #m];
            const INTEGRAL_WEIGHTS: [::core::primitive::f64; #m] = [1.0; #m];
            const PARAMETER_NAMES: &'static [#text] = &[];
            const OUTPUT_NAMES: &'static [#text] = &[];
            const HOLONOMIC_CONSTRAINTS: ::core::primitive::usize = 0;
            const KINETIC_ENERGY: #runtime::KineticEnergy = #runtime::KineticEnergy::General;
            const VECTOR_FIELD_OPERATIONS: #runtime::Operations = #operations;
            const FEEDBACK_FIELD_OPERATIONS: #runtime::Operations = #operations;
            const SOURCE: #text = "";
            const DERIVATION: #text = "";
            const EQUATIONS: #text = "";
            fn parameter(&self, index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> #none
            fn parameter_mut(
                &mut self,
                index: ::core::primitive::usize,
            ) -> ::core::option::Option<&mut ::core::primitive::f64> #none
            fn prepare(&self) -> Self::Prepared #none
        }
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #runtime::PreparedSystem<#n, #m> for #prepared {
            fn vector_field<T: #runtime::Scalar>(&self, x: &#vector) -> #vector #none
            fn integrals<T: #runtime::Scalar>(&self, x: &#vector) -> #runtime::nalgebra::SVector<T, #m> #none
            fn integrals_jacobian<T: #runtime::Scalar>(
                &self,
                x: &#vector,
            ) -> #runtime::nalgebra::SMatrix<T, #m, #n> #none
            fn multipliers<T: #runtime::Scalar>(&self, x: &#vector) -> #runtime::nalgebra::SVector<T, #m> #none
            type Outputs<T: #runtime::Scalar> = [T; 0];
            fn outputs<T: #runtime::Scalar>(&self, x: &#vector) -> Self::Outputs<T> #none
            fn potential_gradient<T: #runtime::Scalar, #law>(&self, x: &#vector, law: &G) -> #vector #none
            fn feedback_field<T: #runtime::Scalar, #law>(&self, x: &#vector, law: &G) -> #vector #none
            fn euler_step<T: #runtime::Scalar, #law>(&self, x: &mut #vector, h: T, law: &G) #none
            fn rk4_step<T: #runtime::Scalar, #law>(&self, x: &mut #vector, h: T, law: &G) #none
        }
    }
}
