//! Whether a mass matrix is sound, velocity constraints are integrable, and functions vanish on a constraint set: tested at points in
//! general position and in states of the set.

use std::cell::LazyCell;

use super::identities::{Vanishing, vanishes_identically};
use super::regularity::{DependentColumns, dependence, whole_kernel};
use super::states::{self, State, TRIED, Values, VanishingFunction, common_zeros, general};
use crate::derivation::{Integral, Role, Symbols};
use crate::expression::Expression;
use crate::numbers::linear::Balanced;
use crate::numbers::number::Numeric;
use crate::numbers::points::sample_points;
use crate::numbers::signs::Signs;

/// States of a set at which functions are evaluated.
const STATES: usize = 3;
/// The most functions whose set is examined.
const MOST: usize = 256;

/// A mistake in a mass matrix.
pub(crate) enum Unsound {
    /// It is singular in every state: a vector that the matrix takes to zero, unless every such vector depends on the state.
    Singular(Option<Vec<i64>>),
    /// It is neither positive nor negative in any state.
    Indefinite,
    /// One of the two, in every state that was tried.
    Doubtful {
        /// Which of them.
        is_indefinite: bool,
    },
}

/// The mistake in a mass matrix, if any.
pub(crate) fn unsound_mass(matrix: &[Vec<Expression>]) -> Option<Unsound> {
    // What cancels would leave what rounding makes of it.
    let vanishing = Vanishing::default();
    let simplified = |entry: &Expression| if vanishing.vanishes(entry) { Expression::zero() } else { entry.clone() };
    let matrix: Vec<Vec<Expression>> = matrix.iter().map(|row| row.iter().map(simplified).collect()).collect();
    match dependence(&matrix) {
        Some(DependentColumns { is_proved: true, .. }) => Some(Unsound::Singular(whole_kernel(&matrix))),
        Some(DependentColumns { is_proved: false, .. }) => Some(Unsound::Doubtful { is_indefinite: false }),
        None if is_indefinite(&matrix, have_both_signs, Expression::is_zero) => Some(Unsound::Indefinite),
        None => {
            let is_indefinite = sample_points().all(|point| {
                let values: Vec<Vec<f64>> =
                    matrix.iter().map(|row| row.iter().map(|it| point.evaluate(it)).collect()).collect();
                is_indefinite(&values, |a, b| a.min(*b) < 0.0 && a.max(*b) > 0.0, |entry| *entry == 0.0)
            });
            is_indefinite.then_some(Unsound::Doubtful { is_indefinite })
        }
    }
}

/// Returns `true` if the diagonal of a symmetric matrix has both signs, or a zero in a row that does not vanish: then no other entries make the
/// matrix definite. A matrix of parameters may be definite for some and not for others.
fn is_indefinite<T>(
    matrix: &[Vec<T>],
    have_both_signs: impl Fn(&T, &T) -> bool,
    vanishes: impl Fn(&T) -> bool,
) -> bool {
    let mut rows = matrix.iter().enumerate();
    rows.any(|(i, row)| {
        let is_bare = || vanishes(&row[i]) && !row.iter().all(&vanishes);
        is_bare() || (0..i).any(|j| have_both_signs(&matrix[j][j], &row[i]))
    })
}

/// Returns `true` if one of two entries is positive and the other is negative in every state: zeros are known, and the product is never positive.
fn have_both_signs(a: &Expression, b: &Expression) -> bool {
    !a.is_zero() && !b.is_zero() && !Signs::of(&(a.clone() * b.clone())).positive
}

