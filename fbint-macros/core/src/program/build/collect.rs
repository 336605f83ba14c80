//! Common factors of the terms of a sum, taken out one after the other.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::lower::{DependsOn, Lowering};
use super::monomial::{Factors, Monomial};
use crate::numbers::coefficient::Coefficient;
use crate::program::code::Value;

/// A value that is a factor of terms, or its reciprocal.
type Factor = (Value, bool);

/// The terms of a sum in their order, and which of them share factors.
#[derive(Default)]
struct SharedFactors {
    /// Those that were taken out are none.
    terms: Vec<Option<Monomial>>,
    /// The places of the terms with a factor.
    places: HashMap<Factor, Vec<usize>>,
    /// What two terms share: vectors' entries before parameters before scalars, and among these what most terms share.
    shared: BTreeSet<(DependsOn, Reverse<usize>, Factor)>,
}

impl SharedFactors {
    fn put(&mut self, term: Monomial, kind: impl FnMut(Value) -> DependsOn) {
        let place = self.terms.len();
        self.count(&term, kind, |places| places.push(place));
        self.terms.push(Some(term));
    }

    fn take(&mut self, place: usize, kind: impl FnMut(Value) -> DependsOn) -> Option<Monomial> {
        let term = self.terms[place].take()?;
        self.count(&term, kind, |places| places.retain(|other| *other != place));
        Some(term)
    }

    /// Changes the places of each factor of a term.
    fn count(&mut self, term: &Monomial, mut kind: impl FnMut(Value) -> DependsOn, change: impl Fn(&mut Vec<usize>)) {
        for &(value, exponent) in &*term.factors {
            let (kind, factor) = (kind(value), (value, exponent < 0));
            let places = self.places.entry(factor).or_default();
            self.shared.remove(&(kind, Reverse(places.len()), factor));
            change(places);
            if places.len() >= 2 {
                self.shared.insert((kind, Reverse(places.len()), factor));
            }
        }
    }

    fn terms(&self) -> impl Iterator<Item = &Monomial> {
        self.terms.iter().flatten()
    }

    /// The factor that most terms share, with their places; `None` if no two share one.
    fn most_shared(&self) -> Option<(Monomial, Vec<usize>)> {
        if let Some((_, _, factor @ (value, is_reciprocal))) = self.shared.first() {
            let factors = Factors::one(*value, if *is_reciprocal { -1 } else { 1 });
            return Some((Monomial { coefficient: Coefficient::one(), factors }, self.places[factor].clone()));
        }
        let coefficient = most_shared_coefficient(self.terms())?;
        let places = self.terms.iter().enumerate().filter(|(_, term)| {
            term.as_ref().is_some_and(|term| term.coefficient.abs() == coefficient && !term.factors.is_empty())
        });
        let places = places.map(|(place, _)| place).collect();
        Some((Monomial::coefficient(coefficient), places))
    }
}

impl Lowering<'_> {
    /// Takes out factors, as long as two terms share one. Terms that cancel then are left out.
    pub(crate) fn collect(&mut self, terms: Vec<Monomial>) -> Vec<Monomial> {
        let mut sum = SharedFactors::default();
        terms.into_iter().for_each(|term| sum.put(term, |value| self.kind(value)));
        while let Some((factor, mut places)) = sum.most_shared() {
            places.sort_unstable();
            let inverse = factor.to_power(-1);
            let with = places.into_iter().filter_map(|place| sum.take(place, |value| self.kind(value)));
            let remainder = with.map(|term| term.times(&inverse)).collect();
            let remainder = self.sum(remainder);
            // One opaque value, so that the same factor is not taken out of the product again.
            let product = self.opaque(&remainder.times(&factor));
            if !product.is_zero() {
                sum.put(product, |value| self.kind(value));
            }
        }
        sum.terms.into_iter().flatten().collect()
    }
}

/// The number that most terms have, with either sign; `None` if no two have one. Terms that are numbers do not count.
fn most_shared_coefficient<'a>(terms: impl Iterator<Item = &'a Monomial>) -> Option<Coefficient> {
    let mut counts: HashMap<Coefficient, usize> = HashMap::new();
    for term in terms.filter(|term| !term.factors.is_empty()) {
        let magnitude = term.coefficient.abs();
        if !magnitude.is_one() {
            *counts.entry(magnitude).or_insert(0) += 1;
        }
    }
    let most = counts.values().copied().max().filter(|most| *most >= 2)?;
    let shared = counts.into_iter().filter(|&(_, count)| count == most);
    shared.map(|(coefficient, _)| coefficient).max_by_key(Coefficient::rational)
}
