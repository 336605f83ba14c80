//! Straight-line programs: what a generated function computes, before it has names.
//!
//! A [`Program`] is a list of instructions in static single assignment, each naming earlier ones. Equal instructions are
//! one (value numbering in `Builder`), so that field, integrals and gradient share what they have in common. Where the
//! feedback law takes part, the program hands it the integrals F and takes back y = K (F - F_target).

mod assemble;
mod factor;
mod interpret;
mod lower;
mod normalise;
mod optimise;
mod schedule;

use std::collections::HashMap;

use num_traits::{One, Zero};

pub use assemble::{Programs, assemble};
pub use interpret::verify;

use crate::expression::{Function, Symbol};

/// The result of the instruction of this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(u32);

impl Value {
    /// The index of the instruction that computes the value.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// An entry of the state.
    State(Symbol),
    /// An entry of a parameter: in the program that prepares.
    Parameter(Symbol),
    /// The i-th result of the program that prepares.
    Prepared(usize),
    /// y_i, which the feedback law returns.
    Weighted(usize),
    /// S_j, the variance of an entry of the state that a correction takes: see [`Programs::correction`].
    Variance(usize),
    /// R_i, the variance of rounding in an integral that a correction takes.
    Noise(usize),
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// A number, by its bits so that equal ones compare equal.
    Constant(u64),
    /// An input.
    Input(Input),
    /// a + b
    Add(Value, Value),
    /// a - b
    Sub(Value, Value),
    /// a b
    Mul(Value, Value),
    /// a / b
    Div(Value, Value),
    /// -a
    Neg(Value),
    /// 1 / a
    Recip(Value),
    /// The square root.
    Sqrt(Value),
    /// a b + c
    MulAdd(Value, Value, Value),
    /// c - a b
    NegMulAdd(Value, Value, Value),
    /// a b - c
    MulSub(Value, Value, Value),
    /// -a b - c
    NegMulSub(Value, Value, Value),
    /// An elementary function of one argument.
    Unary(Function, Value),
    /// An elementary function of two arguments.
    Binary(Function, Value, Value),
}

impl Instruction {
    /// A number.
    pub fn constant(number: f64) -> Self {
        Self::Constant(number.to_bits())
    }

    /// The values that the instruction reads.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        let operands = match self {
            Self::Constant(_) | Self::Input(_) => [None, None, None],
            Self::Neg(a) | Self::Recip(a) | Self::Sqrt(a) | Self::Unary(_, a) => [Some(a), None, None],
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) | Self::Div(a, b) | Self::Binary(_, a, b) => {
                [Some(a), Some(b), None]
            }
            Self::MulAdd(a, b, c) | Self::NegMulAdd(a, b, c) | Self::MulSub(a, b, c) | Self::NegMulSub(a, b, c) => {
                [Some(a), Some(b), Some(c)]
            }
        };
        operands.into_iter().flatten()
    }

    /// The same operation with the operands of a sum or a product in increasing order, as value numbering wants it.
    pub fn ordered(self) -> Self {
        match self {
            Self::Add(a, b) => Self::Add(a.min(b), a.max(b)),
            Self::Mul(a, b) => Self::Mul(a.min(b), a.max(b)),
            other => other,
        }
    }

    /// The same operation on other values.
    pub fn map(self, mut to: impl FnMut(Value) -> Value) -> Self {
        match self {
            Self::Constant(_) | Self::Input(_) => self,
            Self::Add(a, b) => Self::Add(to(a), to(b)),
            Self::Sub(a, b) => Self::Sub(to(a), to(b)),
            Self::Mul(a, b) => Self::Mul(to(a), to(b)),
            Self::Div(a, b) => Self::Div(to(a), to(b)),
            Self::Neg(a) => Self::Neg(to(a)),
            Self::Recip(a) => Self::Recip(to(a)),
            Self::Sqrt(a) => Self::Sqrt(to(a)),
            Self::MulAdd(a, b, c) => Self::MulAdd(to(a), to(b), to(c)),
            Self::NegMulAdd(a, b, c) => Self::NegMulAdd(to(a), to(b), to(c)),
            Self::MulSub(a, b, c) => Self::MulSub(to(a), to(b), to(c)),
            Self::NegMulSub(a, b, c) => Self::NegMulSub(to(a), to(b), to(c)),
            Self::Unary(function, a) => Self::Unary(function, to(a)),
            Self::Binary(function, a, b) => Self::Binary(function, to(a), to(b)),
        }
    }
}

