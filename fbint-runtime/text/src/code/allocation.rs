//! From values to registers: a linear scan, which is exact for straight-line programs.

use std::collections::{BTreeMap, BTreeSet};

use fbint_catalogue::Source;
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::program::{Instruction, Program, Sign, Value};

use super::order::in_runs;
use super::{
    Code, Layout, MOST_REGISTERS, Opcode, OperationRegisters, OutputRegister, Read, Register, RunLength, Weighing,
};

/// The operands of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// A number, by its bits.
    Constant(u64),
    /// A number that the program is given.
    Input(Source, usize),
    /// The result of another operation.
    Value(Value),
}

/// An operation on values.
pub(super) struct ValueOperation {
    pub(super) kind: Opcode,
    /// The values that it computes: one, or of a weighing all that are read, with their places in y.
    pub(super) results: Vec<(usize, Value)>,
    pub(super) operands: Vec<Operand>,
}

/// The operations that lead to results.
pub(super) struct ValueOperations {
    operations: Vec<ValueOperation>,
    outputs: Vec<([usize; 2], Operand)>,
}

impl ValueOperations {
    pub(super) fn of(program: &Program, outputs: &[([usize; 2], Value)], layout: &Layout) -> Self {
        let live = live(program, outputs);
        let mut operands: Vec<Operand> = Vec::new();
        let mut operations = Vec::new();
        for (index, instruction) in program.instructions.iter().enumerate() {
            let value = Value::at(index);
            let (operand, operation) = match (live[index], operand(instruction, &operands, layout)) {
                (false, _) => (Operand::Value(value), None),
                (true, Some(known)) => (known, None),
                (true, None) => (Operand::Value(value), operation(program, &live, value, &operands)),
            };
            operands.push(operand);
            operations.extend(operation);
        }
        let outputs = outputs.iter().map(|&(place, value)| (place, operands[value.index()])).collect();
        Self { operations: in_runs(operations), outputs }
    }

    /// The code, or `None` if it needs too many registers.
    pub(super) fn code(self) -> Option<Code> {
        let (constants, inputs) = self.given();
        let mut file = File::new(constants, inputs, self.last_reads());
        let mut code = Code::default();
        let (mut runs, mut all_registers, mut weighings): (Vec<RunLength>, _, _) = (Vec::new(), Vec::new(), Vec::new());
        for (index, operation) in self.operations.iter().enumerate() {
            let (operands, results) = file.registers(operation, index)?;
            let operand = |place: usize| operands.get(place).copied().unwrap_or_default();
            let mut registers = OperationRegisters { to: 0, operands: [operand(0), operand(1), operand(2)] };
            if operation.kind == Opcode::Weigh {
                registers.operands[0] = Register::try_from(weighings.len()).ok()?;
                weighings.push(Weighing { integrals: operands.into(), weighed: results.into() });
            } else {
                registers.to = results.first()?.1;
            }
            all_registers.push(registers);
            match runs.last_mut() {
                Some(last) if last.kind == operation.kind => last.count += 1,
                _ => runs.push(RunLength { kind: operation.kind, count: 1 }),
            }
        }
        (code.runs, code.operations, code.weighings) = (runs.into(), all_registers.into(), weighings.into());
        code.outputs = self.outputs.iter().map(|&output| file.output(output)).collect::<Option<_>>()?;
        code.reads = reads(&file.inputs, file.constants.len());
        code.constants = file.constants.iter().map(|bits| f64::from_bits(*bits)).collect();
        code.registers = file.count;
        Some(code)
    }

    /// All operands that are read.
    fn operands(&self) -> impl Iterator<Item = Operand> {
        let of_operations = self.operations.iter().flat_map(|operation| operation.operands.iter().copied());
        of_operations.chain(self.outputs.iter().map(|(_, operand)| *operand))
    }

    /// The constants and the inputs that are read, in the order of their registers.
    fn given(&self) -> (Vec<u64>, Vec<(Source, usize)>) {
        let (mut constants, mut inputs) = (BTreeSet::new(), BTreeSet::new());
        for operand in self.operands() {
            match operand {
                Operand::Constant(bits) => drop(constants.insert(bits)),
                Operand::Input(source, index) => drop(inputs.insert((source, index))),
                Operand::Value(_) => {}
            }
        }
        (constants.into_iter().collect(), inputs.into_iter().collect())
    }

