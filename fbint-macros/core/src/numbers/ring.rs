//! A field of residues with roots adjoined: polynomials in generators x, each of which satisfies x^d = a polynomial of lower
//! degree in x, whose coefficients are made of the generators before.
//!
//! Nothing is said of which root is meant, nor is the polynomial irreducible: what vanishes here vanishes for every choice of
//! roots. The price is that some elements other than 0 have no inverse.

use super::field::PrimeField;
use super::linear::{Arithmetic, solution};
use super::power;
use crate::work::{RESIDUE, spend};

/// The most coefficients that an element may have.
pub(crate) const LARGEST_DIMENSION: usize = 64;

/// The coefficients of an element: of the powers of the first generator, then of their products with the second,
/// and so on, without zeros at the end.
pub(crate) type Element = Vec<u64>;

/// The ring.
#[derive(Clone)]
pub(crate) struct Ring {
    pub(crate) field: PrimeField,
    generators: Vec<Generator>,
}

#[derive(Clone)]
struct Generator {
    /// How many coefficients the elements have that are made of the generators before.
    stride: usize,
    /// x^d = sum of these times x^0, x^1, .., x^(d - 1).
    relation: Vec<Element>,
}

impl Ring {
    pub(crate) fn new(field: PrimeField) -> Self {
        Self { field, generators: Vec::new() }
    }

    /// Adjoins x with x^d = sum of the d members of `relation` times powers of x, unless the ring would become too large.
    pub(crate) fn adjoin(&mut self, relation: Vec<Element>) -> Option<Element> {
        let stride = self.dimension();
        if stride * relation.len() > LARGEST_DIMENSION || relation.is_empty() {
            return None;
        }
        if let [value] = &relation[..] {
            return Some(value.clone());
        }
        self.generators.push(Generator { stride, relation });
        let mut generator = vec![0; stride];
        generator.push(1);
        Some(generator)
    }

    fn dimension(&self) -> usize {
        self.generators.last().map_or(1, |last| last.stride * last.relation.len())
    }

    pub(crate) fn number(&self, residue: u64) -> Element {
        trimmed(vec![residue])
    }

    pub(crate) fn one(&self) -> Element {
        vec![1]
    }

    pub(crate) fn add(&self, a: &[u64], b: &[u64]) -> Element {
        spend(RESIDUE);
        let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
        let mut sum = long.to_vec();
        sum.iter_mut().zip(short).for_each(|(entry, other)| *entry = self.field.add(*entry, *other));
        trimmed(sum)
    }

    pub(crate) fn negative(&self, a: &[u64]) -> Element {
        a.iter().map(|entry| self.field.negative(*entry)).collect()
    }

    pub(crate) fn subtract(&self, a: &[u64], b: &[u64]) -> Element {
        self.add(a, &self.negative(b))
    }

    pub(crate) fn multiply(&self, a: &[u64], b: &[u64]) -> Element {
        let longest = a.len().max(b.len());
        let levels = self.generators.iter().take_while(|generator| generator.stride < longest).count();
        trimmed(self.product(levels, a, b))
    }