/// A bug of the compiler: a generated function whose results are not those of its derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The function.
    pub function: &'static str,
    /// The pass that changed a result, where it is known.
    pub pass: Option<&'static str>,
}

/// A straight-line program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// In an order in which each names only earlier ones.
    pub instructions: Vec<Instruction>,
    /// F, handed to the feedback law for y; empty where the law takes no part.
    pub integrals: Vec<Value>,
    /// The results.
    pub outputs: Vec<Value>,
}

/// How often each kind of operation occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCount {
    /// Additions, subtractions, negations.
    pub additions: u32,
    /// Multiplications.
    pub multiplications: u32,
    /// Fused multiply-adds.
    pub fused: u32,
    /// Divisions and reciprocals.
    pub divisions: u32,
    /// Square roots and elementary functions.
    pub functions: u32,
}

/// What a program costs after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The pass, a verb.
    pub name: &'static str,
    /// Operations of each kind; `functions` has both of the next two.
    pub operations: OperationCount,
    /// Square roots.
    pub square_roots: u32,
    /// Elementary functions.
    pub calls: u32,
    /// Everything but inputs and numbers.
    pub instructions: u32,
    /// The most values that are computed and still to be read at one time.
    pub live_values: u32,
}

impl Pass {
    pub(crate) fn of(name: &'static str, program: &Program) -> Self {
        let is_root = |instruction: &&Instruction| matches!(instruction, Instruction::Sqrt(_));
        let operations = program.operations();
        let square_roots = program.instructions.iter().filter(is_root).count() as u32;
        let instructions = program.instructions.iter().filter(|instruction| instruction.operands().next().is_some());
        Self {
            name,
            operations,
            square_roots,
            calls: operations.functions - square_roots,
            instructions: instructions.count() as u32,
            live_values: program.live_values(),
        }
    }
}

impl Program {
    /// The most values at one time that were computed before and are read later, by instructions, by the law or as a result. The
    /// law reads where its first result is. Inputs and numbers stay in memory.
    fn live_values(&self) -> u32 {
        let end = self.instructions.len();
        let is_of_law = |instruction: &Instruction| matches!(instruction, Instruction::Input(Input::Weighted(_)));
        let law = self.instructions.iter().position(is_of_law).unwrap_or(end);
        let operands = self.instructions.iter().enumerate();
        let operands =
            operands.flat_map(|(index, instruction)| instruction.operands().map(move |value| (value, index)));
        let of_law = self.integrals.iter().map(|&value| (value, law));
        let results = self.outputs.iter().map(|&value| (value, end));
        let mut last_read = vec![0; end];
        for (value, index) in operands.chain(of_law).chain(results) {
            last_read[value.index()] = index.max(last_read[value.index()]);
        }
        let mut changes = vec![0_i32; end + 1];
        for (index, &last) in last_read.iter().enumerate() {
            if last > index && self.instructions[index].operands().next().is_some() {
                changes[index] += 1;
                changes[last] -= 1;
            }
        }
        let live = changes.iter().scan(0, |live, change| {
            *live += change;
            Some(*live)
        });
        live.max().unwrap_or(0).unsigned_abs()
    }

    /// The number of operations of each kind.
    pub fn operations(&self) -> OperationCount {
        let mut count = OperationCount::default();
        for instruction in &self.instructions {
            match instruction {
                Instruction::Constant(_) | Instruction::Input(_) => {}
                Instruction::Add(..) | Instruction::Sub(..) | Instruction::Neg(_) => count.additions += 1,
                Instruction::Mul(..) => count.multiplications += 1,
                Instruction::MulAdd(..)
                | Instruction::NegMulAdd(..)
                | Instruction::MulSub(..)
                | Instruction::NegMulSub(..) => count.fused += 1,
                Instruction::Div(..) | Instruction::Recip(_) => count.divisions += 1,
                Instruction::Sqrt(_) | Instruction::Unary(..) | Instruction::Binary(..) => count.functions += 1,
            }
        }
        count
    }

