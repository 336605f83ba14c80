//! Determinants, written out.

use crate::expression::Expression;

/// The size of the largest determinant that is written out.
pub(super) const LARGEST_DETERMINANT: usize = 5;

/// By minors of the first row.
pub(super) fn determinant(rows: &[Vec<Expression>], columns: &[usize]) -> Expression {
    let Some((first, rest)) = rows.split_first() else { return Expression::one() };
    let minor = |(position, &column): (usize, &usize)| {
        if first[column].is_zero() {
            return Expression::zero();
        }
        let others: Vec<usize> = columns.iter().copied().filter(|&other| other != column).collect();
        let sign = Expression::integer(if position % 2 == 0 { 1 } else { -1 });
        Expression::product([sign, first[column].clone(), determinant(rest, &others)])
    };
    Expression::sum(columns.iter().enumerate().map(minor).collect::<Vec<_>>())
}
