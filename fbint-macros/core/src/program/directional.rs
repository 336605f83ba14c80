//! Derivatives of a program along one direction, in few operations.
//!
//! The derivative of a value is a sum of terms k u v with numbers k. Where one instruction alone reads the value and adds it to
//! something, its terms join that sum, so that each product of values costs two fused operations, and the square of a value one: the
//! factors 2 of a sum of squares are taken out of it.

use super::tangent::{slope, slopes};
use super::{Builder, Instruction, Program, Value};

/// k u v, or k u.
#[derive(Clone, Copy, Debug)]
struct Term {
    factor: f64,
    value: Value,
    times: Option<Value>,
}

/// A sum of terms. An empty one vanishes identically.
type Sum = Vec<Term>;

/// The derivatives of the values of a program, in their order, where a builder has that program.
pub(super) struct Along<'b> {
    builder: &'b mut Builder,
    sums: Vec<Sum>,
    /// Whether several read a value, so that its derivative is computed before they do.
    is_shared: Vec<bool>,
}

impl<'b> Along<'b> {
    /// Differentiates all values before `last`: what `seed` gives, or what follows from the operands. Other inputs have no derivative.
    pub(super) fn new(
        builder: &'b mut Builder,
        results: &[Value],
        last: usize,
        mut seed: impl FnMut(&mut Builder, Value) -> Option<Option<Value>>,
    ) -> Self {
        let instructions = (0..last).map(|index| builder.instruction(Value::at(index))).collect();
        let uses = Program { instructions, outputs: results.to_vec() }.uses();
        let is_shared = uses.iter().map(|&uses| uses > 1).collect();
        let mut along = Along { builder, sums: Vec::with_capacity(last), is_shared };
        for value in (0..last).map(Value::at) {
            let sum = match seed(along.builder, value) {
                Some(derivative) => derivative.into_iter().map(one).collect(),
                None => along.derivative(value),
            };
            let sum = if along.is_shared[value.index()] { along.gathered(sum) } else { sum };
            along.sums.push(sum);
        }
        along
    }

    /// The derivative of a value.
    pub(super) fn of(&mut self, value: Value) -> Value {
        let sum = self.sums[value.index()].clone();
        self.computed(&sum)
    }

    fn derivative(&mut self, value: Value) -> Sum {
        match self.builder.instruction(value) {
            Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {
                Sum::new()
            }
            Instruction::Add(a, b) => [self.scaled(a, 1.0), self.scaled(b, 1.0)].concat(),
            Instruction::Sub(a, b) => [self.scaled(a, 1.0), self.scaled(b, -1.0)].concat(),
            Instruction::Neg(a) => self.scaled(a, -1.0),
            Instruction::Mul(a, b) => self.product(value, a, b),
            Instruction::MulAdd(a, b, c) => [self.terms(a, b, 1.0), self.scaled(c, 1.0)].concat(),
            Instruction::NegMulAdd(a, b, c) => [self.terms(a, b, -1.0), self.scaled(c, 1.0)].concat(),
            Instruction::MulSub(a, b, c) => [self.terms(a, b, 1.0), self.scaled(c, -1.0)].concat(),
            Instruction::NegMulSub(a, b, c) => [self.terms(a, b, -1.0), self.scaled(c, -1.0)].concat(),
            Instruction::Div(a, b) => {
                let reciprocal = self.builder.recip(b);
                self.quotient(value, a, b, reciprocal)
            }
            // d(1/a) = -(1/a)^2 da
            Instruction::Recip(a) if !self.vanishes(a) => {
                let square = self.builder.mul(value, value);
                self.times(a, square, -1.0)
            }
            // d sqrt(a) = da / (2 sqrt(a))
            Instruction::Sqrt(a) if !self.vanishes(a) => {
                let reciprocal = self.builder.recip(value);
                self.times(a, reciprocal, 0.5)
            }
            Instruction::Unary(function, a) if !self.vanishes(a) => {
                let slope = slope(self.builder, function, a, value);
                self.times(a, slope, 1.0)
            }
            Instruction::Binary(function, a, b) => {
                let [by_a, by_b] = slopes(self.builder, function, a, b, value);
                [self.times(a, by_a, 1.0), self.times(b, by_b, 1.0)].concat()
            }
            Instruction::Recip(_) | Instruction::Sqrt(_) | Instruction::Unary(..) => Sum::new(),
        }
    }

