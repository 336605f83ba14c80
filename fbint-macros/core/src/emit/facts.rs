//! A model's description.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaNameValue};

use super::body::Writer;
use super::hamel;
use super::{CompiledModel, GeneratedFunctions, local, numbers};
use crate::derivation::table::Id;
use crate::derivation::{Conservation, Derivation, EntryOf, Findings, Group, IntegralId, Kind, Role, groups};
use crate::elaborate::{DrawnShape, Event};
use crate::expression::Symbol;
use crate::notation;
use crate::program::{FEEDBACK_FIELD, OperationCount, Trait, VECTOR_FIELD};
use crate::syntax::{Crossing, peel, plain};

/// The first paragraph of an item's documentation, in one line.
pub fn first_paragraph(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(documentation).collect::<Vec<_>>().join("\n");
    let lines = lines.lines().map(str::trim).skip_while(|line| line.is_empty());
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text of `#[doc = ".."]`. A literal that a macro was given stands in a group.
fn documentation(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(MetaNameValue { path, value, .. }) = &attribute.meta else { return None };
    match peel(value) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// The implementation of `GeneratedSystem`, with the code of what computes.
///
/// ```text
/// impl GeneratedSystem for Pendulum {
///     const FACTS: SystemFacts = {
///         let __state: &'static [StateEntry] = &[
///             StateEntry { name: "q", variable: 0, role: StateRole::Coordinate { momentum: 1 } }, ..
///         ];
///         SystemFacts { name: "Pendulum", .. }
///     };
/// }
/// ```
pub(super) fn generated_system(writer: &Writer<'_>, functions: &GeneratedFunctions) -> TokenStream {
    let runtime = writer.runtime;
    let facts = match writer.model {
        Some(model) => facts(writer, model, &functions.source(writer)),
        None => quote!(#runtime::SystemFacts::EMPTY),
    };
    let functions = hamel::constants(writer);
    let numbers = numbers(writer);
    let items = quote! {
        const FACTS: #runtime::SystemFacts = #facts;
        #(#functions)*
        #numbers
    };
    writer.implementation(&quote!(#runtime::GeneratedSystem), &items)
}

/// The facts of a model whose functions are these.
fn facts(writer: &Writer<'_>, model: &CompiledModel, source: &str) -> TokenStream {
    let Writer { declaration, runtime, name, .. } = writer;
    let CompiledModel { undeclared, doubts, programs, switches, .. } = model;
    let (equations, latex) = (writer.equations(model), notation::latex(&model.derivation, &model.findings));
    let (Derivation { symbols, outputs, .. }, Findings { kinetic_energy, .. }) = (&model.derivation, &model.findings);
    let (name, summary, state) = (plain(name), first_paragraph(&declaration.item.attrs), local("state"));
    let (states, integrals) = (states(runtime, model), integrals(runtime, model));
    let variables = declared(runtime, symbols.states().map(|symbol| &symbols[symbol].entry));
    let parameters = declared(runtime, symbols.parameters().map(|symbol| &symbols[symbol].entry));
    let inputs = declared(runtime, symbols.inputs().map(|symbol| &symbols[symbol].entry));
    let declared_outputs = declared(runtime, outputs.iter().map(|output| &output.entry));
    let declared_integrals = declared(runtime, model.derivation.integrals.rows().map(|integral| &integral.entry));
    let parameter_names = symbols.parameters().map(|symbol| &symbols[symbol].name);
    let output_names = outputs.iter().map(|output| &output.name);
    let input_names = symbols.inputs().map(|symbol| &symbols[symbol].name);
    let open_inputs = model.derivation.open_inputs();
    let open_inputs = open_inputs.map(|symbol| &symbols[symbol].name);
    let prepared_numbers = Literal::usize_unsuffixed(programs.prepare.outputs.len());
    // The runtime's variants have the same names.
    let kinetic_energy = format_ident!("{kinetic_energy:?}");
    let (has_hamel_steps, has_jacobian) = (writer.has(Trait::Hamel), declaration.derivatives);
    let (events, shapes) = (events(runtime, model), shapes(runtime, model));
    let law_delay = model.elaborated.sampling.as_ref().map(|sampling| Literal::usize_unsuffixed(sampling.delay));
    let law_delay = optional(law_delay);
    let [field_operations, feedback_operations] =
        [&VECTOR_FIELD, &FEEDBACK_FIELD].map(|function| operations(runtime, &programs[function].operations()));
    quote! {{
        let #state: &'static [#runtime::StateEntry] = &[#(#states),*];
        #runtime::SystemFacts {
            name: #name,
            summary: #summary,
            state: #state,
            variables: &[#(#variables),*],
            parameters: &[#(#parameters),*],
            inputs: &[#(#inputs),*],
            outputs: &[#(#declared_outputs),*],
            declared_integrals: &[#(#declared_integrals),*],
            clock: #runtime::StateEntry::clock(#state),
            integrals: &[#(#integrals),*],
            undeclared: &[#(#undeclared),*],
            doubts: &[#(#doubts),*],
            parameter_names: &[#(#parameter_names),*],
            output_names: &[#(#output_names),*],
            input_names: &[#(#input_names),*],
            open_inputs: &[#(#open_inputs),*],
            events: &[#(#events),*],
            switches: &[#(#switches),*],
            law_delay: #law_delay,
            shapes: &[#(#shapes),*],
            prepared_numbers: #prepared_numbers,
            kinetic_energy: #runtime::KineticEnergy::#kinetic_energy,
            has_hamel_steps: #has_hamel_steps,
            has_jacobian: #has_jacobian,
            vector_field_operations: #field_operations,
            feedback_field_operations: #feedback_operations,
            source: #source,
            derivation: #latex,
            equations: #equations,
        }
    }}
}

/// The declared names of a list of entries.
fn declared<'e>(runtime: &syn::Path, entries: impl Iterator<Item = &'e EntryOf>) -> Vec<TokenStream> {
    let group = |group: Group<'_>| {
        let (name, first) = (group.name, Literal::usize_unsuffixed(group.first));
        let indices = group.indices.into_iter().map(|index| {
            let numbers = index.iter().map(|number| {
                let (sign, size) = ((*number < 0).then(|| quote!(-)), Literal::u64_unsuffixed(number.unsigned_abs()));
                quote!(#sign #size)
            });
            quote!(&[#(#numbers),*])
        });
        quote!(#runtime::Declared { name: #name, first: #first, indices: &[#(#indices),*] })
    };
    groups(entries).into_iter().map(group).collect()
}

/// The kinds of the entries of the state.
fn states(runtime: &syn::Path, model: &CompiledModel) -> Vec<TokenStream> {
    let symbols = &model.derivation.symbols;
    let entry = |variable: usize, symbol: Symbol| {
        let variable = Literal::usize_unsuffixed(variable);
        let name = &symbols[symbol].name;
        let role = match symbols[symbol].role {
            Role::Coordinate { momentum } => {
                let momentum = Literal::usize_unsuffixed(momentum.place());
                quote!(Coordinate { momentum: #momentum })
            }
            Role::Momentum { coordinate } => {
                let coordinate = Literal::usize_unsuffixed(coordinate.place());
                quote!(Momentum { coordinate: #coordinate })
            }
            // The runtime's variants have the same names.
            role @ (Role::Position | Role::Velocity | Role::Time | Role::Work) => {
                format_ident!("{role:?}").into_token_stream()
            }
            _ => quote!(Variable),
        };
        quote!(#runtime::StateEntry { name: #name, variable: #variable, role: #runtime::StateRole::#role })
    };
    let variables = symbols.variables().into_iter().enumerate();
    variables
        .flat_map(|(variable, (_, entries))| entries.into_iter().map(move |symbol| entry(variable, symbol)))
        .collect()
}

/// The declared events.
fn events(runtime: &syn::Path, model: &CompiledModel) -> Vec<TokenStream> {
    let event = |event: &Event| {
        let Event { name, is_terminal, is_section, .. } = event;
        let direction = match event.direction {
            Some(Crossing::Rising) => quote!(Rising),
            Some(Crossing::Falling) => quote!(Falling),
            None => quote!(Any),
        };
        let [value, first, end] =
            [event.value, event.conditions.start, event.conditions.end].map(Literal::usize_unsuffixed);
        let (count, reset) = (event.count.map(Literal::u64_unsuffixed), event.reset.map(Literal::usize_unsuffixed));
        let (count, reset) = (optional(count), optional(reset));
        quote! {
            #runtime::DeclaredEvent {
                name: #name,
                direction: #runtime::CrossingDirection::#direction,
                is_terminal: #is_terminal,
                count: #count,
                is_section: #is_section,
                value: #value,
                conditions: [#first, #end],
                reset: #reset,
            }
        }
    };
    model.elaborated.scenery.events.iter().map(event).collect()
}

fn optional(number: Option<Literal>) -> TokenStream {
    match number {
        Some(number) => quote!(::core::option::Option::Some(#number)),
        None => quote!(::core::option::Option::None),
    }
}

/// The shapes of the declared drawing.
fn shapes(runtime: &syn::Path, model: &CompiledModel) -> Vec<TokenStream> {
    let shape = |shape: &DrawnShape| {
        // The runtime's variants have the same names.
        let (kind, arguments) = (shape.kind, &shape.arguments);
        let kind = format_ident!("{}", format!("{kind:?}"));
        let arguments = arguments.iter().map(|entries| {
            let [first, count] = [entries.start, entries.len()].map(Literal::usize_unsuffixed);
            quote!([#first, #count])
        });
        quote!(#runtime::DeclaredShape { kind: #runtime::ShapeKind::#kind, arguments: &[#(#arguments),*] })
    };
    model.elaborated.scenery.shapes.iter().map(shape).collect()
}

/// The kinds of the integrals.
fn integrals(runtime: &syn::Path, model: &CompiledModel) -> Vec<TokenStream> {
    let integral = |id: IntegralId| {
        let integral = &model.derivation.integrals[id];
        let kind = match integral.kind {
            Kind::Holonomic { rate } => {
                let rate = Literal::usize_unsuffixed(rate.place());
                quote!(HolonomicConstraint { rate: #rate })
            }
            Kind::Rate { of } => {
                let constraint = Literal::usize_unsuffixed(of.place());
                quote!(ConstraintRate { constraint: #constraint })
            }
            Kind::Phase | Kind::InvariantSet => quote!(Constraint),
            Kind::Redundant => quote!(RedundantConstraint),
            Kind::Velocity => quote!(VelocityConstraint),
            Kind::Energy => quote!(Energy),
            Kind::Invariant => quote!(Invariant),
        };
        let (name, weight) = (&integral.name, Literal::f64_unsuffixed(f64::from(integral.weight)));
        let conservation = conservation(runtime, model.findings.conservation[id]);
        quote! {
            #runtime::Integral {
                name: #name,
                kind: #runtime::IntegralKind::#kind,
                weight: #weight,
                conservation: #conservation
            }
        }
    };
    model.derivation.integrals.ids().map(integral).collect()
}

fn conservation(runtime: &syn::Path, grade: Conservation) -> TokenStream {
    let (grade, evidence) = match grade {
        Conservation::Everywhere(how) => (quote!(Everywhere), Some(how)),
        Conservation::OnConstraints(how) => (quote!(OnConstraints), Some(how)),
        Conservation::Assumed => (quote!(Assumed), None),
    };
    // The runtime's variants have the same names.
    let evidence = evidence.map(|how| format_ident!("{how:?}")).map(|how| quote!((#runtime::Evidence::#how)));
    quote!(#runtime::Conservation::#grade #evidence)
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
