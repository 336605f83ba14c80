//! From programs and names to tokens. Cannot fail: whatever could go wrong was refused before.
//!
//! The generated code is a guest in the user's crate: absolute paths, no prelude, no name but the state's type, and variables
//! that begin with two underscores.

mod beginning;
mod body;
mod derivatives;
mod facts;
mod functions;
mod hamel;
mod state;
mod stub;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{IdentFragment, format_ident, quote};

use crate::derivation::{Derivation, Findings};
use crate::elaborate::Elaborated;
use crate::program::{Programs, Trait};
use crate::syntax::{Declaration, plain};
use body::{Writer, place};
use derivatives::derivatives;
pub use facts::first_paragraph;
use functions::{Signatures, functions};
use hamel::{hamel, hamel_steps, lagrangian};
use state::{input_type, state_type};
pub use stub::stub;

/// A model that was understood, derived, and written as programs, before it becomes Rust.
#[derive(Debug)]
pub struct CompiledModel {
    /// Names and exact expressions.
    pub elaborated: Elaborated,
    /// The mathematics.
    pub derivation: Derivation,
    /// The functions.
    pub programs: Programs,
    /// Everything that is found out about the derivation.
    pub findings: Findings,
    /// The derivation in plain text.
    pub equations: String,
    /// The derivation in LaTeX.
    pub latex: String,
    /// The part of the documentation about the integrals, in Markdown.
    pub summary: String,
    /// Linear functions that are conserved and not declared.
    pub undeclared: Vec<String>,
    /// The file that keeps the derivation, by its path within the package.
    pub file: Option<String>,
}

impl CompiledModel {
    /// Whether the model has functions of a trait.
    fn has(&self, owner: Trait) -> bool {
        self.programs.functions().any(|(function, _)| function.owner == owner)
    }
}

/// The struct, the state's type, the prepared model, and the implementations of the runtime's traits.
pub fn emit(declaration: &Declaration, model: &CompiledModel) -> TokenStream {
    let writer = Writer::new(declaration, model);
    let (item, state) = (&declaration.item, state_type(declaration));
    let (default, driven) = (beginning::default(&writer), driven(&writer));
    let functions = GeneratedFunctions::of(&writer);
    let system = feedback_system(&writer, &functions.prepare);
    let facts = facts::generated_system(&writer, &functions.source(&writer));
    let GeneratedFunctions { prepared, lagrangian, hamel, derivatives, .. } = functions;
    quote!(#item #default #state #prepared #system #facts #driven #lagrangian #hamel #derivatives)
}

/// The functions that compute, pretty-printed.
pub fn source(declaration: &Declaration, model: &CompiledModel) -> String {
    let writer = Writer::new(declaration, model);
    GeneratedFunctions::of(&writer).source(&writer)
}

/// The functions that compute, and the implementations that have them.
struct GeneratedFunctions {
    prepare: TokenStream,
    prepared: TokenStream,
    lagrangian: Option<TokenStream>,
    hamel: Option<TokenStream>,
    derivatives: Option<TokenStream>,
}

impl GeneratedFunctions {
    fn of(writer: &Writer<'_>) -> Self {
        Self {
            prepare: prepare(writer),
            prepared: prepared(writer),
            lagrangian: lagrangian(writer),
            hamel: hamel(writer),
            derivatives: derivatives(writer),
        }
    }

    /// All of them, pretty-printed.
    fn source(&self, Writer { runtime, name, .. }: &Writer<'_>) -> String {
        let Self { prepare, prepared, lagrangian, hamel, derivatives } = self;
        let file = quote! {
            impl #runtime::FeedbackSystem for #name { #prepare }
            #prepared #lagrangian #hamel #derivatives
        };
        match syn::parse2(file.clone()) {
            Ok(file) => prettyplease::unparse(&file),
            Err(_) => file.to_string(),
        }
    }
}

/// The numbers of the prepared model, one by one: for systems whose vectors are longer than their state.
fn numbers(writer: &Writer<'_>) -> TokenStream {
    let (runtime, prepared) = (writer.runtime, prepared_name(writer.name));
    let fields: Vec<&Ident> = writer.fields().collect();
    let indices: Vec<Literal> = (0..fields.len()).map(Literal::usize_unsuffixed).collect();
    let (system, number, index) = (local("system"), local("number"), local("index"));
    let usize = quote!(::core::primitive::usize);
    quote! {
        #[inline(always)]
        fn of_numbers<T: #runtime::Scalar>(#number: impl ::core::ops::Fn(#usize) -> T) -> Self::Prepared<T> {
            #prepared { #(#fields: #number(#indices)),* }
        }
        #[inline]
        fn number<T: #runtime::Scalar>(#system: &Self::Prepared<T>, #index: #usize) -> ::core::option::Option<T> {
            match #index {
                #(#indices => ::core::option::Option::Some(#system.#fields),)*
                _ => ::core::option::Option::None,
            }
        }
    }
}

