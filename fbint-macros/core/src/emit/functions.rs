//! The generated functions, from their table.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::body::Writer;
use super::derivatives::derivatives_type;
use super::{Compiled, local};
use crate::program::{Argument, FUNCTIONS, Form, Function, Instruction, Program, Returns, Rows, Trait};

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
    /// The type of an array that has a number for each of these.
    fn rows(&self, rows: Rows) -> TokenStream {
        match rows {
            Rows::States => array(self.states),
            Rows::Integrals => array(self.integrals),
            Rows::Outputs => array(self.outputs),
        }
    }

    /// `fn vector_field(&self, __x: &[T; 6]) -> [T; 6]`
    pub(super) fn of(&self, function: &Function) -> TokenStream {
        let (name, runtime) = (format_ident!("{}", function.name), &self.runtime);
        let arguments = function.arguments.iter().map(|argument| match argument {
            Argument::Variances => declared("variances", &array(self.states)),
            Argument::Noise => declared("noise", &array(self.integrals)),
            Argument::Law(_) => declared("law", &quote!(L)),
            Argument::Gains => declared("gains", &array(self.integrals)),
            Argument::Targets => declared("targets", &array(self.integrals)),
            Argument::Accelerations => declared("accelerations", &array(self.velocities)),
            Argument::Weights(rows) => declared("weights", &self.rows(*rows)),
            Argument::Direction => declared("direction", &quote!(#runtime::PreparedDirection<Self, T>)),
            Argument::StateDirection => declared("direction", &array(self.states)),
            Argument::VariancesDirection => declared("variances_direction", &array(self.states)),
            Argument::TargetsDirection => declared("targets_direction", &array(self.integrals)),
        });
        let law = &self.law;
        let generics = function.law().map(|_| quote!(<L: #law>));
        let state = declared("x", &array(self.states));
        let returned = match function.returns {
            Returns::States => array(self.states),
            Returns::Integrals => array(self.integrals),
            Returns::Outputs => array(self.outputs),
            Returns::Jacobian => {
                let (row, rows) = (array(self.states), Literal::usize_unsuffixed(self.integrals));
                quote!([#row; #rows])
            }
            Returns::StateJacobian => {
                let (row, rows) = (array(self.states), Literal::usize_unsuffixed(self.states));
                quote!([#row; #rows])
            }
            Returns::Velocities => array(self.velocities),
            Returns::MassMatrix => {
                let (row, rows) = (array(self.velocities), Literal::usize_unsuffixed(self.velocities));
                quote!([#row; #rows])
            }
            Returns::Tangent(rows) => {
                let list = self.rows(rows);
                quote!((#list, #list))
            }
            Returns::Gradient => quote!(#runtime::Gradient<Self, T>),
            Returns::ProjectionGradient => quote!(#runtime::ProjectionGradient<Self, T>),
            Returns::Derivatives(_) => {
                let list = derivatives_type(function);
                quote!(Self::#list<T>)
            }
        };
        if function.owner() != Trait::Prepared {
            let system = declared("system", &quote!(Self::Prepared<T>));
            return quote!(fn #name<T: #runtime::Scalar>(#system, #state #(, #arguments)*) -> #returned);
        }
        quote!(fn #name #generics(&self, #state #(, #arguments)*) -> #returned)
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
    let functions = compiled.programs.functions().filter(|(function, _)| function.owner() == Trait::Prepared);
    let functions = functions.map(|(function, program)| {
        let (signature, inlining) = (signatures.of(function), inlining(function, program));
        let form = function.law().unwrap_or(Form::Declared);
        let body = match function.returns {
            Returns::Jacobian => writer.matrix(program, signatures.states),
            _ => writer.vector(program, form),
        };
        quote!(#inlining #signature { #body })
    });
    let normalisation = writer.normalisation(&compiled.programs.normalisation);
    let (zero_targets, m) = (zero_targets(compiled), Literal::usize_unsuffixed(signatures.integrals));
    quote! {
        const ZERO_TARGETS: [::core::primitive::bool; #m] = [#(#zero_targets),*];
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
    let m = Literal::usize_unsuffixed(signatures.integrals);
    quote! {
        const ZERO_TARGETS: [::core::primitive::bool; #m] = [false; #m];
        fn normalisation(&self) -> [[T; 3]; #m] #body
        #(#functions #body)*
    }
}

/// The attribute of a function.
pub(super) fn inlining(function: &Function, program: &Program) -> Option<TokenStream> {
    match program.instructions.len() {
        0..=INLINED if function.is_field => Some(quote!(#[inline(always)])),
        0..=COMPILED_ONCE => Some(quote!(#[inline])),
        _ => None,
    }
}

/// For each normalised integral, `true` if it is a constraint without a summand made of parameters.
fn zero_targets(compiled: &Compiled<'_>) -> Vec<bool> {
    let normalisation = &compiled.programs.normalisation;
    let offsets = normalisation.outputs.chunks(3).map(|row| &normalisation.instructions[row[2].index()]);
    let pairs = compiled.derivation.integrals.rows().zip(offsets);
    pairs.map(|(integral, offset)| integral.kind.is_constraint() && *offset == Instruction::constant(0.0)).collect()
}
