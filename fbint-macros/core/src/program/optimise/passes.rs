//! Passes over finished programs, each a verb, in the order of [`PASSES`]. Each keeps every result up to rounding; what it leaves
//! unread is dropped.

use std::collections::{BTreeMap, BTreeSet};

use super::schedule::schedule;
use crate::program::code::Sign::{Minus, Plus};
use crate::program::code::{Builder, Input, Instruction, Program, Value};
use crate::program::derivatives::tangents;

/// A rewriting of a program, which may move something into the program that prepares.
type Pass = fn(&mut Optimiser, &mut Program);

const PASSES: [Pass; 5] = [
    |_, program| turn_differences(program),
    Optimiser::hoist_parameters,
    |_, program| divide(program),
    |_, program| fuse_multiply_add(program),
    |_, program| schedule(program),
];

/// All passes over several programs, and the program that prepares: what they compute from parameters alone.
#[derive(Default)]
pub(crate) struct Optimiser {
    builder: Builder,
    outputs: Vec<Value>,
}

impl Optimiser {
    /// All passes over a program.
    pub(crate) fn optimise(&mut self, program: &mut Program) {
        for rewrite in PASSES {
            rewrite(self, program);
            program.eliminate_dead_values();
        }
    }

    /// The program that prepares directions: the changes that these programs read, which are counted anew.
    pub(crate) fn prepare_direction(&mut self, programs: Vec<&mut Program>) -> Program {
        let of = |instruction: &Instruction| match instruction {
            Instruction::Input(Input::Change(index)) => Some(*index),
            _ => None,
        };
        let read: BTreeSet<usize> =
            programs.iter().flat_map(|program| program.instructions.iter().filter_map(of)).collect();
        let places: BTreeMap<usize, usize> = read.iter().copied().zip(0..).collect();
        for instruction in programs.into_iter().flat_map(|program| &mut program.instructions) {
            if let Some(index) = of(instruction) {
                *instruction = Instruction::Input(Input::Change(places[&index]));
            }
        }
        self.changes(&read)
    }

    /// The program that prepares.
    pub(crate) fn prepare(self) -> Program {
        let mut prepare = self.builder.finish(self.outputs);
        prepare.eliminate_dead_values();
        divide(&mut prepare);
        fuse_multiply_add(&mut prepare);
        prepare.eliminate_dead_values();
        prepare
    }

    /// Every value that depends on parameters alone and is read by one that does not becomes an input.
    fn hoist_parameters(&mut self, program: &mut Program) {
        let unprepared = program.depending(|input| !matches!(input, Input::Parameter(_) | Input::Prepared(_)));
        // The value in the program that prepares, for those that depend on parameters or numbers alone.
        let mut prepared: Vec<Option<Value>> = Vec::with_capacity(unprepared.len());
        for (instruction, unprepared) in program.instructions.iter().zip(unprepared) {
            let moved = |operand: Value| prepared[operand.index()].unwrap_or(operand);
            prepared.push(match instruction {
                // What is prepared already.
                Instruction::Input(Input::Prepared(index)) => Some(self.outputs[*index]),
                other => (!unprepared).then(|| self.builder.push(other.clone().map(moved).ordered())),
            });
        }
        let mut read = vec![false; program.instructions.len()];
        for (instruction, prepared) in program.instructions.iter().zip(&prepared) {
            if prepared.is_none() {
                instruction.operands().for_each(|operand| read[operand.index()] = true);
            }
        }
        program.outputs.iter().for_each(|value| read[value.index()] = true);
        for index in 0..program.instructions.len() {
            let constant = matches!(program.instructions[index], Instruction::Constant(_));
            if let (Some(value), true, false) = (prepared[index], read[index], constant) {
                program.instructions[index] = Instruction::Input(Input::Prepared(self.output(value)));
            }
        }
    }

    /// c' = dc/dp p' of each of these results c, whose slopes dc/dp are prepared, too.
    fn changes(&mut self, read: &BTreeSet<usize>) -> Program {
        let last = self.builder.len();
        let by_parameters = tangents(&mut self.builder, last, |_| true, |_| true);
        let mut builder = Builder::default();
        let mut change = |index: &usize| {
            let mut sum = builder.constant(0.0);
            for (unknown, slope) in &by_parameters[self.outputs[*index].index()] {
                let slope = match self.builder.instruction(*slope) {
                    Instruction::Constant(bits) => builder.constant(f64::from_bits(bits)),
                    _ => builder.input(Input::Prepared(self.output(*slope))),
                };
                let direction = builder.input(Input::Direction(*unknown));
                let term = builder.mul(slope, direction);
                sum = builder.add(sum, term);
            }
            sum
        };
        let outputs = read.iter().map(&mut change).collect();
        let mut program = builder.finish(outputs);
        fuse_multiply_add(&mut program);
        program.eliminate_dead_values();
        program
    }

