//! One program as the body of a Rust function.
//!
//! One `let` for each instruction, in the program's order, which was chosen for the processor's registers; inputs and
//! temporaries get names that neither clash with one another nor with the function's own arguments, each a [`local`]. Temporaries are named
//! after what they compute, so that a changed declaration changes few lines:
//!
//! ```text
//! let __q_0 = __x[0];
//! let __q_1 = __x[1];
//! let __t0fk = __q_0 * __q_0;
//! let __t7e2 = __q_1.mul_add(__q_1, __t0fk);
//! let [__y_0, __y_1] = __law.weigh_normalised([__t7e2, __t0fk], self);
//! [.., ..]
//! ```

use std::cell::OnceCell;
use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::functions::{Signatures, functions};
use super::stub::Instance;
use super::{CompiledModel, implementation, local};
use crate::derivation::IntegralId;
use crate::derivation::table::{Id, Table};
use crate::elaborate::{EntryIndex, VariableEntry};
use crate::expression::Symbol;
use crate::expression::work::{STATEMENT, spend_each};
use crate::notation;
use crate::program::{
    Argument, Form, GeneratedFunction, Input, Instruction, Program, Sign, Trait, Unknown, Value, names,
    names_but_for_factors,
};
use crate::syntax::{Declaration, plain};

