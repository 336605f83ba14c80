//! The linear systems of a field, one after the other.
//!
//! Their matrices are definite and factored as L D L^T, like the matrices of holonomic constraints. Systems with one matrix share its
//! factors: equal instructions are one.

use super::factor::{Ldl, Pivots, blocks, restricted, symmetric};
use super::lower::Lowering;
use super::monomial::Monomial;
use crate::derivation::{Field, LinearSystem};
use crate::program::code::Value;

/// Computes every unknown, and lets its symbol stand for it.
pub(crate) fn solve(lowering: &mut Lowering, field: &Field) {
    for system in &field.systems {
        solve_system(lowering, system);
    }
}

/// Computes the unknowns of one system, where the symbols that it contains are bound.
pub(crate) fn solve_system(lowering: &mut Lowering, system: &LinearSystem) {
    let entries: Vec<Vec<Monomial>> =
        system.matrix.iter().map(|row| row.iter().map(|entry| lowering.monomial(entry)).collect()).collect();
    let right: Vec<Monomial> = system.right_side.iter().map(|entry| lowering.monomial(entry)).collect();
    let matrix = symmetric(entries.len(), |i, j| lowering.materialise(&entries[i][j]));
    for block in blocks(&lowering.builder, &matrix) {
        if let [i] = block[..] {
            // What the pivot and the right side share cancels.
            let pivot = lowering.parametric_part(&entries[i][i]);
            let rest = entries[i][i].clone().times(&pivot.inverse());
            let rest = lowering.materialise(&rest);
            let inverse = lowering.builder.recip(rest);
            let quotient = right[i].clone().times(&pivot.inverse()).times(&Monomial::value(inverse));
            let quotient = lowering.opaque(&quotient);
            lowering.bind(system.unknowns[i], quotient);
            continue;
        }
        let right: Vec<Value> = block.iter().map(|&i| lowering.materialise(&right[i])).collect();
        let ldl = Ldl::factor(&mut lowering.builder, &restricted(&matrix, &block), Pivots::Single);
        for (&i, value) in block.iter().zip(ldl.solve(&mut lowering.builder, &right)) {
            lowering.bind(system.unknowns[i], lowering.value(value));
        }
    }
}