/// The function that computes what depends on parameters alone.
fn prepare(writer: &Writer<'_>) -> TokenStream {
    let prepared = prepared_name(writer.name);
    let (statements, values) = writer.prepare(&writer.model.programs.prepare);
    let fields = writer.prepared.iter().zip(values).map(|(field, value)| quote!(#field: #value));
    let fields = fields.chain(writer.inputs.iter().map(|input| quote!(#input: 0.0)));
    quote! {
        #[inline]
        fn prepare(&self) -> Self::Prepared<::core::primitive::f64> {
            #statements
            #prepared { #(#fields),* }
        }
    }
}

/// The prepared model: numbers that depend on parameters alone, and the functions that read them.
///
/// ```text
/// pub struct PendulumPrepared<T> { m: T, c_0: T }
/// impl<T: Scalar> PreparedSystem<T> for PendulumPrepared<T> { .. }
/// ```
fn prepared(writer: &Writer<'_>) -> TokenStream {
    let (runtime, visibility) = (writer.runtime, &writer.declaration.item.vis);
    let (name, system) = (prepared_name(writer.name), system_path(writer.name));
    let doc = format!(" [`{}`] with everything computed that depends on its parameters alone.", plain(writer.name));
    let fields = writer.fields();
    let (normalisation, functions) = (functions::normalisation(writer), functions(writer, Trait::Prepared));
    let jacobian = writer.declaration.derivatives.then(|| jacobian(&writer.signatures));
    let (facts, arguments) = (facts(runtime, &system), prepared_arguments(writer));
    let of = quote!(<T: #runtime::Scalar> #runtime::PreparedSystem<T> for #name #arguments);
    let items = quote!(type System = #system; #facts #normalisation #functions #jacobian);
    let implementation = implementation(&of, &items);
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #visibility struct #name #arguments {
            #(#fields: T,)*
        }
        #implementation
    }
}

/// The Jacobian of the field, with or without feedback, for implicit methods.
fn jacobian(signatures: &Signatures) -> TokenStream {
    let [states, integrals] = [signatures.states, signatures.integrals].map(Literal::usize_unsuffixed);
    let (runtime, x, feedback, add) = (&signatures.runtime, local("x"), local("feedback"), local("add"));
    let index = quote!(::core::primitive::usize);
    quote! {
        fn jacobian(
            &self,
            #x: &[T; #states],
            #feedback: ::core::option::Option<[&[T; #integrals]; 2]>,
            #add: &mut dyn ::core::ops::FnMut(#index, #index, T),
        ) -> ::core::primitive::bool {
            #runtime::jacobian::<Self::System, T>(self, #x, #feedback, #add)
        }
    }
}

/// The argument of the prepared model's type. There is none if the type holds no number, since a generic parameter must be used.
fn prepared_arguments(writer: &Writer<'_>) -> Option<TokenStream> {
    writer.fields().next().map(|_| quote!(<T>))
}

/// The function that brings prepared models together, one for each lane.
fn gathered(writer: &Writer<'_>) -> TokenStream {
    let (runtime, prepared) = (writer.runtime, prepared_name(writer.name));
    let fields = writer.fields();
    let (member, lane) = (local("member"), local("lane"));
    quote! {
        #[inline(always)]
        fn gather<'a, T: #runtime::Scalar>(
            #member: &dyn ::core::ops::Fn(::core::primitive::usize) -> &'a Self::Prepared<::core::primitive::f64>,
        ) -> Self::Prepared<T> {
            #prepared { #(#fields: T::from_lanes(&|#lane| #member(#lane).#fields)),* }
        }
    }
}

/// The type of the inputs and the implementation that gives them to the prepared model, if there are any.
fn driven(writer: &Writer<'_>) -> Option<TokenStream> {
    let Writer { runtime, name, inputs, .. } = writer;
    let (input_type, input) = (input_type(writer.declaration)?, input_name(name));
    let number = Literal::usize_unsuffixed(inputs.len());
    let (system, entries) = (local("system"), local("input"));
    let places = (0..).map(Literal::usize_unsuffixed);
    let assignments = inputs.iter().zip(places).map(|(field, place)| quote!(#system.#field = #entries[#place];));
    let items = quote! {
        type Inputs<T: #runtime::Entry> = [T; #number];
        type Input = #input;
        #[inline]
        fn with_input<T: #runtime::Scalar>(
            mut #system: Self::Prepared<T>,
            #entries: Self::Inputs<T>,
        ) -> Self::Prepared<T> {
            #(#assignments)*
            #system
        }
    };
    let implementation = writer.implementation("DrivenSystem", &items);
    Some(quote!(#input_type #implementation))
}

/// The implementation that every model has, with the function that computes what depends on parameters alone.
fn feedback_system(writer: &Writer<'_>, prepare: &TokenStream) -> TokenStream {
    let Writer { name, runtime, model, signatures, .. } = writer;
    let (state, prepared, arguments) = (state_name(name), prepared_name(name), prepared_arguments(writer));
    let [n, m, outputs] = [signatures.states, signatures.integrals, signatures.outputs].map(Literal::usize_unsuffixed);
    let (facts, parameters) = (facts(runtime, &quote!(Self)), parameters(writer));
    let (start, hamel_steps, gathered) = (beginning::start(writer), hamel_steps(writer), gathered(writer));
    let doc = format!("{}\n# Equations\n\n```text\n{}```", model.summary, model.equations);
    let items = quote! {
        type Vector<T: #runtime::Entry> = [T; #n];
        type Integrals<T: #runtime::Entry> = [T; #m];
        type Outputs<T: #runtime::Entry> = [T; #outputs];
        type State = #state;
        type Prepared<T: #runtime::Scalar> = #prepared #arguments;
        const KNOWN_FACTS: ::core::option::Option<&'static #runtime::SystemFacts> =
            ::core::option::Option::Some(#runtime::SystemFacts::of::<Self>());
        #facts
        #parameters
        #prepare
        #start
        #hamel_steps
        #gathered
    };
    let implementation = writer.implementation("FeedbackSystem", &items);
    quote!(#[doc = #doc] #implementation)
}

/// The function that says what the system is.
fn facts(runtime: &syn::Path, system: &TokenStream) -> TokenStream {
    quote! {
        #[inline(always)]
        fn facts(&self) -> &'static #runtime::SystemFacts {
            #runtime::SystemFacts::of::<#system>()
        }
    }
}

/// The functions that give and change parameters by their places.
fn parameters(Writer { model, .. }: &Writer<'_>) -> TokenStream {
    let parameters = model.derivation.symbols.parameters();
    let places: Vec<TokenStream> = parameters.map(|symbol| place(&model.elaborated.places[symbol])).collect();
    let indices: Vec<Literal> = (0..places.len()).map(Literal::usize_unsuffixed).collect();
    let index = local("index");
    quote! {
        #[inline]
        fn parameter(&self, #index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> {
            match #index {
                #(#indices => ::core::option::Option::Some(self.#places),)*
                _ => ::core::option::Option::None,
            }
        }
        #[inline]
        fn parameter_mut(
            &mut self,
            #index: ::core::primitive::usize,
        ) -> ::core::option::Option<&mut ::core::primitive::f64> {
            match #index {
                #(#indices => ::core::option::Option::Some(&mut self.#places),)*
                _ => ::core::option::Option::None,
            }
        }
    }
}

/// An implementation of generated functions, which lints of the user's crate leave alone.
fn implementation(of: &TokenStream, items: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        impl #of { #items }
    }
}

/// The model where `T` and `L` are generic parameters: a model of such a name is found through its module.
fn system_path(model: &Ident) -> TokenStream {
    if model == "T" || model == "L" { quote!(self::#model) } else { quote!(#model) }
}

/// The name of a variable of generated code, with two underscores in front. In a pattern, the name of a constant, a static or a unit struct
/// in scope means that item, and hygiene does not hide the user's items. Such names are left to generated code by other derives, too.
fn local(name: impl IdentFragment) -> Ident {
    format_ident!("__{}", name, span = Span::mixed_site())
}

fn prepared_name(model: &Ident) -> Ident {
    format_ident!("{}Prepared", plain(model), span = model.span())
}

fn input_name(model: &Ident) -> Ident {
    format_ident!("{}Input", plain(model), span = model.span())
}

fn state_name(model: &Ident) -> Ident {
    format_ident!("{}State", plain(model), span = model.span())
}
