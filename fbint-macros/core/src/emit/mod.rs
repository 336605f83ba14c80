//! From programs and names to tokens. Cannot fail: whatever could go wrong was refused before.
//!
//! The generated code is a guest in the user's crate: absolute paths, no prelude, no name but the state's type.

mod body;
mod stub;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::derivation::{Conservation, Constraints, Derivation, Evidence, KineticEnergy};
use crate::elaborate::SymbolInfo;
use crate::program::{Instruction, OperationCount, Program, Programs};
use crate::syntax::{Declaration, Shape, Variable, plain};
use body::{Form, Scope, place};
pub use stub::stub;

/// An integral of the model, as users see it.
#[derive(Clone, Debug)]
pub struct Integral {
    /// `length`, `length_rate`, `energy`.
    pub name: String,
    /// What it is.
    pub kind: IntegralKind,
    /// How often it occurs in the declaration.
    pub weight: u32,
}

/// The runtime's `IntegralKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegralKind {
    /// Vanishes on the constraint set.
    Constraint,
    /// The Hamiltonian.
    Energy,
    /// A declared first integral.
    Invariant,
}

/// Everything that the generated items are made of.
#[derive(Debug)]
pub struct Compiled<'a> {
    /// The declaration.
    pub declaration: &'a Declaration,
    /// The entries of the state, then those of the parameters.
    pub symbols: &'a [SymbolInfo],
    /// The integrals, in the derivation's order.
    pub integrals: &'a [Integral],
    /// The names of the outputs.
    pub outputs: &'a [String],
    /// The mathematics.
    pub derivation: &'a Derivation,
    /// The functions.
    pub programs: &'a Programs,
    /// Where each integral is conserved.
    pub conservation: &'a [Conservation],
    /// The derivation in LaTeX.
    pub latex: &'a str,
    /// The derivation in plain text.
    pub equations: &'a str,
    /// What the documentation says of the integrals, in Markdown.
    pub summary: &'a str,
}

