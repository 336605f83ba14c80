//! States that are not canonical but carry a Poisson matrix J(x): x' = J grad H.
//!
//! J must be antisymmetric and satisfy the Jacobi identity, for every i < j < k:
//! sum_l (J_il d_l J_jk + J_jl d_l J_ki + J_kl d_l J_ij) = 0. Otherwise the flow preserves no Poisson structure, and what
//! is called a Casimir function need not be conserved.

use crate::derivation::{Derivation, Structure, Symbols};
use crate::expression::{Expression, Symbol};
use crate::mechanics::{Observable, PhaseSpace};
use crate::proofs::{State, Values, general, vanishes_identically};
use crate::symbolic::Expr;

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

/// Why J is not a Poisson matrix, where the system has one and it is not. Runs within a session.
pub(super) fn not_poisson(derivation: &Derivation) -> Option<NotPoisson> {
    let Structure::Matrix(rows) = &derivation.structure else { return None };
    let symbols = &derivation.symbols;
    let space = PhaseSpace::new(symbols, &derivation.structure);
    let entry = |row: &[(Symbol, Expression)], column: Symbol| {
        let entry = row.iter().find(|(symbol, _)| *symbol == column);
        space.observable(entry.map_or_else(Expr::zero, |(_, entry)| Expr::read(entry)))
    };
    let dense = |row: &Vec<(Symbol, Expression)>| symbols.states().map(|column| entry(row, column)).collect();
    let j: Vec<Vec<Observable>> = rows.rows().map(dense).collect();
    let states: Vec<Symbol> = symbols.states().collect();
    for a in 0..j.len() {
        for b in 0..=a {
            if is_refuted(&(j[a][b].expr() + j[b][a].expr()), symbols) {
                return Some(NotPoisson::NotAntisymmetric(states[b], states[a]));
            }
        }
    }
    for a in 0..j.len() {
        for b in a + 1..j.len() {
            for c in b + 1..j.len() {
                if is_refuted(&jacobi(&states, &j, [a, b, c]), symbols) {
                    return Some(NotPoisson::JacobiFails(states[a], states[b], states[c]));
                }
            }
        }
    }
    None
}

/// Whether something that has to vanish does not, in a state that shows it. That it was not simplified to 0 shows nothing: the
/// algebra does not know every relation between functions.
fn is_refuted(quantity: &Expr, symbols: &Symbols) -> bool {
    let Ok(quantity) = quantity.simplest().write() else { return false };
    if vanishes_identically(&quantity) {
        return false;
    }
    let fails = |values: Values| State::new(&values).evaluate(&quantity).is_some_and(|value| value.is_nonzero());
    general(symbols).take(STATES).any(fails)
}

fn jacobi(states: &[Symbol], j: &[Vec<Observable>], [a, b, c]: [usize; 3]) -> Expr {
    let mut sum = Expr::zero();
    for (first, second, third) in [(a, b, c), (b, c, a), (c, a, b)] {
        for (factor, state) in j[first].iter().zip(states) {
            if let Some(slope) = j[second][third].derivative(*state) {
                sum = &sum + &(factor.expr() * slope);
            }
        }
    }
    sum
}
