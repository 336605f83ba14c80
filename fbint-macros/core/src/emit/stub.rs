//! The surface of a model whose declaration is mistaken, with bodies that never run.
//!
//! Everything that uses the model still resolves, so that one mistake gives one message. Names of arguments begin with
//! underscores, as all do, so that no lint sees that they are not used.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{DeriveInput, GenericParam, Generics};

use super::functions::Signatures;
use super::{derivatives, hamel, input_name, input_type, local, prepared_name, state_name, state_type, system_path};
use crate::program::{DERIVATIVES, FUNCTIONS, HAMEL_FUNCTIONS, LAGRANGIAN_FUNCTIONS};
use crate::syntax::{Declaration, NamedExpression, Variable};

/// The type that carries the attribute, the state's type and an implementation without content.
pub fn stub(declaration: &Declaration) -> TokenStream {
    let item = unbounded(&declaration.item);
    let stub = Stub {
        declaration,
        runtime: &declaration.runtime,
        name: &declaration.item.ident,
        instance: instance(&item.generics),
        none: quote!({ ::core::unreachable!("the declaration has errors") }),
    };
    let signatures = stub.signatures();
    let state_type = state_type(declaration);
    let (prepared_type, system) = (stub.prepared_type(), stub.system(&signatures));
    let (prepared_system, driven) = (stub.prepared_system(&signatures), stub.driven());
    let (frame, differentiable) = (stub.frame(&signatures), stub.differentiable(&signatures));
    let default = stub.default();
    quote!(#item #default #state_type #prepared_type #system #prepared_system #driven #frame #differentiable)
}

/// What the items of a stub have in common.
struct Stub<'a> {
    declaration: &'a Declaration,
    runtime: &'a syn::Path,
    name: &'a Ident,
    instance: Instance,
    /// The body of every function.
    none: TokenStream,
}

