//! States that are not canonical but carry a Poisson matrix J(x): x' = J grad H.
//!
//! J must be antisymmetric and satisfy the Jacobi identity, for every i < j < k:
//! sum_l (J_il d_l J_jk + J_jl d_l J_ki + J_kl d_l J_ij) = 0. Otherwise the flow preserves no Poisson structure, and what
//! is called a Casimir function need not be conserved.

use super::phase_space::{Observable, PhaseSpace};
use crate::expression::{Expression, Symbol};
use crate::proofs::{is_nonzero_somewhere, vanishes_identically};

/// Why a matrix is not a Poisson matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPoisson {
    /// J_ij + J_ji does not vanish.
    NotAntisymmetric(Symbol, Symbol),
    /// The Jacobi identity fails for this triple.
    JacobiFails(Symbol, Symbol, Symbol),
}

/// Why a matrix is not a Poisson matrix, if it is not.
pub(super) fn not_poisson(space: &PhaseSpace<'_>, matrix: &[Vec<Expression>]) -> Option<NotPoisson> {
    let row = |row: &Vec<Expression>| row.iter().map(|entry| space.observable(entry)).collect();
    let j: Vec<Vec<Observable>> = matrix.iter().map(row).collect::<Option<_>>()?;
    let states: Vec<Symbol> = space.symbols.states().collect();
    let is_refuted = |quantity: Expression| is_refuted(space, &quantity);
    let n = j.len();
    let mut pairs = (0..n).flat_map(|b| (0..=b).map(move |a| (a, b)));
    if let Some((a, b)) = pairs.find(|&(a, b)| is_refuted(j[b][a].value.clone() + j[a][b].value.clone())) {
        return Some(NotPoisson::NotAntisymmetric(states[a], states[b]));
    }
    let mut triples = (0..n).flat_map(|a| (a + 1..n).flat_map(move |b| (b + 1..n).map(move |c| [a, b, c])));
    let [a, b, c] = triples.find(|triple| is_refuted(jacobi(&states, &j, *triple)))?.map(|place| states[place]);
    Some(NotPoisson::JacobiFails(a, b, c))
}

/// Returns `true` if something that has to vanish does not, in a state that shows it. That it was not simplified to 0 shows nothing: no
/// simplification knows every relation between functions.
fn is_refuted(space: &PhaseSpace<'_>, quantity: &Expression) -> bool {
    let quantity = space.simplified(quantity);
    quantity.is_some_and(|quantity| !vanishes_identically(&quantity) && is_nonzero_somewhere(space.symbols, &quantity))
}

fn jacobi(states: &[Symbol], j: &[Vec<Observable>], [a, b, c]: [usize; 3]) -> Expression {
    let terms = [(a, b, c), (b, c, a), (c, a, b)].into_iter().flat_map(|(first, second, third)| {
        let slopes = states.iter().map(move |state| j[second][third].gradient.get(state));
        j[first].iter().zip(slopes).filter_map(|(factor, slope)| Some(factor.value.clone() * slope?.clone()))
    });
    Expression::sum(terms)
}