    /// The product of what is made of the first generators.
    fn product<'b>(&self, levels: usize, a: &'b [u64], b: &'b [u64]) -> Element {
        spend(RESIDUE);
        match (a, b) {
            ([], _) | (_, []) => return Vec::new(),
            (&[number], other) | (other, &[number]) => {
                return other.iter().map(|entry| self.field.multiply(*entry, number)).collect();
            }
            _ => {}
        }
        let Some(level) = levels.checked_sub(1) else { return Vec::new() };
        let Generator { stride, relation } = &self.generators[level];
        let degree = relation.len();
        let mut powers: Vec<Element> = vec![Vec::new(); 2 * degree - 1];
        // A root and its powers have few entries that are not 0.
        let chunks = |element: &'b [u64]| {
            element.chunks(*stride).enumerate().filter(|(_, chunk)| chunk.iter().any(|entry| *entry != 0))
        };
        for (i, a) in chunks(a) {
            for (j, b) in chunks(b) {
                powers[i + j] = self.add(&powers[i + j], &self.product(level, a, b));
            }
        }
        while powers.len() > degree {
            let highest = trimmed(powers.pop().unwrap_or_default());
            let first = powers.len() - degree;
            for (power, value) in powers[first..].iter_mut().zip(relation) {
                *power = self.add(power, &self.product(level, &highest, value));
            }
        }
        for power in &mut powers {
            power.resize(*stride, 0);
        }
        powers.concat()
    }

    pub(crate) fn raise(&self, base: &[u64], exponent: u64) -> Element {
        power(base.to_vec(), exponent, |a, b| self.multiply(a, b)).unwrap_or_else(|| self.one())
    }

    /// `None` where there is none: of 0, and of what divides 0.
    pub(crate) fn inverse(&self, element: &[u64]) -> Option<Element> {
        let sizes = self.generators.iter().map(|generator| generator.stride * generator.relation.len());
        let size = std::iter::once(1).chain(sizes).find(|size| *size >= element.len())?;
        // The rows of the matrix of multiplication by the element, with the right side 1.
        let mut rows = vec![vec![0; size + 1]; size];
        rows[0][size] = 1;
        for column in 0..size {
            let mut unit = vec![0; column];
            unit.push(1);
            for (row, entry) in self.multiply(element, &unit).into_iter().enumerate() {
                rows[row][column] = entry;
            }
        }
        solution(self.field, rows).map(trimmed)
    }
}

impl Arithmetic for &Ring {
    type Entry = Element;

    fn is_zero(&self, element: &Element) -> bool {
        element.is_empty()
    }

    fn product(&self, a: &Element, b: &Element) -> Element {
        self.multiply(a, b)
    }

    fn difference(&self, a: &Element, b: &Element) -> Element {
        self.subtract(a, b)
    }

    fn reciprocal(&self, element: &Element) -> Option<Element> {
        self.inverse(element)
    }

    /// Few entries are best: C is sparse.
    fn merit(&self, row: &[Element], column: usize) -> f64 {
        let entries = row[column..].iter().filter(|entry| !entry.is_empty()).count();
        if row[column].is_empty() { 0.0 } else { 1.0 / entries as f64 }
    }
}

fn trimmed(mut element: Element) -> Element {
    while element.last() == Some(&0) {
        element.pop();
    }
    element
}

#[cfg(test)]
mod tests {
    use super::super::field::primes;
    use super::*;

    /// s^2 = 7, then t^3 = s + 1 t.
    #[test]
    fn roots_satisfy_their_relations() {
        let mut ring = Ring::new(primes(1).next().unwrap());
        let s = ring.adjoin(vec![ring.number(7), Vec::new()]).unwrap();
        let t = ring.adjoin(vec![s.clone(), ring.one(), Vec::new()]).unwrap();
        assert_eq!(ring.multiply(&s, &s), [7]);
        assert_eq!(ring.raise(&t, 3), ring.add(&s, &t));
        let sum = ring.add(&ring.multiply(&s, &t), &ring.number(5));
        let inverse = ring.inverse(&sum).unwrap();
        assert_eq!(ring.multiply(&sum, &inverse), [1]);
        assert_eq!(ring.multiply(&sum, &t), ring.multiply(&t, &sum));
    }

    /// r^2 = 9 does not say that r is 3.
    #[test]
    fn what_divides_zero_has_no_inverse() {
        let mut ring = Ring::new(primes(2).next().unwrap());
        let r = ring.adjoin(vec![ring.number(9), Vec::new()]).unwrap();
        let difference = ring.subtract(&r, &ring.number(3));
        assert!(!difference.is_empty() && ring.inverse(&difference).is_none());
        assert!(ring.multiply(&difference, &ring.add(&r, &ring.number(3))).is_empty());
    }
}
