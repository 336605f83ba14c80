//! Determinants, written out.

use crate::expression::Expression;

/// The determinant of a square matrix by expansion along its rows.
pub(crate) fn determinant(matrix: &[Vec<Expression>]) -> Expression {
    let size = matrix.len();
    // minors[set] is the minor of the last |set| rows and the columns in `set`.
    let mut minors = vec![Expression::one()];
    for set in 1_usize..1 << size {
        let row = size - set.count_ones() as usize;
        let members = (0..size).filter(|column| set & (1 << column) != 0);
        let term = |(position, column): (usize, usize)| {
            let sign = Expression::integer(if position % 2 == 0 { 1 } else { -1 });
            Expression::product([sign, matrix[row][column].clone(), minors[set & !(1 << column)].clone()])
        };
        let terms = members.enumerate().map(term).filter(|term| !term.is_zero());
        minors.push(Expression::sum(terms));
    }
    minors.swap_remove((1 << size) - 1)
}

/// The determinant of a square matrix with another column in this place, as in Cramer's rule.
pub(crate) fn determinant_with(matrix: &[Vec<Expression>], place: usize, column: &[Expression]) -> Expression {
    let mut replaced = matrix.to_vec();
    replaced.iter_mut().zip(column).for_each(|(row, entry)| row[place] = entry.clone());
    determinant(&replaced)
}
