//! From the instructions of a program to those of the code generator, one to one, so that every rounding is that of emitted Rust.

use std::collections::BTreeMap;

use cranelift_codegen::ir::types::{F64, F64X2};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use fbint_macros_core::derivation::IntegralId;
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::expression;
use fbint_macros_core::program::{Input, Instruction, Program, Value};

use crate::function::{ARRAYS, DeclaredFunction, WEIGH};
use crate::{Error, Place};

/// The size of a number in bytes.
const NUMBER: usize = size_of::<f64>();
/// The logarithm of the alignment of a number.
const ALIGNMENT: u8 = NUMBER.ilog2() as u8;
/// The number of arguments of a program: each is a pointer.
const ARGUMENTS: usize = ARRAYS + 2;

/// What all functions of a module have in common.
pub(crate) struct Translation {
    memory: FunctionBuilderContext,
    /// The elementary functions by their names.
    elementary: BTreeMap<&'static str, FuncId>,
    weigh: FuncId,
}

impl Translation {
    pub(crate) fn new(module: &mut JITModule) -> Result<Self, Error> {
        let mut elementary = BTreeMap::new();
        for function in expression::Function::ALL {
            let mut signature = module.make_signature();
            signature.params.extend((0..function.arguments()).map(|_| AbiParam::new(F64)));
            signature.returns.push(AbiParam::new(F64));
            elementary.insert(function.name(), module.declare_function(function.name(), Linkage::Import, &signature)?);
        }
        // The integrals, what the law returns, the law, and the number of integrals.
        let signature = pointers(module, 4);
        Ok(Self {
            memory: FunctionBuilderContext::new(),
            elementary,
            weigh: module.declare_function(WEIGH, Linkage::Import, &signature)?,
        })
    }

    /// Defines the function of a program, and returns what it takes.
    pub(crate) fn function(
        &mut self,
        module: &mut JITModule,
        program: &Program,
        place: &dyn Fn(Input) -> Option<Place>,
    ) -> Result<DeclaredFunction, Error> {
        let place = &|input| place(input).filter(|place| place.array < ARRAYS);
        let is_missing =
            |instruction: &Instruction| matches!(instruction, Instruction::Input(input) if place(*input).is_none());
        if program.instructions.iter().any(is_missing) {
            return Err(Error::Input);
        }
        let signature = pointers(module, ARGUMENTS);
        let id = module.declare_anonymous_function(&signature)?;
        let mut context = module.make_context();
        context.func.signature = signature;
        let results = program.outputs.len().next_multiple_of(2);
        let mut least = [0; ARRAYS];
        FunctionTranslator::new(self, module, &mut context.func, program).write(place, &mut least);
        module.define_function(id, &mut context)?;
        module.clear_context(&mut context);
        Ok(DeclaredFunction { id, least, results })
    }
}

/// The signature of a function that takes so many pointers, or numbers of their size, and returns nothing.
fn pointers(module: &JITModule, count: usize) -> ir::Signature {
    let mut signature = module.make_signature();
    let pointer = AbiParam::new(module.target_config().pointer_type());
    signature.params.resize(count, pointer);
    signature
}

/// The body of a function under way.
struct FunctionTranslator<'t> {
    builder: FunctionBuilder<'t>,
    module: &'t mut JITModule,
    elementary: &'t BTreeMap<&'static str, FuncId>,
    weigh: FuncId,
    program: &'t Program,
    /// The value of each instruction that has been translated.
    values: Vec<Option<ir::Value>>,
    /// What the law has returned: the place of its first number, and how many there are, by the instruction.
    weighed: BTreeMap<usize, (ir::Value, usize)>,
    /// Where each array starts.
    arrays: [ir::Value; ARRAYS],
    results: ir::Value,
    law: ir::Value,
}

