//! The projection of a state onto the level set of all integrals, x - S DF^T (DF S DF^T + e D + R)^-1 (F - F_target), where D is the
//! diagonal of DF S DF^T and S and R are inputs. The head of `projection.rs` in the runtime says what they are.
//!
//! A step waits for the projection before it, so that the chain of dependent operations counts, not their number. Two coupled rows that
//! wait for equally many divisions are eliminated as a pair, which makes the chain of divisions half as long, and after the last division
//! only a product and a sum are left.

use super::factor::{Ldl, Matrix, Pivots, symmetric};
use super::fields::{FunctionParts, dot_product};
use super::lower::Lowering;
use super::monomial::Monomial;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, SparseRow};
use crate::expression::Symbol;
use crate::program::code::{Input, Program, Value};

/// e, the damping of a projection relative to the diagonal D of DF S DF^T: at a relative equilibrium, where DF loses rank, a
/// violation moves the state by at most 1 / (2 sqrt(e)) times its own size.
pub(crate) const DAMPING: f64 = 1e-10;

/// The damped Gauss-Newton step back from violations y, with the zeros of DF known. A constant factor of a gradient, such as the 2 of 2 q,
/// is divided out of it and of its violation, which does not change the step.
pub(crate) fn projection(parts: &FunctionParts<'_>) -> Program {
    let derivation = parts.derivation;
    let mut lowering = parts.lowering();
    let integrals = derivation.integrals.rows().map(|integral| lowering.lower(&integral.value)).collect();
    let law = lowering.weigh(integrals);
    let mut rows = Vec::new();
    let mut violations = Vec::new();
    let mut noise = Vec::new();
    for (id, integral) in derivation.integrals.iter() {
        let mut row: SparseRow<Monomial> =
            integral.gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let factor = lowering.take_constant_factor(&mut row.iter_mut().map(|(_, entry)| entry).collect::<Vec<_>>());
        let violation = lowering.weighed(law, id).times(&factor.to_power(-1));
        violations.push(lowering.materialise(&violation));
        let variance = Monomial::value(lowering.builder.input(Input::Noise(id))).times(&factor.to_power(-2));
        noise.push(lowering.materialise(&variance));
        rows.push(row);
    }
    let moved = moved_rows(&mut lowering, &rows);
    let gram = damped_gram_matrix(&mut lowering, &rows, &moved, &noise);
    let ldl = Ldl::factor(&mut lowering.builder, &gram, Pivots::Pairs);
    let solution = ldl.solve_ahead(&mut lowering.builder, &violations);
    let known = pulled(&mut lowering, derivation, &moved, &solution.known);
    let waiting = pulled(&mut lowering, derivation, &moved, &solution.waiting);
    let outputs = known.rows().zip(waiting.rows()).map(|(&known, &waiting)| {
        // Nothing but this product and this sum waits for the last division.
        let last = lowering.builder.mul(waiting, solution.inverse);
        lowering.builder.add(known, last)
    });
    let outputs = outputs.collect();
    lowering.builder.finish(outputs)
}

/// S DF^T y
fn pulled(
    lowering: &mut Lowering,
    derivation: &Derivation,
    moved: &[SparseRow<Monomial>],
    y: &[Value],
) -> Table<Symbol, Value> {
    let mut sums = derivation.symbols.over_states(|_| Vec::new());
    for (row, y) in moved.iter().zip(y) {
        let y = lowering.scalar(*y);
        for (column, entry) in row {
            sums[*column].push(entry.clone().times(&y));
        }
    }
    sums.map(|terms| lowering.value_of_sum(terms.clone()))
}

/// DF S, each entry computed once: every row of the Gram matrix from this one on reads it.
fn moved_rows(lowering: &mut Lowering, rows: &[SparseRow<Monomial>]) -> Vec<SparseRow<Monomial>> {
    let mut moved = |(column, entry): (&Symbol, &Monomial)| {
        let variance = lowering.builder.input(Input::Variance(*column));
        let product = entry.clone().times(&Monomial::value(variance));
        (*column, lowering.opaque(&product))
    };
    rows.iter().map(|row| row.iter().map(&mut moved).collect()).collect()
}

/// DF S DF^T + e D + R, from DF and DF S.
fn damped_gram_matrix(
    lowering: &mut Lowering,
    rows: &[SparseRow<Monomial>],
    moved: &[SparseRow<Monomial>],
    noise: &[Value],
) -> Matrix {
    symmetric(rows.len(), |i, j| {
        let product = sum_in_halves(lowering, dot_product(&rows[i], &moved[j]));
        if i != j {
            return product;
        }
        let factor = lowering.builder.constant(1.0 + DAMPING);
        let damped = lowering.builder.mul(product, factor);
        lowering.builder.add(damped, noise[i])
    })
}

/// The value of a sum. Where no two of many terms cancel, the halves are added up side by side.
fn sum_in_halves(lowering: &mut Lowering, mut terms: Vec<Monomial>) -> Value {
    if terms.len() < 4 {
        return lowering.value_of_sum(terms);
    }
    let second = terms.split_off(terms.len() / 2);
    let (first, second) = (lowering.value_of_sum(terms), lowering.value_of_sum(second));
    lowering.builder.add(first, second)
}
