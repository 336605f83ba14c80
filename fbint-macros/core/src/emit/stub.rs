//! The surface of a model whose declaration is mistaken, with bodies that never run.
//!
//! Everything that uses the model still resolves, so that one mistake gives one message. Arguments start with `_`, since
//! whoever forbids a lint cannot be made to allow it.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::{GenericParam, Generics};

use super::{prepared_name, state_name, state_type};
use crate::syntax::{Declaration, Named};

/// The type that carries the attribute, the state's type and an implementation without content.
pub fn stub(declaration: &Declaration) -> TokenStream {
    let (item, runtime, name) = (&declaration.item, &declaration.runtime, &declaration.item.ident);
    let (impl_generics, arguments) = instance(&item.generics);
    let (state, prepared) = (state_name(name), prepared_name(name));
    let (visibility, doc) = (&item.vis, format!(" What [`{name}`] would be prepared for, were it not mistaken."));
    let state_type = state_type(declaration);
    let variables = declaration.state_variables();
    let n = Literal::usize_unsuffixed(variables.map(|variable| variable.shape.entries()).sum());
    let m = Literal::usize_unsuffixed(number_of_integrals(declaration));
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
        impl<#impl_generics> #runtime::FeedbackSystem<#n, #m> for #name #arguments {
            type State = #state;
            type Prepared = #prepared;
            const NAME: #text = "";
            const STATE_NAMES: [#text; #n] = [""; #n];
            const INTEGRAL_NAMES: [#text; #m] = [""; #m];
            const INTEGRAL_KINDS: [#runtime::IntegralKind; #m] = [#runtime::IntegralKind::Invariant; #m];
            const INTEGRAL_WEIGHTS: [::core::primitive::f64; #m] = [1.0; #m];
            const CONSERVATION: [#runtime::Conservation; #m] = [#runtime::Conservation::Undecided; #m];
            const PARAMETER_NAMES: &'static [#text] = &[];
            const OUTPUT_NAMES: &'static [#text] = &[];
            const HOLONOMIC_CONSTRAINTS: ::core::primitive::usize = 0;
            const KINETIC_ENERGY: #runtime::KineticEnergy = #runtime::KineticEnergy::General;
            const VECTOR_FIELD_OPERATIONS: #runtime::Operations = #operations;
            const FEEDBACK_FIELD_OPERATIONS: #runtime::Operations = #operations;
            const PASSES: &'static [#runtime::Pass] = &[];
            const SOURCE: #text = "";
            const DERIVATION: #text = "";
            const EQUATIONS: #text = "";
            fn parameter(&self, _index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> #none
            fn parameter_mut(
                &mut self,
                _index: ::core::primitive::usize,
            ) -> ::core::option::Option<&mut ::core::primitive::f64> #none
            fn prepare(&self) -> Self::Prepared #none
            type Gathered<C: #runtime::Constant> = #prepared;
            fn gather<'a, C: #runtime::Constant>(
                _member: impl ::core::ops::Fn(::core::primitive::usize) -> &'a Self::Prepared,
            ) -> Self::Gathered<C>
            where
                Self::Prepared: 'a,
            #none
        }
        #[automatically_derived]
        impl #runtime::PreparedSystem<#n, #m> for #prepared {
            fn vector_field<T: #runtime::Scalar>(&self, _x: &#vector) -> #vector #none
            fn integrals<T: #runtime::Scalar>(&self, _x: &#vector) -> #runtime::nalgebra::SVector<T, #m> #none
            fn integrals_jacobian<T: #runtime::Scalar>(
                &self,
                _x: &#vector,
            ) -> #runtime::nalgebra::SMatrix<T, #m, #n> #none
            fn multipliers<T: #runtime::Scalar>(&self, _x: &#vector) -> #runtime::nalgebra::SVector<T, #m> #none
            type Outputs<T: #runtime::Scalar> = [T; 0];
            fn outputs<T: #runtime::Scalar>(&self, _x: &#vector) -> Self::Outputs<T> #none
            const ZERO_TARGETS: [::core::primitive::bool; #m] = [false; #m];
            fn normalisation<T: #runtime::Scalar>(&self) -> [[T; 3]; #m] #none
            fn potential_gradient<T: #runtime::Scalar, #law>(&self, _x: &#vector, _law: &G) -> #vector #none
            fn feedback_field<T: #runtime::Scalar, #law>(&self, _x: &#vector, _law: &G) -> #vector #none
            fn correction<T: #runtime::Scalar, #law>(
                &self,
                _x: &#vector,
                _variances: &#vector,
                _noise: &#runtime::nalgebra::SVector<T, #m>,
                _law: &G,
            ) -> #vector #none
            fn squared_gradients<T: #runtime::Scalar>(&self, _x: &#vector) -> #runtime::nalgebra::SVector<T, #m> #none
            fn euler_step<T: #runtime::Scalar, #law>(&self, _x: &mut #vector, _h: T, _law: &G) #none
            fn rk4_step<T: #runtime::Scalar, #law>(&self, _x: &mut #vector, _h: T, _law: &G) #none
        }
    }
}

/// What a generic type is most likely used as, being a model: its types are `f64`. An implementation for every type
/// would leave `Model::SOURCE` without one.
fn instance(generics: &Generics) -> (TokenStream, TokenStream) {
    let mut parameters = TokenStream::new();
    let arguments = generics.params.iter().map(|parameter| match parameter {
        GenericParam::Type(_) => quote!(::core::primitive::f64),
        GenericParam::Lifetime(_) => quote!('_),
        GenericParam::Const(size) => {
            let (name, ty) = (&size.ident, &size.ty);
            parameters.extend(quote!(const #name: #ty,));
            quote!(#name)
        }
    });
    let arguments = quote!(<#(#arguments),*>);
    (parameters, arguments)
}

/// How many integrals a stub should have: exact unless a constraint or an invariant is a vector.
fn number_of_integrals(declaration: &Declaration) -> usize {
    let count = |named: &[Named]| -> usize {
        let members = |named: &Named| named.family.as_ref().map_or(1, |family| family.range.clone().count());
        named.iter().map(members).sum()
    };
    let constraints = if declaration.canonical { 2 } else { 1 } * count(&declaration.constraints);
    let energy = usize::from(declaration.dynamics.is_empty());
    constraints + count(&declaration.phase_constraints) + energy + count(&declaration.invariants)
}
