//! Passes over a finished program, in the order of [`optimise`]. Each keeps every result up to rounding.

use super::{Instruction, Program, Value};

/// All passes.
pub(super) fn optimise(program: Program) -> Program {
    let program = eliminate_dead_values(&program);
    let program = divide(program);
    let program = fuse_multiply_add(program);
    eliminate_dead_values(&program)
}

/// Drops instructions that no result depends on, and renumbers.
fn eliminate_dead_values(program: &Program) -> Program {
    let mut live = vec![false; program.instructions.len()];
    for value in program.outputs.iter().chain(&program.integrals) {
        live[value.index()] = true;
    }
    for (index, instruction) in program.instructions.iter().enumerate().rev() {
        if live[index] {
            instruction.operands().for_each(|operand| live[operand.index()] = true);
        }
    }
    let mut new = vec![Value(0); program.instructions.len()];
    let mut instructions = Vec::new();
    for (index, instruction) in program.instructions.iter().enumerate() {
        if live[index] {
            new[index] = Value(instructions.len() as u32);
            instructions.push(instruction.map(|operand| new[operand.index()]));
        }
    }
    let renumber = |values: &[Value]| values.iter().map(|value| new[value.index()]).collect();
    Program { instructions, integrals: renumber(&program.integrals), outputs: renumber(&program.outputs) }
}

/// a * (1 / b) is a / b where nothing else reads the reciprocal.
fn divide(mut program: Program) -> Program {
    let uses = program.uses();
    for index in 0..program.instructions.len() {
        let Instruction::Mul(a, b) = program.instructions[index] else { continue };
        for (factor, other) in [(a, b), (b, a)] {
            if let Instruction::Recip(divisor) = program.instructions[factor.index()]
                && uses[factor.index()] == 1
            {
                program.instructions[index] = Instruction::Div(other, divisor);
                break;
            }
        }
    }
    program
}

/// a b + c and c - a b become one instruction where nothing else reads the product.
fn fuse_multiply_add(mut program: Program) -> Program {
    let uses = program.uses();
    let product = |program: &Program, value: Value| match program.instructions[value.index()] {
        Instruction::Mul(a, b) if uses[value.index()] == 1 => Some((a, b)),
        _ => None,
    };
    for index in 0..program.instructions.len() {
        let fused = match program.instructions[index] {
            Instruction::Add(x, y) => match (product(&program, y), product(&program, x)) {
                (Some((a, b)), _) => Some(Instruction::MulAdd(a, b, x)),
                (_, Some((a, b))) => Some(Instruction::MulAdd(a, b, y)),
                _ => None,
            },
            Instruction::Sub(x, y) => product(&program, y).map(|(a, b)| Instruction::NegMulAdd(a, b, x)),
            _ => None,
        };
        if let Some(fused) = fused {
            program.instructions[index] = fused;
        }
    }
    program
}
