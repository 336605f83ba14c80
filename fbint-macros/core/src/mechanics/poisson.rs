//! States that are not canonical but carry a Poisson matrix J(x): x' = J grad H.
//!
//! J must be antisymmetric and satisfy the Jacobi identity, for every i < j < k:
//! sum_l (J_il d_l J_jk + J_jl d_l J_ki + J_kl d_l J_ij) = 0. Otherwise the flow preserves no Poisson structure, and what
//! is called a Casimir function need not be conserved.

use super::phase_space::{Observable, PhaseSpace};
use crate::derivation::Symbols;
use crate::derivation::table::Table;
use crate::expression::{Expression, Symbol};
use crate::proofs::{State, Values, general, vanishes_identically};

/// States in which a failure is looked for.
const STATES: usize = 100;

/// Why a matrix is not a Poisson matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPoisson {
    /// J_ij + J_ji does not vanish.
    NotAntisymmetric(Symbol, Symbol),
    /// The Jacobi identity fails for this triple.
    JacobiFails(Symbol, Symbol, Symbol),
}

/// Why the rows are not those of a Poisson matrix, if they are not.
pub(super) fn not_poisson(
    space: &PhaseSpace<'_>,
    symbols: &Symbols,
    rows: &Table<Symbol, Vec<(Symbol, Expression)>>,
) -> Option<NotPoisson> {
    let zero = Expression::zero();
    let entry = |row: &[(Symbol, Expression)], column: Symbol| {
        let entry = row.iter().find(|(symbol, _)| *symbol == column);
        space.observable(entry.map_or(&zero, |(_, entry)| entry))
    };
    let dense = |row: &Vec<(Symbol, Expression)>| symbols.states().map(|column| entry(row, column)).collect();
    let j: Vec<Vec<Observable>> = rows.rows().map(dense).collect::<Option<_>>()?;
    let states: Vec<Symbol> = symbols.states().collect();
    let is_refuted = |quantity: Expression| is_refuted(space, &quantity, symbols);
    for a in 0..j.len() {
        for b in 0..=a {
            if is_refuted(j[a][b].value.clone() + j[b][a].value.clone()) {
                return Some(NotPoisson::NotAntisymmetric(states[b], states[a]));
            }
        }
    }
    for a in 0..j.len() {
        for b in a + 1..j.len() {
            for c in b + 1..j.len() {
                if is_refuted(jacobi(&states, &j, [a, b, c])) {
                    return Some(NotPoisson::JacobiFails(states[a], states[b], states[c]));
                }
            }
        }
    }
    None
}

/// Whether something that has to vanish does not, in a state that shows it. That it was not simplified to 0 shows nothing: no
/// simplification knows every relation between functions.
fn is_refuted(space: &PhaseSpace<'_>, quantity: &Expression, symbols: &Symbols) -> bool {
    let Some(quantity) = space.simplified(quantity) else { return false };
    if vanishes_identically(&quantity) {
        return false;
    }
    let fails = |values: Values| State::new(&values).evaluate(&quantity).is_some_and(|value| value.is_nonzero());
    general(symbols).take(STATES).any(fails)
}

fn jacobi(states: &[Symbol], j: &[Vec<Observable>], [a, b, c]: [usize; 3]) -> Expression {
    let terms = [(a, b, c), (b, c, a), (c, a, b)].into_iter().flat_map(|(first, second, third)| {
        let slopes = states.iter().map(move |state| j[second][third].derivative(*state));
        j[first].iter().zip(slopes).filter_map(|(factor, slope)| Some(factor.value.clone() * slope?.clone()))
    });
    Expression::sum(terms)
}
