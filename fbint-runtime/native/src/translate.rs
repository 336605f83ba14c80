//! From the instructions of a program to the code generator's, one to one, so that everything rounds as in emitted Rust.

use std::collections::BTreeMap;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::types::{F64, F64X2, Type};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind};
use cranelift_codegen::isa::TargetIsa;
use fbint_macros_core::derivation::IntegralId;
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::expression;
use fbint_macros_core::program::{Input, Instruction, Program, Sign, Value};

use crate::function::{self, ARRAYS, WrittenFunction};
use crate::{Error, Place};

/// The size of a number in bytes.
const NUMBER: usize = size_of::<f64>();
/// The logarithm of the alignment of a number.
const ALIGNMENT: u8 = NUMBER.ilog2() as u8;
/// The number of arguments of a program: each is a pointer.
const ARGUMENTS: usize = ARRAYS + 2;

/// The machine code of a program.
pub(crate) fn function(
    processor: &dyn TargetIsa,
    program: &Program,
    place: &dyn Fn(Input) -> Option<Place>,
) -> Result<WrittenFunction, Error> {
    let place = &|input| place(input).filter(|place| place.array < ARRAYS);
    let is_missing =
        |instruction: &Instruction| matches!(instruction, Instruction::Input(input) if place(*input).is_none());
    if program.instructions.iter().any(is_missing) {
        return Err(Error::Input);
    }
    let mut context = Context::new();
    let mut least = [0; ARRAYS];
    FunctionTranslator::new(processor, &mut context.func, program).write(place, &mut least)?;
    let compiled = context.compile(processor, &mut ControlPlane::default()).map_err(|error| Box::new(error.inner))?;
    // Nothing is called by its name but what stands in for operations that the processor does not have.
    if !compiled.buffer.relocs().is_empty() {
        return Err(Error::Operation);
    }
    Ok(WrittenFunction {
        code: compiled.code_buffer().to_vec(),
        alignment: compiled.buffer.alignment.max(processor.function_alignment().preferred) as usize,
        least,
        results: program.outputs.len().next_multiple_of(2),
    })
}

/// The body of a function under way.
struct FunctionTranslator<'t> {
    cursor: FuncCursor<'t>,
    /// The type of pointers, and of numbers of their size.
    pointer: Type,
    /// The signatures of elementary functions by the number of their arguments, and the signature for calling the law.
    elementary: [ir::SigRef; 2],
    weigher: ir::SigRef,
    program: &'t Program,
    /// The value of each instruction that has been translated.
    values: Vec<Option<ir::Value>>,
    /// The law's results: the place and the number of its values, by the instruction.
    weighed: BTreeMap<usize, (ir::Value, usize)>,
    /// Where each array starts.
    arrays: [ir::Value; ARRAYS],
    results: ir::Value,
    law: ir::Value,
}

impl<'t> FunctionTranslator<'t> {
    fn new(processor: &dyn TargetIsa, function: &'t mut ir::Function, program: &'t Program) -> Self {
        let pointer = processor.pointer_type();
        let signature = |parameters: Vec<Type>, returned: &[Type]| {
            let mut signature = ir::Signature::new(processor.default_call_conv());
            signature.params.extend(parameters.into_iter().map(AbiParam::new));
            signature.returns.extend(returned.iter().copied().map(AbiParam::new));
            signature
        };
        function.signature = signature(vec![pointer; ARGUMENTS], &[]);
        let elementary = [1, 2].map(|arguments| function.import_signature(signature(vec![F64; arguments], &[F64])));
        // The integrals, what the law returns, the law, and the number of integrals.
        let weigher = function.import_signature(signature(vec![pointer; 4], &[]));
        let block = function.dfg.make_block();
        let [arrays @ .., results, law]: [ir::Value; ARGUMENTS] =
            [(); ARGUMENTS].map(|()| function.dfg.append_block_param(block, pointer));
        let mut cursor = FuncCursor::new(function);
        cursor.insert_block(block);
        Self {
            cursor,
            pointer,
            elementary,
            weigher,
            program,
            values: vec![None; program.instructions.len()],
            weighed: BTreeMap::new(),
            arrays,
            results,
            law,
        }
    }

