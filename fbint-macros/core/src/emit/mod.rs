//! From programs and names to tokens. Cannot fail: whatever could go wrong was refused before.
//!
//! The generated code is a guest in the user's crate: absolute paths, no prelude, no name but the state's type.

mod body;
mod stub;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::derivation::{Conservation, Derivation, Evidence, IntegralId, Kind, KineticEnergy};
use crate::elaborate::Place;
use crate::expression::Symbol;
use crate::program::{self, Form, Instruction, OperationCount, Pass, Program, Programs};
use crate::syntax::{Declaration, Shape, Variable, plain};
use crate::table::Table;
use body::{Scope, place};
pub use stub::stub;

/// Everything that the generated items are made of.
#[derive(Debug)]
pub struct Compiled<'a> {
    /// The declaration.
    pub declaration: &'a Declaration,
    /// Where the entries of the state and of the parameters stand in the declaration.
    pub places: &'a Table<Symbol, Place>,
    /// The mathematics.
    pub derivation: &'a Derivation,
    /// The functions.
    pub programs: &'a Programs,
    /// What each pass made of the feedback field.
    pub passes: &'a [Pass],
    /// Where each integral is conserved.
    pub conservation: &'a Table<IntegralId, Conservation>,
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
    let scope = Scope::new(&compiled.declaration.runtime, compiled.places, &compiled.programs.prepare);
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
    let (n, m) = compiled.sizes();
    let file = quote!(impl #runtime::FeedbackSystem<#n, #m> for #name { #prepare } #prepared);
    match syn::parse2(file.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(_) => file.to_string(),
    }
}

impl Compiled<'_> {
    /// N and M as literals.
    fn sizes(&self) -> (Literal, Literal) {
        (
            Literal::usize_unsuffixed(self.derivation.dimension()),
            Literal::usize_unsuffixed(self.derivation.integrals.len()),
        )
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
        fn prepare(&self) -> Self::Prepared {
            #statements
            #prepared { #(#fields),* }
        }
    }
}

/// The prepared model: numbers that depend on parameters alone, and the functions that read them. They are of a type `C`, which
/// is `f64` but where lanes have parameters of their own.
///
/// ```text
/// pub struct PendulumPrepared<C = f64> { m: C, c_0: C }
/// impl<C: Constant> PreparedSystem<4, 3> for PendulumPrepared<C> { .. }
/// ```
fn prepared(compiled: &Compiled<'_>, scope: &Scope<'_>) -> TokenStream {
    let (runtime, visibility) = (&compiled.declaration.runtime, &compiled.declaration.item.vis);
    let name = prepared_name(&compiled.declaration.item.ident);
    let doc = format!(
        " [`{}`] with all that depends on its parameters alone computed.",
        plain(&compiled.declaration.item.ident)
    );
    let fields = scope.prepared();
    let (n, m) = compiled.sizes();
    let functions = functions(compiled, scope);
    let (declared, bound, given) = match fields {
        // A parameter of a type must be used.
        [] => (quote!(), quote!(), quote!()),
        _ => (quote!(<C = ::core::primitive::f64>), quote!(<C: #runtime::Constant>), quote!(<C>)),
    };
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #name #declared {
            #(#fields: C,)*
        }
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        impl #bound #runtime::PreparedSystem<#n, #m> for #name #given {
            #functions
        }
    }
}

/// The function that brings prepared models together, one for each lane.
fn gathered(compiled: &Compiled<'_>, scope: &Scope<'_>) -> TokenStream {
    let runtime = &compiled.declaration.runtime;
    let prepared = prepared_name(&compiled.declaration.item.ident);
    let fields = scope.prepared();
    let (given, member) = match fields {
        [] => (quote!(), quote!(_member)),
        _ => (quote!(<C>), quote!(member)),
    };
    quote! {
        type Gathered<C: #runtime::Constant> = #prepared #given;
        fn gather<'a, C: #runtime::Constant>(
            #member: impl ::core::ops::Fn(::core::primitive::usize) -> &'a Self::Prepared,
        ) -> Self::Gathered<C>
        where
            Self::Prepared: 'a,
        {
            #prepared { #(#fields: C::gather(|lane| member(lane).#fields)),* }
        }
    }
}

