//! What programs cost.

use super::{Instruction, Program};

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
    /// Everything but inputs, numbers and the law.
    pub instructions: u32,
    /// The most values that are computed and still to be read at one time.
    pub live_values: u32,
}

impl Pass {
    pub(crate) fn of(name: &'static str, program: &Program) -> Self {
        let is_root = |instruction: &&Instruction| matches!(instruction, Instruction::Sqrt(_));
        let operations = program.operations();
        let square_roots = program.instructions.iter().filter(is_root).count() as u32;
        let is_operation =
            |instruction: &&Instruction| instruction.computes() && !matches!(instruction, Instruction::Weigh(_));
        let instructions = program.instructions.iter().filter(is_operation);
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
    /// The most values at one time that were computed before and are read later, by instructions or as a result. Inputs and
    /// numbers stay in memory.
    fn live_values(&self) -> u32 {
        let end = self.instructions.len();
        let operands = self.instructions.iter().enumerate();
        let operands =
            operands.flat_map(|(index, instruction)| instruction.operands().map(move |value| (value, index)));
        let results = self.outputs.iter().map(|&value| (value, end));
        let mut last_read = vec![0; end];
        for (value, index) in operands.chain(results) {
            last_read[value.index()] = index.max(last_read[value.index()]);
        }
        let mut changes = vec![0_i32; end + 1];
        for (index, &last) in last_read.iter().enumerate() {
            if last > index && self.instructions[index].computes() {
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
                Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {
                }
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
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Input};
    use super::*;
    use crate::derivation::IntegralId;
    use crate::expression::Symbol;
    use crate::table::Id;

    #[test]
    fn values_live_until_the_law_and_the_caller_have_them() {
        let mut builder = Builder::default();
        let [x, y] = [0, 1].map(|index| builder.input(Input::State(Symbol(index))));
        let integrals = [Instruction::Add(x, y), Instruction::Sub(x, y), Instruction::Mul(x, y)];
        let integrals = integrals.map(|instruction| builder.push(instruction));
        let law = builder.push(Instruction::Weigh(integrals.into()));
        let weighed = builder.push(Instruction::Weighed(law, IntegralId::at(0)));
        let outputs = [Instruction::Mul(weighed, x), Instruction::Mul(weighed, y)];
        let outputs = outputs.map(|instruction| builder.push(instruction));
        assert_eq!(builder.finish(outputs.to_vec()).live_values(), 3);

        let mut builder = Builder::default();
        let [x, y] = [0, 1].map(|index| builder.input(Input::State(Symbol(index))));
        let [sum, difference] = [Instruction::Add(x, y), Instruction::Sub(x, y)].map(|value| builder.push(value));
        let fused = builder.push(Instruction::MulAdd(sum, difference, sum));
        let program = builder.finish(vec![fused]);
        assert_eq!(program.live_values(), 2, "an operand that is read twice dies once");
    }
}
