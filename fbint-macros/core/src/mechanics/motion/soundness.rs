//! What has to hold of a frame, an inertia and reactions, looked at in numbers: at points in general position, and on the constraint
//! set.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::frame::{null_vector, whole_kernel};
use super::hamel::directions;
use super::{along, by_time, entry, motion, rows, slopes};
use crate::derivation::{Dynamics, FrameBracket, IntegralId, Lagrangian, Problem, Role, SparseRow, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::linear::Balanced;
use crate::numbers::number::Numeric;
use crate::numbers::points::{Point, sample_points};
use crate::numbers::signs::Signs;
use crate::proofs::{
    DependentColumns, State, VanishingFunction, common_zero, dependence, general, vanishes_identically,
};

/// States on the constraint set at which rates are evaluated, of those that are tried.
const STATES: usize = 3;
const TRIED: usize = 40;
/// More constraints than this are not looked at on their set.
const MOST: usize = 256;

/// Which of several constraints, each with all of its entries, the velocities keep by themselves wherever all of them hold.
pub(crate) fn keeps(symbols: &Symbols, lagrangian: &Lagrangian, constraints: &[Vec<&Expression>]) -> Vec<bool> {
    let nothing = vec![false; constraints.len()];
    let gradients = constraints.iter().map(|entries| entries.iter().map(|entry| slopes(symbols, entry)).collect());
    let (Some(gradients), Some(directions)) =
        (gradients.collect::<Option<Vec<Vec<SparseRow>>>>(), directions(symbols, lagrangian))
    else {
        return nothing;
    };
    let rate = |slopes: &SparseRow| {
        let free = directions.iter().filter(|(velocity, _)| symbols[**velocity].role == Role::Velocity);
        let moved =
            free.map(|(velocity, direction)| Expression::from(*velocity) * along(direction, |x| entry(slopes, x)));
        Expression::sum(moved.chain([by_time(symbols, slopes)]))
    };
    let rates: Vec<Vec<Expression>> = gradients.iter().map(|rows| rows.iter().map(rate).collect()).collect();
    let gradients: Vec<SparseRow> = gradients.into_iter().flatten().collect();
    let functions = constraints.iter().flatten().zip(&gradients);
    let sets: Vec<_> = functions.map(|(value, gradient)| VanishingFunction { value, gradient }).collect();
    // Independent constraints are no more than coordinates.
    let may_be_held = sets.len() <= symbols.with(|role| role == Role::Position).len().min(MOST);
    let tried = if may_be_held { TRIED } else { 0 };
    let states = || general(symbols).take(tried).filter_map(|start| common_zero(&sets, start)).take(STATES);
    let states: LazyCell<Vec<State>, _> = LazyCell::new(|| states().collect());
    let stays = |rate: &Expression| {
        vanishes_identically(rate)
            || !states.is_empty()
                && states.iter().all(|state| state.evaluate(rate).is_some_and(|rate| !rate.is_nonzero()))
    };
    rates.iter().map(|entries| entries.iter().all(stays)).collect()
}

/// What is wrong with a mass matrix.
pub(crate) enum Unsound {
    /// It is singular in every state: a vector that the matrix takes to zero by the velocities, or nothing if every such vector depends on
    /// the state.
    Singular(Vec<(Symbol, i64)>),
    /// It is neither positive nor negative in any state.
    Indefinite,
    /// One of the two, in every state that was tried.
    Doubtful {
        /// Which of them.
        is_indefinite: bool,
    },
}

/// What is wrong with the mass matrix of a Lagrangian system.
pub(crate) fn unsound_mass(problem: &Problem) -> Option<Unsound> {
    let motion = motion(problem)?;
    let is_acceleration = |symbol: &Symbol| matches!(problem.symbols[*symbol].role, Role::Acceleration { .. });
    let system = motion.field.systems.iter().find(|system| system.unknowns.iter().any(is_acceleration))?;
    let velocities = problem.symbols.with(|role| role == Role::Velocity);
    // What cancels would leave what rounding makes of it.
    let simplified = |entry: &Expression| if vanishes_identically(entry) { Expression::zero() } else { entry.clone() };
    let matrix: Vec<Vec<Expression>> = system.matrix.iter().map(|row| row.iter().map(simplified).collect()).collect();
    match dependence(&matrix) {
        Some(DependentColumns { is_proved: true, .. }) => {
            let kernel = whole_kernel(&matrix).unwrap_or_default();
            Some(Unsound::Singular(velocities.into_iter().zip(kernel).collect()))
        }
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

/// Whether the diagonal of a symmetric matrix has both signs, or a zero in a row that does not vanish: then no other entries make the
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

/// Whether one of two entries is positive and the other is negative in every state: zeros are known, and the product is never positive.
fn have_both_signs(a: &Expression, b: &Expression) -> bool {
    !a.is_zero() && !b.is_zero() && !Signs::of(&(a.clone() * b.clone())).positive
}

/// Constraints that depend on one another in every state.
pub(crate) struct Dependent {
    pub(crate) members: Vec<IntegralId>,
    /// Whether that is proved, and not only so in every state that was tried.
    pub(crate) is_proved: bool,
}

/// Constraints whose reactions depend on one another.
pub(crate) fn dependent_rows(problem: &Problem) -> Option<Dependent> {
    let rows = rows(problem)?;
    let columns = problem.symbols.with(|role| matches!(role, Role::Velocity | Role::Coordinate { .. }));
    // Transposed: what is dependent are rows.
    let of_column = |column: &Symbol| rows.iter().map(|(_, row)| entry(row, *column)).collect();
    let matrix: Vec<Vec<Expression>> = columns.iter().map(of_column).collect();
    let DependentColumns { columns, is_proved } = dependence(&matrix)?;
    Some(Dependent { members: columns.into_iter().map(|row| rows[row].0).collect(), is_proved })
}

/// Whether the velocity constraints are integrable, if there are any: whether d w (X, Y) = 0 for each of their forms w and all X and Y
/// that they allow (Frobenius). In a frame, d w (u_i, u_j) = u_i[w_j] - u_j[w_i] - c^a_ij w_a.
pub(crate) fn are_integrable(problem: &Problem) -> Option<bool> {
    let symbols = &problem.symbols;
    let one = |symbol: Symbol| SparseRow::from([(symbol, Expression::one())]);
    let vanishing = symbols.with(|role| matches!(role, Role::Vanishing { .. }));
    let held = problem.reactions.iter().map(|reaction| reaction.along.clone());
    let forms: Vec<SparseRow> = vanishing.into_iter().map(one).chain(held).collect();
    if forms.is_empty() {
        return None;
    }
    let (frame, brackets) = match &problem.dynamics {
        Dynamics::Lagrangian(lagrangian) => (directions(symbols, lagrangian)?, &lagrangian.brackets[..]),
        _ => {
            let coordinates = symbols.with(|role| matches!(role, Role::Coordinate { .. }));
            (coordinates.into_iter().map(|x| (x, one(x))).collect(), &[][..])
        }
    };
    let frame = OfFrame { symbols, directions: frame, brackets };
    let axes: Vec<Symbol> = frame.directions.keys().copied().collect();
    let pairs = || (0..axes.len()).flat_map(|i| (i + 1..axes.len()).map(move |j| (i, j)));
    let derivative = |form: &SparseRow| {
        pairs().map(|(i, j)| Some((i, j, frame.derivative(form, axes[i], axes[j])?))).collect::<Option<Vec<_>>>()
    };
    let derivatives: Vec<_> = forms.iter().map(derivative).collect::<Option<_>>()?;
    Some(sample_points().all(|point| {
        let row = |form: &SparseRow| axes.iter().map(|axis| point.evaluate(&entry(form, *axis))).collect();
        let allowed = kernel(forms.iter().map(row).collect());
        allowed.is_some_and(|allowed| derivatives.iter().all(|form| vanishes_on(form, &allowed, point)))
    }))
}

/// Directions and their brackets.
struct OfFrame<'a> {
    symbols: &'a Symbols,
    directions: BTreeMap<Symbol, SparseRow>,
    brackets: &'a [FrameBracket],
}

impl OfFrame<'_> {
    /// d w (u_i, u_j)
    fn derivative(&self, form: &SparseRow, i: Symbol, j: Symbol) -> Option<Expression> {
        let moved = |by: Symbol, of: Symbol| {
            let slopes = slopes(self.symbols, &entry(form, of))?;
            Some(along(&self.directions[&by], |x| entry(&slopes, x)))
        };
        let bracket = self.brackets.iter().find(|bracket| bracket.of == (i, j));
        let coefficients = bracket.into_iter().flat_map(|bracket| &bracket.coefficients);
        let turned = coefficients.map(|(a, c)| c.clone() * entry(form, *a));
        Some(moved(i, j)? - moved(j, i)? - Expression::sum(turned))
    }
}

/// Whether a form of two vectors, given by its entries above the diagonal, is 0 for all of these at a point.
fn vanishes_on(form: &[(usize, usize, Expression)], vectors: &[Vec<f64>], point: Point<'_>) -> bool {
    let terms: Vec<(usize, usize, f64)> = form.iter().map(|(i, j, entry)| (*i, *j, point.evaluate(entry))).collect();
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
    Some(free.into_iter().map(|column| null_vector(width, column, matrix.combination(column))).collect())
}