impl<'t> FunctionTranslator<'t> {
    fn new(
        translation: &'t mut Translation,
        module: &'t mut JITModule,
        function: &'t mut ir::Function,
        program: &'t Program,
    ) -> Self {
        let mut builder = FunctionBuilder::new(function, &mut translation.memory);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        builder.seal_block(block);
        let mut arguments = [ir::Value::from_u32(0); ARGUMENTS];
        arguments.copy_from_slice(builder.block_params(block));
        let [arrays @ .., results, law] = arguments;
        Self {
            builder,
            module,
            elementary: &translation.elementary,
            weigh: translation.weigh,
            program,
            values: vec![None; program.instructions.len()],
            weighed: BTreeMap::new(),
            arrays,
            results,
            law,
        }
    }

    /// Translates the program, and collects the least length of each array.
    fn write(mut self, place: &dyn Fn(Input) -> Option<Place>, least: &mut [usize]) {
        let program = self.program;
        let live = program.live();
        for (index, instruction) in program.instructions.iter().enumerate().filter(|(index, _)| live[*index]) {
            self.values[index] = match instruction {
                Instruction::Weigh(integrals) => {
                    self.weighed(index, integrals);
                    None
                }
                Instruction::Input(input) => place(*input).map(|place| self.input(place, least)),
                other => Some(self.value(other)),
            };
        }
        self.store(&program.outputs, self.results);
        self.builder.ins().return_(&[]);
        let target = self.module.target_config();
        self.builder.finalize(target);
    }

    /// The value of an instruction that was translated before.
    fn read(&mut self, value: Value) -> ir::Value {
        match (self.values[value.index()], &self.program.instructions[value.index()]) {
            // A number is written where it is used: it is an operand in memory, and takes no register for long.
            (_, &Instruction::Constant(bits)) => self.builder.ins().f64const(f64::from_bits(bits)),
            (Some(known), _) => known,
            // Programs name earlier instructions alone.
            (None, _) => self.builder.ins().f64const(f64::NAN),
        }
    }

    fn input(&mut self, Place { array, entry }: Place, least: &mut [usize]) -> ir::Value {
        least[array] = least[array].max(entry + 1);
        self.load(self.arrays[array], entry)
    }

    fn load(&mut self, start: ir::Value, entry: usize) -> ir::Value {
        self.builder.ins().load(F64, MemFlagsData::trusted(), start, offset(entry))
    }

    /// Writes numbers in pairs, the last with a zero if there is no other: who reads two at a time need not wait for two writes.
    fn store(&mut self, values: &[Value], start: ir::Value) {
        for (index, pair) in values.chunks(2).enumerate() {
            let pair = [0, 1].map(|place| match pair.get(place) {
                Some(value) => self.read(*value),
                None => self.builder.ins().f64const(0.0),
            });
            let first = self.builder.ins().scalar_to_vector(F64X2, pair[0]);
            let both = self.builder.ins().insertlane(first, pair[1], 1);
            // Numbers are aligned, pairs of them need not be.
            let flags = MemFlagsData::new().with_notrap();
            self.builder.ins().store(flags, both, start, offset(2 * index));
        }
    }

