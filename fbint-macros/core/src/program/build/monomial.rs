//! Terms of sums: an exact number times powers of values.

use std::ops::Deref;

use num_rational::BigRational;

use crate::numbers::coefficient::Coefficient;
use crate::numbers::scaled::{magnitude, power_of_two};
use crate::program::code::{LookUp, Value};

/// An exact coefficient times integer powers of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Monomial {
    pub(crate) coefficient: Coefficient,
    pub(crate) factors: Factors,
}

/// Values and their exponents, which are not 0, in the order of the values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Factors(Vec<(Value, i32)>);

impl Factors {
    pub(crate) fn one(value: Value, exponent: i32) -> Self {
        Self(vec![(value, exponent)])
    }

    /// Multiplies with a power of a value.
    pub(crate) fn raise(&mut self, value: Value, exponent: i32) {
        match self.0.binary_search_by_key(&value, |&(value, _)| value) {
            Ok(place) if self.0[place].1 == -exponent => {
                self.0.remove(place);
            }
            Ok(place) => self.0[place].1 += exponent,
            Err(place) => self.0.insert(place, (value, exponent)),
        }
    }

    /// The exponent of a value, 0 where it does not occur.
    pub(crate) fn exponent(&self, value: Value) -> i32 {
        self.0.binary_search_by_key(&value, |&(value, _)| value).map_or(0, |place| self.0[place].1)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = Value> {
        self.0.iter().map(|&(value, _)| value)
    }

    /// The factors that are powers of values like this.
    pub(crate) fn retained(&self, mut is_meant: impl FnMut(Value) -> bool) -> Self {
        self.map(|value, exponent| if is_meant(value) { exponent } else { 0 })
    }

    /// The factors with other exponents.
    pub(crate) fn map(&self, mut exponent: impl FnMut(Value, i32) -> i32) -> Self {
        let factors = self.0.iter().map(|&(value, power)| (value, exponent(value, power)));
        Self(factors.filter(|&(_, power)| power != 0).collect())
    }
}

impl Deref for Factors {
    type Target = [(Value, i32)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Monomial {
    pub(crate) fn number(number: &BigRational) -> Self {
        Self::coefficient(Coefficient::from(number))
    }

    pub(crate) fn coefficient(coefficient: Coefficient) -> Self {
        Self { coefficient, factors: Factors::default() }
    }

    pub(crate) fn zero() -> Self {
        Self::coefficient(Coefficient::zero())
    }

    pub(crate) fn one() -> Self {
        Self::coefficient(Coefficient::one())
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.coefficient.is_zero()
    }

    fn is_one(&self) -> bool {
        self.coefficient.is_one() && self.factors.is_empty()
    }

    pub(crate) fn value(value: Value) -> Self {
        Self { coefficient: Coefficient::one(), factors: Factors::one(value, 1) }
    }

    pub(crate) fn times(mut self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::zero();
        }
        // Exact arithmetic takes time, and most coefficients are 1.
        if !other.coefficient.is_one() {
            self.coefficient = self.coefficient.times(&other.coefficient);
        }
        other.factors.iter().for_each(|&(value, exponent)| self.factors.raise(value, exponent));
        self
    }

    pub(crate) fn negated(mut self) -> Self {
        self.coefficient = self.coefficient.negated();
        self
    }

    pub(crate) fn to_power(&self, exponent: i32) -> Self {
        Self { coefficient: self.coefficient.power(exponent), factors: self.factors.map(|_, power| power * exponent) }
    }

    pub(crate) fn inverse(&self) -> Self {
        self.to_power(-1)
    }

    /// The monomial as a power of a product times a rest: x^12 / y^7 is (x^2 / y)^6 / y. Computed this way, a value hardly leaves the range
    /// of a double before its end result does, while x^12 and y^7 may do so long before. `None` where there is at most one power, and a
    /// coefficient that is a double.
    pub(crate) fn as_power(&self) -> Option<(Self, i32, Self)> {
        let powers: Vec<(Value, i32)> =
            self.factors.iter().copied().filter(|(_, exponent)| exponent.abs() >= 2).collect();
        if powers.len() < if self.coefficient.is_moderate() { 2 } else { 1 } {
            return None;
        }
        let least = powers.iter().map(|(_, exponent)| exponent.abs()).min()?;
        let nearest = |exponent: i32| (2 * exponent + exponent.signum() * least) / (2 * least);
        let below = |exponent: i32| exponent / least;
        let times = |quotient: &dyn Fn(i32) -> i32| powers.iter().map(|&(_, power)| power / quotient(power)).min();
        let quotient: &dyn Fn(i32) -> i32 = if times(&nearest)? >= 2 { &nearest } else { &below };
        let times = times(quotient)?;
        let size = if self.coefficient.is_moderate() { 0 } else { magnitude(&self.coefficient.rational()) };
        let root = size / i64::from(times);
        let factors = Factors(powers.iter().map(|&(value, power)| (value, quotient(power))).collect());
        let base = Self { coefficient: Coefficient::from(&power_of_two(root)), factors };
        let rest = self.clone().times(&base.to_power(-times));
        Some((base, times, rest))
    }

    /// The common part of two monomials: the coefficient if it has one magnitude, and the factors with the smaller exponents.
    pub(crate) fn shared_with(&self, other: &Self) -> Self {
        // A number that is not a double stays with the powers that it is to be multiplied with.
        let same = self.coefficient.abs() == other.coefficient.abs() && self.coefficient.is_moderate();
        let smaller = |value: Value, exponent: i32| match other.factors.exponent(value) {
            other if exponent.signum() != other.signum() => 0,
            other if exponent.abs() < other.abs() => exponent,
            other => other,
        };
        Self {
            coefficient: if same { self.coefficient.clone() } else { Coefficient::one() },
            factors: self.factors.map(smaller),
        }
    }
}

/// The terms in their order, one for all that differ in their coefficients alone.
pub(crate) fn merge_like_terms(terms: Vec<Monomial>) -> Vec<Monomial> {
    let mut places: LookUp<Factors, usize> = LookUp::default();
    let mut merged: Vec<Monomial> = Vec::new();
    for term in terms {
        let place = *places.entry(term.factors.clone()).or_insert(merged.len());
        match merged.get_mut(place) {
            Some(known) => known.coefficient = known.coefficient.plus(&term.coefficient),
            None => merged.push(term),
        }
    }
    merged.retain(|term| !term.is_zero());
    merged
}

/// Divides the terms by the number and by the powers in `takes` that all of them share, and returns the divisor. Terms that are 0 have no
/// say.
pub(crate) fn take_shared(terms: &mut [&mut Monomial], mut takes: impl FnMut(Value, i32) -> bool) -> Monomial {
    let mut nonzero = terms.iter().filter(|term| !term.is_zero());
    let Some(first) = nonzero.next() else { return Monomial::one() };
    let mut shared = nonzero.fold(Monomial::clone(first), |shared, term| shared.shared_with(term));
    shared.coefficient = shared.coefficient.abs();
    shared.factors = shared.factors.map(|value, exponent| if takes(value, exponent) { exponent } else { 0 });
    if shared.is_one() {
        return shared;
    }
    let inverse = shared.inverse();
    terms.iter_mut().for_each(|term| **term = term.clone().times(&inverse));
    shared
}

/// The values of two terms in their order, and whether their signs differ. Each term is one value, and not 0.
pub(crate) fn pair(a: &Monomial, b: &Monomial) -> ([Value; 2], bool) {
    let value = |term: &Monomial| term.factors.values().next().expect("a term is one value");
    let (x, y) = (value(a), value(b));
    ([x.min(y), x.max(y)], a.coefficient.is_negative() != b.coefficient.is_negative())
}