    /// How often each value is read, by instructions, the law or as a result.
    pub fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.instructions.len()];
        let operands = self.instructions.iter().flat_map(|instruction| instruction.operands());
        for value in operands.chain(self.integrals.iter().copied()).chain(self.outputs.iter().copied()) {
            uses[value.index()] += 1;
        }
        uses
    }
}

impl std::fmt::Display for Program {
    /// One instruction a line: `v7 = v3 * v5`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |values: &[Value]| values.iter().map(|value| format!("v{}", value.0)).collect::<Vec<_>>().join(", ");
        for (index, instruction) in self.instructions.iter().enumerate() {
            let text = match *instruction {
                Instruction::Constant(bits) => format!("{:?}", f64::from_bits(bits)),
                Instruction::Input(Input::State(symbol) | Input::Parameter(symbol)) => format!("symbol {}", symbol.0),
                Instruction::Input(Input::Prepared(index)) => format!("prepared {index}"),
                Instruction::Input(Input::Weighted(index)) => format!("weighted {index}"),
                Instruction::Input(Input::Variance(column)) => format!("variance {column}"),
                Instruction::Input(Input::Noise(row)) => format!("noise {row}"),
                Instruction::Add(a, b) => format!("v{} + v{}", a.0, b.0),
                Instruction::Sub(a, b) => format!("v{} - v{}", a.0, b.0),
                Instruction::Mul(a, b) => format!("v{} * v{}", a.0, b.0),
                Instruction::Div(a, b) => format!("v{} / v{}", a.0, b.0),
                Instruction::Neg(a) => format!("-v{}", a.0),
                Instruction::Recip(a) => format!("1 / v{}", a.0),
                Instruction::Sqrt(a) => format!("sqrt(v{})", a.0),
                Instruction::MulAdd(a, b, c) => format!("v{} * v{} + v{}", a.0, b.0, c.0),
                Instruction::NegMulAdd(a, b, c) => format!("v{} - v{} * v{}", c.0, a.0, b.0),
                Instruction::MulSub(a, b, c) => format!("v{} * v{} - v{}", a.0, b.0, c.0),
                Instruction::NegMulSub(a, b, c) => format!("-v{} * v{} - v{}", a.0, b.0, c.0),
                Instruction::Unary(function, a) => format!("{}(v{})", function.name(), a.0),
                Instruction::Binary(function, a, b) => format!("{}(v{}, v{})", function.name(), a.0, b.0),
            };
            writeln!(out, "v{index} = {text}")?;
        }
        if !self.integrals.is_empty() {
            writeln!(out, "weigh {}", list(&self.integrals))?;
        }
        writeln!(out, "return {}", list(&self.outputs))
    }
}

/// Builds a program; equal instructions become one value, constants fold, neutral elements and signs are absorbed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Builder {
    instructions: Vec<Instruction>,
    /// For look-up alone: never iterated.
    known: HashMap<Instruction, Value>,
}

impl Builder {
    pub(crate) fn finish(self, integrals: Vec<Value>, outputs: Vec<Value>) -> Program {
        Program { instructions: self.instructions, integrals, outputs }
    }

    /// The instruction that computes a value.
    pub(crate) fn instruction(&self, value: Value) -> Instruction {
        self.instructions[value.index()]
    }

    /// The value of an instruction, new or known.
    pub(crate) fn push(&mut self, instruction: Instruction) -> Value {
        if let Some(&value) = self.known.get(&instruction) {
            return value;
        }
        let value = Value(u32::try_from(self.instructions.len()).expect("fewer than 2^32 instructions"));
        self.instructions.push(instruction);
        self.known.insert(instruction, value);
        value
    }

    pub(crate) fn constant(&mut self, number: f64) -> Value {
        self.push(Instruction::constant(if number == 0.0 { 0.0 } else { number }))
    }

    pub(crate) fn input(&mut self, input: Input) -> Value {
        self.push(Instruction::Input(input))
    }

