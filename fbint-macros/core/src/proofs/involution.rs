//! Which integrals commute, held against numbers.

use super::identities::vanishes_identically;
use super::states::{State, general};
use crate::derivation::table::Table;
use crate::derivation::{Bracket, Claim, Derivation, IntegralId, Involution, Kind};
use crate::expression::Expression;

/// More integrals than this are not compared: their pairs would be too many to print, or to wait for.
const MOST_INTEGRALS: usize = 64;
/// States in which brackets are evaluated, of those that are tried.
const STATES: usize = 3;
const TRIED: usize = 100;

/// The pairs of integrals whose brackets are looked at.
pub fn pairs(derivation: &Derivation) -> Vec<(IntegralId, IntegralId)> {
    let integrals = derivation.integrals.iter().filter(|(_, integral)| !integral.kind.is_constraint());
    let integrals: Vec<IntegralId> = integrals.map(|(id, _)| id).collect();
    // What commutes with the energy of a driven system is not therefore conserved.
    let is_driven = derivation.symbols.is_driven();
    if integrals.len() > MOST_INTEGRALS || is_driven || !derivation.structure.exists() {
        return Vec::new();
    }
    integrals.iter().enumerate().flat_map(|(place, &a)| integrals[place + 1..].iter().map(move |&b| (a, b))).collect()
}

/// Whether a pair contains the energy: the other one of the pair, if so.
pub fn beside_energy(derivation: &Derivation, (a, b): (IntegralId, IntegralId)) -> Option<IntegralId> {
    let is_energy = |id: IntegralId| derivation.integrals[id].kind == Kind::Energy;
    if is_energy(a) { Some(b) } else { is_energy(b).then_some(a) }
}

/// Whether an involution is not what the gradients of the integrals say.
pub fn is_contradicted(derivation: &Derivation, claims: &Table<IntegralId, Claim>, involution: &Involution) -> bool {
    let brackets = Brackets::of(derivation);
    let mut others = involution.others.iter().peekable();
    let (mut known, mut proved) = (0, 0);
    for pair in pairs(derivation) {
        let listed = others.next_if(|(a, b, _)| (*a, *b) == pair).map(|(.., bracket)| bracket);
        let (is_known, is_proved) = match (beside_energy(derivation, pair), listed) {
            (Some(other), None) => {
                let is_proved = matches!(claims[other], Claim::Proved(_));
                (is_proved, is_proved)
            }
            (None, Some(stated)) if brackets.agrees(pair, stated.as_ref()) => (true, true),
            (None, None) => {
                let bracket = brackets.bracket(pair);
                if !brackets.may_vanish(&bracket) {
                    return true;
                }
                (true, vanishes_identically(&bracket))
            }
            _ => return true,
        };
        known += usize::from(is_known);
        proved += usize::from(is_proved);
    }
    others.next().is_some() || !(proved..=known).contains(&involution.pairs)
}

struct Brackets<'a> {
    derivation: &'a Derivation,
    /// States in which DF is defined.
    states: Vec<State>,
}

impl<'a> Brackets<'a> {
    fn of(derivation: &'a Derivation) -> Self {
        let gradients = || derivation.integrals.rows().map(|integral| &integral.gradient);
        let is_defined = |state: &State| gradients().all(|gradient| state.slopes(gradient).is_some());
        let states = general(&derivation.symbols).take(TRIED).map(|values| State::new(&values));
        Self { derivation, states: states.filter(is_defined).take(STATES).collect() }
    }

    /// {f, g}
    fn bracket(&self, (f, g): (IntegralId, IntegralId)) -> Expression {
        let Derivation { structure, symbols, integrals, .. } = self.derivation;
        let terms = structure.bracket(symbols, &integrals[f].gradient, &integrals[g].gradient);
        Expression::sum(terms.map(|(f, entry, g)| Expression::product([f.clone(), entry, g.clone()])))
    }

    /// Whether an expression is certainly not 0 in no state.
    fn may_vanish(&self, expression: &Expression) -> bool {
        let mut values = self.states.iter().filter_map(|state| state.evaluate(expression));
        values.all(|value| !value.is_nonzero())
    }

    /// Whether the bracket of two integrals may be this one; `None` if it takes the inverse of C.
    fn agrees(&self, (a, b): (IntegralId, IntegralId), stated: Option<&Bracket>) -> bool {
        let bracket = self.bracket((a, b));
        let difference = match stated {
            Some(Bracket::Multiple(factor, id)) => {
                bracket.clone() - Expression::integer(*factor) * self.derivation.integrals[*id].value.clone()
            }
            Some(Bracket::Function(function)) => bracket.clone() - function.clone(),
            None => return !self.commutes(a) && !self.commutes(b),
        };
        !self.may_vanish(&bracket) && self.may_vanish(&difference)
    }

    /// Whether an integral is proved to commute with all constraints.
    fn commutes(&self, integral: IntegralId) -> bool {
        let members = self.derivation.constraints().unwrap_or_default();
        members.into_iter().all(|member| vanishes_identically(&self.bracket((integral, member))))
    }
}
