//! The generated functions, from their table.

use std::iter;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::body::{Host, Writer};
use super::stub::integrals;
use super::{CompiledModel, local};
use crate::program::{Argument, Form, GeneratedFunction, Program, Returns, Rows, Trait, pattern};
use crate::syntax::{Declaration, Variable, total_entries};

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
    /// The number of switches.
    pub(super) switches: usize,
    /// The path of the runtime.
    runtime: syn::Path,
    /// The bound of the feedback law's type `L`.
    law: TokenStream,
}

impl Signatures {
    /// The functions of a model, or of a mistaken one.
    pub(super) fn of_model(declaration: &Declaration, model: Option<&CompiledModel>, system: &TokenStream) -> Self {
        let runtime = &declaration.runtime;
        let is_free = |velocity: &&Variable| declaration.vanishing_by(velocity).is_none();
        Self {
            states: total_entries(declaration.state_variables()),
            integrals: model.map_or_else(|| integrals(declaration), |model| model.derivation.integrals.len()),
            outputs: model.map_or(0, |model| model.derivation.outputs.len()),
            velocities: total_entries(declaration.velocities.iter().filter(is_free)),
            parameters: total_entries(&declaration.parameters),
            inputs: total_entries(declaration.input_variables()),
            switches: model.map_or(0, |model| model.programs.switches.len()),
            runtime: runtime.clone(),
            law: quote!(#runtime::FeedbackLaw<#system, T>),
        }
    }

    /// The number of unknowns.
    fn unknowns(&self) -> usize {
        self.states + self.parameters + self.inputs
    }

    /// The number of these.
    fn count(&self, rows: Rows) -> usize {
        match rows {
            Rows::States => self.states,
            Rows::Integrals => self.integrals,
            Rows::Outputs => self.outputs,
            Rows::Velocities => self.velocities,
            Rows::Inputs => self.inputs,
            Rows::Switches => self.switches,
        }
    }

    /// `fn vector_field(&self, __x: &[T; 6]) -> [T; 6]`
    fn of(&self, function: &GeneratedFunction) -> TokenStream {
        let (name, runtime, law) = (format_ident!("{}", function.name), &self.runtime, &self.law);
        let state = declared("x", &array(self.states));
        let arguments = function.arguments.iter().map(|argument| {
            let (name, ty) = self.argument(*argument);
            declared(name, &ty)
        });
        let generics = function.law().map(|_| quote!(<L: #law>));
        let returned = self.returned(function);
        if function.owner != Trait::Prepared {
            let system = declared("system", &quote!(Self::Prepared<T>));
            return quote!(fn #name<T: #runtime::Scalar>(#system, #state #(, #arguments)*) -> #returned);
        }
        quote!(fn #name #generics(&self, #state #(, #arguments)*) -> #returned)
    }

    /// The name of an argument, and the type that it refers to.
    fn argument(&self, argument: Argument) -> (&'static str, TokenStream) {
        let runtime = &self.runtime;
        let (name, rows) = match argument {
            Argument::Law(_) => return ("law", quote!(L)),
            Argument::Direction => return ("direction", quote!(#runtime::PreparedDirection<Self, T>)),
            Argument::Variances => ("variances", Rows::States),
            Argument::Noise => ("noise", Rows::Integrals),
            Argument::Gains => ("gains", Rows::Integrals),
            Argument::Targets => ("targets", Rows::Integrals),
            Argument::Accelerations => ("accelerations", Rows::Velocities),
            Argument::Weights(rows) => ("weights", rows),
            Argument::StateDirection => ("direction", Rows::States),
            Argument::VariancesDirection => ("variances_direction", Rows::States),
            Argument::TargetsDirection => ("targets_direction", Rows::Integrals),
        };
        (name, array(self.count(rows)))
    }

    /// The names of what a function takes.
    pub(super) fn names(&self, function: &GeneratedFunction) -> Vec<&'static str> {
        let system = (function.owner != Trait::Prepared).then_some("system");
        let arguments = function.arguments.iter().map(|argument| self.argument(*argument).0);
        iter::once("x").chain(system).chain(arguments).collect()
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

    /// The type and the pattern of a Jacobian with only these entries.
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

/// The functions of a trait.
pub(super) fn functions(writer: &Writer<'_>, owner: Trait) -> TokenStream {
    let signatures = &writer.signatures;
    let [all, some] = owner.functions();
    let has = |function: &&&GeneratedFunction| {
        writer.model.is_some_and(|model| model.programs.functions().any(|(own, _)| own.name == function.name))
    };
    let functions = all.iter().chain(some.iter().filter(has)).map(|function| {
        let program = writer.model.map(|model| &model.programs[function]);
        let pattern = program.into_iter().flat_map(|program| pattern(program, signatures.unknowns()));
        let (sparse, signature) = (signatures.sparse(function, pattern), signatures.of(function));
        let inlining = program.and_then(|program| inlining(function, program));
        let body = writer.content(|model| {
            let program = &model.programs[function];
            let (statements, entries) = writer.body(program, Host::of(function));
            let result = result(signatures, function, program, &entries);
            quote!(#statements #result)
        });
        quote!(#sparse #inlining #signature { #body })
    });
    quote!(#(#functions)*)
}

/// The facts about integrals that need no state: which targets are 0, and the numbers of the normalised form.
pub(super) fn normalisation(writer: &Writer<'_>) -> TokenStream {
    let m = Literal::usize_unsuffixed(writer.signatures.integrals);
    let zero_targets = writer.content(|model| {
        let zero_targets = model.programs.zero_targets(&model.derivation);
        quote!([#(#zero_targets),*])
    });
    let normalisation = writer.content(|model| {
        let (statements, numbers) = writer.body(&model.programs.normalisation, Host::Prepared(Form::Declared));
        let rows = numbers.chunks(3).map(|row| quote!([#(#row),*]));
        quote!(#statements [#(#rows),*])
    });
    quote! {
        #[inline]
        fn zero_targets(&self) -> [::core::primitive::bool; #m] {
            #zero_targets
        }
        #[inline]
        fn normalisation(&self) -> [[T; 3]; #m] {
            #normalisation
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
