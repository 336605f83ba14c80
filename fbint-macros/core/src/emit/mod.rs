//! From programs and names to tokens. Cannot fail: whatever could go wrong was refused before.
//!
//! The generated code is a guest in the user's crate: absolute paths, no prelude, no name but the state's type, and variables
//! that begin with two underscores.

mod body;
mod derivatives;
mod facts;
mod functions;
mod hamel;
mod source;
mod start_values;
mod state;
mod stub;
mod taylor;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{IdentFragment, ToTokens, format_ident, quote};
use syn::{DeriveInput, File, GenericParam, Generics, Item, parse_quote};

use crate::derivation::{Derivation, Findings};
use crate::elaborate::Elaborated;
use crate::notation;
use crate::program::{ModelSeries, Programs, Trait};
use crate::syntax::{Declaration, plain};
use body::{Writer, place};
use derivatives::derivatives;
pub use facts::first_paragraph;
use functions::{Signatures, functions};
use hamel::{hamel, hamel_functions_of_system, lagrangian};
use state::{input_type, state_type};
use taylor::{taylor, taylor_functions};

/// The first lines of a source.
const LEFT_OUT: &str = "\
// The functions that compute. Generated as well, and left out here: the types of the state and the inputs, the declared
// default and start, access to parameters and prepared numbers by their places, and the facts, which have this text.
";

/// A model that was understood, derived, and written as programs, before it becomes Rust.
#[derive(Debug)]
pub struct CompiledModel {
    /// Names and exact expressions.
    pub elaborated: Elaborated,
    /// The mathematics.
    pub derivation: Derivation,
    /// The functions.
    pub programs: Programs,
    /// The Taylor series of its solutions, if they are declared.
    pub series: Option<ModelSeries>,
    /// Everything that is found out about the derivation.
    pub findings: Findings,
    /// The functions at whose zeros the field switches, in plain text.
    pub switches: Vec<String>,
    /// Linear functions that are conserved and not declared.
    pub undeclared: Vec<String>,
    /// The suspicions about the model, in words.
    pub doubts: Vec<String>,
    /// The file that keeps the derivation, by its path within the package.
    pub file: Option<String>,
}

/// The struct, the state's type, the prepared model, and the implementations of the runtime's traits.
pub fn emit(declaration: &Declaration, model: &CompiledModel) -> TokenStream {
    items(&Writer::new(declaration, Some(model)))
}

/// The items of a mistaken model, with functions that never run: everything that uses the model still resolves, so that one mistake gives
/// one message.
pub fn stub(declaration: &Declaration) -> TokenStream {
    items(&Writer::new(declaration, None))
}

/// The functions that compute, pretty-printed.
pub fn source(declaration: &Declaration, model: &CompiledModel) -> String {
    let writer = Writer::new(declaration, Some(model));
    GeneratedFunctions::of(&writer).source(&writer)
}