    /// Hands the integrals to the law, which puts as many numbers in their place.
    fn weighed(&mut self, index: usize, integrals: &[Value]) {
        let size = u32::try_from(NUMBER * integrals.len().max(1).next_multiple_of(2)).unwrap_or(u32::MAX);
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, ALIGNMENT);
        let slots = [(); 2].map(|()| self.builder.create_sized_stack_slot(slot.clone()));
        let pointer = self.module.target_config().pointer_type();
        let [given, returned] = slots.map(|slot| self.builder.ins().stack_addr(pointer, slot, 0));
        self.store(integrals, given);
        let count = self.builder.ins().iconst(pointer, i64::try_from(integrals.len()).unwrap_or(0));
        let weigh = self.module.declare_func_in_func(self.weigh, self.builder.func);
        self.builder.ins().call(weigh, &[given, returned, self.law, count]);
        self.weighed.insert(index, (returned, integrals.len()));
    }

    fn value(&mut self, instruction: &Instruction) -> ir::Value {
        match *instruction {
            Instruction::Constant(bits) => self.builder.ins().f64const(f64::from_bits(bits)),
            Instruction::Add(a, b) => self.two(a, b, |build, a, b| build.fadd(a, b)),
            Instruction::Sub(a, b) => self.two(a, b, |build, a, b| build.fsub(a, b)),
            Instruction::Mul(a, b) => self.two(a, b, |build, a, b| build.fmul(a, b)),
            Instruction::Div(a, b) => self.two(a, b, |build, a, b| build.fdiv(a, b)),
            Instruction::Neg(a) => self.negated(a),
            Instruction::Recip(a) => {
                let (one, a) = (self.builder.ins().f64const(1.0), self.read(a));
                self.builder.ins().fdiv(one, a)
            }
            Instruction::Sqrt(a) => {
                let a = self.read(a);
                self.builder.ins().sqrt(a)
            }
            Instruction::MulAdd(a, b, c) => {
                let (a, b, c) = (self.read(a), self.read(b), self.read(c));
                self.multiplied_and_added(a, b, c)
            }
            Instruction::NegMulAdd(a, b, c) => {
                let (a, b, c) = (self.negated(a), self.read(b), self.read(c));
                self.multiplied_and_added(a, b, c)
            }
            Instruction::MulSub(a, b, c) => {
                let (a, b, c) = (self.read(a), self.read(b), self.negated(c));
                self.multiplied_and_added(a, b, c)
            }
            Instruction::NegMulSub(a, b, c) => {
                let (a, b, c) = (self.negated(a), self.read(b), self.negated(c));
                self.multiplied_and_added(a, b, c)
            }
            Instruction::Unary(expression::Function::Abs, a) => {
                let a = self.read(a);
                self.builder.ins().fabs(a)
            }
            Instruction::Unary(function, a) => self.call(function, &[a]),
            Instruction::Binary(function, a, b) => self.call(function, &[a, b]),
            Instruction::Weighed(law, integral) => self.weight(law, integral),
            // Translated before.
            Instruction::Input(_) | Instruction::Weigh(_) => self.builder.ins().f64const(f64::NAN),
        }
    }

    fn two(
        &mut self,
        a: Value,
        b: Value,
        operation: impl FnOnce(cranelift_frontend::FuncInstBuilder<'_, 't>, ir::Value, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let (a, b) = (self.read(a), self.read(b));
        operation(self.builder.ins(), a, b)
    }

    fn negated(&mut self, value: Value) -> ir::Value {
        if let Instruction::Constant(bits) = self.program.instructions[value.index()] {
            return self.builder.ins().f64const(-f64::from_bits(bits));
        }
        let value = self.read(value);
        self.builder.ins().fneg(value)
    }

    /// a b + c with one rounding or two, as the runtime has it on this target.
    fn multiplied_and_added(&mut self, a: ir::Value, b: ir::Value, c: ir::Value) -> ir::Value {
        if cfg!(target_feature = "fma") {
            return self.builder.ins().fma(a, b, c);
        }
        let product = self.builder.ins().fmul(a, b);
        self.builder.ins().fadd(product, c)
    }

    fn call(&mut self, function: expression::Function, arguments: &[Value]) -> ir::Value {
        let arguments: Vec<ir::Value> = arguments.iter().map(|&argument| self.read(argument)).collect();
        let function = self.module.declare_func_in_func(self.elementary[function.name()], self.builder.func);
        let call = self.builder.ins().call(function, &arguments);
        self.builder.inst_results(call)[0]
    }

    fn weight(&mut self, law: Value, integral: IntegralId) -> ir::Value {
        match self.weighed.get(&law.index()).copied() {
            Some((returned, count)) if integral.place() < count => self.load(returned, integral.place()),
            _ => self.builder.ins().f64const(f64::NAN),
        }
    }
}

/// The distance of a number from the first in bytes.
fn offset(entry: usize) -> i32 {
    i32::try_from(entry * NUMBER).unwrap_or(i32::MAX)
}
