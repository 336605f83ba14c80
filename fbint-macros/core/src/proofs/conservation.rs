//! Proofs that what is declared to be conserved is conserved: dI.X = 0 for every integral I.
//!
//! (a) dI.X vanishes identically, (b) it vanishes where the constraints hold, (c) it does neither, which is a mistake of the
//! declaration. For X = J (grad H - Df^T c) with C^T c = b,
//!
//! dI.X = {I, H} - sum_j c_j {I, f_j}
//!
//! The constraints f have grade (a) by construction, because C^T c = b, and so has H, because c^T C c = 0; where reactions hold velocity
//! constraints, H has grade (b). For anything else [`rates`](super::rates) evaluates dI.X at random points modulo primes, for (a) and,
//! where the constraints can be solved for variables, for (b). Algebra decides the rest.
//!
//! A claim that algebra does not prove does not compile, unless the declaration assumes it. In both cases a search looks for states that
//! refute it.

use std::cell::LazyCell;

use super::identities::vanishes_identically;
use super::rates::{sets_around_constraints, vanish_everywhere, vanishes_on_any};
use super::search::{Found, refute};
use super::set::Set;
use super::states::{State, TRIED, common_zeros, constraints, general};
use super::velocity::Velocity;
use crate::derivation::table::Table;
use crate::derivation::{Claim, Conservation, Derivation, Evidence, IntegralId, Kind, SparseRow};
use crate::expression::Expression;
use crate::numbers::derivative::entry;

/// States in which a claim that holds everywhere is tested.
const STATES: usize = 8;
/// States in which what holds by construction is tested.
const STATES_OF_CONSTRUCTION: usize = 2;

/// An integral that is not shown to be conserved, and is not assumed to be.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The integral.
    pub integral: IntegralId,
    /// dI.X where the constraints hold. It may contain multipliers.
    pub rate: Expression,
    /// The findings of the search among states.
    pub found: Found,
}

/// The grade of each integral for which numbers prove one. Often all others are conserved everywhere, which the same points prove.
pub fn grades(derivation: &Derivation) -> Table<IntegralId, Option<Conservation>> {
    let by_construction = |id| derivation.integrals.conserved_by_construction(id);
    let others = derivation.integrals.iter().filter(|(id, _)| by_construction(*id).is_none());
    let others: Vec<&SparseRow> = others.map(|(_, integral)| &integral.gradient).collect();
    if others.len() > 1 && vanish_everywhere(derivation, &others) {
        let everywhere = Conservation::Everywhere(Evidence::Algebra);
        return derivation.integrals.ids().map(|id| Some(by_construction(id).unwrap_or(everywhere))).collect();
    }
    let sets = sets_around_constraints(derivation);
    derivation.integrals.ids().map(|integral| grade(derivation, &sets, integral)).collect()
}

