//! The multipliers c, from C^T c = b or the holonomic blocks, and the brackets that C and b are made of.

use super::factor::{Ldl, Matrix, Pivots, blocks, restricted, solve_antisymmetric, symmetric};
use super::lower::Lowering;
use super::monomial::Monomial;
use super::normalise::Normalised;
use crate::derivation::{Derivation, IntegralId, Unknowns};
use crate::program::code::Value;

/// By what each constraint's normalised row enters v = grad H - Df^T c: -c times the row's factor.
pub(crate) fn weights(
    derivation: &Derivation,
    normalised: &Normalised,
    lowering: &mut Lowering,
) -> Vec<(IntegralId, Monomial)> {
    let Some(constraints) = derivation.constraints() else { return Vec::new() };
    let brackets = BracketsOfRows { derivation, normalised };
    let solution = match derivation.system_of(Unknowns::OfBrackets) {
        None => solve_holonomic(lowering, normalised, &brackets, &derivation.holonomic_pairs()),
        Some(_) => solve_general(lowering, &brackets, &constraints),
    };
    constraints.into_iter().zip(solution.into_iter().map(Monomial::negated)).collect()
}

/// Brackets of what the normalised rows are gradients of, as sums of products that exist already.
struct BracketsOfRows<'a> {
    derivation: &'a Derivation,
    normalised: &'a Normalised,
}

impl BracketsOfRows<'_> {
    /// {f, g}
    fn of_rows(&self, lowering: &mut Lowering, f: IntegralId, g: IntegralId) -> Monomial {
        let (rows, symbols) = (&self.normalised.rows, &self.derivation.symbols);
        let terms = self.derivation.structure.bracket(symbols, &rows[f], &rows[g]);
        let terms = terms.map(|(f, entry, g)| lowering.monomial(&entry).times(f).times(g)).collect();
        lowering.sum(terms)
    }

    /// {H, F} without the factor of F's row, or -y(F) of a driven system.
    fn with_energy(&self, lowering: &mut Lowering, f: IntegralId) -> Monomial {
        let Some(energy) = self.derivation.integrals.energy() else { return Monomial::zero() };
        let bracket = self.of_rows(lowering, energy, f).times(&self.normalised.factors[energy]);
        let driven = self.derivation.drive.terms(&self.normalised.rows[f]);
        let driven = driven.map(|(slope, force)| match force {
            Some(force) => slope.clone().times(&lowering.monomial(force)).negated(),
            None => slope.clone().negated(),
        });
        let terms = [bracket].into_iter().chain(driven).collect();
        lowering.sum(terms)
    }
}

/// (c_1, c_2) from A c_2 = g' and A c_1 = {H, g'} + B c_2. With the rows of g divided by their factors s, the rows of g' by kappa s, and
/// the unknowns s c_1 and kappa s c_2, the right sides are g' / s and {H, g'} + B c_2.
fn solve_holonomic(
    lowering: &mut Lowering,
    normalised: &Normalised,
    brackets: &BracketsOfRows<'_>,
    pairs: &[(IntegralId, IntegralId)],
) -> Vec<Monomial> {
    let a = symmetric(pairs.len(), |i, j| {
        let entry = brackets.of_rows(lowering, pairs[i].0, pairs[j].1);
        lowering.materialise(&entry)
    });
    let rate = |&(constraint, rate): &(IntegralId, IntegralId)| {
        normalised.value(lowering, rate).times(&normalised.factors[constraint].inverse())
    };
    let rates: Vec<_> = pairs.iter().map(rate).collect();
    let energy: Vec<_> = pairs.iter().map(|(_, rate)| brackets.with_energy(lowering, *rate)).collect();
    let blocks = blocks(&lowering.builder, &a);
    let factored = |rows: Vec<usize>| {
        let ldl = Ldl::factor(&mut lowering.builder, &restricted(&a, &rows), Pivots::Single);
        (rows, ldl)
    };
    let blocks: Vec<(Vec<usize>, Ldl)> = blocks.into_iter().map(factored).collect();
    let second = solve_blocks(lowering, &blocks, &rates);
    let right = energy.iter().enumerate().map(|(i, free)| right_side(lowering, brackets, free, pairs, i, &second));
    let right: Vec<_> = right.collect();
    let first = solve_blocks(lowering, &blocks, &right);
    first.into_iter().chain(second).collect()
}

