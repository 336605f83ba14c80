//! A program in a form that is evaluated quickly: compact instructions on one file of registers.
//!
//! Evaluation gives the bits of the Rust that the compiler emits: each instruction is the operation of the runtime's [`Scalar`] that is
//! emitted for it, on the same operands in the same order. So a product has its constant first, and what is negated is a constant with
//! its other sign where it is one.
//!
//! Which operation comes next is known for a whole run of operations of one kind: instructions are reordered into such runs, which changes
//! no result.
//!
//! The file begins with the constants and with what the program reads, so that both are operands like any other; then come the results
//! of instructions, whose registers are used again after the last instruction that reads them.

mod allocation;
mod machine;
mod order;

use std::sync::Arc;

use fbint_catalogue::{Given, Source};
use fbint_macros_core::derivation::table::{Id, Table};
use fbint_macros_core::derivation::{Role, SymbolInfo, Symbols};
use fbint_macros_core::expression::{Function, Symbol};
use fbint_macros_core::program::{Input, Instruction, Program, Value};
use fbint_native::Place;
use fbint_runtime::Scalar;

use self::allocation::ValueOperations;
use self::machine::Machine;

/// The place of a number in the file of registers.
type Register = u16;

/// The most registers that a file can have.
pub(crate) const MOST_REGISTERS: usize = Register::MAX as usize + 1;

/// A result: its place in a matrix, or in a list, whose column is 0, and its register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputRegister {
    pub(crate) row: Register,
    pub(crate) column: Register,
    register: Register,
}

/// Where results that do not vanish identically go.
pub(crate) enum Destination<'a, T> {
    /// To their rows.
    List(&'a mut [T]),
    /// To a function, with their places.
    Entries(&'a mut dyn FnMut(&OutputRegister, T)),
}

/// A call of the feedback law: the registers of F, and the registers of the entries of y that are read.
#[derive(Clone, Debug)]
pub(crate) struct Weighing {
    pub(crate) integrals: Box<[Register]>,
    pub(crate) weighed: Box<[(usize, Register)]>,
}

/// A program, to be evaluated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    constants: Box<[f64]>,
    reads: Box<[Read]>,
    runs: Box<[RunLength]>,
    operations: Box<[OperationRegisters]>,
    weighings: Box<[Weighing]>,
    outputs: Box<[OutputRegister]>,
    registers: usize,
    machine: Option<Machine>,
}

/// Consecutive numbers that are copied into consecutive registers.
#[derive(Clone, Copy, Debug)]
struct Read {
    source: Source,
    first: usize,
    count: usize,
    to: usize,
}

/// The registers of an operation.
#[derive(Clone, Copy, Debug)]
struct OperationRegisters {
    to: Register,
    operands: [Register; 3],
}

/// Consecutive operations of one kind.
#[derive(Clone, Copy, Debug)]
struct RunLength {
    kind: Opcode,
    count: usize,
}

/// The result of an operation on its operands a, b, c.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Opcode {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a b
    Mul,
    /// a / b
    Div,
    /// -a
    Neg,
    /// 1 / a
    Recip,
    /// The square root of a.
    Sqrt,
    /// a b + c
    MulAdd,
    /// -a b + c
    NegMulAdd,
    /// a b - c
    MulSub,
    /// -a b - c
    NegMulSub,
    /// A function of a, or of a and b.
    Call(Function),
    /// A call of the law: a is the index of the [`Weighing`].
    Weigh,
}

/// Where the entries of a matrix, or of a list, which has one column, are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    /// The number of columns.
    pub(crate) count: usize,
    /// The columns from the first of these to the second are not wanted, and those behind have their places.
    pub(crate) without: [usize; 2],
}

impl Columns {
    /// The only one, of a list.
    pub(crate) const ONE: Self = Self { count: 1, without: [1, 1] };

    /// All of this number.
    pub(crate) fn all(count: usize) -> Self {
        Self { count, without: [count, count] }
    }

    /// The row and the column of an output, if it is wanted.
    fn place(self, output: usize) -> Option<[usize; 2]> {
        let [first, behind] = self.without;
        let (row, column) = (output / self.count.max(1), output % self.count.max(1));
        match column {
            column if column < first => Some([row, column]),
            column if column >= behind => Some([row, column - (behind - first)]),
            _ => None,
        }
    }
}

impl Code {
    /// The code of a program whose outputs are a list. The machine code writes all of them, in their order.
    ///
    /// `None` if it needs more registers than there are.
    pub(crate) fn of_list(program: &Program, layout: &Arc<Layout>) -> Option<Self> {
        let outputs = results(program, Columns::ONE);
        Self::new(program, &outputs, program.outputs.clone(), layout)
    }

