//! Powers of one value, such as the cube of a reciprocal distance.
//!
//! p = c a^e, with c and e that do not change, satisfies a p' = e a' p, whatever p was computed from. So the coefficients of p need those of
//! a and p alone, and not the root, the product and the reciprocal that lead from a to p.

use super::expansion::{Expansion, Power};
use crate::expression::Function;
use crate::program::code::{Instruction, Value};

impl Power {
    fn raised(self, exponent: f64) -> Self {
        Self { exponent: self.exponent * exponent, ..self }
    }
}

impl Expansion {
    /// Finds each value as a power of another one.
    pub(super) fn find_powers(&mut self) {
        for value in (0..self.value_count()).map(Value::at) {
            let power = self.as_power(value).unwrap_or(Power { base: value, exponent: 1.0 });
            self.powers.push(power);
        }
    }

    fn as_power(&self, value: Value) -> Option<Power> {
        let of = |value: Value| self.powers[value.index()];
        let product = |a: Value, b: Value, exponent: f64| match [a, b].map(|factor| self.changes(factor)) {
            [true, false] => Some(of(a)),
            [false, true] => Some(of(b).raised(exponent)),
            [true, true] if of(a).base == of(b).base => {
                Some(Power { exponent: of(a).exponent + exponent * of(b).exponent, ..of(a) })
            }
            _ => None,
        };
        match self.begin.instruction(value) {
            Instruction::Neg(a) => Some(of(a)),
            Instruction::Mul(a, b) => product(a, b, 1.0),
            Instruction::Div(a, b) => product(a, b, -1.0),
            Instruction::Recip(a) => Some(of(a).raised(-1.0)),
            Instruction::Sqrt(a) => Some(of(a).raised(0.5)),
            Instruction::Binary(Function::Powf, a, b) => match self.begin.instruction(b) {
                Instruction::Constant(bits) => Some(of(a).raised(f64::from_bits(bits))),
                _ => None,
            },
            _ => None,
        }
    }

    /// The power by whose rule the coefficients of a value are computed: where its own is not as short, and nothing is divided by that the
    /// value does not divide by.
    pub(super) fn power_of(&self, value: Value) -> Option<Power> {
        let power = self.powers[value.index()];
        let is_power = |a: Value| self.changes(a) && self.powers[a.index()].base != a;
        let is_long = match self.begin.instruction(value) {
            Instruction::Mul(a, b) => self.changes(a) && self.changes(b),
            Instruction::Div(a, b) => self.changes(b) && (self.changes(a) || is_power(b)),
            Instruction::Recip(a) | Instruction::Sqrt(a) => is_power(a),
            Instruction::Binary(Function::Powf, ..) => true,
            _ => false,
        };
        let divides = power.exponent < 0.0 || power.exponent.fract() != 0.0;
        (is_long && divides && power.base != value).then_some(power)
    }
}
