//! The linear systems of a field, one after the other.
//!
//! Their matrices are definite and factored as L D L^T, like those of holonomic constraints. Systems with one matrix share its factors:
//! equal instructions are one.

use super::factor::{Ldl, Matrix, Pivots, blocks, symmetric};
use super::lower::Lowering;
use super::monomial::Monomial;
use crate::derivation::{Field, LinearSystem};

/// Computes every unknown, and lets its symbol stand for it.
pub(super) fn solve(lowering: &mut Lowering, field: &Field) {
    for system in &field.systems {
        solve_system(lowering, system);
    }
}

/// Computes the unknowns of one system, where the symbols that it contains are bound.
pub(super) fn solve_system(lowering: &mut Lowering, system: &LinearSystem) {
    let entries: Vec<Vec<Monomial>> =
        system.matrix.iter().map(|row| row.iter().map(|entry| lowering.monomial(entry)).collect()).collect();
    let right: Vec<Monomial> = system.right_side.iter().map(|entry| lowering.monomial(entry)).collect();
    let matrix = symmetric(entries.len(), |i, j| {
        let entry = &entries[i][j];
        (!entry.is_zero()).then(|| lowering.materialise(entry))
    });
    for block in blocks(&matrix) {
        if let [i] = block[..] {
            // What the pivot and the right side share cancels.
            let pivot = lowering.parametric_part(&entries[i][i]);
            let rest = entries[i][i].clone().times(&pivot.inverse());
            let rest = lowering.materialise(&rest);
            let inverse = lowering.builder.recip(rest);
            let quotient = right[i].clone().times(&pivot.inverse()).times(&Monomial::value(inverse));
            let quotient = if quotient.is_zero() { quotient } else { lowering.opaque(&quotient) };
            lowering.bind(system.unknowns[i], quotient);
            continue;
        }
        let sub_matrix: Matrix = block.iter().map(|&i| block.iter().map(|&j| matrix[i][j]).collect()).collect();
        let sub_right: Vec<_> =
            block.iter().map(|&i| (!right[i].is_zero()).then(|| lowering.materialise(&right[i]))).collect();
        let ldl = Ldl::factor(&mut lowering.builder, &sub_matrix, Pivots::Single);
        for (&i, value) in block.iter().zip(ldl.solve(&mut lowering.builder, &sub_right)) {
            lowering.bind(system.unknowns[i], value.map_or_else(Monomial::zero, Monomial::value));
        }
    }
}
