//! Derivatives of programs: the rules of differentiation applied to instructions, and automatic differentiation forwards.

use std::collections::BTreeMap;

use crate::expression::Function;
use crate::numbers::points::Unknown;
use crate::program::code::Sign::{self, Minus, Plus};
use crate::program::code::{Builder, Instruction, Value, divisor_of_root};

/// The derivatives of a value that do not vanish identically, by what they are taken.
pub(crate) type Tangent = BTreeMap<Unknown, Value>;

/// The derivatives of each value by each of the unknowns, value by value; the number 0 where they vanish identically. Nothing depends on
/// a feedback law.
pub(crate) fn jacobian(builder: &mut Builder, values: &[Value], unknowns: &[Unknown]) -> Vec<Value> {
    let last = values.iter().map(|value| value.index() + 1).max().unwrap_or(0);
    let tangents = tangents(builder, last, |unknown| unknowns.contains(&unknown), |_| true);
    let zero = builder.constant(0.0);
    let entry = |value: Value, unknown| tangents[value.index()].get(unknown).copied().unwrap_or(zero);
    values.iter().flat_map(|value| unknowns.iter().map(|unknown| entry(*value, unknown))).collect()
}

/// The tangents of the values before `last` by the inputs that are unknowns; of what is computed, those that are `wanted`.
pub(crate) fn tangents(
    builder: &mut Builder,
    last: usize,
    is_unknown: impl Fn(Unknown) -> bool,
    wanted: impl Fn(Value) -> bool,
) -> Vec<Tangent> {
    let one = builder.constant(1.0);
    let mut tangents: Vec<Tangent> = Vec::with_capacity(last);
    for value in (0..last).map(Value::at) {
        tangents.push(match builder.instruction(value) {
            Instruction::Input(input) => {
                input.unknown().filter(|of| is_unknown(*of)).map(|of| (of, one)).into_iter().collect()
            }
            _ if wanted(value) => tangent(builder, value, &tangents),
            _ => Tangent::new(),
        });
    }
    tangents
}

fn tangent(builder: &mut Builder, value: Value, tangents: &[Tangent]) -> Tangent {
    let mut tangent = Tangent::new();
    if builder.instruction(value).operands().all(|operand| tangents[operand.index()].is_empty()) {
        return tangent;
    }
    let partials = partials(builder, value);
    let scaled = |partial: &Partial| -> Tangent {
        let tangent = tangents[partial.by.index()].clone().into_iter();
        tangent.map(|(by, entry)| (by, partial.slope.map_or(entry, |slope| builder.mul(slope, entry)))).collect()
    };
    let scaled: Vec<Tangent> = partials.iter().map(scaled).collect();
    let zero = builder.constant(0.0);
    for (partial, terms) in partials.iter().zip(scaled) {
        for (unknown, term) in terms {
            let sum = tangent.entry(unknown).or_insert(zero);
            *sum = builder.add_signed(*sum, partial.sign, term);
        }
    }
    tangent
}

/// The partial derivative of a value by one of its operands.
pub(crate) struct Partial {
    /// The operand.
    pub(crate) by: Value,
    pub(crate) sign: Sign,
    /// The derivative without its sign; none stands for 1.
    pub(crate) slope: Option<Value>,
}

/// The partial derivatives of a value by its operands, one for each place where it has one. Nothing depends on a feedback law.
pub(crate) fn partials(builder: &mut Builder, value: Value) -> Vec<Partial> {
    let partials = match builder.instruction(value) {
        Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => vec![],
        Instruction::Add(a, b) => vec![(a, Plus, None), (b, Plus, None)],
        Instruction::Sub(a, b) => vec![(a, Plus, None), (b, Minus, None)],
        Instruction::Neg(a) => vec![(a, Minus, None)],
        Instruction::Mul(a, b) => vec![(b, Plus, Some(a)), (a, Plus, Some(b))],
        Instruction::MulAdd([product, sum], a, b, c) => {
            vec![(a, product, Some(b)), (b, product, Some(a)), (c, sum, None)]
        }
        // d(a/b) = da/b - (a/b) db/b
        Instruction::Div(a, b) => {
            let reciprocal = builder.recip(b);
            vec![(a, Plus, Some(reciprocal)), (b, Minus, Some(builder.mul(value, reciprocal)))]
        }
        // d(1/a) = -(1/a)^2 da
        Instruction::Recip(a) => {
            let square = builder.mul(value, value);
            vec![(a, Plus, Some(builder.neg(square)))]
        }
        // d sqrt(a) = da / (2 sqrt(a))
        Instruction::Sqrt(a) => {
            let divisor = divisor_of_root(builder, value, a);
            let (reciprocal, half) = (builder.recip(divisor), builder.constant(0.5));
            vec![(a, Plus, Some(builder.mul(half, reciprocal)))]
        }
        Instruction::Unary(Function::Sign | Function::Step, _) => vec![],
        Instruction::Unary(function, a) => vec![(a, Plus, Some(slope(builder, function, a, value)))],
        Instruction::Binary(function, a, b) => {
            let [by_a, by_b] = slopes(builder, function, a, b, value);
            vec![(a, Plus, Some(by_a)), (b, Plus, Some(by_b))]
        }
    };
    partials.into_iter().map(|(by, sign, slope)| Partial { by, sign, slope }).collect()
}

/// The derivative of a function of one argument.
fn slope(builder: &mut Builder, function: Function, a: Value, value: Value) -> Value {
    let one = builder.constant(1.0);
    let call = |builder: &mut Builder, function| builder.push(Instruction::Unary(function, a));
    match function {
        Function::Abs => call(builder, Function::Sign),
        Function::Sign | Function::Step => builder.constant(0.0),
        Function::Sin => call(builder, Function::Cos),
        Function::Cos => {
            let sine = call(builder, Function::Sin);
            builder.neg(sine)
        }
        // 1 + tan^2
        Function::Tan => {
            let square = builder.mul(value, value);
            builder.add(one, square)
        }
        Function::Asin | Function::Acos => {
            let square = builder.mul(a, a);
            let rest = builder.sub(one, square);
            let root = builder.push(Instruction::Sqrt(rest));
            let slope = builder.recip(root);
            if function == Function::Asin { slope } else { builder.neg(slope) }
        }
        Function::Atan => {
            let square = builder.mul(a, a);
            let sum = builder.add(one, square);
            builder.recip(sum)
        }
        Function::Sinh => call(builder, Function::Cosh),
        Function::Cosh => call(builder, Function::Sinh),
        // 1 - tanh^2
        Function::Tanh => {
            let square = builder.mul(value, value);
            builder.sub(one, square)
        }
        Function::Exp => value,
        // Functions of two arguments have their own rule.
        Function::Ln | Function::Atan2 | Function::Powf => builder.recip(a),
    }
}

/// The derivatives of a function of two arguments.
fn slopes(builder: &mut Builder, function: Function, a: Value, b: Value, value: Value) -> [Value; 2] {
    if function == Function::Atan2 {
        let (y, x) = (builder.mul(a, a), builder.mul(b, b));
        let square = builder.add(x, y);
        let weight = builder.recip(square);
        let (by_a, by_b) = (builder.mul(b, weight), builder.mul(a, weight));
        return [by_a, builder.neg(by_b)];
    }
    // a^b: b a^(b - 1) and a^b ln a
    let one = builder.constant(1.0);
    let lower = builder.sub(b, one);
    let power = builder.push(Instruction::Binary(Function::Powf, a, lower));
    let logarithm = builder.push(Instruction::Unary(Function::Ln, a));
    [builder.mul(b, power), builder.mul(value, logarithm)]
}