    /// The last operation that reads each value; none for results.
    fn last_reads(&self) -> BTreeMap<Value, usize> {
        let reads = self.operations.iter().enumerate();
        let reads =
            reads.flat_map(|(index, operation)| operation.operands.iter().map(move |operand| (*operand, index)));
        let reads = reads.chain(self.outputs.iter().map(|(_, operand)| (*operand, usize::MAX)));
        let of_values = reads.filter_map(|(operand, index)| match operand {
            Operand::Value(value) => Some((value, index)),
            _ => None,
        });
        of_values.collect()
    }
}

/// Which values some of these outputs depend on.
fn live(program: &Program, outputs: &[([usize; 2], Value)]) -> Vec<bool> {
    Program { instructions: program.instructions.clone(), outputs: outputs.iter().map(|(_, value)| *value).collect() }
        .live()
}

/// The tokens for an instruction that is not an operation.
fn operand(instruction: &Instruction, operands: &[Operand], layout: &Layout) -> Option<Operand> {
    match *instruction {
        Instruction::Constant(bits) => Some(constant(f64::from_bits(bits))),
        Instruction::Input(input) => layout.place(input).map(|(source, index)| Operand::Input(source, index)),
        Instruction::Neg(a) => negative(operands[a.index()]),
        _ => None,
    }
}

/// A constant as emitted, where a negative zero is zero.
fn constant(number: f64) -> Operand {
    let magnitude = number.abs();
    Operand::Constant(if number < 0.0 { -magnitude } else { magnitude }.to_bits())
}

/// The negative of a constant.
fn negative(operand: Operand) -> Option<Operand> {
    match operand {
        Operand::Constant(bits) => Some(constant(-f64::from_bits(bits))),
        _ => None,
    }
}

/// The operation of an instruction; none for an entry of y, which comes with all others.
fn operation(program: &Program, live: &[bool], value: Value, known: &[Operand]) -> Option<ValueOperation> {
    let of = |value: Value| known[value.index()];
    let (kind, operands) = match program.instructions[value.index()] {
        Instruction::Add(a, b) => (Opcode::Add, vec![of(a), of(b)]),
        Instruction::Sub(a, b) => (Opcode::Sub, vec![of(a), of(b)]),
        Instruction::Mul(a, b) => (Opcode::Mul, constant_first(of(a), of(b)).into()),
        Instruction::Div(a, b) => (Opcode::Div, vec![of(a), of(b)]),
        Instruction::Neg(a) => (Opcode::Neg, vec![of(a)]),
        Instruction::Recip(a) => (Opcode::Recip, vec![of(a)]),
        Instruction::Sqrt(a) => (Opcode::Sqrt, vec![of(a)]),
        Instruction::MulAdd(signs, a, b, c) => fused(signs, of(a), of(b), of(c)),
        Instruction::Unary(function, a) => (Opcode::Call(function), vec![of(a), of(a)]),
        Instruction::Binary(function, a, b) => (Opcode::Call(function), vec![of(a), of(b)]),
        Instruction::Weigh(ref integrals) => {
            let results = weighed(program, live, value);
            return Some(ValueOperation {
                kind: Opcode::Weigh,
                results,
                operands: integrals.iter().map(|value| of(*value)).collect(),
            });
        }
        Instruction::Weighed(..) | Instruction::Constant(_) | Instruction::Input(_) => return None,
    };
    Some(ValueOperation { kind, results: vec![(0, value)], operands })
}

/// The entries of y that are read.
fn weighed(program: &Program, live: &[bool], law: Value) -> Vec<(usize, Value)> {
    let entries = program.instructions.iter().enumerate().filter(|(index, _)| live[*index]);
    let entry = |(index, instruction): (usize, &Instruction)| match instruction {
        Instruction::Weighed(of, integral) if *of == law => Some((integral.place(), Value::at(index))),
        _ => None,
    };
    entries.filter_map(entry).collect()
}

fn constant_first(a: Operand, b: Operand) -> [Operand; 2] {
    if matches!(b, Operand::Constant(_)) { [b, a] } else { [a, b] }
}

