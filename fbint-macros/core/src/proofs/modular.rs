//! The rank of a matrix of expressions, exactly: at random points modulo a prime of 61 bits.
//!
//! Functions and roots count as unknowns of their own, which makes every entry a rational function. A minor that does not
//! vanish identically does vanish at a random point with a probability of at most its degree over 2^61 (Schwartz and Zippel).
//! So what is dependent at a few points is dependent everywhere, no matter how badly conditioned the matrix is in doubles. What is
//! independent may still depend on what the functions are, as do sin^2 + cos^2 and 1.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};

use super::field::{Field, PRIMES};
use crate::expression::Expression;

const FIELD: Field = Field(PRIMES[0]);
/// Points, nearly all of which must be defined.
const POINTS: u64 = 12;
const ENOUGH: usize = 8;

/// Whether these columns of a matrix, given by its rows, are linearly dependent in every state.
pub(super) fn are_dependent(rows: &[Vec<Expression>], columns: &[usize]) -> bool {
    let at = |seed: u64| -> Option<usize> {
        let mut point = Point { seed, unknowns: HashMap::new() };
        let mut entries = Vec::new();
        for row in rows {
            entries.push(columns.iter().map(|&column| point.evaluate(&row[column])).collect::<Option<Vec<u64>>>()?);
        }
        Some(rank(entries))
    };
    let ranks: Vec<usize> = (1..=POINTS).filter_map(at).collect();
    ranks.len() >= ENOUGH && ranks.iter().all(|&rank| rank < columns.len())
}

/// A residue for each unknown.
struct Point {
    seed: u64,
    /// Symbols and functions that were met. Their residues follow from the order in which they were.
    unknowns: HashMap<Expression, u64>,
}

impl Point {
    /// `None` where zero is divided by.
    fn evaluate(&mut self, expression: &Expression) -> Option<u64> {
        match expression {
            Expression::Number(number) => FIELD.residue(number),
            Expression::Sum(terms) => terms.iter().try_fold(0, |sum, term| Some(FIELD.add(sum, self.evaluate(term)?))),
            Expression::Product(factors) => {
                factors.iter().try_fold(1, |product, factor| Some(FIELD.multiply(product, self.evaluate(factor)?)))
            }
            Expression::Power(base, exponent) => {
                let base = if exponent.is_integer() {
                    self.evaluate(base)?
                } else {
                    let index = BigRational::new(BigInt::one(), exponent.denom().clone());
                    self.unknown(&Expression::Power(base.clone(), index))
                };
                let power = FIELD.raise(base, exponent.numer().abs().to_u64()?);
                if exponent.is_negative() { FIELD.inverse(power) } else { Some(power) }
            }
            Expression::Pi | Expression::Symbol(_) | Expression::Call(..) => Some(self.unknown(expression)),
        }
    }

    fn unknown(&mut self, expression: &Expression) -> u64 {
        let next = (self.seed << 32) + self.unknowns.len() as u64;
        *self.unknowns.entry(expression.clone()).or_insert_with(|| FIELD.random(next))
    }
}

fn rank(mut rows: Vec<Vec<u64>>) -> usize {
    let width = rows.first().map_or(0, Vec::len);
    let mut rank = 0;
    for column in 0..width {
        let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
        rows.swap(rank, pivot);
        let (above, below) = rows.split_at_mut(rank + 1);
        let source = &above[rank];
        let Some(reciprocal) = FIELD.inverse(source[column]) else { continue };
        for row in below.iter_mut().filter(|row| row[column] != 0) {
            let factor = FIELD.negative(FIELD.multiply(row[column], reciprocal));
            for (entry, other) in row.iter_mut().zip(source).skip(column) {
                *entry = FIELD.add(*entry, FIELD.multiply(factor, *other));
            }
        }
        rank += 1;
    }
    rank
}

#[cfg(test)]
mod tests {
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
            (vec![vec![half(x()), x()], vec![half(x()) * half(x()) * half(x()), x() * x()]], false),
            (vec![vec![half(x() + y()), n(1)], vec![x() * half(x() + y()), x()]], true),
            (vec![vec![call(Function::Sin, x()), n(1)], vec![call(Function::Cos, x()), n(1)]], false),
            (vec![vec![call(Function::Sin, x()), n(3)], vec![call(Function::Sin, x()), n(3)]], true),
            (vec![vec![x().divide(y()).unwrap(), y().divide(x()).unwrap()], vec![x() * x(), y() * y()]], true),
        ];
        for (rows, expected) in cases {
            assert_eq!(are_dependent(&rows, &[0, 1]), expected, "{rows:?}");
        }
        let nowhere = (x() - x()).divide(y() - y()).unwrap();
        assert!(!are_dependent(&[vec![nowhere.clone(), nowhere]], &[0, 1]), "undefined at every point");
    }
}
