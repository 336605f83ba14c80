//! The rank of a matrix of expressions, exactly: at random points modulo primes.
//!
//! A minor that does not vanish identically does vanish at a random point with a probability of at most its degree over the number of
//! residues (Schwartz and Zippel). So what is dependent at a few points is dependent everywhere, no matter how badly conditioned the
//! matrix is in doubles. Functions satisfy the relations of [`identities`](super::identities).

use super::identities::holds_on;
use super::point::ModularPoint;
use super::set::Set;
use crate::expression::Expression;
use crate::numbers::linear::Echelon;

/// Returns `true` if these columns of a matrix, given by its rows, are proved to be linearly dependent in every state.
pub(super) fn are_dependent(rows: &[Vec<Expression>], columns: &[usize]) -> bool {
    let parts: Vec<&Expression> = rows.iter().flat_map(|row| columns.iter().map(|&column| &row[column])).collect();
    holds_on(&parts, &Set::default(), columns.len() as f64, |point| Some(rank(point, rows, columns)? < columns.len()))
}

/// `None` where an entry is not defined.
fn rank(point: &mut ModularPoint, rows: &[Vec<Expression>], columns: &[usize]) -> Option<usize> {
    let entries = rows.iter().map(|row| point.evaluate_all(columns.iter().map(|&column| &row[column])));
    let entries = entries.collect::<Option<_>>()?;
    let mut matrix = Echelon::new(point.field, entries);
    (0..columns.len()).try_fold(0, |rank, column| Some(rank + usize::from(matrix.pivot(column, 0.0)?)))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_rational::BigRational;

    use super::*;
    use crate::expression::{Function, Symbol};

    #[test]
    fn dependence_is_decided_exactly() {
        let v = |index: u32| Expression::from(Symbol(index));
        let n = Expression::integer;
        let small = || Expression::Number(BigRational::new(1.into(), BigInt::from(10).pow(40)));
        let half = |base: Expression| base.sqrt();
        let (x, y) = (|| v(0), || v(1));
        let call = |function, argument| Expression::call(function, [argument]);
        let cases = [
            (vec![vec![x(), n(2) * x()], vec![y(), n(2) * y()]], true),
            (vec![vec![x(), n(2) * x()], vec![y(), n(2) * y() + small()]], false),
            (vec![vec![x() + y(), x()], vec![x() * x() - y() * y(), x() * x() - x() * y()]], true),
            (vec![vec![n(0), x()], vec![n(0), y()]], true),
            (vec![vec![half(x()), x()], vec![half(x()) * half(x()) * half(x()), x() * x()]], true),
            (vec![vec![half(x()), x()], vec![half(x()) * half(x()) * half(x()), y() * x()]], false),
            (vec![vec![half(x() + y()), n(1)], vec![x() * half(x() + y()), x()]], true),
            (vec![vec![call(Function::Sin, x()), n(1)], vec![call(Function::Cos, x()), n(1)]], false),
            (vec![vec![call(Function::Sin, x()), n(3)], vec![call(Function::Sin, x()), n(3)]], true),
            (
                vec![
                    vec![call(Function::Sin, x()) * call(Function::Sin, x()), n(1)],
                    vec![n(1) - call(Function::Cos, x()) * call(Function::Cos, x()), n(1)],
                ],
                true,
            ),
            (vec![vec![x().divide(y()).unwrap(), y().divide(x()).unwrap()], vec![x() * x(), y() * y()]], true),
        ];
        for (rows, expected) in cases {
            assert_eq!(are_dependent(&rows, &[0, 1]), expected, "{rows:?}");
        }
        let nowhere = (x() - x()).divide(y() - y()).unwrap();
        assert!(!are_dependent(&[vec![nowhere.clone(), nowhere]], &[0, 1]), "undefined at every point");
    }
}
