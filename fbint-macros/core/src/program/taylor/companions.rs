//! The partners of functions in their differential equations, such as the cosine of a sine.

use crate::expression::Function;
use crate::program::code::{Builder, Instruction, Sign, Value};

/// The partner of a function in its derivative.
pub(super) enum Companion {
    /// The derivative is this, with a sign.
    Slope(Sign, Value),
    /// The derivative is the reciprocal of this, with a sign.
    Reciprocal(Sign, Value),
}

/// The companion of a function f of a.
pub(super) fn companion(builder: &mut Builder, function: Function, a: Value, f: Value) -> Companion {
    use Companion::{Reciprocal, Slope};
    let call = |builder: &mut Builder, function| builder.push(Instruction::Unary(function, a));
    let beside_one = |builder: &mut Builder, sign, value| {
        let (one, square) = (builder.constant(1.0), builder.mul(value, value));
        builder.add_signed(one, sign, square)
    };
    match function {
        Function::Sin => Slope(Sign::Plus, call(builder, Function::Cos)),
        Function::Cos => Slope(Sign::Minus, call(builder, Function::Sin)),
        Function::Sinh => Slope(Sign::Plus, call(builder, Function::Cosh)),
        Function::Cosh => Slope(Sign::Plus, call(builder, Function::Sinh)),
        Function::Tan => Slope(Sign::Plus, beside_one(builder, Sign::Plus, f)),
        Function::Tanh => Slope(Sign::Plus, beside_one(builder, Sign::Minus, f)),
        Function::Exp => Slope(Sign::Plus, f),
        Function::Atan => Reciprocal(Sign::Plus, beside_one(builder, Sign::Plus, a)),
        Function::Asin | Function::Acos => {
            let radicand = beside_one(builder, Sign::Minus, a);
            let sign = if function == Function::Asin { Sign::Plus } else { Sign::Minus };
            Reciprocal(sign, builder.push(Instruction::Sqrt(radicand)))
        }
        // Switches were taken out before, and functions of two arguments have their own rules.
        Function::Ln | Function::Abs | Function::Sign | Function::Step | Function::Atan2 | Function::Powf => {
            Reciprocal(Sign::Plus, a)
        }
    }
}

/// The square of the distance of the point (x, y).
pub(super) fn radius(builder: &mut Builder, y: Value, x: Value) -> Value {
    let (x, y) = (builder.mul(x, x), builder.mul(y, y));
    builder.add(x, y)
}

/// b ln a
pub(super) fn logarithm_of_power(builder: &mut Builder, a: Value, b: Value) -> Value {
    let logarithm = builder.push(Instruction::Unary(Function::Ln, a));
    builder.mul(b, logarithm)
}

/// Adds what the rule of a value has sums of.
pub(super) fn add_companions(builder: &mut Builder, value: Value) {
    match builder.instruction(value) {
        Instruction::Unary(function, a) => drop(companion(builder, function, a, value)),
        Instruction::Binary(Function::Atan2, a, b) => drop(radius(builder, a, b)),
        _ => {}
    }
}
