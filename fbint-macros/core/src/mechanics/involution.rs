//! Which of the energy and the invariants commute: {I_a, I_b}, the Dirac bracket where there are constraints.
//!
//! {I_a, I_b}_D = {I_a, I_b} - sum_ij {I_a, f_i} C^ij {f_j, I_b}, of which the sum vanishes if either integral commutes with
//! every constraint. Where it does not, the bracket is left open, since C is not inverted here.

use super::phase_space::PhaseSpace;
use super::simplify::Simplify;
use crate::derivation::table::Table;
use crate::derivation::{Bracket, Claim, Derivation, IntegralId, Involution};
use crate::expression::Expression;
use crate::numbers::points::sample_points;
use crate::proofs::{involution, vanishes_identically};

/// The brackets of all pairs. What is known to be conserved commutes with the energy.
pub(super) fn involution(
    derivation: &Derivation,
    claims: &Table<IntegralId, Claim>,
    simplify: &dyn Simplify,
) -> Involution {
    let brackets = Brackets::of(derivation, simplify);
    let mut pairs = 0;
    let mut others = Vec::new();
    for (a, b) in involution::pairs(derivation) {
        let bracket = match involution::beside_energy(derivation, (a, b)) {
            Some(other) if matches!(claims[other], Claim::Proved(_)) => Some(Expression::zero()),
            // What is assumed to be conserved is assumed to commute with the energy.
            Some(other) if derivation.integrals[other].assumed => continue,
            _ => brackets.bracket(a, b),
        };
        match bracket {
            Some(bracket) if bracket.is_zero() => {}
            // Neither is known.
            Some(bracket) if !brackets.space.is_nonzero_somewhere(&bracket) => continue,
            bracket => others.push((a, b, bracket.map(|bracket| brackets.recognised(bracket)))),
        }
        pairs += 1;
    }
    Involution { pairs, others }
}

/// Whether an expression is real and known to vanish.
fn vanishes(expression: Option<Expression>) -> bool {
    expression.is_some_and(|expression| vanishes_identically(&expression))
}

struct Brackets<'a> {
    derivation: &'a Derivation,
    space: PhaseSpace<'a>,
    /// Whether each integral commutes with all constraints, and is not one of them.
    commutes: Table<IntegralId, bool>,
}

impl<'a> Brackets<'a> {
    fn of(derivation: &'a Derivation, simplify: &'a dyn Simplify) -> Self {
        let space = PhaseSpace::of(derivation, simplify);
        let row = |id: IntegralId| &derivation.integrals[id].gradient;
        let constraints = derivation.constraints().unwrap_or_default();
        let commutes = |id: IntegralId| {
            !constraints.contains(&id) && constraints.iter().all(|g| vanishes(space.bracket(row(id), row(*g))))
        };
        let commutes = derivation.integrals.ids().map(commutes).collect();
        Self { derivation, space, commutes }
    }

    /// The bracket of two integrals, unless it takes the inverse of C or is not real.
    fn bracket(&self, a: IntegralId, b: IntegralId) -> Option<Expression> {
        if !self.commutes[a] && !self.commutes[b] {
            return None;
        }
        let [a, b] = [a, b].map(|id| &self.derivation.integrals[id].gradient);
        let bracket = self.space.bracket(a, b)?;
        if vanishes_identically(&bracket) { Some(Expression::zero()) } else { Some(bracket) }
    }

    /// The bracket, as a small multiple of an integral where it is one.
    fn recognised(&self, bracket: Expression) -> Bracket {
        for (id, integral) in self.derivation.integrals.iter() {
            for factor in [1, -1, 2, -2] {
                let difference = bracket.clone() - Expression::integer(factor) * integral.value.clone();
                let is_candidate = sample_points().take(2).all(|point| point.evaluate(&difference).abs() < 1e-9);
                if is_candidate && vanishes(self.space.simplified(&difference)) {
                    return Bracket::Multiple(factor, id);
                }
            }
        }
        Bracket::Function(bracket)
    }
}