impl Stub<'_> {
    fn signatures(&self) -> Signatures {
        let Self { declaration, runtime, name, instance: Instance { arguments, .. }, .. } = self;
        let system = system_path(name);
        Signatures {
            states: declaration.state_variables().map(|variable| variable.shape.entries()).sum(),
            integrals: number_of_integrals(declaration),
            outputs: 0,
            velocities: entries(&declaration.velocities),
            parameters: entries(&declaration.parameters),
            inputs: entries(&declaration.inputs),
            runtime: (*runtime).clone(),
            law: quote!(#runtime::FeedbackLaw<#system #arguments, T>),
        }
    }

    /// The implementation of a trait.
    fn implementation(&self, of: &TokenStream, items: &TokenStream) -> TokenStream {
        let Self { runtime, name, instance: Instance { sizes, arguments, .. }, .. } = self;
        quote! {
            #[automatically_derived]
            impl<#sizes> #runtime::#of for #name #arguments { #items }
        }
    }

    fn default(&self) -> Option<TokenStream> {
        let Self { declaration, name, instance: Instance { sizes, arguments, .. }, none, .. } = self;
        (!declaration.defaults.is_empty()).then(|| {
            quote! {
                #[automatically_derived]
                impl<#sizes> ::core::default::Default for #name #arguments {
                    fn default() -> Self #none
                }
            }
        })
    }

    fn system(&self, signatures: &Signatures) -> TokenStream {
        let Self { runtime, name, instance: Instance { size_arguments, .. }, none, .. } = self;
        let (state, prepared) = (state_name(name), prepared_name(name));
        let [n, m] = [signatures.states, signatures.integrals].map(Literal::usize_unsuffixed);
        let (index, member, number, prepared_system) =
            (local("index"), local("member"), local("number"), local("system"));
        let items = quote! {
            type Vector<T: #runtime::Entry> = [T; #n];
            type Integrals<T: #runtime::Entry> = [T; #m];
            type Outputs<T: #runtime::Entry> = [T; 0];
            type State = #state;
            type Prepared<T: #runtime::Scalar> = #prepared<#size_arguments>;
            fn facts(&self) -> &'static #runtime::SystemFacts #none
            fn parameter(&self, #index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> #none
            fn parameter_mut(
                &mut self,
                #index: ::core::primitive::usize,
            ) -> ::core::option::Option<&mut ::core::primitive::f64> #none
            fn prepare(&self) -> Self::Prepared<::core::primitive::f64> #none
            fn gather<'a, T: #runtime::Scalar>(
                #member: &dyn ::core::ops::Fn(::core::primitive::usize) -> &'a Self::Prepared<::core::primitive::f64>,
            ) -> Self::Prepared<T> #none
        };
        let system = self.implementation(&quote!(FeedbackSystem), &items);
        let usize = quote!(::core::primitive::usize);
        let facts = quote! {
            const FACTS: #runtime::SystemFacts = #runtime::SystemFacts::EMPTY;
            fn of_numbers<T: #runtime::Scalar>(#number: impl ::core::ops::Fn(#usize) -> T) -> Self::Prepared<T> #none
            fn number<T: #runtime::Scalar>(
                #prepared_system: &Self::Prepared<T>,
                #index: #usize,
            ) -> ::core::option::Option<T> #none
        };
        let generated = self.implementation(&quote!(GeneratedSystem), &facts);
        quote!(#system #generated)
    }

    fn prepared_type(&self) -> TokenStream {
        let Self { declaration, name, instance: Instance { sizes, .. }, .. } = self;
        let (visibility, prepared) = (&declaration.item.vis, prepared_name(name));
        let doc = format!(" What [`{name}`] would be prepared for, were it not mistaken.");
        quote! {
            #[doc = #doc]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
            #visibility struct #prepared<#sizes> {}
        }
    }

    fn prepared_system(&self, signatures: &Signatures) -> TokenStream {
        let Self { runtime, name, instance: Instance { sizes, arguments, size_arguments }, .. } = self;
        let (system, prepared, none) = (system_path(name), prepared_name(name), &self.none);
        let (functions, m) =
            (signatures.without_content(&FUNCTIONS, none), Literal::usize_unsuffixed(signatures.integrals));
        quote! {
            #[automatically_derived]
            impl<T: #runtime::Scalar, #sizes> #runtime::PreparedSystem<T> for #prepared<#size_arguments> {
                type System = #system #arguments;
                fn facts(&self) -> &'static #runtime::SystemFacts #none
                fn zero_targets(&self) -> [::core::primitive::bool; #m] #none
                fn normalisation(&self) -> [[T; 3]; #m] #none
                #functions
            }
        }
    }

    fn driven(&self) -> Option<TokenStream> {
        let Self { declaration, runtime, name, none, .. } = self;
        let (input_type, input) = (input_type(declaration)?, input_name(name));
        let number = Literal::usize_unsuffixed(entries(&declaration.inputs));
        let (prepared, entries) = (local("system"), local("input"));
        let items = quote! {
            type Inputs<T: #runtime::Entry> = [T; #number];
            type Input = #input;
            fn with_input<T: #runtime::Scalar>(
                #prepared: Self::Prepared<T>,
                #entries: Self::Inputs<T>,
            ) -> Self::Prepared<T> #none
        };
        let implementation = self.implementation(&quote!(DrivenSystem), &items);
        Some(quote!(#input_type #implementation))
    }

    /// The implementations that Lagrangian systems have.
    fn frame(&self, signatures: &Signatures) -> Option<TokenStream> {
        let velocities = hamel::velocities(signatures);
        let [of_lagrangian, of_hamel] = [&LAGRANGIAN_FUNCTIONS[..], &HAMEL_FUNCTIONS]
            .map(|functions| signatures.without_content(functions, &self.none));
        let of_lagrangian = self.implementation(&quote!(LagrangianSystem), &quote!(#velocities #of_lagrangian));
        let of_hamel = self.implementation(&quote!(HamelSystem), &of_hamel);
        (!self.declaration.velocities.is_empty()).then(|| quote!(#of_lagrangian #of_hamel))
    }

    fn differentiable(&self, signatures: &Signatures) -> Option<TokenStream> {
        let functions = signatures.without_content(&DERIVATIVES, &self.none);
        let items = derivatives::items(signatures, 0, &self.none, &functions);
        self.declaration.derivatives.then(|| self.implementation(&quote!(DifferentiableSystem), &items))
    }
}

/// The number of entries of these variables.
fn entries(variables: &[Variable]) -> usize {
    variables.iter().map(|variable| variable.shape.entries()).sum()
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
/// implementation, rustc could not tell which one `Model::FACTS` means.
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
