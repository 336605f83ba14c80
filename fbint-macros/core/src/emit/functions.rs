//! The generated functions, from their table.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::body::Writer;
use super::derivatives::derivatives_type;
use super::{Compiled, local};
use crate::program::{Argument, FUNCTIONS, Form, GeneratedFunction, Program, Returns, Rows, Trait};

/// Maximum number of operations of a field that is inlined wherever a method evaluates it. A call costs more than it looks: its
/// result goes through memory, where the next stage waits for it.
const INLINED: usize = 256;

/// Functions of more operations are compiled once in a crate, and not once in every part of it that calls them, which takes
/// minutes with a few methods and kinds of gains.
const COMPILED_ONCE: usize = 2048;

/// The common part of the signatures of one model's functions.
pub(super) struct Signatures {
    /// N, the number of entries of the state.
    pub(super) states: usize,
    /// M, the number of integrals.
    pub(super) integrals: usize,
    /// The number of outputs.
    pub(super) outputs: usize,
    /// The number of velocities that are part of the state.
    pub(super) velocities: usize,
    /// The path of the runtime.
    pub(super) runtime: syn::Path,
    /// The bound of the feedback law's type `L`.
    pub(super) law: TokenStream,
}

impl Signatures {
    /// How many of these there are.
    pub(super) fn count(&self, rows: Rows) -> usize {
        match rows {
            Rows::States => self.states,
            Rows::Integrals => self.integrals,
            Rows::Outputs => self.outputs,
            Rows::Velocities => self.velocities,
        }
    }

    /// An argument that has a number for each of these.
    fn list(&self, name: &str, rows: Rows) -> TokenStream {
        declared(name, &array(self.count(rows)))
    }

    /// `fn vector_field(&self, __x: &[T; 6]) -> [T; 6]`
    pub(super) fn of(&self, function: &GeneratedFunction) -> TokenStream {
        let (name, runtime, law) = (format_ident!("{}", function.name), &self.runtime, &self.law);
        let arguments = function.arguments.iter().map(|argument| self.argument(*argument));
        let generics = function.law().map(|_| quote!(<L: #law>));
        let state = self.list("x", Rows::States);
        let returned = self.returned(function);
        if function.owner != Trait::Prepared {
            let system = declared("system", &quote!(Self::Prepared<T>));
            return quote!(fn #name<T: #runtime::Scalar>(#system, #state #(, #arguments)*) -> #returned);
        }
        quote!(fn #name #generics(&self, #state #(, #arguments)*) -> #returned)
    }

    fn argument(&self, argument: Argument) -> TokenStream {
        let runtime = &self.runtime;
        match argument {
            Argument::Variances => self.list("variances", Rows::States),
            Argument::Noise => self.list("noise", Rows::Integrals),
            Argument::Law(_) => declared("law", &quote!(L)),
            Argument::Gains => self.list("gains", Rows::Integrals),
            Argument::Targets => self.list("targets", Rows::Integrals),
            Argument::Accelerations => self.list("accelerations", Rows::Velocities),
            Argument::Weights(rows) => self.list("weights", rows),
            Argument::Direction => declared("direction", &quote!(#runtime::PreparedDirection<Self, T>)),
            Argument::StateDirection => self.list("direction", Rows::States),
            Argument::VariancesDirection => self.list("variances_direction", Rows::States),
            Argument::TargetsDirection => self.list("targets_direction", Rows::Integrals),
        }
    }

    /// The type of what a function returns.
    fn returned(&self, function: &GeneratedFunction) -> TokenStream {
        let runtime = &self.runtime;
        match function.returns {
            Returns::List(rows) => array(self.count(rows)),
            Returns::Matrix(rows, columns) => {
                let (row, rows) = (array(self.count(columns)), Literal::usize_unsuffixed(self.count(rows)));
                quote!([#row; #rows])
            }
            Returns::Tangent(rows) => {
                let list = array(self.count(rows));
                quote!((#list, #list))
            }
            Returns::Gradient => quote!(#runtime::Gradient<Self, T>),
            Returns::ProjectionGradient => quote!(#runtime::ProjectionGradient<Self, T>),
            Returns::Derivatives(_) => {
                let list = derivatives_type(function);
                quote!(Self::#list<T>)
            }
        }
    }
}

fn declared(name: &str, ty: &TokenStream) -> TokenStream {
    let name = local(name);
    quote!(#name: &#ty)
}

/// The type of an array of numbers.
pub(super) fn array(length: usize) -> TokenStream {
    let length = Literal::usize_unsuffixed(length);
    quote!([T; #length])
}

/// The functions of the prepared model.
pub(super) fn functions(compiled: &Compiled<'_>, writer: &Writer<'_>, signatures: &Signatures) -> TokenStream {
    let functions = compiled.programs.functions().filter(|(function, _)| function.owner == Trait::Prepared);
    let functions = functions.map(|(function, program)| {
        let (signature, inlining) = (signatures.of(function), inlining(function, program));
        let form = function.law().unwrap_or(Form::Declared);
        let body = match function.returns {
            Returns::Matrix(_, columns) => writer.matrix(program, signatures.count(columns)),
            _ => writer.vector(program, form),
        };
        quote!(#inlining #signature { #body })
    });
    let normalisation = writer.normalisation(&compiled.programs.normalisation);
    let zero_targets = compiled.programs.zero_targets(compiled.derivation);
    let m = Literal::usize_unsuffixed(signatures.integrals);
    quote! {
        #[inline]
        fn zero_targets(&self) -> [::core::primitive::bool; #m] {
            [#(#zero_targets),*]
        }
        #[inline]
        fn normalisation(&self) -> [[T; 3]; #m] {
            #normalisation
        }
        #(#functions)*
    }
}

/// The functions of a mistaken model, each with this body.
pub(super) fn without_content(signatures: &Signatures, body: &TokenStream) -> TokenStream {
    let functions = FUNCTIONS.iter().map(|function| signatures.of(function));
    let (runtime, m) = (&signatures.runtime, Literal::usize_unsuffixed(signatures.integrals));
    quote! {
        fn facts(&self) -> &'static #runtime::SystemFacts #body
        fn zero_targets(&self) -> [::core::primitive::bool; #m] #body
        fn normalisation(&self) -> [[T; 3]; #m] #body
        #(#functions #body)*
    }
}

/// The attribute of a function.
pub(super) fn inlining(function: &GeneratedFunction, program: &Program) -> Option<TokenStream> {
    match program.instructions.len() {
        0..=INLINED if function.is_field() => Some(quote!(#[inline(always)])),
        0..=COMPILED_ONCE => Some(quote!(#[inline])),
        _ => None,
    }
}
