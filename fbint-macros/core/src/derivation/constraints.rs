//! The constraints of a canonical system, whose multipliers c follow from brackets: C^T c = b.

use super::{Derivation, Integral, IntegralId, Kind, LinearSystem, Structure};
use crate::expression::{Expression, Symbol};

/// The unknowns of a field's linear system, by their roles.
///
/// The multipliers of k holonomic constraints g and of their rates g' follow from C = [[0, A], [-A, B]] with A_ij = {g_i, g'_j} and B_ij =
/// {g'_i, g'_j}, which is two systems with one symmetric matrix, A c2 = g' and A c1 = {H, g'} + B c2. Where the system is driven, -y(f)
/// replaces {H, f}, with the flow y of [`Drive`](super::Drive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknowns {
    /// Multipliers c2 of rates of holonomic constraints.
    OfRates,
    /// Multipliers c1 of holonomic constraints and of velocity constraints.
    OfReactions,
    /// Multipliers c of constraints of any kind, from C^T c = b with C_ij = {f_i, f_j} and b_i = {H, f_i}.
    OfBrackets,
    /// Further parts of the motion of a Lagrangian system.
    OfMotion,
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

impl Derivation {
    /// The unknowns of a linear system.
    pub fn unknowns_of(&self, system: &LinearSystem) -> Unknowns {
        let kind = |unknown: &Symbol| Some(self.integrals[self.symbols.constraint(*unknown)?].kind);
        match system.unknowns.iter().map(kind).collect::<Option<Vec<_>>>() {
            None => Unknowns::OfMotion,
            Some(kinds) if kinds.iter().all(|kind| matches!(kind, Kind::Rate { .. })) => Unknowns::OfRates,
            Some(kinds) if kinds.iter().all(|kind| matches!(kind, Kind::Holonomic { .. } | Kind::Velocity)) => {
                Unknowns::OfReactions
            }
            Some(_) => Unknowns::OfBrackets,
        }
    }

    /// The constraints whose multipliers a system is solved for.
    pub fn solved_by(&self, system: &LinearSystem) -> Vec<IntegralId> {
        system.unknowns.iter().filter_map(|unknown| self.symbols.constraint(*unknown)).collect()
    }

    /// The system that is solved for certain unknowns.
    pub fn system_of(&self, unknowns: Unknowns) -> Option<&LinearSystem> {
        self.field.systems.iter().find(|system| self.unknowns_of(system) == unknowns)
    }

    /// The constraints f in the order of the rows of C; `None` if X is not J (grad H - Df^T c) and what drives the system.
    pub fn constraints(&self) -> Option<Vec<IntegralId>> {
        let is_canonical = matches!(self.structure, Structure::Canonical);
        let is_held = |(id, constraint): (IntegralId, &Integral)| constraint.kind.is_held().then_some(id);
        is_canonical.then(|| self.integrals.constraints().filter_map(is_held).collect())
    }

    /// The holonomic constraints, each with its rate, of a canonical system whose multipliers follow from A.
    pub fn holonomic_pairs(&self) -> Vec<(IntegralId, IntegralId)> {
        let is_canonical = matches!(self.structure, Structure::Canonical);
        let has_pairs = is_canonical && self.system_of(Unknowns::OfRates).is_some();
        if has_pairs { self.integrals.holonomic_pairs() } else { Vec::new() }
    }

    /// C and b of the constraints whose multipliers brackets determine.
    pub fn constraint_matrix(&self) -> Option<ConstraintMatrix> {
        let members = self.constraints()?;
        let [all, of_rates, of_constraints] =
            [Unknowns::OfBrackets, Unknowns::OfRates, Unknowns::OfReactions].map(|unknowns| self.system_of(unknowns));
        let (c, with_energy) = match (all, of_rates.zip(of_constraints)) {
            (Some(all), _) => (transposed(&all.matrix), all.right_side.clone()),
            (None, Some((of_rates, of_constraints))) => in_blocks(of_rates, of_constraints),
            (None, None) => Default::default(),
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
        let factors = term.factors();
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
