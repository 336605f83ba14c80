//! The way in which programs are written: value numbering.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use num_traits::{One, Zero};

use super::instructions::{Input, Instruction, Program, Sign, Value};
use crate::expression::work::{PART, spend};
use crate::numbers::power;

/// A table for look-up alone, with hashes that take little time: its keys come from the compiler itself.
pub(crate) type LookUp<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Multiplies what it is given into one word.
#[derive(Default)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|chunk| {
            self.write_u64(chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        });
    }

    fn write_u64(&mut self, word: u64) {
        // The bits of pi after its point.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x243f_6a88_85a3_08d3);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// Builds a program; equal instructions become one value, constants fold, neutral elements and signs are absorbed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Builder {
    instructions: Vec<Instruction>,
    /// For look-up alone: never iterated.
    known: LookUp<Instruction, Value>,
}

impl Builder {
    pub(crate) fn finish(self, outputs: Vec<Value>) -> Program {
        Program { instructions: self.instructions, outputs }
    }

    /// The program so far.
    pub(crate) fn program(&self, outputs: Vec<Value>) -> Program {
        Program { instructions: self.instructions.clone(), outputs }
    }

    /// The number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.instructions.len()
    }

    /// The instruction that computes a value.
    pub(crate) fn instruction(&self, value: Value) -> Instruction {
        self.instructions[value.index()].clone()
    }

    /// Returns `true` if the square of a value is computed already.
    pub(crate) fn has_square(&self, value: Value) -> bool {
        self.known(&Instruction::Mul(value, value)).is_some()
    }

    /// Returns `true` if something is divided by a value.
    pub(crate) fn is_divisor(&self, value: Value) -> bool {
        let divides = |instruction: &Instruction| match instruction {
            Instruction::Div(_, divisor) | Instruction::Recip(divisor) => *divisor == value,
            _ => false,
        };
        self.instructions.iter().any(divides)
    }

    /// The value of an instruction, if it is computed already.
    pub(crate) fn known(&self, instruction: &Instruction) -> Option<Value> {
        self.known.get(instruction).copied()
    }

    /// The value of an instruction, new or known.
    pub(crate) fn push(&mut self, instruction: Instruction) -> Value {
        spend(PART);
        if let Some(&value) = self.known.get(&instruction) {
            return value;
        }
        let value = Value::at(self.instructions.len());
        self.instructions.push(instruction.clone());
        self.known.insert(instruction, value);
        value
    }

    pub(crate) fn constant(&mut self, number: f64) -> Value {
        self.push(Instruction::constant(if number == 0.0 { 0.0 } else { number }))
    }

    pub(crate) fn input(&mut self, input: Input) -> Value {
        self.push(Instruction::Input(input))
    }

    /// Returns `true` if a value is the number 0.
    pub(crate) fn is_zero(&self, value: Value) -> bool {
        self.as_constant(value) == Some(0.0)
    }

    fn as_constant(&self, value: Value) -> Option<f64> {
        match self.instruction(value) {
            Instruction::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) if (x + y).is_finite() => return self.constant(x + y),
            (Some(x), _) if x.is_zero() => return b,
            (_, Some(y)) if y.is_zero() => return a,
            _ => {}
        }
        match (self.instruction(a), self.instruction(b)) {
            (_, Instruction::Neg(inner)) => self.sub(a, inner),
            (Instruction::Neg(inner), _) => self.sub(b, inner),
            _ => self.push(Instruction::Add(a, b).ordered()),
        }
    }

    /// A sum plus or minus a term.
    pub(crate) fn add_signed(&mut self, sum: Value, sign: Sign, term: Value) -> Value {
        match sign {
            Sign::Plus => self.add(sum, term),
            Sign::Minus => self.sub(sum, term),
        }
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Value {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) if (x - y).is_finite() => return self.constant(x - y),
            (Some(x), _) if x.is_zero() => return self.neg(b),
            (_, Some(y)) if y.is_zero() => return a,
            _ => {}
        }
        if a == b {
            return self.constant(0.0);
        }
        match self.instruction(b) {
            Instruction::Neg(inner) => self.add(a, inner),
            _ => self.push(Instruction::Sub(a, b)),
        }
    }

    /// The sign is outside, so that products which differ in it are computed once.
    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Value {
        let (a, b) = if self.as_constant(b).is_some() { (b, a) } else { (a, b) };
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) if is_in_range(x * y) || x.is_zero() || y.is_zero() => return self.constant(x * y),
            (Some(x), _) if x.is_zero() => return self.constant(0.0),
            (Some(x), _) if x.is_one() => return b,
            (Some(x), _) if (-x).is_one() => return self.neg(b),
            _ => {}
        }
        match (self.opposite(a), self.opposite(b)) {
            (Some(a), Some(b)) => self.mul(a, b),
            (None, None) => self.push(Instruction::Mul(a, b).ordered()),
            (opposite, other) => {
                let product = self.mul(opposite.unwrap_or(a), other.unwrap_or(b));
                self.neg(product)
            }
        }
    }

    /// The opposite of a value with a sign.
    fn opposite(&mut self, value: Value) -> Option<Value> {
        match self.instruction(value) {
            Instruction::Neg(opposite) => Some(opposite),
            Instruction::Constant(bits) if f64::from_bits(bits) < 0.0 => Some(self.constant(-f64::from_bits(bits))),
            _ => None,
        }
    }

    pub(crate) fn neg(&mut self, a: Value) -> Value {
        if let Some(x) = self.as_constant(a) {
            return self.constant(-x);
        }
        match self.instruction(a) {
            Instruction::Neg(inner) => inner,
            Instruction::Sub(x, y) => self.push(Instruction::Sub(y, x)),
            _ => self.push(Instruction::Neg(a)),
        }
    }

    pub(crate) fn recip(&mut self, a: Value) -> Value {
        match self.as_constant(a) {
            Some(x) if is_in_range(1.0 / x) => return self.constant(1.0 / x),
            _ => {}
        }
        match self.instruction(a) {
            Instruction::Neg(inner) => {
                let reciprocal = self.recip(inner);
                self.neg(reciprocal)
            }
            Instruction::Recip(inner) => inner,
            _ => self.push(Instruction::Recip(a)),
        }
    }

    /// a to an integer power, by squaring.
    pub(crate) fn powi(&mut self, a: Value, exponent: i32) -> Value {
        let base = if exponent < 0 { self.recip(a) } else { a };
        let power = power(base, exponent.unsigned_abs().into(), |a, b| self.mul(*a, *b));
        power.unwrap_or_else(|| self.constant(1.0))
    }
}

/// Returns `true` if a product of numbers is one that can be written down: neither infinite nor rounded to nothing.
fn is_in_range(product: f64) -> bool {
    product.is_normal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::IntegralId;
    use crate::derivation::table::Id;

    #[test]
    fn value_numbering_makes_equal_instructions_one() {
        let mut builder = Builder::default();
        let (a, b) = (builder.constant(2.5), builder.input(Input::Noise(IntegralId::at(0))));
        assert_eq!(builder.mul(a, b), builder.mul(b, a));
        let difference = builder.sub(a, b);
        let opposite = builder.sub(b, a);
        assert_eq!(builder.neg(difference), opposite);
    }
}
