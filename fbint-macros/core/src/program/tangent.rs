//! Derivatives of programs, by automatic differentiation forwards: the rules of differentiation applied to instructions.

use std::collections::BTreeMap;

use super::lower::Lowering;
use super::{Builder, Input, Instruction, Sign, Value};
use crate::expression::{Function, Symbol};

/// The derivatives of a value that do not vanish identically, by what they are taken.
pub(super) type Tangent<K> = BTreeMap<K, Value>;

/// The derivative of each value by each of the entries of the state, value by value. Nothing depends on a feedback law.
pub(super) fn jacobian(lowering: &mut Lowering, values: &[Value], states: &[Symbol]) -> Vec<Value> {
    let builder = &mut lowering.builder;
    let last = values.iter().map(|value| value.index()).max().map_or(0, |last| last + 1);
    let tangents = tangents(builder, last, |builder, value| match builder.instruction(value) {
        Instruction::Input(Input::State(symbol)) => Some(Tangent::from([(symbol, builder.constant(1.0))])),
        _ => None,
    });
    let zero = builder.constant(0.0);
    let row = |value: &Value| {
        let tangent = &tangents[value.index()];
        states.iter().map(|state| tangent.get(state).copied().unwrap_or(zero)).collect::<Vec<_>>()
    };
    values.iter().flat_map(row).collect()
}

/// The tangents of the values before `last`: what `seed` gives, or what follows from those of the operands. Other inputs have none.
pub(super) fn tangents<K: Copy + Ord>(
    builder: &mut Builder,
    last: usize,
    mut seed: impl FnMut(&mut Builder, Value) -> Option<Tangent<K>>,
) -> Vec<Tangent<K>> {
    let mut tangents: Vec<Tangent<K>> = Vec::with_capacity(last);
    for index in 0..last {
        let value = Value::at(index);
        let tangent = seed(builder, value).unwrap_or_else(|| tangent(builder, value, &tangents));
        tangents.push(tangent);
    }
    tangents
}

fn tangent<K: Copy + Ord>(builder: &mut Builder, value: Value, tangents: &[Tangent<K>]) -> Tangent<K> {
    let of = |value: Value| &tangents[value.index()];
    match builder.instruction(value) {
        Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {
            Tangent::new()
        }
        Instruction::Add(a, b) => combined(builder, of(a), of(b), Builder::add),
        Instruction::Sub(a, b) => combined(builder, of(a), of(b), Builder::sub),
        Instruction::Neg(a) => mapped(builder, of(a), Builder::neg),
        Instruction::Mul(a, b) => product(builder, (a, of(a)), (b, of(b))),
        Instruction::Div(a, b) => quotient(builder, value, of(a), (b, of(b))),
        // d(1/a) = -(1/a)^2 da
        Instruction::Recip(a) => {
            let square = builder.mul(value, value);
            let slope = builder.neg(square);
            scaled(builder, of(a), slope)
        }
        Instruction::Sqrt(a) => {
            let slope = slope_of_root(builder, value);
            scaled(builder, of(a), slope)
        }
        Instruction::MulAdd(signs, a, b, c) => {
            let product = product(builder, (a, of(a)), (b, of(b)));
            match signs {
                [Sign::Plus, Sign::Plus] => combined(builder, &product, of(c), Builder::add),
                [Sign::Minus, Sign::Plus] => combined(builder, of(c), &product, Builder::sub),
                [Sign::Plus, Sign::Minus] => combined(builder, &product, of(c), Builder::sub),
                [Sign::Minus, Sign::Minus] => {
                    let sum = combined(builder, &product, of(c), Builder::add);
                    mapped(builder, &sum, Builder::neg)
                }
            }
        }
        Instruction::Unary(_, a) if of(a).is_empty() => Tangent::new(),
        Instruction::Unary(function, a) => {
            let slope = slope(builder, function, a, value);
            scaled(builder, of(a), slope)
        }
        Instruction::Binary(function, a, b) => {
            let [by_a, by_b] = slopes(builder, function, a, b, value);
            let (first, second) = (scaled(builder, of(a), by_a), scaled(builder, of(b), by_b));
            combined(builder, &first, &second, Builder::add)
        }
    }
}

/// d sqrt(a) = da / (2 sqrt(a)), from the root.
pub(super) fn slope_of_root(builder: &mut Builder, root: Value) -> Value {
    let reciprocal = builder.recip(root);
    let half = builder.constant(0.5);
    builder.mul(half, reciprocal)
}

/// The derivative of a function of one argument.
pub(super) fn slope(builder: &mut Builder, function: Function, a: Value, value: Value) -> Value {
    let one = builder.constant(1.0);
    let call = |builder: &mut Builder, function| builder.push(Instruction::Unary(function, a));
    match function {
        Function::Abs => builder.push(Instruction::Div(a, value)),
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
pub(super) fn slopes(builder: &mut Builder, function: Function, a: Value, b: Value, value: Value) -> [Value; 2] {
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

fn scaled<K: Copy + Ord>(builder: &mut Builder, tangent: &Tangent<K>, factor: Value) -> Tangent<K> {
    mapped(builder, tangent, |builder, entry| builder.mul(factor, entry))
}

fn mapped<K: Copy + Ord>(
    builder: &mut Builder,
    tangent: &Tangent<K>,
    map: impl Fn(&mut Builder, Value) -> Value,
) -> Tangent<K> {
    let mut mapped = tangent.clone();
    mapped.values_mut().for_each(|entry| *entry = map(builder, *entry));
    mapped
}

/// a db + b da
fn product<K: Copy + Ord>(
    builder: &mut Builder,
    (a, da): (Value, &Tangent<K>),
    (b, db): (Value, &Tangent<K>),
) -> Tangent<K> {
    let (first, second) = (scaled(builder, db, a), scaled(builder, da, b));
    combined(builder, &first, &second, Builder::add)
}

/// d(a/b) = (da - (a/b) db)/b
fn quotient<K: Copy + Ord>(
    builder: &mut Builder,
    value: Value,
    da: &Tangent<K>,
    (b, db): (Value, &Tangent<K>),
) -> Tangent<K> {
    let moved = scaled(builder, db, value);
    let numerator = combined(builder, da, &moved, Builder::sub);
    mapped(builder, &numerator, |builder, entry| builder.push(Instruction::Div(entry, b)))
}

/// The sum or the difference of two tangents.
fn combined<K: Copy + Ord>(
    builder: &mut Builder,
    a: &Tangent<K>,
    b: &Tangent<K>,
    combine: fn(&mut Builder, Value, Value) -> Value,
) -> Tangent<K> {
    let mut all = a.clone();
    for (by, &entry) in b {
        let zero = builder.constant(0.0);
        let own = all.get(by).copied().unwrap_or(zero);
        all.insert(*by, combine(builder, own, entry));
    }
    all
}