fn implementation(compiled: &Compiled<'_>, scope: &Scope<'_>, prepare: &TokenStream, source: &str) -> TokenStream {
    let gathered = gathered(compiled, scope);
    let (name, runtime) = (&compiled.declaration.item.ident, &compiled.declaration.runtime);
    let (state, prepared) = (state_name(name), prepared_name(name));
    let (n, m) = compiled.sizes();
    let Derivation { symbols, integrals, outputs, .. } = compiled.derivation;
    let text_name = plain(name);
    let state_names = symbols.states().map(|symbol| &symbols[symbol].name);
    let parameter_names = symbols.parameters().map(|symbol| &symbols[symbol].name);
    let output_names = outputs.iter().map(|output| &output.name);
    let holonomic = integrals.rows().filter(|integral| matches!(integral.kind, Kind::Holonomic { .. })).count();
    let holonomic = Literal::usize_unsuffixed(holonomic);
    let kinetic_energy = match compiled.derivation.kinetic_energy {
        KineticEnergy::General => quote!(#runtime::KineticEnergy::General),
        KineticEnergy::Separable => quote!(#runtime::KineticEnergy::Separable),
        KineticEnergy::Quadratic => quote!(#runtime::KineticEnergy::Quadratic),
    };
    let integral_names = integrals.rows().map(|integral| &integral.name);
    let kinds = integrals.rows().map(|integral| match integral.kind {
        Kind::Holonomic { .. } | Kind::Rate { .. } | Kind::Phase | Kind::InvariantSet => {
            quote!(#runtime::IntegralKind::Constraint)
        }
        Kind::Energy => quote!(#runtime::IntegralKind::Energy),
        Kind::Invariant => quote!(#runtime::IntegralKind::Invariant),
    });
    let conservation = compiled.conservation.rows().map(|grade| conservation(runtime, *grade));
    let weights = integrals.rows().map(|integral| Literal::f64_unsuffixed(f64::from(integral.weight)));
    let field_operations = operations(runtime, &compiled.programs[&program::VECTOR_FIELD].operations());
    let feedback_operations = operations(runtime, &compiled.programs[&program::FEEDBACK_FIELD].operations());
    let passes = compiled.passes.iter().map(|pass| pass_costs(runtime, pass));
    let (latex, equations, summary) = (compiled.latex, compiled.equations, compiled.summary);
    let places: Vec<TokenStream> = symbols.parameters().map(|symbol| place(&compiled.places[symbol])).collect();
    let indices = || (0..places.len()).map(Literal::usize_unsuffixed);
    let (read_indices, write_indices) = (indices(), indices());
    quote! {
        #[doc = #summary]
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        impl #runtime::FeedbackSystem<#n, #m> for #name {
            type State = #state;
            type Prepared = #prepared;
            const NAME: &'static ::core::primitive::str = #text_name;
            const STATE_NAMES: [&'static ::core::primitive::str; #n] = [#(#state_names),*];
            const INTEGRAL_NAMES: [&'static ::core::primitive::str; #m] = [#(#integral_names),*];
            const INTEGRAL_KINDS: [#runtime::IntegralKind; #m] = [#(#kinds),*];
            const INTEGRAL_WEIGHTS: [::core::primitive::f64; #m] = [#(#weights),*];
            const CONSERVATION: [#runtime::Conservation; #m] = [#(#conservation),*];
            const PARAMETER_NAMES: &'static [&'static ::core::primitive::str] = &[#(#parameter_names),*];
            const OUTPUT_NAMES: &'static [&'static ::core::primitive::str] = &[#(#output_names),*];
            const HOLONOMIC_CONSTRAINTS: ::core::primitive::usize = #holonomic;
            const KINETIC_ENERGY: #runtime::KineticEnergy = #kinetic_energy;
            const VECTOR_FIELD_OPERATIONS: #runtime::Operations = #field_operations;
            const FEEDBACK_FIELD_OPERATIONS: #runtime::Operations = #feedback_operations;
            const PASSES: &'static [#runtime::Pass] = &[#(#passes),*];
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

fn pass_costs(runtime: &syn::Path, pass: &Pass) -> TokenStream {
    let (name, operations) = (pass.name, operations(runtime, &pass.operations));
    let [square_roots, calls, instructions, live_values] =
        [pass.square_roots, pass.calls, pass.instructions, pass.live_values].map(Literal::u32_unsuffixed);
    quote! {
        #runtime::Pass {
            name: #name,
            operations: #operations,
            square_roots: #square_roots,
            calls: #calls,
            instructions: #instructions,
            live_values: #live_values,
        }
    }
}

/// Fields of up to so many operations are inlined wherever a method evaluates them. A call costs more than it looks: its result
/// goes through memory, where the next stage waits for it.
const INLINED: usize = 256;

/// Functions of more operations are compiled once in a crate, and not once in every part of it that calls them, which takes
/// minutes with a few methods and kinds of gains.
const COMPILED_ONCE: usize = 2048;

/// The functions of the prepared model.
fn functions(compiled: &Compiled<'_>, scope: &Scope<'_>) -> TokenStream {
    let runtime = &compiled.declaration.runtime;
    let dimension = compiled.derivation.dimension();
    let programs = compiled.programs;
    let vector_field = scope.vector(&programs[&program::VECTOR_FIELD], Form::Declared);
    let integrals = scope.vector(&programs[&program::INTEGRALS], Form::Declared);
    let jacobian = scope.matrix(&programs[&program::JACOBIAN], dimension);
    let multipliers = scope.vector(&programs[&program::MULTIPLIERS], Form::Declared);
    let outputs = scope.array(&programs[&program::OUTPUTS]);
    let number_of_outputs = Literal::usize_unsuffixed(compiled.derivation.outputs.len());
    let potential_gradient = scope.vector(&programs[&program::POTENTIAL_GRADIENT], Form::Normalised);
    let feedback_field = scope.vector(&programs[&program::FEEDBACK_FIELD], Form::Normalised);
    let correction = scope.vector(&programs[&program::PROJECTION], Form::Declared);
    let squared_gradients = scope.vector(&programs[&program::SQUARED_GRADIENTS], Form::Declared);
    let (n, m) = compiled.sizes();
    let vector = quote!(#runtime::nalgebra::SVector<T, #n>);
    let this = quote!(<Self as #runtime::PreparedSystem<#n, #m>>);
    let law = quote!(G: #runtime::FeedbackLaw<T, #n, #m>);
    let normalisation = scope.normalisation(&programs.normalisation);
    let zero_targets = zero_targets(compiled);
    let with_metric = field_with_metric(runtime, &this, dimension);
    let euler_step = euler_step(&this, dimension);
    let rk4_step = rk4_step(runtime, &this, dimension);
    let inline_vector_field = inlining_of_field(&programs[&program::VECTOR_FIELD]);
    let inline_feedback_field = inlining_of_field(&programs[&program::FEEDBACK_FIELD]);
    let inline_correction = inlining_of_field(&programs[&program::PROJECTION]);
    let inline_step = inlining(&programs[&program::FEEDBACK_FIELD]);
    let [inline_integrals, inline_jacobian, inline_multipliers, inline_gradient, inline_squares] = [
        &programs[&program::INTEGRALS],
        &programs[&program::JACOBIAN],
        &programs[&program::MULTIPLIERS],
        &programs[&program::POTENTIAL_GRADIENT],
        &programs[&program::SQUARED_GRADIENTS],
    ]
    .map(inlining);
    quote! {
        #inline_vector_field
        fn vector_field<T: #runtime::Scalar>(&self, x: &#vector) -> #vector {
            #vector_field
        }
        #inline_integrals
        fn integrals<T: #runtime::Scalar>(&self, x: &#vector) -> #runtime::nalgebra::SVector<T, #m> {
            #integrals
        }
        #inline_jacobian
        fn integrals_jacobian<T: #runtime::Scalar>(&self, x: &#vector) -> #runtime::nalgebra::SMatrix<T, #m, #n> {
            #jacobian
        }
        #inline_multipliers
        fn multipliers<T: #runtime::Scalar>(&self, x: &#vector) -> #runtime::nalgebra::SVector<T, #m> {
            #multipliers
        }
        type Outputs<T: #runtime::Scalar> = [T; #number_of_outputs];
        #[inline]
        fn outputs<T: #runtime::Scalar>(&self, x: &#vector) -> Self::Outputs<T> {
            #outputs
        }
        const ZERO_TARGETS: [::core::primitive::bool; #m] = [#(#zero_targets),*];
        #[inline]
        fn normalisation<T: #runtime::Scalar>(&self) -> [[T; 3]; #m] {
            #normalisation
        }
        #inline_gradient
        fn potential_gradient<T: #runtime::Scalar, #law>(&self, x: &#vector, law: &G) -> #vector {
            #potential_gradient
        }
        #inline_feedback_field
        fn feedback_field<T: #runtime::Scalar, #law>(&self, x: &#vector, law: &G) -> #vector {
            if G::HAS_METRIC {
                #with_metric
            }
            #feedback_field
        }
        #inline_correction
        fn correction<T: #runtime::Scalar, #law>(
            &self,
            x: &#vector,
            variances: &#vector,
            noise: &#runtime::nalgebra::SVector<T, #m>,
            law: &G,
        ) -> #vector {
            #correction
        }
        #inline_squares
        fn squared_gradients<T: #runtime::Scalar>(&self, x: &#vector) -> #runtime::nalgebra::SVector<T, #m> {
            #squared_gradients
        }
        #inline_step
        fn euler_step<T: #runtime::Scalar, #law>(&self, x: &mut #vector, h: T, law: &G) {
            #euler_step
        }
        #inline_step
        fn rk4_step<T: #runtime::Scalar, #law>(&self, x: &mut #vector, h: T, law: &G) {
            #rk4_step
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
    let offsets = normalisation.outputs.chunks(3).map(|row| &normalisation.instructions[row[2].index()]);
    let pairs = compiled.derivation.integrals.rows().zip(offsets);
    pairs.map(|(integral, offset)| integral.kind.is_constraint() && *offset == Instruction::constant(0.0)).collect()
}

/// X - L grad V, from the two of them; where L is the identity they are one program, with sums that cross.
fn field_with_metric(runtime: &syn::Path, this: &TokenStream, dimension: usize) -> TokenStream {
    let (f, v) = (indexed("f", dimension), indexed("v", dimension));
    quote! {
        let [[#(#f),*]] = #this::vector_field(self, x).data.0;
        let [gradient] = #this::potential_gradient(self, x, law).data.0;
        let [#(#v),*] = law.precondition(gradient);
        return #runtime::nalgebra::Matrix::from_array_storage(#runtime::nalgebra::ArrayStorage([[#(#f - #v),*]]));
    }
}

fn indexed(letter: &str, dimension: usize) -> Vec<Ident> {
    (0..dimension).map(|index| format_ident!("{letter}_{index}", span = proc_macro2::Span::mixed_site())).collect()
}

/// x + h f(x)
fn euler_step(this: &TokenStream, dimension: usize) -> TokenStream {
    let (x, k) = (indexed("x", dimension), indexed("k", dimension));
    quote! {
        let [[#(#k),*]] = #this::feedback_field(self, x, law).data.0;
        let [[#(#x),*]] = x.data.0;
        x.data.0 = [[#(h.mul_add(#k, #x)),*]];
    }
}

/// x + h/6 (k1 + 2 k2 + 2 k3 + k4)
fn rk4_step(runtime: &syn::Path, this: &TokenStream, dimension: usize) -> TokenStream {
    let n = Literal::usize_unsuffixed(dimension);
    let x = indexed("x", dimension);
    let [k1, k2, k3, k4] = ["k1", "k2", "k3", "k4"].map(|letter| indexed(letter, dimension));
    quote! {
        let field = |x: [T; #n]| {
            let x = #runtime::nalgebra::Matrix::from_array_storage(#runtime::nalgebra::ArrayStorage([x]));
            #this::feedback_field(self, &x, law).data.0
        };
        let two = T::from_f64(2.0);
        let half = h / two;
        let sixth = h / T::from_f64(6.0);
        let [[#(#x),*]] = x.data.0;
        let [[#(#k1),*]] = field([#(#x),*]);
        let [[#(#k2),*]] = field([#(half.mul_add(#k1, #x)),*]);
        let [[#(#k3),*]] = field([#(half.mul_add(#k2, #x)),*]);
        let [[#(#k4),*]] = field([#(h.mul_add(#k3, #x)),*]);
        x.data.0 = [[#(sixth.mul_add(two.mul_add(#k2 + #k3, #k1 + #k4), #x)),*]];
    }
}

fn prepared_name(model: &Ident) -> Ident {
    format_ident!("{}Prepared", plain(model), span = model.span())
}

fn state_name(model: &Ident) -> Ident {
    format_ident!("{}State", plain(model), span = model.span())
}

/// The state with its declared names and shapes, and the way to the flat vector and back.
///
/// ```text
/// pub struct PendulumState { pub q: SVector<f64, 2>, pub p: SVector<f64, 2> }
/// impl From<SVector<f64, 4>> for PendulumState { .. }
/// impl From<PendulumState> for SVector<f64, 4> { .. }
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
    let flat = quote!(#runtime::nalgebra::SVector<::core::primitive::f64, #n>);
    let doc = format!(" A state of [`{}`].", plain(model));
    // Where every name is in order, whoever forbids the lint has nothing to object to.
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
                let [[#(#entries),*]] = x.data.0;
                Self { #(#names: #gathered),* }
            }
        }
        #[automatically_derived]
        impl ::core::convert::From<#state> for #flat {
            #[inline]
            fn from(state: #state) -> Self {
                let #state { #(#names: #scattered),* } = state;
                #runtime::nalgebra::Matrix::from_array_storage(#runtime::nalgebra::ArrayStorage([[#(#entries),*]]))
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
