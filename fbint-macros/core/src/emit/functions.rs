//! The generated functions, from their table.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::body::{Host, Writer};
use super::{local, system_path};
use crate::derivation::{Derivation, Role};
use crate::program::{Argument, Form, GeneratedFunction, Program, Returns, Rows, Trait, pattern};
use crate::syntax::Declaration;

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
    /// The number of entries of the parameters.
    pub(super) parameters: usize,
    /// The number of entries of the inputs.
    pub(super) inputs: usize,
    /// The path of the runtime.
    pub(super) runtime: syn::Path,
    /// The bound of the feedback law's type `L`.
    pub(super) law: TokenStream,
}

impl Signatures {
    pub(super) fn of_model(declaration: &Declaration, derivation: &Derivation) -> Self {
        let (runtime, system) = (&declaration.runtime, system_path(&declaration.item.ident));
        let symbols = &derivation.symbols;
        Self {
            states: symbols.dimension(),
            integrals: derivation.integrals.len(),
            outputs: derivation.outputs.len(),
            velocities: symbols.with(|role| role == Role::Velocity).len(),
            parameters: symbols.parameters().count(),
            inputs: symbols.inputs().count(),
            runtime: runtime.clone(),
            law: quote!(#runtime::FeedbackLaw<#system, T>),
        }
    }

    /// The number of unknowns.
    fn unknowns(&self) -> usize {
        self.states + self.parameters + self.inputs
    }

    /// How many of these there are.
    fn count(&self, rows: Rows) -> usize {
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
    fn of(&self, function: &GeneratedFunction) -> TokenStream {
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

    /// The type and the pattern of a Jacobian of which only these entries are returned.
    fn sparse(
        &self,
        function: &GeneratedFunction,
        pattern: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Option<TokenStream> {
        let Returns::Derivatives(_) = function.returns else { return None };
        let of = function.name.trim_end_matches("_derivatives").to_uppercase();
        let (runtime, name, list) = (&self.runtime, format_ident!("{of}_PATTERN"), derivatives_type(function));
        let pairs = pattern.map(|(row, column, _)| {
            let [row, column] = [row, column].map(Literal::usize_unsuffixed);
            quote!((#row, #column))
        });
        let pairs: Vec<TokenStream> = pairs.collect();
        let number = Literal::usize_unsuffixed(pairs.len());
        Some(quote! {
            type #list<T: #runtime::Entry> = [T; #number];
            const #name: &'static [(::core::primitive::usize, ::core::primitive::usize)] = &[#(#pairs),*];
        })
    }

    /// These functions of a mistaken model, each with this body.
    pub(super) fn without_content(&self, functions: &[&GeneratedFunction], body: &TokenStream) -> TokenStream {
        let functions = functions.iter().map(|function| {
            let (sparse, signature) = (self.sparse(function, std::iter::empty()), self.of(function));
            quote!(#sparse #signature #body)
        });
        quote!(#(#functions)*)
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

/// `VectorFieldDerivatives`
fn derivatives_type(function: &GeneratedFunction) -> Ident {
    let capitalised = |word: &str| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
    let name: String = function.name.split('_').map(capitalised).collect();
    format_ident!("{name}")
}

/// The functions of a trait, as far as the model has it.
pub(super) fn functions(writer: &Writer<'_>, owner: Trait) -> TokenStream {
    let signatures = &writer.signatures;
    let functions = writer.model.programs.functions().filter(|(function, _)| function.owner == owner);
    let functions = functions.map(|(function, program)| {
        let sparse = signatures.sparse(function, pattern(program, signatures.unknowns()));
        let (signature, inlining) = (signatures.of(function), inlining(function, program));
        let (statements, entries) = writer.body(program, Host::of(function));
        let result = result(signatures, function, program, &entries);
        quote!(#sparse #inlining #signature { #statements #result })
    });
    quote!(#(#functions)*)
}

/// What is known of the integrals without a state: which targets are 0, and the numbers of the normalised form.
pub(super) fn normalisation(writer: &Writer<'_>) -> TokenStream {
    let programs = &writer.model.programs;
    let (statements, numbers) = writer.body(&programs.normalisation, Host::Prepared(Form::Declared));
    let rows = numbers.chunks(3).map(|row| quote!([#(#row),*]));
    let zero_targets = programs.zero_targets(&writer.model.derivation);
    let m = Literal::usize_unsuffixed(writer.signatures.integrals);
    quote! {
        #[inline]
        fn zero_targets(&self) -> [::core::primitive::bool; #m] {
            [#(#zero_targets),*]
        }
        #[inline]
        fn normalisation(&self) -> [[T; 3]; #m] {
            #statements
            [#(#rows),*]
        }
    }
}

/// The value that a function returns, from the outputs of its program.
fn result(
    signatures: &Signatures,
    function: &GeneratedFunction,
    program: &Program,
    entries: &[TokenStream],
) -> TokenStream {
    match function.returns {
        Returns::List(_) => quote!([#(#entries),*]),
        Returns::Matrix(rows, columns) => matrix([rows, columns].map(|of| signatures.count(of)), program, entries),
        Returns::Tangent(_) => {
            let (values, tangents) = entries.split_at(entries.len() / 2);
            quote!(([#(#values),*], [#(#tangents),*]))
        }
        Returns::Gradient => gradient(signatures, entries),
        Returns::ProjectionGradient => {
            let runtime = &signatures.runtime;
            let (by_unknowns, rest) = entries.split_at(signatures.unknowns());
            let (variances, targets) = rest.split_at(signatures.states);
            let unknowns = gradient(signatures, by_unknowns);
            quote! {
                #runtime::ProjectionGradient {
                    unknowns: #unknowns,
                    variances: [#(#variances),*],
                    targets: [#(#targets),*]
                }
            }
        }
        Returns::Derivatives(_) => {
            let written = pattern(program, signatures.unknowns()).map(|(_, _, place)| &entries[place]);
            quote!([#(#written),*])
        }
    }
}

/// An array of rows, from entries that are listed row by row. Most entries of a Jacobian vanish: only the others are written.
fn matrix([rows, columns]: [usize; 2], program: &Program, entries: &[TokenStream]) -> TokenStream {
    let matrix = local("rows");
    let assignments = pattern(program, columns).map(|(row, column, place)| {
        let ([row, column], entry) = ([row, column].map(Literal::usize_unsuffixed), &entries[place]);
        quote!(#matrix[#row][#column] = #entry;)
    });
    let [rows, columns] = [rows, columns].map(Literal::usize_unsuffixed);
    quote! {
        let mut #matrix = [[T::from_f64(0.0); #columns]; #rows];
        #(#assignments)*
        #matrix
    }
}

fn gradient(signatures: &Signatures, entries: &[TokenStream]) -> TokenStream {
    let runtime = &signatures.runtime;
    let (state, rest) = entries.split_at(signatures.states);
    let (parameters, inputs) = rest.split_at(signatures.parameters);
    quote! {
        #runtime::Gradient {
            state: [#(#state),*],
            parameters: [#(#parameters),*],
            inputs: [#(#inputs),*]
        }
    }
}

/// The attribute of a function.
fn inlining(function: &GeneratedFunction, program: &Program) -> Option<TokenStream> {
    match program.instructions.len() {
        0..=INLINED if function.is_field() => Some(quote!(#[inline(always)])),
        0..=COMPILED_ONCE => Some(quote!(#[inline])),
        _ => None,
    }
}
