//! States that are not canonical but carry a Poisson matrix J(x): x' = J grad H.
//!
//! J must be antisymmetric and satisfy the Jacobi identity, for every i < j < k:
//! sum_l (J_il d_l J_jk + J_jl d_l J_ki + J_kl d_l J_ij) = 0. Otherwise the flow preserves no Poisson structure, and what
//! is called a Casimir function need not be conserved.

use super::phase_space::{Observable, PhaseSpace};
use super::states::{State, magnitude};
use super::vanishing::vanishes;
use super::{Obstacle, Quantity};
use crate::expression::{Expression, Symbol};
use crate::sample::search_points;
use crate::symbolic::{Expr, NotReal};

/// A precise value this small, relative to the terms that it is made of, is zero.
const NEGLIGIBLE: f64 = 1e-45;
/// States in which a failure is looked for.
const STATES: usize = 100;

/// Why a matrix is no Poisson matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPoisson {
    /// J_ij + J_ji does not vanish.
    NotAntisymmetric(usize, usize),
    /// The Jacobi identity fails for this triple.
    JacobiFails(usize, usize, usize),
}

/// J grad H, entry by entry.
pub(super) fn field(
    space: &PhaseSpace,
    matrix: &[Vec<Expression>],
    energy: &Observable,
) -> Result<Vec<Expression>, Obstacle> {
    let not_real = |NotReal| Obstacle::NotReal(Quantity::Poisson);
    let entries: Vec<Vec<Observable>> =
        matrix.iter().map(|row| row.iter().map(|entry| space.observable(Expr::read(entry))).collect()).collect();
    if !entries.iter().flatten().all(Observable::is_real) {
        return Err(Obstacle::NotReal(Quantity::Poisson));
    }
    check(&entries, matrix.len()).map_err(Obstacle::NotPoisson)?;
    entries
        .iter()
        .map(|row| {
            let mut sum = Expr::zero();
            for (entry, slope) in row.iter().enumerate().filter_map(|(j, entry)| Some((entry, energy.derivative(j)?))) {
                sum = &sum + &(entry.expr() * slope);
            }
            sum.simplest().write().map_err(not_real)
        })
        .collect()
}

fn check(j: &[Vec<Observable>], dimension: usize) -> Result<(), NotPoisson> {
    let n = j.len();
    for a in 0..n {
        for b in 0..=a {
            if is_refuted(&(j[a][b].expr() + j[b][a].expr()), dimension) {
                return Err(NotPoisson::NotAntisymmetric(b, a));
            }
        }
    }
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                if is_refuted(&jacobi(j, [a, b, c]), dimension) {
                    return Err(NotPoisson::JacobiFails(a, b, c));
                }
            }
        }
    }
    Ok(())
}

/// Whether something that has to vanish does not, in a state that shows it. That it was not simplified to 0 shows nothing: the
/// algebra does not know every relation between functions.
fn is_refuted(quantity: &Expr, dimension: usize) -> bool {
    let Ok(quantity) = quantity.simplest().write() else { return false };
    if vanishes(&quantity, &[]) {
        return false;
    }
    let symbols = quantity.symbols().last().map_or(0, |symbol| symbol.0 + 1);
    let fails = |values: Vec<f64>| {
        let value = State::new(&values).evaluate(&quantity)?.to_f64();
        (value.abs() > NEGLIGIBLE * magnitude(&quantity, &values)).then_some(())
    };
    let states = search_points(dimension).map(|point| (0..symbols).map(|index| point.symbol(Symbol(index))).collect());
    states.take(STATES).find_map(fails).is_some()
}

fn jacobi(j: &[Vec<Observable>], [a, b, c]: [usize; 3]) -> Expr {
    let mut sum = Expr::zero();
    for (first, second, third) in [(a, b, c), (b, c, a), (c, a, b)] {
        for (l, factor) in j[first].iter().enumerate() {
            if let Some(slope) = j[second][third].derivative(l) {
                sum = &sum + &(factor.expr() * slope);
            }
        }
    }
    sum
}
