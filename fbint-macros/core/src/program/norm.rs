//! Norms where they are 0.
//!
//! n = sqrt(f_1^2 + .. + f_k^2) has the derivatives f_i / n, which are between -1 and 1 and have no value at 0. Their factors often vanish
//! there, as in |p| p. So n is raised by a number that is lost in rounding wherever the squares are not, and f_i / n is 0 where all f_i
//! are. Roots of anything else, such as sqrt(x), stay unchanged.

use super::lower::Lowering;
use super::monomial::Monomial;
use super::{Builder, Instruction, Sign, Value};

/// 2^-511, the root of the smallest normal double. A norm of entries that have no square in doubles is 0, and they are below this.
const LEAST_NORM: f64 = f64::from_bits(512 << 52);

/// The divisor of the derivative of a root of `radicand`: for a norm, a number that is not 0. A norm that the program divides by is not 0
/// anyway.
pub(super) fn divisor_of_root(builder: &mut Builder, root: Value, radicand: Value) -> Value {
    if is_square(builder, radicand) && !builder.is_divisor(root) { raised(builder, root) } else { root }
}

fn raised(builder: &mut Builder, root: Value) -> Value {
    let least = builder.constant(LEAST_NORM);
    builder.add(root, least)
}

/// Returns `true` if a value is a sum of squares with positive factors, so that it is 0 only where all that is squared is.
fn is_square(builder: &Builder, value: Value) -> bool {
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
fn squared(builder: &Builder, value: Value, found: &mut Vec<Value>) {
    match builder.instruction(value) {
        Instruction::Mul(a, b) if a == b => found.push(a),
        Instruction::MulAdd(_, a, b, c) if a == b => {
            found.push(a);
            squared(builder, c, found);
        }
        other => other.operands().for_each(|operand| squared(builder, operand, found)),
    }
}

impl Lowering<'_> {
    /// The monomial with a value where it has a limit at the zero of a norm that it is divided by once: n^2 / n is n, and f_i f_j / n is 0
    /// there.
    pub(super) fn continued(&mut self, mut monomial: Monomial) -> Monomial {
        let roots = monomial.factors.iter().filter(|(_, exponent)| **exponent == -1);
        let roots: Vec<Value> = roots.map(|(&value, _)| value).collect();
        for root in roots {
            let Instruction::Sqrt(radicand) = self.builder.instruction(root) else { continue };
            let times = monomial.exponent(radicand);
            if times > 0 {
                monomial.factors.remove(&radicand);
                monomial.factors.insert(root, 2 * times - 1);
            } else if is_square(&self.builder, radicand) {
                let mut entries = Vec::new();
                squared(&self.builder, radicand, &mut entries);
                let degree: i32 = entries.iter().map(|entry| monomial.exponent(*entry).max(0)).sum();
                if degree >= 2 {
                    monomial.factors.remove(&root);
                    let divisor = raised(&mut self.builder, root);
                    monomial = monomial.times(&Monomial::value(divisor).inverse());
                }
            }
        }
        monomial
    }
}