    /// Translates the program, and collects the least length of each array.
    fn write(mut self, place: &dyn Fn(Input) -> Option<Place>, least: &mut [usize]) -> Result<(), Error> {
        let program = self.program;
        let live = program.live();
        for (index, instruction) in program.instructions.iter().enumerate().filter(|(index, _)| live[*index]) {
            self.values[index] = match instruction {
                Instruction::Weigh(integrals) => {
                    self.weighed(index, integrals)?;
                    None
                }
                Instruction::Input(input) => Some(self.input(place(*input).ok_or(Error::Input)?, least)?),
                Instruction::Weighed(law, integral) => Some(self.weight(*law, *integral)?),
                other => Some(self.value(other)),
            };
        }
        self.store(&program.outputs, self.results)?;
        self.cursor.ins().return_(&[]);
        Ok(())
    }

    /// The value of an instruction that was translated before.
    fn read(&mut self, value: Value) -> ir::Value {
        match (self.values[value.index()], &self.program.instructions[value.index()]) {
            // A number is written where it is used: it is an operand in memory, and takes no register for long.
            (_, &Instruction::Constant(bits)) => self.cursor.ins().f64const(f64::from_bits(bits)),
            (Some(known), _) => known,
            // Programs name earlier instructions alone.
            (None, _) => self.cursor.ins().f64const(f64::NAN),
        }
    }

    fn input(&mut self, Place { array, entry }: Place, least: &mut [usize]) -> Result<ir::Value, Error> {
        let value = self.load(self.arrays[array], entry)?;
        least[array] = least[array].max(entry + 1);
        Ok(value)
    }

    fn load(&mut self, start: ir::Value, entry: usize) -> Result<ir::Value, Error> {
        Ok(self.cursor.ins().load(F64, MemFlagsData::trusted(), start, offset(entry)?))
    }

    /// Writes numbers in pairs, an odd last one with a zero: a reader of two at a time need not wait for two writes.
    fn store(&mut self, values: &[Value], start: ir::Value) -> Result<(), Error> {
        for (index, pair) in values.chunks(2).enumerate() {
            let pair = [0, 1].map(|place| match pair.get(place) {
                Some(value) => self.read(*value),
                None => self.cursor.ins().f64const(0.0),
            });
            let first = self.cursor.ins().scalar_to_vector(F64X2, pair[0]);
            let both = self.cursor.ins().insertlane(first, pair[1], 1);
            // Numbers are aligned, pairs of them need not be.
            let flags = MemFlagsData::new().with_notrap();
            self.cursor.ins().store(flags, both, start, offset(2 * index)?);
        }
        Ok(())
    }

