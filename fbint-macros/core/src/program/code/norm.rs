//! Norms where they are 0.
//!
//! n = sqrt(f_1^2 + .. + f_k^2) has the derivatives f_i / n, which are between -1 and 1 and have no value at 0. Their factors often vanish
//! there, as in |p| p. So n is raised by a number that is lost in rounding wherever the squares are not, and f_i / n is 0 where all f_i
//! are. Roots of anything else, such as sqrt(x), stay unchanged.

use super::builder::Builder;
use super::instructions::{Instruction, Sign, Value};

/// 2^-511, the root of the smallest normal double. A norm of entries that have no square in doubles is 0, and they are below this.
const LEAST_NORM: f64 = f64::from_bits(512 << 52);

/// The divisor of the derivative of a root of `radicand`: for a norm, a number that is not 0. A norm that the program divides by is not 0
/// anyway.
pub(crate) fn divisor_of_root(builder: &mut Builder, root: Value, radicand: Value) -> Value {
    if is_square(builder, radicand) && !builder.is_divisor(root) { raised(builder, root) } else { root }
}

pub(crate) fn raised(builder: &mut Builder, root: Value) -> Value {
    let least = builder.constant(LEAST_NORM);
    builder.add(root, least)
}

/// Returns `true` if a value is a sum of squares with positive factors, so that it is 0 only where all that is squared is.
pub(crate) fn is_square(builder: &Builder, value: Value) -> bool {
    let is_positive =
        |value: Value| matches!(builder.instruction(value), Instruction::Constant(bits) if f64::from_bits(bits) > 0.0);
    match builder.instruction(value) {
        Instruction::Mul(a, b) => {
            a == b || is_positive(a) && is_square(builder, b) || is_positive(b) && is_square(builder, a)
        }
        Instruction::Div(a, b) => is_positive(b) && is_square(builder, a),
        Instruction::Add(a, b) => is_square(builder, a) && is_square(builder, b),
        Instruction::MulAdd([Sign::Plus, Sign::Plus], a, b, c) => a == b && is_square(builder, c),
        _ => false,
    }
}

/// Adds what is squared in a sum of squares.
pub(crate) fn squared(builder: &Builder, value: Value, found: &mut Vec<Value>) {
    match builder.instruction(value) {
        Instruction::Mul(a, b) if a == b => found.push(a),
        Instruction::MulAdd(_, a, b, c) if a == b => {
            found.push(a);
            squared(builder, c, found);
        }
        other => other.operands().for_each(|operand| squared(builder, operand, found)),
    }
}
