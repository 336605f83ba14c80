//! Adjoints of programs, by automatic differentiation in reverse.
//!
//! With a weight w_i for each result y_i, the adjoint of a value v is dE/dv with E = sum w_i y_i. It is what the instructions that
//! read v add to it, each its own adjoint times its derivative by v, from the last instruction to the first.

use super::tangent::partials;
use crate::program::code::{Builder, Instruction, Value};

/// The adjoints of all values before the last of the results, each with its weight; the number 0 where they vanish identically. Values that
/// depend on nothing that `varies` have no part in them, and values before one that `ends` are left out.
pub(crate) fn adjoints(
    builder: &mut Builder,
    results: &[(Value, Value)],
    varies: &[bool],
    ends: impl Fn(Value) -> bool,
) -> Vec<Value> {
    let zero = builder.constant(0.0);
    let mut adjoints = vec![zero; varies.len()];
    for (result, weight) in results.iter().filter(|(result, _)| varies[result.index()]) {
        adjoints[result.index()] = builder.add(adjoints[result.index()], *weight);
    }
    for value in (0..varies.len()).rev().map(Value::at).filter(|value| !ends(*value)) {
        let mut adjoint = adjoints[value.index()];
        if adjoint == zero {
            continue;
        }
        let mut partials = partials(builder, value);
        if let Instruction::Mul(a, b) = builder.instruction(value) {
            // The first factor first.
            partials.reverse();
            if a == b {
                // All squares of a sum share twice its adjoint.
                partials.truncate(1);
                let two = builder.constant(2.0);
                adjoint = builder.mul(two, adjoint);
            }
        }
        for partial in partials.into_iter().filter(|partial| varies[partial.by.index()]) {
            let term = partial.slope.map_or(adjoint, |slope| builder.mul(adjoint, slope));
            let sum = &mut adjoints[partial.by.index()];
            *sum = builder.add_signed(*sum, partial.sign, term);
        }
    }
    adjoints
}
