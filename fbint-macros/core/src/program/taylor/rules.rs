//! The rules by which the coefficients of a value follow from the coefficients of its operands.

use super::companions::{Companion, companion, logarithm_of_power, radius};
use super::expansion::{Expansion, Form};
use crate::expression::Function;
use crate::program::code::{Instruction, Sign, Value};

impl Expansion {
    /// The values whose coefficients the rule of a value reads.
    pub(super) fn reads(&mut self, value: Value) -> Vec<Value> {
        if let Some(power) = self.power_of(value) {
            return vec![power.base];
        }
        match self.begin.instruction(value) {
            Instruction::Unary(function, a) => match companion(&mut self.begin, function, a, value) {
                Companion::Slope(_, other) | Companion::Reciprocal(_, other) => vec![a, other],
            },
            Instruction::Binary(Function::Atan2, y, x) => vec![y, x, radius(&mut self.begin, y, x)],
            Instruction::Binary(_, a, b) if self.changes(b) => vec![logarithm_of_power(&mut self.begin, a, b)],
            other => other.operands().collect(),
        }
    }

    /// The rule of each instruction.
    pub(super) fn form(&mut self, value: Value) -> Form {
        if let Some(power) = self.power_of(value) {
            let exponent = self.begin.constant(power.exponent);
            return self.power(value, power.base, exponent).into();
        }
        match self.begin.instruction(value) {
            Instruction::Input(input) => Some(self.finish.input(input)).into(),
            Instruction::Constant(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => Form::default(),
            Instruction::Add(a, b) => self.added(a, Sign::Plus, b),
            Instruction::Sub(a, b) => self.added(a, Sign::Minus, b),
            Instruction::Neg(a) => {
                let term = self.term(a);
                self.signed(Sign::Minus, term)
            }
            Instruction::Mul(a, b) => self.product(a, b),
            Instruction::MulAdd([of_product, of_term], a, b, c) => {
                let (product, term) = (self.product(a, b), self.term(c));
                let product = self.signed(of_product, product);
                self.combined(product, of_term, term)
            }
            Instruction::Div(a, b) => self.quotient(value, a, b).into(),
            Instruction::Recip(b) => {
                let square = self.begin.mul(value, value);
                let slope = self.begin.neg(square);
                let sum = self.sum(&[[(b, None), (value, None)]]);
                let (early, late) = (self.scaled(sum, value), self.scaled_coefficient(b, slope));
                self.total(late, Sign::Minus, early).into()
            }
            // 2 s_0 s_n = a_n - M(s, s)
            Instruction::Sqrt(a) => {
                let (half, (reciprocal, _)) = (self.begin.constant(0.5), self.reciprocal(value));
                let slope = self.begin.mul(half, reciprocal);
                let sum = self.sum(&[[(value, None), (value, None)]]);
                let (early, late) = (self.scaled(sum, slope), self.scaled_coefficient(a, slope));
                self.total(late, Sign::Minus, early).into()
            }
            Instruction::Unary(function, a) => self.function(value, function, a).into(),
            Instruction::Binary(Function::Atan2, a, b) => self.angle(value, a, b).into(),
            Instruction::Binary(_, a, b) => self.power(value, a, b).into(),
        }
    }

    fn added(&mut self, a: Value, sign: Sign, b: Value) -> Form {
        let (a, b) = (self.term(a), self.term(b));
        self.combined(a, sign, b)
    }

    /// a ± b
    fn combined(&mut self, a: Form, sign: Sign, b: Form) -> Form {
        let computed = self.total(a.computed, sign, b.computed);
        let [plus, minus] = if sign == Sign::Plus { b.sums } else { swapped(b.sums) };
        Form { computed, sums: [[a.sums[0].clone(), plus].concat(), [a.sums[1].clone(), minus].concat()] }
    }

    /// ±a
    fn signed(&mut self, sign: Sign, a: Form) -> Form {
        if sign == Sign::Plus { a } else { self.combined(Form::default(), sign, a) }
    }

    /// a b
    fn product(&mut self, a: Value, b: Value) -> Form {
        match [a, b].map(|factor| self.changes(factor)) {
            [true, true] => {}
            [false, _] => return self.scaled_coefficient(b, a).into(),
            [_, false] => return self.scaled_coefficient(a, b).into(),
        }
        let computed = if a == b {
            let double = self.begin.add(a, a);
            self.scaled_coefficient(a, double)
        } else {
            // Values are in the order in which they are computed: the later one is added last.
            let (early, late) = (a.min(b), a.max(b));
            let (of_late, of_early) = (self.scaled_coefficient(late, early), self.scaled_coefficient(early, late));
            self.total(of_late, Sign::Plus, of_early)
        };
        Form { computed, sums: [vec![[(a.min(b), None), (a.max(b), None)]], Vec::new()] }
    }

    /// q = a / b: b_0 q_n = a_n - b_n q_0 - M(b, q)
    fn quotient(&mut self, q: Value, a: Value, b: Value) -> Option<Value> {
        let reciprocal = self.begin.recip(b);
        if !self.changes(b) {
            return self.scaled_coefficient(a, reciprocal);
        }
        let slope = self.begin.mul(q, reciprocal);
        let sum = self.sum(&[[(b, None), (q, None)]]);
        let early = self.scaled(sum, reciprocal);
        let by_b = self.scaled_coefficient(b, slope);
        let by_a = self.scaled_coefficient(a, reciprocal);
        let subtracted = self.total(by_b, Sign::Plus, early);
        self.total(by_a, Sign::Minus, subtracted)
    }

    /// f' = slope a', where the slope is a function of a or f: f_n = slope_0 a_n + M(n a, slope) / n. Where the slope is 1 / r for some r,
    /// r f' = a': f_n = (a_n - M(n f, r) / n) / r_0.
    fn function(&mut self, f: Value, function: Function, a: Value) -> Option<Value> {
        let one = self.begin.constant(1.0);
        let (sign, slope) = match companion(&mut self.begin, function, a, f) {
            Companion::Slope(sign, slope) => (sign, slope),
            Companion::Reciprocal(sign, r) => {
                let (reciprocal, _) = self.reciprocal(r);
                let sum = self.sum(&[[(f, Some(one)), (r, None)]]);
                let early = self.scaled_over_order(sum, reciprocal);
                let late = self.scaled_coefficient(a, reciprocal);
                let late = self.total(None, sign, late);
                return self.total(late, Sign::Minus, early);
            }
        };
        let sum = self.sum(&[[(a, Some(one)), (slope, None)]]);
        let early = self.scaled_over_order(sum, one);
        let late = self.scaled_coefficient(a, slope);
        let total = self.total(late, Sign::Plus, early);
        self.total(None, sign, total)
    }

    /// The angle f of the point (x, y), with r = x^2 + y^2: r f' = x y' - y x'.
    fn angle(&mut self, f: Value, y: Value, x: Value) -> Option<Value> {
        let r = radius(&mut self.begin, y, x);
        let reciprocal = self.begin.recip(r);
        let [by_y, by_x] = [x, y].map(|factor| self.begin.mul(factor, reciprocal));
        let [one, minus_one] = [1.0, -1.0].map(|number| self.begin.constant(number));
        let sums = self.sum(&[
            [(x, None), (y, Some(one))],
            [(y, None), (x, Some(minus_one))],
            [(r, None), (f, Some(minus_one))],
        ]);
        let early = self.scaled_over_order(sums, reciprocal);
        let (late_y, late_x) = (self.scaled_coefficient(y, by_y), self.scaled_coefficient(x, by_x));
        let late = self.total(late_y, Sign::Minus, late_x);
        self.total(late, Sign::Plus, early)
    }

    /// p = a^b. With a constant exponent a p' = b p a', of p times a constant, too; else p' = p l' with l = b ln a.
    fn power(&mut self, p: Value, a: Value, b: Value) -> Option<Value> {
        let [one, minus_one] = [1.0, -1.0].map(|number| self.begin.constant(number));
        if self.changes(b) {
            let exponent = logarithm_of_power(&mut self.begin, a, b);
            let sum = self.sum(&[[(exponent, Some(one)), (p, None)]]);
            let early = self.scaled_over_order(sum, one);
            let late = self.scaled_coefficient(exponent, p);
            return self.total(late, Sign::Plus, early);
        }
        let (reciprocal, is_zero) = self.reciprocal(a);
        // 0 is a solution, too, which a power of an input that moves away from 0 is not.
        let power = is_zero.map_or(p, |is_zero| self.begin.add(p, is_zero));
        let slope = self.begin.mul(power, reciprocal);
        let slope = self.begin.mul(b, slope);
        let sum = self.sum(&[[(a, Some(b)), (p, None)], [(a, None), (p, Some(minus_one))]]);
        let early = self.scaled_over_order(sum, reciprocal);
        let late = self.scaled_coefficient(a, slope);
        self.total(late, Sign::Plus, early)
    }
}

fn swapped<T>([a, b]: [T; 2]) -> [T; 2] {
    [b, a]
}