    /// The code of a program whose outputs are a matrix, row by row. The machine code, too, writes those alone that do not vanish
    /// identically, in the order of [`outputs`](Self::outputs).
    ///
    /// `None` if it needs more registers than there are.
    pub(crate) fn of_matrix(program: &Program, columns: Columns, layout: &Arc<Layout>) -> Option<Self> {
        let outputs = results(program, columns);
        let written = outputs.iter().map(|(_, value)| *value).collect();
        Self::new(program, &outputs, written, layout)
    }

    fn new(
        program: &Program,
        outputs: &[([usize; 2], Value)],
        written: Vec<Value>,
        layout: &Arc<Layout>,
    ) -> Option<Self> {
        let machine = Program { instructions: program.instructions.clone(), outputs: written };
        let machine = Some(Machine::new(machine, layout));
        ValueOperations::of(program, outputs, layout).code().map(|code| Self { machine, ..code })
    }

    /// The machine code, if there is any.
    pub(crate) fn machine(&self) -> Option<&fbint_native::Function> {
        self.machine.as_ref()?.function()
    }

    /// The machine code, if it was made before.
    pub(crate) fn made_machine(&self) -> Option<&fbint_native::Function> {
        self.machine.as_ref()?.made()
    }

    /// The places of the results that do not vanish identically, in the order in which [`evaluate`](Self::evaluate) gives them.
    pub(crate) fn outputs(&self) -> &[OutputRegister] {
        &self.outputs
    }

    /// Evaluates the program. `weigh` calls the law.
    pub(crate) fn evaluate<T: Scalar>(
        &self,
        given: &Given<'_, T>,
        weigh: &dyn Fn(&Weighing, &mut dyn Registers<T>),
        results: Destination<'_, T>,
    ) {
        // Most programs fit into the first; the memory of the others is a list, which takes longer to make than to use.
        match self.registers {
            0..=64 => self.evaluate_in(&mut [T::from_f64(0.0); 64], given, weigh, results),
            65..=256 => self.evaluate_in(&mut [T::from_f64(0.0); 256], given, weigh, results),
            257..=1024 => self.evaluate_in(&mut [T::from_f64(0.0); 1024], given, weigh, results),
            more => self.evaluate_in(&mut RegisterList(vec![T::from_f64(0.0); more]), given, weigh, results),
        }
    }

    fn evaluate_in<T: Scalar>(
        &self,
        file: &mut impl Registers<T>,
        given: &Given<'_, T>,
        weigh: &dyn Fn(&Weighing, &mut dyn Registers<T>),
        results: Destination<'_, T>,
    ) {
        for (register, &constant) in file.all().iter_mut().zip(&self.constants) {
            *register = T::from_f64(constant);
        }
        for read in &self.reads {
            let numbers = given[read.source].get(read.first..read.first + read.count);
            let registers = file.all().get_mut(read.to..read.to + read.count);
            if let (Some(numbers), Some(registers)) = (numbers, registers) {
                registers.copy_from_slice(numbers);
            }
        }
        let mut rest = &self.operations[..];
        for run in &self.runs {
            let (operations, later) = rest.split_at(run.count);
            rest = later;
            match run.kind {
                Opcode::Weigh => {
                    for call in operations {
                        weigh(&self.weighings[usize::from(call.operands[0])], file);
                    }
                }
                kind => kind.perform(operations, file),
            }
        }
        match results {
            Destination::List(list) => {
                for place in &self.outputs {
                    list[usize::from(place.row)] = file.get(place.register);
                }
            }
            Destination::Entries(add) => {
                for place in &self.outputs {
                    add(place, file.get(place.register));
                }
            }
        }
    }
}

impl Opcode {
    /// Performs operations of this kind, one after the other.
    #[inline(always)]
    fn perform<T: Scalar>(self, operations: &[OperationRegisters], file: &mut impl Registers<T>) {
        match self {
            Self::Add => each(operations, file, |[a, b, _]| a + b),
            Self::Sub => each(operations, file, |[a, b, _]| a - b),
            Self::Mul => each(operations, file, |[a, b, _]| a * b),
            Self::Div => each(operations, file, |[a, b, _]| a / b),
            Self::Neg => each(operations, file, |[a, ..]| -a),
            Self::Recip => each(operations, file, |[a, ..]| a.recip()),
            Self::Sqrt => each(operations, file, |[a, ..]| a.sqrt()),
            Self::MulAdd => each(operations, file, |[a, b, c]| a.mul_add(b, c)),
            Self::NegMulAdd => each(operations, file, |[a, b, c]| (-a).mul_add(b, c)),
            Self::MulSub => each(operations, file, |[a, b, c]| a.mul_add(b, -c)),
            Self::NegMulSub => each(operations, file, |[a, b, c]| (-a).mul_add(b, -c)),
            Self::Call(function) => each(operations, file, |[a, b, _]| call(function, a, b)),
            Self::Weigh => {}
        }
    }
}

