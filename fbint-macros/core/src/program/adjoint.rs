//! Adjoints of programs, by automatic differentiation in reverse.
//!
//! With a weight w_i for each result y_i, the adjoint of a value v is dE/dv with E = sum w_i y_i. It is what the instructions that
//! read v add to it, each its own adjoint times its derivative by v, from the last instruction to the first.

use super::tangent::{slope, slopes};
use super::{Builder, Instruction, Value};

/// The adjoints of values, as far as they do not vanish identically.
pub(super) struct Adjoints(Vec<Option<Value>>);

impl Adjoints {
    /// The adjoint of a value.
    pub(super) fn of(&self, value: Value) -> Option<Value> {
        self.0[value.index()]
    }

    /// Adds a term to an adjoint.
    fn add(&mut self, builder: &mut Builder, value: Value, term: Value) {
        let sum = self.of(value).map_or(term, |sum| builder.add(sum, term));
        self.0[value.index()] = Some(sum);
    }

    /// Subtracts a term from an adjoint.
    fn subtract(&mut self, builder: &mut Builder, value: Value, term: Value) {
        let difference = match self.of(value) {
            Some(sum) => builder.sub(sum, term),
            None => builder.neg(term),
        };
        self.0[value.index()] = Some(difference);
    }
}

/// The adjoints of all values before the last of the results, each with its weight. What depends on nothing that `varies` has no
/// part in them, and what lies before a value that `ends` is not looked at.
pub(super) fn adjoints(
    builder: &mut Builder,
    results: &[(Value, Value)],
    varies: &[bool],
    ends: impl Fn(Value) -> bool,
) -> Adjoints {
    let mut adjoints = Adjoints(vec![None; varies.len()]);
    for (result, weight) in results.iter().filter(|(result, _)| varies[result.index()]) {
        adjoints.add(builder, *result, *weight);
    }
    for value in (0..varies.len()).rev().map(Value::at).filter(|value| !ends(*value)) {
        if let Some(adjoint) = adjoints.of(value) {
            pass_on(builder, value, adjoint, &mut Within { adjoints: &mut adjoints, varies });
        }
    }
    adjoints
}

/// The adjoints of operands that vary.
struct Within<'a> {
    adjoints: &'a mut Adjoints,
    varies: &'a [bool],
}

impl Within<'_> {
    fn add(&mut self, builder: &mut Builder, operand: Value, term: impl FnOnce(&mut Builder) -> Value) {
        if self.varies[operand.index()] {
            let term = term(builder);
            self.adjoints.add(builder, operand, term);
        }
    }

    fn subtract(&mut self, builder: &mut Builder, operand: Value, term: impl FnOnce(&mut Builder) -> Value) {
        if self.varies[operand.index()] {
            let term = term(builder);
            self.adjoints.subtract(builder, operand, term);
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
}

/// Adds to the adjoints of an instruction's operands what follows from its own.
fn pass_on(builder: &mut Builder, value: Value, adjoint: Value, to: &mut Within<'_>) {
    match builder.instruction(value) {
        Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {}
        Instruction::Add(a, b) => {
            to.add(builder, a, |_| adjoint);
            to.add(builder, b, |_| adjoint);
        }
        Instruction::Sub(a, b) => {
            to.add(builder, a, |_| adjoint);
            to.subtract(builder, b, |_| adjoint);
        }
        Instruction::Neg(a) => to.subtract(builder, a, |_| adjoint),
        Instruction::Mul(a, b) => to.product(builder, a, b, adjoint),
        // d(a/b) = (da - (a/b) db)/b
        Instruction::Div(a, b) => {
            let quotient = builder.push(Instruction::Div(adjoint, b));
            to.add(builder, a, |_| quotient);
            to.subtract(builder, b, |builder| builder.mul(quotient, value));
        }
        // d(1/a) = -(1/a)^2 da
        Instruction::Recip(a) => to.subtract(builder, a, |builder| {
            let square = builder.mul(value, value);
            builder.mul(adjoint, square)
        }),
        // d sqrt(a) = da / (2 sqrt(a))
        Instruction::Sqrt(a) => to.add(builder, a, |builder| {
            let reciprocal = builder.recip(value);
            let half = builder.constant(0.5);
            let slope = builder.mul(half, reciprocal);
            builder.mul(adjoint, slope)
        }),
        Instruction::MulAdd(a, b, c) => {
            to.product(builder, a, b, adjoint);
            to.add(builder, c, |_| adjoint);
        }
        Instruction::NegMulAdd(a, b, c) => {
            to.opposite_product(builder, a, b, adjoint);
            to.add(builder, c, |_| adjoint);
        }
        Instruction::MulSub(a, b, c) => {
            to.product(builder, a, b, adjoint);
            to.subtract(builder, c, |_| adjoint);
        }
        Instruction::NegMulSub(a, b, c) => {
            to.opposite_product(builder, a, b, adjoint);
            to.subtract(builder, c, |_| adjoint);
        }
        Instruction::Unary(function, a) => to.add(builder, a, |builder| {
            let slope = slope(builder, function, a, value);
            builder.mul(adjoint, slope)
        }),
        Instruction::Binary(function, a, b) => {
            let [by_a, by_b] = slopes(builder, function, a, b, value);
            to.add(builder, a, |builder| builder.mul(adjoint, by_a));
            to.add(builder, b, |builder| builder.mul(adjoint, by_b));
        }
    }
}
