//! Exponents and angles as sums of rational multiples of terms.

use num_bigint::BigInt;
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

/// The denominators of the rational factors in all exponents and angles of an expression.
pub(super) fn denominators(expression: &Expression, found: &mut impl FnMut(&BigInt)) {
    if let Expression::Call(function, arguments) = expression {
        let form = match function {
            Function::Sin | Function::Cos | Function::Tan => terms(&arguments[0]),
            Function::Exp | Function::Sinh | Function::Cosh | Function::Tanh => terms(&arguments[0]),
            Function::Powf => terms(&arguments[1]),
            _ => None,
        };
        form.into_iter().flatten().for_each(|(factor, _)| found(factor.denom()));
    }
    for child in expression.children() {
        denominators(child, found);
    }
}