/// The struct, the state's type, the prepared model, and the implementations of the runtime's traits.
pub fn emit(compiled: &Compiled<'_>) -> TokenStream {
    let item = &compiled.declaration.item;
    let scope = Scope::new(
        &compiled.declaration.runtime,
        compiled.symbols,
        compiled.derivation.dimension,
        &compiled.programs.prepare,
    );
    let state = state_type(compiled.declaration);
    let prepare = prepare(compiled, &scope);
    let prepared = prepared(compiled, &scope);
    let source = source(compiled, &prepare, &prepared);
    let implementation = implementation(compiled, &scope, &prepare, &source);
    quote!(#item #state #prepared #implementation)
}

/// What computes, pretty-printed.
fn source(compiled: &Compiled<'_>, prepare: &TokenStream, prepared: &TokenStream) -> String {
    let (name, runtime) = (&compiled.declaration.item.ident, &compiled.declaration.runtime);
    let file = quote!(impl #runtime::FeedbackSystem for #name { #prepare } #prepared);
    match syn::parse2(file.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(_) => file.to_string(),
    }
}

impl Compiled<'_> {
    /// N and M as literals.
    fn sizes(&self) -> (Literal, Literal) {
        (Literal::usize_unsuffixed(self.derivation.dimension), Literal::usize_unsuffixed(self.integrals.len()))
    }
}

/// The function that computes what depends on parameters alone.
fn prepare(compiled: &Compiled<'_>, scope: &Scope<'_>) -> TokenStream {
    let prepared = prepared_name(&compiled.declaration.item.ident);
    let (statements, values) = scope.prepare(&compiled.programs.prepare);
    let fields = scope.prepared().iter().zip(values).map(|(field, value)| {
        let passed_on = *field == value.to_string();
        if passed_on { quote!(#field) } else { quote!(#field: #value) }
    });
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
fn prepared(compiled: &Compiled<'_>, scope: &Scope<'_>) -> TokenStream {
    let (runtime, visibility) = (&compiled.declaration.runtime, &compiled.declaration.item.vis);
    let name = prepared_name(&compiled.declaration.item.ident);
    let doc = format!(
        " [`{}`] with everything computed that depends on its parameters alone.",
        plain(&compiled.declaration.item.ident)
    );
    let fields = scope.prepared();
    let functions = functions(compiled, scope);
    let arguments = prepared_arguments(fields, &quote!(T));
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #visibility struct #name #arguments {
            #(#fields: T,)*
        }
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        impl<T: #runtime::Scalar> #runtime::PreparedSystem<T> for #name #arguments {
            #functions
        }
    }
}

/// The argument of the prepared model's type; there is none where it holds no number, since a parameter must be used.
fn prepared_arguments(fields: &[Ident], number: &TokenStream) -> Option<TokenStream> {
    (!fields.is_empty()).then(|| quote!(<#number>))
}

/// The function that brings prepared models together, one for each lane.
fn gathered(compiled: &Compiled<'_>, scope: &Scope<'_>) -> TokenStream {
    let runtime = &compiled.declaration.runtime;
    let prepared = prepared_name(&compiled.declaration.item.ident);
    let fields = scope.prepared();
    let member = if fields.is_empty() { quote!(_member) } else { quote!(member) };
    quote! {
        #[inline(always)]
        fn gather<'a, T: #runtime::Scalar>(
            #member: impl ::core::ops::Fn(::core::primitive::usize) -> &'a Self::Prepared<::core::primitive::f64>,
        ) -> Self::Prepared<T> {
            #prepared { #(#fields: T::from_lanes(|lane| member(lane).#fields)),* }
        }
    }
}

fn implementation(compiled: &Compiled<'_>, scope: &Scope<'_>, prepare: &TokenStream, source: &str) -> TokenStream {
    let gathered = gathered(compiled, scope);
    let (name, runtime) = (&compiled.declaration.item.ident, &compiled.declaration.runtime);
    let (state, prepared) = (state_name(name), prepared_name(name));
    let arguments = prepared_arguments(scope.prepared(), &quote!(T));
    let (n, m) = compiled.sizes();
    let number_of_outputs = Literal::usize_unsuffixed(compiled.outputs.len());
    let (states, parameters) = compiled.symbols.split_at(compiled.derivation.dimension);
    let text_name = plain(name);
    let states = state_entries(compiled, states);
    let parameter_names = parameters.iter().map(|symbol| &symbol.name);
    let output_names = compiled.outputs;
    let kinetic_energy = match compiled.derivation.kinetic_energy {
        KineticEnergy::General => quote!(#runtime::KineticEnergy::General),
        KineticEnergy::Separable => quote!(#runtime::KineticEnergy::Separable),
        KineticEnergy::Quadratic => quote!(#runtime::KineticEnergy::Quadratic),
    };
    let integrals = integrals(compiled);
    let field_operations = operations(runtime, &compiled.programs.vector_field.operations());
    let feedback_operations = operations(runtime, &compiled.programs.feedback_field.operations());
    let (latex, equations, summary) = (compiled.latex, compiled.equations, compiled.summary);
    let indices = || (0..parameters.len()).map(Literal::usize_unsuffixed);
    let (read_indices, write_indices) = (indices(), indices());
    let places: Vec<TokenStream> = parameters.iter().map(place).collect();
    quote! {
        #[doc = #summary]
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        impl #runtime::FeedbackSystem for #name {
            type Vector<T: #runtime::Entry> = [T; #n];
            type Integrals<T: #runtime::Entry> = [T; #m];
            type Outputs<T: #runtime::Entry> = [T; #number_of_outputs];
            type State = #state;
            type Prepared<T: #runtime::Scalar> = #prepared #arguments;
            const NAME: &'static ::core::primitive::str = #text_name;
            const STATE: &'static [#runtime::StateEntry] = &[#(#states),*];
            const INTEGRALS: &'static [#runtime::Integral] = &[#(#integrals),*];
            const PARAMETER_NAMES: &'static [&'static ::core::primitive::str] = &[#(#parameter_names),*];
            const OUTPUT_NAMES: &'static [&'static ::core::primitive::str] = &[#(#output_names),*];
            const KINETIC_ENERGY: #runtime::KineticEnergy = #kinetic_energy;
            const VECTOR_FIELD_OPERATIONS: #runtime::Operations = #field_operations;
            const FEEDBACK_FIELD_OPERATIONS: #runtime::Operations = #feedback_operations;
            const SOURCE: &'static ::core::primitive::str = #source;
            const DERIVATION: &'static ::core::primitive::str = #latex;
            const EQUATIONS: &'static ::core::primitive::str = #equations;
            #[inline]
            fn parameter(&self, index: ::core::primitive::usize) -> ::core::option::Option<::core::primitive::f64> {
                match index {
                    #(#read_indices => ::core::option::Option::Some(self.#places),)*
                    _ => ::core::option::Option::None,
                }
            }
            #[inline]
            fn parameter_mut(
                &mut self,
                index: ::core::primitive::usize,
            ) -> ::core::option::Option<&mut ::core::primitive::f64> {
                match index {
                    #(#write_indices => ::core::option::Option::Some(&mut self.#places),)*
                    _ => ::core::option::Option::None,
                }
            }
            #prepare
            #gathered
        }
    }
}

/// What the entries of the state are.
fn state_entries(compiled: &Compiled<'_>, states: &[SymbolInfo]) -> Vec<TokenStream> {
    let runtime = &compiled.declaration.runtime;
    let half = states.len() / 2;
    let role = |index: usize| {
        let partner = Literal::usize_unsuffixed(if index < half { index + half } else { index - half });
        match (compiled.declaration.canonical, index < half) {
            (true, true) => quote!(#runtime::StateRole::Coordinate { momentum: #partner }),
            (true, false) => quote!(#runtime::StateRole::Momentum { coordinate: #partner }),
            (false, _) => quote!(#runtime::StateRole::Variable),
        }
    };
    let entry = |(index, symbol): (usize, &SymbolInfo)| {
        let (name, role) = (&symbol.name, role(index));
        quote!(#runtime::StateEntry { name: #name, role: #role })
    };
    states.iter().enumerate().map(entry).collect()
}

/// What the integrals are.
fn integrals(compiled: &Compiled<'_>) -> Vec<TokenStream> {
    let runtime = &compiled.declaration.runtime;
    let holonomic = compiled.derivation.constraints().map_or(0, Constraints::holonomic);
    let kind = |index: usize, kind: IntegralKind| match kind {
        IntegralKind::Constraint if index < holonomic => {
            let rate = Literal::usize_unsuffixed(index + holonomic);
            quote!(#runtime::IntegralKind::HolonomicConstraint { rate: #rate })
        }
        IntegralKind::Constraint if index < 2 * holonomic => {
            let constraint = Literal::usize_unsuffixed(index - holonomic);
            quote!(#runtime::IntegralKind::ConstraintRate { constraint: #constraint })
        }
        IntegralKind::Constraint => quote!(#runtime::IntegralKind::Constraint),
        IntegralKind::Energy => quote!(#runtime::IntegralKind::Energy),
        IntegralKind::Invariant => quote!(#runtime::IntegralKind::Invariant),
    };
    let integral = |(index, (integral, grade)): (usize, (&Integral, &Conservation))| {
        let (name, kind) = (&integral.name, kind(index, integral.kind));
        let weight = Literal::f64_unsuffixed(f64::from(integral.weight));
        let conservation = conservation(runtime, *grade);
        quote!(#runtime::Integral { name: #name, kind: #kind, weight: #weight, conservation: #conservation })
    };
    compiled.integrals.iter().zip(compiled.conservation).enumerate().map(integral).collect()
}

fn conservation(runtime: &syn::Path, grade: Conservation) -> TokenStream {
    let evidence = |evidence| match evidence {
        Evidence::Construction => quote!(#runtime::Evidence::Construction),
        Evidence::Algebra => quote!(#runtime::Evidence::Algebra),
        Evidence::Samples(count) => {
            let count = Literal::u32_unsuffixed(count);
            quote!(#runtime::Evidence::Samples(#count))
        }
    };
    match grade {
        Conservation::Everywhere(how) => {
            let how = evidence(how);
            quote!(#runtime::Conservation::Everywhere(#how))
        }
        Conservation::OnConstraints(how) => {
            let how = evidence(how);
            quote!(#runtime::Conservation::OnConstraints(#how))
        }
        Conservation::Undecided => quote!(#runtime::Conservation::Undecided),
    }
}

fn operations(runtime: &syn::Path, count: &OperationCount) -> TokenStream {
    let OperationCount { additions, multiplications, fused, divisions, functions } = *count;
    let [additions, multiplications, fused, divisions, functions] =
        [additions, multiplications, fused, divisions, functions].map(Literal::u32_unsuffixed);
    quote! {
        #runtime::Operations {
            additions: #additions,
            multiplications: #multiplications,
            fused: #fused,
            divisions: #divisions,
            functions: #functions,
        }
    }
}

/// Maximum number of operations of a field that is inlined wherever a method evaluates it. A call costs more than it looks: its result
/// goes through memory, where the next stage waits for it.
const INLINED: usize = 256;

/// Functions of more operations are compiled once in a crate, and not once in every part of it that calls them, which takes
/// minutes with a few methods and kinds of gains.
const COMPILED_ONCE: usize = 2048;

/// The functions of the prepared model.
fn functions(compiled: &Compiled<'_>, scope: &Scope<'_>) -> TokenStream {
    let runtime = &compiled.declaration.runtime;
    let dimension = compiled.derivation.dimension;
    let programs = compiled.programs;
    let vector_field = scope.vector(&programs.vector_field, Form::Declared);
    let integrals = scope.vector(&programs.integrals, Form::Declared);
    let jacobian = scope.matrix(&programs.jacobian, dimension);
    let multipliers = scope.vector(&programs.multipliers, Form::Declared);
    let outputs = scope.vector(&programs.outputs, Form::Declared);
    let number_of_outputs = Literal::usize_unsuffixed(compiled.outputs.len());
    let potential_gradient = scope.vector(&programs.potential_gradient, Form::Normalised);
    let feedback_field = scope.vector(&programs.feedback_field, Form::Normalised);
    let projection = scope.vector(&programs.correction, Form::Declared);
    let squared_gradients = scope.vector(&programs.squared_gradients, Form::Declared);
    let (n, m) = compiled.sizes();
    let system = system_path(&compiled.declaration.item.ident);
    let law = quote!(L: #runtime::FeedbackLaw<#system, T>);
    let normalisation = scope.normalisation(&programs.normalisation);
    let zero_targets = zero_targets(compiled);
    let inline_vector_field = inlining_of_field(&programs.vector_field);
    let inline_feedback_field = inlining_of_field(&programs.feedback_field);
    let inline_projection = inlining_of_field(&programs.correction);
    let [inline_integrals, inline_jacobian, inline_multipliers, inline_gradient, inline_squares] = [
        &programs.integrals,
        &programs.jacobian,
        &programs.multipliers,
        &programs.potential_gradient,
        &programs.squared_gradients,
    ]
    .map(inlining);
    quote! {
        type System = #system;
        #inline_vector_field
        fn vector_field(&self, x: &[T; #n]) -> [T; #n] {
            #vector_field
        }
        #inline_integrals
        fn integrals(&self, x: &[T; #n]) -> [T; #m] {
            #integrals
        }
        #inline_jacobian
        fn integrals_jacobian(&self, x: &[T; #n]) -> [[T; #n]; #m] {
            #jacobian
        }
        #inline_multipliers
        fn multipliers(&self, x: &[T; #n]) -> [T; #m] {
            #multipliers
        }
        #[inline]
        fn outputs(&self, x: &[T; #n]) -> [T; #number_of_outputs] {
            #outputs
        }
        const ZERO_TARGETS: [::core::primitive::bool; #m] = [#(#zero_targets),*];
        #[inline]
        fn normalisation(&self) -> [[T; 3]; #m] {
            #normalisation
        }
        #inline_gradient
        fn potential_gradient<#law>(&self, x: &[T; #n], law: &L) -> [T; #n] {
            #potential_gradient
        }
        #inline_feedback_field
        fn feedback_field<#law>(&self, x: &[T; #n], law: &L) -> [T; #n] {
            #feedback_field
        }
        #inline_projection
        fn projection<#law>(&self, x: &[T; #n], variances: &[T; #n], noise: &[T; #m], law: &L) -> [T; #n] {
            #projection
        }
        #inline_squares
        fn squared_gradients(&self, x: &[T; #n]) -> [T; #m] {
            #squared_gradients
        }
    }
}

/// The attribute of a function that a method evaluates in each stage.
fn inlining_of_field(program: &Program) -> TokenStream {
    if program.instructions.len() <= INLINED {
        quote!(#[inline(always)])
    } else {
        inlining(program).unwrap_or_default()
    }
}

fn inlining(program: &Program) -> Option<TokenStream> {
    (program.instructions.len() <= COMPILED_ONCE).then(|| quote!(#[inline]))
}

/// Which normalised integrals are constraints without a summand made of parameters.
fn zero_targets(compiled: &Compiled<'_>) -> Vec<bool> {
    let normalisation = &compiled.programs.normalisation;
    let offsets = normalisation.outputs.chunks(3).map(|row| normalisation.instructions[row[2].index()]);
    let pairs = compiled.integrals.iter().zip(offsets);
    pairs
        .map(|(integral, offset)| integral.kind == IntegralKind::Constraint && offset == Instruction::constant(0.0))
        .collect()
}

fn indexed(letter: &str, dimension: usize) -> Vec<Ident> {
    (0..dimension).map(|index| format_ident!("{letter}_{index}", span = proc_macro2::Span::mixed_site())).collect()
}

/// The model where `T` and `L` are generic parameters: a model of such a name is found through its module.
fn system_path(model: &Ident) -> TokenStream {
    if model == "T" || model == "L" { quote!(self::#model) } else { quote!(#model) }
}

fn prepared_name(model: &Ident) -> Ident {
    format_ident!("{}Prepared", plain(model), span = model.span())
}

fn state_name(model: &Ident) -> Ident {
    format_ident!("{}State", plain(model), span = model.span())
}

/// The state with its declared names and shapes, and its conversions from and to the flat vector.
///
/// ```text
/// pub struct PendulumState { pub q: SVector<f64, 2>, pub p: SVector<f64, 2> }
/// impl From<[f64; 4]> for PendulumState { .. }
/// impl From<PendulumState> for [f64; 4] { .. }
/// ```
fn state_type(declaration: &Declaration) -> TokenStream {
    let (runtime, visibility, model) = (&declaration.runtime, &declaration.item.vis, &declaration.item.ident);
    let state = state_name(model);
    let variables: Vec<&Variable> = declaration.state_variables().collect();
    let names: Vec<&Ident> = variables.iter().map(|variable| &variable.name).collect();
    let dimension: usize = variables.iter().map(|variable| variable.shape.entries()).sum();
    let n = Literal::usize_unsuffixed(dimension);
    let types = variables.iter().map(|variable| state_field_type(runtime, variable.shape));
    let field_docs = variables.iter().enumerate().map(|(index, variable)| {
        let kind = match (declaration.canonical, index < declaration.coordinates.len()) {
            (true, true) => "coordinate",
            (true, false) => "momentum",
            (false, _) => "variable",
        };
        format!(" The {kind} `{}`, {}.", plain(&variable.name), variable.shape)
    });
    let entries: Vec<Ident> = indexed("x", dimension);
    let mut remaining = entries.iter();
    let gathered: Vec<TokenStream> =
        variables.iter().map(|variable| gather(runtime, variable.shape, &mut remaining)).collect();
    let mut offset = 0;
    let scattered: Vec<TokenStream> = variables
        .iter()
        .map(|variable| {
            let pattern = scatter(runtime, variable.shape, &entries[offset..offset + variable.shape.entries()]);
            offset += variable.shape.entries();
            pattern
        })
        .collect();
    let flat = quote!([::core::primitive::f64; #n]);
    let doc = format!(" A state of [`{}`].", plain(model));
    // Only where a name needs it, for users who forbid the lint.
    let in_order = |name: &&Ident| !plain(name).contains("__") && !plain(name).contains(char::is_uppercase);
    let allow = (!names.iter().all(in_order)).then(|| quote!(#[allow(non_snake_case)]));
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq)]
        #allow
        #visibility struct #state {
            #(#[doc = #field_docs] #visibility #names: #types,)*
        }
        #[automatically_derived]
        impl ::core::convert::From<#flat> for #state {
            #[inline]
            fn from(x: #flat) -> Self {
                let [#(#entries),*] = x;
                Self { #(#names: #gathered),* }
            }
        }
        #[automatically_derived]
        impl ::core::convert::From<#state> for #flat {
            #[inline]
            fn from(state: #state) -> Self {
                let #state { #(#names: #scattered),* } = state;
                [#(#entries),*]
            }
        }
    }
}

fn state_field_type(runtime: &syn::Path, shape: Shape) -> TokenStream {
    match shape {
        Shape::Scalar => quote!(::core::primitive::f64),
        Shape::Vector(length) => {
            let length = Literal::usize_unsuffixed(length);
            quote!(#runtime::nalgebra::SVector<::core::primitive::f64, #length>)
        }
        Shape::Matrix { rows, columns } => {
            let (rows, columns) = (Literal::usize_unsuffixed(rows), Literal::usize_unsuffixed(columns));
            quote!(#runtime::nalgebra::SMatrix<::core::primitive::f64, #rows, #columns>)
        }
    }
}

/// The next entries of the flat state as one variable.
fn gather<'a>(runtime: &syn::Path, shape: Shape, entries: &mut impl Iterator<Item = &'a Ident>) -> TokenStream {
    let (rows, columns) = shape.extent();
    let columns: Vec<TokenStream> = (0..columns)
        .map(|_| {
            let column: Vec<&Ident> = entries.by_ref().take(rows).collect();
            quote!([#(#column),*])
        })
        .collect();
    match shape {
        Shape::Scalar => quote!({ let [entry] = #(#columns)*; entry }),
        _ => quote! {
            #runtime::nalgebra::Matrix::from_array_storage(#runtime::nalgebra::ArrayStorage([#(#columns),*]))
        },
    }
}

/// A pattern that binds the entries of one variable.
fn scatter(runtime: &syn::Path, shape: Shape, entries: &[Ident]) -> TokenStream {
    let (rows, _) = shape.extent();
    match shape {
        Shape::Scalar => {
            let entry = &entries[0];
            quote!(#entry)
        }
        _ => {
            let columns = entries.chunks(rows).map(|column| quote!([#(#column),*]));
            quote! {
                #runtime::nalgebra::Matrix { data: #runtime::nalgebra::ArrayStorage([#(#columns),*]), .. }
            }
        }
    }
}
