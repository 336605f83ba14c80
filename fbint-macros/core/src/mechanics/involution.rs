//! Which of the energy and the invariants commute: {I_a, I_b}, the Dirac bracket where there are constraints.
//!
//! {I_a, I_b}_D = {I_a, I_b} - sum_ij {I_a, f_i} C^ij {f_j, I_b}, of which the sum vanishes if either integral commutes with
//! every constraint. Where it does not, the bracket is left open, since C is not inverted here.

use super::conservation::Claim;
use super::phase_space::{Observable, PhaseSpace};
use crate::derivation::{Derivation, Field, Involution};
use crate::expression::{Expression, Symbol};
use crate::sample::sample_points;
use crate::symbolic::Expr;

/// More integrals than this are not compared: their pairs would be too many to print, or to wait for.
const MOST_INTEGRALS: usize = 64;

/// The brackets of all pairs. Runs within a session. What is known to be conserved commutes with the energy.
pub fn involution(derivation: &Derivation, claims: &[Claim]) -> Involution {
    let integrals: Vec<usize> = (derivation.constraint_count..derivation.integrals.len()).collect();
    if integrals.len() < 2 || integrals.len() > MOST_INTEGRALS {
        return Involution::default();
    }
    let Some(structure) = Structure::of(derivation) else { return Involution::default() };
    let pairs = || integrals.iter().flat_map(|&a| integrals.iter().map(move |&b| (a, b))).filter(|(a, b)| a < b);
    let mut others = Vec::new();
    for (a, b) in pairs() {
        let is_energy = Some(a) == derivation.energy || Some(b) == derivation.energy;
        let other = if Some(a) == derivation.energy { b } else { a };
        if is_energy && claims[other].proved().is_some() {
            continue;
        }
        match structure.bracket(a, b) {
            Some(bracket) if bracket.is_zero() => {}
            bracket => others.push((a, b, bracket.map(|bracket| structure.recognised(bracket)))),
        }
    }
    Involution { pairs: pairs().count(), others }
}

struct Structure<'a> {
    derivation: &'a Derivation,
    space: PhaseSpace,
    observables: Vec<Observable>,
    /// Whether each integral that is no constraint commutes with all constraints.
    commutes: Vec<bool>,
}

impl<'a> Structure<'a> {
    /// `None` where the system has no bracket.
    fn of(derivation: &'a Derivation) -> Option<Self> {
        if matches!(derivation.field, Field::Given(_)) && derivation.poisson.is_none() {
            return None;
        }
        let space = PhaseSpace::new(derivation.dimension);
        let integrals = derivation.integrals.iter().zip(&derivation.gradients);
        let observables: Vec<Observable> = integrals.map(|(value, slope)| Observable::read(value, slope)).collect();
        let constraints = derivation.constraints().map_or(0, |constraints| constraints.len());
        let with_constraints =
            |f: &Observable| observables[..constraints].iter().all(|g| space.bracket(f, g).is_zero());
        let commutes = |(index, f)| index >= constraints && with_constraints(f);
        let commutes = observables.iter().enumerate().map(commutes).collect();
        Some(Self { derivation, space, observables, commutes })
    }

    /// The bracket of two integrals, unless it takes the inverse of C or is not real.
    fn bracket(&self, a: usize, b: usize) -> Option<Expression> {
        let bracket = match &self.derivation.poisson {
            Some(matrix) => self.poisson_bracket(matrix, a, b),
            None if self.commutes[a] || self.commutes[b] => {
                self.space.bracket(&self.observables[a], &self.observables[b])
            }
            None => return None,
        };
        let bracket = bracket.write().ok()?;
        if super::vanishing::vanishes(&bracket, &[]) { Some(Expression::zero()) } else { Some(bracket) }
    }

    /// grad f^T J grad g
    fn poisson_bracket(&self, matrix: &[Vec<Expression>], a: usize, b: usize) -> Expr {
        let gradients = &self.derivation.gradients;
        let mut sum = Expr::zero();
        for (i, left) in &gradients[a] {
            for (j, right) in &gradients[b] {
                let entry = &matrix[*i][*j];
                if !entry.is_zero() {
                    sum = &sum + &(&(&Expr::read(left) * &Expr::read(entry)) * &Expr::read(right));
                }
            }
        }
        sum.simplest()
    }

    /// A small multiple of an integral is written as that of its symbol, which comes after those of all multipliers.
    fn recognised(&self, bracket: Expression) -> Expression {
        let first = self.derivation.first_multiplier as usize + 2 * self.derivation.integrals.len();
        for (index, integral) in self.derivation.integrals.iter().enumerate() {
            for factor in [1, -1, 2, -2] {
                let difference = bracket.clone() - Expression::integer(factor) * integral.clone();
                let is_candidate = sample_points().take(2).all(|point| point.evaluate(&difference).abs() < 1e-9);
                if is_candidate && Expr::read(&difference).simplest().is_zero() {
                    return Expression::integer(factor) * Expression::from(Symbol((first + index) as u32));
                }
            }
        }
        bracket
    }
}
