//! The projection of a state onto the level set of all integrals.

use super::factor::{Ldl, Matrix, Pivots};
use super::fields::{Parts, dot_product};
use super::lower::Lowering;
use super::monomial::Monomial;
use super::normalise::Row;
use super::{Program, Value};
use crate::expression::Symbol;

/// e, the damping of a projection relative to the diagonal D of DF S DF^T: at a relative equilibrium, where DF loses rank, a
/// violation moves the state by at most 1 / (2 sqrt(e)) times its own size.
pub(super) const DAMPING: f64 = 1e-10;

/// The damped Gauss-Newton step back from violations y, with the zeros of DF known. A constant factor of a gradient, such as the 2
/// of 2 q, is divided out of it and of its violation, which leaves the step as it is.
pub(super) fn projection(parts: &Parts<'_>) -> Program {
    let derivation = parts.derivation;
    let mut lowering = parts.lowering();
    let integrals = derivation.integrals.rows().map(|integral| lowering.lower(&integral.value)).collect();
    let law = lowering.weigh(integrals);
    let mut rows = Vec::new();
    let mut violations = Vec::new();
    let mut noise = Vec::new();
    for (id, integral) in derivation.integrals.iter() {
        let mut row: Row =
            integral.gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let factor = lowering.take_constant_factor(row.iter_mut().map(|(_, entry)| entry));
        let violation = lowering.weighed(law, id).times(&factor.to_power(-1));
        violations.push(Some(lowering.materialise(&violation)));
        let variance = lowering.noise(id).times(&factor.to_power(-2));
        noise.push(lowering.materialise(&variance));
        rows.push(row);
    }
    let moved = moved_rows(&mut lowering, &rows);
    let gram = damped_gram_matrix(&mut lowering, &rows, &moved, &noise);
    let ldl = Ldl::factor(&mut lowering.builder, &gram, Pivots::Pairs);
    let y = ldl.solve(&mut lowering.builder, &violations);
    let mut sums = derivation.symbols.over_states(|_| Vec::new());
    for (row, y) in rows.iter().zip(y) {
        let Some(y) = y else { continue };
        let y = lowering.scalar(y);
        for (column, entry) in row {
            sums[*column].push(entry.clone().times(&y));
        }
    }
    let outputs = sums
        .iter()
        .map(|(column, terms)| {
            let sum = lowering.sum(terms.clone());
            let moved = sum.times(&lowering.variance(column));
            lowering.materialise(&moved)
        })
        .collect();
    lowering.builder.finish(outputs)
}

/// DF S, each entry computed once: every row of the Gram matrix from this one on reads it.
fn moved_rows(lowering: &mut Lowering, rows: &[Row]) -> Vec<Row> {
    let mut moved = |(column, entry): &(Symbol, Monomial)| {
        let product = entry.clone().times(&lowering.variance(*column));
        (*column, lowering.opaque(&product))
    };
    rows.iter().map(|row| row.iter().map(&mut moved).collect()).collect()
}

/// DF S DF^T + e D + R, from DF and DF S.
fn damped_gram_matrix(lowering: &mut Lowering, rows: &[Row], moved: &[Row], noise: &[Value]) -> Matrix {
    let mut gram: Matrix = vec![vec![None; rows.len()]; rows.len()];
    for i in 0..rows.len() {
        for j in 0..i {
            gram[i][j] = lowering.sum_unless_zero(dot_product(&rows[i], &moved[j]));
            gram[j][i] = gram[i][j];
        }
        let diagonal = lowering.sum_unless_zero(dot_product(&rows[i], &moved[i]));
        gram[i][i] = Some(diagonal.map_or(noise[i], |diagonal| {
            let factor = lowering.builder.constant(1.0 + DAMPING);
            let damped = lowering.builder.mul(diagonal, factor);
            lowering.builder.add(damped, noise[i])
        }));
    }
    gram
}