    fn output(&mut self, value: Value) -> usize {
        let known = self.outputs.iter().position(|&output| output == value);
        known.unwrap_or_else(|| {
            self.outputs.push(value);
            self.outputs.len() - 1
        })
    }
}

/// -(a (x - y)) is a (y - x) where nothing else reads the product or the difference. A cross product has such terms: the field of
/// Euler's top takes six operations in place of eight.
fn turn_differences(program: &mut Program) {
    let uses = program.uses();
    let mut instead: Vec<Value> = (0..program.instructions.len()).map(Value::at).collect();
    for index in 0..program.instructions.len() {
        program.instructions[index] = program.instructions[index].clone().map(|operand| instead[operand.index()]);
        let Instruction::Neg(product) = program.instructions[index] else { continue };
        let Instruction::Mul(a, b) = program.instructions[product.index()] else { continue };
        for factor in [a, b] {
            if let Instruction::Sub(x, y) = program.instructions[factor.index()]
                && uses[product.index()] == 1
                && uses[factor.index()] == 1
            {
                program.instructions[factor.index()] = Instruction::Sub(y, x);
                instead[index] = product;
                break;
            }
        }
    }
    program.outputs.iter_mut().for_each(|value| *value = instead[value.index()]);
}

/// a * (1 / b) is a / b, and 1 / (2 b) is 0.5 / b, where nothing else reads the reciprocal or the product.
fn divide(program: &mut Program) {
    let uses = program.uses();
    for index in 0..program.instructions.len() {
        match program.instructions[index] {
            Instruction::Mul(a, b) => {
                for (factor, other) in [(a, b), (b, a)] {
                    if let Instruction::Recip(divisor) = program.instructions[factor.index()]
                        && uses[factor.index()] == 1
                    {
                        program.instructions[index] = Instruction::Div(other, divisor);
                        break;
                    }
                }
            }
            Instruction::Recip(product) if uses[product.index()] == 1 => {
                if let Instruction::Mul(a, b) = program.instructions[product.index()] {
                    for (factor, other) in [(a, b), (b, a)] {
                        if let Instruction::Constant(bits) = program.instructions[factor.index()]
                            && f64::from_bits(bits) == 2.0
                        {
                            program.instructions[product.index()] = Instruction::constant(0.5);
                            program.instructions[index] = Instruction::Div(product, other);
                            break;
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// A product and a sum, or a product and a difference with any sign, become one instruction where nothing else reads the
/// product.
pub(crate) fn fuse_multiply_add(program: &mut Program) {
    let uses = program.uses();
    let read_once = |value: Value| uses[value.index()] == 1;
    for index in 0..program.instructions.len() {
        let product = |value: Value| match program.instructions[value.index()] {
            Instruction::Mul(a, b) if read_once(value) => Some((a, b)),
            _ => None,
        };
        let fused = match program.instructions[index] {
            Instruction::Add(x, y) => match (product(y), product(x)) {
                (Some((a, b)), _) => Some(Instruction::MulAdd([Plus, Plus], a, b, x)),
                (_, Some((a, b))) => Some(Instruction::MulAdd([Plus, Plus], a, b, y)),
                _ => None,
            },
            Instruction::Sub(x, y) => match (product(y), product(x)) {
                (Some((a, b)), _) => Some(match program.instructions[x.index()] {
                    Instruction::Neg(c) => Instruction::MulAdd([Minus, Minus], a, b, c),
                    _ => Instruction::MulAdd([Minus, Plus], a, b, x),
                }),
                (_, Some((a, b))) => Some(Instruction::MulAdd([Plus, Minus], a, b, y)),
                _ => None,
            },
            Instruction::Neg(x) if read_once(x) => match program.instructions[x.index()] {
                Instruction::MulAdd([product, sum], a, b, c) => Some(Instruction::MulAdd([-product, -sum], a, b, c)),
                _ => None,
            },
            _ => None,
        };
        if let Some(fused) = fused {
            program.instructions[index] = fused;
        }
    }
}
