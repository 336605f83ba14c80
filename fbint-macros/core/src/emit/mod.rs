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

use crate::derivation::table::Table;
use crate::derivation::{Conservation, Derivation, IntegralId, Role};
use crate::elaborate::{Beginning, VariableEntry};
use crate::expression::Symbol;
use crate::program::Programs;
use crate::syntax::{Declaration, plain};
use body::{Writer, place};
use derivatives::derivatives;
pub use facts::first_paragraph;
use functions::{Signatures, functions};
use hamel::{hamel, lagrangian};
use state::{input_type, state_type};
pub use stub::stub;

/// Everything that the generated items are made of.
#[derive(Debug)]
pub struct Compiled<'a> {
    /// The declaration.
    pub declaration: &'a Declaration,
    /// The places of the entries of the state and of the parameters in the declaration.
    pub places: &'a Table<Symbol, VariableEntry>,
    /// The mathematics.
    pub derivation: &'a Derivation,
    /// Where a run begins.
    pub beginning: &'a Beginning,
    /// The functions.
    pub programs: &'a Programs,
    /// The grade of each integral: where it is conserved, and by which evidence.
    pub conservation: &'a Table<IntegralId, Conservation>,
    /// The derivation in LaTeX.
    pub latex: &'a str,
    /// The derivation in plain text.
    pub equations: &'a str,
    /// The part of the documentation about the integrals, in Markdown.
    pub summary: &'a str,
    /// Linear functions that are conserved and not declared.
    pub undeclared: &'a [String],
}