    /// Hands the integrals to the law, which puts as many numbers in their place.
    fn weighed(&mut self, index: usize, integrals: &[Value]) -> Result<(), Error> {
        let size = offset(integrals.len().max(1).next_multiple_of(2))?.unsigned_abs();
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, ALIGNMENT);
        let slots = [(); 2].map(|()| self.cursor.func.create_sized_stack_slot(slot.clone()));
        let [given, returned] = slots.map(|slot| self.cursor.ins().stack_addr(self.pointer, slot, 0));
        self.store(integrals, given)?;
        let count = self.whole(integrals.len());
        let weigher = self.whole(function::weigher());
        self.cursor.ins().call_indirect(self.weigher, weigher, &[given, returned, self.law, count]);
        self.weighed.insert(index, (returned, integrals.len()));
        Ok(())
    }

    fn value(&mut self, instruction: &Instruction) -> ir::Value {
        match *instruction {
            Instruction::Constant(bits) => self.cursor.ins().f64const(f64::from_bits(bits)),
            Instruction::Add(a, b) => self.two(a, b, |build, a, b| build.fadd(a, b)),
            Instruction::Sub(a, b) => self.two(a, b, |build, a, b| build.fsub(a, b)),
            Instruction::Mul(a, b) => self.two(a, b, |build, a, b| build.fmul(a, b)),
            Instruction::Div(a, b) => self.two(a, b, |build, a, b| build.fdiv(a, b)),
            Instruction::Neg(a) => self.negated(a),
            Instruction::Recip(a) => {
                let (one, a) = (self.cursor.ins().f64const(1.0), self.read(a));
                self.cursor.ins().fdiv(one, a)
            }
            Instruction::Sqrt(a) => {
                let a = self.read(a);
                self.cursor.ins().sqrt(a)
            }
            Instruction::MulAdd([product, sum], a, b, c) => {
                let (a, b, c) = (self.signed(product, a), self.read(b), self.signed(sum, c));
                self.multiplied_and_added(a, b, c)
            }
            Instruction::Unary(expression::Function::Abs, a) => {
                let a = self.read(a);
                self.cursor.ins().fabs(a)
            }
            Instruction::Unary(function, a) => self.call(function, &[a]),
            Instruction::Binary(function, a, b) => self.call(function, &[a, b]),
            // Translated before.
            Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {
                self.cursor.ins().f64const(f64::NAN)
            }
        }
    }

    fn two(
        &mut self,
        a: Value,
        b: Value,
        operation: impl FnOnce(ir::InsertBuilder<'_, &mut FuncCursor<'t>>, ir::Value, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let (a, b) = (self.read(a), self.read(b));
        operation(self.cursor.ins(), a, b)
    }

    fn signed(&mut self, sign: Sign, value: Value) -> ir::Value {
        if sign == Sign::Minus { self.negated(value) } else { self.read(value) }
    }

    fn negated(&mut self, value: Value) -> ir::Value {
        if let Instruction::Constant(bits) = self.program.instructions[value.index()] {
            return self.cursor.ins().f64const(-f64::from_bits(bits));
        }
        let value = self.read(value);
        self.cursor.ins().fneg(value)
    }

    /// a b + c with one rounding or two, as the runtime has it on this target.
    fn multiplied_and_added(&mut self, a: ir::Value, b: ir::Value, c: ir::Value) -> ir::Value {
        if cfg!(target_feature = "fma") {
            return self.cursor.ins().fma(a, b, c);
        }
        let product = self.cursor.ins().fmul(a, b);
        self.cursor.ins().fadd(product, c)
    }

    fn call(&mut self, function: expression::Function, arguments: &[Value]) -> ir::Value {
        let arguments: Vec<ir::Value> = arguments.iter().map(|&argument| self.read(argument)).collect();
        let address = self.whole(function::elementary(function));
        let signature = self.elementary[arguments.len() - 1];
        let call = self.cursor.ins().call_indirect(signature, address, &arguments);
        self.cursor.func.dfg.first_result(call)
    }

    /// A number of the size of a pointer, or an address.
    fn whole(&mut self, number: usize) -> ir::Value {
        self.cursor.ins().iconst(self.pointer, (number as u64).cast_signed())
    }

    fn weight(&mut self, law: Value, integral: IntegralId) -> Result<ir::Value, Error> {
        match self.weighed.get(&law.index()).copied() {
            Some((returned, count)) if integral.place() < count => self.load(returned, integral.place()),
            _ => Ok(self.cursor.ins().f64const(f64::NAN)),
        }
    }
}

/// The distance of a number from the first in bytes.
fn offset(entry: usize) -> Result<i32, Error> {
    let bytes = entry.checked_mul(NUMBER).and_then(|bytes| i32::try_from(bytes).ok());
    bytes.ok_or(Error::Length)
}
