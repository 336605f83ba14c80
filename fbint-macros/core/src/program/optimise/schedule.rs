//! The order of instructions.
//!
//! A processor has sixteen registers for numbers, and what does not fit is stored and loaded again, an instruction each.
//! So everything is computed when it is first needed: results one after the other, and before each its operands, the deepest
//! first, because the registers that computing it takes are then still free for the others. Inputs are read where they are
//! first needed, too.

use std::cmp::Reverse;

use crate::program::code::{Program, Value};

/// Reorders the instructions; results keep their bits.
pub(crate) fn schedule(program: &mut Program) {
    let reads: Vec<Vec<Value>> =
        program.instructions.iter().map(|instruction| instruction.operands().collect()).collect();
    let mut depth = vec![0; reads.len()];
    for (index, operands) in reads.iter().enumerate() {
        let own = usize::from(program.instructions[index].computes());
        depth[index] = operands.iter().map(|operand| depth[operand.index()] + own).max().unwrap_or(0);
    }
    let (mut is_placed, mut order) = (vec![false; reads.len()], Vec::with_capacity(reads.len()));
    // What is left to do; a value returns to the list below its operands.
    let mut pending: Vec<Value> = program.outputs.iter().rev().copied().collect();
    while let Some(value) = pending.pop() {
        if is_placed[value.index()] {
            continue;
        }
        let operands = reads[value.index()].iter().copied();
        let mut missing: Vec<Value> = operands.filter(|operand| !is_placed[operand.index()]).collect();
        if missing.is_empty() {
            is_placed[value.index()] = true;
            order.push(value);
            continue;
        }
        missing.sort_by_key(|operand| Reverse(depth[operand.index()]));
        pending.push(value);
        pending.extend(missing.into_iter().rev());
    }
    *program = program.reordered(order);
}