/// ±a b ± c, where constants take the signs of their terms.
fn fused([product, sum]: [Sign; 2], a: Operand, b: Operand, c: Operand) -> (Opcode, Vec<Operand>) {
    let [a, b] = if product == Sign::Minus { constant_first(a, b) } else { [a, b] };
    let signed = |sign: Sign, operand: Operand| match negative(operand) {
        Some(negative) if sign == Sign::Minus => (Sign::Plus, negative),
        _ => (sign, operand),
    };
    let ((product, a), (sum, c)) = (signed(product, a), signed(sum, c));
    let kind = match (product, sum) {
        (Sign::Plus, Sign::Plus) => Opcode::MulAdd,
        (Sign::Minus, Sign::Plus) => Opcode::NegMulAdd,
        (Sign::Plus, Sign::Minus) => Opcode::MulSub,
        (Sign::Minus, Sign::Minus) => Opcode::NegMulSub,
    };
    (kind, vec![a, b, c])
}

/// The runs of consecutive inputs, whose registers begin behind the constants.
fn reads(inputs: &[(Source, usize)], constants: usize) -> Box<[Read]> {
    let mut reads: Vec<Read> = Vec::new();
    for (place, &(source, index)) in inputs.iter().enumerate() {
        match reads.last_mut() {
            Some(last) if last.source == source && last.first + last.count == index => last.count += 1,
            _ => reads.push(Read { source, first: index, count: 1, to: constants + place }),
        }
    }
    reads.into()
}

/// The registers of results, with their places in y.
type WeighedRegisters = Vec<(usize, Register)>;

/// The registers while they are given to values.
struct File {
    constants: Vec<u64>,
    inputs: Vec<(Source, usize)>,
    last_reads: BTreeMap<Value, usize>,
    /// The registers of values.
    held: BTreeMap<Value, Register>,
    free: Vec<Register>,
    count: usize,
}

impl File {
    fn new(constants: Vec<u64>, inputs: Vec<(Source, usize)>, last_reads: BTreeMap<Value, usize>) -> Self {
        let count = constants.len() + inputs.len();
        Self { constants, inputs, last_reads, held: BTreeMap::new(), free: Vec::new(), count }
    }

    /// The register of an operand.
    fn register(&self, operand: Operand) -> Option<Register> {
        let place = match operand {
            Operand::Constant(bits) => self.constants.binary_search(&bits).ok()?,
            Operand::Input(source, index) => self.constants.len() + self.inputs.binary_search(&(source, index)).ok()?,
            Operand::Value(value) => return self.held.get(&value).copied(),
        };
        Register::try_from(place).ok()
    }

    /// The registers of the operands of an operation, and of its results with their places in y.
    fn registers(&mut self, operation: &ValueOperation, index: usize) -> Option<(Vec<Register>, WeighedRegisters)> {
        let operands = operation.operands.iter().map(|operand| self.register(*operand)).collect::<Option<_>>()?;
        operation.operands.iter().for_each(|operand| self.release(*operand, index));
        let results = operation.results.iter().map(|&(place, value)| Some((place, self.take(value)?)));
        Some((operands, results.collect::<Option<_>>()?))
    }

    fn output(&self, ([row, column], operand): ([usize; 2], Operand)) -> Option<OutputRegister> {
        let [row, column] = [row, column].map(|place| Register::try_from(place).ok());
        Some(OutputRegister { row: row?, column: column?, register: self.register(operand)? })
    }

    /// Frees the register of an operand that no operation after this reads.
    fn release(&mut self, operand: Operand, operation: usize) {
        if let Operand::Value(value) = operand
            && self.last_reads.get(&value) == Some(&operation)
            && let Some(register) = self.held.remove(&value)
        {
            self.free.push(register);
        }
    }

    /// A register for a value.
    fn take(&mut self, value: Value) -> Option<Register> {
        let register = match self.free.pop() {
            Some(register) => register,
            None if self.count < MOST_REGISTERS => {
                self.count += 1;
                Register::try_from(self.count - 1).ok()?
            }
            None => return None,
        };
        self.held.insert(value, register);
        Some(register)
    }
}