    /// d(a b), where one of the two may be a reciprocal.
    fn product(&mut self, value: Value, a: Value, b: Value) -> Sum {
        for (factor, other) in [(a, b), (b, a)] {
            if let Instruction::Recip(divisor) = self.builder.instruction(factor)
                && !self.vanishes(other)
                && !self.vanishes(divisor)
            {
                return self.quotient(value, other, divisor, factor);
            }
        }
        self.terms(a, b, 1.0)
    }

    /// d(a/b) = (da - (a/b) db) (1/b)
    fn quotient(&mut self, value: Value, a: Value, b: Value, reciprocal: Value) -> Sum {
        let numerator = [self.scaled(a, 1.0), self.times(b, value, -1.0)].concat();
        if numerator.is_empty() {
            return numerator;
        }
        let Term { factor, value, .. } = self.gathered(numerator)[0];
        vec![Term { factor, value, times: Some(reciprocal) }]
    }

    /// k (b da + a db)
    fn terms(&mut self, a: Value, b: Value, factor: f64) -> Sum {
        if a == b {
            return self.times(a, b, 2.0 * factor);
        }
        [self.times(a, b, factor), self.times(b, a, factor)].concat()
    }

    /// k b da
    fn times(&mut self, a: Value, b: Value, factor: f64) -> Sum {
        let sum = self.sums[a.index()].clone();
        let (sign, b) = match self.builder.instruction(b) {
            Instruction::Neg(b) => (-factor, b),
            _ => (factor, b),
        };
        if let Instruction::Constant(bits) = self.builder.instruction(b) {
            let factor = sign * f64::from_bits(bits);
            return sum.into_iter().map(|term| Term { factor: factor * term.factor, ..term }).collect();
        }
        let of = |Term { factor, value, .. }: Term| Term { factor: sign * factor, value, times: Some(b) };
        self.gathered(sum).into_iter().map(of).collect()
    }

    /// k da
    fn scaled(&self, a: Value, factor: f64) -> Sum {
        self.sums[a.index()].iter().map(|term| Term { factor: factor * term.factor, ..*term }).collect()
    }

    fn vanishes(&self, a: Value) -> bool {
        self.sums[a.index()].is_empty()
    }

    /// The sum as one term k u, or none.
    fn gathered(&mut self, sum: Sum) -> Sum {
        let Some(first) = sum.first() else { return sum };
        let size = first.factor.abs();
        if sum.iter().all(|term| term.factor.abs() == size) {
            let signs: Sum = sum.iter().map(|term| Term { factor: term.factor.signum(), ..*term }).collect();
            return vec![Term { factor: size, ..one(self.added(&signs)) }];
        }
        vec![one(self.added(&sum))]
    }

    fn computed(&mut self, sum: &Sum) -> Value {
        let gathered = self.gathered(sum.clone());
        self.added(&gathered)
    }

    /// The terms added up: first those whose factor is 1 or -1, then those of every other factor, which is taken out.
    fn added(&mut self, sum: &Sum) -> Value {
        let mut sizes: Vec<f64> = Vec::new();
        for term in sum {
            if !sizes.contains(&term.factor.abs()) {
                sizes.push(term.factor.abs());
            }
        }
        sizes.sort_by_key(|size| *size != 1.0);
        let mut total = self.builder.constant(0.0);
        for size in sizes {
            let mut part = self.builder.constant(0.0);
            if size == 1.0 {
                part = total;
            }
            for term in sum.iter().filter(|term| term.factor.abs() == size) {
                let product = term.times.map_or(term.value, |times| self.builder.mul(term.value, times));
                part = match term.factor < 0.0 {
                    true => self.builder.sub(part, product),
                    false => self.builder.add(part, product),
                };
            }
            total = match size == 1.0 {
                true => part,
                false => {
                    let factor = self.builder.constant(size);
                    let product = self.builder.mul(factor, part);
                    self.builder.add(total, product)
                }
            };
        }
        total
    }
}

fn one(value: Value) -> Term {
    Term { factor: 1.0, value, times: None }
}
