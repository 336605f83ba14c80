//! Whether a matrix of functions has full rank anywhere: a set of constraints whose C is singular in every state is not second class, and
//! a mass matrix that is has no accelerations.
//!
//! Numbers of 256 bits find the suspects, at a few points in general position, where columns that are merely close to one another do not look
//! dependent. Points modulo primes prove what they find.

use super::identities::vanishes_identically;
use super::modular::are_dependent;
use crate::derivation::{Derivation, IntegralId};
use crate::expression::Expression;
use crate::numbers::linear::Balanced;
use crate::numbers::number::Numeric;
use crate::numbers::points::{Point, sample_points};
use crate::numbers::precise::Real;
use crate::numbers::rational::whole_multiple;

/// Columns of a matrix that look dependent at every point that was tried.
pub(crate) struct DependentColumns {
    pub(crate) columns: Vec<usize>,
    /// `true` if they are proved to be dependent in every state.
    pub(crate) is_proved: bool,
}

/// The dependence of the columns of a matrix, given by its rows, unless they are independent at some point.
pub(crate) fn dependence(rows: &[Vec<Expression>]) -> Option<DependentColumns> {
    let mut found: Option<Vec<usize>> = None;
    let mut may_be_lost = false;
    for point in sample_points() {
        let value = |entry: &Expression| Real::evaluate(entry, &|symbol| Real::from(point.symbol(symbol)));
        let values = rows.iter().map(|row| row.iter().map(value).collect()).collect::<Option<Vec<Vec<Real>>>>();
        // (x / 10)^400 at x = 1 is below the range of precise numbers, which do not tell whether it vanishes.
        may_be_lost |= values.iter().flatten().flatten().any(Real::is_lost);
        match values.and_then(dependent_columns) {
            Some(columns) if columns.is_empty() => return None,
            Some(columns) => found = Some(columns),
            None => {}
        }
    }
    let columns = found?;
    let is_proved = are_dependent(rows, &columns);
    (is_proved || !may_be_lost).then_some(DependentColumns { columns, is_proved })
}

/// A vector of whole numbers that a matrix takes to zero in every state, if there is one with small numbers.
pub(crate) fn whole_kernel(matrix: &[Vec<Expression>]) -> Option<Vec<i64>> {
    let values =
        |point: Point<'static>| matrix.iter().map(move |row| row.iter().map(|entry| point.evaluate(entry)).collect());
    let mut stacked = Balanced::of(sample_points().flat_map(values).collect())?;
    let column = stacked.dependent()?;
    let kernel = whole_multiple(&stacked.null_vector(column))?;
    // Columns may differ by less than doubles tell.
    let product = |row: &Vec<Expression>| {
        Expression::sum(row.iter().zip(&kernel).map(|(entry, factor)| Expression::integer(*factor) * entry.clone()))
    };
    matrix.iter().all(|row| vanishes_identically(&product(row))).then_some(kernel)
}

/// The dependence of the constraints by whose matrix multipliers are determined.
pub(super) fn find_singularity(derivation: &Derivation) -> Option<Vec<IntegralId>> {
    let (members, rows) = derivation.multiplier_matrix();
    let DependentColumns { columns, .. } = dependence(&rows)?;
    Some(columns.into_iter().map(|column| members[column]).collect())
}

/// Returns `true` if the columns that belong to these constraints are proved to be dependent in every state.
pub(super) fn is_singular(derivation: &Derivation, members: &[IntegralId]) -> bool {
    let (all, rows) = derivation.multiplier_matrix();
    let columns: Vec<usize> = (0..all.len()).filter(|&column| members.contains(&all[column])).collect();
    are_dependent(&rows, &columns)
}

/// The constraints that a vector of the null space involves where expressions have these values: none where multipliers are determined.
/// `None` where that is not known.
pub(super) fn deficient<N: Numeric>(
    derivation: &Derivation,
    value: impl Fn(&Expression) -> Option<N>,
) -> Option<Vec<IntegralId>> {
    let (members, rows) = derivation.multiplier_matrix();
    let rows = rows.iter().map(|row| row.iter().map(&value).collect()).collect::<Option<_>>()?;
    Some(dependent_columns(rows)?.into_iter().map(|column| members[column]).collect())
}

/// The columns of a matrix that a vector of the null space involves, if there is one; `None` where some entry is not finite.
fn dependent_columns<N: Numeric>(rows: Vec<Vec<N>>) -> Option<Vec<usize>> {
    let mut matrix = Balanced::of(rows)?;
    let column = matrix.dependent();
    Some(column.map_or(Vec::new(), |column| matrix.involved(column).into_iter().chain([column]).collect()))
}
