//! Common factors taken out of sums, and equal terms merged.

use std::sync::Arc;

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::expression::parts::{ByIdentity, Results};
use crate::expression::{Expression, Identity};
use crate::numbers::coefficient::Coefficient;

/// The expression where every sum is the product of what its terms share (numbers, and powers of one sign) and the sum of
/// what remains: a x / m + a y / m is a (x + y) / m.
pub fn factored(expression: &Expression) -> Expression {
    expression.transformed(&|part, factored| match part.mapped(factored) {
        Expression::Sum(terms) => factor_sum(terms.iter().cloned().map(Factors::of).collect()),
        other => other,
    })
}

/// The expression where equal factors of a product are one power, terms of a sum that differ in their number alone are one term, and what
/// the terms of a sum share is taken out.
pub(crate) fn collected(expression: &Expression, known: &Results<Expression>) -> Expression {
    expression.transformed_once(known, &|part, collected| with_like_terms_collected(part.mapped(collected)))
}

/// An expression whose parts are collected.
fn with_like_terms_collected(expression: Expression) -> Expression {
    match &expression {
        Expression::Sum(_) => {
            let mut kinds = Kinds::default();
            kinds.add(&expression, &Coefficient::one());
            let kinds: Vec<Factors> = kinds.terms.into_iter().filter(|kind| !kind.coefficient.is_zero()).collect();
            if kinds.is_empty() { Expression::zero() } else { factor_sum(kinds) }
        }
        Expression::Product(_) | Expression::Power(..) => Expression::product(Factors::of(expression).into_factors()),
        _ => expression,
    }
}

/// Terms that differ in more than their numbers, in the order in which they came.
#[derive(Default)]
struct Kinds {
    terms: Vec<Factors>,
    /// Their places by their powers.
    places: ByIdentity<usize>,
}

impl Kinds {
    /// Adds a number times the terms of a sum, including the terms of sums within.
    fn add(&mut self, expression: &Expression, number: &Coefficient) {
        match expression {
            Expression::Sum(terms) => return terms.iter().for_each(|term| self.add(term, number)),
            Expression::Product(factors) => {
                if let [Expression::Number(own), sum @ Expression::Sum(_)] = &factors[..] {
                    return self.add(sum, &Coefficient::from(own).times(number));
                }
            }
            _ => {}
        }
        let mut term = Factors::of(expression.clone());
        if !number.is_one() {
            term.coefficient = term.coefficient.times(number);
        }
        let place = *self.places.entry(term.identity()).or_insert(self.terms.len());
        match self.terms.get_mut(place) {
            Some(kind) => kind.coefficient = kind.coefficient.plus(&term.coefficient),
            None => self.terms.push(term),
        }
    }
}

/// A term of a sum: a number times powers.
struct Factors {
    coefficient: Coefficient,
    powers: Vec<(Expression, BigRational)>,
}

impl Factors {
    fn of(term: Expression) -> Self {
        let mut factors = Self { coefficient: Coefficient::one(), powers: Vec::new() };
        factors.push(&term, BigRational::one());
        factors
    }

    fn push(&mut self, factor: &Expression, exponent: BigRational) {
        let is_integer = exponent.is_integer();
        let (base, exponent) = match factor {
            Expression::Number(number) if !number.is_zero() && small(&exponent).is_some() => {
                let number = Coefficient::from(number);
                let power = if exponent.is_one() { number } else { number.power(small(&exponent).unwrap_or(1)) };
                self.coefficient = self.coefficient.times(&power);
                return;
            }
            Expression::Product(inner) if is_integer => {
                return inner.iter().for_each(|factor| self.push(factor, exponent.clone()));
            }
            Expression::Power(base, own) if is_integer => return self.push(base, own * exponent),
            other => (other.clone(), exponent),
        };
        // A base occurs once: factoring sums may have made several factors equal.
        match self.powers.iter_mut().find(|(known, _)| *known == base) {
            Some((_, sum)) => {
                *sum += exponent;
                self.powers.retain(|(_, exponent)| !exponent.is_zero());
            }
            None if exponent.is_zero() => {}
            None => self.powers.push((base, exponent)),
        }
    }

    /// A key for the powers in any order.
    fn identity(&self) -> Identity {
        let power = |(base, exponent): &(Expression, BigRational)| {
            if exponent.is_one() { base.identity() } else { Identity::of_power(base, exponent) }
        };
        Identity::of_all(self.powers.iter().map(power))
    }

    fn exponent(&self, base: &Expression) -> Option<&BigRational> {
        self.powers.iter().find(|(other, _)| other == base).map(|(_, exponent)| exponent)
    }

    /// The common part: common divisors above and below the line, and the smaller power of each base.
    fn shared(&self, other: &Self) -> Self {
        let powers = self.powers.iter().filter_map(|(base, mine)| {
            let theirs = other.exponent(base)?;
            let smaller = if mine.abs() < theirs.abs() { mine } else { theirs };
            (mine.is_positive() == theirs.is_positive()).then(|| (base.clone(), smaller.clone()))
        });
        Self { coefficient: self.coefficient.shared(&other.coefficient), powers: powers.collect() }
    }

    fn divided_by(&self, divisor: &Self) -> Self {
        let powers = self.powers.iter().map(|(base, exponent)| match divisor.exponent(base) {
            Some(divided) => (base.clone(), exponent - divided),
            None => (base.clone(), exponent.clone()),
        });
        let powers = powers.filter(|(_, exponent)| !exponent.is_zero());
        let coefficient = if divisor.coefficient.is_one() {
            self.coefficient.clone()
        } else {
            self.coefficient.times(&divisor.coefficient.power(-1))
        };
        Self { coefficient, powers: powers.collect() }
    }

    fn into_factors(self) -> Vec<Expression> {
        let power = |(base, exponent): (Expression, BigRational)| {
            if exponent.is_one() { base } else { Expression::Power(Arc::new(base), exponent) }
        };
        std::iter::once(Expression::Number(self.coefficient.rational()))
            .chain(self.powers.into_iter().map(power))
            .collect()
    }
}

/// An integer to whose power numbers are raised.
fn small(exponent: &BigRational) -> Option<i32> {
    exponent.is_integer().then(|| exponent.to_i32()).flatten().filter(|exponent| exponent.abs() <= 1024)
}

fn factor_sum(terms: Vec<Factors>) -> Expression {
    let mut shared = Factors { coefficient: terms[0].coefficient.abs(), powers: terms[0].powers.clone() };
    terms[1..].iter().for_each(|term| shared = shared.shared(term));
    let rest = terms.iter().map(|term| Expression::product(term.divided_by(&shared).into_factors()));
    let rest = Expression::sum(rest.collect::<Vec<_>>());
    Expression::product(shared.into_factors().into_iter().chain([rest]))
}
