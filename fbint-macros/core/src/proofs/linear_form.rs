//! Exponents and angles as sums of rational multiples of terms.

use num_rational::BigRational;
use num_traits::{One, ToPrimitive};

use crate::expression::{Expression, Function};

/// The most terms that a sum is expanded into, and the largest power of a sum that is.
const MOST_TERMS: usize = 256;
const HIGHEST_POWER: u32 = 8;

/// The terms of an expression with their rational factors, products of sums multiplied out. `None` where they are too many.
pub(super) fn terms(expression: &Expression) -> Option<Vec<(BigRational, Expression)>> {
    match expression {
        Expression::Number(number) => Some(vec![(number.clone(), Expression::one())]),
        Expression::Sum(members) => {
            let mut all = Vec::new();
            for member in members.iter() {
                all.extend(terms(member)?);
            }
            (all.len() <= MOST_TERMS).then_some(all)
        }
        Expression::Product(factors) => {
            let start = vec![(BigRational::one(), Expression::one())];
            factors.iter().try_fold(start, |product, factor| multiplied(&product, &terms(factor)?))
        }
        Expression::Power(base, exponent) if matches!(**base, Expression::Sum(_)) && exponent.is_integer() => {
            match exponent.to_integer().to_u32().filter(|power| *power <= HIGHEST_POWER) {
                Some(power) => {
                    let base = terms(base)?;
                    (1..power).try_fold(base.clone(), |product, _| multiplied(&product, &base))
                }
                None => Some(vec![(BigRational::one(), expression.clone())]),
            }
        }
        _ => Some(vec![(BigRational::one(), expression.clone())]),
    }
}

fn multiplied(
    a: &[(BigRational, Expression)],
    b: &[(BigRational, Expression)],
) -> Option<Vec<(BigRational, Expression)>> {
    let pairs = || a.iter().flat_map(|a| b.iter().map(move |b| (&a.0 * &b.0, a.1.clone() * b.1.clone())));
    (a.len() * b.len() <= MOST_TERMS).then(|| pairs().collect())
}

/// The exponent or the angle that a function takes, if any.
pub(super) fn exponent(function: Function, arguments: &[Expression]) -> Option<&Expression> {
    match function {
        Function::Sin | Function::Cos | Function::Tan => Some(&arguments[0]),
        Function::Exp | Function::Sinh | Function::Cosh | Function::Tanh => Some(&arguments[0]),
        Function::Powf => Some(&arguments[1]),
        _ => None,
    }
}

/// The rational factors in all exponents and angles of an expression.
pub(super) fn factors(expression: &Expression) -> impl Iterator<Item = BigRational> {
    let form = |node: &Expression| match node {
        Expression::Call(function, arguments) => terms(exponent(*function, arguments)?),
        _ => None,
    };
    expression.nodes().filter_map(form).flatten().map(|(factor, _)| factor)
}
