//! The cost of programs.

use super::instructions::{Instruction, Program};

/// The number of operations of each kind.
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

impl Program {
    /// The number of operations of each kind.
    pub fn operations(&self) -> OperationCount {
        let mut count = OperationCount::default();
        for instruction in &self.instructions {
            match instruction {
                Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {
                }
                Instruction::Add(..) | Instruction::Sub(..) | Instruction::Neg(_) => count.additions += 1,
                Instruction::Mul(..) => count.multiplications += 1,
                Instruction::MulAdd(..) => count.fused += 1,
                Instruction::Div(..) | Instruction::Recip(_) => count.divisions += 1,
                Instruction::Sqrt(_) | Instruction::Unary(..) | Instruction::Binary(..) => count.functions += 1,
            }
        }
        count
    }
}
