//! The rows of a field: several sums at once, which share pairs of terms as well as single ones.

use std::collections::BTreeMap;

use super::lower::{DependsOn, Lowering, TermOrder};
use super::monomial::{Monomial, merge_like_terms, pair};
use crate::program::code::{Instruction, Sign, Value};

impl Lowering<'_> {
    /// Several sums, which share pairs of terms as well as single ones.
    pub(crate) fn sums(&mut self, order: TermOrder, rows: Vec<Vec<Monomial>>) -> Vec<Value> {
        let mut rows: Vec<Vec<Monomial>> = rows
            .into_iter()
            .map(|row| {
                let mut terms = merge_like_terms(row);
                if order == TermOrder::Arranged {
                    self.arrange(&mut terms);
                }
                let terms: Vec<Monomial> = self.collect(terms).iter().map(|term| self.opaque(term)).collect();
                terms.into_iter().filter(|term| !term.is_zero()).collect()
            })
            .collect();
        while self.share_pairs(&mut rows) {}
        rows.into_iter()
            .map(|mut terms| {
                match order {
                    TermOrder::Arranged => {
                        self.arrange(&mut terms);
                        terms.sort_by_cached_key(|term| (self.is_product(term), term.coefficient.is_negative()));
                    }
                    TermOrder::Written => {
                        terms.sort_by_cached_key(|term| self.is_product(term));
                        begin_without_a_sign(&mut terms);
                    }
                }
                self.add_up(&terms, Sign::Plus)
            })
            .collect()
    }

    /// Returns `true` if a term of a sum is a product: those come last, since a product fuses with the addition free of charge.
    fn is_product(&mut self, term: &Monomial) -> bool {
        term.factors.values().any(|value| {
            matches!(self.builder.instruction(value), Instruction::Mul(..)) && self.kind(value) != DependsOn::Parameter
        })
    }

    /// Makes pairs of terms that several rows have, or have with both signs turned, one term; whether there were any.
    fn share_pairs(&mut self, rows: &mut [Vec<Monomial>]) -> bool {
        let mut counts: BTreeMap<[Value; 2], [usize; 2]> = BTreeMap::new();
        for row in rows.iter() {
            for (i, a) in row.iter().enumerate() {
                for b in &row[i + 1..] {
                    let (pair, opposite) = pair(a, b);
                    counts.entry(pair).or_default()[usize::from(opposite)] += 1;
                }
            }
        }
        let each =
            counts.into_iter().flat_map(|(pair, [same, opposite])| [(pair, false, same), (pair, true, opposite)]);
        let mut pairs: Vec<_> = each.filter(|&(_, _, count)| count >= 2).collect();
        pairs.sort_by_key(|&(pair, opposite, count)| (std::cmp::Reverse(count), pair, opposite));
        let mut any = false;
        for (values, opposite, _) in pairs {
            let has = |row: &Vec<Monomial>| {
                let position = |value: Value| row.iter().position(|term| term.factors.exponent(value) == 1);
                let (i, j) = (position(values[0])?, position(values[1])?);
                (pair(&row[i], &row[j]).1 == opposite).then_some((i, j))
            };
            let places: Vec<_> = rows.iter().map(has).collect();
            if places.iter().flatten().count() < 2 {
                continue;
            }
            let [a, b] = values.map(Monomial::value);
            let sum = self.add_up(&[a, if opposite { b.negated() } else { b }], Sign::Plus);
            let sum = self.value(sum);
            for (row, place) in rows.iter_mut().zip(places) {
                let Some((i, j)) = place else { continue };
                let negative = row[i].coefficient.is_negative();
                row.remove(i.max(j));
                row.remove(i.min(j));
                if !sum.is_zero() {
                    row.push(if negative { sum.clone().negated() } else { sum.clone() });
                }
            }
            any = true;
        }
        any
    }
}

/// Brings the first term without a sign to the front where the first two have one. Where one of the two has none, their
/// difference is computed.
fn begin_without_a_sign(terms: &mut [Monomial]) {
    let place = terms.iter().position(|term| !term.coefficient.is_negative());
    if let Some(place) = place.filter(|&place| place > 1) {
        terms[..=place].rotate_right(1);
    }
}