/// The struct, the state's type, the prepared model, and the implementations of the runtime's traits.
pub fn emit(compiled: &Compiled<'_>) -> TokenStream {
    let item = &compiled.declaration.item;
    let writer = writer(compiled);
    let state = state_type(compiled.declaration);
    let driven = driven(compiled, &writer);
    let functions = GeneratedFunctions::of(compiled, &writer);
    let hamel_steps = functions.hamel.as_ref().map(|_| hamel_steps(&compiled.declaration.runtime));
    let (default, start) = (beginning::default(compiled, &writer), beginning::start(compiled, &writer));
    let prepare = &functions.prepare;
    let system = feedback_system(compiled, &writer, &quote!(#prepare #start #hamel_steps));
    let hamel_functions = functions.hamel.as_ref().map(|_| hamel_functions(&compiled.declaration.runtime));
    let numbers = numbers(compiled, &writer);
    let facts = facts::generated_system(compiled, &functions.source(compiled), &quote!(#hamel_functions #numbers));
    let GeneratedFunctions { prepared, lagrangian, hamel, derivatives, .. } = functions;
    quote!(#item #default #state #prepared #system #facts #driven #lagrangian #hamel #derivatives)
}

/// The functions that compute, pretty-printed.
pub fn source(compiled: &Compiled<'_>) -> String {
    GeneratedFunctions::of(compiled, &writer(compiled)).source(compiled)
}

fn writer<'a>(compiled: &Compiled<'a>) -> Writer<'a> {
    let Compiled { declaration, places, derivation, programs, .. } = *compiled;
    Writer::new(&declaration.runtime, places, &derivation.symbols, programs)
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
    fn of(compiled: &Compiled<'_>, writer: &Writer<'_>) -> Self {
        let signatures = signatures(compiled);
        Self {
            prepare: prepare(compiled, writer),
            prepared: prepared(compiled, writer, &signatures),
            lagrangian: lagrangian(compiled, writer, &signatures),
            hamel: hamel(compiled, writer, &signatures),
            derivatives: derivatives(compiled, writer, &signatures),
        }
    }

    /// All of them, pretty-printed.
    fn source(&self, compiled: &Compiled<'_>) -> String {
        let (name, runtime) = (&compiled.declaration.item.ident, &compiled.declaration.runtime);
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

/// The steps of the discrete Hamel integrator, for simulations, whose methods are chosen at run time.
fn hamel_steps(runtime: &syn::Path) -> TokenStream {
    quote! {
        fn hamel_steps(&self) -> ::core::option::Option<#runtime::HamelSteps<Self>> {
            ::core::option::Option::Some(#runtime::HamelSteps::OF_SYSTEM)
        }
    }
}

/// The functions of the discrete Hamel integrator, for the same.
fn hamel_functions(runtime: &syn::Path) -> TokenStream {
    quote! {
        const HAMEL_FUNCTIONS: ::core::option::Option<#runtime::HamelFunctions<Self>> =
            ::core::option::Option::Some(#runtime::HamelFunctions::OF_SYSTEM);
    }
}

/// The numbers of the prepared model, one by one: for systems whose vectors are longer than their state.
fn numbers(compiled: &Compiled<'_>, writer: &Writer<'_>) -> TokenStream {
    let runtime = &compiled.declaration.runtime;
    let prepared = prepared_name(&compiled.declaration.item.ident);
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
fn prepare(compiled: &Compiled<'_>, writer: &Writer<'_>) -> TokenStream {
    let prepared = prepared_name(&compiled.declaration.item.ident);
    let (statements, values) = writer.prepare(&compiled.programs.prepare);
    let (fields, inputs) = (writer.prepared(), writer.inputs());
    let fields = fields.iter().zip(values).map(|(field, value)| quote!(#field: #value));
    let fields = fields.chain(inputs.iter().map(|input| quote!(#input: 0.0)));
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
fn prepared(compiled: &Compiled<'_>, writer: &Writer<'_>, signatures: &Signatures) -> TokenStream {
    let (runtime, visibility) = (&compiled.declaration.runtime, &compiled.declaration.item.vis);
    let name = prepared_name(&compiled.declaration.item.ident);
    let doc = format!(
        " [`{}`] with everything computed that depends on its parameters alone.",
        plain(&compiled.declaration.item.ident)
    );
    let fields: Vec<&Ident> = writer.fields().collect();
    let system = system_path(&compiled.declaration.item.ident);
    let functions = functions(compiled, writer, signatures);
    let jacobian = compiled.declaration.derivatives.then(|| jacobian(signatures));
    let facts = facts(runtime, &system);
    let arguments = prepared_arguments(writer, &quote!(T));
    let of = quote!(<T: #runtime::Scalar> #runtime::PreparedSystem<T> for #name #arguments);
    let implementation = implementation(&of, &quote!(type System = #system; #facts #functions #jacobian));
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

fn signatures(compiled: &Compiled<'_>) -> Signatures {
    let runtime = &compiled.declaration.runtime;
    let system = system_path(&compiled.declaration.item.ident);
    Signatures {
        states: compiled.derivation.dimension(),
        integrals: compiled.derivation.integrals.len(),
        outputs: compiled.derivation.outputs.len(),
        velocities: compiled.derivation.symbols.with(|role| role == Role::Velocity).len(),
        runtime: runtime.clone(),
        law: quote!(#runtime::FeedbackLaw<#system, T>),
    }
}

/// The numbers of unknowns of each kind.
#[derive(Clone, Copy)]
struct Lengths {
    state: usize,
    parameters: usize,
    inputs: usize,
}

impl Lengths {
    fn all(self) -> usize {
        self.state + self.parameters + self.inputs
    }
}

/// The argument of the prepared model's type. There is none if the type holds no number, since a generic parameter must be used.
fn prepared_arguments(writer: &Writer<'_>, number: &TokenStream) -> Option<TokenStream> {
    writer.fields().next().is_some().then(|| quote!(<#number>))
}

/// The function that brings prepared models together, one for each lane.
fn gathered(compiled: &Compiled<'_>, writer: &Writer<'_>) -> TokenStream {
    let runtime = &compiled.declaration.runtime;
    let prepared = prepared_name(&compiled.declaration.item.ident);
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
fn driven(compiled: &Compiled<'_>, writer: &Writer<'_>) -> Option<TokenStream> {
    let (runtime, name) = (&compiled.declaration.runtime, &compiled.declaration.item.ident);
    let (input_type, input) = (input_type(compiled.declaration)?, input_name(name));
    let number = Literal::usize_unsuffixed(writer.inputs().len());
    let (system, entries) = (local("system"), local("input"));
    let places = (0..).map(Literal::usize_unsuffixed);
    let assignments =
        writer.inputs().iter().zip(places).map(|(field, place)| quote!(#system.#field = #entries[#place];));
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
    let implementation = implementation(&quote!(#runtime::DrivenSystem for #name), &items);
    Some(quote!(#input_type #implementation))
}

/// The implementation that every model has. `own` is the part that the caller has written.
fn feedback_system(compiled: &Compiled<'_>, writer: &Writer<'_>, own: &TokenStream) -> TokenStream {
    let (name, runtime) = (&compiled.declaration.item.ident, &compiled.declaration.runtime);
    let (state, prepared) = (state_name(name), prepared_name(name));
    let arguments = prepared_arguments(writer, &quote!(T));
    let Derivation { symbols, integrals, outputs, .. } = compiled.derivation;
    let [n, m, outputs] = [symbols.dimension(), integrals.len(), outputs.len()].map(Literal::usize_unsuffixed);
    let (facts, parameters, gathered) =
        (facts(runtime, &quote!(Self)), parameters(compiled), gathered(compiled, writer));
    let doc = format!("{}\n# Equations\n\n```text\n{}```", compiled.summary, compiled.equations);
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
        #own
        #gathered
    };
    let implementation = implementation(&quote!(#runtime::FeedbackSystem for #name), &items);
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
fn parameters(compiled: &Compiled<'_>) -> TokenStream {
    let parameters = compiled.derivation.symbols.parameters();
    let places: Vec<TokenStream> = parameters.map(|symbol| place(&compiled.places[symbol])).collect();
    let indices = || (0..places.len()).map(Literal::usize_unsuffixed);
    let (read_indices, write_indices) = (indices(), indices());
    let index = local("index");
    quote! {
        #[inline]
        fn parameter(&self, #index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> {
            match #index {
                #(#read_indices => ::core::option::Option::Some(self.#places),)*
                _ => ::core::option::Option::None,
            }
        }
        #[inline]
        fn parameter_mut(
            &mut self,
            #index: ::core::primitive::usize,
        ) -> ::core::option::Option<&mut ::core::primitive::f64> {
            match #index {
                #(#write_indices => ::core::option::Option::Some(&mut self.#places),)*
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
