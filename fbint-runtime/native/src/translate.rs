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

use crate::function::{self, ARRAYS, WrittenCode, WrittenFunction};
use crate::{Error, Place};

/// The size of a number in bytes.
pub(crate) const NUMBER: usize = size_of::<f64>();
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
    let mut context = Context::new();
    let (mut translator, [arrays @ .., results, law]) =
        Translator::new::<ARGUMENTS>(processor, &mut context.func, program);
    translator.law = Some(law);
    let mut given = Arrays { arrays, least: [0; ARRAYS], place };
    let outputs = translator.outputs(program, &mut |translator, input| given.read(translator, input))?;
    translator.store(&outputs, results)?;
    translator.cursor.ins().return_(&[]);
    let least = given.least;
    Ok(WrittenFunction { code: written(&mut context, processor)?, least, results: outputs.len().next_multiple_of(2) })
}

/// The machine code of a function that was translated.
pub(crate) fn written(context: &mut Context, processor: &dyn TargetIsa) -> Result<WrittenCode, Error> {
    let compiled = context.compile(processor, &mut ControlPlane::default()).map_err(|error| Box::new(error.inner))?;
    // Nothing is called by its name but what stands in for operations that the processor does not have.
    if !compiled.buffer.relocs().is_empty() {
        return Err(Error::Operation);
    }
    Ok(WrittenCode {
        bytes: compiled.code_buffer().to_vec(),
        alignment: compiled.buffer.alignment.max(processor.function_alignment().preferred) as usize,
    })
}

/// The arrays that a function is called with, whose least lengths are collected.
pub(crate) struct Arrays<'p> {
    pub(crate) arrays: [ir::Value; ARRAYS],
    pub(crate) least: [usize; ARRAYS],
    pub(crate) place: &'p dyn Fn(Input) -> Option<Place>,
}

impl Arrays<'_> {
    /// The value of an input.
    pub(crate) fn read(&mut self, translator: &mut Translator<'_>, input: Input) -> Result<ir::Value, Error> {
        let Some(Place { array: array @ 0..ARRAYS, entry }) = (self.place)(input) else { return Err(Error::Input) };
        let value = translator.load(F64, self.arrays[array], entry)?;
        self.least[array] = self.least[array].max(entry + 1);
        Ok(value)
    }
}

/// Gives the values of the inputs of a program.
pub(crate) type Reader<'r, 't> = dyn FnMut(&mut Translator<'t>, Input) -> Result<ir::Value, Error> + 'r;

/// The body of a function under way.
pub(crate) struct Translator<'t> {
    pub(crate) cursor: FuncCursor<'t>,
    /// The type of pointers, and of numbers of their size.
    pub(crate) pointer: Type,
    /// The signatures of elementary functions by the number of their arguments, and the signature for calling the law.
    elementary: [ir::SigRef; 2],
    weigher: ir::SigRef,
    program: &'t Program,
    /// The value of each instruction that has been translated.
    values: Vec<Option<ir::Value>>,
    /// The law's results: the place and the number of its values, by the instruction.
    weighed: BTreeMap<usize, (ir::Value, usize)>,
    /// The law, if there is one.
    law: Option<ir::Value>,
}

impl<'t> Translator<'t> {
    /// Begins a function whose arguments are pointers, and which are returned.
    pub(crate) fn new<const ARGUMENTS: usize>(
        processor: &dyn TargetIsa,
        function: &'t mut ir::Function,
        program: &'t Program,
    ) -> (Self, [ir::Value; ARGUMENTS]) {
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
        let arguments = [(); ARGUMENTS].map(|()| function.dfg.append_block_param(block, pointer));
        let mut cursor = FuncCursor::new(function);
        cursor.insert_block(block);
        let (values, weighed) = (Vec::new(), BTreeMap::new());
        (Self { cursor, pointer, elementary, weigher, program, values, weighed, law: None }, arguments)
    }

