//! Which integrals commute, held against numbers.

use super::identities::vanishes_identically;
use super::states::{State, Values, general};
use crate::derivation::table::Table;
use crate::derivation::{Bracket, Claim, Derivation, IntegralId, Involution, Kind, SparseRow};
use crate::expression::Expression;
use crate::numbers::precise::Real;

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
    let samples = BracketSamples::of(derivation);
    let mut others = involution.others.iter().peekable();
    let (mut known, mut proved) = (0, 0);
    for pair in pairs(derivation) {
        let listed = others.next_if(|(a, b, _)| (*a, *b) == pair).map(|(.., bracket)| bracket);
        let (is_known, is_proved) = match (beside_energy(derivation, pair), listed) {
            (Some(other), None) => {
                let is_proved = matches!(claims[other], Claim::Proved(_));
                (is_proved, is_proved)
            }
            (None, Some(bracket)) if samples.agrees(pair, bracket.as_ref()) => (true, true),
            (None, None) if samples.vanishes(pair) => (true, samples.is_proved(pair)),
            _ => return true,
        };
        known += usize::from(is_known);
        proved += usize::from(is_proved);
    }
    others.next().is_some() || !(proved..=known).contains(&involution.pairs)
}

/// A state with DF in it.
type StateGradients = (State, Table<IntegralId, SparseRow<Real>>);

struct BracketSamples<'a> {
    derivation: &'a Derivation,
    states: Vec<StateGradients>,
}

impl<'a> BracketSamples<'a> {
    fn of(derivation: &'a Derivation) -> Self {
        let gradients = |values: Values| {
            let state = State::new(&values);
            let rows = derivation.integrals.rows().map(|integral| state.slopes(&integral.gradient));
            let rows = rows.collect::<Option<_>>()?;
            Some((state, rows))
        };
        let states = general(&derivation.symbols).take(TRIED).filter_map(gradients).take(STATES);
        Self { derivation, states: states.collect() }
    }

    /// {f, g}
    fn bracket(&self, (state, rows): &StateGradients, f: IntegralId, g: IntegralId) -> Option<Real> {
        let mut terms = self.derivation.structure.bracket(&self.derivation.symbols, &rows[f], &rows[g]);
        terms.try_fold(Real::zero(), |sum, (f, entry, g)| Some(&sum + &(&state.evaluate(&entry)? * &(f * g))))
    }

    /// Whether the bracket of two integrals vanishes in all states.
    fn vanishes(&self, (a, b): (IntegralId, IntegralId)) -> bool {
        let mut brackets = self.states.iter().filter_map(|state| self.bracket(state, a, b));
        brackets.all(|bracket| !bracket.is_nonzero())
    }

    /// Whether the bracket of two integrals may be this one; `None` if it takes the inverse of C.
    fn agrees(&self, (a, b): (IntegralId, IntegralId), stated: Option<&Bracket>) -> bool {
        let value = |state: &State| match stated? {
            Bracket::Multiple(factor, id) => {
                let value = state.evaluate(&self.derivation.integrals[*id].value)?;
                Some(&value * &Real::from(*factor as f64))
            }
            Bracket::Function(function) => state.evaluate(function),
        };
        let differs = |sample: &StateGradients| {
            let bracket = self.bracket(sample, a, b)?;
            Some((&bracket - &value(&sample.0)?).is_nonzero())
        };
        match stated {
            Some(_) => !self.vanishes((a, b)) && !self.states.iter().any(|state| differs(state) == Some(true)),
            None => !self.commutes(a) && !self.commutes(b),
        }
    }

    /// Whether an integral is proved to commute with all constraints.
    fn commutes(&self, integral: IntegralId) -> bool {
        let members = self.derivation.constraints().unwrap_or_default();
        members.into_iter().all(|member| self.vanishes((integral, member)) && self.is_proved((integral, member)))
    }

    /// Whether points modulo primes prove that a bracket vanishes.
    fn is_proved(&self, (a, b): (IntegralId, IntegralId)) -> bool {
        let Derivation { integrals, symbols, structure, .. } = self.derivation;
        let terms = structure.bracket(symbols, &integrals[a].gradient, &integrals[b].gradient);
        let terms = terms.map(|(f, entry, g)| Expression::product([f.clone(), entry, g.clone()]));
        vanishes_identically(&Expression::sum(terms))
    }
}