/// Whether all rates of each list vanish wherever these functions do, as far as a few states of the set tell.
pub(crate) fn vanish_where(
    symbols: &Symbols,
    functions: &[VanishingFunction<'_>],
    rates: &[Vec<Expression>],
) -> Vec<bool> {
    // Independent constraints are no more than coordinates.
    let may_be_held = functions.len() <= symbols.with(|role| role == Role::Position).len().min(MOST);
    let states = common_zeros(symbols, functions).take(if may_be_held { STATES } else { 0 });
    let states: LazyCell<Vec<State>, _> = LazyCell::new(|| states.collect());
    let vanishes = |rate: &Expression| {
        vanishes_identically(rate)
            || !states.is_empty()
                && states.iter().all(|state| state.evaluate(rate).is_some_and(|rate| !rate.is_nonzero()))
    };
    rates.iter().map(|rates| rates.iter().all(vanishes)).collect()
}

/// A differential form w on the configuration space, in a frame of directions u_i.
pub(crate) struct DifferentialForm {
    /// w(u_i)
    pub(crate) row: Vec<Expression>,
    /// d w (u_i, u_j), with i < j.
    pub(crate) derivative: Vec<(usize, usize, Expression)>,
}

/// Returns `true` if velocity constraints are integrable: whether d w (X, Y) = 0 for each of their forms w and all X and Y that they allow
/// (Frobenius), where the held functions, whose differentials are the tangents, vanish.
pub(crate) fn are_integrable(
    forms: &[DifferentialForm],
    tangents: &[Vec<Expression>],
    held: &[&Integral],
    symbols: &Symbols,
) -> bool {
    let equations: Vec<VanishingFunction<'_>> = held.iter().map(|held| (*held).into()).collect();
    // A frame may stay in the set whatever the velocities are, as that of a rotation matrix does: there a differential is made of roundings.
    let is_kept = vanish_where(symbols, &equations, tangents);
    let tangents: Vec<_> =
        tangents.iter().zip(is_kept).filter_map(|(row, is_kept)| (!is_kept).then_some(row)).collect();
    let is_integrable_at = |value: &dyn Fn(&Expression) -> f64| {
        let row = |row: &Vec<Expression>| row.iter().map(value).collect();
        let allowed = kernel(forms.iter().map(|form| &form.row).chain(tangents.iter().copied()).map(row).collect());
        allowed.is_some_and(|allowed| forms.iter().all(|form| vanishes_on(&form.derivative, &allowed, value)))
    };
    let on_set = general(symbols).take(TRIED).filter_map(|state| states::solve(&equations, state));
    let states: Vec<Values> = on_set.take(if held.is_empty() { 0 } else { STATES }).collect();
    if states.is_empty() {
        return sample_points().all(|point| is_integrable_at(&|entry| point.evaluate(entry)));
    }
    states.iter().all(|state| is_integrable_at(&|entry| states::evaluate(entry, state)))
}

/// Returns `true` if a form of two vectors, given by its entries above the diagonal, is 0 for all of these at a point.
fn vanishes_on(form: &[(usize, usize, Expression)], vectors: &[Vec<f64>], value: &dyn Fn(&Expression) -> f64) -> bool {
    let terms: Vec<(usize, usize, f64)> = form.iter().map(|(i, j, entry)| (*i, *j, value(entry))).collect();
    let scale = terms.iter().fold(1.0, |scale: f64, (.., entry)| scale.max(entry.abs()));
    let mut pairs = vectors.iter().enumerate().flat_map(|(k, x)| vectors[k + 1..].iter().map(move |y| (x, y)));
    pairs.all(|(x, y)| {
        let product = |(i, j, entry): &(usize, usize, f64)| entry * (x[*i] * y[*j] - x[*j] * y[*i]);
        terms.iter().map(product).sum::<f64>().abs() <= f64::NEGLIGIBLE * scale
    })
}

/// Vectors that span what a matrix takes to zero; nothing where an entry is not finite.
fn kernel(rows: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let width = rows.first().map_or(0, Vec::len);
    let mut matrix = Balanced::of(rows)?;
    let free: Vec<usize> = (0..width).filter(|&column| matrix.pivot(column) == Some(false)).collect();
    Some(free.into_iter().map(|column| matrix.null_vector(column)).collect())
}