    fn as_constant(&self, value: Value) -> Option<f64> {
        match self.instruction(value) {
            Instruction::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => return self.constant(x + y),
            (Some(x), _) if x.is_zero() => return b,
            (_, Some(y)) if y.is_zero() => return a,
            _ => {}
        }
        match (self.instruction(a), self.instruction(b)) {
            (_, Instruction::Neg(inner)) => self.sub(a, inner),
            (Instruction::Neg(inner), _) => self.sub(b, inner),
            _ => self.push(Instruction::Add(a, b).ordered()),
        }
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Value {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => return self.constant(x - y),
            (Some(x), _) if x.is_zero() => return self.neg(b),
            (_, Some(y)) if y.is_zero() => return a,
            _ => {}
        }
        if a == b {
            return self.constant(0.0);
        }
        match self.instruction(b) {
            Instruction::Neg(inner) => self.add(a, inner),
            _ => self.push(Instruction::Sub(a, b)),
        }
    }

    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Value {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => return self.constant(x * y),
            (Some(x), None) => return self.scale(x, b),
            (None, Some(y)) => return self.scale(y, a),
            (None, None) => {}
        }
        match (self.instruction(a), self.instruction(b)) {
            (Instruction::Neg(x), Instruction::Neg(y)) => self.mul(x, y),
            (Instruction::Neg(x), _) => {
                let product = self.mul(x, b);
                self.neg(product)
            }
            (_, Instruction::Neg(y)) => {
                let product = self.mul(a, y);
                self.neg(product)
            }
            _ => self.push(Instruction::Mul(a, b).ordered()),
        }
    }

    fn scale(&mut self, factor: f64, value: Value) -> Value {
        if factor.is_zero() {
            return self.constant(0.0);
        }
        if factor.is_one() {
            return value;
        }
        if factor < 0.0 {
            let product = self.scale(-factor, value);
            return self.neg(product);
        }
        if let Instruction::Neg(inner) = self.instruction(value) {
            let product = self.scale(factor, inner);
            return self.neg(product);
        }
        let factor = self.constant(factor);
        self.push(Instruction::Mul(factor, value).ordered())
    }

    pub(crate) fn neg(&mut self, a: Value) -> Value {
        if let Some(x) = self.as_constant(a) {
            return self.constant(-x);
        }
        match self.instruction(a) {
            Instruction::Neg(inner) => inner,
            Instruction::Sub(x, y) => self.push(Instruction::Sub(y, x)),
            _ => self.push(Instruction::Neg(a)),
        }
    }

    pub(crate) fn recip(&mut self, a: Value) -> Value {
        match self.as_constant(a) {
            Some(x) if !x.is_zero() => return self.constant(1.0 / x),
            _ => {}
        }
        match self.instruction(a) {
            Instruction::Neg(inner) => {
                let reciprocal = self.recip(inner);
                self.neg(reciprocal)
            }
            Instruction::Recip(inner) => inner,
            _ => self.push(Instruction::Recip(a)),
        }
    }

    /// a to a non-zero integer power, by squaring.
    pub(crate) fn powi(&mut self, a: Value, exponent: i32) -> Value {
        let base = if exponent < 0 { self.recip(a) } else { a };
        let mut remaining = exponent.unsigned_abs();
        let (mut square, mut power) = (base, None);
        while remaining > 0 {
            if remaining & 1 == 1 {
                power = Some(power.map_or(square, |power| self.mul(power, square)));
            }
            remaining >>= 1;
            if remaining > 0 {
                square = self.mul(square, square);
            }
        }
        power.unwrap_or_else(|| self.constant(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_live_until_the_law_and_the_caller_have_them() {
        let mut builder = Builder::default();
        let [x, y] = [0, 1].map(|index| builder.input(Input::State(Symbol(index))));
        let integrals = [Instruction::Add(x, y), Instruction::Sub(x, y), Instruction::Mul(x, y)];
        let integrals = integrals.map(|instruction| builder.push(instruction));
        let weighted = builder.input(Input::Weighted(0));
        let outputs = [Instruction::Mul(weighted, x), Instruction::Mul(weighted, y)];
        let outputs = outputs.map(|instruction| builder.push(instruction));
        assert_eq!(builder.finish(integrals.to_vec(), outputs.to_vec()).live_values(), 3);

        let mut builder = Builder::default();
        let [x, y] = [0, 1].map(|index| builder.input(Input::State(Symbol(index))));
        let [sum, difference] = [Instruction::Add(x, y), Instruction::Sub(x, y)].map(|value| builder.push(value));
        let fused = builder.push(Instruction::MulAdd(sum, difference, sum));
        let program = builder.finish(Vec::new(), vec![fused]);
        assert_eq!(program.live_values(), 2, "an operand that is read twice dies once");
    }
}
