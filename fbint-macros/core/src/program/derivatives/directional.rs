//! Derivatives of a program along one direction, in few operations.
//!
//! The derivative of a value is a sum of terms k u v with numbers k. Where it is one term, or where one instruction alone reads the value,
//! its terms join the sums of those that add the value to something, so that each product of values that change costs two more fused
//! operations, and the square of a value one: the factors 2 of a sum of squares are taken out of it.
//!
//! No algorithm takes fewer for independent products in general: a product together with its derivative is one of dual numbers, which
//! takes three multiplications (Alder and Strassen, *On the algorithmic complexity of associative algebras*, Theoretical Computer
//! Science 15, 1981: at least 2 dim A - t for an algebra A with t maximal ideals).

use super::tangent::{Partial, partials};
use crate::program::code::{Builder, Input, Instruction, Value, divisor_of_root};

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
pub(crate) struct Along<'b> {
    builder: &'b mut Builder,
    sums: Vec<Sum>,
}

impl<'b> Along<'b> {
    /// Differentiates all values that the builder has: what `seed` gives for an input, or what follows from the operands. Other inputs
    /// have no derivative.
    pub(crate) fn new(
        builder: &'b mut Builder,
        results: &[Value],
        mut seed: impl FnMut(&mut Builder, Input) -> Option<Value>,
    ) -> Self {
        let last = builder.len();
        let uses = builder.program(results.to_vec()).uses();
        let mut along = Along { builder, sums: Vec::with_capacity(last) };
        for value in (0..last).map(Value::at) {
            let sum = match along.builder.instruction(value) {
                Instruction::Input(input) => seed(along.builder, input).into_iter().map(one).collect(),
                _ => along.derivative(value),
            };
            // Where several read a value, its derivative is computed before they do.
            let sum = if uses[value.index()] > 1 && sum.len() > 1 { along.gathered(sum) } else { sum };
            along.sums.push(sum);
        }
        along
    }

    /// The derivative of a value.
    pub(crate) fn of(&mut self, value: Value) -> Value {
        let sum = self.sums[value.index()].clone();
        self.computed(&sum)
    }

    fn derivative(&mut self, value: Value) -> Sum {
        let instruction = self.builder.instruction(value);
        if instruction.operands().all(|operand| self.vanishes(operand)) {
            return Sum::new();
        }
        if let (Instruction::Div(..) | Instruction::Recip(_), Some(reciprocal)) = (&instruction, self.fixed_over(value))
        {
            return self.through(value, reciprocal, Sum::new(), value);
        }
        match instruction {
            Instruction::Mul(a, b) => self.product(value, a, b),
            Instruction::MulAdd(signs, a, b, c) => {
                let [product, sum] = signs.map(|sign| sign.times(1.0));
                [self.terms(a, b, product), self.scaled(c, sum)].concat()
            }
            // d(a/b) = (da - (a/b) db)/b
            Instruction::Div(a, b) => {
                let numerator = [self.scaled(a, 1.0), self.times(b, value, -1.0)].concat();
                self.divided(numerator, b)
            }
            // d sqrt(a) = da / (2 sqrt(a))
            Instruction::Sqrt(a) => {
                let halved = self.scaled(a, 0.5);
                let divisor = divisor_of_root(self.builder, value, a);
                self.divided(halved, divisor)
            }
            _ => {
                let partials = partials(self.builder, value).into_iter();
                let terms = partials.map(|Partial { by, sign, slope }| match slope {
                    Some(slope) => self.times(by, slope, sign.times(1.0)),
                    None => self.scaled(by, sign.times(1.0)),
                });
                terms.flatten().collect()
            }
        }
    }

    /// d(a b). Where one of the two is w = c/b, the derivative of w is not needed.
    fn product(&mut self, value: Value, a: Value, b: Value) -> Sum {
        for (factor, other) in [(a, b), (b, a)] {
            if let Some(quotient) = self.fixed_over(factor) {
                let others = self.scaled(other, 1.0);
                return self.through(factor, quotient, others, value);
            }
        }
        self.terms(a, b, 1.0)
    }

    /// The divisor b and the numerator c of a value c/b, where c does not change and b does; no numerator stands for 1.
    fn fixed_over(&self, value: Value) -> Option<(Value, Option<Value>)> {
        let (divisor, numerator) = match self.builder.instruction(value) {
            Instruction::Recip(b) => (b, None),
            Instruction::Div(c, b) if self.vanishes(c) => (b, Some(c)),
            _ => return None,
        };
        (!self.vanishes(divisor)).then_some((divisor, numerator))
    }

