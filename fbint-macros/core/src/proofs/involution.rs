//! Which of the energy and the invariants commute: {I_a, I_b}, the Dirac bracket where there are constraints.
//!
//! {I_a, I_b}_D = {I_a, I_b} - sum_ij {I_a, f_i} C^ij {f_j, I_b}. The sum vanishes if either integral commutes with every constraint. Where
//! it does not, the bracket is left open, since C is not inverted here.

use std::cell::OnceCell;

use super::identities::vanishes_identically;
use super::states::is_nonzero_somewhere;
use crate::derivation::table::Table;
use crate::derivation::{Bracket, Claim, Derivation, IntegralId, Involution, Kind};
use crate::expression::Expression;
use crate::numbers::points::sample_points;

/// More integrals than this are not compared: their pairs would be too many to print, or to wait for.
const MOST_INTEGRALS: usize = 64;

/// The brackets of all pairs. Integrals that are known to be conserved commute with the energy. `simplified` gives a shorter form of an
/// expression, or nothing where it is not finite and real.
pub fn involution(
    derivation: &Derivation,
    claims: &Table<IntegralId, Claim>,
    simplified: &dyn Fn(&Expression) -> Option<Expression>,
) -> Involution {
    compared(derivation, claims, simplified).0
}

/// Returns `true` if an involution is not what the gradients of the integrals say.
pub fn is_contradicted(derivation: &Derivation, claims: &Table<IntegralId, Claim>, stated: &Involution) -> bool {
    let (own, unknown) = compared(derivation, claims, &|expression| Some(expression.clone()));
    let value = |bracket: &Bracket| match bracket {
        Bracket::Multiple(factor, id) => Expression::integer(*factor) * derivation.integrals[*id].value.clone(),
        Bracket::Function(function) => function.clone(),
    };
    let is_same = |own: &Option<Bracket>, stated: &Option<Bracket>| match (own, stated) {
        (Some(own), Some(stated)) => !is_nonzero_somewhere(&derivation.symbols, &(value(own) - value(stated))),
        (own, stated) => own == stated,
    };
    let mut pairs = own.others.iter().zip(&stated.others);
    own.others.len() != stated.others.len()
        || pairs.any(|((a, b, own), (c, d, stated))| (a, b) != (c, d) || !is_same(own, stated))
        // Algebra may have proved more.
        || !(own.pairs..=own.pairs + unknown).contains(&stated.pairs)
}

/// The brackets of all pairs, and the number of those that vanish in all states that were tried and are not proved to.
fn compared(
    derivation: &Derivation,
    claims: &Table<IntegralId, Claim>,
    simplified: &dyn Fn(&Expression) -> Option<Expression>,
) -> (Involution, usize) {
    let brackets = Brackets::of(derivation, simplified);
    let (mut involution, mut unknown) = (Involution::default(), 0);
    for (a, b) in pairs(derivation) {
        let is_energy = |id: &IntegralId| derivation.integrals[*id].kind == Kind::Energy;
        let beside_energy = [(a, b), (b, a)].into_iter().find(|(energy, _)| is_energy(energy)).map(|(_, other)| other);
        let bracket = match beside_energy {
            Some(other) if matches!(claims[other], Claim::Proved(_)) => Some(Expression::zero()),
            // What is assumed to be conserved is assumed to commute with the energy.
            Some(other) if derivation.integrals[other].assumed => continue,
            _ => brackets.bracket(a, b),
        };
        match bracket {
            Some(bracket) if bracket.is_zero() => {}
            Some(bracket) if !is_nonzero_somewhere(&derivation.symbols, &bracket) => {
                unknown += 1;
                continue;
            }
            bracket => involution.others.push((a, b, bracket.map(|bracket| brackets.recognised(bracket)))),
        }
        involution.pairs += 1;
    }
    (involution, unknown)
}

/// The pairs of integrals whose brackets are examined.
fn pairs(derivation: &Derivation) -> Vec<(IntegralId, IntegralId)> {
    let integrals = derivation.integrals.iter().filter(|(_, integral)| !integral.kind.is_constraint());
    let integrals: Vec<IntegralId> = integrals.map(|(id, _)| id).collect();
    // What commutes with the energy of a driven system is not therefore conserved.
    let is_driven = derivation.symbols.is_driven();
    if integrals.len() > MOST_INTEGRALS || is_driven || !derivation.structure.exists() {
        return Vec::new();
    }
    integrals.iter().enumerate().flat_map(|(place, &a)| integrals[place + 1..].iter().map(move |&b| (a, b))).collect()
}

struct Brackets<'a> {
    derivation: &'a Derivation,
    simplified: &'a dyn Fn(&Expression) -> Option<Expression>,
    /// Whether each integral commutes with all constraints, and is not one of them.
    commutes: Table<IntegralId, bool>,
    /// The values of the integrals at a few points.
    values: OnceCell<Table<IntegralId, Vec<f64>>>,
}

/// The values of an expression at a few points.
fn values(expression: &Expression) -> Vec<f64> {
    sample_points().take(2).map(|point| point.evaluate(expression)).collect()
}

impl<'a> Brackets<'a> {
    fn of(derivation: &'a Derivation, simplified: &'a dyn Fn(&Expression) -> Option<Expression>) -> Self {
        let (commutes, values) = (derivation.integrals.map(|_| true), OnceCell::new());
        let mut brackets = Self { derivation, simplified, commutes, values };
        let constraints = derivation.constraints().unwrap_or_default();
        let vanishes = |f, g| brackets.poisson(f, g).is_some_and(|bracket| bracket.is_zero());
        let commutes = |f| !constraints.contains(&f) && constraints.iter().all(|g| vanishes(f, *g));
        brackets.commutes = derivation.integrals.ids().map(commutes).collect();
        brackets
    }

    /// The bracket of two integrals, unless it takes the inverse of C or is not real.
    fn bracket(&self, a: IntegralId, b: IntegralId) -> Option<Expression> {
        if self.commutes[a] || self.commutes[b] { self.poisson(a, b) } else { None }
    }

    /// {f, g}, which is 0 where that is proved; `None` where it is not a finite real expression.
    fn poisson(&self, f: IntegralId, g: IntegralId) -> Option<Expression> {
        let Derivation { structure, symbols, integrals, .. } = self.derivation;
        let terms = structure.bracket(symbols, &integrals[f].gradient, &integrals[g].gradient);
        let bracket = Expression::sum(terms.map(|(f, entry, g)| f.clone() * g.clone() * entry));
        let bracket = (self.simplified)(&bracket)?;
        Some(if vanishes_identically(&bracket) { Expression::zero() } else { bracket })
    }

    /// The bracket, as a small multiple of an integral where it is one.
    fn recognised(&self, bracket: Expression) -> Bracket {
        let integrals = self.values.get_or_init(|| self.derivation.integrals.map(|integral| values(&integral.value)));
        let own = values(&bracket);
        for (id, integral) in self.derivation.integrals.iter() {
            for factor in [1, -1, 2, -2] {
                let is_near = |(own, other): (&f64, &f64)| (own - factor as f64 * other).abs() < 1e-9;
                if !own.iter().zip(&integrals[id]).all(is_near) {
                    continue;
                }
                let difference = bracket.clone() - Expression::integer(factor) * integral.value.clone();
                if (self.simplified)(&difference).is_some_and(|difference| vanishes_identically(&difference)) {
                    return Bracket::Multiple(factor, id);
                }
            }
        }
        Bracket::Function(bracket)
    }
}