fn items(writer: &Writer<'_>) -> TokenStream {
    let (item, state) = (&writer.instance.item, state_type(writer.declaration));
    let (default, driven) = (start_values::default(writer), driven(writer));
    let functions = GeneratedFunctions::of(writer);
    let system = feedback_system(writer, &functions.prepare);
    let facts = facts::generated_system(writer, &functions);
    let GeneratedFunctions { prepared, others, .. } = functions;
    let generated = quote!(#default #state #prepared #system #facts #driven #others);
    let generated = if is_deprecated(item) { about_deprecated(generated) } else { generated };
    quote!(#item #generated)
}

fn is_deprecated(item: &DeriveInput) -> bool {
    item.attrs.iter().any(|attribute| attribute.path().is_ident("deprecated"))
}

/// Implementations that name a deprecated model: whoever uses it is warned, and not at its own declaration.
fn about_deprecated(generated: TokenStream) -> TokenStream {
    let Ok(mut file) = syn::parse2::<File>(generated.clone()) else { return generated };
    for item in &mut file.items {
        if let Item::Impl(implementation) = item {
            implementation.attrs.push(parse_quote!(#[allow(deprecated)]));
        }
    }
    file.into_token_stream()
}

/// The functions that compute, and the implementations that have them.
struct GeneratedFunctions {
    /// The function that prepares.
    prepare: TokenStream,
    /// The prepared model.
    prepared: TokenStream,
    /// Additions of some models.
    others: TokenStream,
}

impl GeneratedFunctions {
    fn of(writer: &Writer<'_>) -> Self {
        let (lagrangian, hamel, derivatives) = (lagrangian(writer), hamel(writer), derivatives(writer));
        let (taylor, switching) = (taylor(writer), switching(writer));
        let others = quote!(#lagrangian #hamel #derivatives #taylor #switching);
        Self { prepare: prepare(writer), prepared: prepared(writer), others }
    }

    /// All of them, pretty-printed, after a comment on what is left out.
    fn source(&self, Writer { runtime, name, .. }: &Writer<'_>) -> String {
        let Self { prepare, prepared, others } = self;
        let file = quote! {
            impl #runtime::FeedbackSystem for #name { #prepare }
            #prepared #others
        };
        format!("{LEFT_OUT}{}", source::pretty(file))
    }
}

/// The numbers of the prepared model, one by one: for systems whose vectors are longer than their state.
fn numbers(writer: &Writer<'_>) -> TokenStream {
    let (runtime, prepared) = (writer.runtime, type_name(writer.name, "Prepared"));
    let fields: Vec<&Ident> = writer.fields().collect();
    let indices = (0..fields.len()).map(Literal::usize_unsuffixed);
    let (system, number, index) = (local("system"), local("number"), local("index"));
    let found = by_index(&index, fields.iter().map(|field| quote!(#system.#field)));
    let usize = quote!(::core::primitive::usize);
    quote! {
        #[inline(always)]
        fn of_numbers<T: #runtime::Scalar>(#number: impl ::core::ops::Fn(#usize) -> T) -> Self::Prepared<T> {
            #prepared { #(#fields: #number(#indices)),* }
        }
        #[inline]
        fn number<T: #runtime::Scalar>(#system: &Self::Prepared<T>, #index: #usize) -> ::core::option::Option<T> {
            #found
        }
    }
}

/// The item at an index that is known when the code runs, or `None` past the end.
fn by_index(index: &Ident, results: impl Iterator<Item = TokenStream>) -> TokenStream {
    let arms = (0..).map(Literal::usize_unsuffixed).zip(results);
    let arms = arms.map(|(place, result)| quote!(#place => ::core::option::Option::Some(#result),));
    quote! {
        match #index {
            #(#arms)*
            _ => ::core::option::Option::None,
        }
    }
}

/// The function that computes what depends on parameters alone.
fn prepare(writer: &Writer<'_>) -> TokenStream {
    let prepared = type_name(writer.name, "Prepared");
    let content = writer.content(|model| {
        let (statements, values) = writer.prepare(model, &model.programs.prepare);
        let fields = writer.prepared.iter().zip(values).map(|(field, value)| quote!(#field: #value));
        let given = writer.inputs.iter().chain(&writer.sides);
        let fields = fields.chain(given.map(|field| quote!(#field: 0.0)));
        quote!(#statements #prepared { #(#fields),* })
    });
    quote! {
        #[inline]
        fn prepare(&self) -> Self::Prepared<::core::primitive::f64> {
            #content
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
    let (name, system) = (type_name(writer.name, "Prepared"), writer.instance.path());
    let doc = format!(" [`{}`] with everything computed that depends on its parameters alone.", plain(writer.name));
    let fields = writer.fields();
    let (normalisation, functions) = (functions::normalisation(writer), functions(writer, Trait::Prepared));
    let jacobian = writer.declaration.derivatives.then(|| jacobian(writer));
    let facts = facts(runtime, &system);
    let generics = prepared_generics(writer);
    let (parameters, arguments, _) = generics.split_for_impl();
    let mut of_numbers = writer.instance.sizes.clone();
    of_numbers.params.insert(0, parse_quote!(T: #runtime::Scalar));
    let of_numbers = of_numbers.split_for_impl().0.into_token_stream();
    let of = quote!(#of_numbers #runtime::PreparedSystem<T> for #name #arguments);
    let under_law = writer.has(Trait::Controlled).then(|| under_law(writer));
    let sides = writer.has(Trait::Switching).then(|| sides(writer));
    let items = quote!(type System = #system; #facts #normalisation #functions #jacobian #under_law #sides);
    let implementation = implementation(&of, &items);
    quote! {
        #[doc = #doc]
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::fmt::Debug,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq
        )]
        #visibility struct #name #parameters {
            #(#fields: T,)*
        }
        #implementation
    }
}

/// The Jacobian of the field, with or without feedback, for implicit methods.
fn jacobian(writer: &Writer<'_>) -> TokenStream {
    let Signatures { states, integrals, .. } = writer.signatures;
    let [states, integrals] = [states, integrals].map(Literal::usize_unsuffixed);
    let (runtime, x, feedback, add) = (writer.runtime, local("x"), local("feedback"), local("add"));
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

/// The prepared model with the inputs that its laws give, and their derivatives.
fn under_law(writer: &Writer<'_>) -> TokenStream {
    let (runtime, states) = (writer.runtime, Literal::usize_unsuffixed(writer.signatures.states));
    let [x, values, work, slopes, input, entry] = ["x", "values", "work", "slopes", "input", "entry"].map(local);
    let (law, inputs) = (quote!(<Self::System as #runtime::ControlledSystem>::law(self, #x)), &writer.inputs);
    let index = quote!(::core::primitive::usize);
    quote! {
        #[inline(always)]
        fn under_law(&self, #x: &[T; #states]) -> Self {
            <Self::System as #runtime::DrivenSystem>::with_input(*self, #law)
        }
        fn inputs_into(&self, #values: &mut [T]) {
            for (#values, #input) in #values.iter_mut().zip([#(self.#inputs),*]) {
                *#values = #input;
            }
        }
        fn with_law_slopes(
            &self,
            #x: &[T; #states],
            #work: &mut dyn ::core::ops::FnMut(&Self, &dyn ::core::ops::Fn(#index, #index) -> T),
        ) {
            let #slopes = <Self::System as #runtime::ControlledSystem>::law_jacobian(self, #x);
            #work(&self.under_law(#x), &|#input, #entry| #slopes[#input][#entry]);
        }
    }
}

/// The functions at whose zeros the prepared model switches, and the model that holds a side of one.
fn sides(writer: &Writer<'_>) -> TokenStream {
    let (runtime, count) = (writer.runtime, Literal::usize_unsuffixed(writer.sides.len()));
    let [x, values, system, place, side] = ["x", "values", "system", "place", "side"].map(local);
    let states = Literal::usize_unsuffixed(writer.signatures.states);
    let arms = (0..).map(Literal::usize_unsuffixed).zip(&writer.sides);
    let arms = arms.map(|(number, field)| quote!(#number => #system.#field = #side,));
    quote! {
        fn switches_at(&self, #x: &[T; #states], #values: &mut [T]) {
            if let ::core::option::Option::Some(#values) = #values.first_chunk_mut::<#count>() {
                *#values = <Self::System as #runtime::SwitchingSystem>::switches(self, #x);
            }
        }
        fn switch_at(&self, #x: &[T; #states], #place: ::core::primitive::usize) -> T {
            <Self::System as #runtime::SwitchingSystem>::switches(self, #x)[#place]
        }
        fn on_side(&self, #place: ::core::primitive::usize, #side: T) -> Self {
            let mut #system = *self;
            match #place {
                #(#arms)*
                _ => {}
            }
            #system
        }
    }
}

/// The generic parameters of the prepared model's type: the type of its numbers, if it has any, since each must be used.
fn prepared_generics(writer: &Writer<'_>) -> Generics {
    let mut generics = writer.instance.sizes.clone();
    generics.params.extend(writer.fields().next().map(|_| -> GenericParam { parse_quote!(T) }));
    generics
}

/// The function that brings prepared models together, one for each lane.
fn gathered(writer: &Writer<'_>) -> TokenStream {
    let (runtime, prepared) = (writer.runtime, type_name(writer.name, "Prepared"));
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
    let Writer { runtime, name, inputs, signatures, .. } = writer;
    let (input_type, input) = (input_type(writer.declaration)?, type_name(name, "Input"));
    let number = Literal::usize_unsuffixed(signatures.inputs);
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
    let implementation = writer.implementation(&quote!(#runtime::DrivenSystem), &items);
    let law = writer.functions(Trait::Controlled, &TokenStream::new());
    Some(quote!(#input_type #implementation #law))
}

/// The implementation of `SwitchingSystem`, if the field switches.
fn switching(writer: &Writer<'_>) -> Option<TokenStream> {
    let (runtime, count) = (writer.runtime, Literal::usize_unsuffixed(writer.signatures.switches));
    writer.functions(Trait::Switching, &quote!(type Switches<T: #runtime::Entry> = [T; #count];))
}

/// The implementation that every model has, with the function that computes what depends on parameters alone.
fn feedback_system(writer: &Writer<'_>, prepare: &TokenStream) -> TokenStream {
    let Writer { name, runtime, signatures, .. } = writer;
    let (state, prepared, generics) =
        (type_name(name, "State"), type_name(name, "Prepared"), prepared_generics(writer));
    let (_, arguments, _) = generics.split_for_impl();
    let [n, m, outputs] = [signatures.states, signatures.integrals, signatures.outputs].map(Literal::usize_unsuffixed);
    let (facts, parameters) = (facts(runtime, &quote!(Self)), parameters(writer));
    let (start, hamel_functions_of_system, gathered) =
        (start_values::start(writer), hamel_functions_of_system(writer), gathered(writer));
    let taylor_functions = taylor_functions(writer);
    let (scenery, law_period) = (start_values::scenery(writer), start_values::law_period(writer));
    let doc = writer.model.map(|model| {
        let summary = notation::summary(&model.derivation, &model.findings);
        format!("{summary}\n# Equations\n\n```text\n{}```", writer.equations(model))
    });
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
        #scenery
        #law_period
        #hamel_functions_of_system
        #taylor_functions
        #gathered
    };
    let (doc, implementation) = (doc.into_iter(), writer.implementation(&quote!(#runtime::FeedbackSystem), &items));
    quote!(#(#[doc = #doc])* #implementation)
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
fn parameters(writer: &Writer<'_>) -> TokenStream {
    let parameters = writer.model.into_iter().flat_map(|model| {
        let parameters = model.derivation.symbols.parameters();
        parameters.map(|symbol| place(&model.elaborated.places[symbol]))
    });
    let places: Vec<TokenStream> = parameters.collect();
    let index = local("index");
    let number = by_index(&index, places.iter().map(|place| quote!(self.#place)));
    let changed = by_index(&index, places.iter().map(|place| quote!(&mut self.#place)));
    quote! {
        #[inline]
        fn parameter(&self, #index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> {
            #number
        }
        #[inline]
        fn parameter_mut(
            &mut self,
            #index: ::core::primitive::usize,
        ) -> ::core::option::Option<&mut ::core::primitive::f64> {
            #changed
        }
    }
}

/// An implementation of generated functions, which lints of the user's crate leave alone. Groups of lints that users forbid are not
/// allowed here, which would be an error: their lints skip what is derived.
fn implementation(of: &TokenStream, items: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        #[allow(clippy::all)]
        impl #of { #items }
    }
}

/// The name of a variable of generated code, with two underscores in front. In a pattern, the name of a constant, a static or a unit struct
/// in scope means that item, and hygiene does not hide the user's items. Such names are left to generated code by other derives, too.
fn local(name: impl IdentFragment) -> Ident {
    format_ident!("__{}", name, span = Span::mixed_site())
}

/// The name of a type that comes with the model: `PendulumState`.
fn type_name(model: &Ident, what: &str) -> Ident {
    format_ident!("{}{what}", plain(model), span = model.span())
}
