//! Determinants, written out.

use crate::expression::Expression;

/// The determinant of a square matrix.
pub(crate) fn determinant(matrix: &[Vec<Expression>]) -> Expression {
    let term = |sign: i64, row: usize, column: usize, minor: &Expression| {
        let entry = &matrix[row][column];
        (!entry.is_zero()).then(|| Expression::product([Expression::integer(sign), entry.clone(), minor.clone()]))
    };
    by_minors(matrix.len(), Expression::one(), term, Expression::sum)
}

/// The determinant of a square matrix with another column in this place, as in Cramer's rule.
pub(crate) fn determinant_with(matrix: &[Vec<Expression>], place: usize, column: &[Expression]) -> Expression {
    let mut replaced = matrix.to_vec();
    replaced.iter_mut().zip(column).for_each(|(row, entry)| row[place] = entry.clone());
    determinant(&replaced)
}

/// A determinant of this size by expansion along its rows: `term` gives a sign times the entry in a row and a column times a minor, or
/// nothing if that is 0.
pub(crate) fn by_minors<T: Clone>(
    size: usize,
    one: T,
    term: impl Fn(i64, usize, usize, &T) -> Option<T>,
    sum: impl Fn(Vec<T>) -> T,
) -> T {
    // minors[set] is the minor of the last |set| rows and the columns in `set`.
    let mut minors = vec![one];
    for set in 1_usize..1 << size {
        let row = size - set.count_ones() as usize;
        let members = (0..size).filter(|column| set & (1 << column) != 0);
        let terms = members.enumerate().filter_map(|(position, column)| {
            term(if position % 2 == 0 { 1 } else { -1 }, row, column, &minors[set & !(1 << column)])
        });
        minors.push(sum(terms.collect()));
    }
    minors[(1 << size) - 1].clone()
}