/// The common part of everything that is generated for one model.
pub(super) struct Writer<'a> {
    pub(super) declaration: &'a Declaration,
    /// The meaning of the functions; `None` where the declaration is mistaken.
    pub(super) model: Option<&'a CompiledModel>,
    /// The path of the runtime.
    pub(super) runtime: &'a syn::Path,
    /// The name of the struct.
    pub(super) name: &'a Ident,
    /// Stand-ins for generic parameters.
    pub(super) instance: Instance,
    pub(super) signatures: Signatures,
    /// Different names for the unknowns.
    names: Table<Symbol, Ident>,
    /// The fields of the prepared model that depend on parameters: the parameter's own name where one is passed on, else
    /// `c_5bo`, after what it computes.
    pub(super) prepared: Vec<Ident>,
    /// The fields of the prepared model that are inputs.
    pub(super) inputs: Vec<Ident>,
    /// The fields of the prepared model that are the sides of switches.
    pub(super) sides: Vec<Ident>,
    /// Names for the changes of the prepared model's numbers that tangents read.
    changes: Vec<String>,
    /// The place of each unknown's change in a direction: a field, and an index.
    directions: Table<Symbol, (&'static str, usize)>,
    equations: OnceCell<String>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(declaration: &'a Declaration, model: Option<&'a CompiledModel>) -> Self {
        let (runtime, name) = (&declaration.runtime, &declaration.item.ident);
        let instance = Instance::of(declaration.item.clone());
        let signatures = Signatures::of_model(declaration, model, &instance.path());
        let functions = model.iter().flat_map(|model| model.programs.functions());
        let arguments = functions.flat_map(|(function, _)| signatures.names(function));
        let mut taken: BTreeSet<String> = arguments.chain(["rows"]).map(str::to_owned).collect();
        let places = model.iter().flat_map(|model| model.elaborated.places.rows());
        let names: Table<_, _> = places.map(|place| free_name(variable_name(place), &mut taken)).collect();
        let prepared = model.map_or_else(Vec::new, |model| prepared_fields(&model.programs.prepare, &names));
        let changes = model.map_or_else(Vec::new, |model| changes(&model.programs.prepare_direction, &prepared));
        let inputs = model.iter().flat_map(|model| model.derivation.symbols.inputs());
        let inputs = inputs.map(|symbol| names[symbol].clone()).collect();
        let sides = (0..signatures.switches).map(|place| free_name(format!("side_{place}"), &mut taken)).collect();
        let Signatures { states, parameters, inputs: driving, .. } = signatures;
        let directions = [("state", states), ("parameters", parameters), ("inputs", driving)];
        let directions =
            directions.into_iter().flat_map(|(field, count)| (0..count).map(move |index| (field, index))).collect();
        Self {
            declaration,
            model,
            runtime,
            name,
            instance,
            signatures,
            names,
            prepared,
            inputs,
            sides,
            changes,
            directions,
            equations: OnceCell::new(),
        }
    }

    /// The derivation of the model in plain text.
    pub(super) fn equations(&self, model: &CompiledModel) -> &str {
        self.equations.get_or_init(|| notation::plain(&model.derivation, &model.findings))
    }

    /// The fields of the prepared model.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Ident> {
        self.prepared.iter().chain(&self.inputs).chain(&self.sides)
    }

    /// Returns `true` if the model has functions of a trait.
    pub(super) fn has(&self, owner: Trait) -> bool {
        match (self.model, owner) {
            (Some(model), _) => model.programs.functions().any(|(function, _)| function.owner == owner),
            (None, Trait::Prepared) => true,
            (None, Trait::Lagrangian | Trait::Hamel) => !self.declaration.velocities.is_empty(),
            (None, Trait::Controlled) => !self.declaration.laws.is_empty(),
            (None, Trait::Switching) => false,
            (None, Trait::Differentiable) => self.declaration.derivatives,
        }
    }

    /// The model's implementation of a trait.
    pub(super) fn implementation(&self, of: &TokenStream, items: &TokenStream) -> TokenStream {
        let (name, Instance { sizes, arguments, .. }) = (self.name, &self.instance);
        let (generics, ..) = sizes.split_for_impl();
        implementation(&quote!(#generics #of for #name #arguments), items)
    }

    /// The implementation of the trait that has some generated functions, with what else it has, if the model has them.
    pub(super) fn functions(&self, owner: Trait, others: &TokenStream) -> Option<TokenStream> {
        let (runtime, of) = (self.runtime, format_ident!("{owner:?}System"));
        self.has(owner).then(|| {
            let functions = functions(self, owner);
            self.implementation(&quote!(#runtime::#of), &quote!(#others #functions))
        })
    }

    /// The body of a function, which never runs where the declaration is mistaken.
    pub(super) fn content(&self, of: impl FnOnce(&CompiledModel) -> TokenStream) -> TokenStream {
        self.model.map_or_else(|| quote!(::core::unreachable!("the declaration has errors")), of)
    }

    /// The statements that compute the prepared fields from `self`, and their values: in double precision, with no method
    /// that the standard library would have to supply.
    pub(super) fn prepare(&self, model: &CompiledModel, program: &Program) -> (TokenStream, Vec<TokenStream>) {
        let (statements, values) = self.body(program, Host::Model);
        let parameters = model.elaborated.places.iter().filter(|(symbol, _)| {
            let parameter = Instruction::Input(Input::Parameter(*symbol));
            program.instructions.contains(&parameter)
        });
        let parameters = parameters.map(|(symbol, parameter)| {
            let (name, place) = (local(&self.names[symbol]), place(parameter));
            quote!(let #name = self.#place;)
        });
        (quote!(#(#parameters)* #statements), values)
    }

    /// The statements that a program needs, and its outputs.
    pub(super) fn body(&self, program: &Program, host: Host) -> (TokenStream, Vec<TokenStream>) {
        let pieces = vec![None; program.instructions.len()];
        let mut body = FunctionBody { writer: self, program, host, pieces, statements: Vec::new(), names: Vec::new() };
        body.names = names(program, |input| body.binding(input).0.to_string());
        body.compute();
        let statements = &body.statements;
        let outputs = program.outputs.iter().map(|&value| body.read(value)).collect();
        (quote!(#(#statements)*), outputs)
    }
}

/// Names for what a program prepares.
fn prepared_fields(prepare: &Program, declared: &Table<Symbol, Ident>) -> Vec<Ident> {
    let computed = names_but_for_factors(prepare, |input| match input {
        Input::Parameter(symbol) => declared[symbol].to_string(),
        _ => String::new(),
    });
    let field = |(value, name): (&Value, String)| match prepare.instructions[value.index()] {
        Instruction::Input(Input::Parameter(symbol)) => declared[symbol].clone(),
        _ => format_ident!("c_{name}", span = Span::mixed_site()),
    };
    prepare.outputs.iter().zip(computed).map(field).collect()
}

/// Names for what the program that prepares directions computes.
fn changes(prepare_direction: &Program, prepared: &[Ident]) -> Vec<String> {
    let names = names(prepare_direction, |input| match input {
        Input::Prepared(index) => prepared[index].to_string(),
        other => format!("{other:?}"),
    });
    prepare_direction.outputs.iter().map(|value| names[value.index()].clone()).collect()
}

/// The field access of a parameter: `m`, `inertia[0]`, `a[(0, 1)]`.
pub(super) fn place(place: &VariableEntry) -> TokenStream {
    let variable = &place.variable;
    match place.entry {
        EntryIndex::Scalar => quote!(#variable),
        EntryIndex::Index(index) => {
            let index = Literal::usize_unsuffixed(index);
            quote!(#variable[#index])
        }
        EntryIndex::RowColumn(row, column) => {
            let (row, column) = (Literal::usize_unsuffixed(row), Literal::usize_unsuffixed(column));
            quote!(#variable[(#row, #column)])
        }
    }
}

/// `q_0`, `q_0_1`, `m`; in lower case, as names of variables are.
fn variable_name(place: &VariableEntry) -> String {
    let name = plain(&place.variable).to_lowercase();
    match place.entry {
        EntryIndex::Scalar => name,
        EntryIndex::Index(index) => format!("{name}_{index}"),
        EntryIndex::RowColumn(row, column) => format!("{name}_{row}_{column}"),
    }
}

/// Keywords, names that are taken, and names of temporaries get underscores appended.
fn free_name(mut name: String, taken: &mut BTreeSet<String>) -> Ident {
    let temporary = |name: &str| {
        let rest = ["t", "y_", "c_", "s_", "r_"].into_iter().find_map(|prefix| name.strip_prefix(prefix));
        let is_hash = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit()) && !rest.contains('_');
        rest.is_some_and(is_hash)
    };
    while temporary(&name) || taken.contains(&name) || syn::parse_str::<Ident>(&name).is_err() {
        name.push('_');
    }
    taken.insert(name.clone());
    Ident::new(&name, Span::mixed_site())
}

/// The kind of function that a program is the body of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// A function of the model, which computes in `f64`, whose own methods are not all there without the standard library.
    Model,
    /// A function of the prepared model, with a type `T` that is the runtime's `Scalar` and nothing else. It hands the integrals to the
    /// law in this form.
    Prepared(Form),
    /// A function with such a type, whose argument `system` is the prepared model.
    Associated {
        /// `true` if the argument `direction` has the changes of the state alone, or of the parameters alone.
        takes_part_of_direction: bool,
    },
    /// A function of Taylor series, whose argument `system` is the prepared model. Names are there for a row of coefficients.
    Series {
        /// `true` if it has a type `T` that is the runtime's `Scalar`, and not `f64`.
        is_generic: bool,
        /// `true` if it finishes an order, whose coefficients of inputs have names, too.
        finishes: bool,
    },
}

impl Host {
    pub(super) fn of(function: &GeneratedFunction) -> Self {
        match function.owner {
            Trait::Prepared => Self::Prepared(function.law().unwrap_or(Form::Declared)),
            _ => Self::Associated { takes_part_of_direction: function.arguments.contains(&Argument::StateDirection) },
        }
    }

    /// Returns `true` if numbers are `f64`.
    fn is_of_doubles(self) -> bool {
        matches!(self, Self::Model | Self::Series { is_generic: false, .. })
    }
}

struct FunctionBody<'a> {
    writer: &'a Writer<'a>,
    program: &'a Program,
    host: Host,
    /// The tokens for each computed value: a name, a number or a call.
    pieces: Vec<Option<TokenStream>>,
    statements: Vec<TokenStream>,
    /// See [`names`].
    names: Vec<String>,
}

impl FunctionBody<'_> {
    /// Hands the integrals to the law, which gives names to those entries of y that are read.
    fn weigh(&mut self, law: Value, integrals: &[Value]) {
        let is_read =
            |place: usize| self.program.instructions.contains(&Instruction::Weighed(law, IntegralId::at(place)));
        let results = (0..integrals.len())
            .map(|place| if is_read(place) { weighted_name(place).into_token_stream() } else { quote!(_) });
        let results: Vec<TokenStream> = results.collect();
        let integrals = integrals.iter().map(|&value| self.read(value));
        let law = local("law");
        let call = match self.host {
            Host::Prepared(Form::Normalised) => quote!(#law.weigh_normalised([#(#integrals),*], self)),
            _ => quote!(#law.weigh([#(#integrals),*])),
        };
        self.statements.push(quote!(let [#(#results),*] = #call;));
    }

    /// Computes the results and all that they need, in the program's order.
    fn compute(&mut self) {
        spend_each(self.program.instructions.len(), STATEMENT);
        let live = self.program.live();
        for (index, instruction) in self.program.instructions.iter().enumerate().filter(|(index, _)| live[*index]) {
            let piece = match instruction {
                // What the law returns is bound entry by entry.
                Instruction::Weigh(integrals) => {
                    self.weigh(Value::at(index), integrals);
                    continue;
                }
                Instruction::Input(input) => self.input(*input),
                _ => self.piece(instruction),
            };
            self.pieces[index] = Some(self.bound(index, piece));
        }
    }

    /// The name of an input, which is bound where it is needed first: bound earlier, it would keep a register.
    fn input(&mut self, input: Input) -> TokenStream {
        let (name, value) = self.binding(input);
        self.statements.extend(value.map(|value| quote!(let #name = #value;)));
        name.into_token_stream()
    }

    /// The name of an input, and what it is bound to. Parameters are bound before.
    fn binding(&self, input: Input) -> (Ident, Option<TokenStream>) {
        let Writer { names, prepared, changes, directions, .. } = self.writer;
        let takes_part = self.host == Host::Associated { takes_part_of_direction: true };
        let (direction, system) = (local("direction"), local("system"));
        let system = match self.host {
            Host::Associated { .. } | Host::Series { .. } => quote!(#system),
            Host::Model | Host::Prepared(_) => quote!(self),
        };
        let field = |name: &Ident| (local(name), Some(quote!(#system.#name)));
        let entry = |name: String, list: TokenStream, place: usize| {
            let place = Literal::usize_unsuffixed(place);
            (local(name), Some(quote!(#list[#place])))
        };
        let listed = |name: String, list: &str, place: usize| entry(name, local(list).into_token_stream(), place);
        // No name that is declared begins with a digit.
        let numbered = |what: &str, list: &str, place: usize| listed(format!("{place}_{what}"), list, place);
        match input {
            Input::Parameter(symbol) => (local(&names[symbol]), None),
            // A function of the model has them as an argument.
            Input::Driving(symbol) if self.host == Host::Model => {
                listed(names[symbol].to_string(), "inputs", directions[symbol].1)
            }
            Input::Driving(symbol) if matches!(self.host, Host::Series { finishes: true, .. }) => {
                listed(names[symbol].to_string(), "0_inputs", directions[symbol].1)
            }
            Input::Driving(symbol) => field(&names[symbol]),
            Input::Side(place) => field(&self.writer.sides[place]),
            Input::Prepared(index) => field(&prepared[index]),
            Input::State(symbol) => listed(names[symbol].to_string(), "x", symbol.place()),
            Input::Variance(column) => listed(format!("s_{}", column.place()), "variances", column.place()),
            Input::Noise(row) => listed(format!("r_{}", row.place()), "noise", row.place()),
            Input::Weight(row) => numbered("weight", "weights", row),
            Input::Acceleration(place) => numbered("acceleration", "accelerations", place),
            Input::Gain(row) => numbered("gain", "gains", row.place()),
            Input::Target(row) => numbered("target", "targets", row.place()),
            Input::Direction(Unknown::Variance(column)) => {
                numbered("variance_direction", "variances_direction", column.place())
            }
            Input::Direction(Unknown::Target(row)) => numbered("target_direction", "targets_direction", row.place()),
            Input::Direction(Unknown::Symbol(symbol))
                if matches!(self.host, Host::Series { .. }) && directions[symbol].0 == "state" =>
            {
                numbered("along", "0_directions", symbol.place())
            }
            Input::Direction(Unknown::Symbol(symbol)) => {
                let (name, (part, index)) = (format!("{}_direction", symbol.place()), directions[symbol]);
                let part = format_ident!("{part}");
                entry(name, if takes_part { quote!(#direction) } else { quote!(#direction.#part) }, index)
            }
            Input::Change(index) => entry(format!("{}_change", changes[index]), quote!(#direction.prepared), index),
            Input::Order(place) => (local(format!("{place}_order")), None),
            Input::Initial(place) => (local(format!("{place}_initial")), None),
        }
    }

    /// A name for what an instruction computes: the order of the statements is the program's.
    fn bound(&mut self, index: usize, piece: TokenStream) -> TokenStream {
        if !self.program.instructions[index].computes() {
            return piece;
        }
        let name = local(format!("t{}", self.names[index]));
        self.statements.push(quote!(let #name = #piece;));
        name.into_token_stream()
    }

    fn read(&self, value: Value) -> TokenStream {
        self.pieces[value.index()].clone().expect("operands are computed before they are read")
    }

    fn piece(&self, instruction: &Instruction) -> TokenStream {
        match *instruction {
            Instruction::Constant(bits) => self.constant(f64::from_bits(bits)),
            // What the law returns is bound entry by entry, and inputs have their names.
            Instruction::Weigh(_) | Instruction::Input(_) => TokenStream::new(),
            Instruction::Weighed(_, integral) => weighted_name(integral.place()).into_token_stream(),
            Instruction::Add(a, b) => self.operation(a, quote!(+), b),
            Instruction::Sub(a, b) => self.operation(a, quote!(-), b),
            Instruction::Mul(a, b) => {
                let (a, b) = self.constant_first(a, b);
                self.operation(a, quote!(*), b)
            }
            Instruction::Div(a, b) => self.operation(a, quote!(/), b),
            Instruction::Neg(a) => self.negated(a),
            Instruction::Recip(a) => self.call(self.read(a), "recip", &[]),
            Instruction::Sqrt(a) => self.call(self.read(a), "sqrt", &[]),
            Instruction::MulAdd([product, sum], a, b, c) => {
                // The sign of a product costs nothing at a number.
                let (a, b) = if product == Sign::Minus { self.constant_first(a, b) } else { (a, b) };
                self.call(self.receiver(product, a), "mul_add", &[self.read(b), self.signed(sum, c)])
            }
            Instruction::Unary(function, a) => self.call(self.read(a), function.name(), &[]),
            Instruction::Binary(function, a, b) => self.call(self.read(a), function.name(), &[self.read(b)]),
        }
    }

    /// Operands need no parentheses: they are names, numbers or calls.
    fn operation(&self, a: Value, operator: TokenStream, b: Value) -> TokenStream {
        let (a, b) = (self.read(a), self.read(b));
        quote!(#a #operator #b)
    }

    fn signed(&self, sign: Sign, value: Value) -> TokenStream {
        if sign == Sign::Minus { self.negated(value) } else { self.read(value) }
    }

    fn negated(&self, value: Value) -> TokenStream {
        if let Some(number) = self.as_constant(value) {
            return self.constant(-number);
        }
        let value = self.read(value);
        quote!(-#value)
    }

    /// The receiver of a method: a sign would belong to the result.
    fn receiver(&self, sign: Sign, value: Value) -> TokenStream {
        let signed = self.signed(sign, value);
        let is_negated = sign == Sign::Minus && self.as_constant(value).is_none();
        if is_negated && !self.host.is_of_doubles() { quote!((#signed)) } else { signed }
    }

    fn call(&self, receiver: TokenStream, name: &str, arguments: &[TokenStream]) -> TokenStream {
        let (name, runtime) = (format_ident!("{name}"), self.writer.runtime);
        if self.host.is_of_doubles() {
            quote!(#runtime::Scalar::#name(#receiver #(, #arguments)*))
        } else {
            quote!(#receiver.#name(#(#arguments),*))
        }
    }

    fn constant_first(&self, a: Value, b: Value) -> (Value, Value) {
        if self.as_constant(b).is_some() { (b, a) } else { (a, b) }
    }

    fn constant(&self, number: f64) -> TokenStream {
        let magnitude = Literal::f64_unsuffixed(number.abs());
        let signed = if number < 0.0 { quote!(-#magnitude) } else { quote!(#magnitude) };
        if self.host.is_of_doubles() { signed } else { quote!(T::from_f64(#signed)) }
    }

    fn as_constant(&self, value: Value) -> Option<f64> {
        match self.program.instructions[value.index()] {
            Instruction::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
}

fn weighted_name(index: usize) -> Ident {
    local(format!("y_{index}"))
}
