//! The constraints of a canonical system, whose multipliers c follow from brackets: C^T c = b.

use super::{Derivation, IntegralId, LinearSystem, Structure};
use crate::expression::{Expression, Symbol};

/// Constraints with C_ij = {f_i, f_j} and b_i = {H, f_i}.
///
/// Where the system is driven, -y(f) stands in the place of {H, f}, with the flow y of [`Drive`](super::Drive).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraints {
    /// k holonomic constraints g, each with its rate g': C = [[0, A], [-A, B]] with A_ij = {g_i, g'_j} and B_ij = {g'_i, g'_j}. The field
    /// has two systems with one symmetric matrix, A c2 = g' and A c1 = {H, g'} + B c2.
    Holonomic(Vec<(IntegralId, IntegralId)>),
    /// Any even number of constraints f. The field has the system C^T c = b.
    General(Vec<IntegralId>),
}

/// C and b, written out.
#[derive(Clone, Debug)]
pub struct ConstraintMatrix {
    /// f, in the order of the rows of C.
    pub members: Vec<IntegralId>,
    /// C, row by row.
    pub c: Vec<Vec<Expression>>,
    /// b
    pub with_energy: Vec<Expression>,
}

impl Constraints {
    /// The constraints f in the order of the rows of C.
    pub fn members(&self) -> Vec<IntegralId> {
        match self {
            Self::Holonomic(pairs) => {
                pairs.iter().map(|(constraint, _)| *constraint).chain(pairs.iter().map(|(_, rate)| *rate)).collect()
            }
            Self::General(members) => members.clone(),
        }
    }
}

impl Derivation {
    /// The constraints whose multipliers brackets determine; `None` if X is not J (grad H - Df^T c) and what drives the system.
    pub fn constraints(&self) -> Option<Constraints> {
        let of = |system: &LinearSystem| -> Vec<IntegralId> {
            system.unknowns.iter().filter_map(|unknown| self.symbols.constraint(*unknown)).collect()
        };
        if !matches!(self.structure, Structure::Canonical) {
            return None;
        }
        Some(match &self.field.systems[..] {
            [of_rates, of_constraints] => {
                Constraints::Holonomic(of(of_constraints).into_iter().zip(of(of_rates)).collect())
            }
            [all] => Constraints::General(of(all)),
            _ => Constraints::Holonomic(Vec::new()),
        })
    }

    /// C and b of the constraints whose multipliers brackets determine.
    pub fn constraint_matrix(&self) -> Option<ConstraintMatrix> {
        let constraints = self.constraints()?;
        let members = constraints.members();
        let (c, with_energy) = match &self.field.systems[..] {
            [of_rates, of_constraints] => in_blocks(of_rates, of_constraints),
            [all] => (transposed(&all.matrix), all.right_side.clone()),
            _ => (Vec::new(), Vec::new()),
        };
        Some(ConstraintMatrix { members, c, with_energy })
    }
}

/// C and b from A c2 = g' and A c1 = {H, g'} + B c2.
fn in_blocks(of_rates: &LinearSystem, of_constraints: &LinearSystem) -> (Vec<Vec<Expression>>, Vec<Expression>) {
    let negated = |row: &Vec<Expression>| row.iter().map(|entry| -entry.clone()).collect::<Vec<_>>();
    let zeros = vec![Expression::zero(); of_rates.unknowns.len()];
    let above = of_rates.matrix.iter().map(|row| [zeros.clone(), row.clone()].concat());
    let split = of_constraints.right_side.iter().map(|entry| split(entry, &of_rates.unknowns));
    let (b, of_energy): (Vec<_>, Vec<_>) = split.unzip();
    let below = of_constraints.matrix.iter().zip(b).map(|(row, b)| [negated(row), b].concat());
    (above.chain(below).collect(), [negated(&of_rates.right_side), of_energy].concat())
}

/// The coefficients of unknowns in a sum, and the rest of it.
fn split(sum: &Expression, unknowns: &[Symbol]) -> (Vec<Expression>, Expression) {
    let mut coefficients = vec![Expression::zero(); unknowns.len()];
    let mut rest = Vec::new();
    for term in sum.terms() {
        let factors = if let Expression::Product(factors) = term { factors } else { std::slice::from_ref(term) };
        let unknown = factors.last().and_then(|last| unknowns.iter().position(|of| *last == Expression::from(*of)));
        match unknown {
            Some(place) => {
                let coefficient = Expression::product(factors[..factors.len() - 1].iter().cloned());
                coefficients[place] = coefficients[place].clone() + coefficient;
            }
            None => rest.push(term.clone()),
        }
    }
    (coefficients, Expression::sum(rest))
}

fn transposed(matrix: &[Vec<Expression>]) -> Vec<Vec<Expression>> {
    (0..matrix.len()).map(|j| matrix.iter().map(|row| row[j].clone()).collect()).collect()
}
