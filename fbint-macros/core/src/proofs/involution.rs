//! Which integrals commute, held against numbers.

use super::identities::vanishes_identically;
use super::states::{State, general};
use super::velocity::{bracket, row};
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
    let states = general(&derivation.symbols).take(TRIED);
    let states = states.filter_map(|values| StateGradients::at(derivation, State::new(&values))).take(STATES);
    let samples = BracketSamples { derivation, states: states.collect() };
    let pairs = pairs(derivation);
    let mut others = involution.others.iter().peekable();
    let (mut known, mut proved) = (0, 0);
    for &pair in &pairs {
        let listed = others.next_if(|(a, b, _)| (*a, *b) == pair).map(|(.., bracket)| bracket);
        let knowledge = match (beside_energy(derivation, pair), listed) {
            (Some(other), None) => match claims[other] {
                Claim::Proved(_) => Knowledge::Proved,
                Claim::Open { .. } => Knowledge::Unknown,
            },
            (Some(_), Some(_)) => return true,
            (None, Some(bracket)) if samples.agrees(pair, bracket.as_ref()) => Knowledge::Proved,
            (None, Some(_)) => return true,
            (None, None) if samples.vanishes(pair) => Knowledge::Known,
            (None, None) => return true,
        };
        known += usize::from(knowledge != Knowledge::Unknown);
        proved +=
            usize::from(knowledge == Knowledge::Proved || knowledge == Knowledge::Known && samples.is_proved(pair));
    }
    others.next().is_some() || !(proved..=known).contains(&involution.pairs)
}

/// What is known of a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    Proved,
    Known,
    Unknown,
}

/// A state with DF in it.
struct StateGradients {
    state: State,
    rows: Table<IntegralId, SparseRow<Real>>,
}

impl StateGradients {
    /// `None` where some entry is not defined.
    fn at(derivation: &Derivation, state: State) -> Option<Self> {
        let rows = derivation.integrals.ids().map(|id| row(derivation, &state, id)).collect::<Option<_>>()?;
        Some(Self { state, rows })
    }

    /// {f, g}
    fn bracket(&self, derivation: &Derivation, f: IntegralId, g: IntegralId) -> Option<Real> {
        bracket(derivation, &self.state, &self.rows[f], &self.rows[g])
    }
}

struct BracketSamples<'a> {
    derivation: &'a Derivation,
    states: Vec<StateGradients>,
}

impl BracketSamples<'_> {
    /// Whether the bracket of two integrals vanishes in all states.
    fn vanishes(&self, (a, b): (IntegralId, IntegralId)) -> bool {
        let mut brackets = self.states.iter().filter_map(|state| state.bracket(self.derivation, a, b));
        brackets.all(|bracket| !bracket.is_nonzero())
    }

    /// Whether the bracket of two integrals may be this one; `None` if it takes the inverse of C.
    fn agrees(&self, (a, b): (IntegralId, IntegralId), stated: Option<&Bracket>) -> bool {
        let value = |state: &StateGradients| match stated? {
            Bracket::Multiple(factor, id) => {
                let value = state.state.evaluate(&self.derivation.integrals[*id].value)?;
                Some(&value * &Real::from(*factor as f64))
            }
            Bracket::Function(function) => state.state.evaluate(function),
        };
        let differs = |state: &StateGradients| {
            let bracket = state.bracket(self.derivation, a, b)?;
            Some((&bracket - &value(state)?).is_nonzero())
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
        let slopes = self.derivation.integrals[a].gradient.iter().map(|(symbol, slope)| (*symbol, slope));
        let terms =
            self.derivation.structure.bracket(&self.derivation.symbols, slopes, |y| self.derivation.entry(b, y));
        let term =
            |(f, entry, g): (&Expression, Expression, &Expression)| Expression::product([f.clone(), entry, g.clone()]);
        vanishes_identically(&Expression::sum(terms.into_iter().map(term)))
    }
}