    /// d(s w) with w = c/b: from w b = c follows dw = -w^2 db/c, so that d(s w) = w (ds - (s w) db/c), where `product` is s w.
    fn through(&mut self, w: Value, (b, c): (Value, Option<Value>), ds: Sum, product: Value) -> Sum {
        let change = self.sums[b.index()].clone();
        let mut change = self.gathered(change);
        if let (Some(c), Some(term)) = (c, change.first_mut()) {
            // The number is free of charge in what is prepared.
            let size = self.builder.constant(term.factor.abs());
            let reciprocal = self.builder.recip(c);
            let scale = self.builder.mul(size, reciprocal);
            *term = Term { factor: term.factor.signum(), value: self.builder.mul(scale, term.value), times: None };
        }
        let moved = change.iter().map(|term| Term { factor: -term.factor, value: term.value, times: Some(product) });
        let inner: Sum = ds.into_iter().chain(moved).collect();
        self.gathered(inner).into_iter().map(|term| Term { times: Some(w), ..term }).collect()
    }

    /// A sum divided by a value.
    fn divided(&mut self, sum: Sum, by: Value) -> Sum {
        let reciprocal = self.builder.known(&Instruction::Recip(by));
        let divide = |along: &mut Self, term: Term| match reciprocal {
            Some(reciprocal) => Term { times: Some(reciprocal), ..term },
            None => Term { value: along.builder.push(Instruction::Div(term.value, by)), ..term },
        };
        self.gathered(sum).into_iter().map(|term| divide(self, term)).collect()
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
        if sum.is_empty() || (sum.len() == 1 && sum[0].times.is_none()) {
            return sum;
        }
        let sum: Sum = sum.into_iter().map(|term| self.with_factor_absorbed(term)).collect();
        let size = sum[0].factor.abs();
        if sum.iter().all(|term| term.factor.abs() == size) {
            let signs: Sum = sum.iter().map(|term| Term { factor: term.factor.signum(), ..*term }).collect();
            let Term { factor, value, .. } = self.added(&signs);
            return vec![Term { factor: size * factor, ..one(value) }];
        }
        vec![self.added(&sum)]
    }

    fn computed(&mut self, sum: &Sum) -> Value {
        match self.gathered(sum.clone()).first() {
            None => self.builder.constant(0.0),
            Some(term) => {
                let factor = self.builder.constant(term.factor);
                self.builder.mul(factor, term.value)
            }
        }
    }

    /// Moves the number of a term into its factor, if the factor is prepared: then the product costs nothing.
    fn with_factor_absorbed(&mut self, term: Term) -> Term {
        let is_prepared =
            |value: Value| matches!(self.builder.instruction(value), Instruction::Input(Input::Prepared(_)));
        match term.times {
            Some(times) if term.factor.abs() != 1.0 && is_prepared(times) => {
                let size = self.builder.constant(term.factor.abs());
                let times = self.builder.mul(size, times);
                Term { factor: term.factor.signum(), times: Some(times), ..term }
            }
            _ => term,
        }
    }

    /// The terms added up, as 1 or -1 times a value. Terms of one factor other than 1 or -1 are added up before it is applied.
    fn added(&mut self, sum: &Sum) -> Term {
        let mut sizes: Vec<f64> = Vec::new();
        for size in sum.iter().map(|term| term.factor.abs()).filter(|size| *size != 1.0) {
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        let mut terms: Sum = sum.iter().filter(|term| term.factor.abs() == 1.0).copied().collect();
        for size in sizes {
            let of_size = sum.iter().filter(|term| term.factor.abs() == size);
            let part = self.signed(of_size.map(|term| Term { factor: term.factor.signum(), ..*term }).collect());
            let size = self.builder.constant(size);
            terms.push(Term { times: Some(size), ..part });
        }
        self.signed(terms)
    }

    /// The sum of terms whose factors are 1 or -1, as 1 or -1 times a value.
    fn signed(&mut self, mut terms: Sum) -> Term {
        // What is computed already comes first, so that all products are fused, but a sum begins with a term that is added.
        terms.sort_by_key(|term| match term.times {
            Some(times) => self.builder.known(&Instruction::Mul(term.value, times).ordered()).is_none(),
            None => false,
        });
        let sign = match terms.iter().position(|term| term.factor > 0.0) {
            Some(first) => {
                terms[..=first].rotate_right(1);
                1.0
            }
            None => -1.0,
        };
        let mut total = self.builder.constant(0.0);
        for term in terms {
            let product = term.times.map_or(term.value, |times| self.builder.mul(term.value, times));
            total = match term.factor * sign < 0.0 {
                true => self.builder.sub(total, product),
                false => self.builder.add(total, product),
            };
        }
        Term { factor: sign, ..one(total) }
    }
}

fn one(value: Value) -> Term {
    Term { factor: 1.0, value, times: None }
}
