//! Adjoints of programs, by automatic differentiation in reverse.
//!
//! With a weight w_i for each result y_i, the adjoint of a value v is dE/dv with E = sum w_i y_i. It is what the instructions that
//! read v add to it, each its own adjoint times its derivative by v, from the last instruction to the first.

use super::tangent::{slope, slope_of_root, slopes};
use super::{Builder, Instruction, Sign, Value};

/// The adjoints of all values before the last of the results, each with its weight. What depends on nothing that `varies` has no
/// part in them, and what lies before a value that `ends` is not looked at.
pub(super) fn adjoints<'a>(
    builder: &mut Builder,
    results: &[(Value, Value)],
    varies: &'a [bool],
    ends: impl Fn(Value) -> bool,
) -> Adjoints<'a> {
    let mut adjoints = Adjoints { values: vec![None; varies.len()], varies };
    for &(result, weight) in results {
        adjoints.add(builder, result, |_| weight);
    }
    for value in (0..varies.len()).rev().map(Value::at).filter(|value| !ends(*value)) {
        if let Some(adjoint) = adjoints.of(value) {
            adjoints.pass_on(builder, value, adjoint);
        }
    }
    adjoints
}

/// The adjoints of values that vary, as far as they do not vanish identically.
pub(super) struct Adjoints<'a> {
    values: Vec<Option<Value>>,
    varies: &'a [bool],
}

impl Adjoints<'_> {
    /// The adjoint of a value.
    pub(super) fn of(&self, value: Value) -> Option<Value> {
        self.values[value.index()]
    }

    /// Adds a term to an adjoint.
    fn add(&mut self, builder: &mut Builder, operand: Value, term: impl FnOnce(&mut Builder) -> Value) {
        if self.varies[operand.index()] {
            let term = term(builder);
            let sum = self.of(operand).map_or(term, |sum| builder.add(sum, term));
            self.values[operand.index()] = Some(sum);
        }
    }

    /// Subtracts a term from an adjoint.
    fn subtract(&mut self, builder: &mut Builder, operand: Value, term: impl FnOnce(&mut Builder) -> Value) {
        if self.varies[operand.index()] {
            let term = term(builder);
            let difference = match self.of(operand) {
                Some(sum) => builder.sub(sum, term),
                None => builder.neg(term),
            };
            self.values[operand.index()] = Some(difference);
        }
    }

    /// The adjoints of a b, whose own is this.
    fn product(&mut self, builder: &mut Builder, a: Value, b: Value, adjoint: Value) {
        if a == b {
            // All squares of a sum share twice its adjoint.
            return self.add(builder, a, |builder| {
                let two = builder.constant(2.0);
                let twice = builder.mul(two, adjoint);
                builder.mul(twice, a)
            });
        }
        self.add(builder, a, |builder| builder.mul(adjoint, b));
        self.add(builder, b, |builder| builder.mul(adjoint, a));
    }

    /// The adjoints of -a b, whose own is this.
    fn opposite_product(&mut self, builder: &mut Builder, a: Value, b: Value, adjoint: Value) {
        self.subtract(builder, a, |builder| builder.mul(adjoint, b));
        self.subtract(builder, b, |builder| builder.mul(adjoint, a));
    }

    /// Adds to the adjoints of an instruction's operands what follows from its own.
    fn pass_on(&mut self, builder: &mut Builder, value: Value, adjoint: Value) {
        match builder.instruction(value) {
            Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {}
            Instruction::Add(a, b) => {
                self.add(builder, a, |_| adjoint);
                self.add(builder, b, |_| adjoint);
            }
            Instruction::Sub(a, b) => {
                self.add(builder, a, |_| adjoint);
                self.subtract(builder, b, |_| adjoint);
            }
            Instruction::Neg(a) => self.subtract(builder, a, |_| adjoint),
            Instruction::Mul(a, b) => self.product(builder, a, b, adjoint),
            // d(a/b) = (da - (a/b) db)/b
            Instruction::Div(a, b) => {
                let quotient = builder.push(Instruction::Div(adjoint, b));
                self.add(builder, a, |_| quotient);
                self.subtract(builder, b, |builder| builder.mul(quotient, value));
            }
            // d(1/a) = -(1/a)^2 da
            Instruction::Recip(a) => self.subtract(builder, a, |builder| {
                let square = builder.mul(value, value);
                builder.mul(adjoint, square)
            }),
            Instruction::Sqrt(a) => self.scaled(builder, a, adjoint, |builder| slope_of_root(builder, value)),
            Instruction::MulAdd([product, sum], a, b, c) => {
                match product {
                    Sign::Plus => self.product(builder, a, b, adjoint),
                    Sign::Minus => self.opposite_product(builder, a, b, adjoint),
                }
                match sum {
                    Sign::Plus => self.add(builder, c, |_| adjoint),
                    Sign::Minus => self.subtract(builder, c, |_| adjoint),
                }
            }
            Instruction::Unary(function, a) => {
                self.scaled(builder, a, adjoint, |builder| slope(builder, function, a, value));
            }
            Instruction::Binary(function, a, b) => {
                let [by_a, by_b] = slopes(builder, function, a, b, value);
                self.scaled(builder, a, adjoint, |_| by_a);
                self.scaled(builder, b, adjoint, |_| by_b);
            }
        }
    }

    /// The adjoint of an operand, by which the value has this slope.
    fn scaled(
        &mut self,
        builder: &mut Builder,
        operand: Value,
        adjoint: Value,
        slope: impl FnOnce(&mut Builder) -> Value,
    ) {
        self.add(builder, operand, |builder| {
            let slope = slope(builder);
            builder.mul(adjoint, slope)
        });
    }
}