    /// Translates a program; returns its outputs.
    pub(crate) fn outputs(
        &mut self,
        program: &'t Program,
        input: &mut Reader<'_, 't>,
    ) -> Result<Vec<ir::Value>, Error> {
        self.program = program;
        self.values = vec![None; program.instructions.len()];
        let live = program.live();
        for (index, instruction) in program.instructions.iter().enumerate().filter(|(index, _)| live[*index]) {
            self.values[index] = match instruction {
                Instruction::Weigh(integrals) => {
                    self.weighed(index, integrals)?;
                    None
                }
                Instruction::Input(of) => Some(input(self, *of)?),
                Instruction::Weighed(law, integral) => Some(self.weight(*law, *integral)?),
                other => Some(self.value(other)),
            };
        }
        Ok(program.outputs.iter().map(|output| self.read(*output)).collect())
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

    /// The number, or the two of them, in memory from an entry on. Nothing writes there between this place and the last that uses them, so
    /// that they are loaded where they are used, and need no register before.
    pub(crate) fn load(&mut self, numbers: Type, start: ir::Value, entry: usize) -> Result<ir::Value, Error> {
        // Numbers are aligned, pairs of them need not be.
        let flags = if numbers == F64X2 { MemFlagsData::new().with_notrap() } else { MemFlagsData::trusted() };
        Ok(self.cursor.ins().load(numbers, flags.with_readonly().with_can_move(), start, offset(entry)?))
    }

    /// Writes numbers in pairs, an odd last one with a zero: a reader of two at a time need not wait for two writes.
    pub(crate) fn store(&mut self, values: &[ir::Value], start: ir::Value) -> Result<(), Error> {
        for (index, pair) in values.chunks(2).enumerate() {
            let first = self.cursor.ins().splat(F64X2, pair[0]);
            let second = pair.get(1).copied().unwrap_or_else(|| self.cursor.ins().f64const(0.0));
            let both = if second == pair[0] { first } else { self.cursor.ins().insertlane(first, second, 1) };
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
        let law = self.law.ok_or(Error::Input)?;
        let numbers: Vec<ir::Value> = integrals.iter().map(|integral| self.read(*integral)).collect();
        self.store(&numbers, given)?;
        let count = self.whole(integrals.len());
        let weigher = self.whole(function::weigher());
        self.cursor.ins().call_indirect(self.weigher, weigher, &[given, returned, law, count]);
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
            Instruction::MulAdd(signs, a, b, c) if cfg!(target_feature = "fma") => {
                let (a, b, c) = (self.signed(signs[0], a), self.read(b), self.signed(signs[1], c));
                self.multiplied_and_added(a, b, c)
            }
            // Nothing rounds differently where a product is subtracted than where its negative is added.
            Instruction::MulAdd([Sign::Minus, Sign::Plus], a, b, c) => {
                let (product, c) = (self.two(a, b, |build, a, b| build.fmul(a, b)), self.read(c));
                self.cursor.ins().fsub(c, product)
            }
            Instruction::MulAdd([product, sum], a, b, c) => {
                let a = self.signed(product, a);
                let (b, c) = (self.read(b), self.read(c));
                let product = self.cursor.ins().fmul(a, b);
                match sum {
                    Sign::Plus => self.cursor.ins().fadd(product, c),
                    Sign::Minus => self.cursor.ins().fsub(product, c),
                }
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
    pub(crate) fn multiplied_and_added(&mut self, a: ir::Value, b: ir::Value, c: ir::Value) -> ir::Value {
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
    pub(crate) fn whole(&mut self, number: usize) -> ir::Value {
        self.cursor.ins().iconst(self.pointer, (number as u64).cast_signed())
    }

    fn weight(&mut self, law: Value, integral: IntegralId) -> Result<ir::Value, Error> {
        match self.weighed.get(&law.index()).copied() {
            Some((returned, count)) if integral.place() < count => {
                let offset = offset(integral.place())?;
                Ok(self.cursor.ins().load(F64, MemFlagsData::trusted(), returned, offset))
            }
            _ => Ok(self.cursor.ins().f64const(f64::NAN)),
        }
    }
}

/// The distance of a number from the first in bytes.
pub(crate) fn offset(entry: usize) -> Result<i32, Error> {
    let bytes = entry.checked_mul(NUMBER).and_then(|bytes| i32::try_from(bytes).ok());
    bytes.ok_or(Error::Length)
}