#[inline(always)]
fn each<T: Scalar>(operations: &[OperationRegisters], file: &mut impl Registers<T>, result: impl Fn([T; 3]) -> T) {
    for operation in operations {
        // Not by taking the array apart, with which lanes take a fifth longer.
        let operands = operation.operands.map(|register| file.get(register));
        file.set(operation.to, result(operands));
    }
}

/// A function of `x`, or of `x` and `y`.
fn call<T: Scalar>(function: Function, x: T, y: T) -> T {
    match function {
        Function::Abs => x.abs(),
        Function::Sign => x.sign(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Asin => x.asin(),
        Function::Acos => x.acos(),
        Function::Atan => x.atan(),
        Function::Sinh => x.sinh(),
        Function::Cosh => x.cosh(),
        Function::Tanh => x.tanh(),
        Function::Exp => x.exp(),
        Function::Ln => x.ln(),
        Function::Atan2 => x.atan2(y),
        Function::Powf => x.powf(y),
        Function::Step => x.step(),
    }
}

/// The results of a program that are wanted and do not vanish identically, with their rows and columns.
fn results(program: &Program, columns: Columns) -> Vec<([usize; 2], Value)> {
    let zero = Instruction::constant(0.0);
    let outputs = program.outputs.iter().enumerate();
    let outputs = outputs.filter(|(_, value)| program.instructions[value.index()] != zero);
    outputs.filter_map(|(output, value)| Some((columns.place(output)?, *value))).collect()
}

/// A file of registers.
pub(crate) trait Registers<T> {
    /// The number in a register of the program.
    fn get(&self, register: Register) -> T;
    /// Changes the number in a register of the program.
    fn set(&mut self, register: Register, number: T);
    /// All of them.
    fn all(&mut self) -> &mut [T];
}

/// As many registers as a power of two, so that no index has to be compared with their number.
impl<T: Copy, const N: usize> Registers<T> for [T; N] {
    #[inline(always)]
    fn get(&self, register: Register) -> T {
        const { assert!(N.is_power_of_two()) };
        self[usize::from(register) & (N - 1)]
    }

    #[inline(always)]
    fn set(&mut self, register: Register, number: T) {
        self[usize::from(register) & (N - 1)] = number;
    }

    fn all(&mut self) -> &mut [T] {
        self
    }
}

/// Any number of registers.
struct RegisterList<T>(Vec<T>);

impl<T: Copy> Registers<T> for RegisterList<T> {
    #[inline(always)]
    fn get(&self, register: Register) -> T {
        self.0[usize::from(register)]
    }

    #[inline(always)]
    fn set(&mut self, register: Register, number: T) {
        self.0[usize::from(register)] = number;
    }

    fn all(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Where what programs read is found.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The place of each unknown within its kind.
    places: Table<Symbol, usize>,
    /// The number of inputs, which the sides of switches come after.
    inputs: usize,
}

impl Layout {
    pub(crate) fn of(symbols: &Symbols) -> Self {
        let mut counts = [0; 3];
        let mut next = |kind: usize| {
            counts[kind] += 1;
            counts[kind] - 1
        };
        let place = |symbol: &SymbolInfo| match symbol.role {
            role if role.is_state() => next(0),
            Role::Parameter => next(1),
            Role::Input => next(2),
            _ => 0,
        };
        let places = symbols.rows().map(place).collect();
        Self { places, inputs: counts[2] }
    }

    /// The place of an input for machine code, whose arrays are the lists of [`Given`].
    pub(crate) fn place_in_arrays(&self, input: Input) -> Option<Place> {
        self.place(input).map(|(source, entry)| Place { array: source as usize, entry })
    }

    /// The place of an input; `None` of those that only directional derivatives and adjoints read.
    fn place(&self, input: Input) -> Option<(Source, usize)> {
        Some(match input {
            Input::State(symbol) => (Source::State, self.places[symbol]),
            Input::Parameter(symbol) => (Source::Prepared, self.places[symbol]),
            Input::Driving(symbol) => (Source::Inputs, self.places[symbol]),
            Input::Side(place) => (Source::Inputs, self.inputs + place),
            Input::Prepared(index) => (Source::Prepared, index),
            Input::Variance(symbol) => (Source::First, symbol.place()),
            Input::Gain(integral) => (Source::First, integral.place()),
            Input::Noise(integral) | Input::Target(integral) => (Source::Second, integral.place()),
            Input::Order(place) => (Source::First, place),
            Input::Initial(place) => (Source::Second, place),
            Input::Acceleration(place) => (Source::First, place),
            _ => return None,
        })
    }
}
