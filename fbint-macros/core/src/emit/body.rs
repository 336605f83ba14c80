//! One program as the body of a Rust function.
//!
//! One `let` for each instruction, in the program's order, which was chosen for the processor's registers; inputs and
//! temporaries get names that neither clash with one another nor with the function's own arguments, each a [`local`]:
//!
//! ```text
//! let __q_0 = __x[0];
//! let __q_1 = __x[1];
//! let __t0 = __q_0 * __q_0;
//! let __t1 = __q_1.mul_add(__q_1, __t0);
//! let [__y_0, __y_1] = __law.weigh_normalised([__t1, __t0], self);
//! [.., ..]
//! ```

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::local;
use crate::derivation::table::{Id, Table};
use crate::derivation::{IntegralId, Symbols};
use crate::elaborate::{EntryIndex, VariableEntry};
use crate::expression::Symbol;
use crate::program::{Form, Input, Instruction, Program, Programs, Sign, Trait, Value};
use crate::syntax::plain;
use crate::work::{STATEMENT, spend_each};

/// The arguments of the functions that are derivatives.
const DERIVATIVE_ARGUMENTS: [&str; 7] =
    ["system", "direction", "variances_direction", "targets_direction", "weights", "gains", "targets"];

/// The common part of all bodies of one model.
pub(super) struct Writer<'a> {
    runtime: &'a syn::Path,
    places: &'a Table<Symbol, VariableEntry>,
    /// Different names for the unknowns.
    names: Table<Symbol, Ident>,
    /// The fields of the prepared model that depend on parameters: the parameter's own name where one is passed on, else `c_0`,
    /// `c_1`, ...
    prepared: Vec<Ident>,
    /// The fields of the prepared model that are inputs.
    inputs: Vec<Ident>,
    /// The place of each unknown's change in a direction: a field, and an index.
    directions: Table<Symbol, (&'static str, usize)>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        runtime: &'a syn::Path,
        places: &'a Table<Symbol, VariableEntry>,
        symbols: &Symbols,
        programs: &Programs,
    ) -> Self {
        let prepare = &programs.prepare;
        let has = |owner: Trait| programs.functions().any(|(function, _)| function.owner == owner);
        let of_derivatives: &[&str] = if has(Trait::Differentiable) { &DERIVATIVE_ARGUMENTS } else { &[] };
        let of_lagrangian: &[&str] = if has(Trait::Lagrangian) { &["system", "accelerations"] } else { &[] };
        let arguments = ["x", "law", "rows", "variances", "noise"].iter().chain(of_derivatives).chain(of_lagrangian);
        let mut taken: BTreeSet<String> = arguments.map(|name| (*name).to_owned()).collect();
        let names = places.map(|place| free_name(variable_name(place), &mut taken));
        let mut computed = 0..;
        let name = |value: &Value| match prepare.instructions[value.index()] {
            Instruction::Input(Input::Parameter(symbol)) => names[symbol].clone(),
            _ => format_ident!("c_{}", computed.next().unwrap_or(0usize), span = Span::mixed_site()),
        };
        let prepared = prepare.outputs.iter().map(name).collect();
        let inputs = symbols.inputs().map(|symbol| names[symbol].clone()).collect();
        let states = (0..symbols.dimension()).map(|index| ("state", index));
        let parameters = (0..symbols.parameters().count()).map(|index| ("parameters", index));
        let directions =
            states.chain(parameters).chain((0..symbols.inputs().count()).map(|index| ("inputs", index))).collect();
        Self { runtime, places, names, prepared, inputs, directions }
    }

    /// The fields of the prepared model that depend on parameters.
    pub(super) fn prepared(&self) -> &[Ident] {
        &self.prepared
    }

    /// The fields of the prepared model that are inputs.
    pub(super) fn inputs(&self) -> &[Ident] {
        &self.inputs
    }

    /// The fields of the prepared model.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Ident> {
        self.prepared.iter().chain(&self.inputs)
    }

    /// The local variable that holds an input.
    fn input_name(&self, input: Input) -> Ident {
        match input {
            Input::State(symbol) | Input::Parameter(symbol) | Input::Driving(symbol) => local(&self.names[symbol]),
            Input::Prepared(index) => local(&self.prepared[index]),
            Input::Variance(column) => local(format!("s_{}", column.place())),
            Input::Noise(row) => local(format!("r_{}", row.place())),
            // No name that is declared begins with a digit.
            Input::Direction(symbol) => local(format!("{}_direction", symbol.place())),
            Input::Change(index) => local(format!("{index}_change")),
            Input::VarianceDirection(column) => local(format!("{}_variance_direction", column.place())),
            Input::TargetDirection(row) => local(format!("{}_target_direction", row.place())),
            Input::Weight(row) => local(format!("{row}_weight")),
            Input::Acceleration(place) => local(format!("{place}_acceleration")),
            Input::Gain(row) => local(format!("{}_gain", row.place())),
            Input::Target(row) => local(format!("{}_target", row.place())),
        }
    }

    /// The statements that compute the prepared fields from `self`, and their values: in double precision, with no method
    /// that the standard library would have to supply.
    pub(super) fn prepare(&self, program: &Program) -> (TokenStream, Vec<TokenStream>) {
        let body = FunctionBody::new(self, program, NumberType::Doubles, Form::Declared);
        let (statements, values) = Self::evaluate_in(body, program);
        let parameters = self.places.iter().filter(|(symbol, _)| {
            let parameter = Instruction::Input(Input::Parameter(*symbol));
            program.instructions.contains(&parameter)
        });
        let parameters = parameters.map(|(symbol, parameter)| {
            let (name, place) = (local(&self.names[symbol]), place(parameter));
            quote!(let #name = self.#place;)
        });
        (quote!(#(#parameters)* #statements), values)
    }

    /// The statements and the final expression, an array.
    pub(super) fn vector(&self, program: &Program, form: Form) -> TokenStream {
        let (statements, entries) = self.evaluate(program, form);
        quote!(#statements [#(#entries),*])
    }

    /// The statements and the final expression of the function that returns factors, scales and offsets: an array of arrays.
    pub(super) fn normalisation(&self, program: &Program) -> TokenStream {
        let (statements, numbers) = self.evaluate(program, Form::Declared);
        let rows = numbers.chunks(3).map(|row| quote!([#(#row),*]));
        quote!(#statements [#(#rows),*])
    }

    /// The statements and the final expression, an array of rows, whose outputs are listed row by row. Most entries of a Jacobian
    /// vanish: only the others are written.
    pub(super) fn matrix(&self, program: &Program, columns: usize) -> TokenStream {
        Self::rows(program, columns, self.evaluate(program, Form::Declared))
    }

    /// See [`matrix`](Self::matrix), from the statements and the entries.
    pub(super) fn rows(
        program: &Program,
        columns: usize,
        (statements, entries): (TokenStream, Vec<TokenStream>),
    ) -> TokenStream {
        let rows = program.outputs.len() / columns.max(1);
        let zero = Instruction::constant(0.0);
        let written = program.outputs.iter().zip(entries).enumerate();
        let written = written.filter(|(_, (value, _))| program.instructions[value.index()] != zero);
        let matrix = local("rows");
        let assignments = written.map(|(position, (_, entry))| {
            let (row, column) = (position / columns, position % columns);
            let (row, column) = (Literal::usize_unsuffixed(row), Literal::usize_unsuffixed(column));
            quote!(#matrix[#row][#column] = #entry;)
        });
        let (rows, columns) = (Literal::usize_unsuffixed(rows), Literal::usize_unsuffixed(columns));
        quote! {
            #statements
            let mut #matrix = [[T::from_f64(0.0); #columns]; #rows];
            #(#assignments)*
            #matrix
        }
    }

    /// The statements that a program needs, and its outputs.
    fn evaluate(&self, program: &Program, form: Form) -> (TokenStream, Vec<TokenStream>) {
        Self::evaluate_in(FunctionBody::new(self, program, NumberType::Scalars, form), program)
    }

    /// The same for a function whose prepared model is the argument `system`, and whose argument `direction` has the changes of
    /// everything, or of the state or the parameters alone.
    pub(super) fn derivative(&self, program: &Program, takes_part: bool) -> (TokenStream, Vec<TokenStream>) {
        let body = FunctionBody::new(self, program, NumberType::Scalars, Form::Declared);
        let system = local("system").into_token_stream();
        Self::evaluate_in(FunctionBody { system, takes_part_of_direction: takes_part, ..body }, program)
    }

    fn evaluate_in(mut body: FunctionBody<'_>, program: &Program) -> (TokenStream, Vec<TokenStream>) {
        body.compute();
        let statements = &body.statements;
        let outputs = program.outputs.iter().map(|&value| body.read(value).tokens).collect();
        (quote!(#(#statements)*), outputs)
    }
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
        let digits = ["t", "y_", "c_", "s_", "r_"].into_iter().find_map(|prefix| name.strip_prefix(prefix));
        digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    while temporary(&name) || taken.contains(&name) || syn::parse_str::<Ident>(&name).is_err() {
        name.push('_');
    }
    taken.insert(name.clone());
    Ident::new(&name, Span::mixed_site())
}

/// A Rust expression and how tightly its outermost operator binds.
#[derive(Clone)]
struct Piece {
    tokens: TokenStream,
    binding: Precedence,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Sum,
    Product,
    Negation,
    Postfix,
}

impl Piece {
    fn atom(tokens: TokenStream) -> Self {
        Self { tokens, binding: Precedence::Postfix }
    }

    /// The tokens, in parentheses if they bind less tightly than `least`.
    fn at(&self, least: Precedence) -> TokenStream {
        let tokens = &self.tokens;
        if self.binding < least { quote!((#tokens)) } else { tokens.clone() }
    }
}

/// The type of the numbers that a body computes with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberType {
    /// A type `T` that is the runtime's `Scalar` and nothing else.
    Scalars,
    /// `f64`, whose own methods are not all there without the standard library.
    Doubles,
}

struct FunctionBody<'a> {
    writer: &'a Writer<'a>,
    program: &'a Program,
    numbers: NumberType,
    pieces: Vec<Option<Piece>>,
    statements: Vec<TokenStream>,
    temporaries: usize,
    form: Form,
    /// The prepared model.
    system: TokenStream,
    /// Set if the argument `direction` has the changes of the state alone, or of the parameters alone.
    takes_part_of_direction: bool,
}

impl<'a> FunctionBody<'a> {
    fn new(writer: &'a Writer<'a>, program: &'a Program, numbers: NumberType, form: Form) -> Self {
        let pieces = vec![None; program.instructions.len()];
        Self {
            writer,
            program,
            numbers,
            pieces,
            statements: Vec::new(),
            temporaries: 0,
            form,
            system: quote!(self),
            takes_part_of_direction: false,
        }
    }

    /// Hands the integrals to the law, which gives names to those entries of y that are read.
    fn weigh(&mut self, law: Value, integrals: &[Value]) {
        let is_read =
            |place: usize| self.program.instructions.contains(&Instruction::Weighed(law, IntegralId::at(place)));
        let results = (0..integrals.len())
            .map(|place| if is_read(place) { weighted_name(place).into_token_stream() } else { quote!(_) });
        let results: Vec<TokenStream> = results.collect();
        let integrals = integrals.iter().map(|&value| self.read(value).tokens);
        let (law, system) = (local("law"), &self.system);
        let call = match self.form {
            Form::Declared => quote!(#law.weigh([#(#integrals),*])),
            Form::Normalised => quote!(#law.weigh_normalised([#(#integrals),*], #system)),
        };
        self.statements.push(quote!(let [#(#results),*] = #call;));
    }

    /// Computes the results and all that they need, in the program's order.
    fn compute(&mut self) {
        spend_each(self.program.instructions.len(), STATEMENT);
        let live = self.program.live();
        for (index, instruction) in self.program.instructions.iter().enumerate().filter(|(index, _)| live[*index]) {
            if let Instruction::Weigh(integrals) = instruction {
                self.weigh(Value::at(index), integrals);
            }
            self.read_input(instruction);
            let piece = self.piece(instruction);
            self.pieces[index] = Some(self.bound(instruction, piece));
        }
    }

    /// Binds an entry of the state, a prepared number or a variance where it is needed first: read earlier, it would keep a
    /// register.
    fn read_input(&mut self, instruction: &Instruction) {
        let (Instruction::Input(input), NumberType::Scalars) = (instruction, self.numbers) else { return };
        let entry = |array: &str, place: usize| {
            let (array, place) = (local(array), Literal::usize_unsuffixed(place));
            quote!(#array[#place])
        };
        let system = &self.system;
        let value = match *input {
            Input::State(symbol) => entry("x", symbol.place()),
            Input::Variance(column) => entry("variances", column.place()),
            Input::Noise(row) => entry("noise", row.place()),
            Input::Weight(row) => entry("weights", row),
            Input::Acceleration(place) => entry("accelerations", place),
            Input::Gain(row) => entry("gains", row.place()),
            Input::Target(row) => entry("targets", row.place()),
            Input::Direction(symbol) => {
                let (direction, (field, index)) = (local("direction"), self.writer.directions[symbol]);
                let (field, index) = (format_ident!("{field}"), Literal::usize_unsuffixed(index));
                match self.takes_part_of_direction {
                    true => quote!(#direction[#index]),
                    false => quote!(#direction.#field[#index]),
                }
            }
            Input::Change(index) => {
                let (direction, index) = (local("direction"), Literal::usize_unsuffixed(index));
                quote!(#direction.prepared[#index])
            }
            Input::VarianceDirection(column) => entry("variances_direction", column.place()),
            Input::TargetDirection(row) => entry("targets_direction", row.place()),
            Input::Prepared(index) => {
                let field = &self.writer.prepared[index];
                quote!(#system.#field)
            }
            Input::Driving(symbol) => {
                let field = &self.writer.names[symbol];
                quote!(#system.#field)
            }
            Input::Parameter(_) => return,
        };
        let name = self.writer.input_name(*input);
        self.statements.push(quote!(let #name = #value;));
    }

    /// A name for what an instruction computes: the order of the statements is the program's.
    fn bound(&mut self, instruction: &Instruction, piece: Piece) -> Piece {
        if !instruction.computes() || matches!(instruction, Instruction::Weigh(_)) {
            return piece;
        }
        let name = local(format!("t{}", self.temporaries));
        self.temporaries += 1;
        let tokens = piece.tokens;
        self.statements.push(quote!(let #name = #tokens;));
        Piece::atom(name.into_token_stream())
    }

    fn read(&self, value: Value) -> Piece {
        self.pieces[value.index()].clone().expect("operands are computed before they are read")
    }

    fn piece(&self, instruction: &Instruction) -> Piece {
        match *instruction {
            Instruction::Constant(bits) => self.constant(f64::from_bits(bits)),
            Instruction::Input(input) => Piece::atom(self.writer.input_name(input).into_token_stream()),
            // What the law returns is bound entry by entry.
            Instruction::Weigh(_) => Piece::atom(TokenStream::new()),
            Instruction::Weighed(_, integral) => Piece::atom(weighted_name(integral.place()).into_token_stream()),
            Instruction::Add(a, b) => self.sum(a, quote!(+), b),
            Instruction::Sub(a, b) => self.sum(a, quote!(-), b),
            Instruction::Mul(a, b) => {
                let (a, b) = self.constant_first(a, b);
                self.product(a, quote!(*), b)
            }
            Instruction::Div(a, b) => self.product(a, quote!(/), b),
            Instruction::Neg(a) => self.negated(a),
            Instruction::Recip(a) => self.call(self.read(a), "recip", &[]),
            Instruction::Sqrt(a) => self.call(self.read(a), "sqrt", &[]),
            Instruction::MulAdd([product, sum], a, b, c) => {
                // The sign of a product costs nothing at a number.
                let (a, b) = if product == Sign::Minus { self.constant_first(a, b) } else { (a, b) };
                self.call(self.signed(product, a), "mul_add", &[self.read(b), self.signed(sum, c)])
            }
            Instruction::Unary(function, a) => self.call(self.read(a), function.name(), &[]),
            Instruction::Binary(function, a, b) => self.call(self.read(a), function.name(), &[self.read(b)]),
        }
    }

    fn sum(&self, a: Value, operator: TokenStream, b: Value) -> Piece {
        let (a, b) = (self.read(a).at(Precedence::Sum), self.read(b).at(Precedence::Product));
        Piece { tokens: quote!(#a #operator #b), binding: Precedence::Sum }
    }

    fn product(&self, a: Value, operator: TokenStream, b: Value) -> Piece {
        let (a, b) = (self.read(a).at(Precedence::Product), self.read(b).at(Precedence::Negation));
        Piece { tokens: quote!(#a #operator #b), binding: Precedence::Product }
    }

    fn signed(&self, sign: Sign, value: Value) -> Piece {
        if sign == Sign::Minus { self.negated(value) } else { self.read(value) }
    }

    fn negated(&self, value: Value) -> Piece {
        if let Some(number) = self.as_constant(value) {
            return self.constant(-number);
        }
        let value = self.read(value).at(Precedence::Negation);
        Piece { tokens: quote!(-#value), binding: Precedence::Negation }
    }

    fn call(&self, receiver: Piece, name: &str, arguments: &[Piece]) -> Piece {
        let name = format_ident!("{name}");
        let arguments = arguments.iter().map(|argument| &argument.tokens);
        Piece::atom(match self.numbers {
            NumberType::Scalars => {
                let receiver = receiver.at(Precedence::Postfix);
                quote!(#receiver.#name(#(#arguments),*))
            }
            NumberType::Doubles => {
                let (runtime, receiver) = (self.writer.runtime, receiver.tokens);
                quote!(#runtime::Scalar::#name(#receiver #(, #arguments)*))
            }
        })
    }

    fn constant_first(&self, a: Value, b: Value) -> (Value, Value) {
        if self.as_constant(b).is_some() { (b, a) } else { (a, b) }
    }

    fn constant(&self, number: f64) -> Piece {
        let magnitude = Literal::f64_unsuffixed(number.abs());
        let signed = if number < 0.0 { quote!(-#magnitude) } else { quote!(#magnitude) };
        match self.numbers {
            NumberType::Scalars => Piece::atom(quote!(T::from_f64(#signed))),
            NumberType::Doubles if number < 0.0 => Piece { tokens: signed, binding: Precedence::Negation },
            NumberType::Doubles => Piece::atom(signed),
        }
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