/// The grade of an integral where points modulo primes, or the form of the system, prove one. The sets contain the constraint set.
fn grade(derivation: &Derivation, sets: &[Set<'_>], integral: IntegralId) -> Option<Conservation> {
    let by_construction = derivation.integrals.conserved_by_construction(integral);
    by_construction.or_else(|| proved_grade(derivation, sets, &derivation.integrals[integral].gradient))
}

/// The grade of a function that has this gradient where points modulo primes prove one. The sets contain the constraint set.
pub(super) fn proved_grade(derivation: &Derivation, sets: &[Set<'_>], gradient: &SparseRow) -> Option<Conservation> {
    if vanish_everywhere(derivation, &[gradient]) {
        return Some(Conservation::Everywhere(Evidence::Algebra));
    }
    if vanishes_on_any(derivation, gradient, sets) {
        return Some(Conservation::OnConstraints(Evidence::Algebra));
    }
    // The constraint set, on which the energy of a rolling body is conserved, may have no points modulo primes.
    let energy = derivation.integrals.energy().filter(|energy| is_gradient_of(derivation, gradient, *energy))?;
    derivation.integrals.conserved_by_construction(energy).map(|grade| match grade {
        Conservation::Everywhere(_) => Conservation::Everywhere(Evidence::Algebra),
        _ => Conservation::OnConstraints(Evidence::Algebra),
    })
}

/// Returns `true` if an integral has this gradient in every state.
fn is_gradient_of(derivation: &Derivation, gradient: &SparseRow, integral: IntegralId) -> bool {
    let own = &derivation.integrals[integral].gradient;
    let differs = |symbol| !vanishes_identically(&(entry(gradient, symbol) - entry(own, symbol)));
    !derivation.symbols.states().any(differs)
}

/// An integral that the form of the system should keep, and that the field changes in some state: a fault of the compiler. In some states
/// in general position, the field may be `known`.
pub(crate) fn changed_by_field(derivation: &Derivation, known: Vec<Velocity>) -> Option<IntegralId> {
    let field = |states: &mut dyn Iterator<Item = State>| velocities(derivation, states, STATES_OF_CONSTRUCTION);
    let everywhere = LazyCell::new(|| match known.len() {
        0..STATES_OF_CONSTRUCTION => {
            field(&mut general(&derivation.symbols).take(TRIED).map(|values| State::new(&values)))
        }
        _ => known,
    });
    let on_constraints = LazyCell::new(|| field(&mut common_zeros(&derivation.symbols, &constraints(derivation))));
    derivation.integrals.ids().find(|id| match derivation.integrals.conserved_by_construction(*id) {
        Some(Conservation::Everywhere(_)) => changes(derivation, *id, &everywhere),
        Some(_) => changes(derivation, *id, &on_constraints),
        None => false,
    })
}

/// The field in the first of these states in which it is defined.
fn velocities(derivation: &Derivation, states: impl Iterator<Item = State>, count: usize) -> Vec<Velocity> {
    states.filter_map(|state| Velocity::new(derivation, state)).take(count).collect()
}

/// Returns `true` if an integral certainly changes somewhere.
fn changes(derivation: &Derivation, integral: IntegralId, velocities: &[Velocity]) -> bool {
    let rate = |velocity: &Velocity| velocity.rate(&derivation.integrals[integral].gradient);
    velocities.iter().filter_map(rate).any(|rate| rate.is_nonzero())
}

/// Tests the claims of a kept derivation. A claim that points modulo primes do not prove again is the file's word, unless a search finds a
/// state that refutes it. Returns the first claim that fails: proofs without algebra contradict it, or a state refutes it.
pub fn recheck_claims(
    derivation: &Derivation,
    claims: &Table<IntegralId, Claim>,
) -> Result<Table<IntegralId, Claim>, IntegralId> {
    let sets = sets_around_constraints(derivation);
    let unrefuted = |integral| match refute(derivation, integral, &Expression::zero()) {
        Found::Witness(_) => Err(integral),
        Found::Nothing(_) => Ok(()),
    };
    let judge = |(integral, claim): (IntegralId, &Claim)| match (grade(derivation, &sets, integral), claim) {
        (Some(grade), Claim::Proved(stated)) if grade == *stated => Ok(claim.clone()),
        (None, Claim::Proved(Conservation::Everywhere(_))) if !changes_somewhere(derivation, integral) => {
            unrefuted(integral).map(|()| Claim::Proved(Conservation::Everywhere(Evidence::Kept)))
        }
        (None, Claim::Proved(Conservation::OnConstraints(_))) => {
            unrefuted(integral).map(|()| Claim::Proved(Conservation::OnConstraints(Evidence::Kept)))
        }
        // States that refute what is assumed are searched for in any case.
        (None, Claim::Open { .. }) if is_taken(derivation, integral) => Ok(claim.clone()),
        _ => Err(integral),
    };
    claims.iter().map(judge).collect()
}

/// Returns `true` if the conservation of an integral may be open. Runs check at their start that the others imply a redundant constraint.
fn is_taken(derivation: &Derivation, integral: IntegralId) -> bool {
    derivation.integrals[integral].assumed || derivation.integrals[integral].kind == Kind::Redundant
}

/// Returns `true` if an integral changes in a state in general position.
fn changes_somewhere(derivation: &Derivation, integral: IntegralId) -> bool {
    let states = general(&derivation.symbols).map(|values| State::new(&values));
    changes(derivation, integral, &velocities(derivation, states, STATES))
}

/// The grade of every integral; those that are not conserved, or not known to be, if there are any.
pub fn prove(
    derivation: &Derivation,
    claims: &Table<IntegralId, Claim>,
) -> Result<Table<IntegralId, Conservation>, Vec<Violation>> {
    let mut grades = Vec::new();
    let mut violations = Vec::new();
    for (integral, claim) in claims.iter() {
        match claim {
            Claim::Proved(grade) => grades.push(*grade),
            Claim::Open { .. } if derivation.integrals[integral].kind == Kind::Redundant => {
                grades.push(Conservation::Assumed);
            }
            Claim::Open { rate } => match refute(derivation, integral, rate) {
                Found::Nothing(_) if derivation.integrals[integral].assumed => grades.push(Conservation::Assumed),
                found => violations.push(Violation { integral, rate: rate.clone(), found }),
            },
        }
    }
    if violations.is_empty() { Ok(grades.into_iter().collect()) } else { Err(violations) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::{Drive, EntryOf, Field, Integral, Role, Structure, SymbolInfo};
    use crate::expression::Symbol;

    /// An oscillator whose second rate has this factor, and its energy.
    fn oscillator(factor: i64) -> Derivation {
        let [x, y] = [0, 1].map(|index| Expression::from(Symbol(index)));
        let symbol = |name: &str| SymbolInfo {
            name: name.to_owned(),
            latex: name.to_owned(),
            entry: EntryOf::scalar(name),
            role: Role::State,
        };
        let energy = Integral {
            name: "energy".to_owned(),
            latex: "H".to_owned(),
            entry: EntryOf::scalar("energy"),
            kind: Kind::Energy,
            weight: 1,
            assumed: false,
            value: x.clone() * x.clone() + y.clone() * y.clone(),
            gradient: [(0, &x), (1, &y)].map(|(index, v)| (Symbol(index), Expression::integer(2) * v.clone())).into(),
        };
        Derivation {
            name: "Oscillator".to_owned(),
            symbols: ["x", "y"].into_iter().map(symbol).collect(),
            structure: Structure::None,
            drive: Drive::default(),
            integrals: [energy].into_iter().collect(),
            field: Field { systems: Vec::new(), rates: [y, Expression::integer(factor) * x].into_iter().collect() },
            hamel: None,
            outputs: Vec::new(),
            laws: Vec::new(),
        }
    }

    #[test]
    fn what_holds_by_construction_is_evaluated() {
        assert_eq!(changed_by_field(&oscillator(-1), Vec::new()), None);
        assert_eq!(changed_by_field(&oscillator(-2), Vec::new()), oscillator(-2).integrals.energy());
    }
}