/// The solution of A x = b, where A falls into blocks. Its entries multiply whole gradients.
fn solve_blocks(lowering: &mut Lowering, blocks: &[(Vec<usize>, Ldl)], b: &[Monomial]) -> Vec<Monomial> {
    let mut x = b.to_vec();
    for (rows, ldl) in blocks {
        let values = if let [i] = rows[..] {
            // Factors of the right side meet those of the inverse.
            let one = lowering.builder.constant(1.0);
            let inverse = ldl.solve(&mut lowering.builder, &[one])[0];
            let inverse = lowering.scalar(inverse);
            vec![lowering.materialise(&b[i].clone().times(&inverse))]
        } else {
            let b: Vec<Value> = rows.iter().map(|&i| lowering.materialise(&b[i])).collect();
            ldl.solve(&mut lowering.builder, &b)
        };
        for (&i, value) in rows.iter().zip(values) {
            x[i] = lowering.scalar(value);
        }
    }
    x
}

/// {H, g'_i} + sum_j B_ij c_2j
fn right_side(
    lowering: &mut Lowering,
    brackets: &BracketsOfRows<'_>,
    energy: &Monomial,
    pairs: &[(IntegralId, IntegralId)],
    i: usize,
    c_2: &[Monomial],
) -> Monomial {
    let mut terms = vec![energy.clone()];
    for (j, value) in c_2.iter().enumerate() {
        // One of B_ij and B_ji = -B_ij, so that both rows share it.
        let entry = brackets.of_rows(lowering, pairs[i.min(j)].1, pairs[i.max(j)].1);
        let entry = if i < j { entry } else { entry.negated() };
        // As one factor: the product must not be multiplied out.
        terms.push(lowering.opaque(&entry).times(value));
    }
    lowering.sum(terms)
}

/// c from C^T c = {H, f}.
fn solve_general(lowering: &mut Lowering, brackets: &BracketsOfRows<'_>, members: &[IntegralId]) -> Vec<Monomial> {
    let m = members.len();
    let mut c: Matrix = vec![vec![lowering.builder.constant(0.0); m]; m];
    for i in 0..m {
        for j in 0..i {
            let entry = brackets.of_rows(lowering, members[j], members[i]);
            c[j][i] = lowering.materialise(&entry);
            c[i][j] = lowering.builder.neg(c[j][i]);
        }
    }
    let right = |f: &IntegralId| {
        let entry = brackets.with_energy(lowering, *f);
        lowering.materialise(&entry)
    };
    let right: Vec<Value> = members.iter().map(right).collect();
    let solution = solve_antisymmetric(&mut lowering.builder, &c, &right);
    solution.into_iter().map(|value| lowering.scalar(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::code::Builder;
    use crate::program::code::interpret;

    /// Solves C^T c = b by the emitted instructions, for random antisymmetric C, and puts the solution back.
    #[test]
    fn antisymmetric_solves_satisfy_their_equation() {
        for (m, zeros) in [(2, 0), (4, 0), (4, 1), (6, 0), (6, 4), (8, 3)] {
            let entry = |i: usize, j: usize| -> f64 {
                let (low, high) = (i.min(j), i.max(j));
                let raw = ((low * 37 + high * 101 + 13) as f64 * 12.9898).sin();
                let kept = (low + high) % (m - 1) >= zeros || high == low + 1;
                let value = if i == j || !kept { 0.0 } else { raw + raw.signum() };
                if i < j { value } else { -value }
            };
            let mut builder = Builder::default();
            let c: Matrix = (0..m).map(|i| (0..m).map(|j| builder.constant(entry(i, j))).collect()).collect();
            let b: Vec<Value> = (0..m).map(|i| builder.constant(0.3 + i as f64)).collect();
            let solution = solve_antisymmetric(&mut builder, &c, &b);
            let program = builder.finish(solution);
            let x = interpret(&program, &|_| 0.0, &|constant| constant);
            for i in 0..m {
                let left: f64 = (0..m).map(|j| entry(j, i) * x[j]).sum();
                assert!((left - (0.3 + i as f64)).abs() < 1e-12, "m = {m}, zeros = {zeros}, row {i}: {left}");
            }
        }
    }
}
